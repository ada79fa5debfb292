//! Patterns of paths.

use std::{
    cmp::Ordering,
    fmt,
    hash::{Hash, Hasher},
    str::FromStr,
    sync::{Arc, OnceLock},
};

use globset::{Glob, GlobBuilder, GlobMatcher};
use serde::{Deserialize, Serialize};

use super::{SanitizedPath, Verdict};

/// The most characters a glob may have.
const MAX_GLOB_CHARS: usize = 1024;

/// A pattern of absolute paths: `*` and `?` stay within a component, `**` crosses components, `[ab]` and `{a,b}`
/// choose.
///
/// A glob is compared with canonical paths, whose links are resolved. The comparison distinguishes case.
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PathGlob(Arc<Pattern>);

/// The text of a glob, with its cached matchers for denials. Compiling them takes longer than most decisions.
struct Pattern {
    text: Box<str>,
    as_no: OnceLock<Result<Vec<GlobMatcher>, globset::Error>>,
}

impl fmt::Debug for PathGlob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PathGlob").field(&self.as_str()).finish()
    }
}

/// Compares globs by their texts.
impl PartialEq for PathGlob {
    fn eq(&self, other: &PathGlob) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for PathGlob {}

impl PartialOrd for PathGlob {
    fn partial_cmp(&self, other: &PathGlob) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for PathGlob {
    fn cmp(&self, other: &PathGlob) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl Hash for PathGlob {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

/// The reason why a text is not a [`PathGlob`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidGlob {
    /// The text is empty.
    #[error("a glob must not be empty")]
    Empty,
    /// The text has more than 1024 characters.
    #[error("a glob has at most {MAX_GLOB_CHARS} characters")]
    TooLong,
    /// The text has a control character.
    #[error("a glob holds no control characters")]
    Control,
    /// The text has a `..`. Canonical paths have none.
    #[error("a glob holds no `..`: it is compared with real paths, which have none")]
    Up,
    /// The text does not begin at the root, and there is no base.
    #[error("a glob begins with `/` here")]
    Relative,
    /// The text is no valid pattern.
    #[error("this is no glob: {0}")]
    Syntax(String),
}

/// The set of directories in which a relative glob applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "below the base or everywhere")]
pub enum Reach {
    /// Below its base, for any beginning of the glob. This is for globs that allow.
    Below,
    /// Below its base, or everywhere if it begins with `**/`. This is for globs that deny or ask.
    Everywhere,
}

impl PathGlob {
    /// Resolves `text` against `base`.
    ///
    /// # Errors
    ///
    /// Fails with the reason why the text is not a glob.
    pub fn at(text: &str, base: &SanitizedPath, reach: Reach) -> Result<PathGlob, InvalidGlob> {
        if text.is_empty() {
            return Err(InvalidGlob::Empty);
        }
        let text = text.strip_prefix("./").unwrap_or(text);
        let anywhere = reach == Reach::Everywhere && text.starts_with("**/");
        if text.starts_with('/') {
            return text.to_owned().try_into();
        }
        if anywhere {
            return format!("/{text}").try_into();
        }
        let base = escaped(base);
        format!("{}/{text}", base.trim_end_matches('/')).try_into()
    }

    /// Returns the glob that matches this path and no other. Returns none if it is too long, or has a character that no
    /// glob may have.
    pub(crate) fn literal(path: &SanitizedPath) -> Option<PathGlob> {
        escaped(path).try_into().ok()
    }

    /// Returns the path that this glob matches, if [`PathGlob::literal`] made it.
    pub(crate) fn as_literal(&self) -> Option<SanitizedPath> {
        let (mut path, mut chars) = (String::new(), self.as_str().chars());
        while let Some(c) = chars.next() {
            match c {
                '[' => {
                    path.extend(chars.next());
                    chars.next();
                }
                '\\' => path.extend(chars.next()),
                c => path.push(c),
            }
        }
        path.parse().ok().filter(|path| PathGlob::literal(path).as_ref() == Some(self))
    }

    /// Returns the path that this glob names in a denial, with everything below it. Returns none if the glob has a
    /// wildcard other than `/**` at its end.
    pub(crate) fn named_as_no(&self) -> Option<SanitizedPath> {
        PathGlob::of(self.base()).as_literal()
    }

    fn of(text: impl Into<Box<str>>) -> PathGlob {
        PathGlob(Arc::new(Pattern { text: text.into(), as_no: OnceLock::new() }))
    }

    /// Returns the pattern as text, from the root on.
    pub fn as_str(&self) -> &str {
        &self.0.text
    }

    /// Returns the part of the pattern before its first wildcard, up to the last `/` in it. Every path that the pattern
    /// matches begins with it.
    pub fn start(&self) -> &str {
        const SIGNS: [char; 7] = ['*', '?', '[', ']', '{', '}', '\\'];
        let literal = self.as_str().split(SIGNS).next().unwrap_or_default();
        let end = literal.rfind('/').unwrap_or_default();
        literal.get(..end).filter(|start| !start.is_empty()).unwrap_or("/")
    }

    /// Returns the last name of every path that the pattern denies, without its content. Returns none if it is a
    /// wildcard.
    pub(crate) fn last_name(&self) -> Option<&str> {
        const SIGNS: [char; 7] = ['*', '?', '[', ']', '{', '}', '\\'];
        let name = self.base().rsplit('/').next()?;
        // A `/` inside braces or brackets would end the name too early.
        let is_plain = !name.is_empty() && !name.contains(SIGNS) && !self.base().contains(['{', '[']);
        is_plain.then_some(name)
    }

    /// Returns a test of paths: true for each path to which a rule with this pattern and `verdict` applies. A rule that
    /// denies or asks also applies to everything below a path that matches.
    pub fn test_for(&self, verdict: Verdict) -> impl Fn(&SanitizedPath) -> bool + use<> {
        let forms = match verdict {
            Verdict::Allow => self.compiled().map(|glob| vec![glob]),
            Verdict::Ask | Verdict::Deny => self.compiled_as_no(),
        };
        let forms: Vec<GlobMatcher> = forms.iter().flatten().map(Glob::compile_matcher).collect();
        move |path| forms.iter().any(|form| form.is_match(path.as_path()))
    }

    /// Returns the pattern without the `/**` at its end.
    fn base(&self) -> &str {
        self.as_str().strip_suffix("/**").unwrap_or(self.as_str())
    }

    /// Compiles the glob. A parsed glob always compiles.
    pub(crate) fn compiled(&self) -> Result<Glob, globset::Error> {
        compile(self.as_str())
    }
}

impl PathGlob {
    /// Compiles the glob for a verdict of deny or ask. A directory includes its content, so `a` also means `a/**`, and
    /// `a/**` also means `a`.
    pub(crate) fn compiled_as_no(&self) -> Result<Vec<Glob>, globset::Error> {
        let text = self.as_str();
        let other = text.strip_suffix("/**").map_or_else(|| format!("{text}/**"), str::to_owned);
        // A pattern may have no other form, as `/**` has none. Then only the literal pattern is used.
        Ok(std::iter::once(self.compiled()?).chain(compile(&other)).collect())
    }

    /// Returns true if a denial of this glob applies to `path`.
    ///
    /// # Errors
    ///
    /// Fails if the glob does not compile. The pattern was then too long from the start, so the paths that it denies
    /// are unknown.
    pub(crate) fn denies(&self, path: &SanitizedPath) -> Result<bool, globset::Error> {
        if !self.may_deny(path.as_str()) {
            return Ok(false);
        }
        let make = || Ok(self.compiled_as_no()?.iter().map(Glob::compile_matcher).collect());
        let forms = self.0.as_no.get_or_init(make).as_ref().map_err(globset::Error::clone)?;
        Ok(forms.iter().any(|form| form.is_match(path.as_path())))
    }

    /// Returns false if the literal text at both ends of the glob shows that the glob does not deny `path`. Most globs
    /// then need not be compiled.
    fn may_deny(&self, path: &str) -> bool {
        const SIGNS: [char; 7] = ['*', '?', '[', ']', '{', '}', '\\'];
        let base = self.base();
        let (Some(first), Some(last)) = (base.find(SIGNS), base.rfind(SIGNS)) else {
            return path.strip_prefix(base).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        };
        let (start, end) = (base.get(..first).unwrap_or_default(), base.get(last + 1..).unwrap_or_default());
        let mut above = path.match_indices('/').filter_map(|(at, _)| path.get(..at)).chain([path]);
        path.starts_with(start) && above.any(|path| path.ends_with(end))
    }
}

/// Returns the path as a glob, with all special characters escaped.
fn escaped(path: &SanitizedPath) -> String {
    globset::escape(&path.as_str().replace('\\', "\\\\"))
}

fn compile(text: &str) -> Result<Glob, globset::Error> {
    GlobBuilder::new(text).literal_separator(true).backslash_escape(true).build()
}

impl TryFrom<String> for PathGlob {
    type Error = InvalidGlob;

    fn try_from(text: String) -> Result<PathGlob, InvalidGlob> {
        if text.chars().nth(MAX_GLOB_CHARS).is_some() {
            return Err(InvalidGlob::TooLong);
        }
        if text.chars().any(char::is_control) {
            return Err(InvalidGlob::Control);
        }
        if text.split('/').any(|part| part == "..") {
            return Err(InvalidGlob::Up);
        }
        if !text.starts_with('/') {
            return Err(InvalidGlob::Relative);
        }
        compile(&text).map_err(|why| InvalidGlob::Syntax(why.kind().to_string()))?;
        Ok(PathGlob::of(text))
    }
}

/// Parses an absolute glob.
///
/// ```
/// use bestow::path::PathGlob;
/// let keys: PathGlob = "/work/site/**/*.key".parse()?;
/// assert!("**/*.key".parse::<PathGlob>().is_err(), "at which base, only `PathGlob::at` says");
/// # assert_eq!(keys.as_str(), "/work/site/**/*.key");
/// # Ok::<(), bestow::path::InvalidGlob>(())
/// ```
impl FromStr for PathGlob {
    type Err = InvalidGlob;

    fn from_str(text: &str) -> Result<PathGlob, InvalidGlob> {
        text.to_owned().try_into()
    }
}

impl From<PathGlob> for String {
    fn from(glob: PathGlob) -> String {
        glob.as_str().to_owned()
    }
}

impl fmt::Display for PathGlob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The quick check by the ends of a glob never contradicts the full match.
    #[test]
    fn no_path_that_a_glob_denies_is_ruled_out_by_its_ends() {
        let paths = [
            "/",
            "/report1000",
            "/a/aaa/x",
            "/a.key.key.key",
            "/a",
            "/a/b",
            "/a/b/c",
            "/a/b.env",
            "/a/.env",
            "/a/.env/x",
            "/ab",
            "/a/bc",
            "/b",
            "/a/{b}",
            "/a/[b]",
            "/a/b/.env",
        ];
        let globs = [
            "/**",
            "/**/*00",
            "/**/*aa",
            "/**/*.key.key",
            "/a",
            "/a/**",
            "/a/*",
            "/a/**/.env",
            "/**/.env",
            "/**/.env*",
            "/a/{b,bc}",
            "/a/[b]",
            "/a/[b]*/**",
            "/a/\\[b\\]",
            "/a/?",
            "/*/b",
            "/**/b/**",
            "/a/*.env",
            "/a/{b,b/c}/**",
            "/*",
        ];
        for glob in globs {
            let glob = PathGlob::try_from(glob.to_owned()).unwrap();
            for path in paths {
                let path: SanitizedPath = path.parse().unwrap();
                let forms = glob.compiled_as_no().unwrap();
                let denies = forms.iter().any(|form| form.compile_matcher().is_match(path.as_path()));
                assert_eq!(glob.denies(&path).unwrap(), denies, "{glob} {path}");
            }
        }
    }
}
