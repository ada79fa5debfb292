//! The output of filters with a known input: programs that decode, turn or cut a text, and programs that pass it on.
//!
//! The output may have more lines than the program prints. It is only searched for commands.

use foldhash::HashMap;

use crate::{
    lang::stream,
    options::{Options, Reading, list},
    word::{Word, literal},
};

/// Returns true for the name of a filter, whose output follows from its input and its words.
pub(crate) fn is_filter(name: &str) -> bool {
    matches!(
        name,
        "cat"
            | "gcat"
            | "sort"
            | "uniq"
            | "nl"
            | "head"
            | "tail"
            | "fold"
            | "dd"
            | "pv"
            | "xargs"
            | "tee"
            | "sponge"
            | "grep"
            | "egrep"
            | "fgrep"
            | "base64"
            | "gbase64"
            | "base32"
            | "basenc"
            | "openssl"
            | "xxd"
            | "rev"
            | "tac"
            | "tr"
            | "gtr"
            | "sed"
            | "gsed"
            | "cut"
    )
}

/// Returns the output of the command `args` for this input, if its words determine it.
pub(crate) fn filtered(args: &[Word], input: Option<&str>) -> Option<String> {
    let (program, rest) = args.split_first()?;
    let text = source(rest, input);
    let text = match program.text() {
        "cat" | "gcat" => source(rest, input).map(str::to_owned),
        "sort" | "uniq" | "nl" | "head" | "tail" | "fold" | "dd" | "pv" | "xargs" => text.map(str::to_owned),
        "tee" | "sponge" => input.map(str::to_owned),
        "grep" | "egrep" | "fgrep" => passed_by_pattern(rest, input?),
        "base64" | "gbase64" if decodes(rest) => decoded(&BASE64, text?),
        "base32" if decodes(rest) => decoded(&BASE32, text?),
        "basenc" if decodes(rest) => decoded(named_base(rest)?, text?),
        "openssl" => decoded(&BASE64, opened(rest, input)?),
        "xxd" => from_hex(rest, text?),
        "rev" => Some(text?.lines().map(|line| line.chars().rev().chain(['\n']).collect::<String>()).collect()),
        "tac" => Some(text?.lines().rev().flat_map(|line| [line, "\n"]).collect()),
        "tr" | "gtr" => translated(rest, input?),
        "sed" | "gsed" => replaced(rest, input?),
        "cut" => cut(rest, input?),
        _ => None,
    };
    text.filter(|text| !text.is_empty())
}

/// Returns the input of a filter: the standard input, or the known content of its only file.
fn source<'t>(rest: &'t [Word], input: Option<&'t str>) -> Option<&'t str> {
    let is_operand = |word: &&Word| {
        let number = word.text().bytes().all(|byte| byte.is_ascii_digit());
        !number && (!word.text().starts_with('-') || word.text() == "-")
    };
    let mut operands = rest.iter().filter(is_operand);
    match (operands.next(), operands.next()) {
        (None, _) => input,
        (Some(only), None) if only.text() == "-" => input,
        (Some(only), None) => only.content(),
        (Some(_), Some(_)) => None,
    }
}

/// Returns the input of `grep`, which prints some of its lines.
fn passed_by_pattern(rest: &[Word], input: &str) -> Option<String> {
    let operands = rest.iter().filter(|word| !word.text().starts_with('-')).count();
    (operands <= 1).then(|| input.to_owned())
}

/// Returns true if an option asks to decode: `-d`, `-di`, `--dec`.
fn decodes(rest: &[Word]) -> bool {
    rest.iter().any(|word| match word.text().strip_prefix("--") {
        Some(long) => !long.is_empty() && "decode".starts_with(long),
        None => word.text().starts_with('-') && word.text().contains(['d', 'D']),
    })
}

/// An encoding of bytes in letters.
struct Base {
    alphabet: &'static str,
    /// The bits that one letter stands for.
    bits: u32,
}

