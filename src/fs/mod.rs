//! Paths on disk. Nothing here decides what an agent may do.

mod trail;

pub(crate) use trail::Trail;
