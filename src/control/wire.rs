//! The exchange on the control socket: one line for the order, one line for the reply.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    os::unix::net::UnixStream,
    time::Duration,
};

use serde::{Deserialize, Serialize};

use super::{AdminCommand, Reply};

/// The maximum length of an order in bytes, with its token line.
const LONGEST: u64 = 1 << 16;

/// The maximum time for one read or write. Then the sender is disconnected.
const PATIENCE: Duration = Duration::from_secs(30);

/// The line with the secret, before an order that needs it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Token {
    token: String,
}

/// Waits for the reply to an order that has one.
pub(super) fn only_reply(stream: &UnixStream) -> io::Result<Reply> {
    let ended = || io::Error::new(io::ErrorKind::UnexpectedEof, "the engine ended before it answered");
    next_reply(&mut BufReader::new(stream))?.ok_or_else(ended)
}

/// Sends an order, after the secret of its sender.
pub(super) fn say_order(stream: &UnixStream, order: &AdminCommand, token: Option<&str>) -> io::Result<()> {
    token.map_or(Ok(()), |token| say(stream, &Token { token: token.trim().to_owned() }))?;
    say(stream, order)
}

/// Reads a reply. Returns `None` if no more will come.
pub(super) fn next_reply(from: &mut impl BufRead) -> io::Result<Option<Reply>> {
    let mut line = String::new();
    match from.read_line(&mut line)? {
        0 => Ok(None),
        _ => Ok(Some(serde_json::from_str(&line)?)),
    }
}

/// Reads one order, with the secret of its sender.
pub(super) fn order(stream: &UnixStream) -> io::Result<Result<(AdminCommand, Option<String>), Reply>> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    order_in(stream)
}

/// Parses bytes as the control socket would, for tests with arbitrary bytes. Returns the order, and true if it comes
/// with a secret.
///
/// # Errors
///
/// Fails with the reason why the bytes are no order.
#[doc(hidden)]
pub fn control_hears(bytes: &[u8]) -> Result<(AdminCommand, bool), String> {
    match order_in(bytes) {
        Ok(Ok((order, token))) => Ok((order, token.is_some())),
        Ok(Err(Reply::Failed(why))) => Err(why),
        Ok(Err(_)) => Err("it is refused".to_owned()),
        Err(why) => Err(why.to_string()),
    }
}

fn order_in(from: impl Read) -> io::Result<Result<(AdminCommand, Option<String>), Reply>> {
    let (mut line, mut said) = (String::new(), BufReader::new(from.take(LONGEST)));
    said.read_line(&mut line)?;
    let token = serde_json::from_str::<Token>(&line).ok().map(|said| said.token);
    if token.is_some() {
        line.clear();
        said.read_line(&mut line)?;
    }
    let order = serde_json::from_str(&line).map(|order| (order, token));
    Ok(order.map_err(|why| Reply::Failed(format!("this is not an order: {why}"))))
}

/// Waits until the other side closes the connection, or one of its directions. It sends nothing meanwhile.
pub(super) fn wait_for_end(mut stream: &UnixStream) {
    // A further byte is no order, so it ends the connection too.
    let _ = stream.set_read_timeout(None).and_then(|()| stream.read(&mut [0]));
}

pub(super) fn say(mut stream: &UnixStream, what: &impl serde::Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(what)?;
    line.push(b'\n');
    stream.write_all(&line)
}
