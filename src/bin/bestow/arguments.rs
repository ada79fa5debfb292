//! What the words on the command line ask for.

mod action;
mod stored;

use std::{
    ffi::{OsStr, OsString},
    fmt::Display,
    path::PathBuf,
    str::FromStr,
    time::Duration,
};

use crate::{near, tasks::Work};
use bestow::{
    AgentId, ApproverId, InvalidTaskId, Permission, Shown, TaskId, command,
    control::{Held, Order, Verdict},
    journal::{Head, audit::Filter},
    sandbox::{Domain, Format},
};
use lexopt::{
    Arg::{Long, Short, Value},
    Error, Parser, ValueExt,
};

pub(crate) use action::{Deciding, Reader};

/// The policy file, if none is named.
const CONFIG: &str = "agents.toml";

/// Everything that can be asked for.
const COMMANDS: [&str; 19] = [
    "check",
    "explain",
    "check-config",
    "classify",
    "path",
    "exec",
    "sandbox",
    "request",
    "grant",
    "events",
    "grants",
    "why",
    "requests",
    "approve",
    "deny",
    "keep",
    "revoke",
    "audit",
    "tasks",
];

pub(crate) const HELP: &str = "\
usage: bestow check --agent ID [--config FILE] ACTION [--needs TAG]... [--json]
       bestow explain --agent ID [--config FILE] ACTION [--needs TAG]... [--json]
       bestow check-config [FILE | --config FILE]
       bestow classify [--json] [--profile default|strict] [--config FILE] [--] COMMAND
       bestow classify --jsonl [--profile default|strict] [--config FILE]
       bestow path --jsonl
       bestow exec --agent ID [--config FILE] [--grant TAG]... [--domain NAME]... [--timeout SECONDS] -- COMMAND...
       bestow sandbox profile --agent ID --format bwrap|srt|codex|json [--config FILE] [--grant TAG]... [--domain NAME]...
       bestow request TAG... --reason TEXT [--wait SECONDS]
       bestow grant TAG... --to ID --reason TEXT
       bestow events
       bestow grants [--agent ID] --state DIRECTORY [--json]
       bestow why AGENT TAG --state DIRECTORY [--json]
       bestow requests --state DIRECTORY [--json]
       bestow approve|deny CODE --state DIRECTORY [--scope SCOPE] [--feedback TEXT] [--as NAME] [--json]
       bestow approve CODE --state DIRECTORY --write [--config FILE] [--feedback TEXT] [--as NAME] [--json]
       bestow agree CHANGE --state DIRECTORY [--as NAME] [--json]
       bestow keep GRANT|RULING --state DIRECTORY [--config FILE]
       bestow revoke GRANT|RULING --state DIRECTORY [--reason TEXT] [--as NAME] [--json]
       bestow audit show --state DIRECTORY [--agent ID] [--request CODE] [--grant GRANT|RULING] [--since TIME] [--until TIME] [--json]
       bestow audit verify --state DIRECTORY [--expect HEAD]
       bestow audit head --state DIRECTORY
       bestow audit cut --state DIRECTORY --before NUMBER
       bestow tasks [list | check | run ID] [--config FILE]

  check, explain
      Says what would be decided if the agent of the file (agents.toml here, if none is named) were about to do this, and
      the file alone were in force. check answers in one line; explain tells what each stage says, which rule of which
      line, where the rights come from, and what would make it allowed. ACTION is one of
        --read PATH | --write PATH | --exec PATH | --command TEXT | --network HOST | --tool NAME [--input JSON]
      A relative path is relative to the agent's working directory. --needs names a permission that the action uses
      besides: what a --command uses nobody sees in its text, so one that reaches the network is tried with
      --needs @network. Somebody is taken to be there to ask. With --json the answer is one object. Nothing is asked, done or kept.

  check-config
      Tells everything that is wrong with the file, and every [[test]] in it that fails. No agent notices.

  classify
      Says how much harm a command can do: safe, dangerous or destructive, and why. COMMAND is one word: quote it.
      --config takes the rules that [commands] of a policy file adds, --profile decides which line is drawn. With --json
      the answer is one object, with --jsonl there is one for each line of standard input, in the same order:
        {\"command\": TEXT} | {\"toolName\": NAME, \"toolInput\": OBJECT}
        -> {\"tier\": \"safe\" | \"dangerous\" | \"destructive\", \"reason\": TEXT, \"parts\": [PART...]}
      A line that is neither is answered with `dangerous` and a reason. The exit code is 0 whatever the tier is.

  path --jsonl
      Answers questions about paths, one JSON object for each line, in the same order:
        {\"op\": \"sanitize\" | \"resolve\" | \"open_read\" | \"open_write\", \"allowed\": [DIRECTORY...], \"path\": PATH}
        -> {\"verdict\": \"ok\" | \"deny\", \"real\"?: PATH, \"reason\"?: TEXT}
      `allowed` is taken as it is written. open_write really opens: the file is created, or emptied.
      A line that is no question is answered with `deny` and a reason.

  exec
      Runs a command as the agent of the file (agents.toml here, if none is named), confined to what its exec scope
      allows: it stands in the agent's working directory, reads what is not protected, and has nothing else but the
      tags it is granted here, each of which the agent must hold. What cannot be enforced does not run. With --domain,
      `@network` is these hosts only, by way of a proxy that is in the command's environment.

  sandbox profile
      Prints what exec would enforce, in the words of another program. What a format cannot say is an error. Hosts
      (--domain) only srt and json can say.

  request, grant, events
      Within a command that was given @events: they speak for its agent to its engine, and reach nothing else.
      `request` asks for what the agent lacks and waits for the answer (--wait: at most so long, then 2); `grant`
      passes on what it holds. Both print the engine's answer as one JSON object. `events` passes lines on in both
      directions: docs/protocol.md, the role of an agent.

  tasks
      The scheduled tasks of the file: when each is due next, what happened to it last, and why. `check` tells everything
      that is wrong with their files, and what would keep them from running. `run cron/NAME` is a run by hand: it asks the
      task's gate, confined as it will be, prints the prompt that the task gets, and notes that it ran. It ends with 0 if
      the task runs, 3 if its gate says no or may not be asked, 2 if a person would have to be asked for what the gate
      lacks, 1 if there is no such task, nobody to run it, or its gate could not run.

  grants, why, requests, approve, deny, agree, revoke
      Ask and tell the engine that runs on the state directory; if none runs there, the directory itself. `why` shows
      the chain back to a person, a line of a file, or the host program. A request is named by its code, or its id; --as says who
      answers; otherwise it is USER, or LOGNAME, or `operator` if neither is set. A scope is `once`, `session`, `always` or
      `until TIME`; a right without one is given for the session. A session ends with its engine: where none runs, that
      is refused, and the question goes on waiting. A no to a right takes no scope. `grants` also lists what people said
      about actions (r0, r1, …). `requests` also tells the change of the file that `confirm_widening` holds back, and what
      it would give; `agree` takes it over, by the number that is told there.

  approve --write, keep
      Writes a yes for good into the policy file (agents.toml here, if none is named), with a comment that says who gave
      it: a right among the agent's permissions, a yes to an action as a rule. Everything else in the file stays as it
      is, and what the file cannot say exactly is not written, nor is anything in a file that the engine does not follow.
      With --write the engine is told yes for this time, and the file says the rest; keep writes down what the engine
      keeps for good already, which stays until you revoke it.

  audit show
      Prints every record that meets all that is asked, a line each, with who decided and through what. A name that no
      record has is an error (1).

  audit verify
      Finds the first record that was altered, is missing, or stands elsewhere, and says where; exit code 1. A trail that was
      cut back or written anew as a whole is told by a HEAD that was noted down before, as `audit head` prints it; a HEAD that
      was mistyped is told in the same words, and nothing is to be cut for it.

  audit cut
      The way out of damage without a copy: sets aside everything from event NUMBER on. What was revoked since holds again.

  --help, --version

exit code:
   0  done; allowed
   1  error: there is no answer, and so no permission; or the command ran and failed
   2  a person would have to be asked
   3  denied
  64  the command line makes no sense
";

/// What is asked for.
#[derive(Debug, PartialEq)]
pub(crate) enum Asked {
    Help,
    Version,
    /// `check`
    Check(Deciding),
    /// `explain`
    Explain(Deciding),
    /// `check-config`
    CheckConfig(PathBuf),
    /// `classify`
    Classify(Classifying),
    /// `path --jsonl`
    Path,
    /// `tasks`
    Tasks(PathBuf, Work),
    /// `exec`
    Exec(Scoped),
    /// `sandbox profile`
    Profile(Scoped, Format),
    /// `grants`, `why`, `requests`, `approve`, `deny`, `revoke`
    Order(Ordered),
    /// `keep`
    Keep(Keeping),
    /// `audit`
    Audit(Audit),
    /// `request`
    Request(Said, Option<Duration>),
    /// `grant`
    Grant(Said, AgentId),
    /// `events`
    Events,
}

/// For people, or for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Human,
    Json,
}

/// An order for whoever has a state directory.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ordered {
    pub(crate) state: PathBuf,
    pub(crate) order: Order,
    /// The file in which the yes is written down for good.
    pub(crate) write: Option<PathBuf>,
    pub(crate) style: Style,
}

/// Something that the engine keeps for good, and the file in which it is to stand.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Keeping {
    pub(crate) state: PathBuf,
    pub(crate) held: Held,
    pub(crate) config: PathBuf,
}

/// What to do with a trail.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Audit {
    Show { state: PathBuf, filter: Filter, style: Style },
    Verify { state: PathBuf, expected: Option<Head> },
    Head { state: PathBuf },
    Cut { state: PathBuf, before: u64 },
}

