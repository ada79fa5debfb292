//! The values of a TOML file, for the reader of tables.

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{Problem, diagnostics::Diagnostics};
use crate::{
    node::Node,
    table::{self, Mistake, Report},
};

/// A value and its offset in the file.
pub(super) type At<T> = table::At<T, usize>;

/// One table of the file, while it is read.
pub(super) type Table<'t> = table::Table<'t, Spanned<DeValue<'t>>>;

impl<'t> Node for Spanned<DeValue<'t>> {
    type Place = usize;
    type Entries = DeTable<'t>;

    const TABLE: &'static str = "table";
    const A_TABLE: &'static str = "a table";
    const A_TEXT: &'static str = "a text in quotes";
    const A_DURATION: &'static str = "a duration in quotes, as in `\"5m\"`";

    fn place(&self) -> usize {
        self.span().start
    }

    fn is_empty(&self) -> bool {
        false
    }

    fn kind(&self) -> &'static str {
        match self.get_ref() {
            DeValue::String(_) => "a text",
            DeValue::Integer(_) => "a whole number",
            DeValue::Float(_) => "a number with a fraction",
            DeValue::Boolean(_) => "`true` or `false`",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        }
    }

    fn as_text(&self) -> Option<&str> {
        self.get_ref().as_str()
    }

    fn as_flag(&self) -> Option<bool> {
        self.get_ref().as_bool()
    }

    fn as_integer(&self) -> Option<(&str, u32)> {
        self.get_ref().as_integer().map(|number| (number.as_str(), number.radix()))
    }

    fn as_list(&self) -> Option<&[Self]> {
        self.get_ref().as_array().map(|list| &**list)
    }

    fn as_entries(&self) -> Option<&DeTable<'t>> {
        self.get_ref().as_table()
    }

    fn get<'n>(entries: &'n DeTable<'t>, name: &str) -> Option<&'n Self> {
        entries.get(name)
    }

    fn entries<'n>(entries: &'n DeTable<'t>) -> impl Iterator<Item = (&'n str, usize, &'n Self)>
    where
        Self: 'n,
    {
        entries.iter().map(|(key, value)| (key.get_ref().as_ref(), key.span().start, value))
    }
}

impl From<Mistake> for Problem {
    fn from(Mistake { message, help }: Mistake) -> Problem {
        Problem { position: None, message, help }
    }
}

impl Report<usize> for Diagnostics<'_> {
    fn mistake(&mut self, place: usize, mistake: Mistake) {
        self.add(place, mistake.into());
    }
}
