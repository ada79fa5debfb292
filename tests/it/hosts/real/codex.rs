//! Codex itself, with `bestow hook codex` as its hook.

use serde_json::json;

use super::{
    Desk, MACHINE, done, hooks, installed,
    model::{Dialect, Model},
};

/// Returns the program.
pub(super) fn program() -> Option<std::path::PathBuf> {
    let target = if MACHINE == "arm64" { "aarch64" } else { "x86_64" };
    installed(&format!("node_modules/@openai/codex-linux-{MACHINE}/vendor/{target}-unknown-linux-musl/bin/codex"))
}

impl Desk {
    /// Writes the settings of Codex: the model, and more.
    pub(super) fn settings_of_codex(&self, model: &Model, more: &str) {
        let text = format!(
            "model = \"m\"\nmodel_provider = \"test\"\napproval_policy = \"never\"\nsandbox_mode = \
             \"danger-full-access\"\n\n[model_providers.test]\nname = \"test\"\nbase_url = \"http://{}/v1\"\n\
             wire_api = \"responses\"\n\n{more}",
            model.address
        );
        std::fs::create_dir_all(self.path("home/.codex")).unwrap();
        std::fs::write(self.path("home/.codex/config.toml"), text).unwrap();
    }

    fn hooks_of_codex(&self) {
        let events = ["PreToolUse", "PermissionRequest", "SessionStart", "SessionEnd", "SubagentStart", "SubagentStop"];
        let hooks = hooks(&events, &self.hook(" --assume-directory"), 600);
        self.write(".codex/hooks.json", &json!({ "hooks": hooks }));
    }

    /// Lets Codex do what the model says.
    pub(super) fn run_codex(&self, program: &std::path::Path, words: &[&str]) {
        let mut command = self.command(program);
        command.args(["exec", "--skip-git-repo-check"]).args(words).arg("go");
        done(command);
    }
}

/// The words with which Codex takes the hooks as trusted.
const TRUSTED: [&str; 1] = ["--dangerously-bypass-hook-trust"];

fn running(command: &str) -> Model {
    Model::calling(Dialect::Responses, "exec_command", json!({ "cmd": command }))
}

#[test]
fn codex_stops_a_call_that_is_denied_and_makes_one_that_is_allowed() {
    let Some(program) = program() else { return };
    for desk in [Desk::served("codex"), Desk::own("codex")] {
        std::fs::write(desk.path("work/there"), "").unwrap();
        desk.hooks_of_codex();
        let model = running("touch made; rm -rf /");
        desk.settings_of_codex(&model, "");
        desk.run_codex(&program, &TRUSTED);
        let result = model.result().to_string();
        assert!(result.contains("Destructive command") && !desk.path("work/made").exists(), "{result}");
        let model = running("ls");
        desk.settings_of_codex(&model, "");
        desk.run_codex(&program, &TRUSTED);
        let result = model.result().to_string();
        assert!(result.contains("there") && !result.contains("bestow"), "{result}");
        let session = ["session begins", "session ends"];
        assert_eq!(desk.lives("codex:"), [session, session].concat());
    }
}

/// The trap: Codex passes over hooks that nobody has trusted, and says nothing.
#[test]
fn codex_runs_no_hook_that_a_person_has_not_trusted() {
    let Some(program) = program() else { return };
    let desk = Desk::own("codex");
    desk.hooks_of_codex();
    let model = running("touch made");
    desk.settings_of_codex(&model, "");
    desk.run_codex(&program, &[]);
    assert!(desk.path("work/made").exists(), "docs/hooks.md says so: {}", model.result());
}
