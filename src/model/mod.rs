//! The value types of bestow. Each value is parsed once. No code here reads a disk, a clock or the environment, waits,
//! or makes a decision.

mod action;
mod agent;
mod command_fingerprint;
mod credential_change;
mod decision;
mod details;
mod digest;
mod domain;
mod duration;
mod envelope;
mod event;
mod file_identity;
mod floor;
mod glob;
mod grant;
mod id;
mod keyed_write;
mod limits;
mod or_text;
mod permission_set;
mod policy;
mod process;
mod redact;
mod request;
mod revocation;
mod rule;
mod sandbox;
mod saved_decision;
mod serde_text;
mod task;
mod text;
mod time;
#[cfg(feature = "schedule")]
mod time_zone;
mod tool_policy;
mod used;
mod verdict;

pub use action::{Action, ActionFacts, CommandShape, Destructive};
pub(crate) use action::{What, cut, cut_to};
pub use agent::{AgentOrigin, BotCommand, InvalidMode, Kind, Mode, Profile};
pub(crate) use bestow_command::internal::{
    Below, Coverage, GIVEN, MAX_PERMISSIONS, Named, Obeyed, Obeys, Quoted, Said, Selection, Spoken, SpokenPart,
    StartDir, Ticked, base_name, canonical_host, command_lines, held_in_place, is_deceptive, is_device_name,
    list_permissions, may_match, part_kept_from_commands, sensitive_part,
};
#[cfg(feature = "sandbox")]
pub(crate) use bestow_command::internal::{
    OBEYED_IN_REPOSITORY, REPOSITORY, is_sensitive_name, makes_a_repository, table_fingerprint,
};
pub use bestow_command::values::{
    Access, CodingAgent, CommandPattern, Escaped, Field, InvalidField, InvalidOperation, InvalidPath, InvalidPattern,
    InvalidPermission, InvalidPermissions, InvalidSensitiveName, InvalidTool, InvalidToolName, InvalidToolPath,
    Operation, Permission, PermissionRef, Permissions, SanitizedPath, SensitiveName, Tool, ToolName, ToolPath, Tools,
    sanitize,
};
#[cfg(feature = "config")]
pub(crate) use bestow_command::values::{CommandProfile, Raise, SafeAddition};
pub(crate) use bestow_command::values::{CommandRules, Shell, Tier};
pub use command_fingerprint::CommandFingerprint;
pub use credential_change::{CredentialChange, CredentialEvent, CredentialHolder, CredentialOrder, RecordedCredential};
pub use decision::{Decision, DecisionFields, DecisionSource, Ruled};
pub use details::{Details, is_shown_whole};
pub(crate) use digest::{DIGEST, DIGEST_LEN, DigestTexts};
pub use digest::{Digest, InvalidDigest, LazyDigest};
pub use domain::{Domain, InvalidDomain};
#[cfg(feature = "config")]
#[cfg(feature = "config")]
pub(crate) use duration::parse as parse_duration;
pub use duration::{InvalidDuration, parse_or_bare as parse_duration_or_bare};
pub use envelope::{Envelope, Ids, InvalidEnvelope, Reference, camel_case};
pub use event::{Cause, Event, HeldChange, HookCall, Recorded};
pub use file_identity::{Anchor, FileIdentity};
pub use floor::Floor;
pub(crate) use floor::{ByName, OF_BESTOW, by_name};
pub use glob::{InvalidGlob, PathGlob, Reach};
pub use grant::{Actor, Ended, Grant, Hold, InvalidScope, Means, Origin, PinnedPermission, Place, Scope};
pub use id::{
    AgentId, ApproverId, CallId, Code, CommandId, DecisionId, GrantId, HookName, InvalidCommandId, InvalidDecisionId,
    InvalidGrantId, InvalidId, InvalidProcessId, InvalidRequestId, InvalidSavedDecisionId, InvalidViolationId, OwnerId,
    ProcessId, RequestId, RunId, RuntimeId, SavedDecisionId, ViolationId,
};
pub use keyed_write::{KeyedWrite, WriteKey};
pub use limits::{InvalidLimit, Limit, Limits};
pub use or_text::{InvalidText, OrText};
pub use permission_set::{PermissionSet, Reads};
pub use policy::{AgentPolicy, Interaction, LeftOut, OnNoUser, Policy, PolicyPermission, Settings, Widening};
pub use process::{OutputStream, Process, ProcessEvent, ProcessExit, StopCause};
pub(crate) use redact::{Secrets, has_mark, redacted, redacted_value, redacted_with};
pub(crate) use request::Allowed;
pub use request::{Answer, Decider, Lasting, Outcome, Pending, PermissionRequest, Reply, Request, Resolution, Route};
pub use revocation::Revocation;
pub(crate) use revocation::Revoked;
pub use rule::{Rule, RuleCwd, RuleRef};
pub use sandbox::{BlockedAccess, SandboxFacts, SandboxViolation};
pub use saved_decision::{SavedDecision, Subject};
pub use task::{
    CatchUp, FileVersion, GateOutcome, InvalidTaskId, OnMissing, Skip, TaskEnd, TaskEvent, TaskId, TaskKind,
    TaskSettings,
};
pub(crate) use text::MAX_REASON_CHARS;
pub use text::{InvalidName, InvalidReason, Name, Reason};
pub use time::{InvalidTimestamp, Timestamp};
#[cfg(feature = "schedule")]
pub(crate) use time_zone::Shown;
#[cfg(feature = "schedule")]
pub use time_zone::{TimeZone, UnknownTimeZone};
pub use tool_policy::{PathPolicy, PolicyPatch, ToolPolicies, ToolPolicy};
pub use used::{UseFacts, UseOrigin};
pub use verdict::{Effect, InvalidVerdict, Verdict};
