//! The export of a profile to the formats of other programs that confine commands.

use std::str::FromStr;

use serde_json::{Value, json};

use super::{
    Guard, Profile, bubblewrap,
    mounts::{Mount, Mounts},
    read_only_paths::{ReadOnlyPaths, first_missing},
};
use crate::model::{Escaped, SanitizedPath};

/// The format of an exported profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// The arguments of bubblewrap as one JSON array. Landlock and seccomp are missing, because the helper adds them.
    /// bubblewrap leaves an empty directory at each path that it keeps from being created.
    Bubblewrap,
    /// The settings of `srt` (`@anthropic-ai/sandbox-runtime`) as JSON.
    Srt,
    /// A permission profile of `codex` as TOML.
    Codex,
    /// The JSON format of bestow, which expresses the whole profile.
    Json,
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(text: &str) -> Result<Format, UnknownFormat> {
        match text {
            "bwrap" => Ok(Format::Bubblewrap),
            "srt" => Ok(Format::Srt),
            "codex" => Ok(Format::Codex),
            "json" => Ok(Format::Json),
            _ => Err(UnknownFormat),
        }
    }
}

/// The error for a text that names no format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the formats are bwrap, srt, codex and json")]
pub struct UnknownFormat;

/// A part of the profile that the format cannot express. The export then fails instead of writing weaker restrictions.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CannotSay(pub(super) String);

impl Profile {
    /// Exports the profile to the format of another program. Equal profiles give equal text.
    ///
    /// The export looks up sensitive names on the disk as it is now. It also names missing ones where the format can
    /// name paths that do not exist.
    ///
    /// # Errors
    ///
    /// Fails if the format cannot express a part of the profile.
    pub fn export(&self, format: Format) -> Result<String, CannotSay> {
        let read_only = self.read_only_now()?;
        match format {
            Format::Bubblewrap => self.to_bubblewrap(&read_only),
            Format::Srt => self.to_srt(&read_only),
            Format::Codex => self.to_codex(&read_only),
            Format::Json => Ok(pretty(&self.to_json(&read_only))),
        }
    }

    fn read_only_now(&self) -> Result<Vec<SanitizedPath>, CannotSay> {
        let (unwritten, _) = self.unwritten();
        let sensitive = if self.guard == Guard::Nothing {
            Vec::new()
        } else {
            ReadOnlyPaths::existing(self).map_err(|why| CannotSay(why.to_string()))?
        };
        Ok(sorted(unwritten.into_iter().chain(sensitive)))
    }

    fn to_bubblewrap(&self, read_only: &[SanitizedPath]) -> Result<String, CannotSay> {
        if self.events {
            return Err(CannotSay("bubblewrap cannot pass the socket of `@events` and block other sockets".into()));
        }
        if self.network && !self.domains.is_empty() {
            return Err(CannotSay("bubblewrap cannot limit a network to some hosts".into()));
        }
        let absent: Vec<_> = ReadOnlyPaths::missing(self)
            .into_iter()
            .chain(self.absent_inside())
            .filter_map(|path| first_missing(&path))
            .collect();
        let mut mounts = Mounts::of(self);
        let one =
            |paths: &[SanitizedPath], mount| paths.iter().map(move |path| (path.as_path().to_owned(), mount)).collect();
        let hidden = |path: &SanitizedPath| match path.as_path().is_dir() {
            true => Mount::HiddenDirectory,
            false => Mount::HiddenFile,
        };
        let mut all: Vec<_> = one(read_only, Mount::ReadOnly);
        all.extend(one(&absent, Mount::Absent) as Vec<_>);
        all.extend(self.hidden.iter().map(|path| (path.as_path().to_owned(), hidden(path))));
        all.into_iter().for_each(|(path, mount)| mounts.insert(path, mount));
        mounts.pin(self);
        let words = bubblewrap::words(self, bubblewrap::Starts::Command, mounts.iter());
        let words: Option<Vec<&str>> = words.iter().map(|word| word.to_str()).collect();
        Ok(pretty(&json!(words.ok_or_else(|| CannotSay("a word is not UTF-8".into()))?)))
    }

