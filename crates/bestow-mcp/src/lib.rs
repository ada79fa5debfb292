#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod changes;
mod elicit;
mod failure;
mod gate;
mod lines;
mod resources;
mod server;
mod tools;
mod view;

pub use elicit::elicited_answer;
pub use gate::{Gate, Place, Work};
pub use lines::{LONGEST_LINE, Lines, Speaker};
pub use server::{Server, server};
