//! What the classifier says.

use serde::{Serialize, Serializer, ser::SerializeTuple};

use crate::model::{Obeys, Said, Spoken, SpokenPart, StartDir};

use super::{
    needs::NamedUses,
    shape::Shape,
    tier::{Tier, prefix},
    wildcard,
};

/// A stretch of the command line, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut pair = serializer.serialize_tuple(2)?;
        pair.serialize_element(&self.start)?;
        pair.serialize_element(&self.end)?;
        pair.end()
    }
}

/// One thing the command line does, and what was made of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Part {
    /// How harmful this part is by itself.
    pub tier: Tier,
    /// The text of the part as it was written, cut short if it is long. Written by somebody else: show it through
    /// [`Shown`](crate::Shown).
    pub command: String,
    /// The rule that decided.
    pub rule: String,
    /// Where the part stands.
    pub span: Span,
    /// The program as it stands there.
    #[serde(skip)]
    pub(crate) runs: Option<Spoken>,
    /// Every command that may run because of it.
    #[serde(skip)]
    pub(crate) starts: Vec<Spoken>,
    /// The directories in which it may run, as far as the text tells.
    #[serde(skip)]
    pub(crate) dirs: Vec<StartDir>,
    /// The files that its programs obey.
    #[serde(skip)]
    pub(crate) obeys: Vec<Obeys>,
}

/// The tier of a whole command line or tool call: that of its strictest part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Classification {
    /// The strictest tier of all parts.
    pub tier: Tier,
    /// `Safe command: …`, `Dangerous command: …` or `Destructive command: …`, naming the rule, the part and its place.
    pub reason: String,
    /// Every part that may run, in the order of the text.
    pub parts: Vec<Part>,
    /// Whether every word of it was understood.
    #[serde(skip)]
    pub understood: bool,
    /// What may be remembered if a person says "always"; `None` when nothing may.
    #[serde(skip)]
    pub shape: Option<Shape>,
    /// What it names of what it uses.
    #[serde(skip)]
    pub(crate) named: NamedUses,
}

/// Longer parts are cut: a person reads the beginning, the span finds the rest.
const MAX_SHOWN_BYTES: usize = 200;

impl Part {
    pub(super) fn new(tier: Tier, rule: impl Into<String>, text: &str, span: Span) -> Self {
        let text = text.get(span.start..span.end).unwrap_or(text);
        let end = (0..=text.len().min(MAX_SHOWN_BYTES)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let command = text.get(..end).unwrap_or_default().to_owned();
        Part {
            tier,
            command,
            rule: rule.into(),
            span,
            runs: None,
            starts: Vec::new(),
            dirs: vec![StartDir::Own],
            obeys: Vec::new(),
        }
    }
}

impl Part {
    /// Whether the part says this and nothing else.
    pub(super) fn same(&self, tier: Tier, rule: &str, span: Span) -> bool {
        self.tier == tier && self.rule == rule && self.span == span
    }
}

impl Classification {
    pub(super) fn of_parts(parts: Vec<Part>, shape: Option<Shape>) -> Self {
        // The first of the strictest parts: where two are equally bad, a reader wants the one that runs first.
        let worst = parts.iter().enumerate().rev().max_by_key(|(_, part)| part.tier);
        let Some((index, part)) = worst else {
            return Self::plain(Tier::Dangerous, "there is nothing to run");
        };
        let tier = part.tier;
        let Span { start, end } = part.span;
        let reason = format!("{}: {} (part {}, bytes {start}..{end})", prefix(tier), part.rule, index + 1);
        let shape = shape.filter(|_| tier == Tier::Dangerous);
        Classification { tier, reason, parts, understood: true, shape, named: NamedUses::default() }
    }

    /// The same, run with something besides that may change what runs and start `starts`.
    pub(super) fn with(mut self, key: &str, starts: Vec<Spoken>) -> Self {
        let key: String = key.chars().take(40).collect();
        let rule = format!("runs with `{}` besides, which may change what it does", crate::Shown(&key));
        if self.tier == Tier::Safe {
            self.tier = Tier::Dangerous;
            self.reason = format!("{}: {rule}", prefix(Tier::Dangerous));
        }
        let part = Part::new(Tier::Dangerous, rule, "", Span::default());
        self.parts.push(Part { starts, ..part });
        self.shape = None;
        self
    }

    /// The same, or else `other`: what that starts and names counts as well.
    pub(super) fn and(mut self, mut other: Classification) -> Self {
        let starts =
            std::mem::take(&mut other.parts).into_iter().flat_map(|part| part.runs.into_iter().chain(part.starts));
        if let Some(part) = self.parts.last_mut() {
            part.starts.extend(starts);
        }
        if other.tier == Tier::Destructive && self.tier < Tier::Destructive {
            (self.tier, self.reason) = (other.tier, other.reason);
        }
        self.named.join(other.named);
        self
    }

    /// The same, or a stricter answer because of `rule`; nothing may be remembered of it.
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

    /// An answer about something that has no parts.
    pub(super) fn plain(tier: Tier, rule: &str) -> Self {
        Classification {
            tier,
            reason: format!("{}: {rule}", prefix(tier)),
            parts: Vec::new(),
            understood: true,
            shape: None,
            named: NamedUses::default(),
        }
    }

    /// The parts as rules compare them; none if the text was not understood.
    pub(crate) fn spoken(&self) -> Option<Vec<SpokenPart>> {
        let part = |part: &Part| SpokenPart {
            tier: part.tier,
            runs: part.runs.clone(),
            starts: part.starts.clone(),
            dirs: part.dirs.clone(),
            obeys: part.obeys.clone(),
            by_name: part.runs.as_ref().filter(|_| part.tier > Tier::Safe).map(wildcard::by_name).unwrap_or_default(),
        };
        let strictest = self.parts.iter().map(|part| part.tier).max().unwrap_or(Tier::Safe);
        // What makes the whole worse than its parts, no rule about a part can answer for.
        let besides = (strictest < self.tier).then(|| SpokenPart::plain(self.tier, None));
        self.understood.then(|| self.parts.iter().map(part).chain(besides).collect())
    }

    /// The programs of its parts, as they are named there.
    pub(crate) fn programs(&self) -> Vec<&str> {
        let runs = self.parts.iter().filter_map(|part| part.runs.as_ref()?.words.first());
        runs.filter_map(Said::known).collect()
    }

    /// What is affected by the parts that nobody can undo.
    pub(crate) fn impact(&self) -> String {
        let parts: Vec<_> = self.parts.iter().filter(|part| part.tier == Tier::Destructive).collect();
        let told: Vec<_> = parts.iter().map(|part| format!("{} ({})", whole_words(&part.command), part.rule)).collect();
        if told.is_empty() { self.reason.clone() } else { told.join("; ") }
    }
}

/// Without the word that was cut: half a secret does not look like one.
fn whole_words(shown: &str) -> &str {
    let was_cut = shown.len() + 4 > MAX_SHOWN_BYTES;
    let whole = shown.rsplit_once(char::is_whitespace).map(|(whole, _)| whole);
    whole.filter(|_| was_cut).unwrap_or(shown)
}
