//! The result types of the classifier.

use serde::Serialize;

use crate::{
    named_uses::NamedUses,
    part::{MAX_SHOWN_BYTES, Part},
    shape::Shape,
    span::Span,
    tier::{Tier, prefix},
    values::{Said, Spoken, SpokenPart},
};

/// The tier of a whole command line or tool call, which is the tier of its strictest part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Classification {
    /// The strictest tier of all parts.
    pub tier: Tier,
    /// A sentence that starts with `Safe command:`, `Dangerous command:` or `Destructive command:` and names the rule.
    /// If the tier comes from a part, the sentence also names the number and the position of this part.
    pub reason: String,
    /// Every part that may run, in the order of the text.
    pub parts: Vec<Part>,
    /// True if the parser understood every word of the text.
    #[serde(skip)]
    pub understood: bool,
    /// The shape that may be saved if a person answers "always". `None` means that no decision may be saved.
    #[serde(skip)]
    pub shape: Option<Shape>,
}

/// A classification with the commands that the line may start and the resources that it names.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The classification.
    pub classification: Classification,
    /// The commands of each part.
    pub(crate) commands: Vec<SpokenPart>,
    /// The resources.
    pub named: NamedUses,
}

/// The bytes of a reason beside its tier and its rule: a colon, and which part of how many it is.
const ROOM: usize = ": (part 123 of 123)".len();

impl Classification {
    /// Creates the classification of these parts, without a shape.
    pub(super) fn of_parts(parts: Vec<Part>) -> Self {
        // The first of the strictest parts. If two parts are equally strict, a reader wants the one that runs first.
        let worst = parts.iter().enumerate().rev().max_by_key(|(_, part)| part.tier);
        let Some((index, part)) = worst else {
            return Self::plain(Tier::Dangerous, "there is nothing to run");
        };
        let tier = part.tier;
        let mut reason = String::with_capacity(prefix(tier).len() + part.rule.len() + ROOM);
        reason.extend([prefix(tier), ": ", &part.rule]);
        if parts.len() > 1 {
            let (number, all) = ((index + 1).to_string(), parts.len().to_string());
            reason.extend([" (part ", &number, " of ", &all, ")"]);
        }
        Classification { tier, reason, parts, understood: true, shape: None }
    }

    /// Returns this classification with a tier of at least dangerous because of `rule`. No decision about it may be
    /// saved.
    pub(super) fn at_least_dangerous(self, rule: &str) -> Self {
        let shape = None;
        match self.tier {
            Tier::Safe => {
                let reason = format!("{}: {rule}", prefix(Tier::Dangerous));
                Classification { tier: Tier::Dangerous, reason, understood: false, shape, ..self }
            }
            Tier::Dangerous | Tier::Destructive => Classification { understood: false, shape, ..self },
        }
    }

    /// Creates a classification without parts.
    pub(super) fn plain(tier: Tier, rule: &str) -> Self {
        Classification {
            tier,
            reason: format!("{}: {rule}", prefix(tier)),
            parts: Vec::new(),
            understood: true,
            shape: None,
        }
    }

    /// Describes what the destructive parts affect.
    #[doc(hidden)]
    pub fn impact(&self) -> String {
        let parts: Vec<_> = self.parts.iter().filter(|part| part.tier == Tier::Destructive).collect();
        let told: Vec<_> = parts.iter().map(|part| format!("{} ({})", whole_words(&part.command), part.rule)).collect();
        if told.is_empty() { self.reason.clone() } else { told.join("; ") }
    }
}

impl Judged {
    /// Creates the classification of a line that starts and names nothing.
    pub(super) fn plain(tier: Tier, rule: &str) -> Self {
        let (classification, named) = (Classification::plain(tier, rule), NamedUses::default());
        Judged { classification, commands: Vec::new(), named }
    }

