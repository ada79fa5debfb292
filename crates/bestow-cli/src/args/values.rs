//! Readers for the values of options.

use std::time::Duration;

use bestow::{
    Permission,
    grant::InvalidPermission,
    text::{Escaped, closest_word, parse_duration_or_bare},
};
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

/// Reads a duration that is not zero. A number alone is in seconds.
pub(super) fn time_limit(text: &str) -> Result<Duration, String> {
    let duration = duration(text)?;
    if duration.is_zero() { Err("it must not be zero".to_owned()) } else { Ok(duration) }
}

/// Reads a duration. A number alone is in seconds.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let wrong = |why| format!("`{}` is not {why}; a number alone is in seconds", Escaped(text));
    parse_duration_or_bare(text, Duration::from_secs).map_err(wrong)
}

/// Reads a JSON value. The type has a conversion from any text, which the parser of the command line would prefer.
pub(super) fn json(text: &str) -> Result<Value, String> {
    text.parse().map_err(|why| format!("it is not JSON, such as {{\"path\": \"notes.md\"}}: {why}"))
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
