//! Gemini CLI itself, with `bestow hook gemini` as its hook.

use serde_json::{Value, json};

use super::{
    Desk, done, hooks, installed,
    model::{Dialect, Model},
};

/// Returns the script.
pub(super) fn program() -> Option<std::path::PathBuf> {
    installed("node_modules/@google/gemini-cli/bundle/gemini.js")
}

impl Desk {
    /// Lets Gemini CLI do what the model says, with these settings.
    pub(super) fn run_gemini(&self, program: &std::path::Path, model: &Model, mut settings: Value) {
        settings["security"] = json!({ "auth": { "selectedType": "gemini-api-key" } });
        self.write(".gemini/settings.json", &settings);
        let mut command = self.command("node");
        command.arg(program).args(["-m", "gemini-2.5-pro", "--yolo", "-p", "go"]);
        command.env("GEMINI_API_KEY", "none").env("GEMINI_CLI_TRUST_WORKSPACE", "true");
        command.env("GOOGLE_GEMINI_BASE_URL", format!("http://{}", model.address));
        done(command);
    }
}

#[test]
fn gemini_cli_stops_a_call_that_is_denied_and_makes_one_that_is_allowed() {
    let Some(program) = program() else { return };
    for desk in [Desk::served("gemini"), Desk::own("gemini")] {
        std::fs::write(desk.path("work/there"), "").unwrap();
        let hooks = hooks(&["BeforeTool", "SessionStart", "SessionEnd"], &desk.hook(""), 60_000);
        let run = |shell: &str| {
            let model = Model::calling(Dialect::Contents, "run_shell_command", json!({ "command": shell }));
            desk.run_gemini(&program, &model, json!({ "hooks": hooks }));
            model.result().to_string()
        };
        let result = run("touch made; rm -rf /");
        assert!(result.contains("Destructive command") && !desk.path("work/made").exists(), "{result}");
        let result = run("ls");
        assert!(result.contains("there") && !result.contains("bestow"), "{result}");
        let session = ["session begins", "session ends"];
        assert_eq!(desk.lives("gemini:"), [session, session].concat());
    }
}
