//! Requests of a person to a state directory: to the engine that runs on it, or to the directory itself.

use std::{
    io::ErrorKind,
    os::unix::fs::MetadataExt,
    path::Path,
    sync::{
        Arc,
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

use bestow::{
    Engine,
    control::{self, AdminCommand, Line, Reply},
    event::{CredentialOrder, camel_case},
    host::{DiskPaths, Store, SystemClock},
    journal::{Journal, JournalError, ReadOnlyJournal, refuse_others, wait_until_free},
};

use crate::{
    args::{AdminRequest, Form, PersonArgs},
    exit::Exit,
};

/// Carries out a request that writes nothing into a policy file.
pub(crate) fn order(request: &AdminRequest) -> Result<Exit, Exit> {
    let mut lines = answered(request, &request.order, Lasting::ByItself)?;
    lines.iter_mut().for_each(|line| name_way_out(line, &request.state));
    if lines.is_empty() && request.form == Form::Text {
        note_nothing(&request.order);
    }
    Ok(printed(&lines, request.form))
}

/// Tells a person that a list is empty. The standard output stays empty for programs.
fn note_nothing(order: &AdminCommand) {
    let nothing = if matches!(order, AdminCommand::Requests) {
        "no request waits"
    } else if matches!(order, AdminCommand::Grants { .. }) {
        "no agent holds a permission"
    } else if matches!(order, AdminCommand::Credentials) {
        "no credential was created"
    } else {
        return;
    };
    eprintln!("bestow: {nothing}");
}

/// Adds the command that accepts a change which is held back, in full.
fn name_way_out(line: &mut Line, state: &Path) {
    if let Some(change) = line.json.pointer("/held_back/change") {
        line.text = format!("{}; approve it with `bestow agree {change} --state {}`", line.text, state.display());
    }
}

/// The place that keeps an approval which is given while no engine runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lasting {
    /// The scope of the approval alone.
    ByItself,
    /// A line of the policy file, for good.
    InTheFile,
}

/// Returns the answer of the engine to `order`, with the secret that the request names.
pub(crate) fn answered(request: &AdminRequest, order: &AdminCommand, lasting: Lasting) -> Result<Vec<Line>, Exit> {
    lines(&request.state, order, request.token.as_deref(), lasting)
}

/// Returns the answer of the engine on `state`, or of the directory itself. `token_file` has the secret of the engine.
pub(crate) fn lines(
    state: &Path,
    order: &AdminCommand,
    token_file: Option<&Path>,
    lasting: Lasting,
) -> Result<Vec<Line>, Exit> {
    let secret = token_file.map(secret).transpose()?;
    answer(reply(state, order, secret.as_deref(), lasting)?)
}

/// Verifies that a person gives an order that this program carries out itself, although an engine may run on `state`.
/// That engine is asked, and otherwise the directory, which may be damaged.
pub(crate) fn verify_person(state: &Path, person: &PersonArgs) -> Result<(), Exit> {
    require(state)?;
    // No files of a state directory are made in a directory that was named by mistake.
    if !has_files_of_state(state) {
        return Err(Exit::failed(JournalError::NotState { directory: state.to_owned() }));
    }
    let (order, token) = (AdminCommand::Verify { by: person.by()? }, person.token_file().map(secret).transpose()?);
    let reply = match send(state, &order, token.as_deref())? {
        Some(reply) => Some(reply),
        None => control::refusal_of_own(state, &order, token.as_deref()).map_err(Exit::failed)?,
    };
    reply.map_or(Ok(()), |reply| answer(reply).map(drop))
}

/// Returns true if a directory has a file of a journal. Some of them may be lost.
pub(crate) fn has_files_of_state(directory: &Path) -> bool {
    let is_of_state = |name: &str| name == "LOCK" || name.starts_with("journal-") || name.starts_with("snapshot-");
    let names = std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.file_name());
    names.into_iter().any(|name| name.to_str().is_some_and(is_of_state))
}

/// Reads the secret of an engine.
pub(crate) fn secret(file: &Path) -> Result<String, Exit> {
    let unread = |why| Exit::failed(format_args!("`--token-file {}` cannot be read: {why}", file.display()));
    std::fs::read_to_string(file).map_err(unread)
}

