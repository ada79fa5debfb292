//! Names of single hosts, for code that restricts a network to some hosts.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// The name of one host, as a resolver takes it: lower-case ASCII, at least two labels, no port, no pattern.
///
/// Upper case is converted to lower case. Nothing else is converted, because invalid names have been used to bypass
/// such lists before (`a.com.`, `evil.example\0.ok.com`).
///
/// ```
/// # #[cfg(feature = "sandbox")] {
/// use bestow::sandbox::{Domain, InvalidDomain};
/// assert_eq!("Docs.Example.com".parse::<Domain>()?.as_str(), "docs.example.com");
/// assert_eq!("*.com".parse::<Domain>(), Err(InvalidDomain::Pattern));
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Domain(String);

/// The reason why a text is not a [`Domain`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidDomain {
    /// The text has a `*`. The owners of all matching hosts are unknown.
    #[error("name each host: a `*` could match hosts of any person")]
    Pattern,
    /// The text is an address, or has a scheme, a port or a path.
    #[error("name a host and nothing else: no address, scheme, port or path")]
    NotAName,
    /// The text is not ASCII. Write the form that begins with `xn--`.
    #[error("write the ASCII form of the name, which begins with `xn--`")]
    NotAscii,
    /// A label is empty or too long, or has other characters than letters, digits and hyphens.
    #[error("each part of a name has 1 to 63 letters, digits and hyphens, and no dot stands at its end")]
    Label,
    /// The name has one label only.
    #[error("a name has at least two parts, as in `example.com`")]
    TooShort,
    /// The text is longer than 253 characters.
    #[error("a name has at most 253 characters")]
    TooLong,
}

impl FromStr for Domain {
    type Err = InvalidDomain;

    fn from_str(text: &str) -> Result<Domain, InvalidDomain> {
        if text.len() > 253 {
            return Err(InvalidDomain::TooLong);
        }
        if text.contains('*') {
            return Err(InvalidDomain::Pattern);
        }
        if text.contains([':', '/', '@', '[', '?', '#']) {
            return Err(InvalidDomain::NotAName);
        }
        if !text.is_ascii() {
            return Err(InvalidDomain::NotAscii);
        }
        let labels: Vec<&str> = text.split('.').collect();
        if !labels.iter().all(|label| is_label(label)) {
            return Err(InvalidDomain::Label);
        }
        // A last label that begins with a digit would make a resolver read the name as an address.
        if labels.last().is_some_and(|last| last.starts_with(|c: char| c.is_ascii_digit())) {
            return Err(InvalidDomain::NotAName);
        }
        if labels.len() < 2 {
            return Err(InvalidDomain::TooShort);
        }
        Ok(Domain(text.to_ascii_lowercase()))
    }
}

fn is_label(label: &str) -> bool {
    let is_plain = label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    (1..=63).contains(&label.len()) && is_plain && !label.starts_with('-') && !label.ends_with('-')
}

impl TryFrom<String> for Domain {
    type Error = InvalidDomain;

    fn try_from(text: String) -> Result<Domain, InvalidDomain> {
        text.parse()
    }
}

impl From<Domain> for String {
    fn from(domain: Domain) -> String {
        domain.0
    }
}

impl Domain {
    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
