//! Prints the story: one numbered line for each event, with paths below its directory. Keeps every event.

use std::{
    env,
    io::{self, IsTerminal},
};

use bestow::{
    Engine, Event, Outcome,
    event::{NoEvent, Recorded},
    grant::Origin,
};
use tokio::{sync::watch, task::JoinHandle};

use super::{Result, open::Open, place::Place};

pub(crate) struct Teller {
    told: watch::Receiver<Vec<Recorded>>,
    /// Reports that another part of the program wrote a line.
    others: watch::Sender<()>,
    task: JoinHandle<()>,
}

impl Teller {
    /// Follows the events. With `asking`, a waiting question is shown again after other lines.
    pub(crate) fn follow(engine: &Engine, place: &Place, asking: bool) -> Teller {
        let mut events = engine.subscribe();
        let (others, mut noticed) = watch::channel(());
        let (mut open, mut line, short) = (Open::default(), 0, place.shortening());
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
                        println!("{}", short(&recalled));
                        continue;
                    }
                };
                match event {
                    Ok(recorded) => {
                        if is_told(&recorded.event) {
                            line += 1;
                            let event = &recorded.event;
                            let text = short(&format!("{line:>4} {:<20} {event}", event.kind()));
                            match colour(event).filter(|_| colours) {
                                Some(colour) => println!("\u{1b}[{colour}m{text}\u{1b}[0m"),
                                None => println!("{text}"),
                            }
                        }
                        if is_told(&recorded.event) || matches!(recorded.event, Event::Resolved { .. }) {
                            open.told(&recorded.event);
                        }
                        sender.send_modify(|told| told.push(recorded));
                    }
                    Err(NoEvent::Missed(count)) => println!("     ({count} events were missed)"),
                    Err(NoEvent::Ended) => return,
                }
            }
        });
        Teller { told, others, task }
    }

    /// Returns a function that reports a line of another part of the program.
    pub(crate) fn noticed(&self) -> impl Fn() + Send + 'static {
        let others = self.others.clone();
        move || others.send_replace(())
    }

    /// Waits until an event is `wanted`. Earlier events count too.
    pub(crate) async fn until(&self, what: &str, wanted: impl Fn(&Event) -> bool) -> Result<()> {
        let mut told = self.told.clone();
        let seen = told.wait_for(|told| told.iter().any(|recorded| wanted(&recorded.event))).await;
        seen.map(drop).map_err(|_| format!("waited for {what}, and the engine ended").into())
    }

    /// Returns all events. Takes the last handle of the engine, so that nothing more can happen.
    pub(crate) async fn finish(self, engine: Engine) -> Vec<Event> {
        drop(engine);
        // The task ends with the engine. If the task failed, the events until then count.
        let _ = self.task.await;
        self.told.borrow().iter().map(|recorded| recorded.event.clone()).collect()
    }
}

/// Returns true for an event that has a line of its own. The content of the other events is in another line already.
/// Examples are the grant of an approval, and the permissions of a file that took effect.
fn is_told(event: &Event) -> bool {
    match event {
        Event::GrantIssued { grant } => !matches!(grant.origin, Origin::Config(_)),
        Event::Resolved { resolution, .. } => resolution.outcome != Outcome::Granted,
        other => {
            !matches!(other.kind(), "carrier.connected" | "carrier.disconnected" | "permission.routed" | "user.active")
        }
    }
}

/// Returns the colour of an event: green for a grant, red for a refusal or a loss, yellow for a question.
fn colour(event: &Event) -> Option<u8> {
    match event.kind() {
        "grant.issued" => Some(32),
        "grant.revoked" | "grant.expired" | "permission.refused" | "config.rejected" => Some(31),
        "permission.requested" | "permission.routed" => Some(33),
        "permission.resolved" | "config.reloaded" => Some(36),
        _ => None,
    }
}
