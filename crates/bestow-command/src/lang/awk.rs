//! A check of `awk` programs. It refuses programs that run a program, read another file or write one.

/// The reason why a program is not known to be harmless.
pub(crate) type Doubt = &'static str;

/// Words that reach outside the program. A value in `ARGV` is opened, and may be a connection.
const OUTSIDE: &[&str] = &["system", "getline", "close", "fflush", "extension", "ARGV"];

/// Checks a whole program.
pub(crate) fn check(program: &str) -> Result<(), Doubt> {
    if program.contains('@') && ["@load", "@include", "@namespace"].iter().any(|word| program.contains(word)) {
        return Err("an `awk` program that loads another one");
    }
    let (tokens, ambiguous) = tokens(program)?;
    if ambiguous && (program.contains(['>', '|', '@']) || OUTSIDE.iter().any(|word| program.contains(word))) {
        return Err("an `awk` program with a slash that may divide or start a pattern");
    }
    let mut printing = false;
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate() {
        match token {
            Token::Word(word) if OUTSIDE.contains(&word.as_str()) => {
                return Err("an `awk` program that reaches outside");
            }
            Token::Word(word) if word == "print" || word == "printf" => (printing, depth) = (true, 0),
            Token::Sign('|') if tokens.get(index + 1) == Some(&Token::Sign('|')) => {}
            Token::Sign('|') if index > 0 && tokens.get(index - 1) == Some(&Token::Sign('|')) => {}
            Token::Sign('|') => return Err("an `awk` program with a pipe to another program"),
            // An indirect call may call any function, including `system`.
            Token::Sign('@') => return Err("an `awk` program with an indirect call"),
            Token::Sign('(' | '[') => depth += 1,
            Token::Sign(')' | ']') => depth = depth.saturating_sub(1),
            Token::Sign('\n') if depth > 0 || tokens.get(..index).is_some_and(may_go_on) => {}
            Token::Sign(';' | '}' | '\n') => printing = false,
            Token::Sign('>') if printing && depth == 0 && !prints(tokens.get(index + 1..).unwrap_or_default()) => {
                return Err("an `awk` program that writes a file");
            }
            Token::Sign(_) | Token::Word(_) | Token::Value | Token::Output => {}
        }
    }
    Ok(())
}

/// Returns true if a statement that prints to these tokens ends with the name of an output, to which nothing is joined.
fn prints(target: &[Token]) -> bool {
    matches!(target, [Token::Output] | [Token::Output, Token::Sign(';' | '}' | '\n'), ..])
}

/// Returns true if a statement may go on behind a line break after these tokens. In some implementations, it goes on
/// after every operator between two values.
fn may_go_on(tokens: &[Token]) -> bool {
    let mut before = tokens.iter().rev().filter(|token| **token != Token::Sign('\n'));
    match (before.next(), before.next()) {
        (Some(Token::Sign(sign @ ('+' | '-'))), Some(Token::Sign(other))) => sign != other,
        (Some(Token::Sign(sign)), _) => !matches!(sign, ')' | ']' | '}' | ';' | '{'),
        _ => false,
    }
}

