//! Collects the rules, tool policies, saved decisions and hook results that apply to an action.

use std::sync::Arc;

use crate::model::{AgentId, PathGlob, Rule, RuleRef, RunId, SavedDecision, Scope, Subject, Tier, UseOrigin, Verdict};

use super::{
    super::{
        State, action_uses::Use, agent::Agent, command_match::Likelihood, resolved_action::ResolvedAction,
        rules::is_enforced_by_sandbox, target::Target,
    },
    EvaluationInput, HookVerdict,
    stage::Voice,
};

/// The applicable rules of an action, by verdict.
#[derive(Debug, Default)]
pub(super) struct ApplicableRules {
    pub(super) denies: Vec<Voice>,
    /// The denials of paths that the action may leave out, as far as no approval has answered them.
    pub(super) possible_denies: Vec<Voice>,
    /// The denials by a person. An override may ask that person again.
    pub(super) session_denies: Vec<Voice>,
    /// The prompts that no approval has answered yet.
    pub(super) asks: Vec<Voice>,
    /// The uses of paths that cannot be determined, as far as no approval has answered them.
    pub(super) unresolved: Vec<usize>,
    pub(super) allows: Vec<RuleRef>,
    pub(super) hook_allows: Vec<RuleRef>,
    /// All valid approvals by people.
    yeses: Vec<Arc<SavedDecision>>,
    /// The approval that is used.
    pub(super) yes: Option<Arc<SavedDecision>>,
    /// True if that approval is for exactly this input, once. It then allows even a destructive action.
    pub(super) enabled: bool,
    /// True if that approval was given despite a denial for the session.
    pub(super) overridden: bool,
}

impl ApplicableRules {
    /// Adds the verdict of a rule or a policy on one use.
    /// Adds a verdict about a use. With `is_doubtful`, the action may not do what the rule is about.
    fn add(&mut self, verdict: Verdict, rule: RuleRef, about: usize, is_doubtful: bool) {
        match verdict {
            Verdict::Deny if is_doubtful => self.possible_denies.push(Voice { rule, about }),
            Verdict::Deny | Verdict::Ask | Verdict::Allow => self.say(verdict, rule, about),
        }
    }

    fn say(&mut self, verdict: Verdict, rule: RuleRef, about: usize) {
        match verdict {
            Verdict::Deny => self.denies.push(Voice { rule, about }),
            Verdict::Ask => self.asks.push(Voice { rule, about }),
            Verdict::Allow => self.allows.push(rule),
        }
    }
}

/// Collects all verdicts on the uses of the action. `above` contains the ancestors of the agent.
pub(super) fn all(case: &EvaluationInput<'_>, above: &[&Agent]) -> ApplicableRules {
    let mut heard = ApplicableRules::default();
    rules_of(case.agent, case.action, &mut heard, |rule| rule);
    guard_of(case.state, case.agent, &case.agent.run, case.action, &mut heard, |rule| rule);
    inherited(case, above, &mut heard);
    people(case, &mut heard);
    for opinion in case.opinions {
        let hook = RuleRef::Hook(Arc::clone(&opinion.hook));
        match opinion.verdict {
            // Approval of a part is no approval of the whole action.
            Verdict::Allow if opinion.about == 0 => heard.hook_allows.push(hook),
            Verdict::Allow => {}
            Verdict::Ask | Verdict::Deny => heard.say(opinion.verdict, hook, opinion.about),
        }
    }
    let yeses = std::mem::take(&mut heard.yeses);
    // A sandbox hides every protected path.
    for (about, used) in case.action.uses.iter().enumerate().filter(|_| !case.action.in_sandbox) {
        let Some(path) = used.path().filter(|_| used.may_be_left_out() && is_by_settings(case, used)) else { continue };
        heard.possible_denies.push(Voice { rule: RuleRef::Protected(path.clone()), about });
    }
    let is_open = |voice: &Voice| !yeses.iter().any(|yes| answers(yes, case.action, voice.about));
    heard.asks.retain(is_open);
    heard.possible_denies.retain(is_open);
    let unresolved = |(about, used): (usize, &Use)| matches!(used.target, Target::Unresolved { .. }).then_some(about);
    // A sandbox hides what a path that is not known yet may name, except where it looks nothing up.
    let counts = |used: &Use| !case.action.in_sandbox || used.may_be_left_out();
    let uses = case.action.uses.iter().enumerate().filter(|(_, used)| counts(used));
    heard.unresolved = uses.filter_map(unresolved).collect();
    heard.unresolved.retain(|about| !yeses.iter().any(|yes| answers(yes, case.action, *about)));
    heard
}

