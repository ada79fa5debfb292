//! Paths on disk: what a path really names, and opening that and nothing else.
//!
//! Three grades of knowing, each good for one thing. [`RealPath`] is where a path leads now; a grant pins it.
//! [`ContainedPath`] lies below an allowed base that is held open, and is good for opening. A
//! [`File`](std::fs::File) is the kernel's own promise. Whoever needs the next grade goes through this module,
//! so that no name is ever checked and then opened again.
//!
//! Deliberately absent: who may open what (the kernel of the engine decides), lists of protected paths,
//! expansion of `~` or variables, paths relative to the current directory, folding of case or Unicode, and any
//! way to turn the checks off. Nothing is asynchronous: a disk may be slow, so whoever must not block calls this
//! from a thread that may.

mod answer;
mod backend;
mod base;
mod below;
mod contained;
mod error;
mod open;
mod pattern;
mod place;
mod real;
#[cfg(any(feature = "config", feature = "journal", feature = "sandbox"))]
mod replacing;
#[cfg(any(feature = "config", feature = "journal", feature = "sandbox"))]
mod shell;
mod tools;
#[cfg(any(feature = "config", feature = "journal", feature = "sandbox"))]
mod trail;
mod walk;

pub use answer::{Answer, Op, Verdict, answer};
#[doc(hidden)]
pub use backend::Backend;
pub use base::Base;
#[cfg(feature = "sandbox")]
pub(crate) use below::all_found;
pub(crate) use below::{first_found, linked};
pub use contained::{ContainedPath, resolve};
pub use error::{FileError, ResolveError};
pub use open::{open_read, open_write};
pub(crate) use pattern::matching;
pub use place::Place;
#[cfg(any(feature = "config", feature = "edit", feature = "journal", feature = "sandbox"))]
pub(crate) use real::identity_of;
pub(crate) use real::real_of;
pub use real::{RealPath, real};
#[cfg(any(feature = "config", feature = "journal"))]
pub(crate) use replacing::{Replacer, us};
#[cfg(any(feature = "config", feature = "journal", feature = "sandbox"))]
pub(crate) use replacing::{is_us_or_root, others_write};
#[cfg(any(feature = "config", feature = "journal", feature = "sandbox"))]
pub(crate) use shell::for_shell;
pub use tools::{Entry, EntryKind};
#[cfg(any(feature = "config", feature = "journal", feature = "sandbox"))]
pub(crate) use trail::Trail;

pub use crate::model::sanitize;
