//! Builtins that change the state of the shell. Their other effects are evaluated like those of any other command.

use crate::{
    few::Few,
    interpreter::{Interpreter, Positional, Value},
    invocation::Input,
    span::Span,
    syntax::is_name,
    tier::Tier,
    variables,
    word::{Fragment, Gaps, IDENTIFIERS, Known, Word},
};
use smol_str::SmolStr;

impl Interpreter<'_> {
    /// Applies the changes of a command to the state of its shell. `line` is its certain input.
    pub(super) fn remember(&mut self, args: &[Word], line: &Input) {
        let Some((program, rest)) = unwrapped(args) else { return };
        let is_other = if self.dialect.needs_posix() { is_of_bash } else { replaces_directory };
        if !self.dialect.is_certainly_bash() && is_other(program.text(), rest) {
            self.mark_dangerous("the shell that runs this text may not have this builtin");
        }
        if rest.iter().any(|arg| evaluates(program.text(), rest, arg)) {
            self.mark_unknown("a builtin runs what a file name contains");
        }
        self.evaluate_numbers(program.text(), rest);
        match program.text() {
            "cd" | "pushd" | "popd" => self.changes_directory(program.text(), rest),
            "read" => self.reads(rest, line),
            "mapfile" | "readarray" => {
                // Some of these words are option values, so each may be the name.
                let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
                let named = rest
                    .iter()
                    .filter(|arg| !arg.text().is_empty() && !arg.text().starts_with('-') && !number(arg.text()));
                named.for_each(|name| self.set_to_anything(name.shared_text()));
                self.set_to_anything("MAPFILE".into());
            }
            "getopts" => {
                rest.iter().skip(1).take(1).for_each(|name| self.set_to_anything(name.shared_text()));
                self.set_to_anything("OPTARG".into());
            }
            "let" => self.evaluate(rest.iter().map(|arg| arg.shared_text()).collect()),
            name if declares_variables(name) => {
                let before = self.kept_elsewhere(name, rest);
                self.declares(program.text(), rest);
                for (name, before) in before {
                    let value = self.scope.read(&name).or(&before);
                    self.set(&name, value);
                }
            }
            "printf" => {
                if let Some(name) = printed_into(rest) {
                    self.set_to_anything(name.into());
                }
            }
            "wait" => {
                let at = rest.iter().position(|arg| arg.text() == "-p");
                let name = at.and_then(|at| rest.get(at + 1)).map(|name| name.shared_text());
                name.into_iter().for_each(|name| self.set(&name, Value::tame()));
            }
            "set" => self.sets_parameters(rest),
            "shift" => self.shifts(rest),
            "unset" => self.unsets(rest),
            "alias" => self.alias(rest),
            "hash" | "ln" | "cp" | "mv" | "link" | "install" => self.renames_program(program.text(), rest),
            "trap" | "enable" => self.scope.meddle(),
            "shopt" => self.sets_shell_options(rest),
            "source" | "." => self.scope.forget(),
            "return" | "break" | "continue" => self.leave(),
            _ => {}
        }
    }

    /// Evaluates the words of a builtin that are arithmetic.
    fn evaluate_numbers(&mut self, builtin: &str, rest: &[Word]) {
        let numbers = evaluated(builtin, rest, self.dialect.may_be_zsh());
        if numbers.iter().any(Word::is_wild) {
            self.mark_unknown("a builtin evaluates text that is unknown as arithmetic");
        }
        self.evaluate(numbers.iter().map(|arg| arg.shared_text()).collect());
    }

    fn shifts(&mut self, rest: &[Word]) {
        let count = match rest {
            [] => Some(1),
            [count] if count.is_exact() => count.text().parse().ok(),
            _ => None,
        };
        match count {
            Some(count) if !self.scope.may_have_failed() => self.scope.positional.shift(count),
            _ => self.scope.positional = Positional::unknown(),
        }
    }

    /// Returns the variables that a builtin sets only in some shells, with their values before. A list is a mistake in
    /// the syntax of the others.
    fn kept_elsewhere(&self, builtin: &str, rest: &[Word]) -> Vec<(SmolStr, Value)> {
        if !self.dialect.may_be_dash() || !is_of_bash(builtin, rest) {
            return Vec::new();
        }
        let named = rest.iter().filter(|arg| !arg.text().has_elements()).filter_map(|arg| arg.text().split_once('='));
        let names = named.map(|(name, _)| SmolStr::from(name.trim_end_matches('+')));
        names.map(|name| (name.clone(), self.scope.read(&name))).collect()
    }

    fn sets_shell_options(&mut self, rest: &[Word]) {
        self.scope.meddle();
        if rest.iter().any(changes_patterns) {
            self.uses.reads_unknown();
        }
    }

    fn changes_directory(&mut self, program: &str, rest: &[Word]) {
        if !self.can_follow(self.scope.weight_of_places()) {
            return self.scope.enter(&Fragment::Unknown.to_string());
        }
        let mut operands = rest.iter().filter(|arg| !arg.text().starts_with('-') || arg.text() == "-");
        match operands.next() {
            None if program == "cd" => self.scope.enter(&Fragment::Home.to_string()),
            None => self.scope.enter(&Fragment::Unknown.to_string()),
            Some(target) if target.text() == "-" || target.text().starts_with('+') || program == "popd" => {
                self.scope.enter(&Fragment::Unknown.to_string());
            }
            Some(target) => self.scope.enter(target.text()),
        }
    }

    /// Sets the variables of `read`. With any other option, `read` takes only a part of the line, or another line.
    fn reads(&mut self, rest: &[Word], line: &Input) {
        let plainly =
            matches!(rest, [name] if !name.text().starts_with('-')) || matches!(rest, [raw, _] if raw.text() == "-r");
        let mut names: Vec<SmolStr> = rest
            .iter()
            .map(|arg| arg.shared_text())
            .filter(|text| is_name(text.split('[').next().unwrap_or_default()))
            .collect();
        names.extend(rest.iter().filter_map(|arg| list_read_into(arg.text())).map(SmolStr::from));
        if names.is_empty() {
            names.push("REPLY".into());
        }
        let ids = plainly && matches!(line, Input::Terminal) && self.feed.as_deref() == Some(IDENTIFIERS);
        let value = match line_read(line).filter(|_| plainly) {
            Some(text) => Value::text(text),
            // After the last of them, the variable is empty.
            None if ids => Value::tame().or(&Value::text("")),
            None => self.fed(),
        };
        names.iter().for_each(|name| self.set(name, value.clone()));
    }

    /// Returns the value of a variable that reads a line of the surrounding loop's input, or any text.
    fn fed(&self) -> Value {
        let lines = self.feed.iter().flat_map(|text| text.lines()).take(8).map(SmolStr::from);
        let lines = Value::one_of(lines.collect(), Known::Partly);
        lines.or(&Value::wild())
    }

    fn declares(&mut self, program: &str, rest: &[Word]) {
        let flags: String = rest.iter().filter_map(|arg| arg.text().strip_prefix('-')).collect();
        // The variable becomes a reference to another variable, so any variable may be set.
        if flags.contains('n') && program != "export" {
            self.scope.forget();
        }
        let odd = flags.contains(['i', 'l', 'u', 'c']);
        // With these options no variable is set, and `local` fails outside a function.
        let may_not_set = flags.contains(['f', 'F', 'p']) || (program == "local" && self.running.is_empty());
        for arg in rest.iter().filter(|arg| !arg.text().starts_with(['-', '+'])) {
            let (name, value) = match arg.text().split_once('=') {
                Some((name, text)) => (name, Some(self.declared(arg, text))),
                None => (arg.text(), None),
            };
            let appends = name.ends_with('+');
            let name = name.trim_end_matches('+').to_owned();
            let before = self.scope.read(&name);
            match value {
                Some(value) if before.list && !value.list && may_be_list(&value) => {
                    self.mark_unknown("a text that is read as a list once more");
                    self.set(&name, Value::wild());
                }
                Some(value) if may_not_set || (before.list && !value.list) => self.set(&name, before.or(&value)),
                Some(value) if odd || appends => self.set(&name, before.or(&value).or(&Value::wild())),
                Some(value) => self.set(&name, value),
                None if flags.contains(['f', 'p', 'F']) || matches!(program, "export" | "readonly") => {}
                None if odd => self.set(&name, Value::wild()),
                // `local name` hides the old value. The other builtins keep it.
                None => self.set(&name, before.or(&Value::text(SmolStr::default()))),
            }
            // An exported variable reaches programs, no matter when it was set.
            let exports = program == "export" || flags.contains('x');
            if exports && !arg.text().contains('=') {
                self.exports(&name);
            }
            // The attribute persists and changes later assignments.
            if program == "readonly" || flags.contains(['r', 'l', 'u', 'c']) || odd {
                self.scope.fix(&name);
            }
        }
    }

    fn exports(&mut self, name: &str) {
        let Some(value) = self.scope.assigned(name).cloned() else { return };
        let verdicts = value.texts.iter().map(|text| {
            let value = Word::literal(text.clone(), Span::default()).knowing(value.known).into_expansion();
            variables::evaluate(name, &value, false)
        });
        if let Some(verdict) = verdicts.max_by_key(|verdict| verdict.tier).filter(|verdict| verdict.tier > Tier::Safe) {
            self.mark_dangerous(verdict.rule);
        }
    }

    fn declared(&self, arg: &Word, text: &str) -> Value {
        let value = arg.with_text(text);
        if text.has_elements() { list_of(&value) } else { Value::of(&[value]) }
    }

    fn sets_parameters(&mut self, rest: &[Word]) {
        if self.scope.may_have_failed() {
            self.scope.positional = Positional::unknown();
            return;
        }
        let named = |arg: &Word| arg.text().len() > 1 && arg.text().starts_with(['-', '+']) && arg.text().contains('o');
        let mut at = 0;
        while let Some(arg) = rest.get(at) {
            if arg.text() == "--" {
                self.scope.positional = Positional::of(rest.get(at + 1..).unwrap_or_default());
                return;
            }
            if !arg.text().starts_with(['-', '+']) {
                break;
            }
            at += 1 + if named(arg) { arg.text().matches('o').count() } else { 0 };
        }
        let operands = rest.get(at..).unwrap_or_default();
        if !operands.is_empty() {
            self.scope.positional = Positional::of(operands);
        }
    }

    fn unsets(&mut self, rest: &[Word]) {
        let functions = rest.iter().any(|arg| arg.text().starts_with('-') && arg.text().contains('f'));
        for arg in rest.iter().filter(|arg| !arg.text().starts_with('-')) {
            self.scope.undefine(arg.text());
            if functions {
                continue;
            }
            // Inside a function, the variable of an outer function may become visible. `-n` only removes a reference.
            let clear = self.running.is_empty() && !rest.iter().any(|arg| arg.text().starts_with("-n"));
            self.set(arg.text(), if clear { Value::text("") } else { Value::wild() });
        }
    }

    fn set_to_anything(&mut self, name: SmolStr) {
        self.set(&name, Value::wild());
    }
}

