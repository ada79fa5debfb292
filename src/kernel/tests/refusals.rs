//! A refused command never changes the state, for every kind of refusal.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::*;
#[cfg(feature = "sandbox")]
use crate::kernel::Starting;
use crate::kernel::StopOrder;
use crate::model::{
    Actor, AgentPolicy, Answer, CredentialOrder, Grant, GrantId, Operation, PathGlob, Policy, PolicyPatch, ProcessId,
    Revocation, Revoked, SavedDecisionId, Scope, Tier, Tool, ToolPolicies, Tools,
};

/// Returns the name of a refusal. A new variant breaks the build here until it has a row below.
fn name(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::AgentExists(_) => "AgentExists",
        Refusal::Credential(_) => "Credential",
        Refusal::AlreadyResolved(_) => "AlreadyResolved",
        Refusal::OtherOwner { .. } => "OtherOwner",
        Refusal::NotForeground(_) => "NotForeground",
        Refusal::NotYours(_) => "NotYours",
        Refusal::NotHeld { .. } => "NotHeld",
        Refusal::NotAllowed(_) => "NotAllowed",
        Refusal::WiderThanDecided(_) => "WiderThanDecided",
        Refusal::InputClimbs { .. } => "InputClimbs",
        Refusal::NotForGood(_) => "NotForGood",
        Refusal::NotShownWhole { .. } => "NotShownWhole",
        Refusal::UnknownRuling(_) => "UnknownRuling",
        Refusal::NotAsked(_) => "NotAsked",
        Refusal::NothingHeldBack => "NothingHeldBack",
        Refusal::NoChildKind { .. } => "NoChildKind",
        Refusal::NameOfTask(_) => "NameOfTask",
        Refusal::NameOfOther { .. } => "NameOfOther",
        Refusal::TooManyChildren { .. } => "TooManyChildren",
        Refusal::OtherChange { .. } => "OtherChange",
        Refusal::HeldOnce { .. } => "HeldOnce",
        Refusal::InFile(_) => "InFile",
        Refusal::TooManyAsked { .. } => "TooManyAsked",
        Refusal::AskedAfterNo { .. } => "AskedAfterNo",
        // These changes are counted outside the state.
        Refusal::TooManyChanges { .. } => "TooManyChanges",
        Refusal::FromFile(..) => "FromFile",
        Refusal::Protected(_) => "Protected",
        Refusal::Governs(_) => "Governs",
        Refusal::Sensitive { .. } => "Sensitive",
        Refusal::NotYourGrant(_) => "NotYourGrant",
        Refusal::RevocationStands(_) => "RevocationStands",
        Refusal::SelfGrant(_) => "SelfGrant",
        Refusal::ScopeTooWide { .. } => "ScopeTooWide",
        Refusal::ScopePast(_) => "ScopePast",
        Refusal::TooDeep { .. } => "TooDeep",
        Refusal::TooManyPending { .. } => "TooManyPending",
        Refusal::TooManyGrants { .. } => "TooManyGrants",
        Refusal::UnknownProcess(_) => "UnknownProcess",
        Refusal::TooManyProcesses { .. } => "TooManyProcesses",
        Refusal::UnknownAgent(_) => "UnknownAgent",
        Refusal::UnknownGrant(_) => "UnknownGrant",
        Refusal::UnknownRequest(_) => "UnknownRequest",
        Refusal::UnknownRun(_) => "UnknownRun",
        Refusal::RunGoesOn(_) => "RunGoesOn",
        Refusal::UnknownTool { .. } => "UnknownTool",
        Refusal::ToolIsDeclared(_) => "ToolIsDeclared",
        Refusal::TooManyDeclarations { .. } => "TooManyDeclarations",
        Refusal::InvalidGlob { .. } => "InvalidGlob",
        Refusal::TooManyPolicies { .. } => "TooManyPolicies",
        // The engine checks directories, codes, handles and keys. No command contains one.
        Refusal::SeveralBases(_) => "SeveralBases",
        Refusal::WrittenBefore(_) => "WrittenBefore",
        Refusal::Gone(_) => "Gone",
        Refusal::ProcessEnded(_) => "ProcessEnded",
        Refusal::UnknownCode(_) => "UnknownCode",
        Refusal::AmbiguousCode(_) => "AmbiguousCode",
        Refusal::ProcessGoesOn(_) => "ProcessGoesOn",
        Refusal::OnlyOnce(_) => "OnlyOnce",
    }
}

