//! A check of `sed` scripts. It accepts commands that only print or edit the stream. Other commands run programs or
//! write files.

/// The reason why a script is not known to be harmless.
pub(crate) type Doubt = &'static str;

/// The limit in bytes up to which a script that was not understood is searched.
const MAX_GUESSED: usize = 4096;

/// The text in the place of an escaped delimiter, while a command is split at its delimiters.
const ESCAPED: &str = "\u{fffd}";

/// Returns the commands that a script runs with `e` and with `s/…/…/e`, as far as its text shows them.
pub(crate) fn executed(script: &str) -> Vec<String> {
    if !script.contains('e') {
        return Vec::new();
    }
    let read = Script::read(script);
    if read.doubt.is_none() {
        let run = |effect| match effect {
            Effect::Runs(line) | Effect::Makes(line) => Some(line.to_owned()),
            Effect::Writes(_) | Effect::Reads(_) => None,
        };
        return read.effects.into_iter().filter_map(run).take(16).collect();
    }
    let end = script.char_indices().map(|(at, _)| at).find(|at| *at >= MAX_GUESSED).unwrap_or(script.len());
    let script = script.get(..end).unwrap_or_default();
    let by_command = script.match_indices('e').filter_map(|(at, _)| {
        let before = script.get(..at)?.trim_end().chars().next_back();
        let starts = before.is_none_or(|c| c.is_ascii_digit() || "$/;{}!,\n".contains(c));
        starts.then(|| script.get(at + 1..)?.split('\n').next()).flatten()
    });
    let by_flag = script.match_indices('s').filter_map(|(at, _)| {
        let mut parts = script.get(at + 1..)?.chars();
        let sign = parts.next().filter(char::is_ascii_punctuation)?;
        let rest = parts.as_str().replace(&format!("\\{sign}"), ESCAPED);
        let parts: Vec<&str> = rest.splitn(3, sign).collect();
        let [_, replacement, flags] = parts.as_slice() else { return None };
        let flags: String = flags.chars().take_while(char::is_ascii_alphanumeric).collect();
        flags.contains('e').then(|| replacement.replace(ESCAPED, &sign.to_string()))
    });
    by_command.map(str::to_owned).take(16).chain(by_flag.take(16)).collect()
}

/// Checks a whole script.
pub(crate) fn check(script: &str) -> Result<(), Doubt> {
    let read = Script::read(script);
    match (read.effects.first(), read.doubt) {
        (Some(Effect::Runs(_) | Effect::Makes(_)), _) => Err("the `sed` command `e` runs a program"),
        (Some(Effect::Writes(_)), _) => Err("the `sed` command `w` writes a file"),
        (Some(Effect::Reads(_)), _) => Err("the `sed` command `r` reads a file"),
        (None, Some(doubt)) => Err(doubt),
        (None, None) => Ok(()),
    }
}

/// Returns the effects of a script other than editing the stream, up to the place where it is not understood.
pub(crate) fn effects(script: &str) -> Vec<Effect<'_>> {
    let begins_effect = |byte: u8| matches!(byte, b'e' | b'r' | b'R' | b'w' | b'W');
    if script.bytes().any(begins_effect) { Script::read(script).effects } else { Vec::new() }
}