/// Returns true if a builtin sets the variables that its words name.
pub(crate) fn declares_variables(name: &str) -> bool {
    matches!(name, "export" | "declare" | "local" | "readonly" | "typeset")
}

/// Returns true for `cd` with two operands: zsh replaces the first by the second in the path of the working directory.
fn replaces_directory(name: &str, rest: &[Word]) -> bool {
    name == "cd" && rest.iter().filter(|arg| !arg.text().starts_with('-')).count() > 1
}

/// Returns the builtin after `command` and `builtin`, and its arguments.
pub(crate) fn unwrapped(mut args: &[Word]) -> Option<(&Word, &[Word])> {
    loop {
        let (program, rest) = args.split_first()?;
        if !matches!(program.text(), "command" | "builtin") {
            return Some((program, rest));
        }
        let options = rest.iter().take_while(|arg| arg.text().starts_with('-')).count();
        // `command -v` only looks up a name.
        if rest.iter().take(options).any(|arg| arg.text().contains(['v', 'V'])) {
            return None;
        }
        args = rest.get(options..)?;
    }
}

/// Returns true if `declare` may read the text as a list.
fn may_be_list(value: &Value) -> bool {
    value.texts.iter().any(|text| text.starts_with('(') || text.starts_unknown())
}

/// Returns the variable after `printf -v`.
fn printed_into(rest: &[Word]) -> Option<&str> {
    let [option, rest @ ..] = rest else { return None };
    match option.text().strip_prefix("-v") {
        Some("") => rest.first().map(|name| name.text()),
        joined => joined,
    }
}

