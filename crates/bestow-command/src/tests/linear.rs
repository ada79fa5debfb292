//! The work that generated lines take. It grows with the length of the line, and not faster.

use crate::{classify, evaluator::Programs, interpreter::Interpreter, rules::Rules, syntax};

/// The length of a line, in bytes. A line of more than 64 KiB is not parsed.
const LENGTH: usize = 64_000;
/// The limit of the work of a line, as a multiple of the work of plain commands of the same length.
const MOST: usize = 30;
/// The most work of a line of commands in commands, as a multiple of the work of a plain line of its length.
const MOST_INSIDE: usize = 10;
/// Each nesting is repeated at this depth, which the interpreter follows.
const DEPTH: usize = 12;

/// The beginning and the repeated part of a line, and its end. `#` is the number of the repetition.
type Family = (String, String, String);

/// Returns the families of lines: commands, words of one command, and nestings.
fn families() -> Vec<Family> {
    let commands = COMMANDS.iter().map(|unit| (String::new(), (*unit).to_owned(), String::new()));
    let words = WORDS.iter().map(|(head, unit)| ((*head).to_owned(), (*unit).to_owned(), end(head).to_owned()));
    let deep = NESTINGS.iter().map(|(open, middle, close)| {
        let count = LENGTH / (open.len() + close.len());
        (format!("{}{middle}{}", open.repeat(count), close.repeat(count)), String::new(), String::new())
    });
    let repeated = NESTINGS.iter().map(|(open, middle, close)| {
        let unit = format!("{}{middle}{}; ", open.repeat(DEPTH), close.repeat(DEPTH));
        (String::new(), unit, String::new())
    });
    commands.chain(words).chain(deep).chain(repeated).collect()
}

/// Returns the text that closes what `head` opens.
fn end(head: &str) -> &'static str {
    match head {
        head if head.ends_with('\'') => "'",
        head if head.ends_with("do ") => "done",
        head if head.ends_with("{ ") => "}",
        head if head.contains("<<") => "\nE\n",
        "a=(" => ")",
        "echo $((" => "1))",
        "case x in " => "esac",
        "for x in " => "; do ls; done",
        "echo {a" => "}",
        _ => "",
    }
}

/// Returns a line of the family with about `length` bytes.
fn line((head, unit, end): &Family, length: usize) -> String {
    let mut line = head.clone();
    let mut number = 0;
    while line.len() < length && !unit.is_empty() {
        line += &unit.replace('#', &number.to_string());
        number += 1;
    }
    line + end
}

/// Returns the work of parsing and following a line.
fn work(line: &str) -> usize {
    let parsed = syntax::parse(line);
    let rules = Rules::default();
    let programs = Programs::new(&rules);
    let mut interpreter = Interpreter::new(&programs, line);
    interpreter.run_script(&parsed, None);
    interpreter.budget.work() + syntax::steps(line)
}

fn name(family: &Family) -> String {
    format!("{}{}", family.0, family.1).chars().take(40).collect()
}

