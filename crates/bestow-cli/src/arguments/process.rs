//! `bestow process`: processes that go on, held by the engine that runs on a state directory.

use std::{ffi::OsString, path::PathBuf};

use bestow::{
    OutputStream, ProcessId,
    control::{AdminCommand, ProcessCall},
};
use lexopt::{
    Arg::{Long, Short, Value},
    Error, Parser, ValueExt,
};

use super::{Asked, Ordered, seconds, stored::Options, tag, unknown};

const WORDS: [&str; 6] = ["list", "read", "restart", "start", "stop", "write"];

/// How long a process may take to end, if nothing is said.
const GRACE: &str = "5";

fn id(options: &mut Options) -> Result<ProcessId, Error> {
    let named = options.value("the process")?;
    named.parse().map_err(|why| Error::Custom(Box::new(why)))
}

pub(super) fn process(mut parser: Parser) -> Result<Asked, Error> {
    let what = match parser.next()? {
        Some(Value(what)) => what.string()?,
        Some(Short('h') | Long("help")) => return Ok(Asked::Help),
        Some(other) => return Err(other.unexpected()),
        None => return Err(format!("`process` needs one of `{}`", WORDS.join("`, `")).into()),
    };
    if !WORDS.contains(&what.as_str()) {
        return Err(unknown("`process`", what.as_ref(), &WORDS));
    }
    let Some(mut options) = Options::read(parser)? else { return Ok(Asked::Help) };
    options.refuse_write()?;
    let call = match what.as_str() {
        "start" => {
            let agent = options.parsed("agent")?.ok_or("`--agent` is missing")?;
            let mut named = Vec::new();
            while let Some(typed) = options.take("grant") {
                named.push(tag("`--grant`", typed.as_ref())?);
            }
            let command = options.rest();
            if command.is_empty() {
                return Err("`process start` needs a command after `--`".into());
            }
            ProcessCall::Start { agent, command, named }
        }
        "list" => ProcessCall::List { agent: options.parsed("agent")? },
        "read" => {
            let stream = if options.flag("stderr") { OutputStream::Stderr } else { OutputStream::Stdout };
            ProcessCall::Read { process: id(&mut options)?, stream, from: options.number("from")?.unwrap_or(0) }
        }
        "write" => {
            let (process, close) = (id(&mut options)?, options.flag("close"));
            let text = options.rest().join(" ");
            if text.is_empty() && !close {
                return Err("`process write` needs words, or `--close`".into());
            }
            ProcessCall::Write { process, text: if text.is_empty() { text } else { format!("{text}\n") }, close }
        }
        "stop" => {
            let process = id(&mut options)?;
            let grace = options.take("grace").unwrap_or_else(|| GRACE.to_owned());
            let grace = seconds("--grace", 0, &OsString::from(grace))?;
            let grace_ms = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
            ProcessCall::Stop { process, grace_ms, reason: options.parsed("reason")? }
        }
        // `restart`: nothing else is left.
        _ => ProcessCall::Restart { process: id(&mut options)? },
    };
    let order = AdminCommand::Process { call, by: options.by()? };
    let state = options.state()?;
    let token = options.take("token-file").map(PathBuf::from);
    Ok(Asked::Order(Ordered { state, order, write: None, token, style: options.done()? }))
}
