//! The texts that hosts send to their hooks, and the answers in their own forms. Nothing here asks an engine or reads a
//! clock.
//!
//! Each host has a file with its form. [`Host::read`] reads what the host sends, [`Host::answer`] spells an answer, and
//! [`Host::doubt`] spells that there is no answer: the call may not happen then.

mod claude;
mod codex;
mod copilot;
mod event;
mod gemini;
mod input;
mod output;

pub use event::{About, Event, Mistake, Question};
pub use output::Output;

use std::time::Duration;

use bestow::tool::{CodingAgent, is_session_tool};

use crate::call::{Answer, Unanswered};

/// A host with hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "each host has its own form")]
pub enum Host {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// GitHub Copilot CLI.
    Copilot,
}

impl Host {
    /// All hosts.
    pub const ALL: [Host; 4] = [Host::Claude, Host::Codex, Host::Gemini, Host::Copilot];

    /// Returns the name of the host, as the command line has it.
    pub fn as_str(self) -> &'static str {
        self.coding_agent().as_str()
    }

    /// Returns the coding agent, whose own tools are known.
    pub fn coding_agent(self) -> CodingAgent {
        match self {
            Host::Claude => CodingAgent::Claude,
            Host::Codex => CodingAgent::Codex,
            Host::Gemini => CodingAgent::Gemini,
            Host::Copilot => CodingAgent::Copilot,
        }
    }

    /// Returns the time after which the host goes on without the hook's answer, if its settings name no other. After
    /// that time, it takes the silence as permission.
    pub fn patience(self) -> Duration {
        Duration::from_secs(match self {
            Host::Claude | Host::Codex => 600,
            Host::Gemini => 60,
            Host::Copilot => 30,
        })
    }

    /// Reads what the host sends to its hook.
    ///
    /// # Errors
    ///
    /// The text is not what the host sends. If it announces a call, the call may not happen.
    pub fn read(self, text: &[u8]) -> Result<Event, Mistake> {
        match self {
            Host::Claude => claude::read(text),
            Host::Codex => codex::read(text),
            Host::Gemini => gemini::read(text),
            Host::Copilot => copilot::read(text),
        }
    }

    /// Returns what happens to a question of this host that nobody answers in time. It is withdrawn where the person at
    /// the terminal decides then.
    pub fn unanswered(self, question: &Question) -> Unanswered {
        match question.about {
            About::Prompt if question.is_foreground() => Unanswered::Withdraw,
            About::Call if question.is_foreground() && self.can_ask() => Unanswered::Withdraw,
            About::Call | About::Prompt => Unanswered::Leave,
        }
    }

    /// Returns true if the host calls a tool with another input when the hook says so.
    pub fn can_replace_input(self) -> bool {
        match self {
            Host::Claude => true,
            // Gemini CLI merges the fields of both inputs. Earlier versions of the others ignore the new input, and
            // would call the tool with the old one.
            Host::Codex | Host::Gemini | Host::Copilot => false,
        }
    }

    /// Returns true if the host shows a prompt to the person at the terminal when the hook says so.
    fn can_ask(self) -> bool {
        match self {
            Host::Claude => true,
            // Codex takes it as a failure and calls the tool. Gemini CLI does not have it. Earlier versions of Copilot
            // CLI pass over it.
            Host::Codex | Host::Gemini | Host::Copilot => false,
        }
    }

    /// Spells the answer about a call.
    pub fn answer(self, question: &Question, answer: &Answer) -> Output {
        let about = question.about;
        match answer {
            // The host goes on as without a hook, so its own prompts reach the person.
            Answer::Allowed { .. } if question.is_planning || self.prompts_about(question) => Output::of_nothing(),
            Answer::Allowed { reason, feedback } => self.allow(about, reason, feedback.as_deref()),
            Answer::Denied { reason } => self.deny(about, reason),
            Answer::Changed { input, .. } if self == Host::Claude => claude::change(about, input),
            Answer::Changed { input, reason } => self.deny(about, &format!("{reason}: {input}")),
            Answer::Waits { id, code, reason } => match about {
                About::Prompt if question.is_foreground() => Output::of_nothing(),
                About::Call if question.is_foreground() && self == Host::Claude => claude::ask(reason),
                About::Call | About::Prompt => self.deny(
                    about,
                    &format!(
                        "a person must decide first ({reason}): the request {id} (code {code}) waits; go on with other \
                         work, and try again after the decision"
                    ),
                ),
            },
        }
    }

    /// Returns true if the host itself asks the person about such a call, as about a plan.
    fn prompts_about(self, question: &Question) -> bool {
        is_session_tool(self.coding_agent(), question.tool.as_str())
    }

    /// Spells that there is no answer about a call. If it is not known what the hook was asked about, it is taken as a
    /// call of a tool.
    pub fn doubt(self, about: Option<About>, why: &str) -> Output {
        self.deny(about.unwrap_or(About::Call), why)
    }

    /// Spells that a call may happen. Where the host has a field for it, the model gets the words of the person who
    /// approved it.
    fn allow(self, about: About, reason: &str, words: Option<&str>) -> Output {
        let words = words.map(|words| format!("the person who approved the call says: {words}"));
        match self {
            Host::Claude => claude::allow(about, reason, words.as_deref()),
            Host::Codex => codex::allow(about, words.as_deref()),
            Host::Gemini => gemini::allow(),
            Host::Copilot => copilot::allow(reason, words.as_deref()),
        }
    }

    fn deny(self, about: About, reason: &str) -> Output {
        // A reason that is empty is a failure for some hosts, and the call goes on.
        let reason = if reason.trim().is_empty() { "denied" } else { reason };
        match self {
            Host::Claude => claude::deny(about, reason),
            Host::Codex => codex::deny(about, reason),
            Host::Gemini => gemini::deny(reason),
            Host::Copilot => copilot::deny(reason),
        }
    }
}
