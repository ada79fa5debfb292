//! Words with their quotes, escapes, globs, tildes and expansions, decoded while they are read.

use smol_str::SmolStrBuilder;

use super::{
    reader::{MAX_DEPTH, Read, Reader, ends_word, is_name},
    tree::{Piece, RawWord},
};
use crate::few::Few;

/// A collector of pieces, which joins neighbouring text of equal kind.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    done: Few<Piece>,
    /// The kind of the last piece, if it is a text that may still grow.
    grows: Option<Kind>,
    text: SmolStrBuilder,
}

/// The kind of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Bare,
    Quoted,
}

impl Pieces {
    pub(super) fn bare(&mut self, text: &str) {
        self.append(Kind::Bare, text);
    }

    pub(super) fn quoted(&mut self, text: &str) {
        self.append(Kind::Quoted, text);
    }

    fn append(&mut self, kind: Kind, text: &str) {
        if self.grows != Some(kind) {
            self.end_text();
            self.grows = Some(kind);
        }
        self.text.push_str(text);
    }

    fn end_text(&mut self) {
        let Some(kind) = self.grows.take() else { return };
        let text = std::mem::take(&mut self.text).finish();
        self.done.push(match kind {
            Kind::Bare => Piece::Bare(text),
            Kind::Quoted => Piece::Quoted(text),
        });
    }

    /// Adds a piece that is no text.
    pub(super) fn add(&mut self, piece: Piece) {
        self.end_text();
        self.done.push(piece);
    }

    /// Adds a parameter in quotes that is one text. It is a word even if it is empty, so an empty text in front of it
    /// says nothing.
    pub(super) fn add_quoted_text(&mut self, parameter: Piece) {
        if self.grows == Some(Kind::Quoted) && self.text.is_empty() {
            self.grows = None;
        }
        self.add(parameter);
    }

    /// Adds the pieces of another word.
    fn extend(&mut self, pieces: Few<Piece>) {
        for piece in pieces.into_vec() {
            match piece {
                Piece::Bare(text) => self.bare(&text),
                Piece::Quoted(text) => self.quoted(&text),
                Piece::Element | Piece::Glob(_) | Piece::Tilde(_) | Piece::Parameter(_) => self.add(piece),
                Piece::Command { .. } | Piece::Process(_) | Piece::Arithmetic(_) => self.add(piece),
            }
        }
    }

    pub(super) fn finish(mut self) -> Few<Piece> {
        self.end_text();
        self.done
    }

    fn is_empty(&self) -> bool {
        self.grows.is_none() && self.done.is_empty()
    }

    /// Returns the text so far, if all of it is plain and outside quotes.
    fn only_bare(&self) -> Option<&str> {
        (self.grows == Some(Kind::Bare) && self.done.is_empty()).then(|| self.text.as_str())
    }

    /// Returns true if the last character may open an extended glob.
    fn opens_extended_glob(&self) -> bool {
        match self.grows {
            Some(Kind::Bare) => self.text.as_str().ends_with(['+', '@', '!']),
            Some(Kind::Quoted) => false,
            None => matches!(self.done.last(), Some(Piece::Glob('*' | '?'))),
        }
    }
}

impl<'a> Reader<'a> {
    /// Parses a word, or returns `None` if there is none at this position.
    pub(super) fn word(&mut self) -> Read<Option<RawWord>> {
        let Some(first) = self.peek() else { return Ok(None) };
        let start = self.at;
        match self.ordinary_word(first)? {
            Some(text) => Ok(Some(self.one_piece(start, Piece::Bare(text.into()))?)),
            None => self.other_word(first, start),
        }
    }

