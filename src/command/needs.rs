//! What a command line uses, as far as its words name it: files that programs read and write, hosts, the network.
//!
//! Nobody can know all that a program does. What is certain here takes a permission; what may be a path at all is only
//! compared with what is denied, and with what must be asked.

mod directories;
pub(super) mod network;
mod roles;

pub(crate) use network::{bare_hosts, hosts_in};
use smol_str::{SmolStr, format_smolstr};

use super::{
    judge::{self, basename},
    safe,
    walk::{Arg, HOME, Known, Place, SOMETHING, UNKNOWN, Walker, is_free},
};
use crate::model::{Access, Below, Named};

/// The most things that one line may name. A line that names more is followed by nobody.
const MAX_NAMED: usize = 500;

/// What a line names, in the order in which it was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NamedUses {
    /// What it certainly uses.
    certain: Vec<Named>,
    /// Words that may be paths.
    words: Vec<Named>,
    /// It certainly uses more than is kept.
    too_many: bool,
    /// It has more such words than are kept.
    too_many_words: bool,
    /// It reads a file of which nobody can tell which one that is.
    unknown: bool,
    /// The hosts that variables name to programs that reach the network.
    told: Vec<SmolStr>,
    /// Nobody knows what it runs: it may be what it reads.
    runs_anything: bool,
}

impl NamedUses {
    /// What it names.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Named> {
        self.certain.iter().chain(&self.words)
    }

    /// What it certainly uses, because it names it to a program that is known.
    pub(crate) fn certain(&self) -> &[Named] {
        &self.certain
    }

    /// Returns true if it names more than is kept.
    pub(crate) fn is_cut(&self) -> bool {
        self.too_many || self.too_many_words
    }

    /// Returns true if it certainly uses more than is kept.
    pub(crate) fn uses_too_much(&self) -> bool {
        self.too_many
    }

    /// Returns true if it reads a file of which nobody can tell which one that is.
    pub(crate) fn reads_what_nobody_can_tell(&self) -> bool {
        self.unknown
    }

    /// Notes that nobody followed the line to its end: it may use anything.
    pub(super) fn lose(&mut self) {
        (self.too_many, self.too_many_words) = (true, true);
    }

    /// Notes that there is more that may be run, and that nobody looked into.
    pub(super) fn lose_words(&mut self) {
        self.too_many_words = true;
    }

    /// Adds what another line names that may be meant as well: nobody knows if it is.
    pub(super) fn join(&mut self, other: NamedUses) {
        self.too_many_words |= other.is_cut();
        for mut named in other.certain.into_iter().chain(other.words) {
            if let Named::Path { certain, .. } | Named::Network { certain, .. } = &mut named {
                *certain = false;
            }
            self.push(named);
        }
    }

    /// Notes a host that a variable names.
    fn told_host(&mut self, host: SmolStr) {
        if self.told.len() < MAX_NAMED {
            self.told.push(host);
        } else {
            self.lose_words();
        }
    }

    /// Notes that nobody knows what is run: it may be what is read.
    pub(super) fn run_anything(&mut self) {
        self.runs_anything = true;
    }

    /// What was found, now that the line was followed to its end: what is said of all of it counts for each thing.
    pub(super) fn settled(mut self) -> NamedUses {
        let reaches = |one: &&Named| matches!(one, Named::Network { .. });
        if self.iter().any(|one| reaches(&one)) {
            let told = std::mem::take(&mut self.told);
            told.into_iter().for_each(|host| self.push(Named::Network { host: Some(host), certain: false }));
        }
        if self.runs_anything {
            let read = |one: &Named| match one {
                Named::Path { access: Access::Read, text, pattern, below: Below::Nothing, certain: true } => {
                    Some(Named::Program { text: text.clone(), pattern: pattern.clone() })
                }
                Named::Path { .. } | Named::Program { .. } | Named::Network { .. } => None,
            };
            let read: Vec<_> = self.certain.iter().filter_map(read).collect();
            read.into_iter().for_each(|program| self.push(program));
        }
        self
    }

    /// Returns true if nothing more is kept.
    fn is_full(&self) -> bool {
        self.too_many && self.too_many_words
    }

    fn reads_unknown(&mut self) {
        self.unknown = true;
    }

    fn push(&mut self, new: Named) {
        let is_word = match &new {
            Named::Path { certain, .. } | Named::Network { certain, .. } => !certain,
            Named::Program { .. } => true,
        };
        let (all, too_many) = match is_word {
            true => (&mut self.words, &mut self.too_many_words),
            false => (&mut self.certain, &mut self.too_many),
        };
        if *too_many || all.contains(&new) {
            return;
        }
        if all.len() < MAX_NAMED {
            all.push(new);
        } else {
            *too_many = true;
        }
    }
}

