//! The resources that a command line uses, as far as its words name them: files that programs read and write, hosts,
//! the network.
//!
//! The full set of a program's uses is unknown. A certain use requires a permission. A word that may be a path is only
//! compared with rules that deny and rules that prompt.

mod directories;
mod labels;
pub(super) mod network;
mod operand;
mod own_words;
pub(super) mod roles;

pub(crate) use labels::end_of_form;
pub(crate) use labels::of as labels_of;
pub use network::{bare_hosts, hosts_in};
pub(crate) use operand::around_pattern;
pub(crate) use own_words::{ENV_FLAGS, XARGS_FLAGS, own_words, wraps};
pub(crate) use roles::names_what_it_reads;
use smol_str::{SmolStr, format_smolstr};

use crate::needs::operand::{each_word, exact, path, word};
use crate::{
    evaluator::{Evaluation, Traits, Use},
    few::Few,
    interpreter::{Interpreter, is_free},
    needs::operand::{Operand, is_pipe, is_unknown_path},
    place::Place,
    safe,
    values::{Access, Below, Named},
    word::{Gaps, Signs, Word},
};

impl Evaluation<'_, '_> {
    /// Records the resources that a program uses.
    pub(super) fn name_uses(&mut self, usage: &Use<'_>) {
        let (name, known, rest, traits) = (usage.name, usage.known, usage.rest, usage.traits);
        let Some(program) = usage.args.first().filter(|_| !self.shell.uses.is_full()) else { return };
        let guessing = self.shell.invocations.is_speculating();
        self.name_network(usage);
        let is_exact = usage.is_plain || program.is_exact();
        let is_known = is_exact && traits.has(Traits::ROLE);
        // A wrapper is evaluated as the program that it runs. A program that only prints its words opens no file.
        let wraps = traits.has(Traits::WRAPS) && program.is_exact() && wraps(name, known);
        let asks = (!is_known || roles::runs_a_script(name)) && !rest.is_empty() && !known.only_says && !wraps;
        let has_proof = (asks || is_known || roles::may_read_here(known)) && self.is_proven(usage);
        let reads_only = asks && has_proof;
        let form = usage.form.get().copied().filter(|_| has_proof);
        let operands = if is_exact { roles::of(name, known, rest, reads_only, form) } else { Few::default() };
        let has_path = program.has(Signs::SLASH);
        let labels = if is_exact { labels::of(known, rest) } else { Few::default() };
        let own = if wraps { own_words(name, known, rest) } else { rest.len() };
        let words = || {
            let others = rest.iter().enumerate().take(own).filter(|(at, _)| !labels.as_slice().contains(at));
            others.map(|(_, word)| word)
        };
        if has_path {
            self.name_programs(std::iter::once(program));
        }
        if traits.has(Traits::SHELL) || traits.has(Traits::RUNS_CODE) || matches!(name, "." | "source") {
            self.name_programs(words());
        }
        if !guessing && self.reads_what_is_unknown(usage) {
            self.shell.uses.reads_unknown();
        }
        self.note_passed(usage, words());
        if !guessing && roles::is_told_by_input(name, rest) {
            return self.shell.uses.lose();
        }
        let Some(moved) = directories::told(rest) else { return self.shell.uses.lose() };
        let certain = if is_exact { roles::certain_directory(name, rest) } else { None };
        let listed: Vec<_> = operands.iter().filter(|operand| operand.below == Below::Names).cloned().collect();
        let mut goes_on = self.name_operands(operands, certain.as_ref(), &moved, guessing);
        let mut add = |operand| goes_on = goes_on && self.name_there(operand, &moved, guessing);
        if form.is_some_and(|form| roles::reads_here(known, form, rest)) {
            add(Operand { certain: false, ..Operand::certain(Access::Read, ".", Below::Names) });
        }
        // A program of the system is run by its path as by its name. Another program may be a script, which is read.
        let is_of_system = || safe::trusted_name(program.text()).is_some();
        if has_path
            && !is_of_system()
            && let Some(operand) = word(program, Access::Read)
        {
            add(operand);
        }
        words().for_each(|arg| each_read(arg, known.only_says, &listed, &mut add));
        if asks && !is_known && !reads_only && !roles::names_all_writes(name, rest) {
            words().for_each(|arg| each_word(arg, Access::Write, &mut add));
        }
    }

