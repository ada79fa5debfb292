//! The way of an answer to the engine.

use std::{path::PathBuf, thread};

use bestow::{
    control::{self, AdminCommand, Line, Reply},
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

/// The judgement of another command: the request, the command, and the words of the engine or its refusal.
pub(super) type Judged = (RequestId, String, Result<String, String>);

impl Person {
    /// Sends an answer from a thread of its own. If the engine accepts it, the news of the engine tell.
    pub(super) fn answer(&self, verdict: Verdict, failed: Sender<NotAnswered>) {
        let person = self.clone();
        thread::spawn(move || {
            let request = verdict.request;
            if let Err(why) = person.send_verdict(verdict) {
                let _ = failed.blocking_send((request, format!("[{}] was not answered: {why}", request.code())));
            }
        });
    }

    /// Asks the engine from a thread of its own how it judges another command.
    pub(super) fn judge(&self, request: RequestId, command: String, judged: Sender<Judged>) {
        let person = self.clone();
        thread::spawn(move || {
            let order = AdminCommand::Judge { request: request.to_string(), instead: command.clone() };
            let said = person.send(&order);
            let words = said.map(|lines| lines.iter().map(|line| line.text.clone()).collect::<Vec<_>>().join(" "));
            let _ = judged.blocking_send((request, command, words));
        });
    }

    fn send_verdict(&self, verdict: Verdict) -> Result<(), String> {
        let Verdict { request, approval, scope, feedback, permissions, instead } = verdict;
        let (request, by) = (request.to_string(), self.by.clone());
        let order = AdminCommand::Answer { request, verdict: approval, scope, feedback, permissions, instead, by };
        self.send(&order).map(drop)
    }

    fn send(&self, order: &AdminCommand) -> Result<Vec<Line>, String> {
        let sent = match &self.token {
            Some(token) => control::send_with_token(&self.state, order, token),
            None => control::send(&self.state, order),
        };
        match sent {
            Ok(Some(Reply::Done(lines))) => Ok(lines),
            Ok(Some(Reply::Refused(why) | Reply::Failed(why))) => Err(why),
            Ok(Some(other)) => Err(format!("the answer has an unknown form, perhaps of another version: {other:?}")),
            Ok(None) => Err("the engine has ended".to_owned()),
            Err(why) => Err(why.to_string()),
        }
    }
}
