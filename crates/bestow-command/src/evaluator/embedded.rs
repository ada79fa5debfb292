//! A search of every suffix of an argument list for an embedded command.

use crate::{
    evaluator::{Evaluation, Traits},
    invocation::Input,
    tier::Tier,
    values::base_name,
    verdict::Verdict,
    word::Word,
};

/// The limit of possible commands in one argument vector. A person does not write a command line with more of them.
const MAX_CANDIDATES: usize = 64;

impl Evaluation<'_, '_> {
    /// Returns the strictest verdict on a command that starts at any of `words`. Only destruction counts.
    pub(crate) fn search_suffixes(&mut self, words: &[Word]) -> Verdict {
        self.record_anywhere(words);
        let mut candidates = 0;
        let mut before: Option<&str> = None;
        let mut worst = Verdict::safe("");
        for (index, word) in words.iter().enumerate() {
            let name = base_name(word.text());
            // The suffix at the first of several equal names contains the suffixes at the others.
            let may_destroy = Traits::of(name).has(Traits::MAY_DESTROY) || self.rules.additions.may_destroy(name);
            if !may_destroy || before == Some(name) {
                continue;
            }
            if self.shell.budget.is_spent() {
                break;
            }
            before = Some(name);
            candidates += 1;
            let fits = self.shell.budget.try_candidate();
            if candidates > MAX_CANDIDATES || !fits {
                self.record_anything();
                self.shell.uses.lose_words();
                return Verdict::destructive("hides what it runs among too many names of dangerous programs");
            }
            let suffix = words.get(index..).unwrap_or_default();
            // Commands after a destructive one count as well.
            worst = worst.or_stricter(self.speculate(|evaluation| {
                evaluation.discard_parts(|evaluation| evaluation.evaluate(suffix, &Input::Unknown))
            }));
        }
        if worst.tier == Tier::Destructive { worst } else { Verdict::safe("") }
    }
}
