//! Many clients at once: A13, and subscribers and requests in large numbers.

use std::{collections::BTreeSet, sync::Arc};

use serde_json::json;
use tokio::task::JoinSet;

use super::{Stage, heard, person, say, subscribe, tool_host};
use crate::http::{client::Socket, daemon::Daemon};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a13_of_two_people_who_answer_at_once_one_wins_and_both_are_told() {
    // One of them may win many times in a row.
    let world = crate::support::World::with(|settings| {
        settings.reads = bestow::grant::Reads::Anywhere;
        settings.max_asks_per_minute = 1_000_000;
    });
    let mut stage = Stage::on(Daemon::of(world, bestow_http::Limits::default(), |_| {}).await).await;
    let mut other = person(&stage.daemon).await;
    subscribe(&mut other, &stage.run).await;
    for round in 0..1_000 {
        // Each write is of its own path, so no denial answers the next one.
        assert_eq!(stage.write(&format!("file{round}")).await["decision"], "ask");
        let request = stage.asked().await;
        assert_eq!(other.next().await.unwrap()["requestId"], json!(request));
        let decide = |decision: &str| {
            json!({
                "type": "permission_decision",
                "runId": stage.run,
                "permissionRequestId": request,
                "decision": decision,
                "requestId": "mine",
            })
        };
        let (first, second) = (decide("allow"), decide("deny"));
        tokio::join!(say(&mut stage.you, first), say(&mut other, second));
        let mut errors = 0;
        let mut outcomes = BTreeSet::new();
        for socket in [&mut stage.you, &mut other] {
            // The loser also gets the error about its own decision.
            let mut resolved = false;
            while !resolved {
                let frame = socket.next().await.unwrap();
                match frame["type"].as_str().unwrap() {
                    "error" => errors += usize::from(frame["code"] == "NO_PENDING_PERMISSION"),
                    "request_resolved" => {
                        outcomes.insert(frame["outcome"].as_str().unwrap().to_owned());
                        resolved = true;
                    }
                    kind => panic!("{kind}"),
                }
            }
        }
        if errors == 0 {
            // The error comes after the end of the request, at whoever lost.
            let (frame, loser) = tokio::select! {
                frame = stage.you.next() => (frame.unwrap(), "allow"),
                frame = other.next() => (frame.unwrap(), "deny"),
            };
            assert_eq!(frame["code"], "NO_PENDING_PERMISSION", "{loser}: {frame}");
            errors += 1;
        }
        let result = stage.told("permission_result").await["outcome"].as_str().unwrap().to_owned();
        assert_eq!((errors, outcomes), (1, BTreeSet::from([result])), "round {round}");
    }
}

/// A thousand clients are shown every one of the requests, and how each ends.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_subscribers_lose_nothing() {
    let daemon = Daemon::with(bestow_http::Limits::default(), |_| {}).await;
    let run = daemon.world.engine.run_of(&"bot".parse().unwrap()).unwrap().to_string();
    let mut sockets = Vec::new();
    // A credential has a limited number of sockets.
    for _ in 0..32 {
        let token = daemon.approver("you");
        for _ in 0..32 {
            let mut socket = super::opened(&daemon, &token).await.unwrap();
            subscribe(&mut socket, &run).await;
            sockets.push(socket);
        }
    }
    for socket in &mut sockets {
        heard(socket).await;
    }
    let mut host = tool_host(&daemon, "bot").await;
    let mut requests = Vec::new();
    for round in 0..8 {
        let wanted =
            json!({ "type": "authorize", "operation": "command.execute", "resource": format!("node {round}.js") });
        say(&mut host, wanted).await;
        let told = host.next().await.unwrap();
        requests.push(told["permissionRequestId"].as_str().unwrap().to_owned());
    }
    for request in &requests {
        let decision =
            json!({ "type": "permission_decision", "runId": run, "permissionRequestId": request, "decision": "deny" });
        say(&mut sockets[0], decision).await;
    }
    for socket in &mut sockets {
        let (mut shown, mut ended) = (BTreeSet::new(), BTreeSet::new());
        while ended.len() < requests.len() {
            let frame = socket.next().await.unwrap();
            match frame["type"].as_str().unwrap() {
                "request_permission" => shown.insert(frame["requestId"].as_str().unwrap().to_owned()),
                "request_resolved" => ended.insert(frame["permissionRequestId"].as_str().unwrap().to_owned()),
                _ => panic!("{frame}"),
            };
        }
        assert_eq!(shown, requests.iter().cloned().collect());
        assert_eq!(shown, ended);
    }
}

