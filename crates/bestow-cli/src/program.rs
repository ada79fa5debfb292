//! `bestow program`: all that is known about a program.

use bestow::{
    command::{ProgramFacts, known_programs},
    text::{Escaped, closest_word},
};

use crate::{args::Form, exit::Exit};

/// Prints the record of a program.
pub(crate) fn program(name: &str, form: Form) -> Result<Exit, Exit> {
    let facts = ProgramFacts::of(name).ok_or_else(|| unknown(name))?;
    Ok(Exit::print(&match form {
        Form::Text => facts.to_string(),
        Form::Json => serde_json::to_string(&facts).map_err(Exit::failed)? + "\n",
    }))
}

/// Refuses a name without a record, and suggests the one that it may be a misspelling of.
fn unknown(name: &str) -> Exit {
    let bare = name.rsplit('/').next().unwrap_or(name);
    let known = if ProgramFacts::of(bare).is_some() { Some(bare) } else { closest_word(name, known_programs()) };
    let help = known.map(|known| format!(": did you mean `{known}`?")).unwrap_or_default();
    Exit::failed(format_args!("nothing is known about a program `{}`{help}", Escaped(name)))
}
