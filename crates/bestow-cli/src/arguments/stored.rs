//! What is asked about a state directory.

use std::{path::PathBuf, str::FromStr};

use lexopt::{
    Arg::{Long, Short, Value},
    Error, Parser, ValueExt,
};

use bestow::{Escaped, Scope};

use super::{
    AdminCommand, Approval, ApproverId, Asked, Audit, CONFIG, Filter, GrantOrDecisionId, Keeping, Ordered, Style, tag,
};

/// The commands that are orders.
pub(super) const ORDERS: [&str; 9] =
    ["agree", "approve", "deny", "grants", "mode", "requests", "revoke", "state", "why"];

/// What can be done with a trail.
const AUDITS: [&str; 4] = ["show", "verify", "head", "cut"];

/// Every option there is, each at most once; which of them a command takes is for it to say.
#[derive(Debug, Default)]
pub(super) struct Options {
    named: Vec<(&'static str, String)>,
    values: Vec<String>,
    style: Option<Style>,
    write: bool,
    flags: Vec<&'static str>,
}

/// Options that have none, but for those that every command knows.
const FLAGS: [&str; 2] = ["close", "stderr"];

/// Options that have a value.
const VALUED: [&str; 16] = [
    "agent",
    "as",
    "before",
    "config",
    "expect",
    "feedback",
    "from",
    "grace",
    "grant",
    "reason",
    "request",
    "scope",
    "since",
    "state",
    "token-file",
    "until",
];

impl Options {
    /// None if help is wanted.
    pub(super) fn read(mut parser: Parser) -> Result<Option<Options>, Error> {
        let mut options = Options::default();
        while let Some(word) = parser.next()? {
            match word {
                Short('h') | Long("help") => return Ok(None),
                Long("write") => options.write = true,
                Long("json") => options.style = Some(Style::Json),
                Long(name) if FLAGS.contains(&name) => {
                    options.flags.extend(FLAGS.into_iter().find(|flag| *flag == name))
                }
                Long(name) => match VALUED.into_iter().find(|known| *known == name) {
                    Some(name) => options.named.push((name, parser.value()?.string()?)),
                    None => return Err(word.unexpected()),
                },
                Value(value) => options.values.push(value.string()?),
                Short(_) => return Err(word.unexpected()),
            }
        }
        Ok(Some(options))
    }

    pub(super) fn take(&mut self, name: &str) -> Option<String> {
        let place = self.named.iter().position(|(there, _)| *there == name)?;
        Some(self.named.remove(place).1)
    }

    pub(super) fn parsed<T: FromStr<Err: Into<Box<dyn std::error::Error + Send + Sync>>>>(
        &mut self,
        name: &str,
    ) -> Result<Option<T>, Error> {
        let wrong = |why: T::Err| Error::from(format!("`--{name}`: {}", why.into()));
        self.take(name).map(|text| text.parse().map_err(wrong)).transpose()
    }

    pub(super) fn number(&mut self, name: &str) -> Result<Option<u64>, Error> {
        let wrong = |typed: &str| Error::from(format!("`--{name}` takes a whole number, and not `{}`", Escaped(typed)));
        self.take(name).map(|typed| typed.parse().map_err(|_| wrong(&typed))).transpose()
    }

    pub(super) fn state(&mut self) -> Result<PathBuf, Error> {
        let missing = "`--state` is missing: name the state directory that the engine was opened with";
        self.take("state").map(PathBuf::from).ok_or_else(|| missing.into())
    }

    pub(super) fn refuse_write(&self) -> Result<(), Error> {
        if self.write { Err("`--write` goes with `approve` only".into()) } else { Ok(()) }
    }

    fn config(&mut self) -> PathBuf {
        self.take("config").unwrap_or_else(|| CONFIG.to_owned()).into()
    }

    pub(super) fn value(&mut self, what: &str) -> Result<String, Error> {
        if self.values.is_empty() { Err(format!("{what} is missing").into()) } else { Ok(self.values.remove(0)) }
    }

    /// Whoever is logged in, unless somebody else is named.
    pub(super) fn by(&mut self) -> Result<ApproverId, Error> {
        let name = self.take("as").or_else(logged_in).unwrap_or_else(|| "operator".to_owned());
        name.parse().map_err(|why| Error::Custom(Box::new(why)))
    }

    pub(super) fn flag(&mut self, name: &str) -> bool {
        let before = self.flags.len();
        self.flags.retain(|flag| *flag != name);
        self.flags.len() < before
    }

    /// All words that are left.
    pub(super) fn rest(&mut self) -> Vec<String> {
        std::mem::take(&mut self.values)
    }

