//! Paths on disk: resolving a path to its real object, and opening exactly that object.
//!
//! There are three grades of knowledge, each for one purpose. [`RealPath`] is the current real location of a path; a
//! grant pins it. [`ContainedPath`] lies below an allowed base that is held open, and can be opened. A
//! [`File`](std::fs::File) is guaranteed by the kernel. This module is the only way from one grade to the next, so a
//! name is never checked and then opened again.
//!
//! Deliberately absent: decisions about access (the kernel of the engine makes them), lists of protected paths,
//! expansion of `~` or variables, paths relative to the current directory, folding of case or Unicode, and any way to
//! turn the checks off. All calls are blocking. A disk may be slow, so a caller that must not block uses another
//! thread.

mod backend;
mod base;
mod below;
mod contained;
mod error;
mod expand_links;
mod file_ops;
mod git_index;
mod ignore_files;
mod jsonl;
mod open;
#[cfg(any(feature = "config", feature = "journal", feature = "sandbox"))]
mod path_trace;
mod pattern;
mod place;
mod real;
mod regular_file;
#[cfg(any(feature = "config", feature = "journal", feature = "sandbox"))]
mod replacing;
#[cfg(any(feature = "config", feature = "journal", feature = "sandbox"))]
mod shell_quote;

#[doc(hidden)]
pub use backend::Backend;
pub use base::Base;
pub(crate) use below::{denied_below, linked};
pub use contained::{ContainedPath, resolve};
pub use error::{FileError, ResolveError};
pub use file_ops::{Entry, EntryKind};
pub use git_index::TrackedFiles;
pub(crate) use git_index::{nested_repositories, tracked_files};
pub use ignore_files::Ignoring;
pub(crate) use ignore_files::{read_git_ignore_files, read_ignore_files};
pub use jsonl::{Answer, Op, Verdict, answer};
pub use open::{open_read, open_write};
#[cfg(any(feature = "config", feature = "journal", feature = "sandbox"))]
pub(crate) use path_trace::Trail;
pub(crate) use pattern::matching;
pub use place::Place;
pub(crate) use real::real_of;
pub use real::{RealPath, real};
#[cfg(any(feature = "config", feature = "journal", feature = "sandbox"))]
pub(crate) use real::{handle, identity_of};
pub use regular_file::read_regular_file;
#[cfg(any(feature = "config", feature = "journal"))]
pub(crate) use replacing::{Replacer, us};
#[cfg(any(feature = "config", feature = "journal", feature = "sandbox"))]
pub(crate) use replacing::{is_us_or_root, others_write};
#[cfg(any(feature = "config", feature = "journal", feature = "sandbox"))]
#[doc(hidden)]
pub use shell_quote::for_shell;

pub use crate::model::sanitize;
