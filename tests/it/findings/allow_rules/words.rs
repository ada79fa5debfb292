//! A15: an allow rule is bound to a directory, and its wildcards to operands.

use bestow::{
    Action, AgentId,
    command::classify,
    decision::{Explanation, Verdict},
    policy::DryRun,
};
use proptest::prelude::*;

use crate::config::Place;

/// Creates a place with an agent that works in `policy/site`, with these rules.
fn saved(rules: &str) -> Place {
    let place = Place::new();
    for directory in ["policy/site/sub/deep", "policy/other", "elsewhere"] {
        std::fs::create_dir_all(place.path(directory)).unwrap();
    }
    place.link("policy/site/away", place.text("elsewhere"));
    place.write("policy/site/file", "");
    let text = format!(
        "[agents.lead]\nkind = \"foreground\"\nowner = \"you\"\nworking_dir = \"$DIR/policy/site\"\n\
         permissions = [\"@write:$DIR/policy/site\", \"@network\"]\n{rules}\n"
    );
    place.write("policy/agents.toml", text.replace("$DIR", place.text("").trim_end_matches('/')));
    place
}

fn rule(body: &str) -> String {
    format!("[[agents.lead.rules]]\n{body}\n")
}

fn allow(pattern: &str) -> String {
    rule(&format!("verdict = \"allow\"\ncommand = \"{pattern}\""))
}

fn explained(place: &Place, command: &str) -> Explanation {
    let lead: AgentId = "lead".parse().unwrap();
    let command = command.replace("$DIR", place.text("").trim_end_matches('/'));
    DryRun::of(place.load().unwrap()).unwrap().explain(&lead, &Action::command(&command)).unwrap()
}

fn verdict(place: &Place, command: &str) -> bestow::Effect {
    explained(place, command).decision.verdict()
}

#[track_caller]
fn all_are(place: &Place, expected: Verdict, commands: &[&str]) {
    for command in commands {
        assert_eq!(verdict(place, command), expected, "{command}: {}", explained(place, command));
    }
}

#[test]
fn an_allow_rule_is_bound_to_the_agents_working_directory() {
    let place = saved(&allow("npm test"));
    let here = ["npm test", "cd . && npm test", "cd \"$PWD\" && npm test", "cd $DIR/policy/site && npm test"];
    all_are(&place, Verdict::Allow, &here);
    all_are(&place, Verdict::Allow, &["(cd /tmp); npm test", "cd sub/.. && npm test", "ls sub && npm test | tail -3"]);
    let elsewhere = [
        "cd /elsewhere && npm test",
        "cd $DIR/elsewhere && npm test",
        "cd sub && npm test",
        "cd away && npm test",
        "cd sub/deep/../../.. && npm test",
        "cd && npm test",
        "cd ~ && npm test",
        "cd \"$X\" && npm test",
        "cd - && npm test",
        "pushd /tmp && npm test",
        "(cd /tmp && npm test)",
        "cd sub; npm test",
        "for d in . sub; do cd $d; npm test; done",
        "f() { npm test; }; cd sub && f",
        "env -C sub npm test",
        "npm --prefix sub test",
        "npm -C sub test",
        "source ./go && npm test",
    ];
    all_are(&place, Verdict::Ask, &elsewhere);
}

