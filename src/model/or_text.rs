//! Values that callers may give as text.

use std::{fmt, sync::Arc};

use super::{AgentId, ApproverId, Escaped, OwnerId, Permission, Permissions, Reason};

/// A value of `T`, or the text that it is parsed from. Methods that take a name, a permission or a reason accept both.
///
/// ```
/// # use bestow::{AgentId, Engine, Error};
/// # fn example(engine: &Engine, id: &AgentId) -> Result<(), Error> {
/// engine.agent("worker")?;
/// engine.agent(id)?;
/// assert!(matches!(engine.agent("not a name"), Err(Error::Text(_))));
/// # Ok(()) }
/// ```
pub trait OrText<T> {
    /// Returns the value.
    ///
    /// # Errors
    ///
    /// [`InvalidText`] with the text, if it is not a `T`.
    fn value(self) -> Result<T, InvalidText>;
}

/// A text that is not the value that the method takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidText {
    text: Arc<str>,
    why: Arc<str>,
}

impl InvalidText {
    fn new(text: &str, why: &impl fmt::Display) -> InvalidText {
        InvalidText { text: text.into(), why: why.to_string().into() }
    }

    /// Returns the text, as the caller gave it. Show it through [`Escaped`].
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for InvalidText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST: usize = 100;
        match self.text.char_indices().nth(MOST) {
            Some((end, _)) => write!(f, "`{}…`: {}", Escaped(self.text.get(..end).unwrap_or_default()), self.why),
            None => write!(f, "`{}`: {}", Escaped(&self.text), self.why),
        }
    }
}

impl std::error::Error for InvalidText {}

macro_rules! or_text {
    ($value:ty, $parse:expr) => {
        or_text!(is $value => $value, Ok);
        or_text!(is &$value => $value, |value: &$value| Ok(value.clone()));
        or_text!(is &str => $value, |text| $parse(text).map_err(|why| InvalidText::new(text, &why)));
        or_text!(is &String => $value, |text: &String| text.as_str().value());
        or_text!(is String => $value, |text: String| text.as_str().value());
    };
    (is $given:ty => $value:ty, $convert:expr) => {
        impl OrText<$value> for $given {
            fn value(self) -> Result<$value, InvalidText> {
                let convert: fn($given) -> Result<$value, InvalidText> = $convert;
                convert(self)
            }
        }
    };
}

or_text!(AgentId, str::parse::<AgentId>);
or_text!(ApproverId, str::parse::<ApproverId>);
or_text!(OwnerId, str::parse::<OwnerId>);
or_text!(Reason, str::parse::<Reason>);
or_text!(Permissions, |tag| str::parse::<Permission>(tag).map(Permissions::from));
or_text!(is Permission => Permissions, |permission| Ok(permission.into()));
or_text!(is &Permission => Permissions, |permission: &Permission| Ok(permission.clone().into()));