fn answer(reply: Reply) -> Result<Vec<Line>, Exit> {
    match reply {
        Reply::Done(lines) => Ok(lines),
        Reply::Refused(why) => Err(Exit::Denied(why)),
        Reply::Failed(why) => Err(Exit::Failed(why)),
        other => {
            Err(Exit::failed(format_args!("the answer has an unknown form, perhaps of another version: {other:?}")))
        }
    }
}

/// Refuses a path that is no directory, and a directory that others may write.
pub(crate) fn require(state: &Path) -> Result<(), Exit> {
    if !state.is_dir() {
        return Err(Exit::failed(JournalError::NotState { directory: state.to_owned() }));
    }
    refuse_others(state).map_err(Exit::failed)
}

/// The time between two looks whether an engine on the directory answers.
const LOOK: Duration = Duration::from_millis(20);

/// The most looks at a directory whose process has read the trail: ten seconds. It may be another command, which takes
/// a moment, or a server that answers soon. A program that embeds an engine may do neither.
const MAX_LOOKS: usize = 500;

/// The most attempts, if other commands come first each time.
const ATTEMPTS: usize = 200;

fn reply(state: &Path, order: &AdminCommand, token: Option<&str>, lasting: Lasting) -> Result<Reply, Exit> {
    let mut attempts = 1..=ATTEMPTS;
    loop {
        match attempt(state, order, token, lasting) {
            Err(Hindered::InUse(why)) if attempts.next().is_some() && becomes_reachable(state, &why) => {}
            Err(Hindered::InUse(why)) => return Err(Exit::failed(why)),
            Err(Hindered::Closed) if attempts.next().is_some() => thread::park_timeout(LOOK),
            Err(Hindered::Closed) => return Err(Exit::failed(bestow::Error::Closed)),
            Err(Hindered::Ended(exit)) => return Err(exit),
            Ok(reply) => return Ok(reply),
        }
    }
}

/// Waits until no other process uses the directory, or the one that does answers orders. Returns false if it does
/// neither, although it has read the trail: it has named itself then.
fn becomes_reachable(state: &Path, why: &JournalError) -> bool {
    let (done, free) = mpsc::channel();
    let directory = state.to_owned();
    // The thread may go on waiting. It ends with this program.
    thread::spawn(move || done.send(wait_until_free(directory).is_ok()));
    for _ in 0..MAX_LOOKS {
        match free.recv_timeout(LOOK) {
            Ok(is_free) => return is_free,
            Err(RecvTimeoutError::Disconnected) => return false,
            Err(RecvTimeoutError::Timeout) => {}
        }
        if control::is_served(state).unwrap_or(false) {
            return true;
        }
    }
    // Whoever still reads the trail ends or comes further, however long it is.
    let JournalError::InUse { pid: Some(named), .. } = why else { return true };
    lock_holder(state).is_some_and(|holder| holder != *named)
}

/// Returns the process that has the lock of a directory, if this system reports it. Until that process has read the
/// trail, the lock file still names the one before, if that one was killed.
fn lock_holder(state: &Path) -> Option<u32> {
    let place = format!(":{}", std::fs::metadata(state.join("LOCK")).ok()?.ino());
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    // As in `1: FLOCK ADVISORY WRITE 4711 fe:00:12345 0 EOF`. A process that waits for a lock has an arrow.
    let mut holders = locks.lines().filter_map(|line| match line.split_whitespace().collect::<Vec<_>>()[..] {
        [_, "FLOCK", _, "WRITE", pid, file, ..] if file.ends_with(&place) => pid.parse().ok(),
        _ => None,
    });
    holders.next()
}

/// The reason why a request has no answer.
enum Hindered {
    /// Another process uses the directory, and answers no requests. It may be another command.
    InUse(JournalError),
    /// The engine of another command has ended without this request.
    Closed,
    /// Another attempt would end in the same way.
    Ended(Exit),
}

impl From<Exit> for Hindered {
    fn from(exit: Exit) -> Hindered {
        Hindered::Ended(exit)
    }
}

