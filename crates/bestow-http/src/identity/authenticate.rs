//! The way from the secret in a request to its sender.

use std::sync::Arc;

use axum::http::{HeaderMap, StatusCode, header};

use super::{Caller, Entrance};
use crate::{
    credentials::{Credential, NotAuthenticated},
    problem::Problem,
    tickets::Ticket,
};

/// The prefix of a WebSocket subprotocol that contains a token. Browsers cannot send the `Authorization` header.
const TOKEN_PROTOCOL: &str = "bearer.";

/// The prefix of a WebSocket subprotocol that contains a ticket.
const TICKET_PROTOCOL: &str = "ticket.";

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
    pub(crate) fn caller(&self, headers: &HeaderMap) -> Result<Caller, Problem> {
        self.authenticated(bearer(headers)?)
    }

    /// Returns the sender of a WebSocket upgrade, by its `Authorization` header or its subprotocol: `bearer.TOKEN` or
    /// `ticket.TICKET`.
    pub(crate) fn caller_of_socket(&self, headers: &HeaderMap) -> Result<Caller, Problem> {
        if headers.contains_key(header::AUTHORIZATION) {
            return self.caller(headers);
        }
        let offered = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter();
        let mut secrets = offered
            .filter_map(|offered| offered.to_str().ok())
            .flat_map(|offered| offered.split(','))
            .filter_map(|offered| Secret::of_protocol(offered.trim()));
        match (secrets.next(), secrets.next()) {
            (Some(Secret::Token(token)), None) => self.authenticated(token),
            (Some(Secret::Ticket(ticket)), None) => self.redeemed(ticket),
            (Some(_), Some(_)) => Err(unauthorized("offer one subprotocol with a token or a ticket")),
            (None, _) => Err(unauthorized(
                "send `Authorization: Bearer TOKEN`, or offer the WebSocket subprotocol `bearer.TOKEN` or \
                 `ticket.TICKET`",
            )),
        }
    }

    /// Returns the sender of a request that may have a ticket in its address in place of a header.
    pub(crate) fn caller_with_ticket(&self, headers: &HeaderMap, ticket: Option<&str>) -> Result<Caller, Problem> {
        match ticket {
            None => self.caller(headers),
            Some(_) if headers.contains_key(header::AUTHORIZATION) => {
                Err(unauthorized("send the header `Authorization` or a ticket, and not both"))
            }
            Some(ticket) => self.redeemed(ticket),
        }
    }

    /// Creates a ticket of a sender. It stands for the sender's credential, once and for a short time.
    pub(crate) fn ticket(&self, caller: &Caller) -> Result<Ticket, Problem> {
        self.tickets.issue(&caller.credential, self.engine.now()?)
    }

    /// Returns the sender with a ticket, and uses the ticket up.
    fn redeemed(&self, ticket: &str) -> Result<Caller, Problem> {
        let credential = self.tickets.redeem(ticket, self.engine.now()?);
        let caller = credential.map(|credential| self.caller_with(credential));
        let caller =
            caller.ok_or_else(|| unauthorized("the ticket is not valid: a ticket works once, for 30 seconds"))?;
        self.refuse_revoked(&caller)?;
        Ok(caller)
    }

    /// Refuses a sender whose credential is no longer valid.
    pub(crate) fn refuse_revoked(&self, caller: &Caller) -> Result<(), Problem> {
        if self.still_accepts(caller) { Ok(()) } else { Err(NotAuthenticated::Invalid.into()) }
    }

    /// Returns true if the sender's credential is still valid.
    pub(crate) fn still_accepts(&self, caller: &Caller) -> bool {
        self.engine.now().is_ok_and(|now| self.credentials.still_accepts(&caller.credential, now))
    }

    fn authenticated(&self, token: &str) -> Result<Caller, Problem> {
        let now = self.engine.now()?;
        let credential = self.credentials.authenticate(token, now)?;
        Ok(self.caller_with(credential))
    }

    fn caller_with(&self, credential: Credential) -> Caller {
        Caller { engine: self.engine.clone(), credential: Arc::new(credential) }
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
