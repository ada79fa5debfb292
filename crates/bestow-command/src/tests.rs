//! Tests of the tables against their own examples.

mod answers;
mod arrivals;
mod descriptors;
mod directories;
mod expansions;
mod golden;
mod invocations;
mod launchers;
mod linear;
mod online;
mod operands;
mod patterns;
mod rounds;

use std::collections::BTreeMap;

use super::{Span, Tier, classifier::Classifier, classify, needs, programs, word::Word};
use crate::{
    classification::Judged,
    named_uses::NamedUses,
    values::{Access, Named, Said, Spoken},
};

#[test]
fn every_safe_row_matches_its_examples() {
    let mut wrong = Vec::new();
    for row in programs::all().flat_map(|program| program.reads) {
        for (example, safe) in
            row.matches.iter().map(|one| (one, true)).chain(row.not_matches.iter().map(|one| (one, false)))
        {
            let answer = classify(example);
            if (answer.tier == Tier::Safe) != safe {
                wrong.push(format!("{}: `{example}`: {}", row.place, answer.reason));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_destructive_row_matches_its_examples() {
    let mut wrong = Vec::new();
    for row in programs::all().flat_map(|program| program.destroys) {
        for (example, hit) in
            row.matches.iter().map(|one| (one, true)).chain(row.not_matches.iter().map(|one| (one, false)))
        {
            let answer = classify(example);
            if (answer.tier == Tier::Destructive) != hit {
                wrong.push(format!("{}: `{example}`: {}", row.place, answer.reason));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the same words for a rule of a person, if the row has no word that only built-in records have.
fn as_addition(row: &programs::Reads) -> Option<crate::SafeAddition> {
    use programs::{AllWords, Operands, Reach, Test};

    let texts = |patterns: &[std::borrow::Cow<'_, str>]| patterns.iter().map(ToString::to_string).collect::<Vec<_>>();
    let words = |list: &str| list.split_ascii_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let special = row.code.is_some() || row.inert || row.stop_at_operand || row.lenient || row.only_at_start;
    let plain = matches!(row.words, AllWords::Listed) && row.reach == Reach::Here && row.globals.is_empty();
    let dashed = row.subcommands.iter().flat_map(|words| words.split(' ')).any(|word| word.starts_with('-'));
    if special || dashed || !plain || row.flags.text().split(' ').any(|flag| !flag.is_empty() && !flag.starts_with('-'))
    {
        return None;
    }
    let mut addition = crate::SafeAddition {
        program: "mytool".into(),
        matches: vec!["mytool".into()],
        not_matches: vec!["mytool".into()],
        subcommands: row.subcommands.iter().filter(|words| !words.is_empty()).map(str::to_owned).collect(),
        flags: words(row.flags.text()),
        operands: match row.operands {
            Operands::Any => true,
            Operands::None => false,
            Operands::AtMost(_) | Operands::With(_) => return None,
        },
        ..crate::SafeAddition::default()
    };
    for test in row.tests {
        match test {
            Test::Requires(group) => addition.requires.push((*group).to_owned()),
            Test::Refuses(list) => addition.refuses = words(list),
            Test::FirstOperand(patterns) => addition.first_operand = texts(patterns),
            Test::OperandIs(patterns) => addition.operand_is = texts(patterns),
            Test::OperandNot(patterns) => addition.operand_not = texts(patterns),
            Test::ValueNot(patterns) => addition.value_not = texts(patterns),
            Test::WrittenOut => addition.written_out = true,
            Test::Options(_)
            | Test::LastOperand(_)
            | Test::Known
            | Test::Numbers
            | Test::VariableNames
            | Test::FreeTargets
            | Test::PackageNames
            | Test::LeastOperands(_)
            | Test::MostOperands(_) => return None,
        }
    }
    Some(addition)
}

/// Checks that built-in records and the rules of a person are one language: a row that is added for an unknown program
/// has the same effect there.
#[test]
fn a_built_in_row_means_the_same_as_a_rule_of_a_person() {
    let (mut wrong, mut rows) = (Vec::new(), 0);
    for program in programs::all() {
        for (row, addition) in program.reads.iter().filter_map(|row| Some((row, as_addition(row)?))) {
            let rules = |addition| crate::CommandRules { safe: vec![addition], ..crate::CommandRules::default() };
            let name = program.names.first().copied().unwrap_or_default().to_owned();
            // A program that runs others is no matter of its rows alone.
            if crate::Additions::of(&rules(crate::SafeAddition { program: name, ..addition.clone() })).is_err() {
                continue;
            }
            rows += 1;
            let classifier = Classifier::default().with_additions(crate::Additions::of(&rules(addition)).unwrap());
            let examples =
                row.matches.iter().map(|one| (*one, true)).chain(row.not_matches.iter().map(|one| (*one, false)));
            for (example, safe) in examples {
                let named = program.names.iter().find_map(|name| example.strip_prefix(name)?.strip_prefix(' '));
                let Some(rest) = named.filter(|rest| !rest.contains(['|', ';', '$', '`', '>'])) else { continue };
                if (classifier.classify(&format!("mytool {rest}")).tier == Tier::Safe) != safe {
                    wrong.push(format!("{}: mytool {rest}", row.place));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(rows > 60, "{rows}");
}

/// Returns the labelled commands that are one simple command of plain words.
fn plain_cases() -> Vec<String> {
    let all =
        [include_str!("../../../tests/cases/commands.jsonl"), include_str!("../../../tests/cases/commands-own.jsonl")];
    let rows =
        all.into_iter().flat_map(str::lines).filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let commands = rows.filter_map(|row| row["command"].as_str().map(str::to_owned));
    let plain = |c: char| c.is_ascii_alphanumeric() || " ./_-".contains(c);
    let reserved = ["if", "for", "while", "until", "case", "time", "coproc", "function", "select", "then", "do", "in"];
    let one = |command: &String| {
        command.chars().all(plain)
            && !command.split(' ').next().is_none_or(|first| first.is_empty() || reserved.contains(&first))
    };
    let plain: Vec<String> = commands.filter(one).collect();
    assert!(plain.len() > 1_000, "a property needs something to hold for");
    plain
}

/// The number of wrappers around each command. They rotate, so every wrapper meets more than a hundred commands of
/// every tier.
const WRAPPERS_OF_EACH: usize = 6;

#[test]
fn wrapping_in_any_listed_wrapper_never_lowers() {
    // After a wrapper, a statement of SQL is an ordinary word, and a builtin is not a program.
    let statements = ["drop", "truncate", "delete", "alter"];
    let builtins = ["cd", "eval", "trap", "source", ".", "export", "alias", "declare", "let", "exec", "local", "set"];
    let prefixes = super::evaluator::prefixes();
    let mut next = prefixes.iter().cycle();
    let mut wrong = Vec::new();
    for command in plain_cases() {
        let first = command.split(' ').next().unwrap_or_default().to_ascii_lowercase();
        if statements.contains(&first.as_str()) || builtins.contains(&first.as_str()) {
            continue;
        }
        let tier = classify(&command).tier;
        for wrapper in next.by_ref().take(WRAPPERS_OF_EACH) {
            let text = format!("{wrapper} {command}");
            if classify(&text).tier < tier {
                wrong.push(format!("{text}: {}", classify(&text).reason));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.iter().take(40).cloned().collect::<Vec<_>>().join("\n"));
}

#[test]
fn escaping_or_quoting_any_letter_never_changes_a_tier() {
    let mut wrong = Vec::new();
    // Each letter is written in one of three ways, in rotation.
    let mut ways = (0..3).cycle();
    for command in plain_cases() {
        let tier = classify(&command).tier;
        for (at, letter) in command.char_indices().filter(|(_, c)| c.is_ascii_alphabetic()) {
            let (before, rest) = command.split_at(at);
            let (_, after) = rest.split_at(1);
            let quoted = match ways.next() {
                Some(0) => format!("\\{letter}"),
                Some(1) => format!("'{letter}'"),
                _ => format!("\"{letter}\""),
            };
            let text = format!("{before}{quoted}{after}");
            if classify(&text).tier != tier {
                wrong.push(format!("{text}: {tier}, then {}", classify(&text).reason));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.iter().take(40).cloned().collect::<Vec<_>>().join("\n"));
}

/// Returns the steps of the parser for `unit` repeated `times` times.
fn steps(unit: &str, times: usize) -> usize {
    crate::syntax::steps(&unit.repeat(times))
}

#[test]
fn the_work_of_the_parser_grows_with_the_length_and_no_faster() {
    let units = [
        "ls -la | wc -l; ",
        "$(",
        "`",
        "((",
        "$((",
        "\"$(",
        "${a:-",
        "a\\\n",
        "<<E ",
        "{a,b}",
        "'a' ",
        "[[ a ]] ",
        "if a; then b; fi; ",
        "$((a) ",
        "<(a) ",
        "# x\n",
        "\\",
        "é",
        "a[",
        "cat <<E\n$(ls)\nE\n",
        "case a in b) c;; esac; ",
        "f() { a; }; ",
        "@(",
        "$'a' ",
        "((a) ",
    ];
    for unit in units {
        let (once, twice) = (steps(unit, 300), steps(unit, 600));
        assert!(twice <= 2 * once + once / 2 + 5_000, "{unit:?}: {once}, then {twice}");
        assert!(once <= 4_200 + 24 * 300 * unit.len(), "{unit:?}: {once}");
    }
}

#[test]
fn a_hundred_thousand_levels_are_answered_and_hide_nothing() {
    for open in ["$(", "(", "`", "{ ", "\"$(", "$((", "${x:-", "<(", "if ", "[[ ", "{a,", "a[$(", "! ", "f() { ", "@("]
    {
        let nested = open.repeat(100_000);
        assert_eq!(classify(&nested).tier, Tier::Dangerous, "{open}");
        assert_eq!(classify(&format!("{nested}; rm -rf /")).tier, Tier::Destructive, "{open}");
        let shorter = open.repeat(2_000);
        assert!(classify(&shorter).tier >= Tier::Dangerous, "{open}");
        assert_eq!(classify(&format!("rm -rf /; {shorter}")).tier, Tier::Destructive, "{open}");
    }
}

/// Checks that a deny rule applies to a command after every wrapper, two levels deep, as words and as a text.
#[test]
fn wrapping_a_denied_command_in_any_listed_wrapper_never_escapes_the_deny() {
    let pattern: crate::values::CommandPattern = "git push **".parse().unwrap();
    let hears = |line: &str| {
        let Some(parts) = Classifier::default().judge(line).spoken() else { return true };
        parts.iter().flat_map(|part| part.runs.iter().chain(&part.starts)).any(|command| pattern.may_cover(command))
    };
    let prefixes = super::evaluator::prefixes();
    let texts = ["sh -c", "eval", "su -c", "script -c", "ssh host", "env -S", "watch", "bash <<<"];
    let commands = ["git push", "/x/git -C . push origin", "git $x", "$x git push", "g''it \"$@\""];
    let mut escaped = Vec::new();
    for (command, outer) in commands.iter().flat_map(|command| prefixes.iter().map(move |outer| (command, outer))) {
        let inner = &prefixes[(outer.len() * 7 + command.len()) % prefixes.len()];
        let text = texts[outer.len() % texts.len()];
        for line in [
            format!("{outer} {command}"),
            format!("{outer} {inner} {command}"),
            format!("{outer} \"$x\" {command}"),
            format!("{outer} --unheard-of {command}"),
            format!("{text} '{command}'"),
            format!("{outer} {text} '{command}'"),
            format!("{text} '{outer} {command}'"),
        ] {
            escaped.extend((!hears(&line)).then_some(line));
        }
    }
    assert!(escaped.is_empty(), "{} of them:\n{}", escaped.len(), escaped.join("\n"));
    assert!(!hears("git status") && !hears("nice git status") && !hears("sh -c 'git status'"));
}

#[test]
fn what_doubles_itself_is_given_up_and_not_followed() {
    let work = |text: &str| Classifier::default().work(text);
    let doubled = [
        "x=$x$x; ",
        "x=${x}x$x$x; ",
        "x=\"$x $x\"; ",
        "x=${x//a/$x}$x; ",
        "x+=$x; ",
        "set -- $* $*; ",
        "a+=(\"${a[@]}\"); ",
    ];
    for unit in doubled {
        for use_of_it in ["ls $x", "echo \"$x$x$x$x\"", "rm -rf $x", "f() { echo $*; }; f $*", "echo ${a[@]}"] {
            let text = |times: usize| format!("x=ab; a=(b c); set -- a b; {}{use_of_it}", unit.repeat(times));
            let (once, twice) = (work(&text(200)), work(&text(400)));
            assert!(twice <= 3 * once + 200_000, "{unit}{use_of_it}: {once}, then {twice}");
            assert_eq!(classify(&format!("{}; rm -rf /", text(400))).tier, Tier::Destructive);
        }
    }
    // All limits at once: alternatives of alternatives in one word, in loops within loops.
    let wide = format!("for x in {{1..60}}; do for y in {{1..60}}; do echo {}; done; done", "$x$y".repeat(2_000));
    assert!(work(&wide) < 8 << 20, "{}", work(&wide));
    let braces = format!("echo {}{}", "{a,b}".repeat(8), "c".repeat(50_000));
    assert!(classify(&format!("{braces}; rm -rf /")).tier == Tier::Destructive);
}

#[test]
fn calls_that_multiply_hide_nothing_behind_the_bound() {
    let mut text = String::from("f0() { ls; }; ");
    for level in 1..20 {
        text += &format!("f{level}() {{ f{0}; f{0}; f{0}; }}; ", level - 1);
    }
    assert_eq!(classify(&format!("{text} f19; rm -rf /")).tier, Tier::Destructive);
}

#[test]
fn words_that_multiply_each_other_are_followed_within_a_budget() {
    let work = |text: &str| Classifier::default().work(text);
    let words: String = (0..2_000).map(|number| format!("r{number} ")).collect();
    let hostile = [
        format!("echo {words}| xargs -I{{}} rm {}", "{}".repeat(4_000)),
        format!("echo {words}| xargs -I{{}} rm {}", "{} ".repeat(4_000)),
        format!("find {words}{}", "-exec rm {} ';' ".repeat(1_500)),
        format!("parallel {}::: {}", "{} ".repeat(4_000), "abcd ".repeat(4_000)),
        format!("eval -rf {}", "timeout 1 {a,b} parallel 'ls; rm' ".repeat(600)),
        format!("x='{}'; {}", "rm a ".repeat(400), "foo $x; ".repeat(3_000)),
        format!("for x in 1 2 3 4 5 6; do for y in 1 2 3 4 5 6; do {} done; done", "echo $x $y; ".repeat(2_000)),
    ];
    for line in hostile {
        let start: String = line.chars().take(60).collect();
        assert!(work(&line) < 8 << 20, "{start}: {}", work(&line));
        assert_eq!(classify(&format!("{line}; rm -rf /")).tier, Tier::Destructive, "{start}");
    }
}

/// Returns lines with multiplying work: directories in which a line may run, calls of calls, commands in commands.
fn multiplying() -> Vec<String> {
    let calls = (1..40).map(|level| format!("f{level}() {{ f{0}; f{0}; }}; ", level - 1));
    vec![
        (0..1_500).map(|number| format!("[ x ] && cd a{number}; cat f{number}; ")).collect(),
        "cd a || cd b; ".repeat(3_000),
        "cd a || cd b; cat c; ".repeat(2_000),
        "find . -exec ".repeat(3_000),
        format!("f0() {{ ls; }}; {}", calls.collect::<String>()),
        "parallel ".repeat(4_000),
        "env ".repeat(40) + "tee f",
        format!("tar {}-cf - x", (0..4_000).map(|number| format!("-C a{number} ")).collect::<String>()),
        format!("make {}", (0..4_000).map(|number| format!("-C a{number} ")).collect::<String>()),
        format!("foo {}", (0..300).map(|number| format!("-C a{number} b{number} ")).collect::<String>()),
        format!("foo {}{}", "-C a ".repeat(32), "b ".repeat(8_000)),
        "eval ".repeat(40) + "tee f",
    ]
}

#[test]
fn what_multiplies_is_given_up_early_and_uses_anything() {
    for line in multiplying() {
        let start: String = line.chars().take(60).collect();
        let work = Classifier::default().work(&line);
        assert!(work < 1 << 21, "{start}: {work}");
        let Judged { classification, named, .. } = Classifier::default().judge(&line);
        assert!(named.is_cut() && classification.tier > Tier::Safe, "{start}");
        assert_eq!(classify(&format!("{line}; rm -rf /")).tier, Tier::Destructive, "{start}");
    }
    let few = "f0() { cat a; }; f1() { f0; f0; }; f2() { f1; f1; }; f2; [ x ] && cd a; cat b; env nice tee c";
    assert!(!named(few).is_cut());
}

/// Returns the resources that a line names.
fn named(line: &str) -> NamedUses {
    Classifier::default().judge(line).named
}

/// Returns true if the line reads a file whose path is unknown.
fn is_in_the_dark(line: &str) -> bool {
    named(line).reads_what_nobody_can_tell()
}

#[test]
fn a_file_that_nobody_knows_is_one_however_it_is_named() {
    let directories =
        ["cd \"$X\"", "cd \"$(cat list)\"", "pushd \"$X\"", "cd -", "cd ~-", "cd \"$OLDPWD\"", "cd ~nobody"];
    let readers = ["cat shadow", "grep root shadow", "head shadow", "cat < shadow", "column shadow", "grep -r root ."];
    let there = directories.iter().flat_map(|cd| readers.iter().map(move |reader| format!("{cd} && {reader}")));
    let redirected = ["cat < $F", "head < \"$F\"", "echo \"$(< $F)\"", "mapfile a < $F", "read x < $F"];
    let programs = "column look iconv shuf bzgrep xzgrep zegrep zstdcat gcat ggrep gsort gzcat jaq gron hexyl csvlook \
                    csvcut xmllint yamllint shellcheck objdump readelf nm man md5 shasum";
    let named = programs.split_ascii_whitespace().map(|program| format!("{program} $F"));
    let others = [
        "git diff --no-index x $F",
        "git diff --no-ind x $F",
        "cat ~nobody/x",
        "git diff /dev/null $F",
        "git diff x \"$(cat list)\"",
        "git grep --no-index root $F",
        "wc --files0-from=$F",
        "grep -f$F x",
        "grep --file=$F x",
        "date -f $F",
        "date -f$F",
        "date --file=$F",
    ];
    let all = there.chain(named).chain(redirected.into_iter().chain(others).map(str::to_owned));
    let known: Vec<_> = all.filter(|line| !is_in_the_dark(line)).collect();
    assert!(known.is_empty(), "taken for known: {known:#?}");
    let clear = [
        "echo $X",
        "echo --file=$X",
        "printf '%s' \"$X\"",
        "git log \"$X\"",
        "git diff \"$X\"",
        "git diff \"$BASE\" HEAD",
        "ls $X",
        "stat $X",
        "date -d \"$X\"",
        "date +\"$X\"",
        "cut -f$N x",
        "awk -vfoo=$X 1 x",
        "[ -f \"$X\" ]",
        "cat < <(ls)",
        "echo x > $F",
        "cd \"$X\" && ls",
        "cd \"$X\" && git status",
        "cd \"$X\" && git log | grep fix",
        "cd \"$X\" && cat /etc/hostname",
        "cd \"$X\" && cd /tmp && cat x",
        "column x < y",
    ];
    let dark: Vec<_> = clear.iter().filter(|line| is_in_the_dark(line)).collect();
    assert!(dark.is_empty(), "taken for unknown: {dark:#?}");
}

#[test]
fn what_reads_a_tree_without_an_index_reads_all_below_it() {
    let reads_all = |line: &str| {
        let all = |one: &Named| {
            let Named::Path { access, text, below, certain, .. } = one else { return false };
            *certain && *access == Access::Read && below.is_everything() && text == "/etc"
        };
        named(line).iter().any(all)
    };
    let lines = [
        "git grep --no-index root /etc",
        "git grep --no-index -e root /etc",
        "git grep --no-ind root -- /etc",
        "git diff --no-index x /etc",
        "git -C / diff --no-index x /etc",
        "git diff x /etc",
        "grep -d recurse root /etc",
        "egrep -drecurse root /etc",
        "grep -nd recurse root /etc",
        "grep --dereference-rec root /etc",
    ];
    let few: Vec<_> = lines.iter().filter(|line| !reads_all(line)).collect();
    assert!(few.is_empty(), "not all below: {few:#?}");
    for line in
        ["git grep root /etc", "git diff /etc", "git log x /etc", "grep -d skip root /etc", "cp --dereference /etc x"]
    {
        assert!(!reads_all(line), "{line}");
    }
}

#[test]
fn many_words_before_a_subcommand_are_not_read_again_for_each_row() {
    let settings = |count| format!("git {}status", "-c color.ui=always ".repeat(count));
    assert_eq!(classify(&settings(30)).tier, Tier::Safe);
    assert!(classify(&settings(6_000)).tier > Tier::Safe);
}

/// Returns two flags: the line certainly reaches the network, and the line may reach the network.
fn reached(line: &str) -> (bool, bool) {
    let uses = named(line);
    let network =
        |wanted: bool| uses.iter().any(|one| matches!(one, Named::Network { certain, .. } if *certain == wanted));
    (network(true), network(false))
}

#[test]
fn every_use_that_a_safe_row_knows_to_ask_the_network_needs_the_network() {
    let (mut wrong, mut asking, mut staying) = (Vec::new(), 0, 0);
    let rows: BTreeMap<&str, &programs::Reads> =
        programs::all().flat_map(|program| program.reads).map(|row| (row.place, *row)).collect();
    for (row, example) in rows.values().flat_map(|row| row.matches.iter().map(move |one| (row, one))) {
        let words: Vec<Word> = example.split(' ').map(|word| Word::literal(word, Span::default())).collect();
        let rest = words.get(1..).unwrap_or_default();
        let asks = row.is_online(rest, &crate::destroy::Words::new(rest));
        let counted = if asks { &mut asking } else { &mut staying };
        *counted += 1;
        if reached(example) != (asks, false) {
            wrong.push(format!("{}: `{example}`: asks {asks}, reaches {:?}", row.place, reached(example)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(asking > 100 && staying > 500, "{asking} {staying}");
}

#[test]
fn every_alias_of_a_package_manager_needs_the_network_however_it_is_called() {
    let mut wrong = Vec::new();
    let mut check = |line: String| {
        if !reached(&line).0 {
            wrong.push(line);
        }
    };
    for (name, subcommand) in needs::network::subcommands() {
        check(format!("{name} {subcommand} x"));
        check(format!("/opt/bin/{name}-3.11 {subcommand} x"));
        check(format!("{name} --frobnicate=x --frobnicate y -Z {subcommand} x"));
    }
    // The aliases that the program itself lists, and every abbreviation that is long enough.
    let of_npm = "author home issues info show find add unlink remove rm r un in ins inst insta instal isnt isnta \
        isntal isntall i it cit clean-install-test sit up upgrade udpate ddp create innit x login adduser add-user \
        install-clean isntall-clean ic clean-install v view s se search ogr dist-tags publ publi unpubl depr outd audi \
        updat dedup";
    for alias in of_npm.split_ascii_whitespace() {
        check(format!("npm {alias} x"));
        check(format!("npm --prefix d {alias} x"));
    }
    for python in ["python", "python3", "python3.12", "/usr/bin/python3", "pypy3", "python3 -I", "python3 -W ignore -u"]
    {
        for module in ["-m pip", "-mpip", "-m pip3"] {
            for subcommand in ["install", "download", "search", "wheel", "--proxy p install"] {
                check(format!("{python} {module} {subcommand} x"));
            }
        }
    }
    for pip in ["pip", "pip3", "pip3.11", "pip-3.11", "python3 /usr/bin/pip3"] {
        check(format!("{pip} install x"));
        check(format!("{pip} list --outdated"));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn wrappers_in_wrappers_are_followed_with_work_that_grows_with_the_line() {
    let classifier = Classifier::default();
    let units = [
        ("parallel ", "x"),
        ("xargs ", "x"),
        ("eval ", "x"),
        ("timeout 1 ", "x"),
        ("env ", "x"),
        ("env timeout 1 nice ", "x"),
        ("watch ", "x"),
        ("find . -exec ", "x"),
        ("sh -c ", "x"),
        ("sed wx f; ", ""),
        ("ls; ", ""),
    ];
    for (unit, tail) in units {
        let work = |times: usize| classifier.work(&format!("{}{tail}", unit.repeat(times)));
        let (once, twice) = (work(1500), work(3000));
        let words = 1500 * unit.split(' ').count();
        assert!(once <= 24 * words, "{unit}: {once}");
        assert!(twice <= 2 * once + 5_000, "{unit}: {once}, then {twice}");
    }
}

#[test]
fn what_destroys_behind_more_wrappers_than_are_followed_is_found() {
    for unit in ["timeout 1 ", "xargs ", "env ", "nice env nohup "] {
        let line = format!("{}rm -rf /", unit.repeat(2000));
        assert_eq!(classify(&line).tier, Tier::Destructive, "{unit}");
        assert!(named(&format!("{}x", unit.repeat(100))).is_cut(), "{unit}");
    }
}

#[test]
fn what_a_script_of_sed_does_is_read_and_not_guessed() {
    let ls = Said::Is("ls".into());
    for (line, runs, writes) in [
        ("sed 's/a/e/' f", false, false),
        ("sed -n '/e/p' f", false, false),
        ("sed 's/wx/w x/' f", false, false),
        ("sed e f", true, false),
        ("sed 's/.*/&/e' f", true, false),
        ("sed -n '$!{e ls\n}' f", true, false),
        ("sed -nE -e p -e 'w x' f", false, true),
        ("sed 's/a/b/gw x' f", false, true),
    ] {
        let Judged { commands, named, .. } = Classifier::default().judge(line);
        let is_written =
            |one: &Named| matches!(one, Named::Path { access: Access::Write, text, certain: true, .. } if text == "x");
        assert_eq!(named.iter().any(is_written), writes, "{line}");
        let started: Vec<_> = commands.iter().flat_map(|part| &part.starts).collect();
        let is_run = started.iter().any(|start| **start == Spoken::anything() || start.words.first() == Some(&ls));
        assert_eq!(is_run, runs, "{line}: {started:?}");
    }
}

/// A trap of a text runs at the end of the line, where the text is gone.
#[test]
fn a_part_of_a_trap_in_a_text_is_a_part_of_the_line() {
    for line in ["bash -c 'true; true; true; trap \"rm -rf /\" EXIT'", "eval 'trap \"mkfs.ext4 /dev/sda\" EXIT'"] {
        let answer = classify(line);
        assert_eq!(answer.tier, Tier::Destructive, "{line}");
        let word = Span { start: line.find('\'').unwrap(), end: line.rfind('\'').unwrap() + 1 };
        let destroying = answer.parts.iter().filter(|part| part.tier == Tier::Destructive);
        let spans: Vec<Span> = destroying.map(|part| part.span).collect();
        // The word, or the command with this word.
        let whole = Span { start: 0, ..word };
        assert!(spans.iter().all(|span| *span == word || *span == whole), "{line}: {spans:?}");
    }
}
