//! Tests of the facts that a decision, a sandbox and a request record.

use bestow::{
    Action, Answer,
    agent::Mode,
    decision::StatedPermission,
    grant::{Hold, Scope},
};

use crate::support::{World, id, profile, tag, why};

/// B4: if a program was started by its path, the reported path was the program instead of the denied file.
#[cfg(feature = "sandbox")]
mod violations {
    use bestow::sandbox::Command;

    use crate::sandbox::ground::{Ground, shown, with_bubblewrap};

    /// A command, as words or as a shell line, and the denied path below the ground.
    struct Row {
        words: &'static [&'static str],
        refused: Option<&'static str>,
    }

    const fn row(words: &'static [&'static str], refused: &'static str) -> Row {
        Row { words, refused: Some(refused) }
    }

    /// The table of denials. `$O` is the outside, `$W` the workspace. A file of the outside is readable and not
    /// writable. `secret` is hidden.
    const ROWS: [Row; 27] = [
        row(&["cat", "$O/secret"], "outside/secret"),
        row(&["/bin/cat", "$O/secret"], "outside/secret"),
        row(&["touch", "$O/new"], "outside/new"),
        row(&["/usr/bin/touch", "$O/new"], "outside/new"),
        row(&["env", "A=1", "touch", "$O/new"], "outside/new"),
        row(&["/usr/bin/env", "A=1", "/usr/bin/touch", "$O/new"], "outside/new"),
        row(&["cp", "f", "$O/new"], "outside/new"),
        row(&["/bin/cp", "f", "$O/new"], "outside/new"),
        row(&["tee", "$O/new"], "outside/new"),
        row(&["/usr/bin/tee", "$O/dir/new"], "outside/dir/new"),
        row(&["mkdir", "$O/made"], "outside/made"),
        row(&["/bin/mkdir", "$O/made"], "outside/made"),
        row(&["rmdir", "$O/dir"], "outside/dir"),
        row(&["ln", "-s", "f", "$O/link"], "outside/link"),
        row(&["/bin/ln", "-s", "f", "$O/link"], "outside/link"),
        row(&["mv", "f", "$O/moved"], "outside/moved"),
        row(&["rm", "-f", "$O/dir/s"], "outside/dir/s"),
        row(&["/bin/rm", "-f", "$O/dir/s"], "outside/dir/s"),
        row(&["sed", "-i", "s/a/b/", "$O/dir/s"], "outside/dir/s"),
        row(&["/bin/sed", "-i", "s/a/b/", "$O/dir/s"], "outside/dir/s"),
        row(&["sh", "-c", "echo x > $O/new"], "outside/new"),
        row(&["/bin/sh", "-c", "echo x > $O/new"], "outside/new"),
        row(&["/bin/sh", "-c", "sh -c 'echo x > $O/a\\ b'"], "outside/a b"),
        row(&["bash", "-c", "echo x > $O/new"], "outside/new"),
        row(&["/bin/bash", "-c", "/usr/bin/touch $O/new"], "outside/new"),
        row(&["python3", "-c", "open('$O/new', 'w')"], "outside/new"),
        row(&["/usr/bin/truncate", "-s", "1", "$O/dir/s"], "outside/dir/s"),
    ];

    /// Lines whose message proves no path. No path is better than a wrong one.
    const UNKNOWN: [&str; 3] = [
        "echo 'mystery: Read-only file system' >&2; exit 1",
        "echo '/usr/bin/touch: Read-only file system' >&2; exit 1",
        "echo 'touch: setting times: Permission denied' >&2; exit 1",
    ];

    fn told(ground: &Ground, words: &[&str]) -> (Vec<String>, bool, String) {
        let (outside, workspace) = (ground.world.text("outside"), ground.world.workspace());
        let mut words = words.iter().map(|word| word.replace("$O", &outside).replace("$W", &workspace));
        let command = Command::new(words.next().unwrap()).args(words);
        let profile = ground.profile_hiding(&[], &["outside/secret"]);
        let done = ground.sandbox.run(&profile, &command).unwrap();
        let paths = done.violations.iter().map(|violation| violation.access.to_string()).collect();
        (paths, done.possible_sandbox_denial, shown(&done.stderr.bytes))
    }

    #[test]
    fn b4_a_violation_names_the_target_whatever_the_program_is_called_by() {
        with_bubblewrap(|ground| {
            let mut wrong = Vec::new();
            for Row { words, refused } in &ROWS {
                let (paths, _, said) = told(ground, words);
                let expected: Vec<_> = refused.iter().map(|path| ground.world.text(path)).collect();
                if paths != expected {
                    wrong.push(format!("{words:?}: {paths:?}, said {said:?}"));
                }
            }
            assert!(wrong.is_empty(), "{ground}: {wrong:#?}");
        });
    }

    #[test]
    fn b4_where_a_message_names_no_path_it_is_unknown() {
        with_bubblewrap(|ground| {
            for line in UNKNOWN {
                let (paths, possible, _) = told(ground, &["sh", "-c", line]);
                assert_eq!((paths, possible), (Vec::new(), true), "{ground}: {line}");
            }
        });
    }
}

