//! The result of each single stage.

use std::{cmp::Reverse, sync::Arc};

use crate::model::{
    Access, ByName, DecisionSource as AgentOrigin, Escaped, Mode, Operation, Permission, PinnedPermission, RuleRef,
    Ruled, SanitizedPath, SavedDecision, Scope, Subject, Tier, UseOrigin, Verdict, by_name, sensitive_part,
};

use super::{
    super::{
        action_uses::Use, command::StaleGrants, compact_grant::CompactGrant, person_orders::order_in, target::Target,
    },
    EvaluationInput, HookVerdict, StageResult,
    applicable_rules::{ApplicableRules, is_by_settings},
    stage::Voice,
};

/// The maximum number of permissions in one prompt. It equals the limit of a request.
const MOST_ASKED: usize = 32;

/// The availability of the permissions that an action uses.
#[derive(Debug, Default)]
pub(super) struct Held<'s> {
    /// For each permission that is held for any number of uses, the grant that gives it longest.
    pub(super) lasting: Vec<&'s CompactGrant>,
    pub(super) missing: Vec<PinnedPermission>,
    /// The indexes of the uses that lack a permission.
    pub(super) lacking: Vec<usize>,
    /// True if the agent has such a permission for the object that was at its path before.
    is_replaced: bool,
    /// The one-time permissions that the action needs.
    pub(super) once: Vec<Arc<CompactGrant>>,
    /// The approvals of exactly this action that include needed permissions.
    pub(super) given: Vec<Arc<SavedDecision>>,
}

pub(super) fn held<'s>(case: &EvaluationInput<'s>, heard: &ApplicableRules) -> Held<'s> {
    let mut held = Held::default();
    // A person who approved exactly this line without a request has thereby allowed the uses that it names.
    let lets_name = heard.yes.as_ref().is_some_and(|yes| is_enabling(yes));
    let giving = giving(case);
    for (place, used) in case.action.uses.iter().enumerate() {
        let Some(pinned) = &used.takes else { continue };
        let is_free = case.state.readable_by_all(&pinned.permission);
        let usable = case.state.usable(case.agent, &pinned.permission, case.now).filter(|_| !is_free);
        let usable: Vec<_> = usable.collect();
        held.lasting.extend(longest(&usable, case.broken));
        if lets_name && used.is_only_named() {
            continue;
        }
        if is_free || usable.iter().any(|grant| case.state.counts(grant, case.broken, case.now)) {
            continue;
        }
        if let Some(yes) = giving.iter().copied().find(|yes| yes.gives.contains(pinned)) {
            if !held.given.contains(yes) {
                held.given.push(Arc::clone(yes));
            }
            continue;
        }
        let lacked = held.missing.len();
        match case.state.one_shot(case.agent, &pinned.permission, case.broken, case.now) {
            Some(grant) if held.once.iter().any(|used: &Arc<CompactGrant>| used.id == grant.id) => {
                held.lack(pinned, place)
            }
            Some(grant) => held.once.push(Arc::clone(grant)),
            None => held.lack(pinned, place),
        }
        let is_stale = || usable.iter().any(|grant| case.broken.contains(&grant.id));
        held.is_replaced |= lacked < held.missing.len() && is_stale();
    }
    held
}

/// Returns the grant that lasts longest.
fn longest<'s>(usable: &[&'s Arc<CompactGrant>], broken: &StaleGrants) -> Option<&'s CompactGrant> {
    let lasts = |grant: &&'s CompactGrant| (grant.until.is_none(), grant.until, Reverse(grant.id));
    usable.iter().map(|grant| &***grant).filter(|grant| !broken.contains(&grant.id)).max_by_key(lasts)
}

