//! The texts and tools that an orchestrator gives to a model, so that the model can request permissions itself.
//!
//! [`tools`] returns the definitions for a function-calling API, and [`functions`] wraps them in the form of
//! OpenAI-style APIs. [`instructions`] returns the paragraph for the system prompt. [`call`] carries out a tool call of
//! the model, and [`news`] returns the text of later notifications. The acting agent is always the agent of the handle:
//! the model cannot choose it (`sources/004`, "Permission requests" and "Direct grants").
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
mod instructions;
mod tools;

pub use call::{call, news};
pub use instructions::instructions;
pub use tools::{functions, is_tool, tools};
