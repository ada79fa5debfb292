//! The value types of bestow. Each value is parsed once. No code here reads a disk, a clock or the environment, waits,
//! or makes a decision.

mod action;
mod agent;
mod command;
mod command_fingerprint;
mod decision;
mod details;
mod digest;
#[cfg(any(feature = "sandbox", feature = "schedule"))]
mod domain;
mod duration;
mod envelope;
mod event;
mod field;
mod file_identity;
mod floor;
mod glob;
mod grant;
mod host;
mod id;
mod limits;
mod named;
mod path;
mod pattern;
mod permission;
mod permission_set;
mod policy;
mod process;
mod redact;
mod request;
mod rule;
mod sandbox;
mod saved_decision;
mod script;
mod sensitive;
mod spoken;
mod task;
mod text;
mod time;
mod tool;
mod tool_path;
mod tool_policy;
mod used;
mod verdict;

pub use action::{Action, ActionFacts, CommandShape, Destructive, InvalidOperation, Operation};
pub(crate) use action::{GIVEN, What, cut, cut_to};
pub use agent::{AgentOrigin, InvalidMode, Kind, Mode, Profile};
pub use command::{CommandProfile, CommandRules, InvalidProfile, InvalidTier, Raise, SafeAddition, Tier};
pub use command_fingerprint::CommandFingerprint;
pub use decision::{Decision, DecisionSource, Ruled};
pub use details::Details;
pub use digest::{Digest, InvalidDigest};
#[cfg(any(feature = "sandbox", feature = "schedule"))]
pub use domain::{Domain, InvalidDomain};
#[cfg(feature = "config")]
pub(crate) use duration::parse as parse_duration;
#[cfg(feature = "stdio")]
pub(crate) use envelope::camel_case;
pub use envelope::{Envelope, Ids, InvalidEnvelope, Reference};
pub use event::{Cause, Event, HeldChange, HookCall, Recorded};
pub(crate) use field::Found;
pub use field::{Field, InvalidField};
pub use file_identity::{Anchor, FileIdentity};
pub use floor::Floor;
pub(crate) use floor::{ByName, by_name, is_device_name};
pub use glob::{InvalidGlob, PathGlob, Reach};
pub use grant::{Actor, Ended, Grant, Hold, InvalidScope, Means, Origin, Place, Right, Scope};
pub(crate) use host::{canonical_host, percent_decoded};
pub use id::{
    AgentId, ApproverId, CallId, Code, DecisionId, GrantId, HookName, InvalidDecisionId, InvalidGrantId, InvalidId,
    InvalidProcessId, InvalidRequestId, InvalidSavedDecisionId, InvalidViolationId, OwnerId, ProcessId, RequestId,
    RunId, RuntimeId, SavedDecisionId, ToolName, ViolationId,
};
pub use limits::{InvalidLimit, Limit, Limits};
pub(crate) use named::{Below, Named};
pub use path::{InvalidPath, SanitizedPath, sanitize};
pub(crate) use pattern::Coverage;
pub use pattern::{CommandPattern, InvalidPattern};
pub(crate) use permission::MAX_PERMISSIONS;
pub use permission::{Access, InvalidPermission, InvalidPermissions, Permission, PermissionRef, Permissions};
pub use permission_set::{PermissionSet, Reads};
pub use policy::{AgentPolicy, BaseRight, Interaction, LeftOut, OnNoUser, Policy, Settings, Widening};
pub use process::{OutputStream, Process, ProcessEvent, ProcessExit, StopCause};
pub(crate) use redact::{Secrets, has_mark, redacted, redacted_value, redacted_with};
pub(crate) use request::Allowed;
pub use request::{Answer, Decider, Outcome, Pending, PermissionRequest, Reply, Request, Resolution, Route};
pub use rule::{Rule, RuleCwd, RuleRef};
pub use sandbox::{SandboxFacts, SandboxViolation};
pub use saved_decision::{SavedDecision, Subject};
#[doc(hidden)]
pub use sensitive::sensitive_examples;
pub(crate) use sensitive::{Columns, columns_of_text, sensitive_part};
pub use sensitive::{InvalidSensitiveName, SensitiveName};
#[cfg(feature = "sandbox")]
pub(crate) use sensitive::{
    OBEYED_IN_REPOSITORY, REPOSITORY, held_in_place, is_sensitive_name, makes_a_repository, table_fingerprint,
};
pub(crate) use spoken::{Ends, Obeyed, Obeys, Said, Spoken, SpokenPart, StartDir, base_name};
pub use task::{
    CatchUp, FileVersion, GateOutcome, InvalidTaskId, OnMissing, Skip, TaskEnd, TaskEvent, TaskId, TaskKind,
    TaskSettings,
};
pub(crate) use text::MAX_REASON_CHARS;
pub(crate) use text::Quoted;
pub use text::{Escaped, InvalidName, InvalidReason, Name, Reason};
pub use time::{InvalidTimestamp, Timestamp};
pub use tool::{InvalidTool, Tool, Tools};
pub use tool_path::{InvalidToolPath, ToolPath};
pub use tool_policy::{PathPolicy, PolicyPatch, ToolPolicies, ToolPolicy};
pub use used::{UseFacts, UseOrigin};
pub use verdict::{Effect, InvalidVerdict, Verdict};
