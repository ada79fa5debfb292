//! The scanner that finds secrets in one pass through a text.

use std::{cell::Cell, ops::Range};

use bestow_command::internal::SecretOption;

use super::{
    cookies::{self, pieces},
    forms::{is_random_key, is_telegram_id},
    mark::{MARK_START, mark_at},
    names::{self, Strength},
    places::places,
    spans::{is_name, is_plain},
    tokens, urls,
};

/// Returns the secrets in `text`, in order. No secret is inside another.
pub(super) fn secrets(text: &str) -> Vec<Range<usize>> {
    secrets_counting(text).0
}

/// Returns the secrets, and the number of bytes that the scanner read.
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
    let places = places(text, &scanner.steps).into_iter().chain(urls::places(text)).chain(cookies::places(text));
    let places = places.flat_map(|(span, strength)| pieces(text, span).into_iter().map(move |piece| (piece, strength)));
    let known: Vec<_> =
        places.filter(|(span, strength)| scanner.hides(span, *strength)).map(|(span, _)| span).collect();
    let (found, steps) = scanner.all();
    (merged(found, known), steps)
}

/// Returns the spans of both lists in order. Spans that overlap become one.
fn merged(mut spans: Vec<Range<usize>>, others: Vec<Range<usize>>) -> Vec<Range<usize>> {
    if others.is_empty() {
        return spans;
    }
    spans.extend(others);
    spans.sort_by_key(|span| (span.start, span.end));
    spans.into_iter().fold(Vec::new(), |mut merged: Vec<Range<usize>>, span| {
        match merged.last_mut() {
            Some(last) if span.start < last.end => last.end = last.end.max(span.end),
            Some(_) | None => merged.push(span),
        }
        merged
    })
}

/// A kind of stretch. The scanner asks for the end of one stretch from many positions in it.
#[derive(Clone, Copy)]
enum Stretch {
    /// A word outside of quotations.
    Bare,
    /// A value inside of a quotation.
    Inside,
    /// A value inside of a quotation that may contain white space.
    InsideData,
    /// Characters that can only form one word.
    Plain,
    /// Characters of a key in base64.
    Key,
}

/// The beginnings of words with a `:` and an `@` that name a package, an address or a file.
const NO_USERS: [&str; 18] = [
    "acct",
    "bitbucket",
    "cid",
    "docker",
    "file",
    "git",
    "github",
    "gitlab",
    "jsr",
    "link",
    "mailto",
    "npm",
    "oci",
    "patch",
    "pkg",
    "sip",
    "workspace",
    "xmpp",
];

struct Scanner<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    /// The insides of quotations, as a shell reads them. Empty if they are uncertain.
    quoted: Vec<Range<usize>>,
    found: Vec<Range<usize>>,
    /// True if the text may insert one of its words at another place and run it there.
    comes_back: bool,
    /// The short option with which the current program takes a secret.
    option: Option<SecretOption>,
    /// The number of further words that are near a word that suggests a secret.
    near: u8,
    /// True if the current program defines names for commands. The value of such a name is a command.
    names_commands: bool,
    /// The last measured stretch of each kind.
    seen: [Cell<(usize, usize)>; 5],
    steps: Cell<usize>,
}

