//! The tools that the real coding agents offer to their models.

use bestow::tool::CodingAgent;
use serde_json::{Value, json};

use super::{
    super::tool_schemas::{Schemas, fields, file, text},
    Desk, claude_code, codex, copilot, done, gemini,
    model::{Dialect, Model},
};
use crate::support::as_written;

/// The tools that Claude Code offers only after its model has asked for them.
const DEFERRED: &str = "select:CronCreate,CronDelete,CronList,EnterWorktree,ExitWorktree,Monitor,NotebookEdit,\
                        SendMessage,TaskStop,WebFetch,WebSearch";

/// The fields that Gemini CLI adds to its search where `rg` is installed.
const WITH_RIPGREP: [&str; 6] = [
    "after: integer",
    "before: integer",
    "case_sensitive: boolean",
    "context: integer",
    "fixed_strings: boolean",
    "no_ignore: boolean",
];

/// Returns the tools in the last request to a model.
fn offered(model: &Model) -> Schemas {
    let mut schemas = Schemas::new();
    for (name, schema) in model.offered() {
        let mut all = Vec::new();
        fields(&schema, "", &mut all);
        all.retain(|field| name != "grep_search" || !WITH_RIPGREP.contains(&field.as_str()));
        all.sort();
        all.dedup();
        schemas.insert(name, all);
    }
    schemas
}

fn saying(dialect: Dialect) -> Model {
    Model::playing(dialect, |_| None)
}

fn compare(of: CodingAgent, model: &Model) {
    as_written(&file(of), &text(&offered(model)));
}

#[test]
fn claude_code_offers_the_tools_of_the_fixture() {
    let Some(program) = claude_code::program() else { return };
    let desk = Desk::own("claude");
    let model = Model::calling(Dialect::Messages, "ToolSearch", json!({ "query": DEFERRED, "max_results": 20 }));
    done(desk.claude(&program, &model));
    compare(CodingAgent::Claude, &model);
}

#[test]
fn codex_offers_the_tools_of_the_fixture() {
    let Some(program) = codex::program() else { return };
    let desk = Desk::own("codex");
    let model = saying(Dialect::Responses);
    desk.settings_of_codex(&model, "");
    desk.run_codex(&program, &[]);
    compare(CodingAgent::Codex, &model);
}

#[test]
fn gemini_cli_offers_the_tools_of_the_fixture() {
    let Some(program) = gemini::program() else { return };
    let desk = Desk::own("gemini");
    let model = saying(Dialect::Contents);
    desk.run_gemini(&program, &model, Value::Object(serde_json::Map::new()));
    compare(CodingAgent::Gemini, &model);
}

#[test]
fn copilot_cli_offers_the_tools_of_the_fixture() {
    let Some(program) = copilot::program() else { return };
    let desk = Desk::own("copilot");
    let model = saying(Dialect::Completions);
    desk.run_copilot(&program, &model, &[]);
    compare(CodingAgent::Copilot, &model);
}
