//! Declarations of tools by a person, for the agents of an owner.

use std::{collections::BTreeMap, sync::Arc};

use bestow_command::internal::declaration;

use crate::{
    kernel::Command,
    model::{ApproverId, Tools},
};

use super::{Approver, Error};

/// Tool declarations: the effects of tools that the policy file, the host program and the built-in table do not
/// declare. They are stored with the state, and hold until the person who made them declares other tools.
///
/// # Authority
///
/// A declaration grants no permission and hides nothing. Every text of the call is still read as for an undeclared
/// tool, and the declared uses are added.
impl Approver {
    /// Declares tools for the agents of this owner. They replace the tools that this person declared before; an empty
    /// set removes them.
    ///
    /// ```
    /// # use bestow::{Approver, action::Operation, tool::{Tool, Tools}};
    /// # async fn example(you: Approver) -> Result<(), Box<dyn std::error::Error>> {
    /// let save = Tool::new("notes/save".parse()?, Operation::Write).path("note.file".parse()?);
    /// you.declare(Tools::new([save])?).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Refused`]: [`Refusal::ToolIsDeclared`](crate::decision::Refusal::ToolIsDeclared),
    /// [`Refusal::TooManyDeclarations`](crate::decision::Refusal::TooManyDeclarations). Then no tool is declared.
    pub async fn declare(&self, tools: Tools) -> Result<(), Error> {
        let classifier = self.shared.classifier.load_full();
        let is_taken = |name: &str| declaration(classifier.tools(), name).is_some();
        let taken = tools.iter().map(|tool| tool.name()).find(|name| is_taken(name.as_str())).cloned();
        let command = Command::Declare { by: self.person()?, tools: Arc::new(tools), taken };
        self.shared.execute(command).acknowledged().await.map(drop)
    }

    /// Returns the tools that people declared for the agents of this owner, by the person who declared them.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub fn declarations(&self) -> Result<BTreeMap<ApproverId, Arc<Tools>>, Error> {
        let owner = self.person()?.owner;
        self.shared.look(|state, _| state.declared_for(&owner))
    }
}
