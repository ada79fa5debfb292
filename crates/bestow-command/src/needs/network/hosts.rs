//! Hosts in words: in a URL, in `user@host`, in `host:path`, or in an operand that is a host.

use smol_str::SmolStr;

use crate::{
    evaluator,
    few::Few,
    needs::{
        network::globs,
        operand::{as_written, exact},
    },
    options::{List, is_listed, is_listed_letter, short},
    programs::{self, HostOperands, Hosts},
    values::canonical_host,
    word::{Signs, Word},
};

/// Returns the hosts that the words of the network program `name` name. An inner `None` stands for an unknown host.
/// Returns `None` if a pattern expands to too many hosts.
pub(super) fn named(name: &str, rest: &[Word]) -> Option<Vec<Option<SmolStr>>> {
    let mut hosts = match programs::find(name).and_then(|program| program.hosts) {
        Some(hosts) => at_places(hosts, rest)?,
        None => {
            // Every address contains a colon.
            let texts = rest.iter().filter(|word| word.has(Signs::COLON)).filter_map(exact);
            texts.filter_map(|text| in_url(&text).or_else(|| in_remote(name, &text))).collect()
        }
    };
    // The words name no host, so the program may reach any host.
    if hosts.is_empty() {
        hosts.push(None);
    }
    Some(hosts)
}

fn at_places(known: Hosts, rest: &[Word]) -> Option<Vec<Option<SmolStr>>> {
    let mut hosts = Vec::new();
    let mut operands = 0;
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        let text = word.text();
        if text.starts_with('-') && text.len() > 1 {
            let (options, joined) = options(text, known.valued);
            let takes = options.last().is_some_and(|option| is_listed(known.valued, option));
            let value = match joined {
                Some(value) => Some(SmolStr::from(value)),
                None if takes => words.next().and_then(exact),
                None => None,
            };
            if options.iter().any(|option| is_listed(known.redirects, option)) {
                hosts.push(None);
            }
            if options.iter().any(|option| option == "--url") {
                hosts.extend(addresses(value.as_deref().unwrap_or_default())?);
            }
            continue;
        }
        operands += 1;
        let Some(text) = as_written(word) else {
            hosts.push(None);
            continue;
        };
        match known.operands {
            HostOperands::All => hosts.extend(addresses(&text)?),
            // The method of a request precedes the address.
            HostOperands::First if operands == 1 && text.bytes().all(|byte| byte.is_ascii_uppercase()) => operands = 0,
            HostOperands::First if operands == 1 => hosts.push(address(&text)),
            HostOperands::Dotted if text.starts_with('@') => hosts.push(text.get(1..).and_then(address)),
            HostOperands::Dotted if text.contains('.') && !text.starts_with('+') => hosts.push(address(&text)),
            HostOperands::First | HostOperands::Dotted => {}
        }
    }
    Some(hosts)
}

/// Returns the options that a word gives, joined or not, and the value of the last one if it is part of the word.
fn options<'w>(text: &'w str, valued: List<'_>) -> (Few<SmolStr>, Option<&'w str>) {
    if let Some((option, value)) = text.split_once('=') {
        return (Few::One(option.into()), Some(value));
    }
    if text.starts_with("--") {
        return (Few::One(text.into()), None);
    }
    let mut options = Few::default();
    for (at, letter) in text.char_indices().skip(1) {
        let takes = is_listed_letter(valued, letter);
        options.push(short(letter));
        if takes {
            return (options, text.get(at + letter.len_utf8()..).filter(|value| !value.is_empty()));
        }
    }
    (options, None)
}

/// Returns the hosts that words may name to a program whose use of its words is unknown.
pub(super) fn heard(name: &str, words: &[Word]) -> Vec<Option<SmolStr>> {
    let mut hosts = Vec::new();
    words.iter().for_each(|word| hear_in(name, word, &mut hosts));
    hosts
}

