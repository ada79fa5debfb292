//! The parts of a short text.

/// An iterator over the parts of a text between two of a sign. The parts are short, so it looks at each byte: the
/// search of the standard library takes longer to begin.
#[derive(Clone, Debug)]
pub(crate) struct Parts<'t> {
    rest: Option<&'t str>,
    sign: u8,
}

/// Returns the parts of a text between two of an ASCII sign.
pub(crate) fn parts(text: &str, sign: u8) -> Parts<'_> {
    Parts { rest: Some(text), sign }
}

impl<'t> Iterator for Parts<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let rest = self.rest?;
        let end = rest.bytes().position(|byte| byte == self.sign);
        self.rest = end.and_then(|end| rest.get(end + 1..));
        end.map_or(Some(rest), |end| rest.get(..end))
    }
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn they_are_those_of_the_standard_library() {
        for text in ["", "|", "a", "a|", "|a", "a||b", "ä|ö|", "a b|c"] {
            assert!(parts(text, b'|').eq(text.split('|')), "{text}");
        }
    }
}
