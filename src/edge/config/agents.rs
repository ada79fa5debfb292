//! `[agents.<id>]`, on top of `[defaults]`.

use std::sync::Arc;

use toml::{
    Spanned,
    de::{DeString, DeValue},
};

use super::{
    Problem,
    absolute::Base,
    finding::{Findings, quoted},
    limits::Limits,
    rights::{self, Written},
    rules,
    table::{At, Table, as_table},
};
use crate::model::{AgentId, Kind, Mode, Name, OwnerId, Profile, Rule, SanitizedPath};

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

/// A key that an agent may leave to `[defaults]`.
#[derive(Clone, Debug, Default)]
enum Field<T> {
    #[default]
    Missing,
    /// There, and wrong; that has been noted.
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

    /// The value; if nobody gave one, that is noted as missing from `table`.
    fn required(self, key: &str, table: &Header<'_>, found: &mut Findings<'_>) -> Option<T> {
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

/// What `[defaults]` and `[agents.<id>]` have in common.
#[derive(Clone, Debug, Default)]
pub(super) struct Common {
    owner: Field<OwnerId>,
    stand: Field<At<SanitizedPath>>,
    mode: Option<Mode>,
    rights: Vec<Written>,
    /// Its own tables.
    pub(super) rules: Vec<rules::Written>,
    /// What they and those of `[defaults]` come to.
    binding: Arc<[Rule]>,
}

impl Common {
    /// `[defaults]`: what every agent gets, unless that is too much for any.
    pub(super) fn defaults(mut table: Table<'_>, base: Base<'_>, limits: &Limits, found: &mut Findings<'_>) -> Common {
        let mut common = Common::read(&mut table, base, found);
        table.finish(found);
        common.rights = limits.of_defaults(&common.rights).unwrap_or_else(|(offset, problem)| {
            found.add(offset, problem);
            Vec::new()
        });
        rules::note_contradictions(&[], &common.rules, found);
        common.binding = rules::joined(&common.rules, &[]).into();
        common
    }

    fn read(table: &mut Table<'_>, base: Base<'_>, found: &mut Findings<'_>) -> Common {
        let owner = parsed(table, "owner", found);
        let stand = table.text("working_dir", found);
        let stand = stand.and_then(|text| {
            let path = found.ok(text.offset, base.path(text.value))?;
            Some(At { offset: text.offset, value: path })
        });
        Common {
            owner: Field::read(table.has("owner"), owner),
            stand: Field::read(table.has("working_dir"), stand),
            mode: table.word("mode", &MODES, found),
            rights: rights::read(table, base, found),
            rules: rules::read(table, base, found),
            binding: Arc::default(),
        }
    }

    /// Everything of both; what both say, the first says (`sources/004`, permissionMergeDefault).
    fn over(self, defaults: &Common, limits: &mut Limits, header: &Header<'_>, found: &mut Findings<'_>) -> Common {
        let rights = limits.joined(&header.name, &self.rights, &defaults.rights);
        let rights = found.ok(header.offset, rights).unwrap_or_default();
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
            rights,
            rules: self.rules,
            binding,
        }
    }
}

/// An agent, before everything else in the file is known to be right.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) id: AgentId,
    /// Where its table stands.
    pub(super) offset: usize,
    pub(super) stand: Option<At<SanitizedPath>>,
    pub(super) rights: Vec<Written>,
    /// Its own tables.
    pub(super) rules: Vec<rules::Written>,
    /// What binds it.
    pub(super) binding: Arc<[Rule]>,
    who: Option<(OwnerId, Kind)>,
    name: Option<Name>,
    mode: Mode,
}

impl Draft {
    /// The agent, standing at `stand`; none if something about it has been noted as wrong.
    pub(super) fn profile(&self, stand: SanitizedPath) -> Option<Profile> {
        let (owner, kind) = self.who.clone()?;
        let profile = Profile::new(self.id.clone(), owner, kind, stand);
        Some(Profile { name: self.name.clone(), mode: self.mode, ..profile })
    }
}

/// The head of one agent's table.
struct Header<'t> {
    id: &'t str,
    name: String,
    offset: usize,
}

/// Reads one agent; none if it cannot even be named.
pub(super) fn read<'t>(
    key: &'t Spanned<DeString<'t>>,
    value: &'t Spanned<DeValue<'t>>,
    defaults: &Common,
    base: Base<'_>,
    limits: &mut Limits,
    found: &mut Findings<'_>,
) -> Option<Draft> {
    let id = key.get_ref().as_ref();
    let header = Header { id, name: quoted(&format!("[agents.{id}]")), offset: key.span().start };
    let entries = found.ok(value.span().start, as_table(&format!("agents.{id}"), value.get_ref()))?;
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
    found: &mut Findings<'_>,
) -> Option<Draft> {
    let id = header.id.parse::<AgentId>();
    let id =
        found.ok(header.offset, id.map_err(|why| Problem::new(format!("{} is not an id: {why}", quoted(header.id)))));
    let id = id.and_then(|id| found.ok(header.offset, free(id)));
    let name: Option<Name> = parsed(table, "name", found);
    let kind = Field::read(table.has("kind"), table.word("kind", &KINDS, found));
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
    let Common { rights, rules, binding, .. } = common;
    Some(Draft { id: id?, offset: header.offset, stand, rights, rules, binding, who, name, mode })
}

/// Not a name that is kept.
fn free(id: AgentId) -> Result<AgentId, Problem> {
    if !id.is_kept_for_tasks() {
        return Ok(id);
    }
    let problem = Problem::new(format!("{} is a name for the agent of a scheduled task", quoted(id.as_str())));
    Err(problem.help("choose one that begins neither with `cron:` nor with `heartbeat:`"))
}

/// A text that is a value of the model.
fn parsed<T>(table: &mut Table<'_>, key: &'static str, found: &mut Findings<'_>) -> Option<T>
where
    T: std::str::FromStr<Err: std::fmt::Display>,
{
    let text = table.text(key, found)?;
    found.ok(text.offset, text.value.parse().map_err(|why| Problem::new(format!("`{key}`: {why}"))))
}
