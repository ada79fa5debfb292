//! The table of read-only commands: rows of programs, subcommands, options and operands, each written out.
//!
//! A command is safe if a row lists its program, its subcommand and every one of its options. The predicate of the row
//! must also accept the operands. There is no default row: a command that no row describes is not safe.

mod cloud;
mod containers;
mod coreutils;
mod files;
mod git;
mod github;
mod help;
mod network;
mod online;
mod packages;
mod projects;
mod question;
mod secrets;
mod shell;
mod system;
mod text;
mod versions;

use std::sync::LazyLock;

use foldhash::HashMap;

use super::{
    classifier::Classifier,
    destroy::occurs,
    options::{Options, Reading},
    place::{Place, Places},
    tier::Profile,
    wildcard,
    word::Word,
};
use online::Online;
pub(super) use online::{asking_network, asks_network, has_subcommands, reads_operands, stays_here};

/// The operands that a row accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operands {
    /// Any number of operands, which the program only reads.
    Any,
    None,
    AtMost(usize),
    /// Operands only if one of these options is given. Without it, an operand changes something.
    With(&'static str),
}

/// The destination of the words of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// This machine, or a service of the user that no word selects.
    Here,
    /// A word that is an address is fetched. The other words stay on this machine.
    Addresses,
    /// Operands are addresses that are fetched. Only addresses on this machine may contain variables.
    Web,
    /// A service that no word selects. Words may contain environment variables, unless the variable names suggest
    /// secrets.
    Service,
    /// A third party. Each word must be written out.
    Elsewhere,
}

/// The limit of words that are searched for a subcommand. Each row searches for its own.
const MAX_BEFORE: usize = 64;

/// A predicate on a parsed command line. A refusal has a reason.
type Question = fn(&Options<'_>) -> Result<(), String>;

/// A predicate on the unparsed words, for programs whose options no list can describe.
type RawQuestion = fn(&[Word]) -> Result<(), String>;

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spec {
    /// The program names, separated by blanks.
    programs: &'static str,
    /// The words of the subcommand. Alternatives are separated by `|`.
    subcommand: &'static str,
    /// Options that may precede the subcommand.
    globals: &'static str,
    flags: &'static str,
    operands: Operands,
    question: Option<Question>,
    /// True if no option of the program can do harm, so that a word that may expand to an option is accepted.
    inert: bool,
    stop_at_operand: bool,
    /// A predicate that replaces the option list and the operand check.
    raw: Option<RawQuestion>,
    /// The destination of its words, if it differs from that of the family.
    reach: Option<Reach>,
    /// The uses that need the network, if they differ from the default for the destination.
    online: Option<Online>,
    /// True if the command leaves a file in its directory. Then it is only safe in the directory in which the host
    /// starts commands.
    only_at_start: bool,
    /// True if the command is not safe in the strict profile.
    lenient: bool,
    pub(crate) matches: &'static [&'static str],
    pub(crate) not_matches: &'static [&'static str],
}

const fn spec(programs: &'static str, flags: &'static str) -> Spec {
    Spec {
        programs,
        subcommand: "",
        globals: "",
        flags,
        operands: Operands::Any,
        question: None,
        inert: false,
        stop_at_operand: false,
        raw: None,
        reach: None,
        online: None,
        only_at_start: false,
        lenient: false,
        matches: &[],
        not_matches: &[],
    }
}

impl Spec {
    const fn sub(mut self, subcommand: &'static str) -> Self {
        self.subcommand = subcommand;
        self
    }

    const fn globals(mut self, globals: &'static str) -> Self {
        self.globals = globals;
        self
    }

    const fn operands(mut self, operands: Operands) -> Self {
        self.operands = operands;
        self
    }

    const fn none(self) -> Self {
        self.operands(Operands::None)
    }

    const fn asking(mut self, question: Question) -> Self {
        self.question = Some(question);
        self
    }

    const fn raw(mut self, question: RawQuestion) -> Self {
        self.raw = Some(question);
        self
    }

    const fn inert(mut self) -> Self {
        self.inert = true;
        self
    }

    const fn stopping(mut self) -> Self {
        self.stop_at_operand = true;
        self
    }

    const fn reaching(mut self, reach: Reach) -> Self {
        self.reach = Some(reach);
        self
    }

    const fn here(self) -> Self {
        self.reaching(Reach::Here)
    }

    const fn elsewhere(self) -> Self {
        self.reaching(Reach::Elsewhere)
    }

    const fn addresses(self) -> Self {
        self.reaching(Reach::Addresses)
    }

    const fn only_at_start(mut self) -> Self {
        self.only_at_start = true;
        self
    }

    const fn lenient(mut self) -> Self {
        self.lenient = true;
        self
    }

