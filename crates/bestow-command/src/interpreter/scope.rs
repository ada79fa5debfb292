//! The state of a shell while a line runs: variables, functions, the working directory.
//!
//! After several ways meet, only facts that hold on all of them are kept: see [`Scope::join`].

use crate::{
    interpreter::{
        Value,
        shared::{Empty, Shared},
    },
    place::{Place, Places},
    syntax::tree::Command,
    values::StartDir,
    variables,
    word::{Fragment, Gaps, Known, Word},
};
use smol_str::{SmolStr, format_smolstr};
use std::{
    borrow::Cow,
    collections::BTreeMap,
    ops::{Deref, DerefMut},
    rc::Rc,
};

/// The limit of variables. Beyond it, every variable may have any value.
const MAX_VARIABLES: usize = 64;

/// The bytes of directory names that cost as much as one evaluated word.
const BYTES_OF_A_WORD: usize = 16;

/// All definitions that a function has had.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) bodies: Vec<Rc<Command>>,
    /// True if the function is certainly defined here. Otherwise the program of this name may run.
    pub(crate) certain: bool,
}

/// The limit of positional parameters that are kept if there are several possibilities.
const MAX_WORDS: usize = 16;

/// The positional parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Positional {
    words: Shared<Vec<Value>>,
    /// The knowledge of the values if the number of words is unknown. Then each parameter may be any of the words.
    shaky: Option<Known>,
}

impl Positional {
    pub(crate) fn of(args: &[Word]) -> Self {
        let moves = args.iter().filter(|arg| arg.may_split() || arg.is_pattern());
        let shaky = moves.map(|arg| if arg.is_wild() { Known::Partly } else { Known::Environment }).max();
        let words = args.iter().map(|arg| Value::of(std::slice::from_ref(arg))).collect();
        Positional { words: Shared::new(words), shaky }
    }

    pub(crate) fn unknown() -> Self {
        Positional { words: Shared::new(vec![Value::wild()]), shaky: Some(Known::Partly) }
    }

    /// Returns true if the parameters are copies of the same ones.
    fn is(&self, other: &Self) -> bool {
        self.shaky == other.shaky && self.words.is(&other.words)
    }

    /// Removes the first `count` parameters. If there are fewer, all of them stay.
    pub(crate) fn shift(&mut self, count: usize) {
        if self.shaky.is_none() && count <= self.words.len() {
            self.words.own().drain(..count);
        }
    }

    fn at(&self, index: usize) -> Value {
        match self.shaky {
            None => {
                self.words.get(index).cloned().unwrap_or_else(|| Value::one(SmolStr::default(), Known::Environment))
            }
            Some(known) => {
                let rest = Value::one(Fragment::Unknown, known);
                self.words.iter().fold(rest, |all, word| all.or(word))
            }
        }
    }

    /// Returns parameters that are these or the others, or any other words.
    fn or(&self, other: &Self) -> Self {
        let mut words = vec![Value::wild()];
        for word in self.words.iter().chain(other.words.iter()) {
            if !words.contains(word) {
                words.push(word.clone());
            }
        }
        words.truncate(MAX_WORDS);
        Positional { words: Shared::new(words), shaky: Some(Known::Partly) }
    }

    fn all(&self) -> Value {
        let known = self.words.iter().map(|word| word.known).chain(self.shaky).max().unwrap_or_default();
        let several = self.words.iter().any(|word| word.texts.len() != 1);
        // One parameter above the limit is enough to give up all of them.
        let texts = self.words.iter().take(MAX_VARIABLES + 1).flat_map(|word| word.texts.iter().cloned()).collect();
        Value::list(texts, if several { Known::Partly } else { known })
    }
}

/// The state of a shell, of which copies are shared. A copy for a subshell costs nothing until the subshell changes
/// something.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope(Shared<ShellState>);

impl Deref for Scope {
    type Target = ShellState;

    fn deref(&self) -> &ShellState {
        &self.0
    }
}

impl DerefMut for Scope {
    fn deref_mut(&mut self) -> &mut ShellState {
        self.0.own()
    }
}

