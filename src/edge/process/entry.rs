//! One process, as whoever reads, writes and stops it and whoever supervises it share it.

use std::{
    io::{self, PipeWriter, Write},
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc::Sender},
    time::Duration,
};

use tokio::sync::watch;

use super::{Chunk, MOST_KEPT, OutputStream, ProcessOptions, ring::Ring};
use crate::{
    edge::sandbox::{Command, Profile, Sandbox},
    model::{Process, ProcessExit},
};

/// What a supervisor is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// It ended by itself.
    Ended,
    /// It is to end, and may take so long.
    End(Duration),
    /// What binds its agent may have changed.
    Review,
}

/// How a process is started, the first time and every other time.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) sandbox: Sandbox,
    pub(super) profile: Profile,
    pub(super) command: Command,
    pub(super) options: ProcessOptions,
}

/// One process: its latest start, and its output over all of them.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) plan: Plan,
    output: [Mutex<Ring>; 2],
    state: Mutex<State>,
    /// Changes with every piece of output, and with every end.
    news: watch::Sender<u64>,
}

#[derive(Debug)]
struct State {
    process: Option<Arc<Process>>,
    exit: Option<ProcessExit>,
    input: Option<PipeWriter>,
    tell: Option<Sender<Word>>,
}

/// A lock that a panic under it does not close: what it holds is whole after each step.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Entry {
    pub(super) fn new(plan: Plan) -> Entry {
        let most = plan.options.buffer.min(MOST_KEPT);
        let state = State { process: None, exit: None, input: None, tell: None };
        Entry {
            plan,
            output: [Mutex::new(Ring::new(most)), Mutex::new(Ring::new(most))],
            state: Mutex::new(state),
            news: watch::Sender::new(0),
        }
    }

    /// It goes on from now.
    pub(super) fn begins(&self, process: &Arc<Process>, input: PipeWriter, tell: Sender<Word>) {
        let process = Some(Arc::clone(process));
        *locked(&self.state) = State { process, exit: None, input: Some(input), tell: Some(tell) };
    }

    /// It is over.
    pub(super) fn ends(&self, exit: ProcessExit) {
        {
            let mut state = locked(&self.state);
            (state.exit, state.input, state.tell) = (Some(exit), None, None);
        }
        self.news.send_modify(|count| *count += 1);
    }

    pub(super) fn process(&self) -> Option<Arc<Process>> {
        locked(&self.state).process.clone()
    }

    pub(super) fn exit(&self) -> Option<ProcessExit> {
        locked(&self.state).exit
    }

    /// Tells its supervisor, if it goes on.
    pub(super) fn tell(&self, word: Word) {
        if let Some(tell) = &locked(&self.state).tell {
            // A supervisor that does not hear any more is done.
            let _ = tell.send(word);
        }
    }

    fn ring(&self, stream: OutputStream) -> &Mutex<Ring> {
        let [stdout, stderr] = &self.output;
        match stream {
            OutputStream::Stdout => stdout,
            OutputStream::Stderr => stderr,
        }
    }

    /// It wrote something.
    pub(super) fn wrote(&self, stream: OutputStream, piece: &[u8]) {
        locked(self.ring(stream)).push(piece);
        self.news.send_modify(|count| *count += 1);
    }

    pub(super) fn read(&self, stream: OutputStream, from: u64, most: usize) -> Chunk {
        // Asked first: what it wrote last was there before it was over.
        let is_over = self.exit().is_some();
        let ring = locked(self.ring(stream));
        let chunk = ring.read(from, most);
        Chunk { is_end: is_over && chunk.next == ring.written(), ..chunk }
    }

    /// The last of what it wrote to standard error.
    pub(super) fn last_words(&self, most: u64) -> Vec<u8> {
        let ring = locked(self.ring(OutputStream::Stderr));
        ring.read(ring.written().saturating_sub(most), usize::MAX).bytes
    }

    /// Gives as much of `bytes` to its input as there is room for now; none if its input is closed.
    pub(super) fn write(&self, bytes: &[u8]) -> io::Result<Option<usize>> {
        let mut state = locked(&self.state);
        let Some(input) = &mut state.input else { return Ok(None) };
        match input.write(bytes) {
            Ok(written) => Ok(Some(written)),
            Err(why) if why.kind() == io::ErrorKind::WouldBlock => Ok(Some(0)),
            Err(why) if why.kind() == io::ErrorKind::BrokenPipe => {
                state.input = None;
                Ok(None)
            }
            Err(why) => Err(why),
        }
    }

    pub(super) fn close_input(&self) {
        locked(&self.state).input = None;
    }

    /// Waits until `is_so`.
    pub(super) async fn when(&self, is_so: impl Fn(&Entry) -> bool) {
        let mut news = self.news.subscribe();
        while !is_so(self) {
            if news.changed().await.is_err() {
                return;
            }
        }
    }

    /// Whether something of `stream` is there from `from` on, or nothing will be.
    pub(super) fn has_output(&self, stream: OutputStream, from: u64) -> bool {
        self.exit().is_some() || locked(self.ring(stream)).written() > from
    }
}
