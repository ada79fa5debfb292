//! The restrictive part of a policy change, and the description of the whole change.
//!
//! Each type is destructured completely. A new setting does not compile until its widening direction is defined here.

use std::{fmt::Debug, sync::Arc};

use serde::Serialize;
use serde_json::Value;

#[cfg(feature = "journal")]
use crate::model::{AgentId, Event};
use crate::{
    kernel::State,
    model::{Interaction, Mode, OnNoUser, Profile, Reads, Rule, SanitizedPath, Settings, Verdict, Widening},
};

impl State {
    /// Returns the settings of this state without what `waiting` takes away. `waiting` are settings that are decided
    /// and not stored yet.
    pub(crate) fn settings_narrowed_by<'s>(&self, waiting: impl Iterator<Item = &'s Settings>) -> Arc<Settings> {
        waiting.fold(Arc::clone(&self.settings), |now, waiting| Arc::new(settings(&now, waiting)))
    }
}

/// Restores earlier restrictions as far as they are stricter than the current state.
#[cfg(feature = "journal")]
impl State {
    pub(in super::super) fn settings_within(&self, once: &Settings) -> Option<Event> {
        let settings = settings(&self.settings, once);
        (settings != *self.settings).then(|| Event::SettingsChanged { settings: Arc::new(settings) })
    }

    pub(in super::super) fn profile_within(&self, once: &Profile) -> Option<Event> {
        let now = &self.agents.get(&once.id)?.profile;
        let profile = profile(now, once);
        (now.owner == once.owner && profile.mode != now.mode)
            .then(|| Event::AgentChanged { profile: Arc::new(Profile { mode: profile.mode, ..Profile::clone(now) }) })
    }

    pub(in super::super) fn mode_within(&self, agent: &AgentId, once: Mode) -> Option<Event> {
        let known = self.agents.get(agent)?;
        let before = known.profile.mode;
        let written = (known.source == crate::model::AgentOrigin::Config).then(|| known.written_mode.unwrap_or(before));
        let is_narrower = before != once && lets_no_more(before, once);
        is_narrower.then(|| Event::ModeChanged { agent: agent.clone(), before, mode: once, written, by: None })
    }

    pub(in super::super) fn rules_within(&self, agent: &AgentId, once: &[Rule]) -> Option<Event> {
        let now = self.agents.get(agent)?.rules.written();
        let rules = rules(now, once);
        (rules != *now).then(|| Event::RulesChanged { agent: agent.clone(), rules })
    }
}

/// Returns the new settings without their widening part.
pub(super) fn settings(now: &Settings, new: &Settings) -> Settings {
    let Settings {
        reads,
        interaction,
        on_no_user,
        widening,
        default_verdict,
        request_timeout,
        denial_memory,
        max_pending,
        max_asks_per_minute,
        max_grants,
        max_children,
        max_processes,
        limits,
        max_depth,
        // A shorter timeout drops more hook verdicts, and these may be allow or deny.
        hook_timeout: _,
        max_facts_per_minute,
        max_changes_per_minute,
        protected,
        governing,
        // Any change of the agent, time or content of a task may widen it.
        tasks: _,
        commands,
        tools,
        sensitive,
    } = new;
    Settings {
        reads: unless(now.reads == Reads::Granted, now.reads, *reads),
        interaction: unless(now.interaction == Interaction::NonInteractive, now.interaction, *interaction),
        on_no_user: unless(now.on_no_user == OnNoUser::Deny, now.on_no_user, *on_no_user),
        widening: unless(now.widening == Widening::Confirm, now.widening, *widening),
        default_verdict: now.default_verdict.max(*default_verdict),
        request_timeout: now.request_timeout.min(*request_timeout),
        denial_memory: now.denial_memory.max(*denial_memory),
        max_pending: now.max_pending.min(*max_pending),
        max_asks_per_minute: now.max_asks_per_minute.min(*max_asks_per_minute),
        max_grants: now.max_grants.min(*max_grants),
        max_children: now.max_children.min(*max_children),
        max_processes: now.max_processes.min(*max_processes),
        limits: now.limits.narrowed(limits),
        max_depth: now.max_depth.min(*max_depth),
        hook_timeout: now.hook_timeout,
        // A lower limit for separate facts makes the record less detailed.
        max_facts_per_minute: now.max_facts_per_minute.max(*max_facts_per_minute),
        max_changes_per_minute: now.max_changes_per_minute.min(*max_changes_per_minute),
        protected: protected.iter().chain(unprotected(now, new)).cloned().collect(),
        // The location of the file is independent of its content.
        governing: Arc::clone(governing),
        tasks: now.tasks.clone(),
        commands: now.commands.narrowed(commands),
        tools: now.tools.narrowed(tools),
        sensitive: with_all(sensitive, &now.sensitive),
    }
}

