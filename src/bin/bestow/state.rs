//! What a person does with a state directory: through the engine that runs on it, or on the directory itself.

use std::{path::Path, sync::Arc};

use bestow::{
    DiskPaths, Engine, Store, SystemClock,
    control::{self, Line, Order, Reply},
    journal::{Glance, Journal, JournalError},
};

use crate::{
    arguments::{Ordered, Style},
    end::End,
    keep,
};

/// Carries out an order.
pub(crate) fn order(asked: &Ordered) -> End {
    let told = match &asked.write {
        None => lines(&asked.state, &asked.order).map(|lines| told(&lines, asked.style)),
        Some(file) => keep::approve(asked, file),
    };
    told.unwrap_or_else(|end| end)
}

/// What the engine on `state` says, or the directory itself.
pub(crate) fn lines(state: &Path, order: &Order) -> Result<Vec<Line>, End> {
    match reply(state, order)? {
        Reply::Done(lines) => Ok(lines),
        Reply::Refused(why) => Err(End::Denied(why)),
        Reply::Failed(why) => Err(End::Failed(why)),
        other => Err(End::failed(format_args!("an answer of another version: {other:?}"))),
    }
}

fn reply(state: &Path, order: &Order) -> Result<Reply, End> {
    if !state.is_dir() {
        return Err(End::failed(JournalError::NotState { directory: state.to_owned() }));
    }
    match control::send(state, order) {
        Ok(Some(reply)) => Ok(reply),
        Ok(None) => alone(state, order),
        Err(why) => Err(End::failed(format_args!("the engine on `{}` cannot be reached: {why}", state.display()))),
    }
}

/// No engine runs there. What only looks writes nothing; the rest is an engine for a moment.
fn alone(state: &Path, order: &Order) -> Result<Reply, End> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().map_err(End::failed)?;
    // Looked at first, so that no directory becomes a state directory because it was named by mistake.
    drop(Glance::at(state).map_err(End::failed)?);
    let store = store(state, order)?;
    runtime.block_on(async {
        let (clock, paths) = (Arc::new(SystemClock::new()), Arc::new(DiskPaths));
        let engine = Engine::restore(None, clock, paths, store).await.map_err(End::failed)?;
        let reply = control::carry_out(&engine, order.clone()).await;
        engine.shutdown().await;
        Ok(reply)
    })
}

fn store(state: &Path, order: &Order) -> Result<Arc<dyn Store>, End> {
    if matches!(order, Order::Grants { .. } | Order::Requests | Order::Why { .. }) {
        return Ok(Arc::new(Glance::at(state).map_err(End::failed)?));
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
