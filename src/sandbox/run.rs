//! The execution of a command under a profile.

use std::{
    collections::BTreeMap,
    io,
    os::{
        fd::{AsFd, OwnedFd},
        unix::{
            ffi::{OsStrExt, OsStringExt},
            net::UnixStream,
            process::ExitStatusExt,
        },
    },
    path::{Path, PathBuf},
    thread,
};

use crate::sha256::Sha256;
use rustix::process::Pid;

use super::{
    Command, Finished, Guard, HELPER_WORD, Output, Profile, ProfileError, SandboxError, Stream,
    bubblewrap::{self, Bubblewrap, Starts},
    cancellation::{Over, Watched, watched},
    cgroup::{ControlGroups, Group},
    child::{Running, TO_STAND},
    denial_report::{Evidence, evidence},
    egress_proxy::{self, EgressProxy},
    error::unavailable,
    handshake::{HelperMessage, Spec, receive, say_go, send},
    helper::{can_enter, nothing},
    keeper::KEEPER_WORD,
    lacking::{Lacking, lacking},
    limits::CountedBy,
    mounts::Mount,
    output::Heard,
    own_mounts::{Own, OwnMount, roots, split},
    read_only_paths::ReadOnlyPaths,
    status::{Status, has_a_network_of_its_own, reaches, sees},
    streams::may_be_inherited,
    trusted::{is_our_own, is_written},
    unsupported::missing,
};
use crate::model::{FileIdentity, Limits, SandboxFacts, SanitizedPath};

/// The remedy for a program that is its own helper and does not become it.
const ENTER_FIRST: &str = "its `main` has to begin with `bestow::sandbox::enter_if_asked()`, before any thread or \
    runtime starts, and to return the exit code if there is one (docs/sandbox.md)";

/// The most attempts at a start while other processes change guarded paths.
const ATTEMPTS: usize = 3;

/// A runner of commands under profiles. It consists of a helper, and of bubblewrap if that is installed.
#[derive(Clone, Debug)]
pub struct Sandbox {
    helper: PathBuf,
    bubblewrap: Option<Bubblewrap>,
    uses_groups: bool,
    landlock_at_most: Option<u32>,
}

impl Sandbox {
    /// Finds the helper `bestow` beside this program or on `PATH`, and bubblewrap in `/usr/bin` or on `PATH`.
    ///
    /// # Errors
    ///
    /// Returns [`SandboxError::Unavailable`] if there is no helper.
    pub fn find() -> Result<Sandbox, SandboxError> {
        let here = std::env::current_exe().ok().and_then(|this| Some(this.parent()?.join("bestow")));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let others = std::env::split_paths(&path).filter(|dir| dir.is_absolute()).map(|dir| dir.join("bestow"));
        // A user who can replace a file beside this program can replace this program too.
        let beside = here.filter(|path| path.is_file());
        let helper = beside.or_else(|| others.into_iter().find(|path| is_our_own(path)));
        let helper = helper.ok_or_else(|| {
            unavailable(
                "the helper `bestow` was not found: it must be in the directory of this program, or in a \
                directory on PATH that no other user can write",
            )
        })?;
        Ok(Sandbox::with_helper(helper))
    }

    /// Creates a sandbox with this binary `bestow` as the helper.
    pub fn with_helper(helper: impl Into<PathBuf>) -> Sandbox {
        Sandbox { helper: helper.into(), bubblewrap: Bubblewrap::find(), uses_groups: true, landlock_at_most: None }
    }

    /// Creates a sandbox with this program as its own helper. The `main` of this program must begin with
    /// [`enter_if_asked`](super::enter_if_asked).
    ///
    /// # Errors
    ///
    /// [`SandboxError::Unavailable`] if `main` did not call [`enter_if_asked`](super::enter_if_asked);
    /// [`SandboxError::Io`] if the system does not tell the path of this program.
    pub fn with_this_program() -> Result<Sandbox, SandboxError> {
        if !can_enter() {
            return Err(unavailable(&format!("this program cannot be its own helper: {ENTER_FIRST}")));
        }
        Ok(Sandbox::with_helper(std::env::current_exe()?))
    }

