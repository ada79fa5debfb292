//! Every command that the interpreter meets is among the invocations of its line.

use super::multiplying;
use crate::{
    Classifier, classify,
    values::{Said, Spoken},
};

/// The number of generated lines.
const LINES: u64 = 1_500;

/// A generator of lines. Each simple command in a line has a name of its own.
struct Generator {
    state: u64,
    names: Vec<String>,
}

impl Generator {
    fn new(seed: u64) -> Self {
        Generator { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, names: Vec::new() }
    }

    fn choose(&mut self, count: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from(self.state % count as u64).unwrap_or(0)
    }

    fn command(&mut self) -> String {
        let name = format!("command{}", self.names.len());
        self.names.push(name.clone());
        format!("{name} a -b")
    }

    /// Returns a construct of the shell around commands, `depth` levels deep.
    fn construct(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.command();
        }
        let shape = SHAPES.get(self.choose(SHAPES.len())).copied().unwrap_or("@");
        let mut line = String::new();
        for (index, piece) in shape.split('@').enumerate() {
            if index > 0 {
                line += &self.construct(depth - 1);
            }
            line += piece;
        }
        line
    }
}

/// Constructs of the shell, and programs that run a command. `@` stands for a command or a construct.
const SHAPES: &[&str] = &[
    "@",
    "@; @",
    "@ && @",
    "@ || @",
    "@ | @",
    "@ & @",
    "( @)",
    "{ @; }",
    "! @",
    "if @; then @; else @; fi",
    "if @; then @; elif @; then @; fi",
    "while @; do @; done",
    "until @; do @; done",
    "for v in a b; do @; done",
    "for ((i=0; i<3; i++)); do @; done",
    "case w in a) @;; *) @;; esac",
    "f() { @; }",
    "f() { @; }; f x",
    "echo $( @)",
    "echo \"$( @)\"",
    "echo ${v:-$( @)}",
    "echo $((1 + $( @)))",
    "cat <( @)",
    "tee >( @)",
    "x=$( @)",
    "x=(a $( @))",
    "x=y; @",
    "cd d && @",
    "{ cat <<E\n$( @)\nE\n}",
    "cat <<< $( @)",
    "ls > $( @)",
    "[[ -n $( @) ]]",
    "set -- a b; @",
    "break; @",
    "return; @",
    "trap x EXIT; @",
    "{ @; } < f",
    "while read x; do @; done < f",
    "@ 2>&1",
    "time @",
];

/// Returns true if one of the commands is `name a -b`, perhaps with more words.
fn starts(commands: &[&Spoken], name: &str) -> bool {
    let is = |word: Option<&Said>, text: &str| word.and_then(Said::known) == Some(text);
    let begins = |words: &[Said]| is(words.first(), name) && is(words.get(1), "a") && is(words.get(2), "-b");
    commands.iter().any(|command| begins(&command.words))
}

#[test]
fn every_command_of_a_line_is_among_its_invocations() {
    let (mut forgotten, mut misread, mut checked) = (Vec::new(), Vec::new(), 0);
    for seed in 0..LINES {
        let mut generator = Generator::new(seed + 1);
        let depth = 1 + generator.choose(3);
        let line = generator.construct(depth);
        let answer = Classifier::default().judge(&line);
        if !answer.classification.understood {
            misread.push(line);
            continue;
        }
        let commands: Vec<&Spoken> = answer.commands.iter().flat_map(|part| &part.starts).collect();
        for name in &generator.names {
            checked += 1;
            if !starts(&commands, name) {
                forgotten.push(format!("{name} in `{line}`"));
            }
        }
    }
    assert!(checked > 2_000 && misread.len() < 100, "{checked}; {}", misread.join("\n"));
    assert!(forgotten.is_empty(), "{} of {checked}: {}", forgotten.len(), forgotten.join("\n"));
}

/// Programs and builtins that run a command. `@` stands for the command.
const WRAPPERS: &[&str] = &[
    "sh -c '@'",
    "bash -c '@; ls'",
    "eval '@'",
    "eval @",
    "trap '@' EXIT",
    "timeout 1 @",
    "env A=b @",
    "xargs @",
    "nice @",
    "find . -exec @ ';'",
    "find . -exec @ {} +",
    "sudo @",
    "ssh host @",
    "ssh host '@'",
    "watch '@'",
    "parallel '@' ::: x",
    "docker run image @",
    "kubectl exec pod -- @",
    "su -c '@'",
    "git bisect run @",
    "alias x='@'",
    "export PAGER='@'",
    "PAGER='@' git log",
    "foo '@'",
    "foo @",
    "foo --exec='@'",
    "echo '@' | sh",
    "sh <<< '@'",
    "bash <<E\n@\nE\n",
    "source <(echo '@')",
    "sed 's/a/@/e' f",
    "awk 'BEGIN { system(\"@\") }'",
    "x='@'; $x",
    "x=command0; $x a -b",
    "crontab <<< '* * * * * @'",
];

