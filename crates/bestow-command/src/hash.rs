//! The hash of a name (FNV-1a). The build script and the lookups use the same one.

/// A hash to which no byte was added.
pub(crate) const NOTHING: u32 = 0x811c_9dc5;

/// Returns the hash with another byte.
pub(crate) const fn add(hash: u32, byte: u8) -> u32 {
    (hash ^ byte as u32).wrapping_mul(0x0100_0193)
}

/// Returns the hash as a number whose low bits depend on all of it.
pub(crate) const fn mixed(hash: u32) -> usize {
    (hash ^ (hash >> 15)) as usize
}

/// Returns the hash of a name.
pub(crate) const fn hash(name: &[u8]) -> usize {
    let (mut hash, mut rest) = (NOTHING, name);
    while let [byte, behind @ ..] = rest {
        hash = add(hash, *byte);
        rest = behind;
    }
    mixed(hash)
}
