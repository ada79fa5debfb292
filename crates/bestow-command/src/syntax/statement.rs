//! Lists, pipelines and simple commands.

use smol_str::SmolStr;

use super::{
    reader::{Read, Reader, ends_word, is_name},
    tree::{Assignment, Command, Form, Joint, Parsed, Piece, Pipeline, RawWord, Redirect, Script, Simple, Statement},
};
use crate::few::Few;

/// Words with a special meaning at the start of a command.
static RESERVED: [&str; 22] = [
    "!", "{", "}", "[[", "if", "then", "else", "elif", "fi", "for", "select", "while", "until", "do", "done", "case",
    "esac", "function", "time", "coproc", "in", "]]",
];

/// Returns the lengths of the reserved words that begin with this byte, each as a bit.
fn lengths_of_reserved(first: u8) -> u16 {
    const LENGTHS: [u16; 256] = {
        let (mut lengths, mut words) = ([0_u16; 256], RESERVED.as_slice());
        while let [word, behind @ ..] = words {
            if let [first, ..] = word.as_bytes() {
                let (_, behind) = lengths.split_at_mut(*first as usize);
                if let [place, ..] = behind {
                    *place |= 1 << word.len();
                }
            }
            words = behind;
        }
        lengths
    };
    LENGTHS.get(usize::from(first)).copied().unwrap_or_default()
}

/// The length of the longest reserved word.
const LONGEST_RESERVED: usize = "function".len();

/// Returns true for a byte of a reserved word.
fn is_of_reserved(byte: u8) -> bool {
    byte.is_ascii_lowercase() || matches!(byte, b'!' | b'{' | b'}' | b'[' | b']')
}

fn reserved_word(letters: &[u8]) -> Option<&'static str> {
    if lengths_of_reserved(*letters.first()?) >> letters.len() & 1 == 0 {
        return None;
    }
    RESERVED.iter().copied().find(|word| word.as_bytes() == letters)
}

/// The number of words for which a command has room at first.
const WORDS: usize = 8;