/// Returns a state in which every kind of refusal is possible. `lead`, `ann` and `bob` belong to one owner, `eve` to
/// another, and `cfg` comes from a file. Request 1 is pending and request 2 has ended. Request 3 is about an action,
/// and request 4 about an action that is too long to be shown.
fn world() -> State {
    let mut state = State::new(settings(|settings| {
        settings.max_depth = 1;
        settings.max_processes = 0;
        settings.max_pending = 1;
        settings.max_grants = 3;
    }));
    done(&mut state, register("lead", "you", Kind::Foreground, &["@write:/w", "@network"]));
    done(&mut state, register("ann", "you", Kind::Subagent, &[]));
    done(&mut state, register("bob", "you", Kind::Subagent, &["@write:/w/x", "@write:/w/y", "@write:/w/z"]));
    done(&mut state, register("eve", "them", Kind::Subagent, &[]));
    let place = crate::model::Place { file: "agents.toml".into(), line: 1 };
    let listed =
        crate::model::PolicyPermission { pinned: PinnedPermission::from(tag("@events")), hold: Hold::Use, place };
    let spec =
        AgentPolicy { profile: profile("cfg", "you", Kind::Permanent), permissions: vec![listed], rules: [].into() };
    let policy =
        Policy { settings: (*state.settings).clone(), agents: [(id("cfg"), spec)].into(), left_out: Vec::new() };
    done(&mut state, configure(policy));
    done(&mut state, grant("lead", "ann", &["@network"]));
    done(&mut state, request(2, "lead", &["@events"]));
    done(&mut state, answer(2, "you", Answer::deny()));
    done(&mut state, scoped_request(1, "ann", Some(Scope::Once)));
    done(&mut state, authorize(3, "bob", &command("make", Tier::Dangerous)));
    done(&mut state, authorize(4, "cfg", &command(&"make ".repeat(500), Tier::Dangerous)));
    state
}

fn configure(policy: Policy) -> Command {
    Command::Configure { policy: std::sync::Arc::new(policy), run: "r0".parse().unwrap() }
}

fn scoped_request(number: u128, from: &str, scope: Option<Scope>) -> Command {
    let (id, from, reason) = (request_id(number), id(from), "why".parse().unwrap());
    Command::Request { id, from, permissions: pinned(&["@read:/w/q"]), reason, scope, broken: StaleGrants::new() }
}

fn answer(number: u128, owner: &str, answer: Answer) -> Command {
    Command::Answer { request: request_id(number), answer, modified: None, by: person(owner) }
}

fn create(agent: &str, owner: &str, kind: Kind, tags: &[&str]) -> Command {
    let (run, reason) = ("r0".parse().unwrap(), "why".parse().unwrap());
    let profile = profile(agent, owner, kind);
    Command::Create { creator: id("lead"), profile, run, permissions: pinned(tags), reason, broken: StaleGrants::new() }
}

fn revoke(grant: u64, by: Actor, owner: Option<&str>) -> Command {
    Command::Revoke { grant: GrantId::new(grant), by, owner: owner.map(|owner| owner.parse().unwrap()), reason: None }
}

fn revoke_credential(id: &str) -> Command {
    let order = CredentialOrder::Revoke { credential: id.into() };
    Command::ChangeCredential { order, by: None, means: "test".into() }
}

fn restore(revoked_by: Actor, grant: &Arc<Grant>) -> Command {
    let undone = Revocation {
        by: revoked_by,
        revoked: Revoked::Grant(Arc::clone(grant)),
        also_ended: Vec::new(),
        runs: BTreeMap::new(),
    };
    Command::Restore { by: person("you"), undone: Arc::new(undone) }
}

fn confined(agent: &str, network: bool) -> Command {
    let mut facts = crate::model::SandboxFacts::stated("jail", "/w".parse().unwrap());
    facts.network = network;
    let (agent, action) = (id(agent), command("make", Tier::Dangerous));
    let applied = Some(std::sync::Arc::new(facts));
    Command::ActConfined { agent, action, opinions: Vec::new(), broken: StaleGrants::new(), applied }
}

