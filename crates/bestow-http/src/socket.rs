//! A WebSocket of one client: its limits, its heartbeat and its end. The dialects render what it says.

use std::{future, sync::Arc, time::Duration};

use axum::{
    Extension,
    extract::{
        WebSocketUpgrade,
        ws::{CloseFrame, Message, Utf8Bytes, WebSocket, rejection::WebSocketUpgradeRejection},
    },
    http::StatusCode,
};
use bestow::event::Timestamp;
use serde_json::Value;
use tokio::{
    sync::OwnedSemaphorePermit,
    time::{self, Interval, MissedTickBehavior},
};

use crate::{
    identity::{Caller, Entrance},
    options::SocketTimes,
    places::ConnectionPlace,
    problem::Problem,
};

/// The number of heartbeats without any frame of the client after which it counts as gone.
const SILENT_HEARTBEATS: u32 = 3;

/// The longest frame and message of a client, in bytes.
const LONGEST_FRAME: usize = 1 << 18;

/// The read buffer of a socket, in bytes. There are many sockets, and their messages are short.
const BUFFER: usize = 4 << 10;

/// The close code for a client without a valid credential.
const NOT_AUTHENTICATED: u16 = 4001;

/// The close code for a client that has missed something, because it reads too slowly.
const TOO_SLOW: u16 = 1013;

/// The close code for a frame that a dialect does not take.
const UNSUPPORTED: u16 = 1003;

/// The close code for the end of the engine.
const GOING_AWAY: u16 = 1001;

/// The subprotocol of this server. A browser that offers a token as a subprotocol has to offer a second one, which the
/// server can choose: a token is never echoed.
const PROTOCOL: &str = "bestow";

