//! The options and operands of a program that uses files.

use crate::{
    few::Few,
    needs::operand::path,
    options::{List, is_listed, list, short, takes_value},
};
use smol_str::{SmolStr, format_smolstr};

use crate::{
    needs::operand::{Operand, exact},
    parts::parts,
    programs::{Program, Reads},
    values::{Access, Below, base_name},
    word::{Signs, Word},
};

/// Options that are complete although they are prefixes of other options.
const WHOLE: &[&str] =
    &["--backup", "--compress", "--cookie", "--delete", "--exclude", "--head", "--include", "--netrc", "--partial"];

/// Returns true if the option, perhaps abbreviated, is one of `names` that take a directory.
pub(super) fn is_directory(option: &str, names: &str) -> bool {
    parts(names, b' ').any(|name| name.ends_with("-dir") && (name == option || is_short_for(option, name)))
}

/// Returns true if the option is one of `names` or a prefix of one.
pub(super) fn is_short_for(option: &str, names: &str) -> bool {
    option.len() > 2 && option.starts_with("--") && parts(names, b' ').any(|name| name.starts_with(option))
}

pub(super) fn everything_if(all: bool) -> Below {
    if all { Below::Everything } else { Below::Nothing }
}

/// The options of a program that take a value.
#[derive(Clone, Copy)]
pub(super) enum Valued<'l> {
    /// The options on a list of plain words.
    Listed(List<'l>),
    /// The options that take one in a form, by the list of all its options.
    InForm(List<'l>),
    /// The options on a list of plain words, and those that take one in some form of the program.
    InSomeForm(List<'l>, &'static [&'static Reads]),
}

impl<'l> From<List<'l>> for Valued<'l> {
    fn from(list: List<'l>) -> Self {
        Valued::Listed(list)
    }
}

impl Valued<'_> {
    fn has(self, option: &str) -> bool {
        match self {
            Valued::Listed(list) => is_listed(list, option),
            Valued::InForm(flags) => takes_value(flags, option) == Some(true),
            Valued::InSomeForm(list, forms) => {
                is_listed(list, option) || forms.iter().any(|form| takes_value(form.flags, option) == Some(true))
            }
        }
    }

    /// Returns true if the option may be the abbreviation of one that takes a value. In a proven form no option is
    /// abbreviated.
    fn may_begin_with(self, option: &str) -> bool {
        match self {
            Valued::Listed(list) => abbreviates(option, list),
            Valued::InForm(_) => false,
            Valued::InSomeForm(list, forms) => {
                let takes_one = |name: &str| name.ends_with(':') && name.starts_with(option) && option.len() > 2;
                let mut flags = forms.iter().flat_map(|form| parts(form.flags.text(), b' '));
                abbreviates(option, list) || option.starts_with("--") && flags.any(takes_one)
            }
        }
    }
}

/// The operands and options of a command line.
pub(super) struct Words<'a> {
    pub(super) operands: Few<&'a Word>,
    pub(super) options: Few<Given<'a>>,
    /// True if the options are not kept.
    forgets: bool,
}

/// The value of an option: a separate word or the end of one.
pub(super) enum Text<'a> {
    Word(&'a Word),
    End(Box<Word>),
}

/// An option and its value, if it has one.
pub(super) struct Given<'a> {
    pub(super) name: SmolStr,
    pub(super) value: Option<Text<'a>>,
}

impl Text<'_> {
    /// Creates a value from the text after the option name in the same word.
    pub(super) fn end(word: &Word, text: &str) -> Self {
        Text::End(Box::new(word.with_text(text)))
    }

    pub(super) fn arg(&self) -> &Word {
        match self {
            Text::Word(arg) => arg,
            Text::End(arg) => arg,
        }
    }

    pub(super) fn text(&self) -> Option<SmolStr> {
        exact(self.arg())
    }

    pub(super) fn path(&self, access: Access) -> Option<Operand> {
        path(self.arg(), access, Below::Nothing)
    }
}

/// Returns true if the option is one of `names`, or an abbreviated long option among them.
pub(super) fn means(option: &str, names: List<'_>) -> bool {
    is_listed(names, option) || abbreviates(option, names)
}

/// Returns true if the option may be an abbreviated long option among `names`.
fn abbreviates(option: &str, names: List<'_>) -> bool {
    is_short_for(option, names.text()) && !WHOLE.contains(&option)
}

impl<'a> Words<'a> {
    /// Parses words into operands and options. `values` are the options that take a value.
    pub(super) fn read<'l>(rest: &'a [Word], values: impl Into<Valued<'l>>) -> Words<'a> {
        let mut words = Words { operands: Few::default(), options: Few::default(), forgets: false };
        words.add(rest, values.into());
        words
    }

