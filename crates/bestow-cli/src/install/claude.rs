//! The hooks of Claude Code: its events, and the command line for them.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf, absolute},
    process::{Command, Stdio},
    time::Duration,
};

use bestow::{PolicyFile, fs::for_shell};

use super::settings::Hook;
use crate::{
    args::{HostHookArgs, OwnEngine},
    exit::Exit,
    suggest,
};

/// The events that `bestow hook claude` answers. Those about a tool have a matcher.
const EVENTS: [(&str, bool); 6] = [
    ("PreToolUse", true),
    ("PermissionRequest", true),
    ("SessionStart", false),
    ("SessionEnd", false),
    ("SubagentStart", false),
    ("SubagentStop", false),
];

/// The event at which a prompt is about to appear. The hook before the call has waited for a person already.
const PROMPT: &str = "PermissionRequest";

/// The time limit of Claude Code for a hook, in seconds.
const TIME_LIMIT: u64 = 600;

/// The time by which Claude Code is more patient than the hook, in seconds.
const MARGIN: u64 = 5;

/// The first version of Claude Code that can block a call whose hook does not start. An older one may pass over the
/// whole file, because it does not know the key.
const BLOCKS_ON_FAILURE: [u64; 3] = [2, 1, 295];

/// The longest time that the program may take to name its version.
const PATIENCE: Duration = Duration::from_secs(10);

/// Returns the hooks for these options.
pub(super) fn hooks(args: &HostHookArgs, version: Option<[u64; 3]>) -> Result<Vec<Hook>, Exit> {
    check(args)?;
    let command = command(args)?;
    let timeout = args.time_limit.map_or(TIME_LIMIT, |limit| limit.as_secs().saturating_add(MARGIN));
    let blocks_on_failure = version.is_some_and(|version| BLOCKS_ON_FAILURE <= version);
    let hook = |(event, is_about_a_tool): (&str, bool)| {
        let wait = if event == PROMPT { " --wait 0s".to_owned() } else { waiting(args) };
        Hook {
            event: event.to_owned(),
            matcher: is_about_a_tool.then(|| "*".to_owned()),
            command: format!("{command}{wait}"),
            timeout,
            blocks_on_failure,
        }
    };
    let mut hooks: Vec<_> = EVENTS.into_iter().map(hook).collect();
    hooks.sort();
    Ok(hooks)
}

/// Refuses options with which every call would be blocked.
fn check(args: &HostHookArgs) -> Result<(), Exit> {
    if let Some(OwnEngine { agent, config, .. }) = args.engine.own_engine().map_err(Exit::usage)? {
        let policy = PolicyFile::new(&config).read().and_then(|text| text.parse()).map_err(Exit::failed)?;
        return suggest::require_agent(&agent, &policy, config.display());
    }
    let files = [("--ready-file", &args.engine.remote.ready_file), ("--token-file", &args.engine.remote.token_file)];
    for (option, file) in files {
        if let Some(file) = file.as_ref().filter(|file| !file.is_file()) {
            let name = super::file::shown(file);
            let way_out = "`bestow serve` writes `server.json` into its state directory, and `bestow token create \
                           --role agent` prints a token";
            return Err(Exit::failed(format_args!("`{option}`: there is no file {name}: {way_out}")));
        }
    }
    Ok(())
}

/// Returns the command line, with absolute paths: Claude Code runs it in the directory of a session.
fn command(args: &HostHookArgs) -> Result<String, Exit> {
    let program = std::env::current_exe().map_err(|why| Exit::failed(format_args!("this program: {why}")))?;
    let mut words = vec![for_shell(program), "hook".to_owned(), "claude".to_owned()];
    let mut add = |option: &str, value: &OsStr| words.extend([option.to_owned(), for_shell(value)]);
    let full = |path: &Path| -> Result<PathBuf, Exit> {
        absolute(path).map_err(|why| Exit::failed(format_args!("{}: {why}", super::file::shown(path))))
    };
    let remote = &args.engine.remote;
    if let Some(OwnEngine { agent, config, state }) = args.engine.own_engine().map_err(Exit::usage)? {
        add("--agent", OsStr::new(agent.as_str()));
        add("--config", full(&config)?.as_os_str());
        add("--state", full(&state)?.as_os_str());
    }
    if let Some(url) = &remote.url {
        add("--url", OsStr::new(url));
    }
    for (option, file) in [("--ready-file", &remote.ready_file), ("--token-file", &remote.token_file)] {
        if let Some(file) = file {
            add(option, full(file)?.as_os_str());
        }
    }
    if remote.allow_plain_http {
        words.push("--allow-plain-http".to_owned());
    }
    if let Some(limit) = args.time_limit {
        words.extend(["--time-limit".to_owned(), in_milliseconds(limit)]);
    }
    Ok(words.join(" "))
}

/// Returns the option for the time to wait for a person, if it is not the usual one.
fn waiting(args: &HostHookArgs) -> String {
    if args.wait == HostHookArgs::USUAL_WAIT {
        String::new()
    } else {
        format!(" --wait {}", in_milliseconds(args.wait))
    }
}

fn in_milliseconds(time: Duration) -> String {
    format!("{}ms", time.as_millis())
}

/// Returns the version of the Claude Code that is installed: `2.1.295 (Claude Code)`. None if there is none, or if it
/// does not answer.
pub(super) fn version() -> Option<[u64; 3]> {
    let ask = || Command::new("claude").arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).output().ok();
    let said = crate::hook::within(PATIENCE, ask).ok().flatten()?;
    let said = String::from_utf8(said.stdout).ok()?;
    let mut numbers = said.split_whitespace().next()?.split('.').map(|number| number.parse().ok());
    let version = [numbers.next()??, numbers.next()??, numbers.next()??];
    numbers.next().is_none().then_some(version)
}
