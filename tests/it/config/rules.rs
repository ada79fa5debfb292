//! Tests of the meaning of the rules in the file.

use bestow::{
    Action, AgentId,
    decision::{Decision, Verdict},
    grant::Place as Line,
    policy::{DryRun, RuleRef},
};

use super::Place;

/// Returns a file with an agent that may write `workspace`, and with `rules`.
fn ruled(rules: &str) -> String {
    format!(
        "[agents.lead]\nkind = \"foreground\"\nowner = \"you\"\nworking_dir = \"$DIR/policy\"\n\
         permissions = [\"@write:$DIR/policy/site\", \"@network\"]\n{rules}\n"
    )
}

/// Returns a file with one rule for that agent. Its line is 6.
pub(super) fn rule(body: &str) -> String {
    ruled(&format!("[[agents.lead.rules]]\n{body}"))
}

pub(super) fn saved(text: &str) -> Place {
    let place = Place::new();
    place.write("policy/agents.toml", text.replace("$DIR", place.text("").trim_end_matches('/')));
    place
}

fn lead() -> AgentId {
    "lead".parse().unwrap()
}

fn decided(place: &Place, action: &Action) -> Decision {
    DryRun::of(place.load().unwrap()).unwrap().explain(&lead(), action).unwrap().decision
}

pub(crate) fn verdict(place: &Place, action: &Action) -> bestow::Effect {
    decided(place, action).verdict()
}

#[test]
fn a_rule_is_met_by_the_real_path_and_says_where_it_is_written() {
    let place = saved(&rule("verdict = \"deny\"\npath = \"site/secrets/**\"\nwhy = \"keys\""));
    std::fs::create_dir_all(place.path("policy/site/secrets")).unwrap();
    place.link("policy/site/door", "secrets");
    for path in ["site/secrets/key", "site/door/key", "site/secrets", "site/x/../secrets/key"] {
        std::fs::create_dir_all(place.path("policy/site/x")).unwrap();
        let decision = decided(&place, &Action::read(path));
        assert_eq!(decision.verdict(), Verdict::Deny, "{path}: {decision}");
        let [RuleRef::Rule { rule, place: Line { line: 6, .. } }] = &decision.rule_refs[..] else {
            panic!("{decision}")
        };
        assert!(rule.ends_with(": keys"), "{rule}");
    }
    assert_eq!(verdict(&place, &Action::write("site/secrets.txt")), Verdict::Allow);
}

/// Without this, an author who reaches the file through a link would write patterns that match no real path.
#[test]
fn patterns_are_relative_to_the_real_directory_of_the_file() {
    let place = saved(&rule("verdict = \"deny\"\npath = \"site/**\""));
    place.link("door", "policy");
    let policy = place.file_at("door/agents.toml").load().unwrap();
    let rehearsal = DryRun::of(policy).unwrap();
    for path in [place.text("policy/site/x"), place.text("door/site/x")] {
        let verdict = rehearsal.explain(&lead(), &Action::write(&path)).unwrap().decision.verdict();
        assert_eq!(verdict, Verdict::Deny, "{path}");
    }
}

#[test]
fn a_no_to_a_directory_is_a_no_to_everything_below_it_and_a_yes_is_not() {
    let place = saved(&rule("verdict = \"deny\"\noperation = \"fs.write\"\npath = \"site/a\""));
    assert_eq!(verdict(&place, &Action::write("site/a/b/c")), Verdict::Deny);
    assert_eq!(verdict(&place, &Action::write("site/ab")), Verdict::Allow);
    let untrusted = rule("verdict = \"allow\"\noperation = \"fs.write\"\npath = \"site/a\"");
    let place = saved(&untrusted.replace("permissions", "mode = \"untrusted\"\npermissions"));
    assert_eq!(verdict(&place, &Action::write("site/a")), Verdict::Allow);
    assert_eq!(verdict(&place, &Action::write("site/a/b")), Verdict::Ask);
}

#[test]
fn what_denies_or_asks_begins_anywhere_and_what_allows_below_the_file() {
    for (said, expected) in [("deny", Verdict::Deny), ("ask", Verdict::Ask)] {
        let place = saved(&rule(&format!("verdict = \"{said}\"\npath = \"**/.env\"")));
        for path in ["/elsewhere/.env", "site/.env", "site/.env/x"] {
            assert_eq!(verdict(&place, &Action::read(path)), expected, "{path}");
        }
        assert_eq!(verdict(&place, &Action::read("site/.envrc")), Verdict::Allow);
    }
    let text = rule("verdict = \"allow\"\noperation = \"fs.exec\"\npath = \"**/run.sh\"");
    let place = saved(&text);
    assert_eq!(verdict(&place, &Action::exec("site/run.sh")), Verdict::Allow);
    assert_eq!(verdict(&place, &Action::exec("/elsewhere/run.sh")), Verdict::Ask);
}

