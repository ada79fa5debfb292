//! Predicates on addresses and requests: the words must only fetch.

use std::{collections::HashSet, net::Ipv6Addr, sync::LazyLock};

use smol_str::SmolStr;

use crate::{
    options::Options,
    predicates::{Answer, when},
    programs,
    values::Obeyed,
    word::{Fragment, Gaps, Word},
};

/// Accepts addresses that `curl` only fetches.
pub(crate) fn curl_addresses(options: &Options<'_>) -> Answer {
    for (name, value) in &options.given {
        let value = value.as_deref().unwrap_or_default();
        let sends_file = matches!(name.as_str(), "-H" | "--header" | "-w" | "--write-out") && value.starts_with('@');
        let writes_file = matches!(name.as_str(), "-w" | "--write-out") && value.contains("%output");
        let is_header = name.ends_with("header") || name == "-H";
        if is_header && asks_for_more(value) {
            return Err("a header asks for another method or protocol".into());
        }
        let names_file = !value.contains('=') || value.starts_with('@');
        let reads_cookies = matches!(name.as_str(), "-b" | "--cookie") && names_file;
        if sends_file || writes_file || reads_cookies {
            return Err(format!("the value of {name} names a file").into());
        }
        if name == "--url" && (!is_fetched(value) || value.starts_with('@')) {
            return Err("an address that is more than fetched".into());
        }
        if !leads_to_fetched(name, value) {
            return Err(format!("the host of {name} is not a usual one").into());
        }
    }
    addresses(options)
}

/// Returns true unless `--connect-to` or `--resolve` leads to the service for a machine's credentials. Their values are
/// `host:port:host:port` and `host:port:address,address`.
fn leads_to_fetched(option: &str, value: &str) -> bool {
    if !matches!(option, "--connect-to" | "--resolve") {
        return true;
    }
    match value.splitn(3, ':').nth(2) {
        None => !value.has_unknown(),
        Some(target) if option == "--connect-to" => is_fetched(target),
        Some(targets) => targets.split(',').all(|target| match target.parse() {
            Ok(address) => is_plain_v6(address),
            Err(_) => is_fetched(target),
        }),
    }
}

fn addresses(options: &Options<'_>) -> Answer {
    // A single variable as the address hides the scheme and the host.
    match options
        .operands
        .iter()
        .find(|operand| !is_fetched(operand.text()) || operand.text().fragments().eq([Fragment::Unknown]))
    {
        Some(_) => Err("an address that is more than fetched".into()),
        None => Ok(()),
    }
}

/// The names of files that programs obey in their directory, in lower case.
static OBEYED: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let files = programs::all().filter_map(|program| match program.obeys {
        Some(Obeyed::Files(names)) => Some(names),
        _ => None,
    });
    let names = files.flatten().filter_map(|path| path.rsplit('/').next());
    names.chain(RUN.iter().copied()).map(str::to_ascii_lowercase).collect()
});

/// Other names of files that programs run or obey.
const RUN: &[&str] = &[
    "Makefile",
    "GNUmakefile",
    "package.json",
    "conftest.py",
    "locustfile.py",
    "sitecustomize.py",
    "usercustomize.py",
];

/// Returns true if programs of the directory may run or obey a file with this name.
fn may_be_obeyed(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_library = [".so", ".dylib", ".dll"].iter().any(|end| name.ends_with(end)) || name.contains(".so.");
    is_library || OBEYED.contains(&name)
}

/// Accepts addresses for `wget`, which names the file after the address. A hidden or sensitive file name is refused,
/// because programs may obey such a file.
pub(crate) fn wget_addresses(options: &Options<'_>) -> Answer {
    let overrides =
        |(name, value): &(SmolStr, Option<SmolStr>)| name == "--header" && value.as_deref().is_some_and(asks_for_more);
    if options.given.iter().any(overrides) {
        return Err("a header asks for another method or protocol".into());
    }
    // The values of these options are on the list: none of them is a file that is kept.
    let saves = !options.has("-O --output-document -qO- --spider");
    let is_hidden = |address: &str| {
        address.rsplit('/').next().is_some_and(|name| {
            name.starts_with('.')
                || crate::tool::is_sensitive(name)
                || crate::tool::is_guarded(name)
                || (saves && may_be_obeyed(name))
        })
    };
    let hidden = |operand: &&Word| {
        let text = decoded(operand.text());
        let path = text.split(['#', '?']).next().unwrap_or_default();
        let pattern =
            text.get(..3).is_some_and(|scheme| scheme.eq_ignore_ascii_case("ftp")) && text.contains(['*', '?', '[']);
        pattern || is_hidden(operand.text()) || is_hidden(&text) || is_hidden(path)
    };
    if options.operands.iter().any(hidden) {
        return Err("it saves a file that programs may obey".into());
    }
    addresses(options)
}

