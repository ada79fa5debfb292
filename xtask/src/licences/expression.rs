//! Licence expressions of SPDX: names, `WITH`, `AND`, `OR` and parentheses. An old form writes `/` for `OR`.

/// Returns true if the licences in `allowed` are enough to meet `expression`.
///
/// # Errors
///
/// A text when the expression is empty or not well formed.
pub(crate) fn is_met(expression: &str, allowed: &[String]) -> Result<bool, String> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut words = Words { words: spaced.split_whitespace().collect::<Vec<_>>(), next: 0, allowed };
    let met = words.any()?;
    match words.take() {
        None => Ok(met),
        Some(word) => Err(format!("`{word}` does not belong there")),
    }
}

struct Words<'e> {
    words: Vec<&'e str>,
    next: usize,
    allowed: &'e [String],
}

impl<'e> Words<'e> {
    fn take(&mut self) -> Option<&'e str> {
        let word = self.words.get(self.next).copied();
        self.next += 1;
        word
    }

    fn take_if(&mut self, wanted: &str) -> bool {
        let found = self.words.get(self.next) == Some(&wanted);
        self.next += usize::from(found);
        found
    }

    /// Reads expressions with `OR` between them.
    fn any(&mut self) -> Result<bool, String> {
        let mut met = self.all()?;
        while self.take_if("OR") {
            met |= self.all()?;
        }
        Ok(met)
    }

    /// Reads expressions with `AND` between them.
    fn all(&mut self) -> Result<bool, String> {
        let mut met = self.one()?;
        while self.take_if("AND") {
            met &= self.one()?;
        }
        Ok(met)
    }

    fn one(&mut self) -> Result<bool, String> {
        match self.take().ok_or("a licence is missing")? {
            "(" => {
                let met = self.any()?;
                if self.take_if(")") { Ok(met) } else { Err("a parenthesis is not closed".to_owned()) }
            }
            word @ (")" | "AND" | "OR" | "WITH") => Err(format!("`{word}` does not belong there")),
            name => {
                let mut name = name.to_owned();
                if self.take_if("WITH") {
                    name = format!("{name} WITH {}", self.take().ok_or("an exception is missing")?);
                }
                Ok(self.allowed.contains(&name))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_met;

    #[test]
    fn an_expression_is_met_by_the_licences_that_it_needs() {
        let allowed = ["MIT".to_owned(), "Apache-2.0 WITH LLVM-exception".to_owned()];
        for (expression, met) in [
            ("MIT", true),
            ("GPL-3.0-only", false),
            ("GPL-3.0-only OR MIT", true),
            ("GPL-3.0-only/MIT", true),
            ("GPL-3.0-only AND MIT", false),
            ("MIT OR GPL-3.0-only AND Zlib", true),
            ("(MIT OR GPL-3.0-only) AND Zlib", false),
            ("(GPL-3.0-only OR MIT) AND MIT", true),
            ("Apache-2.0", false),
            ("Apache-2.0 WITH LLVM-exception", true),
        ] {
            assert_eq!(is_met(expression, &allowed), Ok(met), "{expression}");
        }
        for wrong in ["", "MIT OR", "(MIT", "MIT)", "MIT MIT", "OR MIT", "MIT WITH"] {
            assert!(is_met(wrong, &allowed).is_err(), "{wrong}");
        }
    }
}
