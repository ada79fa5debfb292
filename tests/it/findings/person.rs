//! What a person is shown, and who may answer.