/// B5: `expires_at` was empty although the action used a permission that expires.
#[tokio::test]
async fn b5_a_decision_says_when_what_carries_it_ends_and_under_which_scope() {
    let world = World::new();
    let bot = world.worker("bot", &["@network"]).await;
    let action = || Action::write("/ws/a");
    let (sooner, later) = (world.after(1_000), world.after(60_000));
    let decided = async || (**bot.authorize(action()).await.unwrap().decision()).clone();
    for until in [sooner, later] {
        world.you().give(bot.id(), tag("@write:/ws"), Scope::Until(until), why()).await.unwrap();
    }
    let decision = decided().await;
    assert_eq!(
        (decision.expires_at, decision.scope),
        (Some(later), Some(Scope::Until(later))),
        "the longer one carries it"
    );
    let both = bot.authorize(action().needing(tag("@network"))).await.unwrap();
    assert_eq!(both.decision().expires_at, Some(later), "what ends first of all it uses");
    let network = bot.authorize(Action::network("example.com")).await.unwrap();
    assert_eq!((network.decision().expires_at, network.decision().scope), (None, None), "nothing of it ends");
    world.you().give(bot.id(), tag("@write:/ws"), Scope::Session, why()).await.unwrap();
    let decision = decided().await;
    assert_eq!((decision.expires_at, decision.scope), (None, Some(Scope::Session)));
    let denied = bot.authorize(Action::command("rm -rf /")).await.unwrap();
    assert_eq!((denied.decision().expires_at, denied.decision().scope), (None, None), "a no does not end");
}

