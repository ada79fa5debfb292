//! Tests of `[[test]]`: the expectations of a person are checked before the file takes effect.

use bestow::{Engine, Event};

use super::Place;

const AGENT: &str = "[agents.lead]\nkind = \"foreground\"\nowner = \"you\"\nworking_dir = \"$DIR/work\"\n\
    permissions = [\"@write:$DIR/work\"]\n[[agents.lead.rules]]\nverdict = \"deny\"\npath = \"$DIR/work/secrets/**\"\n\
    why = \"keys stay\"\n";

fn place(text: &str) -> Place {
    let place = Place::new();
    std::fs::create_dir(place.path("work")).unwrap();
    place.write("policy/agents.toml", text.replace("$DIR", place.text("").trim_end_matches('/')));
    place
}

fn test(body: &str) -> String {
    format!("[[test]]\nagent = \"lead\"\n{body}\n")
}

fn tried(tests: &[&str]) -> String {
    let tests: String = tests.iter().map(|body| test(body)).collect();
    place(&(AGENT.to_owned() + &tests)).complaints()
}

#[test]
fn every_kind_of_action_can_be_tried() {
    let told = tried(&[
        "read = \"$DIR/work/a\"\nexpect = \"allow\"",
        "write = \"$DIR/work/a\"\nexpect = \"allow\"\nbecause = \"tier\"",
        "exec = \"$DIR/work/a\"\nexpect = \"ask\"",
        "command = \"git status\"\nexpect = \"allow\"",
        "command = \"git status\"\nneeds = [\"@network\"]\nexpect = \"ask\"\nbecause = \"held\"",
        "network = \"example.com\"\nexpect = \"ask\"\nbecause = \"does not hold\"",
        "tool = \"write\"\ninput = { path = \"secrets/x\", content = [1, 2.5, true] }\n\
         expect = \"deny\"\nbecause = \"denied\"",
        "tool = \"deploy\"\nexpect = \"ask\"",
        "tool = \"deploy\"\nneeds = \"@network\"\nexpect = \"ask\"\nbecause = \"held\"",
        "read = \"$DIR/work/secrets/x\"\nexpect = \"deny\"\nbecause = \"keys stay\"",
        "read = \"~/.ssh/id_rsa\"\nexpect = \"deny\"\nbecause = \"protected\"",
        "command = \"rm -rf /\"\nexpect = \"deny\"\nbecause = \"destructive\"",
    ]);
    assert_eq!(told, "nothing");
}

/// The check assumes that a person is present. Its result must not depend on the users that happen to be connected.
#[test]
fn somebody_is_taken_to_be_there_unless_the_file_says_that_nobody_answers() {
    let asks = AGENT.to_owned() + &test("network = \"example.com\"\nexpect = \"ask\"");
    assert_eq!(place(&format!("[engine]\non_no_user = \"deny\"\n{asks}")).complaints(), "nothing");
    let told = place(&format!("[engine]\ninteraction = \"noninteractive\"\n{asks}")).complaints();
    assert!(told.contains("expected ask, found deny (held: no person can answer"), "{told}");
    assert_eq!(place(&format!("[engine]\nconfirm_widening = true\n{asks}")).complaints(), "nothing");
}

#[test]
fn paths_are_followed_as_in_real_use() {
    let text = AGENT.to_owned() + &test("write = \"$DIR/work/door/x\"\nexpect = \"allow\"");
    let place = place(&text);
    assert_eq!(place.complaints(), "nothing");
    place.link("work/door", "../home");
    let told = place.complaints();
    assert!(told.contains("expected allow, found ask (held: the agent does not hold write access to"), "{told}");
    assert!(told.contains("see where its paths lead"), "{told}");
}

#[test]
fn a_test_that_fails_names_the_rule_that_decided() {
    let told = tried(&["read = \"$DIR/work/secrets/x\"\nexpect = \"allow\""]);
    assert!(told.starts_with("agents.toml:10:1: this test fails: `lead` read `$DIR/work/secrets/x`"), "{told}");
    assert!(told.contains("expected allow, found deny (denied: denied by a rule; agents.toml:6: deny"), "{told}");
}

#[tokio::test]
async fn an_engine_does_not_start_on_a_file_that_does_something_else_than_it_says() {
    let text = AGENT.to_owned() + &test("write = \"$DIR/work/a\"\nexpect = \"deny\"");
    let told = Engine::open(place(&text).path("policy/agents.toml")).await.map(drop).unwrap_err().to_string();
    assert!(told.contains("this test fails"), "{told}");
}

#[test]
fn the_number_of_tests_is_known_once_they_were_run() {
    let text = AGENT.to_owned() + &test("command = \"ls\"\nexpect = \"allow\"").repeat(3);
    let text = place(&text).file().read().unwrap();
    assert_eq!(text.tests(), 0);
    text.parse().unwrap();
    assert_eq!(text.tests(), 3);
}

/// A dry run decides as the engine does: the test tries one file both ways.
#[tokio::test]
async fn a_rehearsal_answers_as_the_engine_does() {
    let place = place(AGENT);
    let engine = Engine::open(place.path("policy/agents.toml")).await.unwrap();
    let _there = engine.connect("lead").unwrap();
    let mut events = engine.subscribe();
    let rehearsal = bestow::policy::DryRun::of(place.file().load().unwrap()).unwrap();
    let lead = engine.agent("lead").unwrap();
    for action in [
        bestow::Action::write("a"),
        bestow::Action::write("secrets/a"),
        bestow::Action::read("/etc/shadow"),
        bestow::Action::command("git push"),
        bestow::Action::network("example.com"),
    ] {
        let (tried, real) = (rehearsal.explain(lead.id(), &action).unwrap(), lead.explain(&action).unwrap());
        assert_eq!(tried.decided_by, real.decided_by);
        assert_eq!(tried.decision.decision, real.decision.decision);
        assert_eq!(tried.decision.rule_refs, real.decision.rule_refs);
        assert_eq!(tried.ways_out, real.ways_out);
    }
    assert!(!matches!(events.try_next(), Ok(Some(told)) if matches!(told.event, Event::Evaluated { .. })));
}
