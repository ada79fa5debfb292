//! Values that an evaluation would run.

/// Returns true for a subscript that contains a command. Several builtins run it although it is quoted.
pub(crate) fn is_evaluation_trap(text: &str) -> bool {
    text.find('[').is_some_and(|open| {
        let rest = text.get(open..).unwrap_or_default();
        rest.contains("$(") || rest.contains('`') || rest.contains("${")
    })
}
