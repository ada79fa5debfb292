//! Writes with an `Idempotency-Key`, repeated after the server was killed.

use std::collections::BTreeMap;

use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::super::{
    client::{Reply, call, whole_call},
    project::Project,
};

const POLICY: &str = "\
[engine]
confirm_widening = true

[defaults]
owner = \"you\"
working_dir = \".\"

[agents.bot]
kind = \"subagent\"
permissions = []

[agents.other]
kind = \"subagent\"
";

/// A server that is killed, and the clients of it.
struct Killed {
    project: Project,
    you: String,
    bot: String,
    operator: String,
    keys: usize,
}

/// A write, by the token of its sender.
type Write<'w> = (&'w str, &'w str, &'w str, Value);

impl Killed {
    fn new() -> Killed {
        let mut project = Project::new();
        project.policy(POLICY);
        let (you, bot) = (project.approver(), project.agent());
        let operator = project.token(&["--role", "operator"]);
        project.serve();
        Killed { project, you, bot, operator, keys: 0 }
    }

    async fn send(&self, key: &str, (token, method, path, body): &Write<'_>) -> Reply {
        let bearer = format!("Bearer {token}");
        let headers = [("authorization", &*bearer), ("content-type", "application/json"), ("idempotency-key", key)];
        call(self.project.address(), method, path, &headers, &body.to_string()).await
    }

    /// Sends a write with a key of its own.
    async fn once(&mut self, write: Write<'_>) -> Reply {
        self.keys += 1;
        let reply = self.send(&format!("single {}", self.keys), &write).await;
        assert!(reply.status < 300, "{} {}: {reply:?}", write.1, write.2);
        reply
    }

    /// Returns the number of records.
    async fn records(&self) -> u64 {
        let head = self.project.get(&self.operator, "/v1/audit/head").await.json;
        assert_eq!(head["intact"], true, "{head}");
        head["head"].as_str().unwrap().split(':').next().unwrap().parse().unwrap()
    }

    /// Sends a write, kills the server, and sends the write to the next one. Returns the answer.
    async fn repeat(&mut self, write: Write<'_>) -> Value {
        self.keys += 1;
        let key = format!("key {}", self.keys);
        let context = format!("{} {}", write.1, write.2);
        let first = self.send(&key, &write).await;
        assert!(first.status < 300, "{context}: {first:?}");
        self.project.end(Signal::KILL);
        self.project.serve();
        let before = self.records().await;
        let again = self.send(&key, &write).await;
        assert_eq!((again.status, &again.json), (first.status, &first.json), "{context}");
        assert!(again.head.contains("idempotency-replayed: true"), "{context}: {again:?}");
        assert_eq!(self.records().await, before, "{context}: nothing happened again");
        let other = (write.0, write.1, write.2, json!({ "other": true }));
        assert_eq!(self.send(&key, &other).await.status, 422, "{context}: the key belongs to one request");
        first.json
    }
}

