//! The permissions of one agent, compiled for checks: one immutable block that is searched without allocation.
//!
//! A block is compiled from grants and never changes. The grants remain the source of truth. A check does not read the
//! disk. It reads the clock that the caller lends only if a held permission has an end.

mod index;
mod walk;

use std::{collections::BTreeMap, sync::Arc};

use triomphe::ThinArc;

use self::index::Shape;
use super::{Protected, Standing, compact_grant::CompactGrant, support::for_use};
use crate::model::{
    Access, ByName, Hold, Origin, Permission, PermissionRef, Reads, SanitizedPath, Scope, Timestamp, ToolPath, by_name,
};

/// The answer of a check.
///
/// The answer describes the permissions that are held. It is not yet a decision about an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(clippy::exhaustive_enums, reason = "every caller must handle all three")]
pub enum Check {
    /// The permission is held for any number of uses.
    Held,
    /// The permission is held for one use, which consumes it (`Agent::spend`).
    HeldOnce,
    /// The permission is not held.
    NotHeld,
}

impl Check {
    /// Returns true if the permission is held for any number of uses. A one-time permission does not count, because it
    /// must be consumed.
    pub fn is_held(self) -> bool {
        self == Check::Held
    }
}

/// The data that all agents of an engine share: the setting for reads, and the protected paths.
#[derive(Debug)]
pub(crate) struct SharedLimits {
    reads: Reads,
    seed: u64,
    protected: Shape,
    /// A filter that excludes most unprotected paths without a lookup.
    sieve: Sieve,
    bytes: Box<[u8]>,
    /// True if the root `/` is protected. The index cannot contain `/`.
    everything: bool,
}

impl SharedLimits {
    /// Creates the shared data. `seed` makes fingerprints differ between engines, so an attacker cannot choose
    /// colliding paths.
    pub(crate) fn new(reads: Reads, protected: &Protected, seed: u64) -> SharedLimits {
        let (paths, closed) = protected.paths();
        let numbered = |number| move |path: &'_ SanitizedPath| (path.as_str().to_owned(), number);
        let roots = closed.iter().map(numbered(CLOSED)).chain(paths.iter().map(numbered(PROTECTED)));
        let roots: Vec<_> = roots.collect();
        let roots: Vec<_> = roots.iter().map(|(path, number)| (path.as_str(), *number)).collect();
        let (shape, bytes) = index::build(seed, &roots);
        let everything = paths.iter().any(|path| path.as_str() == "/");
        let prints = roots.iter().filter_map(|(path, _)| walk::fingerprint(seed, path.as_bytes()));
        let sieve = Sieve::of(prints.map(|prefix| prefix.hash));
        SharedLimits { reads, seed, protected: shape, sieve, bytes: bytes.into(), everything }
    }
}

/// A set of fingerprints with possible false positives and without false negatives.
#[derive(Debug, Default)]
struct Sieve([u64; 16]);

impl Sieve {
    fn of(prints: impl Iterator<Item = u32>) -> Sieve {
        let mut sieve = Sieve::default();
        for print in prints {
            let (word, bit) = Sieve::place(print);
            sieve.0.get_mut(word).into_iter().for_each(|word| *word |= bit);
        }
        sieve
    }

    #[inline]
    fn may_have(&self, print: u32) -> bool {
        let (word, bit) = Sieve::place(print);
        self.0.get(word).is_none_or(|word| word & bit != 0)
    }

    /// Returns the word and the bit of a fingerprint. It uses the lower bits, because the upper ones select the slot in
    /// the table.
    #[inline]
    fn place(print: u32) -> (usize, u64) {
        ((print as usize >> 6) & 15, 1 << (print & 63))
    }
}

/// The compiled permissions of one agent. They need one allocation, are cheap to share and are replaced through a thin
/// pointer.
pub(crate) type CompiledPermissions = ThinArc<Header, u8>;

/// The part of a block besides its roots.
#[derive(Debug)]
pub(crate) struct Header {
    ground: Arc<SharedLimits>,
    shape: Shape,
    network: u16,
    events: u16,
    /// The permissions to the root `/`, which the index cannot contain.
    root: u16,
    /// The terms and tools. Few agents have any.
    more: Option<Arc<More>>,
}

/// The parts of a block that few agents need.
#[derive(Debug)]
struct More {
    /// The end times of each root that is not held without an end.
    terms: Box<[Terms]>,
    /// The capabilities of the host program, with their numbers.
    tools: Box<[(ToolPath, u16)]>,
}

