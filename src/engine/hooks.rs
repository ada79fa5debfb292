//! Hooks of the host program: asked before an action is decided, each in a task of its own. Whatever goes wrong with one
//! counts as a question to a person.

use std::{collections::HashMap, sync::Arc, time::Duration};

use tokio::{runtime::Handle, task::JoinSet};

use crate::{
    kernel::{Case, Command, Considered, HookNews, Opinion, is_no_worse, judge},
    model::{
        Access, Action, Digest, HookCall, HookName, Permission, RunId, SanitizedPath, Tier, Verdict, What, has_mark,
        redacted, redacted_value,
    },
    seam::{Hook, HookAnswer, HookFailure, Proposal},
};

use super::{Agent, Error, shared::Shared};

/// How much of what a hook says is kept.
const MOST_CHARS: usize = 1000;

/// A hook and its name.
#[derive(Clone, Debug)]
pub(super) struct Registered {
    name: HookName,
    hook: Arc<dyn Hook>,
}

/// An action that hooks had their say about.
#[derive(Debug)]
pub(super) struct HeardOf {
    pub(super) action: Considered,
    pub(super) opinions: Vec<Opinion>,
    /// What takes the place of the action, if a hook changed it.
    pub(super) updated: Option<Box<Action>>,
}

/// What hooks said about a use of a path, where they saw it lead.
#[derive(Debug)]
pub(super) struct HeardOfPath {
    pub(super) path: SanitizedPath,
    pub(super) opinions: Vec<Opinion>,
}

impl Shared {
    pub(super) fn add_hook(&self, name: HookName, hook: Arc<dyn Hook>) -> Result<(), Error> {
        let new = Registered { name, hook };
        let before = self.hooks.rcu(|hooks| {
            let is_there = hooks.iter().any(|hook| hook.name == new.name);
            let new = (!is_there).then(|| new.clone());
            hooks.iter().cloned().chain(new).collect::<Vec<_>>()
        });
        if before.iter().any(|hook| hook.name == new.name) { Err(Error::HookExists(new.name)) } else { Ok(()) }
    }
}

impl Agent {
    /// `action` as it is to be decided, with what the hooks say about it.
    pub(super) async fn heard(&self, action: Action) -> Result<HeardOf, Error> {
        let considered = self.considered(&action)?;
        let hooks = self.shared.hooks.load_full();
        if hooks.is_empty() {
            return Ok(HeardOf { action: considered, opinions: Vec::new(), updated: None });
        }
        let input = match &action.what {
            What::Call(input) => Some(redacted_value(input)),
            What::Plain(..) => None,
        };
        let mut asked = self.ask_hooks(&hooks, &considered, input).await?;
        let updated = asked.updated(&action, &considered)?;
        let opinions = asked.opinions()?;
        let (meant, action) = match &updated {
            Some(updated) => (updated.as_ref(), Considered { updated: true, ..self.considered(updated)? }),
            None => (&action, considered),
        };
        // While the hooks were asked, a link may have moved: then they spoke about something else.
        let moved = self.considered(meant)?.facts().input != action.facts().input;
        let opinions = if moved { hooks.iter().map(failed).collect() } else { opinions };
        Ok(HeardOf { action, opinions, updated })
    }

    /// What hooks say about a file call; none if there are no hooks.
    pub(super) async fn heard_of_path(&self, access: Access, path: &str) -> Result<Option<HeardOfPath>, Error> {
        let hooks = self.shared.hooks.load_full();
        if hooks.is_empty() {
            return Ok(None);
        }
        let real = self.shared.paths.real(path)?;
        let path = real.path.clone();
        let considered = self.shared.using(access, real);
        let opinions = self.heard_unchanged(&hooks, &considered, "what a file call does cannot be changed").await?;
        Ok(Some(HeardOfPath { path, opinions }))
    }

    /// What hooks say about the use of a right that is about no path.
    pub(super) async fn heard_of_right(&self, action: &Considered) -> Result<Vec<Opinion>, Error> {
        let hooks = self.shared.hooks.load_full();
        if hooks.is_empty() {
            return Ok(Vec::new());
        }
        self.heard_unchanged(&hooks, action, "the use of a right cannot be changed").await
    }

    /// What hooks say about what none of them can change.
    async fn heard_unchanged(
        &self,
        hooks: &[Registered],
        action: &Considered,
        why: &str,
    ) -> Result<Vec<Opinion>, Error> {
        let mut asked = self.ask_hooks(hooks, action, None).await?;
        for one in &mut asked.said {
            if one.answer.as_ref().is_ok_and(|answer| answer.updated_input.is_some()) {
                one.answer = Err(why.to_owned());
            }
        }
        asked.opinions()
    }

