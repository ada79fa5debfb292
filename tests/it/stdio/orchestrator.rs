//! The example that tells the whole story.

use std::{env, process::Stdio};

use tokio::process::Command;

use super::{repository, soon};

/// Through cargo, so that what runs is what the sources say now.
fn orchestrator(arguments: &[&str]) -> Command {
    let this = env::current_exe().unwrap();
    // <target>/<profile>/deps/<test>
    let (profile, target) = (this.ancestors().nth(2).unwrap(), this.ancestors().nth(3).unwrap());
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["run", "--quiet", "--offline", "--example", "orchestrator"]);
    if profile.ends_with("release") {
        command.arg("--release");
    }
    command.arg("--target-dir").arg(target).arg("--").args(arguments);
    command.current_dir(repository()).stdin(Stdio::null()).kill_on_drop(true);
    command
}

#[tokio::test]
async fn the_example_tells_its_story_to_the_end_and_leaves_its_files() {
    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path().to_str().unwrap();
    let output = soon("the story", orchestrator(&["--script", "--dir", dir]).output()).await.unwrap();
    let (told, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{told}\n{log}");
    assert!(!told.contains('\u{1b}'), "no colour where there is no terminal");
    for file in
        ["site/index.html", "reports/summary.md", "check/notes.txt", "assets/checked/logo.txt", "done/signed.txt"]
    {
        assert!(directory.path().join("workspace").join(file).exists(), "{file} is missing:\n{told}");
    }
}

#[tokio::test]
async fn an_argument_that_is_not_known_is_an_error() {
    let output = soon("the example", orchestrator(&["--skript"]).output()).await.unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("--script"));
}