    /// Parses a word and adds it to `words`. Returns false if there is none at this position.
    pub(super) fn add_word(&mut self, words: &mut Vec<RawWord>) -> Read<bool> {
        let Some(first) = self.peek() else { return Ok(false) };
        let start = self.at;
        if let Some(text) = self.ordinary_word(first)? {
            // The word is made in its place.
            self.node()?;
            words.push(RawWord { span: self.span_from(start), pieces: Few::One(Piece::Bare(text.into())) });
            return Ok(true);
        }
        let word = self.other_word(first, start)?;
        let found = word.is_some();
        words.extend(word);
        Ok(found)
    }

    /// Returns the word of one piece that began at `start`.
    fn one_piece(&mut self, start: usize, piece: Piece) -> Read<RawWord> {
        self.node()?;
        Ok(RawWord { span: self.span_from(start), pieces: Few::One(piece) })
    }

    /// Parses a word that is not ordinary. Most words are, and their code stays small.
    #[inline(never)]
    fn other_word(&mut self, first: u8, start: usize) -> Read<Option<RawWord>> {
        if ends_word(first) && !matches!(first, b'<' | b'>') {
            self.step()?;
            return Ok(None);
        }
        if matches!(first, b'\'' | b'"')
            && let Some(text) = self.quoted_word(first)
        {
            self.step()?;
            return Ok(Some(self.one_piece(start, Piece::Quoted(text.into()))?));
        }
        self.mixed_word(start)
    }

    /// Parses a word with any pieces.
    fn mixed_word(&mut self, start: usize) -> Read<Option<RawWord>> {
        let mut pieces = Pieces::default();
        let behind = self.text.get(start..).unwrap_or_default();
        self.ledger.elsewhere.zsh |= names_program(behind);
        while let Some(byte) = self.peek() {
            self.step()?;
            match byte {
                b'<' | b'>' if self.peek_second() == Some(b'(') => self.process_substitution(&mut pieces)?,
                b'(' if pieces.opens_extended_glob() => self.extended_glob(&mut pieces)?,
                b'(' if pieces.only_bare().is_some_and(is_assignment_head) => self.array(&mut pieces)?,
                byte if ends_word(byte) => break,
                byte if is_ordinary(byte) => self.ordinary_run(&mut pieces),
                byte => self.unquoted(byte, &mut pieces)?,
            }
        }
        if pieces.is_empty() {
            return Ok(None);
        }
        self.node()?;
        Ok(Some(RawWord { span: self.span_from(start), pieces: pieces.finish() }))
    }

    /// Parses one element of a word outside quotes. The caller has checked that `byte` does not end the word.
    pub(super) fn unquoted(&mut self, byte: u8, pieces: &mut Pieces) -> Read<()> {
        match byte {
            b'\\' => {
                self.at += 1;
                let escaped = self.character().unwrap_or('\\');
                pieces.quoted(escaped.encode_utf8(&mut [0; 4]));
            }
            b'\'' => {
                self.at += 1;
                let text = self.single_quoted()?;
                pieces.quoted(text);
            }
            b'"' => {
                self.at += 1;
                // An empty pair of quotes is a word of its own.
                pieces.quoted("");
                self.nested(|reader| reader.double_quoted(Some(b'"'), pieces))?;
                self.at += 1;
            }
            b'$' => self.dollar(false, pieces)?,
            b'`' => self.backticks(false, pieces)?,
            b'*' | b'?' | b'[' => {
                self.at += 1;
                // To dash, `[^x]` matches the two characters.
                self.ledger.elsewhere.dash |= byte == b'[' && self.peek() == Some(b'^');
                pieces.add(Piece::Glob(byte.into()));
            }
            b'~' if at_tilde_place(pieces) => self.tilde(pieces),
            _ => {
                let Some(c) = self.character() else { return Ok(()) };
                if c.is_control() || is_invisible(c) {
                    self.fault("a control or invisible character outside quotes");
                }
                pieces.bare(c.encode_utf8(&mut [0; 4]));
            }
        }
        Ok(())
    }