/// Decodes `%2e` and similar escapes of an address.
pub(super) fn decoded(address: &str) -> String {
    let mut parts = address.split('%');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let code = part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match code.zip(part.get(2..)) {
            Some((byte, rest)) => text.extend([char::from(byte).to_string().as_str(), rest]),
            None => text.extend(["%", part]),
        }
    }
    text
}

/// The services for a machine's credentials, in the spellings that occur in addresses.
const METADATA: &[&str] = &[
    "169.254.",
    "metadata.google.internal",
    "metadata.goog",
    "instance-data.ec2",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "metadata.tencentyun.com",
    "fd00:ec2::254",
    "::ffff:",
];

fn is_metadata(text: &str) -> bool {
    METADATA.iter().any(|host| text.contains(host))
}

/// Returns true for plain web addresses. The service for a machine's credentials is refused in every spelling.
fn is_fetched(address: &str) -> bool {
    let lower = address.to_ascii_lowercase();
    // `curl` accepts one, two or three slashes.
    let written = lower.split_once(":/").filter(|(scheme, _)| !scheme.is_empty());
    let (scheme, rest) = written.unwrap_or(("http", lower.as_str()));
    let authority = rest.trim_start_matches('/').split(['/', '?', '#']).next().unwrap_or_default();
    matches!(scheme, "http" | "https" | "ftp" | "ftps") && !is_metadata(rest) && is_plain_authority(authority)
}

/// Returns true if the host of an authority is written in a usual form. `curl` expands `{a,b}` and `[1-3]`, and decodes
/// `%2e`.
fn is_plain_authority(authority: &str) -> bool {
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    let (address, port) = match host.strip_prefix('[').and_then(|host| host.split_once(']')) {
        Some((address, port)) => (Some(address), port),
        None => (None, host),
    };
    if [user, port].iter().any(|text| text.contains(['{', '}', '[', ']'])) {
        return false;
    }
    match address {
        Some(address) => (port.is_empty() || port.starts_with(':')) && address.parse().is_ok_and(is_plain_v6),
        None => is_plain_host(host.split(':').next().unwrap_or_default()),
    }
}

/// Returns true for a name or a plain IPv4 address that is not the service for a machine's credentials.
fn is_plain_host(host: &str) -> bool {
    let host = decoded(host).to_ascii_lowercase();
    let host = host.trim_end_matches('.');
    host.is_ascii() && !is_metadata(host) && !matches!(host, "metadata" | "instance-data") && !is_odd_number(host)
}

/// Returns true for an IPv6 address that neither contains an IPv4 one nor is of the link or of the service for a
/// machine's credentials.
fn is_plain_v6(address: Ipv6Addr) -> bool {
    let [first, second, ..] = address.segments();
    let is_own = address.is_loopback() || address.is_unspecified();
    let contains_v4 = matches!(first, 0x64 | 0x2002) || address.to_ipv4().is_some();
    let is_of_link = first & 0xffc0 == 0xfe80;
    let is_metadata = matches!((first, second), (0xfd00, 0xec2) | (0xfd20, 0xce));
    is_own || !(contains_v4 || is_of_link || is_metadata)
}

/// Returns true for a numeric host that is not a plain IPv4 address: `0x7f.1`, `2852039166`.
fn is_odd_number(host: &str) -> bool {
    let last = host.rsplit('.').next().unwrap_or_default();
    let number = last.starts_with(|c: char| c.is_ascii_digit())
        && last.trim_start_matches("0x").bytes().all(|byte| byte.is_ascii_hexdigit());
    number && host.parse::<std::net::Ipv4Addr>().is_err()
}

/// Accepts `gh api` requests that only read. Its default method is GET.
pub(crate) fn api_request(options: &Options<'_>) -> Answer {
    if options.operands.iter().any(|operand| operand.text().contains("://")) {
        return Err("an address of another service".into());
    }
    if options.operands.iter().any(|operand| operand.text().contains("graphql")) {
        return when(is_query(options), "a query may change something");
    }
    // A field changes the default method to one that writes.
    if options.has("-f --raw-field") && !matches!(options.value("-X --method"), Some("GET" | "get" | "HEAD")) {
        return Err("a field that is written".into());
    }
    let header = |(name, value): &(SmolStr, Option<SmolStr>)| {
        matches!(name.as_str(), "-H" | "--header")
            && value.as_ref().is_some_and(|value| value.to_ascii_lowercase().contains("method"))
    };
    if options.given.iter().any(header) {
        return Err("a header asks for another method or protocol".into());
    }
    Ok(())
}

