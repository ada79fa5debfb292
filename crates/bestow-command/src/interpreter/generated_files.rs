//! Files that the text itself writes and then runs. Their content is searched for destructive commands.
//!
//! This search never makes a command safe and never replaces other checks of the file: the file may have another
//! content by the time it runs.

use crate::{
    few::Few,
    interpreter::{
        Interpreter,
        output::{GeneratedFile, Output},
        redirections,
    },
    span::Span,
    syntax::tree::{Change, Flow, Piece, RawWord, Redirect},
    tier::Tier,
    word::Word,
};

/// The limit of files that are recorded, and the limit of bytes in one file.
const MAX_FILES: usize = 16;
const MAX_BYTES: usize = 8 * 1024;

/// Removes a leading `./` from a name.
fn plain(name: &str) -> &str {
    name.trim_start_matches("./")
}

/// Returns the content of the file of a process substitution, as far as it is known.
fn substituted(word: &Word) -> Option<&str> {
    word.content().filter(|_| word.text().contains("/dev/fd/63"))
}

/// Returns the files into which a command writes its output besides, and its options.
pub(super) fn teed(args: &[Word]) -> Option<&[Word]> {
    let (program, files) = args.split_first()?;
    (program.text() == "tee").then_some(files)
}

impl Interpreter<'_> {
    /// Records the text that a redirection writes.
    pub(super) fn remember_redirected(&mut self, output: Option<&Output>, redirects: &[Redirect]) {
        let Some(output) = output.filter(|output| !output.text.trim().is_empty()) else { return };
        let writes =
            |redirect: &&Redirect| redirect.flow == Flow::Write && redirect.descriptor.is_none_or(|number| number == 1);
        for redirect in redirects.iter().filter(writes) {
            let targets = self.named(&redirect.target);
            self.remember_written(&targets, &output.text);
        }
    }

    /// Returns the name of a target if its expansion runs no command. The commands in it have already run.
    pub(super) fn named(&mut self, target: &RawWord) -> Few<Word> {
        let plain = |piece: &Piece| match piece {
            Piece::Bare(_) | Piece::Quoted(_) | Piece::Element | Piece::Glob(_) | Piece::Tilde(_) => true,
            Piece::Parameter(parameter) => parameter.form == Change::Nothing,
            Piece::Command { .. } | Piece::Process(_) | Piece::Arithmetic(_) => false,
        };
        if target.pieces.iter().all(plain) { self.expand_target(target) } else { Few::default() }
    }

    /// Records the text that `tee` writes into its files.
    pub(super) fn remember_teed(&mut self, output: Option<&Output>, ways: &[Vec<Word>]) {
        let Some(output) = output else { return };
        ways.iter().filter_map(|way| teed(way)).for_each(|files| self.remember_written(files, &output.text));
    }

    fn remember_written(&mut self, files: &[Word], text: &str) {
        let files = files.iter().filter(|file| !file.text().starts_with('-') && !redirections::is_free(file.text()));
        for file in files {
            if self.generated.len() < MAX_FILES && text.len() <= MAX_BYTES {
                self.generated.push(GeneratedFile { name: plain(file.text()).to_owned(), text: text.to_owned() });
            }
        }
    }

    /// Searches the written files that these commands may run.
    #[inline]
    pub(super) fn run_written(&mut self, ways: &[Vec<Word>], redirects: &[Redirect], span: Span) {
        let gives = |word: &Word| substituted(word).is_some();
        if !self.generated.is_empty() || ways.iter().any(|way| way.iter().any(gives)) {
            self.search_written(ways, redirects, span);
        }
    }

    #[inline(never)]
    fn search_written(&mut self, ways: &[Vec<Word>], redirects: &[Redirect], span: Span) {
        let reads = redirects.iter().filter(|redirect| redirect.flow == Flow::Read);
        let read: Vec<Word> = reads.flat_map(|redirect| self.named(&redirect.target)).collect();
        for way in ways {
            let Some((program, rest)) = way.split_first() else { continue };
            let itself = program.text().contains('/').then_some((program, true));
            let named = itself.into_iter().chain(rest.iter().chain(&read).map(|word| (word, false)));
            let mut texts: Vec<(String, bool)> = Vec::new();
            for (word, is_program) in named {
                let name = plain(word.text().split_once('=').map_or(word.text(), |(_, value)| value));
                let found = self.generated.iter().rev().filter(|file| file.name == name);
                texts.extend(found.take(4).map(|file| (file.text.clone(), is_program)));
                texts.extend(substituted(word).map(|text| (text.to_owned(), is_program)));
            }
            for (text, is_program) in texts {
                if !self.budget.search_file() {
                    return;
                }
                let verdict = self.evaluator.search_file(self, way, &text, is_program);
                if verdict.tier == Tier::Destructive {
                    self.record_part(verdict.tier, verdict.rule, span);
                    return;
                }
            }
        }
    }
}
