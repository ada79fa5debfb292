//! Tests of the rules and tests of a file that changes.

use std::fs;

use bestow::{Action, Event, decision::Verdict};

use super::reload::{Following, GUARD, THREE, save, with_site};

const DENY: &str = "[[agents.lead.rules]]\nverdict = \"deny\"\npath = \"$DIR/workspace/secrets/**\"\nwhy = \"keys\"\n";
const ASK: &str = "[[defaults.rules]]\nverdict = \"ask\"\noperation = \"network\"\n";
const ALLOW: &str = "[[agents.lead.rules]]\nverdict = \"allow\"\ncommand = \"git push **\"\n";

fn test(agent: &str, write: &str, expect: &str) -> String {
    format!("[[test]]\nagent = \"{agent}\"\nwrite = \"{write}\"\nexpect = \"{expect}\"\n")
}

impl Following {
    fn says(&self, action: Action) -> bestow::Effect {
        self.engine.agent("lead").unwrap().verdict(&action).unwrap()
    }

    fn writes(&self, name: &str) -> bestow::Effect {
        self.says(Action::write(&self.place.text(name)))
    }

    /// Saves `text`, and waits until a change is held back. Returns its number and the text of the event.
    async fn held_back_by(&mut self, text: &str) -> (u64, String) {
        save(&self.place, text);
        loop {
            let next = tokio::time::timeout(GUARD, self.events.next());
            let event = next.await.expect("nothing was told").unwrap().event;
            if let Event::ConfigHeldBack { change, .. } = event {
                return (change, event.to_string());
            }
        }
    }
}

#[tokio::test]
async fn a_rule_takes_effect_when_the_file_is_saved_and_is_gone_when_it_is_gone() {
    let mut following = Following::start(with_site(), THREE).await;
    assert_eq!(following.writes("workspace/secrets/key"), Verdict::Allow);
    assert_eq!(following.says(Action::network("example.com")), Verdict::Allow);
    following.edit(&format!("{ASK}{THREE}{DENY}")).await;
    assert_eq!(following.writes("workspace/secrets/key"), Verdict::Deny);
    assert_eq!(following.says(Action::network("example.com")), Verdict::Ask);
    following.edit(THREE).await;
    assert_eq!(following.writes("workspace/secrets/key"), Verdict::Allow);
    assert_eq!(following.says(Action::network("example.com")), Verdict::Allow);
}

#[tokio::test]
async fn a_rule_that_is_wrong_leaves_the_last_good_file_in_force() {
    let mut following = Following::start(with_site(), &format!("{THREE}{DENY}")).await;
    let told = following.edit(&format!("{THREE}{}", DENY.replace("path", "paths"))).await;
    assert!(told.contains("last valid version stays") && told.contains("did you mean `path`?"), "{told}");
    assert_eq!(following.writes("workspace/secrets/key"), Verdict::Deny);
}

#[tokio::test]
async fn while_widening_waits_for_a_person_what_narrows_takes_effect_at_once() {
    let asking = format!("[engine]\nconfirm_widening = true\n{THREE}");
    let mut following = Following::start(with_site(), &asking).await;
    let push = || Action::command("git push origin");
    // Both rules are added in one save.
    let (change, told) = following.held_back_by(&format!("{asking}{DENY}{ALLOW}")).await;
    assert!(told.contains("allow everything like `git push **`"), "{told}");
    assert!(!told.contains("secrets"), "what took effect does not wait: {told}");
    assert_eq!(following.writes("workspace/secrets/key"), Verdict::Deny);
    assert_eq!(following.says(push()), Verdict::Ask);
    following.engine.agree_to_widening(change).await.unwrap();
    assert_eq!(following.says(push()), Verdict::Allow);
    assert_eq!(following.writes("workspace/secrets/key"), Verdict::Deny);
    // Removing a denial allows more. Removing an approval does not.
    let (change, told) = following.held_back_by(&asking).await;
    assert!(told.contains("no longer: deny everything of"), "{told}");
    assert_eq!(following.writes("workspace/secrets/key"), Verdict::Deny);
    assert_eq!(following.says(push()), Verdict::Ask);
    following.engine.agree_to_widening(change).await.unwrap();
    assert_eq!(following.writes("workspace/secrets/key"), Verdict::Allow);
}

