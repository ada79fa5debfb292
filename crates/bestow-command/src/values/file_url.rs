//! `file:` URLs, which programs open like paths.

use crate::values::percent_decoded;

/// Returns the path in a `file:` URL, as most programs read it. Returns none for a text that is no such URL.
pub fn path_in_file_url(text: &str) -> Option<String> {
    let rest = behind_scheme(text)?;
    let path = match rest.strip_prefix("//") {
        Some(rest) => behind_authority(rest).unwrap_or(rest),
        None => rest,
    };
    Some(percent_decoded(path).into_owned())
}

/// Returns every path that some program opens for a `file:` URL: with and without the name of a machine in front of the
/// path, with escapes that are decoded or not, and with or without what follows `?`, `#` or `!`.
pub(crate) fn paths_in_file_url(text: &str) -> Vec<String> {
    let Some(rest) = behind_scheme(text) else { return Vec::new() };
    let plain = rest.strip_prefix("//").unwrap_or(rest);
    let mut paths: Vec<String> = Vec::new();
    for path in [Some(plain), behind_authority(plain)].into_iter().flatten() {
        let parts = ['?', '#', '!'].map(|end| path.split(end).next().unwrap_or(path));
        for part in parts.into_iter().chain([path]) {
            for written in [part.to_owned(), percent_decoded(part).into_owned()] {
                if !written.is_empty() && !paths.contains(&written) {
                    paths.push(written);
                }
            }
        }
    }
    paths
}

/// Returns the text behind the scheme. Other schemes may precede it, as in `git+file:` and `jar:file:`.
fn behind_scheme(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_once(':')?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+.-".contains(c));
    let last = scheme.rsplit('+').next().unwrap_or(scheme);
    match is_scheme {
        false => None,
        // `aws` reads bytes behind `fileb:`.
        true if ["file", "fileb"].iter().any(|known| known.eq_ignore_ascii_case(last)) => Some(rest),
        true => behind_scheme(rest),
    }
}

fn behind_authority(text: &str) -> Option<&str> {
    text.find('/').and_then(|at| text.get(at..))
}

#[cfg(test)]
mod tests {
    use super::{path_in_file_url, paths_in_file_url};

    #[test]
    fn a_file_url_has_every_path_that_some_program_opens() {
        assert_eq!(paths_in_file_url("file:///etc/passwd"), ["/etc/passwd"]);
        assert_eq!(paths_in_file_url("FILE:/etc/passwd"), ["/etc/passwd"]);
        assert_eq!(paths_in_file_url("file:.env?mode=ro"), [".env", ".env?mode=ro"]);
        assert_eq!(paths_in_file_url("fileb://.env"), [".env"]);
        assert_eq!(paths_in_file_url("git+file://host/a%62"), ["host/a%62", "host/ab", "/a%62", "/ab"]);
        assert_eq!(paths_in_file_url("jar:file:/a.zip!/x"), ["/a.zip!/x", "/a.zip"]);
        for other in ["https://host/file:/x", "http:file", "a file:/x", "profile:x", "file", ":file:x", ""] {
            assert!(paths_in_file_url(other).is_empty(), "{other}");
        }
    }

    #[test]
    fn most_programs_read_one_path() {
        assert_eq!(path_in_file_url("file://localhost/a%20b").as_deref(), Some("/a b"));
        assert_eq!(path_in_file_url("file:a").as_deref(), Some("a"));
        assert_eq!(path_in_file_url("/a"), None);
    }
}
