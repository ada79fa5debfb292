//! The tools of coding agents without an effect outside of their session: lists of tasks, questions to the user,
//! subagents whose calls are judged one by one. `docs/tools.md` names the sources.

use std::{collections::BTreeMap, sync::LazyLock};

use crate::values::{CodingAgent, Operation, Tool};

/// The reason for the tier of such a tool.
pub const IN_SESSION: &str = "it has no effect outside of the session of the coding agent";

/// A tool: its name, and the fields of its input.
type Row = (&'static str, &'static [&'static str]);

/// The fields of the tool that starts a subagent of Claude Code.
const SUBAGENT: &[&str] = &[
    "description",
    "prompt",
    "subagent_type",
    "model",
    "effort",
    "isolation",
    "run_in_background",
    "name",
    "resume",
    "max_turns",
];

const CLAUDE: &[Row] = &[
    ("Agent", SUBAGENT),
    ("AskUserQuestion", &["questions", "answers", "annotations", "metadata"]),
    ("BashOutput", &["bash_id", "filter", "wait_up_to"]),
    ("CronList", &[]),
    ("EnterPlanMode", &[]),
    ("ExitPlanMode", &["plan", "planFilePath", "allowedPrompts"]),
    ("KillBash", &["shell_id"]),
    ("KillShell", &["shell_id"]),
    ("ListAgents", &["channel", "q", "cursor"]),
    ("ReportFindings", &["level", "findings"]),
    ("ScheduleWakeup", &["delaySeconds", "reason", "prompt", "stop", "noop"]),
    ("SendMessage", &["to", "recipient", "message", "summary", "type", "content", "request_id", "approve"]),
    ("Skill", &["skill", "args", "command"]),
    ("SlashCommand", &["command"]),
    ("Task", SUBAGENT),
    ("TaskCreate", &["subject", "description", "activeForm", "metadata"]),
    ("TaskGet", &["taskId"]),
    ("TaskList", &[]),
    ("TaskOutput", &["task_id", "block", "timeout"]),
    ("TaskStop", &["task_id", "shell_id"]),
    (
        "TaskUpdate",
        &["taskId", "status", "subject", "description", "activeForm", "owner", "addBlocks", "addBlockedBy", "metadata"],
    ),
    ("TodoRead", &[]),
    ("TodoWrite", &["todos"]),
    ("ToolSearch", &["query", "max_results"]),
];

/// The fields of a message to a subagent of Codex. A path in it is an attachment.
const MESSAGE: &[&str] = &[
    "target",
    "targets",
    "id",
    "message",
    "model",
    "agent_type",
    "reasoning_effort",
    "items[].text",
    "items[].name",
    "items[].type",
    "items[].image_url",
    "items[].audio_url",
];

/// Codex tells its hook the name of the group and the name of the tool as one word.
const CODEX: &[Row] = &[
    ("close_agent", MESSAGE),
    ("create_goal", &["objective"]),
    ("get_goal", &[]),
    ("list_agents", &[]),
    ("multi_agent_v1close_agent", MESSAGE),
    ("multi_agent_v1resume_agent", MESSAGE),
    ("multi_agent_v1send_input", MESSAGE),
    ("multi_agent_v1spawn_agent", MESSAGE),
    ("multi_agent_v1wait_agent", MESSAGE),
    ("request_user_input", &["questions"]),
    ("resume_agent", MESSAGE),
    ("send_input", MESSAGE),
    ("spawn_agent", MESSAGE),
    ("tool_search", &["query", "limit"]),
    ("update_goal", &["status"]),
    ("update_plan", &["explanation", "plan"]),
    ("wait", MESSAGE),
    ("wait_agent", MESSAGE),
];

const GEMINI: &[Row] = &[
    ("activate_skill", &["name"]),
    ("ask_user", &["questions"]),
    ("enter_plan_mode", &["reason"]),
    ("exit_plan_mode", &["plan_path", "plan_filename"]),
    ("get_internal_docs", &["path"]),
    ("invoke_agent", &["agent_name", "prompt"]),
    ("list_background_processes", &[]),
    ("read_background_output", &["pid", "lines", "delay_ms"]),
    ("update_topic", &["title", "summary", "strategic_intent"]),
    ("write_todos", &["todos"]),
];

const COPILOT: &[Row] = &[
    ("ask_user", &["question", "choices", "allow_freeform"]),
    ("exit_plan_mode", &["summary", "actions", "recommendedAction"]),
    ("fetch_copilot_cli_documentation", &[]),
    ("list_agents", &["scope", "include_completed"]),
    ("list_bash", &[]),
    ("read_agent", &["agent_id", "wait", "timeout", "since_turn"]),
    ("read_bash", &["shellId", "sessionId", "delay"]),
    ("report_intent", &["intent"]),
    ("skill", &["skill"]),
    ("stop_bash", &["shellId", "sessionId"]),
    ("task", &["description", "prompt", "agent_type", "name", "model", "reasoning_effort", "context_tier", "mode"]),
    ("update_todo", &["todos"]),
    ("write_agent", &["agent_id", "agent_ids", "scope", "message"]),
];

/// The tools of one coding agent, by name.
type OfAgent = BTreeMap<&'static str, Tool>;

static TOOLS: LazyLock<Vec<(CodingAgent, OfAgent)>> = LazyLock::new(|| {
    CodingAgent::ALL.iter().map(|agent| (*agent, rows(*agent).iter().filter_map(tool).collect())).collect()
});

fn rows(of: CodingAgent) -> &'static [Row] {
    match of {
        CodingAgent::Claude => CLAUDE,
        CodingAgent::Codex => CODEX,
        CodingAgent::Gemini => GEMINI,
        CodingAgent::Copilot => COPILOT,
    }
}

/// Returns the declaration of a row. A field that the row does not have is judged like one that no declaration names.
fn tool((name, fields): &Row) -> Option<(&'static str, Tool)> {
    let plain = Tool::new(name.parse().ok()?, Operation::Tool);
    Some((name, fields.iter().fold(plain, |tool, field| tool.ignoring(*field))))
}

/// Returns the declaration of the tool `name` of a coding agent, if the tool has no effect outside of its session.
pub(super) fn find(of: CodingAgent, name: &str) -> Option<&'static Tool> {
    let (_, tools) = TOOLS.iter().find(|(agent, _)| *agent == of)?;
    tools.get(name)
}

/// Returns true if a coding agent has a tool of this name without an effect outside of its session. Its own prompt,
/// such as the one about a plan, is the decision of the person at its terminal.
pub fn is_session_tool(of: CodingAgent, name: &str) -> bool {
    find(of, name).is_some()
}

/// Returns the tools of coding agents without an effect outside of their session.
///
/// ```
/// use bestow_command::{session_tools, values::CodingAgent};
/// let tools = session_tools();
/// assert!(tools.iter().any(|(of, tool)| *of == CodingAgent::Claude && tool.name().as_str() == "TodoWrite"));
/// ```
pub fn session_tools() -> Vec<(CodingAgent, Tool)> {
    TOOLS.iter().flat_map(|(of, tools)| tools.values().map(|tool| (*of, tool.clone()))).collect()
}
