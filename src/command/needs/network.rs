//! Programs that need the network, and the hosts that their words name.

use super::exact;
use crate::{command::walk::Arg, model::Named};

/// Programs that do nothing without it.
const ALWAYS: &[&str] = &[
    "aria2c",
    "aws",
    "az",
    "curl",
    "dig",
    "doctl",
    "elinks",
    "flyctl",
    "fping",
    "ftp",
    "gcloud",
    "gh",
    "glab",
    "gsutil",
    "heroku",
    "host",
    "http",
    "https",
    "httpie",
    "links",
    "lynx",
    "mosh",
    "mtr",
    "nc",
    "ncat",
    "netcat",
    "netlify",
    "nmap",
    "nslookup",
    "ping",
    "ping6",
    "rclone",
    "s3cmd",
    "scp",
    "sftp",
    "ssh",
    "telnet",
    "tracepath",
    "traceroute",
    "vercel",
    "w3m",
    "wget",
    "whois",
    "xh",
    "xhs",
];

/// Programs that need it for some of what they do, by their subcommand.
const SOMETIMES: &[(&str, &[&str])] = &[
    ("apt", &["install", "update", "upgrade", "full-upgrade", "dist-upgrade", "download", "source", "build-dep"]),
    ("apt-get", &["install", "update", "upgrade", "dist-upgrade", "download", "source", "build-dep"]),
    ("brew", &["install", "update", "upgrade", "fetch", "tap", "search"]),
    ("bun", &["add", "install", "i", "update", "create", "x", "publish"]),
    ("bundle", &["install", "update", "outdated"]),
    ("cargo", &["install", "update", "fetch", "search", "publish", "add", "login", "yank", "owner", "info"]),
    ("composer", &["install", "update", "require", "create-project"]),
    ("conda", &["install", "update", "create", "search"]),
    ("dnf", &["install", "update", "upgrade", "search", "download"]),
    ("docker", &["pull", "push", "login", "search"]),
    ("gem", &["install", "update", "fetch", "push", "search"]),
    ("git", &["clone", "fetch", "pull", "push", "ls-remote", "remote-update", "send-email", "request-pull"]),
    ("go", &["get", "install", "download"]),
    (
        "npm",
        &[
            "install",
            "i",
            "ci",
            "add",
            "update",
            "up",
            "upgrade",
            "publish",
            "view",
            "info",
            "search",
            "audit",
            "outdated",
            "login",
            "whoami",
            "exec",
            "create",
            "init",
            "ping",
            "dist-tag",
            "deprecate",
            "unpublish",
        ],
    ),
    ("pip", &["install", "download", "search", "index", "wheel"]),
    ("pip3", &["install", "download", "search", "index", "wheel"]),
    ("pipx", &["install", "upgrade", "run", "inject"]),
    ("pnpm", &["install", "i", "add", "update", "up", "publish", "dlx", "create", "fetch", "outdated", "audit"]),
    ("podman", &["pull", "push", "login", "search"]),
    ("poetry", &["install", "add", "update", "publish", "lock"]),
    ("rustup", &["update", "install", "toolchain", "component", "target"]),
    ("uv", &["add", "sync", "lock", "pip", "tool"]),
    ("yarn", &["install", "add", "upgrade", "up", "publish", "dlx", "create", "npm", "info", "audit", "outdated"]),
    ("yum", &["install", "update", "upgrade", "search"]),
];

/// Options of `git`, `docker` and their kin that stand before the subcommand and take a value.
const BEFORE: &[&str] =
    &["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--context", "-H", "--host", "--prefix"];

/// The network and the hosts that `name` needs with these words.
pub(super) fn of(name: &str, rest: &[Arg]) -> Vec<Named> {
    if !needs(name, rest) {
        return Vec::new();
    }
    let texts: Vec<_> = rest.iter().filter_map(exact).collect();
    let hosts = texts.iter().filter_map(|text| host_in(name, text));
    let mut named: Vec<_> = hosts.map(|host| Named::Host(host.into())).collect();
    // A host is no more than a name in the words: what is reached besides, nobody knows.
    if named.is_empty() {
        named.push(Named::Network);
    }
    named
}

fn needs(name: &str, rest: &[Arg]) -> bool {
    let is_help =
        |arg: &Arg| matches!(arg.text.as_str(), "--version" | "--help" | "-V" | "-h" | "--manual" | "version" | "help");
    let only_help = rest.len() == 1 && rest.iter().all(is_help);
    if only_help {
        return false;
    }
    if ALWAYS.contains(&name) {
        return !rest.is_empty();
    }
    if name == "rsync" {
        return rest.iter().any(|arg| !arg.text.starts_with('-') && (is_remote(&arg.text) || arg.text.contains("://")));
    }
    let Some((_, words)) = SOMETIMES.iter().find(|(program, _)| *program == name) else { return false };
    let Some(first) = subcommand(rest) else { return false };
    let second = || rest.iter().any(|arg| matches!(arg.text.as_str(), "update" | "add" | "download"));
    let nested = match (name, first) {
        ("git", "remote") => rest.iter().any(|arg| matches!(arg.text.as_str(), "update" | "show" | "prune")),
        ("git", "submodule") | ("go", "mod") => second(),
        _ => false,
    };
    nested || words.contains(&first)
}

/// The first word that is no option, nor the value of one.
fn subcommand(rest: &[Arg]) -> Option<&str> {
    let mut words = rest.iter().map(|arg| arg.text.as_str());
    while let Some(word) = words.next() {
        if BEFORE.contains(&word) {
            words.next();
        } else if !word.starts_with(['-', '+']) {
            return Some(word);
        }
    }
    None
}

/// The host that a word names: of a URL, of `user@host`, of `host:path`.
fn host_in(name: &str, text: &str) -> Option<String> {
    let rest = match text.split_once("://") {
        Some((scheme, _)) if scheme.eq_ignore_ascii_case("file") => return None,
        Some((scheme, rest)) if scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+.-".contains(c)) => rest,
        Some(_) => return None,
        None if text.starts_with('-') => return None,
        None if matches!(name, "scp" | "rsync" | "git") => is_remote(text).then_some(text)?,
        None if matches!(name, "ssh" | "sftp" | "mosh") && text.contains('@') => text,
        None => return None,
    };
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or(rest);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = if host.starts_with('[') {
        host.split_once(']').map_or(host, |(host, _)| host).trim_start_matches('[')
    } else {
        host.split(':').next().unwrap_or(host)
    };
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let is_name =
        !host.is_empty() && !host.chars().any(|c| c.is_whitespace() || c.is_control() || "{}[]*$".contains(c));
    is_name.then_some(host)
}

/// Whether a word names a path on another machine.
fn is_remote(text: &str) -> bool {
    text.split_once(':').is_some_and(|(host, _)| !host.is_empty() && !host.contains('/'))
}
