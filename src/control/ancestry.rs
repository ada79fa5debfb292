//! The processes of the system, as the kernel reports them: the origin of a process, and the check that its number was
//! not reused.

use std::{fs, io};

/// The maximum length of a chain of parents.
const LONGEST: usize = 4096;

/// One process at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: u32,
    pub(super) parent: u32,
    /// True if a terminal controls the process.
    pub(super) has_terminal: bool,
    /// The start time in ticks since the machine started. It distinguishes the process from a later one with the same
    /// number.
    pub(super) started: u64,
}

/// The origin of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The process is a surface that `is_surface` accepts, or descends from one.
    Surface,
    /// The process is the engine's process, or descends from it otherwise.
    Engine,
    /// The process descends from neither.
    Elsewhere,
}

impl Process {
    /// Reads the process with this number.
    pub(super) fn of(pid: u32) -> io::Result<Process> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
        // The name of the program is between parentheses, and may contain any character.
        let fields: Vec<&str> = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace().collect();
        let number = |at: usize| -> io::Result<u64> {
            let number = fields.get(at).and_then(|field| field.parse().ok());
            number.ok_or_else(|| {
                io::Error::new(io::ErrorKind::InvalidData, "`/proc` describes a process in an unknown form")
            })
        };
        let parent = u32::try_from(number(1)?).map_err(io::Error::other)?;
        let has_terminal = fields.get(4).is_some_and(|terminal| *terminal != "0");
        Ok(Process { pid, parent, has_terminal, started: number(19)? })
    }

    /// Follows the parents of this process up to the engine's process, a surface, or the first process of the system.
    ///
    /// The engine adopts the orphans of its descendants (`PR_SET_CHILD_SUBREAPER`). So no descendant leaves the
    /// engine's subtree when its parent ends.
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
            // The process must still have this parent. Otherwise the parent's number may belong to another process by
            // now.
            if Process::of(at.pid)? != at {
                return Err(io::Error::other("its parent processes changed during the check"));
            }
            at = parent;
        }
        Err(io::Error::other("it has too many parent processes"))
    }
}
