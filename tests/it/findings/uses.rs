//! Everything that an action uses is judged, whatever it is called.