/// Returns true if an approval answers a prompt about one use. The answered request must have shown this use.
fn answers(yes: &SavedDecision, action: &ResolvedAction, about: usize) -> bool {
    let Some(used) = action.uses.iter().nth(about) else { return false };
    let is_listed = || yes.listed(&action.shown_use(used));
    match &yes.about {
        Subject::Input(_) => true,
        // The words of the command line are equal.
        Subject::Access(_) => used.origin == UseOrigin::Own || used.origin.is_word() || is_listed(),
        Subject::Shape(_) | Subject::Doing(_) => used.origin == UseOrigin::Own || is_listed(),
    }
}

fn rules_of(agent: &Agent, action: &ResolvedAction, heard: &mut ApplicableRules, named: impl Fn(RuleRef) -> RuleRef) {
    if agent.rules.are_unusable() {
        let first = agent.rules.written().first().map(reference).map(&named);
        first.into_iter().for_each(|rule| heard.say(Verdict::Deny, rule, 0));
    }
    for (about, used) in action.uses.iter().enumerate() {
        for rule in agent.rules.about(action, used) {
            let is_enforced = used.may_be_left_out() && is_enforced_by_sandbox(rule);
            if is_enforced && is_hidden(action, used, rule.path.as_ref()) {
                continue;
            }
            let is_possible = |pattern| action.runs(used, pattern) == Likelihood::Possible;
            let is_doubtful = used.may_be_left_out() || rule.command.as_ref().is_some_and(is_possible);
            heard.add(rule.verdict, named(reference(rule)), about, is_doubtful);
        }
    }
}

/// Returns true if the sandbox of the action hides a path of it that this glob denies. A glob for one path is hidden
/// wherever the path lies.
fn is_hidden(action: &ResolvedAction, used: &Use, glob: Option<&PathGlob>) -> bool {
    let is_one_path = || glob.is_some_and(|glob| glob.named_as_no().is_some());
    action.in_sandbox && (is_one_path() || used.path().is_some_and(|path| action.is_searched_by_sandbox(path)))
}

/// Adds the verdicts of the tool policies of `run`, which belongs to the owner of `agent`.
fn guard_of(
    state: &State,
    agent: &Agent,
    run: &RunId,
    action: &ResolvedAction,
    heard: &mut ApplicableRules,
    named: impl Fn(RuleRef) -> RuleRef,
) {
    let Some(guards) = state.guards_of(&agent.profile.owner, run) else { return };
    let guard = guards.of(&action.tool);
    for (about, used) in action.uses.iter().enumerate() {
        for (verdict, name) in guard.about(action, used) {
            if used.may_be_left_out() && verdict == Verdict::Deny && is_hidden(action, used, None) {
                continue;
            }
            let policy = named(RuleRef::Policy { tool: action.tool.clone(), name: name.into() });
            heard.add(verdict, policy, about, used.may_be_left_out());
        }
    }
}

fn reference(rule: &Rule) -> RuleRef {
    RuleRef::Rule { rule: rule.to_string().into(), place: rule.place.clone() }
}

/// Adds the denials and prompts that bind the ancestors of the agent. An agent therefore cannot avoid a prompt by
/// letting a child act. An ancestor's rule allows only what it states for children.
fn inherited(case: &EvaluationInput<'_>, above: &[&Agent], heard: &mut ApplicableRules) {
    let mut allows = Vec::new();
    let mut add = |from_parent: ApplicableRules| {
        heard.denies.extend(from_parent.denies);
        heard.possible_denies.extend(from_parent.possible_denies);
        heard.asks.extend(from_parent.asks);
    };
    for parent in above.iter().copied() {
        let of_parent = |rule| of_parent(&parent.profile.id, rule);
        let mut from_parent = ApplicableRules::default();
        rules_of(parent, case.action, &mut from_parent, of_parent);
        // One run has one set of policies, so it is evaluated once.
        if parent.run != case.agent.run {
            guard_of(case.state, parent, &parent.run, case.action, &mut from_parent, of_parent);
        }
        let noes = case.state.noes(parent, case.action, case.now);
        from_parent
            .denies
            .extend(noes.map(|(ruling, about)| Voice { rule: of_parent(RuleRef::Ruling(ruling.id)), about }));
        add(from_parent);
        for used in case.action.uses.iter() {
            let allowing = parent.rules.allowing_children(case.action, used, &parent.profile.working_dir);
            allows.extend(allowing.into_iter().map(|rule| of_parent(reference(rule))));
        }
    }
    // The creator may have moved to another run. The run of creation binds the child nevertheless.
    for (parent, run) in State::runs_of_creation(case.agent, above) {
        let of_parent = |rule| of_parent(parent, rule);
        let mut from_run = ApplicableRules::default();
        if *run != case.agent.run {
            guard_of(case.state, case.agent, run, case.action, &mut from_run, of_parent);
        }
        let noes = case.state.noes_in(&case.agent.profile.owner, run, case.action, case.now);
        from_run
            .denies
            .extend(noes.map(|(ruling, about)| Voice { rule: of_parent(RuleRef::Ruling(ruling.id)), about }));
        add(from_run);
    }
    heard.allows.extend(allows);
}

