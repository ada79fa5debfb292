//! The help pages, completions and manual pages: all of them come from one definition.

use std::{fs, path::Path, process::Command};

use super::{bestow, text};
use crate::support::ROOT;

/// Every command, the root first, each with its words: `["audit", "show"]`.
macro_rules! commands {
    () => {{
        let mut definition = bestow_cli::definition();
        definition.build();
        let mut all = vec![(Vec::<String>::new(), definition)];
        let mut next = 0;
        while let Some((words, command)) = all.get(next).cloned() {
            for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
                let words = words.iter().cloned().chain([below.get_name().to_owned()]).collect();
                all.push((words, below.clone()));
            }
            next += 1;
        }
        all
    }};
}

fn page(words: &[String]) -> String {
    let words: Vec<_> = words.iter().map(String::as_str).chain(["--help"]).collect();
    let told = bestow(&words, b"");
    assert_eq!((told.status.code(), text(&told.stderr)), (Some(0), ""), "{words:?}");
    text(&told.stdout).to_owned()
}

#[test]
fn every_command_has_a_page_that_names_its_options_and_the_exit_codes() {
    let all = commands!();
    assert!(all.len() > 35, "{}", all.len());
    for (words, command) in &all {
        let page = page(words);
        let usage = format!("Usage: bestow{}", words.iter().map(|word| format!(" {word}")).collect::<String>());
        assert!(page.contains(&usage), "{page}");
        let shown = command.get_arguments().filter(|argument| !argument.is_hide_set());
        for option in shown.filter_map(|argument| argument.get_long()) {
            assert!(page.contains(&format!("--{option}")), "{words:?} --{option}");
        }
        for code in ["   0  ", "   1  ", "   2  ", "   3  ", "   4  ", "  64  "] {
            assert!(page.contains(code), "{words:?}: {code}");
        }
        let is_long = |line: &&str| line.chars().count() > 100 && !line.starts_with("Usage:");
        assert_eq!(page.lines().find(is_long), None, "{words:?}");
    }
}

#[test]
fn every_command_option_and_value_has_a_description() {
    for (words, command) in commands!() {
        assert!(command.get_about().is_some_and(|about| !about.to_string().is_empty()), "{words:?}");
        for argument in command.get_arguments() {
            let name = argument.get_id();
            let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.len() > 3 && help.starts_with(char::is_uppercase), "{words:?} {name}: {help:?}");
        }
    }
}

/// The words of a command line, as a shell splits them.
fn split(line: &str) -> Vec<String> {
    let script = format!("set -f; for word in {line}; do printf '%s\\n' \"$word\"; done");
    let out = Command::new("sh").args(["-c", &script]).output().unwrap();
    assert!(out.status.success(), "{line}: {}", String::from_utf8_lossy(&out.stderr));
    text(&out.stdout).lines().map(str::to_owned).collect()
}

#[test]
fn the_examples_of_a_page_are_understood() {
    for (words, command) in commands!() {
        let page = page(&words);
        // One that begins with another program pipes into this one.
        let is_call = |line: &&str| line.starts_with("  bestow ") || line.contains(" | bestow ");
        let calls = page.lines().filter(is_call).filter_map(|line| Some(&line[line.find("bestow ")?..]));
        let calls: Vec<_> = calls.filter_map(|call| call.split(" > ").next()?.split(" < ").next()).collect();
        assert!(!calls.is_empty() || command.has_subcommands(), "{words:?} has no example");
        for call in calls {
            let call = split(call);
            assert!(words.is_empty() || call[1..].starts_with(&words), "{words:?}: {call:?}");
            let read = bestow_cli::definition().try_get_matches_from(&call);
            assert!(read.is_ok(), "{call:?}: {}", read.unwrap_err());
        }
    }
}

#[test]
fn the_first_page_lists_every_command_once_under_a_heading() {
    let page = page(&[]);
    for (words, command) in commands!() {
        let [name] = words.as_slice() else { continue };
        let lines: Vec<_> = page.lines().filter(|line| line.starts_with(&format!("  {name} "))).collect();
        assert_eq!(lines.len(), 1, "{name}: {lines:?}");
        assert!(lines[0].ends_with(&command.get_about().unwrap().to_string()), "{lines:?}");
    }
}

#[test]
fn the_documentation_names_only_commands_that_exist() {
    let all = commands!();
    let docs = fs::read_dir(Path::new(ROOT).join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut named = 0;
    for file in docs.chain([Path::new(ROOT).join("README.md")]).filter(|file| file.extension().is_some()) {
        let Ok(text) = fs::read_to_string(&file) else { continue };
        for call in text.split("`bestow ").skip(1) {
            let word: String =
                call.chars().take_while(|letter| letter.is_ascii_lowercase() || *letter == '-').collect();
            if word.is_empty() || word.starts_with('-') {
                continue;
            }
            named += 1;
            assert!(all.iter().any(|(words, _)| words.first() == Some(&word)) || word == "help", "{file:?}: {word}");
        }
    }
    assert!(named > 40, "{named}");
}

#[test]
fn a_completion_script_has_every_command_and_option() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let told = bestow(&["completions", shell], b"");
        let script = text(&told.stdout);
        assert_eq!(told.status.code(), Some(0), "{shell}");
        for (words, command) in commands!() {
            let options = command.get_arguments().filter_map(|argument| argument.get_long());
            for name in words.iter().map(String::as_str).chain(options) {
                assert!(script.contains(name), "{shell}: {words:?} {name}");
            }
        }
    }
    let told = bestow(&["completions", "bsh"], b"");
    assert_eq!(told.status.code(), Some(64));
    assert!(text(&told.stderr).contains("`bsh` does not exist: did you mean `bash`"), "{}", text(&told.stderr));
}

#[test]
fn there_is_a_manual_page_for_every_command() {
    let place = tempfile::tempdir().unwrap();
    let directory = place.path().join("new/man1");
    let told = bestow(&["man", directory.to_str().unwrap()], b"");
    assert_eq!(told.status.code(), Some(0), "{}", text(&told.stderr));
    let mut found: Vec<_> =
        fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    let mut expected = Vec::new();
    for (words, command) in commands!() {
        let name = [&["bestow".to_owned()], words.as_slice()].concat().join("-") + ".1";
        let page = fs::read_to_string(directory.join(&name)).unwrap();
        let about = command.get_about().unwrap().to_string();
        // A hyphen is written with a backslash there.
        assert!(page.replace('\\', "").contains(about.split([':', ',']).next().unwrap()), "{name}");
        expected.push(name);
    }
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
    let in_the_way = place.path().join("file");
    fs::write(&in_the_way, "").unwrap();
    let told = bestow(&["man", in_the_way.to_str().unwrap()], b"");
    assert!(told.status.code() == Some(1) && text(&told.stderr).contains("cannot be written"));
}

/// `BESTOW_BLESS=1` writes the page into the documentation anew.
#[test]
fn the_documentation_shows_the_first_page_as_it_is() {
    let file = Path::new(ROOT).join("docs/command-line.md");
    let written = fs::read_to_string(&file).unwrap();
    let (before, rest) = written.split_once("```text\n").unwrap();
    let (shown, after) = rest.split_once("```").unwrap();
    let page = page(&[]);
    if std::env::var_os("BESTOW_BLESS").is_some() {
        fs::write(&file, format!("{before}```text\n{page}```{after}")).unwrap();
    } else {
        assert_eq!(shown, page);
    }
}