    const fn examples(mut self, matches: &'static [&'static str], not_matches: &'static [&'static str]) -> Self {
        self.matches = matches;
        self.not_matches = not_matches;
        self
    }
}

/// Rows that belong together.
#[derive(Debug)]
pub(crate) struct Family {
    pub(crate) specs: &'static [Spec],
    /// The destination of the words of its rows.
    reach: Reach,
    /// True if the programs do nothing without the network, except for uses that a row proves to stay on this machine.
    only_online: bool,
    /// True if the programs show the content of the files that their operands name, except for programs known not to.
    shows_files: bool,
}

const fn local(specs: &'static [Spec]) -> Family {
    Family { specs, reach: Reach::Here, only_online: false, shows_files: false }
}

const fn of_files(specs: &'static [Spec]) -> Family {
    Family { shows_files: true, ..local(specs) }
}

const fn elsewhere(specs: &'static [Spec]) -> Family {
    Family { specs, reach: Reach::Elsewhere, only_online: false, shows_files: false }
}

const fn at_service(specs: &'static [Spec]) -> Family {
    Family { specs, reach: Reach::Service, only_online: false, shows_files: false }
}

/// Creates a family of programs that only connect to a service.
const fn of_service(specs: &'static [Spec]) -> Family {
    Family { only_online: true, ..at_service(specs) }
}

/// All rows, grouped by families.
pub(crate) const FAMILIES: &[Family] = &[
    local(coreutils::SPECS),
    of_files(files::SPECS),
    of_files(text::SPECS),
    local(shell::SPECS),
    local(git::SPECS),
    of_service(github::SPECS),
    elsewhere(network::SPECS),
    at_service(packages::SPECS),
    of_files(projects::SPECS),
    local(containers::SPECS),
    of_service(cloud::SPECS),
    local(system::SPECS),
    local(versions::SPECS),
];

/// A row and its family.
type Row = (&'static Spec, &'static Family);

static INDEX: LazyLock<HashMap<&'static str, Vec<Row>>> = LazyLock::new(|| {
    let mut index: HashMap<_, Vec<_>> = HashMap::default();
    for family in FAMILIES {
        for spec in family.specs {
            for program in spec.programs.split_ascii_whitespace() {
                index.entry(program).or_default().push((spec, family));
            }
        }
    }
    index
});

/// The result of the search for a proof.
#[derive(Debug)]
pub(crate) enum Proof {
    /// A proof by this rule.
    Reads(String),
    /// A known program, but an unproven use of it.
    Unproven(String),
    /// A program that is in no list or table.
    Unknown,
}

/// Directories with trusted programs.
const TRUSTED: &[&str] = &["/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/sbin", "/usr/sbin"];

/// Returns the name that is looked up for a program. The program must be a bare name or lie in a system directory.
pub(crate) fn trusted_name(program: &str) -> Option<&str> {
    match program.rsplit_once('/') {
        None => Some(program),
        Some((directory, name)) => TRUSTED.contains(&directory).then_some(name),
    }
}

/// Returns true if a row or the list of versions contains the program.
pub(crate) fn knows(name: &str) -> bool {
    INDEX.contains_key(name) || versions::is_known(name)
}

/// Returns the options of rows without a predicate, for a program with the words `before` after it. None of these
/// options can do harm, with any value and in any combination.
pub(crate) fn harmless_flags<'n>(name: &str, before: &'n [&'n str]) -> impl Iterator<Item = &'static str> + 'n {
    let rows = INDEX.get(name).map(Vec::as_slice).unwrap_or_default();
    let asks_nothing = |spec: &Spec| spec.question.is_none() && spec.raw.is_none() && !spec.only_at_start;
    let rows = rows.iter().map(|(spec, _)| *spec).filter(move |spec| asks_nothing(spec) && !spec.lenient);
    let follows = |spec: &&Spec| spec.subcommand.split('|').any(|words| wildcard::before_has(before, words));
    rows.filter(follows).map(|spec| spec.flags)
}

/// Searches for a proof that `args` are read-only.
pub(crate) fn prove(args: &[Word], classifier: &Classifier, places: &Places) -> Proof {
    let Some((program, rest)) = args.split_first() else { return Proof::Unknown };
    let Some(name) = trusted_name(program.text()) else { return Proof::Unknown };
    if let Some(rule) = classifier.additions().proves(name, rest) {
        return Proof::Reads(rule);
    }
    if let Some(rule) = answers(name, program, rest) {
        return Proof::Reads(rule);
    }
    let Some(specs) = INDEX.get(name) else {
        return if versions::is_known(name) { Proof::Unproven(not_only_reading(name)) } else { Proof::Unknown };
    };
    if classifier.profile() == Profile::Strict && secrets::prints(name, rest) {
        return Proof::Unproven(format!("`{name}`: prints what is usually secret"));
    }
    let mut doubt = None;
    for (spec, family) in specs {
        match spec.try_prove(rest, family, classifier.profile(), places) {
            Ok(()) if program.is_written() => return Proof::Reads(format!("`{name}` only reads in this form")),
            Ok(()) => doubt = Some("the name of the program is not written out".into()),
            Err(None) => {}
            Err(Some(why)) => doubt = Some(format!("`{name}`: {why}")),
        }
    }
    Proof::Unproven(doubt.unwrap_or_else(|| not_only_reading(name)))
}

