//! `bestow init`: a first policy file for a directory.

mod packages;
mod survey;
mod text;

use std::{
    fs::{self, OpenOptions},
    io::{ErrorKind, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use bestow::{PolicyFile, fs::for_shell, text::Escaped};

use crate::{
    args::{InitArgs, POLICY_FILE},
    check_config,
    exit::Exit,
};

/// The permission bits of the file: its owner reads and writes it, and nobody else.
const MODE: u32 = 0o600;

/// Writes a first policy file for a directory, checks it, and prints what to try next.
pub(crate) fn init(args: &InitArgs) -> Result<Exit, Exit> {
    let directory = &args.directory;
    let survey = survey::Survey::of(directory)?;
    let path = directory.join(POLICY_FILE);
    let file = if directory == Path::new(".") { PathBuf::from(POLICY_FILE) } else { path };
    write(&file, &text::policy(&survey))?;
    match check_config::checked(&PolicyFile::new(&file)) {
        Ok(counts) => Ok(Exit::print(&summary(&file, &survey, &counts.to_string()))),
        Err(why) => Err(taken_back(&file, Exit::failed(why))),
    }
}

fn write(file: &Path, text: &str) -> Result<(), Exit> {
    let name = file.display().to_string();
    let made = OpenOptions::new().write(true).create_new(true).mode(MODE).open(file);
    let mut made = made.map_err(|why| {
        if why.kind() != ErrorKind::AlreadyExists {
            return Exit::failed(format_args!("{} cannot be written: {why}", Escaped(&name)));
        }
        let check = format_args!("`bestow check-config {}` checks it", for_shell(&name)).to_string();
        Exit::failed(format_args!("{} exists already and is not changed: {check}", Escaped(&name)))
    })?;
    let written = made.write_all(text.as_bytes()).and_then(|()| made.sync_all());
    written.map_err(|why| taken_back(file, Exit::failed(format_args!("{} cannot be written: {why}", Escaped(&name)))))
}

/// Removes a file that no engine would take, so that a second try does not find it.
fn taken_back(file: &Path, why: Exit) -> Exit {
    let Exit::Failed(why) = why else { return why };
    match fs::remove_file(file) {
        Ok(()) => Exit::failed(format_args!("{why}\nno policy file was written")),
        Err(not) => {
            let name = file.display().to_string();
            Exit::failed(format_args!("{why}\n{} cannot be removed: {not}", Escaped(&name)))
        }
    }
}

/// Describes the file and the commands to try next.
fn summary(file: &Path, survey: &survey::Survey, counts: &str) -> String {
    let name = file.display().to_string();
    let config = if file == Path::new(POLICY_FILE) { String::new() } else { format!(" --config {}", for_shell(&name)) };
    let found = if survey.found.is_empty() { String::new() } else { format!("found: {}\n", survey.found.join(", ")) };
    let writes = survey.writable.join(", ");
    let more = if survey.left_out == 0 { String::new() } else { format!(", and not {} more", survey.left_out) };
    format!(
        "wrote {0}: {counts}\n{found}`lead` may write: {writes}{more}\ntry next:\n  \
         bestow check --agent lead --command 'git status'{config}\n  \
         bestow explain --agent lead --write .env{config}\n  \
         bestow exec --agent lead{config} -- ls\n",
        Escaped(&name),
    )
}
