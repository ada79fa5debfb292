//! The console: shows each question in the terminal and reads your answer, or answers by a script.
//!
//! Its standard output belongs to the protocol, so it opens the terminal itself.

use std::{
    collections::VecDeque,
    fs::{File, OpenOptions},
    io::{self, BufRead, BufReader, Write},
    sync::mpsc,
    thread,
};

use bestow::{
    Permission,
    stdio::{Decision, FromConnector, MessageFromUser, PermissionDecision, PermissionRequest, ToConnector},
    text::{Escaped, Reason},
};

use super::{answer, talk::Result};

/// An input of the console.
enum Input {
    Heard(ToConnector),
    Typed(String),
    /// The person left: Ctrl-D, or the terminal is gone.
    Left,
    /// The engine is gone.
    End,
}

pub(crate) fn run(scripted: bool) -> Result<()> {
    let (inputs, input) = mpsc::channel();
    let typed = inputs.clone();
    let terminal = if scripted { None } else { OpenOptions::new().read(true).write(true).open("/dev/tty").ok() };
    if let Some(terminal) = &terminal {
        let keyboard = BufReader::new(terminal.try_clone()?).lines();
        thread::spawn(move || {
            for line in keyboard.map_while(io::Result::ok) {
                if typed.send(Input::Typed(line)).is_err() {
                    return;
                }
            }
            let _ = typed.send(Input::Left);
        });
    }
    thread::spawn(move || {
        for line in io::stdin().lines().map_while(io::Result::ok) {
            // A message of a newer protocol is ignored.
            if let Ok(heard) = serde_json::from_str(&line)
                && inputs.send(Input::Heard(heard)).is_err()
            {
                return;
            }
        }
        let _ = inputs.send(Input::End);
    });
    say(&FromConnector::Message(MessageFromUser {
        text: "build me a site, and check it".to_owned(),
        request_id: None,
    }))?;
    Console { terminal, waiting: VecDeque::new() }.run(&input)
}

struct Console {
    terminal: Option<File>,
    /// The questions, oldest first; the first one is on the screen.
    waiting: VecDeque<PermissionRequest>,
}

impl Console {
    fn run(mut self, input: &mpsc::Receiver<Input>) -> Result<()> {
        loop {
            match input.recv()? {
                Input::Heard(ToConnector::RequestPermission(question)) => self.asked(*question)?,
                Input::Heard(ToConnector::PermissionResolved(resolved)) => {
                    let shown =
                        self.waiting.front().is_some_and(|first| first.request_id == resolved.permission_request_id);
                    self.waiting.retain(|question| question.request_id != resolved.permission_request_id);
                    if shown {
                        self.show()?;
                    }
                }
                Input::Heard(ToConnector::Message(message)) => {
                    self.print(&format!("{} says: {}", message.agent_id, Escaped(&message.text)))?;
                }
                Input::Heard(ToConnector::Notice(notice)) => self.print(&notice.text)?,
                Input::Heard(ToConnector::Error(fault)) => self.print(&fault.message)?,
                Input::Heard(ToConnector::Bye(_)) | Input::End => return Ok(()),
                Input::Heard(_) => {}
                Input::Typed(line) => self.typed(&line)?,
                Input::Left => return self.print("you left: the console is closed, and nobody answers any more"),
            }
        }
    }

    fn asked(&mut self, question: PermissionRequest) -> Result<()> {
        if self.terminal.is_none() {
            let (decision, feedback) = scripted(&question);
            return decide(&question, decision, feedback.map(str::parse).transpose()?);
        }
        self.waiting.push_back(question);
        if self.waiting.len() == 1 { self.show() } else { Ok(()) }
    }

    fn show(&mut self) -> Result<()> {
        let Some(question) = self.waiting.front() else { return Ok(()) };
        let text = format!("\n  {}\n  {}", question.prompt, answer::CHOICE);
        self.print(&text)
    }

    fn typed(&mut self, line: &str) -> Result<()> {
        let Some(question) = self.waiting.front() else { return Ok(()) };
        let Some((decision, words)) = answer::understood(line) else {
            self.print(&format!("  {}", answer::UNCLEAR))?;
            return self.show();
        };
        match words.map(str::parse::<Reason>).transpose() {
            Ok(feedback) => decide(question, decision, feedback),
            Err(why) => {
                self.print(&format!("  {why}"))?;
                self.show()
            }
        }
    }

    fn print(&mut self, text: &str) -> Result<()> {
        match &mut self.terminal {
            Some(terminal) => writeln!(terminal, "{text}")?,
            None => eprintln!("{text}"),
        }
        Ok(())
    }
}

/// Returns the answer of the script: yes to files, no to the network.
fn scripted(question: &PermissionRequest) -> (Decision, Option<&'static str>) {
    if question.permissions.contains(&Permission::Network) {
        (Decision::Deny, Some("no network for this one, use what you know"))
    } else {
        (Decision::AllowSession, None)
    }
}

fn decide(question: &PermissionRequest, decision: Decision, feedback: Option<Reason>) -> Result<()> {
    say(&FromConnector::PermissionDecision(PermissionDecision {
        run_id: Some(question.run_id.clone()),
        permission_request_id: question.request_id.to_string(),
        decision,
        permissions: None,
        scope: None,
        feedback,
        modified_input: None,
        request_id: None,
    }))
}

fn say(message: &FromConnector) -> Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, message)?;
    out.write_all(b"\n")?;
    Ok(out.flush()?)
}
