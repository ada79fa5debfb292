//! Hooks of the host program. They are asked before an action is decided, each in a task of its own. A hook that fails
//! in any way counts as a request for a person's approval.

use std::{collections::HashMap, sync::Arc, time::Duration};

use tokio::{runtime::Handle, task::JoinSet};

use crate::{
    kernel::{Command, EvaluationInput, HookNews, HookVerdict, ResolvedAction, Use, evaluate, is_no_worse},
    model::{
        Access, Action, Digest, HookCall, HookName, Permission, RunId, SanitizedPath, Secrets, Tier, UseFacts,
        UseOrigin, Verdict, What, has_mark, redacted, redacted_value,
    },
    ports::{Hook, HookAnswer, HookFailure, Proposal},
};

use super::{Agent, Error, registered_hook::RegisteredHook, shared::Shared};

/// The maximum number of characters of a hook's text that are kept.
const MOST_CHARS: usize = 1000;

/// An action with the results of its hooks.
#[derive(Debug)]
pub(super) struct HeardOf {
    pub(super) action: ResolvedAction,
    pub(super) opinions: Vec<HookVerdict>,
    /// The action that replaces the original one, if a hook changed it.
    pub(super) updated: Option<Box<Action>>,
}

/// The hook results for a use of a path, with the real path that the hooks saw.
#[derive(Debug)]
pub(super) struct HeardOfPath {
    pub(super) path: SanitizedPath,
    pub(super) opinions: Vec<HookVerdict>,
}

impl Shared {
    pub(super) fn add_hook(&self, name: HookName, hook: Arc<dyn Hook>) -> Result<(), Error> {
        let new = RegisteredHook { name, hook };
        let before = self.hooks.rcu(|hooks| {
            let is_there = hooks.iter().any(|hook| hook.name == new.name);
            let new = (!is_there).then(|| new.clone());
            hooks.iter().cloned().chain(new).collect::<Vec<_>>()
        });
        if before.iter().any(|hook| hook.name == new.name) { Err(Error::HookExists(new.name)) } else { Ok(()) }
    }
}

impl Agent {
    /// Asks the hooks about `action`, and returns the action to decide with their results.
    pub(super) async fn heard(&self, action: Action) -> Result<HeardOf, Error> {
        let considered = self.considered_aside(&action).await?;
        let hooks = self.shared.hooks.load_full();
        if hooks.is_empty() {
            return Ok(HeardOf { action: considered, opinions: Vec::new(), updated: None });
        }
        let mut asked = self.ask_hooks(&hooks, &considered, Some(&action)).await?;
        let updated = asked.updated(&action, &considered)?;
        let opinions = asked.opinions()?;
        let (meant, before, opinions) = match &updated {
            Some(updated) => {
                let considered = self.considered(updated)?;
                let opinions = self.heard_again(&hooks, updated, &considered, opinions).await?;
                (updated.as_ref(), considered, opinions)
            }
            None => (&action, considered, opinions),
        };
        // While the hooks ran, a link may have moved: then their results are about another action. The mode may have
        // changed: then the action is evaluated in the current mode.
        let now = ResolvedAction { updated: updated.is_some(), ..self.considered_aside(meant).await? };
        let moved = now.facts().input != before.facts().input;
        let opinions = if moved { hooks.iter().map(failed).collect() } else { opinions };
        Ok(HeardOf { action: now, opinions, updated })
    }

    /// Asks all hooks about the changed input. Every denial and every request for approval `before` the change still
    /// counts. An approval counts only for the input it was given for.
    async fn heard_again(
        &self,
        hooks: &[RegisteredHook],
        updated: &Action,
        considered: &ResolvedAction,
        before: Vec<HookVerdict>,
    ) -> Result<Vec<HookVerdict>, Error> {
        let mut asked = self.ask_hooks(hooks, considered, Some(updated)).await?;
        asked.refuse_another_change(updated, *considered.facts().input)?;
        let stricter = before.into_iter().filter(|opinion| opinion.verdict > Verdict::Allow);
        // The uses may have changed, so an earlier result now applies to the whole action.
        let stricter = stricter.map(|opinion| HookVerdict { about: 0, ..opinion });
        Ok(stricter.chain(asked.opinions()?).collect())
    }

    /// Asks the hooks about a file operation. Returns none if there are no hooks.
    pub(super) async fn heard_of_path(&self, access: Access, path: &str) -> Result<Option<HeardOfPath>, Error> {
        let hooks = self.shared.hooks.load_full();
        if hooks.is_empty() {
            return Ok(None);
        }
        let real = self.shared.paths.real(path)?;
        let path = real.path.clone();
        let considered = self.shared.using(access, real);
        let opinions = self.heard_unchanged(&hooks, &considered, "the input of a file call cannot be changed").await?;
        Ok(Some(HeardOfPath { path, opinions }))
    }

