//! `[[defaults.rules]]` and `[[agents.<id>.rules]]`: lists taken apart, patterns made absolute. Nothing here reads the disk.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Problem,
    absolute::Base,
    disk::{self, Lead},
    finding::{Findings, did_you_mean, quoted},
    pattern::{self, Pattern},
    table::{At, Table},
};
use crate::{
    engine::Examples,
    kernel::Rules,
    model::{Action, CommandPattern, Operation, PathGlob, Reason, Rule, SanitizedPath, Settings, ToolName, Verdict},
};

/// What a rule can say, and a test expect.
pub(super) const VERDICTS: [(&str, Verdict); 3] =
    [("allow", Verdict::Allow), ("ask", Verdict::Ask), ("deny", Verdict::Deny)];

/// How many rules the lists of one table may come to.
const MAX_OF_ONE_TABLE: usize = 1000;

/// One table of a rule: what it comes to, and what it is tried with.
#[derive(Clone, Debug)]
pub(super) struct Written {
    /// Where the table stands.
    offset: usize,
    /// One for each combination of its lists.
    rules: Vec<Rule>,
    /// What a no or a question about a path says about everything below it, too.
    below: Vec<Rule>,
    /// Where its patterns begin, up to the first wildcard.
    starts: Vec<At<SanitizedPath>>,
    examples: Vec<Example>,
}

/// An action that a rule is meant to speak about, or is not.
#[derive(Clone, Debug)]
struct Example {
    offset: usize,
    key: &'static str,
    text: String,
    meant: bool,
    action: Action,
}

/// The conditions of a rule: two rules with the same ones speak about the same.
type Conditions<'r> = (Option<&'r ToolName>, Option<Operation>, Option<&'r PathGlob>, Option<&'r CommandPattern>);

fn conditions(rule: &Rule) -> Conditions<'_> {
    (rule.tool.as_ref(), rule.operation, rule.path.as_ref(), rule.command.as_ref())
}

impl Written {
    fn all(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().chain(&self.below)
    }
}

/// Each rule once, those of `defaults` first.
pub(super) fn joined<'w>(defaults: &'w [Written], own: &'w [Written]) -> Vec<Rule> {
    let mut known = BTreeSet::new();
    let all = defaults.iter().chain(own).flat_map(Written::all);
    all.filter(|rule| known.insert((rule.verdict, conditions(rule)))).cloned().collect()
}

/// Notes every rule of `own` that says something else than another one about the same.
///
/// An agent may be bound more tightly than `defaults` bind everybody; what loosens them would never count.
pub(super) fn note_contradictions(defaults: &[Written], own: &[Written], found: &mut Findings<'_>) {
    let of_defaults: BTreeMap<_, _> =
        defaults.iter().flat_map(|written| &written.rules).map(|rule| (conditions(rule), rule)).collect();
    let mut known: BTreeMap<Conditions<'_>, &Rule> = BTreeMap::new();
    for written in own {
        let against = written.rules.iter().find_map(|rule| {
            let looser = |other: &&&Rule| rule.verdict < other.verdict;
            let other = |other: &&&Rule| rule.verdict != other.verdict;
            let before = known.get(&conditions(rule)).filter(other);
            before.or_else(|| of_defaults.get(&conditions(rule)).filter(looser)).map(|other| (rule, *other))
        });
        if let Some((rule, other)) = against {
            found.add(written.offset, contradiction(rule, other));
        }
        known.extend(written.rules.iter().map(|rule| (conditions(rule), rule)));
    }
}

fn contradiction(rule: &Rule, other: &Rule) -> Problem {
    let said = |rule: &Rule| quoted(&Rule { why: None, ..rule.clone() }.to_string());
    let loose = rule.verdict.min(other.verdict);
    let message = format!("{} contradicts the rule at {}, {}", said(rule), other.place, said(other));
    let help = format!("the stricter one counts, so `{}` never would: remove or narrow one of them", loose);
    Problem::new(message).help(help)
}

/// The rules under `rules` of one table.
pub(super) fn read(table: &mut Table<'_>, base: Base<'_>, found: &mut Findings<'_>) -> Vec<Written> {
    let tables = table.tables("rules", found);
    let read = |(offset, entries)| one(Table::new("a rule", entries), offset, base, found);
    tables.into_iter().filter_map(read).collect()
}

/// What one condition of a rule may be: one of these, or nothing, which is no condition.
type OneOf<T> = Vec<Option<T>>;

