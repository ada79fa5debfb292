//! Writes the records as static data.

use std::fmt::Write as _;

use crate::{
    check::{Program, Row, expanded},
    hash::hash,
    read::{Book, Place},
    schema::{
        Count, Destroys, Files, Here, HostOperands, Hosts, Network, NetworkWord, Obeys, ObeysWord, Online, OnlineWord,
        Operands, Plain, Reach, Reads, Record, Role, SecretOption, Selects, Starts, Words, Wraps,
    },
};

/// The number of slots of the table of names. It is a power of two.
const SLOTS: usize = 4096;

/// Returns the code of all records.
pub(crate) fn code(book: &Book, programs: &[Program<'_>]) -> String {
    let mut file = Emitter { book, code: String::new(), reads: Vec::new(), destroys: Vec::new() };
    for program in programs {
        program.reads.iter().for_each(|row| file.reads(row));
        program.destroys.iter().for_each(|row| file.destroys(row));
    }
    let all: String = programs.iter().map(|program| file.program(program)).collect();
    let _ = writeln!(file.code, "pub(crate) static PROGRAMS: [Program; {}] = [\n{all}];", programs.len());
    let nothing = Program { place: &Place::default(), names: vec![], facts: vec![], reads: vec![], destroys: vec![] };
    let unknown = file.program(&nothing);
    let _ = writeln!(file.code, "static UNKNOWN: Program = {};", unknown.trim_end_matches([',', '\n']));
    file.names(programs);
    file.code
}

struct Emitter<'b> {
    book: &'b Book,
    code: String,
    /// The rows that are written.
    reads: Vec<*const Reads>,
    destroys: Vec<*const Destroys>,
}

fn list(texts: &[String]) -> String {
    format!("&{texts:?}")
}

fn patterns(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| format!("Cow::Borrowed({text:?})")).collect();
    format!("&[{}]", texts.join(", "))
}

/// Returns the code of the alternatives of a subcommand.
fn alternatives(subcommands: &[String]) -> String {
    format!("Subcommands::of({:?})", subcommands.join("|"))
}

fn optional(value: Option<String>) -> String {
    value.map_or_else(|| "None".to_owned(), |value| format!("Some({value})"))
}

