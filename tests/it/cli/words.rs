//! Tests of the help and of the messages of the command line.

use super::{bestow, text};

#[test]
fn help_names_every_exit_code() {
    for words in [&["--help"][..], &["path", "--help"], &["classify", "--help"]] {
        let told = bestow(words, b"");
        assert_eq!(told.status.code(), Some(0));
        for code in ["   0  ", "   1  ", "   2  ", "   3  ", "  64  "] {
            assert!(text(&told.stdout).contains(code), "{code}");
        }
    }
}

#[test]
fn words_that_make_no_sense_are_a_usage_error_and_print_nothing_on_standard_output() {
    for words in [
        &[][..],
        &["paths"],
        &["path"],
        &["path", "--json"],
        &["path", "--jsonl", "more"],
        &["--jsonl"],
        &["request"],
        &["request", "@network"],
        &["request", "nonsense", "--reason", "x"],
        &["request", "@network", "--reason", "x", "--to", "y"],
        &["grant", "@network", "--reason", "x"],
        &["events", "more"],
    ] {
        let told = bestow(words, b"");
        assert_eq!(told.status.code(), Some(64), "{words:?}");
        assert!(told.stdout.is_empty() && !told.stderr.is_empty(), "{words:?}");
    }
}

/// Runs the program with these arguments on a policy file of its own. Returns the exit code and the output.
fn told_of(words: &[&str]) -> (i32, String) {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("agents.toml");
    let text = "[agents.writer]\nkind = \"foreground\"\nowner = \"you\"\nworking_dir = \"work\"\n";
    std::fs::write(&file, text).unwrap();
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let file = file.to_str().unwrap();
    let words: Vec<_> = words.iter().map(|word| if *word == "FILE" { file } else { word }).collect();
    let told = bestow(&words, b"");
    (told.status.code().unwrap(), text_of(&told).replace(file, "FILE").replace(place.path().to_str().unwrap(), "$DIR"))
}

fn text_of(told: &std::process::Output) -> String {
    format!("{}{}", text(&told.stdout), text(&told.stderr))
}

#[test]
fn an_agent_that_the_file_does_not_have_is_told_with_the_file_and_who_may_be_meant() {
    for command in [
        &["check", "--agent", "wrter", "--config", "FILE", "--command", "ls"][..],
        &["explain", "--agent", "wrter", "--config", "FILE", "--command", "ls"],
        &["exec", "--agent", "wrter", "--config", "FILE", "--", "ls"],
        &["sandbox", "profile", "--agent", "wrter", "--config", "FILE", "--format", "json"],
    ] {
        let expected = "bestow: FILE: agent `wrter` does not exist in this file: did you mean `writer`?\n";
        assert_eq!(told_of(command), (1, expected.to_owned()), "{command:?}");
    }
    let (_, told) = told_of(&["check", "--agent", "nobody", "--config", "FILE", "--command", "ls"]);
    assert!(told.ends_with("in this file: there is `writer`\n"), "{told}");
}

#[test]
fn a_command_without_its_directory_is_told_how_to_make_it() {
    let (code, told) = told_of(&["exec", "--agent", "writer", "--config", "FILE", "--", "true"]);
    let expected = "bestow: `$DIR/work` cannot be a root of a command: it does not exist; run `mkdir -p $DIR/work`\n";
    assert_eq!((code, told.as_str()), (1, expected));
}

#[test]
fn a_word_that_is_no_command_is_told_with_the_one_that_may_be_meant() {
    for (words, expected) in [
        (&["chek"][..], "`bestow` has no command `chek`: did you mean `check`"),
        (&["tasks", "chek"], "`bestow tasks` has no command `chek`: did you mean `check`?"),
        (&["audit", "shw"], "`bestow audit` has no command `shw`: did you mean `show`?"),
        (&["sandbox", "profil"], "`bestow sandbox` has no command `profil`: did you mean `profile`?"),
        (
            &["audit", "x\u{1b}"],
            "`bestow audit` has no command `x\\u{1b}`: there is `show`, `verify`, `head`, `rotate`, `cut`",
        ),
    ] {
        let (code, told) = told_of(words);
        assert!(code == 64 && told.contains(expected), "{words:?}: {told}");
    }
}

