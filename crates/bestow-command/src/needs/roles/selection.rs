//! The options of search programs that choose files.

use smol_str::SmolStr;

use crate::{
    lang::find::takes_value,
    needs::{
        operand::exact,
        roles::words::{Words, means},
    },
    programs::Selects,
    values::Selection,
    word::Word,
};

/// The usual file types of `rg`, with the globs of their files.
const TYPES: &[(&str, &str)] = &[
    ("c", "*.[chH] *.[chH].in *.cats"),
    ("cpp", "*.[ChH] *.cc *.cpp *.cxx *.hh *.hpp *.hxx *.inl *.[ChH].in *.cc.in *.cpp.in *.hpp.in *.h++ *.c++"),
    ("css", "*.css *.scss"),
    ("go", "*.go"),
    ("html", "*.htm *.html *.ejs"),
    ("java", "*.java *.jsp *.jspx *.properties"),
    ("js", "*.js *.jsx *.vue *.cjs *.mjs"),
    ("json", "*.json *.sarif composer.lock"),
    ("kotlin", "*.kt *.kts"),
    ("md", "*.markdown *.md *.mdown *.mdwn *.mdx *.mkd *.mkdn"),
    ("php", "*.php *.php3 *.php4 *.php5 *.php7 *.php8 *.pht *.phtml"),
    ("py", "*.py *.pyi"),
    ("python", "*.py *.pyi"),
    ("ruby", "*.gemspec *.rb *.rbw .irbrc Gemfile Rakefile config.ru"),
    ("rust", "*.rs"),
    ("sql", "*.sql *.psql"),
    ("swift", "*.swift"),
    ("toml", "*.toml Cargo.lock"),
    ("ts", "*.ts *.tsx *.cts *.mts"),
    ("typescript", "*.ts *.tsx *.cts *.mts"),
    ("yaml", "*.yaml *.yml"),
];

/// Returns the globs of a file type of `rg`, or `None` if the type is unknown.
pub(crate) fn globs_of_type(name: &str) -> Option<impl Iterator<Item = SmolStr> + use<>> {
    let globs = TYPES.iter().find(|(known, _)| *known == name).map(|(_, globs)| *globs)?;
    Some(globs.split(' ').map(SmolStr::from))
}

/// Returns the selection that the options of a search make.
pub(super) fn read_selection(selects: &Selects, words: &Words<'_>) -> Selection {
    let mut selection = Selection {
        skips_hidden: selects.hidden.is_some_and(|with| !words.gives(with)),
        skips_ignored: selects.ignored.is_some_and(|with| !words.gives(with)),
        ..Selection::default()
    };
    let mut choices = Choices::default();
    for given in &words.options {
        if given.name.starts_with("--type-a") || given.name.starts_with("--type-c") {
            choices.take(None, false);
        }
        let Some(value) = given.value.as_ref() else { continue };
        let value = || value.text();
        if means(&given.name, selects.only) {
            choices.take(value(), true);
        } else if means(&given.name, selects.without) {
            choices.leave(value());
        } else if means(&given.name, selects.without_directories) {
            // The program itself removes slashes at the end.
            let name = value().and_then(|glob| name_of(glob.trim_end_matches('/')));
            selection.without_directories.extend(name);
        } else if means(&given.name, selects.globs) {
            match value() {
                Some(glob) if glob.starts_with('!') => {
                    let glob = glob.strip_prefix('!').unwrap_or_default();
                    let anywhere = glob.strip_prefix("**/").unwrap_or(glob);
                    let directory = anywhere.strip_suffix('/').or_else(|| {
                        // Without `**/` before it, this is a path from the working directory.
                        anywhere.strip_suffix("/**").filter(|_| anywhere.len() < glob.len())
                    });
                    selection.without.extend(directory.is_none().then(|| name_of(anywhere)).flatten());
                    selection.without_directories.extend(name_of(directory.unwrap_or(anywhere)));
                }
                // The last glob that matches decides, so an earlier one leaves out nothing for certain.
                glob => {
                    selection.without.clear();
                    selection.without_directories.clear();
                    choices.take(glob, false);
                }
            }
        } else if means(&given.name, selects.types) {
            let globs = value().and_then(|name| globs_of_type(&name));
            match globs {
                Some(globs) => globs.for_each(|glob| choices.take(Some(glob), false)),
                None => choices.take(None, false),
            }
        }
    }
    choices.add_to(&mut selection);
    selection
}

