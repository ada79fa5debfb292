//! The drawing of the screen.

use bestow::event::Timestamp;
use ratatui::{
    Frame,
    layout::{Constraint, Layout, Rect},
    style::{Color, Modifier, Style, Stylize as _},
    text::{Line, Span},
    widgets::Paragraph,
};
use tokio::time::Instant;

use super::{
    card,
    entry::{Entry, EntryState},
    field::Field,
    inbox::{Inbox, Link, Page},
    style::tier_style,
    words,
};

/// The lines of the help page.
const HELP: [&str; 28] = [
    "Keys",
    "",
    "j  k  arrows   the next and the previous request",
    "g  G           the first and the last request",
    "space          a page further in the request, or in this text",
    "enter          shows the request alone, and closes it",
    "a              allows the request under the cursor",
    "d              denies it; words to the agent can be added",
    "w              words to the agent that go with an approval",
    "p              a part of several permissions, by their numbers",
    "e              changes the command. The engine judges it before it can be allowed",
    "x              selects several requests. Then a and d answer them for one use, and esc ends the selection",
    "1              allow once",
    "2              allow for this run of the agent",
    "3              allow until a time",
    "4              allow always, until it is revoked",
    "?              this page",
    "q              ends; requests go on waiting",
    "",
    "Only the possible ones of 1 to 4 are shown for a request. What a request shows is all that an answer binds.",
    "A request that has just appeared under the cursor takes an answer after one second.",
    "A request that is longer than the screen is allowed after all of it was shown.",
    "A destructive action is allowed after its code was typed.",
    "A request that has ended stays, marked with how it ended and by whom, until the cursor moves on.",
    "In text of agents, special characters are shown as \\n, \\u{202e} and the like.",
    "If the engine ends, this screen waits for the next one.",
    "This screen revokes nothing, so it has no key `u` to undo that. `bestow grants` lists what agents hold,",
    "`bestow revoke` ends it, and the dashboard does both, with an undo.",
];

/// The content of the lines around the list.
pub(super) struct Title<'t> {
    pub(super) state: &'t str,
    pub(super) person: &'t str,
}

/// Draws everything, and notes in `inbox` what a person could read.
pub(super) fn draw(frame: &mut Frame<'_>, inbox: &mut Inbox, title: &Title<'_>, now: Timestamp, instant: Instant) {
    let [top, body, message, keys] =
        Layout::vertical([Constraint::Length(1), Constraint::Min(1), Constraint::Length(1), Constraint::Length(1)])
            .areas(frame.area());
    frame.render_widget(header(inbox, title, usize::from(top.width)), top);
    match inbox.page {
        Page::Help => help(frame, inbox, body),
        Page::Card => card(frame, inbox, body, now),
        Page::List => list_and_card(frame, inbox, body, now),
    }
    if let Some(field) = inbox.field.clone() {
        draw_field(frame, &field, message);
    } else {
        frame.render_widget(Line::from(note(inbox)).bold(), message);
    }
    frame.render_widget(key_line(inbox, instant), keys);
}

fn header(inbox: &Inbox, title: &Title<'_>, width: usize) -> Line<'static> {
    let (link, style) = match &inbox.link {
        Link::Connecting => ("connecting".to_owned(), Style::new()),
        Link::Live => (format!("{} waiting", inbox.waiting()), Style::new()),
        Link::Lost(why) => (format!("{why}: waiting for it"), Style::new().fg(Color::Yellow)),
    };
    let style = style.bold().reversed();
    let left = format!(" {link} ");
    let room = width.saturating_sub(words::columns_of(&left) + 2);
    let right = words::cut(&format!("{} as {}", title.state, title.person), room);
    let gap = width.saturating_sub(words::columns_of(&left) + words::columns_of(&right) + 1);
    Line::from(vec![Span::styled(words::cut(&left, width), style), Span::raw(" ".repeat(gap)), Span::raw(right).dim()])
}

/// Returns the message, or the change of the policy file that waits.
fn note(inbox: &Inbox) -> String {
    let held = || {
        let held = inbox.held_back.as_ref()?;
        Some(format!("A change of the policy file waits too: `bestow agree {}` accepts it.", held.change))
    };
    inbox.message.clone().or_else(held).unwrap_or_default()
}

fn key_line(inbox: &Inbox, now: Instant) -> Line<'static> {
    if inbox.field.is_some() {
        let remark = inbox.message.as_ref().map(|message| format!("{message}   ")).unwrap_or_default();
        return Line::from(vec![Span::raw(remark).bold(), Span::raw("enter send   esc cancel").dim()]);
    }
    let keys = match (inbox.page, inbox.selected()) {
        (Page::Help, _) => "space more   q back",
        (_, None) => "? help   q quit",
        (_, Some(entry)) if entry.has_ended() || inbox.link != Link::Live => "j/k move   ? help   q quit",
        (_, Some(entry)) if entry.state == EntryState::Answering => "sending …",
        (_, Some(_)) if !inbox.is_ready(now) => "just appeared: read it first   j/k move   ? help",
        _ if inbox.is_picking() => "a allow the selected once   d deny them   x select   esc end the selection",
        (Page::List, Some(_)) => "a allow   d deny   1-4 how long   ? help   enter open   j/k move   q quit",
        (Page::Card, Some(_)) => "a allow   d deny   1-4 how long   ? help   space more   q back",
    };
    Line::from(keys).add_modifier(Modifier::DIM)
}