// The number of a protected path: only a policy line that names it exactly reaches it, or no permission reaches it.
const PROTECTED: u16 = 1;
const CLOSED: u16 = 2;

// The number of a root: four flags, or 16 plus an index into the terms.
const READ: u16 = 1;
const WRITE: u16 = 2;
// The policy file names the path exactly, so the permission reaches it although it is protected. Permissions from the
// policy file have no end.
const EXACT_READ: u16 = 4;
const EXACT_WRITE: u16 = 8;
const FIRST_TERMS: u16 = 16;

/// The end of a permission. 0 means that the permission is not held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Life(u64);

impl Life {
    const FOREVER: Life = Life(u64::MAX);

    fn of(grant: &CompactGrant) -> Life {
        grant.until.map_or(Life::FOREVER, |until| Life(until.as_millis()))
    }
}

/// The end of each way of using a root.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Terms {
    read: Life,
    write: Life,
    read_once: Life,
    write_once: Life,
    exact: u16,
}

impl Terms {
    fn add(&mut self, access: Access, grant: &CompactGrant) {
        let life = Life::of(grant);
        let (read, write) = match grant.scope {
            Scope::Once => (&mut self.read_once, &mut self.write_once),
            Scope::Session | Scope::Until(_) | Scope::Always => (&mut self.read, &mut self.write),
        };
        *read = life.max(*read);
        if access == Access::Write {
            *write = life.max(*write);
        }
        if matches!(grant.origin, Origin::Config(_)) {
            self.exact |= if access == Access::Write { EXACT_READ | EXACT_WRITE } else { EXACT_READ };
        }
    }

    /// Returns the flags that are equivalent to these terms, if flags can express them.
    fn plain(&self) -> Option<u16> {
        let endless = |life: Life| life == Life::FOREVER || life == Life::default();
        let plain = [self.read, self.write].into_iter().all(endless);
        let once = self.read_once.max(self.write_once) != Life::default();
        let flag = |life: Life, flag| if life == Life::FOREVER { flag } else { 0 };
        (plain && !once).then(|| flag(self.read, READ) | flag(self.write, WRITE) | self.exact)
    }
}

/// Compiles the grants in `held`. Permissions for delegation only cannot be used and are left out.
pub(crate) fn compile(held: &[Arc<CompactGrant>], ground: &Arc<SharedLimits>) -> CompiledPermissions {
    let mut network = Terms::default();
    let mut events = Terms::default();
    let mut paths: BTreeMap<&str, Terms> = BTreeMap::new();
    let mut tools: BTreeMap<&ToolPath, Terms> = BTreeMap::new();
    for grant in for_use(held) {
        match &grant.pinned.permission {
            Permission::Network => network.add(Access::Read, grant),
            Permission::Events => events.add(Access::Read, grant),
            Permission::Path(access, path) => paths.entry(path.as_str()).or_default().add(*access, grant),
            Permission::Tool(name) => tools.entry(name).or_default().add(Access::Read, grant),
        }
    }
    let mut terms = Vec::new();
    let mut number = |held: Terms| {
        held.plain().unwrap_or_else(|| {
            terms.push(held);
            // With more than about 65,000 timed roots, the last ones get no number and are treated as not held.
            u16::try_from(terms.len() - 1).ok().and_then(|index| index.checked_add(FIRST_TERMS)).unwrap_or(0)
        })
    };
    let (network, events) = (number(network), number(events));
    let tools: Box<[_]> = tools.into_iter().map(|(name, held)| (name.clone(), number(held))).collect();
    let root = paths.remove("/").map_or(0, &mut number);
    let roots = paths.into_iter().map(|(path, held)| (path, number(held)));
    let roots: Vec<_> = roots.filter(|(_, number)| *number != 0).collect();
    let (shape, bytes) = index::build(ground.seed, &roots);
    let some = !terms.is_empty() || !tools.is_empty();
    let more = some.then(|| Arc::new(More { terms: terms.into(), tools }));
    let header = Header { ground: Arc::clone(ground), shape, network, events, root, more };
    ThinArc::from_header_and_slice(header, &bytes)
}

/// Returns `compiled` after a change of the grants for one permission: only its root is looked at. `held` contains all
/// grants for this root after the change, and maybe others. Returns none if only compiling all of them gives the
/// result. `scratch` is a reusable buffer.
pub(crate) fn revise<'h>(
    compiled: &CompiledPermissions,
    held: impl IntoIterator<Item = &'h Arc<CompactGrant>>,
    permission: &Permission,
    scratch: &mut Vec<u8>,
) -> Option<CompiledPermissions> {
    let Permission::Path(_, path) = permission else { return None };
    let mut terms = Terms::default();
    for grant in held.into_iter().filter(|grant| grant.hold == Hold::Use) {
        match &grant.pinned.permission {
            Permission::Path(access, other) if other == path => terms.add(*access, grant),
            Permission::Path(..) | Permission::Network | Permission::Events | Permission::Tool(_) => {}
        }
    }
    renumber(compiled, path, terms.plain()?, scratch)
}

