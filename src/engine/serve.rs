//! Serves the requests that reach a user, one after the other.

use std::{collections::VecDeque, pin::pin, sync::Arc};

use crate::{
    kernel::Refusal,
    model::{AgentId, Answer, OrText, Request, RequestId},
};

use super::{Approver, Connection, Engine, Error, Prompt};

impl Engine {
    /// Connects the user of a foreground agent, and answers the requests that reach this user, oldest first, as
    /// `approver`. `answer` is called with one request at a time; it shows the request to the person and returns the
    /// answer. If it returns none, the request stays open for another approver, or for a later
    /// [`Approver::answer`]. If the request ends while `answer` runs, its future is dropped.
    ///
    /// Returns when another connection replaces this one, or when the engine ends. Messages of the agent
    /// ([`Agent::say`](super::Agent::say)) are skipped; [`Engine::connect`] shows them too.
    ///
    /// ```
    /// use bestow::{Answer, PermissionRequest, Engine, InitialGrants, Kind, Permission, Profile, Settings};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// let engine = Engine::new(Settings::default())?;
    /// let lead = Profile::new("lead".parse()?, "you".parse()?, Kind::Foreground, "/work".parse()?);
    /// let lead = engine.register(lead, InitialGrants::default()).await?;
    ///
    /// let ann = engine.approver("you", "ann", "terminal");
    /// tokio::spawn(engine.serve_user("lead", &ann, async |question| {
    ///     println!("[{}] {question}", question.code()); // everything that others wrote is quoted
    ///     Answer::allow()
    /// }));
    /// let ticket = lead.request(PermissionRequest::new(Permission::Network, "to read the docs")).await?;
    /// assert!(ticket.resolution().await.refused.is_empty());
    /// # Ok(()) })
    /// # }
    /// ```
    ///
    /// # Authority
    ///
    /// Every answer counts as an answer of `approver`, and can give what that person can give. The call acts as a
    /// person, so do not give it to an agent.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if there is no such agent, it is not a foreground agent, or an answer is invalid for its
    /// request. [`Error::Text`] for a text that is not a name. An answer that comes too late is no error.
    ///
    /// # Cancellation
    ///
    /// Dropping the future disconnects the user. Waiting requests go to the next route.
    pub fn serve_user<I: OrText<AgentId>, A: Into<Option<Answer>>, F: AsyncFnMut(Arc<Request>) -> A>(
        &self,
        agent: I,
        approver: &Approver,
        answer: F,
    ) -> impl Future<Output = Result<(), Error>> + use<I, A, F> {
        let connection = agent.value().map_err(Error::from).and_then(|agent| self.connect(agent));
        let approver = approver.clone();
        async move {
            approver.person()?;
            Service { connection: connection?, approver, waiting: VecDeque::new() }.run(answer).await
        }
    }
}

/// One connected user.
struct Service {
    connection: Connection,
    approver: Approver,
    /// The requests that the person has not seen yet, oldest first.
    waiting: VecDeque<Arc<Request>>,
}

impl Service {
    async fn run<A: Into<Option<Answer>>>(
        mut self,
        mut answer: impl AsyncFnMut(Arc<Request>) -> A,
    ) -> Result<(), Error> {
        loop {
            let Some(question) = self.waiting.pop_front() else {
                match self.connection.next().await {
                    Some(shown) => self.note(shown, None),
                    None => return Ok(()),
                };
                continue;
            };
            let id = question.id;
            let mut answered = pin!(answer(question));
            let given = loop {
                tokio::select! {
                    // An end that is known already comes before an answer.
                    biased;
                    shown = self.connection.next() => {
                        let Some(shown) = shown else { return Ok(()) };
                        if self.note(shown, Some(id)) {
                            break None;
                        }
                    }
                    given = &mut answered => break given.into(),
                }
            };
            if let Some(given) = given {
                self.answer(id, given).await?;
            }
        }
    }

    /// Records an entry. Returns true if it ends the request `current`.
    fn note(&mut self, shown: Prompt, current: Option<RequestId>) -> bool {
        match shown {
            Prompt::Ask(question) => self.waiting.push_back(question),
            Prompt::Settled(ended) => {
                self.waiting.retain(|question| question.id != ended.request);
                return current == Some(ended.request);
            }
            Prompt::Said { .. } => {}
        }
        false
    }

    async fn answer(&self, id: RequestId, answer: Answer) -> Result<(), Error> {
        match self.approver.answer(id, answer).await {
            Err(Error::Refused(Refusal::AlreadyResolved(_) | Refusal::UnknownRequest(_)) | Error::Closed) => Ok(()),
            done => done,
        }
    }
}