    /// Notes if a program takes unknown words, which another part may pass to it, and which words it prints.
    fn note_passed<'w>(&mut self, usage: &Use<'_>, mut words: impl Iterator<Item = &'w Word>) {
        let known = usage.known;
        if known.only_says {
            let expanded = usage.rest.iter().filter(|arg| arg.is_expanded());
            return expanded.filter_map(exact).for_each(|text| self.shell.uses.print(text));
        }
        let takes = !roles::opens_nothing(known) && !matches!(usage.name, "test" | "[");
        if takes && !self.shell.invocations.is_speculating() && words.any(is_unknown_path) {
            self.shell.uses.take_unknown();
        }
    }

    /// Records that a program may make files in the directory that a variable names for temporary ones.
    pub(super) fn name_temporary(&mut self, variable: &str, value: &Word) {
        if !matches!(variable, "TMPDIR" | "TMP" | "TEMP" | "TEMPDIR") || self.shell.uses.is_full() {
            return;
        }
        if let Some(Operand { text, .. }) = path(value, Access::Write, Below::Nothing) {
            let made = Operand::certain(Access::Write, format_smolstr!("{text}/tmp"), Below::Nothing);
            self.name_path(Operand { certain: false, ..made });
        }
    }

    /// Records the words of a command that is not followed, each as a path that it may read.
    pub(super) fn name_words(&mut self, args: &[Word]) {
        for arg in args {
            each_word(arg, Access::Read, |operand| self.name_path(operand));
        }
    }

    /// Records the operands of a program, in the directory to which its options certainly move it, or else in all of
    /// those to which they may. Returns false if no further operand is recorded.
    fn name_operands(
        &mut self,
        operands: Few<Operand>,
        certain: Option<&SmolStr>,
        moved: &[SmolStr],
        guessing: bool,
    ) -> bool {
        let mut goes_on = true;
        for operand in operands {
            let there = certain.and_then(|directory| directories::below(directory, &operand));
            let moved = if certain.is_some() { &[] } else { moved };
            goes_on = goes_on && self.name_there(there.unwrap_or(operand), moved, guessing);
        }
        goes_on
    }

    /// Records an operand, also in each of the directories to which options have moved the program. Returns false if no
    /// further operand is recorded.
    fn name_there(&mut self, mut operand: Operand, moved: &[SmolStr], guessing: bool) -> bool {
        if self.shell.uses.is_full() || !self.shell.can_name(moved.len()) {
            return false;
        }
        for elsewhere in moved {
            if self.shell.uses.has_enough_words() {
                break;
            }
            let there = directories::below(elsewhere, &operand);
            there.into_iter().for_each(|operand| self.name_path(Operand { certain: false, ..operand }));
        }
        operand.certain &= !guessing;
        self.name_path(operand);
        true
    }

    /// Records the words that may be program files which are run.
    fn name_programs<'w>(&mut self, words: impl Iterator<Item = &'w Word>) {
        for operand in words.filter(|arg| !arg.text().starts_with('-')).filter_map(|arg| word(arg, Access::Read)) {
            if self.shell.uses.is_full() || is_no_file(&operand.text) {
                return;
            }
            let pattern = operand.pattern;
            for text in self.in_places(&operand.text) {
                self.shell.uses.push(Named::Program { text, pattern: pattern.clone() });
            }
        }
    }

    /// Returns the path in each of the directories in which the line may run.
    fn in_places(&mut self, text: &SmolStr) -> Vec<SmolStr> {
        if text.is_rooted() {
            return vec![written(text.clone())];
        }
        if !self.shell.can_name(self.shell.scope.weight_of_places()) {
            return Vec::new();
        }
        let below = |base: &str| if base.is_empty() { text.clone() } else { format_smolstr!("{base}/{text}") };
        let at = |place: &Place| match place {
            Place::Start => Some(text.clone()),
            Place::At(base) => Some(below(base)),
            Place::Somewhere => None,
        };
        let places = self.shell.scope.places.iter().filter_map(at);
        places.chain(self.shell.scope.left_behind().map(|base| below(&base))).map(written).collect()
    }

    /// Returns true if a program of that name reads a file whose path its words do not show.
    fn reads_what_is_unknown(&self, usage: &Use<'_>) -> bool {
        let (name, known, rest) = (usage.name, usage.known, usage.rest);
        if roles::shows_unlisted(name, rest) || !roles::opens_nothing(known) && roles::reads_a_list_of_names(name, rest)
        {
            return true;
        }
        // Every word is known, and so is the directory.
        if usage.is_plain && self.shell.scope.is_at_start() {
            return false;
        }
        if roles::hide_a_file(name, known, rest) || roles::reads_unknown(name, rest, is_unknown_path) {
            return true;
        }
        let by_role = roles::reads_operands(known);
        if !by_role && (!known.reads_operands || roles::opens_nothing(known)) {
            return false;
        }
        // A role tells which words are file names. These words are checked one by one.
        let is_relative = |arg: &Word| !arg.text().is_rooted() && !arg.text().starts_with('-');
        let is_lost = !by_role && self.shell.scope.places.iter().any(is_unknown_place);
        rest.iter().any(|arg| is_unknown_path(arg) || is_lost && is_relative(arg))
    }

    /// Records that a redirection reads or writes a file.
    pub(super) fn name_redirect(&mut self, access: Access, target: &Word) {
        if self.shell.uses.is_full() {
            return;
        }
        let certain = !self.shell.invocations.is_speculating();
        if let Some(host) = network::connection(target.text()) {
            return self.reach(host, certain);
        }
        match path(target, access, Below::Nothing) {
            Some(operand) => self.name_path(Operand { certain, ..operand }),
            None if certain && access == Access::Read && !is_pipe(target) => self.shell.uses.reads_unknown(),
            None => {}
        }
    }

    fn name_path(&mut self, operand: Operand) {
        let text = operand.text.as_str();
        if let Some(host) = network::connection(text) {
            return self.reach(host, operand.certain);
        }
        if is_no_file(text) {
            return;
        }
        let is_relative = !text.is_rooted();
        let is_moved = is_relative && !self.shell.scope.is_at_start();
        let cost = if is_moved { self.shell.scope.weight_of_places() } else { 0 };
        if is_relative && !self.shell.can_name(cost) {
            return;
        }
        let reads = operand.access == Access::Read
            && !matches!(operand.below, Below::Names | Below::Versions)
            && (operand.certain || operand.below.is_everything());
        // In an unknown directory, a relative path is an unknown file.
        let is_unknown = || is_moved && self.shell.scope.places.iter().any(is_unknown_place);
        if reads && (is_of_another(text) || is_unknown()) && !self.shell.invocations.is_speculating() {
            self.shell.uses.reads_unknown();
        }
        if is_moved {
            return self.name_moved_path(&operand);
        }
        let Operand { access, text, pattern, below, selection, certain } = operand;
        self.shell.uses.push(Named::Path { access, text: written(text), pattern, below, selection, certain });
    }

    /// Records a relative path in each of the directories in which the line may run.
    fn name_moved_path(&mut self, operand: &Operand) {
        let Operand { access, text, pattern, below, selection, certain } = operand;
        let (access, below) = (*access, *below);
        let Interpreter { scope, uses, .. } = &mut *self.shell;
        let named = |text, certain| {
            let (pattern, selection) = (pattern.clone(), selection.clone());
            Named::Path { access, text: written(text), pattern, below, selection, certain }
        };
        let joined = |base: &str| if base.is_empty() { text.clone() } else { format_smolstr!("{base}/{text}") };
        for place in scope.places.iter() {
            let text = match place {
                Place::Start => text.clone(),
                Place::At(base) => format_smolstr!("{base}/{text}"),
                Place::Somewhere => continue,
            };
            uses.push(named(text, *certain));
        }
        // An earlier `cd` may have failed. Then the shell is still in the earlier directory.
        for base in scope.left_behind() {
            uses.push(named(joined(&base), false));
        }
    }
}

