//! Predicates on programs in other languages: scripts of `sed` and `awk`, expressions of `find`, `jq` and `yq`.

use std::borrow::Cow;

use crate::{
    lang::{awk, find, sed},
    options::Options,
    predicates::{Answer, when},
    word::{Gaps, Word},
};

/// Returns the text of a program. An unknown number in it is replaced by `1`, because any number has the same effect.
fn program(word: &Word) -> Result<Cow<'_, str>, String> {
    if word.is_exact() {
        return Ok(Cow::Borrowed(word.text()));
    }
    if word.is_number()
        && !word.is_wild()
        && !word.is_pattern()
        && !word.may_split()
        && !word.is_open()
        && !word.text().has_optional()
    {
        return Ok(Cow::Owned(word.text().with_number("1")));
    }
    Err("a program text that is not written out".into())
}

/// Checks the script of `sed`: the first operand, unless `-e` gives it.
pub(crate) fn sed_script(options: &Options<'_>) -> Answer {
    let scripts: Vec<&str> = options
        .given
        .iter()
        .filter(|(name, _)| name == "-e" || name == "--expression")
        .filter_map(|(_, value)| value.as_deref())
        .collect();
    if options.values.iter().any(|word| !word.is_exact()) {
        return Err("a program text that is not written out".into());
    }
    if !scripts.is_empty() {
        return sed::check(&scripts.join("\n")).map_err(Into::into);
    }
    let script = options.operands.first().ok_or("a script is missing")?;
    sed::check(&program(script)?).map_err(Into::into)
}

/// Checks the program of `awk`, which is the first operand. `name=value` among the other operands only sets a variable.
pub(crate) fn awk_program(options: &Options<'_>) -> Answer {
    let program = options.operands.first().ok_or("a program is missing")?;
    let reads_network = options.operands.iter().any(|operand| operand.text().starts_with("/inet"));
    if reads_network {
        return Err("`awk` opens a network connection".into());
    }
    awk::check(&self::program(program)?).map_err(Into::into)
}

pub(crate) fn find_expression(rest: &[Word]) -> Answer {
    find::check(rest)
}

/// Accepts `jq --arg name value`: the option takes two values, which the option list cannot express.
pub(crate) fn jq_words(rest: &[Word]) -> Answer {
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        match word.text() {
            "--arg" | "--argjson" | "--slurpfile" | "--rawfile" => drop((words.next(), words.next())),
            "--args" | "--jsonargs" | "-r" | "-c" | "-n" | "-s" | "-e" | "-S" | "-M" | "-C" | "-R" | "-j" | "-a"
            | "-rc" | "-nr" | "-rn" | "-sr" | "-rs" | "-cr" | "--raw-output" | "--compact-output" | "--null-input"
            | "--slurp" | "--exit-status" | "--tab" | "--raw-input" | "--sort-keys" => {}
            text if text.starts_with('-') => return Err("an option that is not on the list".into()),
            text => when(!imports(text), IMPORTS)?,
        }
    }
    Ok(())
}

/// The reason to refuse a program that imports.
const IMPORTS: &str = "a program that reads further files by `import` or `include`";

fn imports(program: &str) -> bool {
    program.contains("import") || program.contains("include")
}

/// Refuses a program of `jq` that imports: it reads a file that no operand names.
pub(crate) fn jq_program(options: &Options<'_>) -> Answer {
    when(!options.operands.iter().any(|word| imports(word.text())), IMPORTS)
}

/// Refuses `yq -s`, which writes files in one of the two programs of that name. Also refuses `load`, which reads files.
pub(crate) fn yq_expression(options: &Options<'_>) -> Answer {
    if options.has("-s") {
        return Err("`-s` writes files in one program of this name".into());
    }
    // `load("f")` and similar functions open a file that the expression names.
    let opens =
        options.operands.iter().any(|word| word.text().contains("load") || !word.is_written() && !word.is_pattern());
    if opens { Err("its expression may open another file".into()) } else { Ok(()) }
}

/// Options of a C compiler that change only what it prints or how it reads.
const COMPILER_BARE: &[&str] = &[
    "-E",
    "-fsyntax-only",
    "-P",
    "-C",
    "-CC",
    "-dM",
    "-dD",
    "-dN",
    "-dI",
    "-dU",
    "-H",
    "-w",
    "-ansi",
    "-undef",
    "-nostdinc",
    "-nostdinc++",
    "-pedantic",
    "-pedantic-errors",
    "-pthread",
    "-trigraphs",
    "-O0",
    "-O1",
    "-O2",
    "-O3",
    "-Os",
    "-Og",
    "-m32",
    "-m64",
    "-fPIC",
    "-ffreestanding",
    "-fdirectives-only",
];

/// Accepts `gcc -E` and `gcc -fsyntax-only` of an empty C or C++ program, with options that neither write nor load
/// anything. Any other program may include any file, and what is printed shows it.
pub(crate) fn compiler_check(rest: &[Word]) -> Answer {
    const VALUED: &[&str] = &["-I", "-D", "-U", "-isystem", "-iquote", "-idirafter"];
    const LANGUAGES: &[&str] = &["c", "c++"];
    when(rest.iter().any(|word| matches!(word.text(), "-E" | "-fsyntax-only")), "it compiles")?;
    let (mut words, mut language) = (rest.iter(), false);
    while let Some(word) = words.next() {
        when(!word.may_be_option() && !word.may_split(), "an expansion may turn into an option")?;
        let text = word.text();
        if text == "-x" {
            language = words.next().is_some_and(|value| value.is_exact() && LANGUAGES.contains(&value.text()));
            when(language, "a language whose check may leave files")?;
        } else if VALUED.contains(&text) {
            let value = words.next().filter(|value| !value.may_split() && !value.may_be_option());
            when(value.is_some_and(|value| !value.text().starts_with(['-', '@'])), "an option without its value")?;
        } else if text.len() > 1 && text.starts_with('-') {
            let named = text.starts_with("-std=") || ["-I", "-D", "-U"].iter().any(|option| text.starts_with(option));
            // `-Wp,…` and similar options pass options on.
            let warns = text.starts_with("-W") && !text.contains(',');
            when(
                COMPILER_BARE.contains(&text) || named || warns && word.is_exact(),
                "an option that is not on the list",
            )?;
        } else {
            when(language && word.is_exact() && text == "/dev/null", "a program may include any file")?;
        }
    }
    Ok(())
}
