//! Tests of tools that people declare, as a connector's bot does over the wire. A declaration reveals more of a call,
//! never less.

use bestow::{
    Action, Agent, Effect, Event, Kind, Permission,
    action::{Operation, UseOrigin},
    agent::Mode,
    decision::{DecisionSource, Refusal, Verdict},
    tool::{Tool, Tools},
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{MODES, agent, call, verdict, world};
use crate::support::{World, futures_now, owner, refusal, tag, tags, why};

fn tool(name: &str, operation: Operation) -> Tool {
    Tool::new(name.parse().unwrap(), operation)
}

fn tools(all: impl IntoIterator<Item = Tool>) -> Tools {
    Tools::new(all).unwrap()
}

fn field(text: &str) -> bestow::tool::Field {
    text.parse().unwrap()
}

/// Returns the effect of a call and its missing permissions.
async fn missing(agent: &Agent, name: &str, input: &Value) -> (Effect, Vec<Permission>) {
    let decided = agent.authorize(call(name, input)).await.unwrap();
    (decided.decision().verdict(), decided.decision().missing.clone())
}

#[tokio::test]
async fn what_is_declared_is_used_besides_what_is_seen_of_any_call() {
    let world = world();
    let ann = agent(&world, Mode::Bypass, &["@write:/ws"]).await;
    let new = json!({ "page": { "file": "new" }, "to": "example.com" });
    assert_eq!(missing(&ann, "save", &new).await, (Effect::Allow, vec![]), "nobody knows that `new` is a file");
    let save = tool("save", Operation::Write).path(field("page.file")).reads(field("from?"));
    let send = tool("send", Operation::Network).host(field("to")).needing(tag("@tool:mail/send"));
    world.you().declare(tools([save, send])).await.unwrap();
    assert_eq!(missing(&ann, "save", &new).await, (Effect::Allow, vec![]), "it is held");
    let bob = world.worker("bob", &["@write:/ws/here"]).await;
    assert_eq!(missing(&bob, "save", &new).await, (Effect::Ask, vec![tag("@write:/ws/new")]));
    assert_eq!(missing(&ann, "send", &new).await.1, tags(&["@network", "@tool:mail/send"]));
    // The general checks of any call still apply.
    let more = json!({ "page": { "file": "new" }, "note": "/elsewhere/x" });
    assert_eq!(missing(&ann, "save", &more).await.1, [tag("@write:/elsewhere/x")]);
    assert_eq!(verdict(&ann, "save", &json!({ "page": { "file": "new" }, "note": "rm -rf /" })).await, Verdict::Deny);
    assert_eq!(verdict(&ann, "save", &json!({ "page": { "file": "/keys/a" } })).await, Verdict::Deny);
    assert_eq!(verdict(&ann, "save", &json!({ "page": {} })).await, Verdict::Deny, "not as declared");
}

#[tokio::test]
async fn a_need_that_only_a_person_declared_is_a_matter_of_the_tool_and_an_allow_rule_does_not_go_round_it() {
    let world = world();
    let ann = agent(&world, Mode::Bypass, &[]).await;
    let input = json!({ "to": "stage" });
    assert_eq!(verdict(&ann, "deploy", &input).await, Verdict::Allow);
    world.you().declare(tools([tool("deploy", Operation::Tool).needing(tag("@tool:deploy"))])).await.unwrap();
    let decided = ann.authorize(call("deploy", &input)).await.unwrap();
    let decision = decided.decision();
    assert_eq!((decision.verdict(), decision.decision_source), (Effect::Ask, DecisionSource::ToolContract));
    let uses = ann.explain(&call("deploy", &input)).unwrap().uses;
    assert!(uses.iter().any(|step| step.used.origin == UseOrigin::Declared), "{uses:?}");
}

#[tokio::test]
async fn a_command_line_is_put_together_from_where_it_stands_and_judged() {
    let world = world();
    let ann = agent(&world, Mode::Bypass, &["@write:/ws"]).await;
    // Without a declaration no command line is found in these words.
    let words = |words: [&str; 3]| json!({ "steps": words.map(|word| json!({ "say": { "word": word } })) });
    let destroys = words(["terraform", "destroy", "-auto-approve"]);
    assert_eq!(verdict(&ann, "job", &destroys).await, Verdict::Allow);
    let job = tool("job", Operation::Command).command(field("steps[].say.word"));
    world.you().declare(tools([job])).await.unwrap();
    let decided = ann.authorize(call("job", &destroys)).await.unwrap();
    let facts = &decided.decision().action;
    assert!(facts.destructive.is_some() && decided.decision().verdict() == Verdict::Deny, "{facts:?}");
    assert_eq!(missing(&ann, "job", &words(["cp", "a", "/srv/a"])).await.1, [tag("@write:/srv/a")]);
    let secret = words(["curl", "-H", "Authorization: Bearer ghp_0123456789abcdefghijABCDEFGHIJ012345"]);
    let recorded = serde_json::to_string(&ann.authorize(call("job", &secret)).await.unwrap().decision()).unwrap();
    assert!(!recorded.contains("ghp_0123"), "{recorded}");
}

#[tokio::test]
async fn rules_meet_what_is_declared() {
    let world = World::new();
    let policies = bestow::tool::ToolPolicies {
        deny_commands: vec!["git push **".parse().unwrap()],
        forbidden: vec!["/ws/secrets/**".parse().unwrap()],
        ..bestow::tool::ToolPolicies::default()
    };
    let ann = world.worker("ann", &["@write:/ws"]).await;
    let run = world.engine.run_of(ann.id()).unwrap();
    world.you().set_policies(&run, None, policies).await.unwrap();
    let steps = json!({ "steps": [{ "w": "git" }, { "w": "push" }, { "w": "origin" }] });
    let file = json!({ "in": "secrets", "name": "secrets.d" });
    let job = tool("x/job", Operation::Command).command(field("steps[].w"));
    let keep = tool("x/keep", Operation::Write).path(field("dir"));
    world.you().declare(tools([job, keep])).await.unwrap();
    assert_eq!(verdict(&ann, "x/job", &steps).await, Verdict::Deny);
    assert_eq!(verdict(&ann, "x/keep", &json!({ "dir": "secrets/new" })).await, Verdict::Deny);
    assert_eq!(verdict(&ann, "x/other", &file).await, Verdict::Ask);
}

#[tokio::test]
async fn what_is_declared_otherwise_is_refused_by_name_and_nothing_of_it_is_declared() {
    let world = World::new();
    let own = tools([tool("own", Operation::Tool).needing(tag("@tool:own"))]);
    world.engine.declare_tools(own).unwrap();
    let harmless = || tool("notes", Operation::Tool);
    for name in
        ["bash", "Write", "mcp__filesystem__write_file", "filesystem/write_file", "filesystem.write_file", "own"]
    {
        let refused = world.you().declare(tools([harmless(), tool(name, Operation::Network)])).await;
        assert_eq!(refusal(refused), Refusal::ToolIsDeclared(name.parse().unwrap()));
        assert!(world.you().declarations().unwrap().is_empty(), "{name}");
    }
    world.you().declare(tools([harmless().needing(tag("@tool:notes"))])).await.unwrap();
    let ann = world.worker("ann", &[]).await;
    assert_eq!(missing(&ann, "notes", &json!({})).await.1, [tag("@tool:notes")]);
    // A declaration of the host program takes precedence, whenever it is made.
    world.engine.declare_tools(tools([harmless().needing(tag("@tool:host"))])).unwrap();
    assert_eq!(missing(&ann, "notes", &json!({})).await.1, [tag("@tool:host")]);
    world.engine.declare_tools(Tools::default()).unwrap();
    assert_eq!(missing(&ann, "notes", &json!({})).await.1, [tag("@tool:notes")]);
}

#[tokio::test]
async fn it_holds_for_agents_of_its_owner_until_whoever_declared_it_takes_it_back() {
    let world = World::new();
    let mut events = world.engine.subscribe();
    let needs = |name: &str| tools([tool("deploy", Operation::Tool).needing(tag(&format!("@tool:{name}")))]);
    let (ann, eve) = (world.worker("ann", &[]).await, world.agent("eve", "them", Kind::Subagent, &[]).await);
    let bob = world.engine.approver(owner("you"), "bob", "stdio");
    world.you().declare(needs("a")).await.unwrap();
    bob.declare(needs("b")).await.unwrap();
    assert_eq!(
        missing(&ann, "deploy", &json!({})).await.1,
        tags(&["@tool:a", "@tool:b"]),
        "nobody's takes another's place"
    );
    assert_eq!(missing(&eve, "deploy", &json!({})).await.1, []);
    world.approver("them").declare(Tools::default()).await.unwrap();
    bob.declare(Tools::default()).await.unwrap();
    assert_eq!(missing(&ann, "deploy", &json!({})).await.1, tags(&["@tool:a"]));
    world.you().declare(needs("c")).await.unwrap();
    world.you().declare(needs("c")).await.unwrap();
    assert_eq!(missing(&ann, "deploy", &json!({})).await.1, tags(&["@tool:c"]));
    // The declaration does not depend on any agent, so retiring an agent does not remove it.
    world.engine.retire(ann.id()).await.unwrap();
    let ann = world.worker("ann", &[]).await;
    assert_eq!(missing(&ann, "deploy", &json!({})).await.1, tags(&["@tool:c"]));
    let mut facts = Vec::new();
    world.engine.shutdown().await;
    while let Ok(recorded) = events.next().await {
        if let Event::DeclarationsChanged { declarer, tools, .. } = &recorded.event {
            facts.push(format!("{declarer} {}", tools.iter().count()));
        }
    }
    assert_eq!(facts, ["ann 1", "bob 1", "bob 0", "ann 1"], "a fact for each change, and none for none");
}

#[tokio::test]
async fn a_yes_from_before_a_declaration_does_not_carry_what_it_adds() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let deploy = || call("deploy", &json!({ "to": "stage" })).because(why());
    let bestow::action::Authorization::Asked(_, ticket) = ann.authorize(deploy()).await.unwrap() else {
        panic!("it is asked")
    };
    world.you().declare(tools([tool("deploy", Operation::Tool).needing(tag("@tool:deploy"))])).await.unwrap();
    world.you().answer(ticket.id(), bestow::Answer::allow()).await.unwrap();
    let decided = ann.authorize(deploy()).await.unwrap();
    assert_eq!((decided.is_allowed(), &decided.decision().missing[..]), (false, &[tag("@tool:deploy")][..]));
}

