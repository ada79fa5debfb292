//! Something about to happen.

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    CallId, Details, Digest, Doing, Permission, Permissions, Reason, SanitizedPath, Tier, ToolName, UseFacts,
    text::{Quoted, Ticked},
};

/// What kind of thing is about to happen (`sources/001`, "Event: request_permission").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[allow(clippy::exhaustive_enums, reason = "a new operation must be decided on")]
pub enum Operation {
    /// A file is read.
    #[serde(rename = "fs.read")]
    Read,
    /// A file is written, made or removed.
    #[serde(rename = "fs.write")]
    Write,
    /// A program file is run.
    #[serde(rename = "fs.exec")]
    Exec,
    /// A command line is run.
    #[serde(rename = "command.execute")]
    Command,
    /// Something is reached over the network.
    #[serde(rename = "network")]
    Network,
    /// The engine's own socket is used (`@events`).
    #[serde(rename = "events")]
    Events,
    /// A declared tool is used that is neither of the above.
    #[serde(rename = "tool")]
    Tool,
}

impl Operation {
    pub(crate) const ALL: [Operation; 7] = [
        Operation::Read,
        Operation::Write,
        Operation::Exec,
        Operation::Command,
        Operation::Network,
        Operation::Events,
        Operation::Tool,
    ];

    /// The tool that does it, where nobody says which does.
    pub(crate) fn own_tool(self) -> ToolName {
        let name = match self {
            Operation::Read => "read",
            Operation::Write => "write",
            Operation::Exec => "exec",
            Operation::Command => "bash",
            Operation::Network => "network",
            Operation::Events => "events",
            Operation::Tool => "tool",
        };
        // A word of letters is a name.
        name.parse().unwrap_or_else(|_| self.own_tool())
    }

    /// The name in files and on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Operation::Read => "fs.read",
            Operation::Write => "fs.write",
            Operation::Exec => "fs.exec",
            Operation::Command => "command.execute",
            Operation::Network => "network",
            Operation::Events => "events",
            Operation::Tool => "tool",
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A text is not an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidOperation;

impl fmt::Display for InvalidOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "an operation is `fs.read`, `fs.write`, `fs.exec`, `command.execute`, `network`, `events` or `tool`",
        )
    }
}

impl std::error::Error for InvalidOperation {}

impl FromStr for Operation {
    type Err = InvalidOperation;

    fn from_str(text: &str) -> Result<Self, InvalidOperation> {
        Operation::ALL.into_iter().find(|operation| operation.as_str() == text).ok_or(InvalidOperation)
    }
}

/// Something about to happen, as whoever wants it describes it. Nothing is checked yet.
///
/// Paths may be relative to the agent's working directory.
///
/// ```
/// use bestow::Action;
/// let build = Action::command("cargo build").needing("@network".parse::<bestow::Permission>()?);
/// let save = Action::write("site/index.html").by_tool("write_file".parse()?);
/// # let _ = (build, save);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Action {
    pub(crate) what: What,
    pub(crate) tool: Option<ToolName>,
    pub(crate) needs: Vec<Permission>,
    pub(crate) reason: Option<Reason>,
    pub(crate) call: Option<CallId>,
    pub(crate) overrides: bool,
    pub(crate) circumstances: Option<Digest>,
    pub(crate) details: Option<Box<Value>>,
    /// It runs in a sandbox that keeps it from everything that it is not given.
    pub(crate) in_sandbox: bool,
}

/// What is about to happen, not understood yet.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum What {
    /// An operation on a path, a command line, or a host.
    Plain(Operation, Arc<str>),
    /// A call of a tool with this input.
    Call(Value),
}

impl Action {
    fn plain(operation: Operation, resource: &str) -> Action {
        let what = What::Plain(operation, resource.into());
        Action {
            what,
            tool: None,
            needs: Vec::new(),
            reason: None,
            call: None,
            overrides: false,
            circumstances: None,
            details: None,
            in_sandbox: false,
        }
    }

    /// Reads a file or directory.
    pub fn read(path: &str) -> Action {
        Action::plain(Operation::Read, path)
    }

    /// Writes, makes or removes a file or directory.
    pub fn write(path: &str) -> Action {
        Action::plain(Operation::Write, path)
    }

    /// Runs a program file.
    pub fn exec(path: &str) -> Action {
        Action::plain(Operation::Exec, path)
    }

