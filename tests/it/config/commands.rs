//! Tests of `[commands]`: user-defined rules about commands.

use std::{fs, time::Duration};

use bestow::{
    Engine, Event, Policy,
    command::{Classifier, CommandRules, Profile, Tier},
    event::Subscription,
};

use super::{Place, one_agent};

/// A timeout that is long enough for any machine. Only a failing test waits for it.
const GUARD: Duration = Duration::from_secs(30);

const SAFE: &str = r#"
[[commands.safe]]
program = "mytool"
subcommand = ["list"]
flags = ["-a", "--limit:"]
operands = true
match = ["mytool list -a x", "mytool list --limit 5"]
not_match = ["mytool delete x"]
"#;

const RAISE: &str = r#"
[[commands.raise]]
program = "kubectl"
words = ["apply", "prod"]
tier = "destructive"
match = ["kubectl apply -n prod -f x"]
not_match = ["kubectl apply -f x"]
"#;

fn with(commands: &str) -> Result<Policy, bestow::policy::ConfigError> {
    Place::with(&format!("{}{commands}", one_agent(""))).load()
}

fn tier(rules: &CommandRules, command: &str) -> Tier {
    Classifier::with_rules(rules).unwrap().classify(command).tier
}

#[test]
fn a_file_that_says_nothing_about_commands_leaves_the_built_in_rules() {
    assert_eq!(with("").unwrap().settings.commands, CommandRules::default());
    assert_eq!(with("[commands]\n").unwrap().settings.commands, CommandRules::default());
}

#[test]
fn the_rules_of_a_file_are_carried_by_its_settings_and_survive_storage() {
    let rules = with(&format!("[commands]\nprofile = \"strict\"\n{SAFE}{RAISE}")).unwrap().settings.commands;
    assert_eq!((rules.profile, rules.safe.len(), rules.raises.len()), (Profile::Strict, 1, 1));
    assert_eq!(tier(&rules, "mytool list x | wc -l"), Tier::Safe);
    assert_eq!(tier(&rules, "curl https://example.com"), Tier::Dangerous);
    assert_eq!(tier(&rules, "kubectl -n prod apply -f y"), Tier::Destructive);
    let stored = serde_json::to_string(&rules).unwrap();
    assert_eq!(serde_json::from_str::<CommandRules>(&stored).unwrap(), rules);
}

#[test]
fn what_a_file_adds_never_lowers_what_destroys() {
    let lowering = r#"
[[commands.safe]]
program = "rm"
flags = ["-r", "-f"]
operands = true
match = ["rm -rf build"]
not_match = ["rm -rf /"]
"#;
    let rules = with(lowering).unwrap().settings.commands;
    assert_eq!(tier(&rules, "rm -rf build"), Tier::Safe, "that is what the person wrote");
    for command in ["rm -rf /", "rm -rf ~", "cd / && rm -rf *", "rm -rf build; sudo ls"] {
        assert_eq!(tier(&rules, command), Tier::Destructive, "{command}");
    }
    let told = with(&lowering.replace("rm -rf build", "rm -rf /")).unwrap_err().to_string();
    assert!(told.contains("a destructive command stays destructive: no rule changes that"), "{told}");
}

#[test]
fn every_example_that_does_not_hold_is_told_at_its_own_place() {
    let text = SAFE.replace("\"mytool list -a x\", ", "\"mytool list -x\", \"mytool list > f\", ");
    let told = with(&text).unwrap_err();
    let places: Vec<_> = told.problems().iter().map(|problem| problem.position.unwrap()).collect();
    assert_eq!(places.iter().map(|place| place.line).collect::<Vec<_>>(), [12, 12], "{told}");
    assert!(places[0].column < places[1].column);
}

/// Waits for the next event about the file, and returns its text.
async fn told(events: &mut Subscription) -> String {
    loop {
        let event = tokio::time::timeout(GUARD, events.next()).await.expect("nothing was told").unwrap().event;
        if let Event::ConfigReloaded { .. } | Event::ConfigRejected { .. } | Event::ConfigHeldBack { .. } = event {
            return event.to_string();
        }
    }
}

