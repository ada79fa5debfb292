//! What hosts send to their hooks, and the answers in their own form.
