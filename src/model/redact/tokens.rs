//! Secrets with a known form, at any place in a text.

/// The known prefixes of tokens, each with the least number of further letters, digits, `-`, `_` and `.`.
const FORMS: [(&str, usize); 33] = [
    ("AGE-SECRET-KEY-1", 16),
    ("AIza", 30),
    ("AKIA", 16),
    ("ASIA", 16),
    ("SG.", 32),
    ("dop_v1_", 16),
    ("ghp_", 16),
    ("gho_", 16),
    ("ghr_", 16),
    ("ghs_", 16),
    ("ghu_", 16),
    ("github_pat_", 16),
    ("gldt-", 16),
    ("glpat-", 16),
    ("glptt-", 16),
    ("hf_", 20),
    ("hvs.", 16),
    ("lin_api_", 16),
    ("npm_", 30),
    ("pypi-AgE", 16),
    ("rk_live_", 16),
    ("shpat_", 16),
    ("sk_live_", 16),
    ("sk_test_", 16),
    ("whsec_", 16),
    ("xapp-", 16),
    ("xoxa-", 10),
    ("xoxb-", 10),
    ("xoxe.", 10),
    ("xoxo-", 10),
    ("xoxp-", 10),
    ("xoxr-", 10),
    ("xoxs-", 10),
];

/// The length of the shortest form below.
const SHORTEST_FORM: usize = 15;

/// Returns the position in `run` at which a secret begins. `run` has only letters, digits, `-`, `_` and `.`. The secret
/// ends with the run.
pub(super) fn begins_in(run: &str) -> Option<usize> {
    let mut before = None;
    let longest_start = run.len().checked_sub(SHORTEST_FORM)?;
    for (at, c) in run.char_indices().take_while(|(at, _)| *at <= longest_start) {
        let rest = run.get(at..).unwrap_or_default();
        if !before.is_some_and(|c: char| c.is_ascii_alphanumeric()) && is_one(rest) {
            return Some(at);
        }
        before = Some(c);
    }
    None
}

fn is_one(text: &str) -> bool {
    let known = FORMS.iter().any(|(start, more)| text.starts_with(start) && text.len() >= start.len() + more);
    known || is_sk(text) || is_jwt(text)
}

/// Returns true for `sk-` followed by at least 16 characters with two digits, which no word has.
fn is_sk(text: &str) -> bool {
    text.strip_prefix("sk-")
        .is_some_and(|rest| rest.len() >= 16 && rest.bytes().take(64).filter(u8::is_ascii_digit).count() >= 2)
}

/// Returns true for the base64 form of `{"`, followed by at least one more part.
fn is_jwt(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("eyJ") else { return false };
    let head = rest.bytes().take(1024).position(|byte| byte == b'.');
    head.is_some_and(|head| head >= 8 && rest.len() >= head + 9)
}

/// Returns true if a word looks random.
pub(super) fn is_random(word: &str) -> bool {
    word.len() >= 16 && is_mixed(word, 3.0)
}

/// Returns true if a word looks like a token: it has a known form, or it is too long and mixed for the name of a
/// program.
pub(super) fn is_token(word: &str) -> bool {
    (word.len() >= 10 && is_mixed(word, 2.8)) || is_one(word)
}

/// Returns true if a word has at least two digits, two letters, and `least` bits of entropy per character.
fn is_mixed(word: &str, least: f64) -> bool {
    let (mut counts, mut total) = ([0_u32; 256], 0_u32);
    let (mut digits, mut letters) = (0, 0);
    for b in word.bytes().take(256) {
        if let Some(count) = counts.get_mut(usize::from(b)) {
            *count += 1;
        }
        total += 1;
        digits += u32::from(b.is_ascii_digit());
        letters += u32::from(b.is_ascii_alphabetic());
    }
    let share = |count: u32| f64::from(count) / f64::from(total);
    let bits: f64 = counts.iter().filter(|count| **count > 0).map(|count| -share(*count) * share(*count).log2()).sum();
    digits >= 2 && letters >= 2 && bits >= least
}

#[cfg(test)]
mod tests {
    use super::{FORMS, SHORTEST_FORM};

    #[test]
    fn no_form_is_shorter_than_the_shortest() {
        assert_eq!(FORMS.iter().map(|(start, more)| start.len() + more).min(), Some(SHORTEST_FORM));
        // `sk-` has 16 more characters. `eyJ` has 8 more in the head, and 9 after it.
        assert!(SHORTEST_FORM <= "sk-".len() + 16 && SHORTEST_FORM <= "eyJ".len() + 8 + 9);
    }
}
