//! Tool calls: a name and an input object.

use serde_json::{Map, Value};

use crate::model::{Operation, SENSITIVE_NAMES};

use super::{
    answer::Classification,
    classifier::Classifier,
    tier::{Profile, Tier},
};

/// Names of tools that run a command line.
const RUNNING: &[&str] = &["bash", "exec", "shell"];
/// Names of tools that write a file.
const WRITING: &[&str] = &["write", "file_write"];
/// Names of tools that read a file.
const READING: &[&str] = &["read", "file_read"];

pub(super) fn classify(classifier: &Classifier, name: &str, input: &Value) -> Classification {
    match Call::of(name, input) {
        Call::Runs(command) => classifier.classify_with(command, &Call::besides(input)),
        Call::Writes(path) if is_sensitive(path) || is_guarded(path) => {
            Classification::plain(Tier::Dangerous, "writes to a sensitive path")
        }
        Call::Writes(_) => Classification::plain(Tier::Safe, "writes to a path that is not sensitive"),
        Call::Reads(path) => {
            let (tier, why) = reading(classifier.profile(), path);
            Classification::plain(tier, why)
        }
        Call::Unclear(Operation::Read, _) if classifier.profile() == Profile::Default => {
            Classification::plain(Tier::Safe, "reads only")
        }
        Call::Unclear(_, why) => Classification::plain(Tier::Dangerous, why),
        Call::Unknown => unlisted(classifier, input),
    }
}

/// It may be a shell under another name: then what destroys must not pass for less.
fn unlisted(classifier: &Classifier, input: &Value) -> Classification {
    match only_text(input, &["command", "input"]) {
        Ok(Some(command)) => {
            let found = classifier.classify(command);
            let destroys = found.tier == Tier::Destructive;
            Some(found).filter(|_| destroys).map(|found| found.at_least_dangerous(UNLISTED))
        }
        Ok(None) | Err(_) => None,
    }
    .unwrap_or_else(|| Classification::plain(Tier::Dangerous, UNLISTED))
}

const UNLISTED: &str = "a tool that is not on any list";

/// What a call of a tool does, as far as its name and input tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call<'v> {
    /// Runs this command line.
    Runs(&'v str),
    /// Writes this path.
    Writes(&'v str),
    /// Reads this path.
    Reads(&'v str),
    /// The operation is known and its object is not.
    Unclear(Operation, &'static str),
    /// A tool that is not on any list.
    Unknown,
}

impl<'v> Call<'v> {
    /// What a tool that runs a command line is told besides it, but for what does not change what runs.
    pub(crate) fn besides(input: &Value) -> Map<String, Value> {
        const ASIDE: &[&str] =
            &["command", "input", "description", "explanation", "timeout", "timeout_ms", "run_in_background"];
        let changes = |(key, value): &(&String, &Value)| !ASIDE.contains(&key.as_str()) && !value.is_null();
        let entries = input.as_object().into_iter().flatten();
        entries.filter(changes).map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    /// What a call of the tool `name` with `input` does.
    pub(crate) fn of(name: &str, input: &'v Value) -> Call<'v> {
        type Meant<'v> = (Operation, &'static [&'static str], fn(&'v str) -> Call<'v>);
        let (operation, keys, call): Meant<'v> = if RUNNING.contains(&name) {
            (Operation::Command, &["command", "input"], Call::Runs)
        } else if WRITING.contains(&name) {
            (Operation::Write, &["path", "file_path"], Call::Writes)
        } else if READING.contains(&name) {
            (Operation::Read, &["path", "file_path"], Call::Reads)
        } else {
            return Call::Unknown;
        };
        match only_text(input, keys) {
            Ok(Some(text)) if operation == Operation::Command || !text.trim().is_empty() => call(text),
            Ok(_) => Call::Unclear(operation, "the input does not say on what"),
            Err(why) => Call::Unclear(operation, why),
        }
    }
}

/// The tier of reading a file, and why.
pub(super) fn reading(profile: Profile, path: &str) -> (Tier, &'static str) {
    if profile == Profile::Strict && is_sensitive(path) {
        (Tier::Dangerous, "reads something that is usually secret")
    } else {
        (Tier::Safe, "reads only")
    }
}

/// The text under one of `keys`; an input that holds another kind of value, or two texts, says nothing.
fn only_text<'v>(input: &'v Value, keys: &[&str]) -> Result<Option<&'v str>, &'static str> {
    let mut found: Option<&str> = None;
    for key in keys {
        match (input.get(key), found) {
            (None | Some(Value::Null), _) => {}
            (Some(Value::String(text)), None) => found = Some(text),
            (Some(Value::String(text)), Some(before)) if before == text => {}
            (Some(Value::String(_)), Some(_)) => return Err("the input says two different things"),
            (Some(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)), _) => {
                return Err("the input holds something other than text");
            }
        }
    }
    Ok(found)
}

/// Files that usually hold secrets: by any component of the path, whatever the case.
pub(super) fn is_sensitive(path: &str) -> bool {
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
pub(super) fn is_guarded(path: &str) -> bool {
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
