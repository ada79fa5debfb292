//! `/mcp`: the Model Context Protocol over streamable HTTP, for agents.
//!
//! Each request is a session of its own: the credential in it is the identity, and nothing is remembered between two
//! requests. So there is no session that another credential could use, and none that outlives its credential.

use std::{io, sync::Arc};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{Request, State},
    http::{HeaderValue, Method, StatusCode, header},
    response::{IntoResponse, Response},
    routing::any,
};
use bestow::{AgentId, Engine, async_trait, text::StrictJson};
use bestow_mcp::{Gate, LONGEST_LINE, Place, Work, server};
use http_body_util::Full;
use rmcp::transport::{
    StreamableHttpServerConfig, StreamableHttpService, streamable_http_server::session::never::NeverSessionManager,
};
use serde_json::{Value, json};

use crate::{
    credentials::Role,
    identity::{Caller, Entrance},
    problem::Problem,
};

/// The code of JSON-RPC for a text that is not JSON.
const PARSE_ERROR: i32 = -32_700;

/// Returns the path of this dialect.
pub(crate) fn routes() -> Router<Arc<Entrance>> {
    Router::new().route("/mcp", any(mcp))
}

async fn mcp(State(entrance): State<Arc<Entrance>>, request: Request) -> Response {
    answered(&entrance, request).await.unwrap_or_else(IntoResponse::into_response)
}

async fn answered(entrance: &Arc<Entrance>, request: Request) -> Result<Response, Problem> {
    let (mut parts, body) = request.into_parts();
    let caller = entrance.caller(&parts)?;
    let agent = agent_of(&caller)?;
    if parts.method != Method::POST {
        return Ok(only_post());
    }
    let body = entrance.bytes(&caller, body).await?;
    // The reader of the protocol takes the last one of two equal keys, and rounds numbers.
    let StrictJson(message) = match StrictJson::read(&body) {
        Ok(message) => message,
        Err(why) => return Ok(not_json(&why)),
    };
    let body = Bytes::from(message.to_string());
    // The server of the protocol needs no secret.
    parts.headers.remove(header::AUTHORIZATION);
    let service =
        service(entrance.engine().clone(), agent, Arc::new(Limits { entrance: Arc::clone(entrance), caller }));
    let reply = service.handle(Request::from_parts(parts, Full::new(body))).await;
    Ok(reply.map(Body::new))
}

/// Returns the agent of a credential. A person does not act as an agent.
fn agent_of(caller: &Caller) -> Result<AgentId, Problem> {
    match &caller.credential().role {
        // An agent that is not registered is refused with its name.
        Role::Agent { agent } => caller.agent().map(|_| agent.clone()),
        Role::Approver { .. } | Role::Operator => Err(Problem::forbidden(
            "`/mcp` is for agents, and this credential is not an agent's: make one with `bestow token create --role \
             agent --agent ID`",
        )),
    }
}

fn service(
    engine: Engine,
    agent: AgentId,
    limits: Arc<Limits>,
) -> StreamableHttpService<bestow_mcp::Server, NeverSessionManager> {
    // `Host` and `Origin` are checked before anything else of a request is read.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(LONGEST_LINE);
    let means = limits.caller.means();
    let of_request = move || -> io::Result<_> {
        let limits: Arc<dyn Gate> = Arc::clone(&limits) as _;
        Ok(server(&engine, agent.clone()).within(limits).through(Arc::clone(&means)))
    };
    StreamableHttpService::new(of_request, Arc::default(), config)
}

/// The limits of a credential.
#[derive(Debug)]
struct Limits {
    entrance: Arc<Entrance>,
    caller: Caller,
}

#[async_trait]
impl Gate for Limits {
    async fn work(&self, work: Work) -> Result<(), String> {
        self.entrance.work(&self.caller, work).await.map_err(|problem| problem.detail)
    }

    fn place_to_wait(&self) -> Option<Place> {
        self.entrance.place_to_wait(&self.caller).map(|place| Box::new(place) as Place)
    }

    fn admits(&self) -> Result<(), String> {
        self.entrance.refuse_revoked(&self.caller).map_err(|problem| problem.detail)
    }
}

/// Returns the reply to a client that wants a stream of messages, or that ends a session.
fn only_post() -> Response {
    let detail = "`/mcp` answers POST: it has no sessions, and sends nothing that a request did not ask for";
    let mut reply = Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", detail).into_response();
    reply.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
    reply
}

fn not_json(why: &serde_json::Error) -> Response {
    let why = format!("the body is not valid JSON: {why}");
    let body = json!({ "jsonrpc": "2.0", "id": Value::Null, "error": { "code": PARSE_ERROR, "message": why } });
    let headers = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    (StatusCode::BAD_REQUEST, headers, body.to_string()).into_response()
}
