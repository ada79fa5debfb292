//! `bestow serve`: an engine with its server.

use std::{
    fs,
    io::{self, Write},
    os::{
        linux::net::SocketAddrExt,
        unix::{
            fs::{OpenOptionsExt as _, PermissionsExt as _},
            net::{SocketAddr as UnixAddress, UnixDatagram},
        },
    },
    path::{Path, PathBuf},
};

use bestow::{Engine, sandbox::Sandbox};
use bestow_http::{AllowedHosts, Limits, Options, Server, SocketServer, router};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::{
    args::ServeArgs,
    exit::Exit,
    head_notes::Unnoted,
    own_engine,
    server_files::{SERVER_FILE, SERVER_SOCKET, name_credential_file, remove_page},
    signals,
};

/// The mode of a ready file. Everybody may find the server, and its owner alone says where it is.
const READY_MODE: u32 = 0o644;

/// Serves an engine until a signal ends this process.
pub(crate) fn serve(args: &ServeArgs) -> Result<Exit, Exit> {
    serve_with(args, |_, engine| {
        name_credential_file(&args.state);
        if engine.credentials().is_empty() {
            eprintln!(
                "bestow: there is no credential yet: `bestow token create --state {}` makes one, and `bestow dashboard \
                 --state {0}` opens the dashboard",
                args.state.display()
            );
        }
        Ok(())
    })
}

/// Serves an engine until a signal ends this process. `begin` runs once the server listens at the address.
pub(crate) fn serve_with(
    args: &ServeArgs,
    begin: impl FnOnce(&str, &Engine) -> Result<(), Exit>,
) -> Result<Exit, Exit> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(Exit::failed)?;
    let limits = limits();
    runtime.block_on(async {
        // An address that is taken stops the command before it writes anything.
        let server = listen(args, limits).await?;
        let unnoted = Unnoted::default();
        let (config, state) = (&args.policy.config, &args.state);
        let open = async || match unnoted.notes(&args.notes) {
            Some(notes) => Engine::open_durable_noting(config, state, notes).await,
            None => Engine::open_durable(config, state).await,
        };
        let engine = own_engine::open_in_turn(state, own_engine::PATIENCE, open).await.map_err(Exit::failed)?;
        let served = served(server, limits, &engine, args, begin).await;
        engine.shutdown().await;
        match served {
            Ok(Exit::Done) => Ok(unnoted.exit()),
            other => other,
        }
    })
}

async fn served(
    server: Server,
    limits: Limits,
    engine: &Engine,
    args: &ServeArgs,
    begin: impl FnOnce(&str, &Engine) -> Result<(), Exit>,
) -> Result<Exit, Exit> {
    let stop = signals::end().map_err(Exit::failed)?;
    let mut options = Options::default();
    options.dashboard = true;
    options.config = Some(args.policy.config.clone());
    options.allowed = allowed(args);
    // Without a sandbox, a run whose bots are confined does not start, and says so.
    options.sandbox = Sandbox::with_this_program().ok();
    options.trail = Some(args.state.clone());
    if let Some(count) = args.shares.requests_per_second {
        options.requests_per_second = count;
    }
    if let Some(count) = args.shares.connections_per_credential {
        options.connections_per_credential = count.get().into();
    }
    let router = router(engine, options);
    let url = format!("http://{}", server.address());
    let socket = socket(&args.state, limits)?;
    let to_socket = std::path::absolute(args.state.join(SERVER_SOCKET)).map_err(Exit::failed)?;
    // The links of an earlier server are not valid any more.
    remove_page(&args.state);
    let found = Ready::tell_if_possible(&url, &to_socket, &args.state.join(SERVER_FILE));
    let ready = args.ready_file.as_deref().map(|file| Ready::tell(&url, &to_socket, file));
    let ready = (found, ready.transpose().map_err(Exit::failed)?);
    notify("READY=1");
    begin(&url, engine)?;
    if let Exit::Failed(why) = Exit::print(&format!("listening on {url}\n")) {
        return Err(Exit::Failed(why));
    }
    let (end, mut ended) = watch::channel(());
    let ending = async move {
        stop.await;
        notify("STOPPING=1");
        // A server that starts now waits for the directory, and finds no other server there.
        drop(ready);
        // The open sockets are told, and what waits stays stored.
        engine.shutdown().await;
        drop(end);
    };
    let socket_ending = async move { while ended.changed().await.is_ok() {} };
    tokio::join!(server.serve(router.clone(), ending), socket.serve(router, socket_ending));
    remove_page(&args.state);
    Ok(Exit::Done)
}

