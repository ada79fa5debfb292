//! The call of a declared tool. Its fields are read according to the declaration.

use std::{borrow::Cow, sync::LazyLock};

use serde_json::{Map, Value};

use crate::{
    tool::{ToolUse, patch, tool_use::operation_of},
    values::{Access, Field, Found, Operation, Tool},
};

/// Returns the main use of a call and its further uses.
pub(super) fn read<'v>(tool: &Tool, input: &'v Value) -> Result<(ToolUse<'v>, Vec<ToolUse<'v>>), &'static str> {
    let mut uses = Vec::new();
    commands(tool, input, &mut uses)?;
    paths(tool, input, &mut uses)?;
    hosts(tool, input, &mut uses)?;
    besides_paths(tool, input, &mut uses)?;
    if tool.operation == Operation::Tool {
        uses.insert(0, ToolUse::Tool);
    }
    let own =
        uses.iter().position(|used| used.operation() == tool.operation).ok_or("the input does not say on what")?;
    let own = uses.remove(own);
    Ok((own, uses))
}

/// The usual names of the field with the directory in which a command runs.
static DIRECTORY: LazyLock<Vec<Field>> = LazyLock::new(|| {
    let usual = "cwd|workdir|working_dir|working_directory|dir_path|directory?".parse();
    usual.into_iter().collect()
});

/// Returns the fields of the directory in which a command runs.
fn directories(tool: &Tool) -> &[Field] {
    let is_command = tool.operation == Operation::Command;
    if is_command && tool.directory.is_empty() { &DIRECTORY } else { &tool.directory }
}

/// Returns the directory in which a command runs, if the call names one.
pub(super) fn directory<'v>(tool: &Tool, input: &'v Value) -> Result<Option<&'v str>, &'static str> {
    match each(directories(tool), input)?.as_slice() {
        [] => Ok(None),
        [directory] => Ok(Some(directory)),
        _ => Err("the input names several directories"),
    }
}

/// Returns the parts of the input that the declaration does not name.
pub(super) fn unnamed(tool: &Tool, input: &Value) -> Map<String, Value> {
    let ignored: Vec<Field> = tool.ignored.iter().filter_map(|name| name.parse().ok()).collect();
    let named = tool.fields().flat_map(|(_, fields)| fields);
    let is_plain = |field: &&Field| match field.read(input, false) {
        Ok(Some(Found::Text(text))) => is_plain_directory(text),
        Ok(Some(Found::List(_)) | None) | Err(_) => false,
    };
    let directories = directories(tool).iter().filter(is_plain);
    let Some(Value::Object(mut rest)) = Field::unselected(named.chain(directories).chain(&ignored), input) else {
        return Map::new();
    };
    // The name of a field may have other characters than a `Field`.
    rest.retain(|name, _| !tool.ignored.iter().any(|ignored| **ignored == **name));
    rest
}

/// Returns true if `text` is certainly a directory for everybody: a shell that gets it would expand nothing in it, and
/// run no part of it.
fn is_plain_directory(text: &str) -> bool {
    let is_plain = text.chars().all(|c| c.is_alphanumeric() || "/._-+@ ".contains(c));
    is_plain && (text.starts_with(['/', '.']) || !text.contains(' '))
}

/// Returns the unnamed fields that may change the effect of a command: a number and a flag that is not set do not.
pub(super) fn besides(tool: &Tool, unnamed: &Map<String, Value>) -> Map<String, Value> {
    if tool.operation != Operation::Command {
        return Map::new();
    }
    let changes = |value: &Value| !matches!(value, Value::Null | Value::Number(_) | Value::Bool(false));
    let entries = unnamed.iter().filter(|(_, value)| changes(value));
    entries.map(|(key, value)| (key.clone(), value.clone())).collect()
}

fn texts<'v>(fields: &[Field], input: &'v Value, blank: bool) -> Result<Vec<Found<'v>>, &'static str> {
    let read = fields.iter().map(|field| field.read(input, blank).map_err(|why| why.why()));
    read.filter_map(Result::transpose).collect()
}

fn each<'v>(fields: &[Field], input: &'v Value) -> Result<Vec<&'v str>, &'static str> {
    let found = texts(fields, input, false)?.into_iter();
    let names: Vec<&str> = found
        .flat_map(|found| match found {
            Found::Text(text) => vec![text],
            Found::List(list) => list,
        })
        .collect();
    if names.iter().any(|name| is_padded(name)) { Err(PADDED) } else { Ok(names) }
}

