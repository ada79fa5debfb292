//! The effect of an unknown tool, as far as its name tells it.

/// Words for effects that take something away for good.
const DESTROYING: [&str; 11] =
    ["delete", "destroy", "drop", "erase", "purge", "remove", "rm", "rmdir", "truncate", "unlink", "wipe"];

/// Returns the word in the name of a tool that says that it destroys something: `delete` in `delete_file`,
/// `mcp__files__deleteAll` and `DeleteFile`. Such a tool is still an unknown one, which a person may allow.
pub fn destroying_word(name: &str) -> Option<&'static str> {
    words(name).find_map(|word| DESTROYING.into_iter().find(|known| word.eq_ignore_ascii_case(known)))
}

/// Returns the words of a name, which begin behind a sign that is no letter, and with a capital letter.
fn words(name: &str) -> impl Iterator<Item = &str> {
    name.split(|letter: char| !letter.is_ascii_alphabetic()).flat_map(|part| {
        let is_begin = |at: usize| {
            let mut letters = part.get(at.saturating_sub(1)..).unwrap_or_default().chars();
            let (before, first) = (letters.next(), letters.next());
            before.is_some_and(|letter| letter.is_ascii_lowercase())
                && first.is_some_and(|letter| letter.is_ascii_uppercase())
        };
        let mut begins: Vec<usize> = (1..part.len()).filter(|at| is_begin(*at)).collect();
        begins.insert(0, 0);
        begins.push(part.len());
        let ends = begins.clone().into_iter().skip(1);
        begins.into_iter().zip(ends).filter_map(|(begin, end)| part.get(begin..end)).collect::<Vec<_>>()
    })
}

#[cfg(test)]
mod tests {
    use super::destroying_word;

    #[test]
    fn a_name_says_that_its_tool_destroys() {
        for name in [
            "delete_file",
            "remove_directory",
            "DeleteFile",
            "deleteFile",
            "mcp__db__drop-table",
            "rm",
            "filesRmdir",
            "WIPE",
        ] {
            assert!(destroying_word(name).is_some(), "{name}");
        }
        for name in ["read_file", "undelete", "dropdown", "form", "removed_items_list", "alarm", "permission", "", "e"]
        {
            assert_eq!(destroying_word(name), None, "{name}");
        }
    }
}
