//! Monotonicity of revocation. After any history, a purely restrictive command makes no answer less strict, for any
//! agent and any use.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use proptest::prelude::*;

use super::{
    scenario::{Scenario, Step, TAGS},
    *,
};
use crate::{
    kernel::{Check, EvaluationInput, evaluate},
    model::{
        Actor, AgentOrigin, AgentPolicy, Event, GrantId, Mode, Origin, Policy, PolicyPermission, Profile, Ruled, Tier,
        Verdict,
    },
};

/// The answers about all agents and uses, by strictness.
type Answers = BTreeMap<(AgentId, String), u8>;

fn strictness(ruled: Ruled) -> u8 {
    match ruled {
        Ruled::Allow => 0,
        Ruled::Sandboxed => 1,
        Ruled::Ask => 2,
        // Both are denials.
        Ruled::Unavailable | Ruled::Deny => 3,
    }
}

fn answers(tale: &Scenario) -> Answers {
    let commands = ["ls a", "rm a", "git push", "git log"].into_iter();
    let commands = commands.flat_map(|text| [Tier::Safe, Tier::Dangerous].map(|tier| command(text, tier)));
    let uses = TAGS.into_iter().map(using);
    let actions: Vec<_> = commands.chain(uses).collect();
    let mut all = Answers::new();
    for (id, agent) in &tale.state.agents {
        for wanted in TAGS {
            let strict = match tale.plain_check(id, &tag(wanted)) {
                Check::Held => 0,
                Check::HeldOnce => 1,
                Check::NotHeld => 2,
            };
            all.insert((id.clone(), wanted.to_owned()), strict);
        }
        for action in &actions {
            let case = EvaluationInput {
                state: &tale.state,
                agent,
                action,
                broken: &StaleGrants::new(),
                opinions: &[],
                now: tale.now,
            };
            let ruled = evaluate(&case).conclusion.ruled;
            all.insert(
                (id.clone(), format!("{} {} {:?}", action.operation(), action.shown, action.tier)),
                strictness(ruled),
            );
        }
    }
    all
}

/// A restrictive command, chosen by numbers.
#[derive(Clone, Copy, Debug)]
enum Taking {
    Revoke(u8),
    GiveUp(u8),
    Retire(u8),
    Pass(u8),
    Edit(u8, u8),
    Stricter(u8, u8),
    TakeBackYes(u8),
}

fn taking() -> impl Strategy<Value = Taking> {
    let n = any::<u8>;
    prop_oneof![
        4 => n().prop_map(Taking::Revoke),
        3 => n().prop_map(Taking::GiveUp),
        2 => n().prop_map(Taking::Retire),
        2 => n().prop_map(Taking::Pass),
        3 => (n(), n()).prop_map(|(one, other)| Taking::Edit(one, other)),
        3 => (n(), n()).prop_map(|(one, other)| Taking::Stricter(one, other)),
        1 => n().prop_map(Taking::TakeBackYes),
    ]
}

fn pick<T>(from: impl IntoIterator<Item = T>, number: u8) -> Option<T> {
    let all: Vec<T> = from.into_iter().collect();
    let place = usize::from(number) % all.len().max(1);
    all.into_iter().nth(place)
}

/// Returns the modes that allow nothing without approval that `mode` does not allow.
fn stricter_than(mode: Mode) -> &'static [Mode] {
    match mode {
        Mode::Bypass | Mode::Auto => &[Mode::Default, Mode::OnRequest, Mode::Untrusted, Mode::Never, Mode::Plan],
        Mode::Default => &[Mode::Untrusted, Mode::Never, Mode::Plan],
        Mode::OnRequest => &[Mode::Untrusted, Mode::Never, Mode::Plan],
        Mode::Untrusted => &[Mode::Plan],
        // `on_failure` and `never` refuse questions that other modes may ask.
        Mode::OnFailure => &[Mode::Never],
        Mode::Never | Mode::Plan => &[],
    }
}

fn in_mode(state: &State, agent: &AgentId, mode: Mode) -> Option<Event> {
    let profile = &state.agents.get(agent)?.profile;
    Some(Event::AgentChanged { profile: Arc::new(Profile { mode, ..Profile::clone(profile) }) })
}