/// Adds the hosts that a word may name.
fn hear_in(name: &str, word: &Word, hosts: &mut Vec<Option<SmolStr>>) {
    let text = word.text();
    let has_names = word.has(Signs::SLASH) && matches!(name, "awk" | "gawk") && text.contains("/inet");
    // Every other address contains a colon.
    if !has_names && !word.has(Signs::COLON) {
        return;
    }
    let is_whole = exact(word).is_some();
    let value = text.split_once('=').map(|(_, value)| value);
    let joined = (text.starts_with('-') && !text.starts_with("--")).then(|| text.get(2..)).flatten();
    let parts = [Some(text), value, joined].into_iter().flatten();
    let host = |part| if is_whole { in_url(part).or_else(|| in_login(part)) } else { begun(part) };
    hosts.extend(parts.filter_map(host));
    // A `gawk` program opens such a name as a connection.
    if has_names && ["/inet/", "/inet4/", "/inet6/"].iter().any(|start| text.contains(start)) {
        hosts.push(None);
    }
    if evaluator::runs_code(name) {
        hosts.extend(in_code(text));
    }
}

/// Returns the host of an address whose end is unknown.
fn begun(text: &str) -> Option<Option<SmolStr>> {
    let (scheme, rest) = text.split_once("://")?;
    if !reaches(scheme)? {
        return None;
    }
    Some(rest.contains(['/', '?', '#']).then(|| authority(rest)).flatten())
}

/// Returns the hosts of addresses in code of any language.
fn in_code(code: &str) -> impl Iterator<Item = Option<SmolStr>> {
    addresses_in(code, MOST_IN_CODE)
}

fn addresses_in(code: &str, most: usize) -> impl Iterator<Item = Option<SmolStr>> {
    let ends = code.match_indices("://").take(most);
    ends.filter_map(|(at, _)| {
        let before = code.get(..at)?;
        let start = before
            .rfind(|c: char| !is_of_scheme(c))
            .map_or(0, |last| last + before.get(last..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8));
        let quoted = code.get(start..)?.split(|c: char| c.is_whitespace() || "'\"`<>|;)".contains(c)).next()?;
        in_url(quoted)
    })
}

/// The limit of addresses that are searched in one text of code.
const MOST_IN_CODE: usize = 16;

/// Returns the host of `scheme://host…`. The inner `None` stands for an unknown host.
fn in_url(text: &str) -> Option<Option<SmolStr>> {
    let (scheme, rest) = text.split_once("://")?;
    reaches(scheme)?.then(|| authority(rest))
}

/// Returns true if an address with this scheme may lead to another machine. Returns `None` if the text is not a scheme.
fn reaches(scheme: &str) -> Option<bool> {
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(is_of_scheme);
    let scheme = scheme.rsplit(':').next().unwrap_or(scheme).to_ascii_lowercase();
    is_scheme.then_some(!matches!(scheme.as_str(), "file" | "unix" | "npipe" | "fd" | "data" | "about" | "sqlite"))
}

fn is_of_scheme(c: char) -> bool {
    c.is_ascii_alphanumeric() || "+.-:".contains(c)
}

/// Returns the host of `user@host:path`.
fn in_login(text: &str) -> Option<Option<SmolStr>> {
    let (user, rest) = text.split_once('@')?;
    let (host, path) = rest.split_once(':')?;
    let is_name = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
    (is_name(user) && !path.is_empty()).then(|| name(host)).filter(Option::is_some)
}

/// Returns the host of a path on another machine, for programs that accept such paths. For `git`, `main:next` is a
/// refspec and not a path.
fn in_remote(program: &str, text: &str) -> Option<Option<SmolStr>> {
    let takes_paths = match program {
        "scp" | "rsync" | "rcp" | "mount" | "sshfs" | "unison" | "borg" => true,
        "git" => text.split(':').next().is_some_and(|host| host.contains(['.', '@'])),
        _ => false,
    };
    (takes_paths && is_remote(text)).then(|| authority(text))
}

/// Returns true if a word names a database on another machine: by an address, or by `host=…` among other settings.
pub(super) fn is_database(text: &str) -> bool {
    let settings = text.split_ascii_whitespace();
    let told = settings.clone().any(|setting| setting.starts_with("host=") || setting.starts_with("hostaddr="));
    in_url(text).is_some() || told && settings.clone().all(|setting| setting.contains('='))
}

