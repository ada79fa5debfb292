//! The status code, the name and the facts of each refusal of the engine.

use axum::http::StatusCode;
use bestow::decision::{CredentialRefusal, Refusal};
use serde_json::{Value, json};

/// Returns the status code of a refusal. An object of another owner looks as if it did not exist.
pub(crate) fn status(refusal: &Refusal) -> StatusCode {
    match refusal {
        Refusal::OtherOwner { .. }
        | Refusal::NotYours(..)
        | Refusal::UnknownRuling(..)
        | Refusal::UnknownRun(..)
        | Refusal::NothingHeldBack
        | Refusal::Gone(..)
        | Refusal::NotYourGrant(..)
        | Refusal::UnknownProcess(..)
        | Refusal::UnknownAgent(..)
        | Refusal::UnknownGrant(..)
        | Refusal::UnknownRequest(..)
        | Refusal::UnknownCode(..) => StatusCode::NOT_FOUND,
        Refusal::NotForeground(..)
        | Refusal::NotHeld { .. }
        | Refusal::NotAllowed(..)
        | Refusal::WiderThanDecided(..)
        | Refusal::HeldOnce { .. }
        | Refusal::InFile(..)
        | Refusal::FromFile(..)
        | Refusal::Protected(..)
        | Refusal::Governs(..)
        | Refusal::Sensitive { .. }
        | Refusal::SelfGrant(..)
        | Refusal::ScopePast(..)
        | Refusal::TooDeep { .. } => StatusCode::FORBIDDEN,
        Refusal::InputClimbs { .. }
        | Refusal::NotForGood(..)
        | Refusal::NotShownWhole { .. }
        | Refusal::UnknownTool { .. }
        | Refusal::InvalidGlob { .. }
        | Refusal::SeveralBases(..)
        | Refusal::NotAsked(..)
        | Refusal::NoChildKind { .. }
        | Refusal::NameOfTask(..)
        | Refusal::NameOfOther { .. }
        | Refusal::ScopeTooWide { .. }
        | Refusal::AmbiguousCode(..)
        | Refusal::OnlyOnce(..) => StatusCode::UNPROCESSABLE_ENTITY,
        Refusal::TooManyDeclarations { .. }
        | Refusal::TooManyPolicies { .. }
        | Refusal::TooManyChildren { .. }
        | Refusal::TooManyAsked { .. }
        | Refusal::AskedAfterNo { .. }
        | Refusal::TooManyChanges { .. }
        | Refusal::TooManyPending { .. }
        | Refusal::TooManyProcesses { .. }
        | Refusal::TooManyGrants { .. } => StatusCode::TOO_MANY_REQUESTS,
        Refusal::Credential(why) => match why {
            CredentialRefusal::Unknown(_) => StatusCode::NOT_FOUND,
            CredentialRefusal::TooMany { .. } => StatusCode::TOO_MANY_REQUESTS,
            CredentialRefusal::Exists(_)
            | CredentialRefusal::Revoked(_)
            | CredentialRefusal::Id
            | CredentialRefusal::Name { .. }
            | CredentialRefusal::NoOwner(_) => StatusCode::CONFLICT,
            _ => StatusCode::CONFLICT,
        },
        Refusal::ProcessEnded(..) => StatusCode::GONE,
        Refusal::AgentExists(..)
        | Refusal::AlreadyResolved(..)
        | Refusal::RunGoesOn(..)
        | Refusal::WrittenBefore(..)
        | Refusal::ToolIsDeclared(..)
        | Refusal::OtherChange { .. }
        | Refusal::RevocationStands(..)
        | Refusal::ProcessGoesOn(..) => StatusCode::CONFLICT,
    }
}

/// Returns the name of a refusal, for programs.
pub(crate) fn code(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::AgentExists(..) => "agent_exists",
        Refusal::Credential(..) => "credential",
        Refusal::AlreadyResolved(..) => "already_resolved",
        Refusal::OtherOwner { .. } => "not_found",
        Refusal::NotForeground(..) => "not_foreground",
        Refusal::NotYours(..) => "not_found",
        Refusal::NotHeld { .. } => "not_held",
        Refusal::NotAllowed(..) => "not_allowed",
        Refusal::WiderThanDecided(..) => "wider_than_decided",
        Refusal::InputClimbs { .. } => "input_climbs",
        Refusal::NotForGood(..) => "not_for_good",
        Refusal::NotShownWhole { .. } => "not_shown_whole",
        Refusal::UnknownRuling(..) => "unknown_ruling",
        Refusal::UnknownRun(..) => "unknown_run",
        Refusal::RunGoesOn(..) => "run_goes_on",
        Refusal::WrittenBefore(..) => "written_before",
        Refusal::UnknownTool { .. } => "unknown_tool",
        Refusal::ToolIsDeclared(..) => "tool_is_declared",
        Refusal::TooManyDeclarations { .. } => "too_many_declarations",
        Refusal::InvalidGlob { .. } => "invalid_glob",
        Refusal::SeveralBases(..) => "several_bases",
        Refusal::TooManyPolicies { .. } => "too_many_policies",
        Refusal::NotAsked(..) => "not_asked",
        Refusal::NothingHeldBack => "nothing_held_back",
        Refusal::Gone(..) => "gone",
        Refusal::HeldOnce { .. } => "held_once",
        Refusal::InFile(..) => "in_file",
        Refusal::NoChildKind { .. } => "no_child_kind",
        Refusal::NameOfTask(..) => "name_of_task",
        Refusal::NameOfOther { .. } => "name_of_other",
        Refusal::TooManyChildren { .. } => "too_many_children",
        Refusal::OtherChange { .. } => "other_change",
        Refusal::FromFile(..) => "from_file",
        Refusal::Protected(..) => "protected",
        Refusal::Governs(..) => "governs",
        Refusal::Sensitive { .. } => "sensitive",
        Refusal::NotYourGrant(..) => "not_your_grant",
        Refusal::RevocationStands(..) => "revocation_stands",
        Refusal::SelfGrant(..) => "self_grant",
        Refusal::ScopeTooWide { .. } => "scope_too_wide",
        Refusal::ScopePast(..) => "scope_past",
        Refusal::TooDeep { .. } => "too_deep",
        Refusal::TooManyAsked { .. } => "too_many_asked",
        Refusal::AskedAfterNo { .. } => "asked_after_no",
        Refusal::TooManyChanges { .. } => "too_many_changes",
        Refusal::TooManyPending { .. } => "too_many_pending",
        Refusal::UnknownProcess(..) => "unknown_process",
        Refusal::ProcessEnded(..) => "process_ended",
        Refusal::TooManyProcesses { .. } => "too_many_processes",
        Refusal::TooManyGrants { .. } => "too_many_grants",
        Refusal::UnknownAgent(..) => "unknown_agent",
        Refusal::UnknownGrant(..) => "unknown_grant",
        Refusal::UnknownRequest(..) => "unknown_request",
        Refusal::UnknownCode(..) => "unknown_code",
        Refusal::AmbiguousCode(..) => "ambiguous_code",
        Refusal::ProcessGoesOn(..) => "process_goes_on",
        Refusal::OnlyOnce(..) => "only_once",
    }
}

