//! Compares the engine with a deliberately simple model of it under random commands. A failing case prints its seed.

mod plain;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use bestow::{
    Agent, AgentId, Answer, Engine, InitialGrants, Kind, Outcome, Permission, PermissionRequest, Policy, Settings,
    agent::RunId,
    decision::{Check, ProvenanceStep},
    event::Timestamp,
    grant::{Grant, GrantId, Hold, Origin, Permissions, Reads, Scope},
    host::{AsWritten, ManualClock},
    request::{RequestId, Ticket},
};
use plain::{From, Given, How, Plain};
use proptest::prelude::*;

use crate::support::{START, futures_now, id, policy, profile, settings, settle, tag, why};

const TAGS: [&str; 11] = [
    "@network",
    "@events",
    "@write:/w",
    "@write:/w/a",
    "@read:/w/a",
    "@read:/w/a/b",
    "@write:/w/b",
    "@read:/p",
    "@read:/",
    "@tool:t",
    "@tool:t/a",
];
/// The further permissions that are checked.
const BESIDES: [&str; 8] = [
    "@tool:t/a/b",
    "@tool:ta",
    "@read:/w/a/b/c",
    "@write:/w/ab",
    "@read:/wa",
    "@write:/",
    "@read:/p/x",
    "@read:/elsewhere",
];
const NAMES: [&str; 5] = ["a", "b", "c", "d", "spy"];
const FILE_NAMES: [&str; 3] = ["f", "g", "d"];

/// A step of the test. Each number selects one of the existing items.
#[derive(Clone, Debug)]
enum Step {
    Pass(u8),
    Register(u8, u8),
    Retire(u8),
    Run(u8, u8),
    Grant(u8, u8, Vec<u8>, u8),
    Give(u8, u8, bool, u8),
    Revoke(u8),
    Spend(u8, u8),
    Request(u8, Vec<u8>, u8),
    Answer(u8, u8, u8),
    Cancel(u8, u8),
    Configure(u8, [u16; 3]),
}

fn step() -> impl Strategy<Value = Step> {
    let n = any::<u8>;
    let some = || prop::collection::vec(0..TAGS.len() as u8, 1..3);
    prop_oneof![
        1 => (0..15_u8).prop_map(Step::Pass),
        1 => (n(), n()).prop_map(|(agent, what)| Step::Register(agent, what)),
        1 => n().prop_map(Step::Retire),
        1 => (n(), n()).prop_map(|(agent, run)| Step::Run(agent, run)),
        8 => (n(), n(), some(), n()).prop_map(|(from, to, what, scope)| Step::Grant(from, to, what, scope)),
        2 => (n(), n(), any::<bool>(), n()).prop_map(|(to, what, uses, scope)| Step::Give(to, what, uses, scope)),
        3 => n().prop_map(Step::Revoke),
        2 => (n(), n()).prop_map(|(agent, what)| Step::Spend(agent, what)),
        3 => (n(), some(), n()).prop_map(|(agent, what, scope)| Step::Request(agent, what, scope)),
        3 => (n(), n(), n()).prop_map(|(question, what, scope)| Step::Answer(question, what, scope)),
        1 => (n(), n()).prop_map(|(question, agent)| Step::Cancel(question, agent)),
        1 => (n(), any::<[u16; 3]>()).prop_map(|(settings, lines)| Step::Configure(settings, lines)),
    ]
}

fn first_settings(reads: Reads) -> Settings {
    settings(|settings| {
        settings.reads = reads;
        settings.max_depth = 3;
        settings.max_pending = 2;
        settings.max_asks_per_minute = u32::MAX;
        settings.max_grants = 10;
        settings.request_timeout = Duration::from_millis(20);
        settings.denial_memory = Duration::from_millis(10);
        settings.protected = ["/p".parse().unwrap()].into();
    })
}

fn file(first: &Settings, settings: u8, lines: [u16; 3]) -> Policy {
    let mut first = first.clone();
    first.reads = if settings.is_multiple_of(2) { Reads::Anywhere } else { Reads::Granted };
    if settings.is_multiple_of(5) {
        first.protected = Arc::default();
    }
    let written = |bits: u16| -> Vec<String> {
        let chosen = (0..TAGS.len()).filter(|line| bits >> line & 1 == 1);
        let line =
            |line: usize| format!("{}{}", if bits >> 11 & 1 == 1 && line < 4 { "pass " } else { "" }, TAGS[line]);
        chosen.map(line).take(9).collect()
    };
    let all = lines.map(written);
    let all: Vec<Vec<&str>> = all.iter().map(|lines| lines.iter().map(String::as_str).collect()).collect();
    let named = FILE_NAMES.iter().zip(&all).zip(lines).filter(|(_, bits)| bits >> 12 & 1 == 1);
    let agents: Vec<_> = named.map(|((name, lines), _)| (*name, "you", &lines[..])).collect();
    policy(first, &agents)
}

