//! Tests of a reload when the disk is not as the author expects, or when the file is incomplete.

use std::{fs, time::Duration};

use bestow::{Engine, Event, decision::Check, event::Subscription, grant::PermissionRef};

use super::Place;

/// A timeout that is long enough for any machine. Only a failing test waits for it.
pub(super) const GUARD: Duration = Duration::from_secs(30);

/// An engine that follows the file of a place.
pub(super) struct Following {
    pub(super) place: Place,
    pub(super) engine: Engine,
    pub(super) events: Subscription,
}

/// A file with three agents of two owners. `$DIR` is the place.
pub(super) const THREE: &str = r#"
[agents.lead]
kind = "foreground"
owner = "you"
working_dir = "$DIR/workspace"
permissions = ["@write:$DIR/workspace", "@network"]
[agents.writer]
kind = "cron"
owner = "you"
working_dir = "$DIR/workspace/site"
permissions = ["@write:$DIR/workspace/site", "@events"]
[agents.other]
kind = "cron"
owner = "them"
working_dir = "/"
permissions = ["@network"]
"#;

/// A file with one agent that may write to the target of a link.
const CURRENT: &str = r#"
[agents.lead]
kind = "foreground"
owner = "you"
working_dir = "$DIR/data/current"
permissions = ["@write:$DIR/data/current"]
"#;

impl Following {
    pub(super) async fn start(place: Place, text: &str) -> Following {
        save(&place, text);
        let engine = Engine::open(place.path("policy/agents.toml")).await.unwrap();
        let events = engine.subscribe();
        Following { place, engine, events }
    }

    /// Saves `text`, and returns the text of the event about it.
    pub(super) async fn edit(&mut self, text: &str) -> String {
        save(&self.place, text);
        loop {
            let next = tokio::time::timeout(GUARD, self.events.next());
            let event = next.await.expect("nothing was told").unwrap().event;
            if let Event::ConfigReloaded { .. } | Event::ConfigRejected { .. } = event {
                return event.to_string().replace(self.place.text("").trim_end_matches('/'), "$DIR");
            }
        }
    }

    /// Returns true if the lead may read `name`.
    fn reads(&self, name: &str) -> bool {
        let path = self.place.text(name);
        self.engine.check("lead", PermissionRef::read(&path)) == Check::Held
    }

    /// Returns the tags that `agent` holds.
    pub(super) fn held(&self, agent: &str) -> Vec<String> {
        let grants = self.engine.grants().unwrap();
        let held = grants.iter().filter(|grant| grant.to.as_str() == agent);
        let tags = held.map(|grant| grant.pinned.permission.to_string());
        let mut tags: Vec<_> = tags.map(|tag| tag.replace(self.place.text("").trim_end_matches('/'), "$DIR")).collect();
        tags.sort();
        tags
    }
}

pub(super) fn save(place: &Place, text: &str) {
    place.write("policy/new", text.replace("$DIR", place.text("").trim_end_matches('/')));
    fs::rename(place.path("policy/new"), place.path("policy/agents.toml")).unwrap();
}

pub(super) fn with_site() -> Place {
    let place = Place::new();
    fs::create_dir_all(place.path("workspace/site")).unwrap();
    place
}

/// Creates a place in which `data/current` leads to `data/v1`.
fn with_current() -> Place {
    let place = Place::new();
    fs::create_dir_all(place.path("data/v1")).unwrap();
    fs::create_dir_all(place.path("usr")).unwrap();
    place.link("data/current", "v1");
    place
}

fn turn(place: &Place, name: &str, target: &str) {
    fs::remove_file(place.path(name)).unwrap();
    place.link(name, target);
}

#[tokio::test]
async fn an_agent_that_breaks_a_path_does_not_keep_an_edit_from_taking_permissions_away() {
    let mut following = Following::start(with_site(), THREE).await;
    fs::rename(following.place.path("workspace/site"), following.place.path("workspace/old")).unwrap();
    following.place.link("workspace/site", "site");
    let told = following.edit(&THREE.replace(", \"@network\"", "").replace("[\"@network\"]", "[]")).await;
    assert_eq!(following.held("lead"), ["@write:$DIR/workspace"], "{told}");
    assert_eq!(following.held("other"), Vec::<String>::new(), "across owners: {told}");
    assert_eq!(following.held("writer"), ["@events"], "only what the disk does not agree with is left out");
    assert!(told.contains("agents.toml:11: `$DIR/workspace/site` cannot be resolved"), "{told}");
    let writer = following.engine.agent("writer").unwrap();
    assert_eq!(writer.profile().unwrap().working_dir.as_str(), following.place.text("workspace/site"));
}

