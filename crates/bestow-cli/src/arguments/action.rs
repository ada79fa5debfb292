//! What the words after `check` and `explain` ask about.

use std::path::PathBuf;

use bestow::{Action, AgentId, Operation, Permission, Permissions, ToolName};
use lexopt::{
    Arg::{Long, Short, Value},
    Error, Parser, ValueExt,
};

use super::{parsed, tag};

/// An action of an agent of a file.
#[derive(Debug, PartialEq)]
pub(crate) struct Deciding {
    pub(crate) agent: AgentId,
    pub(crate) config: PathBuf,
    pub(crate) action: Action,
    pub(crate) reader: Reader,
}

/// Who reads the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    Person,
    Program,
}

/// None if help is wanted.
pub(super) fn parse(mut parser: Parser) -> Result<Option<Deciding>, Error> {
    let (mut agent, mut config, mut reader) = (None, PathBuf::from(super::CONFIG), Reader::Person);
    let (mut actions, mut tool, mut input, mut needs) = (Vec::new(), None::<ToolName>, None, Vec::<Permission>::new());
    while let Some(word) = parser.next()? {
        match word {
            Long("agent") => agent = Some(parsed(&mut parser, "agent")?),
            Long("config") => config = parser.value()?.into(),
            Long("read") => actions.push(Action::new(Operation::Read, &parser.value()?.string()?)),
            Long("write") => actions.push(Action::new(Operation::Write, &parser.value()?.string()?)),
            Long("exec") => actions.push(Action::new(Operation::Exec, &parser.value()?.string()?)),
            Long("command") => actions.push(Action::new(Operation::Command, &parser.value()?.string()?)),
            Long("network") => actions.push(Action::new(Operation::Network, &host(parser.value()?.string()?)?)),
            Long("tool") => tool = Some(parsed(&mut parser, "tool")?),
            Long("input") => input = Some(parsed(&mut parser, "input")?),
            Long("needs") => needs.push(tag("`--needs`", &parser.value()?)?),
            Long("json") => reader = Reader::Program,
            Short('h') | Long("help") => return Ok(None),
            Value(_) | Short(_) | Long(_) => return Err(word.unexpected()),
        }
    }
    let agent = agent.ok_or("`--agent` is missing")?;
    match (tool, input) {
        (Some(tool), input) => actions.push(Action::tool(tool, input.unwrap_or_else(|| serde_json::json!({})))),
        (None, Some(_)) => return Err("`--input` belongs to a `--tool`".into()),
        (None, None) => {}
    }
    let one = "name one action: `--read`, `--write`, `--exec`, `--command`, `--network` or `--tool`";
    let action = actions.pop().filter(|_| actions.is_empty()).ok_or(one)?;
    let action = match needs.is_empty() {
        true => action,
        false => action.needing(Permissions::try_from(needs).map_err(|why| format!("`--needs`: {why}"))?),
    };
    Ok(Some(Deciding { agent, config, action, reader }))
}

/// Whoever types an address means its host, and should know that the rest of it is not looked at.
fn host(typed: String) -> Result<String, Error> {
    let Some((_, rest)) = typed.split_once("://") else { return Ok(typed) };
    let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    Err(format!("`--network` takes a host and no URL: `--network {}`", host.escape_debug()).into())
}