/// Ten thousand requests of a hundred agents are made over the wire, while ten clients watch each agent. Each client is
/// shown every request of its agent, and one that comes later is shown all of them again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_subscribers_are_shown_ten_thousand_requests_without_a_loss() {
    const OWNERS: usize = 50;
    const AGENTS: usize = 2;
    const WATCHERS: usize = 10;
    const EACH: u32 = 100;
    let world = crate::support::World::with(|settings| {
        settings.max_pending = EACH;
        settings.max_asks_per_minute = EACH;
    });
    let daemon = Arc::new(Daemon::of(world, bestow_http::Limits::default(), |_| {}).await);
    let mut agents = JoinSet::new();
    for owner in 0..OWNERS {
        for number in 0..AGENTS {
            let (name, owner) = (format!("agent{owner}-{number}"), format!("owner{owner}"));
            daemon.world.agent(&name, &owner, bestow::Kind::Subagent, &[]).await;
            let run = daemon.world.engine.run_of(&name.parse().unwrap()).unwrap().to_string();
            let token = daemon.approver(&owner);
            let mut watchers = Vec::new();
            for _ in 0..WATCHERS {
                let mut socket = super::opened(&daemon, &token).await.unwrap();
                subscribe(&mut socket, &run).await;
                heard(&mut socket).await;
                watchers.push(socket);
            }
            agents.spawn(watched(Arc::clone(&daemon), name, owner, run, watchers, EACH));
        }
    }
    let mut all = 0;
    while let Some(requests) = agents.join_next().await {
        all += requests.unwrap();
    }
    assert_eq!(all, OWNERS * AGENTS * EACH as usize);
    assert_eq!(daemon.world.engine.pending().unwrap().len(), all - OWNERS * AGENTS, "one of each was answered");
}

/// Makes the requests of one agent, and compares what its watchers are shown. Returns the number of requests.
async fn watched(
    daemon: Arc<Daemon>,
    agent: String,
    owner: String,
    run: String,
    watchers: Vec<Socket>,
    each: u32,
) -> usize {
    let mut seeing = JoinSet::new();
    for mut watcher in watchers {
        let run = run.clone();
        seeing.spawn(async move {
            let mut shown = Vec::new();
            for _ in 0..each {
                let frame = watcher.next().await.unwrap();
                assert_eq!((&frame["type"], &frame["runId"]), (&json!("request_permission"), &json!(run)), "{frame}");
                shown.push(frame["requestId"].as_str().unwrap().to_owned());
            }
            (shown, watcher)
        });
    }
    let mut host = tool_host(&daemon, &agent).await;
    let mut requests = Vec::new();
    for call in 0..each {
        let resource = format!("node {call}.js");
        say(&mut host, json!({ "type": "authorize", "operation": "command.execute", "resource": resource })).await;
        let told = host.next().await.unwrap();
        assert_eq!(told["decision"], "ask", "{agent}: {told}");
        requests.push(told["permissionRequestId"].as_str().unwrap().to_owned());
    }
    let mut watchers = Vec::new();
    while let Some(seen) = seeing.join_next().await {
        let (shown, watcher) = seen.unwrap();
        assert_eq!(shown, requests, "each once, and in order");
        watchers.push(watcher);
    }
    let mut late = super::opened(&daemon, &daemon.approver(&owner)).await.unwrap();
    subscribe(&mut late, &run).await;
    let mut again = BTreeSet::new();
    for _ in 0..each {
        again.insert(late.next().await.unwrap()["requestId"].as_str().unwrap().to_owned());
    }
    heard(&mut late).await;
    assert_eq!(again, requests.iter().cloned().collect());
    let last = requests.last().unwrap();
    let decision =
        json!({ "type": "permission_decision", "runId": run, "permissionRequestId": last, "decision": "deny" });
    say(&mut late, decision).await;
    watchers.push(late);
    for watcher in &mut watchers {
        let end = watcher.next().await.unwrap();
        assert_eq!((&end["type"], &end["permissionRequestId"]), (&json!("request_resolved"), &json!(last)), "{end}");
    }
    requests.len()
}

/// Most events concern no client of a person. They do not wake it, and it does not fall behind.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_hears_nothing_for_ten_thousand_events_is_not_cut_off() {
    let mut stage = Stage::new().await;
    let them = stage.daemon.world.approver("them");
    let events = &mut stage.daemon.world.engine.subscribe();
    for _ in 0..5_000 {
        let given = them.give("theirs", crate::support::tag("@read:/srv"), bestow::grant::Scope::Always, "test").await;
        them.revoke(given.unwrap()[0], None).await.unwrap();
        // This test reads what the server reads, so that it does not run ahead of it.
        while events.try_next().unwrap().is_some() {}
        tokio::task::yield_now().await;
    }
    assert_eq!(stage.decided("a", "allow").await["outcome"], "granted");
    assert_eq!(stage.seen("request_resolved").await["outcome"], "granted");
}
