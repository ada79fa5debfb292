//! One process, as shared by its supervisor and by everything that reads, writes and stops it.

use std::{
    io::{self, PipeWriter, Write},
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc::Sender},
    time::Duration,
};

use tokio::sync::watch;

use super::{Chunk, MOST_KEPT, OutputStream, ProcessOptions, ring::Ring};
use crate::{
    model::{Process, ProcessExit},
    sandbox::{Command, Profile, Sandbox},
};

/// A message to a supervisor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// The process ended by itself.
    Ended,
    /// The process has to end within this time.
    End(Duration),
    /// The rules that apply to the agent may have changed.
    Review,
}

/// The parameters of every start of a process.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) sandbox: Sandbox,
    pub(super) profile: Profile,
    pub(super) command: Command,
    pub(super) options: ProcessOptions,
}

/// One process: its latest start, and its output over all starts.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) plan: Plan,
    output: [Mutex<Ring>; 2],
    state: Mutex<State>,
    /// A counter that changes with every piece of output, and with every end.
    news: watch::Sender<u64>,
}

#[derive(Debug)]
struct State {
    process: Option<Arc<Process>>,
    exit: Option<ProcessExit>,
    input: Option<PipeWriter>,
    tell: Option<Sender<Word>>,
}

/// Locks a mutex even after a panic: its content is consistent after each step.
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

    /// Records a start of the process.
    pub(super) fn begins(&self, process: &Arc<Process>, input: PipeWriter, tell: Sender<Word>) {
        let process = Some(Arc::clone(process));
        *locked(&self.state) = State { process, exit: None, input: Some(input), tell: Some(tell) };
    }

    /// Records the end of the process.
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

    /// Sends a message to the supervisor, if the process runs.
    pub(super) fn tell(&self, word: Word) {
        if let Some(tell) = &locked(&self.state).tell {
            // A supervisor that no longer receives is done.
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

    /// Records output of the process.
    pub(super) fn wrote(&self, stream: OutputStream, piece: &[u8]) {
        locked(self.ring(stream)).push(piece);
        self.news.send_modify(|count| *count += 1);
    }

    pub(super) fn read(&self, stream: OutputStream, from: u64, most: usize) -> Chunk {
        // The exit is checked first: the last output was recorded before it.
        let is_over = self.exit().is_some();
        let ring = locked(self.ring(stream));
        let chunk = ring.read(from, most);
        Chunk { is_end: is_over && chunk.next == ring.written(), ..chunk }
    }

    /// Returns the end of the standard error.
    pub(super) fn last_words(&self, most: u64) -> Vec<u8> {
        let ring = locked(self.ring(OutputStream::Stderr));
        ring.read(ring.written().saturating_sub(most), usize::MAX).bytes
    }

    /// Writes as many of `bytes` as there is room for now; `None` if the input is closed.
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

    /// Waits until `is_so` returns true.
    pub(super) async fn when(&self, is_so: impl Fn(&Entry) -> bool) {
        let mut news = self.news.subscribe();
        while !is_so(self) {
            if news.changed().await.is_err() {
                return;
            }
        }
    }

    /// Returns true if there is output of `stream` from `from` on, or if there will be no more.
    pub(super) fn has_output(&self, stream: OutputStream, from: u64) -> bool {
        self.exit().is_some() || locked(self.ring(stream)).written() > from
    }
}
