//! `bestow tools`: the tools whose input the engine understands.

use std::{fmt::Write as _, path::PathBuf};

use bestow::{PolicyFile, command::built_in_tools, text::Escaped, tool::Tools};

use crate::exit::Exit;

/// Lists the tools of the file, if one is named, then the built-in ones.
pub(crate) fn list(config: Option<PathBuf>) -> Exit {
    let declared = match config.map(|file| PolicyFile::new(file).load()) {
        Some(Ok(policy)) => policy.settings.tools,
        Some(Err(why)) => return Exit::failed(why),
        None => Tools::default(),
    };
    // Writing to a text does not fail.
    let mut text = String::new();
    for tool in declared.iter() {
        let _ = writeln!(text, "{} (declared)", Escaped(&tool.to_string()));
    }
    for (of, tool) in built_in_tools() {
        let replaced = if declared.get(tool.name().as_str()).is_some() { ", replaced by the file" } else { "" };
        let _ = writeln!(text, "{} ({of}{replaced})", Escaped(&tool.to_string()));
    }
    Exit::print(&text)
}
