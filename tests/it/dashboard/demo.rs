//! `bestow demo`, as a process of its own.
#![cfg(feature = "cli")]

use std::{
    io::{BufRead, BufReader, Read},
    process::{Child, ChildStdout, Command, Stdio},
    sync::Arc,
};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::{browser::Browser, stage::People};
use crate::support::BESTOW;

/// The demo, and a link to its dashboard.
pub(super) struct Demo {
    process: Child,
    pub(super) link: String,
    /// Its further output.
    _said: BufReader<ChildStdout>,
    _directory: TempDir,
}

impl Demo {
    pub(super) fn start() -> Demo {
        Demo::start_in(tempfile::tempdir().unwrap())
    }

    /// Starts the demo in an empty directory.
    pub(super) fn start_in(directory: TempDir) -> Demo {
        let place = directory.path().join("demo");
        let mut command = Command::new(BESTOW);
        command.args(["demo", "--print-link", "--listen", "127.0.0.1:0", "--dir"]).arg(&place);
        command.env("USER", "ann").stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().unwrap();
        let mut said = BufReader::new(process.stdout.take().unwrap());
        let mut lines = said.by_ref().lines().map_while(Result::ok);
        let link = lines.find(|line| line.contains("#link=")).expect("a link").trim().to_owned();
        lines.find(|line| line.starts_with("listening on")).expect("a server");
        Demo { process, link, _said: said, _directory: directory }
    }

    /// Opens the dashboard, and waits until the agents wait.
    pub(super) async fn opened(&self, people: &People) -> Arc<Browser> {
        let browser = people.dashboard(&self.link).await;
        browser.page().card("writer asks").is_there().await;
        browser.page().card("publisher wants to run").is_ready().await;
        browser
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.process), Signal::TERM);
        let _ = self.process.wait();
    }
}
