//! The values that the interpreter and the evaluator of programs exchange.

use smol_str::SmolStr;

use std::{ptr, sync::Arc};

use crate::{
    few::Few,
    place::Places,
    span::Span,
    values::{Ends, Obeys, Said, Spoken},
    verdict::Verdict,
    word::{Known, Word, is_gap},
};

/// The standard input of a program.
#[derive(Clone, Debug)]
pub(crate) enum Input {
    /// An input that this text does not determine.
    Terminal,
    /// This text, as far as it matters.
    Text(String),
    /// Unknown input.
    Unknown,
}

impl Input {
    /// Returns true if the input is empty or contains only the word that ends a session.
    pub(crate) fn is_silent(&self) -> bool {
        match self {
            Input::Terminal => true,
            Input::Text(text) => matches!(text.trim_end_matches('\n'), "" | "Q"),
            Input::Unknown => false,
        }
    }
}

/// The limit of texts in words that are searched, in addition to those that certainly run.
const MAX_TEXTS: usize = 256;

/// A program that a line starts, with its words and its standard input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Invocation<'w> {
    /// The words, beginning with the program.
    pub(crate) words: &'w [Word],
    pub(crate) input: &'w Input,
}

/// The effects of an invocation.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) verdict: Verdict,
    /// The invocation as it is written. `None` if nobody asks for the commands of the line.
    pub(crate) runs: Option<Spoken>,
    /// Every command that it may start, beginning with itself. Empty if nobody asks for the commands of the line.
    pub(crate) starts: Vec<Spoken>,
    /// The files that its programs obey.
    pub(crate) obeys: Vec<Obeys>,
}

/// The limit of words that are recorded for one line. Further words count as any command.
const MAX_WORDS: usize = 1 << 16;

/// The number of commands for which a part has room when it gets its first one.
const ROOM: usize = 4;

/// The recorded commands of the current part, and the state of the search for them.
#[derive(Debug, Default)]
pub(crate) struct Invocations {
    /// True if somebody asks for the commands. Otherwise none is recorded.
    is_asked: bool,
    recorded: Vec<Spoken>,
    words: usize,
    /// The texts whose commands are recorded, in the order in which they were found.
    texts: Vec<String>,
    /// The texts that a shell runs with the parameters that it was given, each with the position of its word.
    run_texts: Vec<(Span, SmolStr)>,
    /// True inside a text or command that may not run at all. Unknown parts of it do not count.
    is_speculating: bool,
    /// The searches for a command at each of some words that are going on, from the outermost one.
    searches: Vec<Search>,
}

/// A search for a command that begins at any of some words.
#[derive(Debug)]
pub(crate) struct Search {
    /// The addresses of the words at which it tries a command, in ascending order.
    tried: Vec<usize>,
    /// The address behind the last word.
    end: usize,
    /// The directories in which it tries them.
    places: Places,
}

impl Search {
    pub(crate) fn new<'w>(words: &[Word], tried: impl Iterator<Item = &'w Word>, places: &Places) -> Self {
        let tried = tried.map(|word| ptr::from_ref(word).addr()).collect();
        Search { tried, end: words.as_ptr_range().end.addr(), places: places.clone() }
    }

    /// Returns true if it tries the same command: the same words, and not equal ones, in the same directories.
    fn tries(&self, command: &[Word], places: &Places) -> bool {
        let range = command.as_ptr_range();
        self.end == range.end.addr() && self.tried.binary_search(&range.start.addr()).is_ok() && self.places == *places
    }
}

impl Invocations {
    /// Creates an empty record of commands for somebody who asks for them.
    pub(crate) fn asked() -> Self {
        Invocations { is_asked: true, ..Invocations::default() }
    }

    /// Returns true if somebody asks for the commands.
    pub(crate) fn is_asked(&self) -> bool {
        self.is_asked
    }

    /// Returns true inside a text or command that may not run at all.
    pub(crate) fn is_speculating(&self) -> bool {
        self.is_speculating
    }

    /// Starts or ends the evaluation of a text or command that may not run at all. Returns the value before.
    pub(crate) fn set_speculating(&mut self, is_speculating: bool) -> bool {
        std::mem::replace(&mut self.is_speculating, is_speculating)
    }

    /// Returns the recorded commands, and records into `commands` from now on.
    pub(crate) fn replace(&mut self, commands: Vec<Spoken>) -> Vec<Spoken> {
        std::mem::replace(&mut self.recorded, commands)
    }

    /// Returns true if the commands of the text are not recorded yet. Returns `None` if there were too many texts.
    pub(crate) fn search_text(&mut self, text: &str) -> Option<bool> {
        if self.texts.len() >= MAX_TEXTS {
            return None;
        }
        let is_new = !self.texts.iter().any(|one| one == text);
        if is_new {
            self.texts.push(text.to_owned());
        }
        Some(is_new)
    }

    /// Notes that a shell runs the text of a word with the parameters that it was given.
    pub(crate) fn note_run_text(&mut self, word: &Word) {
        if self.run_texts.len() < MAX_TEXTS && !self.has_run_text(word) {
            self.run_texts.push((word.span(), word.shared_text()));
        }
    }

    /// Returns true if a shell runs the text of this word with the parameters that it was given. Nothing else runs it.
    pub(crate) fn has_run_text(&self, word: &Word) -> bool {
        self.run_texts.iter().any(|(span, text)| *span == word.span() && text == word.text())
    }

    /// Forgets the texts since there were `texts` of them, because their commands were dropped.
    pub(crate) fn forget_texts(&mut self, texts: usize) {
        self.texts.truncate(texts);
    }

    /// Begins a search inside those that are going on.
    pub(crate) fn begin_search(&mut self, search: Search) {
        self.searches.push(search);
    }

