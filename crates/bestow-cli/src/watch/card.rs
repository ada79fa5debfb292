//! The whole of one request, line by line.

use bestow::{action::ActionFacts, command::Tier, event::Timestamp, text::Escaped};
use ratatui::{
    style::{Modifier, Style},
    text::{Line, Span},
};

use super::{
    entry::{Entry, EntryState, ScopeKey},
    style::tier_style,
    words,
};

/// The width of the labels.
const LABEL: usize = 9;

/// The text that stands for a missing reason.
const NO_REASON: &str = "no reason given";

/// Returns the lines of a request, at most `width` columns wide.
pub(super) fn lines(entry: &Entry, now: Timestamp, width: usize) -> Vec<Line<'static>> {
    let mut card = Card { width: width.saturating_sub(LABEL + 1), lines: Vec::new() };
    card.asker(entry);
    if let Some(action) = &entry.request().action {
        card.action(entry, action);
    }
    card.permissions(entry);
    card.reasons(entry);
    card.time(entry, now);
    card.scopes(entry);
    card.lines
}

struct Card {
    width: usize,
    lines: Vec<Line<'static>>,
}

impl Card {
    /// Adds a text with a label. All foreign text in it is escaped.
    fn row(&mut self, label: &str, style: Style, text: &str) {
        for (place, line) in words::lines(text, self.width).into_iter().enumerate() {
            let label = if place == 0 { label } else { "" };
            let label = Span::styled(format!("{label:<LABEL$} "), Style::new().add_modifier(Modifier::DIM));
            self.lines.push(Line::from(vec![label, Span::styled(line, style)]));
        }
    }

    fn text(&mut self, label: &str, text: &str) {
        self.row(label, Style::new(), text);
    }

    fn asker(&mut self, entry: &Entry) {
        let request = entry.request();
        let who = match &request.name {
            Some(name) => format!("{name} ({}, {})", request.from, request.kind),
            None => format!("{} ({})", request.from, request.kind),
        };
        self.row("who", Style::new().bold(), &format!("{who}, for {}", request.owner));
        let above: Vec<_> = entry.waiting.above.iter().map(ToString::to_string).collect();
        if !above.is_empty() {
            self.text("above", &format!("created by {}", above.join(", itself by ")));
        }
    }

    fn action(&mut self, entry: &Entry, action: &ActionFacts) {
        self.row("wants to", Style::new().bold(), &action.phrase().to_string());
        self.row("judged", tier_style(action.tier), &Escaped(&action.tier_reason).to_string());
        for part in entry.waiting.parts.iter().filter(|_| entry.waiting.parts.len() > 1) {
            let text = format!("{} `{}`: {}", part.tier, Escaped(part.text.trim()), Escaped(&part.reason));
            self.row("part", tier_style(part.tier), &text);
        }
        if let Some(change) = &entry.change {
            self.row("instead", Style::new().bold(), &format!("run `{}`", Escaped(&change.command)));
            match &change.judged {
                None => self.text("", "the engine judges it …"),
                Some(Ok(judged)) => self.text("", judged),
                Some(Err(why)) => self.row("", tier_style(Tier::Destructive), &format!("not possible: {why}")),
            }
        }
        if let Some(destructive) = &action.destructive {
            let style = tier_style(Tier::Destructive);
            self.row("destroys", style, &Escaped(&destructive.impact_scope).to_string());
            self.row("undo", style, &Escaped(&destructive.rollback_advice).to_string());
        }
        for used in &action.uses {
            self.text("uses", &used.to_string());
        }
    }

    fn permissions(&mut self, entry: &Entry) {
        let request = entry.request();
        let is_list = request.widest_first().len() > 1;
        for (place, permission) in request.widest_first().iter().enumerate() {
            let is_given = entry.part.as_ref().is_none_or(|part| part.contains(&place));
            let number = if is_list { format!("{} ", place + 1) } else { String::new() };
            let (label, style) = match is_given {
                true => ("needs", Style::new().bold()),
                false => ("denied", Style::new().add_modifier(Modifier::DIM)),
            };
            self.row(label, style, &format!("{number}{}", permission.describe()));
            if let Some(Some(leads)) = entry.leads.get(place) {
                self.text("", leads);
            }
        }
        for (permission, reply) in &request.settled {
            let reply = format!("{reply:?}").to_lowercase();
            self.text("also", &format!("{} (settled before: {reply})", permission.describe()));
        }
        if let Some(details) = &request.details {
            self.text("content", &details.to_string());
        }
        if request.is_once_only() {
            self.text("cut", "the request does not show everything, so an approval is valid only once");
        }
    }

    fn reasons(&mut self, entry: &Entry) {
        let request = entry.request();
        match request.reason.as_str() {
            NO_REASON => self.text("why", "the agent gives no reason"),
            _ => self.text("why", &format!("\"{}\"", request.reason)),
        }
        for said in &request.hooks_say {
            self.text("hook", said);
        }
    }

    fn time(&mut self, entry: &Entry, now: Timestamp) {
        let request = entry.request();
        let text = match &entry.state {
            EntryState::Ended(how) => {
                self.row("ended", Style::new().bold(), how);
                return;
            }
            EntryState::Answering => "your answer is on its way".to_owned(),
            EntryState::Waiting => format!(
                "for {}, expires in {}, routed {}",
                words::span(request.since.until(now)),
                words::span(now.until(request.deadline)),
                entry.waiting.route
            ),
        };
        self.text("waits", &text);
    }

    fn scopes(&mut self, entry: &Entry) {
        if entry.has_ended() {
            return;
        }
        let mut spans = vec![Span::styled(format!("{:<LABEL$} ", "allow"), Style::new().add_modifier(Modifier::DIM))];
        for (key, scope) in ScopeKey::ALL {
            let Some(possible) = entry.scope_of(scope) else { continue };
            let is_chosen = scope.is(entry.scope);
            let name = match scope {
                ScopeKey::Until if !is_chosen => "until …".to_owned(),
                ScopeKey::Until => words::scope(entry.scope),
                ScopeKey::Once | ScopeKey::Session | ScopeKey::Always => words::scope(possible),
            };
            // The brackets are for screens that show no styles.
            let (text, style) = match is_chosen {
                true => (format!("[{key} {name}] "), Style::new().bold()),
                false => (format!(" {key} {name}  "), Style::new()),
            };
            spans.push(Span::styled(text, style));
        }
        self.lines.push(Line::from(spans));
        self.text("", &words::consequence(entry.request(), entry.scope));
        let lasts = !ScopeKey::Once.is(entry.scope) && !ScopeKey::Session.is(entry.scope);
        if let Some(words) = &entry.words {
            self.text("words", &format!("\"{words}\" goes with an approval"));
        }
        if let Some(shape) = entry.waiting.shape().filter(|_| lasts) {
            self.text("form", &shape.phrase().to_string());
        }
    }
}