/// One rule; none if something about it has been noted as wrong.
fn one(mut table: Table<'_>, offset: usize, base: Base<'_>, found: &mut Findings<'_>) -> Option<Written> {
    let verdict = table.word("verdict", &VERDICTS, found);
    if !table.has("verdict") {
        found.add(offset, Problem::new("`verdict` is missing: set it to `allow`, `ask` or `deny`"));
    }
    let tools = one_of(&mut table, "tool", found, tool);
    let operations = one_of(&mut table, "operation", found, operation);
    let strict = verdict.unwrap_or(Verdict::Deny);
    let patterns = one_of(&mut table, "path", found, |text| {
        Ok(At { offset: text.offset, value: pattern::parse(text.value, base, strict)? })
    });
    let commands = one_of(&mut table, "command", found, command);
    let why = table.text("why", found);
    let why: Option<Option<Reason>> = match why {
        None => Some(None),
        Some(At { offset, value }) => {
            found.ok(offset, value.parse().map_err(|why| Problem::new(format!("`why`: {why}")))).map(Some)
        }
    };
    let written = Tries::read(&mut table, found);
    table.finish(found);
    let (verdict, tools, operations, patterns, commands) = (verdict?, tools?, operations?, patterns?, commands?);
    found.ok(offset, never_met(&operations, &patterns, &commands))?;
    let examples = written.understood(&tools, &operations, &patterns, &commands, base, found);
    let rule =
        Rule { verdict, tool: None, operation: None, path: None, command: None, why: why?, place: found.place(offset) };
    let number = tools.len() * operations.len() * patterns.len() * commands.len();
    if number > MAX_OF_ONE_TABLE {
        let message = format!("the lists of this rule come to {number} rules, and {MAX_OF_ONE_TABLE} are the most");
        found.add(offset, Problem::new(message));
        return None;
    }
    let (mut rules, mut below) = (Vec::with_capacity(number), Vec::new());
    for tool in &tools {
        for operation in &operations {
            let rule = Rule { tool: tool.clone(), operation: *operation, ..rule.clone() };
            for command in &commands {
                rules.extend(patterns.iter().map(|path| {
                    let path = path.as_ref().map(|path| path.value.glob.clone());
                    Rule { path, command: command.clone(), ..rule.clone() }
                }));
            }
            let more = patterns.iter().flatten().filter_map(|path| path.value.besides.clone());
            below.extend(more.map(|path| Rule { path: Some(path), ..rule.clone() }));
        }
    }
    let starts = patterns.into_iter().flatten();
    let starts = starts.filter_map(|At { offset, value }| Some(At { offset, value: value.start? })).collect();
    Some(Written { offset, rules, below, starts, examples })
}

/// The values under `key`; none if something about them has been noted as wrong.
fn one_of<'t, T>(
    table: &mut Table<'t>,
    key: &'static str,
    found: &mut Findings<'_>,
    parse: impl Fn(At<&'t str>) -> Result<T, Problem>,
) -> Option<OneOf<T>> {
    if !table.has(key) {
        let _known = table.value(key);
        return Some(vec![None]);
    }
    let texts = table.one_or_more(key, found)?;
    let length = texts.len();
    let values: Vec<_> = texts.into_iter().filter_map(|text| found.ok(text.offset, parse(text)).map(Some)).collect();
    (values.len() == length).then_some(values)
}

fn tool(text: At<&str>) -> Result<ToolName, Problem> {
    text.value.parse().map_err(|why| Problem::new(format!("{} is not the name of a tool: {why}", quoted(text.value))))
}

fn operation(text: At<&str>) -> Result<Operation, Problem> {
    text.value.parse().map_err(|why| {
        let mut problem = Problem::new(format!("{} is not an operation: {why}", quoted(text.value)));
        problem.help = did_you_mean(text.value, ["fs.read", "fs.write", "fs.exec", "command.execute", "network"]);
        problem
    })
}

fn command(text: At<&str>) -> Result<CommandPattern, Problem> {
    text.value.parse().map_err(|why| Problem::new(format!("{}: {why}", quoted(text.value))))
}

/// Conditions that no action meets together.
fn never_met(
    operations: &[Option<Operation>],
    patterns: &[Option<At<Pattern>>],
    commands: &[Option<CommandPattern>],
) -> Result<(), Problem> {
    let (of_path, of_command) = (patterns.iter().any(Option::is_some), commands.iter().any(Option::is_some));
    if of_path && of_command {
        let problem =
            Problem::new("`path` and `command` are never met together: an action is about a path or a command");
        return Err(problem.help("write two rules"));
    }
    for operation in operations.iter().flatten() {
        let has_path = matches!(operation, Operation::Read | Operation::Write | Operation::Exec);
        if of_path && !has_path {
            let message = format!("`path` is never met by `{operation}`, which is not about a path");
            return Err(Problem::new(message).help("a path goes with `fs.read`, `fs.write` and `fs.exec`"));
        }
        if of_command && *operation != Operation::Command {
            let message = format!("`command` is never met by `{operation}`, which is not about a command line");
            return Err(Problem::new(message).help("a command goes with `command.execute`"));
        }
    }
    Ok(())
}

