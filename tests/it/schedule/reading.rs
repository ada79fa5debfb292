//! Tests of the content of a task file and of its errors.

use bestow::event::TaskEvent;
use proptest::prelude::*;

use super::stage::{Stage, task};

/// Returns the reason why this file is rejected.
async fn wrong(text: &str) -> String {
    let mut stage = Stage::new().await;
    stage.save("cron/a/TASK.md", text);
    let _tasks = stage.start().await;
    match stage.told_so_far().as_slice() {
        [TaskEvent::Rejected { why, .. }] => why.to_string(),
        other => panic!("{text}: {other:?}"),
    }
}

fn with_gate(gate: &str) -> String {
    format!("---\nschedule: \"@daily\"\ngate:\n  command: x\n  {gate}\n---\nx")
}

#[tokio::test]
async fn every_mistake_is_told_with_its_line() {
    for (text, expected) in [
        ("---\nschedule: \"@daily\"\n", "line 1: the front matter does not end"),
        ("do this", "`schedule` is missing"),
        ("---\n---\ndo this", "`schedule` is missing"),
        ("---\nschedule: \"@daily\"\n---\n  \n", "no prompt"),
        ("---\nschedule: \"@daily\"\nschedule: \"@hourly\"\n---\nx", "line 3: `schedule` is written twice"),
        ("---\nschedule: \"@daily\"\nname: a\ntitle: b\n---\nx", "mean the same"),
        ("---\nschedule: [a]\n---\nx", "line 2: `schedule` must be a text, not a list"),
        ("---\nschedule: \"@daily\"\nenabled: yes\n---\nx", "line 3: `enabled` must be `true` or `false`, not a text"),
        (
            "---\nschedule: \"@daily\"\nenabled: \"true\"\n---\nx",
            "line 3: `enabled` must be `true` or `false`, not a text",
        ),
        ("---\nschedule: \"@daily\"\nagent: ../x\n---\nx", "line 3: `agent` cannot be taken"),
        (
            "---\nschedule: \"@daily\"\ntime_zone: Mars/Base\n---\nx",
            "line 3: `time_zone`: there is no `Mars/Base`: its name",
        ),
        ("---\nschedule: \"@daily\"\ntime_zone: europe/berlin\n---\nx", "did you mean `Europe/Berlin`?"),
        ("---\nschedule: \"@daily\"\ntime_limit: 5\n---\nx", "line 3: `time_limit` must be a number and a unit"),
        (
            "---\nschedule: \"@daily\"\nunknown: 1\n---\nx",
            "line 3: unknown key `unknown` in a task; its keys are permissions, title, time_zone",
        ),
        ("---\nschedule: * * * * *\n---\nx", "line 2: this is not YAML"),
        ("---\nschedule: * * * * *\n---\nx", "put the text between quotation marks"),
        ("---\nname: a\nschedule: @daily\n---\nx", "put the text between quotation marks"),
        ("---\nschedule: 0 0 * * * *\n---\nx", "leave the seconds out"),
        ("---\nschedule: \"@daily\"\ngate:\n\tcommand: x\n---\nx", "line 4"),
        ("---\nschedule: \"@daily\"\ngate:\n  line: x\n  timeout: 1s\n---\nx", "its keys are command, permissions"),
        ("---\na: &b [1]\n---\nx", "anchors"),
        ("---\na: !tag x\n---\nx", "tags"),
        ("---\n- a\n---\nx", "each line must be a key"),
        ("---\n{: }: [\n---\nx", "line"),
        ("---\na: [[[[[[[[[[1]]]]]]]]]]\n---\nx", "too deep"),
        ("---\nschedule: \"@daily\"\ngate: x\n---\nx", "line 3: `gate` must be a map"),
        ("---\nschedule: \"@daily\"\ngate:\n  cwd: /\n---\nx", "`command` is missing from `gate`"),
        ("---\nschedule: \"@daily\"\ngate:\n  command: \"\"\n---\nx", "`command` is missing from `gate`"),
    ] {
        let told = wrong(text).await;
        assert!(told.contains(expected), "{text}: {told}");
    }
}