fn grant(permission: &str) -> Value {
    json!({ "agentId": "bot", "permissions": [permission], "reason": "r", "scope": "once" })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_write_with_a_key_happens_again_after_a_kill() {
    let mut killed = Killed::new();
    let (you, bot, operator) = (killed.you.clone(), killed.bot.clone(), killed.operator.clone());
    let (you, bot, operator) = (&*you, &*bot, &*operator);

    let given = killed.repeat((you, "POST", "/v1/grants", grant("@write:/srv/a"))).await;
    let path = format!("/v1/grants/{}", given["grantIds"][0].as_str().unwrap());
    killed.repeat((you, "DELETE", &path, json!({}))).await;
    let held = killed.project.get(you, "/v1/grants?agentId=bot").await.json;
    assert_eq!(held["grants"], json!([]), "revoking the id that the client got leaves nothing: {held}");

    let always = json!({ "agentId": "bot", "permissions": ["@write:/srv/b"], "reason": "r" });
    let given = killed.once((you, "POST", "/v1/grants", always)).await.json;
    let path = format!("/v1/grants/{}", given["grantIds"][0].as_str().unwrap());
    killed.once((you, "DELETE", &path, json!({}))).await;
    killed.repeat((you, "POST", &format!("{path}/undo"), json!({}))).await;

    let asked = json!({ "permissions": ["@write:/srv/c"], "reason": "r" });
    let asked = killed.repeat((bot, "POST", "/v1/requests", asked)).await;
    let path = format!("/v1/requests/{}", asked["id"].as_str().unwrap());
    killed.repeat((you, "POST", &format!("{path}/answer"), json!({ "decision": "allow" }))).await;
    let asked = json!({ "permissions": ["@write:/srv/d"], "reason": "r" });
    let asked = killed.once((bot, "POST", "/v1/requests", asked)).await.json;
    killed.repeat((bot, "DELETE", &format!("/v1/requests/{}", asked["id"].as_str().unwrap()), json!({}))).await;

    killed.repeat((you, "PUT", "/v1/agents/bot/mode", json!({ "mode": "never" }))).await;
    let action = json!({ "operation": "command.execute", "resource": "rm -rf /srv/e" });
    let enable = json!({ "action": action, "reason": "r" });
    killed.repeat((you, "POST", "/v1/agents/bot/enable", enable.clone())).await;
    // A restart ends the approval of a destructive action.
    let enabled = killed.once((you, "POST", "/v1/agents/bot/enable", enable.clone())).await.json;
    let path = format!("/v1/decisions/{}", enabled["savedDecisionId"].as_str().unwrap());
    killed.repeat((you, "DELETE", &path, json!({}))).await;
    let enabled = killed.once((you, "POST", "/v1/agents/bot/enable", enable)).await.json;
    let path = format!("/v1/decisions/{}", enabled["savedDecisionId"].as_str().unwrap());
    killed.once((you, "DELETE", &path, json!({}))).await;
    killed.repeat((you, "POST", &format!("{path}/undo"), json!({}))).await;

    let child = json!({ "agentId": "bot:child", "reason": "r" });
    killed.repeat((bot, "POST", "/v1/agents", child)).await;
    let added = json!({ "agentId": "added", "ownerId": "you", "workingDir": "/srv" });
    killed.repeat((operator, "POST", "/v1/agents", added)).await;
    killed.repeat((operator, "DELETE", "/v1/agents/added", json!({}))).await;

    let tools = json!({ "tools": [{ "name": "save_page", "operation": "fs.write", "path": "page.file" }] });
    killed.repeat((you, "PUT", "/v1/tools", tools)).await;
    killed.repeat((you, "POST", "/v1/runs", json!({ "agents": ["bot"] }))).await;
    killed.repeat((you, "POST", "/v1/runs", json!({ "agents": ["bot", "other"] }))).await;
    let run = killed.once((you, "POST", "/v1/runs", json!({ "agents": ["other"] }))).await.json;
    let path = format!("/v1/runs/{}/policies", run["runId"].as_str().unwrap());
    killed.repeat((you, "PATCH", &path, json!({ "tool": "write", "mode": "write", "deny": ["/srv/f/**"] }))).await;

    killed.project.policy(&POLICY.replace("[]", "[\"@write:/srv/g\"]"));
    let number = loop {
        let change = killed.project.get(you, "/v1/config/change").await.json;
        if let Some(number) = change["change"]["number"].as_u64() {
            break number;
        }
    };
    let path = format!("/v1/config/change/{number}/agree");
    let (key, write) = ("agree", (you, "POST", &*path, json!({})));
    let first = killed.send(key, &write).await;
    assert_eq!(first.status, 200, "{first:?}");
    killed.project.end(Signal::KILL);
    killed.project.serve();
    let before = killed.records().await;
    let again = killed.send(key, &write).await;
    assert_eq!((again.status, &again.json["number"]), (200, &first.json["number"]));
    assert_eq!(again.json["wouldGain"], first.json["wouldGain"]);
    assert_eq!(killed.records().await, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_run_is_joined_or_ended_again_after_a_kill() {
    let mut killed = Killed::new();
    let you = &*killed.you.clone();
    let begun = killed.once((you, "POST", "/v1/runs", json!({ "agents": ["other"] }))).await.json;
    let path = format!("/v1/runs/{}", begun["runId"].as_str().unwrap());
    let joined = killed.repeat((you, "POST", &format!("{path}/join"), json!({ "agentId": "bot" }))).await;
    assert_eq!((&joined["runId"], &joined["agents"]), (&begun["runId"], &json!(["bot", "other"])));
    let begun = killed.once((you, "POST", "/v1/runs", json!({ "agents": ["other"] }))).await.json;
    killed.repeat((you, "DELETE", &format!("/v1/runs/{}", begun["runId"].as_str().unwrap()), json!({}))).await;
}

/// A process ends with its server, and the client that repeats its write must not get a second one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_process_starts_or_stops_again_after_a_kill() {
    let mut killed = Killed::new();
    let (you, bot) = (&*killed.you.clone(), &*killed.bot.clone());
    let cat = json!({ "command": ["cat"] });
    killed.repeat((bot, "POST", "/v1/processes", cat.clone())).await;
    let of_bot = killed.project.get(bot, "/v1/processes").await.json;
    assert_eq!(of_bot["processes"], json!([]), "nothing runs: {of_bot}");
    let id = async |killed: &mut Killed| {
        let started = killed.once((bot, "POST", "/v1/processes", cat.clone())).await.json;
        format!("/v1/processes/{}", started["processId"].as_str().unwrap())
    };
    let process = id(&mut killed).await;
    killed.repeat((bot, "POST", &format!("{process}/restart"), json!({}))).await;
    for sender in [bot, you] {
        let process = id(&mut killed).await;
        killed.repeat((sender, "POST", &format!("{process}/stop"), json!({ "graceMs": 1 }))).await;
    }
}

/// A start that waits for a person has no effect that its key could keep.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_approved_process_starts_once_with_the_key_of_its_question() {
    let mut killed = Killed::new();
    let (you, bot) = (&*killed.you.clone(), &*killed.bot.clone());
    let write: Write<'_> = (bot, "POST", "/v1/processes", json!({ "command": ["node", "server.js"] }));
    let asked = killed.send("process", &write).await;
    assert_eq!(asked.status, 202, "{asked:?}");
    killed.project.end(Signal::KILL);
    killed.project.serve();
    let again = killed.send("process", &write).await;
    assert_eq!((again.status, &again.json["requestId"]), (202, &asked.json["requestId"]), "one question: {again:?}");
    let path = format!("/v1/requests/{}/answer", asked.json["requestId"].as_str().unwrap());
    killed.once((you, "POST", &path, json!({ "decision": "allow" }))).await;
    let started = killed.send("process", &write).await;
    assert_eq!(started.status, 201, "{started:?}");
    killed.project.end(Signal::KILL);
    killed.project.serve();
    let before = killed.records().await;
    let again = killed.send("process", &write).await;
    assert_eq!((again.status, &again.json), (201, &started.json));
    assert_eq!(killed.records().await, before, "it started once");
}

/// The grants of one life: their keys, and the ids of those that were answered.
async fn give_until_killed(killed: &mut Killed, life: usize) -> BTreeMap<String, Option<String>> {
    let mut writers = JoinSet::new();
    let (address, token) = (killed.project.address(), killed.you.clone());
    for number in 0..12 {
        let token = token.clone();
        writers.spawn(async move {
            let permission = format!("@write:/srv/{life}/{number}");
            let bearer = format!("Bearer {token}");
            let headers =
                [("authorization", &*bearer), ("content-type", "application/json"), ("idempotency-key", &*permission)];
            let reply = whole_call(address, "POST", "/v1/grants", &headers, &grant(&permission).to_string()).await;
            let id = reply.filter(|reply| reply.status == 201);
            (permission, id.map(|reply| reply.json["grantIds"][0].as_str().unwrap().to_owned()))
        });
    }
    let mut answers = BTreeMap::new();
    // The kill comes after another number of answers in each life: some writes are stored, some answered, some neither.
    for _ in 0..life % 12 {
        answers.extend(writers.join_next().await.map(Result::unwrap));
    }
    killed.project.end(Signal::KILL);
    while let Some(ended) = writers.join_next().await {
        let (permission, id) = ended.unwrap();
        answers.insert(permission, id);
    }
    killed.project.serve();
    answers
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kill_at_any_moment_leaves_one_grant_for_each_key() {
    let mut killed = Killed::new();
    for life in 0..12 {
        for (permission, told) in give_until_killed(&mut killed, life).await {
            let token = killed.you.clone();
            let write: Write<'_> = (&token, "POST", "/v1/grants", grant(&permission));
            let again = killed.send(&permission, &write).await;
            assert_eq!(again.status, 201, "{again:?}");
            let id = again.json["grantIds"][0].as_str().unwrap().to_owned();
            assert!(told.is_none_or(|told| told == id), "life {life}: {permission}");
            let path = format!("/v1/grants/{id}");
            killed.once((&token, "DELETE", &path, json!({}))).await;
        }
        let held = killed.project.get(&killed.you, "/v1/grants?agentId=bot").await.json;
        assert_eq!(held["grants"], json!([]), "life {life}: each was given once");
    }
}
