//! The engine through its public surface.

mod smoke;
