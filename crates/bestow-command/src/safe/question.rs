//! Predicates on operands and values that an option list cannot express.

use std::borrow::Cow;

use super::Reach;
use crate::{
    lang::{awk, find, sed},
    options::Options,
    word::{Fragment, Gaps, Known, Word, may_be_empty},
};
use smol_str::SmolStr;

/// The result of a predicate: accepted, or refused with a reason.
type Answer = Result<(), String>;

/// Returns the text of a program. An unknown number in it is replaced by `1`, because any number has the same effect.
fn program(word: &Word) -> Result<Cow<'_, str>, String> {
    if word.is_exact() {
        return Ok(Cow::Borrowed(word.text()));
    }
    if word.is_number()
        && !word.is_wild()
        && !word.is_pattern()
        && !word.may_split()
        && !word.is_open()
        && !word.text().has_optional()
    {
        return Ok(Cow::Owned(word.text().with_number("1")));
    }
    Err("a program text that is not written out".into())
}

/// Checks the script of `sed`: the first operand, unless `-e` gives it.
pub(super) fn sed_script(options: &Options<'_>) -> Answer {
    let scripts: Vec<&str> = options
        .given
        .iter()
        .filter(|(name, _)| name == "-e" || name == "--expression")
        .filter_map(|(_, value)| value.as_deref())
        .collect();
    if options.values.iter().any(|word| !word.is_exact()) {
        return Err("a program text that is not written out".into());
    }
    if !scripts.is_empty() {
        return sed::check(&scripts.join("\n")).map_err(Into::into);
    }
    let script = options.operands.first().ok_or("a script is missing")?;
    sed::check(&program(script)?).map_err(Into::into)
}

/// Checks the program of `awk`, which is the first operand. `name=value` among the other operands only sets a variable.
pub(super) fn awk_program(options: &Options<'_>) -> Answer {
    let program = options.operands.first().ok_or("a program is missing")?;
    let reads_network = options.operands.iter().any(|operand| operand.text().starts_with("/inet"));
    if reads_network {
        return Err("`awk` opens a network connection".into());
    }
    awk::check(&self::program(program)?).map_err(Into::into)
}

pub(super) fn find_expression(rest: &[Word]) -> Answer {
    find::check(rest)
}

/// Accepts `date +format`. Any other operand sets the clock.
pub(super) fn date_format(options: &Options<'_>) -> Answer {
    let shows = options.operands.iter().all(|operand| operand.text().starts_with('+'));
    let reads = options.has("-j");
    if shows || reads { Ok(()) } else { Err("an operand without `+` sets the clock".into()) }
}

/// Accepts only targets that store nothing, such as `/dev/null`.
pub(super) fn writes_nothing(options: &Options<'_>) -> Answer {
    let free = |operand: &&Word| operand.is_exact() && crate::walk::is_free(operand.text());
    if options.operands.iter().all(free) { Ok(()) } else { Err("it writes its operands".into()) }
}

/// Accepts addresses that `curl` only fetches.
pub(super) fn curl_addresses(options: &Options<'_>) -> Answer {
    for (name, value) in &options.given {
        let value = value.as_deref().unwrap_or_default();
        let sends_file = matches!(name.as_str(), "-H" | "--header" | "-w" | "--write-out") && value.starts_with('@');
        let writes_file = matches!(name.as_str(), "-w" | "--write-out") && value.contains("%output");
        let overrides = name.ends_with("header") || name == "-H";
        if overrides && value.to_ascii_lowercase().contains("method") {
            return Err("a header asks for another method".into());
        }
        let reads_cookies = matches!(name.as_str(), "-b" | "--cookie") && !value.contains('=');
        if sends_file || writes_file || reads_cookies {
            return Err(format!("the value of {name} names a file"));
        }
        if name == "--url" && (!is_fetched(value) || value.starts_with('@')) {
            return Err("an address that is more than fetched".into());
        }
    }
    addresses(options)
}