/// Returns true if a request to `graphql` only reads: no operation of its query changes something, and no field is a
/// file.
fn is_query(options: &Options<'_>) -> bool {
    let fields: Vec<&str> = options
        .given
        .iter()
        .filter_map(|(name, value)| match name.as_str() {
            "-f" | "--raw-field" => value.as_deref(),
            _ => None,
        })
        .collect();
    let reads = |text: &str| {
        let (text, lower) = (text.trim_start(), text.to_ascii_lowercase());
        let begins = text.starts_with('{')
            || text
                .strip_prefix("query")
                .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'));
        begins && !lower.contains("mutation") && !lower.contains("subscription")
    };
    let mut queries = fields.iter().filter_map(|field| field.strip_prefix("query="));
    let is_only = matches!(options.operands.as_slice(), [only] if only.text() == "graphql");
    is_only && queries.next().is_some_and(reads) && queries.next().is_none() && !options.has("-X --method -H --header")
}

/// Refuses a file of names. `dig` takes `+option` and `@server` among its operands.
pub(crate) fn dig_words(options: &Options<'_>) -> Answer {
    let file = options.operands.iter().any(|operand| operand.text().starts_with('+') && operand.text().contains('/'));
    if file { Err("an option that names a file".into()) } else { Ok(()) }
}

/// Accepts a request that sends no data. Every word after the address must be a query parameter or a header.
pub(crate) fn http_request(options: &Options<'_>) -> Answer {
    let words: Vec<&str> = options.operands.iter().map(|arg| arg.text()).collect();
    let (address, sent) = match words.as_slice() {
        [] => return Err("an address is missing".into()),
        [method, address, rest @ ..] if method.bytes().all(|byte| byte.is_ascii_alphabetic()) => {
            if !matches!(*method, "GET" | "HEAD" | "OPTIONS") {
                return Err("a method that changes something".into());
            }
            (address, rest)
        }
        [address, rest @ ..] => (address, rest),
    };
    if !is_fetched(address) {
        return Err("an address that is more than fetched".into());
    }
    if sent.iter().all(|word| is_question(word)) { Ok(()) } else { Err("it sends data".into()) }
}

/// Returns true for a header after which a server handles the request as another one: `X-HTTP-Method-Override`,
/// `Upgrade`.
fn asks_for_more(header: &str) -> bool {
    let lower = header.to_ascii_lowercase();
    // A web socket may carry the input of a program.
    lower.contains("method") || lower.trim_start().starts_with("upgrade:")
}

/// Returns true for `name==value` and `name:value`. The first sign in the word decides the type, and `@` reads a file.
fn is_question(word: &str) -> bool {
    let Some(at) = word.find(['=', ':', '@', ';', '\\', '[']) else { return false };
    let behind = word.get(at..).unwrap_or_default();
    let value = behind.strip_prefix("==").or_else(|| behind.strip_prefix(':').filter(|rest| !rest.starts_with('=')));
    !asks_for_more(word) && value.is_some_and(|value| !value.starts_with(['@', '=', ':']))
}

/// Refuses a repository of another host, to which `gh` would send its token.
pub(crate) fn repository_of_github(options: &Options<'_>) -> Answer {
    let on_host = |text: &str| text.contains([':', '@']) || text.bytes().filter(|byte| *byte == b'/').count() > 1;
    let is_own = |text: &str| text.starts_with("https://github.com/") || text.starts_with("https://gist.github.com/");
    when(!repositories(options).any(on_host) && !names_host(options, is_own), "another host gets the token")
}

/// Refuses a repository of another host, to which `glab` would send its token. A group may have groups.
pub(crate) fn repository_of_gitlab(options: &Options<'_>) -> Answer {
    let on_host = |text: &str| text.contains([':', '@']) || begins_with_host(text);
    let is_own = |text: &str| text.starts_with("https://gitlab.com/");
    when(!repositories(options).any(on_host) && !names_host(options, is_own), "another host gets the token")
}

