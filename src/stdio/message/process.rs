//! Messages about long-running processes, in both directions.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::super::base64;
use crate::{
    engine::process_order::ProcessOrder,
    model::{AgentId, OutputStream, Permissions, ProcessExit, ProcessId, Timestamp},
};

/// The maximum number of bytes that one read returns, and the default.
const USUAL: u32 = 64 * 1024;

/// The default time in milliseconds that a process has to end.
const GRACE: u32 = 5_000;

/// The order in a line, or its mistake.
type Ordered = Result<ProcessOrder, &'static str>;

/// `process_start`: starts a long-running process. The answer is `process_started`, or `authorize_result` if a person
/// has to decide.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct ProcessStart {
    /// The program and its arguments. No shell is involved unless the program is one.
    pub command: Vec<String>,
    /// Permissions that the process needs in addition to its working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permissions: Option<Permissions>,
    /// An identifier that the bot chooses. The answer repeats it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// `process_list`: lists the processes of the agent. The answer is `process_list_result`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct ProcessList {
    /// An identifier that the bot chooses. The answer repeats it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// `process_read`: reads the output of a process. The answer is `process_output`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct ProcessRead {
    /// The process.
    pub process_id: ProcessId,
    /// The output stream; the default is `stdout`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<OutputStream>,
    /// The first byte to read, counted from the first byte that the process wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
    /// The maximum number of bytes: at most 65536, which is also the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<u32>,
    /// An identifier that the bot chooses. The answer repeats it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// `process_write`: writes to the input of a process. The answer is `process_written`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct ProcessWrite {
    /// The process.
    pub process_id: ProcessId,
    /// The input as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The input as Base64, if it is not text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
    /// Closes the input after these bytes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub close: bool,
    /// An identifier that the bot chooses. The answer repeats it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// `process_stop`: stops a process. The answer is `process_stopping`, and `process_exited` follows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct ProcessStop {
    /// The process.
    pub process_id: ProcessId,
    /// The time in milliseconds that it has to end by itself; the default is 5000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grace_ms: Option<u32>,
    /// An identifier that the bot chooses. The answer repeats it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// `process_restart`: restarts a process under its id. The answers are those of `process_start`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct ProcessRestart {
    /// The process.
    pub process_id: ProcessId,
    /// An identifier that the bot chooses. The answer repeats it.
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
        let (process, close) = (self.process_id, self.close);
        Ok(ProcessOrder::Write { process, bytes: self.bytes()?, close })
    }

    /// Returns the bytes to write.
    #[doc(hidden)]
    pub fn bytes(self) -> Result<Vec<u8>, &'static str> {
        match (self.text, self.base64) {
            (Some(text), None) => Ok(text.into_bytes()),
            (None, Some(text)) => base64::decode(&text).ok_or("`base64` is not valid base64"),
            (None, None) if self.close => Ok(Vec::new()),
            _ => Err("give `text` or `base64`; without either, `close` must be true"),
        }
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

/// `process_started`: the process runs. `process_exited` will report its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ProcessStarted {
    /// The process.
    pub process_id: ProcessId,
}

/// One process of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListedProcess {
    /// The process.
    pub process_id: ProcessId,
    /// The agent it belongs to.
    pub agent_id: AgentId,
    /// Its command line, without secrets.
    pub command: String,
    /// The time of its latest start.
    pub since: Timestamp,
    /// The number of restarts.
    pub restarts: u32,
    /// The exit, if it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<ProcessExit>,
}

/// `process_list_result`: the running processes, and the latest ones that ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ProcessListResult {
    /// All of these processes.
    pub processes: Vec<ListedProcess>,
}

/// `process_output`: a piece of the output of a process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ProcessOutput {
    /// The process.
    pub process_id: ProcessId,
    /// The output stream.
    pub stream: OutputStream,
    /// The offset of the first byte of this piece.
    pub from: u64,
    /// The offset of the next piece.
    pub next: u64,
    /// The number of requested bytes before `from` that are no longer kept.
    pub dropped: u64,
    /// The piece, if it is text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The piece as Base64, if it is not text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
    /// True if no output follows, unless the process is restarted.
    pub end: bool,
}

impl ProcessOutput {
    /// Returns the piece as text, or as Base64 if it is not text, and the offset of the next piece. An incomplete
    /// character at the end is left for the next piece.
    #[doc(hidden)]
    pub fn told(bytes: Vec<u8>, next: u64, is_end: bool) -> (Option<String>, Option<String>, u64) {
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

/// `process_written`: the number of bytes that were accepted. The rest did not fit and has to be written again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ProcessWritten {
    /// The process.
    pub process_id: ProcessId,
    /// The number of accepted bytes.
    pub written: u64,
}

/// `process_stopping`: the process was asked to end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ProcessStopping {
    /// The process.
    pub process_id: ProcessId,
}

/// `process_exited`: a process of the agent ended, with everything that it started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ProcessExited {
    /// The process.
    pub process_id: ProcessId,
    /// Its exit.
    #[serde(flatten)]
    pub exit: ProcessExit,
    /// The time of the exit.
    pub ts: Timestamp,
}
