//! The values and keys of a file, as the reader of tables sees them.

use std::fmt::Debug;

/// A value of a file, in one of the formats.
pub(crate) trait Node: Debug + Sized {
    /// A position in the file.
    type Place: Copy + Debug;
    /// The content of a table.
    type Entries: Debug;

    /// The word for a table in this format.
    const TABLE: &'static str;
    /// The expected values in messages: a table, a text, and a duration.
    const A_TABLE: &'static str;
    const A_TEXT: &'static str;
    const A_DURATION: &'static str;

    fn place(&self) -> Self::Place;

    /// Returns true for a value that counts as missing.
    fn is_empty(&self) -> bool;

    /// Describes the type of the value.
    fn kind(&self) -> &'static str;

    fn as_text(&self) -> Option<&str>;

    fn as_flag(&self) -> Option<bool>;

    /// Returns the digits of a whole number, and their radix.
    fn as_integer(&self) -> Option<(&str, u32)>;

    fn as_list(&self) -> Option<&[Self]>;

    fn as_entries(&self) -> Option<&Self::Entries>;

    /// Returns the value under `name`.
    fn get<'n>(entries: &'n Self::Entries, name: &str) -> Option<&'n Self>;

    /// Returns each key with its place, and its value.
    fn entries<'n>(entries: &'n Self::Entries) -> impl Iterator<Item = (&'n str, Self::Place, &'n Self)>
    where
        Self: 'n;
}

/// A key of a table: its documented name, and the equivalent names.
pub(crate) trait Key: Copy {
    /// Returns the names, the documented one first.
    fn names(&self) -> &[&'static str];
}

impl Key for &'static str {
    fn names(&self) -> &[&'static str] {
        std::slice::from_ref(self)
    }
}

impl<const N: usize> Key for [&'static str; N] {
    fn names(&self) -> &[&'static str] {
        self
    }
}
