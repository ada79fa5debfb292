//! One conversation with one bot of any role: lines in, lines out, and the end of the conversation.

use std::{
    fmt,
    future::{Future, pending},
    io,
};

use serde::Serialize;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::{Instant, sleep_until},
};

use crate::{engine::Engine, model::Timestamp};

use super::{
    Limits,
    error_mapping::NotDone,
    line_codec::{Line, Lines},
    message::{Answered, Bye, ErrorCode, Fault, Hello, Incoming, InvalidMessage, PROTOCOL, parse},
    sinks::Speech,
    writer::{Outgoing, Unwritable},
};

/// The reason why a conversation is over.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ended {
    /// The bot said `bye`.
    Bye,
    /// The bot closed its output.
    Closed,
    /// The host program stopped the conversation.
    Stopped,
    /// The bot's output cannot be read, or its input cannot be written.
    Broken(io::ErrorKind),
    /// The bot left its input unread for too long.
    NotReading,
    /// The bot wrote too many invalid lines, or a line without an end.
    TooManyBadLines,
    /// The bot uses another version of the protocol.
    OtherVersion(u32),
    /// Another connection replaced this one, the agent was retired, or the engine ended.
    Superseded,
    /// The agent no longer holds `@events`, through which the bot was connected.
    NotHeld,
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ended::Bye => f.write_str("it ended the session"),
            Ended::Closed => f.write_str("it closed its output"),
            Ended::Stopped => f.write_str("it was stopped"),
            Ended::Broken(kind) => write!(f, "the connection failed: {kind}"),
            Ended::NotReading => f.write_str("it does not read"),
            Ended::TooManyBadLines => f.write_str("it wrote too many wrong lines"),
            Ended::OtherVersion(version) => write!(f, "it speaks version {version} of the protocol, not {PROTOCOL}"),
            Ended::Superseded => f.write_str("another session replaced it, its agent was removed, or the engine ended"),
            Ended::NotHeld => f.write_str("its agent does not hold `@events` any more"),
        }
    }
}

impl From<Unwritable> for Ended {
    fn from(why: Unwritable) -> Ended {
        match why {
            Unwritable::Stalled => Ended::NotReading,
            Unwritable::Gone(kind) => Ended::Broken(kind),
        }
    }
}

/// Returns the time of the engine, or 0 if its clock cannot be read. An unreadable clock must not end a conversation.
pub(super) fn now(engine: &Engine) -> Timestamp {
    engine.now().unwrap_or(Timestamp::from_millis(0))
}

/// Wraps the answer to a line that had this `requestId`.
pub(super) fn answered<T>(engine: &Engine, answer: T, request_id: Option<String>) -> Answered<T> {
    Answered { answer, request_id, ts: now(engine) }
}

/// The behavior of one role. The conversation around it is shared by both roles.
pub(super) trait Peer: Send {
    /// The messages from bots of this role.
    type Heard: Incoming + Send;
    /// The messages to bots of this role.
    type Said: Serialize + Send;
    /// An event to report to the bot.
    type News: Send;

    /// Returns the first line.
    fn greeting(&mut self) -> Result<Self::Said, Ended>;

    /// Carries out the bot's message, and returns the immediate reply.
    fn hear(&mut self, heard: Self::Heard) -> impl Future<Output = Reply<Self::Said>> + Send;

    /// Waits for news. Dropping the future loses nothing.
    fn news(&mut self) -> impl Future<Output = Result<Self::News, Ended>> + Send;

    /// Translates news into messages.
    fn tell(&mut self, news: Self::News) -> impl Future<Output = Vec<Self::Said>> + Send;

    fn fault(fault: Fault) -> Self::Said;
    fn bye(bye: Bye) -> Self::Said;
}

/// The consequence of a line.
#[derive(Debug)]
pub(super) enum Reply<T> {
    Nothing,
    Say(T),
    NotDone { why: NotDone, request_id: Option<String>, then: Option<Ended> },
    End(Ended),
}

