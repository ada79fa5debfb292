//! What a record of a decision says.