    /// Ends the innermost search.
    pub(crate) fn end_search(&mut self) {
        self.searches.pop();
    }

    /// Returns true if a search that is going on tries this command.
    pub(crate) fn is_tried(&self, command: &[Word], places: &Places) -> bool {
        self.searches.iter().any(|search| search.tries(command, places))
    }

    /// Returns the number of texts whose commands are recorded.
    pub(crate) fn texts(&self) -> usize {
        self.texts.len()
    }

    /// Returns the number of commands that were recorded outside of a part.
    pub(crate) fn recorded(&self) -> usize {
        self.recorded.len()
    }

    /// Returns the number of words that were recorded.
    pub(crate) fn words(&self) -> usize {
        self.words
    }

    /// Returns true if so many words more can be recorded.
    pub(crate) fn has_room(&self, words: usize) -> bool {
        self.words + words <= MAX_WORDS
    }

    /// Counts words that are recorded already.
    pub(crate) fn repeat(&mut self, words: usize) {
        self.words += words;
    }

    /// Records commands that were already counted.
    pub(crate) fn extend(&mut self, spoken: Vec<Spoken>) {
        self.recorded.extend(spoken);
    }

    /// Returns true if no further command is recorded.
    pub(crate) fn is_full(&self) -> bool {
        self.words > MAX_WORDS
    }

    /// Records a command.
    pub(crate) fn push(&mut self, spoken: Spoken) {
        if !self.is_asked || self.is_full() {
            return;
        }
        self.words += spoken.words.len();
        if self.recorded.is_empty() {
            self.recorded = Vec::with_capacity(ROOM);
        }
        self.recorded.push(if self.words > MAX_WORDS { Spoken::anything() } else { spoken });
    }
}

/// Returns true for a word whose text is known.
pub(crate) fn is_certain(word: &Said) -> bool {
    matches!(word, Said::Is(_) | Said::Maybe(_))
}

/// Returns what is known about these words.
pub(crate) fn said_of(args: &[Word]) -> Arc<[Said]> {
    if args.iter().any(Word::may_split) {
        let mut words = Vec::with_capacity(2 * args.len());
        args.iter().for_each(|arg| words.extend(said(arg)));
        return words.into();
    }
    args.iter().map(|arg| if is_plain(arg) { Said::Is(arg.shared_text()) } else { told_in_part(arg).1 }).collect()
}

/// Returns what is known about words that are all exactly their texts.
pub(crate) fn said_exactly(args: &[Word]) -> Arc<[Said]> {
    args.iter().map(|arg| Said::Is(arg.shared_text())).collect()
}

/// Returns true if a word is exactly its text.
pub(crate) fn is_plain(arg: &Word) -> bool {
    arg.is_written() && !arg.is_open()
}

/// Returns true if a glob may be an extended pattern such as `@(x)`. The parentheses are already replaced by `*`.
fn may_extend(text: &str) -> bool {
    let mut pairs = text.as_bytes().windows(2).enumerate();
    pairs.any(|(at, pair)| match pair {
        [b'@' | b'+' | b'!' | b'?', b'*'] => true,
        [b'*', b'*'] => text.as_bytes().get(at + 2) != Some(&b'/'),
        _ => false,
    })
}

/// Returns what is known about a word.
pub(crate) fn said(arg: &Word) -> Few<Said> {
    match told(arg) {
        (None, only) => Few::One(only),
        (Some(start), others) => vec![start, others].into(),
    }
}

/// Returns what is known about a word. If it may split, the known start of its first word comes before the rest.
fn told(arg: &Word) -> (Option<Said>, Said) {
    if is_plain(arg) { (None, Said::Is(arg.shared_text())) } else { told_in_part(arg) }
}

/// Returns what is known about a word that is not exactly its text.
fn told_in_part(arg: &Word) -> (Option<Said>, Said) {
    if arg.is_printed_whole() && !arg.is_open() {
        return (None, Said::Is(arg.shared_text()));
    }
    // The value of a variable between quotes is no pattern. The output of a command may stand for names.
    let globs = |byte: u8| matches!(byte, b'*' | b'?' | b'[') || (arg.is_expanded() && byte == b'\\');
    let special = |byte: u8| is_gap(byte.into()) || (!arg.is_exact() || arg.has_output()) && globs(byte);
    let first = arg.text().bytes().position(special);
    if arg.is_open() || (first.is_none() && (arg.known() == Known::Partly || arg.may_split())) {
        return (None, Said::anything());
    }
    let Some(first) = first else {
        let text = || arg.shared_text();
        return (None, if arg.is_of_environment() { Said::One(Ends::default()) } else { Said::Maybe(text()) });
    };
    let start = arg.text().get(..first).unwrap_or_default();
    let begins = |start: &str| Ends { start: start.into(), end: SmolStr::default() };
    let ends = || {
        let last = arg.text().bytes().rposition(special).unwrap_or(first);
        // The end of a character class is not searched.
        let plain_end = !arg.text().bytes().any(|byte| matches!(byte, b'[' | b'(' | b'\\'));
        let end = arg.text().get(last + 1..).filter(|_| plain_end).unwrap_or_default();
        Ends { start: start.into(), end: end.into() }
    };
    if arg.is_pattern() && may_extend(arg.text()) {
        (None, Said::Many(begins(start.trim_end_matches(['@', '+', '!']))))
    } else if arg.has_home() && !arg.is_pattern() && !arg.has_unknown() {
        // The home directory is a single word.
        (None, Said::One(ends()))
    } else if arg.may_split() {
        ((!start.is_empty()).then(|| Said::One(begins(start))), Said::anything())
    } else if arg.is_pattern() {
        (None, Said::Many(ends()))
    } else {
        (None, Said::One(ends()))
    }
}
