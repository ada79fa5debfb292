//! Readers for the values of options.

use std::{path::Path, time::Duration};

use bestow::{
    Permission,
    command::Shell,
    grant::InvalidPermission,
    sandbox::Limits,
    text::{Escaped, StrictJson, closest_word, parse_duration_or_bare},
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

/// Reads the name of a shell, or the path of its program, which must exist.
pub(super) fn shell(text: &str) -> Result<Shell, String> {
    if text.contains('/') && !Path::new(text).exists() {
        return Err(format!("`{}` does not exist: name the shell that runs the command", Escaped(text)));
    }
    text.parse().map_err(|why: bestow::command::InvalidShell| why.to_string())
}

/// Reads a duration that is not zero. A number alone is in seconds.
pub(super) fn time_limit(text: &str) -> Result<Duration, String> {
    let duration = duration(text)?;
    if duration.is_zero() { Err("it must not be zero".to_owned()) } else { Ok(duration) }
}

/// Reads the lifetime of a credential.
pub(super) fn lifetime(text: &str) -> Result<Duration, String> {
    if text == "never" { Ok(Limits::FOREVER) } else { time_limit(text) }
}

/// Reads the time limit of a command.
pub(super) fn run_limit(text: &str) -> Result<Duration, String> {
    if text == "unlimited" { Ok(Limits::FOREVER) } else { time_limit(text) }
}

/// The longest time limit of a hook. Hosts end a hook after ten seconds, and some then allow the call.
const LONGEST_HOOK: Duration = Duration::from_secs(9);

/// The longest time that a hook waits for a person, so that the answer arrives within its time limit.
const LONGEST_HOOK_WAIT: Duration = Duration::from_secs(8);

/// Reads the time limit of a hook.
pub(super) fn hook_limit(text: &str) -> Result<Duration, String> {
    time_limit(text).and_then(|limit| at_most(limit, LONGEST_HOOK))
}

/// Reads the time that a hook waits for a person.
pub(super) fn hook_wait(text: &str) -> Result<Duration, String> {
    duration(text).and_then(|wait| at_most(wait, LONGEST_HOOK_WAIT))
}

fn at_most(duration: Duration, longest: Duration) -> Result<Duration, String> {
    if duration <= longest { Ok(duration) } else { Err(format!("it is at most {} seconds", longest.as_secs())) }
}

/// Reads a duration. A number alone is in seconds.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let wrong = |why| format!("`{}` is not {why}; a number alone is in seconds", Escaped(text));
    parse_duration_or_bare(text, Duration::from_secs).map_err(wrong)
}

/// Reads a JSON value. The type has a conversion from any text, which the parser of the command line would prefer.
pub(super) fn json(text: &str) -> Result<Value, String> {
    let read = StrictJson::read(text.as_bytes());
    read.map(|StrictJson(value)| value)
        .map_err(|why| format!("it is not JSON, such as {{\"path\": \"notes.md\"}}: {why}"))
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

/// Reads the name of a server, without a port.
pub(super) fn host_name(text: &str) -> Result<String, String> {
    let name = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let is_valid = match name {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => !text.is_empty() && text.chars().all(is_name),
    };
    let example = "name a host without scheme and port, as in `permissions.example.org`";
    if is_valid {
        Ok(text.to_owned())
    } else {
        Err(format!("`{}` is not the name of a host: {example}", Escaped(text)))
    }
}

/// Reads the origin of a web page.
pub(super) fn origin(text: &str) -> Result<String, String> {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let host = rest.and_then(|rest| match rest.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => port.parse::<u16>().ok().map(|_| host),
        _ => Some(rest),
    });
    let example = "an origin is a scheme, a host and perhaps a port, as in `https://dashboard.example.org`";
    let is_valid = host.is_some_and(|host| host_name(host).is_ok());
    if is_valid { Ok(text.to_owned()) } else { Err(format!("`{}` is not an origin: {example}", Escaped(text))) }
}