    /// Asks all of them at once, and waits for each no longer than the settings say.
    async fn ask_hooks(
        &self,
        hooks: &[Registered],
        action: &Considered,
        input: Option<serde_json::Value>,
    ) -> Result<Asked, Error> {
        Handle::try_current().map_err(|_| Error::NoRuntime)?;
        let (run, patience) = self.look(|state, agent, _| (agent.run.clone(), state.settings.hook_timeout))?;
        let mut asked = Asked { agent: self.clone(), said: Vec::new() };
        let proposal = self.proposal(action, run, input);
        let (mut tasks, mut places) = (JoinSet::new(), HashMap::new());
        for Registered { name, hook } in hooks {
            let call = Arc::new(HookCall {
                hook: name.clone(),
                agent: self.id.clone(),
                run: proposal.run.clone(),
                input: proposal.digest,
                call: proposal.call.clone(),
            });
            self.carry_out(Command::Hook { call: Arc::clone(&call), news: HookNews::Started }).at_once()?;
            let (hook, proposal) = (Arc::clone(hook), proposal.clone());
            let task = tasks.spawn(async move { hook.before(proposal).await });
            places.insert(task.id(), asked.said.len());
            let in_vain = Err("nobody waits for the decision any more".to_owned());
            asked.said.push(Said { call, answer: in_vain, updated: None, is_told: false });
        }
        let heard = async {
            while let Some(done) = tasks.join_next_with_id().await {
                let (id, answer) = match done {
                    Ok((id, answer)) => (id, answer.map_err(|why: HookFailure| kept(&why.to_string()))),
                    Err(why) => (why.id(), Err("it panicked".to_owned())),
                };
                if let Some(said) = places.get(&id).and_then(|place| asked.said.get_mut(*place)) {
                    said.answer = answer;
                    places.remove(&id);
                }
            }
        };
        let in_time = tokio::time::timeout(patience, heard).await.is_ok();
        for place in places.into_values().filter(|_| !in_time) {
            if let Some(said) = asked.said.get_mut(place) {
                said.answer = Err(too_long(patience));
            }
        }
        Ok(asked)
    }

    fn proposal(&self, action: &Considered, run: RunId, input: Option<serde_json::Value>) -> Proposal {
        let facts = action.facts();
        Proposal {
            agent: self.id.clone(),
            run,
            operation: facts.operation,
            tool: facts.tool.clone(),
            resource: Arc::clone(&facts.resource),
            tier: action.tier.unwrap_or(Tier::Dangerous),
            tier_reason: Arc::clone(&facts.tier_reason),
            destructive: facts.destructive.clone(),
            needs: action.permissions().cloned().collect(),
            reason: action.reason.clone(),
            call: facts.call.clone(),
            input,
            digest: facts.input,
        }
    }

    /// Whether `new` may take the place of `old`; why not, if it may not.
    fn may_replace(
        &self,
        action: &Action,
        old: &Considered,
        new: &Action,
    ) -> Result<Result<Considered, String>, Error> {
        if has_mark(&text_of(new)) && !has_mark(&text_of(action)) {
            return Ok(Err("its input has a mark where there was a secret".to_owned()));
        }
        if new.needs.iter().any(|need| !action.needs.contains(need)) {
            return Ok(Err("its input needs more".to_owned()));
        }
        let considered = self.considered(new)?;
        let both: Vec<_> = old.permissions().chain(considered.permissions()).cloned().collect();
        let broken = self.shared.broken(&self.id, both.iter())?;
        let is_fine = self.look(|state, agent, now| {
            let case = |action| Case { state, agent, action, broken: &broken, opinions: &[], now };
            let lacked = judge(&case(old)).missing;
            let lacked: Vec<&Permission> = lacked.iter().map(|right| &right.permission).collect();
            is_no_worse(&old.facts(), &lacked, &case(&considered))
        })?;
        let worse = "its input is another kind of action, more harmful, needs more, or is denied";
        Ok(if is_fine { Ok(considered) } else { Err(worse.to_owned()) })
    }
}

/// What hooks said about one action. Whatever they are not told to have said when this goes, they have not said.
struct Asked {
    agent: Agent,
    said: Vec<Said>,
}

