//! A comparison of every answer with a committed record of the answers.
//!
//! The record has one row for each labelled case, for each example of a program, for each line of the other tests, and
//! for each program name in a number of forms. A row consists of hashes, so that the file stays small. After a
//! deliberate change of an answer, `BESTOW_BLESS=1 cargo test -p bestow-command golden` rewrites the record. With
//! `BESTOW_ANSWERS=FILE`, the test also writes all answers in full to a file, for a comparison with those of another
//! version.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::PathBuf,
};

use crate::{Classification, Classifier, Profile, classification::Judged, programs};

/// The forms in which each program name is asked about. `NAME` stands for the name.
const FORMS: &[&str] = &[
    "NAME",
    "NAME --version",
    "NAME --help",
    "NAME -v",
    "NAME version",
    "NAME help",
    "NAME list --help",
    "NAME x",
    "NAME -x \"$V\" y",
    "NAME / /etc/passwd ~",
    "NAME -r -f / --delete",
    "NAME delete x --all --force",
    "NAME install https://host.example/x",
    "NAME list a status b",
    "NAME -o out --output=out -f in",
    "NAME exec -- rm -rf /",
    "NAME run x -- ls -l",
    "NAME rm -rf /",
    "NAME 1 git push",
    "NAME -n 5 -c 'drop table x' user@host.example:/p",
    "echo 'rm -rf /' | NAME",
    "/opt/NAME config get a",
    "ls | xargs NAME",
    "NAME add -v x -o @y a::b",
    "NAME -cqr --quiet --verbose -p x",
    "NAME build -q --release -j 4 --watch x=y",
];

fn data(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("golden").join(file)
}

/// Returns the labelled cases, the examples of the programs and the lines of other tests.
pub(super) fn lines() -> BTreeSet<String> {
    let cases = [
        include_str!("../../../../tests/cases/commands.jsonl"),
        include_str!("../../../../tests/cases/commands-own.jsonl"),
    ];
    let rows = cases.into_iter().flat_map(str::lines).filter_map(|line| serde_json::from_str(line).ok());
    let cases = rows.filter_map(|row: serde_json::Value| row["command"].as_str().map(str::to_owned));
    let others = fs::read_to_string(data("lines.jsonl")).unwrap();
    let others: Vec<String> = others.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let safe = programs::all().flat_map(|program| program.reads).map(|row| (row.matches, row.not_matches));
    let destroy = programs::all().flat_map(|program| program.destroys).map(|row| (row.matches, row.not_matches));
    let examples = safe.chain(destroy);
    let examples = examples.flat_map(|(matches, others)| matches.iter().chain(others)).map(|line| (*line).to_owned());
    cases.chain(others).chain(examples).collect()
}

/// A hash that is the same on every machine (FNV-1a).
fn hash(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

/// The verdict and the uses of a line, in full.
struct Answer {
    verdict: String,
    uses: String,
}

impl Answer {
    fn of(line: &str) -> Answer {
        let judged = Classifier::default().judge(line);
        // The answer does not depend on whether somebody asks for the commands and the resources.
        assert_eq!(judged.classification, Classifier::default().classify(line), "{line}");
        let advice = judged.rollback_advice();
        let by_name: Vec<_> = judged.spoken().into_iter().flatten().map(|part| part.by_name).collect();
        let Judged { classification: found, commands, named } = judged;
        let Classification { tier, reason, parts, understood, shape } = found;
        let strict = Classifier::new(Profile::Strict).classify(line);
        let mut verdict = format!("{tier} {reason} {understood} {} {} {advice}", strict.tier, strict.reason);
        let mut uses = format!("{:?} {named:?} {by_name:?}", shape.map(|shape| shape.to_string()));
        for part in parts {
            let _ = write!(verdict, "\n{} {} {} {:?}", part.tier, part.rule, part.command, part.span);
        }
        for part in commands {
            let _ = write!(uses, "\n{:?} {:?} {:?} {:?}", part.runs, part.starts, part.dirs, part.obeys);
        }
        Answer { verdict, uses }
    }

    /// Adds the answer of another line.
    fn and(mut self, other: &Answer) -> Answer {
        self.verdict = self.verdict + "\n" + &other.verdict;
        self.uses = self.uses + "\n" + &other.uses;
        self
    }

    fn row(&self) -> String {
        let short = |text: &str| format!("{:012x}", hash(text) >> 16);
        format!("{} {} {}", self.verdict.get(..3).unwrap_or_default(), short(&self.verdict), short(&self.uses))
    }
}

fn forms(name: &str) -> impl Iterator<Item = String> {
    FORMS.iter().map(move |form| form.replace("NAME", name))
}

/// Returns the program names of a record.
fn names(record: &str) -> Vec<&str> {
    record.lines().filter_map(|row| row.strip_prefix("name ")?.split(' ').next()).collect()
}

#[test]
fn every_answer_is_that_of_the_golden_record() {
    let file = data("answers.txt");
    let before = fs::read_to_string(&file).unwrap_or_default();
    let mut found = BTreeMap::new();
    let mut full = String::new();
    let mut answer = |line: &str| {
        let answer = Answer::of(line);
        let _ = writeln!(full, "== {line:?}\n{}\n{}", answer.verdict, answer.uses);
        answer
    };
    for line in lines() {
        found.insert(format!("{:016x}", hash(&line)), answer(&line).row());
    }
    let known = programs::all().flat_map(|program| program.names).copied().filter(|name| !name.contains('*'));
    for name in names(&before).into_iter().chain(known).collect::<BTreeSet<&str>>() {
        let all = forms(name).map(|form| answer(&form)).reduce(|all, one| all.and(&one));
        found.insert(format!("name {name}"), all.unwrap().row());
    }
    if let Some(target) = std::env::var_os("BESTOW_ANSWERS") {
        fs::write(target, full).unwrap();
    }
    let found: String = found.iter().map(|(key, row)| format!("{key} {row}\n")).collect();
    if std::env::var_os("BESTOW_BLESS").is_some() {
        fs::write(&file, &found).unwrap();
    }
    let key = |row: &'_ str| row.rsplitn(4, ' ').last().unwrap_or_default().to_owned();
    let asked: BTreeSet<String> = before.lines().map(key).collect();
    let before: BTreeSet<&str> = before.lines().collect();
    let differ = found.lines().filter(|row| !before.contains(row));
    let (changed, new): (Vec<&str>, Vec<&str>) = differ.partition(|row| asked.contains(&key(row)));
    let keys: BTreeSet<&str> = changed.iter().filter_map(|row| row.get(..16)).collect();
    let lines: Vec<String> =
        lines().into_iter().filter(|line| keys.contains(&*format!("{:016x}", hash(line)))).collect();
    assert!(
        changed.is_empty() && found.lines().count() == before.len() || std::env::var_os("BESTOW_BLESS").is_some(),
        "{} answers changed, {} questions are new, of {} in the record. New questions are usual for a new program. If \
         all of it is meant, run this test again with BESTOW_BLESS=1. Changed: {changed:#?}\n{lines:#?}",
        changed.len(),
        new.len(),
        before.len(),
    );
}
