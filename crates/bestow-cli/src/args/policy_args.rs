//! Commands that write a policy file, try it out, or need none.

use std::{ffi::OsString, path::PathBuf};

use bestow::{
    Action, AgentId, Permission,
    action::Operation,
    command::{self, Shell},
    grant::Permissions,
    tool::ToolName,
};
use clap::{ArgAction, Args, Subcommand, ValueEnum};
use serde_json::Value;

use super::{FormArgs, PolicyFileArgs, values};
use crate::exit::Exit;

/// Commands that write a policy file, try it out, or need none.
#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Writes a first policy file for a directory
    ///
    /// The file `agents.toml` names one agent that works in the directory and one background helper. It protects the
    /// secrets of the directory, and asks before a package is published. It allows no command that runs code of the
    /// project. An existing file is never overwritten.
    #[command(after_long_help = "\
Examples:
  bestow init
  bestow init projects/site")]
    Init(InitArgs),

    /// Says what would be decided about an action, in one line
    ///
    /// The answer holds for an engine in which only this policy file is in force and a person can be asked. Nothing is
    /// asked, run or recorded. A relative path is relative to the working directory of the agent. The exit code is the
    /// decision.
    #[command(after_long_help = "\
Examples:
  bestow check --agent lead --write notes.md
  bestow check --agent lead --command 'npm test && git push'
  bestow check --agent lead --command make --needs @network
  bestow check --agent lead --tool deploy --input '{\"to\": \"production\"}' --json")]
    Check(CheckArgs),

    /// Shows how a decision is reached: stages, rules, permissions, ways out
    ///
    /// It shows the result of each stage, the file and line of each rule, the origin of each permission, and changes
    /// that would allow the action. Nothing is asked, run or recorded.
    #[command(after_long_help = "\
Examples:
  bestow explain --agent lead --write .env
  bestow explain --agent lead --command 'curl https://example.com' --config policies/agents.toml")]
    Explain(CheckArgs),

    /// Checks a policy file and runs the tests in it
    ///
    /// It lists every mistake at once: in the text of the file, in its owner, mode and links, and every `[[test]]` in
    /// it that fails. No running engine is affected.
    #[command(after_long_help = "\
Examples:
  bestow check-config
  bestow check-config policies/agents.toml
  bestow check-config --json")]
    CheckConfig(CheckConfigArgs),

    /// Lists the protected paths, which no grant reaches
    ///
    /// These paths are protected in every engine of this user. Only a policy file that names exactly such a path opens
    /// it. `/proc` stays closed except for a few system-wide files.
    #[command(after_long_help = "\
Examples:
  bestow protected
  bestow protected --config agents.toml")]
    Protected {
        /// A policy file whose protected paths are listed as well
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
    },

    /// Says how much harm a command can do: safe, dangerous or destructive
    ///
    /// The answer names the reason, each part of the command line, and the shape that a saved decision would have. The
    /// exit code is 0 for every tier.
    ///
    /// With --jsonl, each line of standard input is one question, and each line of standard output its answer:
    ///
    /// {"command": TEXT} or {"toolName": NAME, "toolInput": OBJECT}
    ///
    /// -> {"tier": "safe" | "dangerous" | "destructive", "reason": TEXT, "parts": [PART...]}
    ///
    /// A line that is no question is answered with `dangerous` and a reason.
    #[command(after_long_help = "\
Examples:
  bestow classify 'ls; rm -rf /'
  bestow classify --json --profile strict printenv
  bestow classify --jsonl --config agents.toml < questions.jsonl")]
    Classify(ClassifyArgs),

    /// Prints all that is known about a program
    ///
    /// It lists the forms of the program that only read, and those that destroy something permanently, each with its
    /// examples. It also says what the program runs, needs and obeys, which options take a secret, and how to recover.
    /// The exit code is 1 if nothing is known about the name.
    #[command(after_long_help = "\
Examples:
  bestow program git
  bestow program kubectl --json")]
    Program {
        /// The name of the program, without a path
        #[arg(value_name = "NAME")]
        name: String,
        #[command(flatten)]
        form: FormArgs,
    },

    /// Answers questions about paths, one JSON line each
    ///
    /// Each line of standard input is one question, and each line of standard output its answer:
    ///
    /// {"op": "sanitize" | "resolve" | "open_read" | "open_write", "allowed": [DIRECTORY...], "path": PATH}
    ///
    /// -> {"verdict": "ok" | "deny", "real"?: PATH, "reason"?: TEXT}
    ///
    /// `allowed` is taken literally. `open_write` really opens the file: it is created, or emptied. A line that is no
    /// question is answered with `deny` and a reason.
    #[command(after_long_help = "\
Examples:
  bestow path --jsonl < questions.jsonl")]
    Path {
        /// Reads and writes JSON, one object on each line
        #[arg(long, required = true)]
        jsonl: bool,
    },

    /// Lists the tools whose input the engine understands
    ///
    /// Each line shows the operation of a tool, where its input has paths, commands and hosts, and which permissions it
    /// needs. A tool that the policy file declares replaces a built-in tool of the same name.
    #[command(after_long_help = "\
Examples:
  bestow tools
  bestow tools --config agents.toml
  bestow tools --json")]
    Tools {
        /// A policy file whose tools are listed first
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
        #[command(flatten)]
        form: FormArgs,
    },
}

/// The arguments of `init`.
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// The directory that gets the file
    #[arg(value_name = "DIRECTORY", default_value = ".")]
    pub(crate) directory: PathBuf,
}

