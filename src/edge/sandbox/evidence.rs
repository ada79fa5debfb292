//! What a command's own words show about what it was kept from.
//!
//! No back end reports which path it refused. What a program prints when the kernel refuses it usually names the path;
//! that is evidence when the profile does forbid that path, and no more than a possibility otherwise.

use super::Profile;
use crate::{
    fs,
    model::{SandboxViolation, SanitizedPath, redacted},
};

/// How the C library and others say what the kernel answered.
const REFUSALS: [&str; 5] = [
    "Read-only file system",
    "Permission denied",
    "Operation not permitted",
    "Device or resource busy",
    "cross-device link",
];

/// What separates a path from the words around it.
const AROUND: [char; 12] = ['\'', '"', '`', ' ', ':', ',', ';', '(', ')', '\u{2018}', '\u{2019}', '='];

/// At most this many are told.
const MOST: usize = 16;

/// How long a quoted line may be.
const LONGEST: usize = 300;

pub(super) struct Evidence {
    pub(super) violations: Vec<SandboxViolation>,
    pub(super) is_possible: bool,
}

/// What the standard error of a command that failed shows.
pub(super) fn evidence(profile: &Profile, read_only: &[SanitizedPath], stderr: &[u8]) -> Evidence {
    let text = String::from_utf8_lossy(stderr);
    let refused = text.lines().filter(|line| REFUSALS.iter().any(|words| line.contains(words)));
    let (mut violations, mut is_possible) = (Vec::new(), false);
    for line in refused {
        is_possible = true;
        let forbidden = line.split(AROUND).filter_map(|word| named(profile, word));
        let first = forbidden.filter_map(|path| Some((rule(profile, read_only, &path, line)?, path))).next();
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

/// The path that a word of a message names, as the command meant it.
fn named(profile: &Profile, word: &str) -> Option<SanitizedPath> {
    if word.is_empty() || !word.contains(['/', '.']) && !profile.cwd.as_path().join(word).exists() {
        return None;
    }
    let path = profile.cwd.as_path().join(word);
    fs::real(path.to_str()?).ok().map(|real| real.path().clone())
}

/// The rule of the profile that forbids this, if one does.
fn rule(profile: &Profile, read_only: &[SanitizedPath], path: &SanitizedPath, line: &str) -> Option<&'static str> {
    let is_below = |all: &[SanitizedPath]| all.iter().any(|root| root.contains(path));
    let only_written = !line.contains("Permission denied");
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
