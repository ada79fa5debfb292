//! The files of a bot's program. An agent that can write one of them would decide what the server runs.

use bestow::{Engine, Error, Permission, Profile, agent::BotCommand, fs, path::SanitizedPath};

/// Returns the reason not to start a program, if an agent can write one of the files that its command names. A confined
/// program may be one that its own agent can write.
pub(super) fn writer(engine: &Engine, profile: &Profile, bot: &BotCommand) -> Result<Option<String>, Error> {
    let grants = engine.grants()?;
    let files = bot.command.iter().filter_map(|word| file(profile, word));
    let found = files.filter_map(|path| {
        let wanted = Permission::write(path.clone());
        let may = |agent| !bot.sandbox || agent != &profile.id;
        let grant = grants.iter().find(|grant| grant.pinned.permission.covers(&wanted) && may(&grant.to))?;
        Some(format!(
            "the agent {} may write {path}, a file of this command, and would decide what runs: keep the file where no \
             agent writes",
            grant.to
        ))
    });
    Ok(found.into_iter().next())
}

/// Returns the file that a word of a command names, if there is one.
fn file(profile: &Profile, word: &str) -> Option<SanitizedPath> {
    let named = profile.working_dir.as_path().join(word);
    let real = fs::real(named.to_str()?).ok()?.path().clone();
    real.as_path().is_file().then_some(real)
}
