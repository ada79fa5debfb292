//! Rules that allow mean what they read, and nothing more.
