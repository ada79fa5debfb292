//! The open prompts. They can be printed again after other lines have pushed them off the screen.

use std::time::Duration;

use bestow::{Event, RequestId};
use tokio::time::sleep;

/// The quiet time before a prompt is printed again.
const QUIET: Duration = Duration::from_millis(400);

#[derive(Default)]
pub(crate) struct Open {
    /// The prompts, oldest first, as the console shows them.
    questions: Vec<(RequestId, String)>,
    /// True if another line was printed after the prompt.
    pushed_away: bool,
}

impl Open {
    pub(crate) fn told(&mut self, event: &Event) {
        match event {
            Event::Requested { request } => {
                self.pushed_away = !self.questions.is_empty();
                self.questions.push((request.id, request.to_string()));
            }
            // The console shows the prompt together with this event.
            Event::Routed { .. } if self.questions.len() == 1 => {}
            Event::Resolved { resolution, .. } => {
                self.pushed_away = true;
                self.questions.retain(|(id, _)| *id != resolution.request);
            }
            _ => self.pushed_away = true,
        }
    }

    pub(crate) fn line(&mut self) {
        self.pushed_away = true;
    }

    /// Waits for a quiet moment, and returns a line about the open prompts. It waits forever if no prompt needs to be
    /// repeated.
    pub(crate) async fn recalled(&mut self) -> String {
        let Some((_, first)) = self.questions.first().filter(|_| self.pushed_away) else {
            return std::future::pending().await;
        };
        sleep(QUIET).await;
        self.pushed_away = false;
        let waits = if self.questions.len() == 1 { "question waits" } else { "questions wait" };
        format!("> ({} {waits}: {first})", self.questions.len())
    }
}
