//! Tests of due, missed and running entries.

use super::*;

fn at(text: &str) -> Timestamp {
    format!("2026-06-{text}:00Z").parse().unwrap()
}

fn schedule(text: &str) -> Timing {
    Timing::At(text.parse().unwrap(), TimeZone::utc())
}

fn plan(catch_up: CatchUp, text: &str, settled: Option<&str>, now: &str) -> Plan<&'static str> {
    let mut plan = Plan::new(catch_up, Duration::ZERO);
    plan.set("a", schedule(text), settled.map(at), at(now));
    plan
}

#[test]
fn a_run_is_due_at_its_time_and_once() {
    let mut plan = plan(CatchUp::One, "0 9 * * *", None, "01T08:00");
    assert_eq!(plan.next(), Some(at("01T09:00")));
    assert_eq!(plan.tick(at("01T08:59")), []);
    assert_eq!(plan.tick(at("01T09:00")), [("a", Due::Run { at: at("01T09:00"), missed: 0 })]);
    assert_eq!(plan.tick(at("01T09:00")), []);
    assert_eq!(plan.next(), Some(at("02T09:00")));
}

#[test]
fn all_that_was_missed_is_one_run() {
    let mut plan = plan(CatchUp::One, "0 * * * *", Some("01T08:00"), "01T12:30");
    assert_eq!(plan.tick(at("01T12:30")), [("a", Due::Run { at: at("01T12:00"), missed: 3 })]);
    assert_eq!(plan.next(), Some(at("01T13:00")));
}

#[test]
fn or_none_and_what_is_due_now_runs_all_the_same() {
    let mut missed = plan(CatchUp::None, "0 * * * *", Some("01T08:00"), "01T12:30");
    assert_eq!(missed.tick(at("01T12:30")), [("a", Due::Missed { times: 4 })]);
    let mut now = plan(CatchUp::None, "0 * * * *", Some("01T08:00"), "01T12:00");
    assert_eq!(now.tick(at("01T12:00")), [("a", Due::Run { at: at("01T12:00"), missed: 0 })]);
    let mut late = plan(CatchUp::None, "0 * * * *", None, "01T08:30");
    assert_eq!(late.tick(at("01T09:01")), [("a", Due::Run { at: at("01T09:00"), missed: 0 })]);
}

#[test]
fn counting_what_was_missed_ends() {
    let mut plan = plan(CatchUp::One, "* * * * *", Some("01T00:00"), "30T00:00");
    assert!(matches!(plan.tick(at("30T00:00"))[..], [("a", Due::Run { missed: MAX_MISSED, .. })]));
}

#[test]
fn runs_of_one_task_never_overlap() {
    let mut plan = plan(CatchUp::One, "0 * * * *", None, "01T08:30");
    assert!(matches!(plan.tick(at("01T09:00"))[..], [("a", Due::Run { .. })]));
    assert_eq!(plan.tick(at("01T10:00")), [("a", Due::StillRunning)]);
    plan.set("a", schedule("30 * * * *"), Some(at("01T10:00")), at("01T10:00"));
    assert_eq!(plan.tick(at("01T10:30")), [("a", Due::StillRunning)], "another schedule does not make it over");
    plan.ended(&"a");
    assert!(matches!(plan.tick(at("01T11:30"))[..], [("a", Due::Run { missed: 0, .. })]));
}

#[test]
fn an_interval_begins_with_the_last_time_and_at_once_if_there_was_none() {
    let mut plan = Plan::new(CatchUp::None, Duration::ZERO);
    let every = Timing::Every(Duration::from_secs(600));
    plan.set("never", every.clone(), None, at("01T08:00"));
    plan.set("before", every.clone(), Some(at("01T07:55")), at("01T08:00"));
    plan.set("long ago", every, Some(at("01T01:00")), at("01T08:00"));
    let run = |moment: &str| Due::Run { at: at(moment), missed: 0 };
    let due = plan.tick(at("01T08:00"));
    assert_eq!(due, [("long ago", run("01T08:00")), ("never", run("01T08:00"))]);
    assert_eq!(plan.next(), Some(at("01T08:05")));
    plan.ended(&"never");
    plan.tick(at("01T08:05"));
    assert_eq!(plan.due(&"never"), Some(at("01T08:10")));
}

#[test]
fn what_is_removed_is_not_due() {
    let mut plan = plan(CatchUp::One, "* * * * *", None, "01T08:00");
    plan.remove(&"a");
    assert_eq!((plan.next(), plan.tick(at("02T00:00"))), (None, vec![]));
}

#[test]
fn a_settled_moment_in_the_future_does_not_keep_a_task_from_running() {
    let mut plan = plan(CatchUp::One, "0 * * * *", Some("20T00:00"), "01T08:30");
    assert!(matches!(plan.tick(at("01T09:00"))[..], [("a", Due::Run { .. })]));
}

#[test]
fn jitter_spreads_starts_and_is_always_the_same() {
    let jitter = Duration::from_secs(600);
    let starts = |names: std::ops::Range<u32>| {
        let mut plan = Plan::new(CatchUp::One, jitter);
        names.for_each(|name| plan.set(name, schedule("0 9 * * *"), None, at("01T08:00")));
        plan.queue.iter().map(|(start, name)| (*name, *start)).collect::<std::collections::BTreeMap<_, _>>()
    };
    let all = starts(0..100);
    let different: BTreeSet<_> = all.values().collect();
    assert!(different.len() > 90 && all.values().all(|start| at("01T09:00").until(*start) < jitter));
    assert_eq!(all, starts(0..100));
}