/// The state of a shell.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShellState {
    variables: Shared<BTreeMap<SmolStr, Value>>,
    /// Read-only variables. An assignment to them may fail.
    fixed: Shared<Vec<String>>,
    functions: Shared<BTreeMap<String, Function>>,
    pub(crate) positional: Positional,
    pub(crate) places: Places,
    /// Directories in which the shell still is if a `cd` has failed. The empty text stands for the start directory.
    stayed: Shared<Vec<SmolStr>>,
    /// Directories before a `cd` of the current statement. A command after `&&` runs only if the `cd` has not failed.
    entering: Shared<Vec<SmolStr>>,
    /// True if unknown code may have set any variable.
    lost: bool,
    /// True if a trap or a setting of the shell may keep `exit` from ending it, or run something where it ends.
    meddled: bool,
    /// True if an error may have ended the commands since. Then what they set may still have its value from before.
    may_have_failed: bool,
}

impl Empty for ShellState {
    const EMPTY: &'static Self = &ShellState {
        variables: Shared::EMPTY,
        fixed: Shared::EMPTY,
        functions: Shared::EMPTY,
        positional: Positional { words: Shared::EMPTY, shaky: None },
        places: Places::START,
        stayed: Shared::EMPTY,
        entering: Shared::EMPTY,
        lost: false,
        meddled: false,
        may_have_failed: false,
    };
}

/// The limit of directories in which the shell may have stayed.
const MAX_STAYED: usize = 16;

/// Adds the missing directories, up to the limit. Returns false if some are left out.
fn add_all(all: &mut Shared<Vec<SmolStr>>, more: &[SmolStr]) -> bool {
    let mut fits = true;
    for one in more {
        if all.contains(one) {
            continue;
        }
        if all.len() < MAX_STAYED && one.len() < 4_096 {
            all.own().push(one.clone());
        } else {
            fits = false;
        }
    }
    fits
}

impl Scope {
    /// Joins the states of two ways that meet.
    pub(crate) fn join(&mut self, other: &Scope) {
        if !self.0.is(&other.0) && !self.is_copy_of(other) {
            self.0.own().join(other);
        }
    }

    /// Ends the current statement. Later commands run even if a `cd` has failed.
    pub(crate) fn settle(&mut self) {
        if !self.entering.is_empty() {
            self.0.own().settle();
        }
    }

    /// Returns true if no command can tell the states apart.
    pub(super) fn is_same(&self, other: &Scope) -> bool {
        self.0.is(&other.0) || self.equals(other)
    }

    /// Returns the state for a new shell that is started here, without functions and parameters.
    pub(crate) fn for_new_shell(&self) -> Scope {
        let (functions, positional) = (Shared::default(), Positional::default());
        Scope(Shared::new(ShellState { functions, positional, ..ShellState::clone(self) }))
    }
}

impl ShellState {
    /// Returns the values to which `name` may expand.
    pub(crate) fn read(&self, name: &str) -> Value {
        self.value(name).into_owned()
    }

