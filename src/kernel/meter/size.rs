//! The length of a value as JSON, counted without writing it. Most facts are only measured and not written.

use std::fmt::{self, Write};

use serde::ser::{
    Error, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

use crate::model::{DIGEST, DIGEST_LEN};

/// Returns the number of bytes that `serde_json` writes for `value`, or `None` if `value` has no JSON form.
pub(super) fn of_json(value: &impl Serialize) -> Option<usize> {
    let mut size = Size { bytes: 0, is_key: false };
    value.serialize(&mut size).ok().map(|()| size.bytes)
}

#[derive(Debug)]
struct Size {
    bytes: usize,
    /// True if a map key is written next. A key is always a string.
    is_key: bool,
}

/// An error for a value without a JSON form.
#[derive(Debug, thiserror::Error)]
#[error("it cannot be written as JSON")]
struct NoForm;

impl Error for NoForm {
    fn custom<T: fmt::Display>(_: T) -> NoForm {
        NoForm
    }
}

impl Size {
    fn add(&mut self, bytes: usize) -> Result<(), NoForm> {
        self.bytes = self.bytes.checked_add(bytes).ok_or(NoForm)?;
        Ok(())
    }

    fn number(&mut self, digits: u32, is_negative: bool) -> Result<(), NoForm> {
        let quotes = if self.is_key { 2 } else { 0 };
        self.add(usize::try_from(digits).unwrap_or(0) + usize::from(is_negative) + quotes)
    }

    fn unsigned(&mut self, number: u128) -> Result<(), NoForm> {
        self.number(number.checked_ilog10().unwrap_or(0) + 1, false)
    }

    fn signed(&mut self, number: i128) -> Result<(), NoForm> {
        self.number(number.unsigned_abs().checked_ilog10().unwrap_or(0) + 1, number < 0)
    }

    /// Adds the length of a string without its quotation marks.
    fn text(&mut self, text: &str) -> Result<(), NoForm> {
        // This pass has no branches. Most texts have nothing to escape.
        let is_plain = |byte: &u8| (*byte >= 0x20) & (*byte != b'"') & (*byte != b'\\');
        if text.as_bytes().iter().fold(true, |all, byte| all & is_plain(byte)) {
            return self.add(text.len());
        }
        let escapes: usize = text.bytes().map(more_if_escaped).sum();
        self.add(text.len() + escapes)
    }

    /// Adds the brackets around a value, and `{"name":…}` around them for an enum variant.
    fn open(&mut self, variant: Option<&str>) -> Result<Parts<'_>, NoForm> {
        let name = variant.map_or(Ok(0), |name| {
            self.text(name)?;
            Ok("{\"\":}".len())
        })?;
        self.add(2 + name)?;
        Ok(Parts { size: self, is_first: true })
    }
}

/// Returns the number of additional bytes that the escape of a byte needs.
fn more_if_escaped(byte: u8) -> usize {
    match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 1,
        0..0x20 => "\\u001f".len() - 1,
        _ => 0,
    }
}

impl Write for Size {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.text(text).map_err(|NoForm| fmt::Error)
    }
}

/// The content between two brackets.
#[derive(Debug)]
struct Parts<'s> {
    size: &'s mut Size,
    is_first: bool,
}

impl Parts<'_> {
    fn comma(&mut self) -> Result<(), NoForm> {
        if std::mem::replace(&mut self.is_first, false) { Ok(()) } else { self.size.add(1) }
    }

    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NoForm> {
        self.comma()?;
        value.serialize(&mut *self.size)
    }

    fn field<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), NoForm> {
        // The names of fields need no escapes.
        let comma = usize::from(!std::mem::replace(&mut self.is_first, false));
        self.size.add(comma + name.len() + "\"\":".len())?;
        value.serialize(&mut *self.size)
    }
}

impl<'s> Serializer for &'s mut Size {
    type Ok = ();
    type Error = NoForm;
    type SerializeSeq = Parts<'s>;
    type SerializeTuple = Parts<'s>;
    type SerializeTupleStruct = Parts<'s>;
    type SerializeTupleVariant = Parts<'s>;
    type SerializeMap = Parts<'s>;
    type SerializeStruct = Parts<'s>;
    type SerializeStructVariant = Parts<'s>;

    fn serialize_bool(self, value: bool) -> Result<(), NoForm> {
        let quotes = if self.is_key { 2 } else { 0 };
        self.add(if value { "true".len() } else { "false".len() } + quotes)
    }

    fn serialize_i8(self, value: i8) -> Result<(), NoForm> {
        self.signed(value.into())
    }

    fn serialize_i16(self, value: i16) -> Result<(), NoForm> {
        self.signed(value.into())
    }

    fn serialize_i32(self, value: i32) -> Result<(), NoForm> {
        self.signed(value.into())
    }

    fn serialize_i64(self, value: i64) -> Result<(), NoForm> {
        self.signed(value.into())
    }

    fn serialize_i128(self, value: i128) -> Result<(), NoForm> {
        self.signed(value)
    }

    fn serialize_u8(self, value: u8) -> Result<(), NoForm> {
        self.unsigned(value.into())
    }

    fn serialize_u16(self, value: u16) -> Result<(), NoForm> {
        self.unsigned(value.into())
    }

    fn serialize_u32(self, value: u32) -> Result<(), NoForm> {
        self.unsigned(value.into())
    }

    fn serialize_u64(self, value: u64) -> Result<(), NoForm> {
        self.unsigned(value.into())
    }

