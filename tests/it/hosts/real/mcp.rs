//! Coding agents as clients of `bestow mcp`: each calls a tool of it, because its model says so.

use serde_json::{Value, json};

use super::{
    Desk, claude_code, codex, copilot, done, gemini,
    model::{Dialect, Model},
};
use crate::support::BESTOW;

/// Creates a model that checks a permission, with the name of the tool that the client gives it.
fn checking(dialect: Dialect) -> Model {
    Model::calling(dialect, "check_permission", json!({ "permissions": ["@network", "@events"] }))
}

/// Fails unless the model got the answer of the tool.
fn is_answered(model: &Model, client: &str) {
    let result = model.result().to_string();
    assert!(result.contains("not_held") && result.contains("@events"), "{client}: {result}");
}

impl Desk {
    /// Returns the words that start the server for the agent.
    fn mcp(&self) -> Vec<String> {
        [vec!["mcp".to_owned()], self.engine()].concat()
    }

    fn servers(&self) -> Value {
        json!({ "mcpServers": { "bestow": { "command": BESTOW, "args": self.mcp() } } })
    }
}

#[test]
fn claude_code_calls_a_tool() {
    let Some(program) = claude_code::program() else { return };
    for desk in [Desk::served("claude"), Desk::own("claude")] {
        let model = checking(Dialect::Messages);
        let mut command = desk.claude(&program, &model);
        command.args(["--mcp-config", &desk.servers().to_string(), "--strict-mcp-config"]);
        // Otherwise its model searches for tools first.
        command.args(["--allowedTools", "mcp__bestow"]).env("ENABLE_TOOL_SEARCH", "false");
        done(command);
        is_answered(&model, "Claude Code");
    }
}

#[test]
fn codex_calls_a_tool() {
    let Some(program) = codex::program() else { return };
    for desk in [Desk::served("codex"), Desk::own("codex")] {
        let model = checking(Dialect::Responses);
        let words: Vec<_> = desk.mcp().iter().map(|word| format!("{word:?}")).collect();
        let server = format!("[mcp_servers.bestow]\ncommand = {BESTOW:?}\nargs = [{}]\n", words.join(", "));
        desk.settings_of_codex(&model, &server);
        desk.run_codex(&program, &[]);
        is_answered(&model, "Codex");
    }
}

#[test]
fn gemini_cli_calls_a_tool() {
    let Some(program) = gemini::program() else { return };
    for desk in [Desk::served("gemini"), Desk::own("gemini")] {
        let model = checking(Dialect::Contents);
        desk.run_gemini(&program, &model, desk.servers());
        is_answered(&model, "Gemini CLI");
    }
}

#[test]
fn copilot_cli_calls_a_tool() {
    let Some(program) = copilot::program() else { return };
    for desk in [Desk::served("copilot"), Desk::own("copilot")] {
        let model = checking(Dialect::Completions);
        let mut servers = desk.servers();
        servers["mcpServers"]["bestow"]["type"] = json!("local");
        servers["mcpServers"]["bestow"]["tools"] = json!(["*"]);
        desk.run_copilot(&program, &model, &["--additional-mcp-config", &servers.to_string()]);
        is_answered(&model, "Copilot CLI");
    }
}
