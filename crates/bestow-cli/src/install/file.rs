//! The settings file: it is read, kept under another name, and replaced as a whole.

use std::{
    fs::{self, File, Permissions},
    io::{self, ErrorKind, Read as _, Write as _},
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use bestow::text::Escaped;
use tempfile::NamedTempFile;

use crate::exit::Exit;

/// The longest settings, in bytes.
const LONGEST: u64 = 4 << 20;

/// Opens a pipe without waiting for its other end. It is refused then.
const NOT_WAITING: i32 = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();

/// The end of the name of the old file.
const BEFORE: &str = ".before-bestow";

/// The permission bits of a new file.
const MODE: u32 = 0o600;

/// A settings file. If its name is a link, it is the file that the link leads to.
pub(super) struct SettingsFile {
    /// The name by which it was looked for.
    named: PathBuf,
    path: PathBuf,
    /// The text, if there is a file.
    text: Option<String>,
    mode: u32,
}

impl SettingsFile {
    /// Reads the file at `path`.
    pub(super) fn read(named: &Path) -> Result<SettingsFile, Exit> {
        let path = named;
        let named = named.to_owned();
        let failed = |why: io::Error| Exit::failed(format_args!("{} cannot be read: {why}", shown(path)));
        let path = match fs::symlink_metadata(path) {
            Ok(found) if found.is_symlink() => real(path).map_err(failed)?,
            _ => path.to_owned(),
        };
        let opened = File::options().read(true).custom_flags(NOT_WAITING).open(&path);
        let mut file = match opened {
            Ok(file) => file,
            Err(why) if why.kind() == ErrorKind::NotFound => {
                return Ok(SettingsFile { named, path, text: None, mode: MODE });
            }
            Err(why) => return Err(failed(why)),
        };
        let about = file.metadata().map_err(failed)?;
        if !about.is_file() || LONGEST < about.len() {
            let most = LONGEST >> 20;
            return Err(Exit::failed(format_args!("{} is not a file of at most {most} MiB", shown(&path))));
        }
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(failed)?;
        Ok(SettingsFile { named, path, text: Some(text), mode: about.permissions().mode() & 0o7777 })
    }

    /// Returns the text. A file that does not exist has none.
    pub(super) fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    /// Returns true if there is a file.
    pub(super) fn exists(&self) -> bool {
        self.text.is_some()
    }

    /// Returns the name of the file, for people.
    pub(super) fn name(&self) -> String {
        shown(&self.path)
    }

    /// Returns the real file, if a link in its name leads out of the directory of the project or of the user.
    pub(super) fn behind_links(&self) -> Option<PathBuf> {
        let directory = std::path::absolute(&self.named).ok()?;
        let root = real(directory.parent()?.parent()?).ok()?;
        let real = real(self.directory()).ok()?.join(self.path.file_name()?);
        (!real.starts_with(root)).then_some(real)
    }

    /// Keeps the old file under another name, and returns that name. A kept file that has this text already is used.
    pub(super) fn keep(&self) -> Result<Option<PathBuf>, Exit> {
        let Some(text) = &self.text else { return Ok(None) };
        for kept in self.kept_names() {
            if self.kept().iter().any(|(path, there)| *path == kept && there == text) {
                return Ok(Some(kept));
            }
            match fs::symlink_metadata(&kept) {
                Ok(_) => {}
                Err(why) if why.kind() == ErrorKind::NotFound => {
                    self.put(&kept, text).map_err(|why| cannot_write(&kept, &why))?;
                    return Ok(Some(kept));
                }
                Err(why) => return Err(cannot_write(&kept, &why)),
            }
        }
        Err(Exit::failed(format_args!("{}{BEFORE} and others like it exist already: remove them", self.name())))
    }

    /// Returns the files that are kept, with their texts.
    pub(super) fn kept(&self) -> Vec<(PathBuf, String)> {
        let is_text =
            |path: &Path| fs::symlink_metadata(path).is_ok_and(|about| about.is_file() && about.len() <= LONGEST);
        let read = |path: PathBuf| {
            let text = is_text(&path).then(|| fs::read_to_string(&path).ok()).flatten()?;
            Some((path, text))
        };
        self.kept_names().filter_map(read).collect()
    }

    fn kept_names(&self) -> impl Iterator<Item = PathBuf> + '_ {
        let name = |number: u32| {
            let mut name = self.path.clone().into_os_string();
            name.push(BEFORE);
            if 1 < number {
                name.push(format!("-{number}"));
            }
            PathBuf::from(name)
        };
        (1..=9).map(name)
    }

    /// Replaces the text. The file has either the old or the new text at any time.
    pub(super) fn replace(&self, text: &str) -> Result<(), Exit> {
        let failed = |why: io::Error| cannot_write(&self.path, &why);
        fs::create_dir_all(self.directory()).map_err(failed)?;
        self.refuse_if_changed()?;
        self.put(&self.path, text).map_err(failed)
    }

    /// Removes the file.
    pub(super) fn remove(&self) -> Result<(), Exit> {
        self.refuse_if_changed()?;
        fs::remove_file(&self.path).map_err(|why| cannot_write(&self.path, &why))
    }

    /// Refuses to go on if another program has changed the file since it was read.
    fn refuse_if_changed(&self) -> Result<(), Exit> {
        let now = SettingsFile::read(&self.path)?.text;
        if now == self.text {
            return Ok(());
        }
        Err(Exit::failed(format_args!("{} was changed meanwhile, and is left as it is: try again", self.name())))
    }

    fn put(&self, path: &Path, text: &str) -> io::Result<()> {
        let mut new = NamedTempFile::new_in(self.directory())?;
        new.write_all(text.as_bytes())?;
        new.as_file().set_permissions(Permissions::from_mode(self.mode))?;
        new.as_file().sync_all()?;
        new.persist(path).map_err(|why| why.error)?;
        File::open(self.directory())?.sync_all()
    }

    fn directory(&self) -> &Path {
        self.path.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }
}

/// Returns the path without links.
fn real(path: &Path) -> io::Result<PathBuf> {
    let full = std::path::absolute(path)?;
    let text = full.to_str().ok_or(ErrorKind::InvalidFilename)?;
    let real = bestow::fs::real(text).map_err(|why| io::Error::other(why.to_string()))?;
    Ok(real.path().as_path().to_owned())
}

fn cannot_write(path: &Path, why: &io::Error) -> Exit {
    Exit::failed(format_args!("{} cannot be written: {why}", shown(path)))
}

/// Returns a path for people.
pub(super) fn shown(path: &Path) -> String {
    Escaped(&path.to_string_lossy()).to_string()
}
