//! Declarations of tools: the operation of a tool, and the positions of its objects in its input.

use std::{collections::BTreeMap, fmt, sync::Arc};

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{self, SeqAccess, Visitor, value::SeqAccessDeserializer},
};

use super::{Field, Operation, Permission, Shell, ToolName};

/// The most tools that one engine can declare.
const MAX_TOOLS: usize = 1024;

/// The most fields of one kind, and the most permissions, of one tool.
const MAX_FIELDS: usize = 32;

/// The declaration of a tool: its operation, the positions of its objects in its input, and the permissions that it
/// needs.
///
/// ```
/// use bestow_command::values::{Operation, Tool, Tools};
/// let deploy = Tool::new("deploy".parse()?, Operation::Tool).needing("@tool:deploy".parse()?);
/// let rename = Tool::new("rename".parse()?, Operation::Write).path("from".parse()?).path("to".parse()?);
/// let tools = Tools::new([deploy, rename])?;
/// assert_eq!(tools.iter().count(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    #[doc(hidden)]
    pub name: ToolName,
    #[doc(hidden)]
    pub operation: Operation,
    #[serde(default, deserialize_with = "one_or_more", skip_serializing_if = "Vec::is_empty")]
    #[doc(hidden)]
    pub path: Vec<Field>,
    #[serde(default, deserialize_with = "one_or_more", skip_serializing_if = "Vec::is_empty")]
    #[doc(hidden)]
    pub reads: Vec<Field>,
    #[serde(default, deserialize_with = "one_or_more", skip_serializing_if = "Vec::is_empty")]
    #[doc(hidden)]
    pub writes: Vec<Field>,
    #[serde(default, deserialize_with = "one_or_more", skip_serializing_if = "Vec::is_empty")]
    #[doc(hidden)]
    pub patch: Vec<Field>,
    #[serde(default, deserialize_with = "one_or_more", skip_serializing_if = "Vec::is_empty")]
    #[doc(hidden)]
    pub glob: Vec<Field>,
    #[serde(default, deserialize_with = "one_or_more", skip_serializing_if = "Vec::is_empty")]
    #[doc(hidden)]
    pub command: Vec<Field>,
    #[serde(default, deserialize_with = "one_or_more", skip_serializing_if = "Vec::is_empty")]
    #[doc(hidden)]
    pub host: Vec<Field>,
    #[serde(default, deserialize_with = "one_or_more", skip_serializing_if = "Vec::is_empty")]
    #[doc(hidden)]
    pub content: Vec<Field>,
    /// The fields with the directory in which a command runs.
    #[serde(default, deserialize_with = "one_or_more", skip_serializing_if = "Vec::is_empty")]
    #[doc(hidden)]
    pub directory: Vec<Field>,
    /// The shell that runs the command line.
    #[serde(default, skip_serializing_if = "is_unknown")]
    #[doc(hidden)]
    pub shell: Shell,
    /// The fields that are neither path, host nor command.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[doc(hidden)]
    pub ignored: Vec<Arc<str>>,
    /// True if a path includes everything below it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[doc(hidden)]
    pub tree: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[doc(hidden)]
    pub needs: Vec<Permission>,
}

