//! The tools of well-known programs. `docs/tools.md` names the source of each row.

use std::{collections::BTreeMap, sync::LazyLock};

use crate::values::{Field, Operation, Tool, ToolName};

/// One tool of a well-known program.
#[derive(Debug)]
struct BuiltIn {
    /// The programs that have the tool.
    of: &'static str,
    name: &'static str,
    /// The names of MCP servers with a tool of this name, as in `mcp__filesystem__read_file`.
    servers: &'static [&'static str],
    /// True if the bare tool name is enough.
    bare: bool,
    operation: Operation,
    /// The kind and the name of each field.
    fields: &'static [(&'static str, &'static str)],
    /// The fields that do not change the effect of a command.
    ignored: &'static [&'static str],
    tree: bool,
}

/// The usual names of the reference file-system server.
const FILES: &[&str] = &["filesystem"];

/// The usual names of servers that run commands.
const SHELLS: &[&str] = &[
    "shell",
    "commands",
    "mcp-shell-server",
    "mcp-server-commands",
    "shell-mcp-server",
    "desktop-commander",
    "desktop_commander",
];

const ASIDE: &[&str] = &["description", "explanation", "timeout", "timeout_ms", "run_in_background"];

const fn reads(of: &'static str, name: &'static str, fields: &'static [(&'static str, &'static str)]) -> BuiltIn {
    BuiltIn { of, name, servers: &[], bare: true, operation: Operation::Read, fields, ignored: &[], tree: false }
}

const fn searches(of: &'static str, name: &'static str, fields: &'static [(&'static str, &'static str)]) -> BuiltIn {
    BuiltIn { tree: true, ..reads(of, name, fields) }
}

const fn writes(of: &'static str, name: &'static str, fields: &'static [(&'static str, &'static str)]) -> BuiltIn {
    BuiltIn { operation: Operation::Write, ..reads(of, name, fields) }
}

const fn reaches(of: &'static str, name: &'static str, fields: &'static [(&'static str, &'static str)]) -> BuiltIn {
    BuiltIn { operation: Operation::Network, ..reads(of, name, fields) }
}

const fn runs(
    of: &'static str,
    name: &'static str,
    fields: &'static [(&'static str, &'static str)],
    ignored: &'static [&'static str],
) -> BuiltIn {
    BuiltIn { operation: Operation::Command, ignored, ..reads(of, name, fields) }
}

const fn of_files(row: BuiltIn) -> BuiltIn {
    BuiltIn { servers: FILES, ..row }
}

const fn of_shells(row: BuiltIn) -> BuiltIn {
    BuiltIn { servers: SHELLS, ..row }
}

