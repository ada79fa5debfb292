//! The documentation lists the one table of sensitive names. `BESTOW_BLESS=1` writes its list anew.

use std::{fmt::Write, fs, path::Path};

use bestow::command::internal::documented_names;

use crate::support::ROOT;

/// The lines around the list.
const BEGIN: &str = "<!-- The test `config::names` compares this list with the table. -->\n\n";
const END: &str = "\n<!-- The end of the list. -->\n";

fn listed() -> String {
    let mut list = "| kind | names | the names come from |\n|---|---|---|\n".to_owned();
    for (kind, from, mut names) in documented_names() {
        names.sort();
        names.dedup();
        let shown: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
        writeln!(list, "| {kind} | {} | {from} |", shown.join(", ")).unwrap();
    }
    list
}

#[test]
fn the_page_lists_every_sensitive_name_with_its_source() {
    let page = Path::new(ROOT).join("docs/agents-toml.md");
    let text = fs::read_to_string(&page).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (found, after) = rest.split_once(END).unwrap();
    if std::env::var_os("BESTOW_BLESS").is_some() {
        return fs::write(&page, [before, BEGIN, &listed(), END, after].concat()).unwrap();
    }
    assert_eq!(found, listed(), "BESTOW_BLESS=1 writes the list");
}
