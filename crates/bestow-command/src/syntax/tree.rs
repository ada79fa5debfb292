//! The syntax tree of a command line: statements of words, words of pieces. It owns its text and contains no verdicts.

use std::rc::Rc;

use smol_str::SmolStr;

use crate::{few::Few, span::Span};

/// A sequence of commands.
#[derive(Debug, Default)]
pub(crate) struct Script {
    pub(crate) statements: Vec<Statement>,
}

/// One and-or list and its end.
#[derive(Debug)]
pub(crate) struct Statement {
    pub(crate) pipelines: Few<Pipeline>,
    /// True if the statement ends in `&` and runs in a shell of its own.
    pub(crate) background: bool,
}

/// The condition under which a pipeline of an and-or list runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Joint {
    /// Always, for the first pipeline.
    #[default]
    First,
    /// After success, for `&&`.
    And,
    /// After failure, for `||`.
    Or,
}

/// Commands of which each passes its output to the next.
#[derive(Debug, Default)]
pub(crate) struct Pipeline {
    pub(crate) joint: Joint,
    /// True if `!` inverts the result, so that what follows `&&` runs after a failure.
    pub(crate) negated: bool,
    pub(crate) commands: Few<Command>,
}

/// A command of any form, with the redirections around it.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) span: Span,
    pub(crate) form: Form,
    pub(crate) redirects: Vec<Redirect>,
}

/// The forms of a command.
#[derive(Debug)]
pub(crate) enum Form {
    Simple(Simple),
    /// A group `{ …; }`, which runs in the current shell.
    Group(Script),
    /// The command `if`: conditions with their bodies, and the body of `else`.
    If {
        branches: Vec<(Script, Script)>,
        otherwise: Option<Script>,
    },
    /// The loops `while` and `until`.
    While {
        test: Script,
        body: Script,
    },
    /// The forms `( … )` and `coproc`, which run in a shell of their own.
    Subshell(Script),
    /// The loops `for` and `select`. Without words they use the positional parameters.
    For {
        variable: String,
        words: Option<Vec<RawWord>>,
        body: Script,
    },
    /// The loop `for (( … ))`.
    Count {
        header: Few<Piece>,
        body: Script,
    },
    Case {
        subject: RawWord,
        arms: Vec<(Vec<RawWord>, Script)>,
    },
    Function {
        name: String,
        body: Rc<Command>,
    },
    /// The command `(( … ))`.
    Arithmetic(Few<Piece>),
    /// The command `[[ … ]]`.
    Test {
        /// The words between the brackets.
        words: Vec<RawWord>,
        /// True if the words are tests of the known forms.
        plain: bool,
    },
}

/// A program or builtin with its assignments and words.
#[derive(Debug, Default)]
pub(crate) struct Simple {
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) words: Vec<RawWord>,
}

/// An assignment: `name=value`, `name+=value`, `name[index]=value`, `name=(…)`.
#[derive(Debug)]
pub(crate) struct Assignment {
    pub(crate) name: SmolStr,
    pub(crate) value: RawWord,
    /// True if this is not a plain `name=word`, so that `value` is only a part of the variable.
    pub(crate) partial: bool,
    /// True for `name+=value`, which appends to the old value.
    pub(crate) appends: bool,
}

/// The use that a redirection makes of its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    Read,
    Write,
    /// A copy of a descriptor: `<&` or `>&` with a descriptor.
    Duplicate,
    HereString,
    /// A here-document, with the index of its body in [`Parsed::bodies`].
    HereDocument(usize),
}

/// One redirection.
#[derive(Debug)]
pub(crate) struct Redirect {
    pub(crate) flow: Flow,
    /// The descriptor that the redirection changes. `None` for the default one, or for `{name}>`.
    pub(crate) descriptor: Option<u32>,
    /// True for `{name}>`, which sets a variable, and for `<>`, which redirects the input.
    pub(crate) unusual: bool,
    /// True for `{name}<`. Older versions of bash take `{name}` for a word.
    pub(crate) named: bool,
    pub(crate) target: RawWord,
}

/// One word as it was written.
#[derive(Clone, Debug, Default)]
pub(crate) struct RawWord {
    pub(crate) span: Span,
    pub(crate) pieces: Few<Piece>,
}

/// A part of a word, with quotes and escapes already decoded.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
    /// Text outside quotes. Braces and equal signs in it have a meaning.
    Bare(SmolStr),
    /// Text that was quoted or escaped and has no special meaning.
    Quoted(SmolStr),
    /// One of `*`, `?`, `[` outside quotes.
    Glob(char),
    /// A `~` or `~name` at the start of a word or an assigned value.
    Tilde(SmolStr),
    /// The start of an element of `name=(…)`.
    Element,
    Parameter(Rc<Parameter>),
    /// A command substitution: `$(…)`, backticks, `${ …; }`.
    Command {
        script: Rc<Script>,
        quoted: bool,
    },
    /// A process substitution: `<(…)` or `>(…)`.
    Process(Rc<Script>),
    /// An arithmetic expansion: `$((…))` or `$[…]`.
    Arithmetic(Rc<Few<Piece>>),
}

/// A parameter expansion: `$name` or `${name…}`.
#[derive(Debug)]
pub(crate) struct Parameter {
    pub(crate) name: SmolStr,
    pub(crate) quoted: bool,
    pub(crate) form: Change,
    /// The text between brackets after the name.
    pub(crate) subscript: Few<Piece>,
    /// The text after the operator.
    pub(crate) inside: RawWord,
}

impl Parameter {
    /// Returns true for `$name` and `${name}`.
    pub(crate) fn is_plain(&self) -> bool {
        self.form == Change::Nothing && self.subscript.is_empty()
    }
}

/// The change that an expansion applies to the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Nothing,
    /// The operators `:-` and `-`: the word may replace the value.
    Default,
    /// The operators `:=` and `=`: the word may replace the value and is assigned to the variable.
    Assign,
    /// The operators `:+` and `+`: the word, or no text.
    Instead,
    /// The operators `:?` and `?`: the value is never empty.
    Required,
    /// The operators `%` and `%%`: the value keeps its beginning, or becomes empty.
    Cut,
    /// The operators `#`, `/`, `^`, `,`, `@` other than `@P`, `:` (a substring) and `!` (the keys of a list), by their
    /// sign.
    Edit(u8),
    /// The expansion `${#name}`, which is a number.
    Length,
    /// The expansion `${list[@]}`: all elements, each as a word.
    List,
    /// The expansion `${list[index]}`: one element.
    Element,
    /// The expansion `${!name}`: the variable that the value names.
    Indirect,
    /// The expansion `${name@P}`: the value is expanded once more, including commands.
    Prompt,
}

/// Syntax that the parser met and whose meaning is doubtful.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) at: usize,
    pub(crate) why: &'static str,
}

/// The result of parsing a text.
#[derive(Debug, Default)]
pub(crate) struct Parsed {
    pub(crate) script: Script,
    /// The number of commands of any form.
    pub(crate) commands: usize,
    pub(crate) bodies: Vec<Rc<RawWord>>,
    /// Faults. The list is empty exactly when the whole text was understood.
    pub(crate) faults: Vec<Fault>,
    /// True if the text ends inside a construct, or is not valid shell syntax.
    pub(crate) broken: bool,
    /// True if another shell does not know some syntax of the text or reads it differently.
    pub(crate) bash_only: bool,
    pub(crate) elsewhere: Elsewhere,
}

/// The shells that may run or write something in a text that bash does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Elsewhere {
    pub(crate) dash: bool,
    pub(crate) zsh: bool,
}
