//! The parser for the part of YAML that front matter needs: texts, lists and maps, each with its line.
//!
//! Some parts of YAML are absent on purpose. Anchors and aliases would let a short text stand for a long one. Tags,
//! several documents, and guesses about the meaning of a text are absent too.

use saphyr_parser::{Event, Parser, ScalarStyle, Span, StrInput};

use super::Problem;

/// The deepest nesting of lists and maps.
const DEEPEST: usize = 8;

/// A value, with the line on which it begins, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) line: u32,
    pub(super) value: Value,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// An empty value.
    Nothing,
    /// A text. `plain` is true if it has no quotation marks.
    Text {
        text: String,
        plain: bool,
    },
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

/// Parses one map. `first` is the line on which `text` begins.
pub(super) fn map(text: &str, first: u32) -> Result<Vec<(String, Node)>, Problem> {
    let mut reader = Reader { text, parser: Parser::new_from_str(text), first };
    let mut found = Vec::new();
    loop {
        let (event, line) = reader.next()?;
        match event {
            Event::StreamStart | Event::DocumentEnd | Event::Nothing => {}
            Event::DocumentStart(_) if found.is_empty() => {
                let (event, line) = reader.next()?;
                found.push(reader.node(event, line, 0)?);
            }
            Event::StreamEnd => break,
            Event::DocumentStart(_)
            | Event::Alias(_)
            | Event::Scalar(..)
            | Event::SequenceStart(..)
            | Event::SequenceEnd
            | Event::MappingStart(..)
            | Event::MappingEnd => return Err(Problem::at(line, "there must be one document, not several")),
        }
    }
    match found.pop() {
        None | Some(Node { value: Value::Nothing, .. }) => Ok(Vec::new()),
        Some(Node { value: Value::Map(entries), .. }) => Ok(entries),
        Some(Node { line, .. }) => Err(Problem::at(line, "each line must be a key, a colon and a value")),
    }
}

struct Reader<'t> {
    text: &'t str,
    parser: Parser<'t, StrInput<'t>>,
    first: u32,
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> Result<(Event<'t>, u32), Problem> {
        match self.parser.next_event() {
            Some(Ok((event, Span { start, .. }))) => Ok((event, self.line(start.line()))),
            Some(Err(why)) => {
                let help = quote_it(self.text, why.marker().line());
                Err(Problem::at(self.line(why.marker().line()), format!("this is not YAML: {}{help}", why.info())))
            }
            None => Ok((Event::StreamEnd, self.first)),
        }
    }

    fn line(&self, line: usize) -> u32 {
        self.first.saturating_add(u32::try_from(line).unwrap_or(u32::MAX).saturating_sub(1))
    }

    fn node(&mut self, event: Event<'t>, line: u32, depth: usize) -> Result<Node, Problem> {
        if depth > DEEPEST {
            return Err(Problem::at(line, "this is nested too deep"));
        }
        let value = match event {
            Event::Scalar(text, style, 0, None) => {
                let plain = style == ScalarStyle::Plain;
                let nothing = plain && matches!(&*text, "" | "~" | "null");
                if nothing { Value::Nothing } else { Value::Text { text: text.into_owned(), plain } }
            }
            Event::SequenceStart(0, None) => Value::List(self.list(depth)?),
            Event::MappingStart(0, None) => Value::Map(self.entries(depth)?),
            Event::Alias(_) | Event::Scalar(..) | Event::SequenceStart(..) | Event::MappingStart(..) => {
                return Err(Problem::at(line, "anchors (`&`), aliases (`*`) and tags (`!`) are not supported here"));
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd
            | Event::SequenceEnd
            | Event::MappingEnd => return Err(Problem::at(line, "a value is missing")),
        };
        Ok(Node { line, value })
    }

    fn list(&mut self, depth: usize) -> Result<Vec<Node>, Problem> {
        let mut all = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(all),
                (event, line) => all.push(self.node(event, line, depth + 1)?),
            }
        }
    }

    fn entries(&mut self, depth: usize) -> Result<Vec<(String, Node)>, Problem> {
        let mut all: Vec<(String, Node)> = Vec::new();
        loop {
            let (event, line) = self.next()?;
            if matches!(event, Event::MappingEnd) {
                return Ok(all);
            }
            let Value::Text { text: key, .. } = self.node(event, line, depth + 1)?.value else {
                return Err(Problem::at(line, "a key must be a word"));
            };
            if all.iter().any(|(known, _)| *known == key) {
                return Err(Problem::at(line, format!("`{}` is written twice", key.escape_debug())));
            }
            let (event, line) = self.next()?;
            all.push((key, self.node(event, line, depth + 1)?));
        }
    }
}

/// Returns help for the most frequent mistake: `schedule: * * * * *` and `schedule: @daily` become texts only with
/// quotation marks.
fn quote_it(text: &str, line: usize) -> &'static str {
    let line = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
    let value = line.split_once(':').map(|(_, value)| value.trim_start()).unwrap_or_default();
    let is_special = value.starts_with(['*', '@', '&', '!', '%', '`', '|', '>']) || value.contains(": ");
    if is_special { "; put the text between quotation marks, as in `schedule: \"0 9 * * *\"`" } else { "" }
}