/// Returns the paths that would no longer be protected. Each engine protects its own memory below `/proc`. After a
/// restart, one such path replaces another, and no agent can read more.
pub(super) fn unprotected<'s>(now: &'s Settings, new: &Settings) -> Vec<&'s SanitizedPath> {
    let is_memory = |path: &SanitizedPath| {
        let process = path.as_str().strip_prefix("/proc/").unwrap_or_default();
        !process.is_empty() && process.bytes().all(|byte| byte.is_ascii_digit())
    };
    let missing = |path: &&SanitizedPath| !new.protected.contains(path);
    let came = new.protected.iter().filter(|path| is_memory(path) && !now.protected.contains(path)).count();
    let went = now.protected.iter().filter(missing).filter(|path| is_memory(path)).count();
    let is_replaced = |path: &SanitizedPath| is_memory(path) && went <= came;
    now.protected.iter().filter(missing).filter(|path| !is_replaced(path)).collect()
}

fn unless<T>(is_narrow: bool, now: T, new: T) -> T {
    if is_narrow { now } else { new }
}

/// Returns the new list plus the entries that were removed from it.
fn with_all<T: Clone + PartialEq>(new: &[T], now: &[T]) -> Arc<[T]> {
    let gone = now.iter().filter(|one| !new.contains(one));
    new.iter().chain(gone).cloned().collect()
}

/// Returns the new profile without changes that could widen.
pub(super) fn profile(now: &Profile, new: &Profile) -> Profile {
    let Profile {
        id,
        owner,
        name,
        // The kinds of agents have no common order of permissions.
        kind: _,
        // The agent's commands may write in this directory.
        working_dir: _,
        mode,
        // An ancestor restricts the agent.
        parent: _,
        // The host starts this command.
        bot,
    } = new;
    Profile {
        id: id.clone(),
        owner: owner.clone(),
        name: name.clone(),
        kind: now.kind,
        working_dir: now.working_dir.clone(),
        mode: unless(!lets_no_more(now.mode, *mode), now.mode, *mode),
        parent: now.parent.clone(),
        bot: bot.as_ref().and(now.bot.clone()),
    }
}

/// Returns true if mode `new` allows nothing without approval that mode `now` does not allow, and asks nothing that
/// `now` refuses. Modes have no single order: `never` allows actions that `untrusted` asks about, and `plan` asks about
/// a read that `never` refuses.
pub(super) fn lets_no_more(now: Mode, new: Mode) -> bool {
    let asks = |mode| !matches!(mode, Mode::Never | Mode::OnFailure);
    match new {
        Mode::Plan => now == new || asks(now),
        Mode::Untrusted => now == new || asks(now) && now != Mode::Plan,
        Mode::Never => now != Mode::Plan && now != Mode::Untrusted,
        Mode::Default | Mode::OnRequest => {
            matches!(now, Mode::Default | Mode::OnRequest | Mode::Bypass | Mode::Auto)
        }
        Mode::OnFailure | Mode::Auto | Mode::Bypass => now == new,
    }
}

/// Returns the new rules, plus the removed rules that restrict, minus the new rules that allow.
pub(super) fn rules(now: &[Rule], new: &[Rule]) -> Arc<[Rule]> {
    let kept = now.iter().filter(|rule| rule.verdict > Verdict::Allow && !has(new, rule));
    let narrower = new.iter().filter(|rule| rule.verdict > Verdict::Allow || has(now, rule));
    narrower.chain(kept).cloned().collect()
}

/// Returns one sentence for each widening change of the rules.
pub(super) fn widening_rules(now: &[Rule], new: &[Rule]) -> Vec<String> {
    let gone = now.iter().filter(|rule| rule.verdict > Verdict::Allow && !has(new, rule));
    let more = new.iter().filter(|rule| rule.verdict == Verdict::Allow && !has(now, rule));
    gone.map(|rule| format!("no longer: {rule}")).chain(more.map(Rule::to_string)).collect()
}