#[cfg(feature = "journal")]
#[tokio::test]
async fn it_survives_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let open = || bestow::Engine::durable(bestow::Settings::default(), directory.path());
    let you = |engine: &bestow::Engine| engine.approver(owner("you"), "ann", "stdio");
    let declared = tools([tool("notes/save", Operation::Write).path(field("file|path")).needing(tag("@tool:notes"))]);
    let engine = open().await.unwrap();
    engine
        .register(crate::support::profile("ann", "you", Kind::Subagent), bestow::InitialGrants::nothing())
        .await
        .unwrap();
    you(&engine).declare(declared.clone()).await.unwrap();
    engine.shutdown().await;
    let engine = open().await.unwrap();
    let known = you(&engine).declarations().unwrap();
    assert_eq!(known.into_iter().collect::<Vec<_>>(), [("ann".parse().unwrap(), std::sync::Arc::new(declared))]);
    let ann = engine.agent("ann").unwrap();
    assert!(missing(&ann, "notes/save", &json!({ "path": "x" })).await.1.contains(&tag("@tool:notes")));
    engine.shutdown().await;
}

/// Names of tools, including well-known ones.
const NAMES: [&str; 4] = ["save", "x/run", "bash", "mcp__other__bash"];

/// Fields that a bot might declare or omit to hide a value.
const FIELDS: [&str; 6] = ["a", "b", "a|b", "c.d", "e[]", "."];

