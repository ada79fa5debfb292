//! Signals that end this process. It ends its command and removes temporary files before it exits.

use std::{
    future::{Future, poll_fn},
    io,
    task::Poll,
};

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::exit::Exit;

/// The signals that end a process unless it handles them, with the message of each. `SIGPIPE` is an error of a write.
const ENDING: [(SignalKind, &str); 7] = [
    (SignalKind::interrupt(), "interrupted"),
    (SignalKind::terminate(), "terminated"),
    (SignalKind::hangup(), "the terminal was closed"),
    (SignalKind::quit(), "quit"),
    (SignalKind::user_defined1(), "ended by SIGUSR1"),
    (SignalKind::user_defined2(), "ended by SIGUSR2"),
    (SignalKind::alarm(), "ended by SIGALRM"),
];

/// Returns the result of `work`. A signal that ends this process drops `work` before that.
pub(crate) async fn until_signal<T>(work: impl Future<Output = T>) -> Result<T, Exit> {
    let heard = |(kind, why): (SignalKind, &'static str)| signal(kind).map(|signal| (signal, why));
    let mut signals = ENDING.into_iter().map(heard).collect::<io::Result<Vec<_>>>().map_err(Exit::failed)?;
    tokio::select! {
        done = work => Ok(done),
        why = first(&mut signals) => Err(Exit::failed(format_args!("{why}: the command was ended"))),
    }
}

/// Waits for one of the signals, and returns its message.
async fn first(signals: &mut [(Signal, &'static str)]) -> &'static str {
    poll_fn(|context| {
        let arrived = signals.iter_mut().find_map(|(signal, why)| signal.poll_recv(context).is_ready().then_some(*why));
        arrived.map_or(Poll::Pending, Poll::Ready)
    })
    .await
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
