//! `bestow hook claude` and the like: answers a host in its own form, whatever happens.

use std::{
    env,
    io::{self, Write as _},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bestow::{command::Shell, text::Escaped};
use bestow_hosts::{
    Call, Caller, Sessions,
    hooks::{About, Event, Host, Output, Question},
};
use tokio::{runtime, task};

use super::{
    own,
    within::{WRITING, within},
};
use crate::{
    args::HostHookArgs,
    exit::Exit,
    remote::{RemoteSessions, Source, at_most},
    signals,
};

/// The longest text of a host that is read, in bytes.
const LONGEST: usize = 32 << 20;

/// The longest text about a call that is judged, in bytes. It is the longest body that a server reads.
const LONGEST_JUDGED: usize = 1 << 20;

/// The part of the host's patience that the hook does not use.
const MARGIN: Duration = Duration::from_secs(5);

/// The part of the time limit that no waiting for a person takes.
const REST: Duration = Duration::from_secs(1);

/// The names of Codex for tools that run a command.
const COMMANDS_OF_CODEX: [&str; 6] = ["Bash", "bash", "shell", "shell_command", "exec_command", "local_shell"];

/// The reason to deny a command of Codex.
const UNKNOWN_DIRECTORY: &str = "Codex does not tell its hook in which directory a command runs: if its sandbox \
                                 confines the command, add `--assume-directory` to the hook";

/// The question of the host, as far as it is known.
#[derive(Clone, Copy, Debug)]
enum Asked {
    /// The text of the host was not read yet.
    Unknown,
    /// The host asks if a call may happen.
    Call(Option<About>),
    /// The host asks nothing, and reports something.
    Nothing,
}

/// The question of the host, for the thread that answers when the time is over.
type Known = Arc<Mutex<Asked>>;

/// Answers what the host says on standard input.
pub(super) fn answer(host: Host, args: HostHookArgs) -> Exit {
    let limit = args.time_limit.unwrap_or_else(|| host.patience().saturating_sub(MARGIN));
    let known = Known::new(Mutex::new(Asked::Unknown));
    let told = Arc::clone(&known);
    let answered = within(limit, move || answered(host, &args, limit, &told));
    let answered = answered.unwrap_or_else(|why| Err(why.to_string()));
    let asked = *known.lock().unwrap_or_else(PoisonError::into_inner);
    print(host, asked, answered.unwrap_or_else(|why| no_answer(host, asked, &why)))
}

/// Prints the answer to a call of the hook with words that are not understood.
pub(super) fn not_understood(host: Host, why: &str) -> Exit {
    let why = format!("the hook is set up wrongly: {why}");
    print(host, Asked::Unknown, no_answer(host, Asked::Unknown, &why))
}

/// Returns the answer where something failed: the call may not happen.
fn no_answer(host: Host, asked: Asked, why: &str) -> Output {
    match asked {
        Asked::Unknown => host.doubt(None, why),
        Asked::Call(about) => host.doubt(about, why),
        Asked::Nothing => Output::warning(why),
    }
}

fn answered(host: Host, args: &HostHookArgs, limit: Duration, known: &Known) -> Result<Output, String> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build().map_err(|why| why.to_string())?;
    let done = runtime.block_on(signals::until_signal(heard(host, args, limit, known)));
    // A thread may still wait for standard input or for the name of the server.
    runtime.shutdown_background();
    done.unwrap_or_else(|_| Err("a signal has ended the hook".to_owned()))
}

/// Reads the text of the host, and answers it.
async fn heard(host: Host, args: &HostHookArgs, limit: Duration, known: &Known) -> Result<Output, String> {
    let patience = limit.saturating_sub(REST);
    let read = task::spawn_blocking(|| at_most(io::stdin().lock(), LONGEST)).await.map_err(|why| why.to_string())?;
    let text = read.map_err(|why| format!("standard input: {why}"))?;
    let event = host.read(&text).map_err(|mistake| {
        note(known, Asked::Call(mistake.about));
        mistake.to_string()
    })?;
    note(known, if let Event::Asks(question) = &event { Asked::Call(Some(question.about)) } else { Asked::Nothing });
    if event == Event::Other {
        return Ok(Output::of_nothing());
    }
    if text.len() > LONGEST_JUDGED {
        return Err(format!("the call is longer than {LONGEST_JUDGED} bytes, which is the most that is judged"));
    }
    if let Event::Asks(question) = &event
        && host == Host::Codex
        && COMMANDS_OF_CODEX.contains(&question.tool.as_str())
        && !args.assume_directory
    {
        return Err(UNKNOWN_DIRECTORY.to_owned());
    }
    let Some(engine) = args.engine.own_engine()? else {
        let sessions = RemoteSessions(Source::of(&args.engine.remote));
        return told(host, &sessions, event, args.wait.min(patience)).await;
    };
    own::with_engine(&engine, patience, async |sessions| {
        // Nobody can attend to an engine that is open for the time of a hook.
        told(host, sessions, event, Duration::ZERO).await
    })
    .await
}

