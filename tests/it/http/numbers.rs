//! A check that every acceptance case of the dialects is named by a test: A1 to A36, the cases of B that a program
//! outside can see, and C1 to C50. A test names its cases in front: `a10_to_a12_…`, `c27_and_c30_…`.

use std::{collections::BTreeSet, fs, path::Path};

use crate::support::ROOT;

/// The cases of B that have a wire. The others are about hooks of the host program, modes, the sandbox and files, and
/// are in `decision`, `sandbox` and `stored`.
const B: [u32; 13] = [1, 3, 4, 7, 15, 16, 19, 20, 22, 23, 24, 25, 27];

type Case = (char, u32);

#[test]
fn every_case_of_the_dialects_is_named_by_a_test() {
    let mut named = BTreeSet::new();
    read(&Path::new(ROOT).join("tests/it/http"), &mut named);
    let wanted = (1..=36).map(|number| ('a', number));
    let wanted: BTreeSet<Case> =
        wanted.chain(B.map(|number| ('b', number))).chain((1..=50).map(|number| ('c', number))).collect();
    let missing: Vec<_> = wanted.difference(&named).collect();
    assert!(missing.is_empty(), "no test names {missing:?}");
    let unknown: Vec<_> = named.difference(&wanted).collect();
    assert!(unknown.is_empty(), "there is no case {unknown:?}");
}

#[test]
fn the_names_of_tests_are_read() {
    let all = |name: &str| cases(name).into_iter().collect::<Vec<_>>();
    assert_eq!(all("a10_to_a12_unknown_requests"), [('a', 10), ('a', 11), ('a', 12)]);
    assert_eq!(all("c27_and_c30_a_call"), [('c', 27), ('c', 30)]);
    assert_eq!(all("b19_and_c49_what_waits"), [('b', 19), ('c', 49)]);
    assert_eq!(all("a_request_to_b2"), []);
    assert_eq!(all("c1"), [('c', 1)]);
}

fn read(directory: &Path, named: &mut BTreeSet<Case>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read(&path, named);
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let mut is_test = false;
        for line in text.lines().map(str::trim) {
            let function = line.strip_prefix("async fn ").or_else(|| line.strip_prefix("fn "));
            match function {
                Some(function) if is_test => named.extend(cases(function.split('(').next().unwrap())),
                _ => {}
            }
            is_test = line == "#[test]" || line.starts_with("#[tokio::test");
        }
    }
}

/// Returns the cases in front of the name of a test.
fn cases(name: &str) -> BTreeSet<Case> {
    let mut words = name.split('_').peekable();
    let mut all = BTreeSet::new();
    let Some(mut last) = words.next().and_then(case) else { return all };
    all.insert(last);
    while let Some(joint) = words.next_if(|word| matches!(*word, "to" | "and")) {
        let Some(next) = words.next().and_then(case) else { break };
        if joint == "to" {
            assert_eq!(last.0, next.0, "{name}");
            all.extend((last.1..=next.1).map(|number| (next.0, number)));
        }
        all.insert(next);
        last = next;
    }
    all
}

fn case(word: &str) -> Option<Case> {
    let letter = word.chars().next().filter(|letter| matches!(letter, 'a' | 'b' | 'c'))?;
    Some((letter, word[1..].parse().ok()?))
}
