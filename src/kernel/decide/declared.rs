//! Declarations of tools by people. They replace no other source and are limited in size.

use std::sync::Arc;

use crate::model::{Event, ToolName, Tools};

use super::super::{
    Refusal, State,
    command::Person,
    declared::{MAX_BYTES, MAX_DECLARED},
};

impl State {
    /// Replaces the tool declarations of a person. `taken` is a declared tool whose name the policy file, the host
    /// program or the built-in table already declares.
    pub(super) fn declare_by(
        &self,
        by: &Person,
        tools: &Arc<Tools>,
        taken: Option<ToolName>,
    ) -> Result<Vec<Event>, Refusal> {
        if let Some(tool) = taken {
            return Err(Refusal::ToolIsDeclared(tool));
        }
        let others = self.declared.get(&by.owner).into_iter().flatten().filter(|(declarer, _)| **declarer != by.by);
        let all = || others.clone().map(|(_, tools)| tools).chain([tools]);
        let count: usize = all().map(|tools| tools.iter().count()).sum();
        let bytes = all().map(|tools| tools.size()).fold(0, usize::saturating_add);
        if count > MAX_DECLARED || bytes > MAX_BYTES {
            return Err(Refusal::TooManyDeclarations { tools: MAX_DECLARED, bytes: MAX_BYTES });
        }
        let now = self.declared.get(&by.owner).and_then(|of_owner| of_owner.get(&by.by));
        if now.map_or(tools.is_empty(), |now| now == tools) {
            return Ok(Vec::new());
        }
        Ok(vec![Event::DeclarationsChanged {
            owner: by.owner.clone(),
            declarer: by.by.clone(),
            tools: Arc::clone(tools),
            by: by.actor(),
        }])
    }
}
