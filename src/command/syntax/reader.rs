//! The text and a position in it, with the bounds that everything that moves the position obeys.

use super::tree::{Fault, Word};
use crate::command::answer::Span;

/// The deepest nesting that is followed.
pub(super) const MAX_DEPTH: usize = 64;
/// The most words and commands that are built for one text.
const MAX_NODES: usize = 20_000;
/// Steps per byte: enough for the one place that reads a stretch twice (`$((`), too few for more.
const STEPS_PER_BYTE: usize = 24;

/// The parser cannot go on: the text is not shell, or is too much of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stop;

pub(super) type Read<T> = Result<T, Stop>;

/// A here-document whose body has not been met yet.
#[derive(Debug)]
pub(super) struct Awaited {
    pub(super) body: usize,
    pub(super) delimiter: String,
    pub(super) strip_tabs: bool,
    pub(super) literal: bool,
}

/// What is shared by a text and the texts inside it (backticks, here-document bodies).
#[derive(Debug, Default)]
pub(super) struct Ledger {
    pub(super) bodies: Vec<Word>,
    pub(super) faults: Vec<Fault>,
    pub(super) depth: usize,
    pub(super) nodes: usize,
    pub(super) steps: usize,
    pub(super) allowed_steps: usize,
    /// Something was met that `sh` does not know, or reads otherwise.
    pub(super) bash_only: bool,
}

/// Reads one text from left to right.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    pub(super) ledger: Ledger,
    pub(super) awaited: Vec<Awaited>,
    /// Set for a text that was cut out of another one: everything in it lies there.
    outer: Option<Span>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let ledger = Ledger { allowed_steps: 4096 + STEPS_PER_BYTE * text.len(), ..Ledger::default() };
        Reader { text, at: 0, ledger, awaited: Vec::new(), outer: None }
    }

    /// Reads `text`, which was cut out of this one at `span`, and comes back with the same ledger.
    pub(super) fn inside<T>(
        &mut self,
        text: &str,
        span: Span,
        read: impl FnOnce(&mut Reader<'_>) -> Read<T>,
    ) -> Read<T> {
        let outer = Some(self.outer.unwrap_or(span));
        let ledger = std::mem::take(&mut self.ledger);
        let mut inner = Reader { text, at: 0, ledger, awaited: Vec::new(), outer };
        let result = inner.nested(read);
        self.ledger = inner.ledger;
        result
    }

    /// Goes one level deeper, or stops.
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

    /// Counts work; the bound keeps every text linear.
    pub(super) fn step(&mut self) -> Read<()> {
        self.ledger.steps += 1;
        if self.ledger.steps > self.ledger.allowed_steps { self.stop("too tangled to follow") } else { Ok(()) }
    }

    /// The next byte; line continuations are not there at all, as for the shell.
    pub(super) fn peek(&mut self) -> Option<u8> {
        while self.raw_starts("\\\n") {
            self.at += 2;
            self.ledger.steps += 1;
        }
        self.raw()
    }

    /// The byte after the next one, continuations left out.
    pub(super) fn peek_second(&mut self) -> Option<u8> {
        self.peek()?;
        let start = self.at;
        self.at += 1;
        let second = self.peek();
        self.at = start;
        second
    }

    /// The next byte where continuations mean nothing: single quotes, comments, quoted bodies.
    pub(super) fn raw(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn raw_starts(&self, prefix: &str) -> bool {
        self.text.as_bytes().get(self.at..).is_some_and(|rest| rest.starts_with(prefix.as_bytes()))
    }

    /// Takes `byte` if it is next.
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let next = self.peek() == Some(byte);
        if next {
            self.at += 1;
        }
        next
    }

    /// Takes both bytes if they are next, continuations between them or not.
    pub(super) fn eat_two(&mut self, first: u8, second: u8) -> bool {
        let found = self.peek() == Some(first) && self.peek_second() == Some(second);
        if found {
            self.eat(first);
            self.eat(second);
        }
        found
    }

    /// Takes `byte`, or the text is not shell.
    pub(super) fn demand(&mut self, byte: u8, why: &'static str) -> Read<()> {
        if self.eat(byte) { Ok(()) } else { self.stop(why) }
    }

    /// Takes one whole character.
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

    /// Something that is read, but not vouched for.
    pub(super) fn fault(&mut self, why: &'static str) {
        let at = self.outer.map_or(self.at, |span| span.start);
        if self.ledger.faults.len() < 16 {
            self.ledger.faults.push(Fault { at, why });
        }
    }

    /// Something that ends the reading.
    pub(super) fn stop<T>(&mut self, why: &'static str) -> Read<T> {
        self.fault(why);
        Err(Stop)
    }

    /// Blanks and a comment, up to something that matters or the end of the line.
    pub(super) fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
            self.ledger.steps += 1;
        }
        if self.peek() == Some(b'#') {
            while self.raw().is_some_and(|byte| byte != b'\n') {
                self.at += 1;
                self.ledger.steps += 1;
            }
        }
    }
}

/// Bytes that end an unquoted word.
pub(super) fn ends_word(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')')
}

/// Whether a variable of this name may be one that programs or the shell itself read, which are written in capitals.
pub(super) fn is_loud(name: &str) -> bool {
    let name = name.replace("\\\n", "");
    name.len() > 1 && !name.bytes().any(|byte| byte.is_ascii_lowercase())
}

/// Whether `text` can name a variable.
pub(in crate::command) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
