//! Tests of the policies of a run's tools, and of people's answers about actions (`sources/000`). `docs/guards.md`
//! names the test of each case.

mod asking;
mod children;
mod commands;
mod exploits;
mod patches;
mod session;

use bestow::{
    Action, Agent, Answer, Approver, Event,
    action::Authorization,
    agent::RunId,
    decision::{Decision, Verdict},
    event::{Recorded, Subscription},
    grant::Scope,
    path::{PathGlob, Reach},
    policy::RuleRef,
    request::{RequestId, Ticket},
    tool::{PathPolicy, ToolName, ToolPolicies, ToolPolicy},
};

use crate::support::{World, heard};

pub(super) fn tool(name: &str) -> ToolName {
    name.parse().unwrap()
}

/// Returns the write of `path` with `write_file`.
pub(super) fn write(path: &str) -> Action {
    Action::write(path).by_tool(tool("write_file"))
}

/// Returns the read of `path` with `read_file`.
pub(super) fn read(path: &str) -> Action {
    Action::read(path).by_tool(tool("read_file"))
}

pub(super) fn run_of(agent: &Agent) -> RunId {
    agent.explain(&Action::read("/ws")).unwrap().decision.run
}

/// Returns the glob for a denial, relative to `/ws`.
pub(super) fn glob(text: &str) -> PathGlob {
    PathGlob::at(text, &"/ws".parse().unwrap(), Reach::Everywhere).unwrap()
}

pub(super) fn asking() -> ToolPolicies {
    let ask = PathPolicy { default: Some(Verdict::Ask), ..PathPolicy::default() };
    ToolPolicies { read: ask.clone(), write: ask, ..ToolPolicies::default() }
}

/// Creates an agent of `you` that holds `/ws`. The policy of its run asks about every path.
pub(super) async fn asked_about_all(world: &World) -> (Agent, Approver, RunId) {
    let bot = world.worker("bot", &["@write:/ws"]).await;
    let (you, run) = (world.you(), run_of(&bot));
    you.set_policies(&run, None, asking()).await.unwrap();
    (bot, you, run)
}

/// Creates an agent of `you` that holds `/ws`, without a policy.
pub(super) async fn unguarded(world: &World) -> (Agent, Approver, RunId) {
    let bot = world.worker("bot", &["@write:/ws"]).await;
    let run = run_of(&bot);
    (bot, world.you(), run)
}

pub(super) async fn authorize(agent: &Agent, action: Action) -> Authorization {
    agent.authorize(action).await.unwrap()
}

pub(super) async fn verdict(agent: &Agent, action: Action) -> bestow::Effect {
    let before = agent.verdict(&action).unwrap();
    let decided = authorize(agent, action).await.decision().verdict();
    assert_eq!(before, decided, "looking and doing agree");
    decided
}

/// Returns the request and the ticket that `action` leads to.
pub(super) async fn question(agent: &Agent, action: Action) -> (RequestId, Ticket) {
    match authorize(agent, action).await {
        Authorization::Asked(decision, ticket) => (decision.approval_action_id.unwrap(), ticket),
        other => panic!("expected a question, not {other:?}"),
    }
}

pub(super) async fn say(you: &Approver, request: RequestId, answer: Answer) {
    you.answer(request, answer).await.unwrap();
}

pub(super) fn for_the_session(answer: Answer) -> Answer {
    answer.scope(Scope::Session)
}

/// Returns the updated policies in the order of their events: tool and names.
pub(super) fn updates(events: &[Recorded]) -> Vec<(String, Vec<String>)> {
    let told = events.iter().filter_map(|recorded| match &recorded.event {
        Event::PolicyUpdated { tool, policies, .. } => {
            Some((tool.to_string(), policies.iter().map(ToString::to_string).collect()))
        }
        _ => None,
    });
    told.collect()
}

pub(super) fn updates_heard(events: &mut Subscription) -> Vec<(String, Vec<String>)> {
    updates(&heard(events))
}

pub(super) fn names(guard: &ToolPolicy) -> Vec<&str> {
    guard.names.iter().map(|name| &**name).collect()
}

/// Returns true if `decision` rests on a policy of this name.
pub(super) fn rests_on(decision: &Decision, policy: &str) -> bool {
    let is_it = |rule: &RuleRef| matches!(rule, RuleRef::Policy { name, .. } if **name == *policy);
    decision.rule_refs.iter().any(is_it)
}
