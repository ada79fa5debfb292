//! The forms of tokens, by the services that give them out.

/// The characters of a token after its prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Body {
    /// At least this many letters, digits, `-`, `_` and `.`.
    Any(usize),
    /// At least this many hexadecimal digits at the start.
    Hex(usize),
}
use Body::{Any, Hex};

/// The prefixes of tokens. The comments name the services.
pub(super) const FORMS: [(&str, Body); 94] = [
    // age.
    ("AGE-SECRET-KEY-1", Any(16)),
    // Airtable, Atlassian, Bitbucket.
    ("ATATT3", Any(30)),
    ("ATBB", Any(28)),
    // Anthropic, Groq, Perplexity, Replicate and xAI. `sk-` has a function of its own.
    ("gsk_", Any(32)),
    ("pplx-", Any(32)),
    ("r8_", Any(30)),
    ("xai-", Any(32)),
    // Amazon.
    ("AKIA", Any(16)),
    ("ASIA", Any(16)),
    // Cloudflare.
    ("cfat_", Any(32)),
    ("cfut_", Any(32)),
    ("cfk_", Any(32)),
    // CircleCI, Contentful, Databricks, DigitalOcean, Docker, Doppler, Dynatrace.
    ("CCIPAT_", Any(20)),
    ("CFPAT-", Any(30)),
    ("dapi", Hex(32)),
    ("dop_v1_", Any(16)),
    ("doo_v1_", Any(16)),
    ("dor_v1_", Any(16)),
    ("dckr_pat_", Any(20)),
    ("dckr_oat_", Any(20)),
    ("dp.st.", Any(30)),
    ("dp.pt.", Any(30)),
    ("dt0c01.", Any(30)),
    // Figma, Fly.
    ("figd_", Any(30)),
    ("fo1_", Any(30)),
    ("fm2_", Any(30)),
    // GitHub.
    ("ghp_", Any(16)),
    ("gho_", Any(16)),
    ("ghr_", Any(16)),
    ("ghs_", Any(16)),
    ("ghu_", Any(16)),
    ("github_pat_", Any(16)),
    // GitLab.
    ("gldt-", Any(16)),
    ("glpat-", Any(16)),
    ("glptt-", Any(16)),
    ("glagent-", Any(16)),
    ("glcbt-", Any(16)),
    ("glffct-", Any(16)),
    ("glft-", Any(16)),
    ("glimt-", Any(16)),
    ("gloas-", Any(16)),
    ("glrt-", Any(16)),
    ("glsoat-", Any(16)),
    // Google.
    ("AIza", Any(30)),
    ("GOCSPX-", Any(20)),
    ("ya29.", Any(30)),
    // Grafana, Heroku, Hugging Face, Linear.
    ("glsa_", Any(30)),
    ("glc_", Any(30)),
    ("HRKU-", Any(30)),
    ("hf_", Any(20)),
    ("lin_api_", Any(16)),
    // HashiCorp.
    ("hvs.", Any(16)),
    ("hvb.", Any(16)),
    ("hvr.", Any(16)),
    // Mailgun, Netlify, New Relic, Notion, npm.
    ("key-", Hex(32)),
    ("nfp_", Any(30)),
    ("NRAK-", Any(20)),
    ("ntn_", Any(30)),
    ("npm_", Any(30)),
    // PlanetScale, Postman, Pulumi, PyPI.
    ("pscale_tkn_", Any(20)),
    ("pscale_pw_", Any(20)),
    ("PMAK-", Any(30)),
    ("pul-", Hex(32)),
    ("pypi-AgE", Any(16)),
    // RubyGems, SendGrid, Sentry.
    ("rubygems_", Hex(32)),
    ("SG.", Any(32)),
    ("sntrys_", Any(30)),
    ("sntryu_", Any(30)),
    // Shopify.
    ("shpat_", Any(16)),
    ("shpca_", Any(16)),
    ("shppa_", Any(16)),
    ("shpss_", Any(16)),
    // Slack.
    ("xapp-", Any(16)),
    ("xoxa-", Any(10)),
    ("xoxb-", Any(10)),
    ("xoxc-", Any(10)),
    ("xoxd-", Any(10)),
    ("xoxe.", Any(10)),
    ("xoxe-", Any(10)),
    ("xoxo-", Any(10)),
    ("xoxp-", Any(10)),
    ("xoxr-", Any(10)),
    ("xoxs-", Any(10)),
    // Square, Stripe.
    ("sq0atp-", Any(20)),
    ("sq0csp-", Any(20)),
    ("rk_live_", Any(16)),
    ("rk_test_", Any(16)),
    ("sk_live_", Any(16)),
    ("sk_test_", Any(16)),
    ("whsec_", Any(16)),
    // Supabase.
    ("sbp_", Any(32)),
    ("sb_secret_", Any(20)),
    // Twilio.
    ("SK", Hex(32)),
    ("AC", Hex(32)),
];

/// The length of the shortest form.
pub(super) const SHORTEST_FORM: usize = 15;

/// Returns true if `text` begins with a token of one of the forms.
pub(super) fn has_form(text: &str) -> bool {
    FORMS.iter().any(|(start, body)| match (text.strip_prefix(start), body) {
        (None, _) => false,
        (Some(rest), Any(least)) => rest.len() >= *least,
        (Some(rest), Hex(least)) => {
            is_hex(rest, *least) && rest.as_bytes().get(*least).is_none_or(|byte| !byte.is_ascii_hexdigit())
        }
    })
}

/// Returns true for a token of bestow: `bestow_`, the digits of an id, `_`, and the digits of the secret.
pub(super) fn is_of_bestow(text: &str) -> bool {
    let parts = text.strip_prefix("bestow_").and_then(|rest| rest.split_once('_'));
    parts.is_some_and(|(id, secret)| is_hex(id, id.len()) && is_hex(secret, 32))
}

/// Returns true for a token of a Discord bot: its id and a time in base64, and a signature.
pub(super) fn is_of_discord(text: &str) -> bool {
    let mut parts = text.split('.');
    let [Some(id), Some(time), Some(signature), None] = [parts.next(), parts.next(), parts.next(), parts.next()] else {
        return false;
    };
    (23..=28).contains(&id.len())
        && (6..=7).contains(&time.len())
        && (27..=45).contains(&signature.len())
        && id.starts_with(['M', 'N', 'O'])
}

/// Returns true for the id of a Telegram bot, as it is before the `:` in its token.
pub(super) fn is_telegram_id(text: &str) -> bool {
    let digits = text.strip_prefix("bot").unwrap_or(text);
    (8..=10).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// The length of a secret access key of Amazon, and of an API token of Cloudflare without a prefix.
pub(super) const KEY_LENGTH: usize = 40;

/// Returns true for a key of [`KEY_LENGTH`] characters that nobody wrote by hand. The kinds of neighbouring characters
/// differ in most places, in contrast to words and numbers that are joined.
pub(super) fn is_random_key(text: &str) -> bool {
    let kind = |byte: u8| match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    };
    let count = |wanted: usize| text.bytes().filter(|byte| kind(*byte) == wanted).count();
    let changes = text.bytes().zip(text.bytes().skip(1)).filter(|(one, next)| kind(*one) != kind(*next)).count();
    text.len() == KEY_LENGTH && changes >= 16 && count(0) >= 6 && count(1) >= 6 && count(3) <= 6
}

fn is_hex(text: &str, least: usize) -> bool {
    text.len() >= least && text.bytes().take(least).all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
