//! Tests of the runs that files cause.

use bestow::{
    Kind,
    event::{CatchUp, Skip, TaskEnd, TaskEvent},
    grant::PermissionRef,
    schedule::NotStarted,
};

use super::stage::{Stage, moment, task};

#[tokio::test]
async fn a_task_runs_when_it_is_due_as_its_own_agent_with_its_prompt_and_its_places() {
    let mut stage = Stage::new().await;
    stage.cron("report", "name: Report\nschedule: \"30 2 * * *\"\ntime_zone: Europe/Berlin", "Write the report.");
    let tasks = stage.start().await;
    let told = stage.told_kind("task.added").await;
    assert_eq!(told, TaskEvent::Added { task: task("cron/report"), next: Some(moment("2026-01-01T01:30:00Z")) });
    stage.later(89);
    assert!(stage.runs.try_recv().is_err());
    stage.later(1);
    let run = stage.run().await;
    assert_eq!((run.tasks, run.prompt.as_str()), (vec![task("cron/report")], "Write the report."));
    assert_eq!((run.due, run.missed), (moment("2026-01-01T01:30:00Z"), 0));
    assert_eq!(run.agent.id().as_str(), "cron:report");
    let (files, memory) = (run.files.unwrap(), run.memory.unwrap());
    assert_eq!(files, stage.path("tasks/cron/report/files"));
    assert_eq!(memory, stage.path("tasks/cron/report/MEMORY.md"));
    run.agent.fs().write(&format!("{files}/out.txt"), "done").await.unwrap();
    for memo in ["first", "second"] {
        run.agent.fs().write(memory.as_str(), memo).await.unwrap();
    }
    assert_eq!(std::fs::read_to_string(memory.as_path()).unwrap(), "second");
    assert_eq!(run.agent.profile().unwrap().working_dir, files);
    let end = stage.told_kind("task.finished").await;
    assert_eq!(end, TaskEvent::Finished { task: task("cron/report"), end: TaskEnd::Done });
    let status = tasks.list().await.remove(0);
    assert_eq!(
        (&*status.title, status.next, status.is_running),
        ("Report", Some(moment("2026-01-02T01:30:00Z")), false)
    );
    assert_eq!(status.last.unwrap().what.to_string(), "done");
}

#[tokio::test]
async fn what_is_disabled_is_known_and_not_due() {
    let mut stage = Stage::new().await;
    stage.cron("off", "schedule: \"* * * * *\"\nenabled: false", "x");
    let tasks = stage.start().await;
    assert_eq!(stage.told_kind("task.added").await, TaskEvent::Added { task: task("cron/off"), next: None });
    assert_eq!(tasks.list().await[0].next, None);
    tasks.run(&task("cron/off")).await.unwrap();
    assert_eq!(stage.run().await.tasks, [task("cron/off")], "but by hand it runs");
}

#[tokio::test]
async fn files_that_are_added_changed_and_removed_take_effect_while_everything_runs() {
    let mut stage = Stage::new().await;
    let tasks = stage.start().await;
    stage.cron("late", "schedule: \"0 5 * * *\"", "one");
    assert_eq!(
        stage.told_kind("task.added").await,
        TaskEvent::Added { task: task("cron/late"), next: Some(moment("2026-01-01T05:00:00Z")) }
    );
    stage.cron("late", "schedule: \"0 4 * * *\"", "two");
    let changed = stage.told(
        |event| matches!(event, TaskEvent::Added { next: Some(next), .. } if *next == moment("2026-01-01T04:00:00Z")),
    );
    changed.await;
    stage.later(4 * 60);
    assert_eq!(stage.run().await.prompt, "two");
    stage.told_kind("task.finished").await;
    stage.remove("cron/late");
    assert_eq!(stage.told_kind("task.removed").await, TaskEvent::Removed { task: task("cron/late") });
    assert_eq!(tasks.list().await, []);
    assert!(stage.engine.agent("cron:late").is_err(), "its agent went with it");
}