/// The texts of `match` and `not_match`.
struct Tries<'t> {
    texts: Vec<(&'static str, bool, At<&'t str>)>,
}

impl<'t> Tries<'t> {
    fn read(table: &mut Table<'t>, found: &mut Findings<'_>) -> Tries<'t> {
        let mut texts = Vec::new();
        for (key, meant) in [("match", true), ("not_match", false)] {
            let written = table.one_or_more(key, found).unwrap_or_default();
            texts.extend(written.into_iter().map(|text| (key, meant, text)));
        }
        Tries { texts }
    }

    /// As actions of the first tool and operation that the rule names: an example is about its paths or commands.
    fn understood(
        self,
        tools: &[Option<ToolName>],
        operations: &[Option<Operation>],
        patterns: &[Option<At<Pattern>>],
        commands: &[Option<CommandPattern>],
        base: Base<'_>,
        found: &mut Findings<'_>,
    ) -> Vec<Example> {
        let operation = operations.first().copied().flatten();
        let (of_path, of_command) = (patterns.iter().any(Option::is_some), commands.iter().any(Option::is_some));
        let understood = |text: &str| match (of_path, of_command) {
            (true, _) => base.path(text).map(|path| Action::new(operation.unwrap_or(Operation::Read), path.as_str())),
            (false, true) => Ok(Action::command(text)),
            (false, false) => Err(Problem::new("examples are for rules with a `path` or a `command`")
                .help("what this rule does to an action can be tried in a `[[test]]`")),
        };
        let mut examples = Vec::new();
        for (key, meant, At { offset, value }) in self.texts {
            let Some(action) = found.ok(offset, understood(value)) else { continue };
            let action = match tools.first().cloned().flatten() {
                Some(tool) => action.by_tool(tool),
                None => action,
            };
            examples.push(Example { offset, key, text: value.to_owned(), meant, action });
        }
        examples
    }
}

/// Tries every rule with its examples, by what compares rules with actions whenever one is decided.
pub(super) fn try_out<'w>(
    written: impl Iterator<Item = &'w Written> + Clone,
    settings: &Settings,
    found: &mut Findings<'_>,
) {
    if written.clone().all(|written| written.examples.is_empty()) {
        return;
    }
    let examples = Examples::under(settings).map_err(|why| Problem::new(why.to_string()));
    let Some(examples) = found.general(examples) else { return };
    for written in written.filter(|written| !written.examples.is_empty()) {
        let all: Vec<_> = written.all().cloned().collect();
        let rules = Rules::compile(&all.into());
        for example in &written.examples {
            let met = examples.are_met(&rules, &example.action).map_err(|why| Problem::new(why.to_string()));
            match found.ok(example.offset, met) {
                Some(met) if met != example.meant => found.add(example.offset, example.failed(written)),
                Some(_) | None => {}
            }
        }
    }
}

/// Every pattern that does not begin where it seems to, by its offset; each beginning is looked up once.
pub(super) fn misled<'w>(
    written: impl Iterator<Item = &'w Written>,
    mut look: impl FnMut(&SanitizedPath) -> Result<Lead, Problem>,
) -> Vec<(usize, Problem)> {
    let mut starts: BTreeMap<&SanitizedPath, Vec<usize>> = BTreeMap::new();
    for start in written.flat_map(|written| &written.starts) {
        starts.entry(&start.value).or_default().push(start.offset);
    }
    let misled = starts.into_iter().filter_map(|(start, at)| Some((disk::misled(start, look(start))?, at)));
    misled.flat_map(|(problem, at)| at.into_iter().map(move |at| (at, problem.clone()))).collect()
}

impl Example {
    fn failed(&self, written: &Written) -> Problem {
        let Example { key, text, .. } = self;
        let rule = written.rules.first().map_or_else(String::new, |rule| quoted(&rule.to_string()));
        let rule = match written.rules.len() {
            1 => rule,
            more => format!("{rule} (and {} more from this table)", more.saturating_sub(1)),
        };
        let says = if self.meant { "does not speak about it" } else { "speaks about it" };
        Problem::new(format!("the example {} of `{key}` fails: the rule {rule} {says}", quoted(text)))
    }
}