fn give(to: &str, owner: &str, tags: &[&str], scope: Scope) -> Command {
    Command::Give { by: person(owner), to: id(to), permissions: starts(tags), reason: "why".parse().unwrap(), scope }
}

fn spend(agent: &str, wanted: &str, broken: StaleGrants) -> Command {
    Command::Act { agent: id(agent), action: using(wanted), opinions: Vec::new(), broken }
}

fn act(agent: &str, text: &str, tier: Tier) -> Command {
    Command::Act { agent: id(agent), action: command(text, tier), opinions: Vec::new(), broken: StaleGrants::new() }
}

fn instead(number: u128, text: &str, tier: Tier) -> Command {
    let (request, modified) = (request_id(number), Some(command(text, tier)));
    Command::Answer { request, answer: Answer::allow(), modified, by: person("you") }
}

fn update(owner: &str, run: &str, patch: PolicyPatch) -> Command {
    Command::UpdatePolicy {
        by: person(owner),
        run: run.parse().unwrap(),
        patch,
        is_declared: false,
        base: "/w".parse().unwrap(),
    }
}

fn set(owner: &str, run: &str, tool: Option<&str>, globs: usize) -> Command {
    let glob = |number| PathGlob::try_from(format!("/w/{number}")).unwrap();
    let policies = ToolPolicies { forbidden: (0..globs).map(glob).collect(), ..ToolPolicies::default() };
    let (run, tool) = (run.parse().unwrap(), tool.map(|tool| tool.parse().unwrap()));
    Command::SetPolicies { by: person(owner), run, tool, is_declared: false, policies: std::sync::Arc::new(policies) }
}

fn declare(owner: &str, run: &str, count: usize) -> Command {
    let tools = (0..count).map(|number| format!("tool{number}").parse().unwrap()).collect();
    Command::DeclareTools { by: person(owner), run: run.parse().unwrap(), tools }
}

/// Returns a declaration of `count` tools, each with `fields` long fields.
fn declare_by(owner: &str, count: usize, fields: usize, taken: Option<&str>) -> Command {
    let long = |number: usize| format!("{}{number}", "f".repeat(150)).parse().unwrap();
    let tool = |number: usize| {
        let tool = Tool::new(format!("tool{number}").parse().unwrap(), Operation::Tool);
        (0..fields).fold(tool, |tool, number| tool.reads(long(number)))
    };
    let tools = std::sync::Arc::new(Tools::new((0..count).map(tool)).unwrap());
    Command::Declare { by: person(owner), tools, taken: taken.map(|name| name.parse().unwrap()) }
}

fn stop_process(by: Actor) -> Command {
    let order = StopOrder { by, owner: None, reason: None, grace_ms: 0 };
    Command::StopProcess { process: ProcessId::new(7), order }
}

#[cfg(feature = "sandbox")]
fn start_process(agent: &str, permissions: &[&str]) -> Command {
    let permissions = permissions.iter().map(|text| tag(text)).collect();
    let (command, by) = ("make".into(), Actor::Agent(id(agent)));
    Command::StartProcess(Starting { agent: id(agent), command, permissions, cause: None, again: None, by })
}

/// Returns a state with a running process, and the command to start it again.
#[cfg(feature = "sandbox")]
fn started_again() -> (State, Command) {
    let mut state = State::new(settings(|_| ()));
    done(&mut state, register("ann", "you", Kind::Subagent, &[]));
    done(&mut state, start_process("ann", &[]));
    let running = state.processes.get(ProcessId::new(0)).map(|going| std::sync::Arc::clone(&going.process));
    let Command::StartProcess(starting) = start_process("ann", &[]) else { panic!("another command") };
    (state, Command::StartProcess(Starting { again: running, ..starting }))
}

