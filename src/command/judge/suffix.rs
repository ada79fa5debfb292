//! Where the command starts is not known: every word may start it.

use std::sync::LazyLock;

use foldhash::HashSet;

use super::{
    Input, Verdict, basename, code, embedded, inner,
    shell::{SHELLS, TEXT_RUNNERS},
    sql_client, within,
};
use crate::command::{
    answer::Span,
    destroy,
    tier::Tier,
    walk::{Arg, Walker},
};

/// More possible commands in one argument vector than this is no command line that a person wrote.
const MAX_CANDIDATES: usize = 64;
/// The same for a whole text, whatever is nested in it.
const MAX_CANDIDATES_IN_ALL: usize = 512;

impl Walker<'_> {
    /// The worst that a command starting at any of `words` does; only destruction counts.
    pub(in crate::command) fn search_suffixes(&mut self, words: &[Arg]) -> Verdict {
        self.speak_anywhere(words);
        let mut candidates = 0;
        let mut before: Option<&str> = None;
        let mut worst = Verdict::safe("");
        for (index, word) in words.iter().enumerate() {
            let name = basename(&word.text);
            // The first of several equal names sees everything the others see.
            let may_destroy = may_destroy(name) || self.classifier.additions().may_destroy(name);
            if !may_destroy || before == Some(name) {
                continue;
            }
            if self.is_worn_out() {
                break;
            }
            before = Some(name);
            candidates += 1;
            self.candidates += 1;
            if candidates > MAX_CANDIDATES || self.candidates > MAX_CANDIDATES_IN_ALL {
                self.speak_of_anything();
                self.uses.lose_words();
                return Verdict::destructive("hides what it runs among too many names of dangerous programs");
            }
            let suffix = words.get(index..).unwrap_or_default();
            // What else is started behind it counts as well, however bad this is.
            worst =
                worst.or_stricter(self.guess(|walker| walker.quietly(|walker| walker.judge(suffix, &Input::Unknown))));
        }
        if worst.tier == Tier::Destructive { worst } else { Verdict::safe("") }
    }

    /// Judges without writing down any part; what it starts may be started.
    pub(in crate::command) fn quietly<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.parts.len();
        let scope = self.scope.clone();
        let result = work(self);
        self.scope = scope;
        for part in self.parts.split_off(before) {
            self.overheard.extend(part.starts);
            self.obeyed.extend(part.obeys);
        }
        result
    }

    /// The last net, for a text that was not understood: the words of each stretch between operators, quotes dropped.
    pub(in crate::command) fn raw_search(&mut self, text: &str, span: Span) {
        let separators = |c: char| matches!(c, ';' | '|' | '&' | '\n' | '(' | ')' | '`' | '{' | '}' | '<' | '>');
        let text = text.replace("\\\n", "");
        // No program is called by signs alone, and a text of nothing but signs may have many stretches.
        let named = |stretch: &&str| stretch.bytes().any(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii());
        for stretch in text.split(separators).filter(named) {
            let words: Vec<Arg> = stretch
                .split(|c: char| c.is_whitespace() || c.is_control() || crate::command::syntax::is_invisible(c))
                .map(|word| word.replace(['\'', '"', '\\'], ""))
                .filter(|word| !word.is_empty())
                .map(|word| Arg::literal(word, span))
                .collect();
            let found = self.search_suffixes(&words);
            if found.tier == Tier::Destructive {
                self.note(Tier::Destructive, found.rule, span);
                return;
            }
        }
    }
}

/// Every program besides the destroyers themselves that can lead to one.
static LEADING: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    RUNNERS.iter().copied().chain(code::names()).chain(sql_client::names()).chain(embedded::names()).collect()
});

/// Programs that run what their words say, in whatever use.
static RUNNERS: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| [SHELLS, TEXT_RUNNERS].into_iter().flatten().copied().chain(inner::names()).collect());

/// Whether a program runs what its words say, in whatever use.
pub(in crate::command) fn runs_its_words(name: &str) -> bool {
    RUNNERS.contains(name)
}

/// Whether a program can be found destructive at all.
pub(super) fn may_destroy(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._+-".contains(&byte);
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(plain)
        && (destroy::knows(name) || LEADING.contains(name) || code::is_interpreter(name) || within::may_run(name))
}
