//! Compound commands: groups, conditions, loops, cases, functions, tests.

use super::{
    reader::{Read, Reader, is_loud, is_name},
    statement::bare_text,
    tree::{Form, Piece, RawWord, Script},
    word::Pieces,
};
use crate::few::Few;

impl Reader<'_> {
    /// Parses `( … )` or `(( … ))`.
    pub(super) fn parenthesis(&mut self) -> Read<Form> {
        let start = self.at;
        if self.peek_second() == Some(b'(') {
            let known_faults = self.ledger.faults.len();
            if let Ok(inside) = self.arithmetic_in_parentheses() {
                self.ledger.bash_only = true;
                // To dash it is a command in two subshells.
                self.ledger.elsewhere.dash |= !is_step(self.slice(start, self.at));
                return Ok(Form::Arithmetic(inside));
            }
            self.at = start;
            self.ledger.faults.truncate(known_faults);
        }
        self.at += 1;
        let script = self.body(&[])?;
        self.demand(b')', "a parenthesis that is not closed")?;
        Ok(Form::Subshell(script))
    }

    /// Parses the compound command that the reserved word opens.
    pub(super) fn compound(&mut self, word: &'static str) -> Read<Form> {
        self.skip_reserved(word);
        self.ledger.bash_only |= matches!(word, "select" | "function" | "[[" | "coproc");
        // To dash, the body of `function` is a command like any other.
        self.ledger.elsewhere.dash |= word == "function";
        match word {
            "{" => self.group(),
            "if" => self.condition(),
            "while" | "until" => {
                let test = self.body(&["do"])?;
                Ok(Form::While { test, body: self.do_body()? })
            }
            "for" | "select" => self.for_loop(),
            "case" => self.case(),
            "function" => {
                self.blanks();
                let word = self.word()?;
                let Some(name) = word.as_ref().and_then(bare_text).map(str::to_owned) else {
                    return self.stop("a function without a plain name");
                };
                self.function_body(name)
            }
            "[[" => self.test(),
            "coproc" => self.coproc(),
            _ => self.stop("a reserved word where a command should start"),
        }
    }

    fn group(&mut self) -> Read<Form> {
        let script = self.body(&["}"])?;
        self.demand_reserved("}", "a brace that is not closed")?;
        Ok(Form::Group(script))
    }

    fn condition(&mut self) -> Read<Form> {
        let mut branches = Vec::new();
        let mut test = self.body(&["then"])?;
        loop {
            self.demand_reserved("then", "`then` is missing")?;
            branches.push((test, self.body(&["elif", "else", "fi"])?));
            let Some(word) = self.reserved() else { return self.stop("`fi` is missing") };
            self.skip_reserved(word);
            match word {
                "fi" => return Ok(Form::If { branches, otherwise: None }),
                "elif" => test = self.body(&["then"])?,
                _ => {
                    let otherwise = Some(self.body(&["fi"])?);
                    self.demand_reserved("fi", "`fi` is missing")?;
                    return Ok(Form::If { branches, otherwise });
                }
            }
        }
    }

    fn do_body(&mut self) -> Read<Script> {
        self.demand_reserved("do", "`do` is missing")?;
        let body = self.body(&["done"])?;
        self.demand_reserved("done", "`done` is missing")?;
        Ok(body)
    }

    fn for_loop(&mut self) -> Read<Form> {
        self.blanks();
        if self.peek() == Some(b'(') {
            let header = self.arithmetic_in_parentheses()?;
            self.blanks();
            self.eat(b';');
            return Ok(Form::Count { header, body: self.loop_body()? });
        }
        let Some(variable) = self.word()?.as_ref().and_then(bare_text).map(str::to_owned) else {
            return self.stop("a loop without a variable");
        };
        self.skip_newlines()?;
        let mut words = None;
        if self.reserved() == Some("in") {
            self.skip_reserved("in");
            words = Some(self.words_to_end_of_line()?);
        }
        self.blanks();
        self.eat(b';');
        Ok(Form::For { variable, words, body: self.loop_body()? })
    }

    fn loop_body(&mut self) -> Read<Script> {
        self.skip_newlines()?;
        if self.reserved() == Some("{") {
            self.skip_reserved("{");
            let body = self.body(&["}"])?;
            self.demand_reserved("}", "a brace that is not closed")?;
            return Ok(body);
        }
        self.do_body()
    }

    fn words_to_end_of_line(&mut self) -> Read<Vec<RawWord>> {
        let mut words = Vec::new();
        loop {
            self.blanks();
            if !self.add_word(&mut words)? {
                return Ok(words);
            }
        }
    }

    fn skip_newlines(&mut self) -> Read<()> {
        self.blanks();
        while self.peek() == Some(b'\n') {
            self.newline()?;
            self.blanks();
        }
        Ok(())
    }

    fn case(&mut self) -> Read<Form> {
        self.blanks();
        let Some(subject) = self.word()? else { return self.stop("`case` without a word") };
        self.demand_reserved("in", "`in` is missing")?;
        let mut arms = Vec::new();
        loop {
            self.skip_newlines()?;
            if self.reserved() == Some("esac") {
                self.skip_reserved("esac");
                return Ok(Form::Case { subject, arms });
            }
            let patterns = self.patterns()?;
            let body = self.list(&["esac"])?;
            arms.push((patterns, body));
            if self.peek() == Some(b';') {
                self.at += 1;
                if self.eat(b';') {
                    self.eat(b'&');
                } else {
                    self.ledger.bash_only = true;
                    self.demand(b'&', "a case that is not closed")?;
                }
            } else if self.reserved() != Some("esac") {
                return self.stop("`esac` is missing");
            }
        }
    }

    fn patterns(&mut self) -> Read<Vec<RawWord>> {
        self.eat(b'(');
        let mut patterns = Vec::new();
        loop {
            self.blanks();
            match self.word()? {
                Some(word) => patterns.push(word),
                None => return self.stop("a case without a pattern"),
            }
            self.blanks();
            if self.eat(b')') {
                return Ok(patterns);
            }
            self.demand(b'|', "a case pattern that is not closed")?;
        }
    }

    /// Parses `[[ … ]]`. Only the words are kept, without the operators between them.
    fn test(&mut self) -> Read<Form> {
        let mut words: Vec<RawWord> = Vec::new();
        let mut stretch: Vec<String> = Vec::new();
        let mut plain = true;
        // True behind a parenthesis that dash takes for a mistake in the syntax, so that nothing of the line runs.
        let mut fails_in_dash = false;
        loop {
            let start = self.at;
            self.blanks();
            if self.slice(start, self.at).contains('#') {
                self.fault("a comment in a test, where it may belong to a pattern");
            }
            // At the end of a line, the command ends for dash.
            self.ledger.elsewhere.dash |= self.peek() == Some(b'\n');
            self.skip_newlines()?;
            if self.reserved() == Some("]]") {
                self.skip_reserved("]]");
                plain &= is_plain_test(&stretch);
                return Ok(Form::Test { words, plain });
            }
            let operator = matches!(self.peek(), Some(b'&' | b'|' | b'<' | b'>' | b'(' | b')' | b';'));
            if operator && !matches!(self.peek_second(), Some(b'(') if matches!(self.peek(), Some(b'<' | b'>'))) {
                fails_in_dash |= self.peek() == Some(b'(') && (!stretch.is_empty() || words.is_empty());
                self.ledger.elsewhere.dash |= !fails_in_dash && !self.is_before_test();
                if matches!(self.peek(), Some(b'<' | b'>')) {
                    stretch.push("<".into());
                } else {
                    plain &= is_plain_test(&stretch);
                    stretch.clear();
                }
                self.at += 1;
                continue;
            }
            let (start, negates) = (self.at, self.reserved() == Some("!"));
            match self.word()? {
                Some(word) => {
                    if !negates {
                        stretch.push(self.slice(start, self.at).to_owned());
                    }
                    words.push(word);
                }
                None => return self.stop("a test that is not closed"),
            }
        }
    }

    /// Returns true if `&&` or `||` stands here before a test that begins with its operator. To dash the test is a
    /// program of this name, which does not exist.
    fn is_before_test(&self) -> bool {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let test = rest.strip_prefix("&&").or_else(|| rest.strip_prefix("||"));
        // The second sign of the operator is read by itself.
        let test = test.or_else(|| rest.strip_prefix(['&', '|']));
        test.is_some_and(|test| test.trim_start().starts_with('-'))
    }

    fn coproc(&mut self) -> Read<Form> {
        self.blanks();
        let start = self.at;
        // In `coproc NAME { … }`, the word is a name only before a compound command.
        if self.reserved().is_none() && self.peek() != Some(b'(') {
            self.word()?;
            let name = self.slice(start, self.at);
            self.blanks();
            let compound = self.peek() == Some(b'(') || self.reserved().is_some();
            if !compound {
                self.at = start;
            } else if is_loud(name) {
                self.fault("descriptors in a variable that programs may read");
            }
        }
        self.list_of_one()
    }

    fn list_of_one(&mut self) -> Read<Form> {
        let command = self.command()?;
        let pipeline =
            super::tree::Pipeline { joint: super::tree::Joint::First, negated: false, commands: Few::One(command) };
        let statement = super::tree::Statement { pipelines: Few::One(pipeline), background: true };
        Ok(Form::Subshell(Script { statements: vec![statement] }))
    }

    /// Parses the text of a here-document into pieces.
    pub(super) fn expand_body(&mut self) -> Read<Few<Piece>> {
        let mut pieces = Pieces::default();
        self.double_quoted(None, &mut pieces)?;
        Ok(pieces.finish())
    }
}

/// Returns true for `((…))` that sets a variable to a number: dash knows no program of such a name.
fn is_step(text: &str) -> bool {
    let inside = text.strip_prefix("((").and_then(|text| text.strip_suffix("))")).unwrap_or_default().trim();
    let word = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let counted = ["++", "--"].iter().find_map(|sign| inside.strip_prefix(sign).or_else(|| inside.strip_suffix(sign)));
    let set = inside.split_once('=').filter(|(_, value)| !value.is_empty() && word(value));
    let name = set.map(|(name, _)| name.strip_suffix(['+', '-', '%', '^']).unwrap_or(name));
    counted.or(name).is_some_and(is_name)
}

/// Returns true if the words between two of `&&`, `||`, `(` and `)` are a test: a word, an operator with one operand,
/// or an operator with two. A shell without `[[` would run any other form as a command.
fn is_plain_test(stretch: &[String]) -> bool {
    const BETWEEN: &[&str] =
        &["=", "==", "!=", "=~", "<", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-ef", "-nt", "-ot"];
    match stretch {
        [] | [_] => true,
        [operator, _] => operator.starts_with('-'),
        [_, operator, _] => BETWEEN.contains(&operator.as_str()),
        _ => false,
    }
}