#[tokio::test]
async fn every_mistake_of_a_gate_is_told() {
    for (gate, expected) in [
        ("permissions: [\"@banana\"]", "line 5: `@banana`: a permission is `@network`"),
        ("permissions: [\"@write:\"]", "a relative path is below the task's own directory, as in `@write:files`"),
        ("permissions: [\"@write:../x\"]", "`@write:../x`"),
        ("permissions: [[a]]", "line 5: `permissions` must be a text or a list of texts, not a list"),
        ("permissions: [\"\"]", "line 5: `permissions` must not be blank"),
        ("timeout: 50ms", "line 5: `timeout` must be from `100ms` to `5m`"),
        ("timeout: 6m", "`timeout` must be from `100ms` to `5m`"),
        ("timeout: 300001", "from `100ms` to `5m`"),
        ("timeout: soon", "line 5: `timeout` must be a number and a unit"),
        ("home: /tmp", "below something that the gate declares to write"),
        ("env: [a]", "must be a map of names and texts"),
        ("env: { \"A B\": x }", "is not a variable"),
        ("env: { A: [x] }", "is not a variable"),
        ("permissions: [\"@network\"]\n  allowed_domains: []", "`allowed_domains` names nothing"),
        ("permissions: [\"@network\"]\n  package_managers:", "`package_managers` names nothing"),
        ("allowed_domains: [\"*\"]", "line 5: `*`: name each host"),
        ("allowed_domains: [\"a b.com\"]", "`a b.com`: each part of a name"),
        ("allowed_domains: [127.0.0.1]", "name a host and nothing else"),
        ("allowed_domains: [example.com]", "with `@network` only"),
        ("package_managers: [rust]", "with `@network` only"),
        ("package_managers: [cobol]", "none of the package managers: dart, dotnet, go"),
        ("commnad: y", "unknown key `commnad` in `gate`; did you mean `command`?"),
    ] {
        let told = wrong(&with_gate(gate)).await;
        assert!(told.contains(expected), "{gate}: {told}");
    }
}

#[tokio::test]
async fn what_the_first_engine_wrote_is_understood() {
    let mut stage = Stage::new().await;
    let front = "taskId: abc\nname: \"a: \\\"b\\\"\"\nschedule: 0 9 * * 1-5\ntimezone: America/New_York\n\
        agentId: nightly\nenabled: true\ndeleteAfterRun: true\ndescription: x\ngate:\n  command: \"true\"\n  \
        timeoutMs: 500\n  env: { N: 1, B: true, S: no }\n  permissions: [\" @network \", \"@network\"]\n  \
        allowedDomains: [example.com]\n  packageManagers: [rust]";
    stage.cron("a", front, "x");
    let tasks = stage.start().await;
    assert_eq!(stage.told_so_far().len(), 1, "nothing is ignored, nothing wrong");
    assert_eq!(&*tasks.list().await[0].title, "a: \"b\"");
}

#[tokio::test]
async fn a_title_is_what_is_written_or_the_first_heading_or_the_name() {
    let stage = Stage::new().await;
    for (name, text) in [
        ("a", "---\ntitle: \" One \"\n---\n# Two\nx"),
        ("b", "---\nname: One\n---\nx"),
        ("c", "x\n\n### Deep\n\n# Two"),
        ("d", "---\ntitle: \"\"\n---\n# Two\nx"),
        ("e", "#hash\nx"),
        ("f", "\u{feff}---\r\ntitle: One\r\n---\r\nx"),
    ] {
        stage.save(&format!("heartbeat/{name}.md"), text);
    }
    let tasks = stage.start().await;
    let titles: Vec<_> = tasks.list().await.iter().map(|task| task.title.to_string()).collect();
    assert_eq!(titles, ["One", "One", "Deep", "Two", "e", "One"]);
}

#[tokio::test]
async fn a_file_that_is_too_long_or_not_text_is_not_taken() {
    let mut stage = Stage::new().await;
    stage.save("heartbeat/long.md", &"x".repeat(70_000));
    std::fs::write(stage.path("tasks/heartbeat/odd.md").as_path(), [0xff, 0xfe]).unwrap();
    let tasks = stage.start().await;
    assert_eq!(tasks.list().await, []);
    let told = format!("{:?}", stage.told_so_far());
    assert!(told.contains("longer than 65536 bytes") && told.contains("not UTF-8"), "{told}");
}

