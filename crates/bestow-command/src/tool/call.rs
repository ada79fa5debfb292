//! The interpretation of a tool call.

use serde_json::{Map, Value};

use crate::{
    needs::roles::selection::globs_of_type,
    tool::{ToolUse, built_in, declared, session_tools},
    values::{CodingAgent, Operation, Selection, Tool, Tools},
};

/// The effects of a tool call, according to its name, its input and the declarations.
#[derive(Debug)]
pub enum Call<'v> {
    /// The call of a declared tool with a valid input.
    Declared(Box<DeclaredCall<'v>>),
    /// The call of a declared tool whose input lacks a required value or is invalid.
    Invalid(Operation, &'static str),
    /// The call of a coding agent's own tool, which has no effect outside of its session.
    Session(Box<DeclaredCall<'v>>),
    /// The call of an unknown tool.
    Undeclared,
}

/// The call of a declared tool.
#[derive(Debug)]
pub struct DeclaredCall<'v> {
    /// The declaration of the tool.
    pub tool: Tool,
    /// The main use of the call. There is always one.
    pub own: ToolUse<'v>,
    /// The further uses of the call.
    pub further: Vec<ToolUse<'v>>,
    /// The globs that restrict the uses below its directories. Without a glob, the call uses everything below them.
    pub globs: Vec<&'v str>,
    /// The files below its directories that the call uses.
    pub selection: Selection,
    /// The directory in which a command line runs, as the call names it.
    pub directory: Option<&'v str>,
    /// True if the command line is typed into a running program, whose state and directory are unknown.
    pub is_typed: bool,
    /// The parts of the input that the declaration does not name.
    pub unnamed: Map<String, Value>,
    /// The unnamed fields that may change the effect of the command line.
    pub besides: Map<String, Value>,
}

/// Returns the declaration of the tool `name`: one of `declared`, or otherwise a built-in one.
pub fn declaration<'t>(declared: &'t Tools, name: &str) -> Option<&'t Tool> {
    declared.get(name).or_else(|| built_in::find(name))
}

/// Interprets a call of the tool `name` with `input`, by the coding agent `host` if it is one.
pub fn read<'v>(declared: &Tools, host: Option<CodingAgent>, name: &str, input: &'v Value) -> Call<'v> {
    let Some(tool) = declaration(declared, name) else {
        let of_session = host.and_then(|host| session_tools::find(host, name));
        return match of_session.map(|tool| read_as(tool, input)) {
            Some(Ok(call)) => Call::Session(Box::new(call)),
            Some(Err(_)) | None => Call::Undeclared,
        };
    };
    let is_built_in = declared.get(name).is_none();
    match read_as(tool, input) {
        Ok(call) if is_built_in && built_in::skips_ignored(name) => {
            let selection = search_selection(input, &call.globs);
            Call::Declared(Box::new(DeclaredCall { selection, ..call }))
        }
        Ok(call) => Call::Declared(Box::new(DeclaredCall { is_typed: is_built_in && built_in::types(name), ..call })),
        Err(why) => Call::Invalid(tool.operation, why),
    }
}

/// Interprets a call with `input` according to the declaration `tool`.
pub fn read_as<'v>(tool: &Tool, input: &'v Value) -> Result<DeclaredCall<'v>, &'static str> {
    let (own, further) = declared::read(tool, input)?;
    let globs = declared::globs(tool, input)?;
    let directory = declared::directory(tool, input)?;
    let unnamed = declared::unnamed(tool, input);
    let besides = declared::besides(tool, &unnamed);
    let selection = Selection::default();
    let (is_typed, tool) = (false, tool.clone());
    Ok(DeclaredCall { own, further, globs, selection, directory, is_typed, unnamed, besides, tool })
}

/// Returns the files that a search of a host program reads. It leaves out ignored files, unless a glob or a file type
/// chooses them.
fn search_selection(input: &Value, globs: &[&str]) -> Selection {
    let of_type = match input.get("type") {
        Some(Value::String(name)) => globs_of_type(name).map(|globs| globs.collect::<Vec<_>>()),
        Some(Value::Null) | None => Some(Vec::new()),
        Some(_) => None,
    };
    let skips_ignored = globs.is_empty() && of_type.is_some();
    Selection { skips_ignored, only: of_type.unwrap_or_default(), ..Selection::default() }
}
