//! The check of `Host` and `Origin`, before anything else of a request is read.
//!
//! A web page that a person visits can send requests to programs on this machine. The browser names the page in
//! `Origin`. A page can also give its own name the address of this machine; then `Host` has the page's name.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{HeaderMap, StatusCode, Uri, header, uri::Authority},
    middleware::Next,
    response::{IntoResponse, Response},
};

use crate::problem::Problem;

/// The names under which a server answers, and the web pages that may speak to it.
#[derive(Clone, Debug)]
pub struct AllowedHosts {
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl Default for AllowedHosts {
    /// The names of the loopback interface, and no web page of another server.
    fn default() -> AllowedHosts {
        let hosts = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned).into();
        AllowedHosts { hosts, origins: Vec::new() }
    }
}

impl AllowedHosts {
    /// Adds a name under which the server answers, without a port: `permissions.example.org`.
    #[must_use]
    pub fn host(mut self, name: &str) -> AllowedHosts {
        self.hosts.push(name.to_ascii_lowercase());
        self
    }

    /// Adds the origin of a web page that may speak to the server: `https://dashboard.example.org`.
    #[must_use]
    pub fn origin(mut self, origin: &str) -> AllowedHosts {
        self.origins.push(origin.to_ascii_lowercase());
        self
    }

    /// Checks the names in a request.
    fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
        let host = self.host_of(uri, headers)?;
        let mut origins = headers.get_all(header::ORIGIN).iter();
        match (origins.next(), origins.next()) {
            (None, _) => Ok(()),
            (Some(origin), None) if self.allows_origin(origin.as_bytes(), &host) => Ok(()),
            (Some(_), _) => Err(Problem::new(
                StatusCode::FORBIDDEN,
                "origin_not_allowed",
                "this web page may not speak to the server: start the server with `--allow-origin`",
            )),
        }
    }

    /// Returns the name and port that the request is sent to, if they are consistent and allowed.
    fn host_of(&self, uri: &Uri, headers: &HeaderMap) -> Result<Authority, Problem> {
        let invalid = |detail| Problem::new(StatusCode::BAD_REQUEST, "invalid_host", detail);
        let mut hosts = headers.get_all(header::HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else {
            return Err(invalid("a request has exactly one `Host` header"));
        };
        let host = host.to_str().ok().filter(|host| !host.contains('@'));
        let host: Authority = host
            .and_then(|host| host.parse().ok())
            .filter(has_good_port)
            .ok_or_else(|| invalid("`Host` is the name of the server, with a port where it has one"))?;
        if uri.authority().is_some_and(|target| target != &host) {
            return Err(invalid("`Host` and the target of the request name different servers"));
        }
        if self.hosts.iter().any(|name| name.eq_ignore_ascii_case(host.host())) {
            return Ok(host);
        }
        Err(Problem::new(
            StatusCode::MISDIRECTED_REQUEST,
            "host_not_allowed",
            "the server does not answer under this name: start the server with `--allow-host`",
        ))
    }

    fn allows_origin(&self, origin: &[u8], host: &Authority) -> bool {
        let Ok(origin) = str::from_utf8(origin) else { return false };
        let origin = origin.to_ascii_lowercase();
        let own = host.as_str().to_ascii_lowercase();
        self.origins.contains(&origin) || origin.strip_prefix("http://") == Some(own.as_str())
    }
}

/// Returns true if a name is followed by nothing, or by a port.
fn has_good_port(host: &Authority) -> bool {
    let port = host.as_str().strip_prefix(host.host()).unwrap_or(":");
    port.is_empty() || port.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok())
}

/// Refuses requests under other names and from other web pages.
pub(crate) async fn guard(State(allowed): State<Arc<AllowedHosts>>, request: Request, next: Next) -> Response {
    match allowed.check(request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}
