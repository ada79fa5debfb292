//! The way of an answer to the engine.

use std::{path::PathBuf, thread};

use bestow::{
    control::{self, AdminCommand, Reply},
    request::RequestId,
    user::ApproverId,
};
use tokio::sync::mpsc::Sender;

use super::press::Verdict;

/// The person who answers, and the engine that is told.
#[derive(Clone, Debug)]
pub(super) struct Person {
    pub(super) state: PathBuf,
    pub(super) by: ApproverId,
    /// The secret of the engine, where there is no terminal.
    pub(super) token: Option<String>,
}

/// The request of an answer that was not accepted, and the reason.
pub(super) type NotAnswered = (RequestId, String);

impl Person {
    /// Sends an answer from a thread of its own. If the engine accepts it, the news of the engine tell.
    pub(super) fn answer(&self, verdict: Verdict, failed: Sender<NotAnswered>) {
        let person = self.clone();
        thread::spawn(move || {
            let request = verdict.request;
            if let Err(why) = person.send(verdict) {
                let _ = failed.blocking_send((request, format!("[{}] was not answered: {why}", request.code())));
            }
        });
    }

    fn send(&self, Verdict { request, approval, scope, feedback }: Verdict) -> Result<(), String> {
        let (request, by) = (request.to_string(), self.by.clone());
        let order = AdminCommand::Answer { request, verdict: approval, scope, feedback, by };
        let sent = match &self.token {
            Some(token) => control::send_with_token(&self.state, &order, token),
            None => control::send(&self.state, &order),
        };
        match sent {
            Ok(Some(Reply::Done(_))) => Ok(()),
            Ok(Some(Reply::Refused(why) | Reply::Failed(why))) => Err(why),
            Ok(Some(other)) => Err(format!("the answer has an unknown form, perhaps of another version: {other:?}")),
            Ok(None) => Err("the engine has ended".to_owned()),
            Err(why) => Err(why.to_string()),
        }
    }
}
