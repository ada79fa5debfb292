//! The questions that wait for you. A question is shown again when other lines have pushed it off the screen.

use std::time::Duration;

use bestow::{Event, request::RequestId};
use tokio::time::sleep;

/// The time without a new line after which a waiting question is shown again.
const QUIET: Duration = Duration::from_millis(400);

#[derive(Default)]
pub(crate) struct Open {
    /// Oldest first, as the console shows them.
    questions: Vec<(RequestId, String)>,
    /// True if a line was printed since the last question was shown.
    pushed_away: bool,
}

impl Open {
    pub(crate) fn told(&mut self, event: &Event) {
        match event {
            Event::Requested { request } => {
                self.pushed_away = !self.questions.is_empty();
                self.questions.push((request.id, request.to_string()));
            }
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

    /// Waits until no new lines appear, and returns a reminder of the waiting questions. Without a waiting question, it
    /// never returns.
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