/// Returns a glob that matches names, if it is one. Programs differ in what a glob with a `/` leaves out, and many
/// leave out nothing for it.
fn name_of(glob: &str) -> Option<SmolStr> {
    let is_name = !glob.is_empty() && !glob.contains('/') && !has_other_signs(glob);
    is_name.then(|| glob.into())
}

/// Returns true if a glob has a sign that not all programs read alike.
fn has_other_signs(glob: &str) -> bool {
    glob.contains(['{', '}', '\\'])
}

/// The globs of files, in the order of the options.
#[derive(Default)]
struct Choices {
    only: Vec<SmolStr>,
    without: Vec<SmolStr>,
    /// True if a file is taken that no glob knows.
    takes_unknown: bool,
    /// True if the first glob leaves files out. Then those that no glob matches are taken.
    begins_without: bool,
}

impl Choices {
    fn take(&mut self, glob: Option<SmolStr>, plainly: bool) {
        match glob.filter(|glob| !plainly || !has_other_signs(glob)) {
            Some(glob) => self.only.push(glob),
            None => self.takes_unknown = true,
        }
    }

    fn leave(&mut self, glob: Option<SmolStr>) {
        self.begins_without |= self.only.is_empty() && !self.takes_unknown;
        self.without.extend(glob.and_then(|glob| name_of(&glob)));
    }

    /// Adds the globs to a selection. If they contradict each other, nothing is left out.
    fn add_to(self, selection: &mut Selection) {
        let has_both = self.begins_without && (self.takes_unknown || !self.only.is_empty());
        if has_both || self.takes_unknown {
            (selection.skips_hidden, selection.skips_ignored) = (false, false);
            return;
        }
        if self.only.is_empty() {
            selection.without.extend(self.without);
        }
        selection.only.extend(self.only);
    }
}

/// Returns the selection of a `find` expression, without its commands: a conjunction may have a test of the name among
/// the `before` words that stand before the first command. Options of other kinds, and operators, select nothing here.
pub(super) fn name_selection(expression: &[Word], before: usize) -> Selection {
    let is_operator = |text: &str| matches!(text, "-o" | "-or" | "!" | "-not" | "(" | ")" | "," | "-prune");
    let mut selection = Selection::default();
    if expression.iter().any(|arg| is_operator(arg.text()) || exact(arg).is_none()) {
        return selection;
    }
    let mut words = expression.iter().take(before);
    while let Some(word) = words.next() {
        let value = if takes_value(word.text()) { words.next() } else { None };
        if word.text() == "-name" {
            selection.only.extend(value.and_then(exact).filter(|glob| !has_other_signs(glob)));
            break;
        }
    }
    selection
}

/// Returns the selection of a `find` expression that has `-delete` behind `before` words. Without a test among them,
/// it deletes everything, and with only a test of the name, everything of that name.
pub(super) fn deleted_by_find(expression: &[Word], before: usize) -> Selection {
    let named = name_selection(expression, before);
    let selected = usize::from(!named.only.is_empty());
    Selection { is_conditional: selected < tests_of_find(expression, before), ..named }
}

/// Returns the number of tests and operators among the first `before` words of a `find` expression.
pub(super) fn tests_of_find(expression: &[Word], before: usize) -> usize {
    let mut words = expression.iter().take(before);
    let mut tests = 0;
    while let Some(word) = words.next() {
        let text = word.text();
        let value = if takes_value(text) { words.next() } else { None };
        let is_test = match text {
            // These are all files that have content.
            "-type" => value.is_none_or(|kind| !matches!(kind.text(), "f" | "d" | "f,d" | "d,f")),
            "-maxdepth" | "-mindepth" | "-regextype" | "-D" | "-H" | "-L" | "-P" | "-depth" | "-d" | "-xdev"
            | "-mount" | "-noleaf" | "-follow" | "-daystart" | "-true" | "-print" | "-print0" | "-ls" | "-warn"
            | "-nowarn" => false,
            text => text.starts_with(['-', '(', '!']),
        };
        tests += usize::from(is_test);
    }
    tests
}
