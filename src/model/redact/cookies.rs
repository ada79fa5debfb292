//! Lists of values, as cookies are sent: `session=…; user=…`.

use std::ops::Range;

use super::{
    names::Strength,
    places::Place,
    spans::{is_plain, ranges_of},
};

/// The name of the header.
const HEADER: &str = "cookie:";

/// Returns the parts of a value that may be secrets: the values of a list `name=value; name=value`, or all of it.
pub(super) fn pieces(text: &str, span: Range<usize>) -> Vec<Range<usize>> {
    let whole = text.get(span.clone()).unwrap_or_default();
    let pairs: Vec<_> = ranges_of(whole, ';').map(|piece| trimmed(whole, piece)).collect();
    let is_pair = |(at, piece): (usize, &Range<usize>)| {
        let piece = whole.get(piece.clone()).unwrap_or_default();
        piece.bytes().all(is_plain) && (at == 0 || piece.is_empty() || piece.contains('='))
    };
    if pairs.len() < 2 || !pairs.iter().enumerate().all(is_pair) {
        return vec![span];
    }
    let values = pairs.into_iter().map(|pair| behind_sign(whole, pair));
    values.map(|value| span.start + value.start..span.start + value.end).collect()
}

/// Returns the values of the cookies in the headers of `text`. The first is found by the name of its header.
pub(super) fn places(text: &str) -> Vec<Place> {
    let (mut found, mut from) = (Vec::new(), 0);
    let letters = text.to_ascii_lowercase();
    while let Some(at) = letters.get(from..).and_then(|rest| rest.find(HEADER)) {
        let start = from + at + HEADER.len();
        let ends = |c: char| c != ' ' && c != ';' && !(c.is_ascii() && is_plain(c as u8));
        let rest = text.get(start..).unwrap_or_default();
        let end = start + rest.find(ends).unwrap_or(rest.len());
        let list = text.get(start..end).unwrap_or_default();
        for pair in ranges_of(list, ';') {
            let pair = trimmed(list, pair);
            let value = behind_sign(list, pair.clone());
            // Without a sign it is no cookie, and the text may go on with a command.
            if value.start == pair.start || list.get(pair).is_some_and(|pair| pair.contains(' ')) {
                break;
            }
            found.push((start + value.start..start + value.end, Strength::Strong));
        }
        from = end;
    }
    found
}

/// Returns a span of `text` without the spaces around it.
fn trimmed(text: &str, span: Range<usize>) -> Range<usize> {
    let part = text.get(span.clone()).unwrap_or_default();
    let start = span.start + (part.len() - part.trim_start().len());
    start..start + part.trim().len()
}

/// Returns the part of a pair behind its `=`, or all of it if it has none.
fn behind_sign(text: &str, pair: Range<usize>) -> Range<usize> {
    let sign = text.get(pair.clone()).and_then(|pair| pair.find('='));
    pair.start + sign.map_or(0, |sign| sign + 1)..pair.end
}
