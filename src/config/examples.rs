//! `match` and `not_match` of a rule: actions that it must match, and actions that it must not match.

use super::{
    absolute::Base,
    conditions::Conditions,
    diagnostics::Diagnostics,
    table::{At, Table},
};
use crate::model::Action;

/// The keys, and true if the rule must match the examples under them.
const KEYS: [(&str, bool); 2] = [("match", true), ("not_match", false)];

/// An action that a rule must match, or must not match.
#[derive(Clone, Debug)]
pub(super) struct Example {
    pub(super) text: Text<String>,
    pub(super) action: Action,
}

/// An example as it is written.
#[derive(Clone, Debug)]
pub(super) struct Text<T> {
    pub(super) key: &'static str,
    pub(super) meant: bool,
    pub(super) at: At<T>,
}

/// Reads the examples under both keys.
pub(super) fn texts<'t>(table: &mut Table<'t>, found: &mut Diagnostics<'_>) -> Vec<Text<&'t str>> {
    let mut texts = Vec::new();
    for (key, meant) in KEYS {
        let written = table.one_or_more(key, found).unwrap_or_default();
        texts.extend(written.into_iter().map(|at| Text { key, meant, at }));
    }
    texts
}

/// Converts `texts` to actions, and reports invalid ones.
pub(super) fn understood(
    texts: Vec<Text<&str>>,
    conditions: &Conditions,
    base: Base<'_>,
    found: &mut Diagnostics<'_>,
) -> Vec<Example> {
    let mut examples = Vec::new();
    for Text { key, meant, at: At { place: offset, value } } in texts {
        let action = found.ok(offset, conditions.example(value, base));
        let text = Text { key, meant, at: At { place: offset, value: value.to_owned() } };
        examples.extend(action.map(|action| Example { text, action }));
    }
    examples
}