impl Emitter<'_> {
    fn words(&self, words: Option<&Words>) -> String {
        let words = words.map(|words| expanded(self.book, words)).unwrap_or_default();
        let words: Vec<String> = words.into_iter().filter_map(Result::ok).collect();
        format!("{:?}", words.join(" "))
    }

    /// Returns the code of a list of options.
    fn options(&self, options: Option<&Words>) -> String {
        format!("list!({})", self.words(options))
    }

    fn reads(&mut self, row: &Row<'_, Reads>) {
        if self.reads.contains(&std::ptr::from_ref(row.row)) {
            return;
        }
        let record = row.record;
        let place = &row.place;
        let (reach, online) = (reach_of(row), self.online(row));
        let name = self.reads.len();
        self.reads.push(row.row);
        let row = row.row;
        let globals = row.globals.as_ref().or_else(|| record.and_then(|record| record.globals.as_ref()));
        let operands = match (&row.operands_with, row.operands) {
            (Some(flags), _) => format!("Operands::With({})", self.words(Some(flags))),
            (None, Some(Operands::Any(true))) => "Operands::Any".into(),
            (None, Some(Operands::AtMost(most))) => format!("Operands::AtMost({most})"),
            (None, Some(Operands::Any(false)) | None) => "Operands::None".into(),
        };
        let code = format!(
            "static READS_{name}: Reads = Reads {{ subcommands: {}, globals: {}, flags: {}, operands: {operands}, \
             tests: &[{}], otherwise: {}, code: {}, words: {}, inert: {}, stop_at_operand: {}, reach: Reach::{}, \
             online: {}, only_at_start: {}, lenient: {}, here: {}, predicate: {:?}, matches: {}, \
             not_matches: {}, \
             place: \"{place}\" }};\n",
            alternatives(&row.subcommands),
            self.options(globals),
            self.options(row.flags.as_ref()),
            self.tests(row),
            optional(row.otherwise.as_ref().map(|text| format!("{text:?}"))),
            optional(row.code.as_ref().map(|name| format!("predicates::{name}"))),
            match (&row.words, row.any_words) {
                (Some(name), _) => format!("AllWords::If(predicates::{name})"),
                (None, true) => "AllWords::Any".to_owned(),
                (None, false) => "AllWords::Listed".to_owned(),
            },
            row.inert,
            row.stop_at_operand,
            reach_name(reach),
            online,
            row.only_at_start,
            row.lenient,
            optional(row.here.map(here)),
            row.code.as_deref().or(row.words.as_deref()).unwrap_or_default(),
            list(&row.matches),
            list(&row.not_matches),
        );
        self.code += &code;
    }

    fn tests(&self, row: &Reads) -> String {
        let mut tests = Vec::new();
        let count = row.options.map(|count| match count {
            Count::None => "Test::Options(Count::None)",
            Count::One => "Test::Options(Count::One)",
            Count::Some => "Test::Options(Count::Some)",
        });
        tests.extend(count.map(str::to_owned));
        tests.extend(row.requires.iter().map(|group| format!("Test::Requires({group:?})")));
        tests.extend(row.refuses.iter().map(|words| format!("Test::Refuses({})", self.words(Some(words)))));
        let lists = [
            ("FirstOperand", &row.first_operand),
            ("LastOperand", &row.last_operand),
            ("OperandIs", &row.operand_is),
            ("OperandNot", &row.operand_not),
            ("ValueNot", &row.value_not),
        ];
        let lists = lists.into_iter().filter(|(_, texts)| !texts.is_empty());
        tests.extend(lists.map(|(name, texts)| format!("Test::{name}({})", patterns(texts))));
        tests.extend(row.written_out.then(|| "Test::WrittenOut".to_owned()));
        tests.extend(row.known.then(|| "Test::Known".to_owned()));
        tests.extend(row.operands_are.map(|kind| format!("Test::{kind:?}")));
        tests.extend(row.least_operands.map(|least| format!("Test::LeastOperands({least})")));
        tests.extend(row.most_operands.map(|most| format!("Test::MostOperands({most})")));
        tests.join(", ")
    }

    fn online(&self, row: &Row<'_, Reads>) -> String {
        let by_reach = match reach_of(row) {
            None | Some(Reach::Here) => "Online::Never",
            Some(Reach::Addresses) => "Online::Addresses",
            Some(Reach::Web | Reach::Service | Reach::Elsewhere) => "Online::Always",
        };
        match &row.row.network {
            None => by_reach.into(),
            Some(Online::Word(OnlineWord::Never)) => "Online::Never".into(),
            Some(Online::Word(OnlineWord::Always)) => "Online::Always".into(),
            Some(Online::Word(OnlineWord::Addresses)) => "Online::Addresses".into(),
            Some(Online::Uses(uses)) => match &uses.code {
                Some(code) => format!("Online::If(predicates::{code})"),
                None if !uses.except.is_empty() || uses.unless.is_some() => format!(
                    "Online::AllBut {{ subcommands: {}, options: {} }}",
                    alternatives(&uses.except),
                    self.words(uses.unless.as_ref())
                ),
                None => format!(
                    "Online::For {{ subcommands: {}, options: {} }}",
                    alternatives(&uses.subcommands),
                    self.words(uses.with.as_ref())
                ),
            },
        }
    }

    fn destroys(&mut self, row: &Row<'_, Destroys>) {
        if self.destroys.contains(&std::ptr::from_ref(row.row)) {
            return;
        }
        let place = &row.place;
        let name = self.destroys.len();
        self.destroys.push(row.row);
        let row = row.row;
        let words = |words: &Words| self.words(Some(words));
        let tests = [
            row.with.as_ref().map(|list| format!("When::Flag({})", words(list))),
            row.without.as_ref().map(|list| format!("When::NoFlag({})", words(list))),
            row.operand.as_ref().map(|list| format!("When::Named({})", words(list))),
            row.and_operand.as_ref().map(|list| format!("When::Named({})", words(list))),
            row.text.as_ref().map(|list| format!("When::Text({})", words(list))),
            row.later.as_ref().map(|word| format!("When::Later({word:?})")),
            row.operand_in_any_case.as_ref().map(|list| format!("When::NamedInAnyCase({})", words(list))),
            row.operand_kind.map(|kind| format!("When::Kind(OperandKind::{kind:?})")),
            row.code.as_ref().map(|name| format!("When::Line(predicates::{name})")),
        ];
        let tests: Vec<String> = tests.into_iter().flatten().collect();
        let code = format!(
            "static DESTROYS_{name}: Destroys = Destroys {{ subcommands: {}, when: &[{}], why: {:?}, \
             predicate: {:?}, matches: {}, \
             not_matches: {}, place: \"{place}\" }};\n",
            alternatives(&row.subcommands),
            tests.join(", "),
            row.why.as_deref().unwrap_or_default(),
            row.code.as_deref().unwrap_or_default(),
            list(&row.matches),
            list(&row.not_matches),
        );
        self.code += &code;
    }

    fn program(&self, program: &Program<'_>) -> String {
        let facts = &program.facts;
        let row = |row: &Row<'_, Reads>| at(&self.reads, row.row).map(|at| format!("&READS_{at}"));
        let reads: Vec<String> = program.reads.iter().filter_map(row).collect();
        let is_online = |row: &&Row<'_, Reads>| self.online(row) != "Online::Never";
        let online: Vec<String> = program.reads.iter().filter(is_online).filter_map(row).collect();
        let destroys = program.destroys.iter().filter_map(|row| at(&self.destroys, row.row));
        let destroys = destroys.map(|at| format!("&DESTROYS_{at}"));
        let network: Vec<String> =
            facts.iter().flat_map(|record| &record.network).map(|network| self.network(network)).collect();
        let plain: Vec<String> = facts.iter().flat_map(|record| &record.plain).map(|plain| self.plain(plain)).collect();
        let beginnings = || program.reads.iter().flat_map(|row| &row.row.subcommands);
        let starts: Vec<String> =
            facts.iter().flat_map(|record| &record.starts).map(|starts| self.starts(starts)).collect();
        format!(
            "Program {{ names: &{:?}, only_reads: {:?}, place: \"{}\", \
             reads: &[{}], online: &[{}], reads_operands: {}, has_beginnings: {}, has_subcommands: {}, \
             destroys: &[{}], destroyers: {}, only_online: {}, rollback: {}, obeys: {}, directory: {}, \
             network: &[{}], keeps: {}, hosts: {}, files: {}, secrets: {}, environment: {}, \
             help: {}, help_groups: {}, says: {}, short_help: {}, loads_first: {}, one_dash: {}, \
             option_file: {}, letter_bundle: {}, only_says: {}, opens_nothing: {}, changes: {}, \
             wraps: {}, starts: &[{}], may_start: {}, plain: &[{}], labels: {}, synonyms: {}, passes: {}, \
             secret_option: {}, secret_words: {}, here: {} }},\n",
            program.names,
            program.names.first().map(|name| format!("`{name}` only reads in this form")).unwrap_or_default(),
            program.place,
            reads.join(", "),
            online.join(", "),
            program.reads.iter().any(shows_operands),
            beginnings().next().is_some(),
            beginnings().any(|words| !words.starts_with('-')),
            destroys.collect::<Vec<_>>().join(", "),
            destroyers(&program.destroys),
            facts.iter().any(|record| record.only_online),
            optional(last(facts, |record| record.rollback.as_ref()).map(|text| format!("{text:?}"))),
            optional(last(facts, |record| record.obeys.as_ref()).map(obeys)),
            self.words(last(facts, |record| record.directory.as_ref())),
            network.join(", "),
            alternatives(&all(facts, |record| &record.keeps)),
            optional(last(facts, |record| record.hosts.as_ref()).map(|hosts| self.hosts(hosts))),
            optional(last(facts, |record| record.files.as_ref()).map(|files| self.files(files))),
            list(&all(facts, |record| &record.secrets)),
            list(&all(facts, |record| &record.environment)),
            self.words(last(facts, |record| record.help.as_ref())),
            self.words(last(facts, |record| record.help_groups.as_ref())),
            facts.iter().any(|record| record.says),
            facts.iter().any(|record| record.short_help),
            facts.iter().any(|record| record.loads_first),
            facts.iter().any(|record| record.one_dash),
            facts.iter().any(|record| record.option_file),
            facts.iter().any(|record| record.letter_bundle),
            facts.iter().any(|record| record.only_says),
            facts.iter().any(|record| record.opens_nothing),
            facts.iter().any(|record| record.changes),
            optional(last(facts, |record| record.wraps.as_ref()).map(|wraps| self.wraps(wraps))),
            starts.join(", "),
            list(&all(facts, |record| &record.may_start)),
            plain.join(", "),
            list(&all(facts, |record| &record.labels)),
            list(&all(facts, |record| &record.synonyms)),
            list(&all(facts, |record| &record.passes)),
            optional(last(facts, |record| record.secret_option.as_ref()).map(secret_option)),
            list(&all(facts, |record| &record.secret_words)),
            optional(here_of(facts).map(here)),
        )
    }

    fn network(&self, network: &Network) -> String {
        match network {
            Network::Word(NetworkWord::Always) => "Uses::All".into(),
            Network::Word(NetworkWord::Bare) => "Uses::Bare".into(),
            Network::Word(NetworkWord::RemotePath) => "Uses::Remote".into(),
            Network::Word(NetworkWord::RemoteDatabase) => "Uses::Database".into(),
            Network::Uses(uses) => {
                let subcommands = alternatives(&uses.subcommands);
                match (&uses.with_host, &uses.with) {
                    (Some(options), _) => format!("Uses::Told({})", self.words(Some(options))),
                    (None, Some(options)) if uses.subcommands.is_empty() => {
                        format!("Uses::With({})", self.words(Some(options)))
                    }
                    (None, Some(options)) => format!("Uses::SubWith({subcommands}, {})", self.words(Some(options))),
                    (None, None) if !uses.except.is_empty() => {
                        format!("Uses::AllBut({})", alternatives(&uses.except))
                    }
                    (None, None) if uses.abbreviated => format!("Uses::Begun({subcommands})"),
                    (None, None) => format!("Uses::Sub({subcommands})"),
                }
            }
        }
    }

    fn starts(&self, starts: &Starts) -> String {
        let (subcommands, flags) = (alternatives(&starts.subcommands), self.options(starts.flags.as_ref()));
        format!("Starts {{ subcommands: {subcommands}, flags: {flags} }}")
    }

    fn plain(&self, plain: &Plain) -> String {
        let (subcommands, flags) = (alternatives(&plain.subcommands), self.options(Some(&plain.flags)));
        format!("Plain {{ subcommands: {subcommands}, flags: {flags} }}")
    }

    fn wraps(&self, wraps: &Wraps) -> String {
        let flags = self.options(wraps.flags.as_ref());
        format!("Wraps {{ flags: {flags}, operands: {}, dangerous: {} }}", wraps.operands, wraps.dangerous)
    }

    fn hosts(&self, hosts: &Hosts) -> String {
        let operands = match hosts.operands {
            HostOperands::All => "All",
            HostOperands::First => "First",
            HostOperands::Dotted => "Dotted",
        };
        let (valued, redirects) = (self.options(hosts.valued.as_ref()), self.options(hosts.redirects.as_ref()));
        format!("Hosts {{ operands: HostOperands::{operands}, valued: {valued}, redirects: {redirects} }}")
    }

    fn files(&self, files: &Files) -> String {
        let role = files.operands.map(|role| match role {
            Role::Read => "Role::Reads",
            Role::Searched => "Role::Searches",
            Role::Listed => "Role::Lists",
            Role::Compared => "Role::Compares",
            Role::Written => "Role::Writes",
            Role::Made => "Role::Makes",
            Role::Changed => "Role::Changes",
            Role::Copied => "Role::Copies",
            Role::Moved => "Role::Moves",
        });
        format!(
            "Files {{ role: {}, valued: {}, writes: {}, reads: {}, trees: {}, selects: {} }}",
            optional(role.map(str::to_owned)),
            self.options(files.valued.as_ref()),
            self.options(files.writes.as_ref()),
            self.options(files.reads.as_ref()),
            self.options(files.trees.as_ref()),
            optional(files.selects.as_ref().map(|selects| self.selects(selects)))
        )
    }

    fn selects(&self, selects: &Selects) -> String {
        let with = |words: &Option<Words>| optional(words.as_ref().map(|words| self.options(Some(words))));
        format!(
            "Selects {{ hidden: {}, ignored: {}, only: {}, without: {}, without_directories: {}, globs: {}, \
             types: {} }}",
            with(&selects.hidden),
            with(&selects.ignored),
            self.options(selects.only.as_ref()),
            self.options(selects.without.as_ref()),
            self.options(selects.without_directories.as_ref()),
            self.options(selects.globs.as_ref()),
            self.options(selects.types.as_ref())
        )
    }

    /// Writes the table of names, and the names that are beginnings.
    fn names(&mut self, programs: &[Program<'_>]) {
        let names = programs.iter().enumerate();
        let names = names.flat_map(|(at, program)| program.names.iter().map(move |name| (*name, at)));
        let (starts, exact): (Vec<_>, Vec<_>) = names.partition(|(name, _)| name.ends_with('*'));
        let mut slots = vec![0_usize; SLOTS];
        for (index, (name, _)) in exact.iter().enumerate() {
            let mut slot = hash(name.as_bytes());
            while slots.get(slot % SLOTS).is_some_and(|taken| *taken != 0) {
                slot += 1;
            }
            if let Some(free) = slots.get_mut(slot % SLOTS) {
                *free = index + 1;
            }
        }
        let _ = writeln!(self.code, "pub(crate) static NAMES: [(&str, u16); {}] = {exact:?};", exact.len());
        let _ = writeln!(self.code, "pub(crate) static SLOTS: [u16; {SLOTS}] = {slots:?};");
        let starts: Vec<_> = starts.into_iter().map(|(name, at)| (name.trim_end_matches('*'), at)).collect();
        let _ = writeln!(self.code, "pub(crate) static STARTS: [(&str, u16); {}] = {starts:?};", starts.len());
    }
}