/// Returns the variable that is joined to `read -a`.
fn list_read_into(option: &str) -> Option<&str> {
    let (flags, name) = option.strip_prefix('-')?.split_once('a')?;
    (flags.bytes().all(|flag| b"ers".contains(&flag)) && is_name(name)).then_some(name)
}

/// Returns the elements of a list that is written out.
pub(super) fn list_of(list: &Word) -> Value {
    let mut elements = list.text().elements();
    let keyed = |text: &str| text.starts_with('[');
    if elements.next().is_none_or(|before| !before.is_empty()) || list.is_wild() || elements.clone().any(keyed) {
        return Value::wild();
    }
    let texts: Few<SmolStr> = elements.map(SmolStr::from).collect();
    let open = list.is_pattern() && texts.iter().any(|text| text.starts_with(['*', '?', '[', '@', '+', '!']));
    let at_least = if open {
        Known::Partly
    } else if list.is_pattern() {
        Known::Environment
    } else {
        Known::Fully
    };
    Value::list(texts, list.known().max(at_least))
}

/// Returns the single line that `read` takes from a here-string, if the whole input is this line.
fn line_read(input: &Input) -> Option<String> {
    let Input::Text(text) = input else { return None };
    let line = text.strip_suffix('\n').unwrap_or(text);
    (!line.contains(['\n', '\\']) && !line.has_gap()).then(|| line.trim().to_owned())
}

