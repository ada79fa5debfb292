//! Ids of things. An id only names a thing. Knowing an id gives no permission to act as that thing.

use std::{borrow::Borrow, fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize, Serializer};
use uuid::Uuid;

use super::{
    CodingAgent,
    serde_text::{parsed_from_text, shown_as_text},
};

/// The most characters an id may have.
const MAX_ID_LEN: usize = 128;

/// The reason why a text is not an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidId {
    /// The text is empty.
    #[error("an id must not be empty")]
    Empty,
    /// More than 128 characters.
    #[error("an id has at most {MAX_ID_LEN} characters")]
    TooLong,
    /// Something other than ASCII letters, digits and `. _ : @ -`, or a first character that is not a letter or digit.
    #[error(
        "an id starts with a letter or digit and holds only ASCII letters, digits and `. _ : @ -`, not `{}`",
        .0.escape_default()
    )]
    Character(char),
}

fn is_of_id(c: char) -> bool {
    c.is_ascii_alphanumeric() || "._:@-".contains(c)
}

fn parse(text: &str) -> Result<Arc<str>, InvalidId> {
    let first = text.chars().next().ok_or(InvalidId::Empty)?;
    if !first.is_ascii_alphanumeric() {
        return Err(InvalidId::Character(first));
    }
    if let Some(odd) = text.chars().find(|c| !is_of_id(*c)) {
        return Err(InvalidId::Character(odd));
    }
    if text.len() > MAX_ID_LEN {
        return Err(InvalidId::TooLong);
    }
    Ok(text.into())
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        parsed_from_text!($name);

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(&self.0)
            }
        }

        impl $name {
            /// Returns the id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, InvalidId> {
                parse(text).map(Self)
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidId;

            fn try_from(text: String) -> Result<Self, InvalidId> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.0.as_ref().to_owned()
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

text_id! {
    /// Names an agent.
    AgentId
}
text_id! {
    /// Names the owner of an agent. Nothing is shared between owners.
    OwnerId
}
text_id! {
    /// Names a person who answers requests, or the program that acts for this person.
    ApproverId
}
text_id! {
    /// Names one run of an agent. Permissions of scope `session` end with the run.
    RunId
}

impl RunId {
    /// Returns the id of one of several runs that begin at once.
    pub(crate) fn numbered(&self, number: u32) -> RunId {
        // An id of the maximum length has no room for a number.
        format!("{self}-{number}").parse().unwrap_or_else(|_| self.clone())
    }
}

text_id! {
    /// Names a hook of the host program.
    HookName
}
text_id! {
    /// Names one engine during its lifetime. A later engine has another id.
    RuntimeId
}
text_id! {
    /// Names one call of a tool, as the host program calls it. It joins events with the records of the host program.
    CallId
}

/// The prefixes of agent ids that are reserved for scheduled tasks.
const OF_TASKS: [&str; 2] = ["cron:", "heartbeat:"];

impl AgentId {
    /// Returns true if the id is reserved for agents of scheduled tasks. Any other agent with such an id would be
    /// mistaken for one of them.
    pub(crate) fn is_kept_for_tasks(&self) -> bool {
        OF_TASKS.iter().any(|start| self.0.starts_with(start))
    }

    /// Returns true if the id is below `above`, as `lead:helper` is below `lead`.
    pub fn is_below(&self, above: &AgentId) -> bool {
        self.0.strip_prefix(above.as_str()).is_some_and(|rest| rest.starts_with(':'))
    }

    /// Returns true if an agent can create agents with this id only below its own id. An id with a colon belongs to the
    /// agent before the colon, such as `claude:Plan` to the host `claude`, and the names of hosts to the policy file.
    pub(crate) fn belongs_to_another(&self) -> bool {
        self.0.contains(':') || CodingAgent::ALL.iter().any(|host| *self.0 == *host.as_str())
    }
}

macro_rules! number_id {
    ($(#[$doc:meta])* $name:ident, $letter:literal, $(#[$why:meta])* $invalid:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u64);

        shown_as_text!($name);

        $(#[$why])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
        #[error("a {} is `{letter}` and a number, as in `{letter}42`", $what, letter = $letter)]
        pub struct $invalid;

        impl $name {
            #[allow(dead_code, reason = "without a sandbox, nothing makes some of these")]
            pub(crate) const fn new(number: u64) -> $name {
                $name(number)
            }

            pub(crate) const fn number(self) -> u64 {
                self.0
            }
        }

        impl FromStr for $name {
            type Err = $invalid;

            fn from_str(text: &str) -> Result<Self, $invalid> {
                let digits = text.strip_prefix($letter).ok_or($invalid)?;
                let leads_with_zero = digits.len() > 1 && digits.starts_with('0');
                if leads_with_zero || !digits.bytes().all(|b| b.is_ascii_digit()) {
                    return Err($invalid);
                }
                digits.parse().map($name).map_err(|_| $invalid)
            }
        }

        impl TryFrom<String> for $name {
            type Error = $invalid;

            fn try_from(text: String) -> Result<Self, $invalid> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.to_string()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}{}", $letter, self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    };
}

number_id! {
    /// Names a grant by a counter of the engine that issued it, written `g42`.
    GrantId, 'g',
    /// The error for a text that is not a grant id. A grant id is `g` and a number, as in `g42`.
    InvalidGrantId, "grant id"
}
number_id! {
    /// Names a saved decision by a counter of the engine that keeps it, written `r42`.
    SavedDecisionId, 'r',
    /// The error for a text that is not the id of a saved decision. Such an id is `r` and a number, as in `r42`.
    InvalidSavedDecisionId, "saved decision id"
}
number_id! {
    /// Names a decision by a counter of the engine that made it, written `d42`.
    DecisionId, 'd',
    /// The error for a text that is not a decision id. A decision id is `d` and a number, as in `d42`.
    InvalidDecisionId, "decision id"
}

number_id! {
    /// Names a sandbox violation by a counter of the engine that recorded it, written `v42`.
    ViolationId, 'v',
    /// The error for a text that is not a violation id. A violation id is `v` and a number, as in `v42`.
    InvalidViolationId, "violation id"
}

number_id! {
    /// Names a background process by a counter of the engine that holds it, written `p42`.
    ProcessId, 'p',
    /// The error for a text that is not a process id. A process id is `p` and a number, as in `p42`.
    InvalidProcessId, "process id"
}

number_id! {
    /// Names the run of a command in a sandbox by a counter of the engine that started it, written `c42`.
    CommandId, 'c',
    /// The error for a text that is not a command id. A command id is `c` and a number, as in `c42`.
    InvalidCommandId, "command id"
}

/// Names a request (uuid v7). Knowing the id gives no permission to answer the request.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RequestId(Uuid);

impl RequestId {
    pub(crate) const fn new(uuid: Uuid) -> RequestId {
        RequestId(uuid)
    }

    /// Returns the short form that a person can type: six letters and digits without similar-looking ones.
    ///
    /// The code is taken from the random part of the id, so it needs no table. About one in a thousand million pairs of
    /// pending requests shares a code. The full id distinguishes such a pair.
    pub fn code(&self) -> Code {
        const ALPHABET: [u8; 32] = *b"0123456789abcdefghjkmnpqrstvwxyz";
        let random = self.0.as_u128();
        let letters = std::array::from_fn(|place| {
            let index = usize::try_from((random >> (5 * place)) & 31).unwrap_or(0);
            ALPHABET.get(index).copied().unwrap_or(b'0')
        });
        Code(letters)
    }
}

impl FromStr for RequestId {
    type Err = InvalidRequestId;

    fn from_str(text: &str) -> Result<Self, InvalidRequestId> {
        Uuid::parse_str(text).map(RequestId).map_err(|_| InvalidRequestId)
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// The error for a text that is not a request id. Request ids are uuids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a request id is a uuid")]
pub struct InvalidRequestId;

/// The short form of a [`RequestId`], for people.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code([u8; 6]);

impl Code {
    /// Returns the text of a code as a person types or copies it: in any case, also in the brackets of a question.
    pub(crate) fn as_typed(text: &str) -> String {
        text.trim().trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase()
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|letter| write!(f, "{}", char::from(*letter)))
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
