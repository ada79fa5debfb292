//! Signals that end this process: what it started is ended, and what it left is taken away, before it goes.

use std::{future::Future, io};

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::end::End;

/// What `work` comes to, unless this process is told to end before: then `work` is dropped.
pub(crate) async fn until_told<T>(work: impl Future<Output = T>) -> Result<T, End> {
    let all = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup(), SignalKind::quit()].map(signal);
    let [mut int, mut term, mut hup, mut quit] = each(all).map_err(End::failed)?;
    tokio::select! {
        done = work => Ok(done),
        _ = int.recv() => Err(End::failed("interrupted: the command was ended")),
        _ = term.recv() => Err(End::failed("told to end: the command was ended")),
        _ = hup.recv() => Err(End::failed("the terminal is gone: the command was ended")),
        _ = quit.recv() => Err(End::failed("told to quit: the command was ended")),
    }
}

fn each([int, term, hup, quit]: [io::Result<Signal>; 4]) -> io::Result<[Signal; 4]> {
    Ok([int?, term?, hup?, quit?])
}
