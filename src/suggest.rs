//! Suggestions for misspelled words.

/// The longest word for which a suggestion is made, in bytes.
const LONGEST: usize = 80;

/// Returns the word of `known` that `word` is probably a misspelling of. Letter case, `_`, `-` and spaces do not
/// count. One slip is accepted for each four letters, and at least one. A word that is itself known has no suggestion,
/// because it is wrong for another reason.
#[must_use]
pub fn closest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    if word.len() > LONGEST {
        return None;
    }
    let written = folded(word);
    let slips = |known: &'k str| (strsim::osa_distance(&written, &folded(known)), known);
    let near = known.into_iter().map(slips).filter(|(slips, known)| is_near(*slips, known));
    near.min().map(|(_, known)| known).filter(|known| *known != word)
}

/// Returns the help for a text that is close to one of `known`.
#[cfg(feature = "config")]
pub(crate) fn did_you_mean<'k>(text: &str, known: impl IntoIterator<Item = &'k str>) -> Option<String> {
    closest(text, known).map(|word| format!("did you mean `{word}`?"))
}

fn is_near(slips: usize, known: &str) -> bool {
    slips <= (known.len() / 4).max(1) && slips < known.len()
}

fn folded(word: &str) -> String {
    word.replace(['_', '-', ' '], "").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn a_slip_finds_the_nearest_word() {
        let known = ["permission", "permissions", "reason", "@write", "on_request", "path", "a"];
        for (word, meant) in [
            ("permision", Some("permission")),
            ("permisions", Some("permissions")),
            ("raeson", Some("reason")),
            ("REASON", Some("reason")),
            ("@wrte", Some("@write")),
            ("on-request", Some("on_request")),
            ("paths", Some("path")),
            ("path", None),
            ("region", None),
            ("b", None),
            ("", None),
        ] {
            assert_eq!(closest(word, known), meant, "{word}");
        }
        assert_eq!(closest(&"reason".repeat(20), known), None);
    }
}
