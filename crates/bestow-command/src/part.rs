//! The parts of a command line.

use std::borrow::Cow;

use serde::Serialize;

use crate::{
    span::Span,
    tier::Tier,
    values::{Obeys, Spoken, SpokenPart, StartDir},
    wildcard,
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
    pub rule: Cow<'static, str>,
    /// The position of the part in the command line.
    pub span: Span,
}

/// The longest command text of a part, in bytes. A person reads the beginning; the span locates the rest.
pub(crate) const MAX_SHOWN_BYTES: usize = 200;

impl Part {
    /// Creates a part at a position in a text.
    pub(crate) fn new(tier: Tier, rule: Cow<'static, str>, text: &str, span: Span) -> Self {
        Part { tier, command: Part::shown(text, span), rule, span }
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

/// A part as the interpreter records it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecordedPart {
    pub(crate) tier: Tier,
    pub(crate) rule: Cow<'static, str>,
    pub(crate) span: Span,
    /// True for the invocation of a program.
    pub(crate) is_program: bool,
    /// True for a part that a reader cannot distinguish from an earlier one.
    pub(crate) is_repeated: bool,
    /// The invocation as it is written. `None` if nobody asks for the commands of the line.
    pub(crate) runs: Option<Spoken>,
    /// Every command that may run because of this part. Empty if nobody asks for the commands of the line.
    pub(crate) starts: Vec<Spoken>,
    /// The directories in which the part may run, as far as the text shows them.
    pub(crate) dirs: Cow<'static, [StartDir]>,
    /// The files that the programs of this part obey.
    pub(crate) obeys: Vec<Obeys>,
}

impl RecordedPart {
    /// Creates a part that is no program and runs in the start directory of its line.
    #[inline]
    pub(crate) fn new(tier: Tier, rule: Cow<'static, str>, span: Span) -> Self {
        let (dirs, starts, obeys) = (Cow::Borrowed(StartDir::ONLY_OWN), Vec::new(), Vec::new());
        RecordedPart { tier, rule, span, is_program: false, is_repeated: false, runs: None, starts, dirs, obeys }
    }

    /// Returns true if the part has this tier, rule and position.
    pub(crate) fn same(&self, tier: Tier, rule: &str, span: Span) -> bool {
        self.span == span && self.tier == tier && self.rule == rule
    }

    /// Returns true if a reader cannot distinguish the parts.
    pub(crate) fn looks_like(&self, other: &RecordedPart) -> bool {
        self.same(other.tier, &other.rule, other.span)
    }

    /// Returns the commands of the part.
    pub(crate) fn into_spoken(self) -> SpokenPart {
        let by_name = self.runs.as_ref().filter(|_| self.tier > Tier::Safe).map(wildcard::by_name).unwrap_or_default();
        let RecordedPart { tier, runs, starts, dirs, obeys, .. } = self;
        SpokenPart { tier, runs, starts, dirs: dirs.into_owned(), by_name, obeys }
    }
}
