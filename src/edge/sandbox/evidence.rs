//! What a command's own words show about what it was kept from.
//!
//! No back end reports which path it refused. What a program prints when the kernel refuses it usually names the path;
//! that is evidence when the profile does forbid that path, and no more than a possibility otherwise. A line that names no
//! path for certain says "unknown", and never another path.

use std::{ffi::OsString, path::Path};

use super::Profile;
use crate::{
    fs,
    model::{SandboxViolation, SanitizedPath, redacted},
};

/// The answers of the kernel in the words of the C library and of others, in lower case.
const REFUSALS: [&str; 5] = [
    "read-only file system",
    "permission denied",
    "operation not permitted",
    "device or resource busy",
    "cross-device link",
];

/// The one that does not tell whether something was written.
const DENIED: &str = "permission denied";

/// Quotation marks, opening and closing.
const QUOTES: [(char, char); 4] = [('\'', '\''), ('"', '"'), ('`', '\''), ('\u{2018}', '\u{2019}')];

/// At most this many are told.
const MOST: usize = 16;

/// How long a quoted line may be.
const LONGEST: usize = 300;

pub(super) struct Evidence {
    pub(super) violations: Vec<SandboxViolation>,
    pub(super) is_possible: bool,
}

/// What the standard error of a command that failed shows. `words` are the command's.
pub(super) fn evidence(profile: &Profile, read_only: &[SanitizedPath], words: &[OsString], stderr: &[u8]) -> Evidence {
    let text = String::from_utf8_lossy(stderr);
    let (mut violations, mut is_possible) = (Vec::new(), false);
    for line in text.lines() {
        let lower = line.to_ascii_lowercase();
        let Some(refusal) = REFUSALS.iter().find_map(|words| Some((lower.find(words)?, words.len()))) else { continue };
        is_possible = true;
        let only_written = !lower.contains(DENIED);
        let forbidden = targets(profile, line, refusal).into_iter().filter_map(|path| original(profile, words, path));
        let first = forbidden.filter_map(|path| Some((rule(profile, read_only, &path, only_written)?, path))).next();
        if let Some((rule, path)) = first
            && violations.len() < MOST
        {
            let quoted: String = redacted(line).chars().take(LONGEST).collect();
            violations.push(SandboxViolation::new(path, rule.to_owned(), quoted));
        }
    }
    let is_possible = is_possible && violations.is_empty();
    Evidence { violations, is_possible }
}

/// The paths that a line may say were refused, the likeliest first. `refusal` is the place and the length of the kernel's
/// answer in it.
fn targets(profile: &Profile, line: &str, (at, length): (usize, usize)) -> Vec<SanitizedPath> {
    let (before, after) = (line.get(..at).unwrap_or_default(), line.get(at + length..).unwrap_or_default());
    let before = without_reporter(profile, before);
    // What stands in quotation marks is the whole of a name.
    let quoted: Vec<_> = quoted(before).into_iter().chain(quoted(after)).collect();
    if !quoted.is_empty() {
        return quoted.into_iter().filter_map(|name| named(profile, name)).collect();
    }
    let last = before.trim_end().trim_end_matches([':', ',']).rsplit(": ").next().unwrap_or_default().trim();
    // `cat: NAME: …`, or `cannot create NAME: …`, where a name may hold blanks; what is no name has no slash.
    let starts = last.char_indices().filter(|(place, _)| is_start(last, *place)).map(|(place, _)| place);
    let names = starts.filter_map(|place| last.get(place..)).filter(|name| name.starts_with(['/', '.', '~']));
    let whole = (!last.contains(' ')).then_some(last);
    names.take(1).chain(whole).filter_map(|name| named(profile, name)).collect()
}

fn is_start(text: &str, place: usize) -> bool {
    text.get(..place).is_some_and(|before| before.is_empty() || before.ends_with(' '))
}

