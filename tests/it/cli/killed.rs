//! Tests of a process that is killed while it records a permanent approval.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    os::unix::net::{UnixListener, UnixStream},
    path::Path,
    process::Child,
    sync::mpsc,
    thread,
    time::Duration,
};

use bestow::{Engine, Permission, PermissionRequest, request::Ticket};
use notify::Watcher as _;

use super::{
    keep::{Place, asks_to},
    started_for,
};
use crate::support::{id, tag, why};

/// The subject of the request.
#[derive(Clone, Copy, Debug)]
enum About {
    Command,
    PinnedPermission,
}

impl About {
    async fn asked(self, place: &Place, engine: &Engine) -> Ticket {
        match self {
            About::Command => asks_to(engine, "npm run build").await,
            About::PinnedPermission => {
                fs::create_dir_all(place.path("site")).unwrap();
                let wanted: Permission = tag(&format!("@write:{}", place.path("site").display()));
                engine.agent(id("lead")).unwrap().request(PermissionRequest::new(wanted, why())).await.unwrap()
            }
        }
    }
}

/// The number of the order that answers the request. The orders before it find the request and verify the person.
const ANSWER: usize = 3;

/// The point at which the process is killed.
#[derive(Clone, Copy, Debug)]
enum Killed {
    /// Before the engine receives the order of this number.
    BeforeOrder(usize),
    /// After the engine has carried out the order of this number, and before the process receives the reply.
    AfterOrder(usize),
}

fn starts(place: &Place, ticket: &Ticket) -> Child {
    let (state, file, code) = (place.path("state"), place.file(), ticket.code().to_string());
    let (state, file) = (state.to_str().unwrap(), file.to_str().unwrap());
    let words = ["approve", &code, "--write", "--as", "eve", "--state", state, "--config", file];
    started_for(place.surfaces(), &words)
}

/// Relays the orders between the process and the engine, and kills the process at the given point.
fn stand_between(place: &Place, ticket: &Ticket, killed: Killed) {
    let (socket, aside) = (place.path("state/control"), place.path("state/aside"));
    fs::rename(&socket, &aside).unwrap();
    let listener = UnixListener::bind(&socket).unwrap();
    let mut child = starts(place, ticket);
    for number in 1.. {
        let (mut from, _) = listener.accept().unwrap();
        let order = order(&from);
        if matches!(killed, Killed::BeforeOrder(at) if at == number) {
            child.kill().unwrap();
            break;
        }
        let mut to = UnixStream::connect(&aside).unwrap();
        to.write_all(order.as_bytes()).unwrap();
        let reply = line(&to);
        if matches!(killed, Killed::AfterOrder(at) if at == number) {
            child.kill().unwrap();
            break;
        }
        from.write_all(reply.as_bytes()).unwrap();
    }
    assert_eq!(child.wait().unwrap().code(), None, "{killed:?}: it was killed, and did not end before");
    fs::rename(&aside, &socket).unwrap();
}

/// Returns an order, after the secret of its sender if there is one.
fn order(stream: &UnixStream) -> String {
    let (mut from, mut order) = (BufReader::new(stream), String::new());
    loop {
        let before = order.len();
        from.read_line(&mut order).unwrap();
        if !order[before..].starts_with("{\"token\"") {
            return order;
        }
    }
}

fn line(stream: &UnixStream) -> String {
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    line
}

