//! JSON without repeated keys.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess, Visitor},
};
use serde_json::{Map, Value};

use super::{Escaped, exact_numbers::with_exact_numbers};

/// A JSON value in which no object has a key twice, on any level.
///
/// The readers of a repeated key may disagree about the entry that counts. So a check of one entry says nothing about
/// the program that uses the other one.
///
/// ```
/// use bestow_command::StrictJson;
/// assert!(StrictJson::read(br#"{"command":"ls","input":{"a":1}}"#).is_ok());
/// assert!(StrictJson::read(br#"{"command":"ls","command":"rm -rf /"}"#).is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "a plain wrapper")]
pub struct StrictJson(pub Value);

impl StrictJson {
    /// Reads a JSON text. A number that 64 bits do not hold becomes a text of its digits. So two texts with different
    /// numbers are different values.
    ///
    /// # Errors
    ///
    /// Fails if the text is not JSON, or if an object in it has a key twice.
    pub fn read(json: &[u8]) -> serde_json::Result<StrictJson> {
        serde_json::from_slice(&with_exact_numbers(json))
    }
}

impl<'de> Deserialize<'de> for StrictJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(StrictJson)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON with every key once")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(StrictJson(value)) = items.next_element()? {
            list.push(value);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some((key, StrictJson(value))) = entries.next_entry::<String, StrictJson>()? {
            if map.contains_key(&key) {
                return Err(de::Error::custom(format_args!("the key `{}` occurs twice", Escaped(&key))));
            }
            map.insert(key, value);
        }
        Ok(map.into())
    }
}
