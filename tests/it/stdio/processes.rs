//! Tests of bots in separate processes, over real pipes.

use std::sync::{Arc, Mutex};

use bestow::{
    Answer, Event, Outcome, PermissionRequest,
    event::{Recorded, Subscription},
    request::Route,
    stdio::{Bot, Ended, Exit, Limits},
    user::Prompt,
};
use tokio::process::Command;

use super::{engine, id, soon, write};

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(script);
    command
}

async fn heard(events: &mut Subscription, wanted: impl Fn(&Event) -> bool) -> Recorded {
    soon("an event", async {
        loop {
            let recorded = events.next().await.unwrap();
            if wanted(&recorded.event) {
                return recorded;
            }
        }
    })
    .await
}

#[tokio::test]
async fn a_process_asks_and_gets_its_answer() {
    let engine = engine().await;
    let mut user = engine.connect(id("lead")).unwrap();
    let script = r#"read hello
        echo '{"type":"request_permission","permission":"@network","reason":"to look it up"}'
        read accepted; read updated; read result
        case "$result" in *'"outcome":"granted"'*) echo "$result" >&2; echo '{"type":"bye"}'; exit 0;; esac
        exit 1"#;
    let log = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&log);
    let bot = Bot::agent(&engine, &id("worker")).unwrap();
    let mut running = bot.stderr(move |line| sink.lock().unwrap().push(line.to_owned())).spawn(shell(script)).unwrap();
    let Some(Prompt::Ask(request)) = soon("a question", user.next()).await else { panic!("no question") };
    let you = engine.approver("you", "ann", "test");
    you.answer(request.id, Answer::allow()).await.unwrap();
    let Exit { ended, status, .. } = soon("the exit", running.wait()).await;
    assert_eq!((ended, status.unwrap().code()), (Ended::Bye, Some(0)));
    assert!(log.lock().unwrap()[0].contains("permission_result"));
}

#[tokio::test]
async fn a_connector_that_dies_is_noticed_and_its_questions_go_to_the_next() {
    let engine = engine().await;
    let mut events = engine.subscribe();
    let _second = engine.connect(id("second")).unwrap();
    // The question kills the console with SIGKILL.
    let console = Bot::connector(&engine, &id("lead")).unwrap();
    let mut running = console.spawn(shell("read hello; read question; kill -9 $$")).unwrap();
    heard(&mut events, |event| matches!(event, Event::CarrierConnected { agent } if *agent == id("lead"))).await;
    engine.user_active(&id("lead")).await.unwrap();
    let ticket =
        engine.agent(id("worker")).unwrap().request(PermissionRequest::new(write("/ws/a"), "why")).await.unwrap();
    heard(&mut events, |event| matches!(event, Event::Routed { route: Route::Carrier(to), .. } if *to == id("lead")))
        .await;
    heard(&mut events, |event| matches!(event, Event::CarrierDisconnected { agent } if *agent == id("lead"))).await;
    heard(&mut events, |event| matches!(event, Event::Routed { route: Route::Carrier(to), .. } if *to == id("second")))
        .await;
    assert_eq!(ticket.poll(), None);
    let exit = soon("the exit", running.wait()).await;
    assert!(matches!(exit.ended, Ended::Closed | Ended::Broken(_)), "{exit}");
    assert!(!exit.status.unwrap().success());
}

#[tokio::test]
async fn a_process_that_is_stopped_hears_goodbye_and_may_end_by_itself() {
    let engine = engine().await;
    let bot = Bot::agent(&engine, &id("worker")).unwrap();
    let script = r#"while read line; do case "$line" in *'"bye"'*) exit 7;; esac; done; exit 1"#;
    let running = bot.spawn(shell(script)).unwrap();
    let exit = soon("the exit", running.stop()).await;
    assert_eq!((exit.ended, exit.status.unwrap().code()), (Ended::Stopped, Some(7)));
}

#[tokio::test]
async fn a_process_that_does_not_end_is_killed() {
    let engine = engine().await;
    let mut limits = Limits::default();
    limits.grace = std::time::Duration::from_millis(50);
    let bot = Bot::agent(&engine, &id("worker")).unwrap().limits(limits);
    let running = bot.spawn(shell("exec sleep 1000")).unwrap();
    let exit = soon("the exit", running.stop()).await;
    assert_eq!(exit.status.unwrap().code(), None);
}

#[tokio::test]
async fn dropping_the_handle_kills_the_process() {
    let engine = engine().await;
    let (reader, writer) = std::io::pipe().unwrap();
    let mut command = shell("exec sleep 1000");
    command.stderr(writer);
    let running = Bot::agent(&engine, &id("worker")).unwrap().spawn(command).unwrap();
    drop(running);
    // The pipe closes when the last process that holds it is gone.
    let closed = tokio::task::spawn_blocking(move || std::io::read_to_string(reader).unwrap());
    assert_eq!(soon("the process to be gone", closed).await.unwrap(), "");
}

#[tokio::test]
async fn a_program_that_is_not_there_is_told_at_once() {
    let engine = engine().await;
    let bot = Bot::agent(&engine, &id("worker")).unwrap();
    let error = bot.spawn(Command::new("/nowhere/at/all")).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
    assert!(error.to_string().starts_with("`/nowhere/at/all` cannot be started: "), "{error}");
}

#[tokio::test]
async fn a_question_of_an_agent_whose_bot_died_is_answered_all_the_same() {
    let engine = engine().await;
    let mut user = engine.connect(id("lead")).unwrap();
    let ask = r#"echo '{"type":"request_permission","permission":"@network","reason":"before I die"}'; read a; read b"#;
    let mut running = Bot::agent(&engine, &id("worker")).unwrap().spawn(shell(ask)).unwrap();
    let Some(Prompt::Ask(request)) = soon("a question", user.next()).await else { panic!("no question") };
    soon("the exit", running.wait()).await;
    let ticket = engine.agent(id("worker")).unwrap().ticket(request.id).unwrap();
    let you = engine.approver("you", "ann", "test");
    you.answer(request.id, Answer::allow()).await.unwrap();
    assert_eq!(ticket.resolution().await.outcome, Outcome::Granted);
    // The next bot of this agent first receives its permissions, and then the resolution.
    let bot = Bot::agent(&engine, &id("worker")).unwrap();
    let mut next =
        bot.spawn(shell(r#"read hello; read result; case "$result" in *granted*) exit 0;; esac; exit 1"#)).unwrap();
    assert_eq!(soon("the exit", next.wait()).await.status.unwrap().code(), Some(0));
}

#[tokio::test]
async fn a_process_may_say_more_after_goodbye_and_does_not_die_of_it() {
    let engine = engine().await;
    let bot = Bot::agent(&engine, &id("worker")).unwrap();
    let script =
        r#"while read line; do :; done; for n in 1 2 3 4 5 6 7 8 9; do echo '{"type":"bye"}' || exit 1; done; exit 7"#;
    let exit = soon("the exit", bot.spawn(shell(script)).unwrap().stop()).await;
    assert_eq!(exit.status.unwrap().code(), Some(7));
}
