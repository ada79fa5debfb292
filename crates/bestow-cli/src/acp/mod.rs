//! `bestow acp`: editors and coding agents over the Agent Client Protocol.
//!
//! Standard output carries lines of the protocol and nothing else. Remarks are on standard error.

mod agent;
mod child;
mod engine;
mod inbox;
mod log;
mod wrap;

use crate::{args::AcpPart, exit::Exit};

pub(crate) use inbox::ServerInbox;

/// Does what the command says.
pub(crate) fn acp(part: AcpPart) -> Result<Exit, Exit> {
    match part {
        AcpPart::Wrap(args) => wrap::wrap(&args),
        AcpPart::Agent(args) => agent::agent(&args),
    }
}
