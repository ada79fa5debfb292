//! Tool calls: the effects of a call, from its tool name and input. Tiers and decisions use the same interpretation.

mod built_in;
mod call;
mod classify;
mod declared;
mod patch;
pub(crate) mod sensitive;
mod session_tools;
mod tool_name;
mod tool_use;
mod undeclared;
mod word_lists;

pub use built_in::built_in_tools;
pub use call::{Call, DeclaredCall, declaration, read, read_as};
pub use classify::{DECLARED, TYPED, UNLISTED, classify_tool};
pub(super) use sensitive::{is_guarded, is_sensitive};
pub use session_tools::{IN_SESSION, is_session_tool, session_tools};
pub use tool_name::destroying_word;
pub use tool_use::ToolUse;
pub use undeclared::{Followed, Undeclared, command_lines, is_certainly_a_path, is_known_command, with_nested_json};
pub(super) use word_lists::words_in;