pub(super) fn addresses(options: &Options<'_>) -> Answer {
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

/// Accepts addresses for `wget`, which names the file after the address. A hidden or sensitive file name is refused,
/// because programs may obey such a file.
pub(super) fn wget_addresses(options: &Options<'_>) -> Answer {
    let is_hidden = |address: &str| {
        address.rsplit('/').next().is_some_and(|name| {
            name.starts_with('.') || crate::tool::is_sensitive(name) || crate::tool::is_guarded(name)
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
fn decoded(address: &str) -> String {
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

/// Returns true for plain web addresses. The service for a machine's credentials is refused in every spelling.
fn is_fetched(address: &str) -> bool {
    let lower = address.to_ascii_lowercase();
    let (scheme, rest) = lower.split_once("://").unwrap_or(("http", lower.as_str()));
    let metadata = ["169.254.", "metadata.google.internal", "100.100.100.200", "fd00:ec2::254", "::ffff:"];
    matches!(scheme, "http" | "https" | "ftp" | "ftps")
        && !metadata.iter().any(|host| rest.contains(host))
        && !is_odd_number(rest)
}

/// Returns true for a numeric host that is not a plain IPv4 address: `0x7f.1`, `2852039166`.
fn is_odd_number(address: &str) -> bool {
    let authority = address.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default().split(':').next().unwrap_or_default();
    let last = host.trim_end_matches('.').rsplit('.').next().unwrap_or_default();
    let number = last.starts_with(|c: char| c.is_ascii_digit())
        && last.trim_start_matches("0x").bytes().all(|byte| byte.is_ascii_hexdigit());
    number && host.parse::<std::net::Ipv4Addr>().is_err()
}

/// Returns true if each of `words` stays on this machine or may be public. A word with a variable, a pattern or the
/// output of a command may contain a secret. A name that is looked up is sent too.
pub(super) fn stays_or_is_written(words: &[Word], reach: Reach) -> bool {
    match reach {
        Reach::Here | Reach::Web => true,
        Reach::Addresses => words.iter().all(|word| !may_be_address(word) || may_be_told(word)),
        Reach::Service => words.iter().all(|word| may_be_told(word) || is_of_environment(word)),
        Reach::Elsewhere => words.iter().all(may_be_told),
    }
}

/// Returns true if every value may be public, and every operand may be public or names this machine.
pub(super) fn fetches_what_is_written(options: &Options<'_>) -> bool {
    let fetched = |operand: &&Word| may_be_told(operand) || (is_at_home(operand) && !operand.has_output());
    options.values.iter().all(|value| may_be_told(value)) && options.operands.iter().all(fetched)
}

/// Returns true if a word is written out. A variable whose name suggests an address, a number or a name is accepted
/// too.
fn may_be_told(word: &Word) -> bool {
    let named = word.is_named() && !word.is_wild() && !word.has_output() && !word.text().has_certain_gap();
    named || is_written_out(word)
}

/// Returns true if a word is known from the text alone, so that a reader of the line sees the sent data.
fn is_written_out(word: &Word) -> bool {
    let known = word.known() == Known::Fully && !word.may_split() && !word.is_open() && !word.has_output();
    known && !word.text().has_home() && (!word.is_pattern() || is_address_with_signs(word.text()))
}

/// Returns true if a word contains an environment variable and no other unknown part.
fn is_of_environment(word: &Word) -> bool {
    let hidden = word.has_output() || word.may_be_secret() || word.is_open() || word.is_pattern();
    word.known() == Known::Environment && !hidden && !word.text().has_home()
}

/// Returns true for an address with pattern characters, such as `https://host/path?a=b`. No file has such a name.
fn is_address_with_signs(text: &str) -> bool {
    let before = text.split(['*', '?', '[', '+', '@', '!']).next().unwrap_or_default();
    let is_path = before.split_once('/').is_some_and(|(host, _)| !host.is_empty() && !host.starts_with('.'));
    before.contains("://") || (is_path && !text.contains(['*', '[']))
}

fn may_be_address(word: &Word) -> bool {
    word.text().contains(':') || (word.is_wild() && !word.text().is_rooted() && !word.text().starts_with(['.', '-']))
}

/// Returns true for an address on this machine.
fn is_at_home(word: &Word) -> bool {
    let home = ["http://localhost", "http://127.0.0.1", "https://localhost", "localhost", "127.0.0.1", "http://[::1]"];
    home.iter().any(|host| word.text().strip_prefix(host).is_some_and(|rest| is_behind_host(rest, word)))
}

/// Returns true if `rest` may follow the name of this machine: a port, a path, a query. A `@` before the path would
/// turn the name into a user and a password.
fn is_behind_host(rest: &str, word: &Word) -> bool {
    let authority = rest.split('/').next().unwrap_or_default();
    let port = authority.strip_prefix(':').map(|port| port.split('?').next().unwrap_or_default());
    let digits = |port: &str| port.chars().all(|c| c.is_ascii_digit() || (may_be_empty(c) && !word.is_wild()));
    (rest.is_empty() || rest.starts_with(['/', ':', '?']))
        && !authority.contains(['@', '\\', '#'])
        && port.is_none_or(digits)
}

/// Settings of `git` that only change its output, by their full names or by a prefix that ends in a dot.
const HARMLESS_SETTINGS: &[&str] = &[
    "advice.",
    "blame.",
    "branch.sort",
    "color.",
    "column.",
    "core.abbrev",
    "core.commitgraph",
    "core.preloadindex",
    "core.quotepath",
    "diff.algorithm",
    "diff.colormoved",
    "diff.colormovedws",
    "diff.context",
    "diff.ignoresubmodules",
    "diff.indentheuristic",
    "diff.interhunkcontext",
    "diff.mnemonicprefix",
    "diff.noprefix",
    "diff.relative",
    "diff.renamelimit",
    "diff.renames",
    "diff.submodule",
    "diff.suppressblankempty",
    "diff.wserrorhighlight",
    "format.pretty",
    "grep.",
    "i18n.logoutputencoding",
    "log.abbrevcommit",
    "log.date",
    "log.decorate",
    "log.follow",
    "log.mailmap",
    "log.showroot",
    "status.",
    "tag.sort",
    "versionsort.",
];

/// Returns true if a global option of `git` has no other effect than on its output. For `-c name=value` the setting
/// must be harmless. Every other option before the subcommand is on its list already.
pub(super) fn is_harmless_global((name, value): &(SmolStr, Option<SmolStr>)) -> bool {
    let Some(setting) = value.as_deref().filter(|_| name == "-c") else { return true };
    let (key, value) = setting.split_once('=').unwrap_or((setting, "true"));
    let key = key.to_ascii_lowercase();
    let plain = |c: char| c.is_ascii_graphic() || c == ' ';
    let known = |known: &&str| key == **known || (known.ends_with('.') && key.starts_with(*known));
    let quiet = match key.as_str() {
        "core.pager" => matches!(value, "" | "cat"),
        "core.fsmonitor" => value == "false",
        _ => key.starts_with("pager.") && matches!(value, "false" | "cat"),
    };
    setting.chars().all(plain) && (quiet || HARMLESS_SETTINGS.iter().any(known))
}

/// Refuses addresses that may run a program, such as `git ls-remote ext::…`.
pub(super) fn plain_remote(options: &Options<'_>) -> Answer {
    let plain = |operand: &&Word| operand.is_exact() && !operand.text().contains("::") && !operand.text().contains("=");
    if options.operands.iter().all(plain) { Ok(()) } else { Err("an address that may run a program".into()) }
}

/// Accepts `git config name`, which reads. `git config name value` writes.
pub(super) fn one_name(options: &Options<'_>) -> Answer {
    let verb = options
        .operands
        .first()
        .is_some_and(|word| matches!(word.text(), "edit" | "set" | "unset" | "rename-section" | "remove-section"));
    if verb {
        return Err("it changes the configuration".into());
    }
    let one = matches!(options.operands.as_slice(), [name] if !name.may_split() && !name.is_pattern());
    if one || options.has("-l --list --get --get-all --get-regexp --get-urlmatch") {
        Ok(())
    } else {
        Err("it sets what it names".into())
    }
}

/// Accepts plain variable names, because the shell may evaluate other operands.
pub(super) fn plain_names(options: &Options<'_>) -> Answer {
    let name = |operand: &&Word| operand.is_exact() && crate::syntax::is_name(operand.text());
    if options.operands.iter().all(name) { Ok(()) } else { Err("a name that may be evaluated".into()) }
}

/// Accepts harmless assignments. `export name=value` is evaluated like the assignment before a command.
pub(super) fn exported(options: &Options<'_>) -> Answer {
    for operand in &options.operands {
        let (name, value) = operand.text().split_once('=').unwrap_or((operand.text(), ""));
        let value = operand.with_text(value);
        if !crate::syntax::is_name(name) || operand.text().contains('[') {
            return Err("a name that may be evaluated".into());
        }
        // The shell parses a list again if it was written as a text.
        let list = value.text().starts_with('(') || (options.has("-a -A") && value.starts_unknown());
        if list {
            return Err("a list that is evaluated".into());
        }
        if operand.text().contains('=') {
            let alone = !options.has("-x");
            let verdict = crate::judge::variable::judge(name, &value, alone);
            if verdict.tier > crate::tier::Tier::Safe {
                return Err(verdict.rule.into_owned());
            }
        }
    }
    Ok(())
}

/// Refuses operands of `test` and `printf` that the shell evaluates although they are quoted.
pub(super) fn no_evaluation(rest: &[Word]) -> Answer {
    let traps = rest.iter().any(|word| crate::walk::is_evaluation_trap(word.text()));
    let evaluates = |word: &&Word| matches!(word.text(), "-v" | "-R");
    let wild = rest.windows(2).any(|pair| matches!(pair, [first, second] if evaluates(&first) && !second.is_exact()));
    if traps || wild { Err("an operand that is evaluated".into()) } else { Ok(()) }
}

/// Refuses operands that may become several words, because these may be `-v name`.
pub(super) fn plain_test(rest: &[Word]) -> Answer {
    no_evaluation(rest)?;
    let several = rest.iter().any(|word| word.is_wild() && (word.may_split() || word.is_open()));
    if several { Err("without quotes it may become a test that runs code".into()) } else { Ok(()) }
}

/// Refuses `printf -v name`, which sets a variable and evaluates its name.
pub(super) fn printf_operands(rest: &[Word]) -> Answer {
    no_evaluation(rest)?;
    let first = rest.first();
    let option = first.is_some_and(|word| word.text().starts_with("-v") || (word.may_be_option() && word.is_wild()));
    if option { Err("`printf -v` sets a variable".into()) } else { Ok(()) }
}

/// Accepts only signal 0, or a list of signals.
pub(super) fn only_asks(rest: &[Word]) -> Answer {
    match rest.first().map(Word::text) {
        // A later option may name another signal.
        Some("-0") if rest.iter().skip(1).any(|word| word.text().starts_with('-') || word.may_be_option()) => {
            Err("it may send a signal".into())
        }
        Some("-0" | "-l" | "-L") => Ok(()),
        _ => Err("it sends a signal".into()),
    }
}

/// Accepts a single option that shows a version or help.
pub(super) fn one_of_a_kind(rest: &[Word]) -> Answer {
    match rest {
        [word] if word.is_written() && matches!(word.text(), "--version" | "--help" | "-V" | "-version") => Ok(()),
        _ => Err("it may change, delete or run something in this form".into()),
    }
}

/// Returns true for a file that usually holds secrets, by its name.
pub(super) fn reads_secret(word: &Word) -> bool {
    crate::tool::is_sensitive(word.text())
}

/// Accepts `gh api` requests that only read. Its default method is GET.
pub(super) fn reads_api(options: &Options<'_>) -> Answer {
    if options.operands.iter().any(|operand| operand.text().contains("graphql")) {
        return Err("a query may change something".into());
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
        return Err("a header asks for another method".into());
    }
    Ok(())
}
