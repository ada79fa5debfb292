//! `bestow install` and `bestow uninstall`: the hooks of bestow in the settings of a host.

mod claude;
mod doctor;
mod file;
mod notes;
mod settings;

use std::path::{Path, PathBuf};

use bestow::text::Escaped;
use similar::TextDiff;

use self::{
    file::{SettingsFile, shown},
    settings::{Hook, Settings},
};
use crate::{
    args::{InstallArgs, InstallPart, SettingsArgs, UninstallArgs, UninstallPart},
    exit::Exit,
};

/// The lines around a change that are shown.
const AROUND: usize = 3;

/// Puts the hooks into the settings.
pub(crate) fn install(part: &InstallPart) -> Result<Exit, Exit> {
    let InstallPart::Claude(InstallArgs { settings, hook }) = part;
    let file = SettingsFile::read(&place(settings)?)?;
    let version = claude::version();
    let hooks = claude::hooks(hook, version)?;
    let wrong = |why: String| left(&file, &why);
    Settings::require_plain(file.text()).map_err(|why| not_plain(&file, &why))?;
    let mut ours = Settings::read(file.text()).and_then(|settings| settings.ours()).map_err(wrong)?;
    let read = Settings::read(file.text()).map_err(wrong)?;
    let base = base(&file, &ours);
    let new = Settings::read(&base).and_then(|settings| settings.with(&hooks)).map_err(wrong)?;
    let remarks = doctor::checked(&new, version).map_err(|why| not_loaded(&file, &why))?;
    let notes = notes::notes(&file, &read, hook, &hooks) + &remarks;
    // A file that an installation made is no old one.
    let is_first = ours.is_empty() || matches!(Old::of(&file, &ours), Old::Unknown);
    ours.sort();
    if ours == hooks {
        return Ok(Exit::print(&format!("{} has these hooks already: nothing is changed\n{notes}", file.name())));
    }
    let diff = diff(&file, &new);
    if settings.dry_run {
        return Ok(Exit::print(&format!("{diff}{notes}nothing was written, because of `--dry-run`\n")));
    }
    let kept = if is_first { file.keep()? } else { None };
    file.replace(&new)?;
    let kept = kept.map_or_else(String::new, |kept| format!("; the old file is {}", shown(&kept)));
    Ok(Exit::print(&format!("{diff}{notes}wrote {}{kept}\n{TRY}", file.name())))
}

/// The last lines after an installation.
const TRY: &str = "a running session of Claude Code has to be started again; `/hooks` in it lists the hooks\n";

/// Takes the hooks out of the settings. If nothing else was changed since the installation, the old file is put back.
pub(crate) fn uninstall(part: &UninstallPart) -> Result<Exit, Exit> {
    let UninstallPart::Claude(UninstallArgs { settings }) = part;
    let file = SettingsFile::read(&place(settings)?)?;
    let wrong = |why: String| left(&file, &why);
    let ours = Settings::read(file.text()).and_then(|settings| settings.ours()).map_err(wrong)?;
    if ours.is_empty() {
        return Ok(Exit::print(&format!("{} has no hooks of bestow: nothing is changed\n", file.name())));
    }
    let without = Settings::read(file.text()).and_then(Settings::without).map_err(wrong)?;
    let old = Old::of(&file, &ours);
    let new = match &old {
        Old::Kept(_, text) => text.clone(),
        Old::NoFile => String::new(),
        Old::Unknown => without,
    };
    let diff = diff(&file, &new);
    if settings.dry_run {
        return Ok(Exit::print(&format!("{diff}nothing was written, because of `--dry-run`\n")));
    }
    let done = match old {
        Old::Kept(kept, text) => {
            file.replace(&text)?;
            // It has the same text as the file now.
            let _ = std::fs::remove_file(kept);
            format!("{} is as it was before\n", file.name())
        }
        Old::NoFile => {
            file.remove()?;
            format!("{} is removed: there was none before\n", file.name())
        }
        Old::Unknown => {
            file.replace(&new)?;
            format!("{} has no hooks of bestow any more, and is otherwise unchanged\n", file.name())
        }
    };
    Ok(Exit::print(&format!("{diff}{done}")))
}

/// Returns the settings to begin with: those before an earlier installation, if nothing else has changed since.
fn base(file: &SettingsFile, ours: &[Hook]) -> String {
    match Old::of(file, ours) {
        Old::Kept(_, text) => text,
        Old::NoFile => String::new(),
        Old::Unknown => file.text().to_owned(),
    }
}

/// The settings before an installation.
enum Old {
    /// The file that was kept, and its text.
    Kept(PathBuf, String),
    /// There was no file.
    NoFile,
    /// The settings were changed since the installation, or the old file is gone.
    Unknown,
}

impl Old {
    /// Finds the settings from which these hooks make the present ones.
    fn of(file: &SettingsFile, ours: &[Hook]) -> Old {
        let makes =
            |text: &str| Settings::read(text).and_then(|old| old.with(ours)).is_ok_and(|new| new == file.text());
        match file.kept().into_iter().find(|(_, text)| makes(text)) {
            Some((kept, text)) => Old::Kept(kept, text),
            None if makes("") => Old::NoFile,
            None => Old::Unknown,
        }
    }
}

/// Returns the settings file that is meant.
fn place(args: &SettingsArgs) -> Result<PathBuf, Exit> {
    let below = Path::new(".claude/settings.json");
    if !args.user {
        return Ok(below.to_owned());
    }
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty());
    let home = home.ok_or_else(|| Exit::failed("HOME is not set, so the settings of the user are not known"))?;
    Ok(Path::new(&home).join(below))
}

/// Returns the error for settings that are not understood.
fn left(file: &SettingsFile, why: &str) -> Exit {
    let why = Escaped(why).to_string();
    Exit::failed(format_args!("{} is left as it is, because it is not understood: {why}", file.name()))
}

/// Returns the error for settings with comments or the like.
fn not_plain(file: &SettingsFile, why: &str) -> Exit {
    let why = Escaped(why).to_string();
    Exit::failed(format_args!(
        "{} is left as it is: Claude Code reads plain JSON alone, and passes over the whole file because of this \
         place, so no hook in it would run: {why}",
        file.name()
    ))
}

/// Returns the error for settings that Claude Code would not load.
fn not_loaded(file: &SettingsFile, why: &str) -> Exit {
    Exit::failed(format_args!(
        "{} is left as it is: Claude Code would pass over the whole file, so no hook in it would run: {why}",
        file.name()
    ))
}

/// Returns the change, line by line.
fn diff(file: &SettingsFile, new: &str) -> String {
    let name = file.name();
    let old = if file.exists() { name.as_str() } else { "/dev/null" };
    let diff = TextDiff::from_lines(file.text(), new);
    let diff = diff.unified_diff().context_radius(AROUND).header(old, &name).to_string();
    // The settings may be of a project that somebody else wrote.
    diff.lines().map(|line| format!("{}\n", Escaped(line))).collect()
}
