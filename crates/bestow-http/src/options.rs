//! The settings of a router.

use std::{num::NonZero, path::PathBuf, time::Duration};

use bestow::sandbox::Sandbox;

use crate::guard::AllowedHosts;

/// The settings of a router.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The names under which it answers, and the web pages that may speak to it.
    pub allowed: AllowedHosts,
    /// The longest time in which a client sends the body of a request.
    pub body_time: Duration,
    /// The time between two heartbeats of a WebSocket. A client that sends nothing for three of them is cut off.
    pub heartbeat: Duration,
    /// The longest time in which the client of a WebSocket accepts nothing of a frame.
    pub send_time: Duration,
    /// The state directory whose audit trail an operator may read, and which holds the events from before this router.
    /// None if the engine has none.
    pub trail: Option<PathBuf>,
    /// The policy file, which people may look at.
    pub config: Option<PathBuf>,
    /// True if the pages of the dashboard are served, at `/` and below `/dashboard`.
    pub dashboard: bool,
    /// The sandbox for the programs of agents that the policy file confines. Without one they do not start.
    pub sandbox: Option<Sandbox>,
    /// The requests of one credential in a second: calls, and frames of its WebSockets. It may send those of two
    /// seconds at once. Further calls are refused (429), and further frames wait.
    pub requests_per_second: NonZero<u32>,
    /// The most connections of one credential, WebSockets included. They are counted if a [`Server`](crate::Server)
    /// serves the router.
    pub connections_per_credential: usize,
}

/// The requests of one credential in a second, without a setting.
const REQUESTS: NonZero<u32> = NonZero::new(5_000).unwrap();

/// The connections of one credential, without a setting.
const CONNECTIONS: usize = 256;

impl Default for Options {
    /// Creates the settings for clients on this machine.
    fn default() -> Options {
        Options {
            allowed: AllowedHosts::default(),
            body_time: Duration::from_secs(10),
            heartbeat: Duration::from_secs(30),
            send_time: Duration::from_secs(10),
            trail: None,
            config: None,
            dashboard: false,
            sandbox: None,
            requests_per_second: REQUESTS,
            connections_per_credential: CONNECTIONS,
        }
    }
}

impl Options {
    /// Returns the times of each WebSocket.
    pub(crate) fn socket_times(&self) -> SocketTimes {
        // A heartbeat without a pause would be no heartbeat.
        SocketTimes { heartbeat: self.heartbeat.max(Duration::from_millis(1)), send: self.send_time }
    }
}

/// The times of a WebSocket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SocketTimes {
    /// The time between two heartbeats.
    pub(crate) heartbeat: Duration,
    /// The time after which a client that accepts nothing of a frame is cut off.
    pub(crate) send: Duration,
}