    /// Reads a word in which no byte has a meaning of its own, which is the most common case. Returns `None`, and reads
    /// nothing, at any other word.
    #[inline(always)]
    fn ordinary_word(&mut self, first: u8) -> Read<Option<&'a str>> {
        if !is_ordinary(first) {
            return Ok(None);
        }
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let length = ordinary_bytes(rest);
        // A parenthesis may follow a pattern or a name, or belong to a process substitution.
        if rest.get(length).is_some_and(|byte| !ends_word(*byte) || matches!(byte, b'(' | b'<' | b'>')) {
            return Ok(None);
        }
        // As many steps as its characters take one by one.
        self.ledger.steps += 2 * length;
        self.step()?;
        self.at += length;
        let text = self.slice(self.at - length, self.at);
        self.ledger.elsewhere.zsh |= names_program(text);
        Ok(Some(text))
    }

    /// Reads a word that is one text in quotes, without an expansion or an escape. Returns `None`, and reads nothing,
    /// at any other word.
    #[inline(never)]
    fn quoted_word(&mut self, quote: u8) -> Option<&'a str> {
        let expands = |byte: u8| quote == b'"' && matches!(byte, b'\\' | b'$' | b'`');
        let rest = self.text.as_bytes().get(self.at + 1..)?;
        let length = rest.iter().position(|byte| *byte == quote || expands(*byte))?;
        let ends = rest.get(length + 1).is_none_or(|byte| ends_word(*byte) && !matches!(byte, b'(' | b'<' | b'>'));
        if rest.get(length) != Some(&quote) || !ends || self.ledger.depth >= MAX_DEPTH {
            return None;
        }
        let start = self.at + 1;
        self.at = start + length + 1;
        self.ledger.steps += length + 2;
        Some(self.slice(start, start + length))
    }

    /// Reads text outside quotes, up to the next byte that may have a meaning. It takes as many steps as its characters
    /// do one by one.
    fn ordinary_run(&mut self, pieces: &mut Pieces) {
        let start = self.at;
        self.at += ordinary_bytes(self.text.as_bytes().get(start..).unwrap_or_default());
        // The caller has counted the first step.
        self.ledger.steps += 2 * (self.at - start) - 1;
        pieces.bare(self.slice(start, self.at));
    }

    fn single_quoted(&mut self) -> Read<&'a str> {
        let start = self.at;
        self.skip_run(|byte| byte != b'\'');
        let text = self.slice(start, self.at);
        if self.raw().is_none() {
            return self.stop("a single quote that is not closed");
        }
        self.step()?;
        self.at += 1;
        Ok(text)
    }

    /// Parses text in which only `$`, backticks and the backslash are special, up to, but not including, `end`.
    pub(super) fn double_quoted(&mut self, end: Option<u8>, pieces: &mut Pieces) -> Read<()> {
        loop {
            self.step()?;
            match self.peek() {
                None if end.is_none() => return Ok(()),
                None => return self.stop("a double quote that is not closed"),
                byte if byte == end => return Ok(()),
                Some(b'\\') => {
                    self.at += 1;
                    let c = self.character().unwrap_or('\\');
                    let special = matches!(c, '$' | '`' | '\\') || (c == '"' && end.is_some());
                    if !special {
                        pieces.quoted("\\");
                    }
                    pieces.quoted(c.encode_utf8(&mut [0; 4]));
                }
                Some(b'$') => self.dollar(true, pieces)?,
                Some(b'`') => self.backticks(true, pieces)?,
                Some(_) => self.plain_run(pieces),
            }
        }
    }

    /// Reads quoted text up to the next special character.
    fn plain_run(&mut self, pieces: &mut Pieces) {
        let start = self.at;
        self.skip_run(|byte| !matches!(byte, b'\\' | b'$' | b'`' | b'"'));
        if self.at == start {
            self.at += 1;
            self.ledger.steps += 1;
        }
        pieces.quoted(self.slice(start, self.at));
    }

    fn tilde(&mut self, pieces: &mut Pieces) {
        self.at += 1;
        let start = self.at;
        while self.raw().is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'.')) {
            self.at += 1;
        }
        pieces.add(Piece::Tilde(self.slice(start, self.at).into()));
    }

    /// Parses `@(a|b)` and similar patterns. The parts are read, and the whole counts as a glob.
    fn extended_glob(&mut self, pieces: &mut Pieces) -> Read<()> {
        pieces.add(Piece::Glob('*'));
        self.ledger.bash_only = true;
        // zsh runs the code of a qualifier, as in `*(e:"code":)`.
        self.ledger.elsewhere.zsh = true;
        self.nested(|reader| {
            reader.at += 1;
            let mut open = 1_usize;
            while open > 0 {
                reader.step()?;
                match reader.peek() {
                    None => return reader.stop("a pattern that is not closed"),
                    Some(b'(') => (open, reader.at) = (open + 1, reader.at + 1),
                    Some(b')') => (open, reader.at) = (open - 1, reader.at + 1),
                    Some(b'<' | b'>') if reader.peek_second() == Some(b'(') => reader.process_substitution(pieces)?,
                    Some(b'|' | b' ' | b'&' | b';' | b'<' | b'>') => reader.at += 1,
                    Some(byte) => reader.unquoted(byte, pieces)?,
                }
            }
            Ok(())
        })
    }

    /// Parses the elements of `name=( … )` into a single word.
    fn array(&mut self, pieces: &mut Pieces) -> Read<()> {
        // To dash it is a mistake in the syntax, so that nothing of the line runs.
        self.ledger.bash_only = true;
        self.nested(|reader| {
            reader.at += 1;
            loop {
                reader.blanks();
                match reader.peek() {
                    Some(b')') => {
                        reader.at += 1;
                        return Ok(());
                    }
                    Some(b'\n') => reader.newline()?,
                    _ => match reader.word()? {
                        Some(word) => {
                            pieces.add(Piece::Element);
                            pieces.extend(word.pieces);
                        }
                        None => return reader.stop("a list that is not closed"),
                    },
                }
            }
        })
    }
}

