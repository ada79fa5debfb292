//! Taking a right away never gives one.
