//! Lines that shells read differently. Real shells prove each one with a changed file.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use bestow::command::{Classifier, Shell, Tier, classify};

/// The three shells, with the words before a line.
pub(super) const SHELLS: [(&str, &[&str]); 3] =
    [("bash", &["--norc", "-c"]), ("dash", &["-c"]), ("zsh", &["-f", "-c"])];

/// Returns true if the shell, run on `line` in a directory with a few files, creates or changes one.
pub(super) fn changes(shell: &str, words: &[&str], line: &str) -> bool {
    let directory = tempfile::tempdir().expect("a directory");
    let files = || {
        let mut all: Vec<_> = std::fs::read_dir(directory.path())
            .expect("a directory")
            .filter_map(|entry| entry.ok().map(|entry| (entry.file_name(), std::fs::read(entry.path()).ok())))
            .collect();
        all.sort();
        all
    };
    std::fs::write(directory.path().join("a.txt"), "a\n").expect("a file");
    std::fs::create_dir(directory.path().join("d")).expect("a directory");
    let before = files();
    let mut run = Command::new(shell);
    run.args(words).arg(line).current_dir(directory.path()).env_clear().env("PATH", "/usr/bin:/bin");
    run.env("HOME", directory.path()).stdin(Stdio::null()).output().expect("the shell is installed");
    files() != before || Path::exists(&directory.path().join("d/marker"))
}

/// Lines that one of the shells runs as code, although bash does not.
const TRAPS: &[&str] = &[
    "ls *(e:\"touch marker\":)",
    "ls **/*(.e:'touch marker':)",
    "echo $'\\'; touch marker #'",
    "[[ a > marker ]]",
    "[[ a == b && touch ]]",
    "(( touch -- marker ))",
    "echo $[ 1 > marker ]",
    "x='*(e:\"touch marker\":)'; ls $~x",
    "x='-o marker a.txt'; sort $=x",
    "a=(sort -o marker); $a a.txt",
    "declare p=ls; $p touch marker",
    "printf -v p ls; $p touch marker",
    "p=touch; p+=x; $p marker",
    "i=touch; ((i=2)); $i marker",
    "a=(touch marker); $a",
    "a=(sort -o marker a.txt); $a",
    "x='-e 1wmarker'; sed -n $x a.txt",
    "path=$PWD/d ls",
    "[[ a == b || touch == marker ]]",
    "[[ a == b\n|| touch == marker ]]",
    "[[ a =~ (b) && c\n> marker ]]",
    "[[ a ==\n(touch marker)\n]]",
    "[[ -n\nmarker ]]",
    "hash ls=/usr/bin/touch; ls marker",
    "path=/nowhere; ls",
    "functions[ls]='touch marker'; ls",
    "function f {\ntouch marker\n}",
];

#[test]
fn no_line_that_another_shell_runs_otherwise_is_safe() {
    let mut run_by_one = 0;
    for line in TRAPS {
        assert_ne!(classify(line).tier, Tier::Safe, "{line}");
        run_by_one += usize::from(SHELLS.iter().any(|(shell, words)| changes(shell, words, line)));
    }
    assert!(run_by_one >= 12, "the shells run only {run_by_one} of these lines");
}

