//! Uses of programs that print data that is usually secret. They are read-only, but the strict profile prompts for
//! them.

use crate::word::{Known, Word};

/// Programs, and their subcommands that print settings or objects that usually contain secrets.
const SUBCOMMANDS: &[(&str, &[&str])] = &[
    ("docker podman nerdctl", &["inspect", "compose config", "history"]),
    ("docker-compose podman-compose", &["config"]),
    ("kubectl oc", &["get secret", "describe secret", "config view --raw", "get configmap", "get cm", "describe cm"]),
    ("helm", &["get", "status"]),
    ("systemctl", &["show", "show-environment", "cat"]),
    ("launchctl", &["print", "export", "getenv"]),
    ("git", &["config"]),
    ("npm yarn pnpm bun", &["config", "get", "c"]),
    ("pip pip3 pipx uv poetry pdm", &["config"]),
    ("bundle bundler", &["env", "config"]),
    ("composer", &["config"]),
    ("conda mamba micromamba", &["config", "info"]),
    ("aws", &["configure"]),
    ("gcloud az", &["config", "account"]),
    ("heroku fly flyctl vercel netlify", &["config", "env", "secrets"]),
    ("gh glab", &["auth", "secret", "variable", "config"]),
    ("terraform tofu terragrunt", &["show", "output", "state", "console"]),
    ("pulumi", &["config", "stack"]),
    ("vault", &["kv", "read", "print"]),
    ("consul etcdctl", &["kv", "get"]),
    ("redis-cli valkey-cli", &["config", "get"]),
    ("go", &["env"]),
];

/// Programs with an expression language, and the words of this language that read the environment.
const LANGUAGES: &[(&str, &[&str])] = &[
    ("jq gojq jaq", &["env", "$ENV"]),
    ("yq", &["env", "strenv", "envsubst", "$ENV"]),
    ("awk gawk mawk nawk", &["ENVIRON"]),
];

/// Returns true if the program `name` prints data that is usually secret, with the words `rest`.
pub(super) fn prints(name: &str, rest: &[Word]) -> bool {
    rest.iter().any(is_of_environment) || prints_settings(name, rest) || reads_environment(name, rest)
}

/// Returns true for a word with an environment variable whose name suggests a secret.
fn is_of_environment(word: &Word) -> bool {
    word.may_be_secret() && word.known() == Known::Environment
}

fn prints_settings(name: &str, rest: &[Word]) -> bool {
    rows_of(SUBCOMMANDS, name).any(|subcommand| {
        let mut words = rest.iter();
        subcommand.split(' ').all(|wanted| words.any(|word| is_word(word.text(), wanted)))
    })
}

/// Returns true if `text` contains the word `wanted`: alone, in a list (`pods,secrets`), or before other text
/// (`secret/x`).
fn is_word(text: &str, wanted: &str) -> bool {
    let mut names = text.split([',', '/', ':']);
    names.any(|name| name == wanted || name.strip_suffix('s') == Some(wanted))
}

fn reads_environment(name: &str, rest: &[Word]) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut words = rows_of(LANGUAGES, name);
    words.any(|wanted| {
        let stands_in = |text: &str| {
            text.match_indices(wanted).any(|(at, found)| {
                let (before, behind) = (text.get(..at).unwrap_or_default(), text.get(at + found.len()..));
                // `.env` is a field.
                !before.ends_with(|c| is_letter(c) || c == '.') && !behind.unwrap_or_default().starts_with(is_letter)
            })
        };
        rest.iter().any(|word| stands_in(word.text()))
    })
}

fn rows_of(rows: &'static [(&str, &[&str])], name: &str) -> impl Iterator<Item = &'static str> {
    let is_named = move |names: &&str| names.split(' ').any(|one| one == name);
    let named: Vec<_> = rows.iter().filter(|(names, _)| is_named(names)).collect();
    named.into_iter().flat_map(|(_, words)| words.iter().copied())
}
