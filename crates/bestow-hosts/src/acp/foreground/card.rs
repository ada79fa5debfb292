//! A question, as an editor shows it.

use std::time::Duration;

use bestow::{Answer, action::Operation, command::Tier, event::Timestamp, grant::Scope, request::Request};
use serde_json::{Value, json};

use super::markdown::span;

/// The time for which the option with a time limit allows.
const UNTIL: Duration = Duration::from_secs(60 * 60);

/// The most characters of one object in a title. The text of the card has everything.
const LONGEST_OBJECT: usize = 160;

/// The most characters of a text. A card with a longer one does not show everything.
const LONGEST_TEXT: usize = 32_000;

/// A question to a person, with everything that a card shows.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "an inbox states all of it")]
pub struct Card {
    /// The id of the request.
    pub request: String,
    /// The agent that asks.
    pub agent: String,
    /// The short form: who asks for what.
    pub title: String,
    /// The whole question, as a text for people.
    pub text: String,
    /// The tier.
    pub tier: String,
    /// The time at which the request expires.
    pub expires_at: String,
    /// The answers that the request accepts, besides a denial.
    pub choices: Vec<Choice>,
}

/// An answer of a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "an inbox must know all of them")]
pub enum Choice {
    /// Allows it once.
    Once,
    /// Allows it until the run of the agent ends.
    Session,
    /// Allows it for an hour.
    Hour,
    /// Denies it.
    Deny,
}

impl Choice {
    /// Every choice, in the order of the options.
    pub const ALL: [Choice; 4] = [Choice::Once, Choice::Session, Choice::Hour, Choice::Deny];

    /// Returns the id of the option.
    pub fn id(self) -> &'static str {
        match self {
            Choice::Once => "once",
            Choice::Session => "session",
            Choice::Hour => "hour",
            Choice::Deny => "deny",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Choice::Once => "Allow once",
            Choice::Session => "Allow for this session",
            Choice::Hour => "Allow for 1 hour",
            Choice::Deny => "Deny",
        }
    }

    fn kind(self) -> &'static str {
        match self {
            Choice::Once => "allow_once",
            Choice::Session | Choice::Hour => "allow_always",
            Choice::Deny => "reject_once",
        }
    }

    /// Returns the option that stands for this answer.
    pub(super) fn option(self) -> Value {
        json!({ "optionId": self.id(), "name": self.name(), "kind": self.kind() })
    }

    /// Returns the scope of this answer now, or none for a denial.
    pub fn scope(self, now: Timestamp) -> Option<Scope> {
        match self {
            Choice::Once => Some(Scope::Once),
            Choice::Session => Some(Scope::Session),
            Choice::Hour => Some(Scope::Until(now.after(UNTIL))),
            Choice::Deny => None,
        }
    }

    pub(super) fn answer(self, now: Timestamp) -> Answer {
        self.scope(now).map_or_else(Answer::deny, |scope| Answer::allow().scope(scope))
    }
}

impl Card {
    /// Returns the card of a request.
    pub fn of(request: &Request, now: Timestamp) -> Card {
        let action = request.action.as_deref();
        let tier = action.map_or(Tier::Dangerous, |action| action.tier);
        let (operation, objects) = match action {
            Some(action) => (Some(action.operation), vec![action.resource.to_string()]),
            None => (None, request.permissions().map(ToString::to_string).collect()),
        };
        let accepted = |choice: &Choice| choice.scope(now).is_some_and(|scope| request.accepts_scope(scope));
        Card::new(
            Parts {
                request: request.id.to_string(),
                agent: request.from.to_string(),
                operation,
                objects,
                text: request.to_string(),
                tier: tier.to_string(),
                expires_at: request.deadline.to_string(),
            },
            Choice::ALL.into_iter().filter(accepted).collect(),
            tier == Tier::Destructive || request.is_once_only(),
        )
    }

    /// Returns a card. Nothing lasts if the request is for one use only, or if the card does not show everything.
    pub fn new(parts: Parts, choices: Vec<Choice>, is_once_only: bool) -> Card {
        let Parts { request, agent, operation, objects, text, tier, expires_at } = parts;
        let (text, is_cut) = shortened(&text, LONGEST_TEXT);
        let may_last = !is_once_only && !is_cut;
        let choices = choices.into_iter().filter(|choice| may_last || *choice == Choice::Once).collect();
        let objects: Vec<_> = objects.iter().map(|object| span(&shortened(object, LONGEST_OBJECT).0)).collect();
        let wanted = operation.map_or_else(|| "for".to_owned(), |operation| format!("to {}", operation.verb()));
        let title = format!("{} asks {wanted} {}", span(&agent), objects.join(", "));
        Card { request, agent, title, text, tier, expires_at, choices }
    }
}

/// The texts of a card.
#[derive(Clone, Debug)]
#[allow(clippy::exhaustive_structs, reason = "an inbox states all of it")]
pub struct Parts {
    /// The id of the request.
    pub request: String,
    /// The agent that asks.
    pub agent: String,
    /// The operation, if the request is about an action.
    pub operation: Option<Operation>,
    /// The object of the action, or the permissions.
    pub objects: Vec<String>,
    /// The whole question.
    pub text: String,
    /// The tier.
    pub tier: String,
    /// The time at which the request expires.
    pub expires_at: String,
}

/// Returns at most this number of characters, and true if some are missing.
fn shortened(text: &str, longest: usize) -> (String, bool) {
    match text.char_indices().nth(longest) {
        None => (text.to_owned(), false),
        Some((end, _)) => (format!("{}…", text.get(..end).unwrap_or_default()), true),
    }
}
