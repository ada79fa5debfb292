//! The evaluation of one argument vector: the strictest of the destruction that is found and the safety that cannot be
//! proven.
//!
//! The evaluation answers two separate questions. "Destructive" is searched for, in the program and in everything that
//! it may run: names are compared by their last component, and abbreviated options count. "Safe" is proven: names,
//! subcommands and options must be written exactly as a list has them. A command that is neither is dangerous.

mod code;
mod container;
mod embedded;
mod inner;
mod reader;
mod shell;
mod signs;
mod sql_client;
mod suffix;
mod within;

pub(super) use code::{printed as printed_by_code, runs_code};
pub(super) use embedded::{has_runner, is_runner};
#[cfg(test)]
pub(super) use inner::prefixes;
pub(super) use inner::wraps;
pub(super) use reader::runs_what_it_reads;
pub(super) use shell::{is_input, is_shell, starts_a_shell};
pub(super) use suffix::runs_its_words;

use crate::{
    destroy,
    invocation::Input,
    obeys,
    safe::{self, Proof},
    tier::{Profile, Tier},
    values::{Obeys, base_name},
    verdict::Verdict,
    walk::{MAX_NESTING, Walker},
    word::Word,
};

impl Walker<'_> {
    /// Evaluates an argument vector with its standard input.
    pub(super) fn judge(&mut self, args: &[Word], input: &Input) -> Verdict {
        if !self.can_judge(args.len()) {
            self.speak_of_anything();
            let found = self.destroys(args);
            return found.map_or_else(|| Verdict::dangerous("too much to follow"), Verdict::destructive);
        }
        if wraps_too_often(args) {
            return self.give_up_wrapped(args);
        }
        self.speak(args);
        self.name_uses(args);
        self.overhear_wrapper(args, input);
        let outer = self.is_fed;
        self.is_fed |= !input.is_silent();
        let verdict = self.deeper(|walker| walker.judge_here(args, input)).unwrap_or_else(|| {
            self.speak_of_anything();
            Verdict::dangerous("wrapped too deeply to follow")
        });
        self.is_fed = outer;
        verdict.or_stricter(self.judge_with_feed(args, input))
    }

    /// Handles wrappers that are nested too deeply to follow: it only searches for commands that destroy by themselves.
    fn give_up_wrapped(&mut self, args: &[Word]) -> Verdict {
        if self.overheard.is_guessing() {
            self.uses.lose_words();
        } else {
            self.uses.lose();
        }
        self.speak_of_anything();
        let names = args.iter().enumerate().filter(|(_, word)| destroy::knows(base_name(word.text())));
        let destroying: Vec<usize> = names.map(|(at, _)| at).collect();
        let tried = destroying.iter().take(MAX_WRAPPED).chain(destroying.iter().rev().take(MAX_WRAPPED));
        let found = tried.filter_map(|at| args.get(*at..)).find_map(|behind| self.destroys(behind));
        found.map_or_else(|| Verdict::dangerous("wrapped too deeply to follow"), Verdict::destructive)
    }

    /// Evaluates a command without an input of its own with the input of the surrounding compound command. Only
    /// destruction counts.
    fn judge_with_feed(&mut self, args: &[Word], input: &Input) -> Verdict {
        if !matches!(input, Input::Terminal) {
            return Verdict::safe("");
        }
        let Some(text) = self.feed.take() else { return Verdict::safe("") };
        let given = Input::Text(text.clone());
        let verdict = self.quietly(|walker| walker.deeper(|walker| walker.judge_here(args, &given)));
        self.feed = Some(text);
        verdict.filter(|verdict| verdict.tier == Tier::Destructive).unwrap_or_else(|| Verdict::safe(""))
    }

    fn judge_here(&mut self, args: &[Word], input: &Input) -> Verdict {
        let Some(program) = args.first() else { return Verdict::dangerous("there is no program to run") };
        let found = self.destroys(args);
        if let Some(rule) = found {
            self.overhear_all(args);
            return Verdict::destructive(rule);
        }
        let name = base_name(program.text());
        let proven = self.prove(name, args, input).or_stricter(self.raised(args));
        if proven.tier != Tier::Dangerous {
            return proven;
        }
        let searched = self.search_embedded(name, args).or_stricter(self.search_given(name, args, input));
        proven.or_stricter(searched)
    }

    /// Evaluates a program that is not destructive by itself.
    fn prove(&mut self, name: &str, args: &[Word], input: &Input) -> Verdict {
        if let Some(verdict) = self.judge_inner(name, args, input) {
            return self.distrust_name(args, verdict);
        }
        let within = self.judge_within(name, args, input);
        let shell = self.judge_shell(name, args, input);
        let code = shell.or_else(|| self.judge_code(name, args, input));
        let known = code.or_else(|| self.judge_sql(name, args, input));
        if let Some(verdict) = within.into_iter().chain(known).reduce(Verdict::or_stricter) {
            return self.distrust_name(args, verdict);
        }
        if sends_its_input(name, args) && (self.is_fed || !input.is_silent()) {
            return Verdict::dangerous(format!("`{name}` may send what it is given to read"));
        }
        let verdict = match safe::prove(args, self.classifier, &self.scope.places) {
            Proof::Reads(rule) => self.obeying(args, rule),
            Proof::Unproven(rule) => Verdict::dangerous(rule),
            Proof::Unknown => {
                self.overhear_all(args);
                let searched = self.search_suffixes(args.get(1..).unwrap_or_default());
                Verdict::dangerous(unknown_program(args)).or_stricter(searched).or_stricter(self.as_if_removing(args))
            }
        };
        self.distrust_name(args, verdict)
    }

    /// Returns safe for a read-only program, and records the files of its directory that it obeys. The engine knows who
    /// may write these files. The strict profile does not rely on this and returns dangerous.
    fn obeying(&mut self, args: &[Word], rule: String) -> Verdict {
        let Some(obeys) = obeys::of(args) else { return Verdict::safe(rule) };
        if self.classifier.profile() == Profile::Strict {
            return Verdict::dangerous(format!("`{}` obeys files of the directory in which it runs", obeys.program));
        }
        let obeys = Obeys { dirs: self.scope.dirs(), ..obeys };
        if !self.obeyed.contains(&obeys) {
            self.obeyed.push(obeys);
        }
        Verdict::safe(rule)
    }

    /// Evaluates a program with an unknown name as `rm`, if its words include `-rf`. With a path that must not be
    /// removed, the verdict is destructive.
    fn as_if_removing(&self, args: &[Word]) -> Verdict {
        let Some((program, rest)) = args.split_first() else { return Verdict::safe("") };
        let forces =
            |arg: &Word| arg.text().starts_with('-') && arg.text().contains('f') && arg.text().contains(['r', 'R']);
        if !(program.is_pattern() || program.has_unknown()) || !rest.iter().any(forces) {
            return Verdict::safe("");
        }
        let removing: Vec<Word> =
            std::iter::once(Word::literal("rm", program.span())).chain(rest.iter().cloned()).collect();
        self.destroys(&removing).map_or_else(|| Verdict::safe(""), Verdict::destructive)
    }

    /// Returns the verdict of a custom rule that raises the tier, or safe.
    fn raised(&self, args: &[Word]) -> Verdict {
        self.classifier.additions().raise(args).unwrap_or_else(|| Verdict::safe(""))
    }

    /// Returns dangerous instead of safe if the program name is not written out, or if the path of the program is not
    /// trusted.
    fn distrust_name(&self, args: &[Word], verdict: Verdict) -> Verdict {
        let written =
            args.first().is_some_and(|program| program.is_written() && safe::trusted_name(program.text()).is_some());
        if verdict.tier == Tier::Safe && !written {
            return Verdict::dangerous(unknown_program(args));
        }
        verdict
    }
}

