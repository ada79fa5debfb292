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
    /// The fields that are neither path, host nor command, and do not change the effect of a command.
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

/// The fields of a shell that stays: its name, and how the agent waits for it.
const ASIDE_IN_SHELL: &[&str] = &[
    "description",
    "explanation",
    "timeout",
    "timeout_ms",
    "run_in_background",
    "shellId",
    "sessionId",
    "mode",
    "async",
    "detach",
    "initial_wait",
    "initialWait",
    "delay",
];

const ASIDE_IN_CODEX: &[&str] = &[
    "description",
    "timeout",
    "timeout_ms",
    "session_id",
    "yield_time_ms",
    "max_output_tokens",
    "tty",
    "login",
    "justification",
];

/// The fields of a search that name no place.
const SEARCH: &[&str] = &[
    "pattern",
    "exclude_pattern",
    "output_mode",
    "type",
    "names_only",
    "multiline",
    "case_sensitive",
    "fixed_strings",
    "literal_text",
    "no_ignore",
    "-i",
    "-n",
    "-o",
    "-A",
    "-B",
    "-C",
    "context",
    "head_limit",
    "offset",
];

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

impl BuiltIn {
    const fn ignoring(self, ignored: &'static [&'static str]) -> BuiltIn {
        BuiltIn { ignored, ..self }
    }
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
    runs("003, OpenCode, Copilot CLI", "bash", &[("command", "command|input")], ASIDE_IN_SHELL),
    runs("003", "exec", &[("command", "command|input")], ASIDE),
    runs("003, Codex", "shell", &[("command", "command|command[]|input")], ASIDE_IN_CODEX),
    writes("003, OpenCode", "write", &[("path", "path|file_path|filePath"), ("content", "content?")]),
    writes("003", "file_write", &[("path", "path|file_path"), ("content", "content?")]),
    reads("003, OpenCode", "read", &[("path", "path|file_path|filePath")]),
    reads("003", "file_read", &[("path", "path|file_path")]),
    // Claude Code.
    runs("Claude Code", "Bash", &[("command", "command")], &["description", "timeout", "run_in_background"]),
    runs("Claude Code", "Monitor", &[("command", "command?"), ("host", "ws.url?")],
        &["description", "timeout_ms", "persistent", "ws.protocols"]),
    reads("Claude Code", "Read", &[("path", "file_path")]).ignoring(&["pages", "allow_large"]),
    writes("Claude Code", "Write", &[("path", "file_path"), ("content", "content?")]),
    writes("Claude Code", "Edit", &[("path", "file_path"), ("content", "new_string?")])
        .ignoring(&["old_string", "replace_all"]),
    writes("Claude Code", "MultiEdit", &[("path", "file_path"), ("content", "edits[].new_string?")])
        .ignoring(&["edits[].old_string", "edits[].replace_all"]),
    writes("Claude Code", "NotebookEdit", &[("path", "notebook_path"), ("content", "new_source?")])
        .ignoring(&["cell_id", "cell_type", "edit_mode"]),
    reads("Claude Code", "NotebookRead", &[("path", "notebook_path")]).ignoring(&["cell_id"]),
    reads("Claude Code", "Glob", &[("path", "path?"), ("glob", "pattern")]),
    searches("Claude Code", "Grep", &[("path", "path?"), ("glob", "glob?")]).ignoring(SEARCH),
    reads("Claude Code", "LS", &[("path", "path")]).ignoring(&["ignore"]),
    reads("Claude Code", "LSP", &[("path", "filePath")]).ignoring(&["operation"]),
    reaches("Claude Code", "WebFetch", &[("host", "url")]).ignoring(&["prompt"]),
    reaches("Claude Code", "WebSearch", &[]).ignoring(&["query", "allowed_domains", "blocked_domains"]),
    // Codex CLI.
    runs("Codex", "shell_command", &[("command", "command")], ASIDE_IN_CODEX),
    runs("Codex", "exec_command", &[("command", "cmd|command")], ASIDE_IN_CODEX),
    runs("Codex", "write_stdin", &[("command", "chars?")], ASIDE_IN_CODEX),
    writes("Codex, OpenCode", "apply_patch", &[("patch", "input|command|patchText|patch|.")]),
    reads("Codex", "view_image", &[("path", "path")]).ignoring(&["detail"]),
    reads("Codex", "list_dir", &[("path", "dir_path")]),
    // Gemini CLI.
    runs("Gemini CLI", "run_shell_command", &[("command", "command")],
        &["description", "is_background", "delay_ms", "wait_for_previous"]),
    of_files(reads("Gemini CLI, MCP file system", "read_file", &[("path", "path|file_path|absolute_path")])),
    of_files(writes(
        "Gemini CLI, MCP file system",
        "write_file",
        &[("path", "path|file_path"), ("content", "content?")],
    )),
    writes("Gemini CLI", "replace", &[("path", "file_path"), ("content", "new_string?")])
        .ignoring(&["old_string", "instruction", "allow_multiple"]),
    of_files(reads("Gemini CLI, MCP file system", "list_directory", &[("path", "path|dir_path")]))
        .ignoring(&["ignore", "file_filtering_options"]),
    searches("Gemini CLI", "search_file_content", &[("path", "path|dir_path?"), ("glob", "include?")]).ignoring(SEARCH),
    searches("Gemini CLI", "grep_search", &[("path", "path|dir_path?"), ("glob", "include_pattern?")]).ignoring(SEARCH),
    searches("Gemini CLI", "read_many_files", &[("glob", "include[]|paths[]")])
        .ignoring(&["exclude", "file_filtering_options"]),
    reaches("Gemini CLI, Copilot CLI", "web_fetch", &[("host", "url?")]).ignoring(&["prompt", "raw"]),
    reaches("Gemini CLI", "google_web_search", &[]).ignoring(&["query"]),
    // Gemini CLI, OpenCode and Copilot CLI.
    reads("Gemini CLI, OpenCode, Copilot CLI", "glob",
        &[("path", "path|dir_path?"), ("path", "paths|paths[]?"), ("glob", "pattern")])
        .ignoring(&["case_sensitive", "respect_git_ignore", "respect_gemini_ignore"]),
    searches("OpenCode, Copilot CLI", "grep",
        &[("path", "path?"), ("path", "paths|paths[]?"), ("glob", "include|glob?")]).ignoring(SEARCH),
    searches("Copilot CLI", "rg",
        &[("path", "path?"), ("path", "paths|paths[]?"), ("glob", "include|glob?")]).ignoring(SEARCH),
    // OpenCode.
    writes("OpenCode, Copilot CLI", "edit", &[("path", "path|file_path|filePath"), ("content", "newString|new_str?")])
        .ignoring(&["oldString", "old_str", "replaceAll"]),
    reads("OpenCode", "list", &[("path", "path?")]).ignoring(&["ignore"]),
    reaches("OpenCode", "webfetch", &[("host", "url")]).ignoring(&["format"]),
    // GitHub Copilot CLI.
    reads("Copilot CLI", "view", &[("path", "path")]).ignoring(&["view_range", "forceReadLargeFiles"]),
    writes("Copilot CLI", "create", &[("path", "path"), ("content", "file_text?")]),
    runs("Copilot CLI", "write_bash", &[("command", "input")], ASIDE_IN_SHELL),
    // The MCP file-system server.
    of_files(reads("MCP file system", "read_text_file", &[("path", "path")])),
    of_files(reads("MCP file system", "read_media_file", &[("path", "path")])),
    of_files(reads("MCP file system", "read_multiple_files", &[("path", "paths[]")])),
    of_files(writes("MCP file system", "edit_file", &[("path", "path"), ("content", "edits[].newText?")]))
        .ignoring(&["edits[].oldText", "dryRun"]),
    of_files(writes("MCP file system", "create_directory", &[("path", "path")])),
    of_files(reads("MCP file system", "list_directory_with_sizes", &[("path", "path")])).ignoring(&["sortBy"]),
    of_files(reads("MCP file system", "directory_tree", &[("path", "path")])).ignoring(&["excludePatterns"]),
    of_files(writes("MCP file system", "move_file", &[("path", "source"), ("path", "destination")])),
    of_files(reads("MCP file system", "search_files", &[("path", "path"), ("glob", "pattern?")]))
        .ignoring(&["excludePatterns"]),
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

/// Returns true if the tool types its command line into a running program.
pub(super) fn types(name: &str) -> bool {
    matches!(name, "write_stdin" | "write_bash")
}

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
