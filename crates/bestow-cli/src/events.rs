//! `bestow events`, `request` and `grant`: what a confined command says to its engine over `@events`.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::Shutdown,
    os::unix::net::UnixStream,
    sync::mpsc::{Sender, channel},
    thread,
    time::Duration,
};

use bestow::{AgentId, Outcome, Permission, sandbox, stdio::ToAgent};
use serde_json::json;

use crate::end::End;

/// Passes lines on, both ways, until the engine ends it.
pub(crate) fn relay() -> End {
    let mut engine = match sandbox::connect_to_engine() {
        Ok(engine) => engine,
        Err(why) => return End::failed(why),
    };
    let to_engine = engine.try_clone();
    thread::spawn(move || {
        let mut to_engine = to_engine?;
        // The engine hears the end, and says goodbye.
        let said = io::copy(&mut io::stdin().lock(), &mut to_engine);
        to_engine.shutdown(Shutdown::Write).and(said)
    });
    let mut out = io::stdout().lock();
    let mut buffer = [0; 8192];
    loop {
        let read = match engine.read(&mut buffer) {
            Ok(0) => return End::Done,
            Ok(read) => read,
            Err(why) => return End::failed(why),
        };
        let line = buffer.get(..read).unwrap_or_default();
        if let Err(why) = out.write_all(line).and_then(|()| out.flush()) {
            return End::unheard(&why);
        }
    }
}

/// Asks for what this agent lacks, and waits for the answer, at most so long.
pub(crate) fn request(tags: &[Permission], reason: &str, wait: Option<Duration>) -> End {
    let asked = json!({ "type": "request_permission", "permissions": tags, "reason": reason });
    ending(converse(&asked, wait))
}

/// Passes on what this agent holds.
pub(crate) fn grant(to: &AgentId, tags: &[Permission], reason: &str) -> End {
    ending(converse(&json!({ "type": "grant_permission", "agentId": to, "permissions": tags, "reason": reason }), None))
}

fn ending(end: io::Result<End>) -> End {
    end.unwrap_or_else(End::failed)
}

/// What is heard while an answer is waited for.
enum Heard {
    Line(String),
    TimeIsUp,
    Gone(io::Error),
}

/// Says one thing, and hears lines until one is its answer. The time runs from when the engine has taken it.
fn converse(said: &serde_json::Value, wait: Option<Duration>) -> io::Result<End> {
    let mut engine = sandbox::connect_to_engine()?;
    engine.write_all(format!("{said}\n").as_bytes())?;
    let (tell, heard) = channel();
    let timer = tell.clone();
    thread::spawn(move || hear(engine, &tell));
    loop {
        let line = match heard.recv().map_err(io::Error::other)? {
            Heard::Line(line) => line,
            Heard::TimeIsUp => return Ok(End::WouldAsk("the question stands; nobody has answered it yet".into())),
            Heard::Gone(why) => return Err(why),
        };
        let said: ToAgent = serde_json::from_str(&line)?;
        if let (ToAgent::RequestAccepted(_), Some(wait)) = (&said, wait) {
            let timer = timer.clone();
            thread::spawn(move || {
                let (_never, nothing) = channel::<()>();
                let _ = nothing.recv_timeout(wait);
                timer.send(Heard::TimeIsUp)
            });
        } else if let Some(end) = answer(&line, said) {
            return Ok(end);
        }
    }
}

/// Lines, until there are no more.
fn hear(engine: UnixStream, tell: &Sender<Heard>) {
    for line in BufReader::new(engine).lines() {
        if tell.send(line.map_or_else(Heard::Gone, Heard::Line)).is_err() {
            return;
        }
    }
    // If nobody listens any more, nobody needs to know.
    let _ = tell.send(Heard::Gone(io::Error::new(io::ErrorKind::UnexpectedEof, "the engine is gone")));
}

/// How it ended, if this line says so.
fn answer(line: &str, said: ToAgent) -> Option<End> {
    if let ToAgent::Error(fault) = said {
        return Some(End::Denied(fault.message));
    }
    if let ToAgent::Bye(bye) = said {
        return Some(End::failed(bye.reason.unwrap_or_default()));
    }
    if let ToAgent::PermissionResult(result) = &said
        && result.outcome != Outcome::Granted
    {
        return Some(End::Denied(result.text.clone()));
    }
    // What else is said is not about this.
    let is_answer = matches!(said, ToAgent::PermissionResult(_) | ToAgent::GrantResult(_));
    is_answer.then(|| End::said(&format!("{line}\n")))
}