#[tokio::test]
async fn an_approval_that_becomes_one_for_children_waits_for_a_person() {
    let asking = format!("[engine]\nconfirm_widening = true\n{THREE}");
    let mut following = Following::start(with_site(), &format!("{asking}{ALLOW}")).await;
    let (_, told) = following.held_back_by(&format!("{asking}{ALLOW}children = true\n")).await;
    assert!(told.contains("allow everything like `git push **` and for children"), "{told}");
}

#[tokio::test]
async fn a_rule_that_only_moves_to_another_line_is_no_widening() {
    let asking = format!("[engine]\nconfirm_widening = true\n{THREE}{DENY}{ALLOW}");
    let mut following = Following::start(with_site(), &asking).await;
    let told = following.edit(&format!("# a comment\n{asking}")).await;
    assert!(!told.contains("waits"), "{told}");
    let lead = following.engine.agent("lead").unwrap();
    let explanation = lead.explain(&Action::write(&following.place.text("workspace/secrets/x"))).unwrap();
    assert!(explanation.to_string().contains("agents.toml:20: deny"), "{explanation}");
}

#[tokio::test]
async fn a_test_that_fails_keeps_the_whole_file_out_and_the_notice_says_which_and_why() {
    let mut following = Following::start(with_site(), &format!("{THREE}{DENY}")).await;
    let failing = test("lead", "$DIR/workspace/secrets/key", "deny");
    let told = following.edit(&format!("{}{failing}", THREE.replace(", \"@network\"", ""))).await;
    for part in [
        "last valid version stays",
        "agents.toml:17:1: this test fails: `lead` write `$DIR/workspace/secrets/key`",
        "expected deny, found allow (tier:",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert_eq!(following.held("lead"), ["@network", "@write:$DIR/workspace"]);
    assert_eq!(following.writes("workspace/secrets/key"), Verdict::Deny);
    let told = following.edit(&format!("{}{DENY}{failing}", THREE.replace(", \"@network\"", ""))).await;
    assert!(told.contains("took effect"), "{told}");
    assert_eq!(following.held("lead"), ["@write:$DIR/workspace"]);
}

/// The attack: a link makes a passing test fail, so that no further edit can revoke the attacker's permissions.
#[tokio::test]
async fn an_agent_that_makes_a_test_fail_on_the_disk_does_not_keep_an_edit_away() {
    let tests = test("writer", "$DIR/workspace/site/x", "allow") + &test("lead", "$DIR/workspace/a/x", "allow");
    let text = format!("{THREE}{tests}");
    let mut following = Following::start(with_site(), &text).await;
    fs::rename(following.place.path("workspace/site"), following.place.path("workspace/old")).unwrap();
    fs::create_dir(following.place.path("usr")).unwrap();
    following.place.link("workspace/site", "../usr");
    following.place.link("workspace/a", "../usr");
    let told = following.edit(&text.replace(", \"@network\"", "")).await;
    assert_eq!(following.held("lead"), ["@write:$DIR/workspace"], "{told}");
    assert!(
        told.contains("took effect") && told.contains("this test fails: `lead` write `$DIR/workspace/a/x`"),
        "{told}"
    );
    let told = following.edit(&text.replace("\"allow\"", "\"deny\"")).await;
    assert!(told.contains("last valid version stays"), "what fails by the text alone is still refused: {told}");
}

#[tokio::test]
async fn a_pattern_that_comes_to_lead_through_a_link_is_told_and_its_rule_stays() {
    let place = with_site();
    fs::create_dir(place.path("workspace/secrets")).unwrap();
    let mut following = Following::start(place, &format!("{THREE}{DENY}")).await;
    fs::rename(following.place.path("workspace/secrets"), following.place.path("workspace/old")).unwrap();
    following.place.link("workspace/secrets", "old");
    let told = following.edit(&format!("{}{DENY}", THREE.replace(", \"@network\"", ""))).await;
    assert!(told.contains("left out") && told.contains("leads through a link to `$DIR/workspace/old`"), "{told}");
    assert_eq!(following.held("lead"), ["@write:$DIR/workspace"]);
    fs::remove_file(following.place.path("workspace/secrets")).unwrap();
    assert_eq!(following.writes("workspace/secrets/key"), Verdict::Deny);
}
