//! A long-running confined process. It waits for the start signal, runs, and ends by itself or on request.

use std::{
    io,
    os::fd::OwnedFd,
    os::unix::process::ExitStatusExt,
    process::ExitStatus,
    thread::{self, JoinHandle},
};

use rustix::{
    io::retry_on_intr,
    process::{
        Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, getpgid, kill_process_group, pidfd_open, pidfd_send_signal,
        waitid,
    },
};

use super::{
    Command, Limits, Profile, Sandbox, SandboxError,
    cgroup::Group,
    child::Running,
    denial_report::evidence,
    egress_proxy::EgressProxy,
    error::unavailable,
    output::Heard,
    read_only_paths::ReadOnlyPaths,
    run::{Plan, Standing, Stands, go},
};
use crate::model::{ProcessExit, SandboxFacts, SandboxViolation};

/// The most bytes that are kept of each stream, for the error of a sandbox that did not start. Callbacks receive the
/// whole stream.
const MOST_WORDS: usize = 4 << 10;

const NO_BUBBLEWRAP: &str = "a long-running process requires bubblewrap: with Landlock alone, its children would \
    continue after the engine is killed";

/// A process that is ready or running. Dropping it kills the process and all processes that it started.
pub(crate) struct Going {
    running: Running,
    stands: Stands,
    _group: Option<Group>,
    guards: ReadOnlyPaths,
    profile: Profile,
    command: Command,
    sandbox: Sandbox,
    leader: OwnedFd,
}

/// The result of a long-running process.
pub(crate) struct Gone {
    pub(crate) exit: ProcessExit,
    pub(crate) violations: Vec<SandboxViolation>,
}

impl Sandbox {
    /// Starts a confined process for `command`, which waits for the start signal.
    ///
    /// Call it on a thread that lives until the process is gone. The kernel kills the process when that thread ends.
    pub(crate) fn stand_up(
        &self,
        profile: &Profile,
        command: &Command,
        way: Option<OwnedFd>,
        input: OwnedFd,
        heard: [Heard; 2],
    ) -> Result<Going, SandboxError> {
        if self.backend() != "bubblewrap" {
            return Err(unavailable(NO_BUBBLEWRAP));
        }
        let words = profile.clone().limited(Limits { output: MOST_WORDS, ..profile.limits().clone() });
        let plan = Plan { sandbox: self, profile: &words, command, output: None };
        let Standing { guards, group, stands, running } = plan.stand(way, input, heard.map(Some))?;
        let pid = running.leader.ok_or_else(|| unavailable("the process is unknown"))?;
        let leader = pidfd_open(pid, PidfdFlags::empty())?;
        let (profile, command, sandbox) = (profile.clone(), command.clone(), self.clone());
        Ok(Going { running, stands, _group: group, guards, profile, command, sandbox, leader })
    }
}

impl Going {
    /// Returns the restrictions in force.
    pub(crate) fn facts(&self) -> &SandboxFacts {
        &self.stands.facts
    }

    /// Sends the start signal.
    pub(crate) fn go(&self) -> Result<(), SandboxError> {
        let Going { sandbox, profile, command, .. } = self;
        let plan = Plan { sandbox, profile, command, output: None };
        go(&self.running.control, &self.stands.started).map_err(|why| plan.naming_what_is_missing(why))
    }

    /// Calls `tell` when the process has ended by itself. The wait does not reap the process, so that its id stays
    /// reserved until [`Going::finish`].
    pub(crate) fn when_ended(&self, tell: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
        let pid = Pid::from_child(&self.running.child);
        let wait = move || {
            let _ = retry_on_intr(|| waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT));
            tell();
        };
        thread::Builder::new().name("bestow-process-end".into()).spawn(wait)
    }

    /// Asks the process group to end. It also continues a stopped process, so that the process can react. Processes
    /// that ignore the request are killed together with the leader.
    pub(crate) fn terminate(&self) {
        let Some(pid) = self.running.leader else { return };
        // The process descriptor always means this process. After the process is gone, its id may belong to another
        // one.
        let is_there = pidfd_send_signal(&self.leader, Signal::CONT).is_ok();
        // The process may end at this moment, together with its group.
        let _ = match is_there && getpgid(Some(pid)) == Ok(pid) {
            true => kill_process_group(pid, Signal::TERM),
            false => pidfd_send_signal(&self.leader, Signal::TERM),
        };
    }

    /// Kills all that is left of the process, and returns its result. `was_told` is true if the process was asked to
    /// end. `said` returns the end of its standard error.
    pub(crate) fn finish(
        mut self,
        ended: JoinHandle<()>,
        was_told: bool,
        said: &dyn Fn() -> Vec<u8>,
    ) -> io::Result<Gone> {
        self.running.kill();
        let _ = ended.join();
        let status = self.running.child.wait()?;
        for stream in [self.running.stdout.take(), self.running.stderr.take()].into_iter().flatten() {
            let _ = stream.join();
        }
        let reports = if !status.success() && !was_told { said() } else { Vec::new() };
        let refused = self.stands.way_out.as_ref().map(EgressProxy::refused_hosts).unwrap_or_default();
        let shown = evidence(&self.profile, &self.guards, &self.command.words, (&reports, refused));
        Ok(Gone { exit: exit(status, was_told), violations: shown.violations })
    }
}

/// Returns the exit of the process. bubblewrap reports a signal as a shell does: as an exit code above 128.
fn exit(status: ExitStatus, was_told: bool) -> ProcessExit {
    match (status.code(), status.signal()) {
        (Some(code), _) if was_told && code > 128 => ProcessExit::Signalled { signal: code - 128 },
        (Some(code), _) => ProcessExit::Exited { code },
        (None, signal) => ProcessExit::Signalled { signal: signal.unwrap_or(0) },
    }
}
