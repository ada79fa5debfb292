//! A parser for bash that reports "not understood" instead of guessing.
//!
//! The parser reads the text in one pass from left to right, with limits for depth, words and steps. It knows quoting,
//! expansions, substitutions, here-documents and all compound commands. Syntax of doubtful meaning becomes a
//! [`Fault`](tree::Fault): a text with a fault can never be proven safe. The parser has no knowledge of programs.

mod compound;
mod dollar;
mod reader;
mod redirect;
mod statement;
pub(super) mod tree;
mod word;

pub(super) use reader::is_name;
pub(super) use statement::bare_text;
pub(super) use word::is_invisible;

use reader::{Ledger, Reader};
use tree::{Fault, Parsed};

/// The longest text that is parsed, in bytes.
pub(super) const MAX_BYTES: usize = 64 * 1024;

/// Parses `text` as bash would.
pub(super) fn parse(text: &str) -> Parsed {
    if text.len() > MAX_BYTES {
        let fault = Fault { at: MAX_BYTES, why: "longer than what is parsed" };
        return Parsed { faults: vec![fault], broken: true, ..Parsed::default() };
    }
    let mut reader = Reader::new(text);
    let mut script = tree::Script::default();
    let broken = reader.program(&mut script).is_err();
    let is_odd = |byte: u8| !matches!(byte, b' '..=b'~' | b'\t' | b'\n');
    // A pass without branches looks at many bytes at once.
    if text.bytes().fold(false, |odd, byte| odd | is_odd(byte))
        && text.chars().any(|c| c.is_control() && !matches!(c, '\t' | '\n'))
    {
        reader.fault("a control character");
    }
    let Ledger { commands, bodies, faults, bash_only, elsewhere, .. } = reader.ledger;
    Parsed { script, commands, bodies, faults, broken, bash_only, elsewhere }
}

/// Returns the work of parsing a text, in units that do not depend on the machine.
#[cfg(test)]
pub(super) fn steps(text: &str) -> usize {
    let mut reader = Reader::new(text);
    let _ = reader.program(&mut tree::Script::default());
    reader.ledger.steps
}