/// Returns the approvals of exactly this action that include permissions.
fn giving<'s>(case: &EvaluationInput<'s>) -> Vec<&'s Arc<SavedDecision>> {
    let gives = |ruling: &&Arc<SavedDecision>| !ruling.gives.is_empty() && ruling.is_live(case.now);
    let mut giving: Vec<_> = case.agent.rulings.iter().filter(gives).collect();
    // Most agents have no such approval, so the digest is computed only if there is one.
    if !giving.is_empty() {
        let facts = case.action.facts();
        giving.retain(|ruling| ruling.verdict == Verdict::Allow && ruling.is_about(&facts));
    }
    giving
}

fn is_enabling(yes: &SavedDecision) -> bool {
    matches!(yes.about, Subject::Input(_)) && yes.scope == Scope::Once && yes.request.is_none()
}

impl Held<'_> {
    fn lack(&mut self, pinned: &PinnedPermission, place: usize) {
        self.missing.push(pinned.clone());
        self.lacking.push(place);
    }
}

/// Returns true if all missing permissions of a command are for uses that its line names or its program needs. A
/// sandbox can deny exactly these uses.
pub(super) fn is_only_named(case: &EvaluationInput<'_>, held: &Held<'_>) -> bool {
    let is_named = |place: &usize| {
        let used = case.action.uses.iter().nth(*place);
        used.is_some_and(Use::is_only_named)
    };
    let runs = matches!(case.action.operation(), Operation::Command | Operation::Exec);
    runs && held.lacking.iter().all(is_named)
}

pub(super) fn protected(case: &EvaluationInput<'_>) -> Option<StageResult> {
    let invalid = |(place, used): (usize, &Use)| match &used.target {
        Target::Invalid { why, .. } => {
            Some(StageResult::new(Ruled::Deny, AgentOrigin::HostPolicy, why.as_ref().to_owned()).about(vec![place]))
        }
        Target::Path(_)
        | Target::Tree(_)
        | Target::Command { .. }
        | Target::Tool { .. }
        | Target::Host(_)
        | Target::Network
        | Target::Events
        | Target::Unresolved { .. }
        | Target::Capability(_) => None,
    };
    if let Some(invalid) = case.action.uses.iter().enumerate().find_map(invalid) {
        return Some(invalid);
    }
    let (mut protected, mut uses) = (Vec::new(), Vec::new());
    for (place, used) in case.action.uses.iter().enumerate() {
        let (Some(path), Some(permission)) = (used.path(), used.permission()) else { continue };
        let is_held = || case.state.uses(case.agent, &permission, case.now, case.broken);
        // A sandbox hides every protected path.
        let is_left_out = used.may_be_left_out() && (case.action.in_sandbox || is_by_settings(case, used));
        let is_open = is_own_proc(case, used) || is_left_out;
        if case.state.is_protected(&permission) && !is_open && !is_held() {
            let rule = RuleRef::Protected(path.clone());
            if !protected.contains(&rule) {
                protected.push(rule);
            }
            uses.push(place);
        }
    }
    let finding =
        || StageResult::new(Ruled::Deny, AgentOrigin::HostPolicy, "the path is protected: no grant covers it");
    (!protected.is_empty()).then(|| finding().because_of(protected).about(uses))
}

/// Returns true for a path below `/proc` that a sandboxed command only names. The processes there are its own.
fn is_own_proc(case: &EvaluationInput<'_>, used: &Use) -> bool {
    let is_proc = |path: &SanitizedPath| by_name(used.access(), path.as_str()) == ByName::Proc;
    let is_only_named = used.origin == UseOrigin::Named || used.origin.is_word();
    case.action.in_sandbox && is_only_named && used.path().is_some_and(is_proc)
}