/// Returns the values of the option that selects a repository.
fn repositories<'o>(options: &'o Options<'_>) -> impl Iterator<Item = &'o str> {
    let selects = |name: &str| matches!(name, "-R" | "--repo" | "--repository");
    options.given.iter().filter(move |(name, _)| selects(name)).filter_map(|(_, value)| value.as_deref())
}

/// Returns true if an operand names a host, unless `is_own` accepts the address.
fn names_host(options: &Options<'_>, is_own: impl Fn(&str) -> bool) -> bool {
    let names = |text: &str| text.contains("://") || text.starts_with("git@") || begins_with_host(text);
    options.operands.iter().any(|operand| names(operand.text()) && !is_own(operand.text()))
}

/// Returns true for `host.org/a/b`.
fn begins_with_host(text: &str) -> bool {
    let mut parts = text.split('/');
    parts.next().is_some_and(|first| first.trim_matches('.').contains('.')) && parts.count() > 1
}

/// Refuses an address, because the program would contact it. `file:` and `bundle:` name a repository too.
pub(crate) fn local_repository(options: &Options<'_>) -> Answer {
    when(!repositories(options).any(|text| text.contains(':')), "a repository that is no path")?;
    let local = |word: &Word| !word.text().contains("://") && !word.has_output();
    when(options.operands.iter().chain(options.values.iter()).all(|word| local(word)), "an address that is asked")
}

/// Refuses manifests from an address, which `kubectl` would fetch.
pub(crate) fn local_manifests(options: &Options<'_>) -> Answer {
    let named = |(name, value): &(SmolStr, Option<SmolStr>)| {
        matches!(name.as_str(), "-f" | "--filename" | "-k")
            && value.as_ref().is_none_or(|value| value.contains("://") || value.starts_optional())
    };
    if options.given.iter().any(named) { Err("a file that is fetched".into()) } else { Ok(()) }
}

/// Refuses an output that contains the values of secrets, and manifests from an address. Without such an output,
/// `kubectl` shows the names of secrets and the lengths of their values.
pub(crate) fn cluster_objects(options: &Options<'_>) -> Answer {
    let is_whole = |value: &str| {
        let kind = value.split('=').next().unwrap_or_default();
        !matches!(kind, "wide" | "name") && !value.is_empty()
    };
    let shows = |(name, value): &(SmolStr, Option<SmolStr>)| match name.as_str() {
        "-o" | "--output" => value.as_deref().is_none_or(is_whole),
        name => name == "--template",
    };
    let is_unknown = |kind: &Word| !kind.is_exact() && !kind.text().contains('/');
    let may_be_secrets = options.operands.iter().next().is_some_and(|kind| is_unknown(kind))
        || options.operands.iter().any(|operand| operand.text().split(',').any(names_secrets));
    when(!(may_be_secrets && options.given.iter().any(shows)), "an output with the values of secrets")?;
    local_manifests(options)
}

/// Returns true for a kind of objects, or for one object of it: `secret`, `Secrets`, `secret/x`, `secrets.v1`.
fn names_secrets(kind: &str) -> bool {
    let kind = kind.split(['/', '.']).next().unwrap_or_default();
    kind.eq_ignore_ascii_case("secret") || kind.eq_ignore_ascii_case("secrets")
}

/// Returns true if the words query modules: by an option, or by names that contain a host or a version.
pub(crate) fn go_modules(rest: &[Word]) -> bool {
    let option = |text: &str| matches!(text.trim_start_matches('-'), "m" | "u" | "versions" | "retracted");
    let comes_from = |text: &str| text.split_once('/').is_some_and(|(host, _)| host.trim_matches('.').contains('.'));
    let asks = |text: &str| (text.starts_with('-') && option(text)) || comes_from(text) || text.contains('@');
    rest.iter().any(|word| asks(word.text()))
}

/// Returns true if an option names a definition on another machine, which `docker compose` fetches: `https://…`,
/// `oci://…`, `git@host:path`, `github.com/owner/repository`.
pub(crate) fn compose_sources(rest: &[Word]) -> bool {
    let is_login =
        |text: &str| text.split_once(':').is_some_and(|(login, _)| login.contains('@') && !login.contains(['/', ' ']));
    let is_remote = |text: &str| text.contains("://") || is_login(text) || begins_with_host(text);
    rest.iter().any(|word| {
        let text = word.text();
        let value = text.split_once('=').map(|(_, value)| value).filter(|_| text.starts_with("--"));
        let joined = text.strip_prefix("-f");
        [Some(text), value, joined].into_iter().flatten().any(is_remote)
    })
}
