//! The names of the commands that shells have built in.

/// The builtins of shells. They run in the shell of the line, and most of them can change it.
const BUILTINS: &[&str] = &[
    ".",
    ":",
    "[",
    "alias",
    "autoload",
    "bg",
    "bind",
    "bindkey",
    "break",
    "builtin",
    "caller",
    "cd",
    "chdir",
    "command",
    "compgen",
    "complete",
    "compopt",
    "continue",
    "coproc",
    "declare",
    "dirs",
    "disable",
    "disown",
    "echo",
    "emulate",
    "enable",
    "eval",
    "exec",
    "exit",
    "export",
    "false",
    "fc",
    "fg",
    "float",
    "functions",
    "getopts",
    "hash",
    "help",
    "history",
    "integer",
    "jobs",
    "kill",
    "let",
    "limit",
    "local",
    "logout",
    "mapfile",
    "nocorrect",
    "noglob",
    "popd",
    "print",
    "printf",
    "pushd",
    "pwd",
    "read",
    "readarray",
    "readonly",
    "rehash",
    "return",
    "sched",
    "set",
    "setopt",
    "shift",
    "shopt",
    "source",
    "suspend",
    "test",
    "times",
    "trap",
    "true",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unfunction",
    "unhash",
    "unlimit",
    "unset",
    "unsetopt",
    "vared",
    "wait",
    "whence",
    "zle",
    "zmodload",
    "zparseopts",
    "zstyle",
];

/// Returns true for a command of the shell itself. It is not looked up in the directories of `PATH`.
pub fn is_builtin(name: &str) -> bool {
    BUILTINS.contains(&name)
}

/// The builtins that set no variable. `printf` sets one with `-v`.
const PLAIN: &[&str] = &[":", "[", "echo", "exit", "false", "kill", "printf", "pwd", "return", "test", "true"];

/// Returns true if a command sets no variable of the shell. `operand` is its first operand, if that is written out.
pub(crate) fn sets_no_variable(name: &str, operand: Option<&str>) -> bool {
    let sets = name == "printf" && operand.is_none_or(|text| text.starts_with('-'));
    !sets && (PLAIN.contains(&name) || !is_builtin(name))
}

/// Returns true for a builtin that may end the commands behind it, or a setting with which an error does.
pub(crate) fn may_end_commands(name: &str) -> bool {
    matches!(name, "break" | "continue" | "return" | "set" | "setopt" | "shopt")
}
