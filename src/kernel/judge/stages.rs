//! What each stage says, alone.

use std::sync::Arc;

use crate::model::{
    ByName, DecisionSource as Source, Grant, Mode, Operation, Right, RuleRef, Ruled, Ruling, SanitizedPath, Scope,
    Subject, Tier, UseOrigin, Verdict, by_name,
};

use super::{
    super::{considered::Target, uses::Use},
    Case, Finding, Opinion,
    hear::{Heard, Voice},
};

/// How many rights one question asks for, as a request does.
const MOST_ASKED: usize = 32;

/// What of the rights that an action uses is there.
#[derive(Debug, Default)]
pub(super) struct Held {
    pub(super) missing: Vec<Right>,
    /// The places of the uses that lack them.
    pub(super) lacking: Vec<usize>,
    /// Rights for one use that it needs.
    pub(super) once: Vec<Arc<Grant>>,
    /// Yeses to exactly this action that bring rights along which it needs.
    pub(super) given: Vec<Arc<Ruling>>,
}

pub(super) fn held(case: &Case<'_>, heard: &Heard) -> Held {
    let mut held = Held::default();
    // Who lets exactly this line happen once, without having been asked, has let it use what it names.
    let lets_name = heard.yes.as_ref().is_some_and(|yes| is_enabling(yes));
    let giving = giving(case);
    for (place, used) in case.action.uses.iter().enumerate() {
        let Some(right) = &used.takes else { continue };
        if lets_name && used.is_only_named() {
            continue;
        }
        if case.state.uses(case.agent, &right.permission, case.now, case.broken) {
            continue;
        }
        if let Some(yes) = giving.iter().copied().find(|yes| yes.gives.contains(right)) {
            if !held.given.contains(yes) {
                held.given.push(Arc::clone(yes));
            }
            continue;
        }
        match case.state.one_shot(case.agent, &right.permission, case.broken, case.now) {
            Some(grant) if held.once.iter().any(|used: &Arc<Grant>| used.id == grant.id) => held.lack(right, place),
            Some(grant) => held.once.push(Arc::clone(grant)),
            None => held.lack(right, place),
        }
    }
    held
}

/// The yeses to exactly this action that bring rights along.
fn giving<'s>(case: &Case<'s>) -> Vec<&'s Arc<Ruling>> {
    let gives = |ruling: &&Arc<Ruling>| !ruling.gives.is_empty() && ruling.is_live(case.now);
    let mut giving: Vec<_> = case.agent.rulings.iter().filter(gives).collect();
    // Most agents have none, and a digest is only made where there is one.
    if !giving.is_empty() {
        let facts = case.action.facts();
        giving.retain(|ruling| ruling.verdict == Verdict::Allow && ruling.is_about(&facts));
    }
    giving
}

fn is_enabling(yes: &Ruling) -> bool {
    matches!(yes.about, Subject::Input(_)) && yes.scope == Scope::Once && yes.request.is_none()
}

impl Held {
    fn lack(&mut self, right: &Right, place: usize) {
        self.missing.push(right.clone());
        self.lacking.push(place);
    }
}

/// Whether all that a command lacks is what its line names or its program needs: then a sandbox keeps it from just that.
pub(super) fn is_only_named(case: &Case<'_>, held: &Held) -> bool {
    let is_named = |place: &usize| {
        let used = case.action.uses.iter().nth(*place);
        used.is_some_and(Use::is_only_named)
    };
    let runs = matches!(case.action.operation(), Operation::Command | Operation::Exec);
    runs && held.lacking.iter().all(is_named)
}

pub(super) fn protected(case: &Case<'_>) -> Option<Finding> {
    let invalid = |(place, used): (usize, &Use)| match &used.target {
        Target::Invalid { why, .. } => {
            Some(Finding::new(Ruled::Deny, Source::HostPolicy, why.as_ref().to_owned()).about(vec![place]))
        }
        Target::Path(_)
        | Target::Tree(_)
        | Target::Command { .. }
        | Target::Tool { .. }
        | Target::Host(_)
        | Target::Network
        | Target::Events
        | Target::Capability(_) => None,
    };
    if let Some(invalid) = case.action.uses.iter().enumerate().find_map(invalid) {
        return Some(invalid);
    }
    let (mut protected, mut uses) = (Vec::new(), Vec::new());
    for (place, used) in case.action.uses.iter().enumerate() {
        let (Some(path), Some(permission)) = (used.path(), used.permission()) else { continue };
        let is_held = || case.state.uses(case.agent, &permission, case.now, case.broken);
        if case.state.is_protected(&permission) && !is_own_proc(case, used) && !is_held() {
            protected.push(RuleRef::Protected(path.clone()));
            uses.push(place);
        }
    }
    let finding = || Finding::new(Ruled::Deny, Source::HostPolicy, "protected: no grant reaches it");
    (!protected.is_empty()).then(|| finding().because_of(protected).about(uses))
}