impl Reader<'_> {
    /// Parses a whole text. The commands before a mistake stay in `script`.
    pub(super) fn program(&mut self, script: &mut Script) -> Read<()> {
        self.statements(&[], script)?;
        match self.peek() {
            None => self.end_of_text(),
            Some(_) => self.stop("something here does not belong to any command"),
        }
    }

    /// Parses a whole text that was extracted from another one.
    pub(super) fn whole(&mut self) -> Read<Script> {
        let mut script = Script::default();
        self.program(&mut script)?;
        Ok(script)
    }

    /// Parses commands up to one of the reserved words in `ends`, a closing parenthesis, `;;`, or the end.
    pub(super) fn list(&mut self, ends: &[&str]) -> Read<Script> {
        let mut script = Script::default();
        self.statements(ends, &mut script)?;
        Ok(script)
    }

    /// Parses a list that must not be empty.
    pub(super) fn body(&mut self, ends: &[&str]) -> Read<Script> {
        let script = self.list(ends)?;
        if script.statements.is_empty() { self.stop("a command is missing") } else { Ok(script) }
    }

    fn statements(&mut self, ends: &[&str], script: &mut Script) -> Read<()> {
        loop {
            self.empty_lines()?;
            if self.at_end_of_list(ends) {
                return Ok(());
            }
            if script.statements.is_empty() {
                // Most lists have one statement.
                script.statements = Vec::with_capacity(1);
            }
            let pipelines = Few::One(Pipeline::default());
            script.statements.push(Statement { pipelines, background: false });
            if let Some(statement) = script.statements.last_mut() {
                self.and_or(&mut statement.pipelines)?;
            }
            self.blanks();
            match self.peek() {
                Some(b';') if self.peek_second() != Some(b';') && self.peek_second() != Some(b'&') => self.at += 1,
                Some(b'&') => {
                    self.at += 1;
                    if let Some(statement) = script.statements.last_mut() {
                        statement.background = true;
                    }
                }
                Some(b'\n') => {}
                _ if self.at_end_of_list(ends) => return Ok(()),
                _ => return self.stop("something here does not belong to any command"),
            }
        }
    }

    fn at_end_of_list(&mut self, ends: &[&str]) -> bool {
        match self.peek() {
            None | Some(b')') => true,
            Some(b';') => matches!(self.peek_second(), Some(b';' | b'&')),
            Some(_) => !ends.is_empty() && self.reserved().is_some_and(|word| ends.contains(&word)),
        }
    }

    fn empty_lines(&mut self) -> Read<()> {
        loop {
            self.blanks();
            if self.peek() != Some(b'\n') {
                return Ok(());
            }
            self.newline()?;
        }
    }

    fn and_or(&mut self, pipelines: &mut Few<Pipeline>) -> Read<()> {
        loop {
            if let Some(pipeline) = pipelines.last_mut() {
                self.pipeline(pipeline)?;
            }
            self.blanks();
            let joint = match self.peek() {
                Some(b'&') if self.eat_two(b'&', b'&') => Joint::And,
                Some(b'|') if self.eat_two(b'|', b'|') => Joint::Or,
                _ => return Ok(()),
            };
            self.empty_lines()?;
            pipelines.push(Pipeline { joint, ..Pipeline::default() });
        }
    }

    fn pipeline(&mut self, pipeline: &mut Pipeline) -> Read<()> {
        while let Some(word @ ("!" | "time")) = self.reserved() {
            self.skip_reserved(word);
            pipeline.negated |= word == "!";
            self.blanks();
            if word == "time" && self.next_word_is("-p") {
                self.at += 2;
                self.blanks();
            }
            if self.ends_command() {
                return Ok(());
            }
        }
        loop {
            pipeline.commands.push(self.command()?);
            self.blanks();
            if self.peek() != Some(b'|') || self.peek_second() == Some(b'|') {
                return Ok(());
            }
            self.at += 1;
            self.ledger.bash_only |= self.eat(b'&');
            self.empty_lines()?;
        }
    }

    /// Returns true if no further part of a command can follow. `time` alone is a command.
    fn ends_command(&mut self) -> bool {
        matches!(self.peek(), None | Some(b'\n' | b';'))
    }

    pub(super) fn command(&mut self) -> Read<Command> {
        self.node()?;
        self.ledger.commands += 1;
        self.blanks();
        let start = self.at;
        let form = match self.peek() {
            Some(b'(') => self.nested(Self::parenthesis)?,
            Some(_) => match self.reserved() {
                Some("in" | "]]") | None => return self.simple(start),
                Some(word) => self.nested(|reader| reader.compound(word))?,
            },
            None => return self.simple(start),
        };
        let redirects = if matches!(form, Form::Function { .. }) { Vec::new() } else { self.redirects()? };
        Ok(Command { span: self.span_from(start), form, redirects })
    }

    fn redirects(&mut self) -> Read<Vec<Redirect>> {
        let mut redirects = Vec::new();
        loop {
            self.blanks();
            if !self.may_start_redirect() {
                return Ok(redirects);
            }
            match self.redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => return Ok(redirects),
            }
        }
    }

    fn simple(&mut self, start: usize) -> Read<Command> {
        let mut simple = Simple { assignments: Vec::new(), words: Vec::with_capacity(WORDS) };
        let mut redirects = Vec::new();
        loop {
            self.step()?;
            self.blanks();
            if self.may_start_redirect()
                && let Some(redirect) = self.redirect()?
            {
                redirects.push(redirect);
                continue;
            }
            if !self.add_word(&mut simple.words)? {
                break;
            }
            let [first] = simple.words.as_slice() else { continue };
            if let Some(assigned) = assigned_name(first) {
                let assignment = assignment(first, assigned);
                self.ledger.bash_only |= assignment.appends;
                simple.assignments.push(assignment);
                simple.words.clear();
            } else if simple.assignments.is_empty() && redirects.is_empty() {
                self.blanks();
                if self.peek() == Some(b'(') {
                    return self.function_after_name(first, start);
                }
            }
        }
        if simple.words.is_empty() && simple.assignments.is_empty() && redirects.is_empty() {
            return self.stop("a command is missing");
        }
        Ok(Command { span: self.span_from(start), form: Form::Simple(simple), redirects })
    }

    fn function_after_name(&mut self, name: &RawWord, start: usize) -> Read<Command> {
        let Some(name) = bare_text(name).map(str::to_owned) else {
            return self.stop("a function without a plain name");
        };
        let form = self.function_body(name)?;
        Ok(Command { span: self.span_from(start), form, redirects: Vec::new() })
    }

    /// Parses `() body` after the name.
    pub(super) fn function_body(&mut self, name: String) -> Read<Form> {
        self.blanks();
        if self.eat(b'(') {
            self.blanks();
            self.demand(b')', "a parenthesis here starts nothing")?;
        }
        self.empty_lines()?;
        let body = self.nested(Self::command)?;
        if matches!(body.form, Form::Simple(_)) {
            return self.stop("a function needs a compound command");
        }
        Ok(Form::Function { name, body: body.into() })
    }

    /// Returns the reserved word at this position, if there is one.
    pub(super) fn reserved(&mut self) -> Option<&'static str> {
        if self.peek().is_none_or(|byte| lengths_of_reserved(byte) == 0) {
            return None;
        }
        if self.found_reserved.0 != self.at {
            self.found_reserved = (self.at, self.find_reserved());
        }
        self.found_reserved.1
    }

    #[inline(never)]
    fn find_reserved(&mut self) -> Option<&'static str> {
        let rest = self.text.as_bytes().get(self.at..)?;
        let rest = rest.get(..LONGEST_RESERVED + 1).unwrap_or(rest);
        let length = rest.iter().position(|byte| !is_of_reserved(*byte)).unwrap_or(rest.len());
        match rest.get(length) {
            Some(b'\\') => self.reserved_across_lines(),
            Some(byte) if !ends_word(*byte) => None,
            _ => reserved_word(rest.get(..length)?),
        }
    }

    /// Returns the reserved word at this position, if there is one. A line may end within the word.
    fn reserved_across_lines(&mut self) -> Option<&'static str> {
        let start = self.at;
        let mut letters = [0_u8; LONGEST_RESERVED + 1];
        let mut length = 0;
        while let Some(byte) = self.peek().filter(|byte| !ends_word(*byte)) {
            let letter = letters.get_mut(length).filter(|_| is_of_reserved(byte));
            let Some(letter) = letter else {
                self.at = start;
                return None;
            };
            *letter = byte;
            length += 1;
            self.at += 1;
        }
        self.at = start;
        reserved_word(letters.get(..length)?)
    }

    /// Consumes a reserved word that [`Reader::reserved`] has found.
    pub(super) fn skip_reserved(&mut self, word: &str) {
        for byte in word.bytes() {
            self.eat(byte);
        }
    }

    /// Consumes the reserved word `word`, or stops if it is not next.
    pub(super) fn demand_reserved(&mut self, word: &'static str, why: &'static str) -> Read<()> {
        self.empty_lines()?;
        if self.reserved() != Some(word) {
            return self.stop(why);
        }
        self.skip_reserved(word);
        Ok(())
    }

    fn next_word_is(&self, word: &str) -> bool {
        self.raw_starts(word) && self.text.as_bytes().get(self.at + word.len()).is_none_or(|byte| ends_word(*byte))
    }
}

