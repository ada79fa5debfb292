//! `[engine]`: the settings.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use super::{
    Problem,
    absolute::Base,
    finding::{Findings, quoted},
    table::Table,
};
use crate::model::{Interaction, OnNoUser, Reads, SanitizedPath, SensitiveName, Settings, Verdict, Widening};

const READS: [(&str, Reads); 2] = [("anywhere", Reads::Anywhere), ("granted", Reads::Granted)];
const INTERACTION: [(&str, Interaction); 2] =
    [("interactive", Interaction::Interactive), ("noninteractive", Interaction::NonInteractive)];
const DEFAULT_VERDICT: [(&str, Verdict); 2] = [("ask", Verdict::Ask), ("deny", Verdict::Deny)];
const ON_NO_USER: [(&str, OnNoUser); 2] = [("queue", OnNoUser::Queue), ("deny", OnNoUser::Deny)];

/// The settings of the table, and the paths it adds to the protected ones. What is not written keeps its default.
pub(super) fn read(mut table: Table<'_>, base: Base<'_>, found: &mut Findings<'_>) -> (Settings, Vec<SanitizedPath>) {
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
        protected: start.protected,
        commands: start.commands,
        sensitive: names(&mut table, found),
    };
    let written = table.texts("protected", found);
    let protected = written.into_iter().filter_map(|text| found.ok(text.offset, base.path(text.value))).collect();
    table.finish(found);
    (settings, protected)
}

/// The names that are sensitive besides the built-in ones, each once.
fn names(table: &mut Table<'_>, found: &mut Findings<'_>) -> Arc<[SensitiveName]> {
    let parsed = table.texts("sensitive", found).into_iter().filter_map(|text| {
        let name = text.value.parse::<SensitiveName>();
        let problem = |why| Problem::new(format!("`sensitive` takes names: {}: {why}", quoted(text.value)));
        found.ok(text.offset, name.map_err(problem))
    });
    parsed.collect::<BTreeSet<_>>().into_iter().collect()
}
