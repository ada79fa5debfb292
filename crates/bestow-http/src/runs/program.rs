//! The program of a bot. An agent that can write what it runs would decide what the server does.

use std::{
    collections::{BTreeSet, VecDeque},
    env,
    ffi::OsString,
    path::{Component, Path, PathBuf},
};

use bestow::{Engine, Error, Permission, Profile, agent::BotCommand, path::SanitizedPath, text::Escaped};

/// The variables with directories in which programs look for code.
const SEARCH_PATHS: [&str; 7] =
    ["PATH", "PYTHONPATH", "VIRTUAL_ENV", "NODE_PATH", "PERL5LIB", "RUBYLIB", "LD_LIBRARY_PATH"];

/// The most links that are followed from one path. The system follows 40.
const MAX_LINKS: usize = 64;

/// Returns the reason not to start a program, if an agent can decide what it runs.
///
/// A program in the sandbox may be one that its own agent can write: it can do no more than that agent. Nothing limits
/// any other program. So no agent may be able to write anywhere where it finds code, and none may have been able to
/// earlier: what was written then may still be there.
pub(super) fn refusal(engine: &Engine, profile: &Profile, bot: &BotCommand) -> Result<Option<String>, Error> {
    if bot.sandbox {
        return foreign_writer(engine, profile, bot);
    }
    let Some(places) = places_of_code(profile, bot) else {
        return Ok(Some("the command names a path that cannot be checked, and nothing confines it".to_owned()));
    };
    let places: Vec<_> = places.into_iter().collect();
    Ok(engine.agent_writable(&places)?.map(|(place, agent)| {
        let place = Escaped(place.as_str()).to_string();
        let what = match agent {
            Some(agent) => format!("the agent {agent} may write `{place}`, or something below it"),
            None => format!("an agent was able to write `{place}`, or something below it, earlier"),
        };
        format!(
            "{what}, where this command may find what it runs, and nothing confines it: confine it with `sandbox = \
             true`, or keep it, its `working_dir` and every directory that it names where no agent writes"
        )
    }))
}

/// Returns the reason not to start a program in the sandbox: another agent can write one of the files that it names.
fn foreign_writer(engine: &Engine, profile: &Profile, bot: &BotCommand) -> Result<Option<String>, Error> {
    let grants = engine.grants()?;
    let files = bot.command.iter().flat_map(|word| named_by(&profile.working_dir, word));
    let files = files.filter(|path| path.is_file()).filter_map(|path| sanitized(&path));
    let found = files.into_iter().find_map(|path| {
        let wanted = Permission::write(path.clone());
        let may = |agent| agent != &profile.id;
        let grant = grants.iter().find(|grant| grant.pinned.permission.covers(&wanted) && may(&grant.to))?;
        Some(format!(
            "the agent {} may write {path}, a file of this command, and would decide what runs: keep the file where no \
             other agent writes",
            grant.to
        ))
    });
    Ok(found)
}

/// Returns the places where a program may find code: its working directory, what its words name, with the directories
/// of named files, and the directories in which programs are looked for. None if one of them cannot be checked.
fn places_of_code(profile: &Profile, bot: &BotCommand) -> Option<BTreeSet<SanitizedPath>> {
    let dir = &profile.working_dir;
    let searched = SEARCH_PATHS.iter().filter_map(env::var_os);
    let searched: Vec<PathBuf> = searched.flat_map(|value| env::split_paths(&value).collect::<Vec<_>>()).collect();
    let mut places = vec![dir.as_path().to_owned()];
    places.extend(searched.iter().map(|place| dir.as_path().join(place)));
    for path in bot.command.iter().flat_map(|word| named_by(dir, word)) {
        // Programs look beside a file for what it imports.
        places.extend(path.parent().filter(|_| path.is_file()).map(Path::to_owned));
        places.push(path);
    }
    places.iter().flat_map(|place| on_the_way(place)).map(|path| sanitized(&path)).collect()
}

fn sanitized(path: &Path) -> Option<SanitizedPath> {
    path.to_str()?.parse().ok()
}

/// Returns the paths that a word may name, with the links on the way. A word may be an option with a value, a list, or
/// the text of a script, and each part of it may be a path.
fn named_by(dir: &SanitizedPath, word: &str) -> Vec<PathBuf> {
    let expanded = expand_variables(word);
    let unquoted = expanded.replace(['\'', '"', '\\'], "");
    let is_between = |letter: char| letter.is_whitespace() || "'\"`;&|<>(){}=,:\\".contains(letter);
    let parts = [&*expanded, &*unquoted].into_iter().flat_map(|text| text.split(is_between).chain([text]));
    let mut found = BTreeSet::new();
    for part in parts.flat_map(|part| [part, value_of_short_option(part)]) {
        let part = part.split(['*', '?', '[']).next().unwrap_or_default();
        let path = match part.strip_prefix('~') {
            Some(rest) => PathBuf::from(format!("{}{rest}", home().to_string_lossy())),
            None => dir.as_path().join(part),
        };
        // A name without a directory is within the working directory, unless it is a link.
        if !part.is_empty() && (part.contains('/') || part == ".." || path.symlink_metadata().is_ok()) {
            found.extend(on_the_way(&path));
        }
    }
    found.into_iter().collect()
}

/// Returns the value of an option such as `-Csub`.
fn value_of_short_option(part: &str) -> &str {
    let mut letters = part.chars();
    let is_option = letters.next() == Some('-') && letters.next().is_some_and(|letter| letter.is_ascii_alphabetic());
    if is_option { letters.as_str() } else { "" }
}

fn home() -> OsString {
    env::var_os("HOME").unwrap_or_default()
}

/// Writes out the variables in a text, as a shell does that this server starts.
fn expand_variables(text: &str) -> String {
    let mut parts = text.split('$');
    let mut expanded = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let (name, rest) = match part.strip_prefix('{').and_then(|part| part.split_once('}')) {
            Some(in_braces) => in_braces,
            None => part.split_at(part.find(|letter| !is_name(letter)).unwrap_or(part.len())),
        };
        let is_whole = !name.is_empty() && name.chars().all(is_name);
        let value = if is_whole { env::var(name).unwrap_or_default() } else { format!("${name}") };
        expanded.extend([&*value, rest]);
    }
    expanded
}

/// Returns the real path of `path`, and the places of all links that lead there. Whoever can write one of them decides
/// what is at the path.
fn on_the_way(path: &Path) -> Vec<PathBuf> {
    let (mut found, mut at) = (Vec::new(), PathBuf::from("/"));
    let words = |path: &Path| path.components().map(|word| word.as_os_str().to_owned()).collect::<Vec<_>>();
    let mut rest = VecDeque::from(words(path));
    while let Some(word) = rest.pop_front() {
        match Path::new(&word).components().next() {
            Some(Component::RootDir) => at = PathBuf::from("/"),
            Some(Component::ParentDir) => drop(at.pop()),
            Some(Component::Normal(name)) => at.push(name),
            Some(Component::CurDir | Component::Prefix(_)) | None => {}
        }
        let target = at.read_link().ok().filter(|_| found.len() < MAX_LINKS);
        if let Some(target) = target {
            found.push(at.clone());
            at.pop();
            words(&target).into_iter().rev().for_each(|word| rest.push_front(word));
        }
    }
    found.push(at);
    found
}
