//! The search for the traits of a program in the lists of the evaluator.

use std::{
    cell::OnceCell,
    sync::atomic::{AtomicU32, Ordering},
};

use crate::{
    destroy,
    evaluator::{Traits, Use, inline_code, leading, reader, runners, shell, sql_client, started, wrappers},
    invocation::is_plain,
    needs::{network, roles},
    programs,
    values::base_name,
    word::{Signs, Word},
};

impl Traits {
    /// Returns the traits of the program with this name. Those of the listed programs are searched once.
    pub(crate) fn of(name: &str) -> Traits {
        Traits::at(programs::place_of(name), name)
    }

    /// Returns the traits of the program with this name, whose place among the names of programs is known.
    fn at(place: Option<usize>, name: &str) -> Traits {
        static FOUND: [AtomicU32; programs::NAMED] = [const { AtomicU32::new(0) }; programs::NAMED];
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

    /// Returns the traits of a name, which is searched in every list.
    fn searched(name: &str) -> Traits {
        let is_interpreter = inline_code::is_interpreter(name);
        let runs_code = is_interpreter && !inline_code::takes_code_as_words(name);
        let all = [
            (Traits::WRAPS, wrappers::is_evaluated(name)),
            (Traits::STARTS, started::may_run(name) || runs_code),
            (Traits::RUNS_TEXT, shell::is_evaluated(name)),
            (Traits::TAKES_CODE, is_interpreter || inline_code::is_console(name)),
            (Traits::TAKES_STATEMENTS, sql_client::is_client(name)),
            (Traits::SHELL, shell::is_shell(name)),
            (Traits::RUNS_CODE, runs_code),
            (Traits::RUNS_ITS_WORDS, leading::runs_its_words(name)),
            (Traits::HAS_RUNNER, runners::has_runner(name)),
            (Traits::READS, reader::may_run_what_it_reads(name)),
            (Traits::MAY_DESTROY, leading::may_destroy(name)),
            (Traits::DESTROYS, destroy::names_program(name)),
            (Traits::NETWORK, network::may_need(name)),
            (Traits::ROLE, roles::knows(name, programs::known(name))),
        ];
        Traits(all.iter().filter(|(_, holds)| *holds).fold(Traits::KNOWN.0, |bits, (one, _)| bits | one.0))
    }
}

impl<'a> Use<'a> {
    /// Returns the use of a program that has these words.
    pub(super) fn of(args: &'a [Word]) -> Self {
        let (name, rest) = match args.split_first() {
            Some((program, rest)) => (base_name(program.text()), rest),
            None => ("", args),
        };
        let place = programs::place_of(name);
        let (known, traits) = (programs::at(place), Traits::at(place, name));
        let (mut signs, mut are_plain) = (Signs::default(), true);
        for word in args {
            signs = signs.or(word.signs());
            are_plain &= is_plain(word);
        }
        let is_plain = are_plain && !signs.has(Signs::PRIVATE);
        let (proof, form, ruled) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        Use { args, name, rest, known, traits, signs, is_plain, proof, form, ruled }
    }
}
