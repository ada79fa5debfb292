//! The text form of events, for people.

use std::{fmt, sync::Arc};

use super::{
    super::{AgentId, Escaped, Permission, Verdict, list_permissions},
    Event,
};

/// Formats the event on one readable line.
impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::AgentRegistered { profile, .. } => {
                write!(f, "{} ({}) belongs to {}", profile.label(), profile.kind, profile.owner)
            }
            Event::AgentChanged { profile } => write!(f, "the description of {} changed", profile.label()),
            Event::ModeChanged { agent, before, mode, by, .. } => {
                write!(f, "the mode of {agent} changed from {before} to {mode}, ")?;
                match by {
                    Some(by) => write!(f, "set by {by}"),
                    None => f.write_str("set by the policy file"),
                }
            }
            Event::AgentRetired { agent } => write!(f, "{agent} was removed"),
            Event::RunEnded { agent, run } => write!(f, "run {run} of {agent} ended"),
            Event::RunBegan { agent, run, by: None } => write!(f, "{agent} began run {run}"),
            Event::RunBegan { agent, run, by: Some(by) } => write!(f, "{agent} began run {run}, started by {by}"),
            Event::GrantIssued { grant } => grant.fmt(f),
            Event::GrantRepeated { grant } => write!(f, "unchanged: {grant}"),
            Event::GrantChanged { grant } => {
                write!(f, "changed: {grant}")?;
                grant.until.map_or(Ok(()), |until| write!(f, ", until {until}"))
            }
            Event::GrantRevoked { grant, ended } => {
                write!(f, "{} {} lost {}: {ended}", grant.id, grant.to, grant.pinned.permission.describe())
            }
            Event::GrantExpired { grant } => {
                write!(f, "{} {} lost {}: it expired", grant.id, grant.to, grant.pinned.permission.describe())
            }
            Event::GrantUsed { grant, permission } => {
                write!(f, "{} {} consumed its one-time permission: {}", grant.id, grant.to, permission.describe())
            }
            Event::Requested { request } => write!(f, "[{}] {request}", request.code()),
            Event::Joined { request } => write!(f, "[{}] {} waits for the same answer", request.code(), request.from),
            Event::Routed { request, route } => write!(f, "[{}] is routed {route}", request.code()),
            Event::Resolved { resolution, .. } => {
                write!(f, "[{}] {}: {resolution}", resolution.request.code(), resolution.from)
            }
            Event::Evaluated { decision } => write!(f, "{}: {decision}", decision.agent),
            Event::RulingMade { ruling } => ruling.fmt(f),
            Event::RulingUsed { ruling } => write!(f, "{} was consumed", ruling.id),
            Event::RulingEnded { ruling, ended } => write!(f, "{} ended: {ended}", ruling.id),
            Event::DeclarationsChanged { owner, tools, by, .. } => {
                write!(f, "{by} declared tools for the agents of {owner}:")?;
                if tools.is_empty() {
                    return f.write_str(" none");
                }
                tools.iter().try_for_each(|tool| write!(f, " `{}`", tool.name()))
            }
            Event::ToolsDeclared { run, tools, by, .. } => {
                write!(f, "{by} declared {} tools for run {run}", tools.len())
            }
            Event::PolicyForAll { run, policies, by, .. } => {
                write!(f, "{by} set policies for every new tool of run {run}:")?;
                policies.iter().try_for_each(|name| write!(f, " {}", Escaped(name)))
            }
            Event::PolicyUpdated { run, tool, policies, .. } => {
                write!(f, "the policies of {tool} in run {run} are now:")?;
                policies.iter().try_for_each(|name| write!(f, " {}", Escaped(name)))
            }
            Event::RulesChanged { agent, rules } => write!(f, "{} rules apply to {agent}", rules.len()),
            Event::PeerRefused { peer, order, claims, why } => {
                write!(f, "{} tried to order `{order}`", Escaped(peer))?;
                claims.as_ref().map_or(Ok(()), |claims| write!(f, " as {claims}"))?;
                write!(f, " and was refused: {}", Escaped(why))
            }
            Event::CredentialChanged { change } => change.fmt(f),
            Event::WriteKeyed { write } => write.fmt(f),
            Event::FactsMerged { family, since, counts, last } => {
                let all: Vec<_> = counts.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
                match family {
                    Some(family) => write!(f, "merged events of {family} and its relatives")?,
                    None => f.write_str("merged events of refused processes")?,
                }
                write!(f, ", since {since}: {}; the last: {}", all.join(", "), Escaped(last))
            }
            Event::Refused { by, attempt, why } => {
                write!(f, "{by} tried to {attempt} and was refused: {}", Escaped(why))
            }
            Event::CarrierConnected { agent } => write!(f, "the user of {agent} connected"),
            Event::CarrierDisconnected { agent } => write!(f, "the user of {agent} disconnected"),
            Event::UserActive { agent } => write!(f, "the user of {agent} was active"),
            Event::ApproverArrived { owner } => write!(f, "an approver of {owner} connected"),
            Event::ApproverLeft { owner } => write!(f, "the approvers of {owner} disconnected"),
            Event::SettingsChanged { .. } => f.write_str("the settings changed"),
            Event::ConfigReloaded { gained, lost, widened, narrowed, left_out, agreed } => {
                f.write_str("the policy file took effect")?;
                agreed.as_ref().map_or(Ok(()), |by| write!(f, ", approved by {by}"))?;
                change(f, "; gained: ", gained)?;
                change(f, "; lost: ", lost)?;
                sentences(f, "allows more: ", widened)?;
                sentences(f, "allows less: ", narrowed)?;
                left_out.iter().try_for_each(|line| write!(f, "; left out: {line}"))
            }
            Event::ConfigHeldBack { change: number, would_gain, besides, .. } => {
                held_back(f, *number, would_gain, besides)
            }
            Event::ConfigPolled { why } => write!(f, "the engine polls the policy file at intervals: {}", Escaped(why)),
            Event::ConfigRejected { why } => {
                write!(f, "the policy file was rejected, and the last valid version stays in effect: {}", Escaped(why))
            }
            Event::SandboxApplied { agent, facts, .. } => {
                write!(f, "a command of {agent} runs under {}, {}", facts.backend, facts.mode)
            }
            Event::SandboxEnded { agent, exit, .. } => write!(f, "a command of {agent} {exit}"),
            Event::SandboxViolated { agent, violation, .. } => {
                write!(f, "the sandbox blocked a command of {agent} at `{}`: {}", violation.access, violation.rule)
            }
            Event::StoreOpened { cut: None, .. } => f.write_str("the engine continues from the stored state"),
            Event::StoreOpened { cut: Some(what), .. } => {
                write!(f, "the engine continues from the stored state; set aside: {}", Escaped(what))
            }
            Event::StoreFailed { why } => {
                write!(f, "the store failed, and the engine gives no new permission: {}", Escaped(why))
            }
            Event::HookStarted { call } => write!(f, "hook {} evaluates an action of {}", call.hook, call.agent),
            Event::HookCompleted { call, verdict, reason, updated_input_ref } => {
                write!(f, "hook {} returned ", call.hook)?;
                f.write_str(verdict.map_or("nothing", Verdict::as_str))?;
                if updated_input_ref.is_some() {
                    f.write_str(" with a changed input")?;
                }
                reason.as_ref().map_or(Ok(()), |reason| write!(f, ": {}", Escaped(reason)))
            }
            Event::HookFailed { call, why, .. } => {
                write!(f, "hook {} failed, which counts as a question: {}", call.hook, Escaped(why))
            }
            Event::Process(event) => event.fmt(f),
            Event::Task(event) => event.fmt(f),
        }
    }
}

pub(super) fn held_back(
    f: &mut fmt::Formatter<'_>,
    number: u64,
    would_gain: &[(AgentId, Permission)],
    besides: &[(Option<AgentId>, Arc<str>)],
) -> fmt::Result {
    write!(f, "the policy file gives more than before; change {number} waits for the approval of a person")?;
    change(f, ": ", would_gain)?;
    sentences(f, "", besides)
}

fn sentences(f: &mut fmt::Formatter<'_>, intro: &str, all: &[(Option<AgentId>, Arc<str>)]) -> fmt::Result {
    all.iter().try_for_each(|(agent, sentence)| match agent {
        Some(agent) => write!(f, "; {intro}{agent}: {}", Escaped(sentence)),
        None => write!(f, "; {intro}{}", Escaped(sentence)),
    })
}

fn change(f: &mut fmt::Formatter<'_>, intro: &str, permissions: &[(AgentId, Permission)]) -> fmt::Result {
    for (place, (agent, permission)) in permissions.iter().enumerate() {
        write!(f, "{}{agent} ", if place == 0 { intro } else { ", " })?;
        list_permissions(f, [permission])?;
    }
    Ok(())
}