    /// Nothing may be left that nobody asked for.
    pub(super) fn done(self) -> Result<Style, Error> {
        if let Some((name, _)) = self.named.first() {
            return Err(format!("`--{name}` makes no sense here").into());
        }
        if let Some(flag) = self.flags.first() {
            return Err(format!("`--{flag}` makes no sense here").into());
        }
        match self.values.first() {
            Some(value) => Err(Error::UnexpectedArgument(value.into())),
            None => Ok(self.style.unwrap_or(Style::Human)),
        }
    }
}

fn logged_in() -> Option<String> {
    ["USER", "LOGNAME"].iter().filter_map(|name| std::env::var(name).ok()).find(|name| !name.is_empty())
}

fn custom<E: Into<Box<dyn std::error::Error + Send + Sync>>>(why: E) -> Error {
    Error::Custom(why.into())
}

pub(super) fn order(command: &str, parser: Parser) -> Result<Asked, Error> {
    let Some(mut options) = Options::read(parser)? else { return Ok(Asked::Help) };
    let order = match command {
        "grants" => AdminCommand::Grants { agent: options.parsed("agent")? },
        "requests" => AdminCommand::Requests,
        "agree" => {
            let change = options.value("the number of the change")?;
            let change =
                change.parse().map_err(|_| format!("a change is named by its number, and `{change}` is none"))?;
            AdminCommand::Agree { change, by: options.by()? }
        }
        "why" => {
            let agent = options.value("the agent")?.parse().map_err(custom)?;
            AdminCommand::Why { agent, permission: tag("the tag", options.value("the tag")?.as_ref())? }
        }
        "state" => {
            let agent = options.parsed("agent")?.ok_or("`--agent` is missing")?;
            AdminCommand::State { agent }
        }
        "mode" => {
            let agent = options.value("the agent")?.parse().map_err(custom)?;
            let mode = options.values.pop().map(|mode| mode.parse().map_err(custom)).transpose()?;
            AdminCommand::Mode { agent, mode, by: options.by()? }
        }
        "revoke" => {
            let held = options.value("the grant")?.parse().map_err(custom)?;
            AdminCommand::Revoke { held, reason: options.parsed("reason")?, by: options.by()? }
        }
        answer => {
            let verdict = if answer == "approve" { Approval::Approve } else { Approval::Deny };
            let (request, scope) = (options.value("the code of the request")?, options.parsed("scope")?);
            AdminCommand::Answer { request, verdict, scope, feedback: options.parsed("feedback")?, by: options.by()? }
        }
    };
    let write = if options.write { Some(written_to(&order, &mut options)?) } else { None };
    let state = options.state()?;
    let token = options.take("token-file").map(PathBuf::from);
    Ok(Asked::Order(Ordered { state, order, write, token, style: options.done()? }))
}

/// The file that an answer goes into, if it is a yes for good.
fn written_to(order: &AdminCommand, options: &mut Options) -> Result<PathBuf, Error> {
    let AdminCommand::Answer { verdict: Approval::Approve, scope, .. } = order else {
        return Err("`--write` goes with `approve` only".into());
    };
    if scope.is_some_and(|scope| scope != Scope::Always) {
        return Err("`--write` is for good: it goes with no other `--scope` than `always`".into());
    }
    Ok(options.config())
}

pub(super) fn keep(parser: Parser) -> Result<Asked, Error> {
    let Some(mut options) = Options::read(parser)? else { return Ok(Asked::Help) };
    options.refuse_write()?;
    let held = options.value("the grant or ruling")?.parse().map_err(custom)?;
    let config = options.config();
    let state = options.state()?;
    options.done().map(|_| Asked::Keep(Keeping { state, held, config }))
}

fn filter(options: &mut Options) -> Result<Filter, Error> {
    let (grant, ruling) = match options.parsed("grant")? {
        Some(GrantOrDecisionId::Grant(grant)) => (Some(grant), None),
        Some(GrantOrDecisionId::Ruling(ruling)) => (None, Some(ruling)),
        None => (None, None),
    };
    let (agent, request) = (options.parsed("agent")?, options.take("request"));
    let (since, until) = (options.parsed("since")?, options.parsed("until")?);
    if since.is_some() && until.is_some() && until <= since {
        return Err("`--until` is not after `--since`, so there is nothing between them".into());
    }
    Ok(Filter { agent, request, grant, ruling, since, until })
}

pub(super) fn audit(mut parser: Parser) -> Result<Asked, Error> {
    let what = match parser.next()? {
        Some(Value(what)) => what.string()?,
        Some(Short('h') | Long("help")) => return Ok(Asked::Help),
        Some(other) => return Err(other.unexpected()),
        None => return Err("`audit` needs `show`, `verify`, `head` or `cut`".into()),
    };
    if !AUDITS.contains(&what.as_str()) {
        return Err(super::unknown("`audit`", what.as_ref(), &AUDITS));
    }
    let Some(mut options) = Options::read(parser)? else { return Ok(Asked::Help) };
    options.refuse_write()?;
    let state = options.state()?;
    Ok(Asked::Audit(match what.as_str() {
        "show" => {
            let filter = filter(&mut options)?;
            Audit::Show { state, filter, style: options.done()? }
        }
        "verify" => {
            let expected = options.parsed("expect")?;
            options.done().map(|_| Audit::Verify { state, expected })?
        }
        "head" => options.done().map(|_| Audit::Head { state })?,
        // `cut`: nothing else is left.
        _ => {
            let before = options.number("before")?.ok_or("`--before` is missing")?;
            options.done().map(|_| Audit::Cut { state, before })?
        }
    }))
}