/// Returns `compiled` with one more grant, if its root is new. Otherwise the other grants for the root count as well:
/// see [`revise`].
pub(crate) fn extend(
    compiled: &CompiledPermissions,
    grant: &CompactGrant,
    scratch: &mut Vec<u8>,
) -> Option<CompiledPermissions> {
    let Permission::Path(access, path) = &grant.pinned.permission else { return None };
    let mut terms = Terms::default();
    terms.add(*access, grant);
    let number = terms.plain().filter(|_| grant.hold == Hold::Use)?;
    let header = &compiled.header.header;
    let prefix = walk::fingerprint(header.ground.seed, path.as_str().as_bytes())?;
    let is_known = index::find(header.shape, &compiled.slice, path.as_str().as_bytes(), prefix).is_some();
    if is_known { None } else { renumber(compiled, path, number, scratch) }
}

/// Returns `compiled` with another number for one root. The number 0 removes the root.
fn renumber(
    compiled: &CompiledPermissions,
    path: &SanitizedPath,
    number: u16,
    scratch: &mut Vec<u8>,
) -> Option<CompiledPermissions> {
    let header = &compiled.header.header;
    // The root `/` has no fingerprint: the index cannot contain it.
    let (shape, bytes, text) = (header.shape, &compiled.slice, path.as_str());
    let prefix = walk::fingerprint(header.ground.seed, text.as_bytes())?;
    let shape = match (index::find(shape, bytes, text.as_bytes(), prefix), number) {
        (None, 0) => return Some(compiled.clone()),
        (None, _) => index::extend(shape, bytes, prefix, text, number, scratch)?,
        // The terms of a removed root stay in the block, unused, until it is compiled again.
        (Some(_), 0) => index::without(shape, bytes, prefix, text, scratch)?,
        (Some(_), _) => index::renumber(shape, bytes, prefix, text, number, scratch)?,
    };
    let (ground, more) = (Arc::clone(&header.ground), header.more.clone());
    let Header { network, events, root, .. } = *header;
    let header = Header { ground, shape, network, events, root, more };
    Some(ThinArc::from_header_and_slice(header, scratch))
}

/// Checks `want` against `compiled` at the moment that `now` returns. The clock is read only if a held permission has
/// an end. If the clock returns no time, every permission with an end counts as expired.
#[inline]
pub(crate) fn check(
    compiled: &CompiledPermissions,
    want: PermissionRef<'_>,
    now: impl Fn() -> Option<Timestamp>,
) -> Check {
    let header = &compiled.header.header;
    match want {
        PermissionRef::Network => header.answer(header.network, Access::Read, &now),
        PermissionRef::Events => header.answer(header.events, Access::Read, &now),
        PermissionRef::Tool(name) => header.answer_tool(name, &now),
        PermissionRef::Path(access, text) => {
            let mut found = Found::new(compiled, access, text.as_bytes());
            let walked =
                walk::prefixes(header.ground.seed, text.as_bytes(), header.depths(), |prefix| found.meet(prefix, &now));
            if walked.is_ok() { found.verdict(&now) } else { check_odd(compiled, access, text, &now) }
        }
    }
}

/// Checks texts with `//`, `/./`, tabs, line feeds or other unusual content. This is the slow path. An invalid path is
/// never held.
#[cold]
fn check_odd(
    compiled: &CompiledPermissions,
    access: Access,
    text: &str,
    now: &impl Fn() -> Option<Timestamp>,
) -> Check {
    let Ok(path) = text.parse::<SanitizedPath>() else { return Check::NotHeld };
    let mut found = Found::new(compiled, access, path.as_str().as_bytes());
    // The path was parsed, so all remaining unusual content is legal.
    let header = &compiled.header.header;
    let path = path.as_str().as_bytes();
    walk::legal_prefixes(header.ground.seed, path, header.depths(), |prefix| found.meet(prefix, now));
    found.verdict(now)
}

impl Header {
    /// Returns the depths of all roots in the block and of all protected paths.
    fn depths(&self) -> walk::Depths {
        self.shape.depths.and(self.ground.protected.depths)
    }