/// One word of a command as a path, before the directory of the line is put in front of it.
#[derive(Clone, Debug)]
struct Operand {
    access: Access,
    text: SmolStr,
    pattern: Option<SmolStr>,
    below: Below,
    certain: bool,
}

impl Operand {
    /// A path that a program certainly uses so.
    fn certain(access: Access, text: impl Into<SmolStr>, below: Below) -> Operand {
        Operand { access, text: text.into(), pattern: None, below, certain: true }
    }
}

impl Walker<'_> {
    /// Notes what running `args` uses.
    pub(super) fn name_uses(&mut self, args: &[Arg]) {
        let Some((program, rest)) = args.split_first().filter(|_| !self.uses.is_full()) else { return };
        let guessing = self.overheard.is_guessing();
        let name = basename(&program.text);
        self.name_network(args);
        let is_known = program.is_exact() && roles::knows(name);
        // Whoever runs another program is judged by that one, and what only says something opens nothing.
        let is_judged = roles::only_says(name) || program.is_exact() && judge::wraps(name);
        let asks = !rest.is_empty() && !is_judged && (!is_known || roles::runs_a_script(name));
        let reads_only = asks && self.only_reads(args);
        let mut operands = if program.is_exact() { roles::of(name, rest, reads_only) } else { Vec::new() };
        if program.text.contains('/') {
            operands.extend(word(program, Access::Read));
            self.name_programs(std::slice::from_ref(program));
        }
        if judge::is_shell(name) || judge::runs_code(name) || matches!(name, "." | "source") {
            self.name_programs(rest);
        }
        if !roles::only_says(name) {
            operands.extend(rest.iter().flat_map(|arg| words(arg, Access::Read)));
        }
        if asks && !is_known && !reads_only {
            operands.extend(rest.iter().flat_map(|arg| words(arg, Access::Write)));
        }
        if !guessing && self.reads_what_is_unknown(name, rest) {
            self.uses.reads_unknown();
        }
        if !guessing && roles::is_told_by_input(name, rest) {
            return self.uses.lose();
        }
        let Some(moved) = directories::told(rest) else { return self.uses.lose() };
        for operand in operands {
            if self.uses.is_full() || !self.can_follow(moved.len()) {
                return;
            }
            let certain = operand.certain && !guessing;
            for elsewhere in &moved {
                if self.uses.too_many_words {
                    break;
                }
                let there = directories::below(elsewhere, &operand);
                there.into_iter().for_each(|operand| self.name_path(Operand { certain: false, ..operand }));
            }
            self.name_path(Operand { certain, ..operand });
        }
    }

    /// Notes the words that may be program files which are run.
    fn name_programs(&mut self, words: &[Arg]) {
        for operand in words.iter().filter(|arg| !arg.text.starts_with('-')).filter_map(|arg| word(arg, Access::Read)) {
            if self.uses.is_full() || is_no_file(&operand.text) {
                return;
            }
            let pattern = operand.pattern;
            for text in self.in_places(&operand.text) {
                self.uses.push(Named::Program { text, pattern: pattern.clone() });
            }
        }
    }

    /// The path as it is named in each of the directories in which the line may be.
    fn in_places(&mut self, text: &SmolStr) -> Vec<SmolStr> {
        if text.starts_with(['/', HOME]) {
            return vec![written(text)];
        }
        if !self.can_follow(self.scope.weight_of_places()) {
            return Vec::new();
        }
        let below = |base: &str| if base.is_empty() { text.clone() } else { format_smolstr!("{base}/{text}") };
        let at = |place: &Place| match place {
            Place::Start => Some(text.clone()),
            Place::At(base) => Some(below(base)),
            Place::Somewhere => None,
        };
        let places = self.scope.places.iter().filter_map(at);
        places.chain(self.scope.left_behind().map(|base| below(&base))).map(|text| written(&text)).collect()
    }

    /// Returns true if a program of that name reads a file of which its words do not tell which one that is.
    fn reads_what_is_unknown(&self, name: &str, rest: &[Arg]) -> bool {
        if rest.iter().any(|arg| roles::hides_a_file(name, arg)) || roles::reads_unknown(name, rest, is_unknown_path) {
            return true;
        }
        let by_role = roles::reads_operands(name);
        let reads = by_role || safe::reads_operands(name) && !roles::opens_nothing(name);
        // A role tells which of the words are names of files: they are looked at one by one.
        let is_relative = |arg: &Arg| !arg.text.starts_with(['-', '/', HOME]);
        let is_lost = !by_role && self.scope.places.iter().any(is_unknown_place);
        reads && rest.iter().any(|arg| is_unknown_path(arg) || is_lost && is_relative(arg))
    }

    /// Returns true if the program is known to read what its words name, and to write none of it.
    fn only_reads(&self, args: &[Arg]) -> bool {
        matches!(safe::prove(args, self.classifier, &self.scope.places), safe::Proof::Reads(_))
    }

    /// Notes that a redirection reads or writes a file.
    pub(super) fn name_redirect(&mut self, access: Access, target: &Arg) {
        let certain = !self.overheard.is_guessing();
        if let Some(host) = network::connection(&target.text) {
            return self.reach(host, certain);
        }
        match path(target, access, Below::Nothing) {
            Some(operand) => self.name_path(Operand { certain, ..operand }),
            None if certain && access == Access::Read && !is_pipe(target) => self.uses.reads_unknown(),
            None => {}
        }
    }

    fn name_path(&mut self, operand: Operand) {
        let Operand { access, text, pattern, below, certain } = operand;
        if let Some(host) = network::connection(&text) {
            return self.reach(host, certain);
        }
        if is_no_file(&text) {
            return;
        }
        let is_relative = !text.starts_with(['/', HOME]);
        if is_relative && !self.can_follow(self.scope.weight_of_places()) {
            return;
        }
        // In a directory that nobody knows, it is a file that nobody knows.
        let reads = access == Access::Read
            && !matches!(below, Below::Names | Below::Versions)
            && (certain || below.is_everything());
        let is_lost = is_of_another(&text) || is_relative && self.scope.places.iter().any(is_unknown_place);
        if reads && is_lost && !self.overheard.is_guessing() {
            self.uses.reads_unknown();
        }
        let Walker { scope, uses, .. } = self;
        for place in scope.places.iter() {
            let text = match place {
                _ if !is_relative => text.clone(),
                Place::Start => text.clone(),
                Place::At(base) => format_smolstr!("{base}/{text}"),
                Place::Somewhere => continue,
            };
            uses.push(Named::Path { access, text: written(&text), pattern: pattern.clone(), below, certain });
        }
        // A `cd` before may have failed, and then the shell is still where it was.
        for base in scope.left_behind().filter(|_| is_relative) {
            let text = if base.is_empty() { text.clone() } else { format_smolstr!("{base}/{text}") };
            uses.push(Named::Path { access, text: written(&text), pattern: pattern.clone(), below, certain: false });
        }
    }
}

