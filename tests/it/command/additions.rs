//! Tests of user-defined command rules.

use bestow::command::{Additions, Classifier, InvalidAddition, Profile, Raise, SafeAddition, Tier};

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| text.to_string()).collect()
}

fn safe(program: &str, flags: &[&str], matches: &[&str], not_matches: &[&str]) -> SafeAddition {
    let (subcommand, operands) = (texts(&["list"]), true);
    SafeAddition {
        program: program.into(),
        subcommand,
        flags: texts(flags),
        operands,
        matches: texts(matches),
        not_matches: texts(not_matches),
        ..SafeAddition::default()
    }
}

fn raise(program: &str, words: &[&str], tier: Tier, matches: &[&str], not_matches: &[&str]) -> Raise {
    Raise {
        program: program.into(),
        words: texts(words),
        tier,
        matches: texts(matches),
        not_matches: texts(not_matches),
    }
}

fn classifier(additions: Additions) -> Classifier {
    Classifier::new(Profile::Default).with_additions(additions)
}

#[test]
fn a_named_program_can_be_added_as_only_reading() {
    let added = safe(
        "mytool",
        &["-a", "--limit:"],
        &["mytool list -a x", "mytool list --limit 5"],
        &["mytool delete x", "mytool list -b"],
    );
    let classifier = classifier(Additions::new(vec![added], Vec::new()).expect("valid"));
    assert_eq!(classifier.classify("mytool list -a | wc -l").tier, Tier::Safe);
    for text in [
        "mytool list -x",
        "mytool",
        "./mytool list",
        "mytool list > f",
        "mytool list $(rm -rf build)",
        "mytool list; ./x",
    ] {
        assert_eq!(classifier.classify(text).tier, Tier::Dangerous, "{text}");
    }
}

#[test]
fn an_addition_has_the_words_of_the_built_in_records() {
    let added = SafeAddition {
        program: "mytool".into(),
        subcommands: texts(&["list", "show all"]),
        flags: texts(&["-a", "-f:", "-w"]),
        operands: true,
        requires: texts(&["-a -w"]),
        refuses: texts(&["-w"]),
        first_operand: texts(&["x", "y*"]),
        operand_not: texts(&["*:*"]),
        value_not: texts(&["@*"]),
        matches: texts(&["mytool list -a x", "mytool show all -a"]),
        not_matches: texts(&["mytool list x", "mytool show -a"]),
        ..SafeAddition::default()
    };
    let classifier = classifier(Additions::new(vec![added], Vec::new()).expect("valid"));
    for (text, tier) in [
        ("mytool list -a", Tier::Safe),
        ("mytool list -a yes z", Tier::Safe),
        ("mytool show all -a -f v x", Tier::Safe),
        ("mytool list x", Tier::Dangerous),
        ("mytool list -w -a x", Tier::Dangerous),
        ("mytool list -a z", Tier::Dangerous),
        ("mytool list -a \"$X\"", Tier::Dangerous),
        ("mytool list -a x a:b", Tier::Dangerous),
        ("mytool list -a -f @v", Tier::Dangerous),
        ("mytool show -a", Tier::Dangerous),
        ("mytool all -a", Tier::Dangerous),
    ] {
        assert_eq!(classifier.classify(text).tier, tier, "{text}");
    }
    for (requires, subcommands) in
        [(&["x"][..], &["list"][..]), (&["-a "], &["list"]), (&["-a"], &["-x"]), (&[], &["a  b"])]
    {
        let wrong = SafeAddition {
            requires: texts(requires),
            subcommands: texts(subcommands),
            ..safe("mytool", &["-a"], &["mytool list -a x"], &["mytool delete x"])
        };
        let why = Additions::new(vec![wrong], Vec::new()).unwrap_err();
        assert!(matches!(why, InvalidAddition::Word(..)), "{why}");
    }
}

#[test]
fn an_addition_never_lowers_a_destructive_command() {
    let added = safe("gh", &["-y"], &["gh list x"], &["gh delete x"]);
    let mut row = safe("rm", &["-r", "-f"], &["rm list"], &["rm x"]);
    let classifier = classifier(Additions::new(vec![added, row.clone()], Vec::new()).expect("valid"));
    assert_eq!(classifier.classify("rm list -rf /").tier, Tier::Destructive);
    row.subcommand.clear();
    row.matches = texts(&["rm -rf /"]);
    assert!(matches!(
        Additions::new(vec![row], Vec::new()),
        Err(InvalidAddition::Example { tier: Tier::Destructive, .. })
    ));
}

#[test]
fn a_command_can_be_raised_and_never_lowered() {
    let rows = vec![
        raise(
            "kubectl",
            &["apply", "prod"],
            Tier::Destructive,
            &["kubectl apply -n prod -f x"],
            &["kubectl apply -f x"],
        ),
        raise("cat", &[], Tier::Dangerous, &["cat f"], &["ls"]),
    ];
    let classifier = classifier(Additions::new(Vec::new(), rows).expect("valid"));
    assert_eq!(classifier.classify("env A=b kubectl apply -n prod -f y").tier, Tier::Destructive);
    assert_eq!(classifier.classify("ls | cat").tier, Tier::Dangerous);
    assert_eq!(classifier.classify("/bin/cat f").tier, Tier::Dangerous);
}

#[test]
fn additions_without_examples_or_against_them_are_refused() {
    let refused = |row: SafeAddition| Additions::new(vec![row], Vec::new()).expect_err("refused");
    assert!(matches!(refused(safe("x", &[], &[], &["x y"])), InvalidAddition::NoExample(_)));
    assert!(matches!(refused(safe("x", &[], &["x list"], &[])), InvalidAddition::NoExample(_)));
    assert!(matches!(refused(safe("x", &[], &["x list -a"], &["x y"])), InvalidAddition::Example { .. }));
    assert!(matches!(refused(safe("x", &[], &["x list"], &["x list y"])), InvalidAddition::Example { .. }));
    assert!(matches!(refused(safe("./x", &[], &["x list"], &["x y"])), InvalidAddition::Program(_)));
    assert!(matches!(refused(safe("x y", &[], &["x list"], &["x y"])), InvalidAddition::Program(_)));
    assert!(matches!(refused(safe("x", &["a"], &["x list"], &["x y"])), InvalidAddition::Word(..)));
    for program in ["bash", "env", "eval", "xargs", "ssh"] {
        assert!(
            matches!(refused(safe(program, &[], &["x list"], &["x y"])), InvalidAddition::RunsOthers(_)),
            "{program}"
        );
    }
    let lowered = raise("x", &[], Tier::Safe, &["x"], &["y"]);
    assert!(matches!(Additions::new(Vec::new(), vec![lowered]), Err(InvalidAddition::NotRaised(_))));
}

#[test]
fn an_example_that_needs_no_addition_shows_nothing() {
    let nothing = |refused: InvalidAddition| matches!(refused, InvalidAddition::ProvesNothing { .. });
    let safe_anyway = safe("x", &[], &["ls", "x list"], &["x y"]);
    assert!(Additions::new(vec![safe_anyway], Vec::new()).is_err_and(nothing));
    let twice = safe("x", &[], &["x list"], &["x y"]);
    assert!(Additions::new(vec![twice.clone(), twice], Vec::new()).is_err_and(nothing));
}