    /// Runs a command line, as a shell would.
    pub fn command(text: &str) -> Action {
        Action::plain(Operation::Command, text)
    }

    /// Reaches a host over the network.
    pub fn network(host: &str) -> Action {
        Action::plain(Operation::Network, host)
    }

    /// An operation on a resource, where both come from elsewhere.
    pub fn new(operation: Operation, resource: &str) -> Action {
        Action::plain(operation, resource)
    }

    /// Calls a tool. `bash`, `exec` and `shell` run a command, `write` and `file_write` write, `read` and `file_read`
    /// read (`sources/003`, "Tool classification"); a tool nobody knows is dangerous.
    pub fn tool(name: ToolName, input: Value) -> Action {
        Action { what: What::Call(input), tool: Some(name), ..Action::read("") }
    }

    /// The same, done by this tool. What is remembered for a session is remembered for a tool.
    pub fn by_tool(self, name: ToolName) -> Action {
        Action { tool: Some(name), ..self }
    }

    /// The same, and these permissions are used by it: what a command runs with besides its working directory.
    pub fn needing(self, permissions: impl Into<Permissions>) -> Action {
        Action { needs: permissions.into().into(), ..self }
    }

    /// The same, and this is why; a person who is asked reads it.
    pub fn because(self, reason: Reason) -> Action {
        Action { reason: Some(reason), ..self }
    }

    /// The same, as this call of a tool.
    pub fn as_call(self, call: CallId) -> Action {
        Action { call: Some(call), ..self }
    }

    /// The same, under these circumstances: whatever decides, besides the action itself, what would run, such as its
    /// environment, its limits, its sandbox. An approval is for them too: under others, it is another question.
    pub fn under(self, circumstances: &str) -> Action {
        Action { circumstances: Some(Digest::of_texts([circumstances])), ..self }
    }

    /// The same, with the content that is about to be written or sent: a person who is asked sees it, bounded and without
    /// secrets, and an approval is bound to all of it. A call of a tool that writes has it in its input.
    pub fn with_details(self, content: Value) -> Action {
        Action { details: Some(Box::new(content)), ..self }
    }

    /// The same, and if only a person's no for the session stands against it, the person is asked again, once
    /// (`policy-deny-override` of `sources/001`).
    pub fn overriding(self) -> Action {
        Action { overrides: true, ..self }
    }
}

/// An action as it was understood, for people and records. Secrets are left out, what binds them is not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ActionFacts {
    /// What kind of thing it is.
    pub operation: Operation,
    /// By which tool.
    pub tool: ToolName,
    /// The real path, the command line, or the host; `@network` or `@events` for the use of one of those.
    pub resource: Arc<str>,
    /// Everything else that it uses: what it is given, what its command line names, what its program needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uses: Vec<UseFacts>,
    /// How much harm it can do.
    pub tier: Tier,
    /// Why that is so.
    pub tier_reason: Arc<str>,
    /// Binds all of it, with the directory it runs in and its circumstances: whatever differs is another action.
    pub input: Digest,
    /// Binds tool, operation and resource, the directory it runs in and its circumstances: what is remembered for a session.
    pub access: Digest,
    /// Binds what decides besides what would run ([`Action::under`]), if anything does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub circumstances: Option<Digest>,
    /// What may be remembered for good, if anything may: a command with its fixed words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<CommandShape>,
    /// What it does however it is written, if it is a command line: what a no for the run is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doing: Option<Doing>,
    /// The call of the tool, if the host program said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
    /// The content that is about to be written or sent, if it was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Details>,
    /// What it does that nobody can undo, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive: Option<Destructive>,
    /// Whether a person is asked although they said no for this run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub overrides: bool,
    /// Whether a person is not shown all of it. Then a yes to it is for once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

/// More of one thing nobody reads in a question: of a longer one the beginning and the end are shown.
const LONGEST_SHOWN: usize = 2_000;

/// How much of the end is shown of what is cut.
const END_SHOWN: usize = 600;

/// The beginning and the end of a text that is too long to be shown, and how many characters stand between them.
pub(crate) fn cut(text: &str) -> Option<(&str, usize, &str)> {
    cut_to(LONGEST_SHOWN, text)
}

