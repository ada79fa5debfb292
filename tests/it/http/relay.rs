//! `examples/webhook_relay.py` between `bestow serve` and a chat.
#![cfg(feature = "cli")]

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener},
    process::{Child, Command, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
};

use bestow::host::{Clock, SystemClock};
use hmac_sha256::HMAC;
use serde_json::{Value, json};

use super::{
    client::{Reply, call, raw},
    project::Project,
};
use crate::support::ROOT;

const SECRET: &str = "the secret of the chat";

/// A chat that keeps the messages of its webhook.
struct Chat {
    address: SocketAddr,
    messages: Receiver<Value>,
}

impl Chat {
    fn start() -> Chat {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (tell, messages) = mpsc::channel();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut reader = BufReader::new(&stream);
                let mut head = String::new();
                while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).unwrap() > 0 {}
                let length = head.to_lowercase().split("content-length: ").nth(1).unwrap().to_owned();
                let mut body = vec![0; length.split("\r\n").next().unwrap().parse().unwrap()];
                reader.read_exact(&mut body).unwrap();
                assert!(!head.to_lowercase().contains("authorization"), "the chat gets no token: {head}");
                if String::from_utf8_lossy(&body).contains("refused by the chat") {
                    stream
                        .write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
                        .unwrap();
                    continue;
                }
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").unwrap();
                let _ = tell.send(serde_json::from_slice(&body).unwrap());
            }
        });
        Chat { address, messages }
    }

    /// Waits for the message about the next request, and returns its short code.
    fn code(&self) -> String {
        let message = self.messages.recv().unwrap();
        let text = message["text"].as_str().unwrap();
        assert!(text.contains("] bot wants bash (dangerous) and needs nothing else: {\"command\": "), "{text}");
        text.strip_prefix('[').unwrap().split(']').next().unwrap().to_owned()
    }
}

/// The relay, as a process of its own.
struct Relay(Child, SocketAddr);

impl Relay {
    /// Starts the relay, where there is Python. In CI there has to be.
    fn start(project: &Project, token: &str, chat: &Chat) -> Option<Relay> {
        let mut command = Command::new("python3");
        command.args(["-B", &format!("{ROOT}/examples/webhook_relay.py")]).stdout(Stdio::piped());
        command.env("BESTOW_URL", format!("http://{}", project.address())).env("BESTOW_TOKEN", token);
        command.env("CHAT_WEBHOOK", format!("http://{}/hook", chat.address));
        command.env("CHAT_SECRET", SECRET).env("CHAT_USERS", "ann,bob").env_remove("RELAY_PORT");
        let Ok(mut child) = command.spawn() else {
            assert!(std::env::var_os("CI").is_none(), "python3 is needed");
            eprintln!("notice: python3 is missing; the relay was not tested");
            return None;
        };
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        thread::spawn(move || std::io::copy(&mut out, &mut std::io::stderr()));
        let address = line.trim().strip_prefix("listening on http://").unwrap().parse().unwrap();
        Some(Relay(child, address))
    }

    /// Posts a message of the chat.
    async fn post(&self, stamp: &str, signature: &str, body: &str) -> Reply {
        let headers = [("x-timestamp", stamp), ("x-signature", signature)];
        call(self.1, "POST", "/", &headers, body).await
    }