/// Returns the facts of a refusal, for programs. A refusal that names nothing more than its message has none.
pub(crate) fn facts(refusal: &Refusal) -> Value {
    match refusal {
        Refusal::AlreadyResolved(how) => json!({
            "requestId": how.request,
            "outcome": how.outcome,
            "decider": how.decider.to_string(),
            "at": how.at,
        }),
        Refusal::NotHeld { agent, permission } | Refusal::HeldOnce { agent, permission } => {
            json!({ "agentId": agent, "permission": permission })
        }
        Refusal::NotAllowed(decision) => json!({ "decisionId": decision.id, "missing": decision.missing }),
        Refusal::WiderThanDecided(permission)
        | Refusal::NotAsked(permission)
        | Refusal::Protected(permission)
        | Refusal::Governs(permission) => json!({ "permission": permission }),
        Refusal::Sensitive { permission, part } => json!({ "permission": permission, "part": part }),
        Refusal::InputClimbs { asked, answered } => json!({ "requested": asked, "answered": answered }),
        Refusal::NotShownWhole { answered } => json!({ "scope": answered }),
        Refusal::ScopeTooWide { asked, answered } => json!({ "requested": asked, "answered": answered }),
        Refusal::ScopePast(scope) => json!({ "scope": scope }),
        Refusal::UnknownTool { tool, run, known } => json!({ "tool": tool, "runId": run, "known": known }),
        Refusal::RunGoesOn(run) | Refusal::SeveralBases(run) => json!({ "runId": run }),
        Refusal::ToolIsDeclared(tool) => json!({ "tool": tool }),
        Refusal::TooManyDeclarations { tools, bytes } => json!({ "mostTools": tools, "mostBytes": bytes }),
        Refusal::TooManyPolicies { run, max } => json!({ "runId": run, "most": max }),
        Refusal::InvalidGlob { glob, .. } => json!({ "glob": glob }),
        Refusal::TooDeep { permission, max } => json!({ "permission": permission, "most": max }),
        Refusal::TooManyChildren { agent, max }
        | Refusal::TooManyAsked { agent, max }
        | Refusal::TooManyChanges { agent, max }
        | Refusal::TooManyPending { agent, max }
        | Refusal::TooManyProcesses { agent, max }
        | Refusal::TooManyGrants { agent, max } => json!({ "agentId": agent, "most": max }),
        Refusal::AskedAfterNo { agent, noes, until } => json!({ "agentId": agent, "denials": noes, "until": until }),
        Refusal::WrittenBefore(before) => json!({ "at": before.at }),
        Refusal::OtherChange { waiting } => json!({ "waiting": waiting }),
        Refusal::FromFile(grant, place) => json!({ "grantId": grant, "place": place.to_string() }),
        Refusal::NotYourGrant(grant) | Refusal::UnknownGrant(grant) => json!({ "grantId": grant }),
        Refusal::NoChildKind { agent, kind } => json!({ "agentId": agent, "kind": kind }),
        Refusal::AgentExists(agent)
        | Refusal::NotForeground(agent)
        | Refusal::Gone(agent)
        | Refusal::InFile(agent)
        | Refusal::NameOfTask(agent)
        | Refusal::NameOfOther { agent, .. }
        | Refusal::SelfGrant(agent) => json!({ "agentId": agent }),
        Refusal::AmbiguousCode(code) => json!({ "code": code.to_string() }),
        Refusal::Credential(..)
        | Refusal::OtherOwner { .. }
        | Refusal::NotYours(..)
        | Refusal::NotForGood(..)
        | Refusal::UnknownRuling(..)
        | Refusal::UnknownRun(..)
        | Refusal::NothingHeldBack
        | Refusal::RevocationStands(..)
        | Refusal::UnknownProcess(..)
        | Refusal::ProcessEnded(..)
        | Refusal::UnknownAgent(..)
        | Refusal::UnknownRequest(..)
        | Refusal::UnknownCode(..)
        | Refusal::ProcessGoesOn(..)
        | Refusal::OnlyOnce(..) => Value::Null,
    }
}
