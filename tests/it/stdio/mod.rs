//! Tests of bots over lines of JSON: the protocol as vectors, and bots that misbehave or die.

mod answers;
mod declared;
mod docs;
mod misbehaving;
#[cfg(feature = "config")]
mod orchestrator;
#[cfg(feature = "config")]
mod policy_file;
mod processes;
mod typed;
mod unchanged;
mod vectors;
mod words;

use std::{future::Future, path::Path, sync::Arc, time::Duration};

use bestow::{
    AgentId, Engine, InitialGrants, Kind, Permission, Profile, Settings,
    event::Timestamp,
    host::{AsWritten, ManualClock},
    stdio::{Bot, Ended},
};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf},
    task::JoinHandle,
};

/// The timeout of every wait. No step here takes long.
const TOO_LONG: Duration = Duration::from_secs(120);

async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(TOO_LONG, future).await.unwrap_or_else(|_| panic!("waited too long for {what}"))
}

fn id(text: &str) -> AgentId {
    text.parse().unwrap()
}

fn write(path: &str) -> Permission {
    Permission::write(path.parse().unwrap())
}

fn profile(id: &str, kind: Kind) -> Profile {
    Profile::new(id.parse().unwrap(), "you".parse().unwrap(), kind, "/ws".parse().unwrap())
}

fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at(Timestamp::from_millis(1_790_000_000_000)))
}

/// Creates an engine with a lead that may write `/ws`, a second lead, and a worker that holds nothing.
async fn engine() -> Engine {
    let engine = Engine::on(Settings::default(), clock(), Arc::new(AsWritten)).unwrap();
    engine.register(profile("lead", Kind::Foreground), InitialGrants::of([write("/ws")])).await.unwrap();
    engine.register(profile("second", Kind::Foreground), InitialGrants::nothing()).await.unwrap();
    engine.register(profile("worker", Kind::Subagent), InitialGrants::nothing()).await.unwrap();
    engine
}

/// The bot's side of a conversation.
struct Wire {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    served: JoinHandle<Ended>,
}

impl Wire {
    fn open(bot: Bot) -> Wire {
        Wire::with_pipe(bot, 1024 * 1024)
    }

    fn with_pipe(bot: Bot, capacity: usize) -> Wire {
        let (here, there) = tokio::io::duplex(capacity);
        let (reader, writer) = tokio::io::split(there);
        let served = tokio::spawn(bot.serve(reader, writer));
        let (reader, writer) = tokio::io::split(here);
        Wire { lines: BufReader::new(reader).lines(), writer, served }
    }

    async fn write(&mut self, line: &str) {
        self.writer.write_all(line.as_bytes()).await.unwrap();
        self.writer.write_all(b"\n").await.unwrap();
    }

    async fn read(&mut self) -> Value {
        let line = soon("a line", self.lines.next_line()).await.unwrap().expect("the conversation is over");
        serde_json::from_str(&line).unwrap()
    }

    /// Returns the next message of this type, and skips all others.
    async fn read_type(&mut self, kind: &str) -> Value {
        loop {
            let line = self.read().await;
            if line["type"] == kind {
                return line;
            }
        }
    }

    async fn ended(self) -> Ended {
        soon("the end", self.served).await.unwrap()
    }
}

fn repository() -> &'static Path {
    Path::new(crate::support::ROOT)
}
