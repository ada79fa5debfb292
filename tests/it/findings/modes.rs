//! What each mode does with a question.
