//! A cache of the directories below a root, in a file for the next command of this user. The file lies beside the
//! leases, which no confined command can reach.
//!
//! A process that can write the cache could hide a sensitive name from the search. The cache is therefore read only
//! from a directory that belongs to this user alone. A truncated file, or a file about another root, counts as missing.

use std::{
    ffi::OsString,
    fs::{self, OpenOptions},
    io::{self, Read, Write},
    os::unix::{
        ffi::{OsStrExt, OsStringExt},
        fs::{DirBuilderExt, OpenOptionsExt},
    },
    path::{Component, Path, PathBuf},
};

use crate::sha256::Sha256;
use rustix::fs::FileType;

use super::{
    names::{Names, Why},
    seen::{Below, CROWD, Entries, Found, Known, MOST_REMEMBERED, Node, ROOT, Tree},
};
use crate::{
    model::{SanitizedPath, table_fingerprint},
    sandbox::places,
};

/// The start of a cache file. It changes with the file format.
const MAGIC: &[u8] = b"bestow: directories as they were seen, 2\n";

/// The fewest directories that are cached. A smaller tree is faster to read again.
const FEWEST: usize = 64;

/// The most roots in the cache. The latest ones stay.
const MOST_FILES: usize = 16;

/// A length limit that no cache file reaches, in bytes.
const LONGEST: u64 = 256 << 20;

/// Loads the cached tree of a root for these names. The result is empty if there is none.
pub(super) fn load(root: &SanitizedPath, names: &Names<'_>) -> Tree {
    read(root, names).unwrap_or_default()
}

fn read(root: &SanitizedPath, names: &Names<'_>) -> Option<Tree> {
    let header = header(root, names);
    let file = fs::File::open(directory().ok()?.join(name(&header))).ok()?;
    let mut bytes = Vec::new();
    file.take(LONGEST).read_to_end(&mut bytes).ok()?;
    decoded(bytes.strip_prefix(header.as_slice())?)
}

/// Stores a tree, if it is large enough.
pub(super) fn store(tree: &Tree, root: &SanitizedPath, names: &Names<'_>) -> io::Result<()> {
    let (mut bytes, count) = encoded(tree);
    if count < FEWEST {
        return Ok(());
    }
    let header = header(root, names);
    let (directory, name) = (directory()?, name(&header));
    let unfinished = directory.join(format!("{name}.{}", uuid::Uuid::now_v7()));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished)?;
    bytes.splice(0..0, header);
    file.write_all(&bytes)?;
    fs::rename(unfinished, directory.join(name))?;
    forget_the_oldest(&directory)
}

fn forget_the_oldest(directory: &PathBuf) -> io::Result<()> {
    let mut all = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        all.push((entry.metadata()?.modified()?, entry.path()));
    }
    all.sort();
    let too_many = all.len().saturating_sub(MOST_FILES);
    all.iter().take(too_many).try_for_each(|(_, path)| fs::remove_file(path))
}

fn directory() -> io::Result<PathBuf> {
    let directory = places::own_directory()?.join(places::SEEN);
    match fs::DirBuilder::new().mode(0o700).create(&directory) {
        Err(why) if why.kind() != io::ErrorKind::AlreadyExists => Err(why),
        _ => Ok(directory),
    }
}

/// Builds the header of a cache file: the program version, the table of sensitive names, the root, the profile's own
/// names, and the denied globs.
fn header(root: &SanitizedPath, names: &Names<'_>) -> Vec<u8> {
    let mut header = [MAGIC, env!("CARGO_PKG_VERSION").as_bytes(), &table_fingerprint().to_le_bytes()].concat();
    put_text(&mut header, root.as_str().as_bytes());
    header.push(u8::from(names.is_guarded()));
    for texts in names.texts() {
        put_number(&mut header, texts.len());
        texts.iter().for_each(|text| put_text(&mut header, text.as_bytes()));
    }
    header
}

