//! `bestow serve`: an engine with its server.

use std::{
    fs,
    io::{self, Write},
    os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr as UnixAddress, UnixDatagram},
    },
    path::{Path, PathBuf},
};

use bestow::{Engine, sandbox::Sandbox};
use bestow_http::{AllowedHosts, Limits, Options, Server, SocketServer, router};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::{
    args::ServeArgs,
    exit::Exit,
    head_notes::Unnoted,
    server_files::{SERVER_FILE, SERVER_SOCKET, name_credential_file, remove_page},
    signals,
};

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
    runtime.block_on(async {
        // An address that is taken stops the command before it writes anything.
        let server = listen(args).await?;
        let unnoted = Unnoted::default();
        let (config, state) = (&args.policy.config, &args.state);
        let engine = match unnoted.notes(&args.notes) {
            Some(notes) => Engine::open_durable_noting(config, state, notes).await,
            None => Engine::open_durable(config, state).await,
        };
        let engine = engine.map_err(Exit::failed)?;
        let served = served(server, &engine, args, begin).await;
        engine.shutdown().await;
        match served {
            Ok(Exit::Done) => Ok(unnoted.exit()),
            other => other,
        }
    })
}

async fn served(
    server: Server,
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
    let socket = socket(&args.state)?;
    let to_socket = std::path::absolute(args.state.join(SERVER_SOCKET)).map_err(Exit::failed)?;
    // The links of an earlier server are not valid any more.
    remove_page(&args.state);
    // `bestow dashboard` finds the server by this file.
    let _found = Ready::tell(&url, &to_socket, &args.state.join(SERVER_FILE)).map_err(Exit::failed)?;
    let ready = args.ready_file.as_deref().map(|file| Ready::tell(&url, &to_socket, file));
    let _ready = ready.transpose().map_err(Exit::failed)?;
    notify("READY=1");
    begin(&url, engine)?;
    if let Exit::Failed(why) = Exit::print(&format!("listening on {url}\n")) {
        return Err(Exit::Failed(why));
    }
    let (end, mut ended) = watch::channel(());
    let ending = async move {
        stop.await;
        notify("STOPPING=1");
        // The open sockets are told, and what waits stays stored.
        engine.shutdown().await;
        drop(end);
    };
    let socket_ending = async move { while ended.changed().await.is_ok() {} };
    tokio::join!(server.serve(router.clone(), ending), socket.serve(router, socket_ending));
    remove_page(&args.state);
    Ok(Exit::Done)
}

/// Listens on the socket in the state directory. The engine runs there, so no other server does.
fn socket(state: &Path) -> Result<SocketServer, Exit> {
    let path = state.join(SERVER_SOCKET);
    SocketServer::at(&path, Limits::default())
        .map_err(|why| Exit::failed(format_args!("the socket {} cannot be made: {why}", path.display())))
}

async fn listen(args: &ServeArgs) -> Result<Server, Exit> {
    let limits = Limits::default();
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
    let written = fs::File::create_new(&next).and_then(|mut file| file.write_all(text.as_bytes()));
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
