//! The whole policy file: `[engine]`, `[commands]`, `[defaults]`, `[agents.<id>]`, `[[test]]`.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use toml::de::DeTable;

use super::{
    Baseline, ConfigError, PolicyText, Problem,
    absolute::Base,
    agents::{self, Common, Draft},
    commands,
    diagnostics::Diagnostics,
    limits::Limits,
    policy_tests::{self, Failure},
    protected,
    resolve_paths::{self, ResolvedPath},
    rules, settings, syntax,
    table::{At, Table},
    tools, tried_examples,
};
use crate::model::{AgentId, LeftOut, Policy, SanitizedPath, Settings};

/// The help for a file without agents. Such a file is refused, because an interrupted save must not revoke every
/// permission.
const SMALLEST: &str = "the smallest file is `[agents.lead]` and below it, each on a line, \
    `kind = \"foreground\"`, `owner = \"you\"`, `working_dir = \"workspace\"`";

/// The maximum number of left-out lines that are reported. A person does not read more of them line by line.
const MAX_LEFT_OUT: usize = 100;

/// Parses the text of a policy file, and returns the policy with its baseline for the next reload.
///
/// An invalid text makes the whole file invalid. A line that does not agree with the disk makes the first file of an
/// engine invalid; at a reload, such a line is left out.
pub(super) fn policy(
    text: &PolicyText,
    before: Option<&Baseline>,
    mut look: impl FnMut(&SanitizedPath) -> Result<ResolvedPath, Problem>,
) -> Result<(Policy, Baseline), ConfigError> {
    let mut found = Diagnostics::new(text);
    let utf8 = match std::str::from_utf8(&text.bytes) {
        Ok(utf8) => utf8,
        Err(error) => {
            found.add(error.valid_up_to(), Problem::new("the file is not UTF-8 from here on"));
            return Err(found.told());
        }
    };
    let (document, errors) = DeTable::parse_recoverable(utf8);
    if !errors.is_empty() {
        // A half-written file seems to lack keys that are not missing, so only its syntax errors are reported.
        syntax::problems(utf8, &errors).into_iter().for_each(|(offset, problem)| found.add(offset, problem));
        return Err(found.told());
    }
    let directory = text.ground.trail.real.parent().unwrap_or(Path::new("/"));
    let home = text.home.as_ref().and_then(|home| found.general(protected::sanitized(home, "the home directory")));
    let base = Base { directory, home: home.as_ref() };
    let mut root = Table::new("the file", document.get_ref());
    let mut known = before.cloned().unwrap_or_default();
    let (settings, named) = engine(&mut root, base, text, &mut known, &mut found);
    let commands = commands::read(&mut root, &mut known, &mut found);
    let tools = tools::read(&mut root, base, &mut found);
    let settings = Settings { commands, tools, ..settings };
    let (of_defaults, drafts) = drafts(&mut root, base, settings.max_grants, &mut found);
    for At { place: offset, value: id } in named {
        found.ok(offset, policy_tests::known(id.as_str(), &drafts));
    }
    let trials = policy_tests::read(&mut root, base, &drafts, &mut found);
    root.finish(&mut found);
    let written = of_defaults.iter().chain(drafts.iter().flat_map(|draft| &draft.rules));
    tried_examples::try_out(written.clone(), &settings, &mut found);
    let agreed = resolve_paths::agree(&drafts, &text.ground, &mut known, &found, &mut look);
    let mut of_the_disk = agreed.left_out;
    of_the_disk.extend(resolve_paths::unreachable_rules(written, &mut look));
    if before.is_none() {
        std::mem::take(&mut of_the_disk).into_iter().for_each(|(offset, problem)| found.add(offset, problem));
    }
    of_the_disk.extend(agreed.nowhere);
    let policy = Policy { settings, agents: agreed.agents, left_out: Vec::new() };
    known.tests = trials.len();
    // While the file is invalid, its tests are not run.
    let as_written = || {
        resolve_paths::agree(&drafts, &text.ground, &mut Baseline::default(), &found, resolve_paths::as_written).agents
    };
    let as_written = || Policy { agents: as_written(), ..policy.clone() };
    let failures = if found.any() { Vec::new() } else { policy_tests::rehearse(&policy, as_written, &trials) };
    for (offset, failure) in failures {
        match failure {
            // At a reload this is no error: otherwise agents could block an edit by changing the disk.
            Failure::OfTheDisk(problem) if before.is_some() => drop(of_the_disk.insert(offset, problem)),
            Failure::OfTheDisk(problem) | Failure::OfTheText(problem) => found.add(offset, problem),
        }
    }
    let left_out = left_out(of_the_disk, &found);
    found.unless_any((Policy { left_out, ..policy }, known))
}