/// Returns the command lines that a program runs. A `None` stands for each command line that is not written out.
///
/// If a slash may divide or start a pattern, the reading that shows more of the program is chosen.
pub(crate) fn runs(program: &str) -> Vec<Option<String>> {
    if !program.contains(['|', '@']) && !program.contains("system") {
        return Vec::new();
    }
    let mut runs = Vec::new();
    let (mut at, mut before, mut last_text) = (0, '\n', None);
    while let Some(rest) = program.get(at..).filter(|rest| !rest.is_empty() && runs.len() < MOST_RUN) {
        let Some(c) = rest.chars().next() else { break };
        let mut width = c.len_utf8();
        match c {
            '"' => {
                let (text, length) = quoted(rest);
                (last_text, width) = (Some((at + length, text)), length);
            }
            '#' => width = rest.find('\n').unwrap_or(rest.len()),
            '/' if "~(,!&|{};\n=".contains(before) => width = 1 + pattern_length(rest.get(1..).unwrap_or_default()),
            '@' if rest
                .get(1..)
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')) =>
            {
                runs.push(None);
            }
            '|' if rest.starts_with("||") => width = 2,
            '|' => {
                let behind = rest.trim_start_matches(['|', '&', ' ', '\t', '\n']);
                if behind.starts_with("getline") {
                    let is_next =
                        |(end, _): &(usize, String)| program.get(*end..at).is_some_and(|gap| gap.trim().is_empty());
                    runs.push(last_text.clone().filter(is_next).map(|(_, text)| text));
                } else {
                    runs.push(whole_text(behind));
                }
            }
            's' if rest.starts_with("system") && !(before.is_ascii_alphanumeric() || before == '_') => {
                let behind = rest.get("system".len()..).unwrap_or_default().trim_start();
                if let Some(inside) = behind.strip_prefix('(') {
                    runs.push(whole_text(inside.trim_start()));
                }
            }
            _ => {}
        }
        if !c.is_whitespace() || c == '\n' {
            before = c;
        }
        at += width;
    }
    runs
}

/// The limit of command lines of one program that are returned.
const MOST_RUN: usize = 64;

/// Returns the text between the quotes at the beginning of `rest`, and its length including the quotes.
fn quoted(rest: &str) -> (String, usize) {
    let (mut text, mut chars) = (String::new(), rest.char_indices().skip(1));
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (text, at + 1),
            '\\' => text.extend(chars.next().map(|(_, c)| c)),
            c => text.push(c),
        }
    }
    (text, rest.len())
}

/// Returns the text at the beginning of `rest`, if nothing is joined to it.
fn whole_text(rest: &str) -> Option<String> {
    if !rest.starts_with('"') {
        return None;
    }
    let (text, length) = quoted(rest);
    let behind = rest.get(length..)?.trim_start_matches([' ', '\t']);
    (behind.is_empty() || behind.starts_with([';', '}', ')', '\n', '|'])).then_some(text)
}

/// Returns the length of a pattern including its closing slash, or 0 if there is none.
fn pattern_length(rest: &str) -> usize {
    let mut chars = rest.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            '/' => return at + 1,
            '\n' => return 0,
            _ => {}
        }
    }
    0
}

#[derive(Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Sign(char),
    /// A text, a number, or a pattern between slashes.
    Value,
    /// The text that names the output or the errors.
    Output,
}

/// A longer text than the name of an output.
const LONGEST_OUTPUT: usize = "/dev/stdout".len() + 1;

/// Returns the words and signs of a program. The second value is true if some slash can be read in two ways.
fn tokens(program: &str) -> Result<(Vec<Token>, bool), Doubt> {
    let mut ambiguous = false;
    let mut tokens = Vec::new();
    let mut chars = program.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                let text: String = chars.clone().take_while(|c| *c != '"').take(LONGEST_OUTPUT).collect();
                delimited(&mut chars, '"')?;
                let is_output = matches!(text.as_str(), "/dev/stdout" | "/dev/stderr");
                tokens.push(if is_output { Token::Output } else { Token::Value });
            }
            '#' => while chars.next_if(|c| *c != '\n').is_some() {},
            '/' => {
                ambiguous |= is_ambiguous(&tokens);
                if starts_pattern(tokens.last()) {
                    pattern(&mut chars)?;
                    tokens.push(Token::Value);
                } else {
                    tokens.push(Token::Sign('/'));
                }
            }
            // Some implementations accept other blanks before the line break.
            '\\' if chars.next_if_eq(&'\n').is_some() => {}
            '\\' => return Err("an `awk` program with a backslash outside of a text"),
            c if c.is_control() && !matches!(c, '\t' | '\n') => {
                return Err("an `awk` program with a control character");
            }
            c if c.is_ascii_alphabetic() || c == '_' => {
                let mut word = String::from(c);
                while let Some(c) = chars.next_if(|c| c.is_ascii_alphanumeric() || *c == '_') {
                    word.push(c);
                }
                tokens.push(Token::Word(word));
            }
            c if c.is_ascii_digit() => {
                number(c, &mut chars)?;
                tokens.push(Token::Value);
            }
            ' ' | '\t' => {}
            c => tokens.push(Token::Sign(c)),
        }
    }
    Ok((tokens, ambiguous))
}

