//! The form of a record.

use std::borrow::Cow;

use super::{
    condition::Test,
    operand_kind::OperandKind,
    subcommands::{Firsts, Subcommands},
};
use crate::{
    options::{List, Options},
    place::Place,
    values::Obeyed,
    word::Word,
};

/// All that is known about a program, or about several programs of one record.
#[derive(Debug)]
pub(crate) struct Program {
    /// The names for which all of this holds. A `*` at the end of a name stands for any text.
    pub(crate) names: &'static [&'static str],
    /// The rule of a form that only reads, about the first of these names.
    pub(crate) only_reads: &'static str,
    /// The file and line of the record.
    pub(crate) place: &'static str,
    /// The forms that only read. Empty if none is known.
    pub(crate) reads: &'static [&'static Reads],
    /// Those of these forms that may need the network.
    pub(crate) online: &'static [&'static Reads],
    /// True if a form without a subcommand shows the content of the files that its operands name.
    pub(crate) reads_operands: bool,
    /// True if a form that only reads begins with certain words.
    pub(crate) has_beginnings: bool,
    /// True if such words are the name of a subcommand, and no option.
    pub(crate) has_subcommands: bool,
    /// The forms that destroy something permanently.
    pub(crate) destroys: &'static [&'static Destroys],
    /// The first words of the subcommands of these forms.
    pub(crate) destroyers: Firsts,
    /// True if the program does nothing without the network, except for uses that a row proves to stay on this machine.
    pub(crate) only_online: bool,
    /// Advice on recovery after a destructive use.
    pub(crate) rollback: Option<&'static str>,
    /// The files of its directory that the program obeys.
    pub(crate) obeys: Option<Obeyed>,
    /// The options that name this directory, or a file in it.
    pub(crate) directory: &'static str,
    /// The uses that need the network, in addition to those that `reads` states.
    pub(crate) network: &'static [Uses],
    /// The subcommands that store an address without contacting it.
    pub(crate) keeps: Subcommands,
    /// The operands that are hosts.
    pub(crate) hosts: Option<Hosts>,
    /// The use of the files that the words name.
    pub(crate) files: Option<Files>,
    /// The words of uses that print settings or objects that usually contain secrets.
    pub(crate) secrets: &'static [&'static str],
    /// The words of the language of the program that read the environment.
    pub(crate) environment: &'static [&'static str],
    /// The subcommands that print their help after `--help`.
    pub(crate) help: &'static str,
    /// Those of these subcommands that have subcommands themselves.
    pub(crate) help_groups: &'static str,
    /// True if the program answers `--version` and `--help` without any other effect, whatever else it does.
    pub(crate) says: bool,
    /// True if `-h` means `--help`, alone and behind the subcommands of `help`.
    pub(crate) short_help: bool,
    /// True if the program runs code of its directory before it reads its options. Even its help is not safe then.
    pub(crate) loads_first: bool,
    /// True if the long options of the program have one dash.
    pub(crate) one_dash: bool,
    /// True if the program reads options from the file after `@`.
    pub(crate) option_file: bool,
    /// True if the first word may be a bundle of option letters without a dash.
    pub(crate) letter_bundle: bool,
    /// True if the words of the program are texts and not paths.
    pub(crate) only_says: bool,
    /// True if the program shows no content of the files that its operands name.
    pub(crate) opens_nothing: bool,
    /// True if the program changes data, and its operands are never commands.
    pub(crate) changes: bool,
    /// The words before the command, if the program is a wrapper.
    pub(crate) wraps: Option<Wraps>,
    /// The uses that start the command after them.
    pub(crate) starts: &'static [Starts],
    /// The subcommands whose words are searched for commands. An empty text stands for every use.
    pub(crate) may_start: &'static [&'static str],
    /// Options that change neither what the program runs nor where it writes, in forms that do not only read.
    pub(crate) plain: &'static [Plain],
    /// The words that are names and no paths, by forms.
    pub(crate) labels: &'static [&'static str],
    /// The options that mean the same, behind the words of the subcommand for which they do.
    pub(crate) synonyms: &'static [&'static str],
    /// The forms behind which all words belong to other code, which runs anyway.
    pub(crate) passes: &'static [&'static str],
    /// The short option that takes a secret.
    pub(crate) secret_option: Option<SecretOption>,
    /// The places of secrets among the words.
    pub(crate) secret_words: &'static [&'static str],
    /// The uses that read the directory in which the program starts, unless a row says so itself.
    pub(crate) here: Option<Here>,
}

