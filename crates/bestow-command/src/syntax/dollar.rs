//! Expansions that start with a dollar sign or a backtick.

use smol_str::{SmolStr, SmolStrBuilder};

use super::{
    reader::{Read, Reader},
    tree::{Change, Parameter, Piece, RawWord, Script},
    word::Pieces,
};
use crate::{few::Few, span::Span};

impl Reader<'_> {
    /// Parses an expansion from its `$` on. A dollar sign that starts no expansion is ordinary text.
    pub(super) fn dollar(&mut self, quoted: bool, pieces: &mut Pieces) -> Read<()> {
        self.at += 1;
        match self.peek() {
            Some(b'(') if self.peek_second() == Some(b'(') => self.double_parenthesis(quoted, pieces)?,
            Some(b'(') => self.substitution(quoted, pieces)?,
            Some(b'{') => {
                self.at += 1;
                self.nested(|reader| reader.braces(quoted, pieces))?;
            }
            Some(b'[') => {
                self.at += 1;
                self.ledger.bash_only = true;
                // To dash it is text, with operators and redirections in it.
                self.ledger.elsewhere.dash = true;
                let inside = self.nested(|reader| reader.arithmetic(b'[', b']'))?;
                self.demand(b']', "arithmetic that is not closed")?;
                pieces.add(Piece::Arithmetic(inside.into()));
            }
            Some(b'\'') if !quoted => {
                self.at += 1;
                self.ledger.bash_only = true;
                self.escaped_quote(pieces)?;
            }
            // Other shells keep the `$` of `$"…"`.
            Some(b'"') if !quoted => self.ledger.bash_only = true,
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                let parameter = plain_parameter(self.name(), quoted);
                // zsh takes `$x[…]` for an element, and calculates the index.
                self.ledger.elsewhere.zsh |= self.peek() == Some(b'[');
                if quoted {
                    pieces.add_quoted_text(parameter);
                } else {
                    pieces.add(parameter);
                }
            }
            Some(byte) if byte.is_ascii_digit() || b"@*#?-$!".contains(&byte) => {
                self.at += 1;
                pieces.add(plain_parameter(char::from(byte).into(), quoted));
            }
            next => {
                // zsh expands `$=x`, `$~x` and `$^x`: as several words, as a pattern, as a list.
                self.ledger.elsewhere.zsh |= matches!(next, Some(b'=' | b'~' | b'^' | b'+'));
                if quoted { pieces.quoted("$") } else { pieces.bare("$") }
            }
        }
        Ok(())
    }

    fn name(&mut self) -> SmolStr {
        let belongs = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let mut name = SmolStrBuilder::new();
        // A line may end within the name.
        while self.peek().is_some_and(belongs) {
            let start = self.at;
            self.at += self.run_length(belongs);
            name.push_str(self.slice(start, self.at));
        }
        name.finish()
    }

    fn substitution(&mut self, quoted: bool, pieces: &mut Pieces) -> Read<()> {
        let script = self.parenthesised()?.into();
        pieces.add(Piece::Command { script, quoted });
        Ok(())
    }

    /// Parses `( … )` from the opening parenthesis on. Here-documents inside it must end inside it.
    pub(super) fn parenthesised(&mut self) -> Read<Script> {
        let awaited = std::mem::take(&mut self.awaited);
        let script = self.nested(|reader| {
            reader.demand(b'(', "a parenthesis is missing")?;
            let script = reader.list(&[])?;
            reader.demand(b')', "a parenthesis that is not closed")?;
            Ok(script)
        })?;
        if !std::mem::replace(&mut self.awaited, awaited).is_empty() {
            self.fault("a here-document without a body");
        }
        Ok(script)
    }

    /// Parses `$((`: arithmetic if it closes as such, or otherwise a substitution that starts with a subshell.
    fn double_parenthesis(&mut self, quoted: bool, pieces: &mut Pieces) -> Read<()> {
        let start = self.at;
        let known_faults = self.ledger.faults.len();
        if let Ok(inside) = self.nested(Self::arithmetic_in_parentheses) {
            pieces.add(Piece::Arithmetic(inside.into()));
            return Ok(());
        }
        self.at = start;
        self.ledger.faults.truncate(known_faults);
        self.substitution(quoted, pieces)
    }

    /// Parses `((…))` from the first parenthesis on.
    pub(super) fn arithmetic_in_parentheses(&mut self) -> Read<Few<Piece>> {
        if !self.eat_two(b'(', b'(') {
            return self.stop("arithmetic is missing");
        }
        let inside = self.arithmetic(b'(', b')')?;
        if self.eat_two(b')', b')') { Ok(inside) } else { self.stop("arithmetic that is not closed") }
    }

    /// Parses arithmetic up to, but not including, the matching `close` of the caller. Quotes protect nothing here.
    pub(super) fn arithmetic(&mut self, open: u8, close: u8) -> Read<Few<Piece>> {
        let mut pieces = Pieces::default();
        let mut depth = 0_usize;
        loop {
            self.step()?;
            let Some(byte) = self.peek() else { return self.stop("arithmetic that is not closed") };
            match byte {
                b'$' => {
                    self.refuse_escapes_in_quotes();
                    self.dollar(true, &mut pieces)?;
                }
                b'`' => self.backticks(true, &mut pieces)?,
                b'\\' => {
                    self.at += 1;
                    self.character();
                }
                _ if byte == close && depth == 0 => return Ok(pieces.finish()),
                _ => {
                    depth = if byte == open { depth + 1 } else { depth - usize::from(byte == close) };
                    let c = self.character().unwrap_or(' ');
                    pieces.quoted(c.encode_utf8(&mut [0; 4]));
                }
            }
        }
    }

    /// Parses `<(…)` or `>(…)`.
    pub(super) fn process_substitution(&mut self, pieces: &mut Pieces) -> Read<()> {
        self.at += 1;
        let script = self.parenthesised()?;
        self.ledger.bash_only = true;
        pieces.add(Piece::Process(script.into()));
        Ok(())
    }

    /// Parses backticks. The text between them loses one layer of backslashes and is a separate script.
    pub(super) fn backticks(&mut self, quoted: bool, pieces: &mut Pieces) -> Read<()> {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            self.step()?;
            match self.character() {
                None => return self.stop("a backtick that is not closed"),
                Some('`') => break,
                Some('\\') => match self.character() {
                    Some(c @ ('`' | '\\' | '$')) => text.push(c),
                    Some('"') if quoted => text.push('"'),
                    Some(c) => text.extend(['\\', c]),
                    None => return self.stop("a backtick that is not closed"),
                },
                Some(c) => text.push(c),
            }
        }
        let span = self.span_from(start);
        let script = self.inside(&text, span, |reader| reader.whole())?.into();
        pieces.add(Piece::Command { script, quoted });
        Ok(())
    }

    /// Parses `${ … }` after its opening brace.
    fn braces(&mut self, quoted: bool, pieces: &mut Pieces) -> Read<()> {
        if matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'|')) {
            self.eat(b'|');
            let script = self.list(&["}"])?.into();
            self.demand(b'}', "a brace that is not closed")?;
            pieces.add(Piece::Command { script, quoted });
            return Ok(());
        }
        let prefix = match (self.peek(), self.peek_second()) {
            (Some(b'!'), Some(second)) if second != b'}' => Change::Indirect,
            (Some(b'#'), Some(second)) if second != b'}' => Change::Length,
            _ => Change::Nothing,
        };
        if prefix != Change::Nothing {
            self.at += 1;
        }
        let mut name = self.name();
        if name.is_empty() {
            match self.peek() {
                Some(byte) if b"@*#?-$!".contains(&byte) => {
                    name = char::from(byte).into();
                    self.at += 1;
                }
                _ => return self.stop("a parameter without a name"),
            }
        }
        let subscript = self.subscript()?;
        let mut inside = Pieces::default();
        let form = self.parameter_change(prefix, quoted, &subscript, &mut inside)?;
        self.demand(b'}', "a brace that is not closed")?;
        pieces.add(Piece::Parameter(
            Parameter {
                name,
                quoted,
                form,
                subscript,
                inside: RawWord { span: Span::default(), pieces: inside.finish() },
            }
            .into(),
        ));
        Ok(())
    }

    /// Parses `[…]` after a name, if there is one.
    fn subscript(&mut self) -> Read<Few<Piece>> {
        if !self.eat(b'[') {
            return Ok(Few::default());
        }
        let subscript = self.nested(|reader| reader.arithmetic(b'[', b']'))?;
        self.demand(b']', "a subscript that is not closed")?;
        Ok(if subscript.is_empty() { Few::One(Piece::Quoted(SmolStr::default())) } else { subscript })
    }

    /// Parses the text between the name and the closing brace.
    fn parameter_change(
        &mut self,
        prefix: Change,
        quoted: bool,
        subscript: &[Piece],
        inside: &mut Pieces,
    ) -> Read<Change> {
        let whole_list = matches!(subscript, [Piece::Quoted(text)] if text == "@" || text == "*");
        if self.peek() == Some(b'}') {
            // `${!list[@]}` expands to the keys of a list and is not an indirection.
            let keys = prefix == Change::Indirect && whole_list;
            return Ok(if keys {
                Change::Edit(b'!')
            } else if prefix != Change::Nothing || subscript.is_empty() {
                prefix
            } else if whole_list {
                Change::List
            } else {
                Change::Element
            });
        }
        let operator = self.change_operator(prefix)?;
        self.rest_of_braces(quoted, operator, inside)?;
        let follows_name = prefix == Change::Indirect && operator != Change::Nothing;
        Ok(if follows_name { Change::Indirect } else { operator })
    }

    fn change_operator(&mut self, prefix: Change) -> Read<Change> {
        let colon = self.eat(b':');
        let operator = match self.peek() {
            Some(b'-') => Change::Default,
            Some(b'=') => Change::Assign,
            Some(b'+') => Change::Instead,
            Some(b'?') => Change::Required,
            _ if colon => {
                // To zsh, `${name::=value}` is an assignment.
                self.ledger.elsewhere.zsh |= self.peek() == Some(b':');
                return Ok(Change::Edit(b':'));
            }
            Some(b'@' | b'*') if prefix == Change::Indirect && self.peek_second() == Some(b'}') => {
                // `${!prefix*}` expands to names.
                self.at += 1;
                return Ok(Change::Nothing);
            }
            Some(b'@') if self.peek_second() == Some(b'P') => Change::Prompt,
            Some(b'%') => Change::Cut,
            Some(sign @ (b'@' | b'#' | b'/' | b'^' | b',')) => Change::Edit(sign),
            _ => return self.stop("an unknown form of expansion"),
        };
        self.at += 1;
        Ok(operator)
    }

    /// Parses the word after the operator, up to, but not including, the closing brace.
    fn rest_of_braces(&mut self, quoted: bool, operator: Change, inside: &mut Pieces) -> Read<()> {
        let quotes_are_text = quoted && !matches!(operator, Change::Edit(_) | Change::Cut);
        let mut quote_is_open = false;
        loop {
            self.step()?;
            match self.peek() {
                None => return self.stop("a brace that is not closed"),
                Some(b'}') => {
                    if quote_is_open {
                        self.fault("a brace behind a quotation mark, which bash takes for text");
                    }
                    return Ok(());
                }
                Some(b'\'') if quotes_are_text => {
                    self.at += 1;
                    quote_is_open = !quote_is_open;
                    inside.quoted("'");
                }
                Some(b'$') => {
                    if quoted {
                        self.refuse_escapes_in_quotes();
                    }
                    let start = self.at;
                    self.dollar(quoted, inside)?;
                    if may_be_decoded_twice(self.slice(start, self.at)) {
                        self.fault("an escaped text in an expansion, which may be expanded again");
                    }
                }
                Some(b'`') => self.backticks(quoted, inside)?,
                Some(sign @ (b'<' | b'>')) if self.peek_second() == Some(b'(') => {
                    // Between quotes, bash runs it in a pattern, in a message and in what they contain. Elsewhere it is
                    // text.
                    if quotes_are_text {
                        self.fault("a process substitution between quotes");
                    }
                    if quotes_are_text && operator != Change::Required {
                        self.at += 1;
                        inside.quoted(char::from(sign).encode_utf8(&mut [0; 4]));
                    } else {
                        self.process_substitution(inside)?;
                    }
                }
                Some(byte @ (b'\\' | b'\'' | b'"' | b'~')) => {
                    // In quotes, zsh takes a quotation mark in a pattern for text.
                    self.ledger.elsewhere.zsh |= quoted && byte == b'\'';
                    self.unquoted(byte, inside)?;
                }
                Some(byte) => {
                    // zsh has further substitutions, and patterns with code: `=(…)`, `*(e:…:)`.
                    self.ledger.elsewhere.zsh |= byte == b'(';
                    let c = self.character().unwrap_or(' ');
                    inside.quoted(c.encode_utf8(&mut [0; 4]));
                }
            }
        }
    }

    /// Refuses `$'…'` between quotes in an expansion: bash decodes it, and expands what comes of it.
    fn refuse_escapes_in_quotes(&mut self) {
        if self.peek_second() == Some(b'\'') {
            self.fault("an escaped text between quotes, which is expanded again");
        }
    }

    /// Parses `$'…'` after its opening quote.
    fn escaped_quote(&mut self, pieces: &mut Pieces) -> Read<()> {
        let mut text = String::new();
        loop {
            self.step()?;
            match self.character() {
                None => return self.stop("a quote that is not closed"),
                Some('\'') => break,
                Some('\\') => match self.character() {
                    None => return self.stop("a quote that is not closed"),
                    Some(c) => {
                        // To dash the quotation ends here.
                        self.ledger.elsewhere.dash |= c == '\'';
                        self.escape(c, &mut text);
                    }
                },
                Some(c) => text.push(c),
            }
        }
        // The shell ends the string at a NUL. The text after the NUL is not part of the word.
        pieces.quoted(text.split('\0').next().unwrap_or_default());
        Ok(())
    }

    fn escape(&mut self, c: char, text: &mut String) {
        let code = match c {
            'n' => 10,
            't' => 9,
            'r' => 13,
            'a' => 7,
            'b' => 8,
            'e' | 'E' => 27,
            'f' => 12,
            'v' => 11,
            'x' => self.digits(16, 2),
            'u' => self.digits(16, 4),
            'U' => self.digits(16, 8),
            '0'..='7' => {
                self.at -= 1;
                self.digits(8, 3) & 0xff
            }
            'c' => self.character().map_or(0, |c| u32::from(c) & 0x1f),
            '\\' | '\'' | '"' | '?' => u32::from(c),
            _ => {
                // zsh drops the backslash.
                self.ledger.elsewhere.zsh = true;
                text.push('\\');
                u32::from(c)
            }
        };
        text.push(char::from_u32(code).unwrap_or('\u{fffd}'));
    }

    fn digits(&mut self, radix: u32, most: usize) -> u32 {
        let mut value = 0_u32;
        for _ in 0..most {
            let Some(digit) = self.raw().and_then(|byte| char::from(byte).to_digit(radix)) else { break };
            value = value.wrapping_mul(radix).wrapping_add(digit);
            self.at += 1;
        }
        value
    }
}

/// Returns true for `$'…'` in which a shell may find an expansion after it has decoded it: bash does so within a
/// substitution between quotes, zsh in a pattern.
fn may_be_decoded_twice(text: &str) -> bool {
    let Some(text) = text.strip_prefix("$'") else { return false };
    let is_plain = |escape: char| matches!(escape, 'n' | 't' | 'r' | '\\' | '\'');
    text.contains(['$', '`']) || text.split('\\').skip(1).any(|rest| !rest.is_empty() && !rest.starts_with(is_plain))
}

fn plain_parameter(name: SmolStr, quoted: bool) -> Piece {
    Piece::Parameter(
        Parameter { name, quoted, form: Change::Nothing, subscript: Few::default(), inside: RawWord::default() }.into(),
    )
}
