//! Tests every rule with its examples.

use super::{
    Problem,
    diagnostics::{Diagnostics, quoted},
    examples::{Example, Text},
    rules::Written,
};
use crate::{
    engine::Examples,
    kernel::Rules,
    model::{Rule, RuleCwd, Settings},
};

/// Tests every rule with its examples, by the function that compares rules with actions in a decision.
pub(super) fn try_out<'w>(
    written: impl Iterator<Item = &'w Written>,
    settings: &Settings,
    found: &mut Diagnostics<'_>,
) {
    let mut written = written.filter(|written| !written.examples.is_empty()).peekable();
    if written.peek().is_none() {
        return;
    }
    let examples = Examples::under(settings).map_err(|why| Problem::new(why.to_string()));
    let examples = match examples {
        Ok(examples) => examples,
        // The problem of the settings is reported with its line already.
        Err(_) if found.any() => return,
        Err(problem) => return found.add_general(problem),
    };
    for written in written {
        let rules = Rules::compile(&written.all().cloned().map(about_its_words).collect::<Vec<_>>().into());
        for Example { text, action } in &written.examples {
            let met = examples.spoken_of_by(&rules, action).map_err(|why| Problem::new(why.to_string()));
            let met =
                met.and_then(|by| if by.is_some() == text.meant { Ok(()) } else { Err(failed(text, written, by)) });
            found.ok(text.at.place, met);
        }
    }
}

/// Returns the rule for a comparison with an example. The example counts as running in the directory of the rule.
fn about_its_words(rule: Rule) -> Rule {
    let cwd = rule.cwd.filter(|cwd| *cwd == RuleCwd::Anywhere);
    Rule { cwd, ..rule }
}

/// Creates the problem of a failed example. `by` is the rule that matches it; none if no rule of the table does.
fn failed(text: &Text<String>, written: &Written, by: Option<Rule>) -> Problem {
    // If one rule is written in two forms, the message names the form that the person wrote.
    let by = by.filter(|by| written.rules.len() > 1 || written.rules.iter().any(|rule| rule.says_the_same(by)));
    let rule = by.as_ref().or(written.rules.first()).map_or_else(String::new, |rule| quoted(&rule.to_string()));
    let more = match written.rules.len().saturating_sub(1) {
        more if more > 0 && by.is_none() => format!(" (and {more} more from this table)"),
        _ => String::new(),
    };
    let says = if text.meant { "does not match it" } else { "matches it" };
    let Text { key, at, .. } = text;
    Problem::new(format!("the example {} of `{key}` fails: the rule {rule}{more} {says}", quoted(&at.value)))
}
