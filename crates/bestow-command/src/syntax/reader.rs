//! The text, a position in it, and the limits for every operation that moves the position.

use std::rc::Rc;

use super::tree::{Elsewhere, Fault, RawWord};
use crate::span::Span;

/// The deepest nesting that is followed.
pub(super) const MAX_DEPTH: usize = 64;
/// The limit of words and commands that are created for one text.
const MAX_NODES: usize = 20_000;
/// The limit of steps per byte. It is enough for the one construct that is read twice (`$((`), and too small for more.
const STEPS_PER_BYTE: usize = 24;

/// The error that stops the parser: the text is not valid shell syntax, or exceeds a limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stop;

pub(super) type Read<T> = Result<T, Stop>;

/// A here-document whose body has not been reached yet.
#[derive(Debug)]
pub(super) struct Awaited {
    pub(super) body: usize,
    pub(super) delimiter: String,
    pub(super) strip_tabs: bool,
    pub(super) literal: bool,
}

/// The state that a text shares with the texts inside it (backticks, here-document bodies).
#[derive(Debug, Default)]
pub(super) struct Ledger {
    pub(super) bodies: Vec<Rc<RawWord>>,
    pub(super) faults: Vec<Fault>,
    pub(super) depth: usize,
    pub(super) nodes: usize,
    pub(super) commands: usize,
    pub(super) steps: usize,
    pub(super) allowed_steps: usize,
    /// True if the text uses syntax that `sh` does not know or reads differently.
    pub(super) bash_only: bool,
    pub(super) elsewhere: Elsewhere,
}

/// A reader of one text from left to right.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    pub(super) ledger: Ledger,
    pub(super) awaited: Vec<Awaited>,
    /// The last place where a reserved word was looked for, and the one that was found there.
    pub(super) found_reserved: (usize, Option<&'static str>),
    /// The position in the outer text, for a text that was extracted from it. Every span in the inner text is this one.
    outer: Option<Span>,
}

/// A place at which no reserved word is looked for.
const NOWHERE: (usize, Option<&str>) = (usize::MAX, None);

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let ledger = Ledger { allowed_steps: 4096 + STEPS_PER_BYTE * text.len(), ..Ledger::default() };
        Reader { text, at: 0, ledger, awaited: Vec::new(), found_reserved: NOWHERE, outer: None }
    }

    /// Parses `text`, which was extracted from this text at `span`, with the shared ledger.
    pub(super) fn inside<T>(
        &mut self,
        text: &str,
        span: Span,
        read: impl FnOnce(&mut Reader<'_>) -> Read<T>,
    ) -> Read<T> {
        let outer = Some(self.outer.unwrap_or(span));
        let ledger = std::mem::take(&mut self.ledger);
        let mut inner = Reader { text, at: 0, ledger, awaited: Vec::new(), found_reserved: NOWHERE, outer };
        let result = inner.nested(read);
        self.ledger = inner.ledger;
        result
    }

    /// Runs `read` one level deeper, or stops at the depth limit.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.ledger.depth >= MAX_DEPTH {
            return self.stop("nested too deeply to follow");
        }
        self.ledger.depth += 1;
        let result = read(self);
        self.ledger.depth -= 1;
        result
    }

    /// Counts one word or command.
    pub(super) fn node(&mut self) -> Read<()> {
        self.ledger.nodes += 1;
        if self.ledger.nodes > MAX_NODES { self.stop("too many words to follow") } else { Ok(()) }
    }

    /// Counts one step. The limit keeps the work linear in the length of the text.
    pub(super) fn step(&mut self) -> Read<()> {
        self.ledger.steps += 1;
        if self.ledger.steps > self.ledger.allowed_steps { self.stop("too tangled to follow") } else { Ok(()) }
    }

    /// Returns the next byte. Like the shell, it skips line continuations.
    pub(super) fn peek(&mut self) -> Option<u8> {
        loop {
            match self.raw() {
                Some(b'\\') if self.raw_starts("\\\n") => {
                    self.at += 2;
                    self.ledger.steps += 1;
                }
                next => return next,
            }
        }
    }

    /// Returns the byte after the next one, without line continuations.
    pub(super) fn peek_second(&mut self) -> Option<u8> {
        self.peek()?;
        let start = self.at;
        self.at += 1;
        let second = self.peek();
        self.at = start;
        second
    }

    /// Returns the next byte without skipping line continuations: for single quotes, comments, and quoted bodies.
    pub(super) fn raw(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn raw_starts(&self, prefix: &str) -> bool {
        self.text.as_bytes().get(self.at..).is_some_and(|rest| rest.starts_with(prefix.as_bytes()))
    }

    /// Consumes `byte` if it is next.
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let next = self.peek() == Some(byte);
        if next {
            self.at += 1;
        }
        next
    }

    /// Consumes both bytes if they are next, with or without line continuations between them.
    pub(super) fn eat_two(&mut self, first: u8, second: u8) -> bool {
        let found = self.peek() == Some(first) && self.peek_second() == Some(second);
        if found {
            self.eat(first);
            self.eat(second);
        }
        found
    }

    /// Consumes `byte`, or stops if it is not next.
    pub(super) fn demand(&mut self, byte: u8, why: &'static str) -> Read<()> {
        if self.eat(byte) { Ok(()) } else { self.stop(why) }
    }

    /// Consumes one whole character.
    pub(super) fn character(&mut self) -> Option<char> {
        let c = self.text.get(self.at..)?.chars().next()?;
        self.at += c.len_utf8();
        self.ledger.steps += 1;
        Some(c)
    }

    pub(super) fn slice(&self, start: usize, end: usize) -> &'a str {
        self.text.get(start..end).unwrap_or_default()
    }

    pub(super) fn span_from(&self, start: usize) -> Span {
        self.outer.unwrap_or(Span { start, end: self.at.max(start) })
    }

    /// Records a fault and continues.
    pub(super) fn fault(&mut self, why: &'static str) {
        let at = self.outer.map_or(self.at, |span| span.start);
        if self.ledger.faults.len() < 16 {
            self.ledger.faults.push(Fault { at, why });
        }
    }

    /// Records a fault and stops.
    pub(super) fn stop<T>(&mut self, why: &'static str) -> Read<T> {
        self.fault(why);
        Err(Stop)
    }

    /// Consumes blanks and a comment, up to the next significant byte or the end of the line.
    pub(super) fn blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t') => {
                    self.at += 1;
                    self.ledger.steps += 1;
                }
                Some(b'#') => return self.skip_run(|byte| byte != b'\n'),
                _ => return,
            }
        }
    }

    /// Consumes the next bytes that have a property. Each takes a step.
    pub(super) fn skip_run(&mut self, belongs: impl Fn(u8) -> bool) {
        let length = self.run_length(belongs);
        self.at += length;
        self.ledger.steps += length;
    }

    /// Returns the number of the next bytes that have a property.
    pub(super) fn run_length(&self, belongs: impl Fn(u8) -> bool) -> usize {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        rest.iter().position(|byte| !belongs(*byte)).unwrap_or(rest.len())
    }
}

/// Returns true for bytes that end an unquoted word.
pub(super) fn ends_word(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')')
}

/// Returns true if programs or the shell may read a variable of this name. Such names have no lower-case letters.
pub(super) fn is_loud(name: &str) -> bool {
    // A line may end within the name.
    name.bytes().filter(|byte| !matches!(byte, b'\\' | b'\n')).count() > 1
        && !name.bytes().any(|byte| byte.is_ascii_lowercase())
}

/// Returns true if `text` is a valid variable name.
pub(crate) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