fn draw_field(frame: &mut Frame<'_>, field: &Field, area: Rect) {
    let width = usize::from(area.width);
    let question = words::cut(&format!("{} ", field.question()), width.saturating_sub(8));
    let typed = bestow::text::Escaped(&field.text).to_string();
    // The end of a long text is where a person types.
    let room = width.saturating_sub(words::columns_of(&question) + 1);
    let mut shown = typed.as_str();
    while words::columns_of(shown) > room {
        let mut rest = shown.chars();
        rest.next();
        shown = rest.as_str();
    }
    let column = words::columns_of(&question) + words::columns_of(shown);
    frame.render_widget(Line::from(vec![Span::raw(question.clone()).bold(), Span::raw(shown.to_owned())]), area);
    let column = area.x.saturating_add(u16::try_from(column).unwrap_or(u16::MAX)).min(area.right().saturating_sub(1));
    frame.set_cursor_position((column, area.y));
}

fn help(frame: &mut Frame<'_>, inbox: &mut Inbox, area: Rect) {
    let width = usize::from(area.width);
    let lines: Vec<_> = HELP.iter().flat_map(|line| words::lines(line, width)).map(Line::from).collect();
    page(frame, inbox, area, lines);
}

/// Draws the lines from the scrolled one on. Returns the first line and the line after the last.
fn page(frame: &mut Frame<'_>, inbox: &mut Inbox, area: Rect, lines: Vec<Line<'static>>) -> (usize, usize) {
    let (height, all) = (usize::from(area.height), lines.len());
    inbox.page_lines = height.saturating_sub(1).max(1);
    inbox.scroll = inbox.scroll.min(all.saturating_sub(height));
    let from = inbox.scroll;
    let mut shown: Vec<_> = lines.into_iter().skip(from).take(height).collect();
    let to = from + shown.len();
    if to < all
        && let Some(last) = shown.last_mut()
    {
        *last = Line::from(format!("… {} more lines: press space", all - to + 1)).bold();
    }
    frame.render_widget(Paragraph::new(shown), area);
    (from, if to < all { to.saturating_sub(1) } else { to })
}

fn card(frame: &mut Frame<'_>, inbox: &mut Inbox, area: Rect, now: Timestamp) {
    let Some(entry) = inbox.selected() else { return };
    let lines = card::lines(entry, now, usize::from(area.width));
    let all = lines.len();
    let (from, to) = page(frame, inbox, area, lines);
    if let Some(entry) = inbox.selected_mut() {
        entry.read.show(area.width, from, to, all);
    }
}

fn list_and_card(frame: &mut Frame<'_>, inbox: &mut Inbox, area: Rect, now: Timestamp) {
    if inbox.entries.is_empty() {
        let text = if inbox.link == Link::Live { "No request waits." } else { "" };
        frame.render_widget(Line::from(text), area);
        return;
    }
    let most = (usize::from(area.height) * 2 / 5).max(1);
    let rows = u16::try_from(inbox.entries.len().min(most)).unwrap_or(u16::MAX);
    let [list, line, rest] =
        Layout::vertical([Constraint::Length(rows), Constraint::Length(1), Constraint::Min(0)]).areas(area);
    draw_list(frame, inbox, list, now);
    frame.render_widget(Line::from("─".repeat(usize::from(line.width))).dim(), line);
    card(frame, inbox, rest, now);
}

fn draw_list(frame: &mut Frame<'_>, inbox: &Inbox, area: Rect, now: Timestamp) {
    let (height, place) = (usize::from(area.height), inbox.place().unwrap_or(0));
    // The cursor is near the middle, where the list is longer than the screen.
    let from = place.saturating_sub(height / 2).min(inbox.entries.len().saturating_sub(height));
    let shown = inbox.entries.iter().enumerate().skip(from).take(height);
    let row = |(at, entry): (usize, &Entry)| row(entry, at == place, now, usize::from(area.width));
    frame.render_widget(Paragraph::new(shown.map(row).collect::<Vec<_>>()), area);
}

/// Returns one line about a request.
fn row(entry: &Entry, is_selected: bool, now: Timestamp, width: usize) -> Line<'static> {
    let request = entry.request();
    let mark = match (is_selected, entry.is_picked) {
        (true, false) => ">",
        (true, true) => "»",
        (false, true) => "*",
        (false, false) => " ",
    };
    let tier = request.action.as_ref().map(|action| action.tier);
    let end = match &entry.state {
        EntryState::Ended(how) => words::cut(how, width / 2),
        EntryState::Answering => "sending".to_owned(),
        EntryState::Waiting => {
            let (waits, left) = (request.since.until(now), now.until(request.deadline));
            let tier = tier.map_or_else(String::new, |tier| format!("{tier}  "));
            format!("{tier}{}, {} left", words::span(waits), words::span(left))
        }
    };
    let begin = format!("{mark} {} {}: ", entry.waiting.code, request.from);
    let room = width.saturating_sub(words::columns_of(&begin) + words::columns_of(&end) + 2);
    let what = words::cut(&wish(entry), room);
    let gap = room.saturating_sub(words::columns_of(&what)) + 2;
    let style = if is_selected { Style::new().bold() } else { Style::new() };
    if entry.has_ended() {
        return Line::from(format!("{begin}{what}{}{end}", " ".repeat(gap))).style(style.add_modifier(Modifier::DIM));
    }
    let end = Span::styled(end, tier.map(tier_style).unwrap_or_default());
    Line::from(vec![Span::styled(format!("{begin}{what}{}", " ".repeat(gap)), style), end])
}

/// Returns what a request asks for, in short.
fn wish(entry: &Entry) -> String {
    let request = entry.request();
    match &request.action {
        Some(action) => action.phrase().to_string(),
        None => {
            let all: Vec<_> = request.widest_first().iter().map(|asked| asked.describe().to_string()).collect();
            all.join(", ")
        }
    }
}
