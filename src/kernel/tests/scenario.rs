//! A random scenario with its complete record, and a slow, obvious interpretation of its state.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use super::*;
use crate::{
    kernel::{Check, CompactGrant, Entering, ResolvedAction, SharedLimits, check, compile},
    model::{
        Access, Actor, AgentPolicy, Answer, CommandPattern, GrantId, Operation, Origin, PathGlob, PathPolicy,
        PermissionRef, Place, Policy, PolicyPatch, PolicyPermission, Reach, Revocation, Revoked, Rule, RunId,
        SanitizedPath, SavedDecisionId, Scope, Tier, Tool, ToolName, ToolPolicies, Tools, Verdict, Widening,
    },
};

pub(crate) const TAGS: [&str; 12] = [
    "@network",
    "@events",
    "@write:/w",
    "@write:/w/a",
    "@read:/w/a",
    "@read:/w/a/b",
    "@write:/w/b",
    "@read:/",
    "@read:/p/x",
    "@read:/p",
    "@tool:t",
    "@tool:t/a",
];
const COMMANDS: [&str; 4] = ["ls a", "rm a", "git push", "git log"];
const TOOLS: [&str; 3] = ["bash", "read_file", "write_file"];
const GLOBS: [&str; 3] = ["/w/**", "/w/a/*", "/**/b"];
const AGENTS: [&str; 6] = ["a", "b", "c", "lead", "spy", "kid"];
const FILE_AGENTS: [&str; 3] = ["f", "g", "kid"];

/// Four small numbers that select a command for the current state.
pub(crate) type Step = (u8, u8, u8, u8);

/// Returns the run of each agent.
pub(super) fn runs(state: &State) -> BTreeMap<AgentId, RunId> {
    state.agents.iter().map(|(id, agent)| (id.clone(), agent.run.clone())).collect()
}

/// Returns the revocation that events tell, as if `ann` had revoked. The first of them is about the revoked object.
pub(super) fn revocation(events: &[Event], runs: BTreeMap<AgentId, RunId>) -> Option<Revocation> {
    let by = person("you").actor();
    let ended = |event: &Event| if let Event::GrantRevoked { grant, .. } = event { Some(grant.clone()) } else { None };
    let mut ended = events.iter().filter_map(ended);
    let revoked = if let Event::RulingEnded { ruling, .. } = events.first()? {
        Revoked::Ruling(Arc::clone(ruling))
    } else {
        Revoked::Grant(ended.next()?)
    };
    Some(Revocation { by, revoked, also_ended: ended.collect(), runs })
}

#[derive(Debug)]
pub(crate) struct Scenario {
    pub(crate) first: Settings,
    pub(crate) state: State,
    pub(crate) now: Timestamp,
    pub(super) events: Vec<Event>,
    /// The last revocation, as if `ann` had revoked.
    pub(super) undone: Option<Revocation>,
    count: u128,
}

fn pick<T: Clone>(from: impl IntoIterator<Item = T>, number: u8) -> Option<T> {
    let all: Vec<T> = from.into_iter().collect();
    all.get(usize::from(number) % all.len().max(1)).cloned()
}

fn some_tags(number: u8) -> Vec<&'static str> {
    let number = usize::from(number);
    let mut tags = vec![TAGS[number % TAGS.len()]];
    if number > 100 {
        tags.push(TAGS[number / 10 % TAGS.len()]);
    }
    tags
}

fn tool(name: &str) -> ToolName {
    name.parse().unwrap()
}

fn some_action(number: u8) -> Arc<ResolvedAction> {
    let tier = if number.is_multiple_of(3) { Tier::Safe } else { Tier::Dangerous };
    command(COMMANDS[usize::from(number) % COMMANDS.len()], tier)
}

fn some_rule(number: usize, place: Place) -> Rule {
    let command = Some(COMMANDS[number % COMMANDS.len()].parse().unwrap());
    let verdict = if number.is_multiple_of(2) { Verdict::Deny } else { Verdict::Allow };
    Rule {
        verdict,
        tool: None,
        operation: Some(Operation::Command),
        path: None,
        command,
        shape: None,
        cwd: None,
        children: false,
        why: None,
        place,
    }
}

fn some_policies(number: u8) -> ToolPolicies {
    let glob = |number: usize| PathGlob::at(GLOBS[number % GLOBS.len()], &SanitizedPath::root(), Reach::Below).unwrap();
    let pattern = |number: usize| COMMANDS[number % COMMANDS.len()].parse::<CommandPattern>().unwrap();
    let number = usize::from(number);
    ToolPolicies {
        forbidden: (0..number % 3).map(glob).collect(),
        read: PathPolicy { allow: vec![glob(number)], deny: Vec::new(), default: Some(Verdict::Ask) },
        write: PathPolicy::default(),
        deny_commands: (0..number % 2).map(pattern).collect(),
        approve_commands: vec![pattern(number)],
    }
}

