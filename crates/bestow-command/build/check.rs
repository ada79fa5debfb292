//! Checks the records, and resolves the rows of each program.

use std::collections::{BTreeMap, BTreeSet};

use toml::Spanned;

use crate::{
    read::{Book, Place},
    schema::{Destroys, Reads, Record, Words},
};

/// A row and its position.
#[derive(Clone, Debug)]
pub(crate) struct Row<'b, T> {
    pub(crate) place: Place,
    pub(crate) row: &'b T,
    /// The record whose defaults apply. `None` for a shared row.
    pub(crate) record: Option<&'b Record>,
}

/// Programs of one record about which the same is known.
#[derive(Debug)]
pub(crate) struct Program<'b> {
    pub(crate) place: &'b Place,
    pub(crate) names: Vec<&'b str>,
    /// The record, and those of its parts that are about these names.
    pub(crate) facts: Vec<&'b Record>,
    pub(crate) reads: Vec<Row<'b, Reads>>,
    pub(crate) destroys: Vec<Row<'b, Destroys>>,
}

/// A row of a record, read-only or destructive.
trait AnyRow: Clone + Default + PartialEq + 'static {
    /// Returns the shared rows of this kind.
    fn shared(book: &Book) -> &BTreeMap<String, (Place, Self)>;
    fn uses(&self) -> Option<&str>;
    /// Returns the row without `use` and `only`.
    fn words_of_its_own(&self) -> Self;
    fn only(&self) -> &[String];
    fn examples(&self) -> [&[String]; 2];
    fn predicates(&self) -> Vec<&str>;
}

impl AnyRow for Reads {
    fn shared(book: &Book) -> &BTreeMap<String, (Place, Self)> {
        &book.reads
    }

    fn words_of_its_own(&self) -> Self {
        Reads { uses: None, only: Vec::new(), ..self.clone() }
    }

    fn uses(&self) -> Option<&str> {
        self.uses.as_deref()
    }

    fn only(&self) -> &[String] {
        &self.only
    }

    fn examples(&self) -> [&[String]; 2] {
        [&self.matches, &self.not_matches]
    }

    fn predicates(&self) -> Vec<&str> {
        let online = match &self.network {
            Some(crate::schema::Online::Uses(uses)) => uses.code.as_deref(),
            _ => None,
        };
        [self.words.as_deref(), self.code.as_deref(), online].into_iter().flatten().collect()
    }
}

impl AnyRow for Destroys {
    fn shared(book: &Book) -> &BTreeMap<String, (Place, Self)> {
        &book.destroys
    }

    fn words_of_its_own(&self) -> Self {
        Destroys { uses: None, only: Vec::new(), ..self.clone() }
    }

    fn uses(&self) -> Option<&str> {
        self.uses.as_deref()
    }

    fn only(&self) -> &[String] {
        &self.only
    }

    fn examples(&self) -> [&[String]; 2] {
        [&self.matches, &self.not_matches]
    }

    fn predicates(&self) -> Vec<&str> {
        self.code.as_deref().into_iter().collect()
    }
}

/// Returns the names of the predicates that a module passes on.
pub(crate) fn named_in(module: &str) -> BTreeSet<String> {
    let lists = module.split("pub(crate) use ").skip(1).filter_map(|text| text.split(';').next());
    let names = lists.flat_map(|list| list.rsplit("::").next().unwrap_or_default().split(['{', '}', ',']));
    // An item may have another name here: `is_doomed as critical_path`.
    names.filter_map(|item| item.split_whitespace().last()).map(str::to_owned).collect()
}

/// Returns the word of a list that is most like `word`.
pub(crate) fn nearest<'w>(word: &str, known: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    let scored = known.into_iter().map(|other| (distance(word, other), other));
    scored.filter(|(far, _)| *far <= 1 + word.len() / 4).min().map(|(_, other)| other)
}