/// B5: no single value contained the mode, the rules, the policies and the permissions of an agent.
#[tokio::test]
async fn b5_the_permission_state_of_an_agent_is_one_value() {
    let world = World::new();
    let mut policy = crate::support::policy(
        crate::support::settings(|_| ()),
        &[("lead", "you", &["@write:/ws"]), ("other", "you", &[])],
    );
    let place = |line| bestow::grant::Place { file: "agents.toml".into(), line };
    let rule = |verdict, line| bestow::policy::Rule {
        verdict,
        tool: None,
        operation: Some(bestow::action::Operation::Network),
        path: None,
        command: None,
        shape: None,
        cwd: None,
        children: false,
        why: None,
        place: place(line),
    };
    policy.agents.get_mut(&id("lead")).unwrap().rules =
        [rule(bestow::decision::Verdict::Deny, 7), rule(bestow::decision::Verdict::Allow, 9)].into();
    world.engine.configure(policy).await.unwrap();
    let lead = world.engine.agent(id("lead")).unwrap();
    let child =
        lead.create(profile("kid", "you", bestow::Kind::Subagent), &[tag("@write:/ws/a")], why()).await.unwrap();
    world.engine.set_mode(lead.id(), Mode::Plan).await.unwrap();

    let state = world.engine.permission_state(lead.id()).unwrap();
    assert_eq!((state.mode, state.written_mode, state.modes_above.len()), (Mode::Plan, Some(Mode::Default), 0));
    let rules: Vec<_> = state.rules.iter().map(|rule| (rule.verdict, rule.place.line, rule.of.is_none())).collect();
    assert_eq!(rules, [(bestow::decision::Verdict::Deny, 7, true), (bestow::decision::Verdict::Allow, 9, true)]);
    let held = |stated: &StatedPermission| (stated.permission.to_string(), stated.hold, stated.scope);
    assert_eq!(state.held.iter().map(held).collect::<Vec<_>>(), [("@write:/ws".to_owned(), Hold::Use, Scope::Always)]);
    assert!(state.held[0].grant.contains("agents.toml:1"), "{state}");

    let state = child.permission_state().unwrap();
    assert_eq!(state.mode, Mode::Default);
    assert_eq!((&state.modes_above[0].agent, state.modes_above[0].mode), (lead.id(), Mode::Plan));
    let rules: Vec<_> = state.rules.iter().map(|rule| (rule.place.line, rule.of.clone())).collect();
    assert_eq!(rules, [(7, Some(lead.id().clone()))], "what denies above binds, what allows does not");
    assert!(!state.may_ask || state.interaction == bestow::policy::Interaction::Interactive);
    let json = serde_json::to_value(&state).unwrap();
    assert_eq!((&json["mode"], &json["modes_above"][0]["mode"]), (&"default".into(), &"plan".into()));
    assert!(state.to_string().contains("mode default, plan of lead"), "{state}");
}

/// B5: the policies of a run are part of the permission state.
#[tokio::test]
async fn b5_the_permission_state_names_the_policies_of_the_run() {
    let world = World::new();
    let bot = world.worker("bot", &[]).await;
    let (you, run) = (world.you(), bot.permission_state().unwrap().run);
    let tool: bestow::tool::ToolName = "editor".parse().unwrap();
    you.declare_tools(&run, [tool.clone()]).await.unwrap();
    let patch = bestow::tool::PolicyPatch::writing().deny("/ws/secrets/**").of(tool.clone());
    you.update_policy(&run, patch).await.unwrap();
    let state = bot.permission_state().unwrap();
    let of_tool = state.policies.iter().find(|policies| policies.tool.as_ref() == Some(&tool)).expect("its guard");
    assert!(!of_tool.names.is_empty() && of_tool.run == run, "{state}");
}

/// B6: `sandbox_override` was declared and never created. B5: `violation_refs` were empty.
#[cfg(feature = "sandbox")]
#[test]
fn b6_a_question_that_follows_from_a_violation_says_so_and_names_it() {
    use bestow::{
        Engine, Event, InitialGrants, Profile, Settings, action::Authorization, decision::DecisionSource,
        policy::RuleRef, sandbox::Command,
    };

    use crate::sandbox::ground::with_bubblewrap;

    with_bubblewrap(|ground| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let engine = Engine::new(Settings::default()).unwrap();
            let stands = ground.world.workspace().parse().unwrap();
            let profile = Profile::new(id("bold"), "you".parse().unwrap(), bestow::Kind::Permanent, stands);
            let agent = engine.register(profile.in_mode(Mode::OnFailure), InitialGrants::nothing()).await.unwrap();
            let _you = engine.approver("you", "ann", "test").attend().unwrap();
            let outside = ground.world.text("outside/new");
            let mut events = engine.subscribe();
            let touch = || Command::new("/usr/bin/touch").arg(&outside);
            let first = agent.exec(&ground.sandbox, touch(), &[]).await.unwrap();
            assert_eq!(first.violations.len(), 1, "{first:?}");
            agent.exec(&ground.sandbox, touch(), &[]).await.unwrap();
            let told = crate::support::heard(&mut events);
            let violations: Vec<_> = told
                .iter()
                .filter_map(|recorded| match &recorded.event {
                    Event::SandboxViolated { violation, .. } => violation.id,
                    _ => None,
                })
                .collect();
            let applied: Vec<_> = told
                .iter()
                .filter_map(|recorded| match &recorded.event {
                    Event::SandboxApplied { facts, .. } => Some(facts.violation_refs.clone()),
                    _ => None,
                })
                .collect();
            assert_eq!(violations.len(), 2);
            assert_eq!(applied, [vec![], vec![violations[0]]], "the second sandbox knows of the first violation");
            let stated = agent.permission_state().unwrap().violations;
            assert_eq!(stated.iter().map(|violation| violation.id).collect::<Vec<_>>(), violations);

            let asked = agent.authorize(Action::write(&outside)).await.unwrap();
            assert!(matches!(asked, Authorization::Asked(..)), "{asked:?}");
            let decision = asked.decision();
            assert_eq!(decision.decision_source, DecisionSource::SandboxOverride, "{decision}");
            let named = |id| decision.rule_refs.contains(&RuleRef::Violation(id));
            assert!(violations.into_iter().all(named), "{decision}");
        });
    });
}

