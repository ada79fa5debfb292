//! What a command line uses, as far as its words name it: files that programs read and write, hosts, the network.
//!
//! Nobody can know all that a program does. What is certain here takes a permission; what may be a path at all is only
//! compared with what is denied, and with what must be asked.

mod network;
mod roles;

use smol_str::{SmolStr, format_smolstr};

use super::{
    judge::basename,
    walk::{Arg, HOME, Known, Place, SOMETHING, UNKNOWN, Walker, is_free},
};
use crate::model::{Access, Named};

/// The most things that one line may name. A line that names more is followed by nobody.
const MAX_NAMED: usize = 500;

/// What a line names, in the order in which it was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NamedUses {
    named: Vec<Named>,
    /// It names more than is kept.
    too_many: bool,
}

impl NamedUses {
    /// What it names.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Named> {
        self.named.iter()
    }

    /// Whether it names more than is kept.
    pub(crate) fn is_cut(&self) -> bool {
        self.too_many
    }

    fn push(&mut self, new: Named) {
        if self.named.contains(&new) {
            return;
        }
        if self.named.len() < MAX_NAMED {
            self.named.push(new);
        } else {
            self.too_many = true;
        }
    }
}

/// One word of a command as a path, before the directory of the line is put in front of it.
#[derive(Clone, Debug)]
struct Operand {
    access: Access,
    text: SmolStr,
    tree: bool,
    certain: bool,
}

impl Walker<'_> {
    /// Notes what running `args` uses.
    pub(super) fn name_uses(&mut self, args: &[Arg]) {
        let Some((program, rest)) = args.split_first() else { return };
        let guessing = self.overheard.is_guessing();
        let name = basename(&program.text);
        if !guessing && program.is_exact() {
            for named in network::of(name, rest) {
                self.uses.push(named);
            }
        }
        let mut operands = if program.is_exact() { roles::of(name, rest) } else { Vec::new() };
        if program.text.contains('/') {
            operands.extend(word(program));
        }
        if !roles::only_says(name) {
            operands.extend(rest.iter().flat_map(words));
        }
        for operand in operands {
            let certain = operand.certain && !guessing;
            self.name_path(Operand { certain, ..operand });
        }
    }

    /// Notes that a redirection reads or writes a file.
    pub(super) fn name_redirect(&mut self, access: Access, target: &Arg) {
        let certain = !self.overheard.is_guessing();
        if let Some(operand) = path(target, access, false) {
            self.name_path(Operand { certain, ..operand });
        }
    }

    fn name_path(&mut self, operand: Operand) {
        let Operand { access, text, tree, certain } = operand;
        if is_no_file(&text) {
            return;
        }
        let places: Vec<Place> = self.scope.places.iter().cloned().collect();
        for place in places {
            let text = match &place {
                _ if text.starts_with(['/', HOME]) => Some(text.clone()),
                Place::Start => Some(text.clone()),
                Place::At(base) => Some(format_smolstr!("{base}/{text}")),
                Place::Somewhere => None,
            };
            if let Some(text) = text {
                self.uses.push(Named::Path { access, text: written(&text), tree, certain });
            }
        }
    }
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
    let device = |name: &str| {
        matches!(name, "stdin" | "zero" | "full" | "random" | "urandom" | "ptmx") || name.starts_with("fd/")
    };
    let network = ["/dev/tcp/", "/dev/udp/"].iter().any(|start| text.starts_with(start));
    text.is_empty() || text == "-" || network || is_free(text) || text.strip_prefix("/dev/").is_some_and(device)
}

/// The word as a path that a program certainly uses so; a pattern names the directory in which it is looked for.
fn path(arg: &Arg, access: Access, tree: bool) -> Option<Operand> {
    if let Some(text) = exact(arg) {
        return Some(Operand { access, text, tree, certain: true });
    }
    let above = arg.glob.then(|| above_pattern(&arg.text))??;
    Some(Operand { access, text: above, tree: true, certain: true })
}

/// What of a pattern stands before its first sign, as a directory.
fn above_pattern(text: &str) -> Option<SmolStr> {
    let signs = |c: char| matches!(c, '*' | '?' | '[' | '(' | '{' | '\\');
    let before = text.find(signs).and_then(|at| text.get(..at))?;
    if before.contains([UNKNOWN, SOMETHING]) {
        return None;
    }
    Some(match before.rsplit_once('/') {
        Some(("", _)) => "/".into(),
        Some((directory, _)) => directory.into(),
        None => ".".into(),
    })
}

/// The word, if it is known to the last character, be it from home on.
fn exact(arg: &Arg) -> Option<SmolStr> {
    let home = arg.known == Known::Environment && arg.text.starts_with(HOME);
    let inner = arg.text.strip_prefix(HOME).unwrap_or(&arg.text);
    let whole = (arg.known == Known::Fully || home)
        && !arg.glob
        && !arg.splits
        && !arg.open
        && !inner.contains([UNKNOWN, SOMETHING, HOME]);
    whole.then(|| arg.text.clone())
}

/// The word as something that may be a path.
fn word(arg: &Arg) -> Option<Operand> {
    let text = exact(arg)?;
    Some(Operand { access: Access::Read, text, tree: false, certain: false })
}

/// Everything in a word that may be a path: itself, the value of an option or of a name, a file behind an `@`.
fn words(arg: &Arg) -> Vec<Operand> {
    let Some(whole) = word(arg) else { return Vec::new() };
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