/// Returns true for a word of `shopt` that may change the files that a pattern finds.
fn changes_patterns(arg: &Word) -> bool {
    let is_of_pattern = arg.text().contains("glob") && arg.text() != "failglob";
    is_of_pattern || !arg.is_exact()
}

/// Returns true for a builtin, or an option of one, that a shell other than bash may not have. Then it sets nothing.
fn is_of_bash(name: &str, rest: &[Word]) -> bool {
    let has_other_option =
        |known: &[&str]| rest.iter().any(|arg| arg.text().starts_with('-') && !known.contains(&arg.text()));
    match name {
        "builtin" | "caller" | "compgen" | "complete" | "compopt" | "declare" | "dirs" | "disown" | "enable"
        | "help" | "let" | "mapfile" | "popd" | "pushd" | "readarray" | "shopt" | "source" | "typeset" => true,
        "read" => has_other_option(&["-r"]),
        "export" | "readonly" => has_other_option(&["-p", "--"]),
        "local" | "wait" => has_other_option(&["--"]),
        "printf" => printed_into(rest).is_some(),
        _ => false,
    }
}

/// Returns the words of a builtin that it evaluates as arithmetic. To zsh, every number is arithmetic.
fn evaluated<'w>(builtin: &str, rest: &'w [Word], may_be_zsh: bool) -> &'w [Word] {
    const NUMBERS: &[&str] = &["-t", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"];
    let has = |options: &[&str]| rest.iter().any(|arg| options.contains(&arg.text()));
    let takes_number = |arg: &Word| arg.text().starts_with('-') && arg.text().contains(['t', 'u', 'k']);
    let all = match builtin {
        "test" | "[" => has(&["-v", "-R"]) || may_be_zsh && has(NUMBERS),
        "exit" | "return" | "shift" | "break" | "continue" => may_be_zsh,
        _ => false,
    };
    match rest {
        _ if all => rest,
        [format, words @ ..] if builtin == "printf" && may_be_zsh && prints_numbers(format.text()) => words,
        [option, words @ ..] if builtin == "read" && may_be_zsh && takes_number(option) => {
            words.get(..1).unwrap_or(words)
        }
        _ => &[],
    }
}

/// Returns true if a builtin takes a word that may be a file name for a variable or a number. It runs a command in a
/// subscript.
fn evaluates(builtin: &str, rest: &[Word], word: &Word) -> bool {
    const TESTS: &[&str] = &["-v", "-R", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"];
    if !word.may_be_file_name() {
        return false;
    }
    let has = |options: &[&str]| rest.iter().any(|arg| options.contains(&arg.text()));
    match builtin {
        "read" | "mapfile" | "readarray" | "getopts" | "let" | "unset" | "wait" => true,
        "test" | "[" => has(TESTS),
        "printf" => has(&["-v"]) || rest.first().is_some_and(|format| prints_numbers(format.text())),
        name if declares_variables(name) => {
            let is_number = |arg: &Word| arg.text().starts_with(['-', '+']) && arg.text().contains(['i', 'E', 'F']);
            let name = word.text().split_once('=').map_or(word.text(), |(name, _)| name);
            name.contains(['*', '?', '[']) || rest.iter().any(is_number)
        }
        _ => false,
    }
}

/// Returns true if a format has a conversion for numbers.
fn prints_numbers(format: &str) -> bool {
    let mut conversions = format.split('%').skip(1).map(|text| text.trim_start_matches(|c: char| !c.is_alphabetic()));
    format.contains('*') || conversions.any(|text| !text.is_empty() && !text.starts_with(['s', 'q', 'b', 'Q']))
}