/// Returns the text of a word that consists of plain unquoted text.
pub(crate) fn bare_text(word: &RawWord) -> Option<&str> {
    match word.pieces.as_slice() {
        [Piece::Bare(text)] => Some(text),
        _ => None,
    }
}

/// Returns the assignment that a word is. The word assigns the pieces to the name.
fn assignment(word: &RawWord, (name, partial, pieces): (SmolStr, bool, Few<Piece>)) -> Assignment {
    let sign = name.len()..name.len() + 2;
    let appends = matches!(word.pieces.first(), Some(Piece::Bare(head)) if head.get(sign) == Some("+="));
    Assignment { name, value: RawWord { span: word.span, pieces }, partial, appends }
}

/// Returns the name that a word assigns to, a flag, and the pieces of the value. The flag is true if the value is only
/// a part of the variable.
pub(crate) fn assigned_name(word: &RawWord) -> Option<(SmolStr, bool, Few<Piece>)> {
    let [Piece::Bare(head), rest @ ..] = word.pieces.as_slice() else { return None };
    let sign = head.bytes().position(|byte| byte == b'=');
    if let Some((name, value)) = sign.and_then(|at| Some((head.get(..at)?, head.get(at + 1..)?))) {
        let plain = name.strip_suffix('+').unwrap_or(name);
        let list = value.is_empty() && matches!(rest, [Piece::Element, ..]);
        if !is_name(plain) {
            return None;
        }
        let first = (!value.is_empty()).then(|| Piece::Bare(value.into()));
        return Some((plain.into(), plain != name || list, first.into_iter().chain(rest.iter().cloned()).collect()));
    }
    let subscript = matches!(rest, [Piece::Glob('['), ..])
        && rest.iter().any(|piece| matches!(piece, Piece::Bare(text) if text.contains("]=") || text.contains("]+=")));
    (subscript && is_name(head)).then(|| (head.clone(), true, rest.to_vec().into()))
}

impl Reader<'_> {
    /// Ends the text. A here-document without a following line has an empty body.
    fn end_of_text(&mut self) -> Read<()> {
        self.here_document_bodies()
    }
}

impl Parsed {
    /// Returns true if every byte was understood, so that a proof may rely on the tree.
    pub(crate) fn understood(&self) -> bool {
        self.faults.is_empty() && !self.broken
    }
}