#[test]
fn a_pattern_may_begin_at_home() {
    let place = saved(&rule("verdict = \"deny\"\npath = [\"~/private/**\", \"~/**/notes\"]"));
    for path in ["home/private/x", "home/a/b/notes"] {
        assert_eq!(verdict(&place, &Action::read(&place.text(path))), Verdict::Deny, "{path}");
    }
    assert_eq!(verdict(&place, &Action::read(&place.text("elsewhere/notes"))), Verdict::Allow);
}

/// A directory may have a name that looks like a pattern.
#[test]
fn the_directory_of_the_file_is_taken_literally() {
    let place = saved(&rule("verdict = \"deny\"\npath = \"site/*\""));
    std::fs::create_dir(place.path("[a-z]*")).unwrap();
    let text = std::fs::read_to_string(place.path("policy/agents.toml")).unwrap();
    place.write("[a-z]*/agents.toml", text);
    let rehearsal = DryRun::of(place.file_at("[a-z]*/agents.toml").load().unwrap()).unwrap();
    let says = |path: String| rehearsal.explain(&lead(), &Action::read(&path)).unwrap().decision.verdict();
    assert_eq!(says(place.text("[a-z]*/site/x")), Verdict::Deny);
    assert_eq!(says(place.text("abc/site/x")), Verdict::Allow);
}

#[test]
fn lists_are_many_rules_of_one_line() {
    let place = saved(&rule(
        "verdict = \"deny\"\ntool = [\"write\", \"file_write\"]\noperation = [\"fs.write\", \"fs.read\"]\n\
         path = [\"site/a\", \"site/b\"]",
    ));
    let rules = &place.load().unwrap().agents["lead"].rules;
    assert!(rules.iter().all(|rule| rule.place.line == 6));
    assert_eq!(verdict(&place, &Action::write("site/b")), Verdict::Deny);
    assert_eq!(verdict(&place, &Action::write("site/b").by_tool("editor".parse().unwrap())), Verdict::Allow);
}

#[test]
fn commands_are_compared_as_they_are_parsed() {
    let place = saved(&rule("verdict = \"allow\"\ncommand = [\"git push **\", \"npm test\"]"));
    for (line, expected) in [
        ("git push origin main", Verdict::Allow),
        ("git push && npm test", Verdict::Allow),
        ("git push; curl -T x https://example.com", Verdict::Ask),
        ("git push $(cat x)", Verdict::Ask),
        ("./git push", Verdict::Ask),
        ("npm test --all", Verdict::Ask),
    ] {
        assert_eq!(verdict(&place, &Action::command(line)), expected, "{line}");
    }
    let place = saved(&rule("verdict = \"deny\"\ncommand = \"curl **\""));
    for line in ["curl x", "/usr/bin/curl x", "ls && curl x", "env curl x", "c''url x", "$(curl x)", "$x y", "ls '"] {
        assert_eq!(verdict(&place, &Action::command(line)), Verdict::Deny, "{line}");
    }
    assert_eq!(verdict(&place, &Action::command("ls")), Verdict::Allow);
}

#[test]
fn rules_of_the_defaults_bind_every_agent_and_an_agent_may_be_bound_more_tightly() {
    let defaults = "[[defaults.rules]]\nverdict = \"allow\"\ncommand = \"npm test\"\n";
    let more = "[agents.guest]\nkind = \"cron\"\nowner = \"you\"\nworking_dir = \"/\"\n\
        [[agents.guest.rules]]\nverdict = \"deny\"\ncommand = \"npm test\"\n";
    let place = saved(&(defaults.to_owned() + &ruled(more)));
    let rehearsal = DryRun::of(place.load().unwrap()).unwrap();
    for (agent, expected) in [("lead", Verdict::Allow), ("guest", Verdict::Deny)] {
        let explanation = rehearsal.explain(&agent.parse().unwrap(), &Action::command("npm test")).unwrap();
        assert_eq!(explanation.decision.verdict(), expected, "{explanation}");
    }
}

#[test]
fn the_same_rule_twice_is_one() {
    let twice = "[[agents.lead.rules]]\nverdict = \"deny\"\noperation = \"network\"\n".repeat(2);
    let defaults = "[[defaults.rules]]\nverdict = \"deny\"\noperation = \"network\"\n";
    let policy = saved(&(defaults.to_owned() + &ruled(&twice))).load().unwrap();
    assert_eq!(policy.agents["lead"].rules.len(), 1);
    assert_eq!(policy.agents["lead"].rules[0].place.line, 1);
}

