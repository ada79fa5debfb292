//! The file as a whole: `[engine]`, `[defaults]`, `[agents.<id>]`.

use std::path::Path;

use toml::de::DeTable;

use super::{
    ConfigError, PolicyText, Problem,
    absolute::Base,
    agents::{self, Common, Draft},
    finding::Findings,
    guard, protected, settings,
    table::Table,
};
use crate::model::{Policy, Settings};

/// A file without agents is refused: an interrupted save must not take every right away.
const SMALLEST: &str = "the smallest file is \
    `agents.lead = { kind = \"foreground\", owner = \"you\", working_dir = \"workspace\" }`";

/// Understands the text of a policy file.
pub(super) fn policy(text: &PolicyText) -> Result<Policy, ConfigError> {
    let mut found = Findings::new(text);
    let utf8 = match std::str::from_utf8(&text.bytes) {
        Ok(utf8) => utf8,
        Err(error) => {
            found.add(error.valid_up_to(), Problem::new("the file is not UTF-8 from here on"));
            return Err(found.told());
        }
    };
    let (document, errors) = DeTable::parse_recoverable(utf8);
    if !errors.is_empty() {
        // What is missing from a half-written file is not missing: only the syntax is worth telling.
        for error in errors {
            let offset = error.span().map_or(utf8.len(), |span| span.start);
            found.add(offset, Problem::new(format!("this is not TOML: {}", error.message())));
        }
        return Err(found.told());
    }
    let directory = text.trail.real.parent().unwrap_or(Path::new("/"));
    let home = text.home.as_ref().and_then(|home| found.general(protected::sanitized(home, "the home directory")));
    let base = Base { directory, home: home.as_ref() };
    let mut root = Table::new("the file", document.get_ref());
    let settings = engine(&mut root, base, text, &mut found);
    let drafts = drafts(&mut root, base, &mut found);
    root.finish(&mut found);
    guard::check(&drafts, &text.trail, &mut found);
    let agents = drafts.into_iter().filter_map(|draft| draft.policy(&found)).collect();
    found.unless_any(Policy { settings, agents })
}

fn engine(root: &mut Table<'_>, base: Base<'_>, text: &PolicyText, found: &mut Findings<'_>) -> Settings {
    let (settings, added) = match root.table("engine", found) {
        Some(entries) => settings::read(Table::new("`[engine]`", entries), base, found),
        None => (Settings::default(), Vec::new()),
    };
    let own = found.general(protected::own(&text.trail)).unwrap_or_default();
    Settings { protected: protected::list(base.home, added, own), ..settings }
}

fn drafts(root: &mut Table<'_>, base: Base<'_>, found: &mut Findings<'_>) -> Vec<Draft> {
    let defaults = root.table("defaults", found).map(|entries| {
        let mut table = Table::new("`[defaults]`", entries);
        let common = Common::read(&mut table, base, found);
        table.finish(found);
        common
    });
    let defaults = defaults.unwrap_or_default();
    let written = root.has("agents");
    let agents = root.table("agents", found);
    if !written || agents.is_some_and(|agents| agents.is_empty()) {
        found.add_general(Problem::new("the file names no agent").help(SMALLEST));
    }
    let agents = agents.into_iter().flatten();
    agents.filter_map(|(key, value)| agents::read(key, value, &defaults, base, found)).collect()
}