    /// Posts what a user writes, with the signature of the chat.
    async fn say(&self, user: &str, text: &str) -> Reply {
        let (stamp, body) = (seconds(0), json!({ "user": user, "text": text }).to_string());
        self.post(&stamp, &signature(&stamp, &body, SECRET), &body).await
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns the time, or an earlier one, as the chat sends it.
fn seconds(before: u64) -> String {
    (SystemClock::new().now().unwrap().as_millis() / 1_000 - before).to_string()
}

fn signature(stamp: &str, body: &str, secret: &str) -> String {
    let sum = HMAC::mac(format!("{stamp}.{body}"), secret);
    sum.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[tokio::test]
async fn people_in_a_chat_answer_by_short_code() {
    let mut project = Project::new();
    let (bot, you) = (project.agent(), project.approver());
    project.serve();
    let chat = Chat::start();
    let Some(relay) = Relay::start(&project, &you, &chat) else { return };
    let _ = project.classify(&bot, "node a.js").await;
    let code = chat.code();
    let [item] = &project.pending(&you).await[..] else { panic!("one waits") };
    assert_eq!(item["code"], code);
    let reply = relay.say("ann", &format!("approve {}", code.to_uppercase())).await;
    assert_eq!((reply.status, reply.json["text"].as_str().unwrap().ends_with("approve, by ann")), (200, true));
    assert!(project.pending(&you).await.is_empty());
    assert_eq!(project.classify(&bot, "node a.js").await["allow"], true);
    let queued = project.classify(&bot, "node b.js").await;
    let code = chat.code();
    let reply = relay.say("bob", &format!("reject {code} not on a Friday")).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    let path = format!("/api/hooks/requests/{}", queued["requestId"].as_str().unwrap());
    let state = call(project.address(), "GET", &path, &[("authorization", &format!("Bearer {bot}"))], "").await.json;
    assert_eq!(
        (&state["status"], &state["feedback"]),
        (&json!("rejected"), &json!("bob in the chat: not on a Friday"))
    );
}

#[test]
fn the_relay_has_at_most_sixty_lines() {
    let text = std::fs::read_to_string(format!("{ROOT}/examples/webhook_relay.py")).unwrap();
    assert!(text.lines().count() <= 60, "{} lines", text.lines().count());
    assert!(text.lines().all(|line| line.len() <= 120), "and no line is two");
}

#[tokio::test]
async fn a_request_that_the_chat_refuses_does_not_hold_up_others() {
    let mut project = Project::new();
    let (bot, you) = (project.agent(), project.approver());
    project.serve();
    let chat = Chat::start();
    for command in ["node 'refused by the chat'.js", "node good.js"] {
        let _ = project.classify(&bot, command).await;
    }
    let Some(_relay) = Relay::start(&project, &you, &chat) else { return };
    let code = chat.code();
    let good = project.pending(&you).await.into_iter().find(|item| item["code"] == code).unwrap();
    assert_eq!(good["toolInput"], json!({ "command": "node good.js" }));
}

#[tokio::test]
async fn a_message_that_no_allowed_user_of_the_chat_has_sent_decides_nothing() {
    let mut project = Project::new();
    let (bot, you) = (project.agent(), project.approver());
    project.serve();
    let chat = Chat::start();
    let Some(relay) = Relay::start(&project, &you, &chat) else { return };
    let _ = project.classify(&bot, "node a.js").await;
    let code = chat.code();
    let text = format!("approve {code}");
    let body = json!({ "user": "ann", "text": text }).to_string();
    let now = seconds(0);
    let right = signature(&now, &body, SECRET);
    for (stamp, sum, body) in [
        (&*now, "", &*body),
        (&now, "ä", &body),
        (&now, &signature(&now, &body, "another secret"), &body),
        (&now, &right, &body.replace("approve", "reject ")),
        (&seconds(1), &right, &body),
        (&seconds(301), &signature(&seconds(301), &body, SECRET), &body),
        ("soon", &signature("soon", &body, SECRET), &body),
        (&now, &signature(&now, "[]", SECRET), "[]"),
        (&now, &signature(&now, "not json", SECRET), "not json"),
        (&now, &signature(&now, "{\"user\":[]}", SECRET), "{\"user\":[]}"),
        (&now, &signature(&now, "{\"user\":\"ann\",\"text\":7}", SECRET), "{\"user\":\"ann\",\"text\":7}"),
    ] {
        assert_eq!(relay.post(stamp, sum, body).await.status, 403, "{stamp} {sum} {body}");
    }
    for user in ["eve", "", "ann,bob", "Ann"] {
        assert_eq!(relay.say(user, &text).await.status, 403, "{user:?}");
    }
    for length in ["-1", "x", "99999999999"] {
        let head =
            format!("POST / HTTP/1.1\r\nx-timestamp: {now}\r\nx-signature: {right}\r\ncontent-length: {length}\r\n");
        // The body is too short for a long length: the relay reads as much as its limit.
        let filler = " ".repeat(65_536 - body.len());
        let reply = raw(relay.1, format!("{head}\r\n{body}{filler}").as_bytes()).await;
        assert!(reply.is_none_or(|reply| reply.status == 403), "{length}");
    }
    assert_eq!(call(relay.1, "GET", "/", &[], "").await.status, 501, "only messages are posted");
    // A person's slip is answered with the way to do it, and decides nothing either.
    for text in ["approve", "approve zzzzzz", &format!("approve_always {code}"), &format!("approve {code}\nx"), "hello"]
    {
        let reply = relay.say("ann", text).await;
        assert!(
            reply.status == 200 && reply.json["text"].as_str().unwrap().starts_with("send `approve CODE`"),
            "{text}"
        );
    }
    assert_eq!(project.pending(&you).await.len(), 1, "it still waits");
    assert_eq!(relay.post(&now, &right, &body).await.status, 200, "the right message is accepted");
    assert!(project.pending(&you).await.is_empty());
}