/// Returns the pending request about `action`.
async fn question(world: &World, agent: &bestow::Agent, action: Action) -> std::sync::Arc<bestow::request::Request> {
    let asked = agent.authorize(action).await.unwrap();
    assert!(matches!(asked, bestow::action::Authorization::Asked(..)), "{asked:?}");
    world.engine.pending().unwrap().pop().unwrap().request
}

fn writes(path: &str, content: &str) -> Action {
    Action::tool("write".parse().unwrap(), serde_json::json!({ "path": path, "content": content }))
}

/// B8: a person approved a write without seeing its content.
#[tokio::test]
async fn b8_what_is_about_to_be_written_is_kept_with_the_question_and_shown() {
    let world = World::new();
    let _there = world.you().attend().unwrap();
    let bot = world.worker("bot", &[]).await;
    let request = question(&world, &bot, writes("/ws/a", "rm -rf \u{202e}~\nno")).await;
    let details = request.details.as_ref().expect("the content");
    assert_eq!((&*details.shown, details.left_out), ("{\"content\":\"rm -rf \u{202e}~\\nno\"}", 0));
    let told = request.to_string();
    assert!(told.contains("; the content: \"{\\\"content\\\":\\\"rm -rf"), "{told}");
    assert!(!told.contains('\u{202e}') && !told.contains('\n'), "it is escaped: {told}");

    let given = bot.authorize(Action::write("/ws/b").with_details("hello".into())).await.unwrap();
    assert_eq!(given.decision().action.details.as_ref().map(|details| &*details.shown), Some("\"hello\""));
    let plain = bot.authorize(Action::write("/ws/c")).await.unwrap();
    assert_eq!(plain.decision().action.details, None);
}

/// B8: secrets in the content are redacted. A cut content shows its beginning, its end, and the number of omitted
/// characters.
#[tokio::test]
async fn b8_the_content_is_redacted_and_bounded_with_head_and_tail() {
    let world = World::new();
    let _there = world.you().attend().unwrap();
    let bot = world.worker("bot", &[]).await;
    let secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB";
    let long = format!("begins {secret} {} ends", "x y ".repeat(50_000));
    let request = question(&world, &bot, writes("/ws/a", &long)).await;
    let details = request.details.clone().unwrap();
    assert!(details.shown.chars().count() < 3_100, "{}", details.shown.len());
    assert!(details.shown.contains("begins [redacted ") && details.shown.contains(" ends\"}"), "{details}");
    assert!(details.left_out > 190_000 && details.shown.contains(&format!("{}", details.left_out)));
    assert!(!details.shown.contains("ghp_"));
    assert!(request.to_string().contains(&details.digest.to_string()), "the whole has a name");
}

