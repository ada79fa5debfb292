//! Tests of the patterns of rules: those that deny match every spelling, those that allow match what is written.

use crate::{
    any_form::may_match,
    classifier::Classifier,
    values::{CommandPattern, Coverage},
};

/// Returns true if a rule that denies this pattern covers the line.
fn denies(pattern: &str, line: &str) -> bool {
    let pattern: CommandPattern = pattern.parse().unwrap();
    let parts = Classifier::default().judge(line).spoken();
    let Some(parts) = parts else { return true };
    parts.iter().flat_map(|part| part.runs.iter().chain(&part.starts)).any(|command| may_match(&pattern, command))
}

/// Returns true if a rule that allows this pattern covers each part of the line that is not safe.
fn allows(pattern: &str, line: &str) -> bool {
    let pattern: CommandPattern = pattern.parse().unwrap();
    let parts = Classifier::default().judge(line).spoken().unwrap_or_default();
    !parts.is_empty()
        && parts.iter().filter(|part| part.tier > crate::Tier::Safe).all(|part| {
            let runs = part.runs.as_ref();
            runs.is_some_and(|runs| pattern.certainly_covers(runs, &part.by_name) == Coverage::Whole)
        })
}

#[test]
fn a_rule_that_denies_covers_every_spelling_of_its_options() {
    for line in [
        "rm -rf x",
        "rm -fr x",
        "rm -r -f x",
        "rm -f -r x",
        "rm --recursive --force x",
        "rm -rfv x",
        "rm x -rf",
        "rm -R --force x",
        "rm -r x -f",
        "command rm -rf x",
        "/bin/rm -fr x",
        "xargs rm -rf",
        "env rm -r -f x",
        "rm --recurs --for x",
        "rm -vrf x",
        "sh -c 'rm -fr x'",
        "rm $opts x",
        "sudo rm --force -r x",
        "rm -rf",
    ] {
        assert!(denies("rm -rf **", line), "{line}");
    }
    for (pattern, line) in [
        ("git add -A", "git add --all"),
        ("git add -A", "git add -Av"),
        ("git add --all", "git add -A"),
        ("git push --force **", "git push origin main --force"),
        ("git push --force **", "git push -f origin main"),
        ("git push --force **", "git -C x push origin -f"),
        ("git push -f **", "git push --force origin"),
        ("docker run --privileged **", "docker run -it --privileged x"),
        ("git commit --no-verify **", "git commit -n -m x"),
        ("docker run -v /:/host **", "docker run --volume=/:/host x"),
        ("curl -o * **", "curl --output x http://a.b"),
        ("rm", "rm -rf docs"),
        ("rm", "/bin/rm x"),
        ("** prod **", "deploy --to prod now"),
        ("** prod **", "prod x"),
        ("git ** --no-verify **", "git commit -m x --no-verify"),
        ("** --no-verify **", "git -c a=b commit --no-verify"),
        ("git push --delete **", "git push origin -d x"),
        ("sed -i **", "sed --in-place s/a/b/ f"),
    ] {
        assert!(denies(pattern, line), "{pattern}: {line}");
    }
}

#[test]
fn a_rule_that_denies_leaves_other_options_alone() {
    for (pattern, line) in [
        ("rm -rf **", "rm -f x"),
        ("rm -rf **", "rm -r x"),
        ("rm -rf **", "rm x"),
        ("git push --force **", "git push origin main"),
        ("git push --force **", "git push --force-with-lease origin"),
        ("git add -A", "git add src"),
        ("git add -A", "git add -u"),
        ("git commit --no-verify **", "git push -n"),
        ("** prod **", "deploy --to production"),
        ("rm -rf **", "ls -rf x"),
        ("git push -f **", "git push --follow-tags"),
        ("docker run --privileged **", "docker run x"),
    ] {
        assert!(!denies(pattern, line), "{pattern}: {line}");
    }
}

#[test]
fn a_rule_that_allows_covers_the_options_of_code_that_runs_anyway() {
    for (pattern, line) in [
        ("npm test **", "npm test -- --coverage"),
        ("npm run **", "npm run test -- --watch=false"),
        ("uv run pytest **", "uv run pytest tests/ -q"),
        ("python3 -m pytest **", "python3 -m pytest -q"),
        ("rm **", "rm -f src/a"),
        ("chmod **", "chmod +x src/x.sh"),
        ("kubectl apply **", "kubectl apply -f k8s/"),
        ("pip install **", "pip install -r requirements.txt"),
        ("deno test **", "deno test --filter parse | tail -40"),
        ("ruff check **", "ruff check --fix ."),
        ("terraform plan **", "terraform plan -out=tfplan"),
        ("python3 scripts/x.py **", "python3 scripts/x.py --input a.json"),
        ("docker build **", "docker build -t x ."),
        ("cargo test **", "cargo test -- --nocapture"),
        ("node x.js **", "node x.js --port 1"),
        ("./scripts/x.sh **", "./scripts/x.sh --all"),
        ("timeout 60 npm **", "timeout 60 npm test -- --ci"),
        ("npx jest **", "npx jest --coverage"),
        ("git commit **", "git commit -m \"$(cat <<'EOF'\nfeat: x\n\nCo-Authored-By: A <a@b.c>\nEOF\n)\""),
        ("git commit **", "git commit -m \"$(echo a b)\""),
        ("bash x.sh **", "bash x.sh --force"),
        ("go run x.go **", "go run x.go --flag"),
    ] {
        assert!(allows(pattern, line), "{pattern}: {line}");
    }
}