/// The result of a predicate: accepted, or refused with a reason.
pub(crate) type Answer = Result<(), Cow<'static, str>>;

/// A predicate on a parsed command line.
pub(crate) type Question = fn(&Options<'_>) -> Answer;

/// A predicate on the unparsed words, for programs whose options no list can describe.
pub(crate) type WordsQuestion = fn(&[Word]) -> Answer;

/// A form of a program that only reads.
#[derive(Debug)]
pub(crate) struct Reads {
    /// The words of the subcommand.
    pub(crate) subcommands: Subcommands,
    /// Options that may precede the subcommand.
    pub(crate) globals: List<'static>,
    pub(crate) flags: List<'static>,
    pub(crate) operands: Operands,
    pub(crate) tests: &'static [Test<'static>],
    /// The reason of a refusal by one of the tests, if it differs from the usual one.
    pub(crate) otherwise: Option<&'static str>,
    pub(crate) code: Option<Question>,
    /// A test of all words that replaces the option list and the test of the operands.
    pub(crate) words: AllWords,
    /// True if no option of the program can do harm, so that a word that may expand to an option is accepted.
    pub(crate) inert: bool,
    pub(crate) stop_at_operand: bool,
    pub(crate) reach: Reach,
    pub(crate) online: Online,
    /// True if the command leaves a file in its directory. Then it is only safe in the directory in which the host
    /// starts commands.
    pub(crate) only_at_start: bool,
    /// True if the command is not safe in the strict profile.
    pub(crate) lenient: bool,
    /// The uses of this form that read the directory in which the program starts, if they differ from those of the
    /// record.
    pub(crate) here: Option<Here>,
    /// The name of the predicate in `code` or `words`. Empty if there is none.
    pub(crate) predicate: &'static str,
    /// Example commands that are safe.
    pub(crate) matches: &'static [&'static str],
    /// Example commands that look similar but are not safe.
    pub(crate) not_matches: &'static [&'static str],
    /// The file and line of the row.
    pub(crate) place: &'static str,
}

/// The uses that read the directory in which a program starts, without a word that names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Here {
    /// The uses without operands.
    Bare,
    Always,
}

/// The operands that a row accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operands {
    /// Any number of operands, which the program only reads.
    Any,
    None,
    AtMost(usize),
    /// Operands only if one of these options is given. Without it, an operand changes something.
    With(&'static str),
}

/// The treatment of words without a list of options.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AllWords {
    /// The options must be on the list.
    Listed,
    /// Every word is only text.
    Any,
    If(WordsQuestion),
}

/// The destination of the words of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
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

/// The uses that need the network, among those that a row describes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Online {
    Never,
    Always,
    /// Uses with an address among the words.
    Addresses,
    /// Uses with one of these subcommands, or one of these options.
    For {
        subcommands: Subcommands,
        options: &'static str,
    },
    /// All uses except those with one of these subcommands or options.
    AllBut {
        subcommands: Subcommands,
        options: &'static str,
    },
    /// Uses whose words satisfy this predicate.
    If(fn(&[Word]) -> bool),
}

/// A form of a program that destroys something permanently.
#[derive(Debug)]
pub(crate) struct Destroys {
    /// The words of the subcommand.
    pub(crate) subcommands: Subcommands,
    pub(crate) when: &'static [When],
    pub(crate) why: &'static str,
    /// The name of the predicate in `when`. Empty if there is none.
    pub(crate) predicate: &'static str,
    /// Example commands that are destructive.
    pub(crate) matches: &'static [&'static str],
    /// Example commands that look similar but are not destructive.
    pub(crate) not_matches: &'static [&'static str],
    /// The file and line of the row.
    pub(crate) place: &'static str,
}

