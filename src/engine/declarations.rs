//! Declarations of tools by a person, for the agents of an owner.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    command::declaration,
    kernel::Command,
    model::{ApproverId, Tools},
};

use super::{Approver, Error};

/// Declarations: what tools do that neither the file, the host program nor the built-in table declares. They are stored with
/// the rest, and hold until whoever declared them declares others.
///
/// # Authority
///
/// A declaration gives no right and hides nothing: every text of the call goes on being read as for a tool that nobody
/// declared, and what is declared is used besides.
impl Approver {
    /// Declares tools for agents of this owner, in the place of those that this person declared before; none, to take
    /// these back.
    ///
    /// ```
    /// # use bestow::{Approver, Operation, Tool, Tools};
    /// # async fn example(you: Approver) -> Result<(), Box<dyn std::error::Error>> {
    /// let save = Tool::new("notes/save".parse()?, Operation::Write).path("note.file".parse()?);
    /// you.declare(Tools::new([save])?).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Refused`]: [`Refusal::ToolIsDeclared`](crate::Refusal::ToolIsDeclared),
    /// [`Refusal::TooManyDeclarations`](crate::Refusal::TooManyDeclarations). Then none of them is declared.
    pub async fn declare(&self, tools: Tools) -> Result<(), Error> {
        let classifier = self.shared.classifier.load_full();
        let is_taken = |name: &str| declaration(classifier.tools(), name).is_some();
        let taken = tools.iter().map(|tool| tool.name()).find(|name| is_taken(name.as_str())).cloned();
        let command = Command::Declare { by: self.person(), tools: Arc::new(tools), taken };
        self.shared.execute(command).acknowledged().await.map(drop)
    }

    /// The tools that people declared for agents of this owner, by who declared them.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub fn declarations(&self) -> Result<BTreeMap<ApproverId, Arc<Tools>>, Error> {
        self.shared.look(|state, _| state.declared_for(&self.owner))
    }
}
