//! The questions that wait for you, so that they can be recalled when other lines have pushed them away.

use std::time::Duration;

use bestow::{Event, request::RequestId};
use tokio::time::sleep;

/// The time without a new line after which a waiting question is shown again.
const QUIET: Duration = Duration::from_millis(400);

#[derive(Default)]
pub(crate) struct Open {
    /// Oldest first, as the console shows them.
    questions: Vec<(RequestId, String)>,
    /// Something was told since the last one was shown.
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

    /// Waits until it is quiet, and then says what waits; not before there is something to recall.
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
