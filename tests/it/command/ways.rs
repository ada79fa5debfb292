//! Tests of a line that sets a variable on one execution path and not on another. A real bash runs the line, and a safe
//! line never writes.

use std::{path::Path, process::Command};

use bestow::command::{Tier, classify};
use proptest::prelude::*;

/// Returns true if bash, run on `text` in an empty directory, creates the file `marker`.
fn marks(text: &str) -> bool {
    let directory = tempfile::tempdir().expect("a directory");
    let mut bash = Command::new("timeout");
    bash.args(["2", "bash", "--norc", "-c", text]).current_dir(directory.path());
    bash.env_clear().env("PATH", "/usr/bin:/bin").env("FUNCNEST", "8");
    bash.stdin(std::process::Stdio::null()).output().expect("bash is here");
    Path::exists(&directory.path().join("marker"))
}

const HARMFUL: &str = "-fprint marker";

/// Generates statements that set or use `a`, `b` or the parameters.
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
    #![proptest_config(ProptestConfig {
        cases: crate::support::cases(400),
        max_shrink_iters: 2_000,
        ..ProptestConfig::default()
    })]

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

#[test]
fn a_variable_that_decides_what_runs_is_set_in_no_way_unseen() {
    let ways = [
        "unset PATH",
        "PATH=.",
        "PATH+=:.",
        "export PATH=.",
        "declare PATH=.",
        "declare -x PATH=.",
        "typeset PATH=.",
        "local PATH=.",
        "readonly PATH=.",
        "read PATH <<< .",
        "read -r a PATH <<< 'x .'",
        "printf -v PATH .",
        "for PATH in .; do :; done",
        "select PATH in .; do :; done < f",
        "mapfile PATH < f",
        "getopts a PATH",
        ": ${PATH:=x}",
        ": ${PATH=x}",
        "let PATH=1",
        "((PATH=1))",
        "((PATH++))",
        ": $((PATH=1))",
        ": $[PATH=1]",
        "a[PATH=1]=x",
        ": ${a[PATH=1]}",
        "[[ PATH=1 -eq 1 ]]",
        "x=PATH=1; ((x))",
        "x=y; y=PATH=1; ((x))",
        "x=PATH=1; a[x]=1",
        "declare -n r=PATH; r=.",
        "coproc PATH { :; }",
        "exec {PATH}>/dev/null",
        "wait -p PATH",
        "eval PATH=.",
        "builtin read PATH <<< .",
        "command export PATH=.",
        "f() { PATH=.; }; f",
        "trap 'PATH=.' DEBUG",
        "false || PATH=.",
        "case x in x) PATH=.;; esac",
        "shopt -s expand_aliases",
        "alias ls=./x",
        "enable -f x ls",
        "hash -p ./x ls",
        "set -a",
        "BASH_ENV=x",
        "ENV=x",
        "LD_PRELOAD=x",
        "export LD_PRELOAD=x",
        "IFS=x",
        "unset IFS",
    ];
    for way in ways {
        let text = format!("{way}; ls");
        assert!(classify(&text).tier > Tier::Safe, "{text}");
    }
}

#[test]
fn a_definition_makes_no_program_safer() {
    let definitions = [
        "NAME() { :; }",
        "false && NAME() { :; }",
        "(NAME() { :; })",
        "if false; then NAME() { :; }; fi",
        "NAME() { :; }; unset -f NAME",
        "NAME() { :; }; unset NAME",
        "eval 'NAME() { :; }'",
        "true | NAME() { :; }",
        "f() { NAME() { :; }; }; f",
        "f() { NAME() { :; }; }",
        "while false; do NAME() { :; }; done",
        "function NAME { :; }",
        "NAME() { :; }; NAME() { :; }",
        "bash -c 'NAME() { :; }'",
        "case x in y) NAME() { :; };; esac",
    ];
    for (name, call) in [
        ("rm", "rm -rf /"),
        ("eval", "eval 'rm -rf /'"),
        ("exec", "exec rm -rf /"),
        ("command", "command rm -rf /"),
        ("cd", "cd /; rm -rf *"),
        ("sudo", "sudo ls"),
        ("find", "find / -delete"),
        ("builtin", "builtin eval 'rm -rf /'"),
    ] {
        for definition in definitions {
            let text = format!("{}; {call}", definition.replace("NAME", name));
            assert_eq!(classify(&text).tier, Tier::Destructive, "{text}");
        }
    }
    for text in ["./x() { :; }; ./x", "a/b() { :; }; a/b", "f() { f; }; f", "g; g() { :; }"] {
        assert!(classify(text).tier > Tier::Safe, "{text}");
    }
    assert_eq!(classify("greet() { echo hello; }; greet").tier, Tier::Safe);
}

#[test]
fn a_pattern_that_may_find_an_option_is_not_safe() {
    for text in ["shopt -s extglob\nsort !(x)", "sort *", "sort ?o", "sort [-]o", "for f in *; do sort $f; done"] {
        assert!(classify(text).tier > Tier::Safe, "{text}");
    }
    // A name with blanks is several words: `src/a -o b`.
    assert!(classify("for f in src/*; do sort $f; done").tier > Tier::Safe);
    assert_eq!(classify(r#"for f in src/*; do sort "$f"; done"#).tier, Tier::Safe);
}

#[test]
fn what_sh_reads_otherwise_than_bash_is_not_safe_in_sh() {
    for (text, worst) in [
        ("sh -c '((find . -fprint marker))'", Tier::Dangerous),
        ("sh -c '((rm -rf /))'", Tier::Destructive),
        ("sh -c '[[ a || rm -rf / ]]'", Tier::Destructive),
        ("((rm -rf /))", Tier::Destructive),
        ("[[ -f x || find . -delete ]]", Tier::Dangerous),
        (r#"sh -c 'echo "a\nrm -rf /" | sh'"#, Tier::Destructive),
        (r#"sh -c 'echo "rm -rf /\c x" | sh'"#, Tier::Destructive),
        (r#"sh -c "echo \$'a\\' ; rm -rf / #'""#, Tier::Destructive),
        ("sh <<< 'function f { ls; }'", Tier::Dangerous),
        ("zsh -c '=ls'", Tier::Dangerous),
        ("zsh -c 'ls *(e:ls:)'", Tier::Dangerous),
        ("fish -c 'ls (rm x)'", Tier::Dangerous),
        ("pwsh -c ls", Tier::Dangerous),
    ] {
        assert!(classify(text).tier >= worst, "{text}");
    }
    let same =
        ["sh -c 'ls -la | wc -l'", "zsh -lc 'git status && ls'", "sh -c 'echo $((1+2))'", "bash -c '[[ -f x ]] && ls'"];
    for text in same {
        assert_eq!(classify(text).tier, Tier::Safe, "{text}");
    }
}