impl Scenario {
    pub(crate) fn new(reads: Reads) -> Scenario {
        let first = settings(|settings| {
            settings.reads = reads;
            settings.max_depth = 4;
            settings.max_pending = 2;
            settings.max_grants = 12;
            settings.denial_memory = Duration::from_millis(10);
            settings.request_timeout = Duration::from_millis(20);
        });
        let mut tale =
            Scenario { state: State::new(first.clone()), first, now: NOW, events: Vec::new(), undone: None, count: 0 };
        for (agent, kind, tags) in [
            ("a", Kind::Subagent, &["@write:/w", "@network"][..]),
            ("b", Kind::Cron, &[]),
            ("c", Kind::System, &[]),
            ("lead", Kind::Foreground, &["@events"]),
        ] {
            tale.tell(register(agent, "you", kind, tags)).unwrap();
        }
        tale.tell(register("spy", "them", Kind::Foreground, &["@write:/w"])).unwrap();
        tale
    }

    pub(super) fn tell(&mut self, command: Command) -> Result<Vec<Event>, Refusal> {
        let (runs, is_revocation) =
            (runs(&self.state), matches!(command, Command::Revoke { .. } | Command::RevokeRuling { .. }));
        let events = self.state.execute(command, self.now)?;
        if is_revocation {
            self.undone = revocation(&events, runs);
        }
        self.events.extend(events.iter().cloned());
        Ok(events)
    }

    /// Returns the command that a step selects now.
    pub(crate) fn command(&mut self, (kind, one, other, third): Step) -> Command {
        self.count += 1;
        self.now = self.now.after(Duration::from_millis(u64::from(third % 4)));
        let agent = |number: u8| id(AGENTS[usize::from(number) % AGENTS.len()]);
        let pinned = |number| pinned(&some_tags(number));
        let starts = |number: u8| {
            let hold = if number.is_multiple_of(5) { Hold::PassOn } else { Hold::Use };
            pinned(number).into_iter().map(|pinned| Start { pinned, hold }).collect::<Vec<_>>()
        };
        let scope = match third % 5 {
            0 => Scope::Once,
            1 => Scope::Session,
            2 => Scope::Until(self.now.after(Duration::from_millis(u64::from(third)))),
            _ => Scope::Always,
        };
        let (reason, run) = ("why".parse().unwrap(), format!("r{}", third % 3).parse().unwrap());
        let broken: StaleGrants = if third > 200 {
            pick(self.state.grants.keys().copied(), other).into_iter().collect()
        } else {
            StaleGrants::new()
        };
        let some_request = pick(self.state.pending.keys().chain(self.state.resolved.keys()).copied(), other);
        let request = some_request.unwrap_or(request_id(u128::MAX));
        let some_grant = pick(self.state.grants.keys().copied(), other).unwrap_or(GrantId::new(u64::MAX));
        match kind % 29 {
            0 => Command::Register {
                profile: profile(AGENTS[usize::from(one) % 6], "you", Kind::Subagent),
                run,
                permissions: starts(other),
            },
            1 => {
                let profile = profile("kid", "you", Kind::Subagent);
                Command::Create { creator: agent(one), profile, run, permissions: pinned(other), reason, broken }
            }
            2 if one < 100 => Command::Retire { agent: agent(other) },
            2 | 3 => {
                let entering = if other.is_multiple_of(2) { Entering::Own } else { Entering::Shared };
                Command::BeginRun { agent: agent(one), run, entering, by: Actor::Operator, owner: None }
            }
            4 | 5 => {
                let scope = (third > 100).then_some(scope);
                Command::Request {
                    id: request_id(self.count),
                    from: agent(one),
                    permissions: pinned(other),
                    reason,
                    scope,
                    broken,
                }
            }
            6 | 7 => {
                let answer = match one % 4 {
                    0 => Answer::deny(),
                    1 => Answer::allow_only(tag(TAGS[usize::from(third) % TAGS.len()])),
                    2 => Answer::allow().scope(scope),
                    _ => Answer::allow(),
                };
                Command::Answer {
                    request,
                    answer,
                    modified: None,
                    by: person(if third > 240 { "them" } else { "you" }),
                }
            }
            8 => Command::Cancel { request, by: agent(one) },
            9..=12 => {
                Command::Grant { from: agent(one), to: agent(other), permissions: pinned(third), reason, scope, broken }
            }
            13 => Command::Give { by: person("you"), to: agent(one), permissions: starts(other), reason, scope },
            14 => {
                let by = if one.is_multiple_of(2) { Actor::Operator } else { Actor::Agent(agent(one)) };
                Command::Revoke { grant: some_grant, by, owner: None, reason: None }
            }
            15 => {
                let action = using(TAGS[usize::from(other) % TAGS.len()]);
                Command::Act { agent: agent(one), action, opinions: Vec::new(), broken }
            }
            16 => match one % 4 {
                0 => Command::Connected { agent: agent(other) },
                1 => Command::Disconnected { agent: agent(other) },
                2 => Command::ApproverArrived { owner: "you".parse().unwrap() },
                _ => Command::UserActive { agent: agent(other) },
            },
            17 => Command::Configure { policy: Arc::new(self.policy(one, other, third)), run },
            18 => Command::AgreeToWidening {
                by: if one.is_multiple_of(2) { person("you").actor() } else { Actor::Operator },
                owner: one.is_multiple_of(2).then(|| person("you").owner),
                change: self.state.last_change,
                run,
            },
            19 | 20 => {
                let (agent, action, request) = (agent(one), some_action(other), request_id(self.count));
                Command::Authorize { agent, action, opinions: Vec::new(), request, broken }
            }
            21 => Command::Act { agent: agent(one), action: some_action(other), opinions: Vec::new(), broken },
            22 => Command::Enable { by: person("you"), agent: agent(one), action: some_action(other), reason },
            23 => {
                let ruling = pick(self.state.rulings.keys().copied(), other).unwrap_or(SavedDecisionId::new(u64::MAX));
                Command::RevokeRuling { ruling, by: Actor::Operator, owner: None, reason: None }
            }
            24 if third.is_multiple_of(2) => {
                let needs =
                    |name: &str| Tool::new(tool(name), Operation::Tool).needing(tag(TAGS[usize::from(other) % 12]));
                let tools = Tools::new(TOOLS.iter().take(usize::from(one % 4)).map(|name| needs(name))).unwrap();
                let by = person(if one > 200 { "them" } else { "you" });
                Command::Declare { by, tools: Arc::new(tools), taken: None }
            }
            24 => {
                let tools = TOOLS.into_iter().take(usize::from(one % 4)).map(tool).collect();
                Command::DeclareTools { by: person("you"), run, tools }
            }
            25 => {
                let tool = one.is_multiple_of(2).then(|| tool(TOOLS[usize::from(other) % TOOLS.len()]));
                Command::SetPolicies {
                    by: person("you"),
                    run,
                    tool,
                    is_declared: false,
                    policies: Arc::new(some_policies(other)),
                }
            }
            26 => {
                let patch = PolicyPatch::writing().allow(GLOBS[usize::from(one) % GLOBS.len()]);
                let patch = patch.deny(GLOBS[usize::from(other) % GLOBS.len()]).by_default(Verdict::Ask);
                Command::UpdatePolicy { by: person("you"), run, patch, is_declared: false, base: "/w".parse().unwrap() }
            }
            28 => self
                .undone
                .clone()
                .map_or(Command::Tick, |undone| Command::Restore { by: person("you"), undone: Arc::new(undone) }),
            _ if one > 220 => Command::Resume { settings: None, cut: None, runs: crate::kernel::RunsAtOpen::End },
            _ => Command::Tick,
        }
    }

