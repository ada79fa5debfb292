//! The control socket: a person, or a script of that person, sends orders to the engine that runs on a state directory.
//!
//! Each order is one line of JSON, and so is each reply. Only [`AdminCommand::Follow`] has several replies. An admitted
//! sender acts for every owner. The socket is in the state directory, which only its owner can use. The kernel reports
//! which process is at the other end. A process of another user is refused. So is a process that descends from the
//! engine's own process, as agents do. Without a terminal that shows a person's presence, an order that changes
//! something also needs the secret of the person's surface. This module decides nothing about the content of an order:
//! each order is one call of the library.

mod admin;
mod admission;
mod ancestry;
mod answer;
mod follow;
mod held;
mod modified;
mod news;
mod orders;
mod presence;
mod process;
mod reply;
mod surfaces;
mod token;
mod wire;

use std::{
    io::{self, BufReader},
    net::Shutdown,
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::{
            fs::{MetadataExt, PermissionsExt},
            net::{UnixListener, UnixStream},
        },
    },
    path::{Path, PathBuf},
    sync::Arc,
    thread,
};

use tokio::{runtime::Handle, sync::oneshot};

use crate::{
    engine::{Engine, WeakEngine},
    model::{ApproverId, Means, RequestId},
    ports::{Disk as _, RealDisk},
};

use self::token::Digest;
#[doc(hidden)]
pub use self::wire::control_hears;
pub use self::{
    admin::{AdminCommand, carry_out, carry_out_and_end},
    answer::Approval,
    follow::Following,
    held::{GrantOrDecisionId, InvalidHeld},
    news::{CommandPart, RequestNews, WaitingRequest},
    orders::Admin,
    process::ProcessCall,
    reply::{Line, Reply},
    surfaces::Surfaces,
};

/// The name of the socket in the state directory.
const SOCKET: &str = "control";

/// Serves orders for `engine`, as long as it lives.
///
/// # Authority
///
/// An admitted sender can answer for every owner.
pub(crate) fn serve(engine: &Engine, directory: &Path) -> io::Result<()> {
    // Orphans of this process's descendants become its children. So no process of an agent leaves the engine's subtree.
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let secret = Digest::in_directory(directory)?;
    let socket = Socket::in_directory(directory)?;
    match std::fs::remove_file(&socket.path) {
        // The file is left over from a process that was killed: the lock shows that it is gone.
        Ok(()) => {}
        Err(why) if why.kind() == io::ErrorKind::NotFound => {}
        Err(why) => return Err(why),
    }
    let listener = UnixListener::bind(&socket.path)?;
    std::fs::set_permissions(&socket.path, std::fs::Permissions::from_mode(0o600))?;
    let served = Served { engine: engine.downgrade(), surfaces: engine.surfaces(), secret, runtime: Handle::current() };
    let own = Bound { waker: UnixStream::from(OwnedFd::from(listener.try_clone()?)), inode: inode(&socket.path)? };
    end_with(engine, directory.to_owned(), own);
    let served = Arc::new(served);
    thread::Builder::new().name("bestow-control".to_owned()).spawn(move || listen(&listener, &served))?;
    Ok(())
}

/// Sends `order` to the engine that runs on `directory`. Returns `None` if no engine runs there.
///
/// # Errors
///
/// An I/O error if the engine's reply cannot be read, or if another user may have written the directory.
pub fn send(directory: impl AsRef<Path>, order: &AdminCommand) -> io::Result<Option<Reply>> {
    sent(directory.as_ref(), order, None)
}

/// Sends `order` from a place without a terminal, with the secret of the person's surface (`approver-token` in the
/// state directory, unless its owner moved it).
///
/// # Errors
///
/// The errors of [`send`].
pub fn send_with_token(directory: impl AsRef<Path>, order: &AdminCommand, token: &str) -> io::Result<Option<Reply>> {
    sent(directory.as_ref(), order, Some(token))
}

/// Returns true if an engine takes orders for `directory`.
///
/// # Errors
///
/// The errors of [`send`].
pub fn is_served(directory: impl AsRef<Path>) -> io::Result<bool> {
    Ok(connected(directory.as_ref())?.is_some())
}

/// Creates the secret of the person's surface in `directory`, as an engine does when it starts. An existing one stays.
///
/// # Errors
///
/// An I/O error if it cannot be written.
pub fn create_secret(directory: impl AsRef<Path>) -> io::Result<()> {
    Digest::in_directory(directory.as_ref()).map(drop)
}

