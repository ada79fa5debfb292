//! The control socket: a person, or a script of theirs, speaks to the engine that is running on a state directory.
//!
//! One line of JSON in, one out. Whoever can reach the socket stands for every owner: it lies in the state directory, which
//! is for its owner only. Nothing here decides: each order is one call of the library.

mod order;
mod process;
mod wire;

use std::{
    io,
    os::{
        fd::AsRawFd,
        unix::{
            fs::PermissionsExt,
            net::{UnixListener, UnixStream},
        },
    },
    path::{Path, PathBuf},
    thread,
};

use tokio::runtime::Handle;

use crate::{
    engine::{Engine, WeakEngine},
    seam::{Disk as _, RealDisk},
};

pub use self::order::{Held, InvalidHeld, Line, Order, Reply, Verdict, carry_out, carry_out_and_end};
pub use self::process::ProcessCall;

/// The name of the socket in the state directory.
const SOCKET: &str = "control";

/// Serves orders for `engine`, as long as it lives.
///
/// # Authority
///
/// Whoever can connect can answer for every owner.
pub(crate) fn serve(engine: &Engine, directory: &Path) -> io::Result<()> {
    let socket = Socket::in_directory(directory)?;
    match std::fs::remove_file(&socket.path) {
        // Left by a process that was killed: the lock says that it is gone.
        Ok(()) => {}
        Err(why) if why.kind() == io::ErrorKind::NotFound => {}
        Err(why) => return Err(why),
    }
    let listener = UnixListener::bind(&socket.path)?;
    std::fs::set_permissions(&socket.path, std::fs::Permissions::from_mode(0o600))?;
    let (weak, runtime) = (engine.downgrade(), Handle::current());
    end_with(engine, directory.to_owned());
    thread::Builder::new().name("bestow-control".to_owned()).spawn(move || listen(&listener, &weak, &runtime))?;
    Ok(())
}

/// Gives `order` to the engine that runs on `directory`; none if none runs there.
///
/// # Errors
///
/// If there is one and it cannot be understood, or somebody else may have written the directory.
pub fn send(directory: impl AsRef<Path>, order: &Order) -> io::Result<Option<Reply>> {
    // Somebody else's engine would say what they want it to.
    RealDisk.refuse_others(directory.as_ref())?;
    let socket = Socket::in_directory(directory.as_ref())?;
    match UnixStream::connect(&socket.path) {
        Ok(stream) => wire::ask(&stream, order).map(Some),
        Err(why) if matches!(why.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) => Ok(None),
        Err(why) => Err(why),
    }
}

/// Where the socket is, by a name that is short enough for one.
struct Socket {
    path: PathBuf,
    _directory: std::fs::File,
}

impl Socket {
    fn in_directory(directory: &Path) -> io::Result<Socket> {
        let opened = std::fs::File::open(directory)?;
        let short = PathBuf::from(format!("/proc/self/fd/{}", opened.as_raw_fd()));
        let held = if cfg!(target_os = "linux") { short } else { directory.to_owned() };
        Ok(Socket { path: held.join(SOCKET), _directory: opened })
    }
}

fn listen(listener: &UnixListener, engine: &WeakEngine, runtime: &Handle) {
    for stream in listener.incoming() {
        let Some(engine) = engine.upgrade().filter(Engine::is_open) else { return };
        let (Ok(stream), runtime) = (stream, runtime.clone()) else { continue };
        // One order takes no longer than the disk; whoever holds the line open holds up nobody else.
        let answer = move || drop(wire::answer(&stream, |order| runtime.block_on(order::carry_out(&engine, order))));
        // Without a thread for it the stream is closed, which whoever is at the other end sees.
        let _ = thread::Builder::new().name("bestow-control-order".to_owned()).spawn(answer);
    }
}

/// Lets the listener notice that the engine ended, and takes the socket away.
fn end_with(engine: &Engine, directory: PathBuf) {
    let mut events = engine.subscribe();
    tokio::spawn(async move {
        while events.next().await != Err(crate::engine::NoEvent::Ended) {}
        if let Ok(socket) = Socket::in_directory(&directory) {
            drop(UnixStream::connect(&socket.path));
            // Another engine may have put its own there by now; then it puts it there again when it is asked for.
            drop(std::fs::remove_file(&socket.path));
        }
    });
}
