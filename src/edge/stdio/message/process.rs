//! What is said about processes that go on, in both directions.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::super::base64;
use crate::{
    edge::process_order::ProcessOrder,
    model::{AgentId, OutputStream, Permissions, ProcessExit, ProcessId, Timestamp},
};

/// How much one read gives, if nothing is said.
const USUAL: u32 = 64 * 1024;

/// How long a process may take to end, if nothing is said.
const GRACE: u32 = 5_000;

/// What a line comes to, or what is wrong with it.
type Ordered = Result<ProcessOrder, &'static str>;

/// `process_start`: starts a process that goes on. Answered with `process_started`, or with `authorize_result` if a person
/// has to say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct ProcessStart {
    /// The program and its words. There is no shell unless it is one.
    pub command: Vec<String>,
    /// What it needs besides its working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permissions: Option<Permissions>,
    /// Comes back with the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// `process_list`: which processes the agent has. Answered with `process_list_result`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct ProcessList {
    /// Comes back with the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// `process_read`: what a process wrote. Answered with `process_output`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct ProcessRead {
    /// Which.
    pub process_id: ProcessId,
    /// Which output; `stdout`, if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<OutputStream>,
    /// From which byte on, counted from the first that it wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
    /// At most so many bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<u32>,
    /// Comes back with the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// `process_write`: something for the input of a process. Answered with `process_written`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct ProcessWrite {
    /// Which.
    pub process_id: ProcessId,
    /// The words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Or bytes that are no text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
    /// Nothing follows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub close: bool,
    /// Comes back with the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// `process_stop`: a process is to end. Answered with `process_stopping`; `process_exited` follows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct ProcessStop {
    /// Which.
    pub process_id: ProcessId,
    /// How long it may take to end by itself; 5000, if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grace_ms: Option<u32>,
    /// Comes back with the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// `process_restart`: a process starts again under its name. Answered as `process_start` is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct ProcessRestart {
    /// Which.
    pub process_id: ProcessId,
    /// Comes back with the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

impl ProcessStart {
    pub(in super::super) fn order(self) -> Ordered {
        if self.command.is_empty() {
            return Err("`command` is a list that begins with a program");
        }
        let named = self.permissions.map(Vec::from).unwrap_or_default();
        Ok(ProcessOrder::Start { command: self.command, named })
    }
}

impl ProcessRead {
    pub(in super::super) fn order(self) -> Ordered {
        let stream = self.stream.unwrap_or(OutputStream::Stdout);
        let most = usize::try_from(self.max.unwrap_or(USUAL).min(USUAL)).unwrap_or(0);
        Ok(ProcessOrder::Read { process: self.process_id, stream, from: self.from.unwrap_or(0), most })
    }
}

impl ProcessWrite {
    pub(in super::super) fn order(self) -> Ordered {
        let bytes = match (self.text, self.base64) {
            (Some(text), None) => text.into_bytes(),
            (None, Some(text)) => base64::decode(&text).ok_or("`base64` stands for no bytes")?,
            (None, None) if self.close => Vec::new(),
            _ => return Err("what is written is `text` or `base64`, and without either `close` is true"),
        };
        Ok(ProcessOrder::Write { process: self.process_id, bytes, close: self.close })
    }
}

impl ProcessStop {
    pub(in super::super) fn order(self) -> Ordered {
        let grace = Duration::from_millis(self.grace_ms.unwrap_or(GRACE).into());
        Ok(ProcessOrder::Stop { process: self.process_id, grace })
    }
}

impl ProcessRestart {
    pub(in super::super) fn order(self) -> Ordered {
        Ok(ProcessOrder::Restart { process: self.process_id })
    }
}

/// `process_started`: it goes on from now, and `process_exited` will tell its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ProcessStarted {
    /// Which.
    pub process_id: ProcessId,
}

/// One process of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListedProcess {
    /// Which.
    pub process_id: ProcessId,
    /// Whose.
    pub agent_id: AgentId,
    /// Its command line, without secrets.
    pub command: String,
    /// When it was started, the last time.
    pub since: Timestamp,
    /// How often it was started again.
    pub restarts: u32,
    /// How it ended, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<ProcessExit>,
}

/// `process_list_result`: those that go on, and the latest of those that ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ProcessListResult {
    /// All of them.
    pub processes: Vec<ListedProcess>,
}

/// `process_output`: a piece of what a process wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ProcessOutput {
    /// Which.
    pub process_id: ProcessId,
    /// Which output.
    pub stream: OutputStream,
    /// Where the piece begins.
    pub from: u64,
    /// Where the next one begins.
    pub next: u64,
    /// How many bytes before `from` that were asked for are no longer kept.
    pub dropped: u64,
    /// The piece, if it is text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The piece, if it is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
    /// Whether nothing follows, unless it is started again.
    pub end: bool,
}

impl ProcessOutput {
    /// The bytes of a piece as text, if they are any: a character that is cut is left for the next piece.
    pub(in super::super) fn told(bytes: Vec<u8>, next: u64, is_end: bool) -> (Option<String>, Option<String>, u64) {
        let whole = match std::str::from_utf8(&bytes) {
            Ok(_) => bytes.len(),
            Err(why) if why.error_len().is_none() && why.valid_up_to() > 0 && !is_end => why.valid_up_to(),
            Err(_) => return (None, Some(base64::encode(&bytes)), next),
        };
        let left = u64::try_from(bytes.len() - whole).unwrap_or(0);
        let text = String::from_utf8_lossy(bytes.get(..whole).unwrap_or_default()).into_owned();
        (Some(text), None, next - left)
    }
}

/// `process_written`: so many bytes were taken; the rest did not fit, and is to be written again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ProcessWritten {
    /// Which.
    pub process_id: ProcessId,
    /// How many bytes.
    pub written: u64,
}

/// `process_stopping`: it was told to end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ProcessStopping {
    /// Which.
    pub process_id: ProcessId,
}

/// `process_exited`: a process of the agent ended, with everything it started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ProcessExited {
    /// Which.
    pub process_id: ProcessId,
    /// How.
    #[serde(flatten)]
    pub exit: ProcessExit,
    /// When.
    pub ts: Timestamp,
}
