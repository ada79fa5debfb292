//! The engine through its public surface.

mod files;
mod smoke;
