//! `bestow tools`: the tools whose input the engine understands.

use std::path::PathBuf;

use bestow::{
    PolicyFile,
    command::built_in_tools,
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
}

impl Listed<'_> {
    fn text(&self) -> String {
        let replaced = if self.replaced { ", replaced by the file" } else { "" };
        format!("{} ({}{replaced})\n", Escaped(&self.tool.to_string()), self.programs.unwrap_or("declared"))
    }
}

/// Lists the tools of the file, if one is named, then the built-in ones.
pub(crate) fn list(config: Option<PathBuf>, form: Form) -> Result<Exit, Exit> {
    let declared = match config {
        Some(file) => PolicyFile::new(file).load().map_err(Exit::failed)?.settings.tools,
        None => Tools::default(),
    };
    let built_in = built_in_tools();
    let of_file = declared.iter().map(|tool| Listed { tool, programs: None, replaced: false });
    let of_programs = built_in.iter().map(|(programs, tool)| {
        let replaced = declared.get(tool.name().as_str()).is_some();
        Listed { tool, programs: Some(programs), replaced }
    });
    let line = |listed: Listed<'_>| match form {
        Form::Text => Ok(listed.text()),
        Form::Json => {
            let value = serde_json::to_value(&listed).map_err(Exit::failed)?;
            Ok(format!("{}\n", camel_case(value)))
        }
    };
    Ok(Exit::print(&of_file.chain(of_programs).map(line).collect::<Result<String, Exit>>()?))
}