/// The limit of programs that run their words, among the first words of an argument vector.
const MAX_WRAPPED: usize = 2 * MAX_NESTING;
/// The number of words that this check looks at.
const MAX_LOOKED: usize = 256;

/// Returns true if a program that runs its words is followed by more such programs than are followed.
fn wraps_too_often(args: &[Word]) -> bool {
    let wraps = |word: &&Word| runs_its_words(base_name(word.text()));
    args.len() > MAX_WRAPPED
        && args.first().is_some_and(|program| wraps(&program))
        && args.iter().take(MAX_LOOKED).filter(wraps).count() > MAX_WRAPPED
}

fn unknown_program(args: &[Word]) -> String {
    match args.first() {
        Some(program) if program.is_written() => {
            let name: String = program.text().chars().take(40).collect();
            format!("`{}` is not on any list", crate::values::Escaped(&name))
        }
        _ => "the name of the program is not written out".into(),
    }
}

/// Returns true for a program that sends its standard input, unless the input is a terminal.
fn sends_its_input(name: &str, args: &[Word]) -> bool {
    matches!(name, "http" | "https" | "xh" | "xhs" | "nslookup" | "fping")
        || (name == "openssl" && args.get(1).is_some_and(|word| word.text() == "s_client"))
}

/// Returns true if an interpreter is given a file or a module, without options before it that could be code.
fn runs_a_file(rest: &[String]) -> bool {
    match rest {
        [module, name, ..] if module == "-m" => !name.starts_with('-'),
        [file, ..] => !file.starts_with(['-', '+']),
        [] => false,
    }
}

/// Builtins that are in no table, because nothing that they do is safe or destructive by itself.
const BUILTINS: &[&str] = &[
    ":", ".", "[", "bg", "bind", "builtin", "caller", "complete", "compopt", "coproc", "disown", "enable", "eval",
    "exec", "exit", "fg", "logout", "return", "source", "suspend", "trap",
];

/// Returns true if some list or table contains the program or builtin `name`.
pub(super) fn is_known(name: &str) -> bool {
    safe::knows(name) || destroy::knows(name) || suffix::may_destroy(name) || BUILTINS.contains(&name)
}

/// Returns true if a program runs a text or another program from its words. No decision about such a form may be saved.
pub(super) fn runs_text(name: &str, rest: &[String]) -> bool {
    let inline = |option: &&String| code::gives_code(name, option);
    let elsewhere = matches!(
        name,
        "eval"
            | "source"
            | "."
            | "trap"
            | "alias"
            | "su"
            | "ssh"
            | "sudo"
            | "tmux"
            | "screen"
            | "at"
            | "batch"
            | "expect"
    );
    shell::SHELLS.contains(&name)
        || inner::is_wrapper(name)
        || elsewhere
        || embedded::is_runner_of(name, rest)
        || sql_client::names().any(|client| client == name)
        || code::takes_code_as_words(name)
        || (code::is_interpreter(name) && !runs_a_file(rest))
        || (code::is_interpreter(name) && rest.iter().any(|option| inline(&option)))
}
