//! `bestow tools`: the tools whose calls are understood.

use std::{fmt::Write as _, path::PathBuf};

use bestow::{Escaped, PolicyFile, Tools, command::built_in_tools};

use crate::end::End;

/// Lists the tools of the file, if one is named, then the built-in ones.
pub(crate) fn list(config: Option<PathBuf>) -> End {
    let declared = match config.map(|file| PolicyFile::new(file).load()) {
        Some(Ok(policy)) => policy.settings.tools,
        Some(Err(why)) => return End::failed(why),
        None => Tools::default(),
    };
    let mut text = String::new();
    for tool in declared.iter() {
        let _ = writeln!(text, "{} (declared)", Escaped(&tool.to_string()));
    }
    for (of, tool) in built_in_tools() {
        let replaced = if declared.get(tool.name().as_str()).is_some() { ", declared anew" } else { "" };
        let _ = writeln!(text, "{} ({of}{replaced})", Escaped(&tool.to_string()));
    }
    End::said(&text)
}