fn note(known: &Known, asked: Asked) {
    *known.lock().unwrap_or_else(PoisonError::into_inner) = asked;
}

/// Tells the sessions what has happened, and returns the answer for the host.
async fn told(host: Host, sessions: &dyn Sessions, event: Event, wait: Duration) -> Result<Output, String> {
    match event {
        Event::Asks(question) => {
            refuse_linked_start(&question.caller.working_dir)?;
            let answer = sessions.call(call(host, &question, wait)).await.map_err(|why| why.to_string())?;
            return Ok(host.answer(&question, &answer));
        }
        Event::Begins(caller) => drop(sessions.begin(caller).await.map_err(|why| why.to_string())?),
        Event::Ends(session, subagent) => sessions.end(session, subagent).await.map_err(|why| why.to_string())?,
        Event::Other => {}
    }
    Ok(Output::of_nothing())
}

/// Refuses a call if the host was started through a link. Its shells then inherit a `PWD` with the link, and `cd ..`
/// leads to another place than the parent of the real directory.
fn refuse_linked_start(directory: &Path) -> Result<(), String> {
    let Some(started) = env::var_os("PWD").map(PathBuf::from).filter(|started| started.is_absolute()) else {
        return Ok(());
    };
    let identity = |path: &Path| std::fs::metadata(path).map(|about| (about.dev(), about.ino())).ok();
    let is_there = identity(&started).is_some_and(|there| identity(directory) == Some(there));
    if !is_there || started == directory {
        return Ok(());
    }
    let real = Escaped(&directory.to_string_lossy()).to_string();
    Err(format!("the session was started through a link: start it again in `{real}`"))
}

/// Returns the shell that may run the commands of the host. `SHELL` names the shell of the person, which several hosts
/// use and others do not: they start `bash` or `sh`. So its value only rules out that bash, dash or zsh runs a command.
fn shell_of(named: Option<&str>) -> Shell {
    match named.map(str::parse::<Shell>) {
        None | Some(Ok(Shell::Bash | Shell::Dash | Shell::Zsh | Shell::Unknown)) => Shell::Unknown,
        Some(Ok(Shell::Other) | Err(_)) => Shell::Other,
    }
}

fn call(host: Host, question: &Question, wait: Duration) -> Call {
    let shell = shell_of(env::var("SHELL").ok().as_deref());
    Call {
        caller: Caller { shell, ..question.caller.clone() },
        coding_agent: Some(host.coding_agent()),
        tool: question.tool.clone(),
        input: question.input.clone(),
        wait,
        unanswered: host.unanswered(question),
        can_replace_input: host.can_replace_input(),
    }
}

/// Prints an answer. If the host does not take the whole of it, the call may not happen.
fn print(host: Host, asked: Asked, output: Output) -> Exit {
    let code = output.code;
    let written = within(WRITING, move || {
        let mut out = io::stdout().lock();
        let written = out.write_all(output.stdout.as_bytes()).and_then(|()| out.flush());
        // Without it, the answer is the same.
        let _ = io::stderr().lock().write_all(output.stderr.as_bytes());
        written
    });
    let is_written = matches!(written, Ok(Ok(())));
    match (code, is_written, asked) {
        (0, true, _) => Exit::Done,
        (1, ..) | (_, false, Asked::Nothing) => Exit::Failed(String::new()),
        // Copilot CLI blocks by no exit code. It gets none that it could take for an answer.
        (_, false, _) if host == Host::Copilot => Exit::Failed(String::new()),
        _ => Exit::Blocked,
    }
}
