//! A server that is killed and started again while the page is open.
#![cfg(feature = "cli")]

use std::net::SocketAddr;

use rustix::process::Signal;
use serde_json::json;
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

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

/// Returns the id of the only request that waits.
async fn waiting(project: &Project, token: &str) -> String {
    let reply = project.get(token, "/v1/requests").await;
    reply.json["requests"][0]["id"].as_str().unwrap_or_else(|| panic!("{reply:?}")).to_owned()
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
        page.the("link", "Activity").click().await;
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

/// The inbox counts what Activity can show, also from before a server was started again.
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
        page.shows("1 destructive action was blocked in the last hour: see Activity").await;
        project.post(&bot, "/v1/authorize", &body).await;
        page.shows("2 destructive actions were blocked in the last hour: see Activity").await;
        page.the("link", "see Activity").click().await;
        page.shows("bot may not run terraform destroy").await;
    })
    .await;
}

/// Holds the answer about recent events from which the page counts, until the page is told to go on.
const HOLD: &str = r#"
    const real = globalThis.fetch;
    globalThis.fetch = async (...request) => {
        const answer = await real(...request);
        if (!String(request[0]).includes("/v1/events/recent?limit=500")) return answer;
        const text = await answer.text();
        const held = new Promise((release) => { globalThis.release = release; });
        document.body.append("An answer is held.");
        await held;
        return new Response(text, { status: answer.status, headers: answer.headers });
    };
"#;

/// An event that comes while the page reads the recent ones is not in the answer. A naive page takes the answer for
/// everything, and forgets the event.
#[tokio::test]
async fn an_action_that_is_blocked_while_the_recent_events_are_read_is_counted() {
    people(async |people| {
        let mut project = Project::new();
        project.serve();
        let address = project.address().to_string();
        let bot = project.agent();
        let browser = people.dashboard(&link(&project)).await;
        let page = browser.page();
        project.end(Signal::KILL);
        page.shows("The connection is lost.").await;
        // The page reads again when it is connected.
        browser.run(HOLD, &[]).await;
        project.serve_at(&address);
        page.hides("The connection is lost.").await;
        page.shows("An answer is held.").await;
        let body = json!({ "operation": "command.execute", "resource": "terraform destroy" });
        project.post(&bot, "/v1/authorize", &body).await;
        page.shows("1 destructive action was blocked in the last hour: see Activity").await;
        browser.run("globalThis.release()", &[]).await;
        project.post(&bot, "/v1/authorize", &body).await;
        page.shows("2 destructive actions were blocked in the last hour: see Activity").await;
    })
    .await;
}

/// A wire between a browser and a server, which can be cut.
struct Wire {
    address: SocketAddr,
    server: SocketAddr,
    ends: JoinSet<()>,
}

impl Wire {
    async fn to(server: SocketAddr) -> Wire {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut wire = Wire { address: listener.local_addr().unwrap(), server, ends: JoinSet::new() };
        wire.join(listener);
        wire
    }

    fn join(&mut self, listener: TcpListener) {
        let server = self.server;
        self.ends.spawn(async move {
            let mut open = JoinSet::new();
            while let Ok((mut browser, _)) = listener.accept().await {
                open.spawn(async move {
                    if let Ok(mut server) = TcpStream::connect(server).await {
                        let _ = copy_bidirectional(&mut browser, &mut server).await;
                    }
                });
            }
        });
    }

    /// Cuts every connection. Later ones are refused.
    async fn cut(&mut self) {
        self.ends.shutdown().await;
    }

    async fn mend(&mut self) {
        let listener = TcpListener::bind(self.address).await.unwrap();
        self.join(listener);
    }
}

/// After a reconnect the page says what happened meanwhile: requests, permissions, denials and the policy file.
#[tokio::test]
async fn a_reconnect_says_what_was_missed() {
    people(async |people| {
        let mut project = Project::new();
        project.serve();
        let mut wire = Wire::to(project.address()).await;
        let (bot, you) = (project.agent(), project.approver());
        ask(&project, &bot, "@network").await;
        let link = link(&project).replace(&project.address().to_string(), &wire.address.to_string());
        let browser = people.dashboard(&link).await;
        let page = browser.page();
        page.card("bot asks to use the network").is_there().await;
        wire.cut().await;
        page.shows("The connection is lost.").await;

        let waiting = waiting(&project, &you).await;
        project.post(&you, &format!("/v1/requests/{waiting}/answer"), &json!({ "decision": "deny" })).await;
        let gift = json!({ "agentId": "bot", "permissions": ["@events", "@read:/srv"], "reason": "r" });
        let given = project.post(&you, "/v1/grants", &gift).await.json;
        let first = given["grantIds"][0].as_str().unwrap();
        assert_eq!(project.delete(&you, &format!("/v1/grants/{first}")).await.status, 200);
        let destructive = json!({ "operation": "command.execute", "resource": "terraform destroy" });
        project.post(&bot, "/v1/authorize", &destructive).await;
        ask(&project, &bot, "@write:/srv").await;
        let text = std::fs::read_to_string(project.path().join("agents.toml")).unwrap();
        project.policy(&format!("{text}mode = \"untrusted\"\n"));
        browser
            .until("the change is not in force", async || {
                let config = project.get(&you, "/v1/config").await.json;
                if config["lastChange"].is_object() { Ok(()) } else { Err(config.to_string()) }
            })
            .await;
        wire.mend().await;
        page.hides("The connection is lost.").await;
        page.shows("Connected again").await;
        let told = "Meanwhile 1 request came, 1 request ended, 2 permissions were given, 1 permission ended, 2 actions \
                    or requests were denied, and the policy file changed. See Activity";
        page.shows(told).await;
        browser.picture("missed").await;
        page.card("bot asks to write /srv").is_there().await;
    })
    .await;
}

/// A request that the engine has forgotten was perhaps granted, and perhaps denied. The page does not guess: the trail
/// says how it ended.
#[tokio::test]
async fn a_request_that_the_engine_forgot_ended_as_the_trail_says() {
    people(async |people| {
        let mut project = Project::new();
        project.serve();
        let address = project.address().to_string();
        let (bot, you) = (project.agent(), project.approver());
        ask(&project, &bot, "@network").await;
        let browser = people.dashboard(&link(&project)).await;
        let page = browser.page();
        let card = page.card("bot asks to use the network");
        card.is_there().await;
        project.end(Signal::KILL);
        page.shows("The connection is lost.").await;
        project.serve();
        let answer = async |decision: &str| {
            let waiting = waiting(&project, &you).await;
            let body = json!({ "decision": decision });
            let answered = project.post(&you, &format!("/v1/requests/{waiting}/answer"), &body).await;
            assert_eq!(answered.status, 200, "{answered:?}");
        };
        answer("allow").await;
        // An engine remembers the last ends of each agent.
        for number in 0..40 {
            ask(&project, &bot, &format!("@write:/srv/{number}")).await;
            answer("allow").await;
        }
        project.end(Signal::TERM);
        project.serve_at(&address);
        page.hides("The connection is lost.").await;
        page.shows("Allowed for this run").await;
        page.hides("Withdrawn").await;
        page.hides("Ended while the engine was not reached").await;
    })
    .await;
}
