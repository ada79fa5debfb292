//! `bestow events`, `request` and `grant`: messages of a sandboxed command to its engine, over `@events`.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::Shutdown,
    os::unix::net::UnixStream,
    sync::mpsc::{Sender, channel},
    thread,
    time::Duration,
};

use bestow::{Outcome, sandbox, stdio::ToAgent};
use serde_json::json;

use crate::{
    args::{PassOnArgs, RequestArgs},
    exit::Exit,
};

/// Copies lines in both directions until the engine closes the connection.
pub(crate) fn relay() -> Exit {
    let mut engine = match sandbox::connect_to_engine() {
        Ok(engine) => engine,
        Err(why) => return Exit::failed(why),
    };
    let to_engine = engine.try_clone();
    thread::spawn(move || {
        let mut to_engine = to_engine?;
        // The engine sees the end of the input, and closes the connection.
        let copied = io::copy(&mut io::stdin().lock(), &mut to_engine);
        to_engine.shutdown(Shutdown::Write).and(copied)
    });
    let mut out = io::stdout().lock();
    let mut buffer = [0; 8192];
    loop {
        let read = match engine.read(&mut buffer) {
            Ok(0) => return Exit::Done,
            Ok(read) => read,
            Err(why) => return Exit::failed(why),
        };
        let line = buffer.get(..read).unwrap_or_default();
        if let Err(why) = out.write_all(line).and_then(|()| out.flush()) {
            return Exit::output_failed(&why);
        }
    }
}

/// Requests permissions for the agent, and waits for the answer.
pub(crate) fn request(args: &RequestArgs) -> Exit {
    let RequestArgs { permissions, reason, wait } = args;
    let message = json!({ "type": "request_permission", "permissions": permissions, "reason": reason });
    ending(converse(&message, *wait))
}

/// Grants permissions of the agent to another agent.
pub(crate) fn grant(args: &PassOnArgs) -> Exit {
    let PassOnArgs { permissions, to, reason } = args;
    let message = json!({ "type": "grant_permission", "agentId": to, "permissions": permissions, "reason": reason });
    ending(converse(&message, None))
}

fn ending(exit: io::Result<Exit>) -> Exit {
    exit.unwrap_or_else(Exit::failed)
}

/// An event during the wait for an answer.
enum Received {
    Line(String),
    TimeIsUp,
    Gone(io::Error),
}

/// Sends one message, and reads lines until one is its answer. The wait begins when the engine has accepted the
/// message.
fn converse(message: &serde_json::Value, wait: Option<Duration>) -> io::Result<Exit> {
    let mut engine = sandbox::connect_to_engine()?;
    engine.write_all(format!("{message}\n").as_bytes())?;
    let (sender, received) = channel();
    let timer = sender.clone();
    thread::spawn(move || read_lines(engine, &sender));
    loop {
        let line = match received.recv().map_err(io::Error::other)? {
            Received::Line(line) => line,
            Received::TimeIsUp => {
                return Ok(Exit::WouldAsk("the request is still pending: no person has answered it yet".into()));
            }
            Received::Gone(why) => return Err(why),
        };
        let message: ToAgent = serde_json::from_str(&line)?;
        if let (ToAgent::RequestAccepted(_), Some(wait)) = (&message, wait) {
            let timer = timer.clone();
            thread::spawn(move || {
                let (_never, nothing) = channel::<()>();
                let _ = nothing.recv_timeout(wait);
                timer.send(Received::TimeIsUp)
            });
        } else if let Some(exit) = answer(&line, message) {
            return Ok(exit);
        }
    }
}

/// Reads lines until the connection ends.
fn read_lines(engine: UnixStream, sender: &Sender<Received>) {
    for line in BufReader::new(engine).lines() {
        if sender.send(line.map_or_else(Received::Gone, Received::Line)).is_err() {
            return;
        }
    }
    // The receiver may have its answer already.
    let _ = sender.send(Received::Gone(io::Error::new(io::ErrorKind::UnexpectedEof, "the engine has ended")));
}

/// Returns the outcome, if the message is the answer.
fn answer(line: &str, message: ToAgent) -> Option<Exit> {
    if let ToAgent::Error(fault) = message {
        return Some(Exit::Denied(fault.message));
    }
    if let ToAgent::Bye(bye) = message {
        return Some(Exit::failed(bye.reason.unwrap_or_default()));
    }
    if let ToAgent::PermissionResult(result) = &message
        && result.outcome != Outcome::Granted
    {
        return Some(Exit::Denied(result.text.clone()));
    }
    // Other messages do not answer this one.
    let is_answer = matches!(message, ToAgent::PermissionResult(_) | ToAgent::GrantResult(_));
    is_answer.then(|| Exit::print(&format!("{line}\n")))
}