/// Calls `add` with what a word may read. Of a file in `listed`, the program reads the entry of its directory, and no
/// content. A program that only prints its words opens no file, but the shell reads the names of a directory for a
/// pattern.
fn each_read(arg: &Word, only_says: bool, listed: &[Operand], mut add: impl FnMut(Operand)) {
    if only_says {
        let named = if arg.is_pattern() { word(arg, Access::Read) } else { None };
        named.into_iter().for_each(|operand| add(Operand { pattern: None, below: Below::Names, ..operand }));
        return;
    }
    each_word(arg, Access::Read, |operand| {
        if !listed.iter().any(|one| one.text == operand.text && one.pattern == operand.pattern) {
            add(operand);
        }
    });
}

/// Returns true for an unknown directory. A directory in the home of another user is unknown too.
fn is_unknown_place(place: &Place) -> bool {
    match place {
        Place::Start => false,
        Place::At(base) => is_of_another(base),
        Place::Somewhere => true,
    }
}

/// Returns true for a path in the home of another user. Such a home need not be next to the user's own home.
fn is_of_another(text: &str) -> bool {
    text.after_home().is_some_and(|rest| rest.starts_with("/../"))
}

/// Returns the text with `~` for the home directory, and with `./` before a name that only looks like a home.
fn written(text: SmolStr) -> SmolStr {
    match text.after_home() {
        Some(rest) => format_smolstr!("~{rest}"),
        None if text.starts_with('~') => format_smolstr!("./{text}"),
        None => text,
    }
}

/// Returns true for devices that every program may use, and for names of file descriptors.
fn is_no_file(text: &str) -> bool {
    let is_number = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    let device = |name: &str| {
        matches!(name, "stdin" | "zero" | "full" | "random" | "urandom" | "ptmx")
            || name.strip_prefix("fd/").is_some_and(is_number)
            || is_free(text)
    };
    text.is_empty() || text == "-" || text.strip_prefix("/dev/").is_some_and(device)
}
