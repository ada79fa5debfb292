//! Tests of the requests that a person is shown, and of the people who may answer.

#[cfg(feature = "cli")]
mod answering;
mod defaults;
mod shown;
#[cfg(feature = "stdio")]
mod wire;