    /// Asks the hooks about the use of a permission that is about no path.
    pub(super) async fn heard_of_permission(&self, action: &ResolvedAction) -> Result<Vec<HookVerdict>, Error> {
        let hooks = self.shared.hooks.load_full();
        if hooks.is_empty() {
            return Ok(Vec::new());
        }
        self.heard_unchanged(&hooks, action, "the use of a permission cannot be changed").await
    }

    /// Asks the hooks about an action that no hook can change.
    async fn heard_unchanged(
        &self,
        hooks: &[RegisteredHook],
        action: &ResolvedAction,
        why: &str,
    ) -> Result<Vec<HookVerdict>, Error> {
        let mut asked = self.ask_hooks(hooks, action, None).await?;
        asked.refuse_changes(why);
        asked.opinions()
    }

    /// Asks all hooks at once about the action and each of its parts. It waits for each no longer than the hook timeout
    /// of the settings.
    async fn ask_hooks(
        &self,
        hooks: &[RegisteredHook],
        action: &ResolvedAction,
        said: Option<&Action>,
    ) -> Result<Asked, Error> {
        Handle::try_current().map_err(|_| Error::NoRuntime)?;
        let (run, patience) = self.look(|state, agent, _| (agent.run.clone(), state.settings.hook_timeout))?;
        let mut asked = Asked { agent: self.clone(), said: Vec::new() };
        let proposals = self.proposals(action, &run, said);
        let (mut tasks, mut places) = (JoinSet::new(), HashMap::new());
        for RegisteredHook { name, hook } in hooks {
            let call = Arc::new(HookCall {
                hook: name.clone(),
                agent: self.id.clone(),
                run: run.clone(),
                input: proposals.whole.digest,
                call: proposals.whole.call.clone(),
            });
            self.carry_out(Command::Hook { call: Arc::clone(&call), news: HookNews::Started }).at_once()?;
            let mut said = Said { call, answers: Vec::new(), updated: None, is_told: false };
            for (about, proposal) in proposals.iter() {
                let (hook, proposal) = (Arc::clone(hook), proposal.clone());
                let task = tasks.spawn(async move { hook.before(proposal).await });
                places.insert(task.id(), (asked.said.len(), said.answers.len()));
                let in_vain = Err("the caller no longer waits for the decision".to_owned());
                said.answers.push(Answered { about, answer: in_vain });
            }
            asked.said.push(said);
        }
        let heard = async {
            while let Some(done) = tasks.join_next_with_id().await {
                let (id, answer) = match done {
                    Ok((id, answer)) => (id, answer.map_err(|why: HookFailure| kept(&why.to_string()))),
                    Err(why) => (why.id(), Err("it panicked".to_owned())),
                };
                if let Some(place) = places.remove(&id) {
                    asked.put(place, answer);
                }
            }
        };
        let in_time = tokio::time::timeout(patience, heard).await.is_ok();
        for place in places.into_values().filter(|_| !in_time) {
            asked.put(place, Err(too_long(patience)));
        }
        Ok(asked)
    }

    /// Creates the proposals for the hooks: the action, and each use that it has or may have.
    fn proposals(&self, action: &ResolvedAction, run: &RunId, said: Option<&Action>) -> Proposals {
        let facts = action.facts();
        let whole = Proposal {
            agent: self.id.clone(),
            run: run.clone(),
            operation: facts.operation,
            tool: facts.tool.clone(),
            resource: Arc::clone(&facts.resource),
            part_of: None,
            origin: UseOrigin::Own,
            tier: action.tier.unwrap_or(Tier::Dangerous),
            tier_reason: Arc::clone(&facts.tier_reason),
            destructive: facts.destructive.clone(),
            needs: action.permissions().cloned().collect(),
            reason: action.reason.clone(),
            call: facts.call.clone(),
            input: said.and_then(input_of),
            digest: *facts.input,
        };
        let secrets = said.map_or_else(|| Secrets::of(""), secrets_of);
        let further = action.uses.iter().enumerate().skip(1);
        let part = |(about, used): (usize, &Use)| {
            let UseFacts { operation, resource, origin, .. } = used.facts();
            let needs = used.takes.iter().map(|pinned| pinned.permission.clone()).collect();
            let part_of = Some(Arc::clone(&whole.resource));
            // The word may be a secret.
            let resource = secrets.redacted_in(&resource);
            (about, Proposal { operation, resource, part_of, origin, needs, input: None, ..whole.clone() })
        };
        Proposals { parts: further.map(part).collect(), whole }
    }