    fn policy(&self, one: u8, other: u8, third: u8) -> Policy {
        let mut settings = self.first.clone();
        settings.reads = if one.is_multiple_of(2) { Reads::Anywhere } else { Reads::Granted };
        settings.widening = if third.is_multiple_of(3) { Widening::Confirm } else { Widening::Apply };
        if third > 200 {
            settings.protected = Arc::default();
        }
        let mut agents = BTreeMap::new();
        for (place, name) in FILE_AGENTS.into_iter().enumerate() {
            let bits = (usize::from(other) * 31 + usize::from(third) * 7) >> (2 * place);
            if bits & 1 == 1 {
                let permissions =
                    (0..TAGS.len()).filter(|tag| (bits >> (tag % 6)) & 1 == 1).map(|number| PolicyPermission {
                        pinned: PinnedPermission::from(tag(TAGS[number])),
                        hold: if (bits + number).is_multiple_of(7) { Hold::PassOn } else { Hold::Use },
                        place: Place {
                            file: "agents.toml".into(),
                            line: u32::from(one) + u32::try_from(number).unwrap(),
                        },
                    });
                let place = Place { file: "agents.toml".into(), line: 1 };
                let rules: Vec<_> = (0..bits % 3).map(|number| some_rule(number, place.clone())).collect();
                let owner = if one > 230 { "them" } else { "you" };
                let spec = AgentPolicy {
                    profile: profile(name, owner, Kind::Permanent),
                    permissions: permissions.collect(),
                    rules: rules.into(),
                };
                agents.insert(id(name), spec);
            }
        }
        Policy { settings, agents, left_out: Vec::new() }
    }

    fn live(&self) -> impl Iterator<Item = &Arc<CompactGrant>> {
        self.state.grants.values().filter(|grant| grant.is_live(self.now))
    }

