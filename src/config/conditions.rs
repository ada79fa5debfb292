//! The conditions of one rule. Each of them may be a list.

use super::{
    Problem,
    absolute::Base,
    diagnostics::{Diagnostics, did_you_mean, quoted},
    pattern::{self, Pattern},
    table::{At, Table},
};
use crate::{
    command::Shape,
    model::{
        Action, CommandPattern, CommandShape, Operation, PathGlob, Rule, RuleCwd, SanitizedPath, ToolName, Verdict,
    },
    node::Node,
};

/// The allowed values of one condition. A single `None` means no condition.
type OneOf<T> = Vec<Option<T>>;

/// All conditions of one table. None of the lists is empty.
#[derive(Debug)]
pub(super) struct Conditions {
    tools: OneOf<ToolName>,
    operations: OneOf<Operation>,
    patterns: OneOf<At<Pattern>>,
    commands: OneOf<CommandPattern>,
    shapes: OneOf<Shape>,
    cwds: OneOf<At<Cwd>>,
}

/// The directories that a rule names, and the fixed directory at the start of their pattern.
#[derive(Clone, Debug)]
struct Cwd {
    named: RuleCwd,
    start: Option<SanitizedPath>,
}

impl Conditions {
    /// Reads the conditions of a rule with `verdict`. Returns none if an invalid value was reported.
    pub(super) fn read(
        table: &mut Table<'_>,
        verdict: Verdict,
        base: Base<'_>,
        found: &mut Diagnostics<'_>,
    ) -> Option<Conditions> {
        let tools = one_of(table, "tool", found, tool);
        let operations = one_of(table, "operation", found, operation);
        let patterns = one_of(table, "path", found, |text| {
            Ok(At { place: text.place, value: pattern::parse(text.value, base, verdict)? })
        });
        let commands = one_of(table, "command", found, |text| command(text, verdict));
        let shapes = one_of(table, "shape", found, shape);
        let cwds = one_of(table, "cwd", found, |text| cwd(text, base));
        let of_a_yes = verdict == Verdict::Allow || !table.has("cwd");
        if !of_a_yes {
            let why = format!(
                "`cwd` is only for `allow`: a rule with the verdict `{verdict}` applies to a command in every \
                 directory"
            );
            found.add(
                table.peek("cwd").map(|node| node.place()).unwrap_or_default(),
                Problem::new(why).help("remove `cwd`"),
            );
        }
        Some(Conditions {
            tools: tools?,
            operations: operations?,
            patterns: patterns?,
            commands: commands?,
            shapes: shapes?,
            cwds: cwds.filter(|_| of_a_yes)?,
        })
    }

    /// Returns the number of combinations.
    pub(super) fn number(&self) -> usize {
        self.tools.len()
            * self.operations.len()
            * self.patterns.len()
            * self.commands.len()
            * self.shapes.len()
            * self.cwds.len()
    }

    /// Checks if an action could meet all conditions.
    pub(super) fn can_be_met(&self) -> Result<(), Problem> {
        let (of_path, of_command) = (self.has_path(), self.has_command() || self.has_shape());
        if of_path && of_command {
            let name = if self.has_command() { "command" } else { "shape" };
            let why = format!("no action matches both `path` and `{name}`: an action has a path or a command");
            return Err(Problem::new(why).help("write two rules"));
        }
        if self.has_command() && self.has_shape() {
            let why = "a rule has either a `command` or a `shape`: a `command` matches each command of a line, and \
                a `shape` matches a line with one unsafe command";
            return Err(Problem::new(why).help("write two rules"));
        }
        if self.cwds.iter().any(Option::is_some) && !of_command {
            let why = "`cwd` limits the directory of a `command` or a `shape`, and the rule has neither";
            return Err(Problem::new(why).help("add a `command`, or remove `cwd`"));
        }
        for operation in self.operations.iter().flatten() {
            let has_path = matches!(operation, Operation::Read | Operation::Write | Operation::Exec);
            if of_path && !has_path {
                let message = format!("no action with the operation `{operation}` has a `path`");
                return Err(Problem::new(message).help("use a path with `fs.read`, `fs.write` or `fs.exec`"));
            }
            if of_command && *operation != Operation::Command {
                let name = if self.has_command() { "command" } else { "shape" };
                let message = format!("no action with the operation `{operation}` has a `{name}`");
                return Err(Problem::new(message).help(format!("use a {name} with `command.execute`")));
            }
        }
        Ok(())
    }

    fn has_path(&self) -> bool {
        self.patterns.iter().any(Option::is_some)
    }

    fn has_command(&self) -> bool {
        self.commands.iter().any(Option::is_some)
    }

    fn has_shape(&self) -> bool {
        self.shapes.iter().any(Option::is_some)
    }