    /// Checks if `new` may replace `old`, and returns the reason if it may not.
    fn may_replace(
        &self,
        action: &Action,
        old: &ResolvedAction,
        new: &Action,
    ) -> Result<Result<ResolvedAction, String>, Error> {
        if has_mark(&text_of(new)) && !has_mark(&text_of(action)) {
            return Ok(Err("its input contains a mark in place of a secret".to_owned()));
        }
        if new.needs.iter().any(|need| !action.needs.contains(need)) {
            return Ok(Err("its input needs more permissions".to_owned()));
        }
        let considered = self.considered(new)?;
        let both: Vec<_> = old.permissions().chain(considered.permissions()).cloned().collect();
        let broken = self.shared.broken(&self.id, both.iter())?;
        let is_fine = self.look(|state, agent, now| {
            let case = |action| EvaluationInput { state, agent, action, broken: &broken, opinions: &[], now };
            let lacked = evaluate(&case(old)).missing;
            let lacked: Vec<&Permission> = lacked.iter().map(|pinned| &pinned.permission).collect();
            is_no_worse(&old.facts(), &lacked, &case(&considered))
        })?;
        let worse = "its input is another kind of action, is more harmful, needs more permissions, or is denied";
        Ok(if is_fine { Ok(considered) } else { Err(worse.to_owned()) })
    }
}

/// The proposals for the hooks: the action, and each of its further uses by its index.
struct Proposals {
    whole: Proposal,
    parts: Vec<(usize, Proposal)>,
}

impl Proposals {
    fn iter(&self) -> impl Iterator<Item = (usize, &Proposal)> {
        std::iter::once((0, &self.whole)).chain(self.parts.iter().map(|(about, part)| (*about, part)))
    }
}

/// The results of all hooks for one action. On drop, each hook whose result is not yet recorded is recorded as failed.
struct Asked {
    agent: Agent,
    said: Vec<Said>,
}

/// The results of one hook.
struct Said {
    call: Arc<HookCall>,
    /// The answers about the action, and about each of its parts.
    answers: Vec<Answered>,
    /// The digest of the input that the hook put in place of the original.
    updated: Option<Digest>,
    is_told: bool,
}

/// The answer of one hook about the use at this index.
struct Answered {
    about: usize,
    answer: Result<HookAnswer, String>,
}

impl Answered {
    fn opinion(&self, hook: &HookName) -> Option<HookVerdict> {
        let (hook, about) = (hook.as_str().into(), self.about);
        match &self.answer {
            Ok(answer) => {
                let why = answer.reason.as_deref().map(|reason| kept(reason).into());
                answer.verdict.map(|verdict| HookVerdict { hook, verdict, failed: false, about, why })
            }
            Err(why) => {
                let why = Some(why.as_str().into());
                Some(HookVerdict { hook, verdict: Verdict::Ask, failed: true, about, why })
            }
        }
    }
}

impl Said {
    /// Returns the hook's answer about the action as a whole.
    fn whole(&self) -> Option<&HookAnswer> {
        self.answers.first()?.answer.as_ref().ok()
    }

    /// Marks the hook's answer as failed, with the reason.
    fn fail(&mut self, why: String) {
        if let Some(whole) = self.answers.first_mut() {
            whole.answer = Err(why);
        }
    }

    /// Fails each answer that changes a part. A part of an action can be changed only by changing the action.
    fn refuse_changed_parts(&mut self) {
        for part in self.answers.iter_mut().skip(1) {
            if part.answer.as_ref().is_ok_and(|answer| answer.updated_input.is_some()) {
                part.answer = Err("a hook cannot change a single part of an action".to_owned());
            }
        }
    }

    /// Combines all answers of the hook into one event: a denial, or a failure, or the strictest answer.
    fn news(&self) -> HookNews {
        let told = |answer: &HookAnswer| HookNews::Completed {
            verdict: answer.verdict,
            reason: answer.reason.as_deref().map(|reason| kept(reason).into()),
            updated_input_ref: self.updated,
        };
        let parts = self.answers.iter().skip(1).filter_map(|part| part.answer.as_ref().ok());
        // An approval of a part says nothing about the whole action.
        let parts = parts.filter(|answer| answer.verdict > Some(Verdict::Allow));
        let strictest = parts.fold(self.whole(), |strictest, part| match strictest {
            Some(other) if other.verdict >= part.verdict => Some(other),
            Some(_) | None => Some(part),
        });
        let failed = self.answers.iter().find_map(|one| one.answer.as_ref().err());
        match (strictest, failed) {
            (Some(answer), _) if answer.verdict == Some(Verdict::Deny) => told(answer),
            (_, Some(why)) => HookNews::Failed { why: why.as_str().into() },
            (Some(answer), None) => told(answer),
            (None, None) => HookNews::Completed { verdict: None, reason: None, updated_input_ref: self.updated },
        }
    }
}