/// Returns the refusal of an order of this process to a directory where no engine runs, or none if it may be carried
/// out: an order that changes something needs what a running engine asks for, a terminal or the secret.
///
/// # Errors
///
/// An I/O error if the secret of the directory cannot be read or created.
pub fn refusal_of_own(
    directory: impl AsRef<Path>,
    order: &AdminCommand,
    token: Option<&str>,
) -> io::Result<Option<Reply>> {
    if !order.changes() {
        return Ok(None);
    }
    let secret = Digest::in_directory(directory.as_ref())?;
    let is_verified = secret.verifies(token, admission::has_own_terminal());
    Ok((!is_verified).then(|| Reply::Refused(NO_TERMINAL.to_owned())))
}

fn sent(directory: &Path, order: &AdminCommand, token: Option<&str>) -> io::Result<Option<Reply>> {
    let Some(stream) = send_order(directory, order, token)? else { return Ok(None) };
    wire::only_reply(&stream).map(Some).or_else(unless_unread)
}

/// Returns none if the engine has ended and has not read the whole order, so it has carried out nothing.
fn unless_unread<T>(why: io::Error) -> io::Result<Option<T>> {
    // A connection is reset if its other side closes it, or stops to listen, with bytes that it has not read.
    let is_unread = matches!(why.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset);
    if is_unread { Ok(None) } else { Err(why) }
}

/// Connects to the engine that runs on `directory`, and sends it an order. Returns none if no engine runs there, or if
/// it ends before it has the order.
fn send_order(directory: &Path, order: &AdminCommand, token: Option<&str>) -> io::Result<Option<UnixStream>> {
    let Some(stream) = connected(directory)? else { return Ok(None) };
    wire::say_order(&stream, order, token).map(|()| Some(stream)).or_else(unless_unread)
}

/// Follows the requests that wait on `directory`: the replies to [`AdminCommand::Follow`]. `known` are the requests
/// that waited when the caller last knew. Returns `None` if no engine runs there.
///
/// # Errors
///
/// The errors of [`send`].
pub fn follow(directory: impl AsRef<Path>, known: &[RequestId]) -> io::Result<Option<Replies>> {
    followed(directory.as_ref(), known, None, None)
}

/// Follows the requests that wait on `directory`, as a person who is present: an agent's host waits for the answer of
/// that person, and no request is refused for want of a person. The engine must be able to verify the person, as for
/// [`send`] and [`send_with_token`]. Otherwise the caller follows like any other, and no person counts as present.
///
/// # Errors
///
/// The errors of [`send`].
pub fn attend(
    directory: impl AsRef<Path>,
    known: &[RequestId],
    by: &ApproverId,
    token: Option<&str>,
) -> io::Result<Option<Replies>> {
    followed(directory.as_ref(), known, Some(by.clone()), token)
}

fn followed(
    directory: &Path,
    known: &[RequestId],
    attends: Option<ApproverId>,
    token: Option<&str>,
) -> io::Result<Option<Replies>> {
    // The order has a limited length, and the oldest requests have probably ended.
    let known = known.iter().rev().take(MOST_KNOWN).copied().collect();
    let stream = send_order(directory, &AdminCommand::Follow { known, attends }, token)?;
    Ok(stream.map(|stream| Replies(BufReader::new(stream))))
}

/// The most requests that a follower names as known.
const MOST_KNOWN: usize = 1000;

/// The replies to an order that has several. They end when the engine ends.
#[derive(Debug)]
pub struct Replies(BufReader<UnixStream>);

impl Iterator for Replies {
    type Item = io::Result<Reply>;

    fn next(&mut self) -> Option<io::Result<Reply>> {
        wire::next_reply(&mut self.0).or_else(unless_unread).transpose()
    }
}

/// Connects to the engine that runs on `directory`.
fn connected(directory: &Path) -> io::Result<Option<UnixStream>> {
    // The engine in another user's directory could give false replies.
    RealDisk.refuse_others(directory)?;
    let socket = Socket::in_directory(directory)?;
    match UnixStream::connect(&socket.path) {
        Ok(stream) => Ok(Some(stream)),
        Err(why) if matches!(why.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) => Ok(None),
        Err(why) => Err(why),
    }
}

/// The path of the socket, in a form that fits the length limit of socket names.
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

/// The data that each conversation needs.
struct Served {
    engine: WeakEngine,
    surfaces: Surfaces,
    secret: Digest,
    runtime: Handle,
}

impl Served {
    /// Answers the order of the process at the other end.
    fn answer(&self, stream: &UnixStream) -> io::Result<()> {
        let reply = match wire::order(stream)? {
            Ok((order, token)) => match self.admitted_order(stream, order, token.as_deref()) {
                Ok((engine, AdminCommand::Follow { known, attends }, means)) => {
                    return self.follow(stream, engine, known, attends, means);
                }
                Ok((engine, order, means)) => self.runtime.block_on(admin::carry_out_through(&engine, order, means)),
                Err(reply) => reply,
            },
            Err(reply) => reply,
        };
        wire::say(stream, &reply)
    }