const BASE64: Base = Base { alphabet: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", bits: 6 };
const BASE64_OF_ADDRESSES: Base =
    Base { alphabet: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", bits: 6 };
const BASE32: Base = Base { alphabet: "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", bits: 5 };
const BASE16: Base = Base { alphabet: "0123456789ABCDEF", bits: 4 };

fn named_base(rest: &[Word]) -> Option<&'static Base> {
    rest.iter().find_map(|word| match word.text() {
        "--base64" => Some(&BASE64),
        "--base64url" => Some(&BASE64_OF_ADDRESSES),
        "--base32" => Some(&BASE32),
        "--base16" => Some(&BASE16),
        _ => None,
    })
}

/// Returns the input of `openssl base64 -d` and `openssl enc -base64 -d`, which use no key.
fn opened<'t>(rest: &[Word], input: Option<&'t str>) -> Option<&'t str> {
    let known = ["base64", "enc", "-base64", "-a", "-A", "-d"];
    let plain = rest.iter().all(|word| known.contains(&word.text()));
    let has = |names: &[&str]| rest.iter().any(|word| names.contains(&word.text()));
    input.filter(|_| plain && has(&["-d"]) && has(&["base64", "-base64", "-a"]))
}

/// Decodes a text. Other characters than those of the alphabet are skipped.
fn decoded(base: &Base, text: &str) -> Option<String> {
    let (mut bytes, mut value, mut bits) = (Vec::new(), 0_u32, 0);
    for digit in text.chars().filter_map(|c| base.alphabet.find(c)) {
        value = (value << base.bits | u32::try_from(digit).ok()?) & 0xffff;
        bits += base.bits;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from(value >> bits & 0xff).ok()?);
        }
    }
    Some(shown(&bytes))
}

/// Returns bytes as text of a line, without the characters of gaps.
fn shown(bytes: &[u8]) -> String {
    literal(&String::from_utf8_lossy(bytes)).into_owned()
}

/// Decodes the hexadecimal text that `xxd -r` reads: plain digits, or lines with a place and a picture.
fn from_hex(rest: &[Word], text: &str) -> Option<String> {
    let has = |letter: char| {
        rest.iter().any(|word| word.text().strip_prefix('-').is_some_and(|letters| letters.contains(letter)))
    };
    if !has('r') {
        return None;
    }
    let digits = |line: &str| match line.split_once(": ") {
        Some((_, rest)) if !has('p') => rest.split("  ").next().unwrap_or_default().to_owned(),
        _ => line.to_owned(),
    };
    let digits: String = text.lines().map(digits).collect();
    decoded(&BASE16, &digits.to_ascii_uppercase())
}

/// The limit of characters in one set of `tr`.
const MAX_SET: usize = 1_024;