/// Kills the process after `after` events in the directory of the file.
fn kill_when_it_writes(place: &Place, ticket: &Ticket, after: usize) {
    let (tell, told) = mpsc::channel();
    let mut watcher = notify::recommended_watcher(move |event| drop(tell.send(event))).unwrap();
    let directory = place.file().parent().map(Path::to_owned).unwrap();
    watcher.watch(&directory, notify::RecursiveMode::NonRecursive).unwrap();
    let mut child = starts(place, ticket);
    for _ in 0..after {
        // Some file systems report fewer events. Then the process has ended by itself, which is also a valid end.
        if told.recv_timeout(Duration::from_secs(2)).is_err() {
            break;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

fn says_it(place: &Place) -> usize {
    place.content().matches("eve (cli) approved this permanently").count()
}

fn waits(engine: &Engine, ticket: &Ticket) -> bool {
    engine.pending().unwrap().iter().any(|pending| pending.request.id == ticket.id())
}

/// The attack on the promise: the engine has a one-time approval, and the permanent approval of a person is lost. A
/// program that answers first and writes then fails at the last of these points.
#[tokio::test(flavor = "multi_thread")]
async fn killed_between_any_two_steps_no_yes_for_good_is_answered_and_lost() {
    let points = (1..=ANSWER).flat_map(|number| [Killed::BeforeOrder(number), Killed::AfterOrder(number)]);
    let all = points.flat_map(|at| [About::Command, About::PinnedPermission].map(|about| (about, at)));
    for (about, killed) in all {
        let place = Place::new();
        let engine = place.engine().await;
        let ticket = about.asked(&place, &engine).await;
        thread::scope(|scope| scope.spawn(|| stand_between(&place, &ticket, killed)).join().unwrap());
        is_whole(&place, &engine, &ticket, &format!("{about:?}, {killed:?}"));
        let said = usize::from(matches!(killed, Killed::BeforeOrder(ANSWER) | Killed::AfterOrder(ANSWER)));
        assert_eq!(says_it(&place), said, "{killed:?}");
        ends_well(&place, &engine, &ticket);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_the_file_is_written_no_yes_for_good_is_answered_and_lost() {
    for after in 1..=8 {
        let place = Place::new();
        let engine = place.engine().await;
        let ticket = About::Command.asked(&place, &engine).await;
        thread::scope(|scope| scope.spawn(|| kill_when_it_writes(&place, &ticket, after)).join().unwrap());
        is_whole(&place, &engine, &ticket, &format!("after {after} events"));
        ends_well(&place, &engine, &ticket);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_no_engine_runs_the_lines_are_there_and_the_question_is_answered_by_saying_it_again() {
    let place = Place::new();
    let engine = place.engine().await;
    let ticket = About::PinnedPermission.asked(&place, &engine).await;
    engine.shutdown().await;
    thread::scope(|scope| scope.spawn(|| kill_when_it_writes(&place, &ticket, 1)).join().unwrap());
    let (_, complaint, code) = place.run(&["approve", &ticket.code().to_string(), "--write", "--as", "eve"]);
    assert!(code == 0 || complaint.contains("granted"), "{complaint}");
    assert_eq!(says_it(&place), 1);
}

/// Asserts that an answered request is in the file, and that an engine accepts the file.
fn is_whole(place: &Place, engine: &Engine, ticket: &Ticket, at: &str) {
    assert!(bestow::PolicyFile::new(place.file()).load().is_ok(), "{at}: {}", place.content());
    assert!(waits(engine, ticket) || says_it(place) == 1, "{at}: answered, and nothing lasts");
    assert!(says_it(place) <= 1, "{at}");
}

/// Asserts that a person who does not know the result can repeat the answer.
fn ends_well(place: &Place, engine: &Engine, ticket: &Ticket) {
    let (_, complaint, code) = place.run(&["approve", &ticket.code().to_string(), "--write", "--as", "eve"]);
    // The command may have been killed after its answer was taken.
    let is_over = complaint.contains("no pending request") || complaint.contains("has already ended: granted");
    assert!(code == 0 || code == 3 && is_over, "{code}: {complaint}");
    assert!(!waits(engine, ticket));
    assert_eq!(says_it(place), 1, "{}", place.content());
}

/// Another person denies the request at the moment when the lines are already in the file.
#[tokio::test(flavor = "multi_thread")]
async fn a_no_that_comes_first_takes_the_lines_back() {
    let place = Place::new();
    let engine = place.engine().await;
    let before = place.content();
    let ticket = About::Command.asked(&place, &engine).await;
    let (socket, aside) = (place.path("state/control"), place.path("state/aside"));
    fs::rename(&socket, &aside).unwrap();
    let listener = UnixListener::bind(&socket).unwrap();
    let child = starts(&place, &ticket);
    for number in 1..=ANSWER {
        let (mut from, _) = listener.accept().unwrap();
        let order = order(&from);
        if number == ANSWER {
            assert_eq!(says_it(&place), 1, "written before it is answered");
            let you = engine.approver("you", "ann", "test");
            you.answer(ticket.id(), bestow::Answer::deny()).await.unwrap();
        }
        let mut to = UnixStream::connect(&aside).unwrap();
        to.write_all(order.as_bytes()).unwrap();
        let reply = line(&to);
        from.write_all(reply.as_bytes()).unwrap();
    }
    let told = child.wait_with_output().unwrap();
    assert_eq!(told.status.code(), Some(3), "{told:?}");
    assert!(String::from_utf8_lossy(&told.stderr).contains("denied"), "{told:?}");
    assert_eq!(place.content(), before);
}

/// The engine may or may not have received the approval. The lines stay in the file, and the user is informed.
#[tokio::test(flavor = "multi_thread")]
async fn an_engine_that_ends_before_it_says_whether_it_heard_leaves_the_lines_and_that_is_told() {
    let place = Place::new();
    let engine = place.engine().await;
    let ticket = About::Command.asked(&place, &engine).await;
    let (socket, aside) = (place.path("state/control"), place.path("state/aside"));
    fs::rename(&socket, &aside).unwrap();
    let listener = UnixListener::bind(&socket).unwrap();
    let child = starts(&place, &ticket);
    for _ in 1..ANSWER {
        let (mut from, _) = listener.accept().unwrap();
        let mut to = UnixStream::connect(&aside).unwrap();
        to.write_all(order(&from).as_bytes()).unwrap();
        from.write_all(line(&to).as_bytes()).unwrap();
    }
    let (from, _) = listener.accept().unwrap();
    order(&from);
    drop(from);
    let told = child.wait_with_output().unwrap();
    let complaint = String::from_utf8_lossy(&told.stderr);
    assert_eq!(told.status.code(), Some(1), "{complaint}");
    assert!(
        complaint.contains("allows it permanently, but it is unknown if") && complaint.contains("bestow requests"),
        "{complaint}"
    );
    assert_eq!(says_it(&place), 1);
}
