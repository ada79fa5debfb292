//! Reading the trail.
