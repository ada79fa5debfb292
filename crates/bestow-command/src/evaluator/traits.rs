//! The facts of the evaluator's lists about the name of a program. They are looked up once for each command.

use std::sync::atomic::{AtomicU16, Ordering};

use crate::{
    destroy,
    evaluator::{Use, inline_code, leading, reader, runners, shell, sql_client, started, wrappers},
    programs,
};

/// The traits of a program that follow from its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Traits(u16);

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
    /// The lists were searched.
    const KNOWN: Traits = Traits(1 << 12);

    /// Returns the traits of the program with this name. Those of the listed programs are searched once.
    pub(crate) fn of(name: &str) -> Traits {
        Traits::at(programs::place_of(name), name)
    }

    /// Returns the traits of a program that is used.
    pub(crate) fn of_use(usage: &Use<'_>) -> Traits {
        Traits::at(usage.place, usage.name)
    }

    /// Returns the traits of the program with this name, whose place among the names of programs is known.
    fn at(place: Option<usize>, name: &str) -> Traits {
        static FOUND: [AtomicU16; programs::NAMED] = [const { AtomicU16::new(0) }; programs::NAMED];
        let Some(found) = place.and_then(|place| FOUND.get(place)) else { return Traits::searched(name) };
        let before = Traits(found.load(Ordering::Relaxed));
        if before.has(Traits::KNOWN) {
            return before;
        }
        let traits = Traits::searched(name);
        found.store(traits.0, Ordering::Relaxed);
        traits
    }

    /// Returns true if the program with this name has [`Traits::MAY_DESTROY`]. No other trait of an unlisted name is
    /// searched.
    pub(super) fn may_destroy(name: &str) -> bool {
        match programs::place_of(name) {
            None => leading::may_destroy(name),
            place => Traits::at(place, name).has(Traits::MAY_DESTROY),
        }
    }

    pub(crate) fn has(self, one: Traits) -> bool {
        self.0 & one.0 != 0
    }

    /// Returns the traits of a name, which is searched in every list.
    fn searched(name: &str) -> Traits {
        let runs_code = inline_code::runs_code(name);
        let all = [
            (Traits::WRAPS, wrappers::is_evaluated(name)),
            (Traits::STARTS, started::may_run(name) || runs_code),
            (Traits::RUNS_TEXT, shell::is_evaluated(name)),
            (Traits::TAKES_CODE, inline_code::is_interpreter(name) || inline_code::is_console(name)),
            (Traits::TAKES_STATEMENTS, sql_client::is_client(name)),
            (Traits::SHELL, shell::is_shell(name)),
            (Traits::RUNS_CODE, runs_code),
            (Traits::RUNS_ITS_WORDS, leading::runs_its_words(name)),
            (Traits::HAS_RUNNER, runners::has_runner(name)),
            (Traits::READS, reader::may_run_what_it_reads(name)),
            (Traits::MAY_DESTROY, leading::may_destroy(name)),
            (Traits::DESTROYS, destroy::names_program(name)),
        ];
        Traits(all.iter().filter(|(_, holds)| *holds).fold(Traits::KNOWN.0, |bits, (one, _)| bits | one.0))
    }
}
