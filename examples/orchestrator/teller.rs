//! A printer that shows every event as one line, and remembers the events.

use std::{
    env,
    io::{self, IsTerminal},
};

use bestow::{Engine, Event, NoEvent, Recorded};
use tokio::{sync::watch, task::JoinHandle};

use super::{Result, open::Open};

pub(crate) struct Teller {
    told: watch::Receiver<Vec<Recorded>>,
    /// A signal that another part of the program has printed a line.
    others: watch::Sender<()>,
    task: JoinHandle<()>,
}

impl Teller {
    /// Starts to follow the events. With `asking`, an open prompt is printed again after other lines have pushed it
    /// away.
    pub(crate) fn follow(engine: &Engine, asking: bool) -> Teller {
        let mut events = engine.subscribe();
        let (others, mut noticed) = watch::channel(());
        let mut open = Open::default();
        let (sender, told) = watch::channel(Vec::new());
        let colours = io::stdout().is_terminal() && env::var_os("NO_COLOR").is_none();
        let task = tokio::spawn(async move {
            loop {
                let event = tokio::select! {
                    event = events.next() => event,
                    Ok(()) = noticed.changed() => {
                        open.line();
                        continue;
                    }
                    recalled = open.recalled(), if asking => {
                        println!("{recalled}");
                        continue;
                    }
                };
                match event {
                    Ok(recorded) => {
                        let colour = if colours { colour(&recorded.event) } else { None };
                        match colour {
                            Some(colour) => println!("\u{1b}[{colour}m{recorded}\u{1b}[0m"),
                            None => println!("{recorded}"),
                        }
                        open.told(&recorded.event);
                        sender.send_modify(|told| told.push(recorded));
                    }
                    Err(NoEvent::Missed(count)) => println!("     ({count} events were missed)"),
                    Err(NoEvent::Ended) => return,
                }
            }
        });
        Teller { told, others, task }
    }

    /// Returns a callback for other parts of the program that print lines.
    pub(crate) fn noticed(&self) -> impl Fn() + Send + 'static {
        let others = self.others.clone();
        move || others.send_replace(())
    }

    /// Waits for an event for which `wanted` returns true. Past events count too.
    pub(crate) async fn until(&self, what: &str, wanted: impl Fn(&Event) -> bool) -> Result<()> {
        let mut told = self.told.clone();
        let seen = told.wait_for(|told| told.iter().any(|recorded| wanted(&recorded.event))).await;
        seen.map(drop).map_err(|_| format!("waited for {what}, and the engine ended").into())
    }

    /// Returns all events. It takes the last handle of the engine, so that no further event can follow.
    pub(crate) async fn finish(self, engine: Engine) -> Vec<Event> {
        drop(engine);
        // The task ends with the engine. If it failed, the events until then count.
        let _ = self.task.await;
        self.told.borrow().iter().map(|recorded| recorded.event.clone()).collect()
    }
}

/// Returns the color of an event: green for a grant, red for a denial or the end of a grant, yellow for a request, cyan
/// for a resolved request or a changed policy.
fn colour(event: &Event) -> Option<u8> {
    match event.kind() {
        "grant.issued" => Some(32),
        "grant.revoked" | "grant.expired" | "permission.refused" | "config.rejected" => Some(31),
        "permission.requested" | "permission.routed" => Some(33),
        "permission.resolved" | "config.reloaded" => Some(36),
        _ => None,
    }
}