pub(super) fn denied(case: &EvaluationInput<'_>, heard: &ApplicableRules) -> Option<StageResult> {
    if let Some(order) = order_in(case.action) {
        let reason =
            format!("no agent gives the orders of a person: `{}` is for a terminal of that person", Escaped(&order));
        return Some(StageResult::new(Ruled::Deny, AgentOrigin::HostPolicy, reason));
    }
    if !heard.denies.is_empty() {
        let is_hook = |voice: &Voice| matches!(voice.rule, RuleRef::Hook(_));
        let source = if heard.denies.iter().all(is_hook) { AgentOrigin::Hook } else { AgentOrigin::Rule };
        let by = if all_policies(&heard.denies) { "denied by a policy" } else { "denied by a rule" };
        let by = (source != AgentOrigin::Hook).then(|| by.to_owned());
        let reason = by.into_iter().chain(hooks_say(case, Verdict::Deny)).collect::<Vec<_>>().join("; ");
        let voices = heard.denies.iter().chain(&heard.session_denies);
        return Some(StageResult::new(Ruled::Deny, source, reason).said_by(voices));
    }
    if heard.session_denies.is_empty() || heard.overridden {
        return None;
    }
    let may_be_asked = case.action.tier != Some(Tier::Destructive) || heard.enabled;
    let finding = if case.action.overrides && may_be_asked {
        StageResult::new(Ruled::Ask, AgentOrigin::Human, "policy-deny-override").in_place_of_denial()
    } else {
        StageResult::new(Ruled::Deny, AgentOrigin::Human, said_no(case, &heard.session_denies))
    };
    Some(finding.said_by(&heard.session_denies))
}

