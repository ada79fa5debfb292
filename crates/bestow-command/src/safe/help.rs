//! Subcommands that only print their help: `docker run --help`, `git log -h`.
//!
//! The option must directly follow the subcommand: after an operand it may be meant for another program. Plugins and
//! aliases are subcommands too. Therefore the records list only names that users cannot redefine.

use crate::{programs::Program, word::Word};

/// Returns true if the words after the program only ask for help.
pub(super) fn asks(program: &Program, rest: &[Word]) -> bool {
    let listed = |list: &str, word: &str| list.split_ascii_whitespace().any(|known| known == word);
    let Some((question, subcommand)) = rest.split_last() else { return false };
    let helps = match question.text() {
        "--help" => true,
        "-help" => program.one_dash,
        "-h" => program.short_help,
        _ => false,
    };
    if !helps || subcommand.len() > 2 || !rest.iter().all(Word::is_written) {
        return false;
    }
    let subcommand: Vec<&str> = subcommand.iter().map(Word::text).collect();
    match subcommand.as_slice() {
        [subcommand] => listed(program.help, subcommand),
        [group, inner] => {
            listed(program.help_groups, group)
                && inner.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
                && !inner.starts_with('-')
        }
        _ => false,
    }
}
