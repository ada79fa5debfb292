//! Everybody who speaks about an action explicitly: rules, policies, people, hooks.

use std::sync::Arc;

use crate::model::{AgentId, Quoted, Rule, RuleRef, Ruling, RunId, Scope, Shown, Subject, Tier, UseOrigin, Verdict};

use super::{
    super::{State, considered::Considered, state::Agent, uses::Use},
    Case,
};

/// What a hook of the host program said about an action.
#[derive(Clone, Debug)]
pub(crate) struct Opinion {
    pub(crate) hook: Arc<str>,
    pub(crate) verdict: Verdict,
    /// Whether it failed to say something, which counts as a question that no mode leaves out.
    pub(crate) failed: bool,
    /// The place of the use that it is about among those of the action; the first is its own.
    pub(crate) about: usize,
    /// Why, without secrets; of one that failed, why it did.
    pub(crate) why: Option<Arc<str>>,
}

impl Opinion {
    /// What it says, as a person should read it.
    pub(crate) fn told(&self) -> String {
        let does = match (self.failed, self.verdict) {
            (true, _) => "failed",
            (false, Verdict::Deny) => "says no",
            (false, Verdict::Ask) => "wants a person to say",
            (false, Verdict::Allow) => "says yes",
        };
        let why = self.why.as_ref().map(|why| format!(": {}", Quoted(why))).unwrap_or_default();
        format!("the hook {} {does}{why}", Shown(&self.hook))
    }
}

/// One thing that was said, and the place of the use that it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Voice {
    pub(super) rule: RuleRef,
    pub(super) about: usize,
}

/// What was said, by what it comes to.
#[derive(Debug, Default)]
pub(super) struct Heard {
    pub(super) denies: Vec<Voice>,
    /// A person's no, which an override may put before the person again.
    pub(super) session_denies: Vec<Voice>,
    /// What nobody has answered yet.
    pub(super) asks: Vec<Voice>,
    pub(super) allows: Vec<RuleRef>,
    pub(super) hook_allows: Vec<RuleRef>,
    /// Every yes of a person that counts.
    yeses: Vec<Arc<Ruling>>,
    /// The one that is used.
    pub(super) yes: Option<Arc<Ruling>>,
    /// That yes is for exactly this input, once: it enables even what is destructive.
    pub(super) enabled: bool,
    /// That yes was given although the person's no for the session stands.
    pub(super) overridden: bool,
}

impl Heard {
    fn say(&mut self, verdict: Verdict, rule: RuleRef, about: usize) {
        match verdict {
            Verdict::Deny => self.denies.push(Voice { rule, about }),
            Verdict::Ask => self.asks.push(Voice { rule, about }),
            Verdict::Allow => self.allows.push(rule),
        }
    }
}

/// What everybody says about every use of the action, with those who stand `above` the agent.
pub(super) fn all(case: &Case<'_>, above: &[&Agent]) -> Heard {
    let mut heard = Heard::default();
    rules_of(case.agent, case.action, &mut heard, |rule| rule);
    guard_of(case.state, case.agent, &case.agent.run, case.action, &mut heard, |rule| rule);
    inherited(case, above, &mut heard);
    people(case, &mut heard);
    for opinion in case.opinions {
        let hook = RuleRef::Hook(Arc::clone(&opinion.hook));
        match opinion.verdict {
            // A yes to a part is no yes to the whole.
            Verdict::Allow if opinion.about == 0 => heard.hook_allows.push(hook),
            Verdict::Allow => {}
            Verdict::Ask | Verdict::Deny => heard.say(opinion.verdict, hook, opinion.about),
        }
    }
    let yeses = std::mem::take(&mut heard.yeses);
    heard.asks.retain(|voice| !yeses.iter().any(|yes| answers(yes, case.action, voice.about)));
    heard
}

/// Whether a yes answers what is asked about one use: it was said to a question that showed this use.
fn answers(yes: &Ruling, action: &Considered, about: usize) -> bool {
    let Some(used) = action.uses.iter().nth(about) else { return false };
    let is_listed = || yes.listed(&used.facts());
    match &yes.about {
        Subject::Input(_) => true,
        // The words of the line are the same.
        Subject::Access(_) => matches!(used.origin, UseOrigin::Own | UseOrigin::Word) || is_listed(),
        Subject::Shape(_) | Subject::Doing(_) => used.origin == UseOrigin::Own || is_listed(),
    }
}

fn rules_of(agent: &Agent, action: &Considered, heard: &mut Heard, named: impl Fn(RuleRef) -> RuleRef) {
    if agent.rules.are_unusable() {
        let first = agent.rules.written().first().map(reference).map(&named);
        first.into_iter().for_each(|rule| heard.say(Verdict::Deny, rule, 0));
    }
    for (about, used) in action.uses.iter().enumerate() {
        for rule in agent.rules.about(action, used) {
            heard.say(rule.verdict, named(reference(rule)), about);
        }
    }
}

/// What the guard of the tool says in `run`, which is one of the owner of `agent`.
fn guard_of(
    state: &State,
    agent: &Agent,
    run: &RunId,
    action: &Considered,
    heard: &mut Heard,
    named: impl Fn(RuleRef) -> RuleRef,
) {
    let Some(guards) = state.guards_of(&agent.profile.owner, run) else { return };
    let guard = guards.of(&action.tool);
    for (about, used) in action.uses.iter().enumerate() {
        for (verdict, name) in guard.about(action, used) {
            let policy = named(RuleRef::Policy { tool: action.tool.clone(), name: name.into() });
            heard.say(verdict, policy, about);
        }
    }
}