    /// Returns the values to which `name` may expand, without a copy of assigned ones.
    fn value(&self, name: &str) -> Cow<'_, Value> {
        self.variables.get(name).map_or_else(|| Cow::Owned(self.unassigned(name)), Cow::Borrowed)
    }

    /// Returns the values of a variable that the text has not assigned.
    fn unassigned(&self, name: &str) -> Value {
        match name {
            // The shell sets these variables from the words of earlier commands.
            "_"
            | "REPLY"
            | "MAPFILE"
            | "BASH_REMATCH"
            | "OPTARG"
            | "BASH_COMMAND"
            | "BASH_EXECUTION_STRING"
            | "BASH_ARGV"
            | "BASH_SOURCE"
            | "FUNCNAME"
            | "DIRSTACK" => Value::wild(),
            "HOME" => Value::one(Fragment::Home, Known::Form),
            "PWD" if !self.lost => Value::one(".", self.known_directory()),
            "IFS" if !self.lost => Value::text(" \t\n"),
            "@" | "*" => self.positional.all(),
            "?" | "#" | "$" | "!" | "PPID" | "UID" | "EUID" => Value::tame(),
            // These lose their meaning if they are unset.
            "RANDOM" | "SECONDS" | "LINENO" | "EPOCHSECONDS" if !self.lost => Value::tame(),
            _ => match name.parse::<usize>() {
                Ok(index) if index > 0 => self.positional.at(index - 1),
                Ok(_) => Value::inherited(),
                Err(_) if self.lost => Value::wild(),
                Err(_) if variables::has_a_known_form(name) => Value::tame_or_empty(),
                Err(_) => Value::inherited(),
            },
        }
    }

    /// Returns what is known about the name of the working directory. A directory that the line has chosen may have a
    /// name of several words.
    fn known_directory(&self) -> Known {
        let several = |place: &Place| match place {
            Place::Start => false,
            Place::At(text) => text.contains(char::is_whitespace) || text.has_gap(),
            Place::Somewhere => true,
        };
        if self.places.iter().any(several) { Known::Environment } else { Known::Form }
    }

    /// Returns the value that the text itself has assigned to `name`, if any.
    pub(crate) fn assigned(&self, name: &str) -> Option<&Value> {
        self.variables.get(name)
    }

    /// Stores a value. The caller has checked the effects of setting the variable: see `Interpreter::set`.
    pub(super) fn insert(&mut self, name: &str, value: Value) {
        let is_kept = self.may_have_failed || self.is_fixed(name);
        let value = if is_kept { self.read(name).or(&value) } else { value };
        if self.variables.len() < MAX_VARIABLES || self.variables.contains_key(name) {
            self.variables.own().insert(name.into(), value);
        } else {
            self.forget();
        }
    }

    /// Returns true for a read-only variable.
    pub(super) fn is_fixed(&self, name: &str) -> bool {
        self.fixed.iter().any(|fixed| fixed == name)
    }

    /// Records that an error here may end the commands up to the end of a line or of a text that `eval` runs.
    pub(super) fn may_fail(&mut self) {
        self.may_have_failed = true;
    }

    /// Returns true if an error may have ended the commands since.
    pub(super) fn may_have_failed(&self) -> bool {
        self.may_have_failed
    }

    /// Marks a variable as read-only. A later assignment fails, and the line may continue.
    pub(super) fn fix(&mut self, name: &str) {
        if self.fixed.len() < MAX_VARIABLES {
            self.fixed.own().push(name.to_owned());
        } else {
            self.forget();
        }
    }

    /// Records that any variable may have been set to any value.
    pub(crate) fn forget(&mut self) {
        self.variables = Shared::default();
        self.positional = Positional::unknown();
        self.lost = true;
    }

    pub(super) fn function(&self, name: &str) -> Option<&Function> {
        self.functions.get(name)
    }

    /// Adds a definition. Earlier ones are kept, since a definition may fail.
    pub(super) fn define(&mut self, name: &str, body: &Rc<Command>) {
        let functions = self.functions.own();
        let function = functions.entry(name.to_owned()).or_insert(Function { bodies: Vec::new(), certain: true });
        function.certain = true;
        if !function.bodies.iter().any(|known| Rc::ptr_eq(known, body)) {
            function.bodies.push(Rc::clone(body));
        }
    }

    /// Records `unset -f`, and `unset` where no variable has this name.
    pub(super) fn undefine(&mut self, name: &str) {
        self.functions.own().entry(name.to_owned()).and_modify(|function| function.certain = false);
    }

    /// Returns the number of variables whose values are known.
    pub(super) fn variables(&self) -> usize {
        self.variables.len()
    }

    /// Returns the cost of a copy of this state, in followed commands.
    pub(super) fn weight(&self) -> usize {
        1 + self.variables.len() / 8
    }

    /// Returns the cost of a path that may be in any of the known directories, in evaluated words.
    pub(crate) fn weight_of_places(&self) -> usize {
        if self.is_at_start() {
            return 0;
        }
        let bytes = |place: &Place| match place {
            Place::At(base) => base.len(),
            Place::Start | Place::Somewhere => 0,
        };
        let all = self.places.iter().map(bytes).chain(self.stayed.iter().map(SmolStr::len));
        all.sum::<usize>() / BYTES_OF_A_WORD
    }

    /// Joins another state, which is no copy of this one.
    fn join(&mut self, other: &ShellState) {
        self.lost |= other.lost;
        self.meddled |= other.meddled;
        self.may_have_failed |= other.may_have_failed;
        self.join_variables(other);
        if self.positional != other.positional {
            self.positional = self.positional.or(&other.positional);
        }
        self.places.join(&other.places);
        let fits = add_all(&mut self.stayed, &other.stayed) & add_all(&mut self.entering, &other.entering);
        self.lose_place_unless(fits);
        self.join_functions(other);
    }

    /// Returns further directories in which the shell may be, because a `cd` may have failed.
    pub(crate) fn left_behind(&self) -> impl Iterator<Item = SmolStr> + '_ {
        self.stayed.iter().cloned()
    }

    /// Ends a statement with a `cd`.
    fn settle(&mut self) {
        let entering = std::mem::take(&mut self.entering);
        let fits = add_all(&mut self.stayed, &entering);
        self.lose_place_unless(fits);
    }

    /// Records that every `cd` of the current statement has succeeded.
    pub(super) fn succeed(&mut self) {
        self.entering = Shared::default();
    }

    /// Records a trap or a setting of the shell.
    pub(super) fn meddle(&mut self) {
        self.meddled = true;
    }

    /// Returns true if `exit` may not end the shell here, or may run something else.
    pub(super) fn may_not_exit(&self) -> bool {
        self.lost || self.meddled || self.functions.contains_key("exit")
    }

    /// Counts the shell as being in any directory, unless all places that it may have left are remembered.
    fn lose_place_unless(&mut self, fits: bool) {
        if !fits {
            self.places.join(&Places::somewhere());
        }
    }

    fn join_variables(&mut self, other: &ShellState) {
        if !self.fixed.is(&other.fixed) {
            let more: Vec<_> = other.fixed.iter().filter(|name| !self.fixed.contains(name)).cloned().collect();
            self.fixed.own().extend(more);
        }
        if self.variables.is(&other.variables) {
            return;
        }
        let theirs = other.variables.keys().filter(|name| !self.variables.contains_key(*name));
        let names = self.variables.keys().chain(theirs);
        let joined = names.filter_map(|name| {
            let value = match (self.variables.get(name), other.variables.get(name)) {
                (own, their) if own == their => return None,
                (Some(own), Some(their)) => own.or(their),
                (Some(own), None) => own.or(&other.unassigned(name)),
                (None, their) => self.unassigned(name).or(their?),
            };
            Some((name.clone(), value))
        });
        let joined: Vec<(SmolStr, Value)> = joined.collect();
        if joined.is_empty() {
            return;
        }
        self.variables.own().extend(joined);
        if self.variables.len() > MAX_VARIABLES {
            self.forget();
        }
    }

    fn join_functions(&mut self, other: &ShellState) {
        if self.functions.is(&other.functions) {
            return;
        }
        let functions = self.functions.own();
        functions.iter_mut().for_each(|(name, function)| {
            function.certain &= other.functions.get(name).is_some_and(|function| function.certain);
        });
        for (name, theirs) in other.functions.iter() {
            let uncertain = Function { certain: false, ..theirs.clone() };
            let ours = functions.entry(name.clone()).or_insert(uncertain);
            for body in &theirs.bodies {
                if !ours.bodies.iter().any(|known| Rc::ptr_eq(known, body)) {
                    ours.bodies.push(Rc::clone(body));
                }
            }
        }
    }

    /// Returns true if one state is a copy of the other, and neither has changed since. Equal states may be no copies.
    fn is_copy_of(&self, other: &ShellState) -> bool {
        // Every field is named, so that none is forgotten.
        let ShellState {
            variables,
            fixed,
            functions,
            positional,
            places,
            stayed,
            entering,
            lost,
            meddled,
            may_have_failed,
        } = self;
        variables.is(&other.variables)
            && fixed.is(&other.fixed)
            && functions.is(&other.functions)
            && positional.is(&other.positional)
            && stayed.is(&other.stayed)
            && entering.is(&other.entering)
            && (*lost, *meddled) == (other.lost, other.meddled)
            && *may_have_failed == other.may_have_failed
            && *places == other.places
    }

    fn equals(&self, other: &ShellState) -> bool {
        self.variables == other.variables
            && self.fixed == other.fixed
            && self.functions.is(&other.functions)
            && self.positional == other.positional
            && self.places == other.places
            && self.stayed == other.stayed
            && self.entering == other.entering
            && (self.lost, self.meddled) == (other.lost, other.meddled)
            && self.may_have_failed == other.may_have_failed
    }

    /// Returns true if another round from the state `before` has changed nothing relevant.
    pub(crate) fn is_settled(&self, before: &ShellState) -> bool {
        let same = |(name, value): (&SmolStr, &Value)| {
            let earlier = before.value(name);
            *earlier == *value || (earlier.is_wild() && value.is_wild() && !value.list)
        };
        let functions = |(name, function): (&String, &Function)| {
            before.functions.get(name).is_some_and(|earlier| {
                earlier.certain == function.certain && earlier.bodies.len() == function.bodies.len()
            })
        };
        self.lost == before.lost
            && self.meddled == before.meddled
            && self.variables.iter().all(same)
            && self.positional == before.positional
            && self.places == before.places
            && self.functions.iter().all(functions)
    }

    /// Makes every value unknown that differs from `before`.
    pub(super) fn widen(&mut self, before: &ShellState) {
        for (name, value) in self.variables.own() {
            if before.variables.get(name) != Some(value) {
                *value = Value::wild();
            }
        }
        if self.places != before.places {
            self.places.join(&Places::somewhere());
        }
    }

    /// Changes the directory to `target`.
    pub(crate) fn enter(&mut self, target: &str) {
        let before: Vec<SmolStr> = self
            .places
            .iter()
            .filter_map(|place| match place {
                Place::Start => Some(SmolStr::default()),
                Place::At(base) => Some(base.into()),
                Place::Somewhere => None,
            })
            .collect();
        let goes_on = |base: &SmolStr| if base.is_empty() { target.into() } else { format_smolstr!("{base}/{target}") };
        let is_relative = !target.is_rooted() && !target.has_unknown();
        let further: Vec<SmolStr> = self.stayed.iter().filter(|_| is_relative).map(goes_on).collect();
        self.places.change(|place| match place {
            _ if target.has_unknown() => Place::Somewhere,
            _ if target.is_rooted() => Place::At(target.into()),
            Place::At(base) if base.len() + target.len() < 4_096 => Place::At(format!("{base}/{target}")),
            Place::Start => Place::At(target.into()),
            Place::At(_) | Place::Somewhere => Place::Somewhere,
        });
        let fits = add_all(&mut self.stayed, &further) & add_all(&mut self.entering, &before);
        self.lose_place_unless(fits);
    }

    /// Returns true if the shell is certainly in the directory in which the host starts commands.
    pub(crate) fn is_at_start(&self) -> bool {
        self.places.is_start() && self.stayed.is_empty()
    }

    /// Returns the directories in which a command runs here, for rules that are bound to directories.
    pub(crate) fn dirs(&self) -> Cow<'static, [StartDir]> {
        // Unknown code may also have changed the directory.
        if self.lost {
            return StartDir::ANY.into();
        }
        if self.is_at_start() {
            return StartDir::ONLY_OWN.into();
        }
        let searches = self.assigned("CDPATH").is_some();
        let said = |text: &str| match text {
            text if searches || text.has_gap() => StartDir::Unknown,
            text => StartDir::Said(text.into()),
        };
        let places = self.places.iter().map(|place| match place {
            Place::Start => StartDir::Own,
            Place::At(text) => said(text),
            Place::Somewhere => StartDir::Unknown,
        });
        let stayed = self.stayed.iter().map(|text| if text.is_empty() { StartDir::Own } else { said(text) });
        let mut dirs: Vec<StartDir> = Vec::new();
        for dir in places.chain(stayed) {
            if !dirs.contains(&dir) {
                dirs.push(dir);
            }
        }
        dirs.into()
    }
}
