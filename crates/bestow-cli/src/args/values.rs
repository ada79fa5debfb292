//! Readers for the values of options.

use std::time::Duration;

use bestow::{Permission, grant::InvalidPermission, text::{Escaped, closest_word}};
use serde_json::Value;

/// The beginnings of a permission.
const FORMS: [&str; 5] = ["@events", "@network", "@read", "@tool", "@write"];

/// Reads a permission, and suggests one for a slip of the pen.
pub(super) fn permission(text: &str) -> Result<Permission, String> {
    text.parse().map_err(|why| {
        let form = text.split(':').next().filter(|_| why == InvalidPermission::UnknownForm);
        let closest = form.and_then(|form| closest_word(form.trim_start(), FORMS));
        let suggestion = closest.map_or_else(String::new, |form| format!("; did you mean `{form}`?"));
        format!("`{}` is not a permission: {why}{suggestion}", Escaped(text))
    })
}

/// Reads a number of whole seconds from 1.
pub(super) fn seconds_from_one(text: &str) -> Result<Duration, String> {
    seconds(text, 1)
}

/// Reads a number of whole seconds from 0.
pub(super) fn seconds_from_zero(text: &str) -> Result<Duration, String> {
    seconds(text, 0)
}

fn seconds(text: &str, least: u64) -> Result<Duration, String> {
    let number = text.parse().ok().filter(|number| *number >= least);
    let wrong = || format!("`{}` is not a number of whole seconds from {least}, such as 90", Escaped(text));
    number.map(Duration::from_secs).ok_or_else(wrong)
}

/// Reads a JSON value. The type has a conversion from any text, which the parser of the command line would prefer.
pub(super) fn json(text: &str) -> Result<Value, serde_json::Error> {
    text.parse()
}

/// Reads a whole number.
pub(super) fn whole_number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("`{}` is not a whole number", Escaped(text)))
}

/// Reads the name of a host. A URL is refused, because the engine does not look at the rest of it.
pub(super) fn host(text: &str) -> Result<String, String> {
    let Some((_, rest)) = text.split_once("://") else { return Ok(text.to_owned()) };
    let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    Err(format!("name a host and not a URL: `--network {}`", host.escape_debug()))
}
