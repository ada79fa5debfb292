//! Measurements of the dashboard by the browser's own clocks. `scripts/dashboard-bench` runs them on a quiet machine.

use std::time::Duration;

use bestow::{
    Action, Agent, Settings,
    host::{Clock, SystemClock},
};
use serde_json::Value;

use super::{
    browser::Browser,
    stage::{Stage, ask, scene_with},
};

/// Keeps the time at which the first card was on the screen.
const FIRST_CARD: &str = "
    new MutationObserver((_, observer) => {
        if (!document.querySelector('article button')) return;
        observer.disconnect();
        requestAnimationFrame(() => setTimeout(() => (globalThis.firstCard = performance.now())));
    }).observe(document, { childList: true, subtree: true });
";

/// Keeps, for each new card, the time at which it was on the screen.
const ARRIVALS: &str = "
    globalThis.arrivals = [];
    new MutationObserver((changes) => {
        const isCard = changes.some(({ addedNodes }) => [...addedNodes].some((node) => node.matches?.('article')));
        if (!isCard) return;
        requestAnimationFrame(() => setTimeout(() => arrivals.push(performance.timeOrigin + performance.now())));
    }).observe(document.body, { childList: true, subtree: true });
";

/// Scrolls the list of agents from its beginning to its end, in five seconds.
const SCROLLS: &str = "
    const done = arguments[0];
    const list = document.querySelector('.virtual');
    const begin = performance.now();
    const step = (now) => {
        const part = (now - begin) / 5000;
        list.scrollTop = part * (list.scrollHeight - list.clientHeight);
        if (part < 1) requestAnimationFrame(step);
        else done();
    };
    requestAnimationFrame(step);
";

/// The goal for one task of the main thread, in milliseconds. No frame can be longer than its tasks.
const LONGEST: f64 = 50.0;

fn without_limits(settings: &mut Settings) {
    settings.max_pending = 100_000;
    settings.max_children = 100_000;
    settings.max_asks_per_minute = 100_000;
    settings.max_changes_per_minute = 1_000_000;
    settings.max_facts_per_minute = 1_000_000;
}

fn say(what: &str, mut values: Vec<f64>) {
    values.sort_by(f64::total_cmp);
    let at = |part: f64| values[((values.len() - 1) as f64 * part).round() as usize];
    let (median, most) = (at(0.5), at(1.0));
    println!(
        "{what}: median {median:.0} ms, 95 % within {:.0} ms, longest {most:.0} ms ({} times)",
        at(0.95),
        values.len()
    );
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

async fn with_500_requests(stage: &Stage) {
    for name in 0..10 {
        let agent = stage.agent(&format!("agent-{name}"), &[]).await;
        for place in 0..50 {
            ask(&agent, &format!("@write:/srv/place-{name}-{place}")).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it measures"]
async fn the_first_paint_with_500_waiting_requests() {
    scene_with(without_limits, async |stage| {
        with_500_requests(stage).await;
        let browser = stage.dashboard().await;
        browser.before_each_page(FIRST_CARD).await;
        let (mut paints, mut cards) = (Vec::new(), Vec::new());
        for _ in 0..15 {
            browser.reload().await;
            let times = browser.until("no card", async || {
                let paint = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime";
                let times = browser.run(&format!("return [{paint}, globalThis.firstCard]"), &[]).await;
                if times[0].is_number() && times[1].is_number() { Ok(times) } else { Err(times.to_string()) }
            });
            let times = numbers(&times.await);
            paints.push(times[0]);
            cards.push(times[1]);
        }
        say("first paint, 500 waiting requests (goal 300 ms)", paints);
        say("first cards on the screen, 500 waiting requests", cards);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it measures"]
async fn the_time_from_an_event_to_the_screen() {
    scene_with(without_limits, async |stage| {
        let writer = stage.agent("writer", &[]).await;
        let browser = stage.dashboard().await;
        browser.run(ARRIVALS, &[]).await;
        let clock = SystemClock::new();
        let mut times = Vec::new();
        for round in 0..40 {
            let begin = clock.now().unwrap().as_millis();
            ask(&writer, &format!("@write:/srv/place-{round}")).await;
            let arrived = browser.until("no card", async || {
                let arrived = browser.run("return globalThis.arrivals.at(-1) ?? 0", &[]).await.as_f64().unwrap();
                if arrived >= begin as f64 { Ok(arrived) } else { Err("no card".to_owned()) }
            });
            times.push(arrived.await - begin as f64);
        }
        say("from a request to its card on the screen (goal 100 ms)", times);
    })
    .await;
}

/// Decides 95 actions a second, and asks and withdraws five times a second.
async fn act(agent: &Agent, seconds: u64) {
    let mut beats = tokio::time::interval(Duration::from_millis(10));
    for beat in 0..seconds * 100 {
        beats.tick().await;
        if beat % 20 == 0 {
            let ticket = ask(agent, &format!("@write:/srv/place-{beat}")).await;
            agent.cancel(ticket.id()).await.unwrap();
        } else {
            let _ = agent.authorize(Action::command(&format!("ls /srv/place-{beat}"))).await.unwrap();
        }
    }
}

/// Tells the tasks of the main thread by the browser's own tracing. Tasks of less than a millisecond are left out.
async fn tell_tasks(browser: &Browser, what: &str) {
    let tasks: Vec<_> = browser.tasks().await.into_iter().filter(|[_, worked]| *worked >= 1.0).collect();
    let long = |place: usize| tasks.iter().filter(|times| times[place] > LONGEST).count();
    let (waited, worked) = (long(0), long(1));
    say(&format!("tasks of the page, {what} (goal {LONGEST:.0} ms)"), tasks.iter().map(|[took, _]| *took).collect());
    say("  time of the processor in them", tasks.iter().map(|[_, worked]| *worked).collect());
    println!("  longer than {LONGEST:.0} ms: {waited}, by the time of the processor: {worked}");
}

async fn tasks_while_acting(stage: &Stage, agent: &Agent, hash: &str, what: &str) {
    let browser = stage.traced_dashboard().await;
    browser.run("location.hash = arguments[0]", &[hash.into()]).await;
    browser.page().a("heading", "").is_somewhere().await;
    act(agent, 1).await;
    browser.tasks().await;
    act(agent, 10).await;
    tell_tasks(&browser, what).await;
    browser.go("about:blank").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it measures"]
async fn the_tasks_while_100_events_a_second_arrive() {
    scene_with(without_limits, async |stage| {
        let writer = stage.agent("writer", &["@read:/srv"]).await;
        for hash in ["#/inbox", "#/activity", "#/agents/writer"] {
            tasks_while_acting(stage, &writer, hash, &format!("100 events a second, {hash}")).await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it measures"]
async fn the_tasks_while_100_events_a_second_arrive_and_500_requests_wait() {
    scene_with(without_limits, async |stage| {
        with_500_requests(stage).await;
        let writer = stage.agent("writer", &["@read:/srv"]).await;
        tasks_while_acting(stage, &writer, "#/inbox", "100 events a second and 500 waiting requests").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it measures"]
async fn the_tasks_while_10_000_agents_are_scrolled() {
    scene_with(without_limits, async |stage| {
        for number in 0..10_000 {
            stage.agent(&format!("agent-{number:05}"), &[]).await;
        }
        let browser = stage.traced_dashboard().await;
        browser.run("location.hash = '#/agents'", &[]).await;
        browser.page().shows("10,000 agents").await;
        browser.tasks().await;
        browser.run_async(SCROLLS, &[]).await.unwrap();
        tell_tasks(&browser, "10,000 agents scrolled").await;
    })
    .await;
}
