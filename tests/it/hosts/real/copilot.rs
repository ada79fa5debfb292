//! GitHub Copilot CLI itself, with `bestow hook copilot` as its hook.

use std::{fs, path::Path};

use serde_json::{Value, json};

use super::{
    Desk, MACHINE, done, installed,
    model::{Dialect, Model},
};

/// Returns the program.
pub(super) fn program() -> Option<std::path::PathBuf> {
    installed(&format!("node_modules/@github/copilot-linux-{MACHINE}/copilot"))
}

impl Desk {
    /// Lets Copilot CLI do what the model says.
    pub(super) fn run_copilot(&self, program: &Path, model: &Model, words: &[&str]) {
        let mut command = self.command(program);
        command.args(["-p", "go", "--allow-all-tools"]).args(words);
        command.env("COPILOT_OFFLINE", "true").env("COPILOT_AUTO_UPDATE", "false").env("COPILOT_MODEL", "m");
        command.env("COPILOT_PROVIDER_BASE_URL", format!("http://{}/v1", model.address));
        done(command);
    }

    fn hooks_of_copilot(&self, names: [&str; 3]) -> Value {
        let hook = json!([{ "type": "command", "bash": self.hook(""), "timeoutSec": 30 }]);
        let all: serde_json::Map<_, _> = names.into_iter().map(|name| (name.to_owned(), hook.clone())).collect();
        json!({ "version": 1, "hooks": all })
    }
}

/// The names of the events, in both spellings of Copilot CLI.
const CAMEL: [&str; 3] = ["preToolUse", "sessionStart", "sessionEnd"];
const PASCAL: [&str; 3] = ["PreToolUse", "SessionStart", "SessionEnd"];

fn running(command: &str) -> Model {
    Model::calling(Dialect::Completions, "bash", json!({ "command": command, "description": "run" }))
}

#[test]
fn copilot_cli_stops_a_call_that_is_denied_and_makes_one_that_is_allowed() {
    let Some(program) = program() else { return };
    for (desk, names) in [(Desk::served("copilot"), CAMEL), (Desk::own("copilot"), PASCAL)] {
        fs::write(desk.path("work/there"), "").unwrap();
        desk.write(".copilot/hooks/bestow.json", &desk.hooks_of_copilot(names));
        let run = |shell: &str| {
            let model = running(shell);
            desk.run_copilot(&program, &model, &[]);
            model.result().to_string()
        };
        let result = run("touch made; rm -rf /");
        assert!(result.contains("Destructive command") && !desk.path("work/made").exists(), "{result}");
        let result = run("ls");
        assert!(result.contains("there") && !result.contains("hook"), "{result}");
        let session = ["session begins", "session ends"];
        assert_eq!(desk.lives("copilot:"), [session, session].concat());
    }
}

/// The trap: Copilot CLI passes over the hooks of a project that nobody has trusted, and says nothing.
#[test]
fn copilot_cli_runs_no_hook_of_a_project_that_a_person_has_not_trusted() {
    let Some(program) = program() else { return };
    let desk = Desk::own("copilot");
    let hooks = desk.path("work/.github/hooks");
    fs::create_dir_all(&hooks).unwrap();
    fs::write(hooks.join("bestow.json"), desk.hooks_of_copilot(CAMEL).to_string()).unwrap();
    // The hooks of a project are those of a repository.
    assert!(desk.command("git").args(["init", "-q"]).status().unwrap().success());
    for (words, is_stopped) in [(&[][..], false), (&["--trust-folder"], true)] {
        let _ = fs::remove_file(desk.path("work/made"));
        let model = running("touch made");
        desk.run_copilot(&program, &model, words);
        assert_eq!(desk.path("work/made").exists(), !is_stopped, "docs/hooks.md says so: {}", model.result());
    }
}