/// True for a path of `/proc` that a command only names which runs in a sandbox: the processes there are its own.
fn is_own_proc(case: &Case<'_>, used: &Use) -> bool {
    let is_proc = |path: &SanitizedPath| by_name(used.access(), path.as_str()) == ByName::Proc;
    let is_only_named = matches!(used.origin, UseOrigin::Named | UseOrigin::Word);
    case.action.in_sandbox && is_only_named && used.path().is_some_and(is_proc)
}

pub(super) fn denied(case: &Case<'_>, heard: &Heard) -> Option<Finding> {
    if !heard.denies.is_empty() {
        let is_hook = |voice: &Voice| matches!(voice.rule, RuleRef::Hook(_));
        let source = if heard.denies.iter().all(is_hook) { Source::Hook } else { Source::Rule };
        let by = if all_policies(&heard.denies) { "denied by a policy" } else { "denied by a rule" };
        let by = (source != Source::Hook).then(|| by.to_owned());
        let reason = by.into_iter().chain(hooks_say(case, Verdict::Deny)).collect::<Vec<_>>().join("; ");
        let voices = heard.denies.iter().chain(&heard.session_denies);
        return Some(Finding::new(Ruled::Deny, source, reason).said_by(voices));
    }
    if heard.session_denies.is_empty() || heard.overridden {
        return None;
    }
    let may_be_asked = case.action.tier != Some(Tier::Destructive) || heard.enabled;
    let finding = if case.action.overrides && may_be_asked {
        Finding::new(Ruled::Ask, Source::Human, "policy-deny-override")
    } else {
        Finding::new(Ruled::Deny, Source::Human, said_no(case, &heard.session_denies))
    };
    Some(finding.said_by(&heard.session_denies))
}

