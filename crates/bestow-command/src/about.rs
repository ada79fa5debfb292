//! A description of all that is known about a program, for people and for other programs.

use std::fmt;

use serde::Serialize;

use crate::{
    evaluator,
    programs::{
        self, AllWords, Count, Destroys, Online, Operands, Program, Reads, Role, Subcommands, Test, Uses, When,
    },
    values::{Escaped, Obeyed},
};

/// All that is known about a program. Its `Display` is a text for a person, and it serializes to an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ProgramFacts {
    /// The names of programs about which the same is known.
    pub names: Vec<&'static str>,
    /// The file and line of the record, in the sources of this package.
    pub place: &'static str,
    /// The forms that only read, and are safe.
    pub reads: Vec<ProgramForm>,
    /// The forms that destroy something permanently.
    pub destroys: Vec<ProgramForm>,
    /// The ways in which the program runs another program or code.
    pub runs: Vec<String>,
    /// The needs of the program: the network, hosts, files.
    pub needs: Vec<String>,
    /// The files of its directory that may make the program run something else.
    pub obeys: Vec<&'static str>,
    /// Advice on recovery after a destructive use.
    pub rollback: Option<&'static str>,
    /// The options and uses whose text is usually secret.
    pub secrets: Vec<String>,
    /// Other facts.
    pub notes: Vec<String>,
}

/// A form of a program: a subcommand, the options and operands that it may have, and examples.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ProgramForm {
    /// The alternatives of the subcommand. Empty for the program itself.
    pub subcommands: Vec<&'static str>,
    /// The options that the form may have. For a destructive form, it is empty, because any option is accepted.
    pub flags: Vec<&'static str>,
    /// Conditions on the words, as sentences.
    pub conditions: Vec<String>,
    /// Examples that the form covers.
    #[serde(rename = "match")]
    pub matches: Vec<&'static str>,
    /// Similar commands that the form does not cover.
    #[serde(rename = "not_match")]
    pub not_matches: Vec<&'static str>,
    /// The file and line of the row, in the sources of this package.
    pub place: &'static str,
}

/// Returns the names of all programs about which something is known, in no particular order.
pub fn known_programs() -> impl Iterator<Item = &'static str> {
    programs::all().flat_map(|program| program.names.iter().copied())
}

impl ProgramFacts {
    /// Returns what is known about the program with this name. Returns `None` if the name has no record.
    ///
    /// ```
    /// use bestow_command::ProgramFacts;
    ///
    /// let git = ProgramFacts::of("git").unwrap();
    /// assert!(git.reads.iter().any(|form| form.matches.contains(&"git status")));
    /// assert!(ProgramFacts::of("gti").is_none());
    /// ```
    pub fn of(name: &str) -> Option<ProgramFacts> {
        let program = programs::find(name).or_else(|| programs::find_by_start(name).next())?;
        Some(ProgramFacts {
            names: program.names.to_vec(),
            place: program.place,
            reads: program.reads.iter().map(|row| ProgramForm::of_reads(row)).collect(),
            destroys: program.destroys.iter().map(|row| ProgramForm::of_destroys(row)).collect(),
            runs: runs(name, program),
            needs: needs(program),
            obeys: obeys(program),
            rollback: program.rollback,
            secrets: secrets(program),
            notes: notes(program),
        })
    }
}

impl ProgramForm {
    fn of_reads(row: &Reads) -> ProgramForm {
        let operands = match row.operands {
            Operands::Any => None,
            Operands::None => Some("no operands".to_owned()),
            Operands::AtMost(most) => Some(format!("at most {most} operands")),
            Operands::With(flags) => Some(format!("operands only with one of {flags}")),
        };
        let listed = matches!(row.words, AllWords::Listed);
        let mut conditions: Vec<String> = operands.filter(|_| listed).into_iter().collect();
        conditions.extend(matches!(row.words, AllWords::Any).then(|| "any words".to_owned()));
        conditions.extend(row.tests.iter().map(|test| told(*test)));
        conditions.extend((!row.predicate.is_empty()).then(|| format!("the predicate `{}` accepts", row.predicate)));
        conditions.extend(online(row.online));
        conditions.extend(row.only_at_start.then(|| "only in the directory in which commands start".to_owned()));
        conditions.extend(row.lenient.then(|| "not with the strict profile".to_owned()));
        ProgramForm {
            subcommands: alternatives(row.subcommands),
            flags: row.flags.text().split_ascii_whitespace().filter(|flag| *flag != "=").collect(),
            conditions,
            matches: row.matches.to_vec(),
            not_matches: row.not_matches.to_vec(),
            place: row.place,
        }
    }

