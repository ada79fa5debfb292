//! The tables against their own examples, and the bounds of the parser.

use super::{Tier, classifier::Classifier, classify, destroy, safe, syntax};

#[test]
fn every_safe_row_matches_its_examples() {
    for spec in safe::TABLES.iter().copied().flatten() {
        assert!(!spec.matches.is_empty() && !spec.not_matches.is_empty(), "a row without examples: {spec:?}");
        for example in spec.matches {
            let answer = classify(example);
            assert_eq!(answer.tier, Tier::Safe, "{example}: {}", answer.reason);
        }
        for example in spec.not_matches {
            let answer = classify(example);
            assert!(answer.tier > Tier::Safe, "{example}: {}", answer.reason);
        }
    }
}
