//! The calls of tools in the sessions of a host, and the answers about them.

use std::{path::PathBuf, sync::Arc, time::Duration};

use async_trait::async_trait;
use bestow::{
    AgentId,
    command::Shell,
    request::RequestId,
    tool::{CodingAgent, ToolName},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    failure::Failure,
    id::{SessionId, SubagentId},
};

/// The caller of a tool: a session of a host, or one subagent in it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "a host states all of it")]
pub struct Caller {
    /// The session.
    pub session: SessionId,
    /// The subagent, if the call is not of the session itself.
    pub subagent: Option<Subagent>,
    /// The directory in which the call would happen. Relative paths in its input begin there.
    pub working_dir: PathBuf,
    /// The shell that runs the commands of the session, if the host tells.
    pub shell: Shell,
}

/// A subagent of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "a host states all of it")]
pub struct Subagent {
    /// Its id, which is unique in the session.
    pub id: SubagentId,
    /// Its type, as the host names it. The agent `HOST:TYPE` of the policy file limits it.
    pub kind: Option<Arc<str>>,
}

/// The end of a question that nobody answers in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "a question stays or goes")]
pub enum Unanswered {
    /// It goes on waiting. A later approval holds for an equal call.
    Leave,
    /// It is withdrawn. No approval is left behind, because somebody else decides about the call.
    Withdraw,
}

/// A call of a tool that is about to happen.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "a host states all of it")]
pub struct Call {
    /// The caller.
    pub caller: Caller,
    /// The coding agent whose tool it is, if it is a known one. Its tools without an effect outside of its session need
    /// no approval.
    pub coding_agent: Option<CodingAgent>,
    /// The tool.
    pub tool: ToolName,
    /// The whole input of the tool.
    pub input: Value,
    /// The longest time that the answer waits for a person. It does not wait if no person is there.
    pub wait: Duration,
    /// The end of the question when that time is over.
    pub unanswered: Unanswered,
    /// True if the host can call the tool with another input than that of the call. The approval of a changed input is
    /// then used by this call ([`Answer::Changed`]). Otherwise it is left for the next call with the changed input.
    pub can_replace_input: bool,
}

/// The answer about a call. Only [`Answer::Allowed`] lets the call happen as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case", rename_all_fields = "camelCase", deny_unknown_fields)]
#[allow(clippy::exhaustive_enums, reason = "a host must know all of them")]
pub enum Answer {
    /// The call may happen now, once. Approvals for it are used.
    Allowed {
        /// The reason, for people.
        reason: String,
        /// The remark of the person who approved the call, for the model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        feedback: Option<String>,
    },
    /// The call may not happen as it is. A person approved this input instead. If the host can replace the input, the
    /// tool may be called with it now, once. Otherwise the next call with it is allowed.
    Changed {
        /// The approved input.
        input: Value,
        /// The reason, for people.
        reason: String,
    },
    /// The call may not happen.
    Denied {
        /// The reason, for people and for the model.
        reason: String,
    },
    /// The call may not happen yet: a person must decide.
    Waits {
        /// The request that waits, or waited until it was withdrawn.
        #[serde(rename = "requestId")]
        id: RequestId,
        /// The short code of the request, for people.
        code: String,
        /// The reason, for people.
        reason: String,
    },
}

/// The sessions of one host. Every error means that a call may not happen.
#[async_trait]
pub trait Sessions: Send + Sync {
    /// Answers about a call of a tool. The session and the subagent begin with their first call.
    async fn call(&self, call: Call) -> Result<Answer, Failure>;

    /// Begins a session or a subagent. Returns the id of its agent. Nothing happens if it has begun already.
    async fn begin(&self, caller: Caller) -> Result<AgentId, Failure>;

    /// Ends a session with its subagents, or one subagent. Nothing happens if there is none.
    async fn end(&self, session: SessionId, subagent: Option<SubagentId>) -> Result<(), Failure>;
}
