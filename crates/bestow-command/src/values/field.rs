//! Positions in the input of a tool: `path|file_path`, `edits[].file_path`, `cwd?`.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The most characters a [`Field`] may have.
const MAX_CHARS: usize = 200;

/// The position of a text in the input of a tool.
///
/// `.` separates names. `[]` after a name selects each element of a list. `|` separates alternative names, one of which
/// is used. `?` at the end means that the tool works without the field. A single `.` stands for an input that is itself
/// a text.
///
/// ```
/// use bestow_command::values::Field;
/// let field: Field = "edits[].file_path".parse()?;
/// assert_eq!(field.to_string(), "edits[].file_path");
/// assert!("edits[]..file_path".parse::<Field>().is_err());
/// # Ok::<(), bestow_command::values::InvalidField>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Field {
    names: Vec<Vec<Step>>,
    optional: bool,
}

/// One name on the path to a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Step {
    name: String,
    each: bool,
}

/// The error for a text that is not a [`Field`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidField;

impl fmt::Display for InvalidField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a field is a name in the tool's input, as in `path`, `path|file_path`, `edits[].file_path` or `cwd?`",
        )
    }
}

impl std::error::Error for InvalidField {}

/// The reason why the input of a tool does not fit its declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// A value that must be there is missing or blank.
    Missing,
    /// A value has the wrong type.
    WrongType,
    /// Two names of one value hold different texts.
    Contradiction,
}

impl Unreadable {
    /// Returns the reason, for people.
    pub fn why(self) -> &'static str {
        match self {
            Unreadable::Missing => "the input does not say on what",
            Unreadable::WrongType => "the input holds something other than text",
            Unreadable::Contradiction => "the input says two different things",
        }
    }
}

/// The value at one position of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found<'v> {
    /// One text.
    Text(&'v str),
    /// A list of texts at one name.
    List(Vec<&'v str>),
}

impl Field {
    /// Returns true if the tool works without this field.
    pub fn is_optional(&self) -> bool {
        self.optional
    }

    /// Returns this field, marked as one that the tool works without.
    #[must_use]
    pub fn optional(self) -> Field {
        Field { optional: true, ..self }
    }

    /// Returns the field names at the top of the input with which this field may begin.
    #[doc(hidden)]
    pub fn first_names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().filter_map(|steps| steps.first()).map(|step| step.name.as_str())
    }

    /// Returns true if the field may be an input that is itself a text.
    #[doc(hidden)]
    pub fn is_whole(&self) -> bool {
        self.names.iter().any(Vec::is_empty)
    }

    /// Returns the value in `input`. Returns none if the field is optional and missing.
    ///
    /// A blank text counts as missing, unless `blank` is set. A command line may be blank.
    #[doc(hidden)]
    pub fn read<'v>(&self, input: &'v Value, blank: bool) -> Result<Option<Found<'v>>, Unreadable> {
        let mut found: Option<Found<'v>> = None;
        let mut wrong = Vec::new();
        // An input that is itself a text is read by the form `.` only.
        let alone = input.is_string() && self.names.iter().any(Vec::is_empty);
        for steps in self.names.iter().filter(|steps| !alone || steps.is_empty()) {
            let root = steps.first().map_or("", |step| step.name.as_str());
            let new = match read_at(steps, input) {
                Err(_) => {
                    wrong.push(root);
                    continue;
                }
                Ok(None) => continue,
                Ok(Some(new)) => new,
            };
            // A value that fits another form under this name is no error.
            wrong.retain(|name| *name != root);
            match &found {
                Some(before) if *before != new => return Err(Unreadable::Contradiction),
                Some(_) | None => found = Some(new),
            }
        }
        let of_found = |name: &&str| self.forms_of(name).any(|steps| matches!(read_at(steps, input), Ok(Some(_))));
        if wrong.iter().any(|name| !of_found(name)) {
            return Err(Unreadable::WrongType);
        }
        let is_blank = |text: &str| !blank && text.trim().is_empty();
        let found = found.filter(|found| match found {
            Found::Text(text) => !is_blank(text),
            Found::List(list) => !list.is_empty() && !list.iter().any(|text| is_blank(text)),
        });
        match found {
            None if !self.optional => Err(Unreadable::Missing),
            found => Ok(found),
        }
    }

    /// Returns the parts of `input` that none of these fields selects, without empty objects and lists. `null` is no
    /// part.
    #[doc(hidden)]
    pub fn unselected<'f>(fields: impl IntoIterator<Item = &'f Field>, input: &Value) -> Option<Value> {
        let forms = fields.into_iter().flat_map(|field| &field.names);
        // A whole input that is a text is selected by the form `.` only.
        let forms = forms.filter(|steps| !steps.is_empty() || input.is_string());
        let wanted: Vec<Wanted<'f>> = forms.map(|steps| Wanted { steps, each: false }).collect();
        unselected(&wanted, input)
    }

    fn forms_of(&self, root: &str) -> impl Iterator<Item = &Vec<Step>> {
        self.names.iter().filter(move |steps| steps.first().is_some_and(|step| step.name == root))
    }
}