#[tokio::test]
async fn an_agent_that_turns_a_link_below_its_own_root_does_not_keep_an_edit_away() {
    let mut following = Following::start(with_site(), THREE).await;
    fs::create_dir(following.place.path("usr")).unwrap();
    fs::rename(following.place.path("workspace/site"), following.place.path("workspace/old")).unwrap();
    following.place.link("workspace/site", "../usr");
    let told = following.edit(&THREE.replace(", \"@network\"", "")).await;
    assert_eq!(following.held("lead"), ["@write:$DIR/workspace"], "{told}");
    assert_eq!(following.held("writer"), ["@events"], "{told}");
}

#[tokio::test]
async fn a_link_below_a_write_root_leaves_out_a_new_line_and_no_other() {
    let mut following = Following::start(with_site(), THREE).await;
    fs::create_dir(following.place.path("usr")).unwrap();
    following.place.link("workspace/new", "../usr");
    let told = following.edit(&THREE.replace("\"@events\"", "\"@write:$DIR/workspace/new\"")).await;
    assert_eq!(following.held("writer"), ["@write:$DIR/workspace/site"], "{told}");
    assert!(told.contains("the link `$DIR/workspace/new`, and agent `lead` may replace this link"), "{told}");
}

#[tokio::test]
async fn a_new_agent_that_has_nowhere_to_stand_is_left_out_and_no_other() {
    let mut following = Following::start(with_site(), THREE).await;
    following.place.link("workspace/loop", "loop");
    let more = "[agents.new]\nkind = \"cron\"\nowner = \"you\"\nworking_dir = \"$DIR/workspace/loop\"\n";
    let told = following.edit(&(THREE.replace(", \"@network\"", "") + more)).await;
    assert_eq!(following.held("lead"), ["@write:$DIR/workspace"], "{told}");
    assert!(following.engine.agent("new").is_err());
    assert!(told.contains("agent `new` is left out"), "{told}");
}

#[tokio::test]
async fn a_line_that_gives_this_file_away_is_left_out_of_a_reload() {
    let mut following = Following::start(with_site(), THREE).await;
    let told = following.edit(&THREE.replace("\"@network\"]\n[agents.w", "\"@write:$DIR/policy\"]\n[agents.w")).await;
    assert_eq!(following.held("lead"), ["@write:$DIR/workspace"], "{told}");
    assert!(told.contains("which contains this file"), "{told}");
}

#[tokio::test]
async fn a_line_that_is_left_out_is_told_while_what_widens_waits() {
    let asking = format!("[engine]\nconfirm_widening = true\n{THREE}");
    let mut following = Following::start(with_site(), &asking).await;
    fs::rename(following.place.path("workspace/site"), following.place.path("workspace/old")).unwrap();
    following.place.link("workspace/site", "site");
    following.edit(&format!("{asking}# a comment\n")).await;
    let told =
        following.edit(&asking.replace("\"@network\"]\n[agents.w", "\"@network\", \"@events\"]\n[agents.w")).await;
    assert!(told.contains("left out: $DIR/policy/agents.toml:12: `$DIR/workspace/site` cannot be resolved"), "{told}");
    assert_eq!(following.held("lead"), ["@network", "@write:$DIR/workspace"]);
}

#[tokio::test]
async fn the_fact_of_a_reload_can_be_read_back() {
    let mut following = Following::start(with_site(), THREE).await;
    following.place.link("workspace/loop", "loop");
    save(&following.place, &THREE.replace("\"@events\"", "\"@read:$DIR/workspace/loop\""));
    let event = loop {
        let next = tokio::time::timeout(GUARD, following.events.next());
        let recorded = next.await.expect("nothing was told").unwrap();
        if let Event::ConfigReloaded { .. } = recorded.event {
            break recorded.event.clone();
        }
    };
    let Event::ConfigReloaded { left_out, .. } = &event else { panic!("{event}") };
    assert_eq!(left_out.iter().map(|line| line.place.line).collect::<Vec<_>>(), [11]);
    let json = serde_json::to_string(&event).unwrap();
    assert_eq!(serde_json::from_str::<Event>(&json).unwrap(), event);
}