#[test]
fn a_value_that_makes_no_sense_is_told_with_its_option() {
    for (words, expected) in [
        (&["check", "--agent", "a", "--tool", "x", "--input", "{to: x}"][..], "`--input`: it is not JSON"),
        (&["check", "--agent", "a b", "--command", "x"], "`--agent`: "),
        (&["exec", "--agent", "a", "--grant", "@nonsense", "--", "x"], "`--grant`: `@nonsense` is not a permission"),
        (&["exec", "--agent", "a", "--grant", "@wrte:/x", "--", "x"], "`@wrte:/x` is not a permission"),
        (&["exec", "--agent", "a", "--grant", "@wrte:/x", "--", "x"], "did you mean `@write`?"),
        (&["exec", "--agent", "a", "--domain", "example.com", "--", "x"], "add `--grant @network`"),
        (&["check", "--agent", "a", "--command", "x", "--needs", "network"], "`--needs`: `network` is not"),
        (&["check", "--agent", "a", "--command", "x", "--needs", "network"], "did you mean `@network`?"),
        (&["why", "a", "@netwrok", "--state", "x"], "did you mean `@network`?"),
        (&["process", "read", "p0", "--state", "x", "--from", "1k"], "`--from`: `1k` is not a whole number"),
        (
            &["sandbox", "profile", "--agent", "a", "--format", "x"],
            "`--format`: `x` does not exist: there is `bwrap`, `srt`",
        ),
        (&["classify", "--profile", "strct", "ls"], "`--profile`: `strct` does not exist: did you mean `strict`?"),
        (&["audit", "show", "--state", "x", "--since", "soon"], "`--since`: "),
        (&["audit", "cut", "--state", "x", "--before", "soon"], "`--before`: `soon` is not a whole number"),
        (&["audit", "cut", "--state", "x"], "`--before` is missing: The first event to set aside"),
    ] {
        let (code, told) = told_of(words);
        assert!(code == 64 && told.contains(expected), "{words:?}: {told}");
    }
}

#[test]
fn check_config_takes_its_file_alone_or_behind_the_option_of_the_other_commands() {
    for words in [&["check-config", "FILE"][..], &["check-config", "--config", "FILE"]] {
        assert_eq!(told_of(words), (0, "FILE: good: 1 agent, 0 rules, 0 tests\n".to_owned()));
    }
    assert_eq!(told_of(&["check-config", "FILE", "--config", "FILE"]).0, 64);
}

#[test]
fn a_misspelt_option_is_named_with_the_one_that_may_be_meant_and_with_the_help_page_of_the_command() {
    for (words, expected, page) in [
        (&["check", "--agnt", "a"][..], "`bestow check` has no option `--agnt`: did you mean `--agent`?", "check"),
        (&["check", "--agent=a", "--comand=ls"], "`bestow check` has no option `--comand`", "check"),
        (&["audit", "verify", "--expct", "x"], "has no option `--expct`: did you mean `--expect`?", "audit verify"),
        (&["deny", "abcdef", "--state", "x", "--write"], "`bestow deny` has no option `--write`", "deny"),
        (&["mode", "a", "paln", "--state", "x"], "`paln` does not exist: did you mean `plan`?", "mode"),
        (&["grants"], "`--state` is missing: The state directory with which the engine was opened", "grants"),
        (
            &["check", "--agent", "a"],
            "one of `--read`, `--write`, `--exec`, `--command`, `--network`, `--tool`",
            "check",
        ),
        (&["check", "--agent", "a", "--tool", "x", "--read", "y"], "exclude each other", "check"),
        (&["check", "--agent", "a", "--agent", "b", "--read", "y"], "`--agent` is given twice", "check"),
        (&["classify", "ls", "pwd"], "takes one command: put it in quotes", "classify"),
        (&["audit"], "`bestow audit` needs a command: there is `show`, `verify`, `head`, `rotate`, `cut`", "audit"),
    ] {
        let (code, told) = told_of(words);
        assert!(code == 64 && told.contains(expected), "{words:?}: {told}");
        assert!(told.ends_with(&format!("try `bestow {page} --help`\n")), "{words:?}: {told}");
    }
    let (code, told) = told_of(&[]);
    assert!(code == 64 && told.contains("needs a command: there is `init`, `check`"), "{told}");
    assert!(told.ends_with("try `bestow --help`\n"), "{told}");
}

#[test]
fn a_value_may_begin_with_a_hyphen_where_it_is_text() {
    let (code, told) = told_of(&["check", "--agent", "writer", "--config", "FILE", "--command", "-x"]);
    assert!(code == 2 && told.contains("`-x`"), "{told}");
    let (code, told) = told_of(&["check", "--agent", "writer", "--config", "FILE", "--read", "-notes"]);
    assert!(code == 0 && told.contains("/-notes`"), "{told}");
}