    /// Parses words as [`read`](Self::read) does, but keeps only the operands.
    pub(super) fn read_operands(rest: &'a [Word], values: Valued<'_>) -> Words<'a> {
        let mut words = Words { operands: Few::default(), options: Few::default(), forgets: true };
        words.add(rest, values);
        words
    }

    fn add(&mut self, rest: &'a [Word], values: Valued<'_>) {
        let mut args = rest.iter();
        while let Some(arg) = args.next() {
            let text = arg.text();
            if text == "--" {
                self.operands.extend(args);
                break;
            }
            if !text.starts_with('-') || text == "-" {
                self.operands.push(arg);
                continue;
            }
            let is_assigned = text.starts_with("--") && arg.has(Signs::EQUALS);
            match if is_assigned { text.split_once('=') } else { None } {
                Some(_) if self.forgets => {}
                Some((name, value)) => self.give(name, Some(Text::end(arg, value))),
                None if values.has(text) => self.give(text, args.next().map(Text::Word)),
                // An abbreviation may stand for another option. Therefore the next word counts as its value and as an
                // operand.
                None if values.may_begin_with(text) => self.give(text, args.as_slice().first().map(Text::Word)),
                None if text.starts_with("--") => self.give(text, None),
                None => self.read_letters(arg, values, &mut args),
            }
        }
    }

    pub(super) fn give(&mut self, name: &str, value: Option<Text<'a>>) {
        if !self.forgets {
            self.options.push(Given { name: name.into(), value });
        }
    }

    /// Parses short options that share one word. The last one may take the rest of the word or the next word as its
    /// value.
    fn read_letters(&mut self, arg: &'a Word, values: Valued<'_>, args: &mut impl Iterator<Item = &'a Word>) {
        let text = arg.text();
        let letter = |(_, letter): &(usize, char)| values.has(&short(*letter));
        let Some((at, letter)) = text.char_indices().skip(1).find(letter) else { return self.give(text, None) };
        if let Some(flags) = text.get(..at).filter(|flags| flags.len() > 1) {
            self.give(flags, None);
        }
        let rest = text.get(at + letter.len_utf8()..).filter(|rest| !rest.is_empty());
        let value = rest.map_or_else(|| args.next().map(Text::Word), |rest| Some(Text::end(arg, rest)));
        self.give(&short(letter), value);
    }

    pub(super) fn has(&self, names: List<'_>) -> bool {
        self.options.iter().any(|given| means(&given.name, names))
    }

    /// Returns true if one of these options is given, perhaps as a letter among others.
    pub(super) fn gives(&self, names: List<'_>) -> bool {
        let letters = parts(names.text(), b' ').filter_map(|name| name.strip_prefix('-')?.chars().next());
        self.has(names) || letters.filter(|letter| *letter != '-').any(|letter| self.has_letter(letter))
    }

    /// Returns the files that options of the program read and write.
    pub(super) fn files_of(&self, known: &Program) -> impl Iterator<Item = Operand> {
        let lists = known.files.iter().filter(|_| !self.options.is_empty());
        let lists = lists.flat_map(|files| [(files.writes, Access::Write), (files.reads, Access::Read)]);
        let named = lists.filter(|(names, _)| !names.is_empty());
        let trees = known.files.iter().flat_map(|files| self.values_of(files.trees)).flat_map(listed_trees);
        named.flat_map(|(names, access)| self.named_by(names, access)).chain(trees)
    }

    /// Returns the files that these options name.
    fn named_by(&self, names: List<'static>, access: Access) -> impl Iterator<Item = Operand> {
        let given = self.options.iter().filter(move |given| means(&given.name, names));
        // A directory is used with the files inside it.
        let below = move |given: &Given<'_>| everything_if(is_directory(&given.name, names.text()));
        given.filter_map(move |given| path(given.value.as_ref()?.arg(), access, below(given)))
    }

    /// Returns true if the program also reads the targets of links below its operands.
    pub(super) fn follows(&self, name: &str) -> bool {
        match name {
            "rg" => self.has(list!("-L --follow")) || self.has_letter('L'),
            "ag" | "ack" => self.has(list!("-f --follow")) || self.has_letter('f'),
            "tar" | "bsdtar" => self.has(list!("--dereference")) || self.has_letter('h'),
            "rsync" => {
                self.has_letter('L')
                    || self.has_letter('k')
                    || self.has(list!("--copy-links --copy-dirlinks --copy-unsafe-links"))
            }
            "cp" => self.has_letter('L') || self.has(list!("--dereference")),
            name if name.ends_with("grep") => self.has_letter('R') || self.has(list!("--dereference-recursive")),
            _ => false,
        }
    }

    /// Returns true if one of the joined short options is this letter.
    pub(super) fn has_letter(&self, letter: char) -> bool {
        let has_it = |name: &str| !name.starts_with("--") && name.chars().any(|one| one == letter);
        self.options.iter().any(|given| has_it(&given.name))
    }

    pub(super) fn values_of(&self, names: List<'_>) -> impl Iterator<Item = &Text<'a>> {
        let given = self.options.iter().filter(move |given| means(&given.name, names));
        given.filter_map(|given| given.value.as_ref())
    }

    pub(super) fn is_recursive(&self) -> bool {
        self.has_letter('r') || self.has_letter('R') || self.has_long("--recursive")
    }

    /// Returns true if one of these long options is given, perhaps abbreviated.
    pub(super) fn has_long(&self, names: &str) -> bool {
        self.options.iter().any(|given| is_short_for(&given.name, names))
    }

    /// Returns true if an option of `grep` requests to read directories with everything below them.
    pub(super) fn recurses_into_directories(&self) -> bool {
        let recurses = |value: &Option<Text<'a>>| {
            value.as_ref().and_then(Text::text).is_none_or(|how| "recurse".starts_with(how.as_str()))
        };
        let mut options = self.options.iter();
        options.any(|given| match given.name.as_str() {
            "-d" => recurses(&given.value),
            name if is_short_for(name, "--directories") => recurses(&given.value),
            name => is_short_for(name, "--dereference-recursive"),
        })
    }

    pub(super) fn named(&self, access: Access, below: Below) -> Few<Operand> {
        self.operands.iter().filter_map(|arg| path(arg, access, below)).collect()
    }
}

