//! What the command line says about itself.

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