/// Returns the characters of a set of `tr`: ranges, classes and escapes are written out.
fn set(text: &str) -> Vec<char> {
    const CLASSES: &[(&str, &[(char, char)])] = &[
        ("[:upper:]", &[('A', 'Z')]),
        ("[:lower:]", &[('a', 'z')]),
        ("[:digit:]", &[('0', '9')]),
        ("[:alpha:]", &[('A', 'Z'), ('a', 'z')]),
        ("[:alnum:]", &[('0', '9'), ('A', 'Z'), ('a', 'z')]),
        ("[:space:]", &[('\t', '\r'), (' ', ' ')]),
        ("[:blank:]", &[('\t', '\t'), (' ', ' ')]),
        ("[:punct:]", &[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')]),
    ];
    let (mut all, mut rest) = (Vec::new(), text);
    while !rest.is_empty() && all.len() < MAX_SET {
        if let Some((name, ranges)) = CLASSES.iter().find(|(name, _)| rest.starts_with(name)) {
            all.extend(ranges.iter().flat_map(|(first, last)| *first..=*last));
            rest = rest.get(name.len()..).unwrap_or_default();
            continue;
        }
        let Some((first, behind)) = character(rest) else { break };
        rest = behind;
        match rest.strip_prefix('-').and_then(character) {
            Some((last, behind)) => {
                all.extend((first..=last).take(MAX_SET));
                rest = behind;
            }
            None => all.push(first),
        }
    }
    all
}

/// Returns the first character of a set of `tr`, and the rest. A backslash starts an escape.
fn character(text: &str) -> Option<(char, &str)> {
    let mut chars = text.chars();
    let first = chars.next()?;
    if first != '\\' {
        return Some((first, chars.as_str()));
    }
    let digits: String = chars.as_str().chars().take(3).take_while(|c| c.is_digit(8)).collect();
    if !digits.is_empty() {
        let value = u32::from_str_radix(&digits, 8).ok().and_then(char::from_u32)?;
        return Some((value, chars.as_str().get(digits.len()..)?));
    }
    let escaped = match chars.next().unwrap_or('\\') {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        other => other,
    };
    Some((escaped, chars.as_str()))
}

/// Returns the output of `tr`, without its squeezing of repeated characters.
fn translated(rest: &[Word], input: &str) -> Option<String> {
    let reading = Reading { flags: list!("-c -C -d -s -t --complement --delete --truncate-set1"), ..PLAIN };
    let options = Options::read(rest, reading).ok()?;
    let sets: Vec<Vec<char>> = options.operands.iter().map(|operand| set(operand.text())).collect();
    let others = options.has("-c -C --complement");
    let (from, to) = (sets.first()?, sets.get(1));
    if options.has("-d --delete") {
        return Some(input.chars().filter(|c| from.contains(c) == others).collect());
    }
    let Some(to) = to.filter(|to| !to.is_empty()) else { return Some(input.to_owned()) };
    let last = to.last().copied()?;
    if others {
        return Some(input.chars().map(|c| if from.contains(&c) { c } else { last }).collect());
    }
    let pairs = from.iter().copied().zip(to.iter().copied().chain(std::iter::repeat(last)));
    let table: HashMap<char, char> = pairs.collect();
    Some(literal(&input.chars().map(|c| table.get(&c).copied().unwrap_or(c)).collect::<String>()).into_owned())
}

const PLAIN: Reading<'static> = Reading { flags: list!(""), stop_at_operand: false, inert: true };

/// Returns the output of `sed` with replacements of written text: `s/x/y/`, `y/ab/cd/`.
fn replaced(rest: &[Word], input: &str) -> Option<String> {
    let scripts = stream::scripts("sed", rest);
    let mut text = input.to_owned();
    for command in scripts.iter().flat_map(|script| script.text().split([';', '\n'])).take(8) {
        text = replaced_once(command.trim(), &text)?;
    }
    Some(text)
}

fn replaced_once(command: &str, text: &str) -> Option<String> {
    let (kind, rest) = command.split_at_checked(1)?;
    let sign = rest.chars().next().filter(|sign| !sign.is_ascii_alphanumeric())?;
    let mut parts = rest.get(sign.len_utf8()..)?.split(sign);
    let (from, to, end) = (parts.next()?, parts.next()?, parts.next()?);
    match kind {
        "y" => {
            let table: HashMap<char, char> = from.chars().zip(to.chars()).collect();
            Some(text.chars().map(|c| table.get(&c).copied().unwrap_or(c)).collect())
        }
        "s" if !from.is_empty() && !from.contains(['.', '*', '[', '\\', '^', '$']) && !to.contains(['&', '\\']) => {
            let all = end.contains('g');
            let line = |line: &str| if all { line.replace(from, to) } else { line.replacen(from, to, 1) };
            Some(text.lines().map(|text| line(text) + "\n").collect())
        }
        _ => None,
    }
}

/// Returns the output of `cut`: characters by their number, or fields.
fn cut(rest: &[Word], input: &str) -> Option<String> {
    let reading =
        Reading { flags: list!("-b: -c: -d: -f: -n -s --bytes: --characters: --delimiter: --fields:"), ..PLAIN };
    let options = Options::read(rest, reading).ok().filter(|options| options.operands.is_empty())?;
    let lines = |select: &dyn Fn(&str) -> String| input.lines().map(|line| select(line) + "\n").collect();
    if let Some(list) = options.value("-b -c --bytes --characters") {
        let ranges = ranges(list);
        return Some(lines(&|line| {
            line.chars().zip(1..).filter(|(_, at)| is_selected(&ranges, *at)).map(|(c, _)| c).collect()
        }));
    }
    let ranges = ranges(options.value("-f --fields")?);
    let sign = options.value("-d --delimiter").unwrap_or("\t").to_owned();
    if sign.is_empty() {
        return None;
    }
    Some(lines(&|line| {
        let fields = line.split(sign.as_str()).zip(1..).filter(|(_, at)| is_selected(&ranges, *at));
        fields.map(|(field, _)| field).collect::<Vec<_>>().join(&sign)
    }))
}

/// Returns the numbers that a list such as `1,3-5,7-` selects, as ranges.
fn ranges(list: &str) -> Vec<(usize, usize)> {
    let number = |text: &str, otherwise: usize| text.parse().unwrap_or(otherwise);
    let range = |part: &str| match part.split_once('-') {
        Some((first, last)) => (number(first, 1), number(last, usize::MAX)),
        None => (number(part, 0), number(part, 0)),
    };
    list.split(',').take(16).map(range).collect()
}

fn is_selected(ranges: &[(usize, usize)], at: usize) -> bool {
    ranges.iter().any(|(first, last)| (*first..=*last).contains(&at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::span::Span;

    fn output(command: &str, input: &str) -> Option<String> {
        let words: Vec<Word> = command.split(' ').map(|word| Word::literal(word, Span::default())).collect();
        filtered(&words, Some(input))
    }

    #[test]
    fn filters_print_what_the_programs_print() {
        let cases = [
            ("base64 -d", "cm0gLXJmIC8=", "rm -rf /"),
            ("base64 --dec", "cm0gLXJmIC8", "rm -rf /"),
            ("base32 -d", "OJWSALLSMYQC6===", "rm -rf /"),
            ("basenc --base16 -d", "726D20", "rm "),
            ("openssl enc -a -d", "cm0gLXJmIC8=\n", "rm -rf /"),
            ("xxd -r -p", "726d20\n2d7266\n", "rm -rf"),
            ("xxd -rp", "726d", "rm"),
            ("xxd -r", "00000000: 726d 202d 7266 202f  rm -rf /\n", "rm -rf /"),
            ("rev", "/ fr- mr\n", "rm -rf /\n"),
            ("tac", "b\na\n", "a\nb\n"),
            ("tr a-z n-za-m", "ez -es /", "rm -rf /"),
            ("tr X m", "rX", "rm"),
            ("tr -d _", "r_m", "rm"),
            ("tr -cd a-z", "r1m2", "rm"),
            ("tr [:upper:] [:lower:]", "RM", "rm"),
            ("tr \\054 \\040", "rm,-rf", "rm -rf"),
            ("sed s/X/m/", "rX -rf\n", "rm -rf\n"),
            ("sed y/ab/rm/", "ab\n", "rm\n"),
            ("cut -c3-", "xxrm -rf /\n", "rm -rf /\n"),
            ("cut -d: -f2", "x:rm -rf /\n", "rm -rf /\n"),
            ("head -1", "rm\n", "rm\n"),
        ];
        for (command, input, expected) in cases {
            assert_eq!(output(command, input).as_deref(), Some(expected), "{command}");
        }
        for command in ["base64", "base64 -d f", "openssl enc -d -aes-256-cbc -a", "sed s/a.c/x/", "xxd", "wc -l"] {
            assert_eq!(output(command, "cm0="), None, "{command}");
        }
    }
}
