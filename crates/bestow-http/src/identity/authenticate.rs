//! The way from the secret in a request to its sender.

use std::{sync::Arc, time::Duration};

use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, StatusCode, header, request::Parts},
};
use bestow::event::Timestamp;

use super::{Caller, Entrance};
use crate::{
    credentials::{Live, NotAuthenticated},
    places::ConnectionPlace,
    problem::Problem,
    tickets::Ticket,
};

/// The prefix of a WebSocket subprotocol that contains a token. Browsers cannot send the `Authorization` header.
const TOKEN_PROTOCOL: &str = "bearer.";

/// The prefix of a WebSocket subprotocol that contains a ticket.
const TICKET_PROTOCOL: &str = "ticket.";

/// The time after which a client without a free connection may try again.
const RETRY: Duration = Duration::from_secs(1);

/// A secret that a client offers as a subprotocol.
enum Secret<'a> {
    Token(&'a str),
    Ticket(&'a str),
}

impl Secret<'_> {
    fn of_protocol(offered: &str) -> Option<Secret<'_>> {
        let token = offered.strip_prefix(TOKEN_PROTOCOL).map(Secret::Token);
        token.or_else(|| offered.strip_prefix(TICKET_PROTOCOL).map(Secret::Ticket))
    }
}

impl Entrance {
    /// Returns the sender of a request, by its `Authorization` header.
    pub(crate) fn caller(&self, parts: &Parts) -> Result<Caller, Problem> {
        // A layer before this one has authenticated the sender, and counted the request.
        if let Some(caller) = parts.extensions.get::<Caller>() {
            return Ok(caller.clone());
        }
        self.authenticated(bearer(&parts.headers)?, parts.extensions.get())
    }

    /// Returns the sender of a WebSocket upgrade, by its `Authorization` header or its subprotocol: `bearer.TOKEN` or
    /// `ticket.TICKET`.
    pub(crate) fn caller_of_socket(
        &self,
        headers: &HeaderMap,
        place: Option<&ConnectionPlace>,
    ) -> Result<Caller, Problem> {
        if headers.contains_key(header::AUTHORIZATION) {
            return self.authenticated(bearer(headers)?, place);
        }
        let offered = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter();
        let mut secrets = offered
            .filter_map(|offered| offered.to_str().ok())
            .flat_map(|offered| offered.split(','))
            .filter_map(|offered| Secret::of_protocol(offered.trim()));
        match (secrets.next(), secrets.next()) {
            (Some(Secret::Token(token)), None) => self.authenticated(token, place),
            (Some(Secret::Ticket(ticket)), None) => self.redeemed(ticket, place),
            (Some(_), Some(_)) => Err(unauthorized("offer one subprotocol with a token or a ticket")),
            (None, _) => Err(unauthorized(
                "send `Authorization: Bearer TOKEN`, or offer the WebSocket subprotocol `bearer.TOKEN` or \
                 `ticket.TICKET`",
            )),
        }
    }

    /// Returns the sender of a request that may have a ticket in its address in place of a header.
    pub(crate) fn caller_with_ticket(
        &self,
        headers: &HeaderMap,
        ticket: Option<&str>,
        place: Option<&ConnectionPlace>,
    ) -> Result<Caller, Problem> {
        match ticket {
            None => self.authenticated(bearer(headers)?, place),
            Some(_) if headers.contains_key(header::AUTHORIZATION) => {
                Err(unauthorized("send the header `Authorization` or a ticket, and not both"))
            }
            Some(ticket) => self.redeemed(ticket, place),
        }
    }

    /// Creates a ticket of a sender. It stands for the sender's credential, once and for a short time.
    pub(crate) fn ticket(&self, caller: &Caller) -> Result<Ticket, Problem> {
        self.tickets.issue(&caller.live, self.engine.now()?)
    }

    /// Returns the sender with a ticket, and uses the ticket up.
    fn redeemed(&self, ticket: &str, place: Option<&ConnectionPlace>) -> Result<Caller, Problem> {
        let now = self.engine.now()?;
        let unknown = || unauthorized("the ticket is not valid: a ticket works once, for 30 seconds");
        let caller = self.caller_with(self.tickets.redeem(ticket, now).ok_or_else(unknown)?);
        self.refuse_revoked(&caller)?;
        self.admit(&caller.live, None, place)?;
        self.count(&caller.live, now)?;
        Ok(caller)
    }

    /// Refuses a sender whose credential is no longer valid.
    pub(crate) fn refuse_revoked(&self, caller: &Caller) -> Result<(), Problem> {
        if self.still_accepts(caller) { Ok(()) } else { Err(NotAuthenticated.into()) }
    }

    /// Returns true if the sender's credential is still valid.
    pub(crate) fn still_accepts(&self, caller: &Caller) -> bool {
        self.engine.now().is_ok_and(|now| self.credentials.still_accepts(&caller.live, now))
    }

    /// Returns the sender with a token, and counts its request.
    fn authenticated(&self, token: &str, place: Option<&ConnectionPlace>) -> Result<Caller, Problem> {
        let now = self.engine.now()?;
        let live = match place.and_then(|place| place.known(token)) {
            // The connection has shown the token before, and the records still have its hash.
            Some(live) if self.credentials.still_accepts(&live, now) => live,
            Some(_) | None => {
                let live = self.credentials.live(token, now)?;
                self.admit(&live, Some(token), place)?;
                live
            }
        };
        self.count(&live, now)?;
        Ok(self.caller_with(live))
    }

    /// Takes the connection for a credential, which has a limited number of connections.
    fn admit(&self, live: &Arc<Live>, token: Option<&str>, place: Option<&ConnectionPlace>) -> Result<(), Problem> {
        if place.is_none_or(|place| place.give(live, token, &self.connections)) {
            return Ok(());
        }
        let detail = "this credential has as many open connections as it may have: close one, or use one again";
        Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, "too_many_connections", detail).after(RETRY).closing())
    }

    /// Counts a request of a credential.
    fn count(&self, live: &Live, now: Timestamp) -> Result<(), Problem> {
        live.bucket.take(self.rate, now).map_err(|wait| {
            let detail = "this credential has sent too many requests: wait, and send them more slowly";
            Problem::new(StatusCode::TOO_MANY_REQUESTS, "too_many_requests", detail).after(wait)
        })
    }

    /// Counts a frame of a client with an open WebSocket. Returns the time until the frame may be carried out.
    pub(crate) fn count_frame(&self, caller: &Caller) -> Duration {
        // Without a clock, the frame is refused when it is carried out.
        self.engine.now().map_or(Duration::ZERO, |now| caller.live.bucket.reserve(self.rate, now))
    }

    fn caller_with(&self, live: Arc<Live>) -> Caller {
        Caller { engine: self.engine.clone(), live }
    }
}

impl FromRequestParts<Arc<Entrance>> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, entrance: &Arc<Entrance>) -> Result<Self, Problem> {
        entrance.caller(parts)
    }
}

fn bearer(headers: &HeaderMap) -> Result<&str, Problem> {
    let mut given = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(given), None) = (given.next(), given.next()) else {
        return Err(unauthorized("send one header `Authorization: Bearer TOKEN`"));
    };
    let (scheme, token) = given.to_str().ok().and_then(|given| given.split_once(' ')).unwrap_or_default();
    if scheme.eq_ignore_ascii_case("bearer") { Ok(token.trim()) } else { Err(unauthorized("the scheme is `Bearer`")) }
}

fn unauthorized(detail: &str) -> Problem {
    Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", detail)
}
