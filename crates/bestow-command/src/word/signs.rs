//! The signs in the text of a word. They are collected once, because many questions about a word ask for them.

use super::{ELEMENT_SIGN, HOME_SIGN, NON_EMPTY_SIGN, UNKNOWN_SIGN};

/// A set of signs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Signs(u8);

impl Signs {
    /// A part that is unknown.
    pub(crate) const UNKNOWN: Signs = Signs(1);
    /// The home directory.
    pub(crate) const HOME: Signs = Signs(1 << 1);
    pub(crate) const EQUALS: Signs = Signs(1 << 2);
    pub(crate) const AT: Signs = Signs(1 << 3);
    pub(crate) const COLON: Signs = Signs(1 << 4);
    pub(crate) const SLASH: Signs = Signs(1 << 5);
    /// An opening brace.
    pub(crate) const BRACE: Signs = Signs(1 << 6);
    /// The start of an element of a list.
    const ELEMENT: Signs = Signs(1 << 7);
    /// The characters that no literal text has.
    pub(crate) const PRIVATE: Signs = Signs::UNKNOWN.or(Signs::HOME).or(Signs::ELEMENT);

    /// Returns what a byte stands for. Every sign is one byte long.
    const fn of_byte(byte: u8) -> Signs {
        match byte as char {
            UNKNOWN_SIGN | NON_EMPTY_SIGN => Signs::UNKNOWN,
            HOME_SIGN => Signs::HOME,
            ELEMENT_SIGN => Signs::ELEMENT,
            '=' => Signs::EQUALS,
            '@' => Signs::AT,
            ':' => Signs::COLON,
            '/' => Signs::SLASH,
            '{' => Signs::BRACE,
            _ => Signs(0),
        }
    }

    /// The meaning of each byte.
    const OF_BYTES: [u8; 256] = {
        let (mut table, mut byte) = ([0; 256], 0_u8);
        let mut rest = table.as_mut_slice();
        while let [place, behind @ ..] = rest {
            *place = Signs::of_byte(byte).0;
            byte = byte.wrapping_add(1);
            rest = behind;
        }
        table
    };

    /// Returns the signs in a text.
    pub(crate) fn of(text: &str) -> Signs {
        let sign = |byte: u8| Signs::OF_BYTES.get(usize::from(byte)).copied().unwrap_or_default();
        Signs(text.bytes().fold(0, |all, byte| all | sign(byte)))
    }

    /// Returns the signs of both sets.
    pub(crate) const fn or(self, other: Signs) -> Signs {
        Signs(self.0 | other.0)
    }

    /// Returns true if one of these signs is in the set.
    pub(crate) fn has(self, any: Signs) -> bool {
        self.0 & any.0 != 0
    }
}