/// Returns true for a directory of which nobody can tell which one that is. The home of another is one.
fn is_unknown_place(place: &Place) -> bool {
    match place {
        Place::Start => false,
        Place::At(base) => is_of_another(base),
        Place::Somewhere => true,
    }
}

/// Returns true for a path in the home of another, which need not lie beside one's own.
fn is_of_another(text: &str) -> bool {
    text.strip_prefix(HOME).is_some_and(|rest| rest.starts_with("/../"))
}

/// The text with `~` for the home directory, and `./` before a name that only looks like that.
fn written(text: &SmolStr) -> SmolStr {
    match text.strip_prefix(HOME) {
        Some(rest) => format_smolstr!("~{rest}"),
        None if text.starts_with('~') => format_smolstr!("./{text}"),
        None => text.clone(),
    }
}

/// Devices that everybody has, and what stands for a descriptor.
fn is_no_file(text: &str) -> bool {
    let is_number = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    let device = |name: &str| {
        matches!(name, "stdin" | "zero" | "full" | "random" | "urandom" | "ptmx")
            || name.strip_prefix("fd/").is_some_and(is_number)
    };
    text.is_empty() || text == "-" || is_free(text) || text.strip_prefix("/dev/").is_some_and(device)
}

/// The word as a path that a program certainly uses so.
fn path(arg: &Arg, access: Access, below: Below) -> Option<Operand> {
    if let Some(text) = exact(arg) {
        return Some(Operand::certain(access, text, below));
    }
    // What a variable holds is a pattern where a pattern was what it was given.
    let is_held = arg.expanded && arg.known != Known::Fully && !arg.text.contains([HOME, UNKNOWN, SOMETHING]);
    let is_pattern = arg.glob || is_held;
    let (above, pattern) = is_pattern.then(|| around_pattern(&arg.text))??;
    Some(Operand { pattern: Some(pattern), ..Operand::certain(access, above, below) })
}

