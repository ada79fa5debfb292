//! The ways in which a text that nobody has read arrives at a program: names from the disk, variables of an earlier
//! call, secrets. Each row of the records is tried with each way.

use crate::{
    Classifier, Tier, classify,
    programs::{self, AllWords, Operands, Reach, Reads},
    values::{Said, Shell},
    word::Gaps,
};

/// Ways in which a name that begins like an option may arrive. `CMD` stands for the program and its subcommand.
const WAYS: &[&str] = &[
    "CMD *",
    "CMD ?*",
    "CMD [!a]*",
    "CMD $(ls)",
    "CMD \"$(ls)\"",
    "CMD `cat f`",
    "CMD $(<f)",
    "for f in *; do CMD $f; done",
    "for f in *; do CMD \"$f\"; done",
    "for f in $(cat f); do CMD \"$f\"; done",
    "ls | xargs CMD",
    "ls | xargs -n1 CMD",
    "ls | xargs -I{} CMD {}",
    "git ls-files -z | xargs -0 CMD",
    "find . -printf '%f\\n' | xargs CMD",
    "xargs CMD < f",
    "xargs -a f CMD",
    "ls | while read -r f; do CMD \"$f\"; done",
    "while IFS= read -r f; do CMD \"$f\"; done < f",
    "set -- *; CMD \"$1\"",
    "set -- *; CMD \"$@\"",
    "a=(*); CMD \"${a[0]}\"",
    "a=(*); CMD \"${a[@]:1}\"",
    "x=$(ls); CMD \"$x\"",
    "x=*; CMD $x",
    "read x < f; CMD \"$x\"",
    "mapfile -t a < f; CMD \"${a[@]}\"",
    "f() { CMD \"$1\"; }; f *",
    "find * -prune -exec CMD {} +",
    "find * -prune -exec CMD {} \\;",
    "fd | xargs CMD",
    "ls | parallel CMD",
    // File names with blanks, and variables that may hold any text.
    "for f in src/*; do CMD $f; done",
    "x=src/*; CMD $x",
    "CMD $X",
    "CMD \"$X\"",
    "CMD src/$X",
    "CMD \"${X:?}\"",
    "CMD \"${X:-a}\"",
    "CMD \"${X%/*}\"",
    "CMD \"${X/a/b}\"",
    "CMD \"${A[0]}\"",
    "CMD \"$1\"",
    "f() { CMD \"$@\"; }; f $X",
    "CMD {$X,a}",
    "CMD \"$(echo $X)\"",
    "x=$X; CMD \"$x\"",
    "for f in $X; do CMD \"$f\"; done",
    "f() { CMD \"$1\"; }; f $X",
    "set -- $X; CMD \"$1\"",
    "cd 'a -b'; CMD $PWD",
    "CMD \"${HOME##*/}\"",
];

/// Returns the commands of rows in which an option may do harm, without their operands.
fn commands_with_harmful_options() -> Vec<(String, &'static Reads)> {
    let mut all = Vec::new();
    for program in programs::all() {
        let Some(name) = program.names.iter().find(|name| !name.contains('*')) else { continue };
        for row in program.reads {
            let harmful = matches!(row.words, AllWords::Listed) && !row.inert && row.operands != Operands::None;
            if harmful {
                let subcommand = row.subcommands.iter().next().unwrap_or_default();
                all.push((format!("{name} {subcommand}").trim_end().to_owned(), *row));
            }
        }
    }
    all
}