/// Returns true if a word names a path on another machine.
pub(super) fn is_remote(text: &str) -> bool {
    let host = text.split_once(':').map(|(host, _)| host);
    !text.starts_with('-') && host.is_some_and(|host| !host.is_empty() && !host.contains('/'))
}

/// Returns the hosts of an operand that is an address or a pattern of addresses. Returns `None` if there are too many.
fn addresses(text: &str) -> Option<Vec<Option<SmolStr>>> {
    Some(globs::hosts_written_out(text)?.iter().map(|text| address(text)).collect())
}

/// Returns true for a variable that redirects a program to another machine. Without it, the program stays on this
/// machine.
pub(super) fn leads_elsewhere(name: &str) -> bool {
    matches!(name, "DOCKER_HOST" | "CONTAINER_HOST" | "BUILDKIT_HOST" | "PGHOST" | "PGHOSTADDR" | "MYSQL_HOST")
}

/// Returns the host that a variable names to network programs. The value is an address, or the variable name is one
/// that holds a host.
pub(super) fn in_variable(name: &str, value: &str) -> Option<SmolStr> {
    const NAMES_A_HOST: &[&str] =
        &["proxy", "host", "hostname", "hostaddr", "registry", "server", "endpoint", "url", "uri"];
    let last = name.rsplit('_').next().unwrap_or(name).to_ascii_lowercase();
    let names_one = NAMES_A_HOST.contains(&last.as_str()) || leads_elsewhere(name);
    in_url(value).flatten().or_else(|| names_one.then(|| address(value)).flatten())
}

/// Returns the hosts of the addresses in an arbitrary text, with a scheme or with a port.
pub fn in_text(text: &str) -> Vec<SmolStr> {
    let has_port = |word: &&str| {
        let port = word.rsplit_once(':').map(|(_, rest)| rest.split('/').next().unwrap_or(rest));
        port.is_some_and(|port| port.parse::<u16>().is_ok())
    };
    addresses_in(text, usize::MAX).flatten().chain(names_in(text).filter(has_port).filter_map(address)).collect()
}

/// Returns the words of a text that are written like host names.
pub fn bare_in_text(text: &str) -> Vec<SmolStr> {
    names_in(text).filter_map(address).collect()
}

fn names_in(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| c.is_whitespace() || "'\"`<>|;(),".contains(c));
    let is_name = |word: &&str| {
        let host = word.split(['/', '?', '#', ':']).next().unwrap_or(word);
        let mut labels = host.trim_end_matches('.').split('.');
        let last = labels.next_back().unwrap_or_default();
        let ends_well = last.len() > 1 && last.chars().all(char::is_alphabetic);
        let is_address = last.starts_with(|c: char| c.is_ascii_digit());
        (ends_well || is_address) && labels.next().is_some_and(|label| !label.is_empty())
    };
    words.filter(is_name)
}

/// Returns the host of an operand that is an address, with a scheme or without.
fn address(text: &str) -> Option<SmolStr> {
    if let Some((scheme, rest)) = text.split_once("://") {
        return reaches(scheme)?.then(|| authority(rest)).flatten();
    }
    const SCHEMES: &[&str] = &["http", "https", "ftp", "ftps", "file", "sftp", "scp"];
    let scheme = text.split(':').next().filter(|scheme| scheme.len() < text.len());
    if scheme.is_some_and(|scheme| SCHEMES.contains(&scheme.to_ascii_lowercase().as_str())) {
        // With fewer slashes than required, each program parses the address differently.
        return None;
    }
    authority(text)
}

/// Returns the host of the text after `scheme://`.
fn authority(rest: &str) -> Option<SmolStr> {
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or(rest);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match host.strip_prefix('[') {
        Some(inside) => inside.split_once(']').map_or(inside, |(host, _)| host),
        None if host.matches(':').count() > 1 => host,
        None => host.split(':').next().unwrap_or(host),
    };
    name(host)
}

/// Returns a host name or address in its canonical form.
pub(super) fn name(host: &str) -> Option<SmolStr> {
    canonical_host(host).map(SmolStr::from)
}