/// What a confined command says to its engine.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) tags: Vec<Permission>,
    pub(crate) reason: String,
}

/// What is to be classified, and by which rules.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Classifying {
    pub(crate) form: Form,
    pub(crate) profile: Option<command::Profile>,
    pub(crate) config: Option<PathBuf>,
}

/// How questions come and answers go.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// One command, for a person.
    Text(OsString),
    /// One command, for a program.
    Json(OsString),
    /// Lines of standard input.
    Lines,
}

/// A command, or none, within the scope of an agent.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Scoped {
    pub(crate) agent: AgentId,
    pub(crate) config: PathBuf,
    pub(crate) named: Vec<Permission>,
    pub(crate) domains: Vec<Domain>,
    pub(crate) time: Option<Duration>,
    pub(crate) words: Vec<OsString>,
}

impl Asked {
    pub(crate) fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Asked, Error> {
        let mut parser = Parser::from_args(words);
        match parser.next()? {
            Some(Short('h') | Long("help")) => Ok(Asked::Help),
            Some(Short('V') | Long("version")) => Ok(Asked::Version),
            Some(Value(command)) if command == "check" => decide(parser, Asked::Check),
            Some(Value(command)) if command == "explain" => decide(parser, Asked::Explain),
            Some(Value(command)) if command == "check-config" => check_config(parser),
            Some(Value(command)) if command == "classify" => classify(parser),
            Some(Value(command)) if command == "path" => path(parser),
            Some(Value(command)) if command == "exec" => exec(parser),
            Some(Value(command)) if command == "tasks" => tasks(parser),
            Some(Value(command)) if command == "request" => request(parser),
            Some(Value(command)) if command == "grant" => grant(parser),
            Some(Value(command)) if command == "events" => events(parser),
            Some(Value(command)) if command == "sandbox" => match parser.next()? {
                Some(Value(what)) if what == "profile" => profile(parser),
                Some(Short('h') | Long("help")) => Ok(Asked::Help),
                Some(Value(other)) => Err(unknown("`sandbox`", &other, &["profile"])),
                Some(other) => Err(other.unexpected()),
                None => Err("`sandbox` needs `profile`".into()),
            },
            Some(Value(command)) if command == "keep" => stored::keep(parser),
            Some(Value(command)) if command == "audit" => stored::audit(parser),
            Some(Value(command)) if stored::ORDERS.iter().any(|order| command == *order) => {
                stored::order(&command.string()?, parser)
            }
            Some(Value(other)) => Err(unknown("bestow", &other, &COMMANDS)),
            Some(other) => Err(other.unexpected()),
            None => Err("what is to be done?".into()),
        }
    }
}

