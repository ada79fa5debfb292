//! The hash of a name. The build script and the lookups use the same one.

/// Returns the hash of a name (FNV-1a).
pub(crate) const fn hash(name: &[u8]) -> usize {
    let mut hash: u32 = 0x811c_9dc5;
    let mut rest = name;
    while let [byte, behind @ ..] = rest {
        hash = (hash ^ *byte as u32).wrapping_mul(0x0100_0193);
        rest = behind;
    }
    (hash ^ (hash >> 15)) as usize
}