#[test]
fn a_rule_says_where_a_command_may_run_besides() {
    let place = saved(&rule("verdict = \"allow\"\ncommand = \"npm test\"\ncwd = \"anywhere\""));
    all_are(&place, Verdict::Allow, &["npm test", "cd /elsewhere && npm test", "cd \"$X\" && npm test"]);
    let place = saved(&rule("verdict = \"allow\"\ncommand = \"npm test\"\ncwd = [\"site/sub\", \"other\"]"));
    all_are(&place, Verdict::Allow, &["cd sub && npm test", "cd ../other && npm test", "cd sub/../sub && npm test"]);
    all_are(&place, Verdict::Ask, &["npm test", "cd sub/deep && npm test", "cd away && npm test"]);
    let place = saved(&rule("verdict = \"allow\"\ncommand = \"npm test\"\ncwd = \"site/**\""));
    all_are(&place, Verdict::Allow, &["cd sub && npm test", "cd sub/deep && npm test"]);
    // A `cd` that fails does not change the directory.
    let there = ["npm test", "cd sub/none; npm test", "cd file; npm test", "cd away/../sub && npm test"];
    all_are(&place, Verdict::Ask, &there);
    // The command runs also if the directory is there and cannot be entered.
    let place = saved(&rule("verdict = \"allow\"\ncommand = \"npm test\"\ncwd = \"site/sub\""));
    all_are(&place, Verdict::Allow, &["cd sub && npm test", "cd sub && cd . && npm test"]);
    all_are(&place, Verdict::Ask, &["cd sub; npm test", "! cd sub && npm test", "cd sub || true; npm test"]);
    let place = saved(&rule("verdict = \"allow\"\ncommand = \"npm test\"\ncwd = \".\""));
    all_are(&place, Verdict::Ask, &["npm test", "cd sub && npm test"]);
    all_are(&place, Verdict::Allow, &["cd .. && npm test"]);
}

#[test]
fn a_pattern_for_a_directory_allows_nothing_outside_of_it() {
    let place = saved(&rule("verdict = \"allow\"\ncommand = \"rm build/*\""));
    all_are(&place, Verdict::Allow, &["rm build/a", "rm build/a/b", "rm build/..a"]);
    all_are(&place, Verdict::Ask, &["rm build/../a", "rm build/x/../../a", "rm build/.."]);
}

/// The agent may create another `sub` that the rule was not written for.
#[test]
fn a_shape_is_bound_to_a_directory_too() {
    let shape = "verdict = \"allow\"\nshape = \"git commit -m <any text>\"";
    all_are(&saved(&rule(shape)), Verdict::Allow, &["git commit -m x"]);
    let place = saved(&rule(&format!("{shape}\ncwd = \"other\"")));
    all_are(&place, Verdict::Ask, &["git commit -m x"]);
}

#[test]
fn a_rule_that_denies_speaks_wherever_a_command_runs() {
    let place = saved(&rule("verdict = \"deny\"\ncommand = \"npm publish\""));
    all_are(&place, Verdict::Deny, &["npm publish", "cd sub && npm publish", "cd $X && npm publish"]);
    let problem = |body: &str| saved(&rule(body)).complaints();
    let denies = problem("verdict = \"deny\"\ncommand = \"npm test\"\ncwd = \"site\"");
    assert!(denies.contains("`cwd` is only for `allow`"), "{denies}");
    let alone = problem("verdict = \"allow\"\noperation = \"command.execute\"\ncwd = \"site\"");
    assert!(alone.contains("`cwd` limits the directory of a `command` or a `shape`"), "{alone}");
    let link = problem("verdict = \"allow\"\ncommand = \"npm test\"\ncwd = \"site/away\"");
    assert!(link.contains("elsewhere"), "{link}");
    let contradiction = problem(
        "verdict = \"allow\"\ncommand = \"x y\"\ncwd = \"anywhere\"\n\
         [[agents.lead.rules]]\nverdict = \"ask\"\ncommand = \"x y\"",
    );
    assert!(contradiction.contains("contradicts"), "{contradiction}");
    let example = rule(
        "verdict = \"allow\"\ncommand = \"npm test\"\ncwd = \"other\"\nmatch = \"npm test\"\nnot_match = \"npm run x\"",
    );
    assert_eq!(saved(&example).complaints(), "nothing");
}

#[test]
fn a_wildcard_stands_for_no_option_that_runs_something() {
    let place = saved(&allow("git push origin **"));
    let meant = [
        "git push origin main",
        "git push origin HEAD:refs/heads/x --tags",
        "git push origin -u main",
        "git push origin",
    ];
    all_are(&place, Verdict::Allow, &meant);
    let not_meant = [
        "git push origin --receive-pack='touch x'",
        "git push origin --exec=./x main",
        "git push origin --receive-pa=./x",
        "git push origin --repo=ext::sh",
        "git push origin ext::sh",
        "git -c core.sshCommand=./x push origin",
    ];
    all_are(&place, Verdict::Ask, &not_meant);
    for destroys in ["git push origin --force", "git push origin +main"] {
        assert_ne!(verdict(&place, destroys), Verdict::Allow, "{destroys}");
    }
}

