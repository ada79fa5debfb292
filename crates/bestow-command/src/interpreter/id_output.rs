//! Commands that only print identifiers from a program: of containers, commits, or objects of a cluster. Each
//! identifier is one word that begins with a letter or a digit.

use std::borrow::Cow;

use crate::syntax::tree::{Command, Form, Piece, RawWord};

/// Returns true if a command of a pipeline prints only identifiers. `before` is true if it reads only identifiers.
/// `is_function` is true for names that may mean another command.
pub(super) fn are_printed(command: &Command, before: bool, is_function: impl Fn(&str) -> bool) -> bool {
    let Form::Simple(simple) = &command.form else { return false };
    let Some((program, rest)) = simple.words.split_first() else { return false };
    let Some(program) = written(program) else { return false };
    let prints: fn(&[Option<Cow<'_, str>>]) -> bool = match program.as_ref() {
        "head" | "tail" if before => leaves_first_or_last,
        "sort" | "uniq" if before => |rest| rest.iter().all(leaves_lines),
        "docker" => containers,
        "kubectl" => objects,
        "git" => commits,
        _ => return false,
    };
    let other = is_function(&program) || !command.redirects.is_empty() || !simple.assignments.is_empty();
    !other && prints(&rest.iter().map(written).collect::<Vec<_>>())
}

/// Returns the text of a word without expansions.
fn written(word: &RawWord) -> Option<Cow<'_, str>> {
    match word.pieces.as_slice() {
        [only] => text(only).map(Cow::Borrowed),
        several => several.iter().map(text).collect(),
    }
}

/// Returns the text of a piece that is no expansion. A word with braces becomes several words.
fn text(piece: &Piece) -> Option<&str> {
    match piece {
        Piece::Bare(text) if text.contains('{') => None,
        Piece::Bare(text) | Piece::Quoted(text) => Some(text),
        Piece::Element | Piece::Glob(_) | Piece::Tilde(_) | Piece::Parameter(_) | Piece::Command { .. } => None,
        Piece::Process(_) | Piece::Arithmetic(_) => None,
    }
}

/// Returns true for an option of `sort` and `uniq` that keeps whole lines: `-n`, `-u`, `-V`.
fn leaves_lines(word: &Option<Cow<'_, str>>) -> bool {
    matches!(word.as_deref(), Some("-n" | "-u" | "-r" | "-V" | "-rV" | "-ru"))
}

/// Returns true for `-1`, `-n 5` and `-n5` of `head` and `tail`. A bare number is a file.
fn leaves_first_or_last(rest: &[Option<Cow<'_, str>>]) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match rest {
        [] => true,
        [Some(only)] => only.strip_prefix('-').is_some_and(|count| number(count.strip_prefix('n').unwrap_or(count))),
        [Some(option), Some(count)] => option == "-n" && number(count),
        _ => false,
    }
}

/// Returns true for `docker ps -q` and similar commands, with filters. The format must request identifiers or names
/// only.
fn containers(rest: &[Option<Cow<'_, str>>]) -> bool {
    const LISTS: &[&[&str]] = &[&["ps"], &["container", "ls"], &["images"], &["image", "ls"], &["compose", "ps"]];
    let behind = |list: &&[&str]| {
        let named = rest.iter().map(Option::as_deref).take(list.len()).eq(list.iter().copied().map(Some));
        named.then(|| rest.get(list.len()..)).flatten()
    };
    let Some(rest) = LISTS.iter().find_map(behind) else { return false };
    let mut words = rest.iter();
    let mut only_names = false;
    while let Some(word) = words.next() {
        match word.as_deref() {
            Some("-q" | "-aq" | "-qa" | "-lq" | "-ql" | "--quiet") => only_names = true,
            Some("-a" | "-l" | "--all" | "--latest" | "--no-trunc") => {}
            // The value of a filter is not shown.
            Some("-f" | "--filter" | "-n" | "--last") => drop(words.next()),
            Some("--format") => match words.next().and_then(Option::as_deref) {
                Some("{{.ID}}" | "{{.Names}}") => only_names = true,
                _ => return false,
            },
            Some(text) if text.starts_with("--filter=") => {}
            _ => return false,
        }
    }
    only_names
}

/// Returns true for `kubectl get pods -o name`, which prints the kind before each name.
fn objects(rest: &[Option<Cow<'_, str>>]) -> bool {
    let Some((Some(get), rest)) = rest.split_first() else { return false };
    let mut words = rest.iter();
    let mut only_names = false;
    while let Some(word) = words.next() {
        match word.as_deref() {
            Some("-oname" | "-o=name" | "--output=name") => only_names = true,
            Some("-o" | "--output") => match words.next().and_then(Option::as_deref) {
                Some("name") => only_names = true,
                _ => return false,
            },
            Some("-n" | "--namespace" | "-l" | "--selector" | "--field-selector") => drop(words.next()),
            Some("-A" | "--all-namespaces") => {}
            Some(text) if text.starts_with('-') || text.contains('=') => return false,
            Some(_) => {}
            None => return false,
        }
    }
    get == "get" && only_names
}

/// Returns true for `git rev-list` and `git log --format=%H` if they print only names of commits.
fn commits(rest: &[Option<Cow<'_, str>>]) -> bool {
    const PLAIN: &[&str] =
        &["--all", "--branches", "--tags", "--remotes", "--reverse", "--no-merges", "--merges", "--first-parent", "-n"];
    const VALUED: &[&str] =
        &["--max-count=", "--skip=", "--since=", "--until=", "--after=", "--before=", "--author=", "--grep="];
    const FORMATS: &[&str] =
        &["--format=%H", "--format=%h", "--pretty=%H", "--pretty=%h", "--pretty=format:%H", "--pretty=format:%h"];
    let Some((Some(subcommand), rest)) = rest.split_first() else { return false };
    let mut only_names = subcommand == "rev-list";
    for word in rest {
        let Some(text) = word.as_deref() else { return false };
        // Only paths follow.
        if text == "--" {
            break;
        }
        only_names |= FORMATS.contains(&text);
        let number = text.strip_prefix('-').is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
        let known = !text.starts_with('-')
            || number
            || PLAIN.contains(&text)
            || (FORMATS.contains(&text) && subcommand == "log")
            || VALUED.iter().any(|start| text.starts_with(start));
        if !known {
            return false;
        }
    }
    only_names && matches!(subcommand.as_ref(), "rev-list" | "log")
}
