//! The reading and writing of a note of the head.

use std::{
    ffi::OsStr,
    fmt,
    io::{self, Read as _, Write as _},
    os::unix::process::CommandExt as _,
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process_group};

use super::{HeadNote, JournalError, files::write_all, hash_chain::Head};
use crate::{
    fs,
    model::SanitizedPath,
    ports::{Disk as _, DiskFile, RealDisk},
};

/// The longest time that a command for a note may take.
const LONGEST: Duration = Duration::from_secs(30);

/// The number of attempts to write a note while other processes write it too.
const ATTEMPTS: usize = 100;

impl HeadNote {
    /// Returns the noted head; none if there is no note yet, or if a command keeps it.
    ///
    /// # Errors
    ///
    /// [`JournalError::Disk`] if the file has no head, cannot be read, or can be written by other users.
    pub fn read(&self) -> Result<Option<Head>, JournalError> {
        let HeadNote::File(file) = self else { return Ok(None) };
        let refused = |what: String| JournalError::Disk { path: file.clone(), what };
        match RealDisk.read(file) {
            Ok(content) => {
                let head = str::from_utf8(&content).ok().and_then(|text| text.parse().ok());
                head.map(Some).ok_or_else(|| {
                    refused("it is not the note of a head: restore it, or remove it to note the head anew".to_owned())
                })
            }
            Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(why) => Err(refused(format!("reading the noted head in it failed: {why}"))),
        }
    }

    /// Refuses a file in the state directory: an older copy would have an older note.
    pub(super) fn refuse_inside(&self, directory: &Path) -> Result<(), JournalError> {
        let (Some(file), Ok(directory)) = (self.real_file()?, real(directory)) else { return Ok(()) };
        if file.as_path().starts_with(directory.as_path()) {
            return Err(self.failed("it is in the state directory, so a copy of that has it, too: name another place"));
        }
        Ok(())
    }

    /// Returns the real path of the file, if this note is a file.
    pub(super) fn real_file(&self) -> Result<Option<SanitizedPath>, JournalError> {
        match self {
            HeadNote::File(file) => real(file).map(Some).map_err(|why| self.failed(why)),
            HeadNote::Command(_) => Ok(None),
        }
    }

    /// Replaces the note.
    pub(super) fn write(&self, head: Head) -> Result<(), JournalError> {
        let line = format!("{head}\n");
        match self {
            HeadNote::File(file) => replace(file, &line).map_err(|why| self.failed(why)),
            HeadNote::Command(command) => tell(command, &line).map_err(|why| self.failed(why)),
        }
    }

    fn failed(&self, why: impl fmt::Display) -> JournalError {
        JournalError::NotNoted { note: self.clone(), what: why.to_string() }
    }
}

fn real(path: &Path) -> io::Result<SanitizedPath> {
    let path = std::path::absolute(path)?;
    let text = path.to_str().ok_or_else(|| io::Error::other("its name is not UTF-8"))?;
    fs::real(text).map(|real| real.path().clone()).map_err(io::Error::other)
}

/// Replaces `file` by one with this line. After a crash, either the old or the new one is there as a whole.
fn replace(file: &Path, line: &str) -> io::Result<()> {
    if std::fs::symlink_metadata(file).is_ok_and(|there| !there.is_file()) {
        return Err(io::Error::other("it is not a regular file: name a file or a new name"));
    }
    let (directory, name) = match (file.parent(), file.file_name()) {
        (Some(above), Some(name)) if above.as_os_str().is_empty() => (Path::new("."), name),
        (Some(above), Some(name)) => (above, name),
        _ => return Err(io::Error::other("it is a directory: name a file in it")),
    };
    RealDisk.refuse_others(directory)?;
    let unfinished = directory.join(unfinished(name));
    let mut new = locked(&unfinished)?;
    new.truncate(0)?;
    write_all(&mut *new, line.as_bytes())?;
    new.sync()?;
    RealDisk.rename(&unfinished, file)?;
    RealDisk.sync_dir(directory)
}

fn unfinished(name: &OsStr) -> std::ffi::OsString {
    let mut unfinished = name.to_owned();
    unfinished.push(".new");
    unfinished
}

/// Opens a file of this name that no other process writes. Only the process that locked it renames it.
fn locked(unfinished: &Path) -> io::Result<Box<dyn DiskFile>> {
    for _ in 0..ATTEMPTS {
        match RealDisk.lock(unfinished)? {
            // Another process may have renamed the file before this one locked it.
            Some(file) if file.is_at(unfinished)? => return Ok(file),
            Some(_) => {}
            None => thread::yield_now(),
        }
    }
    Err(io::Error::other("another process is writing it: try again"))
}

/// Passes the line to a command, and waits for its end.
fn tell(command: &str, line: &str) -> io::Result<()> {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", command]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = shell.process_group(0).spawn()?;
    let complaint = told(&mut child, line);
    if complaint.is_none() {
        // It and everything that it started. It may have ended meanwhile.
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        group.map(|group| kill_process_group(group, Signal::KILL)).transpose().ok();
    }
    let end = child.wait()?;
    let Some(complaint) = complaint else {
        return Err(io::Error::other(format!("it did not end within {} seconds", LONGEST.as_secs())));
    };
    if end.success() {
        return Ok(());
    }
    let complaint = complaint.lines().next().map_or_else(String::new, |line| format!(": {line}"));
    Err(io::Error::other(format!("it ended with {end}{complaint}")))
}

/// Returns what the command writes to its standard error; none if it does not end in time.
fn told(child: &mut Child, line: &str) -> Option<String> {
    let (stdin, stderr) = (child.stdin.take(), child.stderr.take());
    let (say, said) = mpsc::channel();
    let line = line.to_owned();
    // The thread ends with the command, or with the end that it gets.
    thread::Builder::new()
        .name("bestow-head-command".to_owned())
        .spawn(move || {
            // A command that ends without reading the head says so by its exit code.
            let _ = stdin.map(|mut stdin| stdin.write_all(line.as_bytes()));
            let mut complaint = Vec::new();
            let _ = stderr.map(|stderr| stderr.take(4096).read_to_end(&mut complaint));
            let _ = say.send(String::from_utf8_lossy(&complaint).into_owned());
        })
        .ok()?;
    said.recv_timeout(LONGEST).ok()
}