/// Uses all operands except the last with `access`. Writes the last operand, or the directory that an option names.
pub(super) fn copied(name: &str, words: &Words<'_>, access: Access) -> Vec<Operand> {
    let directory: Vec<_> = words.values_of(list!("-t --target-directory")).filter_map(Text::text).collect();
    if name == "install" && (words.has_letter('d') || words.has(list!("--directory"))) {
        return words.named(Access::Write, Below::Nothing).into_vec();
    }
    let (last, sources) = match words.operands.split_last() {
        Some((last, sources)) if directory.is_empty() => (Some(last), sources),
        _ => (None, words.operands.as_slice()),
    };
    let all = access == Access::Write || words.is_recursive() || words.has_letter('a') || words.has(list!("--archive"));
    let read = everything_if(all).followed_if(words.follows(name));
    let all = everything_if(all);
    let mut named: Vec<_> = sources.iter().filter_map(|arg| path(arg, access, read)).collect();
    // A hard link makes the file writable under another name.
    let links = match name {
        "ln" => !words.has_letter('s') && !words.has(list!("--symbolic")),
        "cp" => words.has_letter('l') || words.has(list!("--link")),
        _ => false,
    };
    if links {
        let linked = if sources.is_empty() { words.operands.as_slice() } else { sources };
        named.extend(linked.iter().filter_map(|arg| path(arg, Access::Write, all)));
    }
    // A single operand of `ln` is the target of a link in the working directory.
    let into: Vec<SmolStr> = match last {
        Some(last) if sources.is_empty() => {
            named.extend(path(last, Access::Read, Below::Nothing));
            vec![".".into()]
        }
        Some(last) => exact(last).into_iter().collect(),
        None => directory.clone(),
    };
    // The written files have the names of the files in a source, or unknown names.
    let is_whole = name != "rsync" && (words.has_letter('T') || words.has(list!("--no-target-directory")));
    let is_open = |source: &&&Word| match exact(source) {
        Some(text) if name == "rsync" => text.ends_with('/') || base_name(&text) == ".",
        Some(text) => matches!(base_name(&text), "." | ".."),
        None => true,
    };
    let is_open = all == Below::Everything && is_whole || sources.iter().any(|source| is_open(&source));
    let is_directory = |into: &str| !directory.is_empty() || sources.len() != 1 || into.ends_with(['/', '.']);
    for into in &into {
        // If the target is a directory, the file is written inside it. The type of the target is not known yet.
        let inside = sources.iter().filter(|_| !is_whole).filter_map(|source| {
            let source = exact(source)?;
            Some(format_smolstr!("{into}/{}", base_name(source.trim_end_matches('/'))))
        });
        let certain = is_directory(into);
        named.extend(inside.map(|text| Operand { certain, ..Operand::certain(Access::Write, text, all) }));
        if is_open {
            named.push(Operand::certain(Access::Write, into.clone(), Below::Everything));
        } else if !certain || is_whole {
            named.push(Operand::certain(Access::Write, into.clone(), Below::Nothing));
        }
    }
    if let Some(last) = last.filter(|last| exact(last).is_none()) {
        named.extend(path(last, Access::Write, Below::Names));
    }
    named
}

/// Returns the files and directories in a list of `file` and `name=file`. They are not certain: behind another
/// subcommand the option may have no value.
fn listed_trees(value: &Text<'_>) -> Vec<Operand> {
    let named: Vec<_> = match value.text() {
        Some(text) => {
            let items = parts(&text, b',').map(|item| item.split_once('=').map_or(item, |(_, file)| file));
            items.map(|item| Operand::certain(Access::Read, item, Below::Everything)).collect()
        }
        None => path(value.arg(), Access::Read, Below::Everything).into_iter().collect(),
    };
    named.into_iter().map(|operand| Operand { certain: false, ..operand }).collect()
}
