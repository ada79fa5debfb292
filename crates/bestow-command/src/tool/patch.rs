//! Patches that name their files: `*** Update File: src/a.rs`.

/// The reason to refuse a patch without a file.
const NO_FILE: &str = "the patch names no file: it has no line such as `*** Update File: src/a.rs`";

/// The reason to refuse a patch with an unknown line.
const UNREAD: &str = "the patch has an unknown line with `***`: it may have `*** Begin Patch`, `*** Add File: `, \
                      `*** Update File: `, `*** Delete File: `, `*** Move to: `, `*** End of File` and `*** End Patch`";

/// The beginnings of lines that name a file.
const NAMING: &[&str] = &["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];

/// The lines that name no file.
const OTHERS: &[&str] = &["*** Begin Patch", "*** End Patch", "*** End of File"];

/// Returns the paths that a patch writes, from every line that names a file.
pub(super) fn paths(patch: &str) -> Result<Vec<&str>, &'static str> {
    let mut paths = Vec::new();
    for whole in patch.lines() {
        // Patch tools ignore white space around these lines.
        let line = whole.trim();
        match NAMING.iter().find_map(|start| line.strip_prefix(start)) {
            Some(path) if !path.trim().is_empty() => paths.push(path.trim()),
            Some(_) => return Err(NO_FILE),
            // A line of the content begins with another sign.
            None if !whole.starts_with("***") || OTHERS.contains(&line) => {}
            None => return Err(UNREAD),
        }
    }
    if paths.is_empty() { Err(NO_FILE) } else { Ok(paths) }
}
