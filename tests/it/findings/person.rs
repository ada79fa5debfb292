//! What a person is shown, and who may answer.

#[cfg(feature = "cli")]
mod answering;
mod defaults;
mod shown;
#[cfg(feature = "stdio")]
mod wire;
