//! Pages from elsewhere: they can neither see nor do anything, although a person is signed in beside them.

use std::net::SocketAddr;

use bestow::Outcome;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    task::JoinHandle,
};

use super::stage::{ask, scene};

/// The page of an attacker. It tells what it was able to do.
const HOSTILE: &str = r#"<!doctype html><title>hostile</title><iframe name="frame"></iframe>
<form method="post" enctype="text/plain" target="frame"><input name='{"decision":"allow","a":"' value='"}'></form>
<script>
const told = (promise) => promise.then((value) => value, (why) => `refused: ${why.name}`);
async function attack(target, request, token) {
  const body = JSON.stringify({ decision: "allow" });
  const json = { "content-type": "application/json" };
  const answer = `${target}v1/requests/${request}/answer`;
  const done = {};
  done.read = await told(fetch(`${target}v1/requests`).then((reply) => reply.text()));
  done.readWithToken = await told(fetch(`${target}v1/requests`, { headers: { authorization: `Bearer ${token}` } }));
  done.answer = await told(fetch(answer, { method: "POST", body, headers: json }));
  done.answerWithToken = await told(
    fetch(answer, { method: "POST", body, headers: { ...json, authorization: `Bearer ${token}` } }));
  done.blind = await told(fetch(answer, { method: "POST", body, mode: "no-cors", credentials: "include" })
    .then((reply) => `${reply.type} ${reply.status}`));
  done.socket = await new Promise((resolve) => {
    const socket = new WebSocket(`${target.replace("http", "ws")}v1/events/ws`, ["bestow", `bearer.${token}`]);
    socket.onopen = () => resolve("open");
    socket.onerror = () => resolve("refused");
  });
  const script = document.createElement("script");
  script.src = `${target}dashboard/main.js`;
  done.script = await new Promise((resolve) => {
    script.onload = () => resolve("loaded");
    script.onerror = () => resolve("refused");
    document.head.append(script);
  });
  const form = document.forms[0];
  form.action = answer;
  const frame = document.querySelector("iframe");
  const loaded = new Promise((resolve) => (frame.onload = resolve));
  form.submit();
  await loaded;
  return done;
}
</script>"#;

/// A server with the page of an attacker, under any name.
struct Elsewhere {
    address: SocketAddr,
    server: JoinHandle<()>,
}

impl Elsewhere {
    async fn start() -> Elsewhere {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut head = [0; 4096];
                let _ = stream.read(&mut head).await;
                let length = HOSTILE.len();
                let head = format!("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {length}\r\n\r\n");
                let _ = stream.write_all(format!("{head}{HOSTILE}").as_bytes()).await;
            }
        });
        Elsewhere { address, server }
    }

    /// Returns the address of the page under a name that is not the dashboard's.
    fn url(&self) -> String {
        format!("http://hostile.example:{}/", self.address.port())
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        self.server.abort();
    }
}

#[tokio::test]
async fn a_page_from_elsewhere_reads_nothing_and_answers_nothing() {
    scene(async |stage| {
        let elsewhere = Elsewhere::start().await;
        let writer = stage.agent("writer", &[]).await;
        let ticket = ask(&writer, "@network").await;
        let browser = stage.dashboard().await;
        browser.page().card("writer asks").is_there().await;
        browser.new_tab().await;
        browser.go(&elsewhere.url()).await;
        // The attacker even has a token of an approver.
        let script =
            "const done = arguments[arguments.length - 1]; attack(...arguments).then(done, (why) => done(`${why}`));";
        let arguments = [json!(stage.url()), json!(ticket.id().to_string()), json!(stage.token("mallory"))];
        let done = browser.run_async(script, &arguments).await.unwrap();
        assert_eq!(
            done,
            json!({
                "read": "refused: TypeError",
                "readWithToken": "refused: TypeError",
                "answer": "refused: TypeError",
                "answerWithToken": "refused: TypeError",
                "blind": "opaque 0",
                "socket": "refused",
                "script": "refused",
            })
        );
        assert!(ticket.poll().is_none());
        // The browser tells of each refusal.
        let _ = browser.faults().await;
    })
    .await;
}

#[tokio::test]
async fn the_dashboard_is_in_no_frame_and_no_page_keeps_a_hold_of_its_window() {
    scene(async |stage| {
        let elsewhere = Elsewhere::start().await;
        let writer = stage.agent("writer", &[]).await;
        let ticket = ask(&writer, "@network").await;
        let browser = stage.browser().await;
        browser.go(&elsewhere.url()).await;
        let framed = browser
            .run_async(
                "const [target, done] = arguments;
                 const frame = document.createElement('iframe');
                 frame.onload = () => done(frame.contentDocument === null);
                 frame.src = target;
                 document.body.append(frame);",
                &[json!(stage.url())],
            )
            .await
            .unwrap();
        assert_eq!(framed, true, "a page of an error, which is of another origin");
        browser
            .in_frame(1, async || {
                let text = browser.run("return document.body.innerText", &[]).await;
                assert!(!text.as_str().unwrap().contains("bestow dashboard"), "{text}");
            })
            .await;
        // A link of the person opens as well in a window of the page. The page cannot reach into it.
        browser.run("globalThis.opened = open(arguments[0])", &[json!(stage.link("ann"))]).await;
        let hostile = browser.tab().await;
        browser.turn_to_the_other_tab().await;
        browser.page().card("writer asks").is_there().await;
        assert_eq!(browser.run("return globalThis.opener", &[]).await, json!(null));
        browser.turn_to(&hostile).await;
        let reach = "
            try { opened.postMessage('allow', '*'); } catch {}
            try { return opened.document.body.innerText; } catch { return opened.closed ? 'closed' : 'out of reach'; }";
        let reached = browser.run(reach, &[]).await;
        assert!(["closed", "out of reach"].contains(&reached.as_str().unwrap()), "{reached}");
        assert!(ticket.poll().is_none());
        let _ = browser.faults().await;
    })
    .await;
}

/// A name of the attacker may lead to this machine. The server does not answer under it.
#[tokio::test]
async fn under_another_name_the_server_has_no_dashboard() {
    scene(async |stage| {
        let browser = stage.browser().await;
        browser.go(&format!("http://hostile.example:{}/", stage.address.port())).await;
        browser.page().shows("host_not_allowed").await;
        browser.go(&stage.link("ann")).await;
        browser.page().shows("Live").await;
        let writer = stage.agent("writer", &[]).await;
        let ticket = ask(&writer, "@network").await;
        browser.page().card("writer asks").answers("Deny").await;
        assert_eq!(ticket.resolution().await.outcome, Outcome::Denied);
    })
    .await;
}
