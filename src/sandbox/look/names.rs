//! The names that a search looks for: the table of sensitive names, and the globs that a rule denies.

use std::path::Path;

use globset::{Candidate, GlobSet, GlobSetBuilder};

use crate::{
    model::{PathGlob, SensitiveName},
    sandbox::{Guard, Profile, ProfileError, mounts::said},
};

/// The reasons for which a name matters to a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Why(u8);

impl Why {
    pub(super) const SENSITIVE: Why = Why(1);
    pub(super) const HIDDEN: Why = Why(2);
    pub(super) const UNWRITTEN: Why = Why(4);

    pub(super) fn has(self, reason: Why) -> bool {
        self.0 & reason.0 != 0
    }

    pub(super) fn is_none(self) -> bool {
        self.0 == 0
    }

    fn with(self, reason: Why, is_so: bool) -> Why {
        if is_so { Why(self.0 | reason.0) } else { self }
    }

    pub(super) fn bits(self) -> u8 {
        self.0
    }

    /// Returns the reasons with these bits, or `None` if the bits mean nothing.
    pub(super) fn from_bits(bits: u8) -> Option<Why> {
        (1..8).contains(&bits).then_some(Why(bits))
    }
}

/// The names that a search looks for below one root.
#[derive(Debug)]
pub(in crate::sandbox) struct Names<'p> {
    profile: &'p Profile,
    is_guarded: bool,
    hidden: GlobSet,
    unwritten: GlobSet,
    /// The globs as text, for the cache.
    texts: [Vec<&'p str>; 2],
}

impl<'p> Names<'p> {
    /// Collects the names for a write root.
    ///
    /// # Errors
    ///
    /// Fails if a glob cannot be compiled, because its matches are unknown.
    pub(in crate::sandbox) fn of_written(profile: &'p Profile) -> Result<Names<'p>, ProfileError> {
        Names::new(profile, profile.guard == Guard::Sensitive, &profile.hidden_globs, &profile.unwritten_globs)
    }

    /// Collects the names for a directory that the command only reads.
    ///
    /// # Errors
    ///
    /// Fails like [`Names::of_written`].
    pub(in crate::sandbox) fn of_read(profile: &'p Profile) -> Result<Names<'p>, ProfileError> {
        Names::new(profile, false, &profile.hidden_globs, &[])
    }

    fn new(
        profile: &'p Profile,
        is_guarded: bool,
        hidden: &'p [PathGlob],
        unwritten: &'p [PathGlob],
    ) -> Result<Names<'p>, ProfileError> {
        let texts = [hidden, unwritten].map(|globs| globs.iter().map(PathGlob::as_str).collect());
        Ok(Names { profile, is_guarded, hidden: compiled(hidden)?, unwritten: compiled(unwritten)?, texts })
    }

    /// Returns true if there is nothing to look for.
    pub(in crate::sandbox) fn is_empty(&self) -> bool {
        !self.is_guarded && !self.hides() && self.unwritten.is_empty()
    }

    /// Returns true if some names must not be read. The search then continues in directories that cannot be written.
    pub(in crate::sandbox) fn hides(&self) -> bool {
        !self.hidden.is_empty()
    }

    /// Returns true if the search also finds sensitive names.
    pub(super) fn is_guarded(&self) -> bool {
        self.is_guarded
    }

    /// Returns the reasons for which a name in `directory` matters. `depth` is the number of names above it.
    pub(super) fn why(&self, directory: &Path, name: &std::ffi::OsStr, text: &str, above: &str, depth: usize) -> Why {
        let is_sensitive = self.is_guarded && self.profile.is_sensitive_name(text, above, depth);
        let why = Why::default().with(Why::SENSITIVE, is_sensitive);
        if self.hidden.is_empty() && self.unwritten.is_empty() {
            return why;
        }
        let path = directory.join(name);
        let candidate = Candidate::new(&path);
        let is_in = |globs: &GlobSet| globs.is_match_candidate(&candidate);
        why.with(Why::HIDDEN, is_in(&self.hidden)).with(Why::UNWRITTEN, is_in(&self.unwritten))
    }

    /// Returns the texts that decide about the result of a search.
    pub(super) fn texts(&self) -> impl Iterator<Item = Vec<String>> + '_ {
        let own = self.profile.sensitive.iter().map(SensitiveName::to_string).collect();
        let globs = self.texts.iter().map(|globs| globs.iter().map(|text| (*text).to_owned()).collect());
        std::iter::once(own).chain(globs)
    }
}

/// Compiles globs as denials: a denial of a directory covers its content.
fn compiled(globs: &[PathGlob]) -> Result<GlobSet, ProfileError> {
    let build = || {
        let mut builder = GlobSetBuilder::new();
        for glob in globs {
            for form in glob.compiled_as_no()? {
                builder.add(form);
            }
        }
        builder.build()
    };
    let named = || globs.first().map_or_else(String::new, |glob| glob.as_str().to_owned());
    build().map_err(|why: globset::Error| ProfileError::NotHeld(said(Path::new(&named())), why.to_string()))
}
