//! The content that an action writes or sends, as it is stored with a request and shown.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Digest, Quoted, has_mark, redacted_value};

/// The number of characters shown from the beginning of a shortened content.
const HEAD: usize = 2_000;

/// The number of characters shown from the end of a shortened content.
const TAIL: usize = 1_000;

/// The content that an action writes or sends. It has no secrets and a limited length. A digest binds the whole
/// content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Details {
    /// The content as JSON. A long content is shown by its beginning, the number of omitted characters, and its end.
    pub shown: Arc<str>,
    /// The number of characters that are not shown.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u64,
    /// The digest of the whole content, including secrets. Another content makes another action.
    pub digest: Digest,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Details {
    /// Creates the details of `content`. Its keys must be in order.
    pub(crate) fn of(content: &Value) -> Details {
        let digest = Digest::of_texts([&*content.to_string()]);
        let text = redacted_value(content).to_string();
        let count = text.chars().count();
        let place = |number: usize| text.char_indices().nth(number).map_or(text.len(), |(place, _)| place);
        if count <= HEAD + TAIL {
            return Details { shown: text.into(), left_out: 0, digest };
        }
        let (head, tail) = (text.get(..place(HEAD)), text.get(place(count - TAIL)..));
        let left_out = count - HEAD - TAIL;
        let (head, tail) = (head.unwrap_or_default(), tail.unwrap_or_default());
        let shown = format!("{head}… ({left_out} of {count} characters are not shown) …{tail}").into();
        Details { shown, left_out: u64::try_from(left_out).unwrap_or(u64::MAX), digest }
    }
}

/// Returns true if a person sees `content` as it is: nothing in it is redacted, nothing is cut, and it has no text that
/// looks like a redaction.
pub fn is_shown_whole(content: &Value) -> bool {
    let text = content.to_string();
    redacted_value(content) == *content && !has_mark(&text) && text.chars().count() <= HEAD + TAIL
}

/// Formats the content for people: quoted, and escaped.
impl fmt::Display for Details {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Quoted(&self.shown).fmt(f)?;
        if self.left_out > 0 { write!(f, " (SHA-256 of the whole: {})", self.digest) } else { Ok(()) }
    }
}