/// Returns one sentence for each restrictive change of the rules.
pub(super) fn narrowing_rules(now: &[Rule], new: &[Rule]) -> Vec<String> {
    let more = new.iter().filter(|rule| rule.verdict > Verdict::Allow && !has(now, rule));
    let gone = now.iter().filter(|rule| rule.verdict == Verdict::Allow && !has(new, rule));
    gone.map(|rule| format!("no longer: {rule}")).chain(more.map(Rule::to_string)).collect()
}

fn has(rules: &[Rule], rule: &Rule) -> bool {
    rules.iter().any(|other| other.says_the_same(rule))
}

/// Returns one sentence for each changed field of an agent.
pub(super) fn changed_profile(now: &Profile, new: &Profile) -> Vec<String> {
    let Profile { id: _, owner, name, kind, working_dir, mode, parent, bot } = now;
    let of = |profile: &Profile| profile.parent.as_ref().map_or("none".to_owned(), ToString::to_string);
    let started = |profile: &Profile| profile.bot.as_ref().map_or("none".to_owned(), ToString::to_string);
    let fields = [
        (owner != &new.owner, "owner", owner.to_string(), new.owner.to_string()),
        (kind != &new.kind, "kind", kind.to_string(), new.kind.to_string()),
        (mode != &new.mode, "mode", mode.to_string(), new.mode.to_string()),
        (working_dir != &new.working_dir, "working_dir", working_dir.to_string(), new.working_dir.to_string()),
        (name != &new.name, "name", now.label().to_string(), new.label().to_string()),
        (parent != &new.parent, "parent", of(now), of(new)),
        (bot != &new.bot, "command", started(now), started(new)),
    ];
    in_words(fields).collect()
}

/// Returns one sentence for each changed setting.
pub(super) fn changed_settings(now: &Settings, new: &Settings) -> Vec<String> {
    let Settings {
        reads,
        interaction,
        on_no_user,
        widening,
        default_verdict,
        request_timeout,
        denial_memory,
        max_pending,
        max_asks_per_minute,
        max_grants,
        max_children,
        max_processes,
        limits,
        max_depth,
        hook_timeout,
        max_facts_per_minute,
        max_changes_per_minute,
        protected: _,
        governing: _,
        tasks,
        commands,
        tools,
        sensitive,
    } = now;
    macro_rules! field {
        ($name:ident, $key:literal) => {
            ($name != &new.$name, $key, in_the_file($name), in_the_file(&new.$name))
        };
    }
    let fields = [
        field!(reads, "reads"),
        field!(interaction, "interaction"),
        field!(on_no_user, "on_no_user"),
        field!(default_verdict, "default_verdict"),
        (widening != &new.widening, "confirm_widening", asks(widening), asks(&new.widening)),
        field!(request_timeout, "request_timeout"),
        field!(denial_memory, "denial_memory"),
        field!(hook_timeout, "hook_timeout"),
        field!(max_pending, "max_pending"),
        field!(max_asks_per_minute, "max_asks_per_minute"),
        field!(max_facts_per_minute, "max_facts_per_minute"),
        field!(max_changes_per_minute, "max_changes_per_minute"),
        field!(max_grants, "max_grants"),
        field!(max_children, "max_children"),
        field!(max_processes, "max_processes"),
        field!(limits, "limits"),
        field!(max_depth, "max_depth"),
        field!(tasks, "tasks"),
    ];
    let unprotected = unprotected(now, new).into_iter().map(|path| format!("{path} is no longer protected"));
    let plain = sensitive.iter().filter(|name| !new.sensitive.contains(name));
    let plain = plain.map(|name| format!("{name} is no longer sensitive"));
    in_words(fields)
        .chain(unprotected)
        .chain(plain)
        .chain(commands.changes(&new.commands))
        .chain(tools.changes(&new.tools))
        .collect()
}

/// Returns a value as the policy file has it, if it is one word there.
fn in_the_file<T: Serialize + Debug>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        Ok(_) | Err(_) => format!("{value:?}"),
    }
}

fn asks(widening: &Widening) -> String {
    (*widening == Widening::Confirm).to_string()
}

fn in_words<const N: usize>(fields: [(bool, &'static str, String, String); N]) -> impl Iterator<Item = String> {
    let changed = fields.into_iter().filter(|(changed, ..)| *changed);
    changed.map(|(_, field, now, new)| format!("{field} from {now} to {new}"))
}