/// The reason to refuse a padded name.
const PADDED: &str = "a path or name begins or ends with white space, which some tools leave out: write it without";

/// Returns true if a tool may read another name than the one that is written. Tools in JavaScript leave out white space
/// around a path, and the byte order mark counts as such there.
fn is_padded(name: &str) -> bool {
    let is_space = |letter: char| letter.is_whitespace() || letter == '\u{feff}';
    name.starts_with(is_space) || name.ends_with(is_space)
}

fn commands<'v>(tool: &Tool, input: &'v Value, uses: &mut Vec<ToolUse<'v>>) -> Result<(), &'static str> {
    let lines = texts(&tool.command, input, true)?;
    if lines.is_empty() && !tool.command.is_empty() {
        // The call of a tool that works without a line runs nothing.
        uses.push(ToolUse::Command(":".into()));
    }
    for found in lines {
        uses.push(ToolUse::Command(match found {
            Found::Text(line) => line.into(),
            Found::List(words) => joined(&words).into(),
        }));
    }
    Ok(())
}

/// Joins words to a command line that a shell splits into the given words.
pub(super) fn joined(words: &[&str]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%:,=".contains(c);
    let quoted = |word: &&str| {
        // A quoted `name=value` is not an assignment. Without a shell, it is the name of a program.
        let is_plain = !word.is_empty() && word.chars().all(plain) && !word.contains('=');
        if is_plain { (*word).to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

fn paths<'v>(tool: &Tool, input: &'v Value, uses: &mut Vec<ToolUse<'v>>) -> Result<(), &'static str> {
    let (operation, tree) = (tool.operation, tool.tree);
    let named = each(&tool.path, input)?;
    // A tool without a path works in its current directory.
    let here = named.is_empty() && operation == Operation::Read;
    let at = named.iter().copied().chain(here.then_some(".")).map(Cow::Borrowed);
    let bases = if named.is_empty() { &[""][..] } else { &named };
    let globs = each(&tool.glob, input)?;
    let pairs = globs.iter().flat_map(|glob| bases.iter().map(move |base| leaves(base, glob)));
    let globs = pairs.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().map(Cow::Owned);
    uses.extend(at.chain(globs).map(|text| ToolUse::Path { operation, text, tree }));
    for found in texts(&tool.patch, input, false)? {
        let Found::Text(patch) = found else { return Err("the input holds something other than text") };
        let named = patch::paths(patch)?;
        if named.iter().any(|name| is_padded(name)) {
            return Err(PADDED);
        }
        uses.extend(named.into_iter().map(|text| ToolUse::Path { operation, text: text.into(), tree }));
    }
    Ok(())
}

/// Returns the globs of a call.
pub(super) fn globs<'v>(tool: &Tool, input: &'v Value) -> Result<Vec<&'v str>, &'static str> {
    each(&tool.glob, input)
}

/// Returns the paths of `glob` outside of `base`: the file that it names without a pattern, or the directory before the
/// first pattern character.
fn leaves(base: &str, glob: &str) -> Result<Vec<String>, &'static str> {
    let mut elsewhere = Vec::new();
    for glob in written_out(glob)? {
        let is_pattern = |c: char| "*?[]{}!()|".contains(c);
        let (fixed, pattern) = glob.find(is_pattern).map_or((&*glob, ""), |at| glob.split_at(at));
        let directory = if pattern.is_empty() { fixed } else { fixed.rsplit_once('/').map_or("", |(dir, _)| dir) };
        if pattern.split(|c: char| c == '/' || c == ',' || is_pattern(c)).any(|part| part == "..") {
            return Err("the pattern leaves the directory");
        }
        let from = if base.is_empty() { "." } else { base };
        let climbs = directory.split('/').any(|part| part == "..");
        if fixed.starts_with(['/', '~']) {
            elsewhere.push(if directory.is_empty() { "/".to_owned() } else { directory.to_owned() });
        } else if climbs || pattern.is_empty() && !fixed.is_empty() {
            elsewhere.push(format!("{from}/{directory}"));
        }
    }
    Ok(elsewhere)
}

/// The limit of globs that the alternatives of one glob expand to.
const MOST_WRITTEN_OUT: usize = 256;

/// Expands the alternatives `{a,b}` and `(a|b)` of a glob.
fn written_out(glob: &str) -> Result<Vec<String>, &'static str> {
    const TOO_MANY: &str = "the pattern has too many alternatives to be checked";
    let (mut done, mut open) = (Vec::new(), vec![glob.to_owned()]);
    while let Some(text) = open.pop() {
        if done.len() + open.len() > MOST_WRITTEN_OUT {
            return Err(TOO_MANY);
        }
        // The innermost alternative comes first, because it contains no other.
        let inner = text.find(['}', ')']).and_then(|end| Some((text.get(..end)?.rfind(['{', '('])?, end)));
        let Some((start, end)) = inner else {
            done.push(text);
            continue;
        };
        let (before, inside, after) = (text.get(..start), text.get(start + 1..end), text.get(end + 1..));
        let (Some(before), Some(inside), Some(after)) = (before, inside, after) else { return Err(TOO_MANY) };
        // A sign before `(` gives the number of repetitions.
        let before = if text.get(start..).is_some_and(|rest| rest.starts_with('(')) {
            before.trim_end_matches(['@', '?', '*', '+', '!'])
        } else {
            before
        };
        open.extend(inside.split([',', '|']).map(|part| format!("{before}{part}{after}")));
    }
    Ok(done)
}