    fn to_srt(&self, read_only: &[SanitizedPath]) -> Result<String, CannotSay> {
        if self.network && self.domains.is_empty() {
            return Err(CannotSay(
                "srt allows a network by a list of domains only, and `@network` has none: name the hosts".into(),
            ));
        }
        let domains = self.domains.iter().filter(|_| self.network);
        if self.events {
            return Err(CannotSay(
                "srt ignores `allowUnixSockets` on Linux, so `@events` would reach nothing or everything".into(),
            ));
        }
        self.refuse_patterns("srt")?;
        let guarded = read_only.iter().cloned().chain(ReadOnlyPaths::missing(self));
        Ok(pretty(&json!({
            "network": { "allowedDomains": domains.collect::<Vec<_>>(), "deniedDomains": [] },
            "filesystem": {
                "denyRead": self.hidden,
                "allowWrite": self.write.keys().collect::<Vec<_>>(),
                "denyWrite": sorted(guarded.chain(self.hidden.iter().cloned()).chain(self.absent_inside())),
            },
        })))
    }

    fn to_codex(&self, read_only: &[SanitizedPath]) -> Result<String, CannotSay> {
        if self.network && !self.domains.is_empty() {
            return Err(CannotSay(
                "codex limits a network to some hosts only with a proxy, and a profile cannot switch it on".into(),
            ));
        }
        if self.events {
            return Err(CannotSay("codex cannot express the socket of `@events`".into()));
        }
        let mut lines = vec![
            "# In a configuration without `sandbox_mode` and `[sandbox_workspace_write]`: codex takes these or a \
             profile."
                .to_owned(),
            "default_permissions = \"agent\"".to_owned(),
            "[permissions.agent.filesystem]".to_owned(),
            "\":root\" = \"read\"".to_owned(),
        ];
        let mut rules: std::collections::BTreeMap<SanitizedPath, &str> =
            self.write.keys().map(|path| (path.clone(), "write")).collect();
        let read_only = read_only.iter().cloned().chain(ReadOnlyPaths::missing(self)).chain(self.absent_inside());
        rules.extend(read_only.map(|path| (path, "read")));
        rules.extend(self.hidden.iter().map(|path| (path.clone(), "deny")));
        lines.extend(rules.iter().map(|(path, access)| format!("{} = \"{access}\"", toml_text(path.as_str()))));
        lines.extend(["[permissions.agent.network]".to_owned(), format!("enabled = {}", self.network), String::new()]);
        Ok(lines.join("\n"))
    }

    fn to_json(&self, read_only: &[SanitizedPath]) -> Value {
        json!({
            "mode": if self.write.is_empty() { "read_only" } else { "workspace_write" },
            "cwd": self.cwd,
            "read_roots": ["/"],
            "write_roots": self.write.keys().collect::<Vec<_>>(),
            "read_only": sorted(
                read_only.iter().cloned().chain(ReadOnlyPaths::missing(self)).chain(self.absent_inside()),
            ),
            "hidden": self.hidden,
            "network": self.network,
            "domains": self.domains,
            "events": self.events,
            "process_limits": self.limits.named(),
            "time_limit_ms": self.limits.time_ms(),
        })
    }

    fn absent_inside(&self) -> impl Iterator<Item = SanitizedPath> + '_ {
        let absent = self.absent.iter().filter(|path| self.root_of(path).is_some()).cloned();
        absent.chain(self.unwritten().1)
    }

    /// Fails if a path contains a character that `program` may read as a part of a pattern.
    fn refuse_patterns(&self, program: &str) -> Result<(), CannotSay> {
        let all = self.write.keys().chain(&self.hidden).chain(&self.absent).chain(&self.unwritten);
        match all.into_iter().find(|path| path.as_str().contains(['*', '?', '[', ']', '{', '}'])) {
            None => Ok(()),
            Some(path) => Err(CannotSay(format!("{program} may read `{}` as a pattern", Escaped(path.as_str())))),
        }
    }
}

fn sorted(paths: impl Iterator<Item = SanitizedPath>) -> Vec<SanitizedPath> {
    paths.collect::<std::collections::BTreeSet<_>>().into_iter().collect()
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

/// Formats a text as a basic string of TOML.
fn toml_text(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}
