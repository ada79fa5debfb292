//! Programs that can lead to a destructive command.

use std::sync::LazyLock;

use foldhash::HashSet;

use crate::{
    destroy,
    evaluator::{
        inline_code, runners,
        shell::{SHELLS, TEXT_RUNNERS},
        sql_client, started, wrappers,
    },
};

/// Programs that are not destructive by themselves but can lead to a destructive command.
static LEADING: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    RUNNERS.iter().copied().chain(inline_code::names()).chain(sql_client::names()).chain(runners::names()).collect()
});

/// Programs that run a command from their words in every use.
static RUNNERS: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| [SHELLS, TEXT_RUNNERS].into_iter().flatten().copied().chain(wrappers::names()).collect());

/// Returns true if a program runs a command from its words in every use.
pub(crate) fn runs_its_words(name: &str) -> bool {
    RUNNERS.contains(name)
}

/// Returns true if a word begins as the names of programs that can be destructive do. Options, for example, do not.
pub(super) fn begins_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// Returns true if a program can be destructive in any use.
pub(super) fn may_destroy(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._+-".contains(&byte);
    begins_name(name)
        && name.bytes().all(plain)
        && (destroy::knows(name)
            || LEADING.contains(name)
            || inline_code::is_interpreter(name)
            || started::may_run(name))
}