fn decide(parser: Parser, asked: impl FnOnce(Deciding) -> Asked) -> Result<Asked, Error> {
    Ok(action::parse(parser)?.map_or(Asked::Help, asked))
}

/// The file stands alone or, as everywhere else, behind `--config`.
fn check_config(mut parser: Parser) -> Result<Asked, Error> {
    let mut file = None;
    while let Some(word) = parser.next()? {
        match word {
            Long("config") if file.is_none() => file = Some(parser.value()?.into()),
            Value(named) if file.is_none() => file = Some(named.into()),
            Short('h') | Long("help") => return Ok(Asked::Help),
            Long("config") | Value(_) => return Err("`check-config` takes one file".into()),
            Short(_) | Long(_) => return Err(word.unexpected()),
        }
    }
    Ok(Asked::CheckConfig(file.unwrap_or_else(|| CONFIG.into())))
}

fn classify(mut parser: Parser) -> Result<Asked, Error> {
    let (mut json, mut jsonl, mut profile, mut config, mut words) = (false, false, None, None, Vec::new());
    while let Some(word) = parser.next()? {
        match word {
            Long("json") => json = true,
            Long("jsonl") => jsonl = true,
            Long("profile") => profile = Some(parsed(&mut parser, "profile")?),
            Long("config") => config = Some(parser.value()?.into()),
            Short('h') | Long("help") => return Ok(Asked::Help),
            Value(command) => words.push(command),
            Short(_) | Long(_) => return Err(word.unexpected()),
        }
    }
    let form = match (json, jsonl, words.pop(), words.is_empty()) {
        (_, _, _, false) => return Err("`classify` takes one command: put it in quotes".into()),
        (true, true, ..) => return Err("`--json` and `--jsonl` exclude each other".into()),
        (_, true, Some(_), _) => return Err("`--jsonl` takes commands from standard input only".into()),
        (false, true, None, _) => Form::Lines,
        (true, false, Some(command), _) => Form::Json(command),
        (false, false, Some(command), _) => Form::Text(command),
        (_, false, None, _) => return Err("`classify` needs a command, or `--jsonl`".into()),
    };
    Ok(Asked::Classify(Classifying { form, profile, config }))
}