/// The arguments of `check` and `explain`: an action of an agent of a file.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The agent, by its name in the policy file
    #[arg(long, value_name = "ID")]
    pub(crate) agent: AgentId,
    #[command(flatten)]
    pub(crate) file: PolicyFileArgs,
    #[command(flatten)]
    action: ActionArgs,
    /// The input of the tool of --tool, a JSON object
    #[arg(long, value_name = "JSON", value_parser = values::json)]
    input: Option<Value>,
    /// A permission that the action uses and its text does not show, such as @network for `make`; repeatable
    #[arg(long, value_name = "PERMISSION", value_parser = values::permission)]
    needs: Vec<Permission>,
    /// The shell that runs the command: bash, dash, zsh, or its path [default: unknown, one of these three]
    #[arg(long, value_name = "SHELL", value_parser = values::shell)]
    shell: Option<Shell>,
    #[command(flatten)]
    pub(crate) form: FormArgs,
}

/// The heading of the options that name an action.
const ACTIONS: &str = "Actions (exactly one)";

/// The action itself: exactly one of these.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct ActionArgs {
    /// Reading a file or directory
    #[arg(help_heading = ACTIONS, long, value_name = "PATH", allow_hyphen_values = true)]
    read: Option<String>,
    /// Writing, creating or removing a file or directory
    #[arg(help_heading = ACTIONS, long, value_name = "PATH", allow_hyphen_values = true)]
    write: Option<String>,
    /// Executing a program file
    #[arg(help_heading = ACTIONS, long, value_name = "PATH", allow_hyphen_values = true)]
    exec: Option<String>,
    /// Running a command line in a shell
    #[arg(help_heading = ACTIONS, long, value_name = "TEXT", allow_hyphen_values = true)]
    command: Option<String>,
    /// Connecting to a host
    #[arg(help_heading = ACTIONS, long, value_name = "HOST", value_parser = values::host)]
    network: Option<String>,
    /// Calling a tool of the host program
    #[arg(help_heading = ACTIONS, long, value_name = "NAME")]
    tool: Option<ToolName>,
}

impl CheckArgs {
    /// Returns the action that is asked about.
    pub(crate) fn action(&self) -> Result<Action, Exit> {
        let ActionArgs { read, write, exec, command, network, tool } = &self.action;
        // The parser does not check this: it lets go of what an argument requires if that conflicts with another.
        if self.input.is_some() && tool.is_none() {
            return Err(Exit::usage("`--input` requires a `--tool`"));
        }
        let named = [
            (Operation::Read, read),
            (Operation::Write, write),
            (Operation::Exec, exec),
            (Operation::Command, command),
            (Operation::Network, network),
        ];
        let named = named.into_iter().find_map(|(operation, text)| Some(Action::new(operation, text.as_ref()?)));
        let call = |tool: &ToolName| {
            let input = self.input.clone().unwrap_or_else(|| serde_json::json!({}));
            Action::tool(tool.clone(), input)
        };
        let action = named.or_else(|| tool.as_ref().map(call)).ok_or_else(|| Exit::usage("an action is missing"))?;
        let action = action.in_shell(self.shell.unwrap_or_default());
        if self.needs.is_empty() {
            return Ok(action);
        }
        let needs = Permissions::try_from(self.needs.clone());
        Ok(action.needing(needs.map_err(|why| Exit::usage(format_args!("`--needs`: {why}")))?))
    }
}

/// The arguments of `check-config`.
#[derive(Debug, Args)]
pub(crate) struct CheckConfigArgs {
    /// The policy file [default: agents.toml]
    #[arg(value_name = "FILE", conflicts_with = "config")]
    file: Option<PathBuf>,
    /// The policy file, as the other commands name it
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) form: FormArgs,
}

impl CheckConfigArgs {
    pub(crate) fn path(self) -> PathBuf {
        self.file.or(self.config).unwrap_or_else(|| super::POLICY_FILE.into())
    }
}

/// The arguments of `classify`.
#[derive(Debug, Args)]
pub(crate) struct ClassifyArgs {
    /// The command, quoted as one word
    #[arg(value_name = "COMMAND", action = ArgAction::Append, required_unless_present = "jsonl")]
    words: Vec<OsString>,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
    /// Reads questions from standard input and answers them, one JSON object on each line
    #[arg(long, conflicts_with_all = ["words", "json"])]
    jsonl: bool,
    /// The line between safe and dangerous [default: as the policy file says, or default]
    #[arg(long)]
    profile: Option<ProfileName>,
    /// The shell that runs the command: bash, dash, zsh, or its path [default: unknown, one of these three]
    #[arg(long, value_name = "SHELL", value_parser = values::shell)]
    pub(crate) shell: Option<Shell>,
    /// A policy file whose [commands] and [[tools]] apply
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

/// The name of a profile of the classifier.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum ProfileName {
    /// A command that only reads is safe
    Default,
    /// Printing the environment, using the network and reading what is usually secret is dangerous as well
    Strict,
}

/// A question to the classifier, with the form of its answer.
#[derive(Debug)]
pub(crate) enum Question<'a> {
    /// One command; the answer is text for a person.
    Text(&'a OsString),
    /// One command; the answer is JSON for a program.
    Json(&'a OsString),
    /// Lines of standard input.
    Lines,
}

impl ClassifyArgs {
    /// Returns what is asked.
    pub(crate) fn question(&self) -> Result<Question<'_>, Exit> {
        match (self.words.as_slice(), self.json) {
            ([], _) => Ok(Question::Lines),
            ([command], false) => Ok(Question::Text(command)),
            ([command], true) => Ok(Question::Json(command)),
            _ => Err(Exit::usage("`bestow classify` takes one command: put it in quotes")),
        }
    }

    /// Returns the profile that the command line names.
    pub(crate) fn profile(&self) -> Option<command::Profile> {
        self.profile.map(|name| match name {
            ProfileName::Default => command::Profile::Default,
            ProfileName::Strict => command::Profile::Strict,
        })
    }
}
