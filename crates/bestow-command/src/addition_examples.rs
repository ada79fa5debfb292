//! The check of custom rules against their own examples.

use crate::{
    addition::Additions,
    addition_check::{InvalidAddition, Row, malformed},
    classification::Classification,
    classifier::Classifier,
    tier::{Profile, Tier},
    values::{CommandRules, Raise, SafeAddition},
};

impl Additions {
    /// Checks additions together, each with its own examples.
    ///
    /// # Errors
    ///
    /// Returns the first addition that is malformed or contradicts its own examples.
    pub fn new(safe: Vec<SafeAddition>, raises: Vec<Raise>) -> Result<Self, InvalidAddition> {
        let rules = CommandRules { profile: Profile::Default, safe, raises };
        match Self::check(&rules).into_iter().next() {
            Some((_, why)) => Err(why),
            None => Self::of(&rules),
        }
    }

    /// Returns every mistake in the additions of `rules`: in their form or, if every form is valid, in their examples.
    pub fn check(rules: &CommandRules) -> Vec<(Row, InvalidAddition)> {
        let wrong = malformed(rules);
        match Self::of(rules) {
            Ok(additions) if wrong.is_empty() => additions.against_examples(rules),
            _ => wrong,
        }
    }

    fn against_examples(self, rules: &CommandRules) -> Vec<(Row, InvalidAddition)> {
        let with = Classifier::new(Profile::Default).with_additions(self.clone());
        let mut wrong = Vec::new();
        for (index, row) in rules.safe.iter().enumerate() {
            let without = Classifier::new(Profile::Default).with_additions(self.without(index));
            let example = Examples { program: &row.program, matches: &row.matches, not_matches: &row.not_matches };
            let found = example.wrong(&with, Some(&without), |tier| tier == Tier::Safe);
            wrong.extend(found.into_iter().map(|why| (Row::Safe(index), why)));
        }
        for (index, row) in rules.raises.iter().enumerate() {
            let example = Examples { program: &row.program, matches: &row.matches, not_matches: &row.not_matches };
            // A raise to a tier that the command already has permits nothing new. Therefore it need not prove its
            // effect.
            let found = example.wrong(&with, None, |tier| tier >= row.tier);
            wrong.extend(found.into_iter().map(|why| (Row::Raise(index), why)));
        }
        wrong
    }
}

/// The examples of one addition.
struct Examples<'r> {
    program: &'r str,
    matches: &'r [String],
    not_matches: &'r [String],
}

impl Examples<'_> {
    /// Returns every example that has the wrong tier, or that has the right tier even without the addition.
    fn wrong(
        &self,
        with: &Classifier,
        without: Option<&Classifier>,
        fits: impl Fn(Tier) -> bool,
    ) -> Vec<InvalidAddition> {
        let examples =
            self.matches.iter().map(|one| (one, true)).chain(self.not_matches.iter().map(|one| (one, false)));
        let wrong = |(example, matches): (&String, bool)| {
            let (program, example) = (self.program.to_owned(), example.to_owned());
            let Classification { tier, reason, .. } = with.classify(&example);
            if fits(tier) != matches {
                return Some(InvalidAddition::Example { program, example, matches, tier, reason });
            }
            let tier = without.filter(|_| matches)?.classify(&example).tier;
            fits(tier).then_some(InvalidAddition::ProvesNothing { program, example, tier })
        };
        examples.filter_map(wrong).collect()
    }
}
