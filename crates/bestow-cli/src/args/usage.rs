//! Sentences for words that the command line does not understand.

use std::{error::Error as _, ffi::OsString};

use bestow::text::Escaped;
use clap::{
    Command, Error,
    error::{ContextKind, ContextValue, ErrorKind},
};

use crate::suggest;

/// Follows `words` down the tree of commands. Returns the command that they name, and its name in full.
pub(super) fn named(root: &Command, words: impl Iterator<Item = OsString>) -> (&Command, String) {
    let (mut command, mut name) = (root, root.get_name().to_owned());
    for word in words {
        let Some(next) = word.to_str().and_then(|word| command.find_subcommand(word)) else { break };
        command = next;
        name = format!("{name} {}", next.get_name());
    }
    (command, name)
}

/// Returns a sentence that names the word that is wrong, and the way out.
pub(super) fn sentence(error: &Error, command: &Command) -> String {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let argument =
        || first(error, ContextKind::InvalidArg).map_or_else(|| "a word".to_owned(), |text| in_backticks(&text));
    let value = || first(error, ContextKind::InvalidValue).unwrap_or_default();
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let typed = first(error, ContextKind::InvalidSubcommand).unwrap_or_default();
            let way_out = suggest::suggest(&typed, &choices(command));
            format!("`{name}` has no command `{}`: {way_out}", Escaped(&typed))
        }
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            format!("`{name}` needs a command: {}", suggest::listed(&choices(command)))
        }
        ErrorKind::UnknownArgument => unknown(error, command, name),
        ErrorKind::MissingRequiredArgument => {
            let missing = all(error, ContextKind::InvalidArg);
            missing.iter().map(|argument| missing_sentence(argument, command)).collect::<Vec<_>>().join("\n")
        }
        ErrorKind::ArgumentConflict => {
            let (one, others) = (argument(), all(error, ContextKind::PriorArg));
            let others: Vec<_> = others.iter().map(|other| in_backticks(other)).filter(|other| *other != one).collect();
            match others.is_empty() {
                true => format!("{one} is given twice"),
                false => format!("{one} and {} exclude each other", others.join(", ")),
            }
        }
        ErrorKind::ValueValidation => {
            let why = error.source().map_or_else(|| "the value is wrong".to_owned(), ToString::to_string);
            format!("{}: {why}", argument())
        }
        ErrorKind::InvalidValue if value().is_empty() => format!("{} needs a value", argument()),
        ErrorKind::InvalidValue => {
            let valid = all(error, ContextKind::ValidValue);
            let valid: Vec<_> = valid.iter().map(String::as_str).collect();
            let way_out = suggest::suggest(&value(), &valid);
            format!("{}: `{}` does not exist: {way_out}", argument(), Escaped(&value()))
        }
        ErrorKind::InvalidUtf8 => "a word of the command line is not UTF-8".to_owned(),
        // The sentence of the parser itself, for what cannot happen with this definition.
        ErrorKind::NoEquals
        | ErrorKind::TooManyValues
        | ErrorKind::TooFewValues
        | ErrorKind::WrongNumberOfValues
        | ErrorKind::DisplayHelp
        | ErrorKind::DisplayVersion
        | ErrorKind::Io
        | ErrorKind::Format
        | _ => {
            let text = error.render().to_string();
            text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()
        }
    }
}

/// Describes an option or a word that the command does not take.
fn unknown(error: &Error, command: &Command, name: &str) -> String {
    let typed = first(error, ContextKind::InvalidArg).unwrap_or_default();
    if !typed.starts_with('-') {
        return format!("`{name}` does not take the word `{}`", Escaped(&typed));
    }
    let option = typed.split('=').next().unwrap_or(&typed);
    let long = |argument: &clap::Arg| argument.get_long().map(|long| format!("--{long}"));
    let options: Vec<_> = command.get_arguments().filter_map(long).collect();
    let way_out = suggest::suggest(option, &options.iter().map(String::as_str).collect::<Vec<_>>());
    format!("`{name}` has no option `{}`: {way_out}", Escaped(option))
}

/// Describes an argument that is missing, with the help text of its definition.
fn missing_sentence(argument: &str, command: &Command) -> String {
    if argument.contains('|') {
        let choices = argument.trim_matches(['<', '>']).split('|').map(in_backticks);
        return format!("one of {} is missing", choices.collect::<Vec<_>>().join(", "));
    }
    let is_meant = |known: &&clap::Arg| known.to_string() == argument;
    let help = command.get_arguments().find(is_meant).and_then(clap::Arg::get_help).map(ToString::to_string);
    let help = help.map_or_else(String::new, |help| format!(": {help}"));
    format!("{} is missing{help}", in_backticks(argument))
}

/// Quotes an argument: an option without the name of its value, and a word as it is written where it is required.
fn in_backticks(argument: &str) -> String {
    if let Some(word) = argument.strip_prefix('[').and_then(|word| word.strip_suffix(']')) {
        return format!("`<{}>`", Escaped(word));
    }
    let short = if argument.starts_with('-') { argument.split([' ', '=']).next() } else { None };
    format!("`{}`", Escaped(short.unwrap_or(argument)))
}

/// Returns the names of the commands below `command`.
fn choices(command: &Command) -> Vec<&str> {
    command.get_subcommands().map(Command::get_name).filter(|name| *name != "help").collect()
}

fn first(error: &Error, kind: ContextKind) -> Option<String> {
    all(error, kind).into_iter().next()
}

fn all(error: &Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(all)) => all.clone(),
        _ => Vec::new(),
    }
}
