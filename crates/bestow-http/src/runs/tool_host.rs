//! The conversation with a tool host: a program that acts as one agent, and asks before each action.

use std::sync::Arc;

use bestow::{
    Agent,
    stdio::{AgentClient, ErrorCode, Fault, FromAgent, InvalidMessage, ToAgent},
};
use serde_json::json;
use tokio::sync::Mutex;

use crate::socket::{Ended, Incoming, Socket};

/// Talks to a tool host until one side ends.
pub(super) async fn talk(mut socket: Socket, agent: Agent) {
    let client = AgentClient::new(agent);
    let client = match socket.entrance.runs().sandbox() {
        Some(sandbox) => client.starting_processes_in(sandbox),
        None => client,
    };
    let _ = converse(&mut socket, client).await;
}

async fn converse(socket: &mut Socket, client: AgentClient) -> Result<(), Ended> {
    let client = Arc::new(Mutex::new(client));
    let hello = client.lock().await.hello();
    let Ok(hello) = hello else { return socket.going_away().await };
    say(socket, &hello).await?;
    loop {
        let news = async { client.lock().await.next().await };
        tokio::select! {
            news = news => match news {
                Ok(told) => for message in told {
                    say(socket, &message).await?;
                },
                Err(_) => return socket.going_away().await,
            },
            received = socket.next() => match received? {
                Incoming::Text(text) => hear(socket, &client, &text).await?,
                Incoming::Binary => {
                    let message = "a frame is a text frame with JSON".to_owned();
                    refuse(socket, ErrorCode::ParseError, message, None).await?;
                }
                Incoming::Beat => socket.beat().await?,
            },
        }
    }
}

/// Carries out a message of the agent.
async fn hear(socket: &mut Socket, client: &Arc<Mutex<AgentClient>>, text: &str) -> Result<(), Ended> {
    let said = match text.parse::<FromAgent>() {
        Ok(FromAgent::Bye(_)) => return Err(Ended),
        Ok(said) => said,
        Err(InvalidMessage { code, message, request_id, .. }) => {
            return refuse(socket, code, message, request_id).await;
        }
    };
    let client = Arc::clone(client);
    let work = async move { client.lock().await.carry_out(said).await };
    match socket.entrance.work(&socket.caller, work).await {
        Ok(Ok(Some(reply))) => say(socket, &reply).await,
        Ok(Ok(None)) => Ok(()),
        Ok(Err(fault)) => {
            let is_over = matches!(fault.code, ErrorCode::UnsupportedVersion | ErrorCode::EngineClosed);
            say(socket, &ToAgent::Error(fault)).await?;
            if is_over { Err(Ended) } else { Ok(()) }
        }
        Err(problem) => refuse(socket, ErrorCode::InternalError, problem.detail, None).await,
    }
}

async fn say(socket: &mut Socket, message: &ToAgent) -> Result<(), Ended> {
    socket.say(&json!(message)).await
}

async fn refuse(
    socket: &mut Socket,
    code: ErrorCode,
    message: String,
    request_id: Option<String>,
) -> Result<(), Ended> {
    let ts = socket.now()?;
    say(socket, &ToAgent::Error(Fault::new(code, message, request_id, ts))).await
}
