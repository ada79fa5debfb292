//! The requests that wait for an answer, followed as they come and end.

use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
};

use super::{Admin, RequestNews, WaitingRequest, presence::Presence};
use crate::{
    engine::{Error, NoEvent, Subscription, WeakEngine},
    model::{ApproverId, Event, HeldChange, Means, OwnerId, Pending, RequestId, Route},
};

/// The most events that are read for one batch of news.
const BATCH: usize = 256;

/// The requests that wait, as [`Admin::follow`] reports them. It does not keep the engine alive.
#[derive(Debug)]
pub struct Following {
    engine: WeakEngine,
    owner: Option<OwnerId>,
    means: Means,
    events: Subscription,
    /// The requests that were reported as waiting, each with its place.
    reported: BTreeMap<RequestId, Route>,
    held_back: Option<HeldChange>,
    first: Option<Vec<RequestNews>>,
    presence: Option<Presence>,
}

impl Admin {
    /// Follows the requests that wait. `known` are those that waited when the caller last knew: the end of each of them
    /// is reported first.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub fn follow(&self, known: impl IntoIterator<Item = RequestId>) -> Result<Following, Error> {
        self.follow_as(known, None)
    }

    /// Follows the requests that wait. If a person `attends`, that person counts as present as long as it follows.
    pub(super) fn follow_as(
        &self,
        known: impl IntoIterator<Item = RequestId>,
        attends: Option<ApproverId>,
    ) -> Result<Following, Error> {
        // The subscription is first, so that no request comes in between.
        let events = self.engine.subscribe();
        let presence = attends.map(|by| Presence::begin(&self.engine, by, self.means.clone())).transpose()?;
        let mut following = Following {
            engine: self.engine.downgrade(),
            owner: self.owner.clone(),
            means: self.means.clone(),
            events,
            reported: BTreeMap::new(),
            held_back: None,
            first: None,
            presence,
        };
        let mut news = Vec::new();
        let waiting: BTreeSet<_> = self.pending()?.iter().map(|pending| pending.request.id).collect();
        for id in known.into_iter().filter(|id| !waiting.contains(id)) {
            news.push(ended(self, id)?);
        }
        following.compare(self, &mut news)?;
        following.compare_held_change(self, &mut news)?;
        following.first = Some(news);
        Ok(following)
    }
}

impl Following {
    /// Returns what the first call of [`Following::next`] would return.
    pub(super) fn first(&self) -> &[RequestNews] {
        self.first.as_deref().unwrap_or_default()
    }

    /// Waits for news. The first call returns everything that waits now, the oldest request first, and does not wait.
    /// Returns `None` when the engine has ended.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses no news.
    pub async fn next(&mut self) -> Option<Vec<RequestNews>> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        loop {
            let mut next = self.events.next().await;
            let engine = self.engine.upgrade()?;
            let admin = Admin { engine, owner: self.owner.clone(), means: self.means.clone() };
            let mut news = Vec::new();
            for _ in 0..BATCH {
                match next {
                    Ok(recorded) => self.report(&admin, &recorded.event, &mut news).ok()?,
                    Err(NoEvent::Missed(_)) => self.catch_up(&admin, &mut news).ok()?,
                    Err(NoEvent::Ended) => return None,
                }
                next = match self.events.try_next() {
                    Ok(Some(recorded)) => Ok(recorded),
                    Err(why @ NoEvent::Missed(_)) => Err(why),
                    // The next call reports the end.
                    Ok(None) | Err(NoEvent::Ended) => break,
                };
            }
            if !news.is_empty() {
                return Some(news);
            }
        }
    }

    fn report(&mut self, admin: &Admin, event: &Event, news: &mut Vec<RequestNews>) -> Result<(), Error> {
        if let Some(presence) = &mut self.presence {
            presence.hear(&admin.engine, event)?;
        }
        if let Event::Routed { request, route } = event
            && admin.reaches(&request.owner)
        {
            self.report_waiting(admin, Pending { request: request.clone(), route: route.clone() }, news);
        }
        if let Event::Resolved { resolution, .. } = event
            && self.reported.remove(&resolution.request).is_some()
        {
            let (id, code) = (resolution.request, resolution.request.code().to_string());
            news.push(RequestNews::Ended { code, id, resolution: Some(resolution.clone()) });
        }
        if matches!(event, Event::ConfigHeldBack { .. } | Event::ConfigReloaded { .. }) {
            self.compare_held_change(admin, news)?;
        }
        Ok(())
    }

    fn report_waiting(&mut self, admin: &Admin, pending: Pending, news: &mut Vec<RequestNews>) {
        let (id, route) = (pending.request.id, pending.route.clone());
        match self.reported.insert(id, route.clone()) {
            None => news.push(RequestNews::Waiting(Box::new(WaitingRequest::of(&pending, admin)))),
            Some(before) if before != route => {
                news.push(RequestNews::Moved { code: id.code().to_string(), id, route });
            }
            Some(_) => {}
        }
    }

    /// Reports what has changed although its events were missed.
    fn catch_up(&mut self, admin: &Admin, news: &mut Vec<RequestNews>) -> Result<(), Error> {
        if let Some(presence) = &mut self.presence {
            presence.catch_up(&admin.engine)?;
        }
        self.compare(admin, news)?;
        self.compare_held_change(admin, news)
    }

    fn compare(&mut self, admin: &Admin, news: &mut Vec<RequestNews>) -> Result<(), Error> {
        let mut pending = admin.pending()?;
        pending.sort_by_key(|pending| (pending.request.since, pending.request.id));
        let waiting: BTreeSet<_> = pending.iter().map(|pending| pending.request.id).collect();
        let (still, over) = mem::take(&mut self.reported).into_iter().partition(|(id, _)| waiting.contains(id));
        self.reported = still;
        for (id, _) in BTreeMap::<_, Route>::into_iter(over) {
            news.push(ended(admin, id)?);
        }
        pending.into_iter().for_each(|pending| self.report_waiting(admin, pending, news));
        Ok(())
    }

    fn compare_held_change(&mut self, admin: &Admin, news: &mut Vec<RequestNews>) -> Result<(), Error> {
        let held_back = admin.held_change()?;
        if held_back != self.held_back {
            self.held_back.clone_from(&held_back);
            news.push(RequestNews::HeldBack { held_back });
        }
        Ok(())
    }
}

/// Returns the end of a request, as far as the engine remembers it.
fn ended(admin: &Admin, id: RequestId) -> Result<RequestNews, Error> {
    let resolution = admin.engine.resolution(id)?.filter(|how| admin.reaches(&how.owner));
    Ok(RequestNews::Ended { code: id.code().to_string(), id, resolution })
}