/// Returns true if `command0 a -b` is among the invocations of a line, at least as one of the words at which a command
/// may begin, or if any command may run.
fn records_the_command(line: &str) -> bool {
    let answer = Classifier::default().judge(line);
    let commands: Vec<&Spoken> = answer.commands.iter().flat_map(|part| &part.starts).collect();
    let any = commands.iter().any(|command| command.programs().is_none());
    let anywhere = |command: &&&Spoken| command.anywhere && command.words.contains(&Said::Is("command0".into()));
    any || starts(&commands, "command0") || commands.iter().find(anywhere).is_some()
}

#[test]
fn a_command_behind_a_program_that_runs_it_is_among_the_invocations() {
    let lines = WRAPPERS.iter().map(|wrapper| wrapper.replace('@', "command0 a -b"));
    let forgotten: Vec<String> = lines.filter(|line| !records_the_command(line)).collect();
    assert!(forgotten.is_empty(), "{forgotten:#?}");
}

/// A text may be searched as data at first, and run later.
#[test]
fn a_command_behind_two_programs_is_among_the_invocations() {
    // The shell does not look for operators in the value of a variable.
    let quoted = WRAPPERS.iter().filter(|wrapper| wrapper.contains("'@'") && !wrapper.starts_with("x="));
    let lines = quoted.flat_map(|outer| {
        let within = |inner: &&str| inner.replace('@', "command0 a -b").replace('\'', r"'\''");
        WRAPPERS.iter().map(move |inner| outer.replace('@', &within(inner)))
    });
    let forgotten: Vec<String> = lines.filter(|line| !records_the_command(line)).collect();
    assert!(forgotten.is_empty(), "{forgotten:#?}");
}

/// The commands of a text that may run are recorded beside the tier. This work has a limit of its own, and what it sets
/// stays there: a trap, a written file.
#[test]
fn the_answer_does_not_depend_on_whether_somebody_asks_for_the_commands() {
    let nested = WRAPPERS.iter().filter(|wrapper| wrapper.contains("'@'")).flat_map(|outer| {
        let command = |inner: &str| inner.replace('@', "rm -rf /").replace('\'', r"'\''");
        WRAPPERS.iter().map(move |inner| outer.replace('@', &command(inner)))
    });
    let kept = [
        "make SHELL='echo cm0gLXJmIC8= | base64 -d > x; sh x'",
        "GIT_SSH_COMMAND='trap 'wipe --help' EXIT' git fetch",
        "tmux send-keys 'trap 'sudo ls' EXIT' Enter",
        "for f in a b; do cargo test $f; x=\"trap 'mkfs.ext4 /dev/sda' EXIT\"; done",
    ];
    let texts = (0..400).map(|number| format!("foo 'bar {number}' 'baz; qux {number}'; ")).collect();
    let nested_texts = (0..9).fold("ls".to_owned(), |inner, _| format!("foo '{}'", inner.replace('\'', r"'\''")));
    // Some of these lines need more than half of the limits.
    let value = |name: &&str| format!("{name}='{name}; {}' ", "ls;".repeat(2_500));
    let names = ["PAGER", "EDITOR", "VISUAL", "BROWSER", "GIT_SSH", "PS1", "PS2"];
    let long =
        (1..=names.len()).map(|count| names.iter().take(count).map(value).collect::<String>() + &"ls;".repeat(3_000));
    let heavy = multiplying().into_iter().chain([texts, nested_texts]).chain(long);
    for line in nested.chain(kept.map(str::to_owned)).chain(heavy) {
        let start: String = line.chars().take(80).collect();
        assert_eq!(classify(&line), Classifier::default().judge(&line).classification, "{start}");
    }
}

/// Checks that the missing commands may be any, where the work that only records is cut.
#[test]
fn a_record_that_exceeds_its_limits_holds_any_command() {
    let text = |number: usize| format!(" 'w {number}; {}git push'", "w;".repeat(2_500));
    let recorded = |count: usize| {
        let line = "foo".to_owned() + &(0..count).map(text).collect::<String>();
        let answer = Classifier::default().judge(&line);
        let commands: Vec<&Spoken> = answer.commands.iter().flat_map(|part| &part.starts).collect();
        let any = commands.iter().any(|command| command.programs().is_none());
        let push = commands.iter().any(|command| command.programs().is_some_and(|names| names == ["git"]));
        (push, any)
    };
    assert_eq!(recorded(1), (true, false));
    assert!(recorded(9).1);
}

/// A `cd` may fail, so a command may run in every directory that the line may have left.
#[test]
fn a_path_in_a_directory_that_may_have_been_left_is_named_or_unknown() {
    for failed in 1..12 {
        let failed: String = (0..failed).map(|number| format!("cd none{number}; ")).collect();
        let line = format!("{failed}cd secrets; cat key");
        let named = Classifier::default().judge(&line).named;
        let is_named = named.iter().any(|used| format!("{used:?}").contains("\"secrets/key\""));
        assert!(is_named || named.reads_what_nobody_can_tell() || named.is_cut(), "{line}: {named:?}");
    }
}
