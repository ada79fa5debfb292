//! Predicates on the words of builtins of the shell.

use crate::{
    options::Options,
    predicates::{Answer, when},
    word::{Word, is_unknown},
};

/// Accepts `-e`, `-u`, `-x`, `-o pipefail`, similar options, and positional parameters.
pub(crate) fn set_options(rest: &[Word]) -> Answer {
    const NAMED: &[&str] = &["errexit", "nounset", "pipefail", "xtrace", "noclobber", "noglob", "verbose", "posix"];
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        let letters = word.text().strip_prefix(['-', '+']);
        match letters {
            _ if word.text() == "--" => return Ok(()),
            Some(letters)
                if word.is_exact()
                    && !letters.is_empty()
                    && letters.bytes().all(|letter| b"euxvfCEo".contains(&letter)) =>
            {
                if letters.contains('o') && !words.next().is_some_and(|name| NAMED.contains(&name.text())) {
                    return Err("an option that is not on the list".into());
                }
            }
            _ => return Err("an option that is not on the list".into()),
        }
    }
    if rest.is_empty() { Err("it prints every variable and function".into()) } else { Ok(()) }
}

/// Accepts plain variable names, because the shell may evaluate other operands. `-a` names one, too.
pub(crate) fn read_variables(options: &Options<'_>) -> Answer {
    let plain = |operand: &&Word| operand.is_exact() && crate::syntax::is_name(operand.text());
    let list = options.value("-a").is_none_or(crate::syntax::is_name);
    if list && options.operands.iter().all(plain) { Ok(()) } else { Err("a name that may be evaluated".into()) }
}

/// Accepts harmless exports. An exported variable reaches every later program.
pub(crate) fn exported_variables(options: &Options<'_>) -> Answer {
    for operand in &options.operands {
        let (name, value) = operand.text().split_once('=').unwrap_or((operand.text(), ""));
        if !crate::syntax::is_name(name) || (operand.is_open() && operand.is_wild()) {
            return Err("a name that is not written out".into());
        }
        if !operand.text().contains('=') {
            continue;
        }
        let value = operand.with_text(value);
        if crate::interpreter::is_evaluation_trap(value.text()) {
            return Err("a value that arithmetic would run".into());
        }
        let verdict = crate::variables::evaluate(name, &value, false);
        if verdict.tier > crate::tier::Tier::Safe {
            return Err(verdict.rule);
        }
    }
    Ok(())
}

/// Accepts `getopts letters name`. The shell sets the variable of this name.
pub(crate) fn getopts_words(rest: &[Word]) -> Answer {
    let is_name = |word: &Word| word.is_exact() && crate::syntax::is_name(word.text());
    match rest {
        [letters, name, operands @ ..] if !letters.may_split() && !letters.is_open() && is_name(name) => {
            no_evaluation(operands)
        }
        _ => Err("a name that may be evaluated".into()),
    }
}

pub(crate) fn arithmetic(rest: &[Word]) -> Answer {
    let plain = |word: &Word| word.is_exact() && !word.text().contains(['[', '$', '`']);
    if rest.iter().all(plain) { Ok(()) } else { Err("an expression that may be evaluated twice".into()) }
}

/// Accepts harmless assignments. `export name=value` is evaluated like the assignment before a command.
pub(crate) fn declared_variables(options: &Options<'_>) -> Answer {
    for operand in &options.operands {
        let (name, value) = operand.text().split_once('=').unwrap_or((operand.text(), ""));
        let value = operand.with_text(value);
        if !crate::syntax::is_name(name) || operand.text().contains('[') {
            return Err("a name that may be evaluated".into());
        }
        // The shell parses a list again if it was written as a text.
        let list = value.text().starts_with('(') || (options.has("-a -A") && value.starts_unknown());
        if list {
            return Err("a list that is evaluated".into());
        }
        if operand.text().contains('=') {
            let alone = !options.has("-x");
            let verdict = crate::variables::evaluate(name, &value, alone);
            if verdict.tier > crate::tier::Tier::Safe {
                return Err(verdict.rule);
            }
        }
    }
    Ok(())
}

/// Refuses operands of `test` and `printf` that the shell evaluates although they are quoted.
fn no_evaluation(rest: &[Word]) -> Answer {
    let traps = rest.iter().any(|word| crate::interpreter::is_evaluation_trap(word.text()));
    let evaluates = |word: &&Word| matches!(word.text(), "-v" | "-R");
    let wild = rest.windows(2).any(|pair| matches!(pair, [first, second] if evaluates(&first) && !second.is_exact()));
    if traps || wild { Err("an operand that is evaluated".into()) } else { Ok(()) }
}

/// Refuses operands that may become several words, because these may be `-v name`.
pub(crate) fn test_words(rest: &[Word]) -> Answer {
    no_evaluation(rest)?;
    let several = rest.iter().any(|word| word.is_wild() && (word.may_split() || word.is_open()));
    let names = rest.iter().any(|word| word.is_pattern() && word.may_be_option());
    if several || names { Err("without quotes it may become a test that runs code".into()) } else { Ok(()) }
}

/// Refuses `printf -v name`, which sets a variable and evaluates its name, and a format that may contain `%n`.
pub(crate) fn printf_words(rest: &[Word]) -> Answer {
    no_evaluation(rest)?;
    let first = rest.first();
    let option = first.is_some_and(|word| word.text().starts_with("-v") || (word.may_be_option() && word.is_wild()));
    when(!option, "`printf -v` sets a variable")?;
    let mut words = rest.iter().filter(|word| word.text() != "--");
    let (format, names_variable) = (words.next(), words.next().is_some());
    let is_known = |format: &Word| format.is_exact() || format.is_number();
    let is_alone = |format: &Word| !names_variable && !format.may_split() && !format.is_pattern();
    let is_harmless = |format: &Word| is_alone(format) || is_known(format) && !counts(format.text());
    when(format.is_none_or(is_harmless), "the format may contain `%n`, which sets a variable")
}

/// Returns true for a format with `%n`, which may have flags, a width, a precision and a length. Its unknown parts are
/// numbers.
fn counts(format: &str) -> bool {
    let stands_between = |c: char| c.is_ascii_digit() || is_unknown(c) || "#'-+ *.$hljztLq".contains(c);
    let mut rest = format;
    while let Some((_, behind)) = rest.split_once('%') {
        let directive = behind.trim_start_matches(stands_between);
        if directive.starts_with('n') {
            return true;
        }
        rest = behind.strip_prefix('%').unwrap_or(directive);
    }
    false
}
