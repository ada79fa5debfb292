//! The control socket: a person, or a script of theirs, speaks to the engine that is running on a state directory.
//!
//! One line of JSON in, one out. Whoever is heard here stands for every owner. The socket lies in the state directory, which
//! is for its owner only, and the kernel says which process is at the other end: one of another user, or one that comes
//! from the engine's own process, as agents do, is not heard. Where no terminal shows that a person is there, an order that
//! changes something takes the secret of the person's surface besides. Nothing here decides what an order comes to: each is
//! one call of the library.

mod ancestry;
mod order;
mod peer;
mod process;
mod surfaces;
mod token;
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
    sync::Arc,
    thread,
};

use tokio::runtime::Handle;

use crate::{
    engine::{Engine, WeakEngine},
    model::Means,
    seam::{Disk as _, RealDisk},
};

pub use self::{
    order::{Held, InvalidHeld, Line, Order, Reply, Verdict, carry_out, carry_out_and_end},
    process::ProcessCall,
    surfaces::Surfaces,
};
use self::{peer::Admitted, token::Digest};

/// The name of the socket in the state directory.
const SOCKET: &str = "control";

/// Serves orders for `engine`, as long as it lives.
///
/// # Authority
///
/// Whoever is heard can answer for every owner.
pub(crate) fn serve(engine: &Engine, directory: &Path) -> io::Result<()> {
    // What this process's descendants leave behind comes back to it, and so nothing of an agent gets out from below it.
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let secret = Digest::in_directory(directory)?;
    let socket = Socket::in_directory(directory)?;
    match std::fs::remove_file(&socket.path) {
        // Left by a process that was killed: the lock says that it is gone.
        Ok(()) => {}
        Err(why) if why.kind() == io::ErrorKind::NotFound => {}
        Err(why) => return Err(why),
    }
    let listener = UnixListener::bind(&socket.path)?;
    std::fs::set_permissions(&socket.path, std::fs::Permissions::from_mode(0o600))?;
    let served = Served { engine: engine.downgrade(), surfaces: engine.surfaces(), secret, runtime: Handle::current() };
    end_with(engine, directory.to_owned());
    let served = Arc::new(served);
    thread::Builder::new().name("bestow-control".to_owned()).spawn(move || listen(&listener, &served))?;
    Ok(())
}

/// Gives `order` to the engine that runs on `directory`; none if none runs there.
///
/// # Errors
///
/// If there is one and it cannot be understood, or somebody else may have written the directory.
pub fn send(directory: impl AsRef<Path>, order: &Order) -> io::Result<Option<Reply>> {
    sent(directory.as_ref(), order, None)
}

/// Gives `order` from where no terminal is, with the secret of the person's surface (`approver-token` in the state
/// directory, unless its owner moved it).
///
/// # Errors
///
/// As [`send`].
pub fn send_with_token(directory: impl AsRef<Path>, order: &Order, token: &str) -> io::Result<Option<Reply>> {
    sent(directory.as_ref(), order, Some(token))
}

fn sent(directory: &Path, order: &Order, token: Option<&str>) -> io::Result<Option<Reply>> {
    // Somebody else's engine would say what they want it to.
    RealDisk.refuse_others(directory)?;
    let socket = Socket::in_directory(directory)?;
    match UnixStream::connect(&socket.path) {
        Ok(stream) => wire::ask(&stream, order, token).map(Some),
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

/// What each conversation needs.
struct Served {
    engine: WeakEngine,
    surfaces: Surfaces,
    secret: Digest,
    runtime: Handle,
}

impl Served {
    /// Carries out what the process at the other end orders, if it may.
    fn carry_out(&self, stream: &UnixStream, order: Order, token: Option<&str>) -> Reply {
        let Some(engine) = self.engine.upgrade() else { return Reply::Failed("the engine has ended".to_owned()) };
        match self.admitted(stream, &order, token) {
            Ok(means) => self.runtime.block_on(order::carry_out_through(&engine, order, means)),
            Err(why) => {
                let (called, claims) = order.told();
                // Where the engine has ended, or nothing can be stored, the answer is no all the same.
                drop(engine.peer_refused(peer::named(stream), called, claims.cloned(), why.as_str().into()));
                Reply::Refused(why)
            }
        }
    }

    /// Through what the person speaks; why nobody is heard, if so.
    fn admitted(&self, stream: &UnixStream, order: &Order, token: Option<&str>) -> Result<Means, String> {
        let by = peer::admit(stream, &self.surfaces).map_err(|why| why.to_string())?;
        if order.changes() && !self.is_attended(&by, token) {
            return Err(NO_TERMINAL.to_owned());
        }
        Ok(by.means)
    }

    fn is_attended(&self, by: &Admitted, token: Option<&str>) -> bool {
        match token {
            Some(token) => self.secret.is_of(token),
            None => by.is_attended,
        }
    }
}

/// Why nobody is heard who sits at no terminal.
const NO_TERMINAL: &str = "no terminal shows that a person says this, and the secret of a person's surface is missing or \
                           another: say it at a terminal, or with `--token-file` and the file `approver-token` of the \
                           state directory";

fn listen(listener: &UnixListener, served: &Arc<Served>) {
    for stream in listener.incoming() {
        if !served.engine.upgrade().is_some_and(|engine| engine.is_open()) {
            return;
        }
        let (Ok(stream), served) = (stream, Arc::clone(served)) else { continue };
        // One order takes no longer than the disk; whoever holds the line open holds up nobody else.
        let answer =
            move || drop(wire::answer(&stream, |order, token| served.carry_out(&stream, order, token.as_deref())));
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
