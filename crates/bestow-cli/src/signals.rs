//! Signals that end this process. It ends its command and removes temporary files before it exits.

use std::{future::Future, io};

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::exit::Exit;

/// Returns the result of `work`. A signal that ends this process drops `work` before that.
pub(crate) async fn until_signal<T>(work: impl Future<Output = T>) -> Result<T, Exit> {
    let all = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup(), SignalKind::quit()].map(signal);
    let [mut int, mut term, mut hup, mut quit] = each(all).map_err(Exit::failed)?;
    tokio::select! {
        done = work => Ok(done),
        _ = int.recv() => Err(Exit::failed("interrupted: the command was ended")),
        _ = term.recv() => Err(Exit::failed("terminated: the command was ended")),
        _ = hup.recv() => Err(Exit::failed("the terminal was closed: the command was ended")),
        _ = quit.recv() => Err(Exit::failed("quit: the command was ended")),
    }
}

/// Returns a future that ends when a signal asks this process to end.
pub(crate) fn end() -> io::Result<impl Future<Output = ()>> {
    let [mut int, mut term] = [signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?];
    Ok(async move {
        tokio::select! {
            _ = int.recv() => {}
            _ = term.recv() => {}
        }
    })
}

fn each([int, term, hup, quit]: [io::Result<Signal>; 4]) -> io::Result<[Signal; 4]> {
    Ok([int?, term?, hup?, quit?])
}
