//! The facts that follow from the name of a program.

/// The traits of a program that follow from its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Traits(pub(super) u32);

impl Traits {
    /// A command that its words contain, which is evaluated as an invocation of that command.
    pub(crate) const WRAPS: Traits = Traits(1);
    /// A shell.
    pub(crate) const SHELL: Traits = Traits(1 << 1);
    /// An interpreter of a language that does more than edit texts.
    pub(crate) const RUNS_CODE: Traits = Traits(1 << 2);
    /// A command that its words contain, in every use.
    pub(crate) const RUNS_ITS_WORDS: Traits = Traits(1 << 3);
    /// A command that its words contain, in some use.
    pub(crate) const HAS_RUNNER: Traits = Traits(1 << 4);
    /// Its standard input, which it runs in some use.
    pub(crate) const READS: Traits = Traits(1 << 5);
    /// Destruction in some use, by itself or by what it runs.
    pub(crate) const MAY_DESTROY: Traits = Traits(1 << 6);
    /// Rows that say when it is destructive by itself.
    pub(crate) const DESTROYS: Traits = Traits(1 << 7);
    /// A command behind its own words in some use, or another name of a command.
    pub(crate) const STARTS: Traits = Traits(1 << 8);
    /// A text that a shell reads.
    pub(crate) const RUNS_TEXT: Traits = Traits(1 << 9);
    /// Code of an interpreter or a console.
    pub(crate) const TAKES_CODE: Traits = Traits(1 << 10);
    /// Statements of a database client.
    pub(crate) const TAKES_STATEMENTS: Traits = Traits(1 << 11);
    /// The network, in some use.
    pub(crate) const NETWORK: Traits = Traits(1 << 12);
    /// A known use of the files that its words name.
    pub(crate) const ROLE: Traits = Traits(1 << 13);
    /// The lists were searched.
    pub(super) const KNOWN: Traits = Traits(1 << 14);
    /// An evaluation of its own. These are all traits except for those that no evaluation asks for, so that a new trait
    /// leads to one unless it is listed here.
    pub(super) const EVALUATED: Traits = Traits(
        !(Traits::SHELL.0
            | Traits::RUNS_CODE.0
            | Traits::RUNS_ITS_WORDS.0
            | Traits::HAS_RUNNER.0
            | Traits::READS.0
            | Traits::MAY_DESTROY.0
            | Traits::DESTROYS.0
            | Traits::NETWORK.0
            | Traits::ROLE.0
            | Traits::KNOWN.0),
    );

    pub(crate) fn has(self, one: Traits) -> bool {
        self.0 & one.0 != 0
    }
}
