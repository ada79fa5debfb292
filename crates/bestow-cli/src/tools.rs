//! `bestow tools`: the tools whose input the engine understands.

use std::path::PathBuf;

use bestow::{
    PolicyFile,
    command::{built_in_tools, session_tools},
    event::camel_case,
    text::Escaped,
    tool::{Tool, Tools},
};
use serde::Serialize;

use crate::{args::Form, exit::Exit};

/// A tool, with its origin.
#[derive(Serialize)]
struct Listed<'a> {
    #[serde(flatten)]
    tool: &'a Tool,
    /// The programs that have the built-in tool. None if the file declares the tool.
    programs: Option<&'static str>,
    /// True if the file declares another tool of this name.
    replaced: bool,
    /// True for a coding agent's own tool without an effect outside of its session.
    in_session: bool,
}

impl Listed<'_> {
    fn text(&self) -> String {
        let replaced = if self.replaced { ", replaced by the file" } else { "" };
        let programs = self.programs.unwrap_or("declared");
        let in_session = if self.in_session { ", in its session alone" } else { "" };
        format!("{} ({programs}{in_session}{replaced})\n", Escaped(&self.tool.to_string()))
    }
}

/// Lists the tools of the file, if one is named, then the built-in ones, then those of sessions of coding agents.
pub(crate) fn list(config: Option<PathBuf>, form: Form) -> Result<Exit, Exit> {
    let declared = match config {
        Some(file) => PolicyFile::new(file).load().map_err(Exit::failed)?.settings.tools,
        None => Tools::default(),
    };
    let built_in = built_in_tools();
    let of_file = declared.iter().map(|tool| Listed { tool, programs: None, replaced: false, in_session: false });
    let is_replaced = |tool: &Tool| declared.get(tool.name().as_str()).is_some();
    let of_programs = built_in.iter().map(|(programs, tool)| Listed {
        tool,
        programs: Some(programs),
        replaced: is_replaced(tool),
        in_session: false,
    });
    let own = session_tools();
    let of_sessions = own.iter().map(|(agent, tool)| Listed {
        tool,
        programs: Some(agent.as_str()),
        replaced: is_replaced(tool),
        in_session: true,
    });
    let line = |listed: Listed<'_>| match form {
        Form::Text => Ok(listed.text()),
        Form::Json => {
            let value = serde_json::to_value(&listed).map_err(Exit::failed)?;
            Ok(format!("{}\n", camel_case(value)))
        }
    };
    Ok(Exit::print(&of_file.chain(of_programs).chain(of_sessions).map(line).collect::<Result<String, Exit>>()?))
}
