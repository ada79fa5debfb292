//! Finds the secrets in a text, from its beginning to its end, once.

use std::{cell::Cell, ops::Range};

use super::{
    names::{self, ShortOption, Strength},
    tokens,
};

/// The secrets in `text`, in order, none inside another.
pub(super) fn secrets(text: &str) -> Vec<Range<usize>> {
    secrets_counting(text).0
}

/// The same, with the number of bytes that were looked at to find them.
pub(super) fn secrets_counting(text: &str) -> (Vec<Range<usize>>, usize) {
    let scanner = Scanner {
        text,
        bytes: text.as_bytes(),
        at: 0,
        quoted: quoted(text),
        found: Vec::new(),
        comes_back: comes_back(text),
        option: None,
        near: 0,
        names_commands: false,
        seen: Default::default(),
        steps: Cell::new(text.len()),
    };
    scanner.all()
}

/// Stretches whose end is looked for again and again, from one place in them after the other.
#[derive(Clone, Copy)]
enum Stretch {
    /// A word outside of quotations.
    Bare,
    /// A value inside of one.
    Inside,
    /// A value inside of one that may have white space.
    InsideData,
    /// Characters of which nothing but one word can be made.
    Plain,
}

struct Scanner<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    /// What stands between quotation marks as a shell reads them, if that is sure.
    quoted: Vec<Range<usize>>,
    found: Vec<Range<usize>>,
    /// Whether a word may come back somewhere else in the text, and be run there.
    comes_back: bool,
    /// The short option by which the program at hand is told a secret.
    option: Option<ShortOption>,
    /// How many more words stand near one that speaks of a secret.
    near: u8,
    /// Whether the program at hand gives commands names: what stands behind one is a command.
    names_commands: bool,
    /// For each kind of stretch, the last one that was measured.
    seen: [Cell<(usize, usize)>; 4],
    steps: Cell<usize>,
}

