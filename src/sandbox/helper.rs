//! The helper: a process that confines itself and then becomes the command.
//!
//! The helper is this program itself, or the binary `bestow`, started again with a special word. It restricts itself
//! with safe calls. The host could not make these calls safely between `fork` and `exec`.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs::File,
    io,
    net::TcpListener,
    os::{
        fd::{AsFd, AsRawFd, OwnedFd},
        unix::{
            ffi::{OsStrExt, OsStringExt},
            net::UnixStream,
            process::CommandExt,
        },
    },
    process::ExitCode,
    sync::atomic::{AtomicBool, Ordering},
};

use close_fds::CloseFdsBuilder;
use rustix::{
    io::{FdFlags, fcntl_dupfd_cloexec, fcntl_setfd},
    process::{Signal, set_parent_process_death_signal, setsid},
    stdio::{dup2_stdin, stdin},
    thread::{
        CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set, remove_capability_from_bounding_set,
        set_capabilities, set_no_new_privs,
    },
};

use super::{
    egress_proxy,
    events::EVENTS_FD,
    handshake::{HelperMessage, Spec, hear_go, receive, send},
    keeper::{KEEPER_WORD, keep},
    landlock_rules,
    own_mounts::{make, settle},
    seccomp,
};
use crate::model::SanitizedPath;

/// True once this program has called [`enter_if_asked`].
static CAN_ENTER: AtomicBool = AtomicBool::new(false);

/// The first argument of a program that is started as the helper.
pub const HELPER_WORD: &str = "sandbox-helper";

/// Becomes the helper if this program was started as one. The call then returns only if the command could not be
/// started.
///
/// Call it first in `main`, before any thread starts. If it returns a code, exit with that code. With such a `main`,
/// [`Sandbox::with_this_program`](super::Sandbox::with_this_program) works.
///
/// ```no_run
/// use std::process::ExitCode;
///
/// fn main() -> ExitCode {
///     if let Some(code) = bestow::sandbox::enter_if_asked() {
///         return code;
///     }
///     // The program itself begins here, with its runtime.
///     ExitCode::SUCCESS
/// }
/// ```
pub fn enter_if_asked() -> Option<ExitCode> {
    CAN_ENTER.store(true, Ordering::Relaxed);
    let mut words = std::env::args_os().skip(1);
    let word = words.next()?;
    // The host already has the error message. If the host has ended, the error has no reader.
    let _ = if word == HELPER_WORD {
        enter()
    } else if word == KEEPER_WORD {
        keep(words)
    } else {
        return None;
    };
    Some(ExitCode::from(126))
}

/// Returns true if this program can be its own helper, as far as it has shown.
pub(super) fn can_enter() -> bool {
    CAN_ENTER.load(Ordering::Relaxed)
}

fn enter() -> io::Result<()> {
    let control = UnixStream::from(fcntl_dupfd_cloexec(stdin(), 3)?);
    let Some(received) = receive::<Spec>(&control)? else { return Ok(()) };
    let spec = received.message;
    let mut fds = received.fds.into_iter();
    let (Some(input), Some(started)) = (fds.next(), fds.next().map(UnixStream::from)) else { return Ok(()) };
    let confined = confine(&spec, &input, fds.next());
    let (landlock, way, door) = match confined {
        Ok(confined) => confined,
        Err(refusal) => return send(&control, &refusal, &[]),
    };
    let events = way.as_ref().map(AsRawFd::as_raw_fd);
    send(&control, &HelperMessage::Ready { landlock, events }, &door.iter().map(AsFd::as_fd).collect::<Vec<_>>())?;
    // The host owns the listener now. No process in the sandbox listens at it.
    drop(door);
    hear_go(&control)?;
    let why = become_command(&spec, way.as_ref());
    send(&started, &HelperMessage::NotStarted(why.to_string()), &[])
}

type Confined = (Option<u32>, Option<OwnedFd>, Option<TcpListener>);

