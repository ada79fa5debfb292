//! What a command line says: statements made of words, words made of pieces. Owns its text; nothing here judges.

use std::rc::Rc;

use crate::command::answer::Span;

/// Commands one after the other.
#[derive(Debug, Default)]
pub(in crate::command) struct Script {
    pub(in crate::command) statements: Vec<Statement>,
}

/// One and-or list, and what ends it.
#[derive(Debug)]
pub(in crate::command) struct Statement {
    pub(in crate::command) pipelines: Vec<Pipeline>,
    /// Ended by `&`: runs in a shell of its own.
    pub(in crate::command) background: bool,
}

/// What decides whether a pipeline of an and-or list runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::command) enum Joint {
    /// The first always runs.
    First,
    /// `&&`
    And,
    /// `||`
    Or,
}

/// Commands whose output feeds the next.
#[derive(Debug)]
pub(in crate::command) struct Pipeline {
    pub(in crate::command) joint: Joint,
    pub(in crate::command) commands: Vec<Command>,
}

/// A command of any form, with the redirections around it.
#[derive(Debug)]
pub(in crate::command) struct Command {
    pub(in crate::command) span: Span,
    pub(in crate::command) form: Form,
    pub(in crate::command) redirects: Vec<Redirect>,
}

/// The forms a command has.
#[derive(Debug)]
pub(in crate::command) enum Form {
    Simple(Simple),
    /// `{ …; }`: shares the shell it stands in.
    Group(Script),
    /// `if`: conditions with what follows them, and what follows if none holds.
    If {
        branches: Vec<(Script, Script)>,
        otherwise: Option<Script>,
    },
    /// `while` and `until`.
    While {
        test: Script,
        body: Script,
    },
    /// `( … )` and `coproc`: has a shell of its own.
    Subshell(Script),
    /// `for` and `select`; without words it walks the positional parameters.
    For {
        variable: String,
        words: Option<Vec<Word>>,
        body: Script,
    },
    /// `for (( … ))`.
    Count {
        header: Vec<Piece>,
        body: Script,
    },
    Case {
        subject: Word,
        arms: Vec<(Vec<Word>, Script)>,
    },
    Function {
        name: String,
        body: Rc<Command>,
    },
    /// `(( … ))`.
    Arithmetic(Vec<Piece>),
    /// `[[ … ]]`.
    Test {
        /// The words between the brackets.
        words: Vec<Word>,
        /// They are tests of the known forms.
        plain: bool,
    },
}

/// A program (or builtin) with its assignments and words.
#[derive(Debug, Default)]
pub(in crate::command) struct Simple {
    pub(in crate::command) assignments: Vec<Assignment>,
    pub(in crate::command) words: Vec<Word>,
}

/// `name=value`, `name+=value`, `name[index]=value`, `name=(…)`.
#[derive(Debug)]
pub(in crate::command) struct Assignment {
    pub(in crate::command) name: String,
    pub(in crate::command) value: Word,
    /// Not a plain `name=word`: the value is not all there is to know.
    pub(in crate::command) partial: bool,
    /// `name+=value`: the value comes behind what is there.
    pub(in crate::command) appends: bool,
}

/// How a redirection uses its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::command) enum Flow {
    Read,
    Write,
    /// `<&`, `>&` with a descriptor.
    Duplicate,
    HereString,
    /// The index of the body in [`Parsed::bodies`].
    HereDocument(usize),
}

/// One redirection.
#[derive(Debug)]
pub(in crate::command) struct Redirect {
    pub(in crate::command) flow: Flow,
    /// The descriptor it changes; `None` for the usual one, or for `{name}>`.
    pub(in crate::command) descriptor: Option<u32>,
    pub(in crate::command) target: Word,
}

/// One word as it was written.
#[derive(Clone, Debug, Default)]
pub(in crate::command) struct Word {
    pub(in crate::command) span: Span,
    pub(in crate::command) pieces: Vec<Piece>,
}

/// The parts of a word, with quotes and escapes already decoded.
#[derive(Clone, Debug)]
pub(in crate::command) enum Piece {
    /// Text outside quotes: braces and equal signs in it still have a meaning.
    Bare(String),
    /// Text that was quoted or escaped: only itself.
    Quoted(String),
    /// One of `*`, `?`, `[` outside quotes.
    Glob(char),
    /// `~` or `~name` at the start of a word or an assigned value.
    Tilde(String),
    Parameter(Rc<Parameter>),
    /// `$(…)`, backticks, `${ …; }`.
    Command {
        script: Rc<Script>,
        quoted: bool,
    },
    /// `<(…)` and `>(…)`.
    Process(Rc<Script>),
    /// `$((…))` and `$[…]`.
    Arithmetic(Rc<Vec<Piece>>),
}

/// `$name` or `${name…}`.
#[derive(Debug)]
pub(in crate::command) struct Parameter {
    pub(in crate::command) name: String,
    pub(in crate::command) quoted: bool,
    pub(in crate::command) form: Change,
    /// What stands between brackets behind the name.
    pub(in crate::command) subscript: Vec<Piece>,
    /// What stands behind the operator.
    pub(in crate::command) inside: Vec<Piece>,
}

/// What an expansion does to the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::command) enum Change {
    Nothing,
    /// `:-` and `-`: the word may stand in for the value.
    Default,
    /// `:=` and `=`: the same, and the variable is set.
    Assign,
    /// `:+` and `+`: the word or nothing.
    Instead,
    /// `:?` and `?`: never empty.
    Required,
    /// `%` and `%%`: the value begins as it did, or is empty.
    Cut,
    /// `#`, `/`, `^`, `,`, `@` other than `@P`, `:` (a part of it), `!` (the keys of a list): this sign.
    Edit(u8),
    /// `${#name}`: a number.
    Length,
    /// `${list[@]}`: all elements, each a word.
    List,
    /// `${list[index]}`: one of them.
    Element,
    /// `${!name}`: whatever the value names.
    Indirect,
    /// `${name@P}`: the value is expanded once more, commands included.
    Prompt,
}

/// Stands before each element of `name=(…)`, as a piece of its own.
pub(in crate::command) const ELEMENT: &str = "\u{3}";

/// Something the parser met and does not vouch for.
#[derive(Clone, Debug)]
pub(in crate::command) struct Fault {
    pub(in crate::command) at: usize,
    pub(in crate::command) why: &'static str,
}

/// Everything the parser can say about a text.
#[derive(Debug, Default)]
pub(in crate::command) struct Parsed {
    pub(in crate::command) script: Script,
    pub(in crate::command) bodies: Vec<Word>,
    /// Empty exactly when the whole text was understood.
    pub(in crate::command) faults: Vec<Fault>,
    /// Whether the text ends inside something, or says something that is not shell.
    pub(in crate::command) broken: bool,
    /// Something in it is known to bash only: another shell reads it otherwise, or not at all.
    pub(in crate::command) bash_only: bool,
    /// How much work it took, in units that do not depend on the machine.
    pub(in crate::command) steps: usize,
}
