//! `[engine]`, `[tasks]`, `[gates]`: the settings.

use std::{collections::BTreeSet, str::FromStr, sync::Arc, time::Duration};

use super::{
    Problem,
    absolute::Base,
    diagnostics::{Diagnostics, quoted},
    table::{At, Table},
};
use crate::{
    model::{
        AgentId, CatchUp, Interaction, Limits, OnMissing, OnNoUser, Reads, SanitizedPath, SensitiveName, Settings,
        TaskSettings, Verdict, Widening, parse_duration,
    },
    node::Node,
};

const READS: [(&str, Reads); 2] = [("anywhere", Reads::Anywhere), ("granted", Reads::Granted)];
const INTERACTION: [(&str, Interaction); 2] =
    [("interactive", Interaction::Interactive), ("noninteractive", Interaction::NonInteractive)];
const DEFAULT_VERDICT: [(&str, Verdict); 2] = [("ask", Verdict::Ask), ("deny", Verdict::Deny)];
const ON_NO_USER: [(&str, OnNoUser); 2] = [("queue", OnNoUser::Queue), ("deny", OnNoUser::Deny)];

/// Reads the settings of the table, and the paths it adds to the protected ones. Missing settings have their defaults.
pub(super) fn read(
    mut table: Table<'_>,
    base: Base<'_>,
    found: &mut Diagnostics<'_>,
) -> (Settings, Vec<SanitizedPath>) {
    let start = Settings::default();
    let widening = |confirm| if confirm { Widening::Confirm } else { Widening::Apply };
    let settings = Settings {
        default_verdict: table.word("default_verdict", &DEFAULT_VERDICT, found).unwrap_or(start.default_verdict),
        reads: table.word("reads", &READS, found).unwrap_or(start.reads),
        interaction: table.word("interaction", &INTERACTION, found).unwrap_or(start.interaction),
        on_no_user: table.word("on_no_user", &ON_NO_USER, found).unwrap_or(start.on_no_user),
        widening: table.flag("confirm_widening", found).map_or(start.widening, widening),
        request_timeout: table
            .duration("request_timeout", Duration::from_millis(1), found)
            .unwrap_or(start.request_timeout),
        denial_memory: table.duration("denial_memory", Duration::ZERO, found).unwrap_or(start.denial_memory),
        max_pending: table.number("max_pending", 1..=1_000_000, found).unwrap_or(start.max_pending),
        max_asks_per_minute: table
            .number("max_asks_per_minute", 1..=1_000_000, found)
            .unwrap_or(start.max_asks_per_minute),
        max_grants: table.number("max_grants", 1..=1_000_000, found).unwrap_or(start.max_grants),
        max_depth: table.number("max_depth", 0..=u8::MAX, found).unwrap_or(start.max_depth),
        max_children: table.number("max_children", 0..=1_000_000, found).unwrap_or(start.max_children),
        max_processes: table.number("max_processes", 0..=10_000, found).unwrap_or(start.max_processes),
        limits: start.limits,
        hook_timeout: table.duration("hook_timeout", Duration::from_millis(1), found).unwrap_or(start.hook_timeout),
        max_facts_per_minute: table
            .number("max_facts_per_minute", 1..=1_000_000, found)
            .unwrap_or(start.max_facts_per_minute),
        max_changes_per_minute: table
            .number("max_changes_per_minute", 1..=1_000_000, found)
            .unwrap_or(start.max_changes_per_minute),
        protected: start.protected,
        governing: start.governing,
        tasks: start.tasks,
        commands: start.commands,
        tools: start.tools,
        sensitive: names(&mut table, found),
    };
    let written = table.texts("protected", found);
    let protected = written.into_iter().filter_map(|text| found.ok(text.place, base.path(text.value))).collect();
    table.finish(found);
    (settings, protected)
}

/// Reads the limits of commands: texts, or numbers where no unit is needed.
pub(super) fn limits(table: Option<Table<'_>>, found: &mut Diagnostics<'_>) -> Limits {
    let mut limits = Limits::default();
    let Some(mut table) = table else { return limits };
    for name in Limits::names() {
        let Some(node) = table.value(name, found) else { continue };
        let decimal = || node.as_integer().filter(|(_, radix)| *radix == 10).map(|(digits, _)| digits);
        let text = node.as_text().or_else(decimal);
        let set = match text {
            Some(text) => limits.set(name, text).map_err(|why| Problem::new(why.to_string())),
            None => Err(Problem::new(format!("`{name}` must be a text or a number, as in `{name} = \"unlimited\"`"))),
        };
        found.ok(node.place(), set);
    }
    table.finish(found);
    limits
}