#[tokio::test]
async fn a_text_that_is_wrong_is_still_refused_as_a_whole() {
    let mut following = Following::start(with_site(), THREE).await;
    let told = following.edit(&THREE.replace("\"@network\"", "\"@netwrok\"")).await;
    assert!(told.contains("last valid version stays"), "{told}");
    assert_eq!(following.held("other"), ["@network"]);
}

/// Weakness W-1 through a reload: another agent's permission was used to change the link, and any edit would follow it.
#[tokio::test]
async fn a_line_that_stands_unchanged_does_not_follow_a_link_that_was_turned() {
    let mut following = Following::start(with_current(), CURRENT).await;
    assert_eq!(following.held("lead"), ["@write:$DIR/data/v1"]);
    turn(&following.place, "data/current", "../usr");
    let told = following.edit(&format!("{CURRENT}# a comment\n")).await;
    assert_eq!(following.held("lead"), Vec::<String>::new(), "{told}");
    assert!(told.contains("led to `$DIR/data/v1`") && told.contains("now leads to `$DIR/usr`"), "{told}");
    let lead = following.engine.agent("lead").unwrap();
    assert_eq!(lead.profile().unwrap().working_dir.as_str(), following.place.text("data/v1"));
    // The line does not follow the link after the next edit either, nor after the line was removed and restored.
    following.edit(&CURRENT.replace("\"@write:$DIR/data/current\"", "")).await;
    following.edit(CURRENT).await;
    assert_eq!(following.held("lead"), Vec::<String>::new());
    turn(&following.place, "data/current", "v1");
    following.edit(&format!("{CURRENT}# turned back\n")).await;
    assert_eq!(following.held("lead"), ["@write:$DIR/data/v1"]);
}

#[tokio::test]
async fn a_person_accepts_where_a_link_leads_by_writing_it_down() {
    let mut following = Following::start(with_current(), CURRENT).await;
    turn(&following.place, "data/current", "../usr");
    following.edit(&CURRENT.replace("@write:$DIR/data/current", "@write:$DIR/usr")).await;
    assert_eq!(following.held("lead"), ["@write:$DIR/usr"]);
}

/// The everyday case: `rm -rf build; mkdir build`.
#[tokio::test]
async fn a_directory_made_anew_in_its_place_is_held_anew() {
    let mut following = Following::start(with_current(), CURRENT).await;
    let before = following.engine.grants().unwrap()[0].pinned.identity;
    fs::rename(following.place.path("data/v1"), following.place.path("data/old")).unwrap();
    fs::create_dir(following.place.path("data/v1")).unwrap();
    following.edit(&format!("{CURRENT}# a comment\n")).await;
    let grants = following.engine.grants().unwrap();
    assert_ne!(grants[0].pinned.identity, before);
    assert_eq!(following.held("lead"), ["@write:$DIR/data/v1"]);
}

#[tokio::test]
async fn what_a_protected_link_led_to_stays_protected_when_it_is_turned() {
    let protecting = format!("[engine]\nprotected = [\"$DIR/data/current\"]\n{THREE}");
    let place = with_current();
    fs::create_dir_all(place.path("workspace/site")).unwrap();
    let mut following = Following::start(place, &protecting).await;
    assert!(!following.reads("data/v1/x") && following.reads("usr/x"));
    turn(&following.place, "data/current", "../usr");
    following.edit(&format!("{protecting}# a comment\n")).await;
    assert!(!following.reads("data/v1/x") && !following.reads("usr/x") && !following.reads("data/current/x"));
}

/// The file is saved slowly in place, and read before `[engine]` or one of its keys was written.
#[tokio::test]
async fn settings_that_are_gone_from_the_file_are_not_taken_for_the_defaults() {
    let engine = "[engine]\nprotected = [\"/p\"]\nreads = \"granted\"\n";
    let mut following = Following::start(with_site(), &format!("{THREE}{engine}")).await;
    for cut in [THREE.to_owned(), format!("{THREE}[engine]\n"), format!("{THREE}[engine]\nprotected = [\"/p\"]\n")] {
        let told = following.edit(&cut).await;
        assert!(told.contains("last valid version stays") && told.contains("is missing"), "{told}");
        assert!(!following.reads("elsewhere"));
    }
    let told = following.edit(&format!("{THREE}{}", engine.replace("granted", "anywhere"))).await;
    assert!(told.contains("took effect") && following.reads("elsewhere"), "{told}");
}