/// The engine and the model.
struct Pair {
    engine: Engine,
    clock: Arc<ManualClock>,
    plain: Plain,
    first: Settings,
    handles: BTreeMap<AgentId, Agent>,
    tickets: BTreeMap<usize, Ticket>,
    numbers: BTreeMap<RequestId, usize>,
}

type Key = (AgentId, Permission, String, bool, String, u64);

fn key_of_grant(grant: &Grant) -> Key {
    let from = match &grant.origin {
        Origin::Config(_) => "file".to_owned(),
        Origin::Operator | Origin::Person { .. } => "root".to_owned(),
        Origin::Agent { from } => from.to_string(),
    };
    let end = grant.until.map_or(u64::MAX, Timestamp::as_millis);
    (grant.to.clone(), grant.pinned.permission.clone(), from, grant.hold == Hold::Use, grant.scope.to_string(), end)
}

fn key_of_given(given: &Given) -> Key {
    let from = match &given.from {
        From::File => "file".to_owned(),
        From::Root => "root".to_owned(),
        From::Agent(from) => from.to_string(),
    };
    (given.to.clone(), given.what.clone(), from, given.hold == Hold::Use, given.scope.to_string(), given.end)
}

impl Pair {
    fn new(reads: Reads) -> Pair {
        let (clock, first) = (Arc::new(ManualClock::at(START)), first_settings(reads));
        let engine = Engine::on(first.clone(), clock.clone(), Arc::new(AsWritten)).unwrap();
        let plain = Plain::new(first.clone(), START.as_millis());
        let (handles, tickets, numbers) = Default::default();
        let mut pair = Pair { engine, clock, plain, first, handles, tickets, numbers };
        for (number, holds) in [(0, &["@write:/w", "@network"][..]), (1, &[]), (2, &["@events"]), (4, &["@write:/w"])] {
            pair.register(number, &holds.iter().map(|text| (tag(text), Hold::Use)).collect::<Vec<_>>());
        }
        pair
    }

    fn register(&mut self, number: u8, holds: &[(Permission, Hold)]) -> (bool, bool) {
        let name = NAMES[usize::from(number) % NAMES.len()];
        let owner = if name == "spy" { "them" } else { "you" };
        let of = |hold| holds.iter().filter(move |(_, held)| *held == hold).map(|(what, _)| what.clone());
        let holding = InitialGrants::of(of(Hold::Use)).passing_on(of(Hold::PassOn));
        let done = futures_now(self.engine.register(profile(name, owner, Kind::Subagent), holding));
        (done.is_ok(), self.plain.register(&id(name), owner, holds).is_ok())
    }

    fn agent(&self, number: u8) -> AgentId {
        let all: Vec<_> = NAMES.iter().chain(&FILE_NAMES[..2]).collect();
        id(all[usize::from(number) % all.len()])
    }

    /// Returns the name of a run that has a number in the model. The first run of each agent is named by the engine.
    fn run(number: u32) -> RunId {
        format!("run{number}").parse().unwrap()
    }

    fn scope(&self, number: u8) -> Scope {
        match number % 6 {
            0 => Scope::Once,
            1 => Scope::Session,
            2 | 3 => Scope::Until(Timestamp::from_millis(self.plain.now + u64::from(number) / 8)),
            _ => Scope::Always,
        }
    }