/// Returns true if the form shows the content of the files that its operands name.
fn shows_files(row: &Row<'_, Reads>) -> bool {
    row.row.shows_files.unwrap_or_else(|| row.record.is_some_and(|record| record.shows_files))
}

/// Returns true if the form has no subcommand and shows the content of operands.
fn shows_operands(row: &Row<'_, Reads>) -> bool {
    let has_none = row.row.operands_with.is_none() && matches!(row.row.operands, None | Some(Operands::Any(false)));
    shows_files(row) && row.row.subcommands.is_empty() && !has_none
}

/// Returns the code of the set of first words of the subcommands that destroy.
fn destroyers(rows: &[Row<'_, Destroys>]) -> String {
    if rows.iter().any(|row| row.row.subcommands.is_empty()) {
        return "Firsts::ALL".into();
    }
    let all: Vec<String> = rows.iter().flat_map(|row| row.row.subcommands.clone()).collect();
    if all.is_empty() { "Firsts::NONE".into() } else { format!("{}.firsts()", alternatives(&all)) }
}

/// Returns the reach of a row, or that of its record.
fn reach_of(row: &Row<'_, Reads>) -> Option<Reach> {
    row.row.reach.or_else(|| row.record.and_then(|record| record.reach))
}

fn reach_name(reach: Option<Reach>) -> &'static str {
    match reach {
        None | Some(Reach::Here) => "Here",
        Some(Reach::Addresses) => "Addresses",
        Some(Reach::Web) => "Web",
        Some(Reach::Service) => "Service",
        Some(Reach::Elsewhere) => "Elsewhere",
    }
}

