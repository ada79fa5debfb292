//! The result of the search for a proof that a use of a program only reads.

/// The result of the search for a proof.
#[derive(Debug)]
pub(crate) enum Proof {
    /// A proof by this rule.
    Reads(String),
    /// A known program, but an unproven use of it.
    Unproven(String),
    /// A program that is in no list or table.
    Unknown,
}
