//! What a person does with a state directory: through the engine that runs on it, or on the directory itself.

use std::{io::ErrorKind, os::unix::fs::MetadataExt, path::Path, sync::Arc};

use bestow::{
    DiskPaths, Engine, Store, SystemClock,
    control::{self, AdminCommand, Line, Reply},
    journal::{Journal, JournalError, ReadOnlyJournal, refuse_others},
};

use crate::{
    arguments::{Ordered, Style},
    end::End,
    keep,
};

/// Carries out an order.
pub(crate) fn order(asked: &Ordered) -> End {
    let told = match &asked.write {
        None => answered(asked, &asked.order, Lasting::ByItself).map(|mut lines| {
            lines.iter_mut().for_each(|line| name_way_out(line, &asked.state));
            told(&lines, asked.style)
        }),
        Some(file) => keep::approve(asked, file),
    };
    told.unwrap_or_else(|end| end)
}

/// What is held back is agreed to by a command that can be typed as it stands.
fn name_way_out(line: &mut Line, state: &Path) {
    if let Some(change) = line.json.pointer("/held_back/change") {
        line.text = format!("{}; agree with `bestow agree {change} --state {}`", line.text, state.display());
    }
}

/// What makes a yes last that is given while no engine runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lasting {
    /// Nothing but its scope.
    ByItself,
    /// A line of the file, which says it for good.
    InTheFile,
}

/// What the engine says to `order`, with the secret that was named besides.
pub(crate) fn answered(asked: &Ordered, order: &AdminCommand, lasting: Lasting) -> Result<Vec<Line>, End> {
    let secret = asked.token.as_deref().map(|file| {
        let unread = |why| End::failed(format_args!("`--token-file {}` cannot be read: {why}", file.display()));
        std::fs::read_to_string(file).map_err(unread)
    });
    heard(reply(&asked.state, order, secret.transpose()?.as_deref(), lasting)?)
}

/// What the engine on `state` says, or the directory itself.
pub(crate) fn lines(state: &Path, order: &AdminCommand, lasting: Lasting) -> Result<Vec<Line>, End> {
    heard(reply(state, order, None, lasting)?)
}

fn heard(reply: Reply) -> Result<Vec<Line>, End> {
    match reply {
        Reply::Done(lines) => Ok(lines),
        Reply::Refused(why) => Err(End::Denied(why)),
        Reply::Failed(why) => Err(End::Failed(why)),
        other => Err(End::failed(format_args!("an answer of another version: {other:?}"))),
    }
}

fn reply(state: &Path, order: &AdminCommand, token: Option<&str>, lasting: Lasting) -> Result<Reply, End> {
    if !state.is_dir() {
        return Err(End::failed(JournalError::NotState { directory: state.to_owned() }));
    }
    refuse_others(state).map_err(End::failed)?;
    // Looked at first, so that no directory becomes a state directory because it was named by mistake.
    let is_state = || ReadOnlyJournal::at(state).map(drop).map_err(End::failed);
    let sent = match token {
        Some(token) => control::send_with_token(state, order, token),
        None => control::send(state, order),
    };
    match sent {
        Ok(Some(reply)) => Ok(reply),
        Ok(None) if matches!(order, AdminCommand::Process { .. }) => Err(is_state().err().unwrap_or_else(|| End::failed(format_args!(
            "no engine runs on `{}`: a process is held by the engine that starts it, and ends with it; start the program that \
             embeds the engine",
            state.display()
        )))),
        Ok(None) => is_state().and_then(|()| alone(state, order, lasting)),
        Err(why) => {
            let who = if why.kind() == ErrorKind::PermissionDenied { owner(state) } else { String::new() };
            Err(End::failed(format_args!("the engine on `{}` cannot be reached: {why}{who}", state.display())))
        }
    }
}

/// Whose directory it is, for whoever may not enter it.
fn owner(state: &Path) -> String {
    let found = std::fs::metadata(state).map(|found| found.uid());
    found.map_or_else(
        |_| String::new(),
        |user| format!("; it is for user {user} only: say this as them (`sudo -u '#{user}'`)"),
    )
}

/// No engine runs there. What only looks writes nothing; the rest is an engine for a moment.
fn alone(state: &Path, order: &AdminCommand, lasting: Lasting) -> Result<Reply, End> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().map_err(End::failed)?;
    let store = store(state, order)?;
    runtime.block_on(async {
        let (clock, paths) = (Arc::new(SystemClock::new()), Arc::new(DiskPaths));
        let engine = Engine::restore(None, clock, paths, store).await.map_err(End::failed)?;
        let reply = match lasting {
            Lasting::ByItself => control::carry_out_and_end(&engine, order.clone()).await,
            Lasting::InTheFile => control::carry_out(&engine, order.clone()).await,
        };
        engine.shutdown().await;
        Ok(reply)
    })
}

fn store(state: &Path, order: &AdminCommand) -> Result<Arc<dyn Store>, End> {
    if matches!(
        order,
        AdminCommand::Grants { .. }
            | AdminCommand::Requests
            | AdminCommand::State { .. }
            | AdminCommand::Why { .. }
            | AdminCommand::Mode { mode: None, .. }
    ) {
        return Ok(Arc::new(ReadOnlyJournal::at(state).map_err(End::failed)?));
    }
    Ok(Arc::new(Journal::open(state).map_err(End::failed)?))
}

pub(crate) fn told(lines: &[Line], style: Style) -> End {
    let text = |line: &Line| match style {
        Style::Human => format!("{}\n", line.text),
        Style::Json => format!("{}\n", line.json),
    };
    End::said(&lines.iter().map(text).collect::<String>())
}
