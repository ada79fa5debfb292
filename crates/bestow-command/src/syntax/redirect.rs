//! Redirections and the bodies of here-documents.

use std::rc::Rc;

use super::{
    reader::{Awaited, Read, Reader, is_loud},
    tree::{Flow, Piece, RawWord, Redirect},
};
use crate::few::Few;

impl Reader<'_> {
    /// Returns true if the next byte may begin a redirection.
    #[inline]
    pub(super) fn may_start_redirect(&mut self) -> bool {
        self.peek().is_some_and(|byte| byte.is_ascii_digit() || matches!(byte, b'<' | b'>' | b'&' | b'{'))
    }

    /// Parses a redirection, or returns `None` if there is none at this position.
    pub(super) fn redirect(&mut self) -> Read<Option<Redirect>> {
        let start = self.at;
        let descriptor = self.descriptor();
        let flow = match self.redirect_operator() {
            Some(operator) => operator,
            None => {
                self.at = start;
                return Ok(None);
            }
        };
        self.node()?;
        if let Operator::HereDocument { strip_tabs } = flow {
            let redirect = self.here_document(descriptor.flatten(), strip_tabs)?;
            return Ok(Some(Redirect { named: descriptor == Some(None), ..redirect }));
        }
        let written = self.slice(start, self.at);
        let named = descriptor == Some(None);
        let unusual = named || written.contains('<') && written.contains('>');
        self.blanks();
        let Some(target) = self.word()? else { return self.stop("a redirection without a target") };
        let mut descriptor = descriptor;
        let flow = match flow {
            Operator::Plain(flow) => flow,
            Operator::Copy { reads } if is_descriptor(&target) => {
                descriptor = descriptor.or(reads.then_some(Some(0)));
                Flow::Duplicate
            }
            Operator::Copy { .. } | Operator::HereDocument { .. } => {
                self.ledger.bash_only = true;
                Flow::Write
            }
        };
        Ok(Some(Redirect { flow, descriptor: descriptor.flatten(), unusual, named, target }))
    }

    /// Parses a number or `{name}` directly before an operator. Returns `Some(None)` for a name.
    fn descriptor(&mut self) -> Option<Option<u32>> {
        let start = self.at;
        let mut digits = String::new();
        while let Some(byte) = self.peek().filter(u8::is_ascii_digit) {
            digits.push(byte.into());
            self.at += 1;
        }
        if digits.is_empty() && self.peek() == Some(b'{') {
            self.at += 1;
            while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
                self.at += 1;
            }
            let name = self.slice(start + 1, self.at).to_owned();
            if self.eat(b'}') && matches!(self.peek(), Some(b'<' | b'>')) {
                if is_loud(&name) {
                    self.fault("a descriptor in a variable that programs may read");
                }
                self.ledger.bash_only = true;
                return Some(None);
            }
        } else if matches!(self.peek(), Some(b'<' | b'>')) {
            // To other shells, several digits are a word, and to zsh also one before the end of a line that goes on.
            let is_word = self.at - start > 1;
            self.ledger.bash_only |= is_word;
            self.ledger.elsewhere.dash |= is_word;
            self.ledger.elsewhere.zsh |= is_word;
            return digits.parse().ok().map(Some);
        }
        self.at = start;
        None
    }

    fn redirect_operator(&mut self) -> Option<Operator> {
        let (first, second) = (self.peek()?, self.peek_second());
        let operator = match (first, second) {
            (b'<' | b'>', Some(b'(')) => return None,
            (b'<', Some(b'<')) => {
                self.at += 1;
                self.eat(b'<');
                if self.eat(b'<') {
                    self.ledger.bash_only = true;
                    return Some(Operator::Plain(Flow::HereString));
                }
                return Some(Operator::HereDocument { strip_tabs: self.eat(b'-') });
            }
            (b'<' | b'>', Some(b'&')) => Operator::Copy { reads: first == b'<' },
            (b'<', Some(b'>')) | (b'>', Some(b'>' | b'|')) => Operator::Plain(Flow::Write),
            (b'&', Some(b'>')) => {
                self.ledger.bash_only = true;
                self.at += 1;
                self.eat(b'>');
                self.eat(b'>');
                return Some(Operator::Plain(Flow::Write));
            }
            (b'<', _) => {
                self.at += 1;
                return Some(Operator::Plain(Flow::Read));
            }
            (b'>', _) => {
                self.at += 1;
                return Some(Operator::Plain(Flow::Write));
            }
            _ => return None,
        };
        self.at += 1;
        self.peek();
        self.at += 1;
        Some(operator)
    }

    fn here_document(&mut self, descriptor: Option<u32>, strip_tabs: bool) -> Read<Redirect> {
        self.blanks();
        let start = self.at;
        let Some(target) = self.word()? else { return self.stop("a here-document without a delimiter") };
        let source = self.slice(start, self.at);
        let literal = source.contains(['\'', '"']) || source.replace("\\\n", "").contains('\\');
        let delimiter: String = target.pieces.iter().map(delimiter_text).collect();
        // Shells differ in what they take from `${x}`, `$'…'` and backticks, and in a tab that `<<-` would remove.
        let is_plain = !source.contains(['$', '`']) && !delimiter.contains(char::is_control);
        if !is_plain {
            self.fault(END_UNKNOWN);
        }
        let body = self.ledger.bodies.len();
        self.ledger.bodies.push(Rc::default());
        self.awaited.push(Awaited { body, delimiter, strip_tabs, literal });
        Ok(Redirect { flow: Flow::HereDocument(body), descriptor, unusual: false, named: false, target })
    }

    /// Consumes the end of the line and the here-document bodies that follow it.
    pub(super) fn newline(&mut self) -> Read<()> {
        self.at += 1;
        self.step()?;
        self.here_document_bodies()
    }

    /// Consumes the bodies of the here-documents that are awaited here.
    pub(super) fn here_document_bodies(&mut self) -> Read<()> {
        if self.awaited.is_empty() { Ok(()) } else { self.awaited_bodies() }
    }

    fn awaited_bodies(&mut self) -> Read<()> {
        for awaited in std::mem::take(&mut self.awaited) {
            let start = self.at;
            let text = self.here_document_text(&awaited)?;
            let span = self.span_from(start);
            let pieces = if awaited.literal {
                Few::One(Piece::Quoted(text.into()))
            } else {
                self.inside(&text, span, |reader| reader.expand_body())?
            };
            if let Some(body) = self.ledger.bodies.get_mut(awaited.body) {
                *body = RawWord { span, pieces }.into();
            }
        }
        Ok(())
    }

    /// Returns the lines up to the delimiter. The end of the text ends a body too.
    fn here_document_text(&mut self, awaited: &Awaited) -> Read<String> {
        let mut text = String::new();
        while self.raw().is_some() {
            self.step()?;
            let line_start = text.len();
            self.here_document_line(awaited, &mut text);
            let line = text.get(line_start..).unwrap_or_default();
            let Some(rest) = line.strip_prefix(awaited.delimiter.as_str()) else { continue };
            if rest.is_empty() || rest == "\n" {
                text.truncate(line_start);
                return Ok(text);
            }
            // In a substitution, this line ends the document for bash.
            if rest.contains([')', '}']) {
                self.fault(END_UNKNOWN);
            }
        }
        Ok(text)
    }

    /// Reads one line and its continuation lines. A quoted delimiter disables continuations.
    fn here_document_line(&mut self, awaited: &Awaited, text: &mut String) {
        loop {
            if awaited.strip_tabs {
                while self.raw() == Some(b'\t') {
                    self.at += 1;
                }
            }
            let start = self.at;
            let rest = self.text.as_bytes().get(start..).unwrap_or_default();
            let length = rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |end| end + 1);
            self.at += length;
            self.ledger.steps += length;
            let line = self.slice(start, self.at);
            let content = line.strip_suffix('\n').unwrap_or(line);
            let backslashes = content.bytes().rev().take_while(|byte| *byte == b'\\').count();
            if awaited.literal || backslashes % 2 == 0 || content.len() == line.len() {
                text.push_str(line);
                return;
            }
            text.push_str(content.get(..content.len() - 1).unwrap_or_default());
        }
    }
}

const END_UNKNOWN: &str = "a here-document whose end cannot be told";

/// A redirection operator.
#[derive(Clone, Copy, Debug)]
enum Operator {
    Plain(Flow),
    /// The operators `<&` and `>&`. The target is a descriptor, or otherwise a file.
    Copy {
        reads: bool,
    },
    HereDocument {
        strip_tabs: bool,
    },
}

/// Returns true for a descriptor: `1`, `-`. The form `1-` is one in bash and a file in zsh, so it counts as a file.
fn is_descriptor(target: &RawWord) -> bool {
    let [Piece::Bare(text) | Piece::Quoted(text)] = target.pieces.as_slice() else { return false };
    text == "-" || (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns the text of a piece of a delimiter. An expansion becomes a text that no line equals.
fn delimiter_text(piece: &Piece) -> String {
    match piece {
        Piece::Bare(text) | Piece::Quoted(text) => text.to_string(),
        Piece::Glob(c) => c.to_string(),
        Piece::Tilde(name) => format!("~{name}"),
        Piece::Element | Piece::Parameter(_) | Piece::Command { .. } => "\n".into(),
        Piece::Process(_) | Piece::Arithmetic(_) => "\n".into(),
    }
}
