//! The values that the interpreter and the evaluator of programs exchange.

/// The standard input of a program.
#[derive(Clone, Debug)]
pub(crate) enum Input {
    /// An input that this text does not determine.
    Terminal,
    /// This text, as far as it matters.
    Text(String),
    /// Unknown input.
    Unknown,
}

impl Input {
    /// Returns true if the input is empty or contains only the word that ends a session.
    pub(crate) fn is_silent(&self) -> bool {
        match self {
            Input::Terminal => true,
            Input::Text(text) => matches!(text.trim_end_matches('\n'), "" | "Q"),
            Input::Unknown => false,
        }
    }
}