fn left_out(lines: BTreeMap<usize, Problem>, found: &Diagnostics<'_>) -> Vec<LeftOut> {
    let more = lines.len().saturating_sub(MAX_LEFT_OUT);
    let told = |(offset, problem): (usize, Problem)| (offset, problem.to_string());
    let mut lines: Vec<_> = lines.into_iter().map(told).take(MAX_LEFT_OUT).collect();
    let last = lines.last().map(|(offset, _)| (*offset, format!("and {more} more lines")));
    lines.extend(last.filter(|_| more > 0));
    let left_out = |(offset, why): (usize, String)| LeftOut { place: found.place(offset), why: why.into() };
    lines.into_iter().map(left_out).collect()
}

fn engine(
    root: &mut Table<'_>,
    base: Base<'_>,
    text: &PolicyText,
    known: &mut Baseline,
    found: &mut Diagnostics<'_>,
) -> (Settings, Vec<At<AgentId>>) {
    let entries = root.table("engine", found);
    let keys: BTreeSet<_> = entries.into_iter().flatten().map(|(key, _)| key.get_ref().to_string()).collect();
    for gone in known.settings.iter().filter(|key| !key.contains('.') && !keys.contains(*key)) {
        found.add_general(
            Problem::new(format!(
                "`{gone}` is missing from `[engine]`, and the previous version had it; the file may be incomplete"
            ))
            .help(
                "write it again: a setting returns to its default if the file states the default, or if the engine \
                 restarts",
            ),
        );
    }
    known.settings.extend(keys);
    let (settings, added) = match entries {
        Some(entries) => settings::read(Table::new("`[engine]`", entries), base, found),
        None => (Settings::default(), Vec::new()),
    };
    let own = found.general(protected::own(&text.ground.trail)).unwrap_or_default();
    let tasks = root.table("tasks", found).map(|entries| Table::new("`[tasks]`", entries));
    let gates = root.table("gates", found).map(|entries| Table::new("`[gates]`", entries));
    let (tasks, named) = settings::tasks(tasks, gates, base, found);
    let limits = root.table("limits", found).map(|entries| Table::new("`[limits]`", entries));
    let limits = settings::limits(limits, found);
    let settings = Settings { tasks, limits, governing: own.clone().into(), ..settings };
    (Settings { protected: protected::list(base.home, added, own, &mut known.protected), ..settings }, named)
}

/// Reads the rules of `[defaults]`, and the agents.
fn drafts(
    root: &mut Table<'_>,
    base: Base<'_>,
    max_grants: u32,
    found: &mut Diagnostics<'_>,
) -> (Vec<rules::Written>, Vec<Draft>) {
    let mut limits = Limits::new(max_grants);
    let defaults = root.table("defaults", found).map(|entries| Table::new("`[defaults]`", entries));
    let defaults = defaults.map(|table| Common::defaults(table, base, &limits, found)).unwrap_or_default();
    let written = root.has("agents");
    let agents = root.table("agents", found);
    if !written || agents.is_some_and(|agents| agents.is_empty()) {
        found.add_general(Problem::new("the file names no agent").help(SMALLEST));
    }
    let agents = agents.into_iter().flatten();
    let read = |(key, value)| agents::read(key, value, &defaults, base, &mut limits, found);
    let drafts = agents.filter_map(read).collect();
    (defaults.rules, drafts)
}