struct Said {
    call: Arc<HookCall>,
    answer: Result<HookAnswer, String>,
    /// Binds the input that it put in the place of the one it was asked about.
    updated: Option<Digest>,
    is_told: bool,
}

impl Asked {
    /// The one input that takes the place of the one asked about. Hooks that do not agree on one have failed, and so has one
    /// whose input is worse.
    fn updated(&mut self, action: &Action, old: &Considered) -> Result<Option<Box<Action>>, Error> {
        let mut inputs = Vec::new();
        for said in &mut self.said {
            let new = said.answer.as_ref().ok().and_then(|answer| answer.updated_input.clone());
            let Some(new) = new.map(|new| in_place_of(action, new)) else { continue };
            match self.agent.may_replace(action, old, &new)? {
                Ok(considered) => {
                    let input = considered.facts().input;
                    said.updated = Some(input);
                    inputs.push((said, input, new));
                }
                Err(why) => said.answer = Err(why),
            }
        }
        let agree = inputs.windows(2).all(|pair| matches!(pair, [one, other] if one.1 == other.1));
        if !agree {
            for (said, ..) in inputs {
                said.answer = Err("another hook put another input in its place".to_owned());
            }
            return Ok(None);
        }
        let input = inputs.first().map(|(_, input, _)| *input);
        let new = inputs.into_iter().next().map(|(.., new)| Box::new(new));
        let changed = input.filter(|input| *input != old.facts().input);
        if changed.is_some() {
            // Whoever said yes to the input before has not seen this one.
            let others = self.said.iter_mut().filter_map(|said| said.answer.as_mut().ok());
            for answer in
                others.filter(|answer| answer.updated_input.is_none() && answer.verdict == Some(Verdict::Allow))
            {
                answer.verdict = None;
            }
        }
        Ok(new.filter(|_| changed.is_some()))
    }

    /// Leaves the facts, and says what counts.
    fn opinions(mut self) -> Result<Vec<Opinion>, Error> {
        let mut opinions = Vec::new();
        for said in &mut self.said {
            let hook: Arc<str> = said.call.hook.as_str().into();
            let news = match &said.answer {
                Ok(answer) => {
                    let why = answer.reason.as_deref().map(|reason| kept(reason).into());
                    let opinion = |verdict| Opinion { hook, verdict, failed: false, about: 0, why };
                    opinions.extend(answer.verdict.map(opinion));
                    HookNews::Completed {
                        verdict: answer.verdict,
                        reason: answer.reason.as_deref().map(|reason| kept(reason).into()),
                        updated_input_ref: said.updated,
                    }
                }
                Err(why) => {
                    opinions.push(Opinion {
                        hook,
                        verdict: Verdict::Ask,
                        failed: true,
                        about: 0,
                        why: Some(why.as_str().into()),
                    });
                    HookNews::Failed { why: why.as_str().into() }
                }
            };
            said.is_told = true;
            self.agent.carry_out(Command::Hook { call: Arc::clone(&said.call), news }).at_once()?;
        }
        Ok(opinions)
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        for said in self.said.iter().filter(|said| !said.is_told) {
            let why = said.answer.as_ref().err().map_or("nobody waits for the decision any more", String::as_str);
            let news = HookNews::Failed { why: why.into() };
            // If the agent or the engine is gone by now, nobody is left to be told.
            drop(self.agent.carry_out(Command::Hook { call: Arc::clone(&said.call), news }));
        }
    }
}

fn failed(hook: &Registered) -> Opinion {
    let why = Some("what it was asked about has moved meanwhile".into());
    Opinion { hook: hook.name.as_str().into(), verdict: Verdict::Ask, failed: true, about: 0, why }
}

/// What a hook put in the place of `old`, with everything it left out.
fn in_place_of(old: &Action, new: Action) -> Action {
    Action {
        tool: new.tool.or_else(|| old.tool.clone()),
        needs: if new.needs.is_empty() { old.needs.clone() } else { new.needs },
        reason: new.reason.or_else(|| old.reason.clone()),
        call: old.call.clone(),
        overrides: old.overrides,
        // What somebody puts in its place runs as it would have run.
        circumstances: old.circumstances,
        what: new.what,
    }
}

fn text_of(action: &Action) -> String {
    match &action.what {
        What::Plain(_, text) => text.to_string(),
        What::Call(input) => input.to_string(),
    }
}

fn too_long(patience: Duration) -> String {
    format!("it took longer than {patience:?}")
}

fn kept(text: &str) -> String {
    redacted(text).chars().take(MOST_CHARS).collect()
}
