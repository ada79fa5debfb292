//! Tells every event as one line, and remembers them.

use std::{
    env,
    io::{self, IsTerminal},
};

use bestow::{Engine, Event, NoEvent, Recorded};
use tokio::{sync::watch, task::JoinHandle};

use super::Result;

pub(crate) struct Teller {
    told: watch::Receiver<Vec<Recorded>>,
    task: JoinHandle<()>,
}

impl Teller {
    pub(crate) fn follow(engine: &Engine) -> Teller {
        let mut events = engine.subscribe();
        let (sender, told) = watch::channel(Vec::new());
        let colours = io::stdout().is_terminal() && env::var_os("NO_COLOR").is_none();
        let task = tokio::spawn(async move {
            loop {
                match events.next().await {
                    Ok(recorded) => {
                        let colour = if colours { colour(&recorded.event) } else { None };
                        match colour {
                            Some(colour) => println!("\u{1b}[{colour}m{recorded}\u{1b}[0m"),
                            None => println!("{recorded}"),
                        }
                        sender.send_modify(|told| told.push(recorded));
                    }
                    Err(NoEvent::Missed(count)) => println!("     ({count} events were missed)"),
                    Err(NoEvent::Ended) => return,
                }
            }
        });
        Teller { told, task }
    }

    /// Waits until something in what happened so far is `wanted`.
    pub(crate) async fn until(&self, what: &str, wanted: impl Fn(&Event) -> bool) -> Result<()> {
        let mut told = self.told.clone();
        let seen = told.wait_for(|told| told.iter().any(|recorded| wanted(&recorded.event))).await;
        seen.map(drop).map_err(|_| format!("waited for {what}, and the engine ended").into())
    }

    /// Everything that happened. Takes the last handle of the engine, so that nothing more can happen.
    pub(crate) async fn finish(self, engine: Engine) -> Vec<Event> {
        drop(engine);
        // It ends with the engine; if it failed, what was told until then counts.
        let _ = self.task.await;
        self.told.borrow().iter().map(|recorded| recorded.event.clone()).collect()
    }
}

/// Green for what was given, red for no, yellow for a question.
fn colour(event: &Event) -> Option<u8> {
    match event.kind() {
        "grant.issued" => Some(32),
        "grant.revoked" | "grant.expired" | "permission.refused" | "config.rejected" => Some(31),
        "permission.requested" | "permission.routed" => Some(33),
        "permission.resolved" | "config.reloaded" => Some(36),
        _ => None,
    }
}