/// Returns true if a slash starts a pattern. A slash after a value divides.
fn starts_pattern(before: Option<&Token>) -> bool {
    match before {
        None => true,
        Some(Token::Value | Token::Output | Token::Sign(')' | ']' | '$')) => false,
        Some(Token::Word(word)) => matches!(word.as_str(), "print" | "printf" | "return" | "in" | "case"),
        Some(Token::Sign(_)) => true,
    }
}

/// Returns true if only a full grammar can tell the meaning of a slash: after `)`, `$`, `++`, `--` or a keyword.
fn is_ambiguous(tokens: &[Token]) -> bool {
    match tokens {
        [.., Token::Sign(before), Token::Sign(last)] if before == last => matches!(last, '+' | '-'),
        [.., Token::Sign(')' | '$')] => true,
        [.., Token::Word(word)] => KEYWORDS.contains(&word.as_str()),
        _ => false,
    }
}

/// Keywords after which a slash may start a pattern.
const KEYWORDS: &[&str] = &[
    "BEGIN",
    "BEGINFILE",
    "END",
    "ENDFILE",
    "break",
    "case",
    "continue",
    "default",
    "delete",
    "do",
    "else",
    "exit",
    "for",
    "func",
    "function",
    "getline",
    "if",
    "in",
    "length",
    "next",
    "nextfile",
    "print",
    "printf",
    "return",
    "switch",
    "while",
];

/// Reads the rest of a number. Letters after it are another word in some implementations of `awk`, and an error in
/// others.
fn number(first: char, chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<(), Doubt> {
    let mut text = String::from(first);
    while let Some(c) = chars.next_if(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_')) {
        text.push(c);
    }
    if let Some(mantissa) = text.strip_suffix(['e', 'E'])
        && chars.peek().is_some_and(|c| matches!(c, '+' | '-'))
    {
        text = mantissa.to_owned();
    }
    let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let is_hex = hex.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((&text, "0"));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let plain = digits(mantissa) && !exponent.is_empty() && digits(exponent);
    if is_hex || plain { Ok(()) } else { Err("an `awk` program with a word joined to a number") }
}

/// Reads a pattern up to its slash. Implementations differ on whether a slash between brackets ends the pattern.
fn pattern(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<(), Doubt> {
    const DOUBT: Doubt = "an `awk` pattern with a slash between brackets";
    let mut inside = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                let escaped = chars.next();
                if inside && escaped == Some(']') {
                    return Err(DOUBT);
                }
            }
            '/' => return if inside { Err(DOUBT) } else { Ok(()) },
            '[' if inside && matches!(chars.peek(), Some(':' | '.' | '=')) => {
                let kind = chars.next();
                while chars.next_if(|c| *c != ']' && *c != '/').is_some() {}
                if kind.is_none() || chars.next() != Some(']') {
                    return Err(DOUBT);
                }
            }
            '[' if !inside => {
                inside = true;
                chars.next_if_eq(&'^');
                chars.next_if_eq(&']');
            }
            ']' => inside = false,
            _ => {}
        }
    }
    Err("an `awk` program that ends early")
}

fn delimited(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, sign: char) -> Result<(), Doubt> {
    while let Some(c) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            c if c == sign => return Ok(()),
            _ => {}
        }
    }
    Err("an `awk` program that ends early")
}