/// Runs the conversation until one side ends it.
pub(super) async fn converse<P: Peer>(
    part: &mut P,
    engine: &Engine,
    limits: &Limits,
    reader: impl AsyncRead + Unpin + Send,
    writer: impl AsyncWrite + Unpin + Send,
    stop: impl Future<Output = ()> + Send,
    faults: Option<&Speech>,
) -> Ended {
    let mut lines = Lines::new(reader, limits.line);
    let mut out = Outgoing::new(writer, limits.outgoing, limits.stall);
    let mut bad_lines = 0;
    // The reason why writing is no longer possible, and the time until which the bot's lines are still read.
    let mut broken: Option<(io::ErrorKind, Instant)> = None;
    tokio::pin!(stop);
    let ended = match part.greeting() {
        Ok(greeting) => {
            out.put(&greeting);
            None
        }
        Err(ended) => Some(ended),
    };
    let mut ended = ended;
    let ended = loop {
        if let Some(ended) = ended.take() {
            break ended;
        }
        let over = async {
            let Some((kind, at)) = broken else { return pending().await };
            sleep_until(at).await;
            kind
        };
        tokio::select! {
            () = &mut stop => break Ended::Stopped,
            written = out.progress(), if broken.is_none() => match written {
                Ok(()) => {}
                // The bot no longer reads. Lines that it sent before still count, above all `bye`.
                Err(Unwritable::Gone(kind)) => broken = Some((kind, Instant::now() + limits.grace)),
                Err(why) => return why.into(),
            },
            kind = over => return Ended::Broken(kind),
            line = lines.next(), if out.has_room() => match line {
                Err(error) => return Ended::Broken(error.kind()),
                Ok(None) => {
                    let Some((kind, _)) = broken else {
                        // The bot sends no more lines, and may still read its answers.
                        let _ = tokio::time::timeout(limits.grace, out.finish()).await;
                        return Ended::Closed;
                    };
                    return Ended::Broken(kind);
                }
                Ok(Some(line)) => match understand::<P>(line, limits) {
                    Ok(None) => {}
                    Ok(Some(heard)) => {
                        bad_lines = 0;
                        ended = answer::<P>(part.hear(heard).await, engine, &mut out);
                    }
                    Err(invalid) => {
                        bad_lines += 1;
                        let InvalidMessage { code, message, request_id } = invalid;
                        if let Some(faults) = faults {
                            faults(&message);
                        }
                        out.put(&P::fault(Fault { code, message, request_id, ts: now(engine) }));
                        ended = (bad_lines > limits.bad_lines).then_some(Ended::TooManyBadLines);
                    }
                },
            },
            news = part.news(), if out.has_room() && broken.is_none() => match news {
                Err(why) => ended = Some(why),
                Ok(news) => part.tell(news).await.iter().for_each(|said| out.put(said)),
            },
        }
    };
    out.put(&P::bye(Bye { reason: Some(ended.to_string()) }));
    // The bot got the reason, or it does not read. Either way the conversation is over.
    let _ = tokio::time::timeout(limits.grace, out.finish()).await;
    ended
}

/// Sends the consequence of a line. Returns the end of the conversation if the line causes it.
fn answer<P: Peer>(
    reply: Reply<P::Said>,
    engine: &Engine,
    out: &mut Outgoing<impl AsyncWrite + Unpin>,
) -> Option<Ended> {
    match reply {
        Reply::Nothing => None,
        Reply::Say(said) => {
            out.put(&said);
            None
        }
        Reply::NotDone { why: NotDone { code, message }, request_id, then } => {
            out.put(&P::fault(Fault { code, message, request_id, ts: now(engine) }));
            if code == ErrorCode::EngineClosed { Some(Ended::Superseded) } else { then }
        }
        Reply::End(ended) => Some(ended),
    }
}

/// Returns the message in a line; `None` for a blank line.
fn understand<P: Peer>(line: Line, limits: &Limits) -> Result<Option<P::Heard>, InvalidMessage> {
    let invalid = |code, message: String| InvalidMessage { code, message, request_id: None };
    match line {
        Line::Text(text) if text.trim().is_empty() => Ok(None),
        Line::Text(text) => parse(&text).map(Some),
        Line::NotUtf8 => Err(invalid(ErrorCode::ParseError, "the line is not UTF-8".to_owned())),
        Line::TooLong | Line::Endless => {
            let message = format!("a line has at most {} bytes; the rest of this line is ignored", limits.line);
            Err(invalid(ErrorCode::LineTooLong, message))
        }
    }
}

/// Returns the consequence of a `hello`.
pub(super) fn greeted<T>(Hello { protocol, request_id }: Hello) -> Reply<T> {
    if protocol == PROTOCOL {
        return Reply::Nothing;
    }
    let ended = Ended::OtherVersion(protocol);
    let why = NotDone::new(ErrorCode::UnsupportedVersion, ended.to_string());
    Reply::NotDone { why, request_id, then: Some(ended) }
}
