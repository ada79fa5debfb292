//! What waits to be written to a bot, and how long it waits.

use std::{future::pending, io, time::Duration};

use serde::Serialize;
use tokio::{
    io::{AsyncWrite, AsyncWriteExt},
    time::{Instant, timeout_at},
};

/// Lines on their way to a bot.
#[derive(Debug)]
pub(super) struct Outgoing<W> {
    writer: W,
    waiting: Vec<u8>,
    /// How much of `waiting` is written.
    written: usize,
    unflushed: bool,
    max: usize,
    stall: Duration,
    /// By when something more must have been written.
    deadline: Option<Instant>,
}

/// Why a bot is no longer written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unwritable {
    /// It does not read.
    Stalled,
    /// Its end is closed.
    Gone(io::ErrorKind),
}

impl<W: AsyncWrite + Unpin> Outgoing<W> {
    pub(super) fn new(writer: W, max: usize, stall: Duration) -> Outgoing<W> {
        Outgoing { writer, waiting: Vec::new(), written: 0, unflushed: false, max, stall, deadline: None }
    }

    /// Whether there is room for what another line from the bot, or more news for it, may bring.
    pub(super) fn has_room(&self) -> bool {
        self.waiting.len() - self.written < self.max
    }

    /// Puts a message behind those that wait. Never waits itself.
    pub(super) fn put(&mut self, message: &impl Serialize) {
        // Our own types: text keys and plain values, so this does not fail.
        if let Ok(line) = serde_json::to_vec(message) {
            self.waiting.extend(line);
            self.waiting.push(b'\n');
        }
    }

    fn is_idle(&self) -> bool {
        self.waiting.is_empty() && !self.unflushed
    }

    /// Writes a part of what waits; does not return while nothing waits.
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

    /// Writes all that waits, and then closes.
    pub(super) async fn finish(mut self) -> Result<(), Unwritable> {
        while !self.is_idle() {
            self.progress().await?;
        }
        // The bot may have closed its end by now; then there is nothing to close.
        let _ = self.writer.shutdown().await;
        Ok(())
    }
}
