//! A server that is killed and started again while the page is open.
#![cfg(feature = "cli")]

use rustix::process::Signal;
use serde_json::json;

use super::stage::people;
use crate::http::project::Project;

fn link(project: &Project) -> String {
    let printed = project.bestow(&["dashboard", "--print-link", "--by", "ann"]);
    assert!(printed.status.success(), "{}", String::from_utf8_lossy(&printed.stderr));
    String::from_utf8(printed.stdout).unwrap().trim().to_owned()
}

async fn ask(project: &Project, token: &str, permission: &str) {
    let body = json!({ "permissions": [permission], "reason": "to build" });
    let asked = project.post(token, "/v1/requests", &body).await;
    assert_eq!(asked.json["status"], "pending", "{asked:?}");
}

#[tokio::test]
async fn a_killed_and_restarted_server_is_picked_up_without_a_reload() {
    people(async |people| {
        let mut project = Project::new();
        project.serve();
        let address = project.address().to_string();
        let bot = project.agent();
        ask(&project, &bot, "@network").await;
        let browser = people.dashboard(&link(&project)).await;
        let page = browser.page();
        let network = page.card("bot asks to use the network");
        network.is_there().await;
        browser.run("globalThis.isSameDocument = true", &[]).await;

        project.end(Signal::KILL);
        page.shows("The connection is lost.").await;
        network.answers("Allow for this run").await;
        network.shows("The server cannot be reached.").await;

        project.serve_at(&address);
        ask(&project, &bot, "@events").await;
        page.hides("The connection is lost.").await;
        page.shows("Live").await;
        page.shows("Connected again").await;
        network.hides("The server cannot be reached.").await;
        let events = page.card("bot asks to use the socket of the engine");
        events.is_there().await;
        network.answers("Allow for this run").await;
        network.shows("Allowed for this run by you").await;
        events.answers("Deny").await;
        events.shows("Denied by you").await;
        assert_eq!(browser.run("return globalThis.isSameDocument", &[]).await, true);
        let state = project.get(&bot, "/v1/agents/me").await.json;
        assert!(state.to_string().contains("@network"), "{state}");
    })
    .await;
}

/// Events that came while the page was not connected are in the list of events, too.
#[tokio::test]
async fn what_happened_meanwhile_is_not_missing() {
    people(async |people| {
        let mut project = Project::new();
        project.serve();
        let address = project.address().to_string();
        let bot = project.agent();
        let browser = people.dashboard(&link(&project)).await;
        let page = browser.page();
        page.link("Activity").click().await;
        page.a("heading", "Activity").is_there().await;
        project.end(Signal::KILL);
        page.shows("The connection is lost.").await;
        project.serve_at(&address);
        ask(&project, &bot, "@network").await;
        page.hides("The connection is lost.").await;
        page.a("option", "bot asks for @network").is_there().await;
        page.link("Inbox").click().await;
        page.card("bot asks to use the network").is_there().await;
    })
    .await;
}

/// The inbox counts what Activity can show: a server that was started again has no events from before.
#[tokio::test]
async fn the_inbox_counts_the_blocked_actions_that_activity_shows() {
    people(async |people| {
        let mut project = Project::new();
        project.serve();
        let address = project.address().to_string();
        let bot = project.agent();
        let browser = people.dashboard(&link(&project)).await;
        let page = browser.page();
        let body = json!({ "operation": "command.execute", "resource": "terraform destroy" });
        project.post(&bot, "/v1/authorize", &body).await;
        page.shows("1 destructive action was blocked in the last hour: see Activity").await;
        project.end(Signal::KILL);
        page.shows("The connection is lost.").await;
        project.serve_at(&address);
        page.hides("The connection is lost.").await;
        page.hides("was blocked in the last hour").await;
        project.post(&bot, "/v1/authorize", &body).await;
        page.shows("1 destructive action was blocked in the last hour: see Activity").await;
        page.the("link", "see Activity").click().await;
        page.a("option", "terraform destroy").is_there().await;
    })
    .await;
}
