//! Work that writes lines until it is told to end: by a signal, or because its reader has gone.

use std::{io::stdout, thread};

use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
};
use tokio::{runtime, sync::oneshot};

use crate::{exit::Exit, signals};

/// Runs `work` in a thread of its own. It may block in a read or a write, and ends with this process.
///
/// A signal ends it, which is no error. If standard output is a pipe without a reader, it ends as every command does.
pub(crate) fn until_told(work: impl FnOnce() -> Exit + Send + 'static) -> Result<Exit, Exit> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build().map_err(Exit::failed)?;
    runtime.block_on(async {
        let stop = signals::end().map_err(Exit::failed)?;
        let (done, mut unheard) = (in_thread(work), in_thread(wait_for_closed_output));
        let mut done = done;
        tokio::select! {
            exit = &mut done => exit.map_err(|_| Exit::failed("the work has failed")),
            Ok(()) = &mut unheard => Ok(Exit::Failed(String::new())),
            () = stop => Ok(Exit::Done),
        }
    })
}

pub(crate) fn in_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> oneshot::Receiver<T> {
    let (done, result) = oneshot::channel();
    thread::spawn(move || drop(done.send(work())));
    result
}

/// Waits until nobody can read standard output any more.
pub(crate) fn wait_for_closed_output() {
    let output = stdout();
    // No event is asked for: the system reports a closed pipe in any case.
    let mut asked = [PollFd::new(&output, PollFlags::empty())];
    while poll(&mut asked, None) == Err(Errno::INTR) {}
}