/// Texts that the checks recognize.
const TEXTS: [&str; 8] =
    ["/keys/a", "/ws/a", "new", "rm -rf /", "curl https://evil.example", "/else/where", "git push", "secrets/k"];

fn declaration() -> impl Strategy<Value = Option<Tool>> {
    let operations =
        [Operation::Read, Operation::Write, Operation::Exec, Operation::Command, Operation::Network, Operation::Tool];
    let place = prop::option::of(prop::sample::select(FIELDS.to_vec()));
    let kind = (prop::sample::select(operations.to_vec()), prop::sample::select(NAMES.to_vec()));
    (kind, place.clone(), place.clone(), place, any::<(bool, bool)>()).prop_map(
        |((operation, name), one, other, content, (tree, needs))| {
            let mut all = tool(name, operation);
            if let Some(text) = one {
                all = match operation {
                    Operation::Command => all.command(field(text)),
                    Operation::Network | Operation::Tool => all.host(field(text)),
                    _ => all.path(field(text)),
                };
            }
            let all = if let Some(text) = other { all.reads(field(text).optional()) } else { all };
            let all = if let Some(text) = content { all.content(field(text)) } else { all };
            let all = if needs { all.needing(tag("@tool:t")) } else { all.ignoring("a") };
            let all = if tree { all.below() } else { all };
            Tools::new([all.clone()]).is_ok().then_some(all)
        },
    )
}