#[tokio::test]
async fn a_wrong_file_is_told_once_with_lines_and_the_others_go_on() {
    let mut stage = Stage::new().await;
    stage.cron("wrong", "schedule: \"61 * * * *\"\nagnet: nightly", "x");
    stage.cron("right", "schedule: \"0 1 * * *\"", "x");
    stage.save("cron/-odd/TASK.md", "x");
    let tasks = stage.start().await;
    stage.later(60);
    assert_eq!(stage.run().await.tasks, [task("cron/right")]);
    tasks.look().await;
    let told: Vec<_> = stage.told_so_far().into_iter().filter(|event| event.kind() == "task.rejected").collect();
    let [TaskEvent::Rejected { file: odd, .. }, TaskEvent::Rejected { file, why }] = told.as_slice() else {
        panic!("{told:?}");
    };
    assert_eq!((&**odd, &**file), ("cron/-odd/TASK.md", "cron/wrong/TASK.md"));
    assert!(
        why.contains("line 2: `schedule`")
            && why.contains("line 3: unknown key `agnet` in a task; did you mean `agent`?"),
        "{why}"
    );
    assert_eq!(tasks.run(&task("cron/wrong")).await, Err(NotStarted::Unknown));
    stage.cron("wrong", "schedule: \"1 * * * *\"", "x");
    tasks.look().await;
    assert!(
        stage
            .told_so_far()
            .iter()
            .any(|event| matches!(event, TaskEvent::Added { task: id, .. } if *id == task("cron/wrong")))
    );
}

#[tokio::test]
async fn a_task_that_becomes_wrong_does_not_run_as_it_was() {
    let mut stage = Stage::new().await;
    stage.cron("a", "schedule: \"0 1 * * *\"", "old");
    let tasks = stage.start().await;
    stage.save("cron/a/TASK.md", "---\nschedule: never\n---\nnew");
    tasks.look().await;
    stage.later(120);
    tasks.look().await;
    assert!(stage.runs.try_recv().is_err());
    assert_eq!(tasks.list().await, []);
}

#[tokio::test]
async fn a_host_that_fails_or_panics_is_told_and_the_next_run_comes() {
    let mut stage = Stage::new().await;
    stage.cron("a", "schedule: \"0 * * * *\"", "fail");
    let runner = |run: bestow::schedule::TaskRun| async move {
        if run.due == moment("2026-01-01T01:00:00Z") {
            return Err("no model".to_owned());
        }
        panic!("out of luck")
    };
    let _tasks = stage.scheduler(runner).start(&stage.engine).await.unwrap();
    for expected in ["failed: no model", "panicked"] {
        stage.later(60);
        let TaskEvent::Finished { end, .. } = stage.told_kind("task.finished").await else { panic!() };
        assert!(matches!(end, TaskEnd::Failed { .. }) && end.to_string().contains(expected), "{end}");
    }
}

#[tokio::test]
async fn a_run_that_hangs_is_cut_off_and_what_is_due_meanwhile_is_skipped() {
    let mut stage = Stage::new().await;
    stage.cron("a", "schedule: \"0 * * * *\"\ntime_limit: 90m", "x");
    let tasks = stage.start_hanging().await;
    stage.later(60);
    let run = stage.run().await;
    assert_eq!(tasks.run(&task("cron/a")).await, Err(NotStarted::Running));
    stage.later(60);
    let skipped = stage.told_kind("task.skipped").await;
    assert_eq!(skipped, TaskEvent::Skipped { task: task("cron/a"), why: Skip::StillRunning });
    stage.later(30);
    let end = stage.told_kind("task.finished").await;
    assert_eq!(end, TaskEvent::Finished { task: task("cron/a"), end: TaskEnd::CutOff { seconds: 5400 } });
    stage.later(30);
    assert_eq!(stage.run().await.due, moment("2026-01-01T03:00:00Z"));
    drop(run);
}

#[tokio::test]
async fn what_was_missed_while_nobody_ran_it_is_one_run_or_none() {
    for (catch_up, expected) in [(CatchUp::One, 1), (CatchUp::None, 0)] {
        let mut stage = Stage::new().await;
        stage.change = match catch_up {
            CatchUp::One => |_| {},
            CatchUp::None => |settings| settings.catch_up = CatchUp::None,
        };
        stage.cron("a", "schedule: \"0 * * * *\"", "x");
        let tasks = stage.start().await;
        stage.later(60);
        stage.run().await;
        stage.told_kind("task.finished").await;
        tasks.list().await;
        drop(tasks);
        stage.later(5 * 60 + 10);
        let state = stage.path("tasks/cron/a/state.json");
        // The last event is written in the background.
        while !std::fs::read_to_string(state.as_path()).unwrap_or_default().contains("\"ended\"") {
            tokio::task::yield_now().await;
        }
        let _tasks = stage.start().await;
        if expected == 1 {
            let run = stage.run().await;
            assert_eq!((run.due, run.missed), (moment("2026-01-01T06:00:00Z"), 4));
        } else {
            let skipped = stage.told_kind("task.skipped").await;
            assert_eq!(skipped, TaskEvent::Skipped { task: task("cron/a"), why: Skip::Missed { times: 5 } });
        }
        stage.later(50);
        assert_eq!(stage.run().await.due, moment("2026-01-01T07:00:00Z"));
    }
}