/// All rows. If several programs use a tool name, its row lists the fields of all of them as names of one value.
/// Contradictory values make the input invalid.
#[rustfmt::skip]
const ROWS: &[BuiltIn] = &[
    // sources/003, "Tool classification", with the spellings of OpenCode, Codex and Copilot CLI.
    runs("003, OpenCode, Copilot CLI", "bash", &[("command", "command|input")], ASIDE),
    runs("003", "exec", &[("command", "command|input")], ASIDE),
    runs("003, Codex", "shell", &[("command", "command|command[]|input")], ASIDE),
    writes("003, OpenCode", "write", &[("path", "path|file_path|filePath"), ("content", "content?")]),
    writes("003", "file_write", &[("path", "path|file_path"), ("content", "content?")]),
    reads("003, OpenCode", "read", &[("path", "path|file_path|filePath")]),
    reads("003", "file_read", &[("path", "path|file_path")]),
    // Claude Code.
    runs("Claude Code", "Bash", &[("command", "command")], &["description", "timeout", "run_in_background"]),
    reads("Claude Code", "Read", &[("path", "file_path")]),
    writes("Claude Code", "Write", &[("path", "file_path"), ("content", "content?")]),
    writes("Claude Code", "Edit", &[("path", "file_path"), ("content", "new_string?")]),
    writes("Claude Code", "MultiEdit", &[("path", "file_path"), ("content", "edits[].new_string?")]),
    writes("Claude Code", "NotebookEdit", &[("path", "notebook_path"), ("content", "new_source?")]),
    reads("Claude Code", "NotebookRead", &[("path", "notebook_path")]),
    reads("Claude Code", "Glob", &[("path", "path?"), ("glob", "pattern")]),
    searches("Claude Code", "Grep", &[("path", "path?"), ("glob", "glob?")]),
    reads("Claude Code", "LS", &[("path", "path")]),
    reaches("Claude Code", "WebFetch", &[("host", "url")]),
    reaches("Claude Code", "WebSearch", &[]),
    // Codex CLI.
    runs("Codex", "shell_command", &[("command", "command")], &["timeout_ms", "justification"]),
    runs("Codex", "exec_command", &[("command", "cmd")],
        &["yield_time_ms", "max_output_tokens", "tty", "justification"]),
    runs("Codex", "write_stdin", &[("command", "chars")], &["yield_time_ms", "max_output_tokens"]),
    writes("Codex, OpenCode", "apply_patch", &[("patch", "input|patchText|patch|.")]),
    reads("Codex", "view_image", &[("path", "path")]),
    reads("Codex", "list_dir", &[("path", "dir_path")]),
    // Gemini CLI.
    runs("Gemini CLI", "run_shell_command", &[("command", "command")], &["description", "is_background"]),
    of_files(reads("Gemini CLI, MCP file system", "read_file", &[("path", "path|file_path|absolute_path")])),
    of_files(writes(
        "Gemini CLI, MCP file system",
        "write_file",
        &[("path", "path|file_path"), ("content", "content?")],
    )),
    writes("Gemini CLI", "replace", &[("path", "file_path"), ("content", "new_string?")]),
    of_files(reads("Gemini CLI, MCP file system", "list_directory", &[("path", "path|dir_path")])),
    searches("Gemini CLI", "search_file_content", &[("path", "path|dir_path?"), ("glob", "include?")]),
    searches("Gemini CLI", "grep_search", &[("path", "path|dir_path?"), ("glob", "include_pattern?")]),
    searches("Gemini CLI", "read_many_files", &[("glob", "include[]|paths[]")]),
    reaches("Gemini CLI, Copilot CLI", "web_fetch", &[("host", "url?")]),
    reaches("Gemini CLI", "google_web_search", &[]),
    // Gemini CLI, OpenCode and Copilot CLI.
    reads("Gemini CLI, OpenCode, Copilot CLI", "glob", &[("path", "path|dir_path?"), ("glob", "pattern")]),
    searches("OpenCode, Copilot CLI", "grep", &[("path", "path?"), ("glob", "include|glob?")]),
    // OpenCode.
    writes("OpenCode, Copilot CLI", "edit", &[("path", "path|file_path|filePath"), ("content", "newString|new_str?")]),
    reads("OpenCode", "list", &[("path", "path?")]),
    reaches("OpenCode", "webfetch", &[("host", "url")]),
    // GitHub Copilot CLI.
    reads("Copilot CLI", "view", &[("path", "path")]),
    writes("Copilot CLI", "create", &[("path", "path"), ("content", "file_text?")]),
    // The MCP file-system server.
    of_files(reads("MCP file system", "read_text_file", &[("path", "path")])),
    of_files(reads("MCP file system", "read_media_file", &[("path", "path")])),
    of_files(reads("MCP file system", "read_multiple_files", &[("path", "paths[]")])),
    of_files(writes("MCP file system", "edit_file", &[("path", "path"), ("content", "edits[].newText?")])),
    of_files(writes("MCP file system", "create_directory", &[("path", "path")])),
    of_files(reads("MCP file system", "list_directory_with_sizes", &[("path", "path")])),
    of_files(reads("MCP file system", "directory_tree", &[("path", "path")])),
    of_files(writes("MCP file system", "move_file", &[("path", "source"), ("path", "destination")])),
    of_files(reads("MCP file system", "search_files", &[("path", "path"), ("glob", "pattern?")])),
    of_files(reads("MCP file system", "get_file_info", &[("path", "path")])),
    // MCP servers that run commands.
    of_shells(runs("mcp-server-commands", "run_process", &[("command", "command_line|argv[]")], &["timeout_ms"])),
    BuiltIn { bare: false, ..of_shells(runs("MCP shell servers", "run_command", &[("command", "command")], &[])) },
    of_shells(runs("MCP shell servers", "execute_command", &[("command", "command")], &["timeout_ms"])),
    of_shells(runs("mcp-shell-server", "shell_execute", &[("command", "command[]")], &["timeout"])),
    of_shells(runs("Desktop Commander", "start_process", &[("command", "command")], &["timeout_ms"])),
];

static TOOLS: LazyLock<BTreeMap<&'static str, (&'static BuiltIn, Tool)>> = LazyLock::new(|| {
    let tools = ROWS.iter().filter_map(|row| Some((row.name, (row, row.tool()?))));
    tools.collect()
});

impl BuiltIn {
    /// Returns the declaration of the row, or `None` if a text of the row is invalid.
    fn tool(&self) -> Option<Tool> {
        let mut tool = Tool::new(self.name.parse::<ToolName>().ok()?, self.operation);
        for (kind, field) in self.fields {
            let field: Field = field.parse().ok()?;
            tool = match *kind {
                "path" => tool.path(field),
                "glob" => tool.glob(field),
                "patch" => tool.patch(field),
                "command" => tool.command(field),
                "host" => tool.host(field),
                "content" => tool.content(field),
                _ => return None,
            };
        }
        let tool = self.ignored.iter().fold(tool, |tool, field| tool.ignoring(*field));
        Some(if self.tree { tool.below() } else { tool })
    }
}

/// Returns the built-in declaration for `name`: the tool of this name, or the tool of a known MCP server.
pub(super) fn find(name: &str) -> Option<&'static Tool> {
    if let Some((row, tool)) = TOOLS.get(name) {
        return row.bare.then_some(tool);
    }
    let (server, tail) = of_a_server(name)?;
    let (row, tool) = TOOLS.get(tail)?;
    row.servers.contains(&server).then_some(tool)
}

/// The tools that search without the files that `.gitignore` names.
const SKIPPING_IGNORED: &[&str] = &["Grep", "grep"];

/// Returns true if the built-in tool searches without the files that `.gitignore` names.
pub(super) fn skips_ignored(name: &str) -> bool {
    SKIPPING_IGNORED.contains(&name)
}

/// Splits `mcp__server__tool`, `server.tool` or `server/tool` into server and tool.
fn of_a_server(name: &str) -> Option<(&str, &str)> {
    match name.strip_prefix("mcp__") {
        Some(rest) => rest.split_once("__"),
        None => name.split_once('.').or_else(|| name.split_once('/')),
    }
}

/// Returns the built-in tools, each with the programs that have it.
///
/// ```
/// let tools = bestow_command::built_in_tools();
/// assert!(tools.iter().any(|(of, tool)| *of == "Claude Code" && tool.name().as_str() == "Write"));
/// ```
pub fn built_in_tools() -> Vec<(&'static str, Tool)> {
    TOOLS.values().map(|(row, tool)| (row.of, tool.clone())).collect()
}