fn path(mut parser: Parser) -> Result<Asked, Error> {
    match parser.next()? {
        Some(Long("jsonl")) => nothing_more(parser, Asked::Path),
        Some(Short('h') | Long("help")) => Ok(Asked::Help),
        Some(other) => Err(other.unexpected()),
        None => Err("`path` needs `--jsonl`".into()),
    }
}

fn nothing_more(mut parser: Parser, asked: Asked) -> Result<Asked, Error> {
    match parser.next()? {
        None => Ok(asked),
        Some(more) => Err(more.unexpected()),
    }
}

fn tasks(mut parser: Parser) -> Result<Asked, Error> {
    let (mut config, mut work, mut runs) = (PathBuf::from(CONFIG), None, false);
    while let Some(word) = parser.next()? {
        match word {
            Long("config") => config = parser.value()?.into(),
            Short('h') | Long("help") => return Ok(Asked::Help),
            Value(id) if runs && work.is_none() => work = Some(Work::Run(task(id)?)),
            Value(what) if work.is_none() && what == "list" => work = Some(Work::List),
            Value(what) if work.is_none() && what == "check" => work = Some(Work::Check),
            Value(what) if work.is_none() && what == "run" => runs = true,
            Value(what) if work.is_none() => return Err(unknown("`tasks`", &what, &["list", "check", "run"])),
            Value(_) | Short(_) | Long(_) => return Err(word.unexpected()),
        }
    }
    if runs && work.is_none() {
        return Err("`tasks run` needs a task, as in `tasks run cron/NAME`: `bestow tasks` lists them".into());
    }
    Ok(Asked::Tasks(config, work.unwrap_or(Work::List)))
}

/// The task that is to run.
fn task(id: OsString) -> Result<TaskId, Error> {
    id.string()?.parse().map_err(|why: InvalidTaskId| format!("`tasks run`: {why}").into())
}

fn exec(parser: Parser) -> Result<Asked, Error> {
    let Some((scoped, _)) = scoped(parser, false)? else { return Ok(Asked::Help) };
    if scoped.words.is_empty() { Err("`exec` needs a command after `--`".into()) } else { Ok(Asked::Exec(scoped)) }
}

