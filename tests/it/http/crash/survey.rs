//! The comparison of a server with the ledger, over the API that every program can use.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    super::project::Project,
    AGENTS,
    ledger::{About, Ledger},
    writers::Tokens,
};

/// Returns a list of the server.
async fn list(project: &Project, tokens: &Tokens, path: &str, name: &str) -> Vec<Value> {
    let reply = project.get(&tokens.operator, path).await;
    assert_eq!(reply.status, 200, "{path}: {reply:?}");
    reply.json[name].as_array().unwrap_or_else(|| panic!("{path}: {reply:?}")).clone()
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

fn agent(name: &str) -> &'static str {
    AGENTS.iter().find(|agent| **agent == name).unwrap_or_else(|| panic!("an unknown agent {name}"))
}

/// Checks that the server has what was acknowledged, and that what it has was asked for.
pub(super) async fn agrees(project: &Project, tokens: &Tokens, ledger: &Ledger, life: usize) {
    ledger.sessions_end();
    let mut held: BTreeMap<(&'static str, String), usize> = BTreeMap::new();
    for grant in list(project, tokens, "/v1/grants", "grants").await {
        *held.entry((agent(&text(&grant, "agentId")), text(&grant, "permission"))).or_default() += 1;
    }
    for ((agent, permission), count) in &held {
        assert!(ledger.knows(&About::Held(agent, permission.clone())), "life {life}: {permission} was never given");
        assert_eq!(*count, 1, "life {life}: {permission} was given twice");
    }
    let waiting = list(project, tokens, "/v1/requests", "requests").await;
    let waiting: BTreeSet<_> = waiting.iter().map(|request| text(request, "id")).collect();
    let mut saved = BTreeMap::new();
    for decision in list(project, tokens, "/v1/decisions", "savedDecisions").await {
        let [verdict, scope, command] = ["verdict", "scope", "resource"].map(|name| text(&decision, name));
        *saved.entry((agent(&text(&decision, "agentId")), verdict, scope, command)).or_insert(0) += 1;
    }
    for (of, count) in &saved {
        assert_eq!(*count, 1, "life {life}: {of:?} was saved twice");
    }
    let agents = list(project, tokens, "/v1/agents", "agents").await;
    let find = |name: &str| agents.iter().find(|agent| agent["id"] == name).unwrap();
    let run = text(find("guarded"), "runId");
    let policies = project.get(&tokens.operator, &format!("/v1/runs/{run}/policies?ownerId=you")).await;
    let denied = policies.json.to_string();
    let valid = valid_tokens(project, ledger).await;
    ledger.settle(life, |about| {
        let is = match about {
            About::Mode(agent) => return text(find(agent), "mode"),
            About::Held(agent, permission) => held.contains_key(&(*agent, permission.clone())),
            About::Waits(id) => waiting.contains(id),
            About::Saved(agent, verdict, scope, command) => {
                saved.contains_key(&(*agent, (*verdict).to_owned(), (*scope).to_owned(), command.clone()))
            }
            About::Denies(glob) => denied.contains(glob),
            About::Token(token) => valid.contains(token),
        };
        if is { "yes" } else { "no" }.to_owned()
    });
    let head = project.get(&tokens.operator, "/v1/audit/head").await.json;
    assert_eq!(head["intact"], true, "life {life}: {head}");
    nothing_enabled_passes(project, tokens, life).await;
}

/// Returns the tokens that the server accepts, of those that the ledger knows.
async fn valid_tokens(project: &Project, ledger: &Ledger) -> BTreeSet<String> {
    let mut valid = BTreeSet::new();
    for token in ledger.tokens() {
        if project.get(&token, "/v1/session").await.status == 200 {
            valid.insert(token);
        }
    }
    valid
}

/// Checks that a destructive call which a person enabled in an earlier life is blocked.
async fn nothing_enabled_passes(project: &Project, tokens: &Tokens, life: usize) {
    let command = format!("sudo rm x{life}");
    let answer = project.classify(tokens.of("enabled"), &command).await;
    assert_eq!((&answer["allow"], &answer["tier"]), (&Value::Bool(false), &Value::from("destructive")), "life {life}");
}