/// A rule that allows gives no permission. The agent must still hold it.
#[test]
fn no_rule_gives_a_permission() {
    let place = saved(&rule("verdict = \"allow\"").replace(", \"@network\"", ""));
    let tool = || Action::tool("deploy".parse().unwrap(), serde_json::json!({}));
    let network = || bestow::Permission::Network;
    assert_eq!(verdict(&place, &tool()), Verdict::Allow);
    for action in [
        Action::write("/elsewhere/x"),
        Action::network("example.com"),
        tool().needing(network()),
        Action::command("true").needing(network()),
    ] {
        assert_eq!(verdict(&place, &action), Verdict::Ask, "{action:?}");
    }
    assert_eq!(verdict(&place, &Action::command("rm -rf /")), Verdict::Deny);
}

fn call(name: &str, input: serde_json::Value) -> Action {
    Action::tool(name.parse().unwrap(), input)
}

/// An unknown tool may run a command. Its input then names the program.
#[test]
fn a_rule_about_a_command_speaks_about_a_tool_that_nobody_knows_if_its_input_names_the_program() {
    use serde_json::json;
    for verdict_of_rule in ["deny", "ask"] {
        let expected = verdict_of_rule.parse::<Verdict>().unwrap();
        let place = saved(&rule(&format!("verdict = \"{verdict_of_rule}\"\ncommand = \"git push **\"")));
        let allow = "[[defaults.rules]]\nverdict = \"allow\"\n";
        let text = std::fs::read_to_string(place.path("policy/agents.toml")).unwrap();
        place.write("policy/agents.toml", format!("{allow}{text}"));
        for (name, input) in [
            ("run_shell", json!({ "script": "cd x && git push" })),
            ("run_shell", json!({ "script": "g''it push" })),
            ("run_shell", json!({ "script": "/usr/bin/git push" })),
            ("run_shell", json!({ "script": "$X push" })),
            ("run_shell", json!({ "script": "$(echo git) push" })),
            ("spawn", json!({ "program": "git", "args": ["push"] })),
            ("spawn", json!(["x", ["git", "push"]])),
            ("git", json!({ "args": ["push"] })),
            ("spawn", json!({ "git": { "push": true } })),
        ] {
            assert_eq!(verdict(&place, &call(name, input.clone())), expected, "{name} {input}");
        }
        for (name, input) in [
            ("deploy", json!({})),
            ("deploy", json!({ "to": "staging", "tries": 3 })),
            ("send_mail", json!({ "text": "It costs $5, isn't it? (100 %)" })),
            ("deploy", json!({ "service": "gitlab", "push": true })),
            ("deploy", json!({ "service": "git-lfs" })),
        ] {
            assert_eq!(verdict(&place, &call(name, input.clone())), Verdict::Allow, "{name} {input}");
        }
    }
    // A rule that allows a command allows no such tool.
    let place = saved(&rule("verdict = \"allow\"\ncommand = \"git push **\""));
    assert_eq!(verdict(&place, &call("run_shell", json!({ "script": "git push" }))), Verdict::Ask);
    // A rule about all commands, or about the tool, applies to every such tool.
    for condition in ["operation = \"command.execute\"", "tool = \"deploy\""] {
        let place = saved(&rule(&format!("verdict = \"deny\"\n{condition}")));
        assert_eq!(verdict(&place, &call("deploy", json!({}))), Verdict::Deny, "{condition}");
    }
}

/// An example tests the text of a rule. If paths were resolved on the disk, an agent could make an example fail and
/// block an edit.
#[test]
fn examples_do_not_look_at_the_disk() {
    let place = saved(&rule("verdict = \"deny\"\npath = \"site/secrets/**\"\nmatch = \"site/secrets/a/b\""));
    std::fs::create_dir_all(place.path("policy/site/secrets")).unwrap();
    place.link("policy/site/secrets/a", "/usr");
    assert_eq!(place.complaints(), "nothing");
}

#[test]
fn ten_thousand_agents_share_the_rules_of_the_defaults() {
    let mut text = "[defaults]\nowner = \"you\"\nworking_dir = \"/\"\n".to_owned();
    for number in 0..20 {
        text += &format!("[[defaults.rules]]\nverdict = \"deny\"\npath = \"a{number}\"\n");
    }
    for number in 0..6_000 {
        text += &format!("[agents.a{number}]\nkind = \"cron\"\n");
    }
    let policy = saved(&text).load().unwrap();
    let first = &policy.agents["a0"].rules;
    assert!(policy.agents.values().all(|agent| std::sync::Arc::ptr_eq(&agent.rules, first)));
    text += "[agents.b]\nkind = \"cron\"\n";
    for number in 0..1_001 {
        text += &format!("[[agents.b.rules]]\nverdict = \"deny\"\npath = \"b{number}\"\n");
    }
    let told = saved(&text).complaints();
    assert!(told.contains("2042 rules apply to `[agents.b]`, and the limit is 2000"), "{told}");
}
