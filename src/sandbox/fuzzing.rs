//! The readers of a sandbox for files and texts that others may have written, for tests with arbitrary bytes.

use super::{cgroup, git, look, places, status};

/// Reads bytes as each reader of the host does: leases, mounts and control groups of the kernel, and the configuration
/// of git. Returns the number of things that were read.
///
/// # Panics
///
/// Panics if a reader breaks its own promise.
#[doc(hidden)]
pub fn host_reads(bytes: &[u8]) -> usize {
    let leases: Vec<_> = places::paths_in(bytes).collect();
    // No path that is read from a lease holds a null byte, and each one is written as it was read.
    let written: Vec<u8> = leases.iter().flat_map(|path| places::line(path)).collect();
    assert!(places::paths_in(&written).eq(leases.iter().cloned()), "a lease is read as it was written");
    leases.len() + status::mounts_in(bytes).len() + cgroup::hierarchies_in(bytes) + git::settings_in(bytes)
}

/// Reads bytes as the host reads the directories that it remembers of a root. Returns their number, or `None` if the
/// bytes are not whole.
///
/// # Panics
///
/// Panics if the reader breaks its own promise.
#[doc(hidden)]
pub fn cache_reads(bytes: &[u8]) -> Option<usize> {
    look::directories_in(bytes)
}

#[cfg(test)]
#[cfg(feature = "property-tests")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Bytes with a part of the syntax of the readers.
    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let words = proptest::sample::select(
            &[
                "24 1 0:22 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs ro",
                " - cgroup cgroup rw,memory",
                "\\040",
                "\\",
                "[core]",
                "hooksPath = \"",
                "[include \"",
                "path=",
                "\n",
                "\r\n",
                "\0",
                "/a",
                "#",
                ";",
                "]",
                "-",
                " ",
            ][..],
        );
        let words = words.prop_map(|word| word.as_bytes().to_vec());
        let part = prop_oneof![4 => words, 1 => proptest::collection::vec(any::<u8>(), 0..6)];
        proptest::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn no_reader_panics_or_breaks_its_promise(bytes in bytes()) {
            host_reads(&bytes);
        }
    }

    #[test]
    fn every_reader_reads() {
        assert_eq!(host_reads(b"/a\0/b\0"), 2);
        // Any text without a null byte is one path of a lease.
        assert_eq!(host_reads(b"24 1 0:22 / /x rw - cgroup2 cgroup2 rw"), 3);
        assert_eq!(host_reads(b"[core]\nhooksPath = x\n[include] path = y"), 3);
    }
}
