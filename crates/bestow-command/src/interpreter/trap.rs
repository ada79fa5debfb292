//! Values that an evaluation would run.

/// Returns true for a subscript that contains a command. Several builtins run it although it is quoted.
pub(crate) fn is_evaluation_trap(text: &str) -> bool {
    text.find('[').is_some_and(|open| {
        let rest = text.get(open..).unwrap_or_default();
        rest.contains("$(") || rest.contains('`') || rest.contains("${")
    })
}

/// Returns true if arithmetic that evaluates the text runs a command in it, whatever quotes stood around it.
pub(crate) fn runs_in_arithmetic(text: &str) -> bool {
    ["$(", "`", "${", "<(", ">("].iter().any(|sign| text.contains(sign))
}

/// Returns true for a decimal number in which no shell sees another one.
pub(crate) fn is_plain_number(text: &str) -> bool {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number && (text == "0" || !text.starts_with('0'))
}
