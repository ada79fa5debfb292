//! The outer fields of one message. Nothing here decides.
//!
//! A message with a method and an id is a request, with a method and no id a notification, and without a method a
//! response.

use std::{borrow::Cow, fmt};

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The request of an agent for a permission, in every version of the protocol.
pub(super) const REQUEST_PERMISSION: &str = "session/request_permission";

/// The longest id, in bytes.
const LONGEST_ID: usize = 256;

/// The outer fields of a message.
#[derive(Debug, Default)]
pub(super) struct Envelope<'a> {
    /// The id as it is written.
    pub(super) id: Option<&'a RawValue>,
    pub(super) method: Option<Cow<'a, str>>,
    pub(super) params: Option<&'a RawValue>,
    pub(super) result: Option<&'a RawValue>,
    /// True if the message has the field `result` or `error`, even if its value is not read to its end.
    pub(super) is_result: bool,
    pub(super) error: Option<&'a RawValue>,
    /// True if one of its values of `method` is that of a request for permission.
    pub(super) is_permission: bool,
    /// True if one of these fields occurs twice, perhaps in another spelling, or if the method is not a text.
    pub(super) is_ambiguous: bool,
}

/// A line of one side.
#[derive(Debug)]
pub(super) enum Said<'a> {
    /// One message. Every reader understands it in the same way.
    Message(Envelope<'a>),
    /// A line that no reader takes for a message.
    Text,
    /// A line that some readers may take for a message, or for another one than others do. These are its fields, as far
    /// as they can be read.
    Unclear(Envelope<'a>),
}

impl<'a> Said<'a> {
    /// Reads a line.
    pub(super) fn read(line: &'a [u8]) -> Said<'a> {
        match Envelope::read(line) {
            Some(message) if message.is_clear() && is_one_line(line) => Said::Message(message),
            Some(message) => Said::Unclear(message),
            None if is_text(line) => Said::Text,
            None => Said::Unclear(Envelope::read_beginning(line)),
        }
    }
}

/// Reads a line of the protocol, for tests with arbitrary bytes. Returns the kind of the line, and the method of a
/// message.
#[doc(hidden)]
pub fn line_in(line: &[u8]) -> (&'static str, Option<String>) {
    match Said::read(line) {
        Said::Message(message) => ("message", message.method.map(Cow::into_owned)),
        Said::Text => ("text", None),
        Said::Unclear(_) => ("unclear", None),
    }
}

/// Returns true if no reader takes a part of the line for JSON, whatever it takes for the end of a line, and whatever
/// it passes over at the beginning of one.
fn is_text(line: &[u8]) -> bool {
    let ends_line =
        |c: char| matches!(c, '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}');
    let is_passed_over = |c: char| !c.is_alphanumeric() && !c.is_ascii_graphic();
    let is_json = |part: &str| part.starts_with('{') || part.starts_with('[') && part.contains('{');
    let line = String::from_utf8_lossy(line);
    !line.split(ends_line).any(|part| is_json(part.trim_start_matches(is_passed_over)))
}

/// Returns true if the line is text, and one line for every reader. Some readers end a line at a carriage return.
fn is_one_line(line: &[u8]) -> bool {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    !line.contains(&b'\r') && std::str::from_utf8(line).is_ok()
}

impl<'a> Envelope<'a> {
    /// Reads a line. Returns none if it is not one JSON object.
    pub(super) fn read(line: &'a [u8]) -> Option<Envelope<'a>> {
        let mut found = Envelope::default();
        let mut reader = serde_json::Deserializer::from_slice(line);
        let whole = Deserializer::deserialize_map(&mut reader, Fields(&mut found)).and_then(|()| reader.end());
        whole.ok().map(|()| found)
    }

    /// Reads the fields that the beginning of a long line has.
    pub(super) fn read_beginning(line: &'a [u8]) -> Envelope<'a> {
        let mut found = Envelope::default();
        let mut reader = serde_json::Deserializer::from_slice(line);
        // The error is that the line ends early.
        let _ = Deserializer::deserialize_map(&mut reader, Fields(&mut found));
        found
    }

    /// Returns true if no reader understands the message otherwise.
    fn is_clear(&self) -> bool {
        let has_key = self.id.is_none() || self.key().is_some();
        // Some senders write the fields of all kinds of messages, and null where there is nothing.
        let has_outcome = self.is_error() || self.result.is_some_and(|result| result.get() != "null");
        !self.is_ambiguous && has_key && (self.method.is_none() || !has_outcome)
    }

    /// Returns true if the message is the answer to a request.
    pub(super) fn is_response(&self) -> bool {
        self.method.is_none() && self.is_result
    }

    /// Returns true if it has an error that is not null.
    pub(super) fn is_error(&self) -> bool {
        self.error.is_some_and(|error| error.get() != "null")
    }

    /// Returns the id as a key, if it is one.
    pub(super) fn key(&self) -> Option<Key> {
        self.id.and_then(Key::of)
    }
}

/// The id of a request, as both sides compare it: `5` and `5.0` are equal, and `"5"` is another one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Null,
    Whole(i128),
    /// A number that is not a whole one, as the bits of it.
    Fraction(u64),
    Text(String),
}

impl Key {
    /// Reads an id. Returns none for an object, a list or a truth value, and for a very long one.
    pub(super) fn of(raw: &RawValue) -> Option<Key> {
        if LONGEST_ID < raw.get().len() {
            return None;
        }
        match serde_json::from_str(raw.get()).ok()? {
            serde_json::Value::Null => Some(Key::Null),
            serde_json::Value::String(text) => Some(Key::Text(text)),
            serde_json::Value::Number(number) => Key::of_number(&number),
            serde_json::Value::Bool(_) | serde_json::Value::Array(_) | serde_json::Value::Object(_) => None,
        }
    }

    fn of_number(number: &serde_json::Number) -> Option<Key> {
        /// The least power of two above which every double is whole. Larger ids are compared as doubles, as most
        /// languages do.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        let double = number.as_f64()?;
        if double.abs() >= EXACT {
            return Some(Key::Fraction(double.to_bits()));
        }
        if let Some(whole) = number.as_i128() {
            return Some(Key::Whole(whole));
        }
        let is_whole = double.fract() == 0.0;
        // A whole double below the limit has at most 16 digits.
        let whole = if is_whole { format!("{double:.0}").parse().ok() } else { None };
        Some(whole.map_or(Key::Fraction(double.to_bits()), Key::Whole))
    }
}

/// Fills an envelope, field by field.
struct Fields<'f, 'a>(&'f mut Envelope<'a>);

impl<'a> Visitor<'a> for Fields<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one message")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut fields: A) -> Result<(), A::Error> {
        let found = self.0;
        while let Some(name) = fields.next_key::<Name>()? {
            match name {
                Name::Id => once(&mut found.id, &mut found.is_ambiguous, fields.next_value()?),
                Name::Params => once(&mut found.params, &mut found.is_ambiguous, fields.next_value()?),
                Name::Result => {
                    found.is_result = true;
                    once(&mut found.result, &mut found.is_ambiguous, fields.next_value()?);
                }
                Name::Method => {
                    let raw: &RawValue = fields.next_value()?;
                    let method = text(raw);
                    found.is_permission |= method.as_deref() == Some(REQUEST_PERMISSION);
                    found.is_ambiguous |= found.method.is_some() || method.is_none();
                    found.method = Some(method.unwrap_or_default());
                }
                Name::Error => {
                    found.is_result = true;
                    once(&mut found.error, &mut found.is_ambiguous, fields.next_value()?);
                }
                Name::Similar => {
                    found.is_ambiguous = true;
                    let _: IgnoredAny = fields.next_value()?;
                }
                Name::Other => {
                    let _: IgnoredAny = fields.next_value()?;
                }
            }
        }
        Ok(())
    }
}

fn once<'a>(place: &mut Option<&'a RawValue>, is_ambiguous: &mut bool, value: &'a RawValue) {
    *is_ambiguous |= place.is_some();
    place.get_or_insert(value);
}