    /// Returns the sandbox without bubblewrap. It then uses only Landlock and seccomp, and can enforce fewer profiles.
    #[must_use]
    pub fn without_bubblewrap(self) -> Sandbox {
        Sandbox { bubblewrap: None, ..self }
    }

    /// Returns the sandbox without control groups. It then limits the memory of each process only, and refuses
    /// `total_memory`.
    #[must_use]
    pub fn without_control_groups(self) -> Sandbox {
        Sandbox { uses_groups: false, ..self }
    }

    /// Returns the sandbox as on a kernel with this Landlock version, for tests.
    #[doc(hidden)]
    #[must_use]
    pub fn with_landlock_at_most(self, version: u32) -> Sandbox {
        Sandbox { landlock_at_most: Some(version), ..self }
    }

    /// Returns the name of the back end: `bubblewrap` or `landlock`.
    pub fn backend(&self) -> &'static str {
        if self.bubblewrap.is_some() { "bubblewrap" } else { "landlock" }
    }

    /// Lists the parts of `profile` that cannot be enforced here. If the list is empty, a command can run.
    pub fn cannot_enforce(&self, profile: &Profile) -> Vec<String> {
        let is_this = std::env::current_exe().is_ok_and(|this| this == self.helper);
        let helper = Some(&self.helper).filter(|_| !is_this);
        let programs = helper.into_iter().chain(self.bubblewrap.as_ref().map(|bubblewrap| &bubblewrap.path));
        let written = programs.filter_map(|program| is_written(program, profile));
        missing(profile, self.bubblewrap.is_some(), &self.groups()).into_iter().chain(written).collect()
    }

    /// Returns the control groups that this sandbox can make.
    fn groups(&self) -> ControlGroups {
        if self.uses_groups { ControlGroups::here() } else { ControlGroups::default() }
    }

    /// Makes the control group of a command. There is none if this machine does not offer groups and no limit asks for
    /// one.
    pub(super) fn group(&self, profile: &Profile) -> Result<Option<Group>, SandboxError> {
        match self.groups().make(&profile.limits.of_group()) {
            Ok(group) => Ok(group),
            Err(why) if profile.limits.asks_for_a_group() => {
                Err(unavailable(&format!("the limits `total_memory` and `processes` need a control group: {why}")))
            }
            Err(_) => Ok(None),
        }
    }

    /// Runs `command` under `profile` on this thread, and waits for its end.
    ///
    /// # Errors
    ///
    /// On an error, no part of the command has run. [`SandboxError::Unavailable`] names the parts that cannot be
    /// enforced.
    pub fn run(&self, profile: &Profile, command: &Command) -> Result<Finished, SandboxError> {
        let (_wanted, watched) = watched();
        self.run_with(profile, command, None, &watched, |_| Ok(()))
    }

    /// Runs a command with an optional connection to the engine, until the caller cancels it. The command starts only
    /// if `ready` accepts the restrictions in force.
    pub(crate) fn run_with<E: From<SandboxError>>(
        &self,
        profile: &Profile,
        command: &Command,
        way: Option<OwnedFd>,
        watched: &Watched,
        ready: impl FnOnce(&SandboxFacts) -> Result<(), E>,
    ) -> Result<Finished, E> {
        may_be_inherited(command)?;
        let output = (command.output == Stream::Captured).then_some(profile.limits.output);
        let plan = Plan { sandbox: self, profile, command, output };
        let input = match command.input {
            Stream::Inherit => io::stdin().as_fd().try_clone_to_owned().map_err(SandboxError::from)?,
            Stream::Nothing | Stream::Captured => nothing().map_err(SandboxError::from)?,
        };
        // The guards are held until the command and all processes that it started are gone.
        let Standing { guards, group: _group, stands, mut running } = plan.stand(way, input, [None, None])?;
        let Stands { started, facts, way_out } = stands;
        if watched.is_unwanted() {
            return Err(SandboxError::NotStarted("the caller no longer waits for it".into()).into());
        }
        ready(&facts)?;
        go(&running.control, &started).map_err(|why| plan.naming_what_is_missing(why))?;
        let (status, over) = running.wait(profile.limits.time(), watched).map_err(SandboxError::from)?;
        let timed_out = over == Over::TimeIsUp;
        let (stdout, stderr) = (running.stdout.take(), running.stderr.take());
        let output = |stream: Option<thread::JoinHandle<Output>>| {
            stream.and_then(|stream| stream.join().ok()).unwrap_or_default()
        };
        let (stdout, stderr) = (output(stdout), output(stderr));
        let failed = !status.success() && !timed_out;
        // What a successful command prints is no report of a failure.
        let reports = if failed { &*stderr.bytes } else { &[] };
        let refused = way_out.as_ref().map(EgressProxy::refused_hosts).unwrap_or_default();
        let Evidence { violations, is_possible: possible_sandbox_denial } =
            evidence(profile, &guards, &command.words, (reports, refused));
        // bubblewrap reports a signal as a shell does: as an exit code above 128.
        let told = status.code().filter(|code| *code > 128 && self.bubblewrap.is_some()).map(|code| code - 128);
        let signal = status.signal().or(told.filter(|_| timed_out));
        let code = status.code().filter(|_| !timed_out);
        Ok(Finished { code, signal, timed_out, stdout, stderr, facts, violations, possible_sandbox_denial })
    }

    /// Checks that all of `profile` can be enforced.
    fn can_enforce(&self, profile: &Profile, has_way: bool) -> Result<(), SandboxError> {
        let missing = self.cannot_enforce(profile);
        if !missing.is_empty() {
            return Err(SandboxError::Unavailable(missing));
        }
        if profile.events && !has_way {
            return Err(ProfileError::NoSocket.into());
        }
        Ok(())
    }

    /// Creates the guards of a run.
    fn guards(&self, profile: &Profile) -> Result<ReadOnlyPaths, SandboxError> {
        if self.bubblewrap.is_some() { ReadOnlyPaths::of(profile) } else { Ok(ReadOnlyPaths::default()) }
    }
}

