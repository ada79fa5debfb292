//! A search of every suffix of an argument list for an embedded command.

use crate::{
    evaluator::{Evaluation, Traits, Use, leading},
    invocation::{Input, Search},
    tier::Tier,
    values::base_name,
    verdict::Verdict,
    word::Word,
};

/// The limit of possible commands in one argument vector. A person does not write a command line with more of them.
const MAX_CANDIDATES: usize = 64;

impl Evaluation<'_, '_> {
    /// Returns the strictest verdict on a command that starts at any of `words`. Only destruction counts. Inside a
    /// search of more words, that search tries the commands that it has in common with this one.
    pub(crate) fn search_suffixes(&mut self, words: &[Word]) -> Verdict {
        self.record_anywhere(words);
        let places = &self.shell.scope.places;
        let is_tried =
            |at: &usize| words.get(*at..).is_some_and(|suffix| self.shell.invocations.is_tried(suffix, places));
        let candidates: Vec<usize> = self.candidates(words).into_iter().filter(|at| !is_tried(at)).collect();
        if candidates.is_empty() || self.shell.budget.is_spent() {
            return Verdict::safe("");
        }
        if candidates.len() > MAX_CANDIDATES {
            return self.too_many_candidates();
        }
        let search = Search::new(words, candidates.iter().filter_map(|at| words.get(*at)), places);
        self.shell.invocations.begin_search(search);
        let worst = self.try_candidates(words, &candidates);
        self.shell.invocations.end_search();
        if worst.tier == Tier::Destructive { worst } else { Verdict::safe("") }
    }

    fn too_many_candidates(&mut self) -> Verdict {
        self.record_anything();
        self.shell.uses.lose_words();
        Verdict::destructive("hides what it runs among too many names of dangerous programs")
    }

    /// Returns the indices of the words at which a command may begin that destroys something.
    fn candidates(&self, words: &[Word]) -> Vec<usize> {
        let mut before: Option<&str> = None;
        let mut candidates = Vec::new();
        for (index, word) in words.iter().enumerate() {
            let name = base_name(word.text());
            // The suffix at the first of several equal names contains the suffixes at the others.
            let is_known = leading::begins_name(name) && Traits::may_destroy(name);
            let may_destroy = is_known || self.rules.additions.may_destroy(name);
            if may_destroy && before != Some(name) {
                before = Some(name);
                candidates.push(index);
            }
        }
        candidates
    }

    fn try_candidates(&mut self, words: &[Word], candidates: &[usize]) -> Verdict {
        let mut worst = Verdict::safe("");
        for suffix in candidates.iter().filter_map(|at| words.get(*at..)) {
            if self.shell.budget.is_spent() {
                break;
            }
            if !self.shell.budget.try_candidate() {
                return self.too_many_candidates();
            }
            // Commands after a destructive one count as well.
            worst = worst.or_stricter(self.speculate(|evaluation| {
                evaluation
                    .discard_parts(|evaluation| evaluation.evaluate_spoken(&mut Use::of(suffix), &Input::Unknown, None))
            }));
        }
        worst
    }
}