/// A failure to store is reported, because the user must know that a restart would run the task again.
#[tokio::test]
async fn what_cannot_be_written_down_is_told_once() {
    let mut stage = Stage::new().await;
    stage.cron("a", "schedule: \"0 * * * *\"", "x");
    let _tasks = stage.start().await;
    // A directory stands in the place of the file, and a file cannot replace it.
    stage.save("cron/a/state.json/x", "");
    let mut troubles = Vec::new();
    for _ in 0..3 {
        stage.later(60);
        stage.run().await;
        let is_over = |event: &TaskEvent| event.kind() == "task.finished";
        loop {
            let event = stage.told(|event| is_over(event) || event.kind() == "task.trouble").await;
            if is_over(&event) {
                break;
            }
            troubles.push(event.to_string());
        }
    }
    let [told] = troubles.as_slice() else { panic!("{troubles:?}") };
    assert!(told.contains("may run again after a restart") && told.contains("cron/a/state.json"), "{told}");
}

/// `once` is bound to the name and the schedule, not to the text: a corrected typo does not cause another run.
#[tokio::test]
async fn a_one_shot_that_ran_runs_no_more_until_its_schedule_is_another_one() {
    let mut stage = Stage::new().await;
    let hourly = "schedule: \"0 * * * *\"\nonce: true";
    stage.cron("once", hourly, "x");
    let tasks = stage.start().await;
    stage.later(60);
    stage.run().await;
    stage.told_kind("task.finished").await;
    assert_eq!(tasks.list().await[0].next, None);
    // The file is saved with another text, another title, or other blanks, and read by a program that starts anew.
    for (front, prompt) in [(hourly, "again"), ("title: Other\nonce: true\nschedule: \"0  *  * * *\"", "x")] {
        stage.later(600);
        stage.cron("once", front, prompt);
        tasks.look().await;
        assert_eq!(tasks.list().await[0].next, None, "{front}");
    }
    tasks.stop().await;
    let tasks = stage.start().await;
    stage.later(600);
    assert_eq!(tasks.list().await[0].next, None);
    assert!(stage.runs.try_recv().is_err());
    // With another schedule it is a new task from then on.
    stage.cron("once", "schedule: \"30 * * * *\"\nonce: true", "at half past");
    tasks.look().await;
    assert!(stage.runs.try_recv().is_err(), "nothing that would have been before it was saved");
    stage.later(60);
    assert_eq!(stage.run().await.prompt, "at half past");
}

#[tokio::test]
async fn a_one_shot_under_another_name_is_another_task() {
    let mut stage = Stage::new().await;
    stage.cron("once", "schedule: \"0 * * * *\"\nonce: true", "x");
    let tasks = stage.start().await;
    stage.later(60);
    stage.run().await;
    stage.told_kind("task.finished").await;
    tasks.stop().await;
    let (old, new) = (stage.path("tasks/cron/once"), stage.path("tasks/cron/more"));
    std::fs::rename(old.as_path(), new.as_path()).unwrap();
    let tasks = stage.start().await;
    assert!(tasks.list().await[0].next.is_some(), "what is remembered came along, and is of another name");
}

#[tokio::test]
async fn a_task_that_was_for_more_than_once_meanwhile_runs_once_more() {
    let mut stage = Stage::new().await;
    let tasks = stage.start().await;
    for front in
        ["schedule: \"0 * * * *\"\nonce: true", "schedule: \"0 * * * *\"", "schedule: \"0 * * * *\"\nonce: true"]
    {
        stage.cron("a", front, "x");
        tasks.look().await;
        stage.later(60);
        stage.run().await;
        stage.told_kind("task.finished").await;
    }
    assert_eq!(tasks.list().await[0].next, None);
}

#[tokio::test]
async fn two_programs_do_not_run_the_same_tasks() {
    let stage = Stage::new().await;
    stage.cron("a", "schedule: \"0 * * * *\"", "x");
    let tasks = stage.start().await;
    for scheduler in [stage.scheduler(nothing), stage.scheduler(nothing).by_hand()] {
        let refused = scheduler.start(&stage.engine).await.unwrap_err();
        let told = format!("process {} runs the tasks in `{}`", std::process::id(), stage.path("tasks"));
        assert!(refused.to_string().starts_with(&told), "{refused}");
    }
    assert_eq!(tasks.list().await.len(), 1, "the first goes on");
    tasks.stop().await;
    // Dropping the handle releases the tasks at once, and so does the end of the engine.
    drop(stage.start().await);
    let tasks = stage.start().await;
    stage.engine.shutdown().await;
    while !tasks.list().await.is_empty() {}
    let engine = bestow::Engine::new(crate::support::settings(|_| {})).unwrap();
    stage.scheduler(nothing).start(&engine).await.unwrap();
}