/// B8: an approval is bound to the whole content, including the part that is not shown.
#[tokio::test]
async fn b8_a_yes_is_for_this_content_only() {
    let world = World::new();
    let you = world.you();
    let _there = you.attend().unwrap();
    let bot = world.worker("bot", &["@write:/ws"]).await;
    let middle = |word: &str| {
        let content = format!("{0}{word}{0}", "a b ".repeat(2_000));
        Action::command("node send.js").with_details(content.into())
    };
    let request = question(&world, &bot, middle("this")).await;
    let shown = |request: &bestow::request::Request| request.details.clone().unwrap().shown;
    let first = shown(&request);
    you.answer(request.id, Answer::allow()).await.unwrap();
    let other = question(&world, &bot, middle("that")).await;
    assert_eq!(shown(&other), first, "a person sees no difference");
    assert!(bot.authorize(middle("this")).await.unwrap().is_allowed(), "what was approved is what happens");
}

/// B5, B8 on the wire: an agent reads its own state, and a person's connector receives the content.
#[cfg(feature = "stdio")]
#[tokio::test]
async fn b5_b8_bots_are_told_the_state_and_the_content() {
    use bestow::stdio::{Bot, FromAgent, ToAgent, ToConnector};
    use serde_json::json;
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

    assert!("{\"type\":\"permission_state\"}".parse::<FromAgent>().is_ok());
    let world = World::new();
    world.lead("lead", &[]).await;
    world.worker("bot", &["@network"]).await;
    let speak = |bot: Bot| {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (read, write) = tokio::io::split(theirs);
        let running = tokio::spawn(bot.serve(read, write));
        let (from, to) = tokio::io::split(ours);
        (running, BufReader::new(from).lines(), to)
    };
    let (_console, mut seen, _say) = speak(Bot::connector(&world.engine, &id("lead")).unwrap());
    let (_bot, mut told, mut say) = speak(Bot::agent(&world.engine, &id("bot")).unwrap());
    let _hello = (told.next_line().await.unwrap(), seen.next_line().await.unwrap());
    say.write_all(b"{\"type\":\"permission_state\",\"requestId\":\"p\"}\n").await.unwrap();
    let line = told.next_line().await.unwrap().unwrap();
    let ToAgent::PermissionStateResult(result) = serde_json::from_str(&line).unwrap() else { panic!("{line}") };
    assert_eq!((result.request_id.as_deref(), &result.state["mode"]), (Some("p"), &json!("default")));
    assert_eq!(result.state["held"][0]["permission"], "@network");
    assert!(result.state["modesAbove"].is_array(), "{line}");
    let wanted =
        json!({ "type": "authorize", "operation": "fs.write", "resource": "/ws/a", "details": { "text": "hi" } });
    say.write_all(format!("{wanted}\n").as_bytes()).await.unwrap();
    let line = seen.next_line().await.unwrap().unwrap();
    let ToConnector::RequestPermission(request) = serde_json::from_str(&line).unwrap() else { panic!("{line}") };
    let content = request.details.expect("the content");
    assert_eq!((&*content.shown, content.left_out), ("{\"text\":\"hi\"}", 0));
}

/// B6: `tool_contract` was declared and never created.
#[tokio::test]
async fn b6_what_a_tool_itself_needs_and_the_agent_lacks_is_a_matter_of_the_tool() {
    use bestow::decision::DecisionSource;

    let world = World::new();
    let _there = world.you().attend().unwrap();
    let bot = world.worker("bot", &[]).await;
    let call = || Action::tool("deploy".parse().unwrap(), serde_json::json!({})).needing(tag("@tool:deploy"));
    let source = |decided: bestow::action::Authorization| decided.decision().decision_source;
    assert_eq!(source(bot.authorize(call()).await.unwrap()), DecisionSource::ToolContract);
    let also = Action::network("example.com").needing(tag("@tool:deploy"));
    assert_eq!(source(bot.authorize(also).await.unwrap()), DecisionSource::HostPolicy, "not only that");
}
