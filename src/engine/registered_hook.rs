//! A hook of the host program.

use std::sync::Arc;

use crate::{model::HookName, ports::Hook};

/// A hook and its name.
#[derive(Clone, Debug)]
pub(super) struct RegisteredHook {
    pub(super) name: HookName,
    pub(super) hook: Arc<dyn Hook>,
}
