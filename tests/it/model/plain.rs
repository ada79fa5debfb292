//! The reference model: lists, and a complete recomputation at each step.

use std::collections::{BTreeMap, BTreeSet};

use bestow::{
    AgentId, Permission, Policy, Settings,
    decision::Check,
    grant::{Access, Hold, Reads, Scope},
};

/// A time in milliseconds. `u64::MAX` means never.
pub(super) type End = u64;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum From {
    File,
    Root,
    Agent(AgentId),
}

#[derive(Clone, Debug)]
pub(super) struct Given {
    pub(super) to: AgentId,
    pub(super) what: Permission,
    pub(super) from: From,
    pub(super) hold: Hold,
    pub(super) scope: Scope,
    pub(super) run: Option<u32>,
    pub(super) end: End,
    depth: u8,
    number: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) owner: &'static str,
    pub(super) run: u32,
    pub(super) from_file: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Question {
    pub(super) number: usize,
    pub(super) from: AgentId,
    pub(super) asked: Vec<Permission>,
    pub(super) refused_before: Vec<Permission>,
    pub(super) scope: Option<Scope>,
    pub(super) deadline: End,
    since: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum How {
    Granted,
    Denied,
    Expired,
    Cancelled,
}

/// A refusal without its reason. Other tests check the reasons.
#[derive(Debug, PartialEq)]
pub(super) struct No;

#[derive(Clone, Debug)]
pub(super) struct Plain {
    pub(super) settings: Settings,
    pub(super) now: End,
    pub(super) members: BTreeMap<AgentId, Member>,
    pub(super) given: Vec<Given>,
    pub(super) questions: Vec<Question>,
    pub(super) over: BTreeMap<usize, How>,
    denials: Vec<(AgentId, Permission, End)>,
    /// The denials in a row: their number, the time of the last one, and the time at which they expire.
    noes: BTreeMap<AgentId, (u32, End, End)>,
    count: u64,
}

pub(super) fn end_of(scope: Scope) -> End {
    if let Scope::Until(moment) = scope { moment.as_millis() } else { End::MAX }
}

impl Plain {
    pub(super) fn new(settings: Settings, now: End) -> Plain {
        Plain {
            settings,
            now,
            members: BTreeMap::new(),
            given: Vec::new(),
            questions: Vec::new(),
            over: BTreeMap::new(),
            denials: Vec::new(),
            noes: BTreeMap::new(),
            count: 0,
        }
    }

    fn is_protected(&self, what: &Permission) -> bool {
        what.path().is_some_and(|path| self.settings.protected.iter().any(|root| root.contains(path)))
    }

    pub(super) fn is_free(&self, what: &Permission) -> bool {
        let read = matches!(what, Permission::Path(Access::Read, _));
        read && self.settings.reads == Reads::Anywhere && !self.is_protected(what)
    }

    /// Returns the grants of an agent that cover `what` and may be passed on.
    fn supports<'a>(&'a self, agent: &'a AgentId, what: &'a Permission) -> impl Iterator<Item = &'a Given> {
        self.given
            .iter()
            .filter(move |given| given.to == *agent && given.scope != Scope::Once && given.what.covers(what))
    }

    /// Returns the grants of an agent that cover `what` and may be used.
    fn usable<'a>(&'a self, agent: &'a AgentId, what: &'a Permission) -> impl Iterator<Item = &'a Given> {
        let own = move |given: &&Given| given.to == *agent;
        let exact = move |given: &Given| given.from == From::File && given.what.path() == what.path();
        let open = !self.is_protected(what);
        self.given
            .iter()
            .filter(own)
            .filter(move |given| given.hold == Hold::Use && given.what.covers(what) && (open || exact(given)))
    }

    pub(super) fn check(&self, agent: &AgentId, what: &Permission) -> Check {
        let for_good = || self.is_free(what) || self.usable(agent, what).any(|given| given.scope != Scope::Once);
        if !self.members.contains_key(agent) {
            Check::NotHeld
        } else if for_good() {
            Check::Held
        } else if self.usable(agent, what).next().is_some() {
            Check::HeldOnce
        } else {
            Check::NotHeld
        }
    }

    /// Returns true if the agent holds the permission, for use or for passing on only.
    pub(super) fn has(&self, agent: &AgentId, what: &Permission) -> bool {
        let passes_on = || self.given.iter().any(|given| given.to == *agent && given.what.covers(what));
        self.check(agent, what) != Check::NotHeld || (passes_on() && !self.is_protected(what))
    }

    /// Recomputes the end of every grant from the roots up. Removes the grants without support. Ends the requests that
    /// are late or whose agent is gone.
    fn work_out(&mut self) {
        let now = self.now;
        self.given.retain(|given| now < given.end && self.members.contains_key(&given.to));
        let mut ends: Vec<Option<End>> =
            self.given.iter().map(|given| (!matches!(given.from, From::Agent(_))).then_some(given.end)).collect();
        loop {
            let before = ends.clone();
            for (place, given) in self.given.iter().enumerate() {
                let From::Agent(from) = &given.from else { continue };
                let best = self.given.iter().zip(&before).filter_map(|(support, end)| {
                    let supports =
                        support.to == *from && support.scope != Scope::Once && support.what.covers(&given.what);
                    end.filter(|_| supports && self.members.contains_key(from))
                });
                let best = best
                    .chain((self.is_free(&given.what) && self.members.contains_key(from)).then_some(End::MAX))
                    .max();
                if let Some(slot) = ends.get_mut(place) {
                    *slot = best.map(|end| end.min(given.end));
                }
            }
            if ends == before {
                break;
            }
        }
        let mut ends = ends.into_iter();
        self.given.retain_mut(|given| match ends.next().flatten() {
            Some(end) => {
                given.end = end;
                true
            }
            None => false,
        });
        let (late, open) =
            std::mem::take(&mut self.questions).into_iter().partition(|question| question.deadline <= now);
        self.questions = open;
        let late: Vec<Question> = late;
        self.over.extend(late.iter().map(|question| (question.number, How::Expired)));
        let gone: Vec<usize> = self
            .questions
            .iter()
            .filter(|question| !self.members.contains_key(&question.from))
            .map(|question| question.number)
            .collect();
        self.end(&gone, |_| How::Cancelled);
    }

    fn end(&mut self, numbers: &[usize], how: impl Fn(&Question) -> How) {
        for question in self.questions.iter().filter(|question| numbers.contains(&question.number)) {
            self.over.insert(question.number, how(question));
        }
        self.questions.retain(|question| !numbers.contains(&question.number));
    }

    /// Settles the requests whose agent holds all requested permissions, by grants made since the request.
    fn answer_what_is_held(&mut self) {
        let held = |question: &&Question| {
            question.asked.iter().all(|what| {
                self.usable(&question.from, what)
                    .any(|given| given.scope != Scope::Once && question.since <= given.number)
            })
        };
        let done: Vec<usize> = self.questions.iter().filter(held).map(|question| question.number).collect();
        self.end(&done, |question| if !question.refused_before.is_empty() { How::Denied } else { How::Granted });
    }

    #[expect(clippy::too_many_arguments, reason = "the columns of one row")]
    fn put(&mut self, to: &AgentId, what: &Permission, from: From, hold: Hold, scope: Scope, end: End, depth: u8) {
        let run = (scope == Scope::Session).then(|| self.members.get(to).map_or(0, |member| member.run));
        self.count += 1;
        let given =
            Given { to: to.clone(), what: what.clone(), from, hold, scope, run, end, depth, number: self.count };
        self.given.push(given);
        self.keep_back();
    }

    /// Marks a grant of an agent as for passing on only, permanently, if a file or a person grants that permission for
    /// passing on only.
    fn keep_back(&mut self) {
        let passes_on = |own: &&Given| own.hold == Hold::PassOn && !matches!(own.from, From::Agent(_));
        let only: Vec<_> = self.given.iter().filter(passes_on).map(|own| (own.to.clone(), own.what.clone())).collect();
        for given in self.given.iter_mut().filter(|given| matches!(given.from, From::Agent(_))) {
            if only.iter().any(|(to, what)| *to == given.to && what.covers(&given.what)) {
                given.hold = Hold::PassOn;
            }
        }
    }

    /// Returns true if `agent` can receive `more` grants. Each giving agent has its own limit. Files and people share
    /// one.
    fn has_room(&self, agent: &AgentId, by: Option<&AgentId>, more: usize) -> bool {
        let by_same = |given: &&Given| match &given.from {
            From::Agent(from) => Some(from) == by,
            From::File | From::Root => by.is_none(),
        };
        let held = self.given.iter().filter(|given| given.to == *agent).filter(by_same).count();
        held + more <= self.settings.max_grants as usize
    }

    fn is_past(&self, scope: Scope) -> bool {
        end_of(scope) <= self.now
    }

    pub(super) fn pass(&mut self, millis: u64) {
        self.now += millis;
        self.work_out();
    }

    pub(super) fn register(
        &mut self,
        agent: &AgentId,
        owner: &'static str,
        holds: &[(Permission, Hold)],
    ) -> Result<(), No> {
        let refused = self.members.contains_key(agent) || holds.iter().any(|(what, _)| self.is_protected(what));
        if refused || holds.len() > self.settings.max_grants as usize {
            return Err(No);
        }
        self.members.insert(agent.clone(), Member { owner, run: 0, from_file: false });
        for (what, hold) in holds {
            self.put(agent, what, From::Root, *hold, Scope::Always, End::MAX, 0);
        }
        Ok(())
    }

    /// Returns the depth and the latest end of a grant that `from` passes on, or `None` if it may not.
    fn passes_on(&self, from: &AgentId, what: &Permission) -> Option<(u8, End)> {
        if self.is_protected(what) {
            return None;
        }
        if self.is_free(what) {
            return (0 < self.settings.max_depth).then_some((1, End::MAX));
        }
        let shallow = self.supports(from, what).filter(|given| given.depth < self.settings.max_depth);
        let best = shallow.max_by_key(|given| (given.end, std::cmp::Reverse(given.depth)))?;
        Some((best.depth + 1, best.end))
    }

    pub(super) fn grant(&mut self, from: &AgentId, to: &AgentId, what: &[Permission], scope: Scope) -> Result<(), No> {
        let owner = |agent| self.members.get(agent).map(|member| member.owner);
        let same = from != to && owner(from).is_some() && owner(from) == owner(to);
        if !same || self.is_past(scope) {
            return Err(No);
        }
        let terms: Vec<_> = what.iter().map(|what| self.passes_on(from, what).ok_or(No)).collect::<Result<_, _>>()?;
        let before = self.clone();
        let mut new = 0;
        for (what, (depth, end)) in what.iter().zip(terms) {
            let end = end.min(end_of(scope));
            let run = (scope == Scope::Session).then(|| self.members.get(to).map_or(0, |member| member.run));
            // A gift that was restricted once restricts later gifts too, like the restriction that it comes from.
            let restricts = |own: &Given| own.to == *to && own.hold == Hold::PassOn && own.what.covers(what);
            let kept_back = self.given.iter().any(restricts);
            let hold = if kept_back { Hold::PassOn } else { Hold::Use };
            let there = self.given.iter().any(|given| {
                (&given.to, &given.what, &given.from, given.hold) == (to, what, &From::Agent(from.clone()), hold)
                    && (given.scope, given.run, given.end) == (scope, run, end)
                    && scope != Scope::Once
            });
            if !there {
                new += 1;
                self.put(to, what, From::Agent(from.clone()), hold, scope, end, depth);
            }
        }
        if !before.has_room(to, Some(from), new) {
            *self = before;
            return Err(No);
        }
        self.answer_what_is_held();
        Ok(())
    }

    pub(super) fn give(
        &mut self,
        owner: &str,
        to: &AgentId,
        what: &Permission,
        hold: Hold,
        scope: Scope,
    ) -> Result<(), No> {
        let own = self.members.get(to).is_some_and(|member| member.owner == owner);
        if !own || self.is_past(scope) || !self.has_room(to, None, 1) || self.is_protected(what) {
            return Err(No);
        }
        self.put(to, what, From::Root, hold, scope, end_of(scope), 0);
        self.work_out();
        self.answer_what_is_held();
        Ok(())
    }

    /// Revokes the grant at `place`.
    pub(super) fn revoke(&mut self, place: usize) -> Result<(), No> {
        if self.given.get(place).is_none_or(|given| given.from == From::File) {
            return Err(No);
        }
        self.given.remove(place);
        self.work_out();
        Ok(())
    }

    pub(super) fn retire(&mut self, agent: &AgentId) -> Result<(), No> {
        // Only the file removes the agents that it defines.
        if self.members.get(agent).ok_or(No)?.from_file {
            return Err(No);
        }
        self.members.remove(agent);
        self.forget(agent);
        self.work_out();
        Ok(())
    }

    /// Removes the grants, denials and requests of an agent.
    fn forget(&mut self, agent: &AgentId) {
        self.given.retain(|given| given.to != *agent && given.from != From::Agent(agent.clone()));
        self.denials.retain(|(denied, _, _)| denied != agent);
        self.noes.remove(agent);
        let asked: Vec<usize> =
            self.questions.iter().filter(|question| question.from == *agent).map(|question| question.number).collect();
        self.end(&asked, |_| How::Cancelled);
    }

    pub(super) fn begin_run(&mut self, agent: &AgentId, run: u32) -> Result<(), No> {
        let member = self.members.get(agent).ok_or(No)?;
        let taken =
            |(name, other): (&AgentId, &Member)| name != agent && other.owner == member.owner && other.run == run;
        if self.members.iter().any(taken) {
            return Err(No);
        }
        let member = self.members.get_mut(agent).ok_or(No)?;
        let before = std::mem::replace(&mut member.run, run);
        if before != run {
            self.given.retain(|given| given.to != *agent || given.run != Some(before));
            self.work_out();
            let asked = self.questions.iter().filter(|question| question.from == *agent);
            let asked: Vec<usize> = asked.map(|question| question.number).collect();
            self.end(&asked, |_| How::Cancelled);
        }
        Ok(())
    }

    pub(super) fn spend(&mut self, agent: &AgentId, what: &Permission) -> Result<(), No> {
        match self.check(agent, what) {
            Check::Held => Ok(()),
            Check::NotHeld => Err(No),
            Check::HeldOnce if self.is_protected(what) => Err(No),
            Check::HeldOnce => {
                let first =
                    self.usable(agent, what).min_by_key(|given| (given.end, given.number)).map(|given| given.number);
                self.given.retain(|given| Some(given.number) != first);
                Ok(())
            }
        }
    }

    /// Opens or joins a request, and returns its number.
    pub(super) fn request(
        &mut self,
        number: usize,
        from: &AgentId,
        what: &[Permission],
        scope: Option<Scope>,
    ) -> Result<usize, No> {
        if !self.members.contains_key(from) || scope.is_some_and(|scope| self.is_past(scope)) {
            return Err(No);
        }
        let fresh = |what: &Permission| {
            let is_about = |denied: &Permission| denied.covers(what) || what.covers(denied);
            self.denials.iter().any(|(agent, denied, until)| agent == from && is_about(denied) && self.now < *until)
        };
        let missing: Vec<_> = what.iter().filter(|what| self.check(from, what) != Check::Held).collect();
        if missing.iter().any(|what| self.is_protected(what)) {
            return Err(No);
        }
        let refused_before: Vec<_> = missing.iter().copied().filter(|what| fresh(what)).cloned().collect();
        let asked: Vec<_> = missing.into_iter().filter(|what| !fresh(what)).cloned().collect();
        let own = || self.questions.iter().filter(|question| question.from == *from);
        if asked.is_empty() {
            self.over.insert(number, if refused_before.is_empty() { How::Granted } else { How::Denied });
            return Ok(number);
        }
        let same =
            own().find(|question| question.scope == scope && asked.iter().all(|what| question.asked.contains(what)));
        if let Some(question) = same.filter(|_| refused_before.is_empty()) {
            return Ok(question.number);
        }
        if own().count() >= self.settings.max_pending as usize {
            return Err(No);
        }
        let deadline = self.now + u64::try_from(self.settings.request_timeout.as_millis()).unwrap();
        let question =
            Question { number, from: from.clone(), asked, refused_before, scope, deadline, since: self.count + 1 };
        self.questions.push(question);
        Ok(number)
    }

    /// Records a denial, and returns the time until which it counts as recent. Each one in a row lasts twice as long as
    /// the previous one.
    fn said_no(&mut self, agent: &AgentId) -> End {
        let memory = u64::try_from(self.settings.denial_memory.as_millis()).unwrap();
        let length = |count: u32| memory * 2_u64.pow(count.saturating_sub(1).min(30));
        let count = match self.noes.get(agent) {
            Some((count, last, _)) if *last == self.now => return last + length(*count),
            Some((count, _, forgotten)) if self.now < *forgotten => count + 1,
            _ => 1,
        };
        self.noes.insert(agent.clone(), (count, self.now, self.now + 2 * length(count)));
        self.now + length(count)
    }

    /// Answers the request at `place`. `allowed` is its approved part.
    pub(super) fn answer(
        &mut self,
        place: usize,
        owner: &str,
        allowed: &[Permission],
        scope: Option<Scope>,
    ) -> Result<(), No> {
        let question = self.questions.get(place).cloned().ok_or(No)?;
        let own = self.members.get(&question.from).is_some_and(|member| member.owner == owner);
        if !own || allowed.iter().any(|what| !question.asked.contains(what)) {
            return Err(No);
        }
        let scope = scope.or(question.scope).unwrap_or(Scope::Session);
        if !allowed.is_empty() {
            let too_wide = question.scope.is_some_and(|asked| !scope.fits_within(asked));
            let protected = allowed.iter().any(|what| self.is_protected(what));
            if too_wide || protected || self.is_past(scope) || !self.has_room(&question.from, None, allowed.len()) {
                return Err(No);
            }
        }
        for what in allowed {
            self.put(&question.from, what, From::Root, Hold::Use, scope, end_of(scope), 0);
        }
        let refused: Vec<_> = question.asked.iter().filter(|what| !allowed.contains(what)).cloned().collect();
        let how = if refused.is_empty() && question.refused_before.is_empty() { How::Granted } else { How::Denied };
        self.end(&[question.number], |_| how);
        if refused.is_empty() {
            if how == How::Granted {
                self.noes.remove(&question.from);
            }
            self.work_out();
            self.answer_what_is_held();
            return Ok(());
        }
        let until = self.said_no(&question.from);
        for what in refused {
            self.denials.retain(|(agent, denied, _)| (agent, denied) != (&question.from, &what));
            self.denials.push((question.from.clone(), what, until));
        }
        self.work_out();
        self.answer_what_is_held();
        Ok(())
    }

    pub(super) fn cancel(&mut self, place: usize, by: &AgentId) -> Result<(), No> {
        let question = self.questions.get(place).filter(|question| question.from == *by).ok_or(No)?;
        let number = question.number;
        self.end(&[number], |_| How::Cancelled);
        Ok(())
    }

    pub(super) fn configure(&mut self, policy: &Policy) -> Result<(), No> {
        let taken = |agent: &AgentId| self.members.get(agent).is_some_and(|member| !member.from_file);
        if policy.agents.keys().any(taken) {
            return Err(No);
        }
        self.settings = policy.settings.clone();
        let gone: Vec<AgentId> =
            self.members.iter().filter(|(_, member)| member.from_file).map(|(agent, _)| agent.clone()).collect();
        for agent in gone.iter().filter(|agent| !policy.agents.contains_key(*agent)) {
            self.members.remove(agent);
            self.forget(agent);
        }
        for (agent, spec) in &policy.agents {
            self.members.entry(agent.clone()).or_insert(Member { owner: "you", run: 0, from_file: true });
            let lines: BTreeSet<_> =
                spec.permissions.iter().map(|line| (line.pinned.permission.clone(), line.hold == Hold::Use)).collect();
            let line_of = |given: &Given| (given.what.clone(), given.hold == Hold::Use);
            self.given
                .retain(|given| given.to != *agent || given.from != From::File || lines.contains(&line_of(given)));
            let there: BTreeSet<_> =
                self.given.iter().filter(|given| given.to == *agent && given.from == From::File).map(line_of).collect();
            for (what, uses) in lines.difference(&there) {
                let hold = if *uses { Hold::Use } else { Hold::PassOn };
                self.put(agent, what, From::File, hold, Scope::Always, End::MAX, 0);
            }
        }
        self.work_out();
        self.answer_what_is_held();
        Ok(())
    }
}
