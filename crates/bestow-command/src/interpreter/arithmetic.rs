//! Arithmetic and tests. Both evaluate text, and the evaluation may assign variables and run commands.

use crate::{
    interpreter::{Interpreter, Value, is_evaluation_trap, is_plain_number, runs_in_arithmetic},
    span::Span,
    syntax::tree::{Piece, RawWord},
    tier::Tier,
    word::Word,
};
use smol_str::SmolStr;

/// The limit of texts that are followed for one expression. The value of a variable is an expression too.
const MAX_EXPRESSIONS: usize = 64;

impl Interpreter<'_> {
    /// Evaluates `[[ … ]]`, which is harmless except for operands that are evaluated as arithmetic.
    pub(super) fn test(&mut self, words: &[RawWord], span: Span) {
        let words: Vec<Word> = words.iter().flat_map(|word| self.expand_whole(word)).collect();
        self.here = span;
        let evaluates = |arg: &Word| {
            matches!(arg.text(), "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" | "-v" | "-R")
                || arg.text() == "-t" && self.dialect.may_be_zsh()
        };
        if words.iter().any(evaluates) {
            if words.iter().any(|word| word.is_wild() || word.is_expanded() && word.may_be_file_name()) {
                self.mark_unknown("an arithmetic test evaluates text that is unknown");
            }
            self.evaluate(words.iter().map(|word| word.shared_text()).collect());
        }
        match words.iter().find(|word| is_evaluation_trap(word.text())) {
            Some(_) => self.mark_unknown("a test evaluates a command hidden in a subscript"),
            None => self.record_part(Tier::Safe, "a test", span),
        }
    }

    /// Evaluates arithmetic with the values of variables, including any command in a subscript.
    pub(super) fn arithmetic(&mut self, pieces: &[Piece]) {
        if pieces.is_empty() {
            return;
        }
        let here = self.here;
        let texts = self.expand_text(pieces, here);
        self.here = here;
        let reads_file_name = |piece: &Piece| match piece {
            Piece::Parameter(parameter) => self.scope.read(&parameter.name).may_be_file_name(),
            Piece::Bare(_) | Piece::Quoted(_) | Piece::Element | Piece::Glob(_) | Piece::Tilde(_) => false,
            Piece::Command { .. } | Piece::Process(_) | Piece::Arithmetic(_) => false,
        };
        let reads_file_name = pieces.iter().any(reads_file_name);
        if reads_file_name || texts.iter().any(Word::is_wild) || pieces.iter().any(hides_a_command) {
            self.mark_unknown("arithmetic evaluates text that is unknown");
        }
        // A division, a value that is no number, a number such as `08`: an error ends the commands of the line.
        if texts.iter().any(|text| !is_plain_number(text.text())) {
            self.scope.may_fail();
        }
        self.evaluate(texts.iter().map(Word::shared_text).collect());
    }

    /// Searches `((…))` for commands, because other shells read it as a subshell in a subshell. Two adjacent words
    /// are not arithmetic.
    pub(super) fn search_commands(&mut self, pieces: &[Piece]) {
        let here = self.here;
        let texts = self.expand_text(pieces, here);
        self.here = here;
        for text in texts.iter().map(|arg| arg.text()).filter(|text| holds_a_command(text)) {
            self.mark_dangerous("what stands in `((…))` is no arithmetic");
            let found = self.search_text(text, here);
            if found.tier == Tier::Destructive {
                self.record_part(found.tier, found.rule, here);
            }
        }
    }

    /// Records the variables and commands of an evaluation of `texts`, through the values of the variables that they
    /// name.
    pub(super) fn evaluate(&mut self, mut texts: Vec<SmolStr>) {
        let mut seen: Vec<String> = Vec::new();
        while let Some(text) = texts.pop() {
            if runs_in_arithmetic(&text) {
                self.mark_unknown("arithmetic evaluates a command that is quoted");
            }
            let assigns = assigns(&text);
            for name in names(&text) {
                if assigns {
                    let before = self.scope.read(name);
                    self.set(name, before.or(&Value::tame()));
                }
                if seen.iter().any(|known| known == name) {
                    continue;
                }
                seen.push(name.to_owned());
                let value = self.scope.read(name);
                let unread = value.is_wild() || value.may_be_file_name();
                if !unread && self.scope.assigned(name).is_none() {
                    continue;
                }
                texts.extend(value.texts.iter().filter(|text| !is_number(text)).cloned());
                if unread || seen.len() + texts.len() > MAX_EXPRESSIONS {
                    self.mark_unknown("arithmetic evaluates text that is unknown");
                    return;
                }
            }
        }
    }
}

/// Returns true if an evaluation may run a command that the value of the piece does not show: the content of a file, or
/// what stands between quotes in an expansion.
fn hides_a_command(piece: &Piece) -> bool {
    match piece {
        Piece::Process(_) => true,
        Piece::Quoted(text) => text.contains(['$', '`']),
        Piece::Parameter(parameter) => parameter.inside.pieces.iter().any(hides_a_command),
        Piece::Bare(_) | Piece::Element | Piece::Glob(_) | Piece::Tilde(_) => false,
        Piece::Command { .. } | Piece::Arithmetic(_) => false,
    }
}

/// Returns true if an operand or an option follows another operand without an operator between them.
fn holds_a_command(text: &str) -> bool {
    let operand = |c: char| c.is_alphanumeric() || c == '_';
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let next = words.peek().copied().unwrap_or_default();
        let option = next.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_alphabetic()));
        if word.ends_with(operand)
            && (option || next.starts_with(|c: char| operand(c) || "./~\"'".contains(c) && next.len() > 1))
        {
            return true;
        }
    }
    false
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn names(text: &str) -> impl Iterator<Item = &str> {
    let names = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    names.filter(|name| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
}

/// Returns true if an expression sets a variable. Comparisons do not.
fn assigns(text: &str) -> bool {
    let mut text = text.replace("<<=", "=").replace(">>=", "=");
    for comparison in ["==", "!=", "<=", ">="] {
        text = text.replace(comparison, " ");
    }
    text.contains('=') || text.contains("++") || text.contains("--")
}
