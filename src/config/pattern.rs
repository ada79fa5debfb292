//! Path patterns of rules, made absolute. This module does not read the disk.

use super::{Problem, absolute::Base, diagnostics::quoted};
use crate::model::{PathGlob, Reach, SanitizedPath, Verdict};

/// One pattern of a rule.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    /// The pattern as written, made absolute.
    pub(super) glob: PathGlob,
    /// The second form of the pattern in a rule that denies or asks: such a rule about a directory also covers its
    /// content, and the other way round.
    pub(super) besides: Option<PathGlob>,
    /// The path before the first wildcard; none if the pattern starts with a wildcard.
    pub(super) start: Option<SanitizedPath>,
}

/// Parses the pattern `text` of a rule with `verdict`.
pub(super) fn parse(text: &str, base: Base<'_>, verdict: Verdict) -> Result<Pattern, Problem> {
    check(text)?;
    let wrong = |why: crate::model::InvalidGlob| Problem::new(format!("{}: {why}", quoted(text)));
    let reach = if verdict == Verdict::Allow { Reach::Below } else { Reach::Everywhere };
    let glob = match text.strip_prefix("~/") {
        // A pattern below the home directory applies nowhere else.
        Some(rest) => PathGlob::at(rest, &base.path("~")?, Reach::Below),
        None => PathGlob::at(text, &base.path(".")?, reach),
    };
    let glob = glob.map_err(wrong)?;
    let besides = if verdict == Verdict::Allow { None } else { other_form(&glob) };
    let start = start(glob.as_str());
    Ok(Pattern { glob, besides, start })
}

/// Refuses a pattern that would compile but can never match a real path.
fn check(text: &str) -> Result<(), Problem> {
    if text.starts_with(char::is_whitespace) {
        return Err(Problem::new(format!("the pattern {} starts with white space", quoted(text))));
    }
    if text.starts_with('$') || text.contains("${") {
        return Err(Problem::new(format!("variables are not expanded in {}", quoted(text)))
            .help("write the full path, or begin it with `~/`"));
    }
    if text.starts_with('~') && !text.starts_with("~/") {
        return Err(Problem::new(format!("only `~/` names a home directory, not {}", quoted(text)))
            .help("write the full path, or `./~…` for a file with this name"));
    }
    let rest = text.strip_prefix("./").or(text.strip_prefix("~/")).or(text.strip_prefix('/')).unwrap_or(text);
    if !text.is_empty() && rest.split('/').any(|part| part.is_empty() || part == ".") {
        let help =
            "real paths have no empty names and no `.`; `**` matches everything below the directory of this file";
        return Err(Problem::new(format!("no path matches {}", quoted(text))).help(help));
    }
    Ok(())
}

/// Returns `a/**` for `a`, and `a` for `a/**`.
fn other_form(glob: &PathGlob) -> Option<PathGlob> {
    let other = match glob.as_str().strip_suffix("/**") {
        Some(directory) => directory.to_owned(),
        None => format!("{glob}/**"),
    };
    PathGlob::try_from(other).ok()
}

fn start(glob: &str) -> Option<SanitizedPath> {
    let wild = |part: &&str| part.contains(['*', '?', '[', '{', '\\']);
    let parts: Vec<_> = glob.split('/').skip(1).take_while(|part| !wild(part)).collect();
    if parts.is_empty() { None } else { format!("/{}", parts.join("/")).parse().ok() }
}
