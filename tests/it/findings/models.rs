//! What a model is told about asking, granting and checking.
