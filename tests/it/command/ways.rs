//! What a line sets on one way and not on another: a real bash takes the way, and nothing it then runs was called safe.

use std::{path::Path, process::Command};

use bestow::command::{Tier, classify};
use proptest::prelude::*;

/// Whether bash, run on `text` in an empty directory, makes the file `marker`.
fn marks(text: &str) -> bool {
    let directory = tempfile::tempdir().expect("a directory");
    let mut bash = Command::new("timeout");
    bash.args(["2", "bash", "--norc", "-c", text]).current_dir(directory.path());
    bash.env_clear().env("PATH", "/usr/bin:/bin").env("FUNCNEST", "8");
    bash.stdin(std::process::Stdio::null()).output().expect("bash is here");
    Path::exists(&directory.path().join("marker"))
}

const HARMFUL: &str = "-fprint marker";

/// Statements that set `a`, `b` or the parameters, or that use them.
fn statement() -> impl Strategy<Value = String> {
    let values = [HARMFUL, "-print", "-true", "-true", "x-fprint marker"];
    let leaf = prop::sample::select(vec![
        "a='V'",
        "b='V'",
        "a=$b",
        "b=$a",
        "a=$(echo V)",
        "a=$(printf %s 'V')",
        "a=$(false && echo V || echo -true)",
        "set -- V",
        "set -- x V; shift",
        "set -- -true $a",
        "unset a",
        "read -r a <<< 'V'",
        "read a b <<< 'V'",
        "a=(V)",
        "a+=' V'",
        "a=${b#x}",
        "a=${b%y}",
        "a=${a/x/}",
        "a=${b:-V}",
        ": ${b:=V}",
        "a=${a:+V}",
        "a=$1",
        "a=$*",
        "shift",
        "f V",
        "f",
        "g",
        "f() { a='V'; }",
        "f() { a=$1; return; a=-true; }",
        "f() { local a='V'; g; }",
        "g() { b=$a; }",
        "g() { find . -maxdepth 0 $a $b; }",
        "unset -f f",
        "export LANG='V'; a=$LANG",
        "LANG='V' g",
        "local a='V'",
        "declare a='V'",
        "readonly b",
        "trap 'a=V' DEBUG",
        "eval \"a='V'\"",
        "break",
        "continue",
        "return",
        "false",
        "true",
        "find . -maxdepth 0 $a",
        "find . -maxdepth 0 $b",
        "find . -maxdepth 0 $1",
        "find . -maxdepth 0 \"$@\"",
        "find . -maxdepth 0 ${a[@]}",
        "echo V; a=$_",
        "a=$_",
        "cat <<< \"$a\"",
    ]);
    let leaf = (leaf, prop::sample::select(values.to_vec())).prop_map(|(text, value)| text.replace('V', value));
    leaf.prop_recursive(3, 12, 3, |inner| {
        let form = prop::sample::select(vec![
            "X && Y",
            "X || Y",
            "false && X; Y",
            "{ X; Y; }",
            "(X; Y)",
            "if X; then Y; fi",
            "if false; then X; else Y; fi",
            "if true; then X; elif Y; then Z; fi",
            "for a in -true 'x'; do X; Y; done",
            "for b in -true '-fprint marker'; do X; done",
            "for i in 1 2; do X; Y; Z; done",
            "case x in x) X;; y) Y;; esac",
            "case x in x) X;& y) Y;; esac",
            "f() { X; Y; }; f",
            "g() { X; }; Y; g",
            "while [ ${#i} -lt 2 ]; do i=x$i; X; Y; done",
            "X | Y",
            "X & wait; Y",
            "a=$(X); Y",
            "! X; Y",
            "eval 'X'; Y",
        ]);
        (form, inner.clone(), inner.clone(), inner).prop_map(|(form, x, y, z)| {
            let text = form.replace('X', "\u{1}").replace('Y', "\u{2}").replace('Z', "\u{3}");
            text.replace('\u{1}', &x).replace('\u{2}', &y).replace('\u{3}', &z)
        })
    })
}

fn line() -> impl Strategy<Value = String> {
    prop::collection::vec(statement(), 1..5).prop_map(|statements| statements.join("\n"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, max_shrink_iters: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn no_way_through_a_line_writes_a_file_where_the_line_is_safe(
        text in line(),
        end in prop::sample::select(vec!["$a", "$b", "$1", "${a[@]}", "\"$@\"", "$a $b"]),
    ) {
        let text = format!("{text}\nfind . -maxdepth 0 {end}");
        if classify(&text).tier == Tier::Safe {
            prop_assert!(!marks(&text), "{text}");
        }
    }
}