/// Returns the number of letters to change, add or remove.
fn distance(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.bytes().enumerate() {
        let mut next = vec![at + 1];
        for (theirs, pair) in other.bytes().zip(row.windows(2)) {
            let [before, above] = pair else { continue };
            let left = next.last().copied().unwrap_or_default();
            next.push((before + usize::from(letter != theirs)).min(above + 1).min(left + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

/// Checks all records. Returns the programs, or every problem.
pub(crate) fn programs<'b>(book: &'b Book, predicates: &BTreeSet<String>) -> Result<Vec<Program<'b>>, Vec<String>> {
    let mut check = Check { book, predicates, problems: Vec::new(), used: BTreeSet::new() };
    let mut names: BTreeMap<&str, &Place> = BTreeMap::new();
    let mut programs = Vec::new();
    for (place, record) in &book.records {
        for name in &record.names {
            if let Some(before) = names.insert(name, place) {
                check.refuse(place, format!("`{name}` has another record in {before}"));
            }
        }
        programs.extend(check.record(place, record));
    }
    for (name, (place, row)) in &book.reads {
        check.row(place, row);
        check.reads(place, row);
        check.is_used(place, name);
    }
    for (name, (place, row)) in &book.destroys {
        check.row(place, row);
        check.destroys(place, row);
        check.is_used(place, name);
    }
    if check.problems.is_empty() { Ok(programs) } else { Err(check.problems) }
}

/// The state of the check.
struct Check<'b, 'p> {
    book: &'b Book,
    predicates: &'p BTreeSet<String>,
    problems: Vec<String>,
    used: BTreeSet<&'b str>,
}

impl<'b> Check<'b, '_> {
    fn refuse(&mut self, place: &Place, problem: impl std::fmt::Display) {
        self.problems.push(format!("{place}: {problem}"));
    }

    fn is_used(&mut self, place: &Place, name: &str) {
        if !self.used.contains(name) {
            self.refuse(place, format!("no record uses the row `{name}`"));
        }
    }

    fn record(&mut self, place: &'b Place, record: &'b Record) -> Vec<Program<'b>> {
        self.names(place, &record.names);
        for part in &record.some {
            self.only(place, &part.names, &record.names);
            if !part.reads.is_empty() || !part.destroys.is_empty() || !part.some.is_empty() {
                self.refuse(place, "`some` has facts only: a row about some of the names has `only`");
            }
        }
        for name in record.some.iter().chain([record]).flat_map(|part| &part.answers) {
            match self.book.reads.get_key_value(name) {
                Some((name, _)) => drop(self.used.insert(name)),
                None => self.unknown(place, "shared row", name, self.book.reads.keys()),
            }
        }
        let reads: Vec<_> = record.reads.iter().map(|row| self.placed(place, row, record)).collect();
        let destroys: Vec<_> = record.destroys.iter().map(|row| self.placed(place, row, record)).collect();
        for row in &reads {
            self.reads(&row.place, row.row);
            // A destructive row may be about every use of a program.
            self.one_names(&row.place, "not_match", &row.row.not_matches, record);
        }
        for row in &destroys {
            self.destroys(&row.place, row.row);
        }
        let mut programs: Vec<Program<'b>> = Vec::new();
        let mut alike: BTreeMap<Vec<bool>, usize> = BTreeMap::new();
        for name in &record.names {
            let here = |only: &[String]| only.is_empty() || only.contains(name);
            let parts = record.some.iter().map(|part| part.names.contains(name));
            let rows = reads.iter().map(|row| here(&row.row.only));
            let rows = rows.chain(destroys.iter().map(|row| here(&row.row.only)));
            let key: Vec<bool> = parts.chain(rows).collect();
            if let Some(program) = alike.get(&key).and_then(|at| programs.get_mut(*at)) {
                program.names.push(name);
                continue;
            }
            alike.insert(key, programs.len());
            let facts = record.some.iter().filter(|part| part.names.contains(name));
            let facts: Vec<&Record> = [record].into_iter().chain(facts).collect();
            let own = reads.iter().filter(|row| here(&row.row.only)).map(|row| self.resolved(row));
            let answers = facts.iter().flat_map(|record| &record.answers).filter_map(|name| self.answer(name));
            programs.push(Program {
                place,
                names: vec![name],
                reads: own.chain(answers).collect(),
                facts,
                destroys: destroys.iter().filter(|row| here(&row.row.only)).map(|row| self.resolved(row)).collect(),
            });
        }
        programs
    }

    /// Returns the shared row with this name.
    fn answer(&self, name: &str) -> Option<Row<'b, Reads>> {
        let (place, row) = self.book.reads.get(name)?;
        Some(Row { place: place.clone(), row, record: None })
    }

    /// Returns the shared row that a row stands for, or the row itself.
    fn resolved<T: AnyRow>(&self, row: &Row<'b, T>) -> Row<'b, T> {
        let shared = row.row.uses().and_then(|name| T::shared(self.book).get(name));
        shared.map_or_else(|| row.clone(), |(place, row)| Row { place: place.clone(), row, record: None })
    }

    fn placed<T: AnyRow>(&mut self, record_place: &Place, row: &'b Spanned<T>, record: &'b Record) -> Row<'b, T> {
        let place = self.book.place(&record_place.file, row.span().start);
        let row = row.get_ref();
        self.only(&place, row.only(), &record.names);
        match row.uses() {
            Some(name) => {
                match T::shared(self.book).get_key_value(name) {
                    Some((name, _)) => drop(self.used.insert(name)),
                    None => self.unknown(&place, "shared row of this kind", name, T::shared(self.book).keys()),
                }
                if row.words_of_its_own() != T::default() {
                    self.refuse(&place, "beside `use`, only `only` may stand: the shared row says everything else");
                }
            }
            None => {
                self.row(&place, row);
                let [matches, _] = row.examples();
                self.one_names(&place, "match", matches, record);
            }
        }
        Row { place, row, record: Some(record) }
    }

    fn unknown<'n>(&mut self, place: &Place, what: &str, name: &str, known: impl IntoIterator<Item = &'n String>) {
        let near = nearest(name, known.into_iter().map(String::as_str));
        let help = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        self.refuse(place, format!("there is no {what} `{name}`{help}"));
    }

    /// Checks the examples and the predicates of a row.
    fn row(&mut self, place: &Place, row: &impl AnyRow) {
        for (examples, key) in row.examples().into_iter().zip(["match", "not_match"]) {
            if examples.is_empty() {
                self.refuse(place, format!("the row has no example in `{key}`"));
            }
        }
        let predicates = self.predicates;
        for name in row.predicates() {
            if !predicates.contains(name) {
                self.unknown(place, "predicate", name, predicates);
            }
        }
    }

    /// Checks that some example is about a program of the record. Others may show a similar program.
    fn one_names(&mut self, place: &Place, key: &str, examples: &[String], record: &Record) {
        let is_named = |example: &String| record.names.iter().any(|name| example.contains(name.trim_end_matches('*')));
        if !examples.is_empty() && !examples.iter().any(is_named) {
            self.refuse(place, format!("no example in `{key}` names a program of the record"));
        }
    }

    fn reads(&mut self, place: &Place, row: &Reads) {
        for words in [&row.flags, &row.globals, &row.operands_with, &row.refuses].into_iter().flatten() {
            self.flags(place, words);
        }
        for group in &row.requires {
            self.flags(place, &Words::One(group.clone()));
        }
        if row.uses.is_none() && (row.words.is_some() || row.any_words) && row.flags.is_some() && row.code.is_some() {
            self.refuse(place, "`words` and `any_words` stand in place of `flags` and `code`");
        }
    }

    fn destroys(&mut self, place: &Place, row: &Destroys) {
        if row.uses.is_none() && row.why.is_none() {
            self.refuse(place, "the row has no `why`");
        }
    }

    /// Checks that the names are plain.
    fn names(&mut self, place: &Place, names: &[String]) {
        if names.is_empty() {
            self.refuse(place, "the record has no name");
        }
        for name in names {
            if name.is_empty() || name.contains(char::is_whitespace) || name.trim_end_matches('*').contains('*') {
                self.refuse(place, format!("`{name}` is not the name of a program"));
            }
        }
    }

    fn only(&mut self, place: &Place, only: &[String], names: &[String]) {
        for name in only.iter().filter(|name| !names.contains(name)) {
            self.unknown(place, "name in this record", name, names);
        }
    }

    /// Checks the form of a list of options: no option stands there twice with different values.
    fn flags(&mut self, place: &Place, words: &Words) {
        let mut before: BTreeMap<String, String> = BTreeMap::new();
        for word in expanded(self.book, words) {
            let word = match word {
                Ok(word) => word,
                Err(name) => {
                    self.unknown(place, "list of options", &name, self.book.options.keys());
                    continue;
                }
            };
            if !word.starts_with(['-', '+']) && word != "=" {
                self.refuse(place, format!("`{word}` is not an option"));
            }
            let name = word.split(':').next().unwrap_or_default().trim_end_matches('?').to_owned();
            match before.insert(name, word.clone()) {
                Some(other) if other == word => self.refuse(place, format!("`{word}` stands in the list twice")),
                Some(other) => self.refuse(place, format!("`{other}` and `{word}` stand in the list")),
                None => {}
            }
        }
    }
}

/// Returns the words of a list with the named lists in it. An error is the name of a list that does not exist.
pub(crate) fn expanded(book: &Book, words: &Words) -> Vec<Result<String, String>> {
    let mut all = Vec::new();
    for word in words.iter() {
        match word.strip_prefix('@') {
            None => all.push(Ok(word.to_owned())),
            Some(name) => match book.options.get(name) {
                Some((_, words)) => all.extend(expanded(book, words)),
                None => all.push(Err(name.to_owned())),
            },
        }
    }
    all
}
