//! The user of the client, who may answer the questions of a running server (`elicitation/create`).
//!
//! The client is the program of the model. So this way is open only with the token of an approver, which a person
//! names, and only for a foreground agent.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bestow_hosts::acp::foreground::{Card, Choice, Inbox as _, News};
use bestow_mcp::{Speaker, elicited_answer};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{sync::mpsc, task};

use crate::{
    acp::ServerInbox,
    exit::Exit,
    remote::{Server, Source, get},
};

/// The most questions that the client shows at a time.
const MOST: usize = 64;

/// The first version of the protocol in which a server asks the user, and the first one in which it cannot.
const VERSIONS: (&str, &str) = ("2025-06-18", "2026-07-28");

/// The answer that denies.
const DENY: &str = "deny";

/// The answers that approve. Lasting ones are given elsewhere.
const APPROVALS: [Choice; 2] = [Choice::Once, Choice::Session];

/// A question that the client shows.
#[derive(Debug)]
struct OpenQuestion {
    request: String,
    offered: Vec<Choice>,
}

/// An answer of the user: the request, and the choice.
type Decided = (String, Choice);

/// The questions that the client shows to its user.
#[derive(Debug)]
pub(super) struct Asking {
    client: Speaker,
    decided: mpsc::Sender<Decided>,
    /// The questions, by the ids of the requests to the client.
    shown: Mutex<HashMap<String, OpenQuestion>>,
    /// True if the client has said that it can ask its user.
    can_ask: Mutex<bool>,
}

/// The inbox of the person who answers, after the checks of both tokens.
pub(super) struct Prepared {
    inbox: ServerInbox,
}

#[derive(Deserialize)]
struct Me {
    agent: AgentOfToken,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AgentOfToken {
    id: String,
    owner_id: String,
    kind: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Session {
    owner_id: Option<String>,
}

impl Prepared {
    /// Checks both tokens: that of the agent is for a foreground agent, and the other one for an approver of its owner.
    pub(super) async fn of(agent: Source, approver: Source) -> Result<Prepared, Exit> {
        let servers = task::spawn_blocking(move || Ok((Server::of(agent)?, Server::of(approver)?)));
        let (agent, approver) = servers.await.map_err(Exit::failed)?.map_err(Exit::Failed)?;
        let failed = |why: String| Exit::failed(format_args!("`--elicit`: {agent}: {why}"));
        let me: Me = get(&agent, "/v1/agents/me").await.and_then(|reply| reply.understood()).map_err(failed)?;
        if me.agent.kind != "foreground" {
            return Err(Exit::usage(format_args!(
                "`--elicit`: the agent `{}` is a background agent, which has no user: its requests reach a person \
                 through a foreground agent, the dashboard or `bestow watch`",
                me.agent.id
            )));
        }
        let inbox = ServerInbox::open(approver.clone(), None).await;
        let inbox = inbox.map_err(|why| Exit::failed(format_args!("`--approver-token-file`: {why}")))?;
        let session: Session =
            get(&approver, "/v1/session").await.and_then(|reply| reply.understood()).map_err(failed)?;
        if session.owner_id.as_deref() != Some(&me.agent.owner_id) {
            return Err(Exit::failed(format_args!(
                "`--approver-token-file`: the token is not of the owner `{}` of the agent `{}`",
                me.agent.owner_id, me.agent.id
            )));
        }
        Ok(Prepared { inbox })
    }
}

impl Asking {
    pub(super) fn of(client: Speaker) -> (Arc<Asking>, mpsc::Receiver<Decided>) {
        let (decided, decisions) = mpsc::channel(MOST);
        (Arc::new(Asking { client, decided, shown: Mutex::default(), can_ask: Mutex::default() }), decisions)
    }

    /// Notes the handshake of the client: what it can do, and the version that was agreed on.
    pub(super) fn greeted(&self, params: Option<&Value>, version: Option<&str>) {
        let has_user = params.and_then(|params| params.pointer("/capabilities/elicitation")).is_some();
        let can_ask = has_user && version.is_some_and(|version| VERSIONS.0 <= version && version < VERSIONS.1);
        *self.can_ask.lock().unwrap_or_else(PoisonError::into_inner) = can_ask;
    }

    /// Returns true if the client can ask its user.
    pub(super) fn can_ask(&self) -> bool {
        *self.can_ask.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows each question, and answers as the user says. A question that is dismissed stays open for other places.
    pub(super) async fn run(self: Arc<Asking>, prepared: Prepared, mut decisions: mpsc::Receiver<Decided>) {
        let Prepared { mut inbox } = prepared;
        let mut number: u64 = 0;
        loop {
            tokio::select! {
                news = inbox.next() => match news {
                    Some(News::Asked(card)) => {
                        number += 1;
                        self.show(&format!("bestow-{number}"), &card).await;
                    }
                    Some(News::Ended { request, .. }) => self.take_back(&request).await,
                    Some(News::Said(_)) => {}
                    None => return,
                },
                Some((request, choice)) = decisions.recv() => {
                    // An answer that the server refuses leaves the question to others.
                    drop(inbox.answer(&request, choice).await);
                }
            }
        }
    }

    async fn show(&self, id: &str, card: &Card) {
        let offered: Vec<_> = APPROVALS.into_iter().filter(|choice| card.choices.contains(choice)).collect();
        let answers: Vec<_> = std::iter::once(DENY).chain(offered.iter().map(|choice| choice.id())).collect();
        {
            let mut shown = self.shown();
            let is_there = shown.values().any(|question| question.request == card.request);
            if is_there || MOST <= shown.len() {
                return;
            }
            shown.insert(id.to_owned(), OpenQuestion { request: card.request.clone(), offered });
        }
        let answer = json!({ "type": "string", "title": "Answer", "enum": answers });
        let form = json!({ "type": "object", "properties": { "answer": answer }, "required": ["answer"] });
        let params = json!({ "message": card.text, "requestedSchema": form });
        let asked = json!({ "jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params });
        // A client that is gone ends the relay elsewhere.
        let _ = self.client.say(&asked).await;
    }

    /// Takes a question back that was answered elsewhere.
    async fn take_back(&self, request: &str) {
        let id = {
            let mut shown = self.shown();
            let id = shown.iter().find(|(_, question)| question.request == request).map(|(id, _)| id.clone());
            id.inspect(|id| drop(shown.remove(id)))
        };
        let Some(id) = id else { return };
        let params = json!({ "requestId": id, "reason": "the question has ended" });
        let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
        let _ = self.client.say(&cancel).await;
    }

    /// Takes the answer of the client to one of the questions.
    pub(super) async fn answered(&self, message: &Value) {
        let Some(question) = message.get("id").and_then(Value::as_str).and_then(|id| self.shown().remove(id)) else {
            return;
        };
        let choice = message.get("result").and_then(|result| choice(result, &question.offered));
        if let Some(choice) = choice {
            // The receiver is gone only when the relay ends.
            let _ = self.decided.send((question.request, choice)).await;
        }
    }

    fn shown(&self) -> MutexGuard<'_, HashMap<String, OpenQuestion>> {
        // Each change is one insertion or removal, so a panic elsewhere leaves the map whole.
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the choice in an answer. Without a clear one, the question stays open.
fn choice(result: &Value, offered: &[Choice]) -> Option<Choice> {
    match result.get("action")?.as_str()? {
        "decline" => Some(Choice::Deny),
        "accept" => {
            let chosen = elicited_answer(result.get("content")?)?;
            if chosen == DENY {
                return Some(Choice::Deny);
            }
            offered.iter().copied().find(|choice| choice.id() == chosen)
        }
        _ => None,
    }
}
