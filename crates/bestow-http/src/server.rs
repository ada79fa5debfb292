//! The server of a router: one connection after the other, each within limits.

use std::{future::Future, io, net::SocketAddr, pin::pin, sync::Arc, time::Duration};

use axum::Router;
use hyper::{body::Incoming, server::conn::http1};
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpSocket, TcpStream},
    sync::{Semaphore, watch},
    time,
};
use tokio_io_timeout::TimeoutStream;
use tower::ServiceExt;

use crate::{head_timer::HeadTimer, places::ConnectionPlace, strangers::Strangers};

/// The limits of a server.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// The most connections at a time. Further clients wait in the queue of the system.
    pub connections: usize,
    /// The most connections among them that have shown no credential yet. The oldest of them gives way to a new one.
    pub strangers: usize,
    /// The longest time in which a client sends the head of a request.
    pub head: Duration,
    /// The longest time in which a client accepts nothing of a reply.
    pub write: Duration,
    /// The bytes of a reply that the system keeps for a client that does not read, about. The kernel of Linux keeps up
    /// to twice as many.
    pub unsent: u32,
    /// The time that open requests have to end when the server ends.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        let seconds = Duration::from_secs;
        Limits {
            connections: 4_096,
            strangers: 256,
            head: seconds(10),
            write: seconds(10),
            unsent: 256 << 10,
            grace: seconds(5),
        }
    }
}

impl Limits {
    /// Returns these limits for a process that may have `descriptors` open, and two servers. Connections take at most
    /// half of what the rest of the process leaves, for each of them: the journal and the orders of people need some.
    #[must_use]
    pub fn within(self, descriptors: usize) -> Limits {
        let connections = (descriptors.saturating_sub(RESERVED) / 2).clamp(2, self.connections.max(2));
        Limits { connections, strangers: self.strangers.clamp(1, connections / 2), ..self }
    }
}

/// The descriptors that a process keeps for everything but connections.
const RESERVED: usize = 128;

/// The most bytes of the head of a request.
const LONGEST_HEAD: usize = 64 << 10;

/// The clients that wait in the queue of the system.
const QUEUE: u32 = 1_024;

/// The pause after an error of the system, such as too many open files.
const PAUSE: Duration = Duration::from_millis(100);

/// The reason why a server does not listen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListenError {
    /// The address is not on the loopback interface.
    #[error(
        "{0} can be reached from other machines, and the server does not encrypt: listen on 127.0.0.1, or put a proxy \
         with TLS before it and say so with `--behind-tls-proxy`"
    )]
    NotLoopback(SocketAddr),
    /// The system refuses the address.
    #[error("the server cannot listen on {0}: {1}; choose another address with `--listen`, port 0 for a free one")]
    Io(SocketAddr, #[source] io::Error),
}

/// A listener with the limits of a daemon.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    limits: Limits,
}

impl Server {
    /// Listens on an address of the loopback interface. Port 0 is a free port.
    ///
    /// # Errors
    ///
    /// [`ListenError`] for another address, or if the system refuses it.
    pub async fn on_loopback(address: SocketAddr, limits: Limits) -> Result<Server, ListenError> {
        if !address.ip().is_loopback() {
            return Err(ListenError::NotLoopback(address));
        }
        Server::behind_tls_proxy(address, limits).await
    }

    /// Listens on any address. The caller states that only a proxy with TLS reaches it.
    ///
    /// # Errors
    ///
    /// [`ListenError::Io`] if the system refuses the address.
    pub async fn behind_tls_proxy(address: SocketAddr, limits: Limits) -> Result<Server, ListenError> {
        let listening = || -> io::Result<_> {
            let listener = listener(address, limits.unsent)?;
            Ok((listener.local_addr()?, listener))
        };
        let (bound, listener) = listening().map_err(|why| ListenError::Io(address, why))?;
        Ok(Server { listener, address: bound, limits })
    }

    /// Returns the address, with the port that the system chose.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves `router` until `stop` is ready. Then it accepts no connection, and open requests have the grace period to
    /// end.
    ///
    /// # Cancellation
    ///
    /// Dropping the future closes all connections that are not WebSockets.
    pub async fn serve(self, router: Router, stop: impl Future<Output = ()>) {
        accepted(self.listener, self.limits, router, stop).await;
    }
}

/// Listens on an address. Its connections keep about `unsent` bytes that their clients have not read.
fn listener(address: SocketAddr, unsent: u32) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    socket.set_send_buffer_size(unsent)?;
    socket.bind(address)?;
    socket.listen(QUEUE)
}

/// A listener for connections of one kind.
pub(crate) trait Accept {
    /// A connection.
    type Stream: AsyncRead + AsyncWrite + Send + Unpin + 'static;

    /// Accepts the next connection.
    fn next(&self) -> impl Future<Output = io::Result<Self::Stream>> + Send;
}

impl Accept for TcpListener {
    type Stream = TcpStream;

    async fn next(&self) -> io::Result<TcpStream> {
        let (stream, _) = self.accept().await?;
        let _ = stream.set_nodelay(true);
        Ok(stream)
    }
}

/// Serves `router` on the connections of a listener until `stop` is ready, and gives open requests the grace period.
pub(crate) async fn accepted(listener: impl Accept, limits: Limits, router: Router, stop: impl Future<Output = ()>) {
    let (places, strangers) = (Arc::new(Semaphore::new(limits.connections)), Strangers::new(limits.strangers));
    let (closing, closed) = watch::channel(false);
    let mut connections = tokio::task::JoinSet::new();
    let mut stop = pin!(stop);
    loop {
        // A free place comes first: a client that is not accepted waits in the queue of the system.
        let next = async {
            let place = Arc::clone(&places).acquire_owned().await;
            (place, listener.next().await)
        };
        tokio::select! {
            () = &mut stop => break,
            (place, accepted) = next => match accepted {
                Ok(stream) => {
                    let (router, closed) = (router.clone(), closed.clone());
                    if let Ok(place) = place {
                        let (stranger, gives_way) = strangers.add();
                        let place = ConnectionPlace::new(place, stranger);
                        let served = connection(stream, router, limits, place, closed);
                        connections.spawn(async move {
                            tokio::select! {
                                () = served => {}
                                // The other end was dropped when the connection showed a credential.
                                Ok(()) = gives_way => {}
                            }
                        });
                    }
                }
                Err(_) => time::sleep(PAUSE).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
    drop(listener);
    let _ = closing.send(true);
    let ended = async { while connections.join_next().await.is_some() {} };
    let _ = time::timeout(limits.grace, ended).await;
}

async fn connection(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    router: Router,
    limits: Limits,
    place: ConnectionPlace,
    mut closed: watch::Receiver<bool>,
) {
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(limits.write));
    let service = router.map_request(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(place.clone());
        request
    });
    let timer = HeadTimer::default();
    let served = http1::Builder::new()
        .timer(timer.clone())
        .header_read_timeout(limits.head)
        .max_buf_size(LONGEST_HEAD)
        .serve_connection(TokioIo::new(Box::pin(stream)), TowerToHyperService::new(service))
        .with_upgrades();
    let mut served = pin!(served);
    let mut is_closing = false;
    loop {
        tokio::select! {
            _ = served.as_mut() => return,
            // The connection is asked again, and ends because its head is late.
            () = timer.is_late(limits.head) => {}
            _ = closed.changed(), if !is_closing => {
                served.as_mut().graceful_shutdown();
                is_closing = true;
            }
        }
    }
}