fn reference(rule: &Rule) -> RuleRef {
    RuleRef::Rule { rule: rule.to_string().into(), place: rule.place.clone() }
}

/// What is denied to the agent that created this one, or to one that created that, is denied to this one too, and what that
/// one would be asked about, it is asked about too: nobody gets around a question by letting a child act.
fn inherited(case: &Case<'_>, above: &[&Agent], heard: &mut Heard) {
    let mut add = |from_parent: Heard| {
        heard.denies.extend(from_parent.denies);
        heard.asks.extend(from_parent.asks);
    };
    for parent in above.iter().copied() {
        let of_parent = |rule| of_parent(&parent.profile.id, rule);
        let mut from_parent = Heard::default();
        rules_of(parent, case.action, &mut from_parent, of_parent);
        // In one run, there is one guard.
        if parent.run != case.agent.run {
            guard_of(case.state, parent, &parent.run, case.action, &mut from_parent, of_parent);
        }
        let noes = case.state.noes(parent, case.action, case.now);
        from_parent
            .denies
            .extend(noes.map(|(ruling, about)| Voice { rule: of_parent(RuleRef::Ruling(ruling.id)), about }));
        add(from_parent);
    }
    // Whoever created it may be in another run by now, which binds that one and lets nobody go.
    for (parent, run) in State::runs_of_creation(case.agent, above) {
        let of_parent = |rule| of_parent(parent, rule);
        let mut from_run = Heard::default();
        if *run != case.agent.run {
            guard_of(case.state, case.agent, run, case.action, &mut from_run, of_parent);
        }
        let noes = case.state.noes_in(&case.agent.profile.owner, run, case.action, case.now);
        from_run
            .denies
            .extend(noes.map(|(ruling, about)| Voice { rule: of_parent(RuleRef::Ruling(ruling.id)), about }));
        add(from_run);
    }
}

fn of_parent(agent: &AgentId, rule: RuleRef) -> RuleRef {
    RuleRef::OfParent { agent: agent.clone(), rule: Box::new(rule) }
}

/// What people said about this very action, and still counts.
fn people(case: &Case<'_>, heard: &mut Heard) {
    let noes = case.state.noes(case.agent, case.action, case.now);
    heard.session_denies.extend(noes.map(|(ruling, about)| Voice { rule: RuleRef::Ruling(ruling.id), about }));
    let counts = |ruling: &&Arc<Ruling>| {
        let is_yes = ruling.is_live(case.now) && ruling.verdict == Verdict::Allow && !ruling.only_gives;
        is_yes
            && answers_hooks(ruling, case.opinions)
            && is_about(ruling, case.action)
            && is_for_all(ruling, case.action)
    };
    let live = case.agent.rulings.iter().filter(counts);
    heard.yeses = live.clone().cloned().collect();
    // A word that lasts is not spared by using up one that does not.
    heard.yes = live.clone().min_by_key(|ruling| is_single(ruling)).cloned();
    let mut singles = live.filter(|ruling| is_single(ruling));
    let single = singles.clone().next();
    let enabling = singles.find(|ruling| ruling.request.is_none());
    heard.overridden = !heard.session_denies.is_empty() && single.is_some_and(|ruling| ruling.overrides);
    // An answer to a question was given to what the question showed; only who enables something by itself has seen what it is.
    let single = if case.action.tier == Some(Tier::Destructive) { enabling } else { single };
    heard.enabled = case.action.tier == Some(Tier::Destructive) && single.is_some();
    if heard.overridden || heard.enabled {
        heard.yes = single.cloned();
    }
}

/// Returns true if the question that was answered showed every right that the action is given or takes: with more, it is
/// another question.
fn is_for_all(yes: &Ruling, action: &Considered) -> bool {
    let takes = |used: &&Use| used.takes.is_some() || used.origin == UseOrigin::Given;
    action.uses.further().iter().filter(takes).all(|used| yes.showed(&used.facts()))
}

/// Whether a yes is one to what hooks ask now: it was said to a question of theirs about this very thing, and where one has
/// failed, for this once. Who enables something without having been asked has decided that alone.
fn answers_hooks(ruling: &Ruling, opinions: &[Opinion]) -> bool {
    let mut asking = opinions.iter().filter(|opinion| opinion.verdict == Verdict::Ask);
    let is_single = is_single(ruling);
    asking.all(|opinion| {
        let was_its_question = ruling.hooks.contains(&opinion.hook) && !matches!(ruling.about, Subject::Shape(_));
        is_single && ruling.request.is_none() || was_its_question && (is_single || !opinion.failed)
    })
}

fn is_single(ruling: &Ruling) -> bool {
    matches!(ruling.about, Subject::Input(_)) && ruling.scope == Scope::Once
}

/// Compares what is cheap to compare first: digests are made only for what could be the same.
pub(super) fn is_about(ruling: &Ruling, action: &Considered) -> bool {
    if ruling.tool != action.tool || ruling.operation != action.operation() {
        return false;
    }
    match &ruling.about {
        Subject::Shape(shape) => action.remembered_shape().is_some_and(|other| other.is(shape)),
        Subject::Doing(doing) => action.doing().is_some_and(|other| doing.is_in(&other)),
        Subject::Input(_) | Subject::Access(_) => ruling.resource == action.shown && ruling.is_about(&action.facts()),
    }
}