/// A condition on the words after the program and its subcommand.
#[derive(Clone, Copy, Debug)]
pub(crate) enum When {
    /// At least one of these options, separated by blanks.
    Flag(&'static str),
    /// An absence of all these options, separated by blanks.
    NoFlag(&'static str),
    /// At least one operand of this kind.
    Kind(OperandKind),
    /// At least one operand that is one of these words. A `*` at the beginning and at the end stands for any text.
    Named(&'static str),
    /// At least one operand, or word of a list with commas, that is one of these words in any letter case.
    NamedInAnyCase(&'static str),
    /// At least one word, option or operand, that contains one of these texts.
    Text(&'static str),
    /// A word after the first one that equals this text.
    Later(&'static str),
    /// A predicate on all words after the program.
    Line(fn(&[Word], &Place) -> bool),
}

/// The uses of a program that need the network.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Uses {
    All,
    /// All uses except those with one of these subcommands as the first word.
    AllBut(Subcommands),
    /// The uses with one of these subcommands.
    Sub(Subcommands),
    /// The uses with one of these subcommands (first field) and one of these options (second field).
    SubWith(Subcommands, &'static str),
    /// The uses with one of these subcommands, which may be abbreviated.
    Begun(Subcommands),
    /// The uses without a subcommand.
    Bare,
    /// The uses with one of these options.
    With(&'static str),
    /// The uses with one of these options and a value that is not a path.
    Told(&'static str),
    /// The uses with a path on another machine.
    Remote,
    /// The uses with a database on another machine.
    Database,
}

/// The hosts among the words of a program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hosts {
    pub(crate) operands: HostOperands,
    /// The options that take a value.
    pub(crate) valued: List<'static>,
    /// The options that redirect the program to another host.
    pub(crate) redirects: List<'static>,
}

/// The operands that are hosts.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HostOperands {
    /// Every operand is an address.
    All,
    /// The first operand is an address.
    First,
    /// Every operand that contains a dot is an address.
    Dotted,
}

/// The files among the words of a program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Files {
    pub(crate) role: Option<Role>,
    /// The options that take a value.
    pub(crate) valued: List<'static>,
    /// The options that name a file to write.
    pub(crate) writes: List<'static>,
    /// The options that name a file to read.
    pub(crate) reads: List<'static>,
    /// The options that name files, or directories with everything below them, to read: `file`, `name=file`, or a list
    /// of these with commas.
    pub(crate) trees: List<'static>,
    /// The options that choose files below a directory.
    pub(crate) selects: Option<Selects>,
}

/// The options of a search that choose files below a directory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Selects {
    /// The options with which it reads hidden names. `None` if it always does.
    pub(crate) hidden: Option<List<'static>>,
    /// The options with which it reads ignored names. `None` if it always does.
    pub(crate) ignored: Option<List<'static>>,
    /// The options whose value is a glob of the names that it reads.
    pub(crate) only: List<'static>,
    /// The options whose value is a glob of the names that it leaves out.
    pub(crate) without: List<'static>,
    /// The options whose value is a glob of directories that it leaves out.
    pub(crate) without_directories: List<'static>,
    /// The options whose value is a glob as in an ignore file, which leaves out what it matches after a `!`.
    pub(crate) globs: List<'static>,
    /// The options whose value is the name of a file type.
    pub(crate) types: List<'static>,
}

/// The use that a program makes of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Reads all operands.
    Reads,
    /// Reads all operands except the first, which is a pattern, unless an option gives the pattern.
    Searches,
    /// Reads the names of all files below the operands.
    Lists,
    /// Reads all operands, with everything below them if an option requests it.
    Compares,
    /// Writes all operands.
    Writes,
    /// Makes a directory at each operand.
    Makes,
    /// Writes all operands except the first, which is not a path.
    Changes,
    /// Reads all operands except the last, and writes the last.
    Copies,
    /// Removes all operands except the last, and writes the last.
    Moves,
}

/// The words of a wrapper before the command that it runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wraps {
    /// Every option of the wrapper. One that is not listed makes the whole command dangerous.
    pub(crate) flags: List<'static>,
    /// The number of operands before the command.
    pub(crate) operands: usize,
    /// True if every command that runs through the wrapper is at least dangerous.
    pub(crate) dangerous: bool,
}

/// A use of a program that starts the command after it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Starts {
    /// The words of the subcommand. Empty if every use starts a command.
    pub(crate) subcommands: Subcommands,
    /// Every option. With one that is not listed, the command is not found.
    pub(crate) flags: List<'static>,
}

/// Options of a form that change neither what the program runs nor where it writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain {
    /// The words of the subcommand.
    pub(crate) subcommands: Subcommands,
    pub(crate) flags: List<'static>,
}

/// A short option of a program that takes a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecretOption {
    /// The letter of the option.
    pub letter: u8,
    /// True if the value may be the next word.
    pub apart: bool,
    /// The character between a name and the secret, if a name comes first.
    pub after: Option<u8>,
}
