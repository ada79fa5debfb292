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
            Event::AgentChanged { profile } => write!(f, "{} is described differently", profile.label()),
            Event::ModeChanged { agent, before, mode, by, .. } => {
                write!(f, "{agent} is judged in mode {mode}, and was in {before}: ")?;
                match by {
                    Some(by) => write!(f, "{by} said so"),
                    None => f.write_str("the file says so"),
                }
            }
            Event::AgentRetired { agent } => write!(f, "{agent} is gone"),
            Event::RunEnded { agent, run } => write!(f, "run {run} of {agent} is over"),
            Event::RunBegan { agent, run, by: None } => write!(f, "{agent} began run {run}"),
            Event::RunBegan { agent, run, by: Some(by) } => write!(f, "{agent} began run {run}: {by} said so"),
            Event::GrantIssued { grant } => grant.fmt(f),
            Event::GrantRepeated { grant } => write!(f, "{grant} already"),
            Event::GrantChanged { grant } => {
                write!(f, "now {grant}")?;
                grant.until.map_or(Ok(()), |until| write!(f, ", until {until}"))
            }
            Event::GrantRevoked { grant, ended } => {
                write!(f, "{} {} lost {}: {ended}", grant.id, grant.to, grant.right.permission.describe())
            }
            Event::GrantExpired { grant } => {
                write!(f, "{} {} lost {}: its time is over", grant.id, grant.to, grant.right.permission.describe())
            }
            Event::GrantUsed { grant, permission } => {
                write!(f, "{} {} used its one {}", grant.id, grant.to, permission.describe())
            }
            Event::Requested { request } => write!(f, "[{}] {request}", request.code()),
            Event::Joined { request } => write!(f, "[{}] {} waits for the same answer", request.code(), request.from),
            Event::Routed { request, route } => write!(f, "[{}] goes {route}", request.code()),
            Event::Resolved { resolution, .. } => {
                write!(f, "[{}] {}: {resolution}", resolution.request.code(), resolution.from)
            }
            Event::Evaluated { decision } => write!(f, "{}: {decision}", decision.agent),
            Event::RulingMade { ruling } => ruling.fmt(f),
            Event::RulingUsed { ruling } => write!(f, "{} is used up", ruling.id),
            Event::RulingEnded { ruling, ended } => write!(f, "{} no longer counts: {ended}", ruling.id),
            Event::DeclarationsChanged { owner, tools, by, .. } => {
                write!(f, "{by} declares for agents of {owner}:")?;
                if tools.is_empty() {
                    return f.write_str(" no tool");
                }
                tools.iter().try_for_each(|tool| write!(f, " `{}`", tool.name()))
            }
            Event::ToolsDeclared { run, tools, by, .. } => {
                write!(f, "{by} declared {} tools for {run}", tools.len())
            }
            Event::PolicyForAll { run, policies, by, .. } => {
                write!(f, "{by} set for every new tool of {run}:")?;
                policies.iter().try_for_each(|name| write!(f, " {}", Escaped(name)))
            }
            Event::PolicyUpdated { run, tool, policies, .. } => {
                write!(f, "{tool} of {run} is guarded by:")?;
                policies.iter().try_for_each(|name| write!(f, " {}", Escaped(name)))
            }
            Event::RulesChanged { agent, rules } => write!(f, "{} rules bind {agent}", rules.len()),
            Event::PeerRefused { peer, order, claims, why } => {
                write!(f, "{} may not order `{order}`", Escaped(peer))?;
                claims.as_ref().map_or(Ok(()), |claims| write!(f, " as {claims}"))?;
                write!(f, ": {}", Escaped(why))
            }
            Event::FactsMerged { family, since, counts, last } => {
                let all: Vec<_> = counts.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
                match family {
                    Some(family) => write!(f, "of {family} and its relatives")?,
                    None => f.write_str("of processes that were not heard")?,
                }
                write!(f, ", since {since}: {}; the last: {}", all.join(", "), Escaped(last))
            }
            Event::Refused { by, attempt, why } => write!(f, "{by} may not {attempt}: {}", Escaped(why)),
            Event::CarrierConnected { agent } => write!(f, "{agent} can reach its user"),
            Event::CarrierDisconnected { agent } => write!(f, "{agent} lost its user"),
            Event::UserActive { agent } => write!(f, "a user was active through {agent}"),
            Event::ApproverArrived { owner } => write!(f, "somebody who approves for {owner} is there"),
            Event::ApproverLeft { owner } => write!(f, "somebody who approves for {owner} left"),
            Event::SettingsChanged { .. } => f.write_str("the settings took effect"),
            Event::ConfigReloaded { gained, lost, left_out, agreed } => {
                f.write_str("the file took effect")?;
                agreed.as_ref().map_or(Ok(()), |by| write!(f, ", as {by} agreed"))?;
                change(f, "; gained: ", gained)?;
                change(f, "; lost: ", lost)?;
                left_out.iter().try_for_each(|line| write!(f, "; left out: {line}"))
            }
            Event::ConfigHeldBack { change: number, would_gain, besides, .. } => {
                held_back(f, *number, would_gain, besides)
            }
            Event::ConfigPolled { why } => write!(f, "the file is looked at every now and then: {}", Escaped(why)),
            Event::ConfigRejected { why } => {
                write!(f, "the file was not taken, the last good one stays: {}", Escaped(why))
            }
            Event::SandboxApplied { agent, facts, .. } => {
                write!(f, "a command of {agent} runs under {}, {}", facts.backend, facts.mode)
            }
            Event::SandboxViolated { agent, violation, .. } => {
                write!(
                    f,
                    "a command of {agent} was kept from `{}`: {}",
                    Escaped(violation.path.as_str()),
                    violation.rule
                )
            }
            Event::StoreOpened { cut: None } => f.write_str("the engine goes on from what is stored"),
            Event::StoreOpened { cut: Some(what) } => {
                write!(f, "the engine goes on from what is stored; set aside: {}", Escaped(what))
            }
            Event::StoreFailed { why } => {
                write!(f, "nothing new is given, since it cannot be stored: {}", Escaped(why))
            }
            Event::HookStarted { call } => write!(f, "hook {} is asked about an action of {}", call.hook, call.agent),
            Event::HookCompleted { call, verdict, reason, updated_input_ref } => {
                write!(f, "hook {} says ", call.hook)?;
                f.write_str(verdict.map_or("nothing", Verdict::as_str))?;
                if updated_input_ref.is_some() {
                    f.write_str(", with another input")?;
                }
                reason.as_ref().map_or(Ok(()), |reason| write!(f, ": {}", Escaped(reason)))
            }
            Event::HookFailed { call, why, .. } => {
                write!(f, "hook {} failed, and what it was to say counts as a question: {}", call.hook, Escaped(why))
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
    write!(f, "the file gives more than before; change {number} is held back until a person agrees")?;
    change(f, ": ", would_gain)?;
    besides.iter().try_for_each(|(agent, sentence)| match agent {
        Some(agent) => write!(f, "; {agent}: {}", Escaped(sentence)),
        None => write!(f, "; {}", Escaped(sentence)),
    })
}

fn change(f: &mut fmt::Formatter<'_>, intro: &str, rights: &[(AgentId, Permission)]) -> fmt::Result {
    for (place, (agent, permission)) in rights.iter().enumerate() {
        write!(f, "{}{agent} ", if place == 0 { intro } else { ", " })?;
        list_permissions(f, [permission])?;
    }
    Ok(())
}