/// Returns the text of a method. A method that is not a text is no method that anybody knows.
fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    let inner = raw.get().strip_prefix('"').and_then(|text| text.strip_suffix('"'))?;
    if inner.contains('\\') { serde_json::from_str(raw.get()).ok().map(Cow::Owned) } else { Some(inner.into()) }
}

/// The name of a field.
enum Name {
    Id,
    Method,
    Params,
    Result,
    Error,
    /// The name of one of these fields for a reader that does not tell capital letters apart.
    Similar,
    Other,
}

/// The names of the fields.
const NAMES: [&str; 5] = ["id", "method", "params", "result", "error"];

/// Returns true if a reader that does not tell capital letters apart takes `name` for one of these.
fn is_similar(name: &str) -> bool {
    // These two letters have a common one as their other case.
    let plain = name.replace('\u{17f}', "s").replace('\u{212a}', "k");
    NAMES.iter().any(|known| plain.eq_ignore_ascii_case(known))
}

impl<'a> Deserialize<'a> for Name {
    fn deserialize<D: Deserializer<'a>>(deserializer: D) -> Result<Name, D::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = Name;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a field")
            }

            fn visit_str<E>(self, name: &str) -> Result<Name, E> {
                Ok(match name {
                    "id" => Name::Id,
                    "method" => Name::Method,
                    "params" => Name::Params,
                    "result" => Name::Result,
                    "error" => Name::Error,
                    name if is_similar(name) => Name::Similar,
                    _ => Name::Other,
                })
            }
        }
        deserializer.deserialize_identifier(Reader)
    }
}

/// Returns true if a line that is no message may be read as a request for permission by a less strict reader: it names
/// the method, in any spelling of JSON.
pub(super) fn names_permission(line: &[u8]) -> bool {
    names(line, REQUEST_PERMISSION)
}

/// Returns true if a line names this, in any spelling of JSON.
pub(super) fn names(line: &[u8], name: &str) -> bool {
    unescaped(line).windows(name.len()).any(|part| part.eq_ignore_ascii_case(name.as_bytes()))
}

/// Returns the bytes with the escapes of JSON resolved that a method name can have.
fn unescaped(line: &[u8]) -> Cow<'_, [u8]> {
    if !line.contains(&b'\\') {
        return Cow::Borrowed(line);
    }
    let mut plain = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some((&first, after)) = rest.split_first() {
        let (byte, after) = if first == b'\\' { escaped(after).unwrap_or((first, after)) } else { (first, after) };
        plain.push(byte);
        rest = after;
    }
    Cow::Owned(plain)
}

/// Returns the ASCII character of the escape whose backslash was read, and what follows.
fn escaped(after: &[u8]) -> Option<(u8, &[u8])> {
    match after {
        [b'/', rest @ ..] => Some((b'/', rest)),
        [b'u', a, b, c, d, rest @ ..] => {
            let digits = [*a, *b, *c, *d];
            let byte = u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?;
            byte.is_ascii().then_some((byte, rest))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