/// The programs of the findings, each under the widest pattern that names it.
const RUNS: &[(&str, &str)] = &[
    ("git fetch", "--upload-pack=./x"),
    ("git clone", "-c core.sshCommand=./x"),
    ("git clone", "--template=./x"),
    ("git commit", "-F.env"),
    ("git rebase", "-x ./x"),
    ("git log", "--output=x"),
    ("tar", "--to-command=./x"),
    ("tar", "--checkpoint-action=exec=./x"),
    ("tar", "xIf ./x a"),
    ("rsync", "-e ./x"),
    ("rsync", "-ave./x"),
    ("rsync", "--rsh=./x"),
    ("ssh", "-o ProxyCommand=./x"),
    ("ssh", "-oProxyCommand=./x"),
    ("scp", "-S ./x"),
    ("find", ". -exec ./x"),
    ("find", ". -fprintf x"),
    ("sort", "--compress-program=./x"),
    ("sort", "-o x"),
    ("gcc", "-wrapper ./x"),
    ("gcc", "-fplugin=./x"),
    ("gcc", "@options"),
    ("make", "SHELL=./x"),
    ("make", "CC=./x"),
    ("make", "-f x"),
    ("make", "-C x"),
    ("make", "--eval=x"),
    ("cargo build", "--config=x"),
    ("cargo build", "--manifest-path=x"),
    ("cargo test", "--target-dir=x"),
    ("go test", "-exec ./x"),
    ("go build", "-toolexec=./x"),
    ("go build", "-o x"),
    ("npm run", "--script-shell=./x"),
    ("npm install", "--prefix=x"),
    ("pytest", "-p x"),
    ("pytest", "--rootdir=x"),
    ("jest", "--config=x"),
    ("eslint", "--rulesdir=x"),
    ("docker compose", "-f x"),
    ("docker run", "-v /:/x"),
    ("python3", "-c x"),
    ("perl", "-ex"),
    ("bash", "-c x"),
    ("node", "--require=./x"),
    ("vim", "+!x"),
    ("less", "+!x"),
    ("dd", "of=x"),
    ("env", "PATH=x y"),
    ("xargs", "-a x y"),
    ("zip", "-TT ./x"),
    ("gh pr create", "--body-file=.env"),
    ("mvn", "-Dexec.executable=./x"),
    ("gradle", "-I x"),
    ("pip install", "--index-url=x"),
    ("wget", "--use-askpass=./x"),
    ("curl", "-K x"),
    ("kubectl", "--kubeconfig=x"),
    ("watch", "--exec x"),
    ("cp", "--target-directory=x"),
];

#[test]
fn no_program_has_an_option_that_a_wildcard_lets_run_something() {
    for (program, option) in RUNS {
        let place = saved(&allow(&format!("{program} **")));
        let line = format!("{program} {option}");
        assert_ne!(verdict(&place, &line), Verdict::Allow, "{}", explained(&place, &line));
        if !takes_a_script(program) {
            let line = format!("{program} operand {option}");
            assert_ne!(verdict(&place, &line), Verdict::Allow, "{}", explained(&place, &line));
        }
    }
}

/// Returns true if the words behind the first operand belong to code that runs anyway.
fn takes_a_script(program: &str) -> bool {
    matches!(program, "python3" | "perl" | "bash" | "node" | "docker run" | "env" | "xargs")
}