impl Scanner<'_> {
    fn all(mut self) -> (Vec<Range<usize>>, usize) {
        while let Some(byte) = self.byte(self.at) {
            if is_name(byte) {
                self.word();
                continue;
            }
            if matches!(byte, b';' | b'|' | b'&' | b'\n' | b'(') {
                self.option = None;
                self.names_commands = false;
            }
            if let Some(length) = super::mark_at(self.rest(self.at)) {
                // The secret that was near is here.
                self.near = 0;
                self.at += length;
            } else if self.rest(self.at).starts_with(b"://") {
                self.at += 3;
                self.user_of_url();
            } else if byte == b'/' && self.at == 0 && self.rest(0).starts_with(b"//") {
                self.at = 2;
                self.user_of_url();
            } else {
                self.at += 1;
            }
        }
        (self.found, self.steps.get())
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    fn rest(&self, at: usize) -> &[u8] {
        self.bytes.get(at..).unwrap_or_default()
    }

    fn part(&self, span: Range<usize>) -> &str {
        self.text.get(span).unwrap_or_default()
    }

    /// One past the last of the bytes from `at` that are like `like`.
    fn while_like(&self, at: usize, like: impl Fn(u8) -> bool) -> usize {
        let count = self.rest(at).iter().take_while(|byte| like(**byte)).count();
        self.steps.set(self.steps.get() + count);
        at + count
    }

    /// One past the end of the stretch in which `at` lies: measured once, asked for from many places.
    fn end_of(&self, kind: Stretch, at: usize) -> usize {
        let Some(seen) = self.seen.get(kind as usize) else { return at };
        let (start, end) = seen.get();
        if start <= at && at < end {
            return end;
        }
        let end = match kind {
            Stretch::Bare => self.bare_end(at),
            Stretch::Inside | Stretch::InsideData => self.while_like(at, |byte| {
                !ends_value(byte, matches!(kind, Stretch::InsideData)) && !matches!(byte, b'"' | b'\'' | b'\\')
            }),
            Stretch::Plain => self.while_like(at, is_plain),
        };
        seen.set((at, end));
        end
    }

    fn leave_out(&mut self, span: Range<usize>) {
        self.at = self.at.max(span.end);
        if !span.is_empty() {
            self.found.push(span);
        }
    }

    /// A run of letters, digits, `-`, `_` and `.`: a name, a program, an option, a secret.
    fn word(&mut self) {
        let start = self.at;
        let end = self.while_like(start, is_name);
        let text = self.text;
        let run = text.get(start..end).unwrap_or_default();
        self.at = end;
        if run.starts_with("-----BEGIN") && self.private_key(end) {
            return;
        }
        if let Some(place) = tokens::begins_in(run) {
            return self.leave_out(start + place..end);
        }
        if run.starts_with('-')
            && let Some(option) = self.option
            && self.short_option(start..end, option)
        {
            return;
        }
        self.names_commands |= matches!(run, "alias" | "function");
        let is_scheme = self.rest(end).starts_with(b"://");
        if let Some(option) = names::option_of(run).filter(|_| !is_scheme) {
            self.option = Some(option);
        }
        if self.is_after_identified_by(run, start) || run.eq_ignore_ascii_case("bearer") {
            self.after_space(end, Strength::Weak, run.eq_ignore_ascii_case("by"));
        }
        match names::strength(run.trim_start_matches('-')) {
            Some(_) if self.names_commands => {}
            Some(strength) => self.value_of(start..end, run.starts_with('-'), strength),
            None if self.near > 0 => self.chance(start),
            None => {}
        }
    }

    /// `IDENTIFIED BY`, as SQL says it.
    fn is_after_identified_by(&self, run: &str, start: usize) -> bool {
        run.eq_ignore_ascii_case("by") && {
            let before = self.part(start.saturating_sub(11)..start).trim_end().to_ascii_lowercase();
            before.ends_with("identified")
        }
    }

    /// A word near one that speaks of a secret is one if it looks like one.
    fn chance(&mut self, start: usize) {
        self.near -= 1;
        let end = self.end_of(Stretch::Bare, start);
        if self.end_of(Stretch::Plain, start) >= end && tokens::is_random(self.part(start..end)) {
            self.near = 0;
            self.leave_out(start..end);
        }
    }

    /// Whatever belongs to the name in `name`.
    fn value_of(&mut self, name: Range<usize>, is_option: bool, strength: Strength) {
        self.near = 3;
        let mut at = name.end;
        // The name itself may be quoted, as in JSON, and that within a quotation.
        let marks = self.while_like(at, |byte| byte == b'\\');
        let is_quoted = matches!(self.byte(marks), Some(b'"' | b'\'')) && name.start > 0;
        if is_quoted && matches!(self.byte(name.start - 1), Some(b'"' | b'\'')) {
            at = marks + 1;
        }
        let spaces = self.while_like(at, |byte| byte == b' ');
        match self.byte(spaces) {
            Some(b'=') => self.after_sign(spaces + 1, spaces > at, strength, name.start),
            Some(b':') if self.byte(spaces + 1) == Some(b'=') => {
                self.after_sign(spaces + 2, true, strength, name.start)
            }
            Some(b':') if !matches!(self.byte(spaces + 1), Some(b':' | b'/')) => {
                self.after_sign(spaces + 1, true, strength, name.start);
            }
            Some(_) if spaces > name.end && is_option => self.after_space(name.end, strength, false),
            Some(_) | None => {}
        }
    }

    fn after_sign(&mut self, at: usize, may_be_apart: bool, strength: Strength, name: usize) {
        let at = if may_be_apart { self.while_like(at, |byte| byte == b' ') } else { at };
        let mut span = self.value(at, name);
        // `Authorization: Bearer …`: the word that says how is no secret.
        let first = self.while_like(span.start, |byte| byte.is_ascii_alphabetic());
        if is_scheme(self.part(span.start..first)) && self.byte(first) == Some(b' ') {
            span = if first < span.end { first + 1..span.end } else { self.value(first + 1, name) };
        }
        self.keep_or_leave_out(span, strength);
    }

    /// `--password hunter2`; without an option, only a quotation is a value.
    fn after_space(&mut self, at: usize, strength: Strength, only_quoted: bool) {
        let at = self.while_like(at, |byte| byte == b' ');
        let quoted = matches!(self.byte(at), Some(b'"' | b'\''));
        if self.byte(at) == Some(b'-') || only_quoted && !quoted {
            return;
        }
        let strength = if only_quoted { Strength::Strong } else { strength };
        let span = self.value(at, at);
        self.keep_or_leave_out(span, strength);
    }

    fn short_option(&mut self, run: Range<usize>, option: ShortOption) -> bool {
        if self.byte(run.start + 1) != Some(option.letter) {
            return false;
        }
        let attached = run.start + 2;
        let is_attached = self.byte(attached).is_some_and(|byte| !byte.is_ascii_whitespace());
        if !is_attached && !option.apart {
            return false;
        }
        let at = if is_attached { attached } else { self.while_like(attached, |byte| byte == b' ') };
        let mut span = self.value(at, at);
        if let Some(sign) = option.after {
            let value = self.part(span.clone()).bytes();
            match value.enumerate().find(|(_, byte)| *byte == sign) {
                Some((place, _)) => span.start += place + 1,
                None => return false,
            }
        }
        self.option = None;
        self.keep_or_leave_out(span, Strength::Certain);
        true
    }

    /// Whether a quotation that begins before `span` ends behind it.
    fn is_whole(&self, span: &Range<usize>) -> bool {
        let before = span.start.checked_sub(1).and_then(|at| self.byte(at));
        !matches!(before, Some(b'"' | b'\'')) || self.byte(span.end) == before
    }

    fn keep_or_leave_out(&mut self, span: Range<usize>, strength: Strength) {
        let value = self.part(span.clone());
        let is_reference = value.strip_prefix('$').is_some_and(|name| {
            let name = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name);
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        });
        if is_reference {
            // Its name is no secret either, however it looks.
            self.at = self.at.max(span.end);
            return;
        }
        // What a person is asked about they see, unless it cannot be anything that runs.
        let shown = match strength {
            Strength::Certain => self.end_of(Stretch::Plain, span.start) < span.end,
            Strength::Strong => {
                let is_word = !self.comes_back && self.is_whole(&span);
                self.end_of(Stretch::Plain, span.start) < span.end || !is_word && !tokens::is_token(value)
            }
            Strength::Weak => self.end_of(Stretch::Plain, span.start) < span.end || !tokens::is_random(value),
        };
        if shown || value.starts_with(['/', '.', '~']) {
            return;
        }
        self.near = 0;
        self.leave_out(span);
    }

    /// The value that begins at `at`, for a name that begins at `name`.
    fn value(&self, at: usize, name: usize) -> Range<usize> {
        if let Some(inside) = self.quotation_at(at + 1).filter(|_| matches!(self.byte(at), Some(b'"' | b'\''))) {
            return inside;
        }
        let around = self.quoted.get(self.quoted.partition_point(|span| span.end < at)).cloned();
        let around = around.filter(|span| span.start <= at);
        let inner = self.while_like(at, |byte| byte == b'\\');
        if let Some(b'"' | b'\'') = self.byte(inner) {
            // A quotation within one: data if all of it is, and otherwise perhaps a command with words of its own.
            let start = inner + 1;
            let is_data = around.as_ref().is_some_and(|span| is_json(self.part(span.clone())));
            let kind = if is_data { Stretch::InsideData } else { Stretch::Inside };
            return start..self.end_of(kind, start);
        }
        if let Some(around) = around {
            let is_header = name == around.start && self.byte(at.saturating_sub(1)) == Some(b' ');
            let kind = if is_header { Stretch::InsideData } else { Stretch::Inside };
            return at..self.end_of(kind, at).min(around.end);
        }
        at..self.end_of(Stretch::Bare, at)
    }

    /// Where a word ends that begins outside of a quotation; it may go on in one.
    fn bare_end(&self, mut at: usize) -> usize {
        let start = at;
        loop {
            self.steps.set(self.steps.get() + 1);
            match self.byte(at) {
                Some(b'"' | b'\'') => match self.quotation_at(at + 1) {
                    Some(inside) => at = inside.end + 1,
                    None if at == start => at += 1,
                    None => return at,
                },
                Some(b'$') if matches!(self.byte(at + 1), Some(b'(')) => return at,
                Some(b'\\') if self.byte(at + 1) == Some(b' ') && !self.quoted.is_empty() => at += 2,
                Some(byte) if ends_value(byte, false) => return at,
                Some(_) => at += 1,
                None => return at.min(self.bytes.len()),
            }
        }
    }

    fn quotation_at(&self, start: usize) -> Option<Range<usize>> {
        let place = self.quoted.binary_search_by_key(&start, |span| span.start).ok()?;
        self.quoted.get(place).cloned()
    }

    /// `user:password@`, or a token in the place of the user.
    fn user_of_url(&mut self) {
        let start = self.at;
        let end = self.while_like(start, |byte| {
            !matches!(byte, b'/' | b'?' | b'#' | b'"' | b'\'' | b'`' | b'\\') && !ends_value(byte, false)
        });
        let Some(at) = self.part(start..end).rfind('@') else { return };
        let user = self.part(start..start + at);
        let colon = user.find(':');
        if let Some(colon) = colon {
            self.keep_or_leave_out(start + colon + 1..start + at, Strength::Certain);
        } else if tokens::is_random(user) || tokens::begins_in(user).is_some() {
            self.leave_out(start..start + at);
        }
    }

    /// The lines of a private key; nothing else that may follow its first line.
    fn private_key(&mut self, at: usize) -> bool {
        let head = self.while_like(at, |byte| byte.is_ascii_uppercase() || byte == b' ').min(at + 64);
        if !self.part(at..head).contains("PRIVATE KEY") {
            return false;
        }
        self.at = self.while_like(head, |byte| byte == b'-');
        loop {
            let start = self.after_line_break(self.at);
            let end = self.while_like(start, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='));
            // A short line may be a command, unless it is filled up.
            let filled = self.part(start..end).ends_with('=') && start > head + 64;
            let last = filled && self.rest(self.after_line_break(end)).starts_with(b"-----END");
            if end == start || !(last || end - start >= 24 && tokens::is_random(self.part(start..end))) {
                return true;
            }
            self.leave_out(start..end);
        }
    }

    /// White space, and line breaks as JSON writes them.
    fn after_line_break(&self, mut at: usize) -> usize {
        loop {
            match self.byte(at) {
                Some(byte) if byte.is_ascii_whitespace() => at += 1,
                Some(b'\\') if matches!(self.byte(at + 1), Some(b'n' | b'r')) => at += 2,
                Some(_) | None => return at,
            }
        }
    }
}