/// Returns the phrase for the longest scope among the denials.
fn said_no(case: &EvaluationInput<'_>, noes: &[Voice]) -> &'static str {
    let ids = noes.iter().filter_map(|voice| if let RuleRef::Ruling(id) = &voice.rule { Some(id) } else { None });
    let scopes: Vec<_> = ids.filter_map(|id| Some(case.state.rulings.get(id)?.scope)).collect();
    if scopes.contains(&Scope::Always) {
        "a person denied it permanently"
    } else if scopes.iter().any(|scope| matches!(scope, Scope::Until(_))) {
        "a person denied it until a stated time"
    } else {
        "a person denied it for this run"
    }
}

/// Returns the sentences of the hooks with this verdict, for people.
fn hooks_say(case: &EvaluationInput<'_>, verdict: Verdict) -> Vec<String> {
    case.opinions.iter().filter(|opinion| opinion.verdict == verdict).map(HookVerdict::told).collect()
}

pub(super) fn mode(case: &EvaluationInput<'_>, mode: Mode) -> Option<StageResult> {
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
    let finding = || StageResult::new(Ruled::Deny, AgentOrigin::Mode, "mode plan allows only reading");
    (!uses.is_empty()).then(|| finding().about(uses))
}

pub(super) fn destructive(case: &EvaluationInput<'_>, heard: &ApplicableRules) -> Option<StageResult> {
    if case.action.tier != Some(Tier::Destructive) || heard.enabled {
        return None;
    }
    Some(StageResult::new(Ruled::Deny, AgentOrigin::Classifier, case.action.tier_reason.as_ref().to_owned()))
}

pub(super) fn missing(case: &EvaluationInput<'_>, mode: Mode, held: &Held<'_>) -> Option<StageResult> {
    if held.missing.is_empty() {
        return None;
    }
    // A sandbox denies a command the paths that it only names. In mode `on_failure`, the command first runs in a
    // sandbox, before a person is asked.
    let is_tried = mode == Mode::OnFailure && !super::escalation::has_failed(case);
    if (case.action.in_sandbox || is_tried) && is_only_named(case, held) {
        return None;
    }
    if held.missing.len() > MOST_ASKED {
        let reason = "the action lacks more permissions than one request may contain: request a parent directory, \
            or split the action into steps";
        return Some(StageResult::new(Ruled::Deny, AgentOrigin::HostPolicy, reason).about(held.lacking.clone()));
    }
    let missing: Vec<_> = held.missing.iter().map(|pinned| pinned.permission.describe().to_string()).collect();
    let replaced = if held.is_replaced {
        " (what was there when the permission was given has been replaced: a changed policy file or a new approval \
         gives it again)"
    } else {
        ""
    };
    let sensitive = held.missing.iter().find_map(|pinned| sensitive_below_held(case, &pinned.permission));
    let sensitive = sensitive.unwrap_or_default();
    let reason = format!("the agent does not hold {}{replaced}{sensitive}", missing.join(", "));
    let is_demanded =
        |place: &usize| case.action.uses.iter().nth(*place).is_some_and(|used| used.origin == UseOrigin::Declared);
    let by_contract = held.lacking.iter().all(is_demanded);
    let source = if by_contract { AgentOrigin::ToolContract } else { AgentOrigin::HostPolicy };
    Some(StageResult::new(Ruled::Ask, source, reason).about(held.lacking.clone()))
}

/// Returns the reason why a permission that the agent holds does not cover this one: a sensitive name is between them.
fn sensitive_below_held(case: &EvaluationInput<'_>, missing: &Permission) -> Option<String> {
    let Permission::Path(Access::Write, path) = missing else { return None };
    let part = sensitive_part(path, &case.state.settings.sensitive)?;
    let (above, _) = part.rsplit_once('/')?;
    let above: SanitizedPath = if above.is_empty() { "/" } else { above }.parse().ok()?;
    case.state.usable(case.agent, &Permission::write(above), case.now).next()?;
    let part = Escaped(part);
    Some(format!(" (`{part}` has a sensitive name: only a permission for it, or for a path below it, covers it)"))
}

/// The maximum number of paths that one reason names.
const MAX_NAMED_PATHS: usize = 5;

/// Returns the result for what a rule may deny: paths that the action may leave out, and paths that cannot be
/// determined. A sandbox hides such paths, so a command that runs in one first needs no approval.
fn in_doubt(case: &EvaluationInput<'_>, mode: Mode, heard: &ApplicableRules) -> Option<StageResult> {
    let has_text = heard.possible_denies.iter().any(|voice| path_of(case, voice.about).is_none());
    if heard.possible_denies.is_empty() && heard.unresolved.is_empty() {
        return None;
    }
    let mut reasons = Vec::new();
    let paths = doubtful_paths(case, &heard.possible_denies);
    if !paths.is_empty() {
        reasons.push(format!("it may use {paths}"));
    }
    if has_text {
        reasons.push("its input may be a command that a rule denies, or may only tell about it".to_owned());
    }
    let unresolved = heard.unresolved.iter().filter_map(|place| case.action.uses.iter().nth(*place));
    reasons.extend(unresolved.filter_map(|used| {
        let Target::Unresolved { why, .. } = &used.target else { return None };
        Some(why.as_ref().to_owned())
    }));
    let (source, reason) = (AgentOrigin::Rule, reasons.join("; "));
    // A sandbox hides every protected path, and what a pattern denies where it looks for its matches.
    let is_hidden = heard.possible_denies.iter().all(|voice| {
        let path = path_of(case, voice.about);
        matches!(voice.rule, RuleRef::Protected(_)) || path.is_none_or(|path| case.action.is_searched_by_sandbox(path))
    });
    let finding = match confined(case, mode).filter(|_| is_hidden) {
        Some(confined) => StageResult { reason: format!("{}; {reason}", confined.reason).into(), ..confined },
        None => StageResult::new(Ruled::Ask, source, reason).in_place_of_denial(),
    };
    let mut finding = finding.said_by(&heard.possible_denies);
    finding.uses.extend(&heard.unresolved);
    Some(finding)
}

fn path_of<'c>(case: &EvaluationInput<'c>, place: usize) -> Option<&'c SanitizedPath> {
    case.action.uses.iter().nth(place)?.path()
}