/// Raises the number of descriptors of this process as far as the system lets it, and returns the limits that leave
/// some for the journal and for the orders of people.
fn limits() -> Limits {
    let may = getrlimit(Resource::Nofile);
    // Without the change, the limits fit what there is.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: may.maximum, maximum: may.maximum });
    let descriptors = getrlimit(Resource::Nofile).current.and_then(|most| usize::try_from(most).ok());
    Limits::default().within(descriptors.unwrap_or(usize::MAX))
}

/// Listens on the socket in the state directory. The engine runs there, so no other server does.
fn socket(state: &Path, limits: Limits) -> Result<SocketServer, Exit> {
    let path = state.join(SERVER_SOCKET);
    SocketServer::at(&path, limits)
        .map_err(|why| Exit::failed(format_args!("the socket {} cannot be made: {why}", path.display())))
}

async fn listen(args: &ServeArgs, limits: Limits) -> Result<Server, Exit> {
    let server = if args.behind_tls_proxy {
        Server::behind_tls_proxy(args.listen, limits).await
    } else {
        Server::on_loopback(args.listen, limits).await
    };
    server.map_err(Exit::failed)
}

fn allowed(args: &ServeArgs) -> AllowedHosts {
    let own = args.allow_host.iter().fold(AllowedHosts::default(), |allowed, name| allowed.host(name));
    args.allow_origin.iter().fold(own, |allowed, origin| allowed.origin(origin))
}

/// The statement that the server listens. The file is removed when the server ends.
struct Ready(PathBuf);

impl Ready {
    fn tell(url: &str, socket: &Path, file: &Path) -> io::Result<Ready> {
        let told = json!({ "url": url, "socket": socket.to_str(), "pid": std::process::id() });
        write_whole(file, &format!("{told}\n"))?;
        Ok(Ready(file.to_owned()))
    }

    /// Says where the server is in the file by which hooks and `bestow dashboard` find it. Without room for that file,
    /// the server goes on: its socket and its address are there, and who looks for the file is told that there is none.
    fn tell_if_possible(url: &str, socket: &Path, file: &Path) -> Option<Ready> {
        let told = Ready::tell(url, socket, file);
        if let Err(why) = &told {
            // The file of an earlier server would lead to an address that may be somebody else's by now.
            let _ = fs::remove_file(file);
            eprintln!(
                "bestow: {why}; the server goes on without it: hooks and `bestow dashboard` do not find it until a \
                 server starts with room for the file, or they are given `--url {url}`"
            );
        }
        told.ok()
    }
}

impl Drop for Ready {
    fn drop(&mut self) {
        let file = &self.0;
        // A server that was started meanwhile may have written its own.
        let told = fs::read(file).ok().and_then(|text| serde_json::from_slice::<Value>(&text).ok());
        if told.as_ref().and_then(|told| told.get("pid")).is_some_and(|pid| *pid == std::process::id()) {
            let _ = fs::remove_file(file);
        }
    }
}

/// Writes a file so that nobody sees a part of it.
fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let mut next = path.as_os_str().to_owned();
    next.push(format!(".{}", std::process::id()));
    // A process with this id was killed while it wrote. In a container, every server has the same id.
    let _ = fs::remove_file(&next);
    let created = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&next);
    let written = created.and_then(|mut file| {
        // Whatever the mask of the process says: another user who writes the file would name another server.
        file.set_permissions(fs::Permissions::from_mode(READY_MODE))?;
        file.write_all(text.as_bytes())
    });
    let named = written.and_then(|()| fs::rename(&next, path));
    named.map_err(|why| {
        let _ = fs::remove_file(&next);
        io::Error::new(why.kind(), format!("the ready file {} cannot be written: {why}", path.display()))
    })
}

/// Tells the service manager, if one started this process (`Type=notify` of systemd). Without one, it does nothing.
fn notify(state: &str) {
    let Some(socket) = std::env::var_os("NOTIFY_SOCKET") else { return };
    let bytes = socket.as_encoded_bytes();
    let address = match bytes.strip_prefix(b"@") {
        Some(name) => UnixAddress::from_abstract_name(name),
        None => UnixAddress::from_pathname(&socket),
    };
    // A service manager that is gone needs no notice.
    let _ = address.and_then(|address| UnixDatagram::unbound()?.send_to_addr(state.as_bytes(), &address));
}
