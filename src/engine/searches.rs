//! Searches of directories, which may take long. They run beside the tasks of the runtime, and few at a time, so that
//! the search of one agent delays no other one.

use std::sync::Arc;

use bestow_command::internal::{Call, DeclaredCall, ToolUse, read_call};
use tokio::runtime::Handle;

use crate::{
    kernel::ResolvedAction,
    model::{Action, Below, Named, Operation, Profile, ToolName, What},
};

use super::{Agent, Error, shared::Shared};

impl Shared {
    /// Returns true if resolving `action` may search directories.
    fn may_search(&self, profile: &Profile, action: &Action) -> Result<bool, Error> {
        let reader = self.classifier.load();
        let line_may = |line: &str| -> Result<bool, Error> {
            let surroundings = self.surroundings(&profile.id, Some(profile.working_dir.as_str()))?;
            let is_strict = self.look(|state, _| state.only_reads_by_itself(&profile.id))?;
            let line = reader.line(line, action.shell, &Arc::new(surroundings), is_strict);
            Ok(line.named.iter().any(uses_directory))
        };
        match &action.what {
            What::Plain(Operation::Command, line) => line_may(line),
            What::Plain(..) => Ok(false),
            What::Call(input) => {
                let name = action.tool.as_ref().map_or("", ToolName::as_str);
                match read_call(reader.tools(), action.coding_agent, name, input) {
                    Call::Declared(call) if uses_tree(&call) => Ok(true),
                    Call::Declared(call) => match &call.own {
                        ToolUse::Command(line) => line_may(line),
                        ToolUse::Path { .. } | ToolUse::Host(_) | ToolUse::Network | ToolUse::Tool => Ok(false),
                    },
                    Call::Undeclared | Call::Session(_) => Ok(true),
                    Call::Invalid(..) => Ok(false),
                }
            }
        }
    }
}

fn uses_tree(call: &DeclaredCall<'_>) -> bool {
    let moves = call.tool.operation() == Operation::Write;
    let is_tree = |used: &ToolUse<'_>| matches!(used, ToolUse::Path { tree: true, .. });
    moves || std::iter::once(&call.own).chain(&call.further).any(is_tree)
}

fn uses_directory(named: &Named) -> bool {
    let Named::Path { below, pattern, .. } = named else { return false };
    pattern.is_some() || below.is_everything() || *below == Below::Versions
}

impl Agent {
    /// Resolves `action` for this agent, and searches directories beside the tasks of the runtime.
    pub(super) async fn considered_aside(&self, action: &Action) -> Result<ResolvedAction, Error> {
        let Ok(runtime) = Handle::try_current() else { return self.considered(action) };
        if !self.shared.may_search(&*self.profile()?, action)? {
            return self.considered(action);
        }
        let turn = Arc::clone(&self.shared.searches).acquire_owned().await;
        let (agent, action) = (self.clone(), action.clone());
        let search = move || {
            let considered = agent.considered(&action);
            drop(turn);
            considered
        };
        runtime.spawn_blocking(search).await.unwrap_or(Err(Error::Closed))
    }
}
