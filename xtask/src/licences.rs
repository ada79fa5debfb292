//! `cargo xtask licences`: the licences and sources of all dependencies, by the lists of `deny.toml`.
//!
//! `cargo deny check licenses bans sources` reads the same file. This task needs nothing that must be installed.

mod deny;
mod expression;

use std::{collections::BTreeMap, fs};

use super::{
    Outcome, Result,
    workspace::{list, metadata, root, text},
};

/// Checks every dependency of every member, also those for tests.
pub(crate) fn check() -> Result<Outcome> {
    let lists = deny::read(&fs::read_to_string(root().join("deny.toml"))?)?;
    let metadata = metadata()?;
    let members = list(&metadata["workspace_members"]);
    let mut problems = Vec::new();
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in list(&metadata["packages"]) {
        let (name, version) = (text(&package["name"]), text(&package["version"]));
        versions.entry(name).or_default().push(version);
        let licence = text(&package["license"]);
        match expression::is_met(licence, &lists.licences) {
            Ok(true) => {}
            Ok(false) => problems.push(format!("{name} {version}: the licence `{licence}` is not allowed")),
            Err(why) => problems.push(format!("{name} {version}: the licence `{licence}` is not understood: {why}")),
        }
        // A member comes from this directory, and everything else from a registry that the file names.
        let source = package["source"].as_str();
        let is_allowed = match source {
            None => members.contains(&package["id"]),
            Some(source) => lists.registries.iter().any(|registry| source == format!("registry+{registry}")),
        };
        if !is_allowed {
            let source = source.unwrap_or("a directory outside this workspace");
            problems.push(format!("{name} {version}: comes from {source}"));
        }
    }
    let packages = versions.values().map(Vec::len).sum::<usize>();
    versions.retain(|_, versions| versions.len() > 1);
    for (name, versions) in &mut versions {
        versions.sort_unstable();
        println!("{name} is there in {} versions: {}", versions.len(), versions.join(", "));
    }
    if problems.is_empty() {
        return Ok(Outcome::Done(format!("{packages} packages have allowed licences and sources")));
    }
    Err(format!("{}\nthe lists are in deny.toml", problems.join("\n")).into())
}