#[test]
fn the_work_of_a_line_grows_with_its_length_and_not_faster() {
    let plain = work(&line(&(String::new(), "ls -la src/lib#.rs; ".into(), String::new()), LENGTH));
    let (mut wrong, mut most) = (Vec::new(), 0);
    for family in families() {
        let (short, long) = (work(&line(&family, LENGTH / 4)), work(&line(&family, LENGTH)));
        most = most.max(long);
        if long > MOST * plain {
            wrong.push(format!("{}: {} times a plain line", name(&family), long / plain));
        }
        // Four times the length, and something for each line.
        if long > 5 * short + 50_000 {
            wrong.push(format!("{}: {short}, then {long}", name(&family)));
        }
    }
    assert!(plain > 0 && most > 2 * plain, "the families differ in their work: {most} and {plain}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Checks shorter lines of commands in commands: in a long line, a limit may hide work that multiplies.
#[test]
fn commands_in_commands_take_little_work_in_a_short_line_too() {
    let plain: Family = (String::new(), "ls -la src/lib#.rs; ".into(), String::new());
    let inside = families().into_iter().filter(|(head, unit, _)| head.is_empty() && !unit.contains(';'));
    let (mut wrong, mut tried) = (Vec::new(), 0);
    for family in inside {
        for length in [500, 1_000, 2_500, 10_000] {
            let (least, most) = (work(&line(&plain, length)), work(&line(&family, length)));
            tried += 1;
            if most > MOST_INSIDE * least {
                wrong.push(format!("{}: {} times a plain line of {length} bytes", name(&family), most / least));
            }
        }
    }
    assert!(tried > 40, "{tried}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_destroys_behind_a_long_line_is_found() {
    let mut wrong = Vec::new();
    for unit in COMMANDS {
        let line = line(&(String::new(), (*unit).to_owned(), String::new()), LENGTH / 8);
        // An open construct or a comment makes the rest a part of it.
        let text = format!("{line}\nrm -rf /");
        if !unit.contains("if true; then ") && classify(&text).tier < crate::Tier::Destructive {
            wrong.push(unit);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Commands, each of which is repeated.
const COMMANDS: &[&str] = &[
    "ls -la src/lib#.rs; ",
    "cat file# ",
    "word# ",
    "a=1 && b=2 && ",
    "a#=1 && ",
    "a#=b#; ",
    "a#=$a#; ",
    "a=$a$a; ",
    "a+=x; ",
    "a+=(x#); ",
    "a# || ",
    "[ x ] && cd a# || cd b#; ",
    "cd a#; cat f; ",
    "cd a# && cat f && ",
    "pushd a#; ",
    "cat | ",
    "grep x# | ",
    "sort | uniq | ",
    "if true; then ls; fi; ",
    "if true; then ",
    "while read x; do echo $x; done; ",
    "for x in a b c; do echo $x; done; ",
    "for f in *; do cat \"$f\"; done; ",
    "for x# in {1..60}; do echo $x#; done; ",
    "case $x in a) ls;; b) cat f;; esac; ",
    "f#() { ls; }; ",
    "f#() { ls; }; f#; ",
    "f#() { f$(( 1 )); }; ",
    "echo $(ls); ",
    "echo `ls`; ",
    "echo $((1+#)); ",
    "((x#=x#+1)); ",
    "let x#=y#+1; ",
    "cat <<E#\nhello $x\nE#\n",
    "cat <<< \"$x#\"; ",
    "ls > f#; ",
    "cat < f#; ",
    "a[#]=x; ",
    "echo ${a[#]}; ",
    "echo {a,b,c}; ",
    "echo {1..50}; ",
    "echo {a,{b,{c,d}}}; ",
    "echo ${x#y#}; ",
    "echo ${x#:-y}; ",
    "echo ${x//a/b}; ",
    "ls ~/a#; ",
    "ls *.txt; ",
    "ls @(a|b); ",
    "echo \"a'b\" 'c\"d'; ",
    "echo \"$HOME/$x#\"; ",
    "# comment #\n",
    "ls\n",
    "ls & ",
    "find . | xargs rm; ",
    "find . -exec rm {} \\; ; ",
    "parallel rm ::: a b; ",
    "sh -c 'ls'; ",
    "eval 'ls'; ",
    "trap 'ls' EXIT; ",
    "sudo ls; ",
    "docker run -v /:/h x rm -rf /h; ",
    "ssh host ls; ",
    "python3 -c 'print(1)'; ",
    "sed -n 's/a/b/p' f; ",
    "awk '{print $1}' f; ",
    "psql -c 'select 1'; ",
    "git log --oneline -#; ",
    "npm view x#; ",
    "curl https://h#.com/x; ",
    "foo# bar baz; ",
    "foo# rm x; ",
    "[ -f f# ]; ",
    "[[ $x == y# ]]; ",
    "alias a#='ls'; ",
    "export A#=b; ",
    "export PATH=a#:$PATH; ",
    "set -- a b c; ",
    "shift; ",
    "unset x#; ",
    "read x#; ",
    "declare -a x#=(a b); ",
    "local x=#; ",
    "mapfile -t a# < f; ",
    "echo x | tee f#; ",
    "echo ls > s#.sh; bash s#.sh; ",
    "source f#; ",
    "printf '%s' a#; ",
    "env A=b ls; ",
    "timeout 1 ls; ",
    "watch ls; ",
    "kubectl get pods -n x#; ",
    "gh pr list; ",
    "time ls; ",
    "! ls; ",
    "cat <(ls); ",
    "coproc ls; ",
    "select x in a; do ls; done; ",
    "echo x > /dev/null; ",
    "ls 2>&1; ",
];

/// Beginnings of a command, and the words that are repeated after each.
const WORDS: &[(&str, &str)] = &[
    ("sed '", "s/a#/b/;"),
    ("sed -n '", "#p;"),
    ("sed '", "s/a/b/"),
    ("sed ", "-e s/a/b/ "),
    ("awk '", "{print $#} "),
    ("awk '", "x#=1;"),
    ("find . ", "-name a# -o "),
    ("find . ", "-exec ls {} ; "),
    ("find a b c ", "-exec rm {} \\; "),
    ("make ", "-C a "),
    ("make ", "-C a# "),
    ("foo ", "-C a# b# "),
    ("git ", "-c a=b "),
    ("git ", "-C a# "),
    ("", "xargs "),
    ("", "parallel "),
    ("", "env "),
    ("", "timeout 1 "),
    ("", "sudo "),
    ("", "nice "),
    ("", "sh -c "),
    ("", "eval "),
    ("", "find . -exec "),
    ("rm ", "a# "),
    ("rm -rf ", "a#/b "),
    ("ls ", "*# "),
    ("ls ", "$x# "),
    ("ls ", "\"$x#\" "),
    ("echo ", "'a b' "),
    ("foo ", "bar# "),
    ("foo ", "rm # "),
    ("python3 -c '", "print(#);"),
    ("python3 -c '", "f(\"a b #\");"),
    ("docker run ", "-v /a#:/b# "),
    ("docker run ", "-v /:/b# "),
    ("tar cf x ", "-C d# f# "),
    ("curl ", "https://h#.com "),
    ("curl ", "-H 'a: #' "),
    ("psql -c '", "select #;"),
    ("a=(", "x# "),
    ("echo {a", ","),
    ("echo ", "{a,b}"),
    ("echo ", "{"),
    ("echo ", "$"),
    ("echo ", "`"),
    ("echo ", "("),
    ("echo ", "~"),
    ("foo ", "a#=b "),
    ("foo ", "-"),
    ("foo ", "-x# "),
    ("ssh host ", "ls; "),
    ("kubectl exec x -- ", "ls "),
    ("", "docker exec "),
    ("", "docker exec sh -c "),
    ("", "kubectl exec x -- sh -c "),
    ("", "npm exec tmux new "),
    ("", "ssh h git bisect run "),
    ("git bisect run ", "ls "),
    ("npm ", "--x# "),
    ("grep ", "-e a# "),
    ("jq '", "."),
    ("[ ", " a -o "),
    ("[[ ", " a || "),
    ("case x in ", "a#) ls;; "),
    ("for x in ", "a# "),
    ("for x in {1..60}; do ", "echo $x; "),
    ("for x in {1..60}; do ", "cd $x; "),
    ("while read x; do ", "rm $x; "),
    ("f() { ", "ls; "),
    ("cat <<E\n", "line # $x\n"),
    ("bash <<E\n", "ls #\n"),
    ("cat <<'E'\n", "line # $x\n"),
    ("cat ", "<<E# "),
    ("ls ", "> f# "),
    ("cat ", "< f# "),
    ("ls ", "2>&1 "),
    ("set -- ", "a# "),
    ("set -- a; echo ", "$@ "),
    ("printf ", "%s "),
    ("echo -e '", "\\n"),
    ("read ", "x# "),
    ("export ", "A#=b "),
    ("declare ", "A#=b "),
    ("unset ", "A# "),
    ("echo $((", "1+"),
    ("echo $((", "x#+"),
    ("echo ", "\\"),
    ("echo ", "\\\n"),
    ("", "drop # "),
    ("ruby -e '", "system(\"ls\");"),
    ("perl -e '", "unlink <a#>;"),
    ("vim -c '", "!ls |"),
    ("mysql -e '", "\\! ls;"),
    ("sqlite3 db '", ".shell ls\n"),
    ("echo '", "* * * * * ls\n"),
    ("at now <<< '", "ls;"),
    ("IFS=x; echo ", "$x# "),
    ("docker rm ", "$(docker ps -q) "),
    ("echo ", "$(ls) "),
    ("cat ", "<(ls) "),
    ("echo ", "${x%/*}"),
    ("echo ", "${x:-$y}"),
    ("echo ", "${a[@]} "),
];

/// Beginnings, middles and ends that are nested in each other.
const NESTINGS: &[(&str, &str, &str)] = &[
    ("$(", "ls", ")"),
    ("echo $(", "ls", ")"),
    ("\"$(", "ls", ")\""),
    ("(", "ls", ")"),
    ("{ ", "ls", "; }"),
    ("if ls; then ", "ls", "; fi"),
    ("while ls; do ", "ls", "; done"),
    ("for x in a b; do ", "ls", "; done"),
    ("{a,", "b", "}"),
    ("${x:-", "y", "}"),
    ("$((", "1", "))"),
    ("case x in x) ", "ls", ";; esac"),
    ("f() { ", "ls", "; }"),
    ("<(", "ls", ")"),
    ("@(", "a", ")"),
    ("((", "1", "))"),
    ("sh -c \"", "ls", "\""),
];

/// Signs of patterns, each of which is repeated in a word.
const SIGNS: &[&str] =
    &["*", "*a", "?", "*?", "[a]", "[", "*[!a]", "**/", "*/", "{*,a}", "+(*)", "*.*", "\\*", "~*", "*:"];

/// A pattern is compared with many names. If that took steps that multiply, this test would not end.
#[test]
fn a_word_of_many_signs_of_patterns_is_compared_in_few_steps() {
    let forms = [
        "rm -rf /@x",
        "rm -rf /*@",
        "rm -rf ~/@x/y",
        "rm -rf .@x",
        "chmod -R 777 /@x",
        "mv /@x /y",
        "cat @x",
        "@x y",
        "find /@x -name @x -delete",
        "xargs re@x",
        "ls > /@x",
        "dd if=a of=/dev/@x",
        "git push origin @x",
        "curl http://@x/@x",
        "case a in @x) ;; esac",
        "python3 -c 'import shutil; shutil.rmtree(\"/@x\")'",
        "psql -c 'DROP @x'",
        "${x#@y}",
        "[[ a == @x ]]",
        "docker run -v /@x:/h a rm -rf /h/@x",
    ];
    let mut tried = 0;
    for form in forms {
        for sign in SIGNS {
            let line = form.replace('@', &sign.repeat(120 / sign.len()));
            tried += usize::from(!classify(&line).reason.is_empty());
        }
    }
    assert_eq!(tried, forms.len() * SIGNS.len());
}