    fn of_destroys(row: &Destroys) -> ProgramForm {
        let conditions = row.when.iter().map(|when| match when {
            When::Flag(flags) => format!("with one of {flags}"),
            When::NoFlag(flags) => format!("without {flags}"),
            When::Named(list) => format!("with one of the operands {list}"),
            When::Text(list) => format!("with one of the texts {list}"),
            When::Later(word) => format!("with a later word {word}"),
            When::NamedInAnyCase(list) => {
                format!("with one of the operands {list} in any letter case, perhaps in a list with commas")
            }
            When::Kind(kind) => format!("with {}", kind.told()),
            When::Line(_) => format!("the predicate `{}` accepts", row.predicate),
        });
        ProgramForm {
            subcommands: alternatives(row.subcommands),
            flags: Vec::new(),
            conditions: std::iter::once(row.why.to_owned()).chain(conditions).collect(),
            matches: row.matches.to_vec(),
            not_matches: row.not_matches.to_vec(),
            place: row.place,
        }
    }
}

fn alternatives(subcommands: Subcommands) -> Vec<&'static str> {
    subcommands.iter().filter(|one| !one.is_empty()).collect()
}

/// Returns the alternatives as a text.
fn told_list(subcommands: Subcommands) -> String {
    subcommands.iter().collect::<Vec<_>>().join(", ")
}

/// Describes a test of a read-only form.
fn told(test: Test<'_>) -> String {
    match test {
        Test::Options(Count::None) => "no options".into(),
        Test::Options(Count::One) => "exactly one option".into(),
        Test::Options(Count::Some) => "at least one option".into(),
        Test::Requires(flags) => format!("with one of {flags}"),
        Test::Refuses(flags) => format!("without {flags}"),
        Test::FirstOperand(patterns) => format!("the first operand is {}", patterns.join(" or ")),
        Test::LastOperand(patterns) => format!("the last operand is {}", patterns.join(" or ")),
        Test::OperandIs(patterns) => format!("every operand is {}", patterns.join(" or ")),
        Test::OperandNot(patterns) => format!("no operand is {}", patterns.join(" or ").escape_debug()),
        Test::ValueNot(patterns) => format!("no value is {}", patterns.join(" or ")),
        Test::WrittenOut => "every operand is written out".into(),
        Test::Known => "no operand is unknown".into(),
        Test::Numbers => "every operand is a number".into(),
        Test::FreeTargets => "every operand is a target that stores nothing".into(),
        Test::PackageNames => "every operand is the name of a package".into(),
        Test::VariableNames => "every operand is the name of a variable".into(),
        Test::LeastOperands(least) => format!("at least {least} operands"),
        Test::MostOperands(most) => format!("at most {most} operands"),
    }
}

fn online(online: Online) -> Option<String> {
    let list = |subcommands: Subcommands, options: &str| {
        let both = [told_list(subcommands), options.to_owned()];
        both.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ")
    };
    match online {
        Online::Never => None,
        Online::Always => Some("needs the network".into()),
        Online::Addresses => Some("needs the network for an address".into()),
        Online::For { subcommands, options } => Some(format!("needs the network for {}", list(subcommands, options))),
        Online::AllBut { subcommands, options } => {
            Some(format!("needs the network except for {}", list(subcommands, options)))
        }
        Online::If(_) => Some("needs the network for some words".into()),
    }
}

fn runs(name: &str, program: &Program) -> Vec<String> {
    let mut runs = Vec::new();
    runs.extend(evaluator::is_shell(name).then(|| "is a shell".to_owned()));
    runs.extend(evaluator::runs_code(name).then(|| "is an interpreter of a language".to_owned()));
    runs.extend(program.wraps.map(|wraps| {
        let own =
            if wraps.operands == 0 { String::new() } else { format!(" after {} words of its own", wraps.operands) };
        let tier = if wraps.dangerous { "; at least dangerous" } else { "" };
        format!("runs the command in its words{own}{tier}")
    }));
    runs.extend(program.starts.iter().map(|starts| match told_list(starts.subcommands) {
        subcommands if subcommands.is_empty() => "starts the command after its options".to_owned(),
        subcommands => format!("`{subcommands}` starts the command after it"),
    }));
    runs.extend(program.may_start.iter().map(|subcommand| match *subcommand {
        "" => "its words are searched for commands".to_owned(),
        subcommand => format!("the words of `{subcommand}` are searched for commands"),
    }));
    runs
}

