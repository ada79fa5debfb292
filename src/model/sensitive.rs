//! Names whose files are run, or obeyed, by other programs: whoever may write a directory may not write these in it.

use super::SanitizedPath;

/// Files and directories that are sensitive wherever they stand, compared without regard to ASCII case.
///
/// Version control (hooks and configuration run programs), agents and editors (configuration runs programs), shells
/// and tools (start-up files run by themselves), scheduled tasks, and where secrets are kept for programs to read.
pub(crate) const SENSITIVE_NAMES: [&str; 30] = [
    ".agents",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".claude",
    ".codex",
    ".cursor",
    ".devcontainer",
    ".env",
    ".envrc",
    ".gemini",
    ".git",
    ".gitconfig",
    ".gitmodules",
    ".gnupg",
    ".husky",
    ".idea",
    ".mcp.json",
    ".npmrc",
    ".profile",
    ".ssh",
    ".vscode",
    ".zlogin",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    "agents.toml",
    "credentials",
    "task.md",
];

/// Below a `.git` that somebody was given by name, these still need to be named themselves.
const BELOW_GIT: [&str; 5] = ["hooks", "config", "config.worktree", "commondir", "modules"];

/// The deepest part of `path` that is sensitive, if any is: writing there needs a right for that part or below it.
///
/// Says nothing about the disk. The path is taken to have no links.
pub(crate) fn sensitive_part(path: &SanitizedPath) -> Option<SanitizedPath> {
    let mut deepest = None;
    let (mut end, mut above) = (0, "");
    for name in path.as_str().split('/').skip(1) {
        end += name.len() + 1;
        let is_heartbeat = above.eq_ignore_ascii_case("heartbeat") && ends_with(name, ".md");
        if is_sensitive_name(name) || is_heartbeat || above.eq_ignore_ascii_case(".git") && is_one_of(name, &BELOW_GIT)
        {
            deepest = path.as_str().get(..end);
        }
        above = name;
    }
    // A part of a path is a path.
    deepest.and_then(|part| part.parse().ok())
}

/// Whether a file or directory of this name is sensitive wherever it stands.
pub(crate) fn is_sensitive_name(name: &str) -> bool {
    // Most names are none of these, and do not even begin like one.
    let could_be = |first: &u8| matches!(first, b'.' | b'a' | b'A' | b'c' | b'C' | b'i' | b'I' | b't' | b'T');
    let may_end_so = matches!(name.as_bytes().last(), Some(b'm' | b'M' | b'y' | b'Y'));
    if !name.as_bytes().first().is_some_and(could_be) && !may_end_so {
        return false;
    }
    let has_prefix = |prefix: &str| name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
    is_one_of(name, &SENSITIVE_NAMES)
        || has_prefix(".env.")
        || has_prefix("credentials.")
        || is_one_of(name, &["id_rsa", "id_ecdsa", "id_ed25519"])
        || [".pem", ".key"].iter().any(|end| ends_with(name, end))
}

fn is_one_of(name: &str, list: &[&str]) -> bool {
    list.iter().any(|other| name.eq_ignore_ascii_case(other))
}

fn ends_with(name: &str, end: &str) -> bool {
    let start = name.len().checked_sub(end.len());
    start.and_then(|start| name.get(start..)).is_some_and(|tail| tail.eq_ignore_ascii_case(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(path: &str) -> Option<String> {
        sensitive_part(&path.parse().unwrap()).map(String::from)
    }

    #[test]
    fn the_deepest_sensitive_part_counts_in_any_case() {
        assert_eq!(part("/w/src/main.rs"), None);
        assert_eq!(part("/w/.gitignore"), None);
        assert_eq!(part("/w/.GIT/index").as_deref(), Some("/w/.GIT"));
        assert_eq!(part("/w/.git/hooks/pre-commit").as_deref(), Some("/w/.git/hooks"));
        assert_eq!(part("/w/.env.local").as_deref(), Some("/w/.env.local"));
        assert_eq!(part("/w/credentials.json").as_deref(), Some("/w/credentials.json"));
        assert_eq!(part("/w/a/Server.PEM").as_deref(), Some("/w/a/Server.PEM"));
        assert_eq!(part("/t/cron/a/Task.md").as_deref(), Some("/t/cron/a/Task.md"));
        assert_eq!(part("/t/heartbeat/b.md").as_deref(), Some("/t/heartbeat/b.md"));
        assert_eq!(part("/t/heartbeat/b.txt"), None);
        assert_eq!(part("/"), None);
    }
}