    /// Returns `rule` with each combination of tools and operations.
    fn acts<'c>(&'c self, rule: &'c Rule) -> impl Iterator<Item = Rule> + 'c {
        let with = move |tool: &'c Option<ToolName>| {
            let operations = self.operations.iter();
            operations.map(move |operation| Rule { tool: tool.clone(), operation: *operation, ..rule.clone() })
        };
        self.tools.iter().flat_map(with)
    }

    /// Returns `rule` with each combination of conditions.
    pub(super) fn rules(&self, rule: &Rule) -> Vec<Rule> {
        let mut rules = Vec::with_capacity(self.number());
        for rule in self.acts(rule) {
            for path in &self.patterns {
                let path = path.as_ref().map(|path| path.value.glob.clone());
                let commands = self.commands.iter().cloned();
                rules.extend(commands.map(|command| Rule { path: path.clone(), command, ..rule.clone() }));
            }
        }
        if self.has_shape() {
            // A rule with shapes has neither patterns nor commands.
            let with = |rule: &Rule, shape: &Option<Shape>| Rule {
                shape: shape.as_ref().map(|shape| CommandShape::of(shape, |whole| whole.into())),
                ..rule.clone()
            };
            rules = rules.iter().flat_map(|rule| self.shapes.iter().map(move |shape| with(rule, shape))).collect();
        }
        let named = |cwd: &Option<At<Cwd>>| cwd.as_ref().map(|cwd| cwd.value.named.clone());
        let in_each = |rule: Rule| self.cwds.iter().map(move |cwd| Rule { cwd: named(cwd), ..rule.clone() });
        rules.into_iter().flat_map(in_each).collect()
    }

    /// Returns `rule` with the second form of each pattern that has one.
    pub(super) fn rules_below(&self, rule: &Rule) -> Vec<Rule> {
        let below = |rule: Rule| {
            let besides = self.patterns.iter().flatten().filter_map(|path| path.value.besides.clone());
            besides.map(move |path| Rule { path: Some(path), ..rule.clone() })
        };
        self.acts(rule).flat_map(below).collect()
    }

    /// Returns the fixed directories at the start of the patterns.
    pub(super) fn starts(self) -> impl Iterator<Item = At<SanitizedPath>> {
        let paths = self.patterns.into_iter().flatten().map(|At { place: offset, value }| (offset, value.start));
        let cwds = self.cwds.into_iter().flatten().map(|At { place: offset, value }| (offset, value.start));
        paths.chain(cwds).filter_map(|(offset, start)| Some(At { place: offset, value: start? }))
    }

    /// Converts an example to an action of the first tool and operation. The action is about a path or a command line.
    pub(super) fn example(&self, text: &str, base: Base<'_>) -> Result<Action, Problem> {
        let operation = self.operations.first().copied().flatten().unwrap_or(Operation::Read);
        let action = match (self.has_path(), self.has_command()) {
            (true, _) => Action::new(operation, base.path(text)?.as_str()),
            (false, true) => Action::command(text),
            (false, false) if self.has_shape() => Action::command(text),
            (false, false) => {
                return Err(Problem::new("only a rule with a `path`, a `command` or a `shape` has examples")
                    .help("write a `[[test]]` to check what this rule decides"));
            }
        };
        Ok(match self.tools.first().cloned().flatten() {
            Some(tool) => action.by_tool(tool),
            None => action,
        })
    }
}

/// Reads the values under `key`. Returns none if an invalid value was reported.
fn one_of<'t, T>(
    table: &mut Table<'t>,
    key: &'static str,
    found: &mut Diagnostics<'_>,
    parse: impl Fn(At<&'t str>) -> Result<T, Problem>,
) -> Option<OneOf<T>> {
    if !table.has(key) {
        table.know(key);
        return Some(vec![None]);
    }
    let texts = table.one_or_more(key, found)?;
    let length = texts.len();
    let values: Vec<_> = texts.into_iter().filter_map(|text| found.ok(text.place, parse(text)).map(Some)).collect();
    (values.len() == length).then_some(values)
}

/// Reads `anywhere`, or a pattern of directories.
fn cwd(text: At<&str>, base: Base<'_>) -> Result<At<Cwd>, Problem> {
    let At { place: offset, value } = text;
    if value == "anywhere" {
        return Ok(At { place: offset, value: Cwd { named: RuleCwd::Anywhere, start: None } });
    }
    // The directory itself is written without a trailing slash, like working directories.
    let directory = if value == "." { None } else { Some(value.strip_suffix('/').unwrap_or(value)) };
    if let Some(directory) = directory {
        let Pattern { glob, start, .. } = pattern::parse(directory, base, Verdict::Allow).map_err(|mut problem| {
            problem.help = problem.help.or_else(|| did_you_mean(value, ["anywhere"]));
            problem
        })?;
        return Ok(At { place: offset, value: Cwd { named: RuleCwd::In(glob), start } });
    }
    let own = base.path(".")?;
    let wrong = || Problem::new(format!("{} is too long for a pattern", quoted(value)));
    let glob = PathGlob::literal(&own).ok_or_else(wrong)?;
    Ok(At { place: offset, value: Cwd { named: RuleCwd::In(glob), start: Some(own) } })
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

fn shape(text: At<&str>) -> Result<Shape, Problem> {
    text.value.parse().map_err(|why| Problem::new(format!("{}: {why}", quoted(text.value))))
}

fn command(text: At<&str>, verdict: Verdict) -> Result<CommandPattern, Problem> {
    let pattern: CommandPattern =
        text.value.parse().map_err(|why| Problem::new(format!("{}: {why}", quoted(text.value))))?;
    if verdict == Verdict::Allow && pattern.has_inner_rest() {
        let why =
            format!("{}: in a rule that allows, `**` stands for all other words, so it comes last", quoted(text.value));
        return Err(Problem::new(why).help("name the words before it: only rules that deny or ask may skip words"));
    }
    Ok(pattern)
}
