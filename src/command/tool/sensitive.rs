//! Names of files that are secret, and of files that programs obey.

use crate::model::SENSITIVE_NAMES;

/// Files that usually hold secrets: by any component of the path, whatever the case.
pub(in super::super) fn is_sensitive(path: &str) -> bool {
    const NAMES: &[&str] = &[
        ".ssh",
        ".gnupg",
        ".aws",
        ".kube",
        ".netrc",
        ".pgpass",
        ".npmrc",
        ".pypirc",
        ".docker",
        ".git-credentials",
        ".htpasswd",
        "shadow",
        "gshadow",
        "sudoers",
        "id_rsa",
        "id_dsa",
        "id_ecdsa",
        "id_ed25519",
        "authorized_keys",
        ".password-store",
        "keychains",
        ".vault-token",
        "master.key",
    ];
    const ENDS: &[&str] = &[".pem", ".key", ".p12", ".pfx", ".kdbx", ".jks", ".keystore", ".ppk"];
    path.split(['/', '\\']).any(|part| {
        let part = part.trim_end_matches(['.', ' ']).to_ascii_lowercase();
        NAMES.contains(&part.as_str())
            || part == ".env"
            || part.starts_with(".env.")
            || part.starts_with(".env_")
            || part == ".envrc"
            || part.ends_with(".env")
            || part.contains("credentials")
            || ENDS.iter().any(|end| part.ends_with(end))
    })
}

/// Files that programs run or obey: shell start-up files, hooks, the system's own configuration.
pub(in super::super) fn is_guarded(path: &str) -> bool {
    const NAMES: &[&str] = &[
        ".bashrc",
        ".bash_profile",
        ".bash_login",
        ".bash_logout",
        ".profile",
        ".zshrc",
        ".zshenv",
        ".zprofile",
        ".zlogin",
        ".kshrc",
        ".cshrc",
        ".inputrc",
        ".gitconfig",
        ".gitmodules",
        ".hooks",
        "agents.toml",
        ".vimrc",
        ".tmux.conf",
        "crontab",
        "launchagents",
        "launchdaemons",
        ".claude",
        ".codex",
        ".cursor",
        ".vscode",
        ".idea",
        "authorized_keys",
        ".config",
    ];
    let lower = path.to_ascii_lowercase();
    let system = [
        "/etc/",
        "/bin/",
        "/sbin/",
        "/boot/",
        "/usr/",
        "/lib/",
        "/lib64/",
        "/dev/",
        "/proc/",
        "/sys/",
        "/root/",
        "/var/spool/",
        "/system/",
        "/library/",
    ];
    let parts: Vec<&str> = lower.split(['/', '\\']).filter(|part| !matches!(*part, "" | ".")).collect();
    let hooks = parts.contains(&".git");
    let climbs = parts.contains(&"..") || path.starts_with('~');
    let hidden_control = path.chars().any(char::is_control);
    hooks
        || climbs
        || hidden_control
        || system.iter().any(|start| lower.starts_with(start))
        || parts.iter().any(|part| NAMES.contains(part) || SENSITIVE_NAMES.contains(part))
}
