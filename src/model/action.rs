//! Actions that an agent wants to do.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use bestow_command::Shape;

use super::{
    CallId, CodingAgent, CommandFingerprint, Details, Digest, GIVEN, LazyDigest, Operation, Permission, Permissions,
    Quoted, Reason, SanitizedPath, Scope, Shell, Ticked, Tier, ToolName, UseFacts,
};

/// An action that an agent wants to do, as its caller describes it. No field is checked yet.
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
    /// The coding agent that calls the tool.
    pub(crate) coding_agent: Option<CodingAgent>,
    pub(crate) needs: Vec<Permission>,
    pub(crate) reason: Option<Reason>,
    pub(crate) call: Option<CallId>,
    pub(crate) overrides: bool,
    pub(crate) circumstances: Option<Digest>,
    /// The directory in which the action happens, if it is not the agent's working directory.
    pub(crate) directory: Option<SanitizedPath>,
    pub(crate) details: Option<Box<Value>>,
    /// The shell that runs a command line of the action.
    pub(crate) shell: Shell,
    /// Set if the action runs in a sandbox that blocks every access it is not granted.
    pub(crate) in_sandbox: bool,
}

/// The content of an action before the engine resolves it.
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
            coding_agent: None,
            needs: Vec::new(),
            reason: None,
            call: None,
            overrides: false,
            circumstances: None,
            directory: None,
            details: None,
            shell: Shell::Unknown,
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

    /// Creates an action from an operation and its resource.
    pub fn new(operation: Operation, resource: &str) -> Action {
        Action::plain(operation, resource)
    }

    /// Creates a call of a tool. `bash`, `exec` and `shell` run a command. `write` and `file_write` write. `read` and
    /// `file_read` read (`sources/003`, "Tool classification"). An unknown tool is dangerous.
    pub fn tool(name: ToolName, input: Value) -> Action {
        Action { what: What::Call(input), tool: Some(name), ..Action::read("") }
    }

    /// Sets the tool that does the action. A decision that is saved for a session applies to this tool only.
    pub fn by_tool(self, name: ToolName) -> Action {
        Action { tool: Some(name), ..self }
    }

    /// Sets the coding agent that calls the tool. Its own tools without an effect outside of its session, such as
    /// `TodoWrite`, are known then. The caller vouches that the name is that of the agent's own tool.
    pub fn by_coding_agent(self, agent: CodingAgent) -> Action {
        Action { coding_agent: Some(agent), ..self }
    }

    /// Sets the permissions that the action uses. For a command, these are the permissions it runs with besides its
    /// working directory.
    pub fn needing(self, permissions: impl Into<Permissions>) -> Action {
        Action { needs: permissions.into().into(), ..self }
    }

    /// Sets the reason. A person who is asked reads it.
    pub fn because(self, reason: Reason) -> Action {
        Action { reason: Some(reason), ..self }
    }

    /// Sets the tool call that the action belongs to.
    pub fn as_call(self, call: CallId) -> Action {
        Action { call: Some(call), ..self }
    }

    /// Sets the circumstances of the action: everything else that determines what runs, such as its environment, limits
    /// and sandbox. An approval covers these circumstances only. The same action under other circumstances needs
    /// another approval.
    pub fn under(self, circumstances: &str) -> Action {
        Action { circumstances: Some(Digest::of_texts([circumstances])), ..self }
    }

    /// Sets the directory in which the action happens. Its relative paths and its commands begin there, and not in the
    /// agent's working directory. A rule that allows a command without naming a directory is about the working
    /// directory, so it does not allow the command elsewhere.
    pub fn in_directory(self, directory: SanitizedPath) -> Action {
        Action { directory: Some(directory), ..self }
    }

    /// Sets the shell that runs a command line of the action. Without it, a line is safe only if it is in bash, in dash
    /// and in zsh.
    pub fn in_shell(self, shell: Shell) -> Action {
        Action { shell, ..self }
    }

    /// Sets the content that the action writes or sends. A person who is asked sees this content, shortened and without
    /// secrets. An approval is bound to the whole content. A call of a tool that writes has its content in its input.
    pub fn with_details(self, content: Value) -> Action {
        Action { details: Some(Box::new(content)), ..self }
    }

    /// Marks the action as overriding. If the only obstacle is a person's denial for the session, the engine asks the
    /// person once more (`policy-deny-override` of `sources/001`).
    pub fn overriding(self) -> Action {
        Action { overrides: true, ..self }
    }
}

