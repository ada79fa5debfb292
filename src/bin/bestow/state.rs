//! What a person does with a state directory: through the engine that runs on it, or on the directory itself.

use std::{path::Path, sync::Arc};

use bestow::{
    DiskPaths, Engine, Store, SystemClock,
    control::{self, Line, Order, Reply},
    journal::{Glance, Journal},
};

use crate::{
    arguments::{Ordered, Style},
    end::End,
};

/// Carries out an order.
pub(crate) fn order(asked: &Ordered) -> End {
    match reply(asked) {
        Ok(Reply::Done(lines)) => told(&lines, asked.style),
        Ok(Reply::Refused(why)) => End::Denied(why),
        Ok(Reply::Failed(why)) => End::Failed(why),
        Ok(other) => End::failed(format_args!("an answer of another version: {other:?}")),
        Err(end) => end,
    }
}

fn reply(asked: &Ordered) -> Result<Reply, End> {
    if !asked.state.is_dir() {
        return Err(End::failed(format_args!("`{}` is no state directory", asked.state.display())));
    }
    match control::send(&asked.state, &asked.order) {
        Ok(Some(reply)) => Ok(reply),
        Ok(None) => alone(asked),
        Err(why) => {
            Err(End::failed(format_args!("the engine on `{}` cannot be reached: {why}", asked.state.display())))
        }
    }
}

/// No engine runs there. What only looks writes nothing; the rest is an engine for a moment.
fn alone(asked: &Ordered) -> Result<Reply, End> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().map_err(End::failed)?;
    let store = store(&asked.state, &asked.order)?;
    runtime.block_on(async {
        let (clock, paths) = (Arc::new(SystemClock::new()), Arc::new(DiskPaths));
        let engine = Engine::restore(None, clock, paths, store).await.map_err(End::failed)?;
        let reply = control::carry_out(&engine, asked.order.clone()).await;
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

fn told(lines: &[Line], style: Style) -> End {
    let text = |line: &Line| match style {
        Style::Human => format!("{}\n", line.text),
        Style::Json => format!("{}\n", line.json),
    };
    End::said(&lines.iter().map(text).collect::<String>())
}
