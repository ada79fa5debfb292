//! Syntax errors, in messages that name the text in the file.

use toml::de::Error;

use super::{Problem, diagnostics::quoted};

/// Returns each syntax error with its position.
pub(super) fn problems(text: &str, errors: &[Error]) -> Vec<(usize, Problem)> {
    let place = |error: &Error| error.span().unwrap_or(text.len()..text.len());
    let mut errors: Vec<_> = errors.iter().map(|error| (place(error), error.message())).collect();
    errors.sort_by_key(|(span, _)| span.start);
    let mut all = Vec::new();
    // Every key of a duplicate table may be a duplicate too. Only the table is reported.
    let mut told_up_to = 0;
    for (span, message) in errors {
        let problem = match message {
            "duplicate key" if span.start < told_up_to => continue,
            "duplicate key" => {
                let twice = Twice::at(text, span.start);
                if let Twice::Head { end, .. } = twice {
                    told_up_to = end;
                }
                twice.problem(text.get(span.clone()).unwrap_or_default())
            }
            message => not_toml(message),
        };
        all.push((span.start, problem));
    }
    all
}

fn not_toml(message: &str) -> Problem {
    let problem = Problem::new(format!("this is not TOML: {message}"));
    match message.contains("inline table") && message.contains("extend") {
        true => problem.help(
            "a table in braces is complete: write its keys on lines of their own, below a line such as \
             `[agents.lead]`",
        ),
        false => problem,
    }
}

/// The duplicate element.
#[derive(Clone, Copy)]
enum Twice<'t> {
    /// A table. Its lines end at `end`.
    Head {
        head: &'t str,
        first: Option<usize>,
        end: usize,
    },
    Key {
        first: Option<usize>,
    },
}

impl<'t> Twice<'t> {
    fn at(text: &'t str, offset: usize) -> Twice<'t> {
        let (before, after) = text.split_at_checked(offset).unwrap_or((text, ""));
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        let (above, ahead) = before.split_at_checked(start).unwrap_or((before, ""));
        let line = text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or_default();
        if let Some(head) = head(line).filter(|_| !ahead.contains(['{', '='])) {
            let first = above.lines().position(|line| self::head(line) == Some(head));
            let ends = after.split_inclusive('\n').scan(offset, |at, line| {
                let start = *at;
                *at += line.len();
                Some((start, line))
            });
            let next = ends.skip(1).find(|(_, line)| self::head(line).is_some());
            return Twice::Head { head, first, end: next.map_or(text.len(), |(start, _)| start) };
        }
        let key = line.split(['=', '.']).next().unwrap_or_default().trim();
        let is_plain = ahead.trim().is_empty() && !key.is_empty();
        let lines: Vec<_> = above.lines().collect();
        let section = lines.iter().rposition(|line| head(line).is_some()).map_or(0, |head| head + 1);
        let is_key = |line: &&str| line.split(['=', '.']).next().is_some_and(|name| name.trim() == key);
        let first = lines.iter().skip(section).position(is_key).map(|place| place + section);
        Twice::Key { first: first.filter(|_| is_plain) }
    }

    fn problem(self, key: &str) -> Problem {
        let (what, first, help) = match self {
            Twice::Head { head, first, .. } => (head, first, "write its keys below one of them"),
            Twice::Key { first } => (key, first, "keep one"),
        };
        let first = first.map(|line| format!(", first in line {}", line + 1)).unwrap_or_default();
        Problem::new(format!("this is not TOML: {} is defined twice{first}", quoted(what))).help(help)
    }
}

/// Returns the header of a table, if the line is one.
fn head(line: &str) -> Option<&str> {
    let line = line.trim();
    let end = line.find(']')?;
    // A header like `[[a]]` ends with the second bracket.
    let end = end + usize::from(line.get(end + 1..).is_some_and(|rest| rest.starts_with(']')));
    line.get(..=end).filter(|head| head.starts_with('[') && !head.contains([',', '{', '=']))
}