fn profile(parser: Parser) -> Result<Asked, Error> {
    let Some((scoped, format)) = scoped(parser, true)? else { return Ok(Asked::Help) };
    let format = format.ok_or("`sandbox profile` needs `--format`")?;
    if scoped.words.is_empty() { Ok(Asked::Profile(scoped, format)) } else { Err("a profile takes no command".into()) }
}

/// None if help is wanted.
fn scoped(mut parser: Parser, has_format: bool) -> Result<Option<(Scoped, Option<Format>)>, Error> {
    let (mut agent, mut format, mut domains) = (None, None, Vec::new());
    let (mut config, mut named, mut time, mut words) = (PathBuf::from(CONFIG), Vec::new(), None, Vec::new());
    while let Some(word) = parser.next()? {
        match word {
            Long("agent") => agent = Some(parsed(&mut parser, "agent")?),
            Long("config") => config = parser.value()?.into(),
            Long("grant") => named.push(parsed(&mut parser, "grant")?),
            Long("domain") => domains.push(parsed(&mut parser, "domain")?),
            Long("format") if has_format => format = Some(parsed(&mut parser, "format")?),
            Long("timeout") if !has_format => time = Some(seconds("--timeout", 1, &parser.value()?)?),
            Short('h') | Long("help") => return Ok(None),
            Value(program) => {
                words.push(program);
                words.extend(parser.raw_args()?);
            }
            Short(_) | Long(_) => return Err(word.unexpected()),
        }
    }
    let agent = agent.ok_or("`--agent` is missing")?;
    Ok(Some((Scoped { agent, config, named, domains, time, words }, format)))
}

fn request(parser: Parser) -> Result<Asked, Error> {
    let mut wait = None;
    let said = said(parser, "wait", |parser| {
        wait = Some(seconds("--wait", 0, &parser.value()?)?);
        Ok(())
    })?;
    Ok(said.map_or(Asked::Help, |said| Asked::Request(said, wait)))
}

fn grant(parser: Parser) -> Result<Asked, Error> {
    let mut to = None;
    let said = said(parser, "to", |parser| {
        to = Some(parsed(parser, "to")?);
        Ok(())
    })?;
    let Some(said) = said else { return Ok(Asked::Help) };
    Ok(Asked::Grant(said, to.ok_or("`--to` is missing")?))
}

/// None if help is wanted. `more` reads the one option besides the reason.
fn said(
    mut parser: Parser,
    option: &str,
    mut more: impl FnMut(&mut Parser) -> Result<(), Error>,
) -> Result<Option<Said>, Error> {
    let (mut tags, mut reason) = (Vec::new(), None);
    while let Some(word) = parser.next()? {
        match word {
            Long("reason") => reason = Some(parser.value()?.string()?),
            Long(name) if name == option => more(&mut parser)?,
            Short('h') | Long("help") => return Ok(None),
            Value(tag) => tags.push(tag.parse()?),
            Short(_) | Long(_) => return Err(word.unexpected()),
        }
    }
    if tags.is_empty() {
        return Err("which permission? Name at least one tag".into());
    }
    Ok(Some(Said { tags, reason: reason.ok_or("`--reason` is missing")? }))
}

fn events(mut parser: Parser) -> Result<Asked, Error> {
    match parser.next()? {
        None => Ok(Asked::Events),
        Some(Short('h') | Long("help")) => Ok(Asked::Help),
        Some(more) => Err(more.unexpected()),
    }
}

/// The value of the option `name`, which a message names.
fn parsed<T: FromStr<Err: Display>>(parser: &mut Parser, name: &str) -> Result<T, Error> {
    parser.value()?.string()?.parse().map_err(|why| format!("`--{name}`: {why}").into())
}

/// A word that is none of `known`.
fn unknown(of: &str, typed: &OsStr, known: &[&str]) -> Error {
    let typed = typed.to_string_lossy();
    format!("{of} has no `{}`: {}", Shown(&typed), near::meant(&typed, known)).into()
}

/// A time as people type it: whole seconds, at least so many.
fn seconds(option: &str, least: u64, typed: &OsStr) -> Result<Duration, Error> {
    let number = typed.to_str().and_then(|text| text.parse().ok()).filter(|number| *number >= least);
    let wrong = || format!("`{option}` takes whole seconds, at least {least}, as in `{option} 90`, and not {typed:?}");
    Ok(Duration::from_secs(number.ok_or_else(wrong)?))
}
