//! Words to arguments: quotes are gone already, here go braces, tildes, variables and substitutions.

use super::{
    Walker,
    arg::{Arg, HOME, Known, SOMETHING, UNKNOWN},
    brace,
    scope::Value,
};
use crate::command::syntax::tree::{Change, Parameter, Piece, Word};

/// The most alternatives one word is followed into.
const MAX_ALTERNATIVES: usize = 64;

/// The words that one word may become, while its pieces are read.
#[derive(Clone, Debug, Default)]
struct Draft {
    done: Vec<Arg>,
    current: Arg,
    /// Something was written, even if it is empty: `""` is a word.
    started: bool,
}

impl Draft {
    fn push(&mut self, text: &str) {
        self.started = true;
        // A literal NUL or marker character must not look like one of ours.
        if text.contains([UNKNOWN, SOMETHING, HOME]) {
            self.current.text.push_str(&text.replace([UNKNOWN, SOMETHING, HOME], "\u{fffd}"));
        } else {
            self.current.text.push_str(text);
        }
    }

    /// The value of an expansion, markers and all; outside quotes, blanks in it end the word.
    fn push_value(&mut self, value: &str, known: Known, quoted: bool) {
        self.current.expanded = true;
        self.current.known = self.current.known.max(known);
        if quoted {
            self.started = true;
            self.current.text.push_str(value);
            return;
        }
        self.current.splits |= known != Known::Fully;
        self.current.glob |= value.contains(['*', '?', '[']);
        let mut parts = value.split([' ', '\t', '\n']);
        if let Some(first) = parts.next() {
            self.current.text.push_str(first);
            self.started |= !first.is_empty();
        }
        for part in parts {
            self.end_word();
            self.current.expanded = true;
            self.current.known = known;
            self.current.text.push_str(part);
            self.started = !part.is_empty();
        }
    }

    fn end_word(&mut self) {
        let mut word = std::mem::take(&mut self.current);
        // The command `[` is a name, not the start of a pattern.
        word.glob &= word.text != "[";
        if std::mem::take(&mut self.started) {
            self.done.push(word);
        }
    }
}

/// A word in which nothing is expanded, as most words are.
fn plain(word: &Word) -> Option<Arg> {
    let mut arg = Arg { span: word.span, ..Arg::default() };
    for piece in &word.pieces {
        match piece {
            Piece::Bare(text) if text.contains(['{', UNKNOWN, SOMETHING, HOME]) => return None,
            Piece::Quoted(text) if text.contains([UNKNOWN, SOMETHING, HOME]) => return None,
            Piece::Bare(text) | Piece::Quoted(text) => arg.text.push_str(text),
            Piece::Glob(c) => {
                arg.text.push(*c);
                arg.glob = true;
            }
            Piece::Tilde(_) | Piece::Parameter(_) | Piece::Command { .. } => return None,
            Piece::Process(_) | Piece::Arithmetic(_) => return None,
        }
    }
    arg.glob &= arg.text != "[";
    Some(arg)
}