/// The rest of a path to a selected value.
#[derive(Clone, Copy, Debug)]
struct Wanted<'f> {
    steps: &'f [Step],
    /// True if the path goes on in each element of a list.
    each: bool,
}

fn unselected(wanted: &[Wanted<'_>], value: &Value) -> Option<Value> {
    if wanted.iter().any(|path| path.steps.is_empty() && !path.each) {
        return None;
    }
    match value {
        Value::Null => None,
        Value::Bool(_) | Value::Number(_) | Value::String(_) => Some(value.clone()),
        Value::Array(all) => {
            let inner = wanted.iter().filter(|path| path.each).map(|path| Wanted { each: false, ..*path });
            let inner: Vec<_> = inner.collect();
            let rest: Vec<_> = all.iter().filter_map(|one| unselected(&inner, one)).collect();
            (!rest.is_empty()).then_some(Value::Array(rest))
        }
        Value::Object(fields) => {
            let rest = fields.iter().filter_map(|(name, value)| {
                let inner = wanted.iter().filter(|path| !path.each).filter_map(|path| match path.steps {
                    [step, steps @ ..] if step.name == *name => Some(Wanted { steps, each: step.each }),
                    _ => None,
                });
                Some((name.clone(), unselected(&inner.collect::<Vec<_>>(), value)?))
            });
            let rest: serde_json::Map<_, _> = rest.collect();
            (!rest.is_empty()).then_some(Value::Object(rest))
        }
    }
}

fn read_at<'v>(steps: &[Step], input: &'v Value) -> Result<Option<Found<'v>>, Unreadable> {
    if steps.is_empty() {
        return Ok(input.as_str().map(Found::Text));
    }
    let mut values = vec![input];
    let mut many = false;
    for step in steps {
        let mut next = Vec::new();
        for value in values {
            let Value::Object(fields) = value else { return wrong_unless_null(value) };
            match (fields.get(&step.name), step.each) {
                (None | Some(Value::Null), _) if many => return Err(Unreadable::WrongType),
                (None | Some(Value::Null), _) => return Ok(None),
                (Some(Value::Array(all)), true) => next.extend(all),
                (Some(_), true) => return Err(Unreadable::WrongType),
                (Some(value), false) => next.push(value),
            }
        }
        many |= step.each;
        values = next;
    }
    let texts = values.iter().map(|value| value.as_str().ok_or(Unreadable::WrongType));
    let texts = texts.collect::<Result<Vec<_>, _>>()?;
    Ok(match (many, texts.as_slice()) {
        (false, [text]) => Some(Found::Text(text)),
        (_, []) => None,
        _ => Some(Found::List(texts)),
    })
}

fn wrong_unless_null<'v>(value: &Value) -> Result<Option<Found<'v>>, Unreadable> {
    if value.is_null() { Ok(None) } else { Err(Unreadable::WrongType) }
}

impl FromStr for Field {
    type Err = InvalidField;

    fn from_str(text: &str) -> Result<Self, InvalidField> {
        if text.len() > MAX_CHARS {
            return Err(InvalidField);
        }
        let (text, optional) = text.strip_suffix('?').map_or((text, false), |text| (text, true));
        let names = text.split('|').map(steps).collect::<Result<_, _>>()?;
        Ok(Field { names, optional })
    }
}

fn steps(text: &str) -> Result<Vec<Step>, InvalidField> {
    if text == "." {
        return Ok(Vec::new());
    }
    let step = |text: &str| {
        let (name, each) = text.strip_suffix("[]").map_or((text, false), |name| (name, true));
        let is_name = |c: char| c.is_alphanumeric() || "_-$".contains(c);
        let valid = !name.is_empty() && name.chars().all(is_name);
        valid.then(|| Step { name: name.to_owned(), each }).ok_or(InvalidField)
    };
    text.split('.').map(step).collect()
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, steps) in self.names.iter().enumerate() {
            if place > 0 {
                f.write_str("|")?;
            }
            if steps.is_empty() {
                f.write_str(".")?;
            }
            for (place, step) in steps.iter().enumerate() {
                write!(f, "{}{}{}", if place > 0 { "." } else { "" }, step.name, if step.each { "[]" } else { "" })?;
            }
        }
        f.write_str(if self.optional { "?" } else { "" })
    }
}

impl TryFrom<String> for Field {
    type Error = InvalidField;

    fn try_from(text: String) -> Result<Self, InvalidField> {
        text.parse()
    }
}

impl From<Field> for String {
    fn from(field: Field) -> String {
        field.to_string()
    }
}