/// Returns a state in which request 2 is about a destructive action. A person denied it for the session and then
/// enabled it, and the agent asks to override the denial.
fn destroys() -> State {
    let mut state = State::new(settings(|_| ()));
    done(&mut state, register("bob", "you", Kind::Subagent, &[]));
    let action = std::sync::Arc::into_inner(command("rm -rf x", Tier::Destructive)).unwrap();
    let pinned = PinnedPermission::from(tag("@events"));
    let target = crate::kernel::Target::Command { text: "rm -rf x".into(), parts: None, doing: None };
    let action = std::sync::Arc::new(crate::kernel::ResolvedAction {
        uses: own(Operation::Command, target, Some(pinned)),
        ..action
    });
    done(&mut state, enable("bob", &action));
    done(&mut state, authorize(1, "bob", &action));
    done(&mut state, answer(1, "you", Answer::deny().scope(Scope::Session)));
    done(&mut state, enable("bob", &command("rm -rf x", Tier::Destructive)));
    let action = std::sync::Arc::into_inner(command("rm -rf x", Tier::Destructive)).unwrap();
    let overriding = crate::kernel::ResolvedAction { overrides: true, ..action };
    done(&mut state, authorize(2, "bob", &std::sync::Arc::new(overriding)));
    state
}

fn enable(agent: &str, action: &std::sync::Arc<crate::kernel::ResolvedAction>) -> Command {
    let (by, reason, action) = (person("you"), "why".parse().unwrap(), std::sync::Arc::clone(action));
    Command::Enable { by, agent: id(agent), action, reason }
}

/// Returns the refusals that need a different state than `world`.
fn rows_of_their_own() -> Vec<(&'static str, State, Command)> {
    let mut with_a_child = State::new(settings(|settings| settings.max_children = 1));
    done(&mut with_a_child, register("lead", "you", Kind::Foreground, &[]));
    done(&mut with_a_child, create("first", "you", Kind::Subagent, &[]));
    let mut asked_once = State::new(settings(|settings| settings.max_asks_per_minute = 1));
    done(&mut asked_once, register("bob", "you", Kind::Subagent, &[]));
    done(&mut asked_once, request(1, "bob", &["@network"]));
    let mut for_once = world();
    done(&mut for_once, answer(1, "you", Answer::allow()));
    let mut waiting = State::new(settings(|settings| settings.widening = crate::model::Widening::Confirm));
    let policy = Policy { settings: settings(|_| ()), agents: [].into(), left_out: Vec::new() };
    done(&mut waiting, configure(policy));
    let mut tries_first = State::new(settings(|_| ()));
    let tries = profile("tries", "you", Kind::Subagent).in_mode(crate::model::Mode::OnFailure);
    done(&mut tries_first, Command::Register { profile: tries, run: "r0".parse().unwrap(), permissions: Vec::new() });
    let lasting = |scope| answer(2, "you", Answer::allow().scope(scope));
    #[cfg(feature = "sandbox")]
    let (running, again) = started_again();
    vec![
        #[cfg(feature = "sandbox")]
        ("ProcessGoesOn", running, again),
        ("OnlyOnce", destroys(), lasting(Scope::Session)),
        ("OnlyOnce", destroys(), lasting(Scope::Always)),
        ("WiderThanDecided", tries_first, confined("tries", true)),
        ("TooManyChildren", with_a_child, create("second", "you", Kind::Subagent, &[])),
        ("TooManyAsked", asked_once, request(2, "bob", &["@events"])),
        ("HeldOnce", for_once, grant("ann", "bob", &["@read:/w/q"])),
        (
            "OtherChange",
            waiting,
            Command::AgreeToWidening { by: Actor::Operator, owner: None, change: 7, run: "r0".parse().unwrap() },
        ),
    ]
}

