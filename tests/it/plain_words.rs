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
const GONE: [&str; 24] = [
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
    "right: PinnedPermission",
    "rights: Vec",
    "rights: &",
];

/// Phrases of earlier texts that made a reader guess. No text for people may contain them. Each is a whole word or
/// several.
const PHRASES: [&str; 16] = [
    "nobody",
    "anybody",
    "somebody",
    "whoever",
    "what is to be done",
    "come to stand",
    "leave to",
    "may not fs.",
    "itself: it can ask",
    "says yes",
    "says no",
    "said yes",
    "said no",
    "is over already",
    "there is no ruling",
    "any right",
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

/// Returns the string literals of a source file, each with its line. Comments and characters are skipped.
fn literals(source: &str) -> Vec<(usize, String)> {
    let (mut rest, mut found) = (source, Vec::new());
    while let Some(at) = rest.find(['"', '\'', '/']) {
        let start = source.len() - rest.len() + at;
        let raw = source[..start].bytes().rev().take_while(|byte| *byte == b'#').count();
        let is_raw = source[..start - raw].ends_with('r');
        rest = &rest[at..];
        if rest.starts_with("//") {
            rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
        } else if let Some(literal) = rest.strip_prefix('"') {
            let end = if is_raw {
                literal.find(&format!("\"{}", "#".repeat(raw)))
            } else {
                let mut is_escaped = false;
                literal.find(|c| {
                    let is_end = c == '"' && !is_escaped;
                    is_escaped = c == '\\' && !is_escaped;
                    is_end
                })
            };
            let end = end.expect("a literal ends");
            let words: Vec<_> = literal[..end].split(|c: char| c.is_whitespace() || c == '\\').collect();
            let line = source[..start].matches('\n').count() + 1;
            found.push((line, words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")));
            rest = &literal[end + 1..];
        } else {
            let is_character = rest.starts_with("'\"'") || rest.starts_with("'\\") || rest.starts_with("'/'");
            rest = if is_character { &rest[rest[2..].find('\'').map_or(1, |end| end + 3)..] } else { &rest[1..] };
        }
    }
    found
}

fn has_phrase(text: &str, phrase: &str) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    text.match_indices(phrase).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + phrase.len()..]);
        !is_word(before.chars().next_back()) && (phrase.ends_with('.') || !is_word(after.chars().next()))
    })
}

#[test]
fn no_text_for_people_has_an_old_phrase() {
    let (mut wrong, mut read) = (Vec::new(), 0);
    for folder in ["src", "crates"] {
        each_file(&Path::new(ROOT).join(folder), &mut |path, source| {
            let path = path.strip_prefix(ROOT).unwrap();
            let is_test = path.components().any(|part| part.as_os_str().to_string_lossy().starts_with("tests"));
            if is_test {
                return;
            }
            for (line, text) in literals(source) {
                read += 1;
                let text = text.to_lowercase();
                let found = PHRASES.iter().filter(|phrase| has_phrase(&text, phrase));
                wrong.extend(found.map(|phrase| format!("{}:{line}: {phrase}", path.display())));
            }
        });
    }
    assert!(read > 3000, "{read} literals were read");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_literal_is_found_in_every_form_of_writing() {
    let source =
        "// \"not\"\nlet a = \"Nobody \\\n    knows\"; let b = '\"'; let c = r#\"any \"right\"#; let d = b'\\'';";
    let found = literals(source);
    assert_eq!(found, [(2, "Nobody knows".to_owned()), (3, "any \"right".to_owned())]);
    assert!(has_phrase("nobody knows", "nobody") && !has_phrase("nobodys", "nobody"));
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
