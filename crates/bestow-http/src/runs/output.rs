//! The output of one bot, as the clients of its run see it.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bestow::{Profile, agent::RunId, event::Timestamp, user::OwnerId};
use serde_json::json;

use super::board::Board;

/// The time for which a bot has its share.
const WINDOW: Duration = Duration::from_secs(1);

/// The lines of one bot that clients see in that time.
const LINES: u32 = 200;

/// The bytes of one bot that clients see in that time.
const BYTES: usize = 1 << 20;

/// The output of one bot. A bot that says too much has its lines left out, so that its clients see those of others.
#[derive(Debug)]
pub(super) struct Output {
    board: Arc<Board>,
    owner: OwnerId,
    run: RunId,
    profile: Arc<Profile>,
    spent: Mutex<Spent>,
}

/// The share that a bot has used.
#[derive(Debug)]
struct Spent {
    /// The begin of the share.
    since: Timestamp,
    lines: u32,
    bytes: usize,
    left_out: u64,
}

impl Output {
    pub(super) fn new(board: &Arc<Board>, owner: &OwnerId, run: &RunId, profile: &Arc<Profile>) -> Output {
        let spent = Spent { since: Timestamp::from_millis(0), lines: 0, bytes: 0, left_out: 0 };
        let (owner, run) = (owner.clone(), run.clone());
        Output { board: Arc::clone(board), owner, run, profile: Arc::clone(profile), spent: Mutex::new(spent) }
    }

    /// Tells the clients of the run what the bot said.
    pub(super) fn tell(&self, stream: &str, text: &str) {
        // Without a clock the engine decides nothing either.
        let Ok(now) = self.board.engine.now() else { return };
        let Some(left_out) = self.take(text.len(), now) else { return };
        if left_out > 0 {
            self.send("error", &format!("{left_out} lines of this bot are left out: it says too much"));
        }
        self.send(stream, text);
    }

    /// Takes a line from the share. Returns the number of lines that were left out before, or none if this one is.
    fn take(&self, length: usize, now: Timestamp) -> Option<u64> {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        if now < spent.since || spent.since.after(WINDOW) <= now {
            *spent = Spent { since: now, lines: 0, bytes: 0, left_out: spent.left_out };
        }
        if spent.lines >= LINES || spent.bytes.saturating_add(length) > BYTES {
            spent.left_out += 1;
            return None;
        }
        spent.lines += 1;
        spent.bytes += length;
        Some(std::mem::take(&mut spent.left_out))
    }

    fn send(&self, stream: &str, text: &str) {
        let Output { board, owner, run, profile, .. } = self;
        let name = profile.name.as_ref().map_or(profile.id.as_str(), |name| name.as_str());
        let message = json!({
            "type": "agent_output",
            "runId": run,
            "agentId": profile.id,
            "agentName": name,
            "stream": stream,
            "text": text,
            "ts": board.engine.now().ok(),
        });
        board.tell(owner, run, message);
    }
}