    fn serialize_u128(self, value: u128) -> Result<(), NoForm> {
        self.unsigned(value)
    }

    fn serialize_f32(self, value: f32) -> Result<(), NoForm> {
        self.add(serde_json::to_string(&value).map_err(NoForm::custom)?.len())
    }

    fn serialize_f64(self, value: f64) -> Result<(), NoForm> {
        self.add(serde_json::to_string(&value).map_err(NoForm::custom)?.len())
    }

    fn serialize_char(self, value: char) -> Result<(), NoForm> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), NoForm> {
        self.add(2)?;
        self.text(value)
    }

    fn collect_str<T: fmt::Display + ?Sized>(self, value: &T) -> Result<(), NoForm> {
        self.add(2)?;
        write!(self, "{value}").map_err(NoForm::custom)
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), NoForm> {
        self.collect_seq(value)
    }

    fn serialize_none(self) -> Result<(), NoForm> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), NoForm> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), NoForm> {
        self.add("null".len())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), NoForm> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), NoForm> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, name: &'static str, value: &T) -> Result<(), NoForm> {
        // A digest is not computed to count its digits.
        if name == DIGEST { self.add(DIGEST_LEN + 2) } else { value.serialize(self) }
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), NoForm> {
        self.open(None)?.field(variant, value)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Parts<'s>, NoForm> {
        self.open(None)
    }

    fn serialize_tuple(self, _: usize) -> Result<Parts<'s>, NoForm> {
        self.open(None)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Parts<'s>, NoForm> {
        self.open(None)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Parts<'s>, NoForm> {
        self.open(Some(variant))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Parts<'s>, NoForm> {
        self.open(None)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Parts<'s>, NoForm> {
        self.open(None)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Parts<'s>, NoForm> {
        self.open(Some(variant))
    }
}

impl SerializeSeq for Parts<'_> {
    type Ok = ();
    type Error = NoForm;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NoForm> {
        self.element(value)
    }

    fn end(self) -> Result<(), NoForm> {
        Ok(())
    }
}

impl SerializeTuple for Parts<'_> {
    type Ok = ();
    type Error = NoForm;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NoForm> {
        self.element(value)
    }

    fn end(self) -> Result<(), NoForm> {
        Ok(())
    }
}

impl SerializeTupleStruct for Parts<'_> {
    type Ok = ();
    type Error = NoForm;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NoForm> {
        self.element(value)
    }

    fn end(self) -> Result<(), NoForm> {
        Ok(())
    }
}

impl SerializeTupleVariant for Parts<'_> {
    type Ok = ();
    type Error = NoForm;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NoForm> {
        self.element(value)
    }

    fn end(self) -> Result<(), NoForm> {
        Ok(())
    }
}

impl SerializeMap for Parts<'_> {
    type Ok = ();
    type Error = NoForm;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), NoForm> {
        self.comma()?;
        self.size.is_key = true;
        let written = key.serialize(&mut *self.size);
        self.size.is_key = false;
        written
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NoForm> {
        self.size.add(1)?;
        value.serialize(&mut *self.size)
    }

    fn end(self) -> Result<(), NoForm> {
        Ok(())
    }
}

impl SerializeStruct for Parts<'_> {
    type Ok = ();
    type Error = NoForm;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), NoForm> {
        self.field(name, value)
    }

    fn end(self) -> Result<(), NoForm> {
        Ok(())
    }
}

impl SerializeStructVariant for Parts<'_> {
    type Ok = ();
    type Error = NoForm;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), NoForm> {
        self.field(name, value)
    }

    fn end(self) -> Result<(), NoForm> {
        Ok(())
    }
}

#[cfg(test)]
#[cfg(feature = "property-tests")]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn check(value: &impl Serialize) {
        let written = serde_json::to_string(value).unwrap();
        assert_eq!(of_json(value), Some(written.len()), "{written}");
    }

    #[derive(serde::Serialize)]
    enum Kind {
        Unit,
        Newtype(u8),
        Tuple(i16, &'static str),
        Struct { some: Option<char>, none: Option<u8> },
    }

    #[derive(serde::Serialize)]
    #[serde(tag = "type")]
    enum Tagged {
        Empty,
        Struct { number: u64, list: Vec<Kind> },
    }

    #[test]
    fn every_form_of_a_value_is_as_long_as_it_is_written() {
        let list =
            || vec![Kind::Unit, Kind::Newtype(7), Kind::Tuple(-40, "x"), Kind::Struct { some: Some('"'), none: None }];
        check(&list());
        check(&(Tagged::Empty, Tagged::Struct { number: u64::MAX, list: list() }, (), Vec::<u8>::new()));
        check(&BTreeMap::from([(1_u32, true), (10, false)]));
        check(&BTreeMap::from([(false, 0_i64), (true, i64::MIN)]));
        check(&BTreeMap::from([("\u{1}\u{8}\u{c}\n\r\t\\\"", 1.5_f64), ("é", -0.1), ("", 1e300)]));
        check(&(i128::MIN, u128::MAX, 0_u8, 9, 10, 99, 100, f32::MIN));
    }

    fn value() -> impl Strategy<Value = Value> {
        let plain = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            ".*".prop_map(Value::from),
        ];
        plain.prop_recursive(3, 24, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map(".*", inner, 0..5)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_value_is_as_long_as_it_is_written(value in value()) {
            check(&value);
        }
    }
}