fn attempt(state: &Path, order: &AdminCommand, token: Option<&str>, lasting: Lasting) -> Result<Reply, Hindered> {
    require(state)?;
    // A look comes first, so that a directory that was named by mistake does not become a state directory.
    let is_state = || ReadOnlyJournal::at(state).map(drop).map_err(Exit::failed);
    match send(state, order, token)? {
        Some(Reply::Failed(why)) if why == bestow::Error::Closed.to_string() => Err(Hindered::Closed),
        Some(reply) => Ok(reply),
        None if matches!(order, AdminCommand::Process { .. }) => {
            is_state()?;
            Err(Hindered::Ended(Exit::failed(format_args!(
                "no engine runs on `{}`: a process belongs to the engine that started it, and ends with it; start \
                 the program that embeds the engine",
                state.display()
            ))))
        }
        None => {
            // The first credential may come before the first engine.
            if !matches!(order, AdminCommand::Credential { change: CredentialOrder::Create { .. }, .. }) {
                is_state()?;
            }
            match control::refusal_of_own(state, order, token).map_err(Exit::failed)? {
                Some(refusal) => Ok(refusal),
                None => alone(state, order, lasting),
            }
        }
    }
}

/// Sends an order to the engine that runs on `state`. Returns none if no engine runs there.
fn send(state: &Path, order: &AdminCommand, token: Option<&str>) -> Result<Option<Reply>, Exit> {
    let sent = match token {
        Some(token) => control::send_with_token(state, order, token),
        None => control::send(state, order),
    };
    sent.map_err(|why| {
        let who = if why.kind() == ErrorKind::PermissionDenied { owner(state) } else { String::new() };
        Exit::failed(format_args!("the engine on `{}` cannot be reached: {why}{who}", state.display()))
    })
}

/// Names the owner of the directory, for a user who may not enter it.
pub(crate) fn owner(state: &Path) -> String {
    let found = std::fs::metadata(state).map(|found| found.uid());
    found.map_or_else(
        |_| String::new(),
        |user| format!("; it accepts only user {user}: run this as that user (`sudo -u '#{user}'`)"),
    )
}

/// Answers a request where no engine runs. A request that only reads writes nothing; any other starts an engine for a
/// moment.
fn alone(state: &Path, order: &AdminCommand, lasting: Lasting) -> Result<Reply, Hindered> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().map_err(Exit::failed)?;
    let store = store(state, order)?;
    runtime.block_on(async {
        let (clock, paths) = (Arc::new(SystemClock::new()), Arc::new(DiskPaths));
        let engine = Engine::restore_between(clock, paths, store).await.map_err(Exit::failed)?;
        let reply = match lasting {
            Lasting::ByItself => control::carry_out_and_end(&engine, order.clone()).await,
            Lasting::InTheFile => control::carry_out(&engine, order.clone()).await,
        };
        engine.shutdown().await;
        Ok(reply)
    })
}

fn store(state: &Path, order: &AdminCommand) -> Result<Arc<dyn Store>, Hindered> {
    if matches!(
        order,
        AdminCommand::Grants { .. }
            | AdminCommand::Requests
            | AdminCommand::Credentials
            | AdminCommand::Verify { .. }
            | AdminCommand::Follow { .. }
            | AdminCommand::State { .. }
            | AdminCommand::Why { .. }
            | AdminCommand::Mode { mode: None, .. }
    ) {
        return Ok(Arc::new(ReadOnlyJournal::at(state).map_err(Exit::failed)?));
    }
    match Journal::open(state) {
        Ok(journal) => Ok(Arc::new(journal)),
        Err(why @ JournalError::InUse { .. }) => Err(Hindered::InUse(why)),
        Err(why) => Err(Hindered::Ended(Exit::failed(why))),
    }
}

/// Prints the lines of an answer.
pub(crate) fn printed(lines: &[Line], form: Form) -> Exit {
    let text = |line: &Line| match form {
        Form::Text => format!("{}\n", line.text),
        Form::Json => format!("{}\n", camel_case(line.json.clone())),
    };
    Exit::print(&lines.iter().map(text).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::lock_holder;

    #[cfg(target_os = "linux")]
    #[test]
    fn the_process_with_the_lock_is_found() {
        let directory = std::env::temp_dir().join(format!("bestow-lock-holder-{}", std::process::id()));
        std::fs::create_dir(&directory).unwrap();
        assert_eq!(lock_holder(&directory), None);
        let lock = std::fs::File::create(directory.join("LOCK")).unwrap();
        assert_eq!(lock_holder(&directory), None, "it is free");
        lock.lock().unwrap();
        assert_eq!(lock_holder(&directory), Some(std::process::id()));
        std::fs::remove_dir_all(directory).unwrap();
    }
}