fn confine(spec: &Spec, input: &OwnedFd, way: Option<OwnedFd>) -> Result<Confined, HelperMessage> {
    if spec.events != way.is_some() {
        return Err("the socket of the engine was not received".to_owned().into());
    }
    // Descriptors that the parent of the host left open are closed at `exec`, known or unknown.
    CloseFdsBuilder::new().cloexecfrom(3);
    dup2_stdin(input).map_err(said("input"))?;
    if let Some(way) = &way {
        fcntl_setfd(way, FdFlags::empty()).map_err(said("the socket of the engine"))?;
    }
    if spec.has_namespaces {
        // The mounts come before any path is looked up. A directory that was opened earlier would still show the
        // content below a mount.
        make(&spec.mounts).map_err(HelperMessage::Changed)?;
        // A directory that its owner has closed can be entered only now.
        enter_directory(&spec.cwd)?;
        spec.limits.apply(spec.counted_by)?;
        settle()?;
        spec.own.enter_the_last_user_namespace()?;
    } else {
        // Without a process namespace, the host can only kill the whole process group. The filter keeps all processes
        // in that group.
        setsid().map_err(said("a session of its own"))?;
        set_parent_process_death_signal(Some(Signal::KILL)).map_err(said("dying with the host"))?;
        spec.limits.apply(spec.counted_by)?;
    }
    let door =
        spec.door.then(egress_proxy::door).transpose().map_err(|why| format!("the proxy of its network: {why}"))?;
    if !spec.has_namespaces {
        enter_directory(&spec.cwd)?;
    }
    drop_capabilities().map_err(said("dropping capabilities"))?;
    set_no_new_privs(true).map_err(said("no new privileges"))?;
    let landlock = landlock_rules::restrict(spec)?;
    let programs = seccomp::programs(spec.network, spec.has_namespaces).map_err(|why| format!("seccomp: {why}"))?;
    // The last program goes first, because it must not block the installation of the others.
    for program in programs.iter().rev() {
        seccompiler::apply_filter(program).map_err(|why| format!("seccomp: {why}"))?;
    }
    Ok((landlock, way, door))
}

fn enter_directory(cwd: &SanitizedPath) -> Result<(), String> {
    std::env::set_current_dir(cwd.as_path()).map_err(|why| format!("`{cwd}`: {why}"))
}

fn said(what: &'static str) -> impl Fn(rustix::io::Errno) -> String {
    move |why| format!("{what}: {why}")
}

/// Drops all capabilities for good. With an empty bounding set, not even a later program of the superuser regains one.
fn drop_capabilities() -> rustix::io::Result<()> {
    if capabilities(None)?.permitted.is_empty() {
        return Ok(());
    }
    clear_ambient_capability_set()?;
    for capability in CapabilitySet::all().iter() {
        // The kernel does not know this capability, so it does not need to be dropped.
        match remove_capability_from_bounding_set(capability) {
            Ok(()) | Err(rustix::io::Errno::INVAL) => {}
            Err(why) => return Err(why),
        }
    }
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
}

/// Executes the command. It returns only if that fails, with the reason.
fn become_command(spec: &Spec, way: Option<&OwnedFd>) -> io::Error {
    let mut words = spec.words.iter().map(|word| OsString::from_vec(word.clone()));
    let Some(program) = words.next() else { return io::Error::other("the command is missing") };
    let environment: BTreeMap<_, _> =
        spec.environment.iter().map(|(name, value)| (name, std::ffi::OsStr::from_bytes(value))).collect();
    let mut command = std::process::Command::new(program);
    command.args(words).env_clear().envs(environment);
    if let Some(way) = way {
        command.env(EVENTS_FD, way.as_raw_fd().to_string());
    }
    command.exec()
}

/// Opens an empty input.
pub(super) fn nothing() -> io::Result<OwnedFd> {
    File::open("/dev/null").map(OwnedFd::from)
}
