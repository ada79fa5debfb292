//! Reads all files of records.

use std::{collections::BTreeMap, fs, io, path::Path};

use crate::schema::{Destroys, File, Reads, Record, Words};

/// A position in a file of records.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) file: String,
    pub(crate) line: usize,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// The content of all files.
#[derive(Debug, Default)]
pub(crate) struct Book {
    pub(crate) options: BTreeMap<String, (Place, Words)>,
    pub(crate) reads: BTreeMap<String, (Place, Reads)>,
    pub(crate) destroys: BTreeMap<String, (Place, Destroys)>,
    pub(crate) records: Vec<(Place, Record)>,
    /// The text of each file, for the lines of rows.
    texts: BTreeMap<String, String>,
}

impl Book {
    /// Returns the position of a byte of a file.
    pub(crate) fn place(&self, file: &str, at: usize) -> Place {
        let text = self.texts.get(file).map(String::as_str).unwrap_or_default();
        place(file, text, at)
    }
}

fn place(file: &str, text: &str, at: usize) -> Place {
    let line = 1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count();
    Place { file: file.to_owned(), line }
}

/// Returns the name and text of every `*.toml` file of a directory.
pub(crate) fn texts(directory: &Path) -> io::Result<Vec<(String, String)>> {
    let mut texts = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == "toml") {
            texts.push((path.display().to_string().replace('\\', "/"), fs::read_to_string(&path)?));
        }
    }
    texts.sort();
    Ok(texts)
}

/// Reads files of records, each with its name and its text. Returns the problems of all files.
pub(crate) fn book(texts: Vec<(String, String)>) -> Result<Book, Vec<String>> {
    let (mut book, mut problems) = (Book::default(), Vec::new());
    for (file, text) in texts {
        match toml::from_str::<File>(&text) {
            Ok(content) => book.add(&file, text, content, &mut problems),
            Err(why) => problems.push(told(&file, &text, &why)),
        }
    }
    if problems.is_empty() { Ok(book) } else { Err(problems) }
}

impl Book {
    fn add(&mut self, file: &str, text: String, content: File, problems: &mut Vec<String>) {
        let twice =
            |what: &str, name: &str, place: &Place| format!("{place}: there is another {what} with the name `{name}`");
        for (name, words) in content.options {
            let here = Place { file: file.to_owned(), line: 1 };
            if self.options.insert(name.clone(), (here.clone(), words)).is_some() {
                problems.push(twice("list of options", &name, &here));
            }
        }
        for shared in content.shared {
            let here = place(file, &text, shared.span().start);
            let shared = shared.into_inner();
            let before = match (shared.reads, shared.destroys) {
                (Some(row), None) => self.reads.insert(shared.name.clone(), (here.clone(), row)).is_some(),
                (None, Some(row)) => self.destroys.insert(shared.name.clone(), (here.clone(), row)).is_some(),
                _ => {
                    problems.push(format!("{here}: `{}` needs either `reads` or `destroys`", shared.name));
                    false
                }
            };
            if before {
                problems.push(twice("shared row", &shared.name, &here));
            }
        }
        for record in content.program {
            let here = place(file, &text, record.span().start);
            self.records.push((here, record.into_inner()));
        }
        self.texts.insert(file.to_owned(), text);
    }
}

/// Describes an error of the reader with its line, and suggests a known word for an unknown one.
fn told(file: &str, text: &str, why: &toml::de::Error) -> String {
    let here = place(file, text, why.span().map_or(0, |span| span.start));
    let message = why.message();
    let mut quoted = message.split('`').skip(1).step_by(2);
    let unknown = quoted.next().filter(|_| message.starts_with("unknown")).unwrap_or_default();
    let near = crate::check::nearest(unknown, quoted);
    let help = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    format!("{here}: {message}{help}")
}
