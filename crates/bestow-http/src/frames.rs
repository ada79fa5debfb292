//! WebSockets: their limits and their close codes, for every dialect.

use std::time::Duration;

use axum::{
    extract::{
        WebSocketUpgrade,
        ws::{CloseFrame, Message, rejection::WebSocketUpgradeRejection},
    },
    http::StatusCode,
};

use crate::problem::Problem;

/// The time after which a client that accepts no frame is cut off.
pub(crate) const LONGEST_SEND: Duration = Duration::from_secs(10);

/// The close code for a client without a valid credential.
pub(crate) const NOT_AUTHENTICATED: u16 = 4001;

/// The close code for the end of the engine.
pub(crate) const GOING_AWAY: u16 = 1001;

/// The longest frame and message of a client, in bytes.
const LONGEST_FRAME: usize = 1 << 18;

/// The read buffer of a socket, in bytes. There are many sockets, and their messages are short.
const BUFFER: usize = 4 << 10;

/// The subprotocol of every dialect. A browser that offers a token as a subprotocol has to offer a second one, which
/// the server can choose: a token is never echoed.
const PROTOCOL: &str = "bestow";

/// Limits an upgrade to a WebSocket, or explains that the path is one.
pub(crate) fn upgrade(
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<WebSocketUpgrade, Problem> {
    let upgrade = upgrade.map_err(|why| {
        let detail = format!("this path is a WebSocket: {}", why.body_text());
        Problem::new(StatusCode::UPGRADE_REQUIRED, "upgrade_required", detail)
    })?;
    let upgrade = upgrade.protocols([PROTOCOL]).max_message_size(LONGEST_FRAME).max_frame_size(LONGEST_FRAME);
    Ok(upgrade.read_buffer_size(BUFFER).write_buffer_size(0).max_write_buffer_size(LONGEST_FRAME))
}

/// Returns the frame that closes a socket.
pub(crate) fn close(code: u16, reason: &'static str) -> Message {
    Message::Close(Some(CloseFrame { code, reason: reason.into() }))
}