/// Returns the rule that a program only prints its version or its help.
fn answers(name: &str, program: &Word, rest: &[Word]) -> Option<String> {
    let is_asked = |question: &Word| {
        let has_rows = INDEX.contains_key(name) && matches!(question.text(), "--help" | "--version");
        question.is_written() && (has_rows || versions::answers(name, question.text()))
    };
    match rest {
        _ if !program.is_written() => None,
        [question] if is_asked(question) => Some(format!("`{name}` only says what it is")),
        _ if INDEX.contains_key(name) && help::asks(name, rest) => Some(format!("`{name}` only explains a subcommand")),
        _ => None,
    }
}

const NOT_WRITTEN: &str = "what is sent over the network is not written out";

fn not_only_reading(name: &str) -> String {
    format!("`{name}` may change, delete or run something in this form")
}

impl Spec {
    /// Checks that the row proves these words. An error without a reason means that the row describes another
    /// subcommand.
    fn try_prove(
        &self,
        rest: &[Word],
        family: &Family,
        profile: Profile,
        places: &Places,
    ) -> Result<(), Option<String>> {
        let words = rest;
        let rest = self.after_subcommand(words).ok_or(None)?;
        if self.lenient && profile == Profile::Strict {
            return Err(Some("asked about by the strict profile".into()));
        }
        if profile == Profile::Strict && rest.iter().any(question::reads_secret) {
            return Err(Some("reads something that is usually secret".into()));
        }
        let reach = self.reach.unwrap_or(family.reach);
        if !question::stays_or_is_written(words, reach) {
            return Err(Some(NOT_WRITTEN.into()));
        }
        if self.only_at_start && !places.iter().all(|place| *place == Place::Start) {
            return Err(Some("it saves a file in another directory".into()));
        }
        if let Some(question) = self.raw {
            return question(rest).map_err(Some);
        }
        let reading = Reading { flags: self.flags, stop_at_operand: self.stop_at_operand, inert: self.inert };
        let options = Options::read(rest, reading).map_err(|misfit| Some(misfit.describe()))?;
        self.check_operands(&options).map_err(Some)?;
        if reach == Reach::Web && !question::fetches_what_is_written(&options) {
            return Err(Some(NOT_WRITTEN.into()));
        }
        self.question.map_or(Ok(()), |question| question(&options)).map_err(Some)
    }

    fn check_operands(&self, options: &Options<'_>) -> Result<(), String> {
        let count = options.operands.len();
        let splits = options.operands.iter().any(|operand| operand.may_split() || operand.is_pattern());
        let fits = match self.operands {
            Operands::Any => true,
            Operands::None => count == 0,
            Operands::AtMost(most) => count <= most && !splits,
            Operands::With(flags) => count == 0 || options.has(flags),
        };
        if fits { Ok(()) } else { Err("it may change or run its operands in this form".into()) }
    }

    /// Returns the words after the subcommand, if the words contain the subcommand of this row.
    fn after_subcommand<'a>(&self, rest: &'a [Word]) -> Option<&'a [Word]> {
        if self.subcommand.is_empty() {
            return Some(rest);
        }
        // Most rows of a program describe another subcommand.
        let may_stand = |first: &Word| first.text().starts_with('-') || occurs(first.text(), self.subcommand);
        let mut subcommands = rest.first().filter(|first| may_stand(first)).map(|_| self.subcommand.split('|'))?;
        subcommands.find_map(|subcommand| self.after_words(rest, subcommand))
    }

    /// Returns the words after `subcommand`. Global options may precede each of its words.
    fn after_words<'a>(&self, rest: &'a [Word], subcommand: &str) -> Option<&'a [Word]> {
        let mut words = rest;
        for wanted in subcommand.split(' ') {
            if !self.globals.is_empty() && words.first().is_some_and(|word| word.text().starts_with('-')) {
                let reading = Reading { flags: self.globals, stop_at_operand: true, inert: true };
                let options = Options::read(words.get(..MAX_BEFORE).unwrap_or(words), reading).ok()?;
                if !options.given.iter().all(question::is_harmless_global) {
                    return None;
                }
                words = words.get(options.first_operand?..)?;
            }
            let (word, behind) = words.split_first()?;
            if !word.is_written() || word.text() != wanted {
                return None;
            }
            words = behind;
        }
        Some(words)
    }
}
