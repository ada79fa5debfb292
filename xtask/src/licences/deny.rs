//! The two lists of `deny.toml` that this program needs.

use super::Result;

/// The lists of the file.
#[derive(Debug)]
pub(crate) struct Lists {
    /// `allow` in `[licenses]`.
    pub(crate) licences: Vec<String>,
    /// `allow-registry` in `[sources]`.
    pub(crate) registries: Vec<String>,
}

/// Reads the lists. Only this part of TOML is understood: tables, and lists of texts without escapes.
pub(crate) fn read(toml: &str) -> Result<Lists> {
    Ok(Lists { licences: texts(toml, "licenses", "allow")?, registries: texts(toml, "sources", "allow-registry")? })
}

/// Returns the texts of the list `key` in `table`.
fn texts(toml: &str, table: &str, key: &str) -> Result<Vec<String>> {
    let missing = || format!("deny.toml has no list `{key}` in `[{table}]`");
    // Neither a licence nor the address of a registry holds a `#`.
    let lines = toml.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    let header = format!("[{table}]");
    let lines = lines.skip_while(|line| *line != header).skip(1).take_while(|line| !line.starts_with('['));
    let start = |line: &&str| line.split_once('=').is_some_and(|(name, _)| name.trim() == key);
    // A list may go on over several lines, up to its bracket.
    let list = lines.skip_while(|line| !start(line)).collect::<Vec<_>>().join("\n");
    let (_, list) = list.split_once('[').ok_or_else(missing)?;
    let (list, _) = list.split_once(']').ok_or_else(missing)?;
    let texts: Vec<_> = list.split('"').skip(1).step_by(2).map(str::to_owned).collect();
    if texts.is_empty() { Err(missing().into()) } else { Ok(texts) }
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn lists_are_found_in_their_tables_and_comments_are_left_out() {
        let licences = "[licenses]\nallow = [ # those\n  \"MIT\", # \"GPL-3.0\"\n  \"Zlib\",\n]\n";
        let lists = read(&format!("{licences}[sources]\nallow-registry = [\"r\"]\n")).unwrap();
        assert_eq!((lists.licences, lists.registries), (vec!["MIT".into(), "Zlib".into()], vec!["r".to_owned()]));
        let why = read("[sources]\nallow-registry = [\"r\"]\nallow = [\"MIT\"]\n").unwrap_err();
        assert_eq!(why.to_string(), "deny.toml has no list `allow` in `[licenses]`");
    }
}