/// Deserializes one field, or a list of fields, as in `path = "from"` and `path = ["from", "to"]`.
fn one_or_more<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Field>, D::Error> {
    struct OneOrMore;

    impl<'de> Visitor<'de> for OneOrMore {
        type Value = Vec<Field>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a field, or a list of fields")
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<Vec<Field>, E> {
            text.parse().map(|field| vec![field]).map_err(E::custom)
        }

        fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Vec<Field>, A::Error> {
            Vec::deserialize(SeqAccessDeserializer::new(list))
        }
    }

    deserializer.deserialize_any(OneOrMore)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_unknown(shell: &Shell) -> bool {
    *shell == Shell::Unknown
}

/// The reason why a tool declaration is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidTool {
    /// The operation needs a field that the declaration does not name.
    Missing(ToolName, &'static str),
    /// The declaration names a field that the operation does not use.
    Unused(ToolName, &'static str),
    /// `events` is the engine's own operation.
    Operation(ToolName),
    /// Only one field may contain a command line.
    SeveralCommands(ToolName),
    /// The declaration has more than 32 fields of one kind, or more than 32 permissions.
    TooMany(ToolName),
    /// A tool is declared twice.
    Twice(ToolName),
    /// The declarations name more than 1024 tools.
    TooManyTools,
    /// The name stands for calls whose effects are not known ([`ToolName::is_unclear`]).
    Unclear(ToolName),
}

impl fmt::Display for InvalidTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InvalidTool::Missing(tool, field) => {
                write!(f, "the tool `{tool}` needs `{field}`: the field that contains its object")
            }
            InvalidTool::Unused(tool, field) => write!(f, "the operation of the tool `{tool}` has no `{field}`"),
            InvalidTool::Operation(tool) => write!(f, "the tool `{tool}` cannot have the operation `events`"),
            InvalidTool::SeveralCommands(tool) => write!(f, "the tool `{tool}` has its command line in one field only"),
            InvalidTool::TooMany(tool) => write!(f, "the tool `{tool}` has more than {MAX_FIELDS} fields of one kind"),
            InvalidTool::Twice(tool) => write!(f, "the tool `{tool}` is declared twice"),
            InvalidTool::Unclear(tool) => write!(
                f,
                "nothing can be declared about `{tool}`: it stands for all calls of this kind whose effects an agent \
                 does not state (ACP); a rule with `tool = \"{tool}\"` can allow them"
            ),
            InvalidTool::TooManyTools => write!(f, "more than {MAX_TOOLS} tools are declared"),
        }
    }
}

impl std::error::Error for InvalidTool {}

impl Tool {
    /// Creates the declaration of a tool for `operation`, without any field.
    pub fn new(name: ToolName, operation: Operation) -> Tool {
        Tool {
            name,
            operation,
            path: Vec::new(),
            reads: Vec::new(),
            writes: Vec::new(),
            patch: Vec::new(),
            glob: Vec::new(),
            command: Vec::new(),
            host: Vec::new(),
            content: Vec::new(),
            directory: Vec::new(),
            shell: Shell::Unknown,
            ignored: Vec::new(),
            tree: false,
            needs: Vec::new(),
        }
    }

    /// Adds a field with a path on which the tool does its operation.
    #[must_use]
    pub fn path(mut self, field: Field) -> Tool {
        self.path.push(field);
        self
    }

    /// Adds a field with a path that the tool also reads.
    #[must_use]
    pub fn reads(mut self, field: Field) -> Tool {
        self.reads.push(field);
        self
    }

    /// Adds a field with a path that the tool also writes.
    #[must_use]
    pub fn writes(mut self, field: Field) -> Tool {
        self.writes.push(field);
        self
    }

    /// Adds a field with a patch. The patch names the files that the tool writes (`*** Update File: path`).
    #[must_use]
    pub fn patch(mut self, field: Field) -> Tool {
        self.patch.push(field);
        self
    }

    /// Adds a field with a glob. The tool reads the directory before the first wildcard.
    #[must_use]
    pub fn glob(mut self, field: Field) -> Tool {
        self.glob.push(field);
        self
    }

    /// Sets the field with the command line: one text, or a list of words.
    #[must_use]
    pub fn command(mut self, field: Field) -> Tool {
        self.command.push(field);
        self
    }

    /// Adds a field with a host or URL.
    #[must_use]
    pub fn host(mut self, field: Field) -> Tool {
        self.host.push(field);
        self
    }

    /// Adds a field with the text that the tool writes or sends.
    #[must_use]
    pub fn content(mut self, field: Field) -> Tool {
        self.content.push(field);
        self
    }

    /// Adds a field with the directory in which a command runs. Without one, the usual names count: `cwd`, `workdir`,
    /// `working_dir`, `working_directory`, `dir_path`, `directory`.
    #[must_use]
    pub fn directory(mut self, field: Field) -> Tool {
        self.directory.push(field);
        self
    }

    /// Sets the shell that runs the command line. Without it, a line is safe only if it is in bash, dash and zsh.
    #[must_use]
    pub fn in_shell(self, shell: Shell) -> Tool {
        Tool { shell, ..self }
    }

