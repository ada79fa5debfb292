//! The conversation with a person's client.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use bestow::{
    Approver,
    agent::RunId,
    request::{Request, RequestId, Resolution},
    stdio::{ApproverClient, ErrorCode, FromConnector, PermissionResolved, ToConnector},
    user::{OwnerId, Prompt},
};
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::{
    message::{self, Code, Decided, NotDone, Order, Own},
    outgoing::{News, Outgoing},
    registry::Runs,
};
use crate::{
    identity::{Caller, Entrance},
    problem::Problem,
    socket::{Ended, Incoming, Socket},
};

/// The runs to which one client may be subscribed.
const SUBSCRIPTIONS: usize = 256;

/// The conversation with one client of a person.
pub(super) struct Client {
    approver: Approver,
    owner: OwnerId,
    /// The orders of the client, one after the other.
    orders: Arc<Mutex<ApproverClient>>,
    runs: Arc<Runs>,
    outgoing: Outgoing,
    subscribed: BTreeSet<RunId>,
    /// The requests that the client was shown and that have not ended, with their runs.
    shown: BTreeMap<RequestId, RunId>,
}

impl Client {
    pub(super) fn new(entrance: &Entrance, approver: Approver, owner: OwnerId) -> Result<Client, Problem> {
        let (engine, runs) = (entrance.engine(), entrance.runs());
        let outgoing = Outgoing::new(engine, owner.clone(), approver.attend_runs()?, &runs);
        let orders = Arc::new(Mutex::new(ApproverClient::new(engine, approver.clone())));
        let (subscribed, shown) = (BTreeSet::new(), BTreeMap::new());
        Ok(Client { approver, owner, orders, runs, outgoing, subscribed, shown })
    }

    pub(super) async fn talk(mut self, mut socket: Socket) {
        while let Ok(()) = self.step(&mut socket).await {}
    }

    async fn step(&mut self, socket: &mut Socket) -> Result<(), Ended> {
        tokio::select! {
            news = self.outgoing.next() => match news {
                Ok(news) => self.tell(news, socket).await,
                Err(_) => socket.going_away().await,
            },
            received = socket.next() => match received? {
                Incoming::Text(text) => self.hear(&text, socket).await,
                Incoming::Binary => {
                    let why = NotDone::new(Code::Shared(ErrorCode::ParseError), "a frame is a text frame with JSON");
                    socket.say(&message::error(&why, None, socket.now()?)).await
                }
                Incoming::Beat => socket.beat().await,
            },
        }
    }

    /// Carries out a message. Success is silent, unless the message has a reply.
    async fn hear(&mut self, text: &str, socket: &mut Socket) -> Result<(), Ended> {
        let (request_id, order) = message::read(text);
        let id = request_id.as_deref();
        let done = match order {
            Ok(Order::Shared(order)) => self.shared(order, socket).await,
            Ok(Order::Own(own)) => self.own(own, id, socket).await?,
            Err(why) => Err(why),
        };
        match done {
            Ok(Some(reply)) => socket.say(&reply).await,
            Ok(None) => Ok(()),
            Err(why) => socket.say(&message::error(&why, id, socket.now()?)).await,
        }
    }

    async fn shared(&self, order: FromConnector, socket: &mut Socket) -> Result<Option<Value>, NotDone> {
        let (orders, decided) = (Arc::clone(&self.orders), Decided::of(&order));
        let work = async move { orders.lock().await.carry_out(order).await };
        let done = socket.entrance.work(&socket.caller, work).await;
        let done = done.map_err(|why| NotDone::new(Code::Shared(ErrorCode::InternalError), why.detail))?;
        match (done, decided) {
            (Ok(said), _) => Ok(said.map(|said| message::reply(&said))),
            (Err(fault), Some(decided)) => Err(decided.failed(fault)),
            (Err(fault), None) => Err(fault.into()),
        }
    }

    async fn own(
        &mut self,
        own: Own,
        id: Option<&str>,
        socket: &mut Socket,
    ) -> Result<Result<Option<Value>, NotDone>, Ended> {
        Ok(match own {
            Own::Subscribe { run_id } => match self.subscribe(&run_id) {
                Ok(waiting) => return self.replay(waiting, socket).await.map(|()| Ok(None)),
                Err(why) => Err(why),
            },
            Own::Unsubscribe { run_id } => {
                self.subscribed.remove(&run_id);
                self.outgoing.pass_by(&run_id);
                self.shown.retain(|_, run| *run != run_id);
                Ok(None)
            }
            Own::PrepareRun { .. } if self.subscribed.len() >= SUBSCRIPTIONS => Err(too_many()),
            Own::PrepareRun { agents, cwd } => {
                let (runs, approver, owner) = (Arc::clone(&self.runs), self.approver.clone(), self.owner.clone());
                let work = async move { runs.prepare(&approver, &owner, agents, cwd.as_deref()).await };
                let prepared = worked(&socket.entrance, &socket.caller, work).await;
                match prepared.and_then(|(run, agents)| Ok((self.subscribe(&run)?, run, agents))) {
                    Ok((waiting, run, agents)) => {
                        // An agent of the run may have asked already.
                        self.outgoing.tell_next(waiting);
                        Ok(Some(message::prepared(&run, &agents, id, socket.now()?)))
                    }
                    Err(why) => Err(why),
                }
            }
            Own::StartRun { run_id, input } => {
                let (runs, owner) = (Arc::clone(&self.runs), self.owner.clone());
                let work = async move { runs.start(&owner, &run_id, input.as_deref()).await };
                worked(&socket.entrance, &socket.caller, work).await.map(|()| None)
            }
            Own::StopRun { run_id } => {
                let (runs, approver, owner) = (Arc::clone(&self.runs), self.approver.clone(), self.owner.clone());
                let work = async move { runs.stop(&approver, &owner, &run_id).await };
                worked(&socket.entrance, &socket.caller, work).await.map(|()| None)
            }
        })
    }