/// An effect of a script other than editing the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect<'s> {
    /// Runs this command line.
    Runs(&'s str),
    /// Runs a command line that it reads, or builds from its input with this replacement.
    Makes(&'s str),
    /// Writes this file.
    Writes(&'s str),
    /// Reads this file.
    Reads(&'s str),
}

#[derive(Debug)]
struct Script<'s> {
    rest: &'s str,
    effects: Vec<Effect<'s>>,
    /// The reason why the rest was not parsed.
    doubt: Option<Doubt>,
}

impl<'s> Script<'s> {
    fn read(script: &'s str) -> Script<'s> {
        let mut reader = Script { rest: script, effects: Vec::new(), doubt: None };
        loop {
            match reader.command() {
                Ok(true) => {}
                Ok(false) => return reader,
                Err(doubt) => {
                    reader.doubt = Some(doubt);
                    return reader;
                }
            }
        }
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.rest = self.rest.get(c.len_utf8()..).unwrap_or_default();
        Some(c)
    }

    fn skip(&mut self, wanted: impl Fn(char) -> bool) {
        self.rest = self.rest.trim_start_matches(wanted);
    }

    /// Consumes the rest of the line.
    fn line(&mut self) -> &'s str {
        let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
        self.rest = rest;
        line
    }

    /// Reads one command. Returns false at the end.
    fn command(&mut self) -> Result<bool, Doubt> {
        self.skip(|c| c.is_whitespace() || c == ';');
        if self.rest.is_empty() {
            return Ok(false);
        }
        self.address()?;
        self.skip(|c| c == ' ' || c == '\t' || c == '!');
        match self.next() {
            Some('{' | '}') => {}
            Some('=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z') => self.end()?,
            Some('q' | 'Q' | 'l' | 'L') => {
                self.skip(|c| c == ' ' || c.is_ascii_digit());
                self.end()?;
            }
            Some('s') => self.substitute()?,
            Some('y') => {
                let sign = self.next().ok_or("a `sed` script that ends early")?;
                let behind = self.rest;
                self.delimited(sign)?;
                // Some implementations read the first part as a pattern, in which a bracket begins a class.
                if behind.get(..behind.len() - self.rest.len()).is_some_and(|first| first.contains('[')) {
                    return Err("a `sed` command `y` with a bracket");
                }
                self.delimited(sign)?;
                self.end()?;
            }
            Some('a' | 'i' | 'c') => self.text(),
            Some('#') => drop(self.line()),
            // Some implementations end a label at a semicolon or a brace and read the rest as commands. Some end it at
            // a blank, after which no text may follow. In others, only the line ends it: then the next line is a
            // command, and not the text of a command `a`, `c` or `i` on this line.
            Some(':' | 'b' | 't' | 'T') => {
                if self.rest.split('\n').next().is_some_and(|line| line.ends_with('\\')) {
                    return Err("a `sed` label before a text");
                }
                self.skip(|c| c == ' ' || c == '\t');
                self.skip(|c| !c.is_whitespace() && c != ';' && c != '}');
                self.end()?;
            }
            Some('e') => {
                let line = self.line().trim();
                self.effects.push(if line.is_empty() { Effect::Makes(line) } else { Effect::Runs(line) });
            }
            Some('w' | 'W') => {
                let file = self.line().trim();
                self.effects.push(Effect::Writes(file));
            }
            Some('r' | 'R') => {
                let file = self.line().trim();
                self.effects.push(Effect::Reads(file));
            }
            _ => return Err("a `sed` command that is not on the list"),
        }
        Ok(true)
    }

    /// Reads text to the end of the line. An unescaped backslash at the end continues the text on the next line.
    fn text(&mut self) {
        loop {
            let line = self.rest.split('\n').next().unwrap_or_default();
            let continued = (line.len() - line.trim_end_matches('\\').len()) % 2 == 1;
            self.line();
            if !continued || self.rest.is_empty() {
                return;
            }
        }
    }

    fn address(&mut self) -> Result<(), Doubt> {
        loop {
            self.skip(|c| c == ' ' || c == '\t');
            match self.peek() {
                Some('/') => {
                    self.next();
                    self.pattern('/')?;
                    self.skip(|c| c == 'I' || c == 'M');
                }
                Some('\\') => {
                    self.next();
                    let sign = self.next().ok_or("a `sed` script that ends early")?;
                    self.pattern(sign)?;
                    self.skip(|c| c == 'I' || c == 'M');
                }
                Some(c) if c.is_ascii_digit() || matches!(c, '$' | ',' | '~' | '+') => {
                    self.next();
                }
                _ => return Ok(()),
            }
        }
    }

    /// Checks that a command without arguments ends here.
    fn end(&mut self) -> Result<(), Doubt> {
        self.skip(|c| c == ' ' || c == '\t');
        match self.peek() {
            None | Some(';' | '\n' | '}' | '#') => Ok(()),
            Some(_) => Err("a `sed` command with something behind it"),
        }
    }

    /// Reads text up to `sign`. A backslash escapes the next character.
    fn delimited(&mut self, sign: char) -> Result<(), Doubt> {
        while let Some(c) = self.next() {
            match c {
                '\\' => drop(self.next()),
                c if c == sign => return Ok(()),
                _ => {}
            }
        }
        Err("a `sed` script that ends early")
    }

    /// Reads a pattern up to `sign`. Between brackets, `sign` is an ordinary character.
    fn pattern(&mut self, sign: char) -> Result<(), Doubt> {
        while let Some(c) = self.next() {
            match c {
                '\\' => drop(self.next()),
                c if c == sign => return Ok(()),
                '[' => self.class()?,
                _ => {}
            }
        }
        Err("a `sed` script that ends early")
    }

    /// Reads a bracket expression. A `]` ends it unless it is the first character.
    fn class(&mut self) -> Result<(), Doubt> {
        let inside = self.rest.strip_prefix('^').unwrap_or(self.rest);
        self.rest = inside.strip_prefix(']').unwrap_or(inside);
        while let Some(c) = self.next() {
            match (c, self.peek()) {
                (']', _) => return Ok(()),
                ('[', Some(kind @ (':' | '.' | '='))) => {
                    self.next();
                    // The name has a character, which may be the sign itself: `[=]=]`.
                    self.next();
                    let end = format!("{kind}]");
                    let (_, rest) = self.rest.split_once(&end).ok_or("a `sed` pattern that ends early")?;
                    self.rest = rest;
                }
                // Some implementations take the bracket for an escaped one.
                ('\\', Some(']')) => return Err("a `sed` pattern with a backslash before a bracket"),
                _ => {}
            }
        }
        Err("a `sed` pattern that ends early")
    }

    fn substitute(&mut self) -> Result<(), Doubt> {
        let sign = self.next().filter(|sign| !matches!(sign, '\n' | '\\')).ok_or("a `sed` script that ends early")?;
        self.pattern(sign)?;
        let behind = self.rest;
        self.delimited(sign)?;
        let length = behind.len() - self.rest.len() - sign.len_utf8();
        let replacement = behind.get(..length).unwrap_or_default();
        loop {
            match self.peek() {
                Some('g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9') => drop(self.next()),
                Some('e') => {
                    self.next();
                    self.effects.push(Effect::Makes(replacement));
                }
                Some('w') => {
                    self.next();
                    let file = self.line().trim();
                    self.effects.push(Effect::Writes(file));
                    return Ok(());
                }
                _ => return self.end(),
            }
        }
    }
}

/// Returns the file that a script writes to, if its last command is `w file`.
pub(crate) fn written(script: &str) -> Option<&str> {
    let at = script.as_bytes().windows(2).rposition(|pair| pair == b"w ")?;
    let (before, path) = (script.get(..at)?, script.get(at + 2..)?);
    let begins = before.is_empty() || before.ends_with(|c: char| c.is_ascii_digit() || "/;{$ \n!gpI".contains(c));
    begins.then(|| path.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that the short ways for scripts without certain letters know every letter that begins an effect.
    #[test]
    fn a_script_that_is_not_read_has_no_effect() {
        let mut found = 0;
        for letter in (0_u8..128).map(char::from) {
            let flag = format!("s/a/b/{letter} f");
            for script in [format!("{letter} f"), format!("1{letter} f"), format!("/x/{{{letter} f\n}}"), flag] {
                let read = Script::read(&script);
                found += read.effects.len();
                assert_eq!(effects(&script), read.effects, "{script:?}");
                let runs = read.effects.iter().any(|effect| matches!(effect, Effect::Runs(_) | Effect::Makes(_)));
                assert!(!runs || !executed(&script).is_empty(), "{script:?}");
            }
        }
        assert!(found > 12, "{found}");
    }
}