/// Lets the helper become the command. The end of the `started` stream confirms this.
pub(super) fn go(control: &UnixStream, started: &UnixStream) -> Result<(), SandboxError> {
    say_go(control)?;
    match receive::<HelperMessage>(started)?.map(|told| told.message) {
        None => Ok(()),
        Some(HelperMessage::NotStarted(why) | HelperMessage::Changed(why) | HelperMessage::Unavailable(why)) => {
            Err(SandboxError::NotStarted(why))
        }
        Some(HelperMessage::Ready { .. }) => Err(SandboxError::NotStarted("the helper repeats itself".into())),
    }
}

/// The parts of one run.
pub(super) struct Plan<'a> {
    pub(super) sandbox: &'a Sandbox,
    pub(super) profile: &'a Profile,
    pub(super) command: &'a Command,
    /// The number of bytes of each captured stream that are kept, if that is a limit of this run.
    pub(super) output: Option<usize>,
}

/// A confined process that waits for the start signal.
pub(super) struct Stands {
    pub(super) started: UnixStream,
    pub(super) facts: SandboxFacts,
    pub(super) way_out: Option<EgressProxy>,
}

impl Plan<'_> {
    /// Improves a start error: if the program does not exist, the message says so.
    pub(super) fn naming_what_is_missing(&self, why: SandboxError) -> SandboxError {
        let SandboxError::NotStarted(said) = &why else { return why };
        let program = self.command.words.first().map(|word| word.to_string_lossy()).unwrap_or_default();
        let is_path = program.contains('/');
        // The helper, inside the sandbox, can only forward the message of the system.
        let is_missing = *said == io::Error::from(rustix::io::Errno::NOENT).to_string();
        let place = match self.command.environment.get("PATH").filter(|_| !is_path) {
            Some(path) => format!("the program is not on its PATH ({})", path.to_string_lossy()),
            None => format!("the program or its interpreter does not exist in `{}`", self.profile.cwd),
        };
        let reason = if is_missing { place } else { said.clone() };
        SandboxError::NotStarted(format!("`{program}`: {reason}"))
    }

    /// Builds the process that becomes the command: bubblewrap, which makes `mounts`, and then the helper.
    fn process(&self, mounts: &[(&Path, Mount)]) -> std::process::Command {
        let Sandbox { helper, bubblewrap, .. } = self.sandbox;
        let Some(bubblewrap) = bubblewrap else {
            let mut process = std::process::Command::new(helper);
            process.arg(KEEPER_WORD).arg(helper).arg(HELPER_WORD).env_clear();
            return process;
        };
        let mut process = std::process::Command::new(&bubblewrap.path);
        process.args(bubblewrap::words(self.profile, Starts::Helper, mounts.iter().copied()));
        process.arg(helper).arg(HELPER_WORD).env_clear();
        process
    }

    /// Starts the process, which waits for the specification.
    fn begin(&self, mounts: &[(&Path, Mount)]) -> Result<Running, SandboxError> {
        Running::start(self.process(mounts), self.command.output, self.sandbox.bubblewrap.is_none())
    }

    /// Starts a confined process that waits for the start signal. `heard` are the callbacks for its standard output and
    /// standard error.
    pub(super) fn stand(
        &self,
        way: Option<OwnedFd>,
        input: OwnedFd,
        heard: [Option<Heard>; 2],
    ) -> Result<Standing, SandboxError> {
        self.sandbox.can_enforce(self.profile, way.is_some())?;
        let mut standing = self.try_to_stand(way.as_ref(), &input);
        for _ in 1..ATTEMPTS {
            // Another process changed a guarded path between the search and the mount. So the search is repeated.
            if standing.as_ref().is_err_and(|not_stood| not_stood.is_changed) {
                standing = self.try_to_stand(way.as_ref(), &input);
            }
        }
        let mut standing = standing.map_err(|not_stood| not_stood.why)?;
        standing.running.listen(self.profile.limits.output, heard);
        Ok(standing)
    }

    fn try_to_stand(&self, way: Option<&OwnedFd>, input: &OwnedFd) -> Result<Standing, NotStood> {
        // bubblewrap needs time for its start. The search for the guards takes place meanwhile.
        let early =
            roots(self.profile).map(|mounts| self.begin(&mounts).map(|running| (mounts, running))).transpose()?;
        let guards = self.sandbox.guards(self.profile)?;
        let group = self.sandbox.group(self.profile)?;
        let split = split(&guards.mounts, self.profile).map_err(SandboxError::from)?;
        let is_plain = |mounts: &Vec<_>| self.sandbox.bubblewrap.is_none() || *mounts == split.of_bubblewrap;
        let mut running = match early {
            Some((mounts, running)) if is_plain(&mounts) => running,
            early => {
                drop(early);
                self.begin(&split.of_bubblewrap)?
            }
        };
        let plan = Confinement { plan: self, guards: &guards, group: group.as_ref() };
        match plan.confined(split.of_helper, way, input, &mut running) {
            Ok(stands) => Ok(Standing { guards, group, stands, running }),
            Err(NotStood { why, is_changed }) => Err(NotStood { why: running.not_stood(why), is_changed }),
        }
    }
}

