//! Commands that are hidden in the words of another program: `--to-command='rm …'`, `core.pager=rm …`,
//! `-e '!rm …'`.

use crate::{
    destroy,
    evaluator::{Evaluation, Traits, Use, inline_code, leading, reader, runners::is_runner, shell, sql_client},
    interpreter::declares_variables,
    invocation::Input,
    values::base_name,
    verdict::Verdict,
    word::{Signs, Word, is_unknown},
};

/// Options whose value is prose.
const PROSE: &[&str] = &[
    "-m",
    "--message",
    "-b",
    "--body",
    "-t",
    "--title",
    "-d",
    "--description",
    "--notes",
    "--subject",
    "--comment",
    "-am",
    "--data",
    "--grep",
    "--search",
];

/// Further options of `git` with a prose value. In other programs these options may have another meaning.
const PROSE_OF_GIT: &[&str] = &["-S", "-G"];

impl Evaluation<'_, '_> {
    /// Searches the words of a command that is not safe for destruction.
    pub(super) fn search_embedded(&mut self, usage: &Use<'_>) -> Verdict {
        let (name, rest, traits) = (usage.name, usage.rest, usage.traits);
        let mut found = Verdict::safe("");
        if traits.has(Traits::HAS_RUNNER) && is_runner(usage.known, rest) {
            let found_there =
                if hands_words_on(name, rest) { self.search_handed_on(rest) } else { self.search_words(rest) };
            found = found.or_stricter(found_there).or_stricter(self.search_mounts(name, rest));
        }
        if name == "git" && redefines_git(rest) {
            // A redefined subcommand may be an alias or a command line.
            self.record_anything();
        }
        let mut prose = false;
        let is_prose = |option: &str| {
            option.starts_with('-') && (PROSE.contains(&option) || name == "git" && PROSE_OF_GIT.contains(&option))
        };
        let dashes = rest.iter().position(|word| word.text() == "--").unwrap_or(rest.len());
        for (index, word) in rest.iter().enumerate() {
            let before = index.checked_sub(1).and_then(|before| rest.get(before));
            let skip = std::mem::replace(&mut prose, is_prose(word.text()));
            let assigned = if word.has(Signs::EQUALS) { word.text().split_once('=') } else { None };
            // A text that a shell has run is known with its parameters.
            let is_run = self.shell.invocations.has_run_text(word);
            if skip || is_run || assigned.is_some_and(|(option, _)| is_prose(option)) {
                continue;
            }
            let is_data = is_data(name, rest, index >= dashes)
                || traits.has(Traits::RUNS_CODE) && inline_code::is_printing(name, before, word);
            if !is_data {
                self.record_texts_in(word);
            }
            let Some(text) = command_text(word.text()) else { continue };
            let inside = match is_data {
                true => self.shell.unrecorded(|shell| shell.search_text(text, word.span())),
                false => self.shell.search_text(text, word.span()),
            };
            found = found.or_stricter(inside);
        }
        found
    }

    /// Searches the input of a runner, which passes it on to the shell or client that it runs.
    pub(super) fn search_given(&mut self, usage: &Use<'_>, input: &Input) -> Verdict {
        let (name, rest) = (usage.name, usage.rest);
        let Input::Text(text) = input else { return Verdict::safe("") };
        if !usage.traits.has(Traits::HAS_RUNNER) || !is_runner(usage.known, rest) {
            return Verdict::safe("");
        }
        if reader::reads_its_script(name, rest) {
            return self.shell.search_text(text, self.shell.here);
        }
        let reads = |word: &Word| {
            let name = base_name(word.text());
            shell::is_shell(name)
                || inline_code::is_interpreter(name)
                || sql_client::names().any(|client| client == name)
        };
        let Some(suffix) = rest.iter().position(reads).and_then(|at| rest.get(at..)) else { return Verdict::safe("") };
        let found =
            self.speculate(|evaluation| evaluation.discard_parts(|evaluation| evaluation.evaluate(suffix, input)));
        if found.tier == crate::tier::Tier::Destructive { found } else { Verdict::safe("") }
    }

    /// Searches words that the runner passes on. A text is searched thoroughly only if a word before it may run it.
    fn search_handed_on(&mut self, rest: &[Word]) -> Verdict {
        let runs = |word: &Word| {
            let name = word.text().rsplit(['/', '=']).next().unwrap_or_default();
            let option = word.text().starts_with('-') && !word.text().starts_with("--") && word.text().ends_with('c');
            // `docker exec` is not the builtin `exec`.
            let runs = leading::runs_its_words(name) && word.text() != "exec";
            option || runs || shell::is_shell(name) || inline_code::is_interpreter(name)
        };
        match rest.iter().position(runs) {
            Some(at) if rest.iter().skip(at).any(|word| word.has_unknown()) => self.search_words(rest),
            _ => {
                self.record_texts(rest);
                let texts = rest.iter().filter(|word| word.text().contains(char::is_whitespace));
                let found = texts.fold(Verdict::safe(""), |found, word| {
                    found.or_stricter(self.shell.unrecorded(|shell| shell.search_text(word.text(), word.span())))
                });
                found.or_stricter(self.search_suffixes(rest))
            }
        }
    }
}