impl Walker<'_> {
    /// All the arguments that `words` become.
    pub(super) fn expand_all(&mut self, words: &[Word]) -> Vec<Arg> {
        words.iter().flat_map(|word| self.expand(word)).collect()
    }

    /// The arguments that one word becomes; where there are alternatives, all of them.
    pub(super) fn expand(&mut self, word: &Word) -> Vec<Arg> {
        if let Some(arg) = plain(word) {
            return vec![arg];
        }
        let Some(expansion) = brace::expand(&word.pieces) else {
            return self.expand_pieces(&word.pieces, word, true);
        };
        if !expansion.complete {
            self.lose("more braces than are followed");
        }
        expansion.words.iter().flat_map(|pieces| self.expand_pieces(pieces, word, true)).collect()
    }

    /// The possible texts of something that is never split: an assigned value, a here-document, a redirection target.
    pub(super) fn expand_whole(&mut self, word: &Word) -> Vec<Arg> {
        self.expand_pieces(&word.pieces, word, false)
    }

    fn expand_pieces(&mut self, pieces: &[Piece], word: &Word, splits: bool) -> Vec<Arg> {
        let mut drafts = vec![Draft::default()];
        let (list, other_blanks) = (pieces.iter().any(is_list), self.scope.variables.contains_key("IFS"));
        for piece in pieces {
            self.expand_piece(piece, &mut drafts, splits);
        }
        let mut words = Vec::new();
        for mut draft in drafts {
            draft.started |= !splits || !draft.current.text.is_empty();
            draft.end_word();
            words.extend(draft.done.into_iter().map(|arg| Arg { span: word.span, ..arg }));
        }
        for word in &mut words {
            word.open |= list || (other_blanks && word.expanded);
        }
        words
    }

    fn expand_piece(&mut self, piece: &Piece, drafts: &mut Vec<Draft>, splits: bool) {
        match piece {
            Piece::Bare(text) | Piece::Quoted(text) => drafts.iter_mut().for_each(|draft| draft.push(text)),
            Piece::Glob(c) => drafts.iter_mut().for_each(|draft| {
                draft.push(c.encode_utf8(&mut [0; 4]));
                draft.current.glob = true;
            }),
            Piece::Tilde(name) => {
                let (value, known) = match name.as_str() {
                    "" => (HOME.to_string(), Known::Environment),
                    "+" => (".".into(), Known::Environment),
                    "-" => (UNKNOWN.to_string(), Known::Environment),
                    name => (format!("{HOME}/../{name}"), Known::Environment),
                };
                drafts.iter_mut().for_each(|draft| draft.push_value(&value, known, true));
            }
            Piece::Parameter(parameter) => {
                let (texts, known) = self.read_parameter(parameter);
                multiply(drafts, &texts, known, parameter.quoted || !splits);
            }
            Piece::Command { script, quoted } => {
                let output = self.substitution(script);
                let (text, known) = match output {
                    Value::OneOf(texts) => (texts.into_iter().next().unwrap_or_default(), Known::Fully),
                    Value::Tame => (SOMETHING.to_string(), Known::Environment),
                    Value::Wild => (UNKNOWN.to_string(), Known::Partly),
                };
                for draft in drafts {
                    draft.push_value(&text, known, *quoted || !splits);
                    draft.current.substituted = true;
                }
            }
            Piece::Process(script) => {
                let content = match self.substitution(script) {
                    Value::OneOf(texts) => texts.into_iter().next(),
                    Value::Tame | Value::Wild => None,
                };
                drafts.iter_mut().for_each(|draft| {
                    draft.push("/dev/fd/63");
                    draft.current.content.clone_from(&content);
                    draft.current.expanded = true;
                    draft.current.substituted = true;
                });
            }
            Piece::Arithmetic(inside) => {
                self.arithmetic(inside);
                drafts.iter_mut().for_each(|draft| draft.push_value(&SOMETHING.to_string(), Known::Environment, true));
            }
        }
    }

    /// The values a parameter may have, after what the expansion does to it.
    fn read_parameter(&mut self, parameter: &Parameter) -> (Vec<String>, Known) {
        let inside = Word { pieces: parameter.inside.clone(), ..Word::default() };
        let reading = self.scope.read(&parameter.name);
        let (mut texts, mut known) = (reading.texts, reading.known);
        match parameter.form {
            Change::Nothing => {}
            Change::Required => {
                self.expand_whole(&inside);
                texts.iter_mut().filter(|text| text.starts_with(UNKNOWN)).for_each(|text| *text = SOMETHING.into());
            }
            Change::Default | Change::Assign | Change::Instead => {
                if parameter.form == Change::Instead {
                    texts = vec![String::new()];
                }
                for arg in self.expand_whole(&inside) {
                    known = known.max(arg.known);
                    texts.push(arg.text);
                }
                if parameter.form == Change::Assign {
                    self.overheard.assigned(&parameter.name);
                    if texts.iter().any(|text| super::is_evaluation_trap(text)) {
                        self.lose("a variable holds a subscript with a command, which arithmetic would run");
                    }
                    self.sets(&parameter.name);
                    let value = if known == Known::Partly { Value::Wild } else { Value::OneOf(texts.clone()) };
                    self.scope.variables.insert(parameter.name.clone(), value);
                }
            }
            Change::Edit if is_whole_list(parameter) => {}
            Change::Edit => {
                if let Some(first) = first_slash(parameter) {
                    return (vec![first], Known::Environment);
                }
                self.arithmetic(&parameter.inside);
                // An edit of blanks leaves blanks: the oldest trick with `$IFS`.
                let text = if parameter.name == "IFS" { " ".into() } else { UNKNOWN.to_string() };
                known = if texts.iter().all(|text| text.is_empty()) {
                    Known::Partly
                } else {
                    known.max(Known::Environment)
                };
                texts = vec![text];
            }
            Change::Indirect => {
                self.suspect("an indirect expansion follows a name nobody has read");
                self.expand_whole(&inside);
                (texts, known) = (vec![UNKNOWN.into()], Known::Partly);
            }
            Change::Prompt => {
                self.lose("`@P` expands its value once more, commands included");
                (texts, known) = (vec![UNKNOWN.into()], Known::Partly);
            }
        }
        (texts, known)
    }
}

/// Becomes several words or none, even in quotes.
fn is_list(piece: &Piece) -> bool {
    let Piece::Parameter(parameter) = piece else { return false };
    let all = |piece: &Piece| matches!(piece, Piece::Bare(text) | Piece::Quoted(text) if text.contains('@'));
    parameter.name == "@" || parameter.inside.iter().any(all) || parameter.form == Change::Indirect
}

/// `${list[@]}`: all elements, each a word.
fn is_whole_list(parameter: &Parameter) -> bool {
    matches!(parameter.inside.as_slice(), [Piece::Quoted(text)] if text == "@" || text == "*")
}

/// `${PATH:0:1}` and its kin are a slash that nobody sees.
fn first_slash(parameter: &Parameter) -> Option<String> {
    let [Piece::Quoted(range)] = parameter.inside.as_slice() else { return None };
    let absolute = matches!(parameter.name.as_str(), "PATH" | "HOME" | "PWD" | "SHELL" | "OLDPWD");
    (absolute && matches!(range.trim_start_matches(':').trim(), "0:1" | ":1" | "1" | "0: 1")).then(|| "/".into())
}

/// Appends every value to a copy of every draft.
fn multiply(drafts: &mut Vec<Draft>, texts: &[String], known: Known, quoted: bool) {
    let room = (MAX_ALTERNATIVES / drafts.len().max(1)).max(1);
    let lost = texts.len() > room;
    let known = if lost { Known::Partly } else { known };
    let grown = drafts.iter().flat_map(|draft| {
        texts.iter().take(room).map(move |text| {
            let mut draft = draft.clone();
            draft.current.open |= lost;
            draft.push_value(text, known, quoted);
            draft
        })
    });
    let grown: Vec<Draft> = grown.collect();
    if !grown.is_empty() {
        *drafts = grown;
    } else if quoted {
        // `"$*"` without parameters is one empty word.
        drafts.iter_mut().for_each(|draft| draft.started = true);
    }
}
