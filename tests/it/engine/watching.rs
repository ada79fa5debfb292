//! Sessions of people who look at some runs only.

use std::{
    collections::{BTreeMap, BTreeSet},
    future::Future,
    pin::pin,
    task::{Context, Poll, Waker},
};

use bestow::{
    Agent, Answer, Error,
    agent::RunId,
    request::RequestId,
    user::{ApproverSession, Prompt},
};
use proptest::prelude::*;

use crate::support::{World, ask};

/// Returns the next entry, if there is one now. The session is read again and again in one poll of the test.
fn next_now(session: &mut ApproverSession) -> Option<Prompt> {
    let next = pin!(tokio::task::unconstrained(session.next()));
    match next.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(shown) => Some(shown.expect("the session goes on")),
        Poll::Pending => None,
    }
}

/// Returns an agent in a run of its own.
async fn in_run(world: &World, name: &str) -> (Agent, RunId) {
    let agent = world.worker(name, &[]).await;
    world.engine.begin_run(agent.id(), format!("run-{name}").parse().unwrap()).await.unwrap();
    let run = world.engine.run_of(agent.id()).unwrap();
    (agent, run)
}

#[tokio::test]
async fn a_session_of_some_runs_shows_their_requests_and_no_others() {
    let world = World::new();
    let ((ann, watched), (bob, _)) = (in_run(&world, "ann").await, in_run(&world, "bob").await);
    let mut session = world.you().attend_runs().unwrap();
    let before = ann.request(ask("@network")).await.unwrap();
    assert_eq!(next_now(&mut session), None, "it watches no run yet");
    let waiting = session.watch(&watched).unwrap();
    assert_eq!(waiting.iter().map(|request| request.id).collect::<Vec<_>>(), [before.id()]);
    assert!(session.watch(&watched).unwrap().is_empty(), "it is watched already");
    let (other, after) = (bob.request(ask("@events")).await.unwrap(), ann.request(ask("@events")).await.unwrap());
    assert!(matches!(next_now(&mut session), Some(Prompt::Ask(request)) if request.id == after.id()));
    for ticket in [&other, &before] {
        world.you().answer(ticket.id(), Answer::deny()).await.unwrap();
    }
    assert!(matches!(next_now(&mut session), Some(Prompt::Settled(how)) if how.request == before.id()));
    assert_eq!(next_now(&mut session), None);
}

#[tokio::test]
async fn a_session_of_some_runs_shows_nothing_of_another_owner() {
    let world = World::new();
    let (ann, run) = in_run(&world, "ann").await;
    ann.request(ask("@network")).await.unwrap();
    let mut spy = world.approver("them").attend_runs().unwrap();
    assert!(spy.watch(&run).unwrap().is_empty());
    ann.request(ask("@events")).await.unwrap();
    assert_eq!(next_now(&mut spy), None);
    world.engine.shutdown().await;
    assert!(matches!(spy.watch(&run), Err(Error::Closed)));
    assert_eq!(spy.next().await, None);
}

#[tokio::test]
async fn a_session_of_all_runs_watches_every_run_already() {
    let world = World::new();
    let (ann, run) = in_run(&world, "ann").await;
    let ticket = ann.request(ask("@network")).await.unwrap();
    let mut session = world.you().attend().unwrap();
    assert!(session.watch(&run).unwrap().is_empty());
    session.pass_by(&run);
    assert!(matches!(next_now(&mut session), Some(Prompt::Ask(request)) if request.id == ticket.id()));
}

/// A person's client, an agent or an approver does something.
#[derive(Clone, Copy, Debug)]
enum Step {
    Watch(usize),
    PassBy(usize),
    Ask(usize),
    /// The request with this place among the waiting ones is answered.
    Answer(usize),
    Read,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => (0..2_usize).prop_map(Step::Watch),
        1 => (0..2_usize).prop_map(Step::PassBy),
        4 => (0..2_usize).prop_map(Step::Ask),
        2 => (0..8_usize).prop_map(Step::Answer),
        2 => Just(Step::Read),
    ]
}

/// A client that shows the requests of the runs that it watches.
struct Client {
    session: ApproverSession,
    watched: BTreeSet<RunId>,
    screen: BTreeMap<RequestId, RunId>,
}

impl Client {
    fn watch(&mut self, run: &RunId) {
        for request in self.session.watch(run).unwrap() {
            self.screen.insert(request.id, request.run.clone());
        }
        self.watched.insert(run.clone());
    }

    fn pass_by(&mut self, run: &RunId) {
        self.session.pass_by(run);
        self.watched.remove(run);
        self.screen.retain(|_, of| of != run);
    }

    fn read(&mut self) {
        while let Some(shown) = next_now(&mut self.session) {
            match shown {
                Prompt::Ask(request) if self.watched.contains(&request.run) => {
                    self.screen.insert(request.id, request.run.clone());
                }
                Prompt::Settled(how) => drop(self.screen.remove(&how.request)),
                _ => {}
            }
        }
    }
}

async fn a_screen_shows_what_waits(steps: Vec<Step>) -> Result<(), TestCaseError> {
    let world = World::with(|settings| settings.max_pending = 40);
    let agents = [in_run(&world, "ann").await, in_run(&world, "bob").await];
    let session = world.you().attend_runs().unwrap();
    let mut client = Client { session, watched: BTreeSet::new(), screen: BTreeMap::new() };
    for (number, step) in steps.into_iter().enumerate() {
        match step {
            Step::Watch(at) => client.watch(&agents[at].1),
            Step::PassBy(at) => client.pass_by(&agents[at].1),
            Step::Ask(at) => drop(agents[at].0.request(ask(&format!("@read:/srv/{number}"))).await.unwrap()),
            Step::Answer(at) => {
                if let Some(waiting) = world.engine.pending().unwrap().get(at) {
                    world.you().answer(waiting.request.id, Answer::deny()).await.unwrap();
                }
            }
            Step::Read => client.read(),
        }
    }
    client.read();
    let waiting = world.engine.pending().unwrap().into_iter().map(|waiting| waiting.request);
    let wanted = waiting.filter(|request| client.watched.contains(&request.run));
    let wanted: BTreeSet<_> = wanted.map(|request| request.id).collect();
    prop_assert_eq!(client.screen.into_keys().collect::<BTreeSet<_>>(), wanted);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::support::cases(256), ..ProptestConfig::default() })]

    /// A client that watches runs and stops at any time loses nothing, and shows nothing that has ended.
    #[test]
    fn a_screen_shows_what_waits_in_the_watched_runs(steps in prop::collection::vec(step(), 1..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(a_screen_shows_what_waits(steps))?;
    }
}