    /// Adds a field that is neither path, host nor command, and does not change what a command does, such as a
    /// description. It may be inside of an object or list, as in `edits[].old_string`.
    #[must_use]
    pub fn ignoring(mut self, field: impl Into<Arc<str>>) -> Tool {
        self.ignored.push(field.into());
        self
    }

    /// Declares that a path includes everything below it.
    #[must_use]
    pub fn below(self) -> Tool {
        Tool { tree: true, ..self }
    }

    /// Adds a permission that every call needs.
    #[must_use]
    pub fn needing(mut self, permission: Permission) -> Tool {
        self.needs.push(permission);
        self
    }

    /// Returns the name of the tool.
    pub fn name(&self) -> &ToolName {
        &self.name
    }

    /// Returns the operation of the tool.
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// Returns the permissions that every call needs besides those of its operation.
    pub fn needs(&self) -> &[Permission] {
        &self.needs
    }

    /// Returns the fields by kind, with the names of the kinds in files. Kinds without a field are left out.
    pub fn fields(&self) -> impl Iterator<Item = (&'static str, &[Field])> {
        let Tool { path, reads, writes, patch, glob, command, host, content, directory, .. } = self;
        let kinds = [
            ("path", path),
            ("reads", reads),
            ("writes", writes),
            ("patch", patch),
            ("glob", glob),
            ("command", command),
            ("host", host),
            ("content", content),
            ("directory", directory),
        ];
        kinds.into_iter().filter(|(_, fields)| !fields.is_empty()).map(|(kind, fields)| (kind, fields.as_slice()))
    }

    /// Returns true if the field `name` of an input is content. With none, the question is about an input that is
    /// itself a text.
    #[doc(hidden)]
    pub fn is_content(&self, name: Option<&str>) -> bool {
        self.content.iter().any(|field| match name {
            Some(name) => field.first_names().any(|first| first == name),
            None => field.is_whole(),
        })
    }

    fn validate(&self) -> Result<(), InvalidTool> {
        let name = || self.name.clone();
        if self.name.is_unclear() {
            return Err(InvalidTool::Unclear(name()));
        }
        let has = |kind: &str| self.fields().any(|(named, _)| named == kind);
        let (needed, useful): (&[&'static str], &[&str]) = match self.operation {
            Operation::Read => (&["path", "glob"], &["path", "glob", "reads"]),
            Operation::Write => (&["path", "patch"], &["path", "patch", "reads", "writes", "content"]),
            Operation::Exec => (&["path"], &["path", "reads", "writes", "content"]),
            Operation::Command => (&["command"], &["command", "reads", "writes", "host", "content", "directory"]),
            Operation::Network => (&[], &["host", "reads", "writes", "content"]),
            Operation::Tool => (&[], &["reads", "writes", "host", "content"]),
            Operation::Events => return Err(InvalidTool::Operation(name())),
        };
        if !needed.is_empty() && !needed.iter().any(|kind| has(kind)) {
            return Err(InvalidTool::Missing(name(), needed.first().copied().unwrap_or("path")));
        }
        if let Some((unused, _)) = self.fields().find(|(kind, _)| !useful.contains(kind)) {
            return Err(InvalidTool::Unused(name(), unused));
        }
        if self.shell != Shell::Unknown && self.operation != Operation::Command {
            return Err(InvalidTool::Unused(name(), "shell"));
        }
        if self.command.len() > 1 {
            return Err(InvalidTool::SeveralCommands(name()));
        }
        let is_long = |length: usize| length > MAX_FIELDS;
        let long = self.fields().any(|(_, fields)| is_long(fields.len()));
        if long || is_long(self.needs.len()) || is_long(self.ignored.len()) {
            return Err(InvalidTool::TooMany(name()));
        }
        Ok(())
    }

    /// Returns true if `other` allows each call that this declaration allows. Both must be equal, except that this one
    /// may need more permissions.
    fn is_as_strict_as(&self, other: &Tool) -> bool {
        let same = Tool { needs: other.needs.clone(), ..self.clone() } == *other;
        same && other.needs.iter().all(|need| self.needs.contains(need))
    }
}

/// Formats the declaration on one line, as in "`move_file`: fs.write, path `source`, `destination`".
impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.name, self.operation)?;
        let list = |all: Vec<String>| all.iter().map(|one| format!("`{one}`")).collect::<Vec<_>>().join(", ");
        for (kind, fields) in self.fields() {
            write!(f, ", {kind} {}", list(fields.iter().map(ToString::to_string).collect()))?;
        }
        if self.tree {
            f.write_str(", with everything below")?;
        }
        if !self.needs.is_empty() {
            write!(f, ", needs {}", list(self.needs.iter().map(ToString::to_string).collect()))?;
        }
        Ok(())
    }
}

