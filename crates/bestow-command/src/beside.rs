//! Lines with one unsafe part among parts that only read, as in `cd web && cargo test 2>&1 | tail -30`.
//!
//! A person may allow the unsafe part permanently. Therefore no other part may change what it does. The checks of this
//! file are narrow: a line that they do not describe has no shape. They allow programs that only read, which run in
//! processes of their own, and the few builtins that change nothing. They allow a single `cd`, which must have
//! succeeded when the unsafe part runs.

use crate::{
    builtins::is_builtin,
    part::RecordedPart,
    programs::{self, Program},
    safe::trusted_name,
    shape::{Shape, written},
    span::Span,
    syntax::tree::{Change, Command, Flow, Form, Joint, Piece, Pipeline, RawWord, Redirect, Script, Simple, Statement},
    tier::Tier,
    values::base_name,
};

/// Returns the only part that is not safe. Returns `None` if there are several, and for a part that is no command.
pub(crate) fn only_unsafe(parts: &[RecordedPart]) -> Option<&RecordedPart> {
    let mut rest = parts.iter().filter(|part| part.tier > Tier::Safe);
    let only = rest.next().filter(|part| part.tier == Tier::Dangerous && part.is_program)?;
    rest.next().is_none().then_some(only)
}

/// Returns the shape of the unsafe part of a line at this position, if the other parts cannot change what it does.
/// Their requests are a question of their own, for [`may_fetch`].
pub(crate) fn shape(script: &Script, only: Span) -> Option<Shape> {
    let (mut found, mut directory) = (None, None);
    for statement in &script.statements {
        let here = unsafe_pipeline(statement, only);
        if statement.background || here.is_some() && found.is_some() {
            return None;
        }
        if let Some((at, command)) = here {
            directory = entered(statement.pipelines.get(..=at)?)?;
            found = Some(command);
        }
        let enters = here.filter(|_| directory.is_some()).map(|(at, _)| at);
        let others = statement.pipelines.iter().enumerate().all(|(at, pipeline)| {
            let is_entry = enters.is_some_and(|end| at < end) && target_of_cd(pipeline).is_some();
            is_entry || pipeline.commands.iter().all(|command| command.span == only || is_harmless(command))
        });
        if !others {
            return None;
        }
    }
    let Form::Simple(simple) = &found?.form else { return None };
    Some(Shape::of_command(simple)?.among_others(directory.map(str::to_owned)))
}

/// Returns true if a part other than the unsafe one may run a program that saves a file or sends a request to any
/// server. With the default profile, such a part may be safe. The commands of the parts must have been asked for.
pub(crate) fn may_fetch(parts: &[RecordedPart], only: Span) -> bool {
    let mut others = parts.iter().filter(|part| part.span != only);
    others.any(starts_a_request)
}

fn starts_a_request(part: &RecordedPart) -> bool {
    part.starts.iter().any(|command| {
        let fetches = |name: &&str| programs::find(base_name(name)).is_some_and(has_lenient_form);
        command.programs().is_none_or(|names| names.iter().any(fetches))
    })
}

/// Returns true for a program with a form that is safe with the default profile only: `curl`, `wget`, `printenv`.
fn has_lenient_form(program: &Program) -> bool {
    program.reads.iter().any(|row| row.lenient)
}

/// Returns the unsafe command of a statement, and the index of its pipeline. The command must not read the output of
/// another command, and its own output must not go into a file.
fn unsafe_pipeline(statement: &Statement, span: Span) -> Option<(usize, &Command)> {
    statement.pipelines.iter().enumerate().find_map(|(at, pipeline)| {
        let first = pipeline.commands.first()?;
        (first.span == span && first.redirects.iter().all(stores_nothing)).then_some((at, first))
    })
}

/// Returns the directory in which the last of these pipelines runs, if a `cd` before it changes the directory. Returns
/// `None` if it is not certain that the `cd` has succeeded then.
fn entered(pipelines: &[Pipeline]) -> Option<Option<&str>> {
    let (last, before) = pipelines.split_last()?;
    let mut targets = before.iter().filter_map(target_of_cd);
    let Some(target) = targets.next() else { return Some(None) };
    let is_certain = pipelines.iter().all(|pipeline| pipeline.joint != Joint::Or)
        && before.iter().all(|pipeline| !pipeline.negated)
        && !last.commands.is_empty();
    (is_certain && targets.next().is_none()).then_some(Some(target))
}