/// The facts of a resolved action, for people and records. Secrets are left out. The digests cover the secrets too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ActionFacts {
    /// The kind of the action.
    pub operation: Operation,
    /// The tool that does the action.
    pub tool: ToolName,
    /// The canonical path, the command line, or the host. It is `@network` or `@events` for a use of one of those.
    pub resource: Arc<str>,
    /// The further uses of the action: granted permissions, paths that its command line names, and needs of its
    /// program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uses: Vec<UseFacts>,
    /// The tier: how much harm the action can do.
    pub tier: Tier,
    /// The reason for the tier.
    pub tier_reason: Arc<str>,
    /// The digest of the whole action, its working directory and its circumstances. Any difference makes another
    /// action.
    pub input: LazyDigest,
    /// The digest of tool, operation, resource, working directory and circumstances. A decision for a session is saved
    /// under it.
    pub access: LazyDigest,
    /// The digest of the circumstances ([`Action::under`]), if any are set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub circumstances: Option<Digest>,
    /// The directory in which the action happens ([`Action::in_directory`]), if it is not the agent's working
    /// directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<SanitizedPath>,
    /// The shape under which a decision can be saved permanently: a command with its fixed words. None if that is not
    /// possible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<CommandShape>,
    /// The fingerprint of a command line, independent of its spelling. A denial for the run applies to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doing: Option<CommandFingerprint>,
    /// The id of the tool call, if the host program named one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
    /// The content that the action writes or sends, if the caller provided it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Details>,
    /// The irreversible effects of the action, if it has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive: Option<Destructive>,
    /// True if a person is asked although this person denied the action for this run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub overrides: bool,
    /// True if a person does not see the whole action. An approval of such an action is valid once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

/// The most characters of one text that a prompt shows in full. A longer text is shown by its beginning and its end.
const LONGEST_SHOWN: usize = 2_000;

/// The number of characters shown from the end of a shortened text.
const END_SHOWN: usize = 600;

/// Splits a text that is too long to show into its beginning, the number of omitted characters, and its end.
pub(crate) fn cut(text: &str) -> Option<(&str, usize, &str)> {
    cut_to(LONGEST_SHOWN, text)
}

/// Splits a text with more than `longest` characters, like [`cut`].
pub(crate) fn cut_to(longest: usize, text: &str) -> Option<(&str, usize, &str)> {
    text.char_indices().nth(longest)?;
    let characters = text.chars().count();
    let place = |number| text.char_indices().nth(number).map_or(text.len(), |(place, _)| place);
    let (head, rest) = text.split_at_checked(place(longest.saturating_sub(END_SHOWN)))?;
    let (_, tail) = text.split_at_checked(place(characters.saturating_sub(END_SHOWN)))?;
    Some((head, rest.chars().count().saturating_sub(END_SHOWN), tail))
}

impl ActionFacts {
    /// Returns true if an approval of the action can be saved for `scope`, which is longer than once. A destructive
    /// action is approved once. A command needs a shape to be allowed for longer than its run.
    pub(crate) fn approval_can_last(&self, scope: Scope) -> bool {
        let needs_shape = self.runs() && matches!(scope, Scope::Always | Scope::Until(_));
        self.tier != Tier::Destructive && (!needs_shape || self.shape.is_some())
    }

    /// Returns true if the action runs a command or a program.
    pub(crate) fn runs(&self) -> bool {
        matches!(self.operation, Operation::Command | Operation::Exec)
    }

    /// Formats the action alone, as in "run `make`" or "run `make` in `/work/site`", if it does not run in the agent's
    /// working directory.
    pub fn phrase(&self) -> impl fmt::Display + '_ {
        Phrase(self.operation, &self.resource, self.directory.as_ref().filter(|_| self.runs()))
    }

    /// Formats the action as a person would type it, without [`GIVEN`].
    pub(crate) fn typed(&self) -> impl fmt::Display + '_ {
        let line = self.resource.strip_suffix(GIVEN).filter(|_| self.operation == Operation::Command);
        Phrase(self.operation, line.map_or(&*self.resource, str::trim_end), None)
    }
}