#[test]
fn a_name_from_the_disk_is_never_an_option_of_a_safe_command() {
    let commands = commands_with_harmful_options();
    assert!(commands.len() > 300, "{}", commands.len());
    let mut wrong = Vec::new();
    for (command, row) in &commands {
        let lines = WAYS.iter().map(|way| way.replace("CMD", command));
        let safe = lines.filter(|line| classify(line).tier == Tier::Safe);
        wrong.extend(safe.map(|line| format!("{}: {line}", row.place)));
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_variable_of_an_earlier_call_is_never_an_option_of_a_safe_command() {
    let used = Classifier::default().in_used_shell();
    for (command, row) in commands_with_harmful_options() {
        for variable in ["X", "ID", "TMPDIR", "PWD", "RANDOM"] {
            for line in [format!("{command} ${variable}"), format!("{command} \"${{{variable}:-a}}\"")] {
                assert!(used.classify(&line).tier > Tier::Safe, "{}: {line}", row.place);
            }
        }
    }
    for line in ["cat \"$X\"", "x=a; sort \"$x\"", "git log | head", "ls; cd d && wc -l f"] {
        assert_eq!(used.classify(line).tier, Tier::Safe, "{line}");
    }
}

/// Checks that arithmetic with a variable that an input has set stays unsafe when the variable is no longer followed.
#[test]
fn arithmetic_with_a_forgotten_variable_is_never_safe() {
    let used = Classifier::default().in_used_shell();
    let many: String = (0..70).map(|count| format!("v{count}={count}; ")).collect();
    for arithmetic in ["echo $((X))", "((X > 1))", "let X", "echo ${v1:X:1}", "[[ X -gt 1 ]]", "echo \"$((X + 1))\""] {
        assert!(used.classify(arithmetic).tier > Tier::Safe, "{arithmetic}");
        for line in [format!("read X < f; {arithmetic}"), format!("read X < f; {many}{arithmetic}")] {
            assert!(classify(&line).tier > Tier::Safe, "{line}");
        }
        // To dash, `((X > 1))` writes a file.
        let bash = Classifier::default().in_shell(Shell::Bash);
        assert_eq!(bash.classify(&format!("X=1; {arithmetic}")).tier, Tier::Safe, "{arithmetic}");
    }
}

/// Programs in whose examples no further word does harm. After these words, builtins only look names up or reset
/// something, and `ps` has no option that changes anything. `test` runs a command only for a text in the line.
const HARMLESS: &[&str] = &["command", "getopts", "kill", "nohup", "ps", "test", "trap"];

/// Checks the examples of every row, predicates included: with an unknown word at any place after the subcommand, a
/// command is safe only if no option of it does harm.
#[test]
fn an_unknown_word_anywhere_in_an_example_is_never_safe() {
    let (mut wrong, mut tried) = (Vec::new(), 0);
    for row in programs::all().flat_map(|program| program.reads) {
        if matches!(row.words, AllWords::Any) || row.inert || row.stop_at_operand {
            continue;
        }
        let known = row.subcommands.iter().next().unwrap_or_default().split(' ').filter(|word| !word.is_empty());
        let first = 1 + known.count();
        let plain = |line: &&&str| !line.contains(['|', '>', '<', ';', '#', '$', '\'', '"', '*', '(', '{']);
        for example in row.matches.iter().filter(plain) {
            let words: Vec<&str> = example.split(' ').take_while(|word| *word != "--").collect();
            if words.first().is_some_and(|name| HARMLESS.contains(name)) {
                continue;
            }
            for at in first.min(words.len())..=words.len() {
                let (before, after) = words.split_at(at);
                let line = [before, &["$X"], after].concat().join(" ");
                tried += 1;
                if classify(&line).tier == Tier::Safe {
                    wrong.push(format!("{}: {line}", row.place));
                }
            }
        }
    }
    assert!(tried > 1_000, "{tried}");
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

/// Forms in which a secret may stand in a word.
const SECRETS: &[&str] = &[
    "$SECRET",
    "\"$API_TOKEN\"",
    "\"x?k=$SECRET\"",
    "\"${ID:-$SECRET}\"",
    "\"${ID:+$SECRET}\"",
    "\"${ID-${REF:-$DB_PASSWORD}}\"",
    "\"${ID/x/$SECRET}\"",
    "\"${ID%$SECRET}\"",
    "{$SECRET,x}",
    "\"$(echo $SECRET)\"",
    "\"$(cat f)\"",
    "$(<f)",
    "\"${A[$SECRET]}\"",
];

#[test]
fn a_secret_is_never_sent_by_a_safe_command() {
    let mut wrong = Vec::new();
    let mut tried = 0;
    for row in programs::all().flat_map(|program| program.reads).filter(|row| row.reach != Reach::Here) {
        let plain = |line: &&&str| !line.contains(['|', '>', '<', ';', '#', '$']);
        for example in row.matches.iter().filter(plain) {
            for secret in SECRETS {
                tried += 1;
                let lines = [
                    format!("{example} {secret}"),
                    format!("x={secret}; {example} \"$x\""),
                    format!("for x in {secret}; do {example} $x; done"),
                ];
                // Programs that fetch what looks like an address pass other words to nobody.
                let fits = |line: &String| row.reach != Reach::Addresses && classify(line).tier == Tier::Safe;
                wrong.extend(lines.into_iter().filter(fits).map(|line| format!("{}: {line}", row.place)));
            }
        }
    }
    assert!(tried > 500, "{tried}");
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

/// Checks that a word with a part that comes from an input is never recorded as a known word.
#[test]
fn no_recorded_word_claims_to_know_a_gap() {
    let cases = [
        include_str!("../../../../tests/cases/commands-own.jsonl"),
        include_str!("../../../../tests/cases/attacks-own.jsonl"),
        include_str!("../../../../tests/cases/blind-attacks.jsonl"),
    ];
    let rows = cases.into_iter().flat_map(str::lines).map(|line| serde_json::from_str(line).unwrap());
    let lines = rows.map(|row: serde_json::Value| row["command"].as_str().unwrap_or_default().to_owned());
    let ways = ["find . | parallel rm", "find / -name x | xargs rm", "docker ps -q | xargs docker rm", "ls | parallel"];
    let mut wrong = Vec::new();
    for line in lines.chain(ways.map(str::to_owned)) {
        let answer = Classifier::default().judge(&line);
        let commands = answer.commands.iter().flat_map(|part| part.starts.iter().chain(part.runs.iter()));
        let known = |word: &Said| word.known().is_some_and(Gaps::has_unknown);
        if commands.flat_map(|command| command.words.iter()).any(known) {
            wrong.push(line);
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

/// The name of a wrapper or a shell is not enough: its program must be the usual one, or what it runs does not matter.
#[test]
fn a_program_of_an_untrusted_directory_is_never_safe() {
    for line in ["ls", "timeout 5 ls", "env ls", "nice ls", "bash -c ls", "xargs ls", "find . -exec ls {} +"] {
        assert_eq!(classify(line).tier, Tier::Safe, "{line}");
        assert_eq!(classify(&format!("/usr/bin/{line}")).tier, Tier::Safe, "{line}");
        for directory in ["./", "bin/", "../", "~/bin/", "/tmp/", "/usr/bin/../../tmp/", "$HOME/", "\"$X\"/", "*/"] {
            let line = format!("{directory}{line}");
            assert!(classify(&line).tier > Tier::Safe, "{line}");
        }
    }
}
