//! `[[defaults.rules]]` and `[[agents.<id>.rules]]`: parsing and combining rules. This module does not read the disk.

use std::collections::BTreeMap;

use super::{
    Problem,
    absolute::Base,
    conditions::Conditions,
    diagnostics::{Diagnostics, quoted},
    examples::{self, Example},
    table::{At, Table},
};
use crate::{
    model::{CommandPattern, Operation, PathGlob, Reason, Rule, SanitizedPath, ToolName, Verdict},
    node::Node,
};

/// The verdicts that a rule can have.
pub(super) const VERDICTS: [(&str, Verdict); 3] =
    [("allow", Verdict::Allow), ("ask", Verdict::Ask), ("deny", Verdict::Deny)];

/// The maximum number of rules that the lists of one table may expand to.
const MAX_OF_ONE_TABLE: usize = 1000;

/// One rule table: the rules it expands to, and their examples.
#[derive(Clone, Debug)]
pub(super) struct Written {
    /// The position of the table.
    offset: usize,
    /// One rule for each combination of its lists.
    pub(super) rules: Vec<Rule>,
    /// The rules for the second form of each path, if the rule denies or asks.
    below: Vec<Rule>,
    /// The fixed start of each pattern, up to the first wildcard.
    pub(super) starts: Vec<At<SanitizedPath>>,
    pub(super) examples: Vec<Example>,
}

impl Written {
    pub(super) fn all(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().chain(&self.below)
    }
}

/// Reads the rules under `rules` of one table.
pub(super) fn read(table: &mut Table<'_>, base: Base<'_>, found: &mut Diagnostics<'_>) -> Vec<Written> {
    let tables = table.tables("rules", found);
    let read = |(offset, entries)| one(Table::new("a rule", entries), offset, base, found);
    tables.into_iter().filter_map(read).collect()
}

/// Reads one rule table. Returns none if an invalid value was reported.
fn one(mut table: Table<'_>, offset: usize, base: Base<'_>, found: &mut Diagnostics<'_>) -> Option<Written> {
    let verdict = table.word("verdict", &VERDICTS, found);
    if !table.has("verdict") {
        found.add(offset, Problem::new("`verdict` is missing: set it to `allow`, `ask` or `deny`"));
    }
    let conditions = Conditions::read(&mut table, verdict.unwrap_or(Verdict::Deny), base, found);
    let children = children(&mut table, verdict, found);
    let why = why(&mut table, found);
    let texts = examples::texts(&mut table, found);
    table.finish(found);
    let (verdict, conditions, why) = (verdict?, conditions?, why?);
    found.ok(offset, conditions.can_be_met())?;
    let number = conditions.number();
    if number > MAX_OF_ONE_TABLE {
        let message = format!("the lists of this rule produce {number} rules, and the limit is {MAX_OF_ONE_TABLE}");
        found.add(offset, Problem::new(message));
        return None;
    }
    let examples = examples::understood(texts, &conditions, base, found);
    let place = found.place(offset);
    let rule = Rule {
        verdict,
        tool: None,
        operation: None,
        path: None,
        command: None,
        shape: None,
        cwd: None,
        children,
        why,
        place,
    };
    let (rules, below) = (conditions.rules(&rule), conditions.rules_below(&rule));
    Some(Written { offset, rules, below, starts: conditions.starts().collect(), examples })
}

/// Reads if the rule also allows something to the agents that its agent creates.
fn children(table: &mut Table<'_>, verdict: Option<Verdict>, found: &mut Diagnostics<'_>) -> bool {
    let place = table.peek("children").map(|node| node.place());
    let children = table.flag("children", found).unwrap_or(false);
    if let (Some(place), Some(verdict @ (Verdict::Deny | Verdict::Ask))) = (place, verdict) {
        let why = format!(
            "`children` is only for `allow`: a rule with the verdict `{verdict}` always applies to the agents that its \
             agent creates"
        );
        found.add(place, Problem::new(why).help("remove `children`"));
    }
    children
}

/// Reads the reason, if there is one. Returns the outer none if an invalid reason was reported.
fn why(table: &mut Table<'_>, found: &mut Diagnostics<'_>) -> Option<Option<Reason>> {
    if !table.has("why") {
        table.know("why");
        return Some(None);
    }
    let At { place: offset, value } = table.text("why", found)?;
    found.ok(offset, value.parse().map_err(|why| Problem::new(format!("`why`: {why}")))).map(Some)
}

/// The subject of a rule: two rules with the same subject contradict or repeat each other. The directory in which a
/// command is allowed is not part of it, because a rule that denies or asks applies in every directory.
type Subject<'r> =
    (Option<&'r ToolName>, Option<Operation>, Option<&'r PathGlob>, Option<&'r CommandPattern>, Option<&'r str>);

fn subject(rule: &Rule) -> Subject<'_> {
    let shape = rule.shape.as_ref().map(|shape| &*shape.key);
    (rule.tool.as_ref(), rule.operation, rule.path.as_ref(), rule.command.as_ref(), shape)
}

/// Returns each rule once, those of `defaults` first. Of equal rules, the first one with a reason counts: a decision
/// cites it.
pub(super) fn joined(defaults: &[Written], own: &[Written]) -> Vec<Rule> {
    let mut known = BTreeMap::new();
    let mut joined: Vec<&Rule> = Vec::new();
    for rule in defaults.iter().chain(own).flat_map(Written::all) {
        let index =
            *known.entry((rule.verdict, subject(rule), rule.cwd.as_ref(), rule.children)).or_insert_with(|| {
                joined.push(rule);
                joined.len() - 1
            });
        if let Some(first) = joined.get_mut(index).filter(|first| first.why.is_none() && rule.why.is_some()) {
            *first = rule;
        }
    }
    joined.into_iter().cloned().collect()
}

/// Reports every rule of `own` that contradicts another rule about the same subject.
///
/// A rule of an agent may be stricter than one of `defaults`. A less strict one would never have an effect.
pub(super) fn note_contradictions(defaults: &[Written], own: &[Written], found: &mut Diagnostics<'_>) {
    let of_defaults: BTreeMap<_, _> =
        defaults.iter().flat_map(|written| &written.rules).map(|rule| (subject(rule), rule)).collect();
    let mut known: BTreeMap<Subject<'_>, &Rule> = BTreeMap::new();
    for written in own {
        let contradicted = written.rules.iter().find_map(|rule| {
            let own = known.get(&subject(rule)).filter(|other| other.verdict != rule.verdict);
            let default = || of_defaults.get(&subject(rule)).filter(|other| other.verdict > rule.verdict);
            own.or_else(default).map(|other| (rule, *other))
        });
        if let Some((rule, other)) = contradicted {
            found.add(written.offset, contradiction(rule, other));
        }
        known.extend(written.rules.iter().map(|rule| (subject(rule), rule)));
    }
}

fn contradiction(rule: &Rule, other: &Rule) -> Problem {
    let said = |rule: &Rule| quoted(&Rule { why: None, ..rule.clone() }.to_string());
    let loose = rule.verdict.min(other.verdict);
    let message = format!("{} contradicts the rule at {}, {}", said(rule), other.place, said(other));
    let help = format!("the stricter rule wins, so `{loose}` has no effect: remove or narrow one of them");
    Problem::new(message).help(help)
}