fn of_parent(agent: &AgentId, rule: RuleRef) -> RuleRef {
    RuleRef::OfParent { agent: agent.clone(), rule: Box::new(rule) }
}

/// Adds the saved decisions of people about this action that are still valid.
fn people(case: &EvaluationInput<'_>, heard: &mut ApplicableRules) {
    let noes = case.state.noes(case.agent, case.action, case.now);
    heard.session_denies.extend(noes.map(|(ruling, about)| Voice { rule: RuleRef::Ruling(ruling.id), about }));
    let counts = |ruling: &&Arc<SavedDecision>| {
        let is_yes = ruling.is_live(case.now) && ruling.verdict == Verdict::Allow && !ruling.only_gives;
        is_yes
            && answers_hooks(ruling, case.opinions)
            && is_about(ruling, case.action)
            && is_for_all(ruling, case.action)
    };
    let live = case.agent.rulings.iter().filter(counts);
    heard.yeses = live.clone().cloned().collect();
    // Prefer a standing approval over consuming a one-time one.
    heard.yes = live.clone().min_by_key(|ruling| is_single(ruling)).cloned();
    let mut singles = live.filter(|ruling| is_single(ruling));
    let single = singles.clone().next();
    let enabling = singles.find(|ruling| ruling.request.is_none());
    heard.overridden = !heard.session_denies.is_empty() && single.is_some_and(|ruling| ruling.overrides);
    // An answer approves only the content that its request showed. Only a person who enables an action without a
    // request has seen the whole action.
    let single = if case.action.tier == Some(Tier::Destructive) { enabling } else { single };
    heard.enabled = case.action.tier == Some(Tier::Destructive) && single.is_some();
    if heard.overridden || heard.enabled {
        heard.yes = single.cloned();
    }
}

/// Returns true if the answered request showed every permission that the action is given or takes. With further
/// permissions, the action needs a new request.
fn is_for_all(yes: &SavedDecision, action: &ResolvedAction) -> bool {
    let takes = |used: &&Use| used.takes.is_some() || used.origin == UseOrigin::Given;
    action.uses.further().iter().filter(takes).all(|used| yes.showed(&action.shown_use(used)))
}

/// Returns true if an approval answers the prompts of all hooks. Each hook must have asked in the answered request, and
/// the approval must be about the action itself and not about its shape. If a hook failed, only a one-time approval
/// counts. A one-time approval without a request answers all hooks.
fn answers_hooks(ruling: &SavedDecision, opinions: &[HookVerdict]) -> bool {
    let mut asking = opinions.iter().filter(|opinion| opinion.verdict == Verdict::Ask);
    let is_single = is_single(ruling);
    asking.all(|opinion| {
        let was_its_question = ruling.hooks.contains(&opinion.hook) && !matches!(ruling.about, Subject::Shape(_));
        is_single && ruling.request.is_none() || was_its_question && (is_single || !opinion.failed)
    })
}

fn is_single(ruling: &SavedDecision) -> bool {
    matches!(ruling.about, Subject::Input(_)) && ruling.scope == Scope::Once
}

/// Returns true if a saved decision is about the action. Cheap comparisons come first, so digests are computed only for
/// likely matches.
pub(super) fn is_about(ruling: &SavedDecision, action: &ResolvedAction) -> bool {
    if ruling.tool != action.tool || ruling.operation != action.operation() {
        return false;
    }
    match &ruling.about {
        Subject::Shape(shape) => action.remembered_shape().is_some_and(|other| shape.covers(&other)),
        Subject::Doing(doing) => action.doing().is_some_and(|other| doing.is_in(&other)),
        Subject::Input(_) | Subject::Access(_) => ruling.resource == action.shown && ruling.is_about(&action.facts()),
    }
}

/// Returns true for a path that is protected only by the settings. A person may let a search read it.
pub(super) fn is_by_settings(case: &EvaluationInput<'_>, used: &Use) -> bool {
    used.path().is_some_and(|path| case.state.protected.is_by_settings(used.access(), path))
}
