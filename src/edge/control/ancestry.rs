//! Processes, as the kernel tells them: where each comes from, and whether it is the one it was.

use std::{fs, io};

/// No chain of parents is longer.
const LONGEST: usize = 4096;

/// One process at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: u32,
    pub(super) parent: u32,
    /// A terminal controls it.
    pub(super) has_terminal: bool,
    /// In ticks since the machine started: tells it from another one with its number.
    pub(super) started: u64,
}

/// Where a process comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// From a process below the engine's, or it is that process, which `is_surface` knows.
    Surface,
    /// From the engine's process otherwise.
    Engine,
    /// From none of them.
    Elsewhere,
}

impl Process {
    /// The process with this number.
    pub(super) fn of(pid: u32) -> io::Result<Process> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
        // The name of the program stands between parentheses, and may hold anything.
        let fields: Vec<&str> = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace().collect();
        let number = |at: usize| -> io::Result<u64> {
            let number = fields.get(at).and_then(|field| field.parse().ok());
            number.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "`/proc` tells a process in another form"))
        };
        let parent = u32::try_from(number(1)?).map_err(io::Error::other)?;
        let has_terminal = fields.get(4).is_some_and(|terminal| *terminal != "0");
        Ok(Process { pid, parent, has_terminal, started: number(19)? })
    }

    /// Follows the parents of this process up to the engine's process, a surface, or the first of all.
    ///
    /// The engine adopts what its descendants leave behind (`PR_SET_CHILD_SUBREAPER`), so none of them gets out from
    /// below it by letting its parent end.
    pub(super) fn origin(self, engine: u32, is_surface: impl Fn(&Process) -> bool) -> io::Result<Origin> {
        let mut at = self;
        for _ in 0..LONGEST {
            if is_surface(&at) {
                return Ok(Origin::Surface);
            }
            if at.pid == engine {
                return Ok(Origin::Engine);
            }
            if at.parent == 0 {
                return Ok(Origin::Elsewhere);
            }
            let parent = Process::of(at.parent)?;
            // Still its parent: otherwise this may be another process, which has taken the number over.
            if Process::of(at.pid)? != at {
                return Err(io::Error::other("its parents changed while they were looked at"));
            }
            at = parent;
        }
        Err(io::Error::other("it has too many parents"))
    }
}
