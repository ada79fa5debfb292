//! The conversation of a bot in Rust: it writes lines, reads lines, and keeps messages for later.

use std::{
    collections::VecDeque,
    error::Error,
    fs,
    io::{self, Write},
    path::Path,
};

use bestow::{
    Permission,
    stdio::{AgentHello, FromAgent, MessageFromAgent, ToAgent, UsePermission},
};

pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// One agent's side of the conversation.
pub(crate) struct Talk {
    lines: io::Lines<io::StdinLock<'static>>,
    /// The messages that arrived while the bot waited for another one.
    kept: VecDeque<ToAgent>,
}

impl Talk {
    /// Begins the conversation. Also returns the greeting of the engine.
    pub(crate) fn begin() -> Result<(AgentHello, Talk)> {
        let mut talk = Talk { lines: io::stdin().lines(), kept: VecDeque::new() };
        let hello = talk.until(|heard| if let ToAgent::Hello(hello) = heard { Some(hello.clone()) } else { None })?;
        Ok((hello, talk))
    }

    pub(crate) fn say(&self, message: &FromAgent) -> Result<()> {
        let mut out = io::stdout().lock();
        serde_json::to_writer(&mut out, message)?;
        out.write_all(b"\n")?;
        Ok(out.flush()?)
    }

    pub(crate) fn tell(&self, to: Option<&str>, text: &str) -> Result<()> {
        let agent_id = to.map(str::parse).transpose()?;
        self.say(&FromAgent::Message(MessageFromAgent { agent_id, text: text.to_owned(), request_id: None }))
    }

    /// Returns the first message that is `wanted`. The other messages are kept for later calls.
    pub(crate) fn until<T>(&mut self, wanted: impl Fn(&ToAgent) -> Option<T>) -> Result<T> {
        if let Some(place) = self.kept.iter().position(|heard| wanted(heard).is_some())
            && let Some(found) = self.kept.remove(place).as_ref().and_then(&wanted)
        {
            return Ok(found);
        }
        loop {
            let line = self.lines.next().ok_or("the engine is gone")??;
            // A message of a newer protocol is ignored.
            let Ok(heard) = serde_json::from_str::<ToAgent>(&line) else { continue };
            if let Some(found) = wanted(&heard) {
                return Ok(found);
            }
            if let ToAgent::Bye(_) = heard {
                return Err("the engine said goodbye".into());
            }
            self.kept.push_back(heard);
        }
    }

    /// Waits for a message of `agent`.
    pub(crate) fn told_by(&mut self, agent: Option<&str>) -> Result<String> {
        self.until(|heard| match heard {
            ToAgent::Message(message) if message.agent_id.as_ref().map(|id| id.as_str()) == agent => {
                Some(message.text.clone())
            }
            _ => None,
        })
    }

    /// Waits for the answer to the line with `request_id`: success, or the reason for a refusal.
    pub(crate) fn answer<T>(
        &mut self,
        request_id: &str,
        done: impl Fn(&ToAgent) -> Option<T>,
    ) -> Result<std::result::Result<T, String>> {
        self.until(|heard| match heard {
            ToAgent::Error(fault) if fault.request_id.as_deref() == Some(request_id) => {
                Some(Err(fault.message.clone()))
            }
            heard => done(heard).map(Ok),
        })
    }

    /// Writes a file if the engine allows it now. Otherwise returns the reason.
    pub(crate) fn write(&mut self, path: &Path, text: &str) -> Result<std::result::Result<(), String>> {
        let name = path.to_str().ok_or("a path that is no text")?;
        let (permission, id) = (Permission::write(name.parse()?), format!("write {name}"));
        self.say(&FromAgent::UsePermission(UsePermission { permission, request_id: Some(id.clone()) }))?;
        let may = self.answer(&id, |heard| match heard {
            ToAgent::UseResult(result) if result.request_id.as_ref() == Some(&id) => Some(()),
            _ => None,
        })?;
        if may.is_ok() {
            fs::create_dir_all(path.parent().ok_or("a path without a directory")?)?;
            fs::write(path, text)?;
        }
        Ok(may)
    }
}
