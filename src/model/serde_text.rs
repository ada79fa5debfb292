//! Values whose serialized form is a text. They are read from the text in place, without a copy of it.

use std::{fmt, marker::PhantomData, str::FromStr};

use serde::{
    Deserializer,
    de::{Error, Visitor},
};

/// Parses a serialized text.
pub(super) fn parse<'de, T, D>(from: D) -> Result<T, D::Error>
where
    T: FromStr<Err: fmt::Display>,
    D: Deserializer<'de>,
{
    from.deserialize_str(Text(PhantomData))
}

struct Text<T>(PhantomData<T>);

impl<T: FromStr<Err: fmt::Display>> Visitor<'_> for Text<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}

/// Implements `Deserialize` for types that are parsed from a text.
macro_rules! parsed_from_text {
    ($($name:ty),*) => {$(
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                $crate::model::serde_text::parse(from)
            }
        }
    )*};
}

/// Implements `Serialize` and `Deserialize` for types that are parsed from the text that they display.
macro_rules! shown_as_text {
    ($($name:ty),*) => {$(
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }

        $crate::model::serde_text::parsed_from_text!($name);
    )*};
}

pub(super) use {parsed_from_text, shown_as_text};
