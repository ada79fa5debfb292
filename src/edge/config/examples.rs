//! `match` and `not_match` of a rule: actions that it must speak about, and actions that it must not.

use super::{
    Problem,
    absolute::Base,
    conditions::Conditions,
    finding::{Findings, quoted},
    rules::Written,
    table::{At, Table},
};
use crate::{
    engine::Examples,
    kernel::Rules,
    model::{Action, Rule, RuleCwd, Settings},
};

/// The keys, and whether the rule must speak about what stands under them.
const KEYS: [(&str, bool); 2] = [("match", true), ("not_match", false)];

/// An action that a rule is meant to speak about, or is not.
#[derive(Clone, Debug)]
pub(super) struct Example {
    text: Text<String>,
    action: Action,
}

/// An example as it is written.
#[derive(Clone, Debug)]
pub(super) struct Text<T> {
    key: &'static str,
    meant: bool,
    at: At<T>,
}

/// What stands under both keys.
pub(super) fn texts<'t>(table: &mut Table<'t>, found: &mut Findings<'_>) -> Vec<Text<&'t str>> {
    let mut texts = Vec::new();
    for (key, meant) in KEYS {
        let written = table.one_or_more(key, found).unwrap_or_default();
        texts.extend(written.into_iter().map(|at| Text { key, meant, at }));
    }
    texts
}

/// `texts` as actions; those that are none are noted.
pub(super) fn understood(
    texts: Vec<Text<&str>>,
    conditions: &Conditions,
    base: Base<'_>,
    found: &mut Findings<'_>,
) -> Vec<Example> {
    let mut examples = Vec::new();
    for Text { key, meant, at: At { offset, value } } in texts {
        let action = found.ok(offset, conditions.example(value, base));
        let text = Text { key, meant, at: At { offset, value: value.to_owned() } };
        examples.extend(action.map(|action| Example { text, action }));
    }
    examples
}

/// Tries every rule with its examples, by what compares rules with actions whenever one is decided.
pub(super) fn try_out<'w>(written: impl Iterator<Item = &'w Written>, settings: &Settings, found: &mut Findings<'_>) {
    let mut written = written.filter(|written| !written.examples.is_empty()).peekable();
    if written.peek().is_none() {
        return;
    }
    let examples = Examples::under(settings).map_err(|why| Problem::new(why.to_string()));
    let examples = match examples {
        Ok(examples) => examples,
        // Whatever the settings suffer from, it was told with its line.
        Err(_) if found.any() => return,
        Err(problem) => return found.add_general(problem),
    };
    for written in written {
        let rules = Rules::compile(&written.all().cloned().map(about_its_words).collect::<Vec<_>>().into());
        for Example { text, action } in &written.examples {
            let met = examples.spoken_of_by(&rules, action).map_err(|why| Problem::new(why.to_string()));
            let met =
                met.and_then(|by| if by.is_some() == text.meant { Ok(()) } else { Err(failed(text, written, by)) });
            found.ok(text.at.offset, met);
        }
    }
}

/// The rule as an example is compared with it, which runs where the rule says.
fn about_its_words(rule: Rule) -> Rule {
    let cwd = rule.cwd.filter(|cwd| *cwd == RuleCwd::Anywhere);
    Rule { cwd, ..rule }
}

/// `by` is the rule that speaks about it, if one does; otherwise none of the table does.
fn failed(text: &Text<String>, written: &Written, by: Option<Rule>) -> Problem {
    // Of one rule that is written in two forms, a person knows the one that they wrote.
    let by = by.filter(|by| written.rules.len() > 1 || written.rules.iter().any(|rule| rule.says_the_same(by)));
    let rule = by.as_ref().or(written.rules.first()).map_or_else(String::new, |rule| quoted(&rule.to_string()));
    let more = match written.rules.len().saturating_sub(1) {
        more if more > 0 && by.is_none() => format!(" (and {more} more from this table)"),
        _ => String::new(),
    };
    let says = if text.meant { "does not speak about it" } else { "speaks about it" };
    let Text { key, at, .. } = text;
    Problem::new(format!("the example {} of `{key}` fails: the rule {rule}{more} {says}", quoted(&at.value)))
}