    /// Returns this classification for a run with an extra tool input `key`. The input may change what runs, and it may
    /// start the commands in `starts`. Therefore the result is at least dangerous.
    pub(super) fn with(mut self, key: &str, starts: Vec<Spoken>) -> Self {
        let key: String = key.chars().take(40).collect();
        let rule = format!("runs with `{}` besides, which may change what it does", crate::values::Escaped(&key));
        let found = &mut self.classification;
        if found.tier == Tier::Safe {
            found.tier = Tier::Dangerous;
            found.reason = format!("{}: {rule}", prefix(Tier::Dangerous));
        }
        found.parts.push(Part::new(Tier::Dangerous, rule.into(), "", Span::default()));
        found.shape = None;
        self.commands.push(SpokenPart { starts, ..SpokenPart::plain(Tier::Dangerous, None) });
        self
    }

    /// Returns this classification with the commands of `other` added. If `other` is destructive, the
    /// result is destructive too.
    pub(super) fn and(mut self, other: Judged) -> Self {
        let Judged { classification: other, commands, named } = other;
        let starts = commands.into_iter().flat_map(|part| part.runs.into_iter().chain(part.starts));
        if let Some(part) = self.commands.last_mut() {
            part.starts.extend(starts);
        }
        let found = &mut self.classification;
        if other.tier == Tier::Destructive && found.tier < Tier::Destructive {
            (found.tier, found.reason) = (other.tier, other.reason);
        }
        self.named.join(named);
        self
    }

    /// Returns the parts in the form that rules compare. Returns `None` if the text was not understood.
    pub fn spoken(&self) -> Option<Vec<SpokenPart>> {
        let tier = self.classification.tier;
        let strictest = self.commands.iter().map(|part| part.tier).max().unwrap_or(Tier::Safe);
        // If the whole is stricter than each of its parts, no rule about a part may permit it.
        let besides = (strictest < tier).then(|| SpokenPart::plain(tier, None));
        self.classification.understood.then(|| self.commands.iter().cloned().chain(besides).collect())
    }

    /// Returns the programs of the parts, as they are named there.
    pub fn programs(&self) -> Vec<&str> {
        let runs = self.commands.iter().filter_map(|part| part.runs.as_ref()?.words.first());
        runs.filter_map(Said::known).collect()
    }
}

impl Shape {
    /// Returns the shape that a saved decision may cover after this classification. Returns `None` for a command that
    /// is safe or destructive.
    pub fn of(classification: &Classification) -> Option<Shape> {
        let offered = classification.tier == Tier::Dangerous;
        classification.shape.clone().filter(|_| offered)
    }

    /// Returns true if this shape covers the command of a classification. A shape of a line of several commands also
    /// covers its command alone, unless the line changes the directory.
    ///
    /// The method compares the classification and not the text. Therefore the shape no longer covers a command whose
    /// tier a person has raised since. A stored shape that was altered covers only commands that could have been
    /// offered.
    ///
    /// ```
    /// use bestow_command::{Shape, classify};
    /// let always = Shape::of(&classify("git commit -m 'first'")).expect("one command of written words");
    /// assert!(always.covers(&classify("git commit -m 'second'")));
    /// assert!(!always.covers(&classify("git commit -m \"$(./x)\"")));
    /// assert!(!always.covers(&classify("git commit -m 'second' | tail -1")));
    ///
    /// let always = Shape::of(&classify("cargo test 2>&1 | tail -30")).expect("one unsafe command among safe ones");
    /// assert!(always.covers(&classify("git status && cargo test | grep -c FAILED")));
    /// assert!(!always.covers(&classify("echo > build.rs && cargo test | tail -30")));
    /// ```
    pub fn covers(&self, classification: &Classification) -> bool {
        let Some(other) = Shape::of(classification) else { return false };
        other == *self || self.is_beside() && self.directory().is_none() && other == self.alone()
    }
}

/// Removes the last word if the text was cut: half of a secret does not look like a secret.
fn whole_words(shown: &str) -> &str {
    let was_cut = shown.len() + 4 > MAX_SHOWN_BYTES;
    let whole = shown.rsplit_once(char::is_whitespace).map(|(whole, _)| whole);
    whole.filter(|_| was_cut).unwrap_or(shown)
}