    fn is_protected(&self, permission: &Permission) -> bool {
        let path = permission.path();
        path.is_some_and(|path| self.state.settings.protected.iter().any(|protected| protected.contains(path)))
    }

    fn is_free(&self, permission: &Permission) -> bool {
        matches!(permission, Permission::Path(Access::Read, _))
            && self.state.settings.reads == Reads::Anywhere
            && !self.is_protected(permission)
    }

    /// Returns all live grants with a chain to a root. The search starts at the roots and follows grants until it finds
    /// no more.
    pub(super) fn hanging_on_a_root(&self) -> BTreeSet<GrantId> {
        let mut hanging = BTreeSet::new();
        loop {
            let before = hanging.len();
            for grant in self.live() {
                let hangs = match &grant.origin {
                    Origin::Config(_) | Origin::Operator | Origin::Person { .. } => true,
                    Origin::Agent { from } => {
                        self.is_free(&grant.pinned.permission)
                            || self.live().any(|support| {
                                support.to == *from
                                    && hanging.contains(&support.id)
                                    && support.scope != Scope::Once
                                    && support.pinned.permission.covers(&grant.pinned.permission)
                                    && grant.until.map_or(support.until.is_none(), |end| {
                                        support.until.is_none_or(|other| end <= other)
                                    })
                            })
                    }
                };
                if hangs {
                    hanging.insert(grant.id);
                }
            }
            if hanging.len() == before {
                return hanging;
            }
        }
    }

    /// Returns the correct answer of a check, computed directly from the grants.
    pub(super) fn plain_check(&self, agent: &AgentId, wanted: &Permission) -> Check {
        if !self.state.agents.contains_key(agent) {
            return Check::NotHeld;
        }
        if self.is_free(wanted) {
            return Check::Held;
        }
        let own = |grant: &&Arc<CompactGrant>| grant.to == *agent;
        let usable: Vec<_> = self
            .live()
            .filter(own)
            .filter(|grant| grant.hold == Hold::Use && grant.pinned.permission.covers(wanted))
            .filter(|grant| {
                let exact =
                    matches!(grant.origin, Origin::Config(_)) && grant.pinned.permission.path() == wanted.path();
                !self.is_protected(wanted) || exact
            })
            .collect();
        if usable.iter().any(|grant| grant.scope != Scope::Once) {
            Check::Held
        } else if usable.is_empty() {
            Check::NotHeld
        } else {
            Check::HeldOnce
        }
    }

    /// Returns the answer of the compiled permissions.
    pub(super) fn compiled_check(&self, agent: &AgentId, wanted: &Permission) -> Check {
        let Some(known) = self.state.agents.get(agent) else { return Check::NotHeld };
        let ground = SharedLimits::new(self.state.settings.reads, &self.state.protected, 7);
        check(&compile(&known.held, &Arc::new(ground)), PermissionRef::from(wanted), || Some(self.now))
    }

    /// Returns true if the indexes agree with the grants.
    pub(super) fn indexes_agree(&self) -> bool {
        let state = &self.state;
        let ends: BTreeSet<_> = state.grants.values().filter_map(|grant| Some((grant.until?, grant.id))).collect();
        let deadlines: BTreeSet<_> =
            state.pending.values().map(|waiting| (waiting.request.deadline, waiting.request.id)).collect();
        let rulings: BTreeSet<_> =
            state.rulings.values().filter_map(|ruling| Some((ruling.until?, ruling.id))).collect();
        let (ruled, until) = (rulings.first().map(|(end, _)| *end), deadlines.first().map(|(end, _)| *end));
        let due = ends.first().map(|(end, _)| *end).into_iter().chain(until).chain(ruled).min();
        let of_agents = state.agents.iter().all(|(name, agent)| {
            let held = state.grants.values().filter(|grant| grant.to == *name);
            let from = |grant: &&Arc<CompactGrant>| grant.origin == Origin::Agent { from: name.clone() };
            let given: BTreeSet<_> = state.grants.values().filter(from).map(|grant| grant.id).collect();
            let asked = state.pending.values().filter(|waiting| waiting.request.from == *name);
            held.eq(agent.held.iter())
                && given == agent.given
                && asked.map(|waiting| waiting.request.id).collect::<BTreeSet<_>>() == agent.pending
        });
        let nobody_else = state.grants.values().all(|grant| state.agents.contains_key(&grant.to))
            && state.pending.values().all(|waiting| state.agents.contains_key(&waiting.request.from));
        ends == state.ending
            && rulings == state.rulings_ending
            && deadlines == state.deadlines
            && due == state.next_due()
            && of_agents
            && nobody_else
    }

    pub(crate) fn agents(&self) -> impl Iterator<Item = AgentId> {
        AGENTS.into_iter().chain(FILE_AGENTS).map(id)
    }
}
