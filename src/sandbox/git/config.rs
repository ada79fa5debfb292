//! The syntax of git's configuration files, as far as it decides about a value.

/// One setting: the section in lower case, its subsection, the key in lower case, and the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Setting {
    pub(super) section: Vec<u8>,
    pub(super) has_subsection: bool,
    pub(super) key: Vec<u8>,
    pub(super) value: Vec<u8>,
}

/// Returns all settings of a file. A line that git refuses is left out, and the following lines are read all the same.
pub(super) fn settings(bytes: &[u8]) -> Vec<Setting> {
    let mut text = Text(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes));
    let (mut section, mut has_subsection, mut found) = (Vec::new(), false, Vec::new());
    while let Some(byte) = text.next() {
        match byte {
            b'#' | b';' => text.skip_line(),
            b'[' => (section, has_subsection) = text.section(),
            letter if letter.is_ascii_alphanumeric() => {
                let key = text.key(letter);
                if let Some(value) = text.value_after_key() {
                    found.push(Setting { section: section.clone(), has_subsection, key, value });
                }
            }
            _ => {}
        }
    }
    found
}

/// The rest of a file.
struct Text<'b>(&'b [u8]);

impl Text<'_> {
    /// Takes the next byte. A line end of two bytes counts as one.
    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        if *first == b'\r' && rest.first() == Some(&b'\n') {
            return self.next();
        }
        Some(*first)
    }

    fn peek(&self) -> Option<u8> {
        self.0.first().copied()
    }

    fn skip_line(&mut self) {
        while self.next().is_some_and(|byte| byte != b'\n') {}
    }

    /// Reads a section after its `[`. Returns its name, and true if it has a subsection.
    fn section(&mut self) -> (Vec<u8>, bool) {
        let (mut name, mut has_subsection, mut is_quoted) = (Vec::new(), false, false);
        while let Some(byte) = self.next() {
            match byte {
                b'\n' => break,
                b'\\' if is_quoted => drop(self.next()),
                b'"' => (is_quoted, has_subsection) = (!is_quoted, true),
                _ if is_quoted => {}
                b']' => break,
                // The old form of a subsection.
                b'.' => has_subsection = true,
                _ if has_subsection || byte.is_ascii_whitespace() => {}
                _ => name.push(byte.to_ascii_lowercase()),
            }
        }
        (name, has_subsection)
    }

    fn key(&mut self, first: u8) -> Vec<u8> {
        let mut key = vec![first.to_ascii_lowercase()];
        while let Some(byte) = self.peek().filter(|byte| byte.is_ascii_alphanumeric() || *byte == b'-') {
            key.push(byte.to_ascii_lowercase());
            self.next();
        }
        key
    }

    /// Reads a value after its key, if there is one.
    fn value_after_key(&mut self) -> Option<Vec<u8>> {
        while self.peek().is_some_and(|byte| byte == b' ' || byte == b'\t') {
            self.next();
        }
        match self.peek() {
            Some(b'=') => {
                self.next();
                Some(self.value())
            }
            _ => {
                self.skip_line();
                None
            }
        }
    }

    /// Reads a value up to the end of its line: quotes, escapes and comments as git does.
    fn value(&mut self) -> Vec<u8> {
        let (mut value, mut is_quoted, mut length) = (Vec::new(), false, 0);
        while let Some(byte) = self.next() {
            match byte {
                b'\n' => break,
                b'#' | b';' if !is_quoted => {
                    self.skip_line();
                    break;
                }
                b'"' => is_quoted = !is_quoted,
                b'\\' => match self.next() {
                    None | Some(b'\n') => continue,
                    Some(b't') => value.push(b'\t'),
                    Some(b'b') => value.push(8),
                    Some(b'n') => value.push(b'\n'),
                    Some(other) => value.push(other),
                },
                blank if blank.is_ascii_whitespace() && !is_quoted => {
                    if !value.is_empty() {
                        value.push(blank);
                    }
                    // Blanks at the end do not count.
                    continue;
                }
                other => value.push(other),
            }
            length = value.len();
        }
        value.truncate(length);
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(String, bool, String, String)> {
        let told = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let all = settings(text.as_bytes()).into_iter();
        all.map(|one| (told(&one.section), one.has_subsection, told(&one.key), told(&one.value))).collect()
    }

    fn values(text: &str) -> Vec<String> {
        read(text).into_iter().map(|(.., value)| value).collect()
    }

    #[test]
    fn a_value_is_what_git_takes_it_for() {
        for (text, expected) in [
            ("[core]\n\thooksPath = x # comment\n", "x"),
            ("[core]\nhooksPath = x ; comment", "x"),
            ("[core]\nhooksPath=\"x # y\"", "x # y"),
            ("[core]\nhooksPath = a\"b c \"d  \n", "ab c d"),
            ("[core]\nhooksPath = one\\\n two\n", "one two"),
            ("[core]\nhooksPath = a\\\\b\\\"c\n", "a\\b\"c"),
            ("[core] hooksPath = x\r\n", "x"),
            ("\u{feff}[CORE]\nHooksPath = \"x\"\n", "x"),
            ("# [core]\n[core]\n; hooksPath = y\nhooksPath = x", "x"),
            ("[core]\nbare\nhooksPath = x", "x"),
        ] {
            let [(section, false, key, value)] = &read(text)[..] else { panic!("{text:?}: {:?}", read(text)) };
            assert_eq!((section.as_str(), key.as_str(), value.as_str()), ("core", "hookspath", expected), "{text:?}");
        }
    }

    #[test]
    fn sections_have_subsections_in_two_forms() {
        for text in
            ["[includeIf \"gitdir:~/x]/\"]\npath = y", "[includeif.x]\npath = y", "[includeIf \"a\\\"b\"] path = y"]
        {
            assert_eq!(read(text), [("includeif".into(), true, "path".into(), "y".into())], "{text}");
        }
    }

    #[test]
    fn a_bad_line_does_not_hide_the_next() {
        assert_eq!(values("[core\nhooksPath = x\n= y\n[core]\nhooksPath = z\n"), ["x", "z"]);
        assert!(values("").is_empty() && values("[").is_empty() && values("[core]\nx = \\").len() == 1);
    }
}
