//! `[agents.<id>]`, on top of `[defaults]`.

use std::sync::Arc;

use toml::{
    Spanned,
    de::{DeString, DeValue},
};

use super::{
    Problem,
    absolute::Base,
    diagnostics::{Diagnostics, quoted},
    limits::Limits,
    permissions::{self, Written},
    rules,
    table::{At, Table},
};
use crate::{
    model::{AgentId, BotCommand, Kind, Mode, Name, OwnerId, Profile, Rule, SanitizedPath},
    node::Node,
    table::as_table,
};

const KINDS: [(&str, Kind); 6] = [
    ("foreground", Kind::Foreground),
    ("cron", Kind::Cron),
    ("heartbeat", Kind::Heartbeat),
    ("subagent", Kind::Subagent),
    ("system", Kind::System),
    ("permanent", Kind::Permanent),
];

const MODES: [(&str, Mode); 8] = [
    ("default", Mode::Default),
    ("untrusted", Mode::Untrusted),
    ("on_request", Mode::OnRequest),
    ("on_failure", Mode::OnFailure),
    ("never", Mode::Never),
    ("plan", Mode::Plan),
    ("bypass", Mode::Bypass),
    ("auto", Mode::Auto),
];

/// A key of an agent that `[defaults]` may provide.
#[derive(Clone, Debug, Default)]
enum Field<T> {
    #[default]
    Missing,
    /// The key is present but invalid, which is reported already.
    Broken,
    Is(T),
}

impl<T: Clone> Field<T> {
    fn read(written: bool, value: Option<T>) -> Field<T> {
        match value {
            Some(value) => Field::Is(value),
            None if written => Field::Broken,
            None => Field::Missing,
        }
    }

    fn or(self, other: &Field<T>) -> Field<T> {
        if matches!(self, Field::Missing) { other.clone() } else { self }
    }

    /// Returns the value. A missing value is reported as missing from `table`.
    fn required(self, key: &str, table: &Header<'_>, found: &mut Diagnostics<'_>) -> Option<T> {
        match self {
            Field::Is(value) => Some(value),
            Field::Broken => None,
            Field::Missing => {
                let message = format!("`{key}` is missing: set it in {} or in `[defaults]`", table.name);
                found.add(table.offset, Problem::new(message));
                None
            }
        }
    }
}

/// The keys that `[defaults]` and `[agents.<id>]` share.
#[derive(Clone, Debug, Default)]
pub(super) struct Common {
    owner: Field<OwnerId>,
    stand: Field<At<SanitizedPath>>,
    mode: Option<Mode>,
    permissions: Vec<Written>,
    /// The rules of the table's own rule tables.
    pub(super) rules: Vec<rules::Written>,
    /// Those rules combined with the rules of `[defaults]`.
    binding: Arc<[Rule]>,
}

impl Common {
    /// Reads `[defaults]`, which apply to every agent. Permissions that exceed the limit are reported and dropped.
    pub(super) fn defaults(
        mut table: Table<'_>,
        base: Base<'_>,
        limits: &Limits,
        found: &mut Diagnostics<'_>,
    ) -> Common {
        let mut common = Common::read(&mut table, base, found);
        table.finish(found);
        common.permissions = limits.of_defaults(&common.permissions).unwrap_or_else(|(offset, problem)| {
            found.add(offset, problem);
            Vec::new()
        });
        rules::note_contradictions(&[], &common.rules, found);
        common.binding = rules::joined(&common.rules, &[]).into();
        common
    }

    fn read(table: &mut Table<'_>, base: Base<'_>, found: &mut Diagnostics<'_>) -> Common {
        let owner = parsed(table, "owner", found);
        let stand = table.text("working_dir", found);
        let stand = stand.and_then(|text| {
            let path = found.ok(text.place, base.path(text.value))?;
            Some(At { place: text.place, value: path })
        });
        Common {
            owner: Field::read(table.has("owner"), owner),
            stand: Field::read(table.has("working_dir"), stand),
            mode: table.word("mode", &MODES, found),
            permissions: permissions::read(table, base, found),
            rules: rules::read(table, base, found),
            binding: Arc::default(),
        }
    }

    /// Combines both tables. If both set a key, this table takes precedence (`sources/004`, permissionMergeDefault).
    fn over(self, defaults: &Common, limits: &mut Limits, header: &Header<'_>, found: &mut Diagnostics<'_>) -> Common {
        let permissions = limits.joined(&header.name, &self.permissions, &defaults.permissions);
        let permissions = found.ok(header.offset, permissions).unwrap_or_default();
        rules::note_contradictions(&defaults.rules, &self.rules, found);
        let binding = match self.rules.is_empty() {
            true => Arc::clone(&defaults.binding),
            false => rules::joined(&defaults.rules, &self.rules).into(),
        };
        let usable = limits.rules(&header.name, &binding, &defaults.binding);
        let binding = found.ok(header.offset, usable.map(|()| binding)).unwrap_or_default();
        Common {
            owner: self.owner.or(&defaults.owner),
            stand: self.stand.or(&defaults.stand),
            mode: self.mode.or(defaults.mode),
            permissions,
            rules: self.rules,
            binding,
        }
    }
}

