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
        if !part.contains(['*', '?', '[', '{', '(', '\\']) {
            paths.iter_mut().for_each(|path| *path = format!("{path}/{part}"));
            continue;
        }
        let names = Names::of(part)?;
        let mut next = Vec::new();
        for path in paths {
            let directory = if path.is_empty() { "/" } else { &path };
            // Some shells match the directory itself and the one above it with a pattern that starts with a dot.
            next.extend([".", ".."].into_iter().filter(|name| names.has(name)).map(|name| format!("{path}/{name}")));
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
    matcher: GlobMatcher,
    is_dotted: bool,
}

impl Names {
    /// Compiles one part of a pattern. Returns none for a form that shells and globs read differently.
    fn of(part: &str) -> Option<Names> {
        let has_odd_signs = part.contains(['{', '(', '\\', '}', ')', '|']);
        if has_odd_signs || ["[:", "[.", "[="].iter().any(|class| part.contains(class)) {
            return None;
        }
        let glob = GlobBuilder::new(part).literal_separator(true).build().ok()?;
        Some(Names { matcher: glob.compile_matcher(), is_dotted: part.starts_with('.') })
    }

    fn has(&self, name: &str) -> bool {
        // A hidden name is matched only by a pattern that starts with a dot.
        (self.is_dotted || !name.starts_with('.')) && self.matcher.is_match(name)
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
            found = found.iter().map(below).filter(|name| name != "." && name != "..").collect();
            expected.sort();
            found.sort();
            assert_eq!(found, expected, "{pattern}");
        }
        assert!(matching(start, ".*").unwrap().contains(&format!("{start}/..")), "as dash makes of it");
        for unknown in ["**/c.txt", "@(a|b).txt", "[[:alpha:]].txt", "[[=a=]].txt"] {
            assert_eq!(matching(start, unknown), None, "{unknown}");
        }
    }
}