/// Returns the upgrade of a request to a WebSocket, with the limits of this server.
pub(crate) fn limited(
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<WebSocketUpgrade, Problem> {
    let upgrade = upgrade.map_err(|why| {
        let detail = format!("this path is a WebSocket: {}", why.body_text());
        Problem::new(StatusCode::UPGRADE_REQUIRED, "upgrade_required", detail)
    })?;
    let upgrade = upgrade.protocols([PROTOCOL]).max_message_size(LONGEST_FRAME).max_frame_size(LONGEST_FRAME);
    Ok(upgrade.read_buffer_size(BUFFER).write_buffer_size(0).max_write_buffer_size(LONGEST_FRAME))
}

/// Closes the socket of a client without a valid credential, for dialects whose clients expect a close code. No message
/// is sent before it.
pub(crate) async fn unauthenticated(mut socket: WebSocket, times: SocketTimes) {
    let close = close(NOT_AUTHENTICATED, "send the credential of an approver");
    let _ = time::timeout(times.send, socket.send(close)).await;
}

fn close(code: u16, reason: &'static str) -> Message {
    Message::Close(Some(CloseFrame { code, reason: reason.into() }))
}

/// The end of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ended;

/// Something that arrives at a socket.
#[derive(Debug)]
pub(crate) enum Incoming {
    Text(Utf8Bytes),
    /// A frame that is not text. No dialect has such frames.
    Binary,
    /// The time for a heartbeat.
    Beat,
}

/// Waits for the time of a frame that came too early, and takes it.
///
/// # Cancellation
///
/// Dropping the future loses nothing.
async fn early(frame: &mut Option<(Utf8Bytes, time::Instant)>) -> Utf8Bytes {
    let Some((_, until)) = frame else { return future::pending().await };
    time::sleep_until(*until).await;
    match frame.take() {
        Some((text, _)) => text,
        None => future::pending().await,
    }
}

/// The places that an open socket has: in its credential and in the server.
pub(crate) type Places = (OwnedSemaphorePermit, Option<Extension<ConnectionPlace>>);

/// The socket of one client.
pub(crate) struct Socket {
    pub(crate) entrance: Arc<Entrance>,
    pub(crate) caller: Caller,
    socket: WebSocket,
    heartbeat: Interval,
    /// The heartbeats since the last frame of the client.
    silent: u32,
    /// A frame that came too early, and the time until which it waits. No other is read meanwhile.
    early: Option<(Utf8Bytes, time::Instant)>,
    _places: Places,
}

impl Socket {
    pub(crate) fn new(entrance: Arc<Entrance>, caller: Caller, socket: WebSocket, places: Places) -> Socket {
        let beat = entrance.socket_times().heartbeat;
        let mut heartbeat = time::interval_at(time::Instant::now() + beat, beat);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Socket { entrance, caller, socket, heartbeat, silent: 0, early: None, _places: places }
    }

    /// Waits for something to arrive.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses nothing.
    pub(crate) async fn next(&mut self) -> Result<Incoming, Ended> {
        loop {
            let received = tokio::select! {
                text = early(&mut self.early) => return self.accepted(text).await,
                received = self.socket.recv(), if self.early.is_none() => received,
                _ = self.heartbeat.tick() => return Ok(Incoming::Beat),
            };
            let Some(Ok(message)) = received else { return Err(Ended) };
            self.silent = 0;
            match message {
                Message::Text(text) => match self.entrance.count_frame(&self.caller) {
                    Duration::ZERO => return self.accepted(text).await,
                    wait => self.early = Some((text, time::Instant::now() + wait)),
                },
                Message::Binary(_) => return Ok(Incoming::Binary),
                Message::Ping(_) | Message::Pong(_) => {}
                Message::Close(_) => {
                    // The next read sends the reply. So the client knows that the end is no accident.
                    let _ = time::timeout(self.entrance.socket_times().send, self.socket.recv()).await;
                    return Err(Ended);
                }
            }
        }
    }

    async fn accepted(&mut self, text: Utf8Bytes) -> Result<Incoming, Ended> {
        self.refuse_revoked().await?;
        Ok(Incoming::Text(text))
    }

    /// Sends a frame, if the credential is still valid.
    pub(crate) async fn say(&mut self, frame: &Value) -> Result<(), Ended> {
        self.say_text(frame.to_string()).await
    }

    /// Sends the text of a frame, if the credential is still valid.
    pub(crate) async fn say_text(&mut self, frame: impl Into<Utf8Bytes>) -> Result<(), Ended> {
        self.refuse_revoked().await?;
        self.send(Message::text(frame)).await
    }

    /// Ends the socket if its credential is no longer valid, or if the engine has ended.
    pub(crate) async fn refuse_revoked(&mut self) -> Result<(), Ended> {
        if self.entrance.still_accepts(&self.caller) {
            return Ok(());
        }
        // Without a clock nobody is accepted, and that says nothing about the credential.
        if self.entrance.engine().now().is_err() { self.going_away().await } else { self.not_authenticated().await }
    }

    /// Checks that the client is there, and that its credential is still valid. A client that is there answers without
    /// the help of its program.
    pub(crate) async fn beat(&mut self) -> Result<(), Ended> {
        self.silent += 1;
        if self.silent > SILENT_HEARTBEATS {
            return Err(Ended);
        }
        self.refuse_revoked().await?;
        self.send(Message::Ping(Vec::new().into())).await
    }

    /// Ends the socket because the credential is no longer valid.
    pub(crate) async fn not_authenticated(&mut self) -> Result<(), Ended> {
        self.close(NOT_AUTHENTICATED, "the credential is no longer valid").await
    }

    /// Ends the socket because the client has missed something.
    pub(crate) async fn too_slow(&mut self) -> Result<(), Ended> {
        self.close(TOO_SLOW, "this client reads too slowly").await
    }

    /// Ends the socket because of a frame that the dialect does not take.
    pub(crate) async fn unsupported(&mut self) -> Result<(), Ended> {
        self.close(UNSUPPORTED, "a client of this socket only listens").await
    }

    /// Ends the socket because the engine ends, or because the client is too slow.
    pub(crate) async fn going_away(&mut self) -> Result<(), Ended> {
        self.close(GOING_AWAY, "the server ends, or this client reads too slowly").await
    }

    /// Returns the time of the engine in milliseconds since 1970. Without a clock the socket ends.
    pub(crate) fn now(&self) -> Result<Timestamp, Ended> {
        self.entrance.engine().now().map_err(|_| Ended)
    }

    async fn send(&mut self, message: Message) -> Result<(), Ended> {
        match time::timeout(self.entrance.socket_times().send, self.socket.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(Ended),
        }
    }

    async fn close(&mut self, code: u16, reason: &'static str) -> Result<(), Ended> {
        self.send(close(code, reason)).await?;
        Err(Ended)
    }
}