/// Returns the directory of a pipeline that is `cd` with one written directory.
fn target_of_cd(pipeline: &Pipeline) -> Option<&str> {
    let [command] = pipeline.commands.as_slice() else { return None };
    let Form::Simple(simple) = &command.form else { return None };
    let [name, target] = simple.words.as_slice() else { return None };
    let [Piece::Bare(target) | Piece::Quoted(target)] = target.pieces.as_slice() else { return None };
    let is_cd = matches!(name.pieces.as_slice(), [Piece::Bare(name)] if name == "cd");
    let is_plain = !target.is_empty() && !target.starts_with(['-', '+', '~']) && !target.chars().any(char::is_control);
    // A brace in a bare word may stand for several words.
    let is_one = !target.contains(['{', '}']);
    (is_cd && is_plain && is_one && simple.assignments.is_empty() && command.redirects.is_empty())
        .then_some(target.as_str())
}

/// Returns true for a command that changes neither its shell nor a file. The caller knows that it is safe.
fn is_harmless(command: &Command) -> bool {
    let Form::Simple(simple) = &command.form else { return false };
    let [program, rest @ ..] = simple.words.as_slice() else { return false };
    let program = match program.pieces.as_slice() {
        [Piece::Glob('[')] => Some("[".into()),
        _ => written(program),
    };
    let Some(program) = program else { return false };
    let Some(name) = trusted_name(&program) else { return false };
    simple.assignments.is_empty()
        && command.redirects.iter().all(|redirect| stores_nothing(redirect) || only_reads(redirect))
        && command.redirects.iter().all(|redirect| changes_no_variable(&redirect.target))
        && rest.iter().all(changes_no_variable)
        && (!is_builtin(name) || is_harmless_builtin(name, simple))
}

/// Returns true for the builtins that change nothing in their shell, with words that cannot be an option which does.
fn is_harmless_builtin(name: &str, simple: &Simple) -> bool {
    let mut words = simple.words.iter().skip(1).map(written);
    match name {
        ":" | "true" | "false" | "echo" | "pwd" | "type" => true,
        "printf" => words.next().flatten().is_some_and(|format| !format.starts_with('-')),
        // A subscript after `-v` is evaluated.
        "test" | "[" => words.all(|word| word.is_some_and(|word| !matches!(&*word, "-v" | "-R"))),
        "command" => {
            let looks_up = words.next().flatten().is_some_and(|option| matches!(&*option, "-v" | "-V"));
            looks_up && words.all(|word| word.is_some())
        }
        _ => false,
    }
}

/// Returns true if the expansion of a word sets no variable and runs nothing.
fn changes_no_variable(word: &RawWord) -> bool {
    word.pieces.iter().all(|piece| match piece {
        Piece::Bare(_) | Piece::Quoted(_) | Piece::Glob(_) | Piece::Tilde(_) => true,
        Piece::Parameter(parameter) => parameter.form == Change::Nothing && parameter.subscript.is_empty(),
        Piece::Element | Piece::Command { .. } | Piece::Process(_) | Piece::Arithmetic(_) => false,
    })
}

/// Returns true for a redirection of the input from a file.
fn only_reads(redirect: &Redirect) -> bool {
    redirect.flow == Flow::Read && !redirect.unusual && redirect.descriptor.is_none_or(|number| number == 0)
}

/// Returns true for a redirection of the output that writes no file: `2>&1`, `>/dev/null`.
fn stores_nothing(redirect: &Redirect) -> bool {
    let target = match redirect.target.pieces.as_slice() {
        [Piece::Bare(text) | Piece::Quoted(text)] => text.as_str(),
        _ => return false,
    };
    let is_output = !redirect.unusual && redirect.descriptor.is_none_or(|number| number == 1 || number == 2);
    match redirect.flow {
        Flow::Duplicate => is_output && matches!(target, "1" | "2"),
        Flow::Write => is_output && target == "/dev/null",
        Flow::Read | Flow::HereString | Flow::HereDocument(_) => false,
    }
}
