//! The relay between a client on standard input and output, and `/mcp` of a running server.
//!
//! The relay remembers the version of the handshake and nothing else. So a server that was started again answers the
//! next request, without a new start of the client.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bestow::text::Escaped;
use bestow_mcp::{Lines, Speaker};
use serde_json::Value;
use tokio::{
    sync::Semaphore,
    task::{self, AbortHandle, JoinSet},
    time,
};

use super::{
    asking::{Asking, Prepared},
    message::{Call, Message, agreed},
    reply,
};
use crate::{
    exit::Exit,
    remote::{Server, Source},
    signals,
};

/// The requests of one client at the same time.
const MOST: usize = 64;

/// The longest time for one request. A tool waits for at most 50 seconds.
const LONGEST: Duration = Duration::from_secs(70);

/// The time that open requests have to end when standard input has ended.
const GRACE: Duration = Duration::from_secs(2);

/// The relay of one client.
#[derive(Debug)]
struct Relay {
    source: Source,
    client: Speaker,
    /// The version that the handshake agreed on.
    agreed: Mutex<Option<String>>,
    /// The questions to the user of the client, if they are shown.
    asking: Option<Arc<Asking>>,
    places: Arc<Semaphore>,
    /// The open requests, by their ids as JSON.
    open: Mutex<HashMap<String, AbortHandle>>,
}

/// Relays until standard input ends, or a signal ends this process.
///
/// With the source of an approver, the client shows the questions of the server to its user.
pub(super) async fn serve(source: Source, approver: Option<Source>) -> Result<Exit, Exit> {
    let stop = signals::end().map_err(Exit::failed)?;
    let checked = source.clone();
    // Settings that are wrong end the command, and a server that is not there yet does not.
    task::spawn_blocking(move || checked.token_is_there()).await.map_err(Exit::failed)?.map_err(Exit::Failed)?;
    let user = match approver {
        Some(approver) => Some(Prepared::of(source.clone(), approver).await?),
        None => None,
    };
    tokio::select! {
        () = relayed(source, user) => {}
        () = stop => {}
    }
    Ok(Exit::Done)
}

async fn relayed(source: Source, user: Option<Prepared>) {
    let mut lines = Lines::new(tokio::io::stdin(), tokio::io::stdout());
    let Some(client) = lines.speaker() else { return };
    let (asking, decisions) = Asking::of(client.clone());
    let mut user = user.map(|user| (user, decisions));
    let relay = Arc::new(Relay {
        source,
        client,
        agreed: Mutex::default(),
        asking: user.is_some().then(|| Arc::clone(&asking)),
        places: Arc::new(Semaphore::new(MOST)),
        open: Mutex::default(),
    });
    let (mut calls, mut shown) = (JoinSet::new(), JoinSet::new());
    loop {
        tokio::select! {
            message = lines.next() => match message.map(Message::of) {
                Some(Message::Initialized) if asking.can_ask() => {
                    if let Some((user, decisions)) = user.take() {
                        shown.spawn(Arc::clone(&asking).run(user, decisions));
                    }
                }
                Some(message) => relay.hear(message, &mut calls).await,
                None => break,
            },
            Some(_) = calls.join_next() => {}
        }
    }
    let ended = async { while calls.join_next().await.is_some() {} };
    let _ = time::timeout(GRACE, ended).await;
    calls.shutdown().await;
    shown.shutdown().await;
    drop((relay, asking));
    // A client that is gone reads nothing more.
    let _ = lines.end().await;
}

impl Relay {
    async fn hear(self: &Arc<Relay>, message: Message, calls: &mut JoinSet<()>) {
        match message {
            Message::Request(call) => {
                let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
                    let why =
                        format!("this client has {MOST} open requests, which is the limit: wait for their answers");
                    let _ = self.client.say(&call.failed(&why)).await;
                    return;
                };
                let (relay, id) = (Arc::clone(self), call.id.to_string());
                let calling = calls.spawn(async move {
                    let _place = place;
                    relay.carry_out(&call).await;
                });
                self.open().insert(id, calling);
            }
            Message::Cancelled(id) => {
                if let Some(calling) = self.open().remove(&id.to_string()) {
                    // The server notices that the connection is closed.
                    calling.abort();
                }
            }
            Message::Answer(answer) => {
                if let Some(asking) = &self.asking {
                    asking.answered(&answer).await;
                }
            }
            Message::Initialized | Message::Other => {}
        }
    }

    async fn carry_out(&self, call: &Call) {
        let answer = self.answer(call).await;
        self.open().remove(&call.id.to_string());
        // A client that is gone needs no answer.
        let _ = self.client.say(&answer).await;
    }

    async fn answer(&self, call: &Call) -> Value {
        // The files may have changed: a server that was started again has another address.
        let source = self.source.clone();
        let server = match task::spawn_blocking(move || Server::of(source)).await {
            Ok(Ok(server)) => server,
            Ok(Err(why)) => return call.failed(&unanswered(&why)),
            Err(why) => return call.failed(&unanswered(&why.to_string())),
        };
        let version = self.agreed.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let version = version.filter(|_| !call.is_handshake());
        match self.asked(&server, call, version.as_deref()).await {
            Ok(answer) => {
                if call.is_handshake() {
                    if let Some(asking) = &self.asking {
                        asking.greeted(call.whole.get("params"), agreed(&answer).as_deref());
                    }
                    *self.agreed.lock().unwrap_or_else(PoisonError::into_inner) = agreed(&answer);
                }
                answer
            }
            Err(why) if call.listens() => call.failed(&format!("{server}: {why}; subscribe again")),
            Err(why) => call.failed(&unanswered(&format!("{server}: {why}"))),
        }
    }

    /// Asks the server. Only a subscription has no time limit.
    async fn asked(&self, server: &Server, call: &Call, version: Option<&str>) -> Result<Value, String> {
        let asking = reply::ask(server, call, version, &self.client);
        if call.listens() {
            return asking.await;
        }
        time::timeout(LONGEST, asking).await.map_err(|_| "it does not reply in time".to_owned())?
    }

    fn open(&self) -> std::sync::MutexGuard<'_, HashMap<String, AbortHandle>> {
        // Each change is one insertion or removal, so a panic elsewhere leaves the map whole.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the text for a model whose call has no answer.
fn unanswered(why: &str) -> String {
    format!(
        "there is no answer, so nothing is allowed: {}. What you requested before may still wait. Tell your user if \
         this stays so",
        Escaped(why)
    )
}
