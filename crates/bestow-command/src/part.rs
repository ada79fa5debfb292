//! The parts of a command line.

use std::borrow::Cow;

use serde::Serialize;

use crate::{
    span::Span,
    tier::Tier,
    values::{Obeys, Spoken, StartDir},
};

/// One thing that the command line does, with its tier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Part {
    /// The tier of this part alone.
    pub tier: Tier,
    /// The text of the part as it was written, cut short if it is long. An agent may have written it: display it
    /// through [`Escaped`](crate::values::Escaped).
    pub command: String,
    /// The rule that decided the tier.
    pub rule: String,
    /// The position of the part in the command line.
    pub span: Span,
    /// The invocation of the program as it is written.
    #[serde(skip)]
    #[doc(hidden)]
    pub runs: Option<Spoken>,
    /// Every command that may run because of this part.
    #[serde(skip)]
    #[doc(hidden)]
    pub starts: Vec<Spoken>,
    /// The directories in which the part may run, as far as the text shows them.
    #[serde(skip)]
    #[doc(hidden)]
    pub dirs: Cow<'static, [StartDir]>,
    /// The files that the programs of this part obey.
    #[serde(skip)]
    #[doc(hidden)]
    pub obeys: Vec<Obeys>,
}

/// The longest command text of a part, in bytes. A person reads the beginning; the span locates the rest.
pub(crate) const MAX_SHOWN_BYTES: usize = 200;

impl Part {
    /// Creates a part that runs in the start directory of its line.
    #[inline]
    pub(crate) fn new(tier: Tier, rule: String, text: &str, span: Span) -> Self {
        let (dirs, command) = (Cow::Borrowed(StartDir::ONLY_OWN), Part::shown(text, span));
        Part { tier, command, rule, span, runs: None, starts: Vec::new(), dirs, obeys: Vec::new() }
    }

    /// Returns the text of a part of the line, cut short if it is long.
    fn shown(text: &str, span: Span) -> String {
        let text = text.get(span.start..span.end).unwrap_or(text);
        let mut end = text.len().min(MAX_SHOWN_BYTES);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.get(..end).unwrap_or_default().to_owned()
    }
}

impl Part {
    /// Returns true if the part has this tier, rule and position.
    pub(crate) fn same(&self, tier: Tier, rule: &str, span: Span) -> bool {
        self.span == span && self.tier == tier && self.rule == rule
    }
}
