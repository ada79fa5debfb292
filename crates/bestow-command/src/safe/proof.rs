//! The result of the search for a proof that a use of a program only reads.

use std::borrow::Cow;

/// The result of the search for a proof.
#[derive(Debug)]
pub(crate) enum Proof {
    /// A proof by this rule.
    Reads(Cow<'static, str>),
    /// A known program, but an unproven use of it.
    Unproven(String),
    /// A program that is in no list or table.
    Unknown,
}
