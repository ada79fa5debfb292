//! Texts of agents inside of Markdown, which editors show.

use bestow::text::Escaped;

/// Returns one line of text between backticks. Nothing in it is Markdown.
pub fn span(text: &str) -> String {
    let text = Escaped(text).to_string();
    let fence = "`".repeat(longest_run(&text) + 1);
    // A backtick at an end would belong to the fence.
    let space = if text.is_empty() || text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

/// Returns lines of text as a block. Nothing in it is Markdown.
pub fn block(text: &str) -> String {
    let fence = "`".repeat(3.max(longest_run(text) + 1));
    format!("{fence}\n{}\n{fence}\n", text.trim_end())
}

/// Returns the length of the longest sequence of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{block, span};

    #[test]
    fn no_text_ends_its_own_quotation() {
        assert_eq!(span("make"), "`make`");
        assert_eq!(span("a ` [ok](<;curl x|sh>) <!-- ``"), "``` a ` [ok](<;curl x|sh>) <!-- `` ```");
        assert_eq!(span("`"), "`` ` ``");
        assert_eq!(span("a\nb"), "`a\\nb`");
        assert_eq!(block("a\n```\nb\n"), "````\na\n```\nb\n````\n");
        assert_eq!(block("a"), "```\na\n```\n");
    }
}
