//! The words of the files in `programs/`.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use crate::operand_kind::OperandKind;

/// A file of records.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    /// Named lists of options. `"@name"` in a list stands for them.
    #[serde(default)]
    pub(crate) options: BTreeMap<String, Words>,
    /// Rows that several records use.
    #[serde(default)]
    pub(crate) shared: Vec<Spanned<Shared>>,
    #[serde(default)]
    pub(crate) program: Vec<Spanned<Record>>,
}

/// A row that several records use by its name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Shared {
    pub(crate) name: String,
    pub(crate) reads: Option<Reads>,
    pub(crate) destroys: Option<Destroys>,
}

/// Words in one text or in several texts.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(untagged)]
pub(crate) enum Words {
    One(String),
    Several(Vec<String>),
}

impl Words {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        let texts = match self {
            Words::One(text) => std::slice::from_ref(text),
            Words::Several(texts) => texts,
        };
        texts.iter().flat_map(|text| text.split_whitespace())
    }
}

/// All that is known about a program, or about several programs that behave alike.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Record {
    pub(crate) names: Vec<String>,
    /// Facts about some of the names only.
    #[serde(default)]
    pub(crate) some: Vec<Record>,
    /// The default of its rows.
    pub(crate) globals: Option<Words>,
    /// The default of its rows.
    pub(crate) reach: Option<Reach>,
    /// The default of its rows.
    #[serde(default)]
    pub(crate) shows_files: bool,
    #[serde(default)]
    pub(crate) only_online: bool,
    #[serde(default)]
    pub(crate) reads: Vec<Spanned<Reads>>,
    #[serde(default)]
    pub(crate) destroys: Vec<Spanned<Destroys>>,
    /// Shared rows that stand behind its own.
    #[serde(default)]
    pub(crate) answers: Vec<String>,
    /// Options that change neither what the program runs nor where it writes, in forms that do not only read.
    #[serde(default)]
    pub(crate) plain: Vec<Plain>,
    /// Words that are names and no paths, by forms. See `src/needs/labels.rs`.
    #[serde(default)]
    pub(crate) labels: Vec<String>,
    /// Options that mean the same, separated by blanks, behind the words of the subcommand for which they do.
    #[serde(default)]
    pub(crate) synonyms: Vec<String>,
    /// Forms behind which all words belong to other code. See `src/wildcard.rs`.
    #[serde(default)]
    pub(crate) passes: Vec<String>,
    pub(crate) rollback: Option<String>,
    pub(crate) obeys: Option<Obeys>,
    /// Options that name the directory in which the program looks for the files that it obeys.
    pub(crate) directory: Option<Words>,
    #[serde(default)]
    pub(crate) network: Vec<Network>,
    /// Subcommands that store an address and do not contact it.
    #[serde(default)]
    pub(crate) keeps: Vec<String>,
    pub(crate) hosts: Option<Hosts>,
    pub(crate) files: Option<Files>,
    /// Uses that print what is usually secret.
    #[serde(default)]
    pub(crate) secrets: Vec<String>,
    /// Words of the language of the program that read the environment.
    #[serde(default)]
    pub(crate) environment: Vec<String>,
    pub(crate) help: Option<Words>,
    pub(crate) help_groups: Option<Words>,
    #[serde(default)]
    pub(crate) says: bool,
    #[serde(default)]
    pub(crate) short_help: bool,
    #[serde(default)]
    pub(crate) loads_first: bool,
    #[serde(default)]
    pub(crate) one_dash: bool,
    #[serde(default)]
    pub(crate) option_file: bool,
    #[serde(default)]
    pub(crate) letter_bundle: bool,
    #[serde(default)]
    pub(crate) only_says: bool,
    #[serde(default)]
    pub(crate) opens_nothing: bool,
    #[serde(default)]
    pub(crate) changes: bool,
    pub(crate) wraps: Option<Wraps>,
    #[serde(default)]
    pub(crate) starts: Vec<Starts>,
    #[serde(default)]
    pub(crate) may_start: Vec<String>,
    pub(crate) secret_option: Option<SecretOption>,
    #[serde(default)]
    pub(crate) secret_words: Vec<String>,
    pub(crate) here: Option<Here>,
}

