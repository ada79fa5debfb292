//! Secrets in JSON: the values below a name that suggests a secret, and the options of commands that are lists.

use std::ops::Range;

use serde_json::{Map, Value};

use super::{
    cookies::pieces,
    mark::mark,
    names::{Strength, strength, strength_of_field, takes_secrets},
    scan::{is_reference, is_scheme, secrets},
    spans::{is_plain, is_token, without},
    tokens,
};

/// The names of a value whose own name stands beside it, as in `{"name": "API_KEY", "value": …}`.
const VALUES: [&str; 3] = ["value", "values", "val"];

/// The longest text that is read as the program of the words beside it, in bytes.
const LONGEST_PROGRAM: usize = 256;

/// A JSON value without secrets, and the secrets.
#[derive(Debug, Default)]
pub(super) struct Redacted {
    pub(super) value: Value,
    pub(super) found: Vec<String>,
}

/// Redacts a JSON value.
pub(super) fn redacted(value: &Value) -> Redacted {
    let mut reader = Reader { inserts: inserts(value), found: Vec::new() };
    let value = reader.value(value, None, "");
    Redacted { value, found: reader.found }
}

/// Returns true if a text of the value may insert another one by its name, and so run it.
fn inserts(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('$'),
        Value::Array(list) => list.iter().any(inserts),
        Value::Object(object) => object.values().any(inserts),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

struct Reader {
    /// True if a word of the value may come back as a program. A secret then looks like a token, or it is shown.
    inserts: bool,
    found: Vec<String>,
}

impl Reader {
    /// Redacts a value below a name of this strength. `program` is the text before its words, or is empty.
    fn value(&mut self, value: &Value, below: Option<Strength>, program: &str) -> Value {
        match value {
            Value::String(text) => self.text(text, below, program, &[]).into(),
            Value::Array(list) => self.list(list, below, program),
            Value::Object(object) => Value::Object(self.object(object, below)),
            Value::Number(number) if below == Some(Strength::Strong) => self.hide(&number.to_string()).into(),
            plain @ (Value::Null | Value::Bool(_) | Value::Number(_)) => plain.clone(),
        }
    }

    fn object(&mut self, object: &Map<String, Value>, below: Option<Strength>) -> Map<String, Value> {
        let texts = || object.iter().filter_map(|(name, value)| Some((name.as_str(), value.as_str()?)));
        let speaks = |text: &str| !text.contains(['/', ' ']) && strength(text) == Some(Strength::Strong);
        let is_named = texts().any(|(name, text)| !VALUES.contains(&name) && speaks(text));
        let program = |beside: &str| {
            let mut others = texts().filter(|(name, _)| *name != beside).map(|(_, text)| text);
            others.find(|text| is_program(text)).map(|text| format!("{text} ")).unwrap_or_default()
        };
        let field = |(name, value): (&String, &Value)| {
            let own = strength_of_field(name, value.is_object() || value.is_array());
            let named = (is_named && VALUES.contains(&name.as_str())).then_some(Strength::Strong);
            let below = stronger(below, stronger(own, named));
            (name.clone(), self.value(value, below, &program(name)))
        };
        object.iter().map(field).collect()
    }

    /// Redacts a list. Its texts are read as the words of one command, too.
    fn list(&mut self, list: &[Value], below: Option<Strength>, program: &str) -> Value {
        let places = secrets_of_words(program, list);
        let second = match list {
            [Value::String(name), Value::String(_)] if !name.starts_with('-') => strength(name),
            _ => None,
        };
        let each = list.iter().zip(places).enumerate();
        let redacted = each.map(|(at, (value, places))| match value {
            Value::String(text) => {
                let below = if at == 1 { stronger(below, second) } else { below };
                self.text(text, below, "", &places).into()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                let below = if places.is_empty() { below } else { Some(Strength::Strong) };
                self.value(value, below, "")
            }
        });
        redacted.collect()
    }

    /// Redacts a text. `places` are secrets that are known from the words beside it.
    fn text(&mut self, text: &str, below: Option<Strength>, program: &str, places: &[Range<usize>]) -> String {
        let behind = text.split_once(' ').filter(|(scheme, _)| is_scheme(scheme)).map_or(text, |(_, rest)| rest);
        let start = text.len() - behind.len();
        let whole = pieces(text, start..text.len());
        let is_secret = |span: &Range<usize>| text.get(span.clone()).is_some_and(|text| self.hides(text, below));
        let mut spans: Vec<_> = if whole.iter().all(|span| span.is_empty() || is_secret(span)) {
            whole.into_iter().filter(|span| !span.is_empty()).collect()
        } else {
            let line = format!("{program}{text}");
            let own = secrets(&line).into_iter().filter_map(|span| within(&span, program.len()..line.len()));
            own.chain(places.iter().cloned()).collect()
        };
        spans.sort_by_key(|span| (span.start, span.end));
        spans.dedup_by(|next, before| {
            let is_same = next.start < before.end;
            before.end = if is_same { before.end.max(next.end) } else { before.end };
            is_same
        });
        self.found.extend(spans.iter().filter_map(|span| text.get(span.clone())).map(str::to_owned));
        without(text, spans.iter()).into_owned()
    }

    /// Returns true if a text below a name of this strength is a secret: one word, and no path.
    fn hides(&self, text: &str, below: Option<Strength>) -> bool {
        let is_word = text.bytes().all(is_plain) && !text.starts_with(['/', '.', '~']) && !is_reference(text);
        match below {
            Some(Strength::Strong | Strength::Certain) => is_word && (!self.inserts || is_token(text)),
            Some(Strength::Weak) => is_word && tokens::is_random(text),
            None => false,
        }
    }

    fn hide(&mut self, text: &str) -> String {
        self.found.push(text.to_owned());
        mark(text)
    }
}

fn stronger(one: Option<Strength>, other: Option<Strength>) -> Option<Strength> {
    match (one, other) {
        (Some(Strength::Strong | Strength::Certain), _) | (Some(_), None) => one,
        _ => other,
    }
}

/// Returns true for a text that names a program, with words of its own or without, whose words may be secrets.
fn is_program(text: &str) -> bool {
    let first = text.split(' ').next().unwrap_or_default();
    text.len() <= LONGEST_PROGRAM && text.bytes().all(|byte| is_plain(byte) || byte == b' ') && takes_secrets(first)
}

/// Returns the part of `span` that is within `whole`, counted from its start.
fn within(span: &Range<usize>, whole: Range<usize>) -> Option<Range<usize>> {
    let (start, end) = (span.start.max(whole.start), span.end.min(whole.end));
    (start < end).then(|| start - whole.start..end - whole.start)
}

/// Returns the secrets in each value of a list whose texts and numbers are the words of a command behind `program`.
fn secrets_of_words(program: &str, list: &[Value]) -> Vec<Vec<Range<usize>>> {
    let mut line = program.to_owned();
    let words: Vec<_> = list.iter().map(|word| add_word(&mut line, word)).collect();
    let found = if list.iter().any(Value::is_string) { secrets(&line) } else { Vec::new() };
    let in_word = |word: Range<usize>| {
        let first = found.partition_point(|span| span.end <= word.start);
        let near = found.iter().skip(first).take_while(|span| span.start < word.end);
        near.filter_map(|span| within(span, word.clone())).collect()
    };
    words.into_iter().map(in_word).collect()
}

/// Adds a word to a line, in quotation marks if it needs them. Returns its place.
fn add_word(line: &mut String, word: &Value) -> Range<usize> {
    let number = if let Value::Number(number) = word { number.to_string() } else { String::new() };
    let text = word.as_str().unwrap_or(&number);
    let mark = match text {
        "" => None,
        text if text.bytes().all(is_plain) => Some(""),
        text if !text.contains('\'') => Some("'"),
        text if !text.contains(['"', '\\', '$', '`']) => Some("\""),
        _ => None,
    };
    let start = line.len() + mark.map_or(0, str::len);
    match mark {
        Some(mark) => line.extend([mark, text, mark, " "]),
        // A word that no quotation marks hold, or no word. Its own text is read by itself.
        None => line.push_str("- "),
    }
    start..if mark.is_some() { start + text.len() } else { start }
}