    /// Carries out the step on both sides. Returns for each side true if it succeeded.
    fn take(&mut self, count: usize, step: &Step) -> (bool, bool) {
        let tags = |numbers: &[u8]| {
            let all: Vec<_> = numbers.iter().map(|number| tag(TAGS[usize::from(*number)])).collect();
            let unique = Permissions::try_from(all).unwrap();
            (unique.iter().cloned().collect::<Vec<_>>(), unique)
        };
        let one = |number: u8| tag(TAGS[usize::from(number) % TAGS.len()]);
        let you = self.engine.approver("you", "ann", "model");
        // A retired agent has no handle. Its steps are refused on both sides.
        let acting = |agent: &AgentId| self.engine.agent(agent);
        match step {
            Step::Pass(millis) => {
                self.clock.advance(Duration::from_millis(u64::from(*millis)));
                self.plain.pass(u64::from(*millis));
                (true, true)
            }
            Step::Register(number, what) => {
                let hold = if what.is_multiple_of(4) { Hold::PassOn } else { Hold::Use };
                self.register(*number, &[(one(*what), hold)])
            }
            Step::Retire(number) => {
                let agent = self.agent(*number);
                (futures_now(self.engine.retire(&agent)).is_ok(), self.plain.retire(&agent).is_ok())
            }
            Step::Run(number, run) => {
                let (agent, run) = (self.agent(*number), u32::from(run % 3) + 1);
                let begun = futures_now(self.engine.begin_run(&agent, Self::run(run)));
                (begun.is_ok(), self.plain.begin_run(&agent, run).is_ok())
            }
            Step::Grant(from, to, what, scope) => {
                let (from, to, scope, (list, wanted)) =
                    (self.agent(*from), self.agent(*to), self.scope(*scope), tags(what));
                let given = acting(&from).and_then(|acting| futures_now(acting.grant_for(&to, wanted, scope, why())));
                (given.is_ok(), self.plain.grant(&from, &to, &list, scope).is_ok())
            }
            Step::Give(to, what, uses, scope) => {
                let (to, what, scope) = (self.agent(*to), one(*what), self.scope(*scope));
                let hold = if *uses { Hold::Use } else { Hold::PassOn };
                let given = if *uses {
                    futures_now(you.give(&to, what.clone(), scope, why()))
                } else {
                    futures_now(you.give_to_pass_on(&to, what.clone(), scope, why()))
                };
                (given.is_ok(), self.plain.give("you", &to, &what, hold, scope).is_ok())
            }
            Step::Revoke(number) => {
                let place = usize::from(*number) % self.plain.given.len().max(1);
                let grant = self.plain.given.get(place).and_then(|given| self.grant_like(given));
                let unknown: GrantId = "g999999".parse().unwrap();
                let done = futures_now(self.engine.revoke(grant.unwrap_or(unknown), None));
                (done.is_ok(), self.plain.revoke(place).is_ok())
            }
            Step::Spend(agent, what) => {
                let (agent, what) = (self.agent(*agent), one(*what));
                let spent = acting(&agent).and_then(|acting| futures_now(acting.spend(&what)));
                (spent.is_ok(), self.plain.spend(&agent, &what).is_ok())
            }
            Step::Request(agent, what, scope) => {
                let (agent, (list, wanted)) = (self.agent(*agent), tags(what));
                let scope = (*scope > 128).then(|| self.scope(*scope));
                let mut ask = PermissionRequest::new(wanted, why());
                ask.scope = scope;
                let ticket = acting(&agent).and_then(|acting| futures_now(acting.request(ask)));
                let number = self.plain.request(count, &agent, &list, scope);
                let both = (ticket.is_ok(), number.is_ok());
                if let (Ok(ticket), Ok(number)) = (ticket, number) {
                    assert_eq!(*self.numbers.entry(ticket.id()).or_insert(number), number, "joined the same question");
                    self.tickets.insert(number, ticket);
                }
                both
            }
            Step::Answer(question, what, scope) => {
                let place = usize::from(*question) % self.plain.questions.len().max(1);
                let Some(question) = self.plain.questions.get(place).cloned() else { return (true, true) };
                let (scope, first) = ((*scope > 100).then(|| self.scope(*scope)), one(*what));
                let (answer, allowed) = match what % 4 {
                    0 => (Answer::deny(), vec![]),
                    1 => (Answer::allow_only(first.clone()), vec![first]),
                    _ => (Answer::allow(), question.asked.clone()),
                };
                let answer = scope.into_iter().fold(answer, Answer::scope);
                let request = self.tickets[&question.number].id();
                let answered = futures_now(you.answer(request, answer));
                (answered.is_ok(), self.plain.answer(place, "you", &allowed, scope).is_ok())
            }
            Step::Cancel(question, agent) => {
                let (place, agent) = (usize::from(*question) % self.plain.questions.len().max(1), self.agent(*agent));
                let Some(number) = self.plain.questions.get(place).map(|question| question.number) else {
                    return (true, true);
                };
                let request = self.tickets[&number].id();
                let done = acting(&agent).and_then(|acting| futures_now(acting.cancel(request)));
                (done.is_ok(), self.plain.cancel(place, &agent).is_ok())
            }
            Step::Configure(settings, lines) => {
                let file = file(&self.first, *settings, *lines);
                let taken = self.plain.configure(&file).is_ok();
                (futures_now(self.engine.configure(file)).is_ok(), taken)
            }
        }
    }

    /// Returns the engine's grant for a grant of the model: the oldest one with equal values.
    fn grant_like(&self, given: &Given) -> Option<GrantId> {
        let wanted = key_of_given(given);
        self.engine.grants().unwrap().into_iter().find(|grant| key_of_grant(grant) == wanted).map(|grant| grant.id)
    }

