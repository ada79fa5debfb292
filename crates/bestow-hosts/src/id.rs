//! Ids that a host gives to its sessions and subagents. They come from outside, so they become parts of an agent's id
//! only in a form in which no two of them are equal.

use std::{fmt, fmt::Write as _, str::FromStr, sync::Arc};

use bestow::{AgentId, agent::InvalidId};
use serde::{Deserialize, Serialize};

/// The longest id of a host, in bytes.
const LONGEST: usize = 64;

/// The reason why a text is not the id of a session or subagent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidHostId {
    /// The text is empty.
    #[error("the id of a session or subagent must not be empty")]
    Empty,
    /// The text is longer than 64 bytes.
    #[error("the id of a session or subagent has at most {LONGEST} bytes")]
    TooLong,
}

macro_rules! host_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(Arc<str>);

        impl $name {
            /// Returns the id as the host wrote it. Show it through [`bestow::text::Escaped`].
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = InvalidHostId;

            fn from_str(text: &str) -> Result<$name, InvalidHostId> {
                match text.len() {
                    0 => Err(InvalidHostId::Empty),
                    length if length > LONGEST => Err(InvalidHostId::TooLong),
                    _ => Ok($name(text.into())),
                }
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidHostId;

            fn try_from(text: String) -> Result<$name, InvalidHostId> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.0.as_ref().to_owned()
            }
        }
    };
}

host_id! {
    /// Names a session of a host, as the host writes it.
    SessionId
}
host_id! {
    /// Names a subagent of a session, as the host writes it.
    SubagentId
}

/// Returns the id of the agent of a session: `claude:SESSION`.
///
/// # Errors
///
/// The id would be too long for an agent.
pub(crate) fn of_session(host: &AgentId, session: &SessionId) -> Result<AgentId, InvalidId> {
    format!("{host}:{}", Part(session.as_str())).parse()
}

/// Returns the id of the agent of a subagent: `claude:SESSION:SUBAGENT`.
///
/// # Errors
///
/// The id would be too long for an agent.
pub(crate) fn of_subagent(host: &AgentId, session: &SessionId, subagent: &SubagentId) -> Result<AgentId, InvalidId> {
    format!("{host}:{}:{}", Part(session.as_str()), Part(subagent.as_str())).parse()
}

/// Returns the id of the agent in the policy file that limits subagents of a type: `claude:TYPE`. Returns none if no
/// agent can have such an id.
pub(crate) fn of_kind(host: &AgentId, kind: &str) -> Option<AgentId> {
    format!("{host}:{kind}").parse().ok()
}

/// A text as a part of an agent's id: ASCII letters, digits, `_` and `-` are themselves, and every other byte is a dot
/// with two hexadecimal digits. So different texts stay different, and no part contains a colon.
struct Part<'a>(&'a str);

impl fmt::Display for Part<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.bytes().try_for_each(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' => f.write_char(char::from(byte)),
            _ => write!(f, ".{byte:02x}"),
        })
    }
}