#[test]
fn a_refused_command_leaves_the_state_equal() {
    let state = world();
    let number = |to: &str| state.agents[&id(to)].held[0].id.number();
    let all_broken: StaleGrants = state.grants.keys().copied().collect();
    let broken_grant = Command::Grant {
        from: id("lead"),
        to: id("ann"),
        permissions: pinned(&["@write:/w/a"]),
        reason: "why".parse().unwrap(),
        scope: Scope::Always,
        broken: all_broken.clone(),
    };
    let taken = Policy {
        settings: (*state.settings).clone(),
        agents: [(
            id("lead"),
            AgentPolicy { profile: profile("lead", "you", Kind::Foreground), permissions: vec![], rules: [].into() },
        )]
        .into(),
        left_out: Vec::new(),
    };
    let past = Scope::Until(NOW);
    let rows: Vec<(&str, Command)> = vec![
        ("AgentExists", register("ann", "you", Kind::Subagent, &[])),
        ("AgentExists", create("ann", "you", Kind::Subagent, &[])),
        ("AgentExists", configure(taken)),
        ("AlreadyResolved", answer(2, "you", Answer::allow())),
        ("AlreadyResolved", Command::Cancel { request: request_id(2), by: id("lead") }),
        ("OtherOwner", answer(1, "them", Answer::allow())),
        ("OtherOwner", answer(2, "them", Answer::allow())),
        ("OtherOwner", grant("lead", "eve", &["@network"])),
        ("OtherOwner", give("ann", "them", &["@network"], Scope::Always)),
        ("UnknownGrant", revoke(number("lead"), Actor::Operator, Some("them"))),
        ("OtherOwner", create("kid", "them", Kind::Subagent, &[])),
        ("NotForeground", Command::Connected { agent: id("ann") }),
        ("NotForeground", Command::UserActive { agent: id("ann") }),
        ("NotYours", Command::Cancel { request: request_id(1), by: id("bob") }),
        ("NotYours", Command::Cancel { request: request_id(2), by: id("bob") }),
        ("NotHeld", grant("ann", "lead", &["@events"])),
        ("NotHeld", broken_grant),
        ("NotHeld", create("kid", "you", Kind::Subagent, &["@network", "@events"])),
        ("NotHeld", spend("ann", "@events", StaleGrants::new())),
        ("NotHeld", spend("lead", "@write:/w", all_broken)),
        ("NotAsked", answer(1, "you", Answer::allow_only(tag("@read:/w")))),
        (
            "NothingHeldBack",
            Command::AgreeToWidening { by: Actor::Operator, owner: None, change: 1, run: "r0".parse().unwrap() },
        ),
        ("NoChildKind", create("kid", "you", Kind::Foreground, &[])),
        ("NoChildKind", create("kid", "you", Kind::System, &[])),
        ("Credential", revoke_credential("0a1b2c3d4e5f")),
        ("NameOfOther", create("claude:Plan", "you", Kind::Subagent, &[])),
        ("NameOfOther", create("claude", "you", Kind::Subagent, &[])),
        ("NameOfTask", create("cron:kid", "you", Kind::Subagent, &[])),
        ("NameOfTask", register("heartbeat:kid", "you", Kind::Heartbeat, &[])),
        ("InFile", Command::Retire { agent: id("cfg") }),
        ("FromFile", revoke(number("cfg"), Actor::Operator, None)),
        ("Protected", register("kid", "you", Kind::Subagent, &["@network", "@read:/p"])),
        ("Protected", request(3, "lead", &["@read:/p/key"])),
        ("Protected", grant("lead", "ann", &["@read:/p/key"])),
        ("Protected", give("ann", "you", &["@read:/p"], Scope::Always)),
        ("Protected", spend("ann", "@read:/p", StaleGrants::new())),
        ("Governs", register("kid", "you", Kind::Subagent, &["@write:/rules"])),
        ("Governs", request(3, "lead", &["@write:/rules"])),
        ("Governs", grant("lead", "ann", &["@write:/"])),
        ("Governs", give("ann", "you", &["@write:/rules"], Scope::Always)),
        ("Sensitive", grant("lead", "ann", &["@write:/w/.git/hooks"])),
        ("Sensitive", spend("lead", "@write:/w/.env", StaleGrants::new())),
        ("NotYourGrant", revoke(number("lead"), Actor::Agent(id("ann")), None)),
        ("RevocationStands", restore(Actor::Operator, &state.agents[&id("lead")].held[0].whole())),
        ("SelfGrant", grant("lead", "lead", &["@network"])),
        ("ScopeTooWide", answer(1, "you", Answer::allow().scope(Scope::Session))),
        ("ScopePast", give("ann", "you", &["@network"], past)),
        ("ScopePast", scoped_request(3, "lead", Some(past))),
        ("TooDeep", grant("ann", "lead", &["@network"])),
        ("TooManyPending", request(3, "ann", &["@events"])),
        ("TooManyGrants", grant("lead", "bob", &["@write:/w/a", "@write:/w/b", "@write:/w/c", "@write:/w/d"])),
        ("TooManyGrants", give("bob", "you", &["@network"], Scope::Always)),
        ("TooManyGrants", register("kid", "you", Kind::Subagent, &["@network", "@events", "@read:/a", "@read:/b"])),
        ("UnknownAgent", grant("nobody", "ann", &["@network"])),
        ("UnknownAgent", grant("lead", "nobody", &["@network"])),
        ("UnknownAgent", request(3, "nobody", &["@network"])),
        ("UnknownAgent", Command::Retire { agent: id("nobody") }),
        ("UnknownAgent", begin_run("nobody", "r1".parse().unwrap())),
        ("UnknownAgent", spend("nobody", "@network", StaleGrants::new())),
        ("UnknownAgent", Command::Connected { agent: id("nobody") }),
        ("UnknownAgent", Command::UserActive { agent: id("nobody") }),
        ("NotAllowed", act("ann", "make", Tier::Dangerous)),
        ("NotAllowed", act("ann", "rm -rf x", Tier::Destructive)),
        ("NotAllowed", confined("ann", false)),
        ("InputClimbs", instead(3, "rm -rf x", Tier::Destructive)),
        ("NotForGood", answer(3, "you", Answer::allow().scope(Scope::Always))),
        ("NotShownWhole", answer(4, "you", Answer::allow().scope(Scope::Session))),
        ("NotShownWhole", answer(4, "you", Answer::allow().scope(Scope::Always))),
        ("ScopePast", answer(3, "you", Answer::allow().scope(past))),
        ("OtherOwner", answer(3, "them", Answer::deny())),
        (
            "UnknownRuling",
            Command::RevokeRuling { ruling: SavedDecisionId::new(9), by: Actor::Operator, owner: None, reason: None },
        ),
        ("UnknownRun", update("them", "r1", PolicyPatch::reading().deny("x"))),
        ("UnknownRun", set("you", "r1", None, 1)),
        ("UnknownRun", declare("you", "r1", 1)),
        ("UnknownTool", update("you", "r0", PolicyPatch::reading().of("raed".parse().unwrap()).deny("x"))),
        ("UnknownTool", set("you", "r0", Some("raed"), 1)),
        ("InvalidGlob", update("you", "r0", PolicyPatch::reading().allow("x").deny("a["))),
        ("TooManyPolicies", set("you", "r0", None, 1025)),
        ("TooManyPolicies", set("you", "r0", Some("bash"), 1025)),
        ("TooManyPolicies", declare("you", "r0", 1025)),
        ("ToolIsDeclared", declare_by("you", 1, 0, Some("bash"))),
        ("TooManyDeclarations", declare_by("you", 257, 0, None)),
        ("TooManyDeclarations", declare_by("you", 20, 32, None)),
        ("UnknownProcess", stop_process(Actor::Operator)),
        ("UnknownProcess", stop_process(Actor::Agent(id("ann")))),
        #[cfg(feature = "sandbox")]
        ("TooManyProcesses", start_process("ann", &[])),
        ("UnknownGrant", revoke(999, Actor::Operator, None)),
        ("UnknownRequest", answer(9, "you", Answer::allow())),
        ("UnknownRequest", Command::Cancel { request: request_id(9), by: id("ann") }),
    ];
    let mut met =
        BTreeSet::from(["UnknownCode", "AmbiguousCode", "Gone", "SeveralBases", "ProcessEnded", "WrittenBefore"]);
    // Without the sandbox feature, no process is started.
    if !cfg!(feature = "sandbox") {
        met.extend(["TooManyProcesses", "ProcessGoesOn"]);
    }
    let rows = rows.into_iter().map(|(expected, command)| (expected, state.clone(), command));
    for (expected, state, command) in rows.chain(rows_of_their_own()) {
        let mut after = state.clone();
        let told = format!("{command:?}");
        let refused = after.execute(command, NOW).unwrap_err();
        assert_eq!(name(&refused), expected, "{told}");
        assert!(after == state, "{told} changed something");
        let sentence = refused.to_string();
        assert!(!sentence.ends_with('.') && !sentence.contains('\n'), "{sentence}");
        met.insert(expected);
    }
    assert_eq!(met.len(), 54, "each reason has a row");
}
