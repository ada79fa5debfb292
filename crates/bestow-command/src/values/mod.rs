//! The values that commands and tool calls speak about: paths, permissions, tools, names that need care.
//!
//! Each value is parsed once. The package `bestow` shows them again, at its root.

mod coding_agent;
mod command_rules;
mod device;
mod escape;
mod exact_numbers;
mod field;
mod file_url;
mod host;
mod named;
mod operation;
mod path;
mod pattern;
mod permission;
mod script;
mod selection;
mod sensitive;
mod shell;
mod spoken;
mod strict_json;
mod tool;
mod tool_name;
mod tool_path;

pub use coding_agent::CodingAgent;
pub use command_rules::{CommandProfile, CommandRules, InvalidProfile, InvalidTier, Raise, SafeAddition, Tier};
pub use escape::Escaped;
pub use field::{Field, InvalidField};
pub use operation::{InvalidOperation, Operation};
pub use path::{InvalidPath, SanitizedPath, sanitize};
pub use pattern::{CommandPattern, InvalidPattern};
pub use permission::{Access, InvalidPermission, InvalidPermissions, Permission, PermissionRef, Permissions};
pub use sensitive::{InvalidSensitiveName, SensitiveName};
pub use shell::{InvalidShell, Shell};
pub use strict_json::StrictJson;
pub use tool::{InvalidTool, Tool, Tools};
pub use tool_name::{InvalidToolName, ToolName};
pub use tool_path::{InvalidToolPath, ToolPath};

/// Pieces that the classifier and the engine share. They are no part of the public interface.
#[doc(hidden)]
pub mod shared {
    pub use super::{
        device::is_device_name,
        escape::{Quoted, Ticked, is_deceptive},
        exact_numbers::with_exact_numbers,
        field::{Found, Unreadable},
        file_url::path_in_file_url,
        host::{canonical_host, percent_decoded},
        named::{Below, Named},
        pattern::Coverage,
        permission::{MAX_PERMISSIONS, list as list_permissions},
        selection::Selection,
        sensitive::{
            Columns, OBEYED_IN_REPOSITORY, REPOSITORY, columns_of_text, documented_names, held_in_place,
            is_sensitive_name, makes_a_repository, part_kept_from_commands, sensitive_examples, sensitive_part,
            table_fingerprint,
        },
        spoken::{Ends, Obeyed, Obeys, Said, Spoken, SpokenPart, StartDir, base_name},
    };
}

pub(crate) use file_url::paths_in_file_url;
pub(crate) use pattern::is_like;
pub(crate) use shared::*;
pub(crate) use spoken::behind_last;