/// The same of what has more than `longest` characters.
pub(crate) fn cut_to(longest: usize, text: &str) -> Option<(&str, usize, &str)> {
    text.char_indices().nth(longest)?;
    let characters = text.chars().count();
    let place = |number| text.char_indices().nth(number).map_or(text.len(), |(place, _)| place);
    let (head, rest) = text.split_at_checked(place(longest.saturating_sub(END_SHOWN)))?;
    let (_, tail) = text.split_at_checked(place(characters.saturating_sub(END_SHOWN)))?;
    Some((head, rest.chars().count().saturating_sub(END_SHOWN), tail))
}

impl ActionFacts {
    /// The action alone, as in "run `make`".
    pub fn phrase(&self) -> impl fmt::Display + '_ {
        Phrase(self.operation, &self.resource)
    }

    /// The same as somebody typed it, who typed no [`GIVEN`].
    pub(crate) fn typed(&self) -> impl fmt::Display + '_ {
        let line = self.resource.strip_suffix(GIVEN).filter(|_| self.operation == Operation::Command);
        Phrase(self.operation, line.map_or(&*self.resource, str::trim_end))
    }
}

/// A redirection that changes nothing: what a command reads is what it is given, and nobody knows that.
pub(crate) const GIVEN: &str = "<&0";

struct Phrase<'a>(Operation, &'a str);

impl fmt::Display for Phrase<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = match self.0 {
            Operation::Read => "read",
            Operation::Write => "write",
            Operation::Exec | Operation::Command => "run",
            Operation::Network => "reach",
            Operation::Events | Operation::Tool => "use",
        };
        match cut(self.1) {
            None => write!(f, "{verb} {}", Ticked(self.1)),
            // The number stands outside: what is inside may say anything. An input may have been cut before.
            Some((head, left, tail)) => {
                write!(f, "{verb} {} … {left} characters or more are left out … {}", Ticked(head), Ticked(tail))
            }
        }
    }
}

/// The action, and why it is not safe.
impl fmt::Display for ActionFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.phrase().fmt(f)?;
        if self.tier > Tier::Safe { write!(f, " ({})", Quoted(&self.tier_reason)) } else { Ok(()) }
    }
}

/// A command that may be allowed for good: what it is compared by, and how a person reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CommandShape {
    /// What two commands have in common exactly if they have one shape: a digest, since words may be secrets.
    pub key: Arc<str>,
    /// The whole of it, for a person; with a mark in the place of what can be told to be a secret.
    pub shown: Arc<str>,
    /// The directory in which a command of this shape runs, where it is bound to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<SanitizedPath>,
}

impl CommandShape {
    /// The shape as a person should read it, with the directory that it is bound to.
    pub fn phrase(&self) -> impl fmt::Display + '_ {
        ShapePhrase(self)
    }

    /// The shape that is displayed as `whole`, shown as `shown`.
    pub(crate) fn of(whole: &str, shown: Arc<str>) -> CommandShape {
        CommandShape { key: Digest::of_texts([whole]).to_string().into(), shown, cwd: None }
    }

    /// The same under these circumstances only.
    pub(crate) fn under(&self, circumstances: Digest) -> CommandShape {
        let key = Digest::of_texts([&*self.key, &*circumstances.to_string()]).to_string().into();
        CommandShape { key, ..self.clone() }
    }

    /// The same in this directory only.
    pub(crate) fn in_directory(&self, cwd: Option<&SanitizedPath>) -> CommandShape {
        CommandShape { cwd: cwd.cloned(), ..self.clone() }
    }

    /// Whether what was said about a command of this shape was said about one of the `other` shape, which runs where this
    /// one does.
    pub(crate) fn is(&self, other: &CommandShape) -> bool {
        self.key == other.key && self.cwd == other.cwd
    }

    /// Whether nothing is left out of what is shown, and nothing is bound besides.
    #[cfg(feature = "edit")]
    pub(crate) fn is_shown_whole(&self) -> bool {
        self.key == CommandShape::of(&self.shown, Arc::clone(&self.shown)).key
    }
}

struct ShapePhrase<'a>(&'a CommandShape);

impl fmt::Display for ShapePhrase<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ticked(&self.0.shown).fmt(f)?;
        self.0.cwd.as_ref().map_or(Ok(()), |cwd| write!(f, " in {}", Ticked(cwd.as_str())))
    }
}

/// What an action destroys (`sources/002`, "Permission modes": every mode keeps these facts).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Destructive {
    /// What is affected.
    pub impact_scope: Arc<str>,
    /// What helps afterwards, if anything does.
    pub rollback_advice: Arc<str>,
}