/// Whether a text may put a word of it where it runs: by an expansion, or through a file, a pipe or a here-document into a
/// shell. In any other text a word that is given to a program stays what it is given for.
fn comes_back(text: &str) -> bool {
    text.bytes().enumerate().any(|(at, byte)| {
        let beside = |at: Option<usize>| at.and_then(|at| text.as_bytes().get(at)) == Some(&b'|');
        match byte {
            b'|' => !beside(at.checked_sub(1)) && !beside(Some(at + 1)),
            b'$' | b'`' | b'<' | b'>' | b'(' => true,
            _ => false,
        }
    })
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// What a shell would act on ends a value; white space does, unless it is known to be data.
fn ends_value(byte: u8, is_data: bool) -> bool {
    matches!(byte, b';' | b'|' | b'&' | b'<' | b'>' | b'(' | b')' | b'`' | b'\n')
        || !is_data && byte.is_ascii_whitespace()
}

fn is_scheme(word: &str) -> bool {
    ["basic", "bearer", "digest", "negotiate", "token", "apikey"].iter().any(|scheme| word.eq_ignore_ascii_case(scheme))
}

/// Nothing that a shell acts on, and no white space.
fn is_plain(byte: u8) -> bool {
    is_name(byte) || matches!(byte, b'+' | b'/' | b'=' | b'%' | b'@' | b':' | b',' | b'^' | b'~')
}

fn is_json(text: &str) -> bool {
    let near = (0..=text.len().min(64)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let text = text.get(..near).unwrap_or_default();
    let text = text.trim_start_matches([' ', '\n', '[', '\\']);
    text.strip_prefix('{').is_some_and(|rest| rest.trim_start_matches([' ', '\n', '\\']).starts_with('"'))
}

/// Whether a text is one word that has the form of a token.
pub(super) fn is_token(text: &str) -> bool {
    text.bytes().all(is_plain) && !text.starts_with(['/', '.', '~']) && tokens::is_token(text)
}

/// The insides of quotations as a shell reads them. None if something makes that unsure: then a value ends with its word.
fn quoted(text: &str) -> Vec<Range<usize>> {
    if is_unsure(text) {
        return Vec::new();
    }
    let (mut spans, mut open, mut escaped) = (Vec::new(), None, false);
    for (at, byte) in text.bytes().enumerate() {
        match (open, byte) {
            _ if escaped => escaped = false,
            (None | Some((b'"', _)), b'\\') => escaped = true,
            (None, b'"' | b'\'') => open = Some((byte, at + 1)),
            (Some((mark, start)), _) if byte == mark => {
                spans.push(start..at);
                open = None;
            }
            (None | Some(_), _) => {}
        }
    }
    if open.is_some() { Vec::new() } else { spans }
}

/// Whether something in a text makes it unsure which quotation marks belong together.
fn is_unsure(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.iter().enumerate().any(|(at, byte)| match byte {
        b'`' | b'#' => true,
        b'<' => bytes.get(at + 1) == Some(&b'<'),
        b'$' => matches!(bytes.get(at + 1), Some(b'(' | b'{' | b'\'')),
        // A mark may stand where one of the others stood.
        b'[' => bytes.get(at..).is_some_and(|rest| rest.starts_with(super::MARK_START.as_bytes())),
        _ => false,
    })
}