/// An agent, before the rest of the file is known to be valid.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) id: AgentId,
    /// The position of its table.
    pub(super) offset: usize,
    pub(super) stand: Option<At<SanitizedPath>>,
    pub(super) permissions: Vec<Written>,
    /// The rules of the agent's own rule tables.
    pub(super) rules: Vec<rules::Written>,
    /// The rules that apply to the agent.
    pub(super) binding: Arc<[Rule]>,
    who: Option<(OwnerId, Kind)>,
    name: Option<Name>,
    mode: Mode,
    bot: Option<Arc<BotCommand>>,
}

impl Draft {
    /// Returns the agent's profile with the working directory `stand`. Returns none if an invalid value was reported.
    pub(super) fn profile(&self, stand: SanitizedPath) -> Option<Profile> {
        let (owner, kind) = self.who.clone()?;
        let profile = Profile::new(self.id.clone(), owner, kind, stand);
        Some(Profile { name: self.name.clone(), mode: self.mode, bot: self.bot.clone(), ..profile })
    }
}

/// The header of one agent's table.
struct Header<'t> {
    id: &'t str,
    name: String,
    offset: usize,
}

/// Reads one agent. Returns none if it has no valid id.
pub(super) fn read<'t>(
    key: &'t Spanned<DeString<'t>>,
    value: &'t Spanned<DeValue<'t>>,
    defaults: &Common,
    base: Base<'_>,
    limits: &mut Limits,
    found: &mut Diagnostics<'_>,
) -> Option<Draft> {
    let id = key.get_ref().as_ref();
    let header = Header { id, name: quoted(&format!("[agents.{id}]")), offset: key.span().start };
    let entries = found.ok(value.span().start, as_table(&format!("agents.{id}"), value).map_err(Problem::from))?;
    let mut table = Table::new(header.name.clone(), entries);
    let draft = draft(&header, &mut table, defaults, base, limits, found);
    table.finish(found);
    draft
}

fn draft(
    header: &Header<'_>,
    table: &mut Table<'_>,
    defaults: &Common,
    base: Base<'_>,
    limits: &mut Limits,
    found: &mut Diagnostics<'_>,
) -> Option<Draft> {
    let id = header.id.parse::<AgentId>();
    let id =
        found.ok(header.offset, id.map_err(|why| Problem::new(format!("{} is not an id: {why}", quoted(header.id)))));
    let id = id.and_then(|id| found.ok(header.offset, free(id)));
    let name: Option<Name> = parsed(table, "name", found);
    let kind = Field::read(table.has("kind"), table.word("kind", &KINDS, found));
    let bot = bot(table, found);
    let common = Common::read(table, base, found).over(defaults, limits, header, found);
    let owner = common.owner.required("owner", header, found);
    let stand = common.stand.required("working_dir", header, found);
    if matches!(kind, Field::Missing) {
        found.add(header.offset, Problem::new(format!("`kind` is missing: set it in {}", header.name)));
    }
    let who = match (owner, kind) {
        (Some(owner), Field::Is(kind)) => Some((owner, kind)),
        _ => None,
    };
    let mode = common.mode.unwrap_or_default();
    let Common { permissions, rules, binding, .. } = common;
    Some(Draft { id: id?, offset: header.offset, stand, permissions, rules, binding, who, name, mode, bot })
}

/// Reads the program that acts as the agent.
fn bot(table: &mut Table<'_>, found: &mut Diagnostics<'_>) -> Option<Arc<BotCommand>> {
    let place = table.peek("command").map(Node::place);
    let written = table.texts("command", found);
    let confined = table.peek("sandbox").map(Node::place);
    let sandbox = table.flag("sandbox", found).unwrap_or(true);
    let Some(place) = place else {
        if let Some(confined) = confined {
            found.add(confined, Problem::new("`sandbox` says how the `command` runs, and there is no `command`"));
        }
        return None;
    };
    if table.peek("command").and_then(Node::as_list).is_some_and(<[_]>::is_empty) {
        found.add(place, Problem::new("`command` is the program and its arguments: [\"python3\", \"bot.py\"]"));
        return None;
    }
    let words = written.iter().map(|word| found.ok(word.place, word_of(word.value))).collect::<Option<Vec<_>>>()?;
    if words.is_empty() {
        return None;
    }
    Some(Arc::new(BotCommand { command: words, sandbox }))
}

/// Returns a word of a command. The system cannot pass on a word with a zero byte.
fn word_of(text: &str) -> Result<String, Problem> {
    if text.trim().is_empty() || text.contains('\0') {
        return Err(Problem::new("a word of `command` is not blank and contains no zero byte"));
    }
    Ok(text.to_owned())
}

/// Refuses an id that is reserved for scheduled tasks.
fn free(id: AgentId) -> Result<AgentId, Problem> {
    if !id.is_kept_for_tasks() {
        return Ok(id);
    }
    let problem = Problem::new(format!("the id {} is reserved for the agent of a scheduled task", quoted(id.as_str())));
    Err(problem.help("choose an id that does not begin with `cron:` or `heartbeat:`"))
}

/// Reads a text that is a value of the model.
fn parsed<T>(table: &mut Table<'_>, key: &'static str, found: &mut Diagnostics<'_>) -> Option<T>
where
    T: std::str::FromStr<Err: std::fmt::Display>,
{
    let text = table.text(key, found)?;
    found.ok(text.place, text.value.parse().map_err(|why| Problem::new(format!("`{key}`: {why}"))))
}