/// Returns true where a tilde stands for a directory: at the start of a word or of an assigned value.
fn at_tilde_place(pieces: &Pieces) -> bool {
    pieces.is_empty() || pieces.only_bare().is_some_and(|text| text.ends_with(['=', ':']) && text.contains('='))
}

/// Returns the number of bytes at the beginning that have no meaning of their own in a word.
fn ordinary_bytes(text: &[u8]) -> usize {
    text.iter().position(|byte| !is_ordinary(*byte)).unwrap_or(text.len())
}

/// Returns true for a byte that has no meaning of its own in a word.
fn is_ordinary(byte: u8) -> bool {
    const ORDINARY: [bool; 256] = {
        let (mut table, mut byte) = ([false; 256], 0_u8);
        let mut rest = table.as_mut_slice();
        while let [place, behind @ ..] = rest {
            let is_sign = matches!(byte, b'-' | b'_' | b'.' | b'/' | b'=' | b':' | b',' | b'%' | b'+' | b'@');
            *place = is_sign || byte.is_ascii_alphanumeric();
            byte = byte.wrapping_add(1);
            rest = behind;
        }
        table
    };
    ORDINARY.get(usize::from(byte)).copied().unwrap_or_default()
}

/// Returns true for `=name`, which zsh replaces by the path of a program.
fn names_program(text: &str) -> bool {
    let name = text.strip_prefix('=').and_then(|name| name.bytes().next());
    name.is_some_and(|byte| byte != b'=' && byte != b'~' && !ends_word(byte))
}

/// Returns true for `name=` and `name+=`.
fn is_assignment_head(text: &str) -> bool {
    text.strip_suffix('=').is_some_and(|head| is_name(head.strip_suffix('+').unwrap_or(head)))
}

/// Returns true for characters that are invisible to a reader or reorder the visible text.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{a0}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{1680}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}'
        | '\u{2800}' | '\u{3000}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}')
}
