//! `[[tools]]`: the tools of the host program, and the fields of their input that hold paths, commands and hosts.

use toml::de::DeTable;

use super::{
    Problem,
    absolute::Base,
    diagnostics::{Diagnostics, quoted},
    permissions,
    table::{At, Table},
};
use crate::model::{Field, Operation, Shell, Tool, ToolName, Tools};

const OPERATIONS: [(&str, Operation); 6] = [
    ("fs.read", Operation::Read),
    ("fs.write", Operation::Write),
    ("fs.exec", Operation::Exec),
    ("command.execute", Operation::Command),
    ("network", Operation::Network),
    ("tool", Operation::Tool),
];

const SHELLS: [(&str, Shell); 4] =
    [("bash", Shell::Bash), ("dash", Shell::Dash), ("zsh", Shell::Zsh), ("other", Shell::Other)];

/// A function that adds a field to a declaration.
type Add = fn(Tool, Field) -> Tool;

/// The keys that name fields of the input, with the function that adds each field.
const FIELDS: [(&str, Add); 9] = [
    ("path", Tool::path),
    ("reads", Tool::reads),
    ("writes", Tool::writes),
    ("patch", Tool::patch),
    ("glob", Tool::glob),
    ("command", Tool::command),
    ("host", Tool::host),
    ("content", Tool::content),
    ("directory", Tool::directory),
];

/// Reads the tools of the file.
pub(super) fn read(root: &mut Table<'_>, base: Base<'_>, found: &mut Diagnostics<'_>) -> Tools {
    let mut all: Vec<Tool> = Vec::new();
    for (offset, entries) in root.tables("tools", found) {
        let Some(tool) = tool(offset, entries, base, found) else { continue };
        let with = Tools::new(all.iter().cloned().chain([tool.clone()]));
        if found.ok(offset, with.map_err(|why| Problem::new(why.to_string()))).is_some() {
            all.push(tool);
        }
    }
    Tools::new(all).unwrap_or_default()
}

fn tool(offset: usize, entries: &DeTable<'_>, base: Base<'_>, found: &mut Diagnostics<'_>) -> Option<Tool> {
    let mut table = Table::new("`[[tools]]`", entries);
    let name = name(&mut table, offset, found);
    let operation = table.word("operation", &OPERATIONS, found);
    if !table.has("operation") {
        let why = Problem::new("`operation` is missing in `[[tools]]`");
        found.add(offset, why.help("write the operation of the tool, as in `operation = \"fs.write\"`"));
    }
    let mut fields: Vec<(Add, Field)> = Vec::new();
    for (key, add) in FIELDS {
        for At { place: offset, value } in table.one_or_more(key, found).unwrap_or_default() {
            let field =
                value.parse::<Field>().map_err(|why| Problem::new(format!("{} is not a field: {why}", quoted(value))));
            fields.extend(found.ok(offset, field).map(|field| (add, field)));
        }
    }
    let shell = table.word("shell", &SHELLS, found);
    let ignored = table.texts("ignored", found);
    let tree = table.flag("tree", found).unwrap_or_default();
    let needs: Vec<_> =
        table.texts("needs", found).into_iter().map(|tag| (tag.place, permissions::parse(tag.value, base))).collect();
    let needs: Vec<_> = needs.into_iter().filter_map(|(offset, need)| found.ok(offset, need)).collect();
    table.finish(found);
    let tool = Tool::new(name?, operation?).in_shell(shell.unwrap_or_default());
    let tool = fields.into_iter().fold(tool, |tool, (add, field)| add(tool, field));
    let tool = ignored.iter().fold(tool, |tool, field| tool.ignoring(field.value));
    let tool = needs.into_iter().fold(tool, Tool::needing);
    Some(if tree { tool.below() } else { tool })
}

fn name(table: &mut Table<'_>, offset: usize, found: &mut Diagnostics<'_>) -> Option<ToolName> {
    if !table.has("name") {
        found.add(
            offset,
            Problem::new("`name` is missing in `[[tools]]`: write the name that the host program uses for the tool"),
        );
    }
    let At { place: offset, value } = table.text("name", found)?;
    found.ok(
        offset,
        value.parse().map_err(|why| Problem::new(format!("{} is not the name of a tool: {why}", quoted(value)))),
    )
}
