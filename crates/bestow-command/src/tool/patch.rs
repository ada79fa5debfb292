//! Patches that name their files: `*** Update File: src/a.rs`.

const UNREAD: &str = "the patch is not understood";

/// The beginnings of lines that name a file.
const NAMING: &[&str] = &["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];

/// The lines that name no file.
const OTHERS: &[&str] = &["*** Begin Patch", "*** End Patch", "*** End of File"];

/// Returns the paths that a patch writes, from every line that names a file.
pub(super) fn paths(patch: &str) -> Result<Vec<&str>, &'static str> {
    let mut paths = Vec::new();
    // Patch tools ignore white space around these lines.
    for line in patch.lines().map(str::trim).filter(|line| line.starts_with("***")) {
        match NAMING.iter().find_map(|start| line.strip_prefix(start)) {
            Some(path) if !path.trim().is_empty() => paths.push(path.trim()),
            None if OTHERS.contains(&line) => {}
            Some(_) | None => return Err(UNREAD),
        }
    }
    if paths.is_empty() { Err(UNREAD) } else { Ok(paths) }
}
