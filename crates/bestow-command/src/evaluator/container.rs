//! Host directories that are mounted in a container. A command that destroys the mount destroys the host directory.

use crate::{
    critical_paths,
    evaluator::Evaluation,
    values::base_name,
    verdict::Verdict,
    word::{Word, is_gap},
};

/// The limit of whole directories in one container. A command with more is taken to destroy one of them.
const MAX_MOUNTS: usize = 8;

/// A mounted directory or volume, and its path inside the container.
#[derive(Debug)]
struct Mount {
    source: String,
    inside: String,
}

/// Returns true if a program starts containers.
fn starts_containers(name: &str) -> bool {
    matches!(name, "docker" | "podman" | "nerdctl" | "docker-compose" | "podman-compose" | "finch" | "ctr")
}

impl Evaluation<'_, '_> {
    /// Searches for destruction of a mount that is a whole root, home, working directory or volume.
    pub(super) fn search_mounts(&mut self, name: &str, rest: &[Word]) -> Verdict {
        if !starts_containers(base_name(name)) {
            return Verdict::safe("");
        }
        let (mounts, start) = mounts(rest);
        let whole: Vec<&Mount> = mounts.iter().filter(|mount| self.is_whole(&mount.source)).collect();
        if whole.len() > MAX_MOUNTS {
            return Verdict::destructive("mounts more whole directories than are followed");
        }
        let mut found = Verdict::safe("");
        for mount in whole {
            let words = rest.iter().skip(start).map(|word| word.with_text(outside(word.text(), mount)));
            let words: Vec<Word> = words.collect();
            if words.iter().zip(rest.iter().skip(start)).any(|(word, before)| word.text() != before.text()) {
                found = found.or_stricter(self.search_words(&words));
            }
        }
        found
    }

    fn is_whole(&self, source: &str) -> bool {
        self.damage_places().any(|place| critical_paths::is_doomed(source, &place))
    }
}

/// Returns the mounts that the options request, and the index after the last of these options.
fn mounts(rest: &[Word]) -> (Vec<Mount>, usize) {
    let (mut mounts, mut start) = (Vec::new(), 0);
    let mut words = rest.iter().enumerate();
    while let Some((index, word)) = words.next() {
        let (option, joined) = match word.text().split_once('=') {
            Some((option, value)) if option.starts_with("--") => (option, Some(value)),
            _ if word.text().starts_with("-v") && word.text().len() > 2 => ("-v", word.text().get(2..)),
            _ => (word.text(), None),
        };
        let read: fn(&str) -> Option<Mount> = match option {
            "-v" | "--volume" => volume,
            "--mount" => mount,
            _ => continue,
        };
        let (value, end) = match joined {
            Some(value) => (Some(value), index + 1),
            None => (words.next().map(|(_, word)| word.text()), index + 2),
        };
        if let Some(mount) = value.and_then(read) {
            mounts.push(mount);
            start = end;
        }
    }
    (mounts, start)
}

/// Parses `source:inside[:options]`.
fn volume(value: &str) -> Option<Mount> {
    let mut parts = value.split(':');
    let (source, inside) = (parts.next()?, parts.next()?);
    Some(Mount { source: source_of(source), inside: inside.trim_end_matches('/').to_owned() })
}

/// Parses `type=bind,source=…,target=…`.
fn mount(value: &str) -> Option<Mount> {
    let field = |names: &[&str]| {
        value.split(',').filter_map(|field| field.split_once('=')).find(|(name, _)| names.contains(name))
    };
    let (_, source) = field(&["source", "src"])?;
    let (_, inside) = field(&["target", "dst", "destination"])?;
    Some(Mount { source: source_of(source), inside: inside.trim_end_matches('/').to_owned() })
}

/// Returns the host path of a source. A named volume becomes a path in the directory of all volumes.
fn source_of(source: &str) -> String {
    let named = source.starts_with(|c: char| c.is_ascii_alphanumeric()) && !source.contains('/');
    if named { format!("/var/lib/{source}") } else { source.trim_end_matches('/').to_owned() + trailing(source) }
}

/// Returns the slash that a source keeps: only the root directory needs one.
fn trailing(source: &str) -> &str {
    if source.trim_end_matches('/').is_empty() { "/" } else { "" }
}

/// Translates a word to the host: every path inside the mount is replaced by its path at the source.
fn outside(text: &str, mount: &Mount) -> String {
    if mount.inside.len() < 2 || !text.contains(&mount.inside) {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(&mount.inside) {
        let (before, found) = rest.split_at(at);
        let behind = found.get(mount.inside.len()..).unwrap_or_default();
        let begins = !before.ends_with(|c: char| c.is_ascii_alphanumeric() || "/._-".contains(c) || is_gap(c))
            && (!before.is_empty() || out.is_empty());
        let ends = !behind.starts_with(|c: char| c.is_ascii_alphanumeric() || "._-".contains(c));
        out.push_str(before);
        let source = if behind.starts_with('/') { mount.source.trim_end_matches('/') } else { &mount.source };
        out.push_str(if begins && ends { source } else { &mount.inside });
        rest = behind;
    }
    out + rest
}