impl Scanner<'_> {
    fn all(mut self) -> (Vec<Range<usize>>, usize) {
        while let Some(byte) = self.byte(self.at) {
            if is_in_key(byte) && self.key() {
                continue;
            }
            if is_name(byte) {
                self.word();
                continue;
            }
            if matches!(byte, b';' | b'|' | b'&' | b'\n' | b'(') {
                self.option = None;
                self.names_commands = false;
            }
            if let Some(length) = mark_at(self.rest(self.at)) {
                // The secret that was expected near here is this mark.
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

    /// Returns the end of the bytes from `at` that satisfy `like`.
    fn while_like(&self, at: usize, like: impl Fn(u8) -> bool) -> usize {
        let count = self.rest(at).iter().take_while(|byte| like(**byte)).count();
        self.steps.set(self.steps.get() + count);
        at + count
    }

    /// Returns the end of the stretch that contains `at`. Each stretch is measured once.
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
            Stretch::Key => self.while_like(at, is_in_key),
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

    /// Redacts a random key at the position, if a word begins there.
    fn key(&mut self) -> bool {
        let is_inside = self.at.checked_sub(1).and_then(|before| self.byte(before)).is_some_and(is_in_key);
        if is_inside {
            return false;
        }
        let key = self.at..self.end_of(Stretch::Key, self.at);
        let is_key = is_random_key(self.part(key.clone()));
        if is_key {
            self.leave_out(key);
        }
        is_key
    }

    /// Redacts the token of a Telegram bot after its id, or the password in `user:password@host`.
    fn after_colon(&mut self, run: Range<usize>) -> bool {
        if self.byte(run.end) != Some(b':') {
            return false;
        }
        let start = run.end + 1;
        if is_telegram_id(self.part(run.clone())) {
            let end = self.while_like(start, is_name);
            let token = self.part(start..end);
            let is_token = (30..=50).contains(&token.len()) && (token.starts_with("AA") || tokens::is_random(token));
            if is_token {
                self.leave_out(start..end);
            }
            return is_token;
        }
        let before = run.start.checked_sub(1).and_then(|at| self.byte(at));
        let begins = before.is_none_or(|byte| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'=' | b'('));
        let user = self.part(run.clone());
        if !begins || NO_USERS.iter().any(|word| user.eq_ignore_ascii_case(word)) {
            return false;
        }
        let end = self.while_like(start, |byte| is_plain(byte) && !matches!(byte, b'@' | b'/' | b'=' | b','));
        let host = end + 1..self.while_like(end + 1, is_name);
        // A text that has nothing else names a host, whatever its name is.
        let behind = self.part(host.end..self.bytes.len());
        let is_port = behind.strip_prefix(':').is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()));
        let is_whole = run.start == 0 && !host.is_empty() && (behind.is_empty() || is_port);
        let has_password = end >= start + 3 && is_host(self.part(host)) || end > start && is_whole;
        if self.byte(end) != Some(b'@') || !has_password {
            return false;
        }
        self.keep_or_leave_out(start..end, Strength::Certain);
        true
    }

    /// Reads a run of letters, digits, `-`, `_` and `.`: a name, a program, an option or a secret.
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
        if is_random_key(run) {
            return self.leave_out(start..end);
        }
        if self.after_colon(start..end) {
            return;
        }
        if run.starts_with('-')
            && let Some(option) = self.option
            && self.short_option(start..end, option)
        {
            return;
        }
        // The long form of the option of `curl` with a name and a secret.
        if matches!(run, "--user" | "--proxy-user") && self.option.is_some_and(|option| option.letter == b'u') {
            return self.name_and_secret(end);
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

    /// Redacts the secret in `NAME:SECRET`, the value of an option.
    fn name_and_secret(&mut self, at: usize) {
        let at = self.while_like(at, |byte| matches!(byte, b' ' | b'='));
        let value = self.value(at, at);
        if let Some(colon) = self.part(value.clone()).find(':') {
            self.keep_or_leave_out(value.start + colon + 1..value.end, Strength::Certain);
        }
    }

    /// Returns true for the word after `IDENTIFIED` in the SQL phrase `IDENTIFIED BY`.
    fn is_after_identified_by(&self, run: &str, start: usize) -> bool {
        run.eq_ignore_ascii_case("by") && {
            let before = self.part(start.saturating_sub(11)..start).trim_end().to_ascii_lowercase();
            before.ends_with("identified")
        }
    }

    /// Redacts a word near a name that suggests a secret, if the word looks random.
    fn chance(&mut self, start: usize) {
        self.near -= 1;
        let end = self.end_of(Stretch::Bare, start);
        if self.end_of(Stretch::Plain, start) >= end && tokens::is_random(self.part(start..end)) {
            self.near = 0;
            self.leave_out(start..end);
        }
    }

    /// Redacts the value of the name at `name`, if it is a secret.
    fn value_of(&mut self, name: Range<usize>, is_option: bool, strength: Strength) {
        self.near = 3;
        let mut at = name.end;
        // The name itself may be quoted, as in JSON, and that quotation may be inside another one.
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
            Some(_) if spaces > name.end && (is_option || self.is_in_netrc(&name)) => {
                self.after_space(name.end, strength, false);
            }
            Some(_) | None => {}
        }
    }

    /// Returns true for the word `password` of a `.netrc` file: a login comes before it.
    fn is_in_netrc(&self, name: &Range<usize>) -> bool {
        self.part(name.clone()) == "password" && {
            let before = self.part(name.start.saturating_sub(80)..name.start);
            before.split_ascii_whitespace().rev().nth(1) == Some("login")
        }
    }

    fn after_sign(&mut self, at: usize, may_be_apart: bool, strength: Strength, name: usize) {
        let at = if may_be_apart { self.while_like(at, |byte| byte == b' ') } else { at };
        let mut span = self.value(at, name);
        // In `Authorization: Bearer …`, the word for the scheme is no secret.
        let first = self.while_like(span.start, |byte| byte.is_ascii_alphanumeric() || byte == b'-');
        // The header has other schemes, too. In a quotation, a word behind one is the secret.
        let is_other = first < span.end && ends_with_authorization(self.part(name..at));
        if (is_other || is_scheme(self.part(span.start..first))) && self.byte(first) == Some(b' ') {
            span = if first < span.end { first + 1..span.end } else { self.value(first + 1, name) };
        }
        self.keep_or_leave_out(span, strength);
    }

    /// Reads a value after a space, as in `--password hunter2`. If `only_quoted` is set, only a quotation is a value.
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

    fn short_option(&mut self, run: Range<usize>, option: SecretOption) -> bool {
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

    /// Returns true unless a quotation mark precedes `span` and no equal one follows it.
    fn is_whole(&self, span: &Range<usize>) -> bool {
        let before = span.start.checked_sub(1).and_then(|at| self.byte(at));
        !matches!(before, Some(b'"' | b'\'')) || self.byte(span.end) == before
    }

    fn keep_or_leave_out(&mut self, span: Range<usize>, strength: Strength) {
        if is_reference(self.part(span.clone())) {
            // The name of a variable is no secret either, even if it looks like one.
            self.at = self.at.max(span.end);
        } else if self.hides(&span, strength) {
            self.near = 0;
            self.leave_out(span);
        }
    }

    /// Returns true if a secret at this place is not shown.
    fn hides(&self, span: &Range<usize>, strength: Strength) -> bool {
        let value = self.part(span.clone());
        // A person must see the text that they approve. So a value stays visible unless it cannot run.
        let shown = match strength {
            Strength::Certain => self.end_of(Stretch::Plain, span.start) < span.end,
            Strength::Strong => {
                let is_word = !self.comes_back && self.is_whole(span);
                self.end_of(Stretch::Plain, span.start) < span.end || !is_word && !tokens::is_token(value)
            }
            Strength::Weak => self.end_of(Stretch::Plain, span.start) < span.end || !tokens::is_random(value),
        };
        let is_path = strength != Strength::Certain && value.starts_with(['/', '.', '~']) && !is_random_key(value);
        !span.is_empty() && !shown && !is_path && !is_reference(value)
    }

    /// Returns the value that begins at `at`, for a name that begins at `name`.
    fn value(&self, at: usize, name: usize) -> Range<usize> {
        if let Some(inside) = self.quotation_at(at + 1).filter(|_| matches!(self.byte(at), Some(b'"' | b'\''))) {
            return inside;
        }
        let around = self.quoted.get(self.quoted.partition_point(|span| span.end < at)).cloned();
        let around = around.filter(|span| span.start <= at);
        let inner = self.while_like(at, |byte| byte == b'\\');
        if let Some(b'"' | b'\'') = self.byte(inner) {
            // A quotation within another one. It is data if the outer quotation is JSON. Otherwise it may be a command
            // with several words.
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

    /// Returns the end of a word that begins outside of a quotation. The word may continue in a quotation.
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

    /// Redacts the password in `user:password@`, or a token that replaces the user.
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

    /// Redacts the lines of a private key. Other text after its first line stays.
    fn private_key(&mut self, at: usize) -> bool {
        let head = self.while_like(at, |byte| byte.is_ascii_uppercase() || byte == b' ').min(at + 64);
        if !self.part(at..head).contains("PRIVATE KEY") {
            return false;
        }
        self.at = self.while_like(head, |byte| byte == b'-');
        loop {
            let start = self.after_line_break(self.at);
            if let Some(end) = self.end_of_header(start) {
                self.at = end;
                continue;
            }
            let end = self.while_like(start, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='));
            // A short line may be a command, unless padding or a capital shows that it is none.
            let is_code = self.part(start..end).bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'/');
            let filled = !is_code && start > head + 64;
            let last = filled && self.rest(self.after_line_break(end)).starts_with(b"-----END");
            let is_whole = end - start >= 60 && !is_code;
            if end == start || !(last || is_whole || end - start >= 24 && tokens::is_random(self.part(start..end))) {
                return true;
            }
            self.leave_out(start..end);
        }
    }

    /// Returns the end of the header line of a private key that begins at `at`, as in `Proc-Type: 4,ENCRYPTED`.
    fn end_of_header(&self, at: usize) -> Option<usize> {
        let name = self.while_like(at, |byte| byte.is_ascii_alphabetic() || byte == b'-').min(at + 32);
        let is_known = matches!(self.part(at..name), "Proc-Type" | "DEK-Info" | "Version" | "Comment");
        let is_header = is_known && self.byte(name) == Some(b':');
        is_header.then(|| self.while_like(name, |byte| is_plain(byte) || byte == b' '))
    }

    /// Skips white space, and line breaks in JSON notation.
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

/// Returns true for a variable: `$NAME` or `${NAME}`.
pub(super) fn is_reference(value: &str) -> bool {
    value.strip_prefix('$').is_some_and(|name| {
        let name = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name);
        name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// Returns true if a text may run one of its own words: by an expansion, or through a file, a pipe or a here-document
/// into a shell. In any other text, a word stays an argument of its program.
fn comes_back(text: &str) -> bool {
    if only_writes_down(text) {
        return false;
    }
    text.bytes().enumerate().any(|(at, byte)| {
        let beside = |at: Option<usize>| at.and_then(|at| text.as_bytes().get(at)) == Some(&b'|');
        match byte {
            b'|' => !beside(at.checked_sub(1)) && !beside(Some(at + 1)),
            b'$' | b'`' | b'<' | b'>' | b'(' => true,
            _ => false,
        }
    })
}

/// Returns true for a line with one command, `cat` or `tee`, that writes a here-document without expansions to a file.
fn only_writes_down(text: &str) -> bool {
    let Some((line, body)) = text.trim().split_once('\n') else { return false };
    let Some((command, rest)) = line.split_once("<<") else { return false };
    let rest = rest.trim_start_matches(['-', ' ']);
    let (end, redirection) = rest.split_once(' ').unwrap_or((rest, ""));
    let bare = end.trim_matches(['\'', '"']);
    let is_plain_part = |part: &str| part.bytes().all(|byte| is_plain(byte) || matches!(byte, b' ' | b'>'));
    matches!(command.split_ascii_whitespace().next(), Some("cat" | "tee"))
        && is_plain_part(command)
        && is_plain_part(redirection)
        && !body.contains(['$', '`'])
        && !bare.is_empty()
        && body.lines().position(|line| line.trim_start_matches('\t') == bare) == body.lines().count().checked_sub(1)
}

/// Returns true for a name and its sign that end in `Authorization:`, the header.
fn ends_with_authorization(name: &str) -> bool {
    let name = name.trim_end_matches([' ', ':', '=', '"', '\'', '\\']);
    name.len()
        .checked_sub("authorization".len())
        .and_then(|at| name.get(at..))
        .is_some_and(|end| end.eq_ignore_ascii_case("authorization"))
}

/// Returns true for the name of a host that a password may precede: an address, a domain, or this machine.
fn is_host(text: &str) -> bool {
    let last = text.rsplit('.').next().unwrap_or_default();
    let is_domain = last.len() >= 2 && last.len() < text.len() && last.bytes().all(|byte| byte.is_ascii_alphabetic());
    let parts = || text.split('.');
    let is_address = parts().count() == 4 && parts().all(|part| part.parse::<u8>().is_ok());
    text == "localhost" || is_domain || is_address
}

fn is_in_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'_' | b'-')
}

/// Returns true for a byte that ends a value. A shell operator does. White space does too, unless the value is known to
/// be data.
fn ends_value(byte: u8, is_data: bool) -> bool {
    matches!(byte, b';' | b'|' | b'&' | b'<' | b'>' | b'(' | b')' | b'`' | b'\n')
        || !is_data && byte.is_ascii_whitespace()
}

/// Returns true for the scheme of an `Authorization` header.
pub(super) fn is_scheme(word: &str) -> bool {
    ["basic", "bearer", "digest", "negotiate", "token", "apikey"].iter().any(|scheme| word.eq_ignore_ascii_case(scheme))
}

fn is_json(text: &str) -> bool {
    let near = (0..=text.len().min(64)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let text = text.get(..near).unwrap_or_default();
    let text = text.trim_start_matches([' ', '\n', '[', '\\']);
    text.strip_prefix('{').is_some_and(|rest| rest.trim_start_matches([' ', '\n', '\\']).starts_with('"'))
}

/// Returns the insides of quotations, as a shell reads them. Returns none if they are uncertain. Each value then ends
/// with its word.
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

/// Returns true if a text makes it uncertain which quotation marks belong together.
fn is_unsure(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.iter().enumerate().any(|(at, byte)| match byte {
        b'`' | b'#' => true,
        b'<' => bytes.get(at + 1) == Some(&b'<'),
        b'$' => matches!(bytes.get(at + 1), Some(b'(' | b'{' | b'\'')),
        // The mark may replace a text that contained a quotation mark.
        b'[' => bytes.get(at..).is_some_and(|rest| rest.starts_with(MARK_START.as_bytes())),
        _ => false,
    })
}
