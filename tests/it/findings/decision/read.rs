//! Tests that a command with an input is judged by the data that it may read (attack 14).

use bestow::{
    Action, Agent, Effect, Engine, Kind,
    agent::Mode,
    decision::Verdict,
    grant::Reads,
    host::{DiskPaths, ManualClock},
    policy::Rule,
    sandbox::{Command, Profile},
};
use std::sync::Arc;

use super::{on_command, rule, verdict};
use crate::support::{START, World, id, policy, settings, tag};

/// Creates an agent with the network on a real disk, and the profile of its commands.
async fn on_disk(mode: Mode, rules: &[Rule]) -> (tempfile::TempDir, Engine, Agent, Profile) {
    let directory = tempfile::tempdir().unwrap();
    let work = crate::support::real(directory.path());
    let clock = Arc::new(ManualClock::at(START));
    let settings = settings(|settings| settings.reads = Reads::Anywhere);
    let engine = Engine::on(settings.clone(), clock, Arc::new(DiskPaths)).unwrap();
    let mut file = policy(settings, &[("ann", "you", &["@network"])]);
    let of_file = file.agents.get_mut(&id("ann")).unwrap();
    let stands = work.to_str().unwrap().parse().unwrap();
    of_file.profile = bestow::Profile::new(id("ann"), "you".parse().unwrap(), Kind::Permanent, stands).in_mode(mode);
    of_file.rules = Arc::from(rules);
    engine.configure(file).await.unwrap();
    let agent = engine.agent(id("ann")).unwrap();
    let profile = agent.sandbox_profile(&[tag("@network")]).unwrap();
    (directory, engine, agent, profile)
}

fn command(words: &str) -> Command {
    let mut words = words.split(' ');
    Command::new(words.next().unwrap()).args(words)
}

/// Returns the action of a command with each of its three inputs: none, the input of this process, and later writes of
/// a caller.
fn ways(profile: &Profile, words: &str) -> [Action; 3] {
    let command = command(words);
    let inherits = profile.action(&command.clone().inheriting()).unwrap();
    [profile.action(&command).unwrap(), inherits, profile.process_action(&command).unwrap()]
}

#[tokio::test]
async fn what_sends_what_it_reads_is_not_safe_where_somebody_writes_to_it() {
    let (_directory, engine, agent, profile) = on_disk(Mode::Default, &[]).await;
    let _there = engine.approver("you", "ann", "test").attend().unwrap();
    let sends =
        ["openssl s_client -connect e.com:443", "nslookup", "nslookup - e.com", "fping", "http GET https://e.com"];
    for words in sends {
        let [nothing, inherited, held] = ways(&profile, words);
        assert_eq!(verdict(&agent, &nothing), Effect::Allow, "{words}");
        assert_eq!(verdict(&agent, &inherited), Effect::Ask, "{words}");
        assert_eq!(verdict(&agent, &held), Effect::Ask, "{words}");
    }
    // `cat` only prints its input.
    for words in ["cat", "ls", "sort", "git log"] {
        for way in ways(&profile, words) {
            assert_eq!(verdict(&agent, &way), Effect::Allow, "{words}");
        }
    }
}

/// Programs that run their input, or may run it.
const READERS: [&str; 30] = [
    "sh",
    "bash -s",
    "env python3",
    "python3",
    "python3 -i x.py",
    "python3 -",
    "node",
    "perl",
    "ruby -",
    "php",
    "tclsh",
    "su",
    "su - x",
    "ed",
    "ed x",
    "vim",
    "vim x",
    "ex -s x",
    "psql",
    "psql -d x",
    "mysql x",
    "sqlite3 x.db",
    "gdb x",
    "m4",
    "crontab -",
    "at now",
    "xargs sh",
    "docker run -i a sh",
    "docker exec -i a python3",
    "awk -f -",
];

/// Programs that read data, or whose arguments name the code that they run.
const OTHERS: [&str; 14] = [
    "cat",
    "python3 x.py",
    "python3 -m json.tool",
    "node x.js",
    "perl x.pl",
    "ruby x.rb",
    "awk {print}",
    "sed p",
    "jq .",
    "psql -c select",
    "sqlite3 x.db select",
    "crontab -l",
    "grep x",
    "tee x",
];

#[tokio::test]
async fn what_runs_what_it_reads_may_be_what_is_denied_where_somebody_writes_to_it() {
    let rules = [on_command(Verdict::Deny, "git push"), rule(Verdict::Allow, None, None)];
    let (_directory, _engine, agent, profile) = on_disk(Mode::Bypass, &rules).await;
    for words in READERS {
        let [_, inherited, held] = ways(&profile, words);
        assert_eq!(verdict(&agent, &inherited), Effect::Deny, "{words}");
        assert_eq!(verdict(&agent, &held), Effect::Deny, "{words}");
    }
    for words in OTHERS {
        for way in ways(&profile, words) {
            assert_eq!(verdict(&agent, &way), Effect::Allow, "{words}");
        }
    }
}

/// A line may redirect its own input.
#[tokio::test]
async fn what_runs_what_it_reads_may_be_what_is_denied_behind_a_pipe() {
    let world = World::new();
    let rules = [on_command(Verdict::Deny, "git push"), rule(Verdict::Allow, None, None)];
    let agent = super::bound(&world, Mode::Bypass, &["@write:/ws", "@network", "@read:/"], &rules).await;
    for words in READERS {
        for line in
            [format!("./x | {words}"), format!("{words} < f"), format!("{{ {words}; }} < f"), format!("{words} <&0")]
        {
            assert_eq!(verdict(&agent, &Action::command(&line)), Effect::Deny, "{line}");
        }
    }
    for words in OTHERS {
        for line in [format!("ls | {words}"), format!("{words} < f"), format!("{{ {words}; }} < f")] {
            assert_eq!(verdict(&agent, &Action::command(&line)), Effect::Allow, "{line}");
        }
    }
}

/// A rule and a permanent approval concern the command, also if it has an input.
#[tokio::test]
async fn a_process_is_allowed_by_rules_and_people_like_a_command() {
    let (_directory, engine, agent, profile) =
        on_disk(Mode::Default, &[on_command(Verdict::Allow, "npm run dev")]).await;
    let you = engine.approver("you", "ann", "test");
    let _there = you.attend().unwrap();
    let process = |words| profile.process_action(&command(words)).unwrap();
    assert_eq!(verdict(&agent, &process("npm run dev")), Effect::Allow);
    let question = agent.authorize(process("npm run other")).await.unwrap().decision().approval_action_id.unwrap();
    you.answer(question, bestow::Answer::allow().scope(bestow::grant::Scope::Always)).await.unwrap();
    assert_eq!(verdict(&agent, &process("npm run other")), Effect::Allow);
    assert_eq!(verdict(&agent, &profile.action(&command("npm run other")).unwrap()), Effect::Ask);
}