    /// Compares everything visible on both sides, and checks it for contradictions.
    fn compare(&mut self) -> Result<(), TestCaseError> {
        let grants = self.engine.grants().unwrap();
        let mut ours: Vec<Key> = grants.iter().map(|grant| key_of_grant(grant)).collect();
        let mut theirs: Vec<Key> = self.plain.given.iter().map(key_of_given).collect();
        ours.sort();
        theirs.sort();
        prop_assert_eq!(ours, theirs);
        let known: Vec<_> = self.engine.agents().unwrap().iter().map(|profile| profile.id.clone()).collect();
        prop_assert!(known.iter().eq(self.plain.members.keys()), "{:?}", known);
        self.handles.retain(|agent, _| known.contains(agent));
        let names: Vec<AgentId> = NAMES.iter().chain(&FILE_NAMES).map(|name| id(name)).collect();
        for agent in &names {
            let handle = self.engine.agent(agent).ok();
            let listed = handle.as_ref().map(|handle| handle.grants().unwrap()).unwrap_or_default();
            prop_assert!(grants.iter().filter(|grant| grant.to == *agent).eq(&listed));
            for wanted in TAGS.iter().chain(&BESIDES) {
                self.compare_one(agent, handle.as_ref(), &tag(wanted), &grants)?;
            }
        }
        let pending: BTreeMap<usize, Vec<Permission>> = self
            .engine
            .pending()
            .unwrap()
            .into_iter()
            .map(|pending| (self.numbers[&pending.request.id], pending.request.permissions().cloned().collect()))
            .collect();
        let asked: BTreeMap<_, _> =
            self.plain.questions.iter().map(|question| (question.number, question.asked.clone())).collect();
        prop_assert_eq!(pending, asked);
        for (number, ticket) in &self.tickets {
            let ended = ticket.poll().map(|resolution| match resolution.outcome {
                Outcome::Granted => How::Granted,
                Outcome::Denied => How::Denied,
                Outcome::Expired => How::Expired,
                Outcome::Cancelled => How::Cancelled,
                Outcome::Unavailable => panic!("somebody may always come"),
            });
            prop_assert_eq!(ended, self.plain.over.get(number).copied(), "question {}", number);
        }
        Ok(())
    }

    fn compare_one(
        &self,
        agent: &AgentId,
        handle: Option<&Agent>,
        wanted: &Permission,
        grants: &[Arc<Grant>],
    ) -> Result<(), TestCaseError> {
        let expected = self.plain.check(agent, wanted);
        prop_assert_eq!(self.engine.check(agent, wanted), expected, "{} {}", agent, wanted);
        let chain = self.engine.why(agent, wanted).unwrap();
        prop_assert_eq!(!chain.is_empty(), self.plain.has(agent, wanted), "why {} {}", agent, wanted);
        let mut below = (agent.clone(), wanted.clone());
        for (place, link) in chain.iter().enumerate() {
            match link {
                ProvenanceStep::Replaced(_) => prop_assert!(false, "nothing is replaced without a disk"),
                ProvenanceStep::FreeReading => prop_assert!(place + 1 == chain.len() && self.plain.is_free(&below.1)),
                ProvenanceStep::Grant(grant) => {
                    prop_assert!(
                        grants.contains(grant) && grant.to == below.0 && grant.pinned.permission.covers(&below.1)
                    );
                    match &grant.origin {
                        Origin::Agent { from } => below = (from.clone(), grant.pinned.permission.clone()),
                        Origin::Config(_) | Origin::Operator | Origin::Person { .. } => {
                            prop_assert!(place + 1 == chain.len())
                        }
                    }
                }
            }
        }
        if let Some(handle) = handle {
            prop_assert_eq!(handle.check(wanted), expected);
            prop_assert_eq!(handle.why(wanted).unwrap(), chain);
            let listed = handle.permissions().unwrap().covers(wanted, Reads::Granted);
            let free_or_protected =
                self.plain.is_free(wanted) || wanted.path().is_some_and(|path| path.as_str().starts_with("/p"));
            prop_assert!(free_or_protected || listed == (expected == Check::Held), "list {} {}", agent, wanted);
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::support::cases(192), ..ProptestConfig::default() })]

    #[test]
    fn the_engine_says_what_the_simple_model_says(
        anywhere in any::<bool>(),
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut pair = Pair::new(if anywhere { Reads::Anywhere } else { Reads::Granted });
            for (count, step) in steps.iter().enumerate() {
                let (ours, theirs) = pair.take(count, step);
                prop_assert_eq!(ours, theirs, "step {}: {:?}", count, step);
                settle().await;
                pair.compare()?;
            }
            Ok(())
        })?;
    }
}
