//! What a shell knows while a line runs: variables, functions, the working directory.

use std::{collections::HashMap, rc::Rc};

use super::arg::{HOME, Known, SOMETHING, UNKNOWN};
use crate::command::syntax::tree::Command;

/// What is known of a variable.
#[derive(Clone, Debug)]
pub(in crate::command) enum Value {
    /// One of these texts.
    OneOf(Vec<String>),
    /// Not known, but of a form that can do no harm (a number, a commit).
    Tame,
    /// Anything.
    Wild,
}

/// Where relative paths begin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::command) enum Place {
    /// Where the host starts commands.
    #[default]
    Start,
    /// After `cd` to this text.
    At(String),
    /// After a `cd` nobody can follow.
    Somewhere,
}

/// The shell's memory. A subshell gets a copy.
#[derive(Clone, Debug, Default)]
pub(in crate::command) struct Scope {
    pub(in crate::command) variables: HashMap<String, Value>,
    pub(in crate::command) functions: HashMap<String, Rc<Command>>,
    pub(in crate::command) positional: Vec<String>,
    pub(in crate::command) place: Place,
}

/// A variable's possible texts, and how well they are known.
#[derive(Debug)]
pub(in crate::command) struct Reading {
    pub(in crate::command) texts: Vec<String>,
    pub(in crate::command) known: Known,
}

impl Reading {
    fn one(text: impl Into<String>, known: Known) -> Self {
        Reading { texts: vec![text.into()], known }
    }
}

impl Scope {
    /// What `name` may expand to.
    pub(in crate::command) fn read(&self, name: &str) -> Reading {
        match self.variables.get(name) {
            Some(Value::OneOf(texts)) => return Reading { texts: texts.clone(), known: Known::Fully },
            Some(Value::Tame) => return Reading::one(SOMETHING, Known::Environment),
            Some(Value::Wild) => return Reading::one(UNKNOWN, Known::Partly),
            None => {}
        }
        match name {
            "HOME" => Reading::one(HOME, Known::Environment),
            "PWD" => Reading::one(".", Known::Environment),
            "IFS" => Reading::one(" \t\n", Known::Fully),
            "@" | "*" => Reading { texts: self.positional.clone(), known: self.positional_known() },
            "?" | "#" | "$" | "!" | "PPID" | "UID" | "EUID" | "RANDOM" | "SECONDS" | "LINENO" | "EPOCHSECONDS" => {
                Reading::one(SOMETHING, Known::Environment)
            }
            _ => self.read_position(name),
        }
    }

    fn read_position(&self, name: &str) -> Reading {
        match name.parse::<usize>() {
            Ok(0) | Err(_) => Reading::one(UNKNOWN, Known::Environment),
            Ok(index) => {
                Reading::one(self.positional.get(index - 1).cloned().unwrap_or_default(), self.positional_known())
            }
        }
    }

    fn positional_known(&self) -> Known {
        if self.positional.iter().any(|text| text.contains(UNKNOWN)) { Known::Partly } else { Known::Environment }
    }

    /// What [`Place`] a `cd` to `target` leads to.
    pub(in crate::command) fn enter(&mut self, target: &str) {
        self.place = match &self.place {
            _ if target.contains([UNKNOWN, SOMETHING]) => Place::Somewhere,
            _ if target.starts_with(['/', HOME]) => Place::At(target.into()),
            Place::At(base) => Place::At(format!("{base}/{target}")),
            Place::Start => Place::At(target.into()),
            Place::Somewhere => Place::Somewhere,
        };
    }
}
