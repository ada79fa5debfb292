//! What each stage says, alone.

use std::sync::Arc;

use crate::model::{
    Access, DecisionSource as Source, Grant, Mode, Operation, Permission, Right, RuleRef, Ruled, Scope, Shown, Tier,
    Verdict, redacted,
};

use super::{super::considered::Target, Case, Finding, Opinion, hear::Heard};

/// What of the rights that an action uses is there.
#[derive(Debug, Default)]
pub(super) struct Held {
    pub(super) missing: Vec<Right>,
    /// Rights for one use that it needs.
    pub(super) once: Vec<Arc<Grant>>,
}

pub(super) fn held(case: &Case<'_>) -> Held {
    let mut held = Held::default();
    for right in &case.action.needs {
        if case.state.uses(case.agent, &right.permission, case.now, case.broken) {
            continue;
        }
        match case.state.one_shot(case.agent, &right.permission, case.broken, case.now) {
            Some(grant) if held.once.iter().any(|used: &Arc<Grant>| used.id == grant.id) => {
                held.missing.push(right.clone());
            }
            Some(grant) => held.once.push(Arc::clone(grant)),
            None => held.missing.push(right.clone()),
        }
    }
    held
}

pub(super) fn protected(case: &Case<'_>) -> Option<Finding> {
    if let Target::Invalid { why, .. } = &case.action.target {
        return Some(Finding::new(Ruled::Deny, Source::HostPolicy, why.as_ref().to_owned()));
    }
    let paths = case.action.permissions().filter_map(|permission| Some((permission, permission.path()?)));
    let protected: Vec<_> = paths
        .filter(|(permission, _)| {
            case.state.is_protected(permission) && !case.state.uses(case.agent, permission, case.now, case.broken)
        })
        .map(|(_, path)| RuleRef::Protected(path.clone()))
        .collect();
    let finding = || Finding::new(Ruled::Deny, Source::HostPolicy, "protected: no grant reaches it");
    (!protected.is_empty()).then(|| finding().because_of(protected))
}

pub(super) fn denied(case: &Case<'_>, heard: &Heard) -> Option<Finding> {
    if !heard.denies.is_empty() {
        let source =
            if heard.denies.iter().all(|rule| matches!(rule, RuleRef::Hook(_))) { Source::Hook } else { Source::Rule };
        let all = heard.denies.iter().chain(&heard.session_denies).cloned().collect();
        let by = if all_policies(&heard.denies) { "denied by a policy" } else { "denied by a rule" };
        let by = (source != Source::Hook).then(|| by.to_owned());
        let reason = by.into_iter().chain(hooks_say(case, Verdict::Deny)).collect::<Vec<_>>().join("; ");
        return Some(Finding::new(Ruled::Deny, source, reason).because_of(all));
    }
    if heard.session_denies.is_empty() || heard.overridden {
        return None;
    }
    let denied = heard.session_denies.clone();
    let may_be_asked = case.action.tier != Some(Tier::Destructive) || heard.enabled;
    Some(if case.action.overrides && may_be_asked {
        Finding::new(Ruled::Ask, Source::Human, "policy-deny-override").because_of(denied)
    } else {
        Finding::new(Ruled::Deny, Source::Human, said_no(case, &denied)).because_of(denied)
    })
}

