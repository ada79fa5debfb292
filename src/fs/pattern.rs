//! Expansion of shell patterns to names.

use std::fs;

use globset::{GlobBuilder, GlobMatcher};

/// The maximum number of names of one pattern, and the maximum number of entries that are examined for it.
const MOST_NAMES: usize = 1_000;
const MOST_ENTRIES: usize = 50_000;

/// Returns the paths that match `pattern` in the directory `start`, and follows links as a shell does. Returns none if
/// the matches cannot be determined, or if there are too many.
///
/// The result may contain more paths than a shell would find, but never fewer: a pattern with more than plain `*`, `?`
/// and `[…]` matches any name.
pub(crate) fn matching(start: &str, pattern: &str) -> Option<Vec<String>> {
    let (mut paths, mut looked_at) = (vec![start.trim_end_matches('/').to_owned()], 0);
    let parts: Vec<_> = pattern.split('/').filter(|part| !part.is_empty()).collect();
    for part in parts {
        if part.contains("**") {
            return None;
        }
        let Some(names) = (part.contains(['*', '?', '[', '{', '(', '\\'])).then(|| Names::of(part)) else {
            paths.iter_mut().for_each(|path| *path = format!("{path}/{part}"));
            continue;
        };
        let mut next = Vec::new();
        for path in paths {
            let directory = if path.is_empty() { "/" } else { &path };
            for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
                looked_at += 1;
                let name = entry.file_name();
                // A name that is not UTF-8 cannot be a word of a command line.
                let Some(name) = name.to_str() else { continue };
                if names.has(name) {
                    next.push(format!("{path}/{name}"));
                }
                if looked_at > MOST_ENTRIES || next.len() > MOST_NAMES {
                    return None;
                }
            }
        }
        paths = next;
    }
    paths.retain(|path| fs::symlink_metadata(path).is_ok());
    Some(paths)
}

/// The names that one part of a pattern matches.
struct Names {
    /// The matcher of the names; none matches every name.
    matcher: Option<GlobMatcher>,
    dotted: bool,
}

impl Names {
    fn of(part: &str) -> Names {
        let is_plain = !part.contains(['{', '(', '\\', '}', ')', '|']) && !part.contains("[:") && !part.contains("[.");
        let glob = GlobBuilder::new(part).literal_separator(true).build().ok().filter(|_| is_plain);
        Names { matcher: glob.map(|glob| glob.compile_matcher()), dotted: part.starts_with('.') || !is_plain }
    }

    fn has(&self, name: &str) -> bool {
        // A hidden name is matched only by a pattern that starts with a dot.
        let is_shown = self.dotted || !name.starts_with('.');
        is_shown && self.matcher.as_ref().is_none_or(|matcher| matcher.is_match(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_becomes_what_a_shell_makes_of_it() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path();
        for name in [".env", "a.txt", "b.txt", "sub/c.txt", "sub/.d"] {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        std::os::unix::fs::symlink(root.join("sub"), root.join("link")).unwrap();
        let start = root.to_str().unwrap();
        for pattern in
            ["*", "*.txt", ".*", ".en?", "[ab].txt", "[!a]*", "*/*.txt", "l*/c.txt", "sub/*", "none*", "s*/.d"]
        {
            let script = format!("cd '{start}' && for f in {pattern}; do [ -e \"$f\" ] && echo \"$f\"; done");
            let told = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
            let mut expected: Vec<_> = String::from_utf8(told.stdout).unwrap().lines().map(str::to_owned).collect();
            expected.retain(|name| name != "." && name != "..");
            let mut found: Vec<_> = matching(start, pattern).unwrap();
            let below = |path: &String| path.strip_prefix(start).unwrap().trim_start_matches('/').to_owned();
            found = found.iter().map(below).collect();
            expected.sort();
            found.sort();
            assert_eq!(found, expected, "{pattern}");
        }
        assert_eq!(matching(start, "**/c.txt"), None);
        assert!(matching(start, "@(a|b).txt").unwrap().len() >= 2, "more than a shell makes of it, and never less");
    }
}
