//! Cache of parsed command lines. The meaning of a line depends only on its text and the rules about commands. Most
//! lines are read more than once: to be explained, decided and executed.

use std::{
    collections::HashMap,
    fmt, mem,
    ops::Deref,
    sync::{Arc, Mutex},
};

use bestow_command::{
    Classifier,
    internal::{Judged, NamedUses, Surroundings},
};
use foldhash::fast::RandomState;

use crate::model::{CommandFingerprint, CommandShape, Destructive, Secrets, Shell, SpokenPart, Tier};

/// The maximum number of recent lines. The cache may hold up to twice as many.
const MOST: usize = 128;

/// The length of a line above which it is not cached.
const LONGEST: usize = 4096;

/// A parsed command line. It contains no facts from the disk or from the agent that runs it.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) text: Arc<str>,
    surroundings: Arc<Surroundings>,
    /// The parts of the line; none if it was not understood.
    pub(super) parts: Option<Vec<SpokenPart>>,
    /// The fingerprint of the line with these parts.
    pub(super) doing: Arc<CommandFingerprint>,
    pub(super) named: NamedUses,
    /// The text without secrets.
    pub(super) shown: Arc<str>,
    pub(super) tier: Tier,
    pub(super) tier_reason: Arc<str>,
    pub(super) shape: Option<CommandShape>,
    pub(super) destructive: Option<Destructive>,
}

impl Line {
    pub(super) fn of(text: &str, surroundings: &Arc<Surroundings>, judged: Judged) -> Line {
        let secrets = Secrets::of(text);
        let found = &judged.classification;
        let shape = found.shape.as_ref().map(|shape| CommandShape::of(shape, |whole| secrets.redacted_in(whole)));
        let destructive = (found.tier == Tier::Destructive).then(|| Destructive {
            impact_scope: secrets.redacted_in(&found.impact()),
            rollback_advice: judged.rollback_advice().into(),
        });
        let parts = judged.spoken();
        Line {
            text: text.into(),
            surroundings: Arc::clone(surroundings),
            doing: Arc::new(CommandFingerprint::of(text, parts.as_deref())),
            parts,
            shown: secrets.redacted_but(&judged.programs()),
            tier: found.tier,
            tier_reason: secrets.redacted_in(&found.reason),
            shape,
            destructive,
            named: judged.named,
        }
    }
}

/// A classifier with a cache of the lines it read. Other rules get a new classifier with an empty cache.
#[derive(Debug)]
pub(super) struct Reader {
    classifier: Classifier,
    plainly: Lines,
    strictly: Lines,
}

impl Reader {
    pub(super) fn new(classifier: Classifier) -> Reader {
        Reader { classifier, plainly: Lines::default(), strictly: Lines::default() }
    }

    /// Returns the meaning of a line that runs in this shell, with these directories. With `strictly`, only reads are
    /// allowed without approval. Few callers name a shell, so only lines of an unknown one are cached.
    pub(super) fn line(&self, text: &str, shell: Shell, surroundings: &Arc<Surroundings>, strictly: bool) -> Arc<Line> {
        let read = || {
            let classifier = self.classifier.within(surroundings);
            let classifier = if shell == Shell::Unknown { classifier } else { classifier.in_shell(shell) };
            let classifier = if strictly { classifier.strictly() } else { classifier };
            Line::of(text, surroundings, classifier.judge(text))
        };
        if shell != Shell::Unknown {
            return Arc::new(read());
        }
        let lines = if strictly { &self.strictly } else { &self.plainly };
        lines.get_or(text, surroundings, read)
    }
}

impl Deref for Reader {
    type Target = Classifier;

    fn deref(&self) -> &Classifier {
        &self.classifier
    }
}

/// The recently used lines, and the generation of lines before them.
#[derive(Default)]
struct Lines(Mutex<Kept>);

/// Lines may contain secrets, so their text is not printed.
impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lines").finish_non_exhaustive()
    }
}

impl Lines {
    fn get_or(&self, text: &str, surroundings: &Arc<Surroundings>, read: impl FnOnce() -> Line) -> Arc<Line> {
        if text.len() > LONGEST {
            return Arc::new(read());
        }
        // After a panic in another thread the cache is not used, and every line is read again.
        let known = self.0.lock().ok().and_then(|mut kept| kept.get(text));
        // The same line may destroy the directory of another agent.
        let known = known.filter(|line| line.surroundings == *surroundings);
        known.unwrap_or_else(|| {
            let line = Arc::new(read());
            if let Ok(mut kept) = self.0.lock() {
                kept.add(Arc::clone(&line));
            }
            line
        })
    }
}

type ByText = HashMap<Arc<str>, Arc<Line>, RandomState>;

#[derive(Default)]
struct Kept {
    lately: ByText,
    before: ByText,
}

impl Kept {
    fn get(&mut self, text: &str) -> Option<Arc<Line>> {
        if let Some(line) = self.lately.get(text) {
            return Some(Arc::clone(line));
        }
        let line = self.before.remove(text)?;
        self.add(Arc::clone(&line));
        Some(line)
    }

    fn add(&mut self, line: Arc<Line>) {
        if self.lately.len() >= MOST {
            self.before = mem::take(&mut self.lately);
        }
        self.lately.insert(Arc::clone(&line.text), line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_once_and_only_so_many_lines_are_kept() {
        let reader = Reader::new(Classifier::default());
        let nowhere = Arc::new(Surroundings::default());
        let line = |text: &str, strictly| reader.line(text, Shell::Unknown, &nowhere, strictly);
        let first = line("git status", false);
        assert!(Arc::ptr_eq(&first, &line("git status", false)));
        assert!(!Arc::ptr_eq(&first, &line("git status", true)), "another limit of safe lines");
        for number in 0..3 * MOST {
            let _ = line(&format!("cat f{number}"), false);
            // A line that is used repeatedly stays in the cache.
            assert!(Arc::ptr_eq(&first, &line("git status", false)));
            let kept = reader.plainly.0.lock().unwrap();
            assert!(kept.lately.len() + kept.before.len() <= 2 * MOST);
        }
        let long = format!("cat {}", "f".repeat(LONGEST));
        assert!(!Arc::ptr_eq(&line(&long, false), &line(&long, false)));
    }

    #[test]
    fn a_line_that_was_kept_for_one_directory_is_read_anew_for_another() {
        let reader = Reader::new(Classifier::default());
        let at = |start: &str| Arc::new(Surroundings { start: Some(start.to_owned()), ..Surroundings::default() });
        let tier = |start: &str| reader.line("rm -rf /data/ann/work", Shell::Unknown, &at(start), false).tier;
        assert_eq!(
            [tier("/data/ann"), tier("/data/ann/work"), tier("/data/ann/work/sub"), tier("/data/bob")],
            [Tier::Dangerous, Tier::Destructive, Tier::Destructive, Tier::Dangerous]
        );
    }

    #[test]
    fn a_line_that_was_kept_means_what_it_means_when_it_is_read_anew() {
        let reader = Reader::new(Classifier::default());
        for text in
            ["ls", "rm -rf /", "curl -u me:hunter2hunter2 https://example.com", "echo 'open", "git push && x=1 y"]
        {
            for strictly in [false, true] {
                let nowhere = Arc::new(Surroundings::default());
                let line = |reader: &Reader| reader.line(text, Shell::Unknown, &nowhere, strictly);
                let known = (line(&reader), line(&reader)).1;
                let anew = line(&Reader::new(Classifier::default()));
                assert_eq!(format!("{known:?}"), format!("{anew:?}"));
            }
        }
    }
}
