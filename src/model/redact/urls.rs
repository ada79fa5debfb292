//! Secrets in URLs: in the query, and in the path of an address that works without another credential.

use std::ops::Range;

use super::{
    names::{Strength, is_secret_in_query},
    places::Place,
    spans::{is_token, ranges_of},
};

/// Returns the places of secrets in the URLs of `text`. The password before a host is found elsewhere.
pub(super) fn places(text: &str) -> Vec<Place> {
    let (mut found, mut from) = (Vec::new(), 0);
    while let Some(at) = text.get(from..).and_then(|rest| rest.find("://")) {
        let start = from + at + 3;
        let rest = text.get(start..).unwrap_or_default();
        let end = start + rest.find(ends_url).unwrap_or(rest.len());
        let url = text.get(start..end).unwrap_or_default();
        let spans = in_path(url).into_iter().chain(in_query(url));
        found.extend(spans.map(|span| (start + span.start..start + span.end, Strength::Certain)));
        from = end;
    }
    found
}

fn ends_url(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>' | '(' | ')' | '|' | ';' | '\\')
}

/// Returns the values of the fields that speak of secrets, in the query and in the fragment.
fn in_query(url: &str) -> Vec<Range<usize>> {
    let Some(begin) = url.find(['?', '#']) else { return Vec::new() };
    let fields = url.get(begin + 1..).unwrap_or_default();
    let field = |field: Range<usize>| {
        let (name, value) = fields.get(field.clone())?.split_once('=')?;
        let start = begin + 1 + field.start + name.len() + 1;
        let is_number = value.len() < 4 && value.bytes().all(|byte| byte.is_ascii_digit());
        (!is_number && is_secret_in_query(name)).then(|| start..start + value.len())
    };
    ranges_of(fields, '&').flat_map(|part| halves(fields, part)).filter_map(field).collect()
}

/// Returns the parts of a field before and behind the sign of the fragment.
fn halves(text: &str, part: Range<usize>) -> Vec<Range<usize>> {
    let sign = text.get(part.clone()).and_then(|part| part.find('#'));
    match sign {
        Some(sign) => vec![part.start..part.start + sign, part.start + sign + 1..part.end],
        None => vec![part],
    }
}

/// Returns the secret in the path of an address to which anybody may send who knows it.
fn in_path(url: &str) -> Option<Range<usize>> {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    let place = url.get(..end)?;
    let mut segments = ranges_of(place, '/').filter(|segment| !segment.is_empty());
    let host = place.get(segments.next()?)?;
    let host = host.rsplit('@').next().unwrap_or(host).to_ascii_lowercase();
    let segments: Vec<_> = segments.collect();
    let name = |at: usize| segments.get(at).and_then(|segment| place.get(segment.clone())).unwrap_or_default();
    // As in `bot123456:SECRET`.
    let of_bot = segments.iter().enumerate().find_map(|(at, segment)| {
        let (id, _) = name(at).strip_prefix("bot")?.split_once(':')?;
        let is_id = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
        is_id.then(|| segment.start + "bot".len() + id.len() + 1..segment.end)
    });
    if of_bot.is_some() {
        return of_bot;
    }
    let is_hook = |word: &str| matches!(word, "hook" | "hooks" | "webhook" | "webhooks" | "webhookb2");
    let last = segments.last().filter(|_| segments.len() > 1)?.clone();
    let hook = (0..segments.len()).find(|at| is_hook(name(*at)));
    let is_number = place.get(last.clone())?.bytes().all(|byte| byte.is_ascii_digit());
    let is_secret = match hook {
        // With the id of the hook before it: `webhooks/123/SECRET`.
        Some(at) if segments.len() > at + 2 => !is_number,
        Some(_) => place.get(last.clone()).is_some_and(is_token),
        None => host.split('.').any(is_hook) && !is_number,
    };
    is_secret.then_some(last)
}