async fn nothing(_: bestow::schedule::TaskRun) -> Result<(), String> {
    Ok(())
}

#[tokio::test]
async fn heartbeats_run_together_at_the_start_and_then_in_their_interval() {
    let mut stage = Stage::new().await;
    stage.save("heartbeat/b.md", "# Beta\n\nLook at b.");
    stage.save("heartbeat/a.md", "---\ntitle: Alpha\n---\nLook at a.");
    stage.save("heartbeat/c.md", "---\nenabled: false\n---\nNot this.");
    let tasks = stage.start().await;
    let run = stage.run().await;
    assert_eq!(run.agent.id().as_str(), "pulse");
    assert_eq!(run.tasks, [task("heartbeat/a"), task("heartbeat/b")]);
    assert_eq!(run.prompt, "# Alpha\n\nLook at a.\n\n# Beta\n\n# Beta\n\nLook at b.");
    stage.told_kind("task.finished").await;
    stage.later(29);
    tasks.look().await;
    assert!(stage.runs.try_recv().is_err(), "looking at the files does not make it beat");
    stage.remove("heartbeat/a.md");
    tasks.look().await;
    stage.later(1);
    let run = stage.run().await;
    assert_eq!(
        (run.tasks, run.prompt.as_str()),
        (vec![task("heartbeat/b")], "# Beta\n\nLook at b."),
        "one is told plainly"
    );
    let lasts: Vec<_> = tasks.list().await.into_iter().filter_map(|status| status.last).map(|last| last.at).collect();
    assert_eq!(lasts, [moment("2026-01-01T00:30:00Z")]);
}

#[tokio::test]
async fn when_the_handle_is_dropped_what_runs_is_cut_off_and_nothing_comes_after() {
    let mut stage = Stage::new().await;
    stage.cron("a", "schedule: \"0 * * * *\"", "x");
    let (held, gone) = tokio::sync::oneshot::channel::<()>();
    let held = std::sync::Mutex::new(Some(held));
    let runner = move |_: bestow::schedule::TaskRun| {
        let held = held.lock().unwrap().take();
        async move {
            let _held = held;
            std::future::pending().await
        }
    };
    let tasks = stage.scheduler(runner).start(&stage.engine).await.unwrap();
    stage.later(60);
    stage.told_kind("task.started").await;
    drop(tasks);
    assert!(gone.await.is_err(), "what the run held was let go of");
}

#[tokio::test]
async fn tasks_end_with_the_engine_and_do_not_keep_it() {
    let mut stage = Stage::new().await;
    stage.cron("a", "schedule: \"0 * * * *\"", "x");
    let tasks = stage.start().await;
    stage.engine.shutdown().await;
    assert_eq!(tasks.run(&task("cron/a")).await, Err(NotStarted::Stopped));
    assert!(stage.runs.try_recv().is_err());
}

#[tokio::test]
async fn there_is_room_for_so_many_runs_at_once() {
    let mut stage = Stage::new().await;
    stage.change = |settings| settings.max_running = 2;
    for name in ["a", "b", "c"] {
        stage.cron(name, "schedule: \"0 * * * *\"\ntime_limit: 10m", "x");
    }
    let _tasks = stage.start_hanging().await;
    stage.later(60);
    let (_one, _two) = (stage.run().await, stage.run().await);
    assert!(stage.runs.try_recv().is_err());
    stage.later(10);
    stage.run().await;
}

#[tokio::test]
async fn a_task_without_an_agent_is_for_the_only_one_of_its_kind_and_with_two_it_must_say() {
    let mut stage = Stage::new().await;
    stage.cron("a", "schedule: \"0 * * * *\"", "x");
    stage.agent("weekly", Kind::Cron, &["@network"]).await;
    let tasks = stage.start().await;
    tasks.run(&task("cron/a")).await.unwrap();
    let TaskEvent::Skipped { why: Skip::NoAgent { why }, .. } = stage.told_kind("task.skipped").await else { panic!() };
    assert!(why.contains("several are of kind `cron`"), "{why}");
    stage.cron("a", "schedule: \"0 * * * *\"\nagent: weekly", "x");
    tasks.look().await;
    tasks.run(&task("cron/a")).await.unwrap();
    assert!(stage.run().await.agent.check(PermissionRef::Network).is_held());
}

