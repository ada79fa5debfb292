//! The hash of a program name. The build script and the lookup use the same one.

/// The number of slots of the table of names. It is a power of two.
pub(crate) const SLOTS: usize = 4096;

/// Returns the slot at which the search for a name begins (FNV-1a).
pub(crate) const fn slot(name: &[u8]) -> usize {
    let mut hash: u32 = 0x811c_9dc5;
    let mut rest = name;
    while let [byte, behind @ ..] = rest {
        hash = (hash ^ *byte as u32).wrapping_mul(0x0100_0193);
        rest = behind;
    }
    (hash ^ (hash >> 15)) as usize % SLOTS
}