fn hosts<'v>(tool: &Tool, input: &'v Value, uses: &mut Vec<ToolUse<'v>>) -> Result<(), &'static str> {
    let before = uses.len();
    for text in each(&tool.host, input)? {
        uses.push(host(text)?);
    }
    if tool.operation == Operation::Network && uses.len() == before {
        uses.push(ToolUse::Network);
    }
    Ok(())
}

/// Returns the host of a URL, or a bare host. A `file:` URL is a path that is read.
pub(super) fn host(text: &str) -> Result<ToolUse<'_>, &'static str> {
    const NO_HOST: &str = "the input names no host";
    let text = text.trim();
    if text.chars().any(|c| c.is_whitespace() || c.is_control() || c == '\\') {
        return Err(NO_HOST);
    }
    // A browser reads `https:/host` and `https:host` as `https://host`. These spellings are refused here.
    let scheme = text.split_once(':').map(|(scheme, _)| scheme).filter(|_| !text.contains("://"));
    let is_scheme = |scheme: &str| REACHED.iter().chain(&["file"]).any(|known| known.eq_ignore_ascii_case(scheme));
    if scheme.is_some_and(is_scheme) {
        return Err("a scheme stands in front of the host without `//`");
    }
    let rest = match text.split_once("://") {
        Some((scheme, path)) if scheme.eq_ignore_ascii_case("file") => return file(path).ok_or(NO_HOST),
        Some((scheme, rest)) if REACHED.iter().any(|known| known.eq_ignore_ascii_case(scheme)) => rest,
        Some(_) => return Err(NO_HOST),
        None => text,
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match host.strip_prefix('[') {
        Some(address) => address.split(']').next().unwrap_or(address),
        None => host.split(':').next().unwrap_or(host),
    };
    // Browsers translate some other characters, so that such a host would be another one for them.
    let is_plain = host.chars().all(|c| c.is_ascii_alphanumeric() || "-._:".contains(c));
    if host.is_empty() || !is_plain { Err(NO_HOST) } else { Ok(ToolUse::Host(host)) }
}

/// The schemes of addresses with a host.
pub(super) const REACHED: &[&str] = &["http", "https", "ws", "wss", "ftp", "ftps", "sftp", "ssh", "git"];

/// Returns the path after `file://`. Returns `None` if the path contains an escape.
pub(super) fn file(rest: &str) -> Option<ToolUse<'_>> {
    let path = rest.find('/').and_then(|at| rest.get(at..))?;
    (!path.contains('%')).then(|| ToolUse::read(path))
}

fn besides_paths<'v>(tool: &Tool, input: &'v Value, uses: &mut Vec<ToolUse<'v>>) -> Result<(), &'static str> {
    for (fields, access) in [(&tool.reads, Access::Read), (&tool.writes, Access::Write)] {
        let operation = operation_of(access);
        let paths = each(fields, input)?.into_iter();
        uses.extend(paths.map(|text| ToolUse::Path { operation, text: text.into(), tree: false }));
    }
    Ok(())
}