/// Everyday lines, and syntax that only some shells know.
const EVERYDAY: &[&str] = &[
    "ls -la | head -5",
    "git status 2>&1 | cat",
    "for i in a b c; do echo \"$i\" | cat; done",
    "ls -d */ | while read -r d; do if [[ \"$d\" == *tmp* ]]; then echo \"$d\"; fi; done",
    "[[ -f a.txt ]] && cat a.txt",
    "[[ -f a.txt && -d d ]] && ls d",
    "if [ -f a.txt ]; then cat a.txt; fi",
    "case a in a) ls;; *) cat a.txt;; esac",
    "echo $((1 + 2)) $'x\\ty' \"$HOME\" ~",
    "cat <<'EOF'\ntext\nEOF",
    "cat <<EOF\n$HOME\nEOF",
    "echo {a,b} a{1..3}",
    "cat a.txt &> /dev/null",
    "x=a.txt; cat \"$x\"; echo ${x%.txt} ${x:-y} ${#x}",
    "cat < a.txt; wc -l <a.txt",
    "! grep -q b a.txt",
    "cat <<< text",
    "diff <(ls) <(ls -a)",
    "ls |& cat",
    "time ls",
    "(cd d && ls)",
    "{ ls; ls d; }",
    "echo \"$(ls | wc -l)\" `pwd`",
    "echo a#b; ls # comment",
    "arr=(a b c); echo \"${arr[@]}\" ${#arr[@]}",
    "files=(a.txt d); ls \"${files[@]}\" $files",
    "declare -a l=(a.txt d); for f in \"${l[@]}\"; do cat \"$f\"; done",
    "i=0; ((i++)); ((i+=2)); echo $i",
    "[[ ab =~ ^(a|b)$ ]] && ls",
    "s=a; s+=b; echo \"$s\"",
    "find . -name '*.txt' -not -path './d/*'",
];

/// Every line that is safe without a known shell is run by each of the shells in a directory, where no file may change.
#[test]
fn no_shell_changes_a_file_by_a_safe_line() {
    let known = EVERYDAY.iter().chain(TRAPS).copied();
    let joined = EVERYDAY
        .iter()
        .flat_map(|line| TRAPS.iter().filter(|_| !line.contains('\n')).map(move |trap| format!("{line}; {trap}")));
    let mut safe = 0;
    for line in known.map(str::to_owned).chain(joined) {
        if classify(&line).tier != Tier::Safe {
            continue;
        }
        safe += 1;
        for (shell, words) in SHELLS {
            assert!(!changes(shell, words, &line), "{shell}: {line}");
        }
    }
    assert!(safe >= 15, "{safe}");
}

/// A line that destroys in one of the shells is destructive.
#[test]
fn what_one_shell_destroys_is_destroyed_without_a_known_shell() {
    for line in [
        "declare X=/; rm -rf \"$X\"",
        "typeset -r X=/; rm -rf \"$X\"",
        "X=/; declare X=build; rm -rf \"$X\"",
        "X=/; ((X=5)); rm -rf $X",
        "X=/; X+=x; rm -rf \"$X\"",
        "a=(rm -rf /); $a",
        "a=(rm -rf /); \"${a[@]}\"",
        "a=(x /); rm -rf $a",
        "a='-print -delete'; set -- $a; find . $2",
    ] {
        assert_eq!(classify(line).tier, Tier::Destructive, "{line}");
    }
    for line in ["cmds=('rm -rf /'); printf '%s\\n' \"${cmds[@]}\"", "a=(rm -rf /); echo $a"] {
        assert_eq!(classify(line).tier, Tier::Safe, "{line}");
    }
}

#[test]
fn a_known_shell_makes_its_own_syntax_safe() {
    let tier = |shell: Shell, line: &str| Classifier::default().in_shell(shell).classify(line).tier;
    assert_eq!(tier(Shell::Bash, "[[ a > b ]]"), Tier::Safe);
    assert_eq!(tier(Shell::Zsh, "[[ a > b ]]"), Tier::Safe);
    assert_ne!(tier(Shell::Dash, "[[ a > b ]]"), Tier::Safe);
    for shell in [Shell::Bash, Shell::Dash, Shell::Zsh, Shell::Unknown] {
        assert_eq!(tier(shell, "ls -la | head -5"), Tier::Safe, "{shell}");
        assert_eq!(tier(shell, "rm -rf /"), Tier::Destructive, "{shell}");
    }
    assert_eq!(tier(Shell::Other, "ls"), Tier::Dangerous, "nothing is proven about another shell");
    assert_eq!(tier(Shell::Other, "rm -rf /"), Tier::Destructive);
}