/// For how long a person said no: for the longest, if several did.
fn said_no(case: &Case<'_>, noes: &[RuleRef]) -> &'static str {
    let ids = noes.iter().filter_map(|rule| if let RuleRef::Ruling(id) = rule { Some(id) } else { None });
    let scopes: Vec<_> = ids.filter_map(|id| Some(case.state.rulings.get(id)?.scope)).collect();
    if scopes.contains(&Scope::Always) {
        "a person said no for good"
    } else if scopes.iter().any(|scope| matches!(scope, Scope::Until(_))) {
        "a person said no for a time"
    } else {
        "a person said no for this run"
    }
}

/// What the hooks say that say this, as a person should read it.
fn hooks_say(case: &Case<'_>, verdict: Verdict) -> Vec<String> {
    case.opinions.iter().filter(|opinion| opinion.verdict == verdict).map(Opinion::told).collect()
}

pub(super) fn mode(case: &Case<'_>, mode: Mode) -> Option<Finding> {
    let forbids = match mode {
        Mode::Plan => match case.action.operation {
            Operation::Read => false,
            Operation::Command => case.action.tier != Some(Tier::Safe) || !only_reads(case),
            Operation::Write | Operation::Exec | Operation::Network => true,
        },
        Mode::Default
        | Mode::Untrusted
        | Mode::OnRequest
        | Mode::OnFailure
        | Mode::Never
        | Mode::Bypass
        | Mode::Auto => false,
    };
    forbids.then(|| Finding::new(Ruled::Deny, Source::Mode, "in mode plan, nothing but reading happens"))
}

pub(super) fn destructive(case: &Case<'_>, heard: &Heard) -> Option<Finding> {
    if case.action.tier != Some(Tier::Destructive) || heard.enabled {
        return None;
    }
    Some(Finding::new(Ruled::Deny, Source::Classifier, case.action.tier_reason.as_ref().to_owned()))
}

pub(super) fn missing(held: &Held) -> Option<Finding> {
    if held.missing.is_empty() {
        return None;
    }
    let missing: Vec<_> = held.missing.iter().map(|right| right.permission.describe().to_string()).collect();
    Some(Finding::new(Ruled::Ask, Source::HostPolicy, format!("not held: {}", missing.join(", "))))
}

pub(super) fn ask_rule(case: &Case<'_>, heard: &Heard) -> Option<Finding> {
    if heard.asks.is_empty() || heard.yes.is_some() {
        return None;
    }
    let source =
        if heard.asks.iter().all(|rule| matches!(rule, RuleRef::Hook(_))) { Source::Hook } else { Source::Rule };
    let by = if all_policies(&heard.asks) { "a policy wants a person to say" } else { "a rule wants a person to say" };
    let by = (source != Source::Hook).then(|| by.to_owned());
    let reason = by.into_iter().chain(hooks_say(case, Verdict::Ask)).collect::<Vec<_>>().join("; ");
    Some(Finding::new(Ruled::Ask, source, reason).because_of(heard.asks.clone()))
}

pub(super) fn allow_rule(heard: &Heard) -> Option<Finding> {
    if let Some(ruling) = &heard.yes {
        let refs = vec![RuleRef::Ruling(ruling.id)];
        return Some(Finding::new(Ruled::Allow, Source::Human, "a person said yes").because_of(refs));
    }
    let reason = if all_policies(&heard.allows) { "allowed by a policy" } else { "allowed by a rule" };
    let finding = || Finding::new(Ruled::Allow, Source::Rule, reason);
    (!heard.allows.is_empty()).then(|| finding().because_of(heard.allows.clone()))
}

fn all_policies(rules: &[RuleRef]) -> bool {
    // Hooks speak beside them.
    rules.iter().filter(|rule| !matches!(rule, RuleRef::Hook(_))).all(RuleRef::is_policy)
}

pub(super) fn tier(case: &Case<'_>, mode: Mode, heard: &Heard) -> Option<Finding> {
    let tier = case.action.tier?;
    let reason = case.action.tier_reason.as_ref().to_owned();
    if tier == Tier::Safe || is_written_by_name(case) {
        return Some(if mode == Mode::Untrusted && !only_reads(case) {
            Finding::new(Ruled::Ask, Source::Mode, "in mode untrusted, only known reads happen by themselves")
        } else {
            Finding::new(Ruled::Allow, Source::Classifier, reason)
        });
    }
    // A failing hook has said "ask" or "deny", so whoever says yes here has looked.
    if mode == Mode::Auto && !heard.hook_allows.is_empty() {
        return Some(
            Finding::new(Ruled::Allow, Source::Hook, "allowed by a hook").because_of(heard.hook_allows.clone()),
        );
    }
    confined(case, mode).or_else(|| Some(Finding::new(Ruled::Ask, Source::Classifier, reason + &left_over(case))))
}

/// What is sensitive is written only by who holds a right that names it: that right is the yes.
fn is_written_by_name(case: &Case<'_>) -> bool {
    case.action.operation == Operation::Write && matches!(case.action.target, Target::Path(_))
}

/// What of a command line the rules leave over that allow a part of it: the reason of a tier may name just that part.
fn left_over(case: &Case<'_>) -> String {
    let Some(part) = case.agent.rules.left_over(case.action) else { return String::new() };
    let program = part.runs.as_ref().and_then(|command| command.words.first()?.written());
    match program {
        Some(program) => format!("; rules allow a part of it, and none allows `{}`", Shown(&redacted(program))),
        None => "; rules allow a part of it, and none the rest".to_owned(),
    }
}

/// A command or a program that needs nobody's word, since it runs in the sandbox: in the mode in which those are tried there
/// before anybody is asked, or because the host program has it done there. Modes in which nothing but reads happens by
/// itself, and those in which a question is a no, stay as they are.
fn confined(case: &Case<'_>, mode: Mode) -> Option<Finding> {
    let runs = matches!(case.action.operation, Operation::Command | Operation::Exec);
    let by_mode = || Finding::new(Ruled::Sandboxed, Source::Mode, "in mode on_failure, it runs confined first");
    let by_host = || Finding::new(Ruled::Sandboxed, Source::HostPolicy, "it runs confined to what it names");
    match mode {
        Mode::OnFailure => runs.then(by_mode),
        Mode::Default | Mode::OnRequest | Mode::Bypass | Mode::Auto => (runs && case.action.confined).then(by_host),
        Mode::Untrusted | Mode::Never | Mode::Plan => None,
    }
}

/// Whether an action reads and does nothing else: a command that names a right to more may use it.
fn only_reads(case: &Case<'_>) -> bool {
    let reads = |need: &Permission| matches!(need, Permission::Path(Access::Read, _));
    matches!(case.action.operation, Operation::Read | Operation::Command) && case.action.permissions().all(reads)
}

/// Nothing spoke.
pub(super) fn default(case: &Case<'_>, mode: Mode) -> Finding {
    if let Some(confined) = confined(case, mode).filter(|_| case.state.settings.default_verdict != Verdict::Deny) {
        return confined;
    }
    let ruled = match case.state.settings.default_verdict {
        Verdict::Allow | Verdict::Ask => Ruled::Ask,
        Verdict::Deny => Ruled::Deny,
    };
    Finding::new(ruled, Source::HostPolicy, "nothing allows it")
}
