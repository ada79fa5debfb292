//! The words of statements as a database reads them: comments, texts and quoted names are gone.
//!
//! Clients differ in what a quote, a backslash and a `#` mean, and a text does not say which client reads it. It is read
//! in two ways that between them cover those in use.

/// How a client reads what the standard leaves to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// A backslash is itself, `#` an operator, `$tag$` a quote.
    Standard,
    /// A backslash escapes, `#` begins a comment.
    Escaping,
}

/// Words behind which a comment may stand without a blank.
const KEYWORDS: &[&str] =
    &["DROP", "DELETE", "TRUNCATE", "ALTER", "TABLE", "DATABASE", "SCHEMA", "FROM", "IF", "EXISTS", "WITH"];

/// The words in upper case, each `;` and `(` by itself, `'` in the place of a text.
pub(super) fn words(text: &str, manner: Manner) -> Vec<String> {
    let mut lexer = Lexer {
        rest: text,
        manner,
        word: String::new(),
        words: Vec::new(),
        tag: None,
        in_command: false,
        in_json: text.trim_start().starts_with('{'),
        searches: MAX_SEARCHES,
    };
    while lexer.step() {}
    lexer.end();
    lexer.words
}

struct Lexer<'t> {
    rest: &'t str,
    manner: Manner,
    word: String,
    words: Vec<String>,
    /// The quote of a body that is code, until it comes again.
    tag: Option<&'t str>,
    /// On a line that the client itself reads: a quote is a letter there.
    in_command: bool,
    /// The statement is in a value of an object.
    in_json: bool,
    /// How often the end of something may still be looked for in vain.
    searches: usize,
}

/// More quotes that are not closed than this are letters.
const MAX_SEARCHES: usize = 64;

impl<'t> Lexer<'t> {
    fn end(&mut self) {
        if !self.word.is_empty() {
            self.words.push(std::mem::take(&mut self.word));
        }
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    fn skip_line(&mut self) {
        self.skip(self.rest.find('\n').unwrap_or(self.rest.len()));
    }

    /// Reads one sign, or one thing that is more than a sign.
    fn step(&mut self) -> bool {
        let Some(c) = self.rest.chars().next() else { return false };
        match c {
            '-' if self.rest.starts_with("--") && self.may_comment() => self.line_comment(),
            '#' if self.manner == Manner::Escaping && self.word.is_empty() => self.skip_line(),
            '/' if self.rest.starts_with("/*") => self.comment(),
            '\'' if !self.in_command => self.text(),
            '"' | '`' if !self.in_command => self.name(c),
            '$' if self.manner == Manner::Standard && !self.in_command && self.dollar() => {}
            '\\' if self.word.is_empty() => {
                self.in_command = true;
                self.word.push(c);
                self.skip(1);
            }
            ';' | '(' | ')' => {
                self.end();
                self.words.push(c.into());
                self.skip(1);
            }
            c if c.is_whitespace() || matches!(c, '"' | '`' | '\'') => {
                self.end();
                if c == '\n' && std::mem::take(&mut self.in_command) {
                    self.words.push(";".into());
                }
                self.skip(c.len_utf8());
            }
            c => {
                self.word.extend(c.to_uppercase());
                self.skip(c.len_utf8());
            }
        }
        true
    }

    fn may_comment(&self) -> bool {
        self.word.is_empty() || KEYWORDS.contains(&self.word.as_str())
    }

    /// A comment ends with the line; an option of the client looks the same and is one word.
    fn line_comment(&mut self) {
        let is_option = self.word.is_empty()
            && self.rest.get(2..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()));
        if is_option {
            self.word.push_str("--");
            self.skip(2);
        } else {
            self.end();
            self.skip_line();
        }
    }

    fn comment(&mut self) {
        self.end();
        self.skip(2);
        if let Some(inside) = self.rest.strip_prefix('!') {
            // MySQL runs what is inside `/*! … */`.
            self.rest = inside.trim_start_matches(|c: char| c.is_ascii_digit());
            self.words.push(";".into());
        } else {
            self.skip(self.rest.find("*/").map_or(self.rest.len(), |end| end + 2));
        }
    }

    /// `'…'`: a word that says that there was a text. One that is not closed is no text.
    fn text(&mut self) {
        let escapes = self.manner == Manner::Escaping || self.word == "E";
        self.end();
        self.skip(1);
        if self.is_run() {
            // What stands in it is a statement.
            self.words.push(";".into());
            return;
        }
        match (self.searches > 0).then(|| end_of_text(self.rest, escapes)).flatten() {
            Some(end) => self.skip(end),
            None => self.searches = self.searches.saturating_sub(1),
        }
        self.words.push("'".into());
    }

    /// `EXECUTE '…'`, `EXECUTE format('…')`: the text is a statement of its own.
    fn is_run(&self) -> bool {
        let runs = |word: &String| matches!(word.as_str(), "EXECUTE" | "EXEC" | "IMMEDIATE" | "FORMAT");
        match self.words.as_slice() {
            [.., before, last] => runs(last) || (last == "(" && runs(before)),
            [last] => runs(last),
            [] => false,
        }
    }

    /// `"…"`: a name, or a text; one that is not closed begins nothing.
    fn name(&mut self, quote: char) {
        self.end();
        self.skip(1);
        if self.in_json {
            // A statement is sent in a text of that.
            self.words.push(";".into());
        } else if let Some(end) = self.rest.find(quote) {
            self.words.push("\"".into());
            self.skip(end + 1);
        }
    }

    /// `$tag$ … $tag$`: a text, or the body of a function. Says whether there was one.
    fn dollar(&mut self) -> bool {
        let rest = self.rest;
        let Some(end) = rest.get(1..).and_then(|rest| rest.find('$')).map(|at| at + 2) else { return false };
        let Some(tag) =
            rest.get(..end).filter(|tag| tag.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_$".contains(&byte)))
        else {
            return false;
        };
        self.end();
        self.skip(end);
        let is_body = self.words.last().is_some_and(|word| matches!(word.as_str(), "DO" | "AS" | "PLPGSQL"));
        if self.tag == Some(tag) {
            self.tag = None;
        } else if is_body {
            self.tag = Some(tag);
        } else {
            match (self.searches > 0).then(|| self.rest.find(tag)).flatten() {
                Some(at) => self.skip(at + tag.len()),
                None => self.searches = self.searches.saturating_sub(1),
            }
        }
        self.words.push("$$".into());
        true
    }
}

/// Where a text ends that began before `rest`, behind its quote.
fn end_of_text(rest: &str, escapes: bool) -> Option<usize> {
    let mut bytes = rest.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' if escapes => drop(bytes.next()),
            b'\'' => return Some(at + 1),
            _ => {}
        }
    }
    None
}