struct Phrase<'a>(Operation, &'a str, Option<&'a SanitizedPath>);

impl fmt::Display for Phrase<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = self.0.verb();
        match cut(self.1) {
            None => write!(f, "{verb} {}", Ticked(self.1))?,
            // The number stands outside of the quotation, because the quoted text may contain anything. The input may
            // already be shortened.
            Some((head, left, tail)) => {
                write!(f, "{verb} {} … {left} characters or more are left out … {}", Ticked(head), Ticked(tail))?;
            }
        }
        self.2.map_or(Ok(()), |directory| write!(f, " in {}", Ticked(directory.as_str())))
    }
}

/// Formats the action, and the reason why it is not safe.
impl fmt::Display for ActionFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.phrase().fmt(f)?;
        if self.tier > Tier::Safe { write!(f, " ({})", Quoted(&self.tier_reason)) } else { Ok(()) }
    }
}

/// A command that can be allowed permanently: the key that identifies it, and its text for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CommandShape {
    /// A digest that is equal for two commands exactly if they have one shape. It is a digest, because words may be
    /// secrets.
    pub key: Arc<str>,
    /// The whole shape for a person. A mark replaces each detected secret.
    pub shown: Arc<str>,
    /// The directory in which a command of this shape must run, if the shape is bound to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<SanitizedPath>,
    /// The key of the command alone, if the shape covers the command among parts that only read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alone: Option<Arc<str>>,
}

impl CommandShape {
    /// Formats the shape for people, with the directory that it is bound to.
    pub fn phrase(&self) -> impl fmt::Display + '_ {
        ShapePhrase(self)
    }

    /// Creates the form that is stored of a shape. `shown` returns what people see of a text. The directory of the
    /// shape is left out: the engine binds its real location.
    pub(crate) fn of(shape: &Shape, shown: impl FnOnce(&str) -> Arc<str>) -> CommandShape {
        let whole = shape.to_string();
        let alone = shape.is_beside().then(|| key(&shape.alone().to_string()));
        CommandShape { key: key(&whole), shown: shown(&whole), cwd: None, alone }
    }

    /// Returns true if the shape covers its command among parts that only read, and not alone only.
    pub fn is_beside(&self) -> bool {
        self.alone.is_some()
    }

    /// Returns this shape, bound to `circumstances`.
    pub(crate) fn under(&self, circumstances: Digest) -> CommandShape {
        let circumstances = circumstances.to_string();
        let bound = |key: &Arc<str>| Digest::of_texts([&**key, &*circumstances]).to_string().into();
        CommandShape { key: bound(&self.key), alone: self.alone.as_ref().map(bound), ..self.clone() }
    }

    /// Returns this shape, bound to the directory `cwd`.
    pub(crate) fn in_directory(&self, cwd: Option<&SanitizedPath>) -> CommandShape {
        CommandShape { cwd: cwd.cloned(), ..self.clone() }
    }

    /// Returns true if a decision about this shape applies to a command of the shape `other`, in the same directory.
    pub(crate) fn covers(&self, other: &CommandShape) -> bool {
        self.is_like(other) && self.cwd == other.cwd
    }

    /// Returns true if this shape is `other` in any directory, or if `other` is the command of this shape alone.
    pub(crate) fn is_like(&self, other: &CommandShape) -> bool {
        self.key == other.key || self.alone.as_ref() == Some(&other.key)
    }

    /// Returns true if the displayed text is complete and the shape is bound to no circumstances.
    #[cfg(feature = "edit")]
    pub(crate) fn is_shown_whole(&self) -> bool {
        self.key == key(&self.shown)
    }
}

/// Returns the key of a shape with this display text.
fn key(shown: &str) -> Arc<str> {
    Digest::of_texts([shown]).to_string().into()
}

struct ShapePhrase<'a>(&'a CommandShape);

impl fmt::Display for ShapePhrase<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ticked(&self.0.shown).fmt(f)?;
        self.0.cwd.as_ref().map_or(Ok(()), |cwd| write!(f, " in {}", Ticked(cwd.as_str())))
    }
}

/// The irreversible effects of an action (`sources/002`, "Permission modes": every mode keeps these facts).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Destructive {
    /// The affected things.
    pub impact_scope: Arc<str>,
    /// Advice for a rollback, if any exists.
    pub rollback_advice: Arc<str>,
}
