//! What the words on the command line ask for.

mod action;
mod asked;
mod help;
mod process;
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
    ApproverId, Escaped, InvalidPermission, InvalidTaskId, Permission, TaskId,
    control::{AdminCommand, Approval, GrantOrDecisionId},
    journal::audit::Filter,
    sandbox::Format,
};
use lexopt::{
    Arg::{Long, Short, Value},
    Error, Parser, ValueExt,
};

pub(crate) use action::{Deciding, Reader};
pub(crate) use asked::{Asked, Audit, Classifying, Form, Keeping, Ordered, Said, Scoped, Style};
pub(crate) use help::HELP;

/// The policy file, if none is named.
const CONFIG: &str = "agents.toml";

/// Everything that can be asked for.
const COMMANDS: [&str; 24] = [
    "check",
    "explain",
    "check-config",
    "protected",
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
    "mode",
    "state",
    "revoke",
    "audit",
    "process",
    "tasks",
    "tools",
];

impl Asked {
    pub(crate) fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Asked, Error> {
        let mut parser = Parser::from_args(words);
        match parser.next()? {
            Some(Short('h') | Long("help")) => Ok(Asked::Help),
            Some(Short('V') | Long("version")) => Ok(Asked::Version),
            Some(Value(command)) if command == "check" => decide(parser, Asked::Check),
            Some(Value(command)) if command == "explain" => decide(parser, Asked::Explain),
            Some(Value(command)) if command == "check-config" => check_config(parser),
            Some(Value(command)) if command == "protected" => protected(parser),
            Some(Value(command)) if command == "classify" => classify(parser),
            Some(Value(command)) if command == "path" => path(parser),
            Some(Value(command)) if command == "exec" => exec(parser),
            Some(Value(command)) if command == "tasks" => tasks(parser),
            Some(Value(command)) if command == "tools" => tools(parser),
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
            Some(Value(command)) if command == "process" => process::process(parser),
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

fn protected(mut parser: Parser) -> Result<Asked, Error> {
    match parser.next()? {
        None => Ok(Asked::Protected(None)),
        Some(Long("config")) => {
            let file = parser.value()?.into();
            nothing_more(parser, Asked::Protected(Some(file)))
        }
        Some(Short('h') | Long("help")) => Ok(Asked::Help),
        Some(other) => Err(other.unexpected()),
    }
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

fn tools(mut parser: Parser) -> Result<Asked, Error> {
    let mut config = None;
    while let Some(word) = parser.next()? {
        match word {
            Long("config") => config = Some(parser.value()?.into()),
            Short('h') | Long("help") => return Ok(Asked::Help),
            Value(_) | Short(_) | Long(_) => return Err(word.unexpected()),
        }
    }
    Ok(Asked::Tools(config))
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
    let (mut agent, mut format, mut domains, mut limits) = (None, None, Vec::new(), Vec::new());
    let (mut config, mut named, mut time, mut words) = (PathBuf::from(CONFIG), Vec::new(), None, Vec::new());
    while let Some(word) = parser.next()? {
        match word {
            Long("agent") => agent = Some(parsed(&mut parser, "agent")?),
            Long("config") => config = parser.value()?.into(),
            Long("grant") => named.push(tag("`--grant`", &parser.value()?)?),
            Long("domain") => domains.push(parsed(&mut parser, "domain")?),
            Long("format") if has_format => format = Some(parsed(&mut parser, "format")?),
            Long("limit") if !has_format => limits.push(parsed(&mut parser, "limit")?),
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
    if !domains.is_empty() && !named.contains(&Permission::Network) {
        return Err("`--domain` says which hosts `@network` is: add `--grant @network`".into());
    }
    Ok(Some((Scoped { agent, config, named, domains, time, limits, words }, format)))
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
            Value(typed) => tags.push(tag("the permission", &typed)?),
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

/// What a tag begins with.
const FORMS: [&str; 5] = ["@events", "@network", "@read", "@tool", "@write"];

/// The permission that `typed` is, for `what`, which a message names.
fn tag(what: &str, typed: &OsStr) -> Result<Permission, Error> {
    let typed = typed.to_string_lossy();
    typed.parse().map_err(|why| {
        let form = typed.split(':').next().filter(|_| why == InvalidPermission::UnknownForm);
        let meant = form.and_then(|form| near::close(form.trim_start(), &FORMS));
        let meant = meant.map_or_else(String::new, |form| format!("; did you mean `{form}`?"));
        format!("{what}: `{}` is not a permission: {why}{meant}", Escaped(&typed)).into()
    })
}

/// A word that is none of `known`.
fn unknown(of: &str, typed: &OsStr, known: &[&str]) -> Error {
    let typed = typed.to_string_lossy();
    format!("{of} has no `{}`: {}", Escaped(&typed), near::meant(&typed, known)).into()
}

/// A time as people type it: whole seconds, at least so many.
fn seconds(option: &str, least: u64, typed: &OsStr) -> Result<Duration, Error> {
    let number = typed.to_str().and_then(|text| text.parse().ok()).filter(|number| *number >= least);
    let wrong = || format!("`{option}` takes whole seconds, at least {least}, as in `{option} 90`, and not {typed:?}");
    Ok(Duration::from_secs(number.ok_or_else(wrong)?))
}