const CATCH_UP: [(&str, CatchUp); 2] = [("one", CatchUp::One), ("none", CatchUp::None)];
const ON_MISSING: [(&str, OnMissing); 3] =
    [("run", OnMissing::Run), ("ask", OnMissing::Ask), ("skip", OnMissing::Skip)];

/// Reads the settings for scheduled tasks from both tables, and the agents that they name.
pub(super) fn tasks(
    tasks: Option<Table<'_>>,
    gates: Option<Table<'_>>,
    base: Base<'_>,
    found: &mut Diagnostics<'_>,
) -> (TaskSettings, Vec<At<AgentId>>) {
    let (mut settings, mut named) = (TaskSettings::default(), Vec::new());
    if let Some(mut table) = tasks {
        let dir = table.text("dir", found);
        settings.dir = dir.and_then(|text| found.ok(text.place, base.path(text.value)));
        let mut agent = |text: At<&str>, found: &mut Diagnostics<'_>| {
            let id = parsed::<AgentId>(At { place: text.place, value: text.value }, found)?;
            named.push(At { place: text.place, value: id.clone() });
            Some(id)
        };
        settings.cron_agent = table.text("cron_agent", found).and_then(|text| agent(text, found));
        settings.heartbeat_agent = table.text("heartbeat_agent", found).and_then(|text| agent(text, found));
        let agents = table.texts("agents", found);
        settings.agents = agents.into_iter().filter_map(|text| agent(text, found)).collect();
        if let Some(zone) = table.text("time_zone", found) {
            settings.time_zone = found.ok(zone.place, time_zone(zone.value)).unwrap_or("UTC").into();
        }
        let some = Duration::from_millis(1);
        let set = |value: Option<Duration>, at: &mut Duration| *at = value.unwrap_or(*at);
        set(table.duration("heartbeat_every", Duration::from_secs(1), found), &mut settings.heartbeat_every);
        set(table.duration("jitter", Duration::ZERO, found), &mut settings.jitter);
        set(table.duration("time_limit", some, found), &mut settings.time_limit);
        settings.catch_up = table.word("catch_up", &CATCH_UP, found).unwrap_or(settings.catch_up);
        settings.max_running = table.number("max_running", 1..=10_000, found).unwrap_or(settings.max_running);
        table.finish(found);
    }
    if let Some(mut table) = gates {
        settings.on_missing = table.word("on_missing", &ON_MISSING, found).unwrap_or(settings.on_missing);
        let range = Duration::from_millis(100)..=Duration::from_secs(300);
        let time = table.duration_within("timeout", range, "`100ms` to `5m`", parse_duration, found);
        settings.gate_time_limit = time.unwrap_or(settings.gate_time_limit);
        table.finish(found);
    }
    (settings, named)
}

fn parsed<T: FromStr<Err: std::fmt::Display>>(text: At<&str>, found: &mut Diagnostics<'_>) -> Option<T> {
    found.ok(text.place, text.value.parse().map_err(|why| Problem::new(format!("{}: {why}", quoted(text.value)))))
}

/// Checks the name of a time zone. Only the feature `schedule` knows the zones; without it every name is accepted.
fn time_zone(name: &str) -> Result<&str, Problem> {
    #[cfg(feature = "schedule")]
    if name.parse::<crate::model::TimeZone>().is_err() {
        let message = format!("{} is not a time zone", quoted(name));
        let near = super::diagnostics::did_you_mean(name, crate::model::TimeZone::names());
        let help = near.unwrap_or_else(|| "write a name such as `Europe/Berlin` or `UTC`".to_owned());
        return Err(Problem::new(message).help(help));
    }
    Ok(name)
}

/// Reads the sensitive names that are added to the built-in ones, each once.
fn names(table: &mut Table<'_>, found: &mut Diagnostics<'_>) -> Arc<[SensitiveName]> {
    let parsed = table.texts("sensitive", found).into_iter().filter_map(|text| {
        let name = text.value.parse::<SensitiveName>();
        let problem = |why| Problem::new(format!("`sensitive` is a list of names: {}: {why}", quoted(text.value)));
        found.ok(text.place, name.map_err(problem))
    });
    parsed.collect::<BTreeSet<_>>().into_iter().collect()
}
