//! Rules that allow mean what they read, and nothing more.

#[cfg(feature = "config")]
mod words;
