//! Tests of the measurable part of the English rule: how comments begin, which names are gone, how long lines are.

use std::{fs, path::Path};

use crate::support::ROOT;

/// The first words that a doc comment must not have. It begins with a noun phrase or a verb.
const OPENINGS: [&str; 17] = [
    "What",
    "Whether",
    "Who",
    "Whoever",
    "Whatever",
    "How",
    "Where",
    "When",
    "Why",
    "Which",
    "That",
    "Nothing",
    "Nobody",
    "Everybody",
    "Everything",
    "Anybody",
    "The same",
];

/// The names that have a standard term instead. `docs/glossary.md` has the terms.
const GONE: [&str; 21] = [
    "struct Considered",
    "struct Judgement",
    "struct Heard",
    "struct Mentions",
    "struct KeptFrom",
    "struct Shown",
    "struct Keeping",
    "struct Mailbox",
    "struct Attendance",
    "struct Rehearsal",
    "struct Holding",
    "struct Ruling",
    "struct Doing",
    "struct Ask",
    "struct Glance",
    "struct Scribe",
    "struct WayOut",
    "enum ToPerson",
    "enum Want",
    "mod edge",
    "mod seam",
];

/// Calls `check` for every line of Rust in the repository, with its place.
fn each_line(mut check: impl FnMut(&str, &str, Option<&str>)) {
    let mut files = 0;
    for folder in ["src", "crates", "tests", "examples", "benches", "fuzz"] {
        each_file(&Path::new(ROOT).join(folder), &mut |path, text| {
            files += 1;
            let mut before = None;
            for (number, line) in text.lines().enumerate() {
                check(&format!("{}:{}", path.display(), number + 1), line, before);
                before = Some(line);
            }
        });
    }
    assert!(files > 500, "{files} files were read");
}

fn each_file(directory: &Path, read: &mut impl FnMut(&Path, &str)) {
    for entry in fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() && !entry.ends_with("target") {
            each_file(&entry, read);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            read(&entry, &fs::read_to_string(&entry).unwrap());
        }
    }
}

/// Returns the text of a doc comment.
fn doc(line: &str) -> Option<&str> {
    let line = line.trim_start();
    line.strip_prefix("///").or_else(|| line.strip_prefix("//!")).map(str::trim)
}

fn begins_with(text: &str, word: &str) -> bool {
    text.strip_prefix(word).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
}

#[test]
fn a_doc_comment_begins_with_its_subject_or_a_verb() {
    let (mut wrong, mut begun) = (Vec::new(), 0);
    each_line(|place, line, before| {
        let Some(text) = doc(line).filter(|_| before.and_then(doc).is_none()) else { return };
        begun += 1;
        if OPENINGS.iter().any(|word| begins_with(text, word)) {
            wrong.push(format!("{place}: {text}"));
        }
    });
    assert!(begun > 3000, "{begun} doc comments were read");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_line_is_longer_than_120_columns() {
    let mut wrong = Vec::new();
    each_line(|place, line, _| {
        if line.chars().count() > 120 {
            wrong.push(place.to_owned());
        }
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_private_name_comes_back() {
    let mut wrong = Vec::new();
    each_line(|place, line, _| {
        let names = GONE.iter().filter(|name| {
            let declared = line.split_once(**name).filter(|(before, _)| !before.contains('"'));
            declared.is_some_and(|(_, rest)| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
        });
        wrong.extend(names.map(|name| format!("{place}: {name}")));
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the name that a line of an implementation of `Debug` writes for its type.
fn debug_name(line: &str) -> Option<&str> {
    let starts = ["debug_struct(\"", "debug_tuple(\"", "write!(f, \"", "write_str(\""];
    let text = starts.iter().find_map(|start| line.split_once(start)).map(|(_, text)| text)?;
    let end = text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len());
    text.get(..end).filter(|name| !name.is_empty())
}

#[test]
fn a_debug_text_begins_with_the_name_of_its_type() {
    let (mut wrong, mut read, mut of) = (Vec::new(), 0, None::<String>);
    each_line(|place, line, before| {
        if before.is_none() || line == "}" {
            of = None;
        }
        if let Some((_, name)) = line.split_once("Debug for ").filter(|(start, _)| start.starts_with("impl")) {
            let name = name.trim_start_matches("dyn ");
            of = name.split(|c: char| !c.is_alphanumeric()).next().map(str::to_owned);
            return;
        }
        let is_builder = line.contains("debug_struct(\"") || line.contains("debug_tuple(\"");
        let Some(name) = debug_name(line).filter(|_| of.is_some() || is_builder) else { return };
        read += 1;
        if of.as_deref() != Some(name) {
            wrong.push(format!("{place}: {name}"));
        }
    });
    assert!(read > 10, "{read} texts were read");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