/// For how long a person said no: for the longest, if several did.
fn said_no(case: &Case<'_>, noes: &[Voice]) -> &'static str {
    let ids = noes.iter().filter_map(|voice| if let RuleRef::Ruling(id) = &voice.rule { Some(id) } else { None });
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
    match mode {
        Mode::Plan => {}
        Mode::Default
        | Mode::Untrusted
        | Mode::OnRequest
        | Mode::OnFailure
        | Mode::Never
        | Mode::Bypass
        | Mode::Auto => return None,
    }
    let acts =
        |used: &Use| !used.only_reads() || used.operation == Operation::Command && tier_now(case) != Some(Tier::Safe);
    let uses: Vec<_> =
        case.action.uses.iter().enumerate().filter(|(_, used)| acts(used)).map(|(place, _)| place).collect();
    let finding = || Finding::new(Ruled::Deny, Source::Mode, "in mode plan, nothing but reading happens");
    (!uses.is_empty()).then(|| finding().about(uses))
}

pub(super) fn destructive(case: &Case<'_>, heard: &Heard) -> Option<Finding> {
    if case.action.tier != Some(Tier::Destructive) || heard.enabled {
        return None;
    }
    Some(Finding::new(Ruled::Deny, Source::Classifier, case.action.tier_reason.as_ref().to_owned()))
}

pub(super) fn missing(case: &Case<'_>, mode: Mode, held: &Held) -> Option<Finding> {
    if held.missing.is_empty() {
        return None;
    }
    // A sandbox keeps it from what it only names; in `on_failure`, it is tried in one before anybody is asked.
    let is_tried = mode == Mode::OnFailure && !super::ask::has_failed(case);
    if (case.action.in_sandbox || is_tried) && is_only_named(case, held) {
        return None;
    }
    if held.missing.len() > MOST_ASKED {
        let reason =
            "it lacks more than anybody is asked for at once: ask for a directory above, or do it in several steps";
        return Some(Finding::new(Ruled::Deny, Source::HostPolicy, reason).about(held.lacking.clone()));
    }
    let missing: Vec<_> = held.missing.iter().map(|right| right.permission.describe().to_string()).collect();
    let reason = format!("not held: {}", missing.join(", "));
    let is_demanded =
        |place: &usize| case.action.uses.iter().nth(*place).is_some_and(|used| used.origin == UseOrigin::Declared);
    let by_contract = held.lacking.iter().all(is_demanded);
    let source = if by_contract { Source::ToolContract } else { Source::HostPolicy };
    Some(Finding::new(Ruled::Ask, source, reason).about(held.lacking.clone()))
}

pub(super) fn ask_rule(case: &Case<'_>, heard: &Heard) -> Option<Finding> {
    if heard.asks.is_empty() {
        return None;
    }
    let is_hook = |voice: &Voice| matches!(voice.rule, RuleRef::Hook(_));
    let source = if heard.asks.iter().all(is_hook) { Source::Hook } else { Source::Rule };
    let by = if all_policies(&heard.asks) { "a policy wants a person to say" } else { "a rule wants a person to say" };
    let by = (source != Source::Hook).then(|| by.to_owned());
    let reason = by.into_iter().chain(hooks_say(case, Verdict::Ask)).collect::<Vec<_>>().join("; ");
    Some(Finding::new(Ruled::Ask, source, reason).said_by(&heard.asks))
}

pub(super) fn allow_rule(heard: &Heard) -> Option<Finding> {
    if let Some(ruling) = &heard.yes {
        let refs = vec![RuleRef::Ruling(ruling.id)];
        return Some(Finding::new(Ruled::Allow, Source::Human, "a person said yes").because_of(refs));
    }
    let policies = heard.allows.iter().all(RuleRef::is_policy);
    let reason = if policies { "allowed by a policy" } else { "allowed by a rule" };
    let finding = || Finding::new(Ruled::Allow, Source::Rule, reason);
    (!heard.allows.is_empty()).then(|| finding().because_of(heard.allows.clone()))
}

fn all_policies(voices: &[Voice]) -> bool {
    // Hooks speak beside them.
    let rules = voices.iter().map(|voice| &voice.rule);
    rules.filter(|rule| !matches!(rule, RuleRef::Hook(_))).all(RuleRef::is_policy)
}

pub(super) fn tier(case: &Case<'_>, mode: Mode, heard: &Heard) -> Option<Finding> {
    let tier = tier_now(case)?;
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

/// The tier, as the agent is bound now: a line that was drawn for another mode proves nothing.
fn tier_now(case: &Case<'_>) -> Option<Tier> {
    let is_proven = case.action.strictly || !case.state.only_reads_by_itself(&case.agent.profile.id);
    case.action.tier.map(|tier| if is_proven { tier } else { tier.max(Tier::Dangerous) })
}

/// True for a write of a path: a sensitive one takes a right that names it, and that right is the yes.
fn is_written_by_name(case: &Case<'_>) -> bool {
    case.action.operation() == Operation::Write && matches!(case.action.target(), Target::Path(_))
}

/// Why a rule that nearly allows the action does not.
fn left_over(case: &Case<'_>) -> String {
    case.agent.rules.nearly_allows(case.action).unwrap_or_default()
}

/// A command or a program that needs nobody's word, since it runs in the sandbox: in the mode in which those are tried there
/// before anybody is asked, or because the host program has it done there. Modes in which nothing but reads happens by
/// itself, and those in which a question is a no, stay as they are.
fn confined(case: &Case<'_>, mode: Mode) -> Option<Finding> {
    let runs = matches!(case.action.operation(), Operation::Command | Operation::Exec);
    let by_mode = || Finding::new(Ruled::Sandboxed, Source::Mode, "in mode on_failure, it runs confined first");
    let by_host = || Finding::new(Ruled::Sandboxed, Source::HostPolicy, "it runs confined to what it names");
    match mode {
        Mode::OnFailure => runs.then(by_mode),
        Mode::Default | Mode::OnRequest | Mode::Bypass | Mode::Auto => (runs && case.action.confined).then(by_host),
        Mode::Untrusted | Mode::Never | Mode::Plan => None,
    }
}

/// A yes that is good for a try in the sandbox, and no further.
pub(super) fn tried(yes: Finding) -> Finding {
    let reason = format!("in mode on_failure, it runs confined first; {}", yes.reason);
    Finding { ruled: Ruled::Sandboxed, source: Source::Mode, reason: reason.into(), ..yes }
}

/// Whether an action reads and does nothing else, by whatever it uses.
fn only_reads(case: &Case<'_>) -> bool {
    case.action.uses.iter().all(Use::only_reads)
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