fn needs(program: &Program) -> Vec<String> {
    let network = program.network.iter().map(|uses| match uses {
        Uses::All => "the network".to_owned(),
        Uses::AllBut(list) => format!("the network, except for {}", told_list(*list)),
        Uses::Sub(list) | Uses::Begun(list) => format!("the network for {}", told_list(*list)),
        Uses::SubWith(list, options) => format!("the network for {} with {options}", told_list(*list)),
        Uses::Bare => "the network without a subcommand".to_owned(),
        Uses::With(options) => format!("the network with one of {options}"),
        Uses::Told(options) => format!("the network if one of {options} names no path"),
        Uses::Remote => "the network for a path on another machine".to_owned(),
        Uses::Database => "the network for a database on another machine".to_owned(),
    });
    let files = program.files.and_then(|files| files.role).map(|role| match role {
        Role::Reads => "reads the files of its operands",
        Role::Searches => "reads the files of its operands after a pattern",
        Role::Lists => "reads the names of the files below its operands",
        Role::Compares => "reads the files of its operands, or all below them",
        Role::Writes => "writes the files of its operands",
        Role::Makes => "makes directories at its operands",
        Role::Changes => "writes the files of its operands after the first",
        Role::Copies => "reads the files of its operands and writes the last",
        Role::Moves => "removes the files of its operands and writes the last",
    });
    let online = program.only_online.then(|| "the network, except for forms that stay on this machine".to_owned());
    let hosts = program.hosts.map(|_| "the hosts that its operands name".to_owned());
    online.into_iter().chain(network).chain(hosts).chain(files.map(str::to_owned)).collect()
}

fn obeys(program: &Program) -> Vec<&'static str> {
    match program.obeys {
        None => Vec::new(),
        Some(Obeyed::Repository | Obeyed::Checkout) => vec!["the repository"],
        Some(Obeyed::Files(files)) => files.to_vec(),
    }
}

fn secrets(program: &Program) -> Vec<String> {
    let uses = program.secrets.iter().map(|use_| format!("`{use_}` prints what is usually secret"));
    let words = program.environment.iter().map(|word| format!("`{word}` reads the environment"));
    let option = program.secret_option.map(|option| format!("`-{}` takes a secret", char::from(option.letter)));
    uses.chain(words).chain(option).collect()
}

fn notes(program: &Program) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(program.says.then(|| "answers `--version` and `--help`".to_owned()));
    notes.extend(program.loads_first.then(|| "runs code of its directory before it reads its options".to_owned()));
    notes.extend(program.only_says.then(|| "its words are texts and not paths".to_owned()));
    notes.extend(program.opens_nothing.then(|| "shows no content of the files that its operands name".to_owned()));
    notes.extend(program.changes.then(|| "changes data, and its operands are never commands".to_owned()));
    notes.extend((!program.help.is_empty()).then(|| format!("explains with `--help`: {}", program.help)));
    let keeps = told_list(program.keeps);
    notes.extend((!keeps.is_empty()).then(|| format!("stores an address without contacting it: {keeps}")));
    notes
}

impl fmt::Display for ProgramFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} ({})", self.names.join(", "), self.place)?;
        for (title, forms) in [("reads", &self.reads), ("destroys", &self.destroys)] {
            for form in forms {
                writeln!(
                    f,
                    "\n{title}: {}",
                    if form.subcommands.is_empty() { "".into() } else { form.subcommands.join(", ") }
                )?;
                form.write(f)?;
            }
        }
        let lists = [("runs", &self.runs), ("needs", &self.needs), ("secrets", &self.secrets), ("notes", &self.notes)];
        let mut begun = false;
        for (title, texts) in lists {
            for text in texts {
                if !std::mem::replace(&mut begun, true) {
                    writeln!(f)?;
                }
                writeln!(f, "{title}: {text}")?;
            }
        }
        if !self.obeys.is_empty() {
            writeln!(f, "obeys: {}", self.obeys.join(", "))?;
        }
        self.rollback.map_or(Ok(()), |advice| writeln!(f, "rollback: {advice}"))
    }
}

impl ProgramForm {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.flags.is_empty() {
            writeln!(f, "  options: {}", self.flags.join(" "))?;
        }
        for condition in &self.conditions {
            writeln!(f, "  {condition}")?;
        }
        for (mark, examples) in [("yes", &self.matches), ("no ", &self.not_matches)] {
            for example in examples {
                writeln!(f, "  {mark}: {}", Escaped(example))?;
            }
        }
        Ok(())
    }
}