/// Formats paths for people, at most some of them.
pub(super) fn named_paths(paths: &[&SanitizedPath]) -> String {
    let shown = paths.iter().take(MAX_NAMED_PATHS).map(|path| format!("`{}`", Escaped(path.as_str())));
    let shown = shown.collect::<Vec<_>>().join(", ");
    match paths.len().saturating_sub(MAX_NAMED_PATHS) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Returns the paths of these voices, each once, with what is against them.
fn doubtful_paths(case: &EvaluationInput<'_>, voices: &[Voice]) -> String {
    let mut groups: Vec<(&str, Vec<&SanitizedPath>)> = Vec::new();
    for voice in voices {
        let Some(path) = path_of(case, voice.about) else { continue };
        if groups.iter().any(|(_, paths)| paths.contains(&path)) {
            continue;
        }
        let by = if matches!(voice.rule, RuleRef::Protected(_)) {
            "which is protected"
        } else if voice.rule.is_policy() {
            "which a policy denies"
        } else {
            "which a rule denies"
        };
        match groups.iter_mut().find(|(known, _)| *known == by) {
            Some((_, paths)) => paths.push(path),
            None => groups.push((by, vec![path])),
        }
    }
    let shown = groups.iter().map(|(by, paths)| format!("{}, {by}", named_paths(paths)));
    shown.collect::<Vec<_>>().join(", and ")
}

pub(super) fn ask_rule(case: &EvaluationInput<'_>, mode: Mode, heard: &ApplicableRules) -> Option<StageResult> {
    let in_doubt = in_doubt(case, mode, heard);
    if heard.asks.is_empty() {
        return in_doubt;
    }
    let is_hook = |voice: &Voice| matches!(voice.rule, RuleRef::Hook(_));
    let source = if heard.asks.iter().all(is_hook) { AgentOrigin::Hook } else { AgentOrigin::Rule };
    let by = if all_policies(&heard.asks) {
        "a policy requires a person to decide"
    } else {
        "a rule requires a person to decide"
    };
    let by = (source != AgentOrigin::Hook).then(|| by.to_owned());
    let doubt = in_doubt.as_ref().filter(|doubt| doubt.ruled == Ruled::Ask).map(|doubt| doubt.reason.to_string());
    let is_denial = doubt.is_some();
    let reason = by.into_iter().chain(hooks_say(case, Verdict::Ask)).chain(doubt).collect::<Vec<_>>().join("; ");
    let mut finding = StageResult::new(Ruled::Ask, source, reason).said_by(&heard.asks);
    finding.is_denial = is_denial;
    if let Some(doubt) = in_doubt {
        finding.refs.extend(doubt.refs);
        finding.uses.extend(doubt.uses);
    }
    Some(finding)
}

pub(super) fn allow_rule(heard: &ApplicableRules) -> Option<StageResult> {
    if let Some(ruling) = &heard.yes {
        let refs = vec![RuleRef::Ruling(ruling.id)];
        return Some(StageResult::new(Ruled::Allow, AgentOrigin::Human, "a person approved it").because_of(refs));
    }
    let policies = heard.allows.iter().all(RuleRef::is_policy);
    let reason = if policies { "allowed by a policy" } else { "allowed by a rule" };
    let finding = || StageResult::new(Ruled::Allow, AgentOrigin::Rule, reason);
    (!heard.allows.is_empty()).then(|| finding().because_of(heard.allows.clone()))
}

fn all_policies(voices: &[Voice]) -> bool {
    // Hooks do not affect the wording.
    let rules = voices.iter().map(|voice| &voice.rule);
    rules.filter(|rule| !matches!(rule, RuleRef::Hook(_))).all(RuleRef::is_policy)
}

pub(super) fn tier(case: &EvaluationInput<'_>, mode: Mode, heard: &ApplicableRules) -> Option<StageResult> {
    let tier = tier_now(case)?;
    let reason = case.action.tier_reason.as_ref().to_owned();
    if tier == Tier::Safe || is_written_by_name(case) {
        return Some(if mode == Mode::Untrusted && !only_reads(case) {
            StageResult::new(Ruled::Ask, AgentOrigin::Mode, "mode untrusted allows only known reads without a question")
        } else {
            StageResult::new(Ruled::Allow, AgentOrigin::Classifier, reason)
        });
    }
    // A failed hook counts as "ask" or "deny", so a hook with an allow verdict has examined the action.
    if mode == Mode::Auto && !heard.hook_allows.is_empty() {
        return Some(
            StageResult::new(Ruled::Allow, AgentOrigin::Hook, "allowed by a hook")
                .because_of(heard.hook_allows.clone()),
        );
    }
    confined(case, mode)
        .or_else(|| Some(StageResult::new(Ruled::Ask, AgentOrigin::Classifier, reason + &left_over(case))))
}

/// Returns the tier under the current restrictions of the agent. A safe result with the normal limit does not count for
/// an agent that needs the strict limit.
fn tier_now(case: &EvaluationInput<'_>) -> Option<Tier> {
    let is_proven = case.action.strictly || !case.state.only_reads_by_itself(&case.agent.profile.id);
    case.action.tier.map(|tier| if is_proven { tier } else { tier.max(Tier::Dangerous) })
}

/// Returns true for a write to a path. A sensitive path requires a permission that names it, and that permission is the
/// approval.
fn is_written_by_name(case: &EvaluationInput<'_>) -> bool {
    case.action.operation() == Operation::Write && matches!(case.action.target(), Target::Path(_))
}

/// Returns the reason why a rule that nearly allows the action does not.
fn left_over(case: &EvaluationInput<'_>) -> String {
    case.agent.rules.nearly_allows(case.action).unwrap_or_default()
}

/// Returns the result for a command or program that needs no approval because it runs in a sandbox. Mode `on_failure`
/// tries the sandbox first, and the host program may require it. Other modes stay as strict as they are: those that
/// allow only reads without approval, and those that turn a prompt into a denial.
fn confined(case: &EvaluationInput<'_>, mode: Mode) -> Option<StageResult> {
    let runs = matches!(case.action.operation(), Operation::Command | Operation::Exec);
    let by_mode =
        || StageResult::new(Ruled::Sandboxed, AgentOrigin::Mode, "mode on_failure first runs the command in a sandbox");
    let by_host = || {
        StageResult::new(
            Ruled::Sandboxed,
            AgentOrigin::HostPolicy,
            "the command runs in a sandbox that allows only what it names",
        )
    };
    match mode {
        Mode::OnFailure => runs.then(by_mode),
        Mode::Default | Mode::OnRequest | Mode::Bypass | Mode::Auto => (runs && case.action.confined).then(by_host),
        Mode::Untrusted | Mode::Never | Mode::Plan => None,
    }
}

/// Restricts an allow result to a run in the sandbox.
pub(super) fn tried(yes: StageResult) -> StageResult {
    let reason = format!("mode on_failure first runs the command in a sandbox; {}", yes.reason);
    StageResult { ruled: Ruled::Sandboxed, source: AgentOrigin::Mode, reason: reason.into(), ..yes }
}

/// Returns true if all uses of the action only read.
fn only_reads(case: &EvaluationInput<'_>) -> bool {
    case.action.uses.iter().all(Use::only_reads)
}

/// Returns the result if no other stage decided.
pub(super) fn default(case: &EvaluationInput<'_>, mode: Mode) -> StageResult {
    if let Some(confined) = confined(case, mode).filter(|_| case.state.settings.default_verdict != Verdict::Deny) {
        return confined;
    }
    let ruled = match case.state.settings.default_verdict {
        Verdict::Allow | Verdict::Ask => Ruled::Ask,
        Verdict::Deny => Ruled::Deny,
    };
    StageResult::new(ruled, AgentOrigin::HostPolicy, "no rule allows it")
}