/// Returns true if a setting of git may give its subcommands another meaning.
fn redefines_git(rest: &[Word]) -> bool {
    let configures = rest.iter().any(|word| word.text() == "config" || word.may_split());
    let mut names_next = false;
    rest.iter().any(|word| {
        let named = std::mem::replace(&mut names_next, matches!(word.text(), "-c" | "--config" | "--config-env"));
        let joined = ["--config-env=", "--config=", "-c"].iter().find_map(|option| word.text().strip_prefix(option));
        match joined {
            Some(setting) => names_an_alias(setting),
            None => (named || configures) && names_an_alias(word.text()),
        }
    })
}

/// Returns true if a setting of git may define an alias or include a file with any settings. Git ignores the case of
/// these names.
fn names_an_alias(setting: &str) -> bool {
    const SECTIONS: &[&str] = &["alias.", "include.", "includeif."];
    let setting = setting.to_ascii_lowercase();
    let written = setting.split(is_unknown).next().unwrap_or_default();
    let open = written.len() < setting.len();
    SECTIONS.iter().any(|section| written.starts_with(section) || (open && section.starts_with(written)))
}

/// Returns true if a runner passes its words on one by one, so that it runs none of them as a text.
fn hands_words_on(name: &str, rest: &[Word]) -> bool {
    const PLAIN: &[&str] = &["just", "task", "docker", "docker-compose", "podman", "nerdctl", "kubectl", "oc"];
    let without =
        |options: &[&str]| !rest.iter().any(|word| options.iter().any(|option| word.text().starts_with(option)));
    let harmless_use = |pair: &[Word]| match pair {
        [name, action] => {
            matches!(name.text(), "submodule" | "bisect")
                && action.is_written()
                && !action.text().starts_with('-')
                && !matches!(action.text(), "foreach" | "run")
        }
        _ => false,
    };
    match name {
        "make" => without(&["--eval", "SHELL"]),
        "cargo" => without(&["--config"]),
        "go" => without(&["-exec", "--exec", "-toolexec", "--toolexec"]),
        "git" => rest.windows(2).any(harmless_use),
        name => PLAIN.contains(&name),
    }
}

/// Returns true if the program only compares or displays a word, which may stand behind `--`.
fn is_data(name: &str, rest: &[Word], behind_dashes: bool) -> bool {
    match name {
        "pkill" | "pgrep" => true,
        // Names of tests.
        "cargo" => {
            behind_dashes && rest.first().is_some_and(|word| matches!(word.text(), "test" | "bench" | "nextest"))
        }
        name => declares_variables(name),
    }
}

/// Returns the part of a word that is a command line of a possibly destructive program, if there is one.
fn command_text(word: &str) -> Option<&str> {
    // Only a text with blanks has several words. A blank is a control character, a space or no ASCII character.
    if word.bytes().all(|byte| byte > b' ' && byte.is_ascii()) || !word.contains(char::is_whitespace) {
        return None;
    }
    let starts = std::iter::once(0)
        .chain(word.match_indices(['=', ':', '!', '/', ',']).map(|(at, sign)| at + sign.len()).take(8));
    starts
        .filter_map(|start| word.get(start..))
        .map(|text| without_list_end(text.trim_start_matches(['!', ':', '|', ' ', '"', '\'', '['])))
        .find(|text| {
            let mut words = text.split_whitespace();
            let first = base_name(words.next().unwrap_or_default());
            words.next().is_some() && (destroy::knows(first) || (leading::may_destroy(first) && names_destroyer(text)))
        })
}

/// Returns a text without the end of the list of texts in which it is the last one: `["a", "b"]`.
fn without_list_end(text: &str) -> &str {
    const ENDS: &[&str] = &["\"]", "']", "\"]}"];
    ENDS.iter().find_map(|end| text.strip_suffix(end)).unwrap_or(text)
}

/// Returns true if a word after the first names a destructive program. A wrapper or a shell alone is common in prose;
/// with such a program after it, it is not.
fn names_destroyer(text: &str) -> bool {
    text.split(|c: char| c.is_whitespace() || matches!(c, '\'' | '"' | ';' | '&' | '|'))
        .skip(1)
        .any(|word| destroy::knows(base_name(word)))
}