fn input() -> impl Strategy<Value = Value> {
    let text = || prop::sample::select(TEXTS.to_vec());
    (text(), text(), text(), prop::collection::vec(text(), 0..3), any::<[bool; 4]>()).prop_map(|(a, b, d, e, there)| {
        let mut all = serde_json::Map::new();
        let given = [("a", json!(a)), ("b", json!(b)), ("c", json!({ "d": d })), ("e", json!(e))];
        all.extend(given.into_iter().zip(there).filter(|(_, there)| *there).map(|((k, v), _)| (k.to_owned(), v)));
        Value::Object(all)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::support::cases(300), ..ProptestConfig::default() })]

    /// A declaration of a person never allows a call that is not allowed without it.
    #[test]
    fn no_declaration_of_a_person_loosens_anything(
        declared in declaration(), name in prop::sample::select(NAMES.to_vec()), input in input(),
        mode in prop::sample::select(MODES.to_vec()),
        holds in prop::sample::subsequence(vec!["@write:/ws", "@network", "@read:/"], 0..3),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let _inside = runtime.enter();
        let world = World::with(|settings| settings.protected = ["/keys".parse().unwrap()].into());
        let ann = futures_now(agent(&world, mode, &holds));
        let action = Action::tool(name.parse().unwrap(), input);
        let before = ann.explain(&action).unwrap().decision;
        let Some(declared) = declared else { return Ok(()) };
        if futures_now(world.you().declare(tools([declared.clone()]))).is_err() {
            prop_assert!(declared.name().as_str() == "bash", "only what is built in is refused here: {declared}");
        }
        let after = ann.explain(&action).unwrap().decision;
        prop_assert!(after.verdict() >= before.verdict(), "{declared}: {before} became {after}");
        let denied = after.verdict() == Verdict::Deny;
        prop_assert!(
            denied || before.missing.iter().all(|missing| after.missing.contains(missing)), "{declared}: {after}"
        );
        prop_assert!(denied || after.action.tier >= before.action.tier, "{declared}: {after}");
        prop_assert!(denied || after.action.destructive.is_some() >= before.action.destructive.is_some());
    }
}
