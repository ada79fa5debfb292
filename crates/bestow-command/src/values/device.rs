//! Names of devices below `/dev`.

/// Returns true for a name below `/dev` of a disk, a partition, a tape or memory. `open` returns true for characters
/// that may stand for other characters.
pub fn is_device_name(name: &str, open: impl Fn(char) -> bool) -> bool {
    const LETTERED: &[&str] = &["sd", "hd", "vd", "xvd"];
    const NUMBERED: &[&str] = &[
        "nvme", "mmcblk", "disk", "rdisk", "dm-", "md", "loop", "nbd", "sr", "st", "nst", "mtd", "zd", "bcache", "ubi",
    ];
    const WHOLE: &[&str] = &["mapper/", "block/", "disk/", "md/", "mem", "kmem", "port"];
    let follows = |known: &&str, fits: fn(char) -> bool| {
        name.strip_prefix(*known).is_some_and(|rest| rest.starts_with(|c: char| fits(c) || open(c)))
    };
    name.starts_with(&open)
        || LETTERED.iter().any(|known| follows(known, |c| c.is_ascii_lowercase()))
        || NUMBERED.iter().any(|known| follows(known, |c| c.is_ascii_digit()))
        || WHOLE.iter().any(|known| name.starts_with(known))
}