/// A correction of a wrong wall clock shifts no schedule (T3).
#[tokio::test]
async fn schedules_follow_the_clock_on_the_wall_when_it_is_set() {
    let mut stage = Stage::new().await;
    stage.cron("a", "schedule: \"0 * * * *\"", "x");
    let tasks = stage.start().await;
    // The wall clock is three weeks ahead of the engine's time. The task is due at once, as one missed run.
    stage.clock.set_wall(moment("2026-01-22T00:30:00Z"));
    assert_eq!(stage.run().await.due, moment("2026-01-22T00:00:00Z"));
    stage.told_kind("task.finished").await;
    // The clock is set back. The next hour counts, not the one in three weeks.
    stage.clock.set_wall(moment("2026-01-01T05:30:00Z"));
    // An answered `list` proves that the loop has seen the clock.
    tasks.list().await;
    stage.later(30);
    assert_eq!(stage.run().await.due, moment("2026-01-01T06:00:00Z"));
    stage.told_kind("task.finished").await;
    // A correction by one second runs nothing twice.
    stage.clock.set_wall(moment("2026-01-01T05:59:59Z"));
    tasks.list().await;
    stage.later(61);
    assert_eq!(stage.run().await.due, moment("2026-01-01T07:00:00Z"));
}

/// A run that a crash interrupted causes an event when the tasks start again (T4).
#[tokio::test]
async fn a_run_that_was_cut_by_a_crash_is_told_at_the_next_start() {
    let store = std::sync::Arc::new(bestow::host::MemoryStore::new());
    let mut stage = Stage::new().await.restarted(store.clone()).await;
    stage.cron("a", "schedule: \"0 * * * *\"", "x");
    let tasks = stage.start_hanging().await;
    tasks.run(&task("cron/a")).await.unwrap();
    stage.run().await;
    drop(tasks);
    for told in [true, false] {
        stage = stage.restarted(store.clone()).await;
        let tasks = stage.start().await;
        let cut = TaskEvent::Finished { task: task("cron/a"), end: TaskEnd::Interrupted };
        assert_eq!(stage.told_so_far().contains(&cut), told);
        let last = tasks.list().await[0].last.clone().unwrap();
        assert_eq!(last.what.to_string(), TaskEnd::Interrupted.to_string());
        tasks.stop().await;
    }
}

/// A person who starts a task by hand learns its end, however many other events occur (T2).
#[tokio::test]
async fn the_end_of_a_run_by_hand_is_told_to_whoever_started_it() {
    let mut stage = Stage::new().await;
    stage.cron("a", "schedule: \"0 * * * *\"", "x");
    let tasks = stage.start().await;
    assert_eq!(tasks.run_to_end(&task("cron/a")).await, Ok(Ok(TaskEnd::Done)));
    stage.run().await;
    assert_eq!(tasks.run_to_end(&task("cron/b")).await, Err(bestow::schedule::NotStarted::Unknown));
    drop(tasks);
    let tasks = stage.start_hanging().await;
    let (name, stopped) = (task("cron/a"), async { tasks.run_to_end(&task("cron/a")).await });
    let mut stopped = std::pin::pin!(stopped);
    tokio::select! {
        biased;
        end = &mut stopped => panic!("{end:?}"),
        run = stage.run() => assert_eq!(run.tasks, [name]),
    }
}

#[tokio::test]
async fn the_last_ten_runs_are_known_newest_first_also_after_a_restart() {
    let mut stage = Stage::new().await;
    stage.cron("often", "schedule: \"0 * * * *\"", "x");
    for _ in 0..2 {
        let tasks = stage.start().await;
        for _ in 0..7 {
            stage.later(60);
            stage.run().await;
            stage.told_kind("task.finished").await;
        }
        tasks.stop().await;
    }
    let settings = crate::support::settings(|settings| settings.tasks = stage.settings());
    let policy = bestow::Policy { settings, agents: [].into(), left_out: Vec::new() };
    stage.engine.configure(policy).await.unwrap();
    let surveyed = bestow::schedule::survey(&stage.engine).unwrap().remove(0);
    let ran: Vec<_> = surveyed.last.iter().chain(&surveyed.earlier).collect();
    assert!(ran.iter().all(|one| one.what.to_string() == "done"), "{ran:?}");
    let hours: Vec<_> = ran.iter().map(|one| one.at).collect();
    let expected: Vec<_> = (5..=14).rev().map(|hour| moment(&format!("2026-01-01T{hour:02}:00:00Z"))).collect();
    assert_eq!(hours, expected);
}
