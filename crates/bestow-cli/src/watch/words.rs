//! Words and durations for the screen, and their lines.

use std::time::Duration;

use bestow::{grant::Scope, request::Request};
use unicode_width::UnicodeWidthChar as _;

/// Formats a duration by its two largest units.
pub(super) fn span(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{}h {:02}m", seconds / 3_600, seconds / 60 % 60),
        _ => format!("{}d {:02}h", seconds / 86_400, seconds / 3_600 % 24),
    }
}

/// Returns the name of a scope for people.
pub(super) fn scope(scope: Scope) -> String {
    match scope {
        Scope::Once => "once".to_owned(),
        Scope::Session => "this run".to_owned(),
        Scope::Until(end) => format!("until {end}"),
        Scope::Always => "always".to_owned(),
    }
}

/// Returns the consequence of an approval with this scope.
pub(super) fn consequence(request: &Request, scope: Scope) -> String {
    let lasts = match scope {
        Scope::Once if request.action.is_some() => return "for this action alone, one time".to_owned(),
        Scope::Once => return "for one use".to_owned(),
        Scope::Session => "until this run of the agent ends".to_owned(),
        Scope::Until(end) => format!("until {end}"),
        Scope::Always => "until it is revoked".to_owned(),
    };
    if !request.asks_about_action() {
        let whole =
            if request.action.is_some() { "gives the permission for everything that the agent does, " } else { "" };
        return format!("{whole}{lasts}");
    }
    let has_shape = request.action.as_ref().is_some_and(|action| action.shape.is_some());
    let what = if has_shape && scope != Scope::Session { "commands of this form" } else { "equal actions" };
    format!("also for {what}, {lasts}")
}

/// Splits `text` into lines of at most `width` columns. A line ends after a space where that is possible. No character
/// is lost, so white space cannot push text out of sight.
pub(super) fn lines(text: &str, width: usize) -> Vec<String> {
    let (mut all, mut line, mut columns) = (Vec::new(), String::new(), 0);
    for c in text.chars().map(visible) {
        let wide = c.width().unwrap_or(0);
        if columns + wide > width.max(2) {
            let rest = after_space(&line).map_or_else(String::new, |at| line.split_off(at));
            all.push(std::mem::replace(&mut line, rest));
            columns = columns_of(&line);
        }
        line.push(c);
        columns += wide;
    }
    all.push(line);
    all
}

/// Returns the place after the last space in the second half of a line.
fn after_space(line: &str) -> Option<usize> {
    let at = line.rfind(' ')? + 1;
    (at * 2 > line.len() && at < line.len()).then_some(at)
}

/// Shortens `text` to `width` columns, and marks that.
pub(super) fn cut(text: &str, width: usize) -> String {
    if columns_of(text) <= width {
        return text.chars().map(visible).collect();
    }
    let (mut short, mut columns) = (String::new(), 1);
    for c in text.chars().map(visible) {
        columns += c.width().unwrap_or(0);
        if columns > width {
            break;
        }
        short.push(c);
    }
    short.push('…');
    short
}

pub(super) fn columns_of(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// Returns a character that a terminal shows. Foreign text is escaped before; this holds for every text.
fn visible(c: char) -> char {
    if c.is_control() { '\u{fffd}' } else { c }
}
