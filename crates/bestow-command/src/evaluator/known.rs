//! The names that the evaluator knows.

use crate::{
    destroy,
    evaluator::{Traits, inline_code, leading, runners, sql_client, wrappers},
    safe,
};

/// Returns true if an interpreter is given a file or a module, without options before it that could be code.
fn runs_a_file(rest: &[String]) -> bool {
    match rest {
        [module, name, ..] if module == "-m" => !name.starts_with('-'),
        [file, ..] => !file.starts_with(['-', '+']),
        [] => false,
    }
}

/// Builtins that are in no table, because nothing that they do is safe or destructive by itself.
const BUILTINS: &[&str] = &[
    ":", ".", "[", "bg", "bind", "builtin", "caller", "complete", "compopt", "coproc", "disown", "enable", "eval",
    "exec", "exit", "fg", "logout", "return", "source", "suspend", "trap",
];

/// Returns true if some list or table contains the program or builtin `name`.
pub(crate) fn is_known(name: &str) -> bool {
    safe::knows(name) || destroy::knows(name) || leading::may_destroy(name) || BUILTINS.contains(&name)
}

/// Returns true if a program runs a text or another program from its words. No decision about such a form may be saved.
pub(crate) fn runs_text(name: &str, rest: &[String]) -> bool {
    let inline = |option: &&String| inline_code::gives_code(name, option);
    let elsewhere = matches!(
        name,
        "eval"
            | "source"
            | "."
            | "trap"
            | "alias"
            | "su"
            | "ssh"
            | "sudo"
            | "tmux"
            | "screen"
            | "at"
            | "batch"
            | "expect"
    );
    let traits = Traits::of(name);
    traits.has(Traits::SHELL)
        || traits.has(Traits::WRAPS) && wrappers::is_wrapper(name)
        || elsewhere
        || runners::is_runner_of(name, rest)
        || traits.has(Traits::TAKES_STATEMENTS) && sql_client::names().any(|client| client == name)
        || inline_code::takes_code_as_words(name)
        || traits.has(Traits::TAKES_CODE)
            && inline_code::is_interpreter(name)
            && (!runs_a_file(rest) || rest.iter().any(|option| inline(&option)))
}
