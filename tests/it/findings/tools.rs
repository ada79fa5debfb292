//! Tools by any name: declared, well known, or unknown.

mod capabilities;
