//! A server in this process, on a real socket.

use std::{net::SocketAddr, sync::Arc};

use bestow::{
    Agent, Engine, InitialGrants, Kind,
    grant::Reads,
    host::{DiskPaths, ManualClock},
};
use bestow_http::{
    Limits, Options, Server,
    credentials::{Issued, Role},
    router,
};
use tokio::{sync::OnceCell, task::JoinHandle};

use super::{
    client::{Reply, call},
    description::Description,
    issuer::Issuer,
};
use crate::support::{START, World, profile, settings, tags};

/// An engine with the agents `bot` and `other` of `you`, and `theirs` of `them`, and its server.
pub(crate) struct Daemon {
    pub(crate) world: World,
    pub(crate) credentials: Issuer,
    pub(crate) address: SocketAddr,
    server: JoinHandle<()>,
    description: OnceCell<Description>,
}

impl Daemon {
    pub(crate) async fn start() -> Daemon {
        Daemon::with(Limits::default(), |_| {}).await
    }

    pub(crate) async fn with(limits: Limits, change: impl FnOnce(&mut Options)) -> Daemon {
        Daemon::of(World::with(|settings| settings.reads = Reads::Anywhere), limits, change).await
    }

    /// Starts a server of this world.
    pub(crate) async fn of(world: World, limits: Limits, change: impl FnOnce(&mut Options)) -> Daemon {
        for (name, owner) in [("bot", "you"), ("other", "you"), ("theirs", "them")] {
            let _: Agent = world.agent(name, owner, Kind::Subagent, &["@write:/ws", "@network"]).await;
        }
        Daemon::serving(world, limits, change).await
    }

    /// Starts a server over real paths. The agent `disk` of `you` works in this directory and may write there.
    pub(crate) async fn on_disk(place: &std::path::Path) -> Daemon {
        let clock = Arc::new(ManualClock::at(START));
        let settings = settings(|settings| settings.reads = Reads::Anywhere);
        let engine = Engine::on(settings, clock.clone(), Arc::new(DiskPaths)).unwrap();
        let mut profile = profile("disk", "you", Kind::Subagent);
        profile.working_dir = place.to_str().unwrap().parse().unwrap();
        let holds = tags(&[&format!("@write:{}", place.display())]);
        engine.register(profile, InitialGrants::of(holds)).await.unwrap();
        Daemon::serving(World { engine, clock }, Limits::default(), |_| {}).await
    }

    async fn serving(world: World, limits: Limits, change: impl FnOnce(&mut Options)) -> Daemon {
        let server = Server::on_loopback("127.0.0.1:0".parse().unwrap(), limits).await.unwrap();
        let address = server.address();
        let mut options = Options::default();
        change(&mut options);
        let router = router(&world.engine, options);
        let server = tokio::spawn(server.serve(router, std::future::pending()));
        let credentials = Issuer::of(&world.engine);
        Daemon { world, credentials, address, server, description: OnceCell::new() }
    }

    pub(crate) fn issue(&self, role: Role) -> Issued {
        self.credentials.create(role, None).unwrap()
    }

    /// Returns a token of an agent.
    pub(crate) fn agent(&self, name: &str) -> String {
        self.issue(Role::Agent { agent: name.parse().unwrap() }).token
    }

    /// Returns a token of a person who decides for an owner.
    pub(crate) fn approver(&self, owner: &str) -> String {
        self.issue(Role::Approver { owner: owner.parse().unwrap(), by: "ann".parse().unwrap() }).token
    }

    /// Returns a token of the host program.
    pub(crate) fn operator(&self) -> String {
        self.issue(Role::Operator).token
    }

    /// Asks if the agent with this token may run a command.
    pub(crate) async fn classify(&self, token: &str, command: &str) -> Reply {
        let body = serde_json::json!({ "toolName": "bash", "toolInput": { "command": command } });
        self.post(token, "/api/hooks/classify", &body.to_string()).await
    }

    pub(crate) async fn post(&self, token: &str, path: &str, body: &str) -> Reply {
        let headers = [("authorization", &*format!("Bearer {token}")), ("content-type", "application/json")];
        self.described(call(self.address, "POST", path, &headers, body).await, "post", path).await
    }

    pub(crate) async fn get(&self, token: &str, path: &str) -> Reply {
        let reply = call(self.address, "GET", path, &[("authorization", &format!("Bearer {token}"))], "").await;
        self.described(reply, "get", path).await
    }

    pub(crate) async fn delete(&self, token: &str, path: &str) -> Reply {
        let reply = call(self.address, "DELETE", path, &[("authorization", &format!("Bearer {token}"))], "").await;
        self.described(reply, "delete", path).await
    }

    /// Sends a body with any method.
    pub(crate) async fn send(&self, token: &str, method: &str, path: &str, body: &serde_json::Value) -> Reply {
        let headers = [("authorization", &*format!("Bearer {token}")), ("content-type", "application/json")];
        let reply = call(self.address, method, path, &headers, &body.to_string()).await;
        self.described(reply, &method.to_lowercase(), path).await
    }

    /// Compares a reply of the native API with the description that the server gives of it.
    async fn described(&self, reply: Reply, method: &str, path: &str) -> Reply {
        if path.starts_with("/v1/") || path.starts_with("/api/") {
            let description = self.description.get_or_init(|| Description::of(self.address)).await;
            description.check(method, path, &reply);
        }
        reply
    }

    /// Returns the state of the engine as an operator sees it over `/v1`, and the events that led to it. The arrivals
    /// of people, and the surface on which a request waits then, are no part of it.
    pub(crate) async fn state(&self) -> serde_json::Value {
        let operator = self.operator();
        let run = self.world.engine.run_of(&"bot".parse().unwrap()).unwrap();
        let policies = format!("/v1/runs/{run}/policies?ownerId=you");
        let mut state = serde_json::Map::new();
        for path in ["/v1/agents", "/v1/grants", "/v1/requests", "/v1/decisions", "/v1/agents/bot", &policies] {
            let reply = self.get(&operator, path).await;
            assert_eq!(reply.status, 200, "{path}: {reply:?}");
            state.insert(path.to_owned(), reply.json);
        }
        let recent = self.get(&operator, "/v1/events/recent?limit=1000").await.json;
        let events = recent["events"].as_array().unwrap().iter();
        let passing = ["approver.arrived", "approver.left", "permission.routed", "credential.changed"];
        let events = events.filter(|event| passing.iter().all(|kind| event["type"] != *kind));
        state.insert("events".to_owned(), events.map(|event| event["eventId"].clone()).collect());
        state.into()
    }

    /// Returns the requests that wait for an approver.
    pub(crate) async fn pending(&self, token: &str) -> Vec<serde_json::Value> {
        self.get(token, "/api/permissions").await.json["pending"].as_array().unwrap().clone()
    }

    /// Returns the id of the first request that waits for an approver, as soon as one does.
    pub(crate) async fn first_pending(&self, token: &str) -> String {
        loop {
            if let Some(item) = self.pending(token).await.first() {
                return item["id"].as_str().unwrap().to_owned();
            }
            tokio::task::yield_now().await;
        }
    }

    pub(crate) async fn decide(&self, token: &str, request: &str, decision: &str) -> Reply {
        let body = serde_json::json!({ "requestId": request, "decision": decision });
        self.post(token, "/api/permissions", &body.to_string()).await
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.server.abort();
    }
}
