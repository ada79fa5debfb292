//! Lines that repeat themselves are followed to their end, or refused: the work grows no faster than the line.
