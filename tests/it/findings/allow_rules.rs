//! Rules that allow mean what they read, and nothing more; what is safe obeys nothing that an agent wrote.

mod obeyed;
#[cfg(feature = "config")]
mod words;