/// A confined process that waits for the start signal, with its guards and its limits. The process ends before they do.
pub(super) struct Standing {
    pub(super) guards: ReadOnlyPaths,
    pub(super) group: Option<Group>,
    pub(super) stands: Stands,
    pub(super) running: Running,
}

/// The reason for which a process did not stand.
struct NotStood {
    why: SandboxError,
    /// True if a guarded path may have changed since the search.
    is_changed: bool,
}

impl From<SandboxError> for NotStood {
    fn from(why: SandboxError) -> NotStood {
        let is_changed = matches!(why, SandboxError::Profile(ProfileError::NotHeld(..)));
        NotStood { why, is_changed }
    }
}

/// The confinement of one process.
struct Confinement<'a> {
    plan: &'a Plan<'a>,
    guards: &'a ReadOnlyPaths,
    group: Option<&'a Group>,
}

impl Confinement<'_> {
    /// Sends the specification to the helper. After the helper is ready, this checks the process from outside.
    fn confined(
        &self,
        mounts: Vec<OwnMount>,
        way: Option<&OwnedFd>,
        input: &OwnedFd,
        running: &mut Running,
    ) -> Result<Stands, NotStood> {
        let spec = self.spec(mounts);
        let (started, helpers) = UnixStream::pair().map_err(SandboxError::from)?;
        started.set_read_timeout(Some(TO_STAND)).map_err(SandboxError::from)?;
        let control = &running.control;
        let fds = [Some(input.as_fd()), Some(helpers.as_fd()), way.map(OwnedFd::as_fd)];
        let said = send(control, &spec, &fds.into_iter().flatten().collect::<Vec<_>>());
        let told = said.and_then(|()| receive::<HelperMessage>(control));
        let told = told.map_err(|why| self.not_entered(&format!(": {why}")))?;
        let told = told.ok_or_else(|| self.not_entered(""))?;
        let (landlock, events) = match told.message {
            HelperMessage::Ready { landlock, events } => (landlock, events),
            HelperMessage::Changed(why) => return Err(NotStood { why: unavailable(&why), is_changed: true }),
            HelperMessage::Unavailable(why) | HelperMessage::NotStarted(why) => return Err(unavailable(&why).into()),
        };
        let pid = told.sender.ok_or_else(|| unavailable("the process is unknown"))?;
        running.leader = Some(pid);
        // The helper has confined itself and waits. It cannot write the files of its group.
        self.group.map_or(Ok(()), |group| group.enter(pid)).map_err(|why| unavailable(&why))?;
        let way_out = self.way_out(pid, told.fds)?;
        let status = Status::of(pid, spec.has_namespaces).map_err(|why| unavailable(&why))?;
        if self.plan.sandbox.bubblewrap.is_some() {
            let seen = sees(pid, &self.guards.mounts);
            seen.map_err(|why| NotStood { why: unavailable(&why), is_changed: true })?;
        }
        let events = events.zip(way);
        let socket = events.map(|(fd, way)| reaches(pid, fd, way)).transpose().map_err(|why| unavailable(&why))?;
        let facts = self.facts(&spec, landlock, pid, status, socket);
        Ok(Stands { started, facts, way_out })
    }

    /// The error for a helper that gave no answer, with the remedy if the helper is this program.
    fn not_entered(&self, why: &str) -> SandboxError {
        let helper = &self.plan.sandbox.helper;
        let is_this = std::env::current_exe().is_ok_and(|this| this == *helper);
        let remedy =
            if is_this { format!("; if `{}` is its own helper, {ENTER_FIRST}", helper.display()) } else { "".into() };
        unavailable(&format!("the sandbox could not be started{why}{remedy}"))
    }

    /// Starts the egress proxy at the listener that the helper opened in its network, if the profile needs one.
    fn way_out(&self, pid: Pid, doors: Vec<OwnedFd>) -> Result<Option<EgressProxy>, SandboxError> {
        match (self.plan.profile.is_kept_to_hosts(), doors.into_iter().next()) {
            (false, None) => Ok(None),
            (true, Some(door)) => {
                has_a_network_of_its_own(pid).map_err(|why| unavailable(&why))?;
                Ok(Some(EgressProxy::through(door, self.plan.profile.domains.clone())?))
            }
            (true, None) => Err(unavailable("the network has no proxy that could limit it to some hosts")),
            (false, Some(_)) => Err(unavailable("the network has a proxy that was not requested")),
        }
    }

    /// Returns the paths below which the command writes. A root that is hidden is replaced by the directories in it
    /// that stay open.
    fn write(&self) -> BTreeMap<SanitizedPath, FileIdentity> {
        let mut write = self.plan.profile.write.clone();
        for (root, open) in &self.guards.hidden_roots {
            write.remove(root);
            write.extend(open.clone());
        }
        write
    }

    fn limits(&self) -> Limits {
        self.plan.profile.limits.with_defaults(self.plan.sandbox.bubblewrap.is_some(), self.group)
    }

    fn spec(&self, mounts: Vec<OwnMount>) -> Spec {
        let bytes = |text: &std::ffi::OsString| text.clone().into_vec();
        let mut environment: BTreeMap<_, _> =
            self.plan.command.environment.iter().map(|(name, value)| (name.clone(), bytes(value))).collect();
        if self.plan.sandbox.bubblewrap.is_some() {
            // This file system belongs to the sandbox and disappears with it.
            environment.entry("TMPDIR".into()).or_insert_with(|| b"/dev/shm".to_vec());
        }
        if self.plan.profile.is_kept_to_hosts() {
            for name in egress_proxy::VARIABLES {
                environment.insert(name.into(), egress_proxy::ADDRESS.into());
            }
        }
        Spec {
            words: self.plan.command.words.iter().map(bytes).collect(),
            environment,
            cwd: self.plan.profile.cwd.clone(),
            write: self.write(),
            network: self.plan.profile.network,
            has_namespaces: self.plan.sandbox.bubblewrap.is_some(),
            mounts,
            own: Own::here(),
            limits: self.limits(),
            landlock_at_most: self.plan.sandbox.landlock_at_most,
            counted_by: CountedBy::of(self.plan.sandbox.bubblewrap.is_some(), self.group),
            events: self.plan.profile.events,
            door: self.plan.profile.is_kept_to_hosts(),
        }
    }

    fn facts(
        &self,
        spec: &Spec,
        landlock_abi: Option<u32>,
        pid: Pid,
        status: Status,
        socket: Option<String>,
    ) -> SandboxFacts {
        let version = self.plan.sandbox.bubblewrap.as_ref().map(|bubblewrap| bubblewrap.version.clone());
        let of_backend: &[&str] = if spec.has_namespaces {
            &[]
        } else {
            &["modes, owners, times and attributes of files cannot be changed", "no process leaves its process group"]
        };
        let not_enforced = lacking(&Lacking {
            has_namespaces: spec.has_namespaces,
            has_landlock: landlock_abi.is_some(),
            is_unguarded: self.plan.profile.guard == Guard::Nothing && !spec.write.is_empty(),
            counts_together: spec.counted_by == CountedBy::User && spec.limits.named().contains_key("processes"),
            is_missing_some: !self.guards.not_there.is_empty(),
        });
        SandboxFacts {
            mode: if spec.write.is_empty() { "read_only" } else { "workspace_write" }.into(),
            backend: self.plan.sandbox.backend().into(),
            backend_version: version.unwrap_or_else(|| landlock_abi.map_or("".into(), |abi| format!("abi {abi}"))),
            landlock_abi,
            cwd: spec.cwd.clone(),
            read_roots: vec![SanitizedPath::root()],
            write_roots: spec.write.keys().cloned().collect(),
            read_only: self.guards.read_only.clone(),
            hidden: self.guards.hidden.clone(),
            not_there: self.guards.not_there.clone(),
            network: spec.network,
            hosts: self.plan.profile.domains.iter().filter(|_| spec.door).map(ToString::to_string).collect(),
            unix_sockets: socket.into_iter().collect(),
            environment: spec.environment.keys().cloned().collect(),
            process_limits: spec.limits.in_force(self.plan.output),
            limited_by: spec.limits.limited_by(spec.counted_by),
            enforced: if not_enforced.is_empty() { SandboxFacts::FULL } else { SandboxFacts::PARTIAL }.into(),
            not_enforced,
            stricter: of_backend.iter().map(|what| (*what).to_owned()).chain(self.guards.stricter.clone()).collect(),
            pid: pid.as_raw_nonzero().get(),
            no_new_privs: status.no_new_privs,
            seccomp_filters: status.seccomp_filters,
            capabilities: status.capabilities,
            argv_digest: digest(&self.plan.command.words),
            violation_refs: Vec::new(),
        }
    }
}

fn digest(words: &[std::ffi::OsString]) -> String {
    let mut hash = Sha256::new();
    for word in words {
        hash.update(word.as_bytes());
        hash.update([0]);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
