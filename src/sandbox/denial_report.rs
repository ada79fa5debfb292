//! The evidence of sandbox denials in the error output of a command.
//!
//! The back ends do not report the path that they denied. A program usually prints that path when the kernel denies an
//! operation. The printed path is evidence if the profile forbids it. Otherwise the line is only a possible denial. A
//! line without a certain path never becomes evidence for another path.

use std::{ffi::OsString, path::Path};

use super::{Profile, read_only_paths::ReadOnlyPaths};
use crate::{
    fs,
    model::{BlockedAccess, Domain, SandboxViolation, SanitizedPath, redacted},
};

/// The error texts of the kernel, as the C library and others print them, in lower case.
const REFUSALS: [&str; 5] = [
    "read-only file system",
    "permission denied",
    "operation not permitted",
    "device or resource busy",
    "cross-device link",
];

/// The error text that fits a denied read as well as a denied write.
const DENIED: &str = "permission denied";

/// The error texts of programs that reach no host, in lower case. Only those that also name the host are evidence.
const UNREACHED: [&str; 7] = [
    "could not resolve host",
    "unable to resolve host",
    "temporary failure in name resolution",
    "name or service not known",
    "getaddrinfo",
    "network is unreachable",
    "failed to lookup address information",
];

/// The rule that keeps a host from a command.
const NOT_IN_NETWORK: &str = "it is outside the network of the command";

/// The pairs of opening and closing quotation marks.
const QUOTES: [(char, char); 4] = [('\'', '\''), ('"', '"'), ('`', '\''), ('\u{2018}', '\u{2019}')];

/// The most violations that are reported.
const MOST: usize = 16;

/// The longest quoted line, in characters.
const LONGEST: usize = 300;

pub(super) struct Evidence {
    pub(super) violations: Vec<SandboxViolation>,
    pub(super) is_possible: bool,
}

/// Searches the standard error of a failed command for denials. `words` are the words of the command. `refused` are the
/// hosts that the egress proxy refused to it.
pub(super) fn evidence(
    profile: &Profile,
    guards: &ReadOnlyPaths,
    words: &[OsString],
    (stderr, refused): (&[u8], Vec<Domain>),
) -> Evidence {
    let text = String::from_utf8_lossy(stderr);
    let (mut violations, mut is_possible) = (Vec::new(), false);
    let add_host = |violations: &mut Vec<SandboxViolation>, host: Domain, quoted: String| {
        let access = BlockedAccess::Host(host);
        if violations.len() < MOST && violations.iter().all(|known| known.access != access) {
            violations.push(SandboxViolation::new(access, NOT_IN_NETWORK.to_owned(), quoted));
        }
    };
    for host in refused {
        let quoted = format!("the proxy of the sandbox refused `{host}`");
        add_host(&mut violations, host, quoted);
    }
    for line in text.lines() {
        let lower = line.to_ascii_lowercase();
        if let Some(host) = unreached_host(profile, &lower) {
            add_host(&mut violations, host, redacted(line).chars().take(LONGEST).collect());
            continue;
        }
        let Some(refusal) = REFUSALS.iter().find_map(|words| Some((lower.find(words)?, words.len()))) else { continue };
        is_possible = true;
        let only_written = !lower.contains(DENIED);
        let forbidden = targets(profile, line, refusal).into_iter().filter_map(|path| original(profile, words, path));
        let first = forbidden.filter_map(|path| Some((rule(profile, guards, &path, only_written)?, path))).next();
        if let Some((rule, path)) = first
            && violations.len() < MOST
        {
            let quoted: String = redacted(line).chars().take(LONGEST).collect();
            violations.push(SandboxViolation::new(BlockedAccess::Path(path), rule.to_owned(), quoted));
        }
    }
    let is_possible = is_possible && violations.is_empty();
    Evidence { violations, is_possible }
}

/// Returns the host that a line reports as unreached, if the profile keeps it from the command.
fn unreached_host(profile: &Profile, lower: &str) -> Option<Domain> {
    if profile.network && profile.domains.is_empty() {
        return None;
    }
    let (at, length) = UNREACHED.iter().find_map(|words| Some((lower.find(words)?, words.len())))?;
    let (before, after) = (lower.get(..at)?, lower.get(at + length..)?);
    let is_separator = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '-');
    let mut names = after.split(is_separator).chain(before.rsplit(is_separator));
    let named = names.find_map(|name| name.trim_matches('.').parse::<Domain>().ok().filter(|_| name.contains('.')));
    named.filter(|host| !profile.domains.contains(host))
}

/// Returns the paths that a line may report as denied, the likeliest first. `refusal` is the position and the length of
/// the kernel's error text in the line.
fn targets(profile: &Profile, line: &str, (at, length): (usize, usize)) -> Vec<SanitizedPath> {
    let (before, after) = (line.get(..at).unwrap_or_default(), line.get(at + length..).unwrap_or_default());
    let before = without_reporter(profile, before);
    // A text in quotation marks is a complete name.
    let quoted: Vec<_> = quoted(before).into_iter().chain(quoted(after)).collect();
    if !quoted.is_empty() {
        return quoted.into_iter().filter_map(|name| named(profile, name)).collect();
    }
    let last = before.trim_end().trim_end_matches([':', ',']).rsplit(": ").next().unwrap_or_default().trim();
    // The line is `cat: NAME: ...` or `cannot create NAME: ...`, and a name may contain blanks. Only the start of a
    // path counts.
    let starts = last.char_indices().filter(|(place, _)| is_start(last, *place)).map(|(place, _)| place);
    let names = starts.filter_map(|place| last.get(place..)).filter(|name| name.starts_with(['/', '.', '~']));
    let whole = (!last.contains(' ')).then_some(last);
    names.take(1).chain(whole).filter_map(|name| named(profile, name)).collect()
}

fn is_start(text: &str, place: usize) -> bool {
    text.get(..place).is_some_and(|before| before.is_empty() || before.ends_with(' '))
}

/// Removes the name of the reporting program and the line number of its script, as in `/bin/sh: 1: `.
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

/// Returns true if this is an executable file. The text before the first colon is either the reporting program or the
/// path that the line is about.
fn is_executable(profile: &Profile, name: &str) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let found = std::fs::metadata(profile.cwd.as_path().join(name));
    found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// Returns every text in quotation marks. An apostrophe within a word does not count.
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

/// Finds the first opening quotation mark. Returns its position, its closing mark, and its length.
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

/// Resolves a name in a message, relative to the working directory of the command.
fn named(profile: &Profile, name: &str) -> Option<SanitizedPath> {
    let path = profile.cwd.as_path().join(name);
    fs::real(path.to_str()?).ok().map(|real| real.path().clone())
}

/// Returns the file that the command wanted to change. `sed -i` reports its temporary file, so the file beside it is
/// the real target. The result is `None` if that file is not certain.
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

/// Returns the rule of the profile that forbids this path, if there is one.
fn rule(profile: &Profile, guards: &ReadOnlyPaths, path: &SanitizedPath, only_written: bool) -> Option<&'static str> {
    let is_below = |all: &[SanitizedPath]| all.iter().any(|root| root.contains(path));
    if is_below(&profile.hidden) || is_below(&guards.hidden) {
        Some("it is protected")
    } else if is_below(&profile.unwritten) || is_below(&guards.unwritten) {
        Some("it is denied by name")
    } else if is_below(&guards.read_only) && !profile.write.contains_key(path) {
        Some("it is sensitive, and no permission names it")
    } else if profile.root_of(path).is_none() && only_written {
        Some("it is below no write root")
    } else {
        None
    }
}
