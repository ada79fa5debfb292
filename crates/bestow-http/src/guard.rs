//! The check of `Host` and `Origin`, before anything else of a request is read.
//!
//! A web page that a person visits can send requests to programs on this machine. The browser names the page in
//! `Origin`. A page can also give its own name the address of this machine; then `Host` has the page's name.

use std::{
    convert::Infallible,
    future::{Ready, ready},
    sync::Arc,
    task::{Context, Poll},
};

use axum::{
    extract::Request,
    http::{HeaderMap, StatusCode, Uri, header, uri::Authority},
    response::{IntoResponse, Response},
};
use futures_util::future::Either;
use tower::{Layer, Service};

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

    /// Returns true if the request is of no web page, and `Host` is one of the names with or without a port. Nearly
    /// every request is. All others get the whole check.
    fn is_plain(&self, uri: &Uri, headers: &HeaderMap) -> bool {
        if uri.authority().is_some() || headers.contains_key(header::ORIGIN) {
            return false;
        }
        let mut hosts = headers.get_all(header::HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
        let is_port = |text: &[u8]| {
            let digits = text.iter().all(u8::is_ascii_digit);
            digits && str::from_utf8(text).is_ok_and(|port| port.parse::<u16>().is_ok())
        };
        self.hosts.iter().any(|name| match host.as_bytes().strip_prefix(name.as_bytes()) {
            Some([]) => true,
            Some([b':', port @ ..]) => is_port(port),
            Some(_) | None => false,
        })
    }

    /// Checks the names in a request.
    fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
        if self.is_plain(uri, headers) {
            return Ok(());
        }
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
#[derive(Clone, Debug)]
pub(crate) struct Guard(Arc<AllowedHosts>);

impl Guard {
    pub(crate) fn of(allowed: AllowedHosts) -> Guard {
        Guard(Arc::new(allowed))
    }
}

impl<S> Layer<S> for Guard {
    type Service = Guarded<S>;

    fn layer(&self, inner: S) -> Guarded<S> {
        Guarded { allowed: Arc::clone(&self.0), inner }
    }
}

/// A service behind the check. The check waits for nothing, so it costs no task and no allocation.
#[derive(Clone, Debug)]
pub(crate) struct Guarded<S> {
    allowed: Arc<AllowedHosts>,
    inner: S,
}

impl<S: Service<Request, Response = Response, Error = Infallible>> Service<Request> for Guarded<S> {
    type Response = Response;
    type Error = Infallible;
    type Future = Either<S::Future, Ready<Result<Response, Infallible>>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        match self.allowed.check(request.uri(), request.headers()) {
            Ok(()) => Either::Left(self.inner.call(request)),
            Err(problem) => Either::Right(ready(Ok(problem.into_response()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderMap, HeaderValue, Uri, header};

    use super::AllowedHosts;

    /// The short way allows nothing that the whole check refuses.
    #[test]
    fn what_is_plain_is_allowed_by_the_whole_check() {
        let allowed = AllowedHosts::default().host("permissions.example.org");
        let texts = [
            "localhost",
            "localhost:80",
            "LOCALHOST:80",
            "127.0.0.1:7422",
            "[::1]:7422",
            "[::1]",
            "localhost:",
            "localhost:a",
            "localhost:123456",
            "localhost:99999",
            "localhost:0",
            "localhost.",
            "localhosts",
            "evil",
            "localhost@evil",
            "localhost:80@evil",
            "localhost:80/",
            "permissions.example.org:443",
            "127.0.0.1.evil",
            "",
            ":80",
            "localhost:80:80",
            "localhost ",
            "user@localhost",
        ];
        let mut plain = 0;
        for text in texts {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, HeaderValue::from_static(text));
            let uri = Uri::from_static("/v1/check");
            let is_allowed = allowed.host_of(&uri, &headers).is_ok();
            let is_plain = allowed.is_plain(&uri, &headers);
            assert!(is_allowed || !is_plain, "{text:?}");
            plain += usize::from(is_plain);
            headers.insert(header::ORIGIN, HeaderValue::from_static("http://evil"));
            assert!(!allowed.is_plain(&uri, &headers), "a web page: {text:?}");
        }
        assert!(plain >= 6, "{plain}");
    }
}
