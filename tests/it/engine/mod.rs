//! Tests of the engine through its public interface.

mod agents;
mod answers;
mod conveniences;
mod disk;
mod ends;
mod files;
#[cfg(feature = "journal")]
mod follow;
mod grants;
#[cfg(feature = "config")]
mod open;
mod reload;
mod requests;
mod revoking;
mod routing;
mod smoke;
mod subscribers;
mod tags;
mod watching;
