//! `bestow hook pre-tool-use`: asks a server about one tool call, and answers in one line whatever happens.

use std::{
    io::{self, Write as _},
    time::Duration,
};

use bestow::text::Escaped;
use hyper::StatusCode;
use tokio::{runtime, task};

use super::{
    answer::Answer,
    call,
    within::{WRITING, within},
};
use crate::{
    args::PreToolUseArgs,
    exit::Exit,
    remote::{Server, Source, post},
    signals,
};

/// The path of the question.
const PATH: &str = "/api/hooks/classify";

/// The part of the time limit that no waiting for a person takes.
const REST: Duration = Duration::from_secs(1);

/// The most characters of a reason on standard error.
const MOST_TOLD: usize = 2_000;

/// Asks about the tool call on standard input, and prints the answer.
pub(crate) fn pre_tool_use(args: PreToolUseArgs) -> Exit {
    let limit = args.time_limit;
    let answer = within(limit, move || answered(&args).unwrap_or_else(Answer::no));
    let answer = answer.unwrap_or_else(|why| Answer::no(why.to_string()));
    print(answer)
}

/// Prints the answer to a call of the hook with words that are not understood.
pub(crate) fn not_understood(why: &str) -> Exit {
    print(Answer::no(format!("the hook is set up wrongly: {why}")))
}

/// Returns the body of the question about the tool call in `text`, as the hook sends it.
///
/// # Errors
///
/// The reason why it is not the description of a call, for people.
pub fn question(text: &[u8]) -> Result<String, String> {
    call::question(text, Duration::ZERO)
}

/// Returns the line that the hook prints for a reply, and true if the call may happen. None if there is no such status.
pub fn reply(status: u16, body: &[u8]) -> Option<(String, bool)> {
    let answer = Answer::of_reply(StatusCode::from_u16(status).ok()?, body);
    Some((answer.line(), answer.allow()))
}

fn answered(args: &PreToolUseArgs) -> Result<Answer, String> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build().map_err(|why| why.to_string())?;
    let done = runtime.block_on(signals::until_signal(asked(args)));
    // A thread may still wait for standard input or for the name of the server.
    runtime.shutdown_background();
    done.unwrap_or_else(|_| Err("a signal has ended the hook".to_owned()))
}

async fn asked(args: &PreToolUseArgs) -> Result<Answer, String> {
    let wait = args.wait.min(args.time_limit.saturating_sub(REST));
    let source = Source::of(&args.remote);
    let prepared = task::spawn_blocking(move || Ok((Server::of(source)?, call::read(io::stdin().lock(), wait)?)));
    let (server, call) = prepared.await.map_err(|why| why.to_string()).flatten()?;
    let reply = post(&server, PATH, call, wait).await.map_err(|why| format!("{server}: {why}"))?;
    Ok(Answer::of_reply(reply.status, &reply.body))
}

/// Prints an answer. If the host does not take the whole of it, the call may not happen.
fn print(answer: Answer) -> Exit {
    let allow = answer.allow();
    let written = within(WRITING, move || {
        let mut out = io::stdout().lock();
        let written = out.write_all(answer.line().as_bytes()).and_then(|()| out.flush());
        if let Some(why) = answer.reason().filter(|_| !allow) {
            let why: String = why.chars().take(MOST_TOLD).collect();
            // Hosts show it to the model. Without it, the answer is the same.
            let _ = writeln!(io::stderr().lock(), "bestow: {}", Escaped(&why));
        }
        written
    });
    if allow && matches!(written, Ok(Ok(()))) { Exit::Done } else { Exit::Blocked }
}