/// The directory in front of the first sign of a pattern, and the pattern from there on.
fn around_pattern(text: &str) -> Option<(SmolStr, SmolStr)> {
    let signs = |c: char| matches!(c, '*' | '?' | '[' | '(' | '{' | '\\');
    let before = text.find(signs).and_then(|at| text.get(..at))?;
    if before.contains([UNKNOWN, SOMETHING]) {
        return None;
    }
    let (above, rest) = match before.rfind('/') {
        Some(0) => ("/", text.get(1..)),
        Some(at) => (before.get(..at)?, text.get(at + 1..)),
        None => (".", Some(text)),
    };
    Some((above.into(), rest?.into()))
}

/// The word, if it is known to the last character, be it from home on.
fn exact(arg: &Arg) -> Option<SmolStr> {
    let home = arg.known == Known::Environment && arg.text.starts_with(HOME);
    let inner = arg.text.strip_prefix(HOME).unwrap_or(&arg.text);
    // A word that holds no blank is the same word after it was split.
    let is_one = !arg.splits || !arg.text.is_empty() && !inner.contains(char::is_whitespace);
    // Of the environment, the directory in which a shell stands is known as `.`.
    let here = arg.known == Known::Environment && (arg.text == "." || arg.text.starts_with("./"));
    let whole = (arg.known == Known::Fully || home || here)
        && !arg.glob
        && is_one
        && !arg.open
        && !inner.contains([UNKNOWN, SOMETHING, HOME]);
    whole.then(|| arg.text.clone())
}

/// The word as something that may be a path; a pattern, as what it may become.
fn word(arg: &Arg, access: Access) -> Option<Operand> {
    let operand = path(arg, access, Below::Nothing)?;
    Some(Operand { certain: false, ..operand })
}

/// Returns true if the word may be a path, and nobody can tell which.
fn is_unknown_path(arg: &Arg) -> bool {
    let is_option = arg.text.starts_with('-') && !arg.open;
    !is_option && !is_pipe(arg) && path(arg, Access::Read, Below::Nothing).is_none()
}

/// Returns true for a process substitution, which is a pipe.
fn is_pipe(arg: &Arg) -> bool {
    arg.text.contains("/dev/fd/63")
}

/// Everything in a word that may be a path: itself, the value of an option or of a name, a file behind an `@`.
fn words(arg: &Arg, access: Access) -> Vec<Operand> {
    let Some(whole) = word(arg, access) else { return Vec::new() };
    if whole.pattern.is_some() {
        return vec![whole];
    }
    if !whole.text.starts_with('-') && !whole.text.contains(['=', '@']) {
        return vec![whole];
    }
    let text = whole.text.clone();
    let part = |text: &str| Operand { text: text.into(), ..whole.clone() };
    let value = text.split_once('=').map(|(_, value)| value).filter(|value| !value.is_empty());
    let joined = (text.starts_with('-') && !text.starts_with("--")).then(|| text.get(2..)).flatten();
    let behind_at = [value.unwrap_or(&text), &text].map(|text| text.rsplit_once('@').map(|(_, file)| file));
    let parts = value.into_iter().chain(joined).chain(behind_at.into_iter().flatten());
    let parts: Vec<_> = parts.filter(|text| !text.is_empty()).map(part).collect();
    let itself = (!text.starts_with('-')).then(|| whole.clone());
    itself.into_iter().chain(parts).collect()
}