/// The rest of a line behind the program that reports, and behind the line of its script: `/bin/sh: 1: `.
fn without_reporter<'l>(profile: &Profile, text: &'l str) -> &'l str {
    let Some((first, rest)) = text.split_once(": ") else { return text };
    let is_program = !first.contains(char::is_whitespace) && (!first.contains('/') || is_executable(profile, first));
    let mut rest = if is_program { rest } else { text };
    while let Some((first, more)) = rest.split_once(": ")
        && is_number(first.trim_start_matches("line "))
    {
        rest = more;
    }
    rest
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether this is a program file. What stands before the first colon is one, or it is the name that the line is about.
fn is_executable(profile: &Profile, name: &str) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let found = std::fs::metadata(profile.cwd.as_path().join(name));
    found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// Every text in quotation marks. An apostrophe within a word is none.
fn quoted(text: &str) -> Vec<&str> {
    let (mut found, mut rest) = (Vec::new(), text);
    while let Some((place, close, opens)) = opening(rest) {
        let Some(inside) = rest.get(place + opens..) else { break };
        let ends = |at: &usize| {
            let behind = inside.get(at + close.len_utf8()..).and_then(|behind| behind.chars().next());
            behind.is_none_or(|c| !c.is_alphanumeric())
        };
        let Some(end) = inside.match_indices(close).map(|(at, _)| at).find(ends) else { break };
        found.extend(inside.get(..end).filter(|name| !name.is_empty()));
        rest = inside.get(end + close.len_utf8()..).unwrap_or_default();
    }
    found
}

/// The first quotation mark that opens: its place, what closes it, and its length.
fn opening(text: &str) -> Option<(usize, char, usize)> {
    let mut before = None;
    for (place, c) in text.char_indices() {
        let opens = QUOTES.iter().find(|(open, _)| *open == c);
        if let Some((open, close)) = opens.filter(|_| before.is_none_or(|before: char| !before.is_alphanumeric())) {
            return Some((place, *close, open.len_utf8()));
        }
        before = Some(c);
    }
    None
}

/// The path that a name in a message means, where the command stands.
fn named(profile: &Profile, name: &str) -> Option<SanitizedPath> {
    let path = profile.cwd.as_path().join(name);
    fs::real(path.to_str()?).ok().map(|real| real.path().clone())
}

/// The file that was to be changed, for a file that a program makes in its place (`sed -i`); none if that is not certain.
fn original(profile: &Profile, words: &[OsString], path: SanitizedPath) -> Option<SanitizedPath> {
    let name = path.as_path().file_name()?.to_str()?;
    let is_temporary = name.strip_prefix("sed").is_some_and(|rest| {
        rest.len() == 6 && rest.bytes().all(|byte| byte.is_ascii_alphanumeric()) && !path.as_path().exists()
    });
    if !is_temporary {
        return Some(path);
    }
    let texts = words.iter().filter_map(|word| word.to_str()).flat_map(|word| {
        word.split(|c: char| c.is_whitespace() || "'\";&|<>()".contains(c)).filter(|text| !text.is_empty())
    });
    let beside = |other: &SanitizedPath| is_beside(other.as_path(), path.as_path());
    let mut others: Vec<_> = texts.filter_map(|text| named(profile, text)).filter(beside).collect();
    others.sort();
    others.dedup();
    if others.len() == 1 { others.pop() } else { None }
}

fn is_beside(one: &Path, other: &Path) -> bool {
    one.parent() == other.parent() && one.is_file()
}

/// The rule of the profile that forbids this, if one does.
fn rule(
    profile: &Profile,
    read_only: &[SanitizedPath],
    path: &SanitizedPath,
    only_written: bool,
) -> Option<&'static str> {
    let is_below = |all: &[SanitizedPath]| all.iter().any(|root| root.contains(path));
    if is_below(&profile.hidden) {
        Some("it is protected")
    } else if is_below(&profile.unwritten) {
        Some("it is denied by name")
    } else if is_below(read_only) && !profile.write.contains_key(path) {
        Some("it is sensitive, and not named by a right")
    } else if profile.root_of(path).is_none() && only_written {
        Some("it lies below no write root")
    } else {
        None
    }
}