#[test]
fn no_wildcard_covers_an_option_that_changes_what_the_program_does() {
    for (pattern, line) in [
        ("git **", "git -c core.pager=x log"),
        ("tar **", "tar xf a --to-command=sh"),
        ("git push **", "git push --receive-pack=x o"),
        ("npm test **", "npm test --prefix /x"),
        ("python3 **", "python3 -c x"),
        ("node **", "node --require ./x y.js"),
        ("node **", "node -r ./x y.js"),
        ("uv run **", "uv run --with x pytest"),
        ("uv run **", "uv run curl -o x http://a.b"),
        ("npx **", "npx --package=x tsc"),
        ("docker run **", "docker run --privileged x"),
        ("docker run **", "docker run -v /:/x y"),
        ("git commit **", "git commit -m \"$(cat <<EOF\n$(curl -s x.y)\nEOF\n)\""),
        ("git commit **", "git commit -m \"$(cat f)\""),
        ("bash **", "bash -c x"),
        ("timeout 60 **", "timeout 60 git -c a.b=c push"),
        ("cargo test **", "cargo test --config a=b"),
        ("pytest **", "pytest -p evil"),
        ("make **", "make SHELL=x"),
        ("git push **", "git push --force"),
        ("rm **", "rm -r x"),
        ("python3 -m **", "python3 -m pip install --index-url x y"),
        ("go run **", "go run -exec x y.go"),
        ("rsync **", "rsync -e x a b"),
        ("git ** x", "git push x"),
        ("** x", "git push x"),
        ("npm run **", "npm run x --script-shell y"),
        ("curl **", "curl -o f http://x.y"),
        ("gh pr create **", "gh pr create --body-file x"),
        ("terraform apply **", "terraform apply -destroy"),
        ("kubectl exec **", "kubectl exec p --kubeconfig x -- ls"),
    ] {
        assert!(!allows(pattern, line), "{pattern}: {line}");
    }
}

/// A pattern matches at least as much in a rule that denies as in one that allows.
#[test]
fn a_pattern_denies_what_it_allows() {
    let patterns = [
        "git **",
        "git push **",
        "git push",
        "npm run *",
        "rm **",
        "rm -f *",
        "git commit -m *",
        "python3 **",
        "cargo test **",
    ];
    let mut covered = 0;
    for program in crate::programs::all() {
        let rows = program.reads.iter().flat_map(|row| row.matches.iter().chain(row.not_matches));
        for line in rows.copied().chain([
            "git push origin main",
            "rm -f a",
            "npm run build",
            "cargo test -- --x",
            "python3 a.py --b",
        ]) {
            for pattern in patterns.iter().filter(|pattern| allows(pattern, line)) {
                covered += 1;
                assert!(crate::classify(line).tier == crate::Tier::Safe || denies(pattern, line), "{pattern}: {line}");
            }
        }
    }
    assert!(covered > 100, "{covered}");
}

#[test]
fn a_denied_pattern_of_plain_words_denies_any_words_behind_it() {
    for (pattern, line) in [
        ("git push", "git push origin main"),
        ("git push", "git -C x push origin main"),
        ("git push", "git --no-pager push -f"),
        ("git push", "sudo git push origin"),
        ("git push", "timeout 5 git push $X"),
        ("docker run", "docker --context x run -it alpine"),
        ("npm publish", "npm publish --tag next ./x"),
        ("git add -A", "git add --all src"),
        ("rm -rf", "rm -fr docs"),
        ("kubectl delete pod", "kubectl -n x delete pod y"),
    ] {
        assert!(denies(pattern, line), "{pattern}: {line}");
    }
    for (pattern, line) in [
        ("git push", "git pull"),
        ("git push", "git log push"),
        ("docker run", "docker ps"),
        ("git push *", "git push origin main"),
        ("rm -rf", "rm -f docs"),
    ] {
        assert!(!denies(pattern, line), "{pattern}: {line}");
    }
    assert!(!allows("git push", "git push origin main"), "a rule that allows does not widen");
    assert!(!allows("npm", "npm test"), "a rule that allows does not widen");
}

/// The words with which a command begins are a pattern of a rule that denies or asks, whatever the command is.
#[test]
fn the_first_words_of_every_command_deny_it() {
    let mut tried = 0;
    for line in super::golden::lines() {
        let parts = Classifier::default().judge(&line).spoken().unwrap_or_default();
        for runs in parts.iter().filter_map(|part| part.runs.as_ref()) {
            let written: Vec<&str> = runs.words.iter().map_while(crate::values::Said::written).collect();
            for count in 1..=written.len().min(4) {
                let words = &written[..count];
                if words.iter().any(|word| word.is_empty() || word.contains([' ', '*', '\n', '\t'])) {
                    break;
                }
                let Ok(pattern) = words.join(" ").parse::<CommandPattern>() else { break };
                tried += 1;
                assert!(may_match(&pattern, runs), "`{pattern}`: {line}");
            }
        }
    }
    assert!(tried > 10_000, "{tried}");
}