impl Asked {
    fn put(&mut self, (said, place): (usize, usize), answer: Result<HookAnswer, String>) {
        if let Some(slot) = self.said.get_mut(said).and_then(|said| said.answers.get_mut(place)) {
            slot.answer = answer;
        }
    }

    /// Returns the one input that replaces the original. Hooks that disagree about it have failed, and so has a hook
    /// whose input is worse.
    fn updated(&mut self, action: &Action, old: &ResolvedAction) -> Result<Option<Box<Action>>, Error> {
        let mut inputs = Vec::new();
        for said in &mut self.said {
            let new = said.whole().and_then(|answer| answer.updated_input.clone());
            let Some(new) = new.map(|new| in_place_of(action, new)) else { continue };
            match self.agent.may_replace(action, old, &new)? {
                Ok(considered) => {
                    let input = *considered.facts().input;
                    said.updated = Some(input);
                    inputs.push((said, input, new));
                }
                Err(why) => said.fail(why),
            }
        }
        let agree = inputs.windows(2).all(|pair| matches!(pair, [one, other] if one.1 == other.1));
        if !agree {
            for (said, ..) in inputs {
                said.fail("another hook replaced the input".to_owned());
            }
            return Ok(None);
        }
        let input = inputs.first().map(|(_, input, _)| *input);
        let new = inputs.into_iter().next().map(|(.., new)| Box::new(new));
        let changed = input.filter(|input| *input != *old.facts().input);
        Ok(new.filter(|_| changed.is_some()))
    }

    /// Fails each hook that wants another input than `current`, because an input is replaced only once. A hook that
    /// repeats the current input changes nothing.
    fn refuse_another_change(&mut self, current: &Action, digest: Digest) -> Result<(), Error> {
        for said in &mut self.said {
            let Some(new) = said.whole().and_then(|answer| answer.updated_input.clone()) else { continue };
            if *self.agent.considered(&in_place_of(current, new))?.facts().input != digest {
                said.fail("another hook has already changed the input".to_owned());
            }
        }
        Ok(())
    }

    /// Fails each hook that changed the input, with the reason `why`.
    fn refuse_changes(&mut self, why: &str) {
        for said in &mut self.said {
            if said.whole().is_some_and(|answer| answer.updated_input.is_some()) {
                said.fail(why.to_owned());
            }
        }
    }

    /// Records the results and returns those that count.
    fn opinions(mut self) -> Result<Vec<HookVerdict>, Error> {
        let mut opinions = Vec::new();
        for said in &mut self.said {
            said.refuse_changed_parts();
            opinions.extend(said.answers.iter().filter_map(|one| one.opinion(&said.call.hook)));
            let news = said.news();
            said.is_told = true;
            self.agent.carry_out(Command::Hook { call: Arc::clone(&said.call), news }).at_once()?;
        }
        Ok(opinions)
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        for said in self.said.iter().filter(|said| !said.is_told) {
            let failed = said.answers.iter().find_map(|one| one.answer.as_ref().err());
            let why = failed.map_or("the caller no longer waits for the decision", String::as_str);
            let news = HookNews::Failed { why: why.into() };
            // If the agent or the engine is gone by now, the result need not be recorded.
            drop(self.agent.carry_out(Command::Hook { call: Arc::clone(&said.call), news }));
        }
    }
}

fn failed(hook: &RegisteredHook) -> HookVerdict {
    let why = Some("the object of the action has moved in the meantime".into());
    HookVerdict { hook: hook.name.as_str().into(), verdict: Verdict::Ask, failed: true, about: 0, why }
}

/// Returns the hook's input, completed with the fields of `old` that the hook left out.
fn in_place_of(old: &Action, new: Action) -> Action {
    // Another tool need not be one of the coding agent's own.
    let is_same_tool = new.tool.is_none() || new.tool == old.tool;
    Action {
        tool: new.tool.or_else(|| old.tool.clone()),
        coding_agent: old.coding_agent.filter(|_| is_same_tool),
        needs: if new.needs.is_empty() { old.needs.clone() } else { new.needs },
        reason: new.reason.or_else(|| old.reason.clone()),
        call: old.call.clone(),
        overrides: old.overrides,
        // A replaced action runs in the circumstances of the original.
        circumstances: old.circumstances,
        directory: old.directory.clone(),
        // Declared content of the original does not apply to another input.
        details: new.details,
        shell: old.shell,
        in_sandbox: old.in_sandbox,
        what: new.what,
    }
}

/// Returns the input of a tool call, without secrets. Returns none for other actions.
fn input_of(action: &Action) -> Option<serde_json::Value> {
    match &action.what {
        What::Call(input) => Some(redacted_value(input)),
        What::Plain(..) => None,
    }
}

fn secrets_of(action: &Action) -> Secrets<'_> {
    match &action.what {
        What::Plain(_, text) => Secrets::of(text),
        What::Call(input) => Secrets::of_input(input),
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
