//! The source of questions, and the way of the answers.

use async_trait::async_trait;
use bestow::{
    Approver, Engine, Error, Outcome,
    event::Timestamp,
    user::{Connection, Prompt},
};

use super::{
    card::{Card, Choice},
    markdown::{block, span},
};

/// News for the person at an editor.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "each of them is shown")]
pub enum News {
    /// A question.
    Asked(Box<Card>),
    /// A question has ended.
    Ended {
        /// The id of the request.
        request: String,
        /// True if it was approved.
        is_granted: bool,
        /// The end, for people.
        text: String,
    },
    /// A message.
    Said(String),
}

/// The questions to one person.
#[async_trait]
pub trait Inbox: Send {
    /// Waits for news. Returns none if there can be no more. Dropping the future loses nothing.
    async fn next(&mut self) -> Option<News>;

    /// Answers a request. When this returns, the answer is in force.
    ///
    /// # Errors
    ///
    /// The reason why it is not, for people.
    async fn answer(&mut self, request: &str, choice: Choice) -> Result<(), String>;

    /// Returns what waits and what the agent holds, as a text for people.
    ///
    /// # Errors
    ///
    /// The reason why it is not known, for people.
    async fn report(&mut self) -> Result<String, String>;
}

/// The questions to the user of a foreground agent in an engine of this process.
#[derive(Debug)]
pub struct UserInbox {
    engine: Engine,
    approver: Approver,
    connection: Connection,
}

impl UserInbox {
    /// Creates the inbox of a connected user.
    ///
    /// # Authority
    ///
    /// Answers count as answers of `approver`.
    pub fn new(engine: Engine, approver: Approver, connection: Connection) -> UserInbox {
        UserInbox { engine, approver, connection }
    }

    fn now(&self) -> Timestamp {
        // Without a clock, nothing that ends is given.
        self.engine.now().unwrap_or(Timestamp::from_millis(0))
    }

    fn told(&self) -> Result<String, Error> {
        let waiting = self.approver.pending()?;
        let waiting: Vec<_> =
            waiting.iter().map(|pending| format!("[{}] {}", pending.request.code(), pending.request)).collect();
        let agent = self.engine.agent(self.connection.agent())?;
        let held: Vec<_> = agent.permissions()?.iter().map(|permission| permission.to_string()).collect();
        Ok(report(agent.id().as_str(), &waiting, &held))
    }
}

/// Returns the text about what waits and what an agent holds.
pub(super) fn report(agent: &str, waiting: &[String], held: &[String]) -> String {
    let blocks = |all: &[String]| all.iter().map(|text| block(text)).collect::<Vec<_>>().join("\n");
    let list = |all: &[String]| all.iter().map(|text| format!("- {}\n", span(text))).collect::<String>();
    let waiting = match waiting {
        [] => "No request waits for an answer.\n".to_owned(),
        all => format!("These requests wait for an answer:\n\n{}", blocks(all)),
    };
    let agent = span(agent);
    match held {
        [] => format!("{waiting}\n{agent} holds no permission.\n"),
        all => format!("{waiting}\n{agent} holds:\n\n{}", list(all)),
    }
}

#[async_trait]
impl Inbox for UserInbox {
    async fn next(&mut self) -> Option<News> {
        loop {
            return Some(match self.connection.next().await? {
                Prompt::Ask(request) => News::Asked(Box::new(Card::of(&request, self.now()))),
                Prompt::Settled(how) => News::Ended {
                    request: how.request.to_string(),
                    is_granted: how.outcome == Outcome::Granted,
                    text: how.to_string(),
                },
                Prompt::Said { from, text } => News::Said(format!("{from}:\n\n{}", block(&text))),
                _ => continue,
            });
        }
    }

    async fn answer(&mut self, request: &str, choice: Choice) -> Result<(), String> {
        let id = request.parse().map_err(|_| "the request has no valid id".to_owned())?;
        let answered = self.approver.answer(id, choice.answer(self.now())).await;
        answered.map_err(|why| why.to_string())
    }

    async fn report(&mut self) -> Result<String, String> {
        self.told().map_err(|why| why.to_string())
    }
}
