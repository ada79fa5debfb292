//! The words and tools that an orchestrator puts before a model, so that it can ask for permissions itself.
//!
//! [`tools`] gives the definitions for a function-calling API ([`functions`] wraps them as OpenAI-style APIs want
//! them),
//! [`instructions`] the paragraph of the system prompt, [`call`] carries a tool call of the model out, and [`news`]
//! says what
//! reaches the agent later. Who acts is the handle's agent, whatever the model says (`sources/004`, "Permission
//! requests" and
//! "Direct grants").
//!
//! ```no_run
//! # async fn turn(agent: bestow::Agent, name: &str, input: serde_json::Value) -> Result<(), bestow::Error> {
//! let (system, tools) = (bestow::prompt::instructions(&agent)?, bestow::prompt::tools());
//! // The model is run with `system` and `tools`, and calls one of them:
//! let result = bestow::prompt::call(&agent, name, &input).await;
//! # let _ = (system, tools, result);
//! # Ok(())
//! # }
//! ```

mod call;
mod stance;
mod tool;

pub use call::{call, news};
pub use stance::instructions;
pub use tool::{functions, is_tool, tools};