fn name(header: &[u8]) -> String {
    Sha256::hash(header).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

fn put_number(bytes: &mut Vec<u8>, number: usize) {
    bytes.extend(u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
}

fn put_text(bytes: &mut Vec<u8>, text: &[u8]) {
    put_number(bytes, text.len());
    bytes.extend(text);
}

/// Encodes the directories of a tree, parents first. Returns the bytes and the number of directories.
fn encoded(tree: &Tree) -> (Vec<u8>, usize) {
    let (mut bytes, mut next) = (Vec::new(), vec![ROOT]);
    let mut count = 0;
    // The order is that of the names, so that the index of a directory is its position in the file.
    while let Some(at) = next.get(count).copied() {
        count += 1;
        let (known, entries) = (tree.known(at), tree.entries(at));
        bytes.push(u8::from(known.is_some()));
        if let Some(Known { device, inode, changed }) = known {
            bytes.extend([device.to_le_bytes(), inode.to_le_bytes()].concat());
            bytes.extend([changed.0.to_le_bytes(), changed.1.to_le_bytes()].concat());
        }
        put_number(&mut bytes, entries.count);
        bytes.push(u8::from(entries.is_repository));
        put_number(&mut bytes, entries.found.len());
        for Found { name, kind, why } in &entries.found {
            put_text(&mut bytes, name.as_bytes());
            bytes.extend(kind.as_raw_mode().to_le_bytes());
            bytes.push(why.bits());
        }
        let directories: Vec<_> = entries.directories.iter().filter(|below| below.at != CROWD).collect();
        put_number(&mut bytes, directories.len());
        for Below { name, at, is_kept } in directories {
            put_text(&mut bytes, name.as_bytes());
            bytes.push(u8::from(*is_kept));
            next.push(*at);
        }
    }
    (bytes, count)
}

/// Decodes a tree, or returns `None` for invalid bytes.
fn decoded(bytes: &[u8]) -> Option<Tree> {
    let mut rest = Rest(bytes);
    let mut nodes = vec![Node::default(), Node::default()];
    let mut at = ROOT;
    while at < nodes.len() {
        let node = rest.node(&mut nodes)?;
        *nodes.get_mut(at)? = node;
        // The second index is reserved for directories without a node of their own.
        at += if at == ROOT { 2 } else { 1 };
    }
    rest.0.is_empty().then(|| Tree::of(nodes))
}

/// Returns the number of directories in a text of the cache, or `None` if it is none.
///
/// # Panics
///
/// Panics if the same directories would be written in another way, or if a name leads out of its directory.
pub(in crate::sandbox) fn directories_in(bytes: &[u8]) -> Option<usize> {
    let tree = decoded(bytes)?;
    let (again, count) = encoded(&tree);
    assert!(again == bytes, "a cache is read as it was written");
    let mut all = (0..=count).flat_map(|at| &tree.entries(at).directories);
    let is_inside = |name: &OsString| Path::new(name).components().eq([Component::Normal(name)]);
    assert!(all.all(|below| is_inside(&below.name)), "a name leads out of its directory");
    Some(count)
}

/// Returns a tree as the next command reads it.
#[cfg(all(test, feature = "property-tests"))]
pub(super) fn through_a_file(tree: &Tree) -> Tree {
    decoded(&encoded(tree).0).unwrap_or_default()
}

/// The bytes that are not decoded yet.
struct Rest<'b>(&'b [u8]);

impl<'b> Rest<'b> {
    fn take(&mut self, length: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn flag(&mut self) -> Option<bool> {
        match self.array()? {
            [0] => Some(false),
            [1] => Some(true),
            _ => None,
        }
    }

    fn number(&mut self) -> Option<usize> {
        usize::try_from(u32::from_le_bytes(self.array()?)).ok()
    }

    /// Decodes the name of a directory entry.
    fn name(&mut self) -> Option<OsString> {
        let length = self.number()?;
        let name = self.take(length)?;
        let is_name = !matches!(name, b"" | b"." | b"..") && !name.contains(&b'/') && !name.contains(&0);
        is_name.then(|| OsString::from_vec(name.to_vec()))
    }

    /// Decodes the next node, and reserves an index for each of its directories.
    fn node(&mut self, nodes: &mut Vec<Node>) -> Option<Node> {
        let known = if self.flag()? { Some(self.known()?) } else { None };
        let mut entries = Entries { count: self.number()?, is_repository: self.flag()?, ..Entries::default() };
        for _ in 0..self.number()? {
            let (name, mode) = (self.name()?, u32::from_le_bytes(self.array()?));
            let kind = Some(FileType::from_raw_mode(mode)).filter(|kind| kind.as_raw_mode() == mode)?;
            let [bits] = self.array()?;
            entries.found.push(Found { name, kind, why: Why::from_bits(bits)? });
        }
        for _ in 0..self.number()? {
            if nodes.len() > MOST_REMEMBERED {
                return None;
            }
            entries.directories.push(Below { name: self.name()?, is_kept: self.flag()?, at: nodes.len() });
            nodes.push(Node::default());
        }
        Some(Node { known, entries })
    }

    fn known(&mut self) -> Option<Known> {
        let (device, inode) = (u64::from_le_bytes(self.array()?), u64::from_le_bytes(self.array()?));
        let changed = (i64::from_le_bytes(self.array()?), i64::from_le_bytes(self.array()?));
        Some(Known { device, inode, changed })
    }
}

#[cfg(test)]
#[cfg(feature = "property-tests")]
mod tests;
