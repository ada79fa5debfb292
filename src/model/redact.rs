//! Secrets in texts that are kept: taken out, with their hash left in, so that it can be told later which one it was.

use std::sync::Arc;

/// How keys and tokens begin that are known by their beginning.
const BEGINNINGS: [&str; 18] = [
    "AIza",
    "AKIA",
    "ASIA",
    "eyJ",
    "ghp_",
    "gho_",
    "ghr_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "hf_",
    "npm_",
    "pypi-",
    "sk-",
    "sk_live_",
    "xoxb-",
    "xoxp-",
];

/// What is shorter is a word that happens to begin so.
const SHORTEST: usize = 16;

/// What stands before a secret: `password=…`, `token: …`.
const NAMES: [&str; 10] =
    ["access_key", "api_key", "api-key", "apikey", "authorization", "passwd", "password", "pwd", "secret", "token"];

/// `text` without the secrets that can be told by their form. What has no such form stays: this is a net, not a wall.
pub(crate) fn redacted(text: &str) -> Arc<str> {
    let mut out = String::new();
    let mut kept = 0;
    let mut name_before = false;
    for (start, word) in words(text) {
        let secret = secret_in(word, name_before);
        name_before = names_a_secret(word);
        let Some(secret) = secret else { continue };
        let at = start + word.len() - secret.len();
        out.push_str(text.get(kept..at).unwrap_or_default());
        out.push_str(&instead(secret));
        kept = at + secret.len();
    }
    if kept == 0 {
        return text.into();
    }
    out.push_str(text.get(kept..).unwrap_or_default());
    out.into()
}

fn instead(secret: &str) -> String {
    let hash = hmac_sha256::Hash::hash(secret.as_bytes());
    let hash: String = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("[secret, sha256 {hash}]")
}

/// The pieces between white space, quotation marks and brackets, with where they begin.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '(' | ')' | '<' | '>' | ',' | ';' | '&');
    let mut from = 0;
    text.split_inclusive(ends).map(move |piece| {
        let start = from;
        from += piece.len();
        (start, piece.trim_end_matches(ends))
    })
}

/// The end of `word` that is a secret.
fn secret_in(word: &str, name_before: bool) -> Option<&str> {
    let long = |value: &&str| value.len() >= SHORTEST;
    if let Some((name, value)) = word.split_once(['=', ':']).filter(|(_, value)| !value.is_empty()) {
        if ends_like_a_name(name) && !value.starts_with(['/', '[']) && value.len() >= 4 {
            return Some(value);
        }
        if let Some(rest) = value.strip_prefix("//") {
            // scheme://user:password@host
            let before_host = rest.split('/').next().and_then(|place| place.rsplit_once('@'));
            return before_host.filter(|(person, _)| person.contains(':')).map(|_| value);
        }
        if is_known(value) {
            return Some(value).filter(long);
        }
    }
    let follows_a_name = name_before && word.len() >= SHORTEST && word.bytes().any(|b| b.is_ascii_digit());
    Some(word).filter(|word| follows_a_name || is_known(word)).filter(long)
}

fn is_known(word: &str) -> bool {
    BEGINNINGS.iter().any(|begin| word.starts_with(begin))
}

fn ends_like_a_name(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    NAMES.iter().any(|name| word.ends_with(name))
}

/// `Bearer …`, `--password …`, `token: …`.
fn names_a_secret(word: &str) -> bool {
    let word = word.trim_end_matches([':', '=']);
    word.eq_ignore_ascii_case("bearer") || ends_like_a_name(word)
}

#[cfg(test)]
mod tests;