/// The declared tools, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Tool>", into = "Vec<Tool>")]
pub struct Tools(BTreeMap<ToolName, Arc<Tool>>);

impl Tools {
    /// Collects declarations. Each must be valid, and no tool may be declared twice.
    ///
    /// # Errors
    ///
    /// Fails with the first invalid declaration.
    pub fn new(tools: impl IntoIterator<Item = Tool>) -> Result<Tools, InvalidTool> {
        let mut all = BTreeMap::new();
        for tool in tools {
            tool.validate()?;
            let name = tool.name.clone();
            if all.insert(name.clone(), Arc::new(tool)).is_some() {
                return Err(InvalidTool::Twice(name));
            }
            if all.len() > MAX_TOOLS {
                return Err(InvalidTool::TooManyTools);
            }
        }
        Ok(Tools(all))
    }

    /// Returns the declaration of the tool `name`.
    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.0.get(name).map(|tool| &**tool)
    }

    /// Returns the shared declaration of the tool `name`.
    #[doc(hidden)]
    pub fn shared(&self, name: &str) -> Option<&Arc<Tool>> {
        self.0.get(name)
    }

    /// Returns the size of the declarations as JSON, in bytes.
    #[doc(hidden)]
    pub fn size(&self) -> usize {
        // Serialization does not fail, because keys are texts and values are plain. A failure counts as too large.
        serde_json::to_string(self).map_or(usize::MAX, |text| text.len())
    }

    /// Iterates over all declarations, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Tool> {
        self.0.values().map(|tool| &**tool)
    }

    /// Returns true if no tool is declared.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns these declarations and those of `other`. For equal names, `other` wins.
    #[must_use]
    pub fn and(&self, other: &Tools) -> Tools {
        Tools(self.0.iter().chain(&other.0).map(|(name, tool)| (name.clone(), Arc::clone(tool))).collect())
    }

    /// Lists the changes from these declarations to `new`, one sentence each.
    #[doc(hidden)]
    pub fn changes(&self, new: &Tools) -> Vec<String> {
        let gone = self.iter().filter(|tool| new.get(tool.name.as_str()).is_none());
        let other = new.iter().filter(|tool| self.get(tool.name.as_str()) != Some(*tool));
        let gone = gone.map(|tool| format!("no longer declared: the tool `{}`", tool.name));
        gone.chain(other.map(|tool| format!("the tool {tool}"))).collect()
    }

    /// Returns the declarations of `new` that allow nothing new, and these declarations for all other names. A name
    /// that is no longer declared keeps its declaration, because a built-in tool of this name could be laxer.
    #[doc(hidden)]
    pub fn narrowed(&self, new: &Tools) -> Tools {
        let of_now = |tool: &&Tool| self.get(tool.name.as_str()).is_some_and(|now| tool.is_as_strict_as(now));
        let stricter = new.iter().filter(of_now);
        let of_new = |tool: &&Tool| new.get(tool.name.as_str()).is_some_and(|new| new.is_as_strict_as(tool));
        let kept = self.iter().filter(|tool| !of_new(tool));
        Tools(stricter.chain(kept).map(|tool| (tool.name.clone(), Arc::new(tool.clone()))).collect())
    }
}

impl TryFrom<Vec<Tool>> for Tools {
    type Error = InvalidTool;

    fn try_from(tools: Vec<Tool>) -> Result<Self, InvalidTool> {
        Tools::new(tools)
    }
}

impl From<Tools> for Vec<Tool> {
    fn from(tools: Tools) -> Vec<Tool> {
        tools.0.into_values().map(Arc::unwrap_or_clone).collect()
    }
}
