//! `bestow completions` and `bestow man`: files that are made from the definition of the command line.

use std::{fs, path::Path};

use bestow::text::Escaped;

use crate::{
    args::{PROGRAM, definition},
    exit::Exit,
};

/// Prints the completion script for a shell.
pub(crate) fn completions(shell: clap_complete::Shell) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut definition(), PROGRAM, &mut script);
    Exit::print(&String::from_utf8_lossy(&script))
}

/// Writes the manual pages into `directory`, which is created where it does not exist.
pub(crate) fn manual(directory: &Path) -> Exit {
    let written = fs::create_dir_all(directory).and_then(|()| clap_mangen::generate_to(definition(), directory));
    let name = directory.display().to_string();
    match written {
        Ok(()) => Exit::print(&format!(
            "the manual pages are in {0}: `man {0}/{PROGRAM}.1` shows the first\n",
            Escaped(name.trim_end_matches('/'))
        )),
        Err(why) => Exit::failed(format_args!("the manual pages cannot be written to {}: {why}", Escaped(&name))),
    }
}