    /// Sends what waits, and every change of it, until the engine or the follower ends.
    fn follow(
        &self,
        stream: &UnixStream,
        engine: Engine,
        known: Vec<RequestId>,
        attends: Option<ApproverId>,
        means: Means,
    ) -> io::Result<()> {
        let followed = Admin::of_every_owner(&engine, means).follow_as(known, attends);
        // A follower must not keep the engine alive.
        drop(engine);
        let mut following = match followed {
            Ok(following) => following,
            Err(why) => return wire::say(stream, &Reply::Failed(why.to_string())),
        };
        // A follower may read slowly: it keeps only its own thread.
        stream.set_write_timeout(None)?;
        let (left, mut has_left) = oneshot::channel::<()>();
        let other_side = stream.try_clone()?;
        let watch = move || {
            wire::wait_for_end(&other_side);
            drop(left);
        };
        thread::Builder::new().name("bestow-control-follower".to_owned()).spawn(watch)?;
        let next = async |following: &mut Following, has_left: &mut oneshot::Receiver<()>| {
            tokio::select! {
                news = following.next() => news,
                _ = has_left => None,
            }
        };
        while let Some(news) = self.runtime.block_on(next(&mut following, &mut has_left)) {
            wire::say(stream, &Reply::Done(news.iter().map(RequestNews::line).collect()))?;
        }
        // This also wakes the thread that waits for the other side.
        stream.shutdown(Shutdown::Both)
    }

    /// Returns the order with the engine and the means of its sender, if the process at the other end is admitted.
    fn admitted_order(
        &self,
        stream: &UnixStream,
        mut order: AdminCommand,
        token: Option<&str>,
    ) -> Result<(Engine, AdminCommand, Means), Reply> {
        let Some(engine) = self.engine.upgrade() else {
            return Err(Reply::Failed("the engine has ended".to_owned()));
        };
        match self.admitted(stream, &mut order, token) {
            Ok(means) => Ok((engine, order, means)),
            Err(why) => {
                let (called, claims) = order.told();
                // If the engine has ended, or nothing can be stored, the reply is a refusal all the same.
                drop(engine.peer_refused(admission::named(stream), called, claims.cloned(), why.as_str().into()));
                Err(Reply::Refused(why))
            }
        }
    }

    /// Returns the means by which the sender speaks, or the reason for the refusal. A follower without a person stays
    /// one, but attends for no one.
    fn admitted(&self, stream: &UnixStream, order: &mut AdminCommand, token: Option<&str>) -> Result<Means, String> {
        let by = admission::admit(stream, &self.surfaces).map_err(|why| why.to_string())?;
        if self.secret.verifies(token, by.is_attended) {
            return Ok(by.means);
        }
        if order.changes() {
            return Err(NO_TERMINAL.to_owned());
        }
        if let AdminCommand::Follow { attends, .. } = order {
            *attends = None;
        }
        Ok(by.means)
    }
}

/// The refusal of an order that comes from no terminal.
const NO_TERMINAL: &str = "the engine cannot verify that a person gave this order, because it came from no terminal \
    and without a valid secret: use a terminal, or `--token-file` with the file `approver-token` of the state \
    directory";

fn listen(listener: &UnixListener, served: &Arc<Served>) {
    for stream in listener.incoming() {
        if !served.engine.upgrade().is_some_and(|engine| engine.is_open()) {
            return;
        }
        let (Ok(stream), served) = (stream, Arc::clone(served)) else { continue };
        // One order takes no longer than the disk. A sender that keeps its connection open blocks no other sender.
        let answer = move || drop(served.answer(&stream));
        // If no thread can be started, the stream is closed, and the sender sees that.
        let _ = thread::Builder::new().name("bestow-control-order".to_owned()).spawn(answer);
    }
}

/// The socket that this engine listens on.
struct Bound {
    waker: UnixStream,
    /// The device and the number of its file. The kernel gives them to no other file while the socket is open.
    inode: (u64, u64),
}

fn inode(path: &Path) -> io::Result<(u64, u64)> {
    std::fs::symlink_metadata(path).map(|file| (file.dev(), file.ino()))
}

/// Wakes the listener when the engine ends, and removes its socket. The socket of a later engine stays.
fn end_with(engine: &Engine, directory: PathBuf, own: Bound) {
    let mut events = engine.subscribe();
    tokio::spawn(async move {
        while events.next().await != Err(crate::engine::NoEvent::Ended) {}
        if let Ok(socket) = Socket::in_directory(&directory)
            && inode(&socket.path).is_ok_and(|there| there == own.inode)
        {
            drop(std::fs::remove_file(&socket.path));
        }
        drop(own.waker.shutdown(Shutdown::Both));
    });
}
