//! Tests that the README is correct: its quick start is the example, the example runs, and its links exist.

use std::{fs, path::Path};

use crate::support::ROOT;

fn text(file: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(file)).unwrap()
}

fn block<'t>(readme: &'t str, language: &str) -> &'t str {
    let after = readme.split_once(&format!("```{language}\n")).unwrap().1;
    after.split_once("```").unwrap().0
}

#[test]
fn the_quick_start_is_the_example() {
    assert!(text("examples/quickstart.rs").ends_with(block(&text("README.md"), "rust,no_run")));
}

#[cfg(feature = "config")]
#[test]
fn the_quick_start_runs_on_the_file_beside_it() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("agents.toml");
    fs::write(&file, block(&text("README.md"), "toml")).unwrap();
    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let mut run = std::process::Command::new(crate::support::example("quickstart"));
    let out = run.current_dir(place.path()).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    assert_eq!(String::from_utf8_lossy(&out.stdout), "granted @network (session), by ann (terminal)\n");
}

#[test]
fn every_link_to_a_file_leads_to_one() {
    let docs = fs::read_dir(Path::new(ROOT).join("docs")).unwrap();
    let docs = docs.map(|entry| format!("docs/{}", entry.unwrap().file_name().into_string().unwrap()));
    for file in docs.filter(|file| file.ends_with(".md")).chain(["README.md".to_owned()]) {
        let place = Path::new(ROOT).join(&file);
        for link in text(&file).split("](").skip(1).filter_map(|rest| rest.split(')').next().map(str::to_owned)) {
            let target = link.split('#').next().unwrap();
            let outside = target.is_empty() || target.contains("://");
            assert!(outside || place.parent().unwrap().join(target).exists(), "{file} links to {link}");
        }
    }
}

/// Returns the Rust blocks of a page, without blank lines.
fn lines_of_blocks(page: &str) -> Vec<String> {
    let blocks = page.split("```rust\n").skip(1).filter_map(|rest| rest.split("```").next());
    blocks.flat_map(str::lines).filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[test]
fn the_steps_of_the_embedding_guide_are_the_example() {
    let program = text("examples/embedding.rs");
    let lines = program.lines().filter(|line| !line.is_empty() && !line.starts_with("//!"));
    assert_eq!(lines_of_blocks(&text("docs/embedding.md")), lines.collect::<Vec<_>>());
}
