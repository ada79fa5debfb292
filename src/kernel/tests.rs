//! Tests of kernel internals: whole states are compared, events are replayed, supports are counted.

mod credentials;
mod monotone;
mod obeyed;
mod published_state;
mod reference_evaluator;
mod refusals;
mod restoration;
mod runs;
pub(crate) mod scenario;
mod stateful_properties;
mod supports;

use super::{Command, Person, Refusal, StaleGrants, Start, State};
use crate::model::{
    AgentId, Event, Hold, Kind, Permission, PinnedPermission, Profile, Reads, RequestId, Settings, Timestamp,
};

const NOW: Timestamp = Timestamp::from_millis(1_000_000);

fn tag(text: &str) -> Permission {
    text.parse().unwrap()
}

fn id(text: &str) -> AgentId {
    text.parse().unwrap()
}

fn pinned(tags: &[&str]) -> Vec<PinnedPermission> {
    tags.iter().map(|text| PinnedPermission::from(tag(text))).collect()
}

fn starts(tags: &[&str]) -> Vec<Start> {
    pinned(tags).into_iter().map(|pinned| Start { pinned, hold: Hold::Use }).collect()
}

fn profile(agent: &str, owner: &str, kind: Kind) -> Profile {
    Profile::new(id(agent), owner.parse().unwrap(), kind, "/w".parse().unwrap())
}

fn person(owner: &str) -> Person {
    Person { owner: owner.parse().unwrap(), by: "ann".parse().unwrap(), means: "test".into() }
}

fn request_id(number: u128) -> RequestId {
    RequestId::new(uuid::Uuid::from_u128(number))
}

fn settings(change: impl FnOnce(&mut Settings)) -> Settings {
    let mut settings = Settings { reads: Reads::Granted, ..Settings::default() };
    settings.protected = ["/p".parse().unwrap()].into();
    settings.governing = ["/rules/agents.toml".parse().unwrap()].into();
    change(&mut settings);
    settings
}

fn register(agent: &str, owner: &str, kind: Kind, tags: &[&str]) -> Command {
    Command::Register { profile: profile(agent, owner, kind), run: "r0".parse().unwrap(), permissions: starts(tags) }
}

fn begin_run(agent: &str, run: crate::model::RunId) -> Command {
    let (entering, by) = (super::Entering::Own, crate::model::Actor::Operator);
    Command::BeginRun { agent: id(agent), run, entering, by, owner: None }
}

fn grant(from: &str, to: &str, tags: &[&str]) -> Command {
    let (from, to, reason) = (id(from), id(to), "why".parse().unwrap());
    Command::Grant {
        from,
        to,
        permissions: pinned(tags),
        reason,
        scope: crate::model::Scope::Always,
        broken: StaleGrants::new(),
    }
}

fn request(number: u128, from: &str, tags: &[&str]) -> Command {
    let (id, from, reason) = (request_id(number), id(from), "why".parse().unwrap());
    Command::Request { id, from, permissions: pinned(tags), reason, scope: None, broken: StaleGrants::new() }
}

/// Returns a command line with a single command that uses no resources.
fn command(text: &str, tier: crate::model::Tier) -> std::sync::Arc<super::ResolvedAction> {
    let words = text.split(' ').map(|word| crate::model::Said::Is(word.into())).collect();
    let runs = Some(crate::model::Spoken::of(words));
    let parts = Some(vec![crate::model::SpokenPart::plain(tier, runs)]);
    std::sync::Arc::new(super::ResolvedAction {
        shell: crate::model::Shell::Unknown,
        tool: "bash".parse().unwrap(),
        uses: own(
            crate::model::Operation::Command,
            super::Target::Command { text: text.into(), parts, doing: None },
            None,
        ),
        shown: text.into(),
        cut: false,
        tier: Some(tier),
        tier_reason: tier.as_str().into(),
        strictly: true,
        shape: None,
        destructive: None,
        input: String::new(),
        besides: None,
        told: None,
        reason: None,
        call: None,
        updated: false,
        overrides: false,
        cwd: None,
        directory: None,
        circumstances: None,
        details: None,
        in_sandbox: false,
        confined: false,
        placed: true,
    })
}

/// Returns a single use without further ones.
fn own(
    operation: crate::model::Operation,
    target: super::Target,
    takes: Option<crate::model::PinnedPermission>,
) -> super::action_uses::Uses {
    super::action_uses::Use { operation, target, takes, origin: crate::model::UseOrigin::Own }.into()
}

/// Returns an action that uses one permission.
fn using(tag: &str) -> std::sync::Arc<super::ResolvedAction> {
    let pinned = crate::model::PinnedPermission::from(self::tag(tag));
    let operation = super::operation_for(&pinned.permission);
    let target = match &pinned.permission {
        Permission::Path(_, path) => super::Target::Path(path.clone()),
        Permission::Network => super::Target::Network,
        Permission::Events => super::Target::Events,
        Permission::Tool(name) => super::Target::Capability(name.clone()),
    };
    let blank = command("x", crate::model::Tier::Safe);
    let blank = std::sync::Arc::into_inner(blank).unwrap();
    std::sync::Arc::new(super::ResolvedAction {
        tool: operation.own_tool(),
        shown: target.resource().into(),
        uses: own(operation, target, Some(pinned)),
        ..blank
    })
}

fn authorize(number: u128, agent: &str, action: &std::sync::Arc<super::ResolvedAction>) -> Command {
    let (agent, action, request) = (id(agent), std::sync::Arc::clone(action), request_id(number));
    Command::Authorize { agent, action, opinions: Vec::new(), request, broken: StaleGrants::new() }
}

impl State {
    /// Carries out `command`, without limits on the number of facts. A refused command changes nothing.
    fn execute(&mut self, command: Command, now: Timestamp) -> Result<Vec<Event>, Refusal> {
        let events = self.decide(command, now)?;
        Ok(self.carry_on(events, now))
    }
}

/// Carries out a command that must succeed.
fn done(state: &mut State, command: Command) -> Vec<Event> {
    state.execute(command, NOW).unwrap()
}

/// Returns the state that results from these events alone.
fn replayed<'e>(settings: Settings, events: impl IntoIterator<Item = &'e Event>) -> State {
    let mut state = State::new(settings);
    events.into_iter().for_each(|event| state.apply(event));
    state
}
