//! The agent's request for a permission, in version 1 and in the draft of version 2.

use std::path::PathBuf;

use bestow::text::{Escaped, StrictJson};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::tool_call::ToolCall;

/// A request for a permission.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Asked {
    pub(super) session: String,
    pub(super) subject: Subject,
    pub(super) options: Vec<PermissionOption>,
}

/// The subject of a request.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Subject {
    Call(Box<ToolCall>),
    /// A command, which runs in this directory (version 2).
    Command {
        command: String,
        cwd: PathBuf,
    },
    /// Something that this version does not know.
    Unknown(String),
}

/// An answer that the agent offers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PermissionOption {
    pub(super) option_id: String,
    pub(super) kind: String,
}

/// The parameters as they are written. Other fields are left out.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    session_id: String,
    /// The subject in version 1.
    tool_call: Option<ToolCall>,
    /// The subject in version 2.
    subject: Option<Value>,
    title: Option<String>,
    description: Option<String>,
    options: Vec<PermissionOption>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfCall {
    tool_call: ToolCall,
}

#[derive(Deserialize)]
struct OfCommand {
    command: String,
    cwd: PathBuf,
}

/// The fields of a command. Another one could change what it does.
const OF_COMMAND: [&str; 6] = ["type", "command", "cwd", "toolCallId", "terminalId", "_meta"];

impl Asked {
    /// Reads the parameters of a request.
    ///
    /// # Errors
    ///
    /// The reason why nobody can answer the request, for people.
    pub(super) fn read(params: Option<&RawValue>) -> Result<Asked, String> {
        let params = params.ok_or("`params` is missing")?;
        let wrong = |why: serde_json::Error| format!("`params`: {why}");
        let StrictJson(params) = StrictJson::read(params.get().as_bytes()).map_err(wrong)?;
        let params: Params = serde_json::from_value(params).map_err(wrong)?;
        let options = params.options;
        let repeated = |(place, option): (usize, &PermissionOption)| {
            options.iter().take(place).any(|before| before.option_id == option.option_id)
        };
        if options.iter().enumerate().any(repeated) {
            return Err("`options`: two of them have one `optionId`".to_owned());
        }
        let subject = match (params.tool_call, params.subject) {
            (Some(_), Some(_)) => return Err("it has both `toolCall` and `subject`".to_owned()),
            (Some(call), None) => Subject::Call(Box::new(call)),
            (None, Some(subject)) => Subject::read(subject, params.title)?,
            (None, None) => Subject::of_texts(params.title, params.description).ok_or("`toolCall` is missing")?,
        };
        Ok(Asked { session: params.session_id, subject, options })
    }
}

impl Subject {
    fn read(subject: Value, title: Option<String>) -> Result<Subject, String> {
        let wrong = |why: serde_json::Error| format!("`subject`: {why}");
        let kind = subject.get("type").and_then(Value::as_str).ok_or("`subject` has no `type`")?.to_owned();
        match &*kind {
            "tool_call" => {
                let OfCall { tool_call } = serde_json::from_value(subject).map_err(wrong)?;
                // The texts of the prompt are for people. They count where the call has none.
                let title = tool_call.title.clone().or(title);
                Ok(Subject::Call(Box::new(ToolCall { title, ..tool_call })))
            }
            "command" => {
                let unknown =
                    subject.as_object().into_iter().flatten().find(|(name, _)| !OF_COMMAND.contains(&&***name));
                if let Some((name, _)) = unknown {
                    return Err(format!("`subject` has the unknown field `{}`", Escaped(name)));
                }
                let OfCommand { command, cwd } = serde_json::from_value(subject).map_err(wrong)?;
                Ok(Subject::Command { command, cwd })
            }
            _ => Ok(Subject::Unknown(kind)),
        }
    }

    /// Returns the subject of a request that has only texts for people.
    fn of_texts(title: Option<String>, description: Option<String>) -> Option<Subject> {
        let title = title?;
        let title = description.map_or(title.clone(), |more| format!("{title}\n{more}"));
        Some(Subject::Call(Box::new(ToolCall { title: Some(title), ..ToolCall::default() })))
    }
}

/// The choice among the offered options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// The option with this id.
    Selected(String),
    /// No option refuses, or no option is to be chosen.
    Cancelled,
}

impl Choice {
    /// Returns the choice of the first option, if there is no second one.
    fn of_only(found: (Option<&PermissionOption>, Option<&PermissionOption>)) -> Option<Choice> {
        match found {
            (Some(option), None) => Some(Choice::Selected(option.option_id.clone())),
            (Some(_), Some(_)) | (None, _) => None,
        }
    }
}

impl Asked {
    /// Returns the id of the call, which the agent may have described before.
    pub(super) fn call_id(&self) -> Option<&str> {
        match &self.subject {
            Subject::Call(call) => call.tool_call_id.as_deref(),
            Subject::Command { .. } | Subject::Unknown(_) => None,
        }
    }

    /// Returns the option that allows this once. If there is none, and `may_last`, it returns the option that allows it
    /// always. None if there is no such option, or several: an engine cannot know which of them is meant.
    pub(super) fn allowing(&self, may_last: bool) -> Option<Choice> {
        let of_kind = |kind| {
            let mut all = self.options.iter().filter(move |option| option.kind == kind);
            (all.next(), all.next())
        };
        match of_kind("allow_once") {
            (None, _) if may_last => Choice::of_only(of_kind("allow_always")),
            once => Choice::of_only(once),
        }
    }

    /// Returns the option that refuses this once. Without one, the request is cancelled, which refuses as well.
    pub(super) fn refusing(&self) -> Choice {
        let option = self.options.iter().find(|option| option.kind == "reject_once");
        option.map_or(Choice::Cancelled, |option| Choice::Selected(option.option_id.clone()))
    }
}

#[cfg(test)]
mod tests;