/// Replaces the policy file, and returns the command rules that the engine receives and the text of its event.
async fn rules_after(first: &str, second: &str) -> (Option<CommandRules>, String) {
    let place = Place::with(&format!("{}{first}", one_agent("")));
    let engine = Engine::open(place.path("policy/agents.toml")).await.unwrap();
    let mut events = engine.subscribe();
    place.write("policy/new", format!("{}{second}", one_agent("")));
    fs::rename(place.path("policy/new"), place.path("policy/agents.toml")).unwrap();
    let mut rules = None;
    loop {
        let event = tokio::time::timeout(GUARD, events.next()).await.expect("nothing was told").unwrap().event;
        match &event {
            Event::SettingsChanged { settings } => rules = Some(settings.commands.clone()),
            Event::ConfigReloaded { .. } | Event::ConfigRejected { .. } => return (rules, event.to_string()),
            _ => {}
        }
    }
}

#[tokio::test]
async fn a_changed_file_changes_the_rules() {
    let (rules, told) = rules_after("", RAISE).await;
    assert_eq!(rules.map(|rules| rules.raises.len()), Some(1), "{told}");
}

#[tokio::test]
async fn a_bad_addition_keeps_the_last_good_file() {
    let bad = SAFE.replace("match = [\"mytool list -a x\"", "match = [\"mytool purge\"");
    let (rules, told) = rules_after(SAFE, &format!("{bad}{RAISE}")).await;
    assert_eq!(rules, None, "{told}");
    assert!(
        told.contains("the last valid version stays") && told.contains("`mytool purge` stands in `match`"),
        "{told}"
    );
}

#[tokio::test]
async fn what_raised_a_tier_does_not_go_away_with_a_file_that_is_cut_off() {
    let strict = "[commands]\nprofile = \"strict\"\n";
    for (first, second, key) in [(RAISE, "", "raise"), (strict, "", "profile"), (strict, "[commands]\n", "profile")] {
        let (rules, told) = rules_after(first, second).await;
        assert_eq!(rules, None, "{told}");
        assert!(told.contains(&format!("`{key}` is missing from `[commands]`")), "{told}");
    }
    let (rules, told) = rules_after(RAISE, "[commands]\nraise = []\n").await;
    assert_eq!(rules, Some(CommandRules::default()), "{told}");
}

#[tokio::test]
async fn what_lets_more_run_waits_for_a_person_who_reads_what_it_is() {
    let asking = "[engine]\nconfirm_widening = true\n";
    let strict = "[commands]\nprofile = \"strict\"\n";
    for (first, second, sentence) in [
        (String::new(), SAFE.to_owned(), "`mytool list -a --limit: <operands>` runs as safe"),
        (strict.to_owned(), strict.replace("strict", "default"), "the profile of commands from strict to default"),
        (
            RAISE.to_owned(),
            "[commands]\nraise = []\n".into(),
            "no longer: `kubectl` with `apply` and `prod` is destructive",
        ),
        (
            RAISE.to_owned(),
            RAISE.replace("\"destructive\"", "\"dangerous\"").replace("kubectl apply -f x", "ls"),
            "no longer: `kubectl` with `apply`",
        ),
    ] {
        let place = Place::with(&format!("{asking}{}{first}", one_agent("")));
        let engine = Engine::open(place.path("policy/agents.toml")).await.unwrap();
        let mut events = engine.subscribe();
        place.write("policy/new", format!("{asking}{}{second}", one_agent("")));
        fs::rename(place.path("policy/new"), place.path("policy/agents.toml")).unwrap();
        let mut all = String::new();
        while !all.contains("waits for the approval of a person") {
            all += &told(&mut events).await;
        }
        assert!(all.contains(sentence), "{sentence} / {all}");
    }
}