/// The uses that read the directory in which the program starts, without a word that names it.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Here {
    /// The uses without operands.
    Bare,
    Always,
}

/// A read-only form of a program.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reads {
    /// The name of a shared row that stands here.
    #[serde(rename = "use")]
    pub(crate) uses: Option<String>,
    /// The names of the record that the row is about, if not all.
    #[serde(default)]
    pub(crate) only: Vec<String>,
    #[serde(default)]
    pub(crate) subcommands: Vec<String>,
    pub(crate) globals: Option<Words>,
    pub(crate) flags: Option<Words>,
    pub(crate) operands: Option<Operands>,
    pub(crate) operands_with: Option<Words>,
    #[serde(default)]
    pub(crate) inert: bool,
    #[serde(default)]
    pub(crate) stop_at_operand: bool,
    #[serde(default)]
    pub(crate) any_words: bool,
    pub(crate) words: Option<String>,
    pub(crate) code: Option<String>,
    #[serde(default)]
    pub(crate) requires: Vec<String>,
    pub(crate) refuses: Option<Words>,
    pub(crate) options: Option<Count>,
    #[serde(default)]
    pub(crate) operand_is: Vec<String>,
    #[serde(default)]
    pub(crate) operand_not: Vec<String>,
    #[serde(default)]
    pub(crate) first_operand: Vec<String>,
    #[serde(default)]
    pub(crate) last_operand: Vec<String>,
    /// The kind of every operand.
    pub(crate) operands_are: Option<OperandsAre>,
    #[serde(default)]
    pub(crate) value_not: Vec<String>,
    pub(crate) least_operands: Option<usize>,
    pub(crate) most_operands: Option<usize>,
    #[serde(default)]
    pub(crate) written_out: bool,
    #[serde(default)]
    pub(crate) known: bool,
    pub(crate) otherwise: Option<String>,
    pub(crate) reach: Option<Reach>,
    pub(crate) network: Option<Online>,
    #[serde(default)]
    pub(crate) only_at_start: bool,
    #[serde(default)]
    pub(crate) lenient: bool,
    pub(crate) shows_files: Option<bool>,
    pub(crate) here: Option<Here>,
    #[serde(default, rename = "match")]
    pub(crate) matches: Vec<String>,
    #[serde(default, rename = "not_match")]
    pub(crate) not_matches: Vec<String>,
}

/// True for any number of operands, false for none, or the largest number.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(untagged)]
pub(crate) enum Operands {
    Any(bool),
    AtMost(usize),
}

/// The number of options that must be given.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Count {
    None,
    One,
    Some,
}

/// The kind of every operand of a read-only form.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OperandsAre {
    Numbers,
    VariableNames,
    FreeTargets,
    PackageNames,
}

/// The destination of the words.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reach {
    Here,
    Addresses,
    Web,
    Service,
    Elsewhere,
}