/// Returns the current policy file without some of its lines that give permissions.
fn shorter_file(state: &State, one: u8, other: u8) -> Policy {
    let from_file = state.agents.values().filter(|agent| agent.source == AgentOrigin::Config);
    let mut counter = usize::from(one);
    let mut stays = move || {
        counter = counter.wrapping_mul(37).wrapping_add(usize::from(other) + 11);
        counter >> 3 & 3 != 0
    };
    let mut agents = BTreeMap::new();
    for agent in from_file.collect::<Vec<_>>() {
        let mut permissions = Vec::new();
        for grant in &agent.held {
            let Origin::Config(place) = &grant.origin else { continue };
            if stays() {
                permissions.push(PolicyPermission {
                    pinned: grant.to_grant().pinned,
                    hold: grant.hold,
                    place: place.clone(),
                });
            }
        }
        let rules = agent.rules.written().iter().filter(|rule| rule.verdict > Verdict::Allow || stays());
        let spec =
            AgentPolicy { profile: Profile::clone(&agent.profile), permissions, rules: rules.cloned().collect() };
        if stays() {
            agents.insert(agent.profile.id.clone(), spec);
        }
    }
    Policy { settings: crate::model::Settings::clone(&state.settings), agents, left_out: Vec::new() }
}

impl Taking {
    fn take(self, tale: &mut Scenario) {
        let revoke = |grant: Option<GrantId>, by: Actor| {
            grant.map(|grant| Command::Revoke { grant, by, owner: None, reason: None })
        };
        let command = match self {
            Taking::Revoke(number) => revoke(pick(tale.state.grants.keys().copied(), number), Actor::Operator),
            Taking::GiveUp(number) => {
                let grant = pick(tale.state.grants.values(), number);
                grant.and_then(|grant| revoke(Some(grant.id), Actor::Agent(grant.to.clone())))
            }
            Taking::Retire(number) => {
                let agents: BTreeSet<_> = tale.state.agents.keys().cloned().collect();
                pick(agents, number).map(|agent| Command::Retire { agent })
            }
            Taking::Pass(millis) => {
                tale.now = tale.now.after(Duration::from_millis(u64::from(millis)));
                Some(Command::Tick)
            }
            Taking::Edit(one, other) => {
                let policy = Arc::new(shorter_file(&tale.state, one, other));
                Some(Command::Configure { policy, run: "edited".parse().unwrap() })
            }
            Taking::Stricter(one, other) => {
                let agents: BTreeSet<_> = tale.state.agents.keys().cloned().collect();
                let Some(agent) = pick(agents, one) else { return };
                let stricter = stricter_than(tale.state.agents[&agent].profile.mode);
                let event = pick(stricter, other).and_then(|mode| in_mode(&tale.state, &agent, *mode));
                tale.state.carry_on(event.into_iter().collect(), tale.now);
                None
            }
            Taking::TakeBackYes(number) => {
                let yeses = tale.state.rulings.values().filter(|ruling| ruling.verdict == Verdict::Allow);
                let yes = pick(yeses.map(|ruling| ruling.id), number);
                yes.map(|ruling| Command::RevokeRuling { ruling, by: Actor::Operator, owner: None, reason: None })
            }
        };
        // A refused command is ignored, because it makes no answer less strict.
        let _ = command.map(|command| tale.tell(command));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::property_cases::cases(256), ..ProptestConfig::default() })]

    /// Checks A11 and all other cases in which a restriction might give something.
    #[test]
    fn taking_never_gives(
        anywhere in any::<bool>(),
        modes in prop::collection::vec((any::<u8>(), 0..8_usize), 0..3),
        steps in prop::collection::vec(any::<Step>(), 1..40),
        takings in prop::collection::vec(taking(), 1..6),
    ) {
        let mut tale = Scenario::new(if anywhere { Reads::Anywhere } else { Reads::Granted });
        for step in steps {
            let command = tale.command(step);
            let _ = tale.tell(command);
        }
        let all = [
            Mode::Default,
            Mode::Untrusted,
            Mode::OnRequest,
            Mode::OnFailure,
            Mode::Never,
            Mode::Plan,
            Mode::Bypass,
            Mode::Auto,
        ];
        for (agent, mode) in modes {
            let agents: BTreeSet<_> = tale.state.agents.keys().cloned().collect();
            let changed = pick(agents, agent).and_then(|agent| in_mode(&tale.state, &agent, all[mode]));
            tale.state.carry_on(changed.into_iter().collect(), tale.now);
        }
        // Expired permissions have to end before the first comparison.
        let _ = tale.tell(Command::Tick);
        for taking in takings {
            let before = answers(&tale);
            taking.take(&mut tale);
            for (about, after) in answers(&tale) {
                let before = before.get(&about).copied().unwrap_or_default();
                prop_assert!(after >= before, "{:?} made {:?} looser: {} -> {}", taking, about, before, after);
            }
        }
    }
}
