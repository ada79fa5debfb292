//! The output queue of a bot, with a deadline for its progress.

use std::{future::pending, io, time::Duration};

use serde::Serialize;
use tokio::{
    io::{AsyncWrite, AsyncWriteExt},
    time::{Instant, timeout_at},
};

/// The lines that are waiting to be written to a bot.
#[derive(Debug)]
pub(super) struct Outgoing<W> {
    writer: W,
    waiting: Vec<u8>,
    /// The number of bytes of `waiting` that are already written.
    written: usize,
    unflushed: bool,
    max: usize,
    stall: Duration,
    /// The deadline for the next progress.
    deadline: Option<Instant>,
}

/// The reason why writing to a bot has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unwritable {
    /// The bot does not read.
    Stalled,
    /// The bot's end is closed.
    Gone(io::ErrorKind),
}

impl<W: AsyncWrite + Unpin> Outgoing<W> {
    pub(super) fn new(writer: W, max: usize, stall: Duration) -> Outgoing<W> {
        Outgoing { writer, waiting: Vec::new(), written: 0, unflushed: false, max, stall, deadline: None }
    }

    /// Returns true if the queue has room for the effects of one more line from the bot, or of one more notification.
    pub(super) fn has_room(&self) -> bool {
        self.waiting.len() - self.written < self.max
    }

    /// Appends a message to the queue. Never waits.
    pub(super) fn put(&mut self, message: &impl Serialize) {
        // Serialization cannot fail: our own types have text keys and plain values.
        if let Ok(line) = serde_json::to_vec(message) {
            self.waiting.extend(line);
            self.waiting.push(b'\n');
        }
    }

    fn is_idle(&self) -> bool {
        self.waiting.is_empty() && !self.unflushed
    }

    /// Writes a part of the queue. Does not return while the queue is empty.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses nothing, and does not give the bot more time.
    pub(super) async fn progress(&mut self) -> Result<(), Unwritable> {
        if self.is_idle() {
            return pending().await;
        }
        let deadline = *self.deadline.get_or_insert_with(|| Instant::now() + self.stall);
        let done = timeout_at(deadline, self.step()).await.map_err(|_| Unwritable::Stalled)?;
        self.deadline = None;
        done.map_err(|error| Unwritable::Gone(error.kind()))
    }

    async fn step(&mut self) -> io::Result<()> {
        if let Some(rest) = self.waiting.get(self.written..).filter(|rest| !rest.is_empty()) {
            match self.writer.write(rest).await? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                count => self.written += count,
            }
            self.unflushed = true;
            if self.written < self.waiting.len() {
                if self.written > self.max {
                    self.waiting.drain(..self.written);
                    self.written = 0;
                }
                return Ok(());
            }
        }
        self.writer.flush().await?;
        (self.unflushed, self.written) = (false, 0);
        self.waiting.clear();
        Ok(())
    }

    /// Writes the whole queue, and then closes the output.
    pub(super) async fn finish(mut self) -> Result<(), Unwritable> {
        while !self.is_idle() {
            self.progress().await?;
        }
        // The bot may have closed its end by now. Then there is nothing to close.
        let _ = self.writer.shutdown().await;
        Ok(())
    }
}