    /// Subscribes to a run, and returns its requests that wait.
    fn subscribe(&mut self, run: &RunId) -> Result<Vec<Arc<Request>>, NotDone> {
        let failed = |message: String| NotDone::new(Code::Subscribe, message);
        // This dialect does not tell a run of another owner from one that never was.
        self.approver.guards(run).map_err(|why| failed(why.to_string()))?;
        if self.subscribed.len() >= SUBSCRIPTIONS && !self.subscribed.contains(run) {
            return Err(too_many());
        }
        let waiting = self.outgoing.watch(run).map_err(|why| failed(why.to_string()))?;
        self.subscribed.insert(run.clone());
        Ok(waiting)
    }

    async fn replay(&mut self, waiting: Vec<Arc<Request>>, socket: &mut Socket) -> Result<(), Ended> {
        for request in waiting {
            self.show(&request, socket).await?;
        }
        Ok(())
    }

    async fn tell(&mut self, news: News, socket: &mut Socket) -> Result<(), Ended> {
        match news {
            News::Policy(said) => match run_of(&said) {
                Some(run) if self.subscribed.contains(run) => socket.say(&json!(said)).await,
                Some(_) | None => Ok(()),
            },
            News::Prompt(Prompt::Ask(request)) if self.subscribed.contains(&request.run) => {
                self.show(&request, socket).await
            }
            News::Prompt(Prompt::Settled(resolution)) => self.settle(&resolution, socket).await,
            News::Prompt(_) => Ok(()),
            News::Run(news) if self.subscribed.contains(&news.run) => socket.say(&news.message).await,
            News::Run(_) => Ok(()),
        }
    }

    /// Shows a request, if the client has not seen it and its person has not denied it for the run.
    async fn show(&mut self, request: &Arc<Request>, socket: &mut Socket) -> Result<(), Ended> {
        // A request that was denied for the run is denied again, which needs the person's authority.
        socket.refuse_revoked().await?;
        if self.shown.contains_key(&request.id) || self.orders.lock().await.denied_before(request).await {
            return Ok(());
        }
        self.shown.insert(request.id, request.run.clone());
        let asked = &socket.entrance.frames().runs.asked;
        let text =
            asked.text(request, || json!(ToConnector::RequestPermission(Box::new((&**request).into()))).to_string());
        socket.say_text(text).await
    }

    async fn settle(&mut self, resolution: &Arc<Resolution>, socket: &mut Socket) -> Result<(), Ended> {
        let Some(run) = self.shown.remove(&resolution.request) else { return Ok(()) };
        let ended = &socket.entrance.frames().runs.ended;
        let text = ended.text(resolution, || resolved(resolution, &run).to_string());
        socket.say_text(text).await
    }
}

/// Does work about a run: it looks at files, and delays no other client.
async fn worked<T: Send + 'static>(
    entrance: &Entrance,
    caller: &Caller,
    work: impl Future<Output = Result<T, NotDone>> + Send + 'static,
) -> Result<T, NotDone> {
    let done = entrance.work(caller, work).await;
    done.map_err(|why| NotDone::new(Code::Shared(ErrorCode::InternalError), why.detail))?
}

fn too_many() -> NotDone {
    let message = format!("a client is subscribed to at most {SUBSCRIPTIONS} runs: unsubscribe from one");
    NotDone::new(Code::Subscribe, message)
}

/// Renders the end of a request.
fn resolved(resolution: &Resolution, run: &RunId) -> Value {
    let mut told = json!(PermissionResolved::from(resolution));
    if let Value::Object(fields) = &mut told {
        fields.insert("type".to_owned(), "request_resolved".into());
        fields.insert("runId".to_owned(), json!(run));
    }
    told
}

/// Returns the run of a policy change.
fn run_of(said: &ToConnector) -> Option<&RunId> {
    if let ToConnector::PolicyForAll(updated) = said {
        return Some(&updated.run_id);
    }
    if let ToConnector::PolicyUpdated(updated) = said { Some(&updated.run_id) } else { None }
}