#[tokio::test]
async fn what_is_no_task_of_the_heartbeat_says_why() {
    let mut stage = Stage::new().await;
    stage.save("heartbeat/a.md", "---\nschedule: \"@daily\"\nagent: nightly\n---\nx");
    let _tasks = stage.start().await;
    let TaskEvent::Rejected { why, .. } = stage.told_kind("task.rejected").await else { panic!() };
    assert!(
        why.contains("line 2: `schedule` is only for tasks below `cron/`") && why.contains("line 3: `agent`"),
        "{why}"
    );
}

#[tokio::test]
async fn what_lies_where_no_task_is_looked_for_is_told() {
    let mut stage = Stage::new().await;
    stage.save("cron/report.md", "---\nschedule: \"@daily\"\n---\nx");
    std::fs::create_dir(stage.path("tasks/cron/empty").as_path()).unwrap();
    for harmless in ["cron/README.md", "cron/notes.txt", "heartbeat/readme.txt", "heartbeat/.hidden.md", "other/x.md"] {
        stage.save(harmless, "x");
    }
    for misplaced in ["heartbeat/beat.txt", "heartbeat/deep/beat.md", "Cron/x/TASK.md"] {
        stage.save(misplaced, "x");
    }
    let tasks = stage.start().await;
    tasks.look().await;
    let mut told: Vec<_> = stage.told_so_far().iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 5, "{told:?}");
    for expected in [
        "Cron was rejected: the scheduler reads no tasks below this directory: did you mean `cron`?",
        "heartbeat/beat.txt was rejected: a task of the heartbeat ends in `.md`: call this `heartbeat/beat.md`",
        "heartbeat/deep was rejected: a task of the heartbeat is a file",
    ] {
        assert!(told.iter().any(|told| told.contains(expected)), "{expected}: {told:?}");
    }
    told.retain(|told| told.starts_with("cron/"));
    assert!(told[0].contains("cron/empty/TASK.md") && told[0].contains("there is no `TASK.md` in this directory"));
    assert!(told[1].contains("cron/report.md") && told[1].contains("move this to `cron/report/TASK.md`"), "{told:?}");
}

/// The attack: a file that costs more to read than to write.
#[tokio::test]
async fn a_file_made_to_be_expensive_is_told_in_few_words_and_the_others_run() {
    let mut stage = Stage::new().await;
    let many: String = (0..9_000).map(|number| format!("k{number}:\n")).collect();
    let aliases = "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n";
    let deep = format!("a: {}", "[".repeat(60_000));
    let maps: String = (0..300).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    for (name, front) in [("many", many.as_str()), ("aliases", aliases), ("deep", &deep), ("maps", &maps)] {
        stage.save(&format!("cron/{name}/TASK.md"), &format!("---\n{front}\n---\nx"));
    }
    stage.cron("right", "schedule: \"0 1 * * *\"", "x");
    let tasks = stage.start().await;
    assert_eq!(tasks.list().await.len(), 1);
    let rejected: Vec<_> = stage.told_so_far().into_iter().filter(|event| event.kind() == "task.rejected").collect();
    assert_eq!(rejected.len(), 4);
    assert!(rejected.iter().all(|event| event.to_string().len() < 10_000), "{rejected:?}");
    assert!(rejected[2].to_string().contains("and 8969 more"), "{}", rejected[2]);
}

#[tokio::test]
async fn a_state_file_that_cannot_be_read_counts_as_nothing_and_is_told() {
    let mut stage = Stage::new().await;
    stage.cron("a", "schedule: \"0 * * * *\"", "x");
    stage.save("cron/a/state.json", "{\"settled\": 7}");
    let _tasks = stage.start().await;
    assert!(matches!(stage.told_kind("task.trouble").await, TaskEvent::Trouble { why } if why.contains("state.json")));
    stage.later(60);
    assert_eq!(stage.run().await.tasks, [task("cron/a")]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::support::cases(64), ..ProptestConfig::default() })]

    /// One loop reads all files. No content of one file stops the reading of the others.
    #[test]
    fn no_text_stops_the_reading(front in "[a-z:\\-\\[\\]{}\"'&*!|>%@# \n\t0-9]{0,80}", body in any::<String>()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let stage = Stage::new().await;
            stage.save("cron/a/TASK.md", &format!("---\nschedule: \"@daily\"\n{front}\n---\n{body}"));
            stage.save("cron/b/TASK.md", "---\nschedule: \"@daily\"\n---\nx");
            let tasks = stage.start().await;
            assert!(tasks.list().await.iter().any(|status| status.id == task("cron/b")));
        });
    }
}
