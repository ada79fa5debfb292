//! The words of SQL statements as a database reads them, without comments, texts and quoted names.
//!
//! Clients differ in the meaning of a quote, a backslash and a `#`. A text does not show which client reads it.
//! Therefore it is read in two dialects, which together cover those in use.

/// The dialect of a client where the standard leaves a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// A backslash is an ordinary character, `#` is an operator, and `$tag$` is a quote.
    Standard,
    /// A backslash escapes, and `#` begins a comment.
    Escaping,
}

/// Words after which a comment may follow without a blank.
const KEYWORDS: &[&str] =
    &["DROP", "DELETE", "TRUNCATE", "ALTER", "TABLE", "DATABASE", "SCHEMA", "FROM", "IF", "EXISTS", "WITH"];

/// Returns the words in upper case. Each `;`, `(` and `)` is a word of its own, and `'` replaces a text.
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
    /// The tag of a quoted body that contains code. The tag ends the body.
    tag: Option<&'t str>,
    /// True on a line that the client itself reads, where a quote is an ordinary character.
    in_command: bool,
    /// True if the statement is a value in a JSON object.
    in_json: bool,
    /// The number of unsuccessful searches for the end of a text that are still permitted.
    searches: usize,
}

/// The limit of unclosed quotes that are searched for. Further quotes are ordinary characters.
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

    /// Reads one character, or one longer token.
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

    /// Reads a comment up to the end of the line. An option of the client also starts with `--` and is one word.
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
            // MySQL runs the content of `/*! … */`.
            self.rest = inside.trim_start_matches(|c: char| c.is_ascii_digit());
            self.words.push(";".into());
        } else {
            self.skip(self.rest.find("*/").map_or(self.rest.len(), |end| end + 2));
        }
    }

    /// Reads a text `'…'` as the single word `'`. An unclosed quote is skipped alone.
    fn text(&mut self) {
        let escapes = self.manner == Manner::Escaping || self.word == "E";
        self.end();
        self.skip(1);
        if self.is_run() {
            // The content of the text is a statement.
            self.words.push(";".into());
            return;
        }
        match (self.searches > 0).then(|| end_of_text(self.rest, escapes)).flatten() {
            Some(end) => self.skip(end),
            None => self.searches = self.searches.saturating_sub(1),
        }
        self.words.push("'".into());
    }

    /// Returns true for `EXECUTE '…'` and `EXECUTE format('…')`, where the text is a statement of its own.
    fn is_run(&self) -> bool {
        let runs = |word: &String| matches!(word.as_str(), "EXECUTE" | "EXEC" | "IMMEDIATE" | "FORMAT");
        match self.words.as_slice() {
            [.., before, last] => runs(last) || (last == "(" && runs(before)),
            [last] => runs(last),
            [] => false,
        }
    }

    /// Reads a name or text `"…"` as a single word. An unclosed quote is skipped alone.
    fn name(&mut self, quote: char) {
        self.end();
        self.skip(1);
        if self.in_json {
            // The statement is inside a JSON text.
            self.words.push(";".into());
        } else if let Some(end) = self.rest.find(quote) {
            self.words.push("\"".into());
            self.skip(end + 1);
        }
    }

    /// Reads `$tag$ … $tag$`, which is a text or the body of a function. Returns true if there was one.
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

/// Returns the index after the quote that ends a text. `rest` begins after the opening quote.
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