#[test]
fn only_words_behind_a_script_are_no_options_of_the_program() {
    let cases = [
        ("go test", "go test ./... -args -exec ./x", "go test -run -args -exec ./x"),
        ("go run", "go run ./x -exec y", "go run -exec y ./x"),
        ("python3", "python3 a -c x", "python3 -v -c a"),
        ("bash", "bash a -c x", "bash -e -c a"),
        ("npm test", "npm test -- --reporter=./x", "npm test --script-shell=./x -- a"),
        ("./deploy.sh", "./deploy.sh --hook=./x", "./other.sh --hook=./x"),
    ];
    for (program, covered, other) in cases {
        let place = saved(&allow(&format!("{program} **")));
        all_are(&place, Verdict::Allow, &[covered]);
        all_are(&place, Verdict::Ask, &[other]);
    }
}

/// A person has read the options that a pattern names.
#[test]
fn what_a_pattern_names_it_covers() {
    let place = saved(&allow("git push origin --no-verify **"));
    all_are(&place, Verdict::Allow, &["git push origin --no-verify main"]);
    all_are(&place, Verdict::Ask, &["git push origin --exec=x main", "git push origin --no-verify --exec=x"]);
    let place = saved(&allow("make CC=clang **"));
    all_are(&place, Verdict::Allow, &["make CC=clang all", "make CC=clang"]);
    all_are(&place, Verdict::Ask, &["make CC=./x all", "make CC=clang SHELL=x"]);
    let place = saved(&allow("mocha --reporter=* **"));
    all_are(&place, Verdict::Allow, &["mocha --reporter=dot a b"]);
    all_are(&place, Verdict::Ask, &["mocha --require=x", "mocha --reporter=dot --require=x", "mocha -r=x"]);
    let place = saved(&allow("git -C sub push"));
    all_are(&place, Verdict::Allow, &["git -C sub push"]);
    all_are(&place, Verdict::Ask, &["git -C other push", "git push"]);
    // A star within a word covers no option name either.
    let place = saved(&allow("tar * x"));
    all_are(&place, Verdict::Ask, &["tar --to-command=./x x", "tar -I./x x"]);
}

#[test]
fn an_explanation_says_why_a_rule_does_not_cover() {
    let place = saved(&allow("git push origin **"));
    let told = explained(&place, "git push origin --receive-pack='touch x'").to_string();
    assert!(told.contains("the pattern `git push origin **`"), "{told}");
    let place = saved(&allow("npm test"));
    let told = explained(&place, "cd sub && npm test").to_string();
    let there = place.text("policy/site/sub");
    assert!(told.contains("allows `npm test` only in the working directory, because it has no `cwd`"), "{told}");
    assert!(told.contains(&format!("the command runs in `{there}`")), "{told}");
    let told = explained(&place, "cd \"$X\" && npm test").to_string();
    assert!(told.contains("the command runs in an unknown directory"), "{told}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::support::cases(24)))]

    /// A wildcard never covers an option that runs a program, whatever words are around it.
    #[test]
    fn no_words_around_an_option_make_a_wildcard_cover_it(
        (program, option) in prop::sample::select(RUNS),
        before in prop::collection::vec(prop::sample::select(&["a", "b/c", "--", "-v", "--verbose", "-q"][..]), 0..4),
        after in prop::collection::vec(prop::sample::select(&["a", "--", "-n", "x.y"][..]), 0..3),
    ) {
        let words = [program].into_iter().chain(before.iter().copied()).chain([option]).chain(after);
        let line = words.collect::<Vec<_>>().join(" ");
        // A line that only reads needs no rule.
        prop_assume!(classify(&line).tier > bestow::command::Tier::Safe);
        let is_operand = |word: &&str| !word.starts_with('-') || *word == "--";
        prop_assume!(!takes_a_script(program) || !before.iter().any(is_operand));
        // Words behind `--` are for the tests or the script, which run anyway.
        prop_assume!(!matches!(program, "cargo test" | "npm run") || !before.contains(&"--"));
        // `tar` takes a word without a dash for options only where it stands first.
        prop_assume!(program != "tar" || option.starts_with('-') || before.is_empty());
        let place = saved(&allow(&format!("{program} **")));
        prop_assert_ne!(verdict(&place, &line), Verdict::Allow, "{}", line);
    }
}