fn here(here: Here) -> String {
    format!("Here::{here:?}")
}

/// Returns the uses of a program that read its directory. A program that obeys files of its directory reads it, and one
/// that lists its operands lists its directory without any.
fn here_of(facts: &[&Record]) -> Option<Here> {
    let files = || last(facts, |record| record.files.as_ref());
    last(facts, |record| record.here.as_ref())
        .copied()
        .or_else(|| last(facts, |record| record.obeys.as_ref()).map(|_| Here::Always))
        .or_else(|| files().filter(|files| files.operands == Some(Role::Listed)).map(|_| Here::Bare))
}

fn obeys(obeys: &Obeys) -> String {
    match obeys {
        Obeys::Word(ObeysWord::Repository) => "Obeyed::Repository".into(),
        Obeys::Word(ObeysWord::Checkout) => "Obeyed::Checkout".into(),
        Obeys::Files(files) => format!("Obeyed::Files({})", list(files)),
    }
}

fn secret_option(option: &SecretOption) -> String {
    let after = optional(option.after.map(|sign| format!("b{sign:?}")));
    format!("SecretOption {{ letter: b{:?}, apart: {}, after: {after} }}", option.letter, option.apart)
}

fn at<T>(rows: &[*const T], row: &T) -> Option<usize> {
    rows.iter().position(|known| std::ptr::eq(*known, row))
}

/// Returns the fact of the most special part that states it.
fn last<'b, T>(facts: &[&'b Record], fact: fn(&'b Record) -> Option<&'b T>) -> Option<&'b T> {
    facts.iter().rev().find_map(|record| fact(record))
}

/// Returns the facts of all parts.
fn all<'b>(facts: &[&'b Record], fact: fn(&'b Record) -> &'b Vec<String>) -> Vec<String> {
    facts.iter().flat_map(|record| fact(record)).cloned().collect()
}
