//! Tasks that people put into files, and when they are due.

mod expression;
mod zone;

pub use expression::{CronExpression, InvalidExpression};