    #[inline]
    fn answer(&self, number: u16, access: Access, now: &impl Fn() -> Option<Timestamp>) -> Check {
        if number < FIRST_TERMS {
            let flag = if access == Access::Write { WRITE } else { READ };
            return if number & flag == 0 { Check::NotHeld } else { Check::Held };
        }
        let terms = self.more.as_ref().and_then(|more| more.terms.get(usize::from(number - FIRST_TERMS)));
        let (Some(terms), Some(now)) = (terms, now()) else { return Check::NotHeld };
        let (durable, once) = match access {
            Access::Read => (terms.read, terms.read_once),
            Access::Write => (terms.write, terms.write_once),
        };
        if now.as_millis() < durable.0 {
            Check::Held
        } else if now.as_millis() < once.0 {
            Check::HeldOnce
        } else {
            Check::NotHeld
        }
    }

    /// Returns the best answer of all capabilities that contain `name`.
    fn answer_tool(&self, name: &str, now: &impl Fn() -> Option<Timestamp>) -> Check {
        let held = self.more.iter().flat_map(|more| &more.tools).filter(|(held, _)| held.contains_text(name));
        held.map(|(_, number)| self.answer(*number, Access::Read, now)).min().unwrap_or(Check::NotHeld)
    }

    /// Returns true if the policy file names exactly this root for `access`.
    fn names_exactly(&self, number: u16, access: Access) -> bool {
        let flag = if access == Access::Write { EXACT_WRITE } else { EXACT_READ };
        if number < FIRST_TERMS {
            return number & flag != 0;
        }
        let terms = self.more.as_ref().and_then(|more| more.terms.get(usize::from(number - FIRST_TERMS)));
        terms.is_some_and(|terms| terms.exact & flag != 0)
    }
}

/// The results of one walk along a path so far.
struct Found<'r> {
    header: &'r Header,
    bytes: &'r [u8],
    text: &'r [u8],
    access: Access,
    best: Check,
    protected: Standing,
    /// `Held` if the policy file names exactly this path.
    named: Check,
}

impl<'r> Found<'r> {
    fn new(compiled: &'r CompiledPermissions, access: Access, text: &'r [u8]) -> Found<'r> {
        let (best, named) = (Check::NotHeld, Check::NotHeld);
        Found {
            header: &compiled.header.header,
            bytes: &compiled.slice,
            text,
            access,
            best,
            protected: Standing::Open,
            named,
        }
    }

    #[inline]
    fn meet(&mut self, prefix: walk::Prefix, now: &impl Fn() -> Option<Timestamp>) {
        let ground = &self.header.ground;
        if ground.sieve.may_have(prefix.hash)
            && let Some(number) = index::find(ground.protected, &ground.bytes, self.text, prefix)
        {
            self.protected = self.protected.max(if number == CLOSED { Standing::Closed } else { Standing::Protected });
        }
        if let Some(number) = index::find(self.header.shape, self.bytes, self.text, prefix) {
            self.best = self.best.min(self.header.answer(number, self.access, now));
            if prefix.len == self.text.len() && self.header.names_exactly(number, self.access) {
                self.named = Check::Held;
            }
        }
    }

    fn verdict(self, now: &impl Fn() -> Option<Timestamp>) -> Check {
        // All paths that are closed by name are below these directories.
        if self.text.starts_with(b"/proc") || self.text.starts_with(b"/dev") {
            return self.verdict_by_name(now);
        }
        let standing = self.protected;
        self.verdict_of(standing, now)
    }

    #[cold]
    fn verdict_by_name(self, now: &impl Fn() -> Option<Timestamp>) -> Check {
        let by_name = str::from_utf8(self.text).map_or(ByName::Proc, |path| by_name(self.access, path));
        let standing = match by_name {
            ByName::Open => Standing::Open,
            ByName::Device => Standing::Protected,
            ByName::Proc => Standing::Closed,
        };
        let standing = standing.max(self.protected);
        self.verdict_of(standing, now)
    }

    #[inline]
    fn verdict_of(self, standing: Standing, now: &impl Fn() -> Option<Timestamp>) -> Check {
        match standing {
            Standing::Open if self.header.ground.everything => return self.named,
            Standing::Open => {}
            Standing::Protected => return self.named,
            Standing::Closed => return Check::NotHeld,
        }
        if self.access == Access::Read && self.header.ground.reads == Reads::Anywhere {
            return Check::Held;
        }
        if self.header.root == 0 {
            self.best
        } else {
            self.best.min(self.header.answer(self.header.root, self.access, now))
        }
    }
}

#[cfg(test)]
#[cfg(feature = "property-tests")]
mod tests;
