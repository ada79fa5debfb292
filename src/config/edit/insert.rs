//! Inserts lines into the text of a file and leaves every other byte unchanged. This module does not read the disk.

use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike, Value};

use super::PermanentDecision;
use crate::model::{PinnedPermission, Rule, is_deceptive};

/// Returns `text` with the approval added to the agent's table.
///
/// # Errors
///
/// A text for a person: the property of the file that prevents the change, and the remedy.
pub(super) fn insert(text: &str, said: &PermanentDecision) -> Result<String, String> {
    let is_windows = text.contains("\r\n");
    let plain = if is_windows { text.replace("\r\n", "\n") } else { text.to_owned() };
    let back = |plain: String| if is_windows { plain.replace('\n', "\r\n") } else { plain };
    let mut document: DocumentMut = plain.parse().map_err(|why: toml_edit::TomlError| why.message().to_owned())?;
    let as_it_was = back(document.to_string());
    // A last line without a line end gets one.
    if as_it_was != text && as_it_was.trim_end_matches(['\r', '\n']) != text {
        return Err("it has a byte order mark, or line ends of two kinds, which would not stay as they are: save it \
                    without"
            .to_owned());
    }
    let lost = || "its table of the agent is not found where it should be".to_owned();
    let agents = document.get_mut("agents").and_then(Item::as_table_like_mut).ok_or_else(lost)?;
    let agent = agents.get_mut(said.agent().as_str()).ok_or_else(lost)?;
    let comment = said.comment();
    for pinned in said.permissions() {
        add_permission(agent.as_table_like_mut().ok_or_else(lost)?, pinned, &comment).ok_or_else(lost)?;
    }
    for rule in said.rules() {
        add_rule(agent, rule, &comment).ok_or_else(lost)?;
    }
    let new = back(document.to_string());
    // INVARIANT: no text was removed or moved.
    if is_within(text, &new) {
        Ok(new)
    } else {
        Err("something else in it would change: add the lines by hand".to_owned())
    }
}

/// Returns true if `new` contains every byte of `old` in the same order.
fn is_within(old: &str, new: &str) -> bool {
    let mut new = new.bytes();
    old.bytes().all(|byte| new.any(|other| other == byte))
}

fn add_permission(agent: &mut dyn TableLike, pinned: &PinnedPermission, comment: &str) -> Option<()> {
    let permissions = agent.entry("permissions").or_insert_with(|| Item::Value(Value::Array(Array::new())));
    push(permissions.as_array_mut()?, value_of(&pinned.permission.to_string()), comment);
    Some(())
}

fn add_rule(agent: &mut Item, rule: &Rule, comment: &str) -> Option<()> {
    let is_table = agent.is_table();
    let agent = agent.as_table_like_mut()?;
    if !agent.contains_key("rules") {
        let empty =
            if is_table { Item::ArrayOfTables(ArrayOfTables::new()) } else { Value::Array(Array::new()).into() };
        agent.insert("rules", empty);
    }
    match agent.get_mut("rules")? {
        Item::ArrayOfTables(tables) => {
            let mut table = Table::new();
            table.decor_mut().set_prefix(format!("\n# {comment}\n"));
            words(rule).into_iter().for_each(|(key, value)| drop(table.insert(key, Item::Value(value_of(&value)))));
            tables.push(table);
        }
        Item::Value(Value::Array(array)) => {
            let mut table = InlineTable::new();
            words(rule).into_iter().for_each(|(key, value)| drop(table.insert(key, value_of(&value))));
            push(array, Value::InlineTable(table), comment);
        }
        Item::None | Item::Value(_) | Item::Table(_) => return None,
    }
    Some(())
}

/// Appends a value to a list, on a line of its own below the comment.
fn push(array: &mut Array, value: Value, comment: &str) {
    let trailing = array.trailing().as_str().unwrap_or_default().to_owned();
    let (before, indent) = trailing.rsplit_once('\n').unwrap_or((trailing.trim_end(), ""));
    let last = array.iter().last().and_then(|last| last.decor().prefix()?.as_str()?.rsplit_once('\n'));
    let own = last.map_or_else(|| format!("{indent}    "), |(_, own)| own.to_owned());
    let value = value.decorated(format!("{before}\n{own}# {comment}\n{own}"), "");
    let end = format!("\n{indent}");
    array.push_formatted(value);
    array.set_trailing_comma(true);
    array.set_trailing(end);
}

/// Returns a text as the file has it. Characters that nobody sees, or that move others, are escaped: a person who reads
/// the file sees what it says.
fn value_of(text: &str) -> Value {
    if !text.chars().any(is_deceptive) {
        return text.into();
    }
    let escaped: String = text.chars().fold(String::new(), |so_far, letter| match letter {
        '"' | '\\' => format!("{so_far}\\{letter}"),
        letter if is_deceptive(letter) => format!("{so_far}\\U{:08X}", u32::from(letter)),
        letter => format!("{so_far}{letter}"),
    });
    // It is a string of TOML as it stands, and the other form says the same.
    format!("\"{escaped}\"").parse().unwrap_or_else(|_| text.into())
}

fn words(rule: &Rule) -> Vec<(&'static str, String)> {
    let mut words = vec![("verdict", rule.verdict.to_string())];
    words.extend(rule.operation.map(|operation| ("operation", operation.to_string())));
    words.extend(rule.tool.as_ref().map(|tool| ("tool", tool.to_string())));
    words.extend(rule.path.as_ref().map(|path| ("path", path.to_string())));
    words.extend(rule.shape.as_ref().map(|shape| ("shape", shape.shown.to_string())));
    words
}

#[cfg(test)]
mod tests {
    use super::value_of;

    #[test]
    fn what_nobody_sees_is_escaped_in_the_file() {
        for text in ["@write:/a\u{202e}b", "echo \"a\u{200b}\\\n\"", "tab\t", "\u{e0041}", "plain \"text\" \\ é"] {
            let value = value_of(text);
            assert_eq!(value.as_str(), Some(text));
            assert!(!value.to_string().chars().any(crate::model::is_deceptive), "{value}");
        }
    }
}
