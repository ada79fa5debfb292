//! The tables against their own examples.

use super::{Tier, classify, destroy, safe};

#[test]
fn every_safe_row_matches_its_examples() {
    let mut wrong = Vec::new();
    for spec in safe::FAMILIES.iter().flat_map(|family| family.specs) {
        assert!(!spec.matches.is_empty() && !spec.not_matches.is_empty(), "a row without examples: {spec:?}");
        for (example, safe) in
            spec.matches.iter().map(|one| (one, true)).chain(spec.not_matches.iter().map(|one| (one, false)))
        {
            let answer = classify(example);
            if (answer.tier == Tier::Safe) != safe {
                wrong.push(format!("{example}: {}", answer.reason));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_destructive_row_matches_its_examples() {
    let mut wrong = Vec::new();
    for rule in destroy::TABLES.iter().copied().flatten() {
        assert!(!rule.matches.is_empty() && !rule.not_matches.is_empty(), "a row without examples: {rule:?}");
        for (example, hit) in
            rule.matches.iter().map(|one| (one, true)).chain(rule.not_matches.iter().map(|one| (one, false)))
        {
            let answer = classify(example);
            if (answer.tier == Tier::Destructive) != hit {
                wrong.push(format!("{example}: {}", answer.reason));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
