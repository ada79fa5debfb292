//! The engine through its public surface.

mod open;
mod smoke;