/// The uses of a read-only form that need the network.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(untagged)]
pub(crate) enum Online {
    Word(OnlineWord),
    Uses(OnlineUses),
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OnlineWord {
    Never,
    Always,
    Addresses,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct OnlineUses {
    #[serde(default, rename = "for")]
    pub(crate) subcommands: Vec<String>,
    pub(crate) with: Option<Words>,
    #[serde(default)]
    pub(crate) except: Vec<String>,
    pub(crate) unless: Option<Words>,
    pub(crate) code: Option<String>,
}

/// A destructive form of a program.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Destroys {
    #[serde(rename = "use")]
    pub(crate) uses: Option<String>,
    #[serde(default)]
    pub(crate) only: Vec<String>,
    #[serde(default)]
    pub(crate) subcommands: Vec<String>,
    /// One of these options is given.
    pub(crate) with: Option<Words>,
    /// None of these options is given.
    pub(crate) without: Option<Words>,
    /// An operand is one of these words.
    pub(crate) operand: Option<Words>,
    /// A further operand, perhaps the same one, is one of these words.
    pub(crate) and_operand: Option<Words>,
    /// A word contains one of these texts.
    pub(crate) text: Option<Words>,
    /// A word after the first one is this word.
    pub(crate) later: Option<String>,
    /// An operand, or a word of a list with commas, is one of these words in any letter case.
    pub(crate) operand_in_any_case: Option<Words>,
    /// An operand is of this kind.
    pub(crate) operand_kind: Option<OperandKind>,
    /// A predicate on all words.
    pub(crate) code: Option<String>,
    pub(crate) why: Option<String>,
    #[serde(default, rename = "match")]
    pub(crate) matches: Vec<String>,
    #[serde(default, rename = "not_match")]
    pub(crate) not_matches: Vec<String>,
}

/// The files of its directory that a program obeys.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Obeys {
    Word(ObeysWord),
    Files(Vec<String>),
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ObeysWord {
    /// The git repository.
    Repository,
    /// The repository of any version control. Among files, `.git` stands for it.
    Checkout,
}

/// Uses that need the network, besides those of the read-only forms.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Network {
    Word(NetworkWord),
    Uses(NetworkUses),
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NetworkWord {
    Always,
    /// Without a subcommand.
    Bare,
    /// With a path on another machine.
    RemotePath,
    /// With a database on another machine.
    RemoteDatabase,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NetworkUses {
    #[serde(default)]
    pub(crate) subcommands: Vec<String>,
    #[serde(default)]
    pub(crate) abbreviated: bool,
    #[serde(default)]
    pub(crate) except: Vec<String>,
    pub(crate) with: Option<Words>,
    /// Options with a value that is not a path.
    pub(crate) with_host: Option<Words>,
}

/// The operands that are hosts.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hosts {
    pub(crate) operands: HostOperands,
    pub(crate) valued: Option<Words>,
    pub(crate) redirects: Option<Words>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum HostOperands {
    All,
    First,
    Dotted,
}

/// The use that a program makes of the files that its operands name.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Files {
    pub(crate) operands: Option<Role>,
    pub(crate) valued: Option<Words>,
    /// Options that name a file to write.
    pub(crate) writes: Option<Words>,
    /// Options that name a file to read.
    pub(crate) reads: Option<Words>,
    /// Options that name files or directories to read, in a list of `file` and `name=file`.
    pub(crate) trees: Option<Words>,
    pub(crate) selects: Option<Selects>,
}

/// The options of a search that choose files below a directory.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Selects {
    /// Options with which it reads hidden names. Without this field, it always does.
    pub(crate) hidden: Option<Words>,
    /// Options with which it reads ignored names. Without this field, it always does.
    pub(crate) ignored: Option<Words>,
    pub(crate) only: Option<Words>,
    pub(crate) without: Option<Words>,
    pub(crate) without_directories: Option<Words>,
    pub(crate) globs: Option<Words>,
    pub(crate) types: Option<Words>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Role {
    Read,
    Searched,
    Listed,
    Compared,
    Written,
    Made,
    Changed,
    Copied,
    Moved,
}

/// The words before the command of a wrapper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wraps {
    pub(crate) flags: Option<Words>,
    #[serde(default)]
    pub(crate) operands: usize,
    #[serde(default)]
    pub(crate) dangerous: bool,
}

/// A use that starts the command after it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Starts {
    #[serde(default)]
    pub(crate) subcommands: Vec<String>,
    pub(crate) flags: Option<Words>,
}

/// Options of a form that change neither what the program runs nor where it writes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plain {
    #[serde(default)]
    pub(crate) subcommands: Vec<String>,
    pub(crate) flags: Words,
}

/// A short option that takes a secret.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SecretOption {
    pub(crate) letter: char,
    #[serde(default)]
    pub(crate) apart: bool,
    pub(crate) after: Option<char>,
}
