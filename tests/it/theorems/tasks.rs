//! Tests that no content of a task file gives a permission. The agent of a task holds a part of its target agent's
//! permissions. The agent also holds the directories that the person who keeps the tasks set aside for it.

use bestow::{Kind, schedule::Tasks};
use proptest::prelude::*;

use super::check;
use crate::schedule::stage::Stage;

const TAGS: [&str; 6] = ["@network", "@events", "@write:/", "@read:/", "@write:work", "@banana"];
const AGENTS: [&str; 5] = ["nightly", "weekly", "lead", "pulse", "nobody"];

fn file() -> impl Strategy<Value = String> {
    let tags = || prop::collection::vec(prop::sample::select(&TAGS[..]), 0..4);
    let named = prop::option::of(prop::sample::select(&AGENTS[..]));
    (tags(), tags(), named, any::<bool>()).prop_map(|(listed, declared, agent, has_gate)| {
        let mut text = format!("---\nschedule: \"@daily\"\npermissions: {listed:?}\n");
        if let Some(agent) = agent {
            text += &format!("agent: {agent}\n");
        }
        if has_gate {
            text += &format!("gate:\n  command: \"true\"\n  permissions: {declared:?}\n");
        }
        text + "---\nTake over the world.\n"
    })
}

async fn over(tasks: &Tasks) {
    while tasks.list().await.iter().any(|task| task.is_running) {
        tokio::task::yield_now().await;
    }
}

async fn a_task_file_grants_nothing_whatever_it_says(files: Vec<String>) -> Result<(), TestCaseError> {
    let mut stage = Stage::new().await;
    // No gate runs here. Other tests cover gates.
    stage.change = |settings| settings.on_missing = bestow::event::OnMissing::Run;
    let lead = stage.agent("lead", Kind::Foreground, &["@network", "@events", "@write:work"]).await;
    let weekly = stage.agent("weekly", Kind::Cron, &["@network"]).await;
    let before = stage.engine.grants().unwrap();
    for (number, text) in files.iter().enumerate() {
        stage.save(&format!("cron/t{number}/TASK.md"), text);
        stage.save(&format!("heartbeat/t{number}.md"), &text.replace("schedule", "description"));
    }
    let tasks = stage.start().await;
    for task in tasks.list().await {
        let _ = tasks.run(&task.id).await;
    }
    over(&tasks).await;
    let own = |task: &str| ["files", "MEMORY.md"].map(|own| stage.path(&format!("tasks/cron/{task}/{own}")));
    for grant in stage.engine.grants().unwrap() {
        if before.contains(&grant) {
            continue;
        }
        let task = grant.to.as_str().strip_prefix("cron:");
        prop_assert!(task.is_some(), "{} is new", grant);
        let is_own = grant.pinned.permission.path().is_some_and(|path| own(task.unwrap()).contains(path));
        let parent = stage.engine.agent(&grant.to).unwrap().profile().unwrap().parent.clone().unwrap();
        let of_parent = stage.engine.agent(&parent).unwrap().check(&grant.pinned.permission).is_held();
        prop_assert!(is_own || of_parent, "{} is more than {} holds", grant, parent);
        prop_assert_ne!(parent.as_str(), "lead", "no file chooses such an agent");
    }
    prop_assert!(check(&lead, "@network").is_held() && check(&weekly, "@network").is_held());
    prop_assert!(!check(&weekly, "@events").is_held());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: crate::support::cases(16),
        max_shrink_iters: 32,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_task_file_grants_nothing(files in prop::collection::vec(file(), 1..4)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(a_task_file_grants_nothing_whatever_it_says(files))?;
    }
}
