//! A search of every suffix of an argument list for an embedded command.

use std::sync::LazyLock;

use foldhash::HashSet;

use crate::{
    destroy,
    invocation::Input,
    judge::{
        code, embedded, inner,
        shell::{SHELLS, TEXT_RUNNERS},
        sql_client, within,
    },
    span::Span,
    tier::Tier,
    values::base_name,
    verdict::Verdict,
    walk::Walker,
    word::Word,
};

/// The limit of possible commands in one argument vector. A person does not write a command line with more of them.
const MAX_CANDIDATES: usize = 64;
/// The limit of possible commands in a whole text, including all nested texts.
const MAX_CANDIDATES_IN_ALL: usize = 512;

impl Walker<'_> {
    /// Returns the strictest verdict on a command that starts at any of `words`. Only destruction counts.
    pub(crate) fn search_suffixes(&mut self, words: &[Word]) -> Verdict {
        self.speak_anywhere(words);
        let mut candidates = 0;
        let mut before: Option<&str> = None;
        let mut worst = Verdict::safe("");
        for (index, word) in words.iter().enumerate() {
            let name = base_name(word.text());
            // The suffix at the first of several equal names contains the suffixes at the others.
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
            // Commands after a destructive one count as well.
            worst =
                worst.or_stricter(self.guess(|walker| walker.quietly(|walker| walker.judge(suffix, &Input::Unknown))));
        }
        if worst.tier == Tier::Destructive { worst } else { Verdict::safe("") }
    }

    /// Evaluates without recording parts. The commands that the parts start and the files that they obey are kept.
    pub(crate) fn quietly<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
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

    /// Searches a text that was not understood. It splits the text at operators and drops the quotes. Then it searches
    /// the words of each stretch.
    pub(crate) fn raw_search(&mut self, text: &str, span: Span) {
        let separators = |c: char| matches!(c, ';' | '|' | '&' | '\n' | '(' | ')' | '`' | '{' | '}' | '<' | '>');
        let text = text.replace("\\\n", "");
        // A program name contains a letter, a digit or a non-ASCII character. Stretches without one are skipped,
        // because a text of operators may have many of them.
        let named = |stretch: &&str| stretch.bytes().any(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii());
        for stretch in text.split(separators).filter(named) {
            let words: Vec<Word> = stretch
                .split(|c: char| c.is_whitespace() || c.is_control() || crate::syntax::is_invisible(c))
                .map(|word| word.replace(['\'', '"', '\\'], ""))
                .filter(|word| !word.is_empty())
                .map(|word| Word::literal(word, span))
                .collect();
            let found = self.search_suffixes(&words);
            if found.tier == Tier::Destructive {
                self.note(Tier::Destructive, found.rule, span);
                return;
            }
        }
    }
}

/// Programs that are not destructive by themselves but can lead to a destructive command.
static LEADING: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    RUNNERS.iter().copied().chain(code::names()).chain(sql_client::names()).chain(embedded::names()).collect()
});

/// Programs that run a command from their words in every use.
static RUNNERS: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| [SHELLS, TEXT_RUNNERS].into_iter().flatten().copied().chain(inner::names()).collect());

/// Returns true if a program runs a command from its words in every use.
pub(crate) fn runs_its_words(name: &str) -> bool {
    RUNNERS.contains(name)
}

/// Returns true if a program can be destructive in any use.
pub(super) fn may_destroy(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._+-".contains(&byte);
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(plain)
        && (destroy::knows(name) || LEADING.contains(name) || code::is_interpreter(name) || within::may_run(name))
}
