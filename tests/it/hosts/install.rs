//! `bestow install claude` and `bestow uninstall claude`, on real files.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{BESTOW, real};

const POLICY: &str =
    "[agents.claude]\nkind = \"permanent\"\nowner = \"you\"\nworking_dir = \"/tmp\"\npermissions = []\n";

const OWN: [&str; 6] = ["--agent", "claude", "--config", "agents.toml", "--state", "state"];

/// A project with a policy file, and perhaps with settings.
struct Project {
    place: TempDir,
    /// A directory for programs that come before those of the machine.
    programs: TempDir,
}

impl Project {
    fn new(settings: Option<&str>) -> Project {
        let project = Project { place: tempfile::tempdir().unwrap(), programs: tempfile::tempdir().unwrap() };
        fs::write(project.place.path().join("agents.toml"), POLICY).unwrap();
        fs::set_permissions(project.place.path().join("agents.toml"), fs::Permissions::from_mode(0o600)).unwrap();
        // No other Claude Code counts, whatever this machine has.
        project.claude("exit 1");
        if let Some(text) = settings {
            fs::create_dir(project.place.path().join(".claude")).unwrap();
            fs::write(project.settings(), text).unwrap();
        }
        project
    }

    /// Puts a program in the place of Claude Code.
    fn claude(&self, script: &str) {
        let path = self.programs.path().join("claude");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn settings(&self) -> PathBuf {
        self.place.path().join(".claude/settings.json")
    }

    fn text(&self) -> String {
        fs::read_to_string(self.settings()).unwrap()
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.text()).unwrap()
    }

    /// Returns the exit code, and everything that was printed.
    fn run(&self, words: &[&str]) -> (Option<i32>, String) {
        let path = format!("{}:{}", self.programs.path().display(), std::env::var("PATH").unwrap());
        let mut command = Command::new(BESTOW);
        command
            .args(words)
            .current_dir(self.place.path())
            .env("PATH", path)
            .env("HOME", self.place.path().join("home"));
        let done = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (done.status.code(), text(&done.stdout) + &text(&done.stderr))
    }

    fn install(&self, more: &[&str]) -> (Option<i32>, String) {
        self.run(&[&["install", "claude"], &OWN[..], more].concat())
    }

    fn names(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.place.path().join(".claude")) else { return Vec::new() };
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// Settings as people write them: odd spaces, hooks of others in the same list.
const THEIRS: &str = r#"{
  "permissions": { "deny": ["Read(./.env)"] },
	"model": "opus"   ,
  "hooks": {
    "PreToolUse": [
      { "matcher": "Bash", "hooks": [ { "type": "command", "command": "/opt/lint.sh hook claude" } ] }
    ],
    "Stop": [{ "hooks": [{ "type": "command", "command": "notify-send done" }] }]
  }
}
"#;

#[test]
fn it_writes_the_hooks_for_all_events_with_absolute_paths() {
    let project = Project::new(None);
    let (code, told) = project.install(&[]);
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("--- /dev/null\n+++ .claude/settings.json\n@@"), "{told}");
    assert!(told.contains("does not block the call"), "{told}");
    let hooks = project.json()["hooks"].clone();
    let events = ["PreToolUse", "PermissionRequest", "SessionStart", "SessionEnd", "SubagentStart", "SubagentStop"];
    assert_eq!(hooks.as_object().unwrap().len(), events.len());
    let place = real(project.place.path());
    for event in events {
        let group = &hooks[event][0];
        assert_eq!(group["matcher"], if event.starts_with('P') { json!("*") } else { Value::Null }, "{event}");
        let hook = &group["hooks"][0];
        assert_eq!((&hook["type"], &hook["timeout"]), (&json!("command"), &json!(600)));
        assert_eq!(hook.get("onFailure"), None);
        let command = hook["command"].as_str().unwrap();
        let (place, this) = (place.display(), Path::new(BESTOW).display());
        let wait = if event == "PermissionRequest" { " --wait 0s" } else { "" };
        let expected =
            format!("{this} hook claude --agent claude --config {place}/agents.toml --state {place}/state{wait}");
        assert_eq!(command, expected);
    }
    let mode = fs::metadata(project.settings()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

/// The hook of the settings is what a shell starts, from any directory.
#[test]
fn the_command_that_it_writes_answers_a_call() {
    let project = Project::new(None);
    project.install(&[]);
    let settings = project.json();
    let command = settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"].as_str().unwrap();
    let place = real(project.place.path());
    let call = json!({ "session_id": "s", "cwd": place, "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": { "command": "rm -rf /" } });
    fs::write(place.join("call.json"), call.to_string()).unwrap();
    let line = format!("{command} < {}/call.json", place.display());
    let done = Command::new("sh").args(["-c", &line]).current_dir("/").output().unwrap();
    let told = String::from_utf8(done.stdout).unwrap() + &String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(2), "{told}");
    assert!(told.contains("\"permissionDecision\":\"deny\"") && told.contains("estructive"), "{told}");
}

#[test]
fn what_others_wrote_stays_and_comes_back_to_the_last_byte() {
    let project = Project::new(Some(THEIRS));
    fs::set_permissions(project.settings(), fs::Permissions::from_mode(0o640)).unwrap();
    let (code, told) = project.install(&[]);
    assert_eq!(code, Some(0), "{told}");
    let text = project.text();
    for theirs in THEIRS.lines().filter(|line| line.trim().len() > 4) {
        assert!(text.contains(theirs.trim_end_matches(',')), "{theirs}\n{text}");
    }
    assert_eq!(fs::metadata(project.settings()).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(fs::read_to_string(project.place.path().join(".claude/settings.json.before-bestow")).unwrap(), THEIRS);
    let (code, told) = project.run(&["uninstall", "claude"]);
    assert_eq!((code, told.contains("is as it was before")), (Some(0), true), "{told}");
    assert_eq!((project.text().as_str(), project.names()), (THEIRS, vec!["settings.json".to_owned()]));
}

#[test]
fn a_second_time_nothing_changes_and_other_options_replace_the_hooks() {
    for settings in
        [None, Some(""), Some("{}"), Some(THEIRS), Some("{\"hooks\": {}}\n"), Some("{\r\n  \"a\": 1\r\n}\r\n")]
    {
        let project = Project::new(settings);
        project.install(&[]);
        let (first, names) = (project.text(), project.names());
        let (code, told) = project.install(&[]);
        assert_eq!((code, told.contains("nothing is changed")), (Some(0), true), "{settings:?}: {told}");
        assert_eq!((project.text(), project.names()), (first.clone(), names.clone()), "{settings:?}");
        let (code, told) = project.install(&["--time-limit", "30s", "--wait", "10s"]);
        assert_eq!(code, Some(0), "{settings:?}: {told}");
        assert_eq!(project.names(), names, "the file with our hooks is not an old one");
        let text = project.text();
        assert_eq!(text.matches(" hook claude --agent").count(), 6, "{settings:?}: {text}");
        assert_eq!(text.matches("--time-limit 30000ms").count(), 6, "{text}");
        assert_eq!(text.matches("\"timeout\": 35").count(), 6, "{text}");
        assert_eq!(text.matches("--wait 10000ms").count(), 5, "{text}");
        let (code, told) = project.run(&["uninstall", "claude"]);
        assert_eq!(code, Some(0), "{settings:?}: {told}");
        match settings {
            None => assert!(!project.settings().exists(), "{told}"),
            Some(before) => assert_eq!(project.text(), before),
        }
        let (code, told) = project.run(&["uninstall", "claude"]);
        assert_eq!((code, told.contains("nothing is changed")), (Some(0), true), "{told}");
    }
}

#[test]
fn after_another_change_only_the_hooks_are_taken_out() {
    let project = Project::new(Some(THEIRS));
    project.install(&[]);
    fs::write(project.settings(), project.text().replace("\"opus\"", "\"haiku\"")).unwrap();
    let (code, told) = project.run(&["uninstall", "claude"]);
    assert_eq!((code, told.contains("is otherwise unchanged")), (Some(0), true), "{told}");
    let text = project.text();
    assert!(text.contains("\"haiku\"   ,") && text.contains("Read(./.env)"), "{text}");
    assert!(!text.contains("--agent") && text.contains("/opt/lint.sh hook claude") && text.contains("Stop"), "{text}");
    assert!(project.names().contains(&"settings.json.before-bestow".to_owned()), "what was kept stays");
}

#[test]
fn a_dry_run_shows_the_change_and_writes_nothing() {
    let project = Project::new(Some(THEIRS));
    let (code, told) = project.install(&["--dry-run"]);
    assert_eq!((code, told.contains("+    \"PermissionRequest\": [")), (Some(0), true), "{told}");
    assert!(told.contains("nothing was written"), "{told}");
    assert_eq!((project.text().as_str(), project.names().len()), (THEIRS, 1));
    project.install(&[]);
    let (text, names) = (project.text(), project.names());
    let (code, told) = project.run(&["uninstall", "claude", "--dry-run"]);
    assert_eq!((code, told.contains("nothing was written")), (Some(0), true), "{told}");
    assert_eq!((project.text(), project.names()), (text, names));
}

#[test]
fn settings_that_are_not_understood_are_left_as_they_are() {
    for (settings, why) in [
        ("{ \"hooks\": ", "line 1"),
        ("{ \"hooks\": { \"PreToolUse\": [ }", "line 1"),
        ("[]", "it is not one JSON object"),
        ("{ \"hooks\": [] }", "`hooks` is not an object"),
        ("{ \"hooks\": { \"Stop\": {} } }", "`hooks.Stop` is not a list"),
        ("{ \"hooks\": { \"Stop\": [1] } }", "has an entry that is no object"),
        ("{ \"hooks\": { \"Stop\": [{}] } }", "has an entry without a list `hooks`"),
        ("{ \"hooks\": {}, \"hooks\": {} }", "the settings has `hooks` twice"),
        ("{ \"hooks\": { \"Stop\": [], \"Stop\": [] } }", "`hooks` has `Stop` twice"),
        ("{ a: 1 }", "line 1"),
        ("{ 'a': 1 }", "line 1"),
        ("{} {}", "line 1"),
        ("hello", "line 1"),
    ] {
        let project = Project::new(Some(settings));
        for words in [&["install", "claude"][..], &["uninstall", "claude"]] {
            let more = if words[0] == "install" { &OWN[..] } else { &[] };
            let (code, told) = project.run(&[words, more].concat());
            assert_eq!((code, told.contains(why)), (Some(1), true), "{settings}: {told}");
            assert!(told.contains(".claude/settings.json is left as it is"), "{settings}: {told}");
            assert_eq!((project.text().as_str(), project.names().len()), (settings, 1), "{settings}");
        }
    }
}

/// The trap: Claude Code passes over a whole file with comments or commas at ends, and then runs no hook of it.
#[test]
fn settings_that_are_not_plain_json_are_refused_with_the_place_and_stay() {
    for (settings, place) in [
        ("{\n  // ours\n  \"model\": \"opus\"\n}\n", "line 2"),
        ("{ \"model\": /* ours */ \"opus\" }", "line 1"),
        ("{\n  \"a\": [1, 2],\n}\n", "line 2"),
        ("{ \"a\": [1,\n 2,\n] }", "line 2"),
        ("{ \"a\": \"\u{1}\" }", "line 1"),
        ("{ \"a\": 01 }", "line 1"),
        ("{ \"a\": \"\\x41\" }", "line 1"),
        ("{ \"a\": NaN }", "line 1"),
    ] {
        let project = Project::new(Some(settings));
        for more in [&[][..], &["--dry-run"]] {
            let (code, told) = project.install(more);
            assert_eq!((code, told.contains(place)), (Some(1), true), "{settings}: {told}");
            assert!(told.contains("settings.json is left as it is"), "{settings}: {told}");
            assert_eq!((project.text().as_str(), project.names().len()), (settings, 1), "{settings}");
        }
    }
}

/// An earlier version has put hooks into such a file. They never ran.
#[test]
fn hooks_in_settings_that_are_not_plain_json_are_taken_out_and_not_called_complete() {
    let project = Project::new(None);
    project.install(&[]);
    let text = project.text().replacen('{', "{ // ours", 1);
    fs::write(project.settings(), &text).unwrap();
    let (code, told) = project.install(&[]);
    assert_eq!((code, told.contains("plain JSON")), (Some(1), true), "{told}");
    let (code, told) = project.run(&["uninstall", "claude"]);
    assert_eq!((code, told.contains("has no hooks of bestow any more")), (Some(0), true), "{told}");
    assert!(project.text().contains("// ours") && !project.text().contains("hook claude"), "{}", project.text());
}

#[test]
fn options_with_which_every_call_would_be_blocked_are_refused() {
    let project = Project::new(None);
    for (words, why) in [
        (&["--agent", "clod", "--config", "agents.toml"][..], "there is `claude`"),
        (&["--agent", "claude", "--config", "none.toml"], "none.toml"),
        (&["--ready-file", "none.json", "--token-file", "none"], "`--ready-file`: there is no file none.json"),
        (&["--token-file", "none"], "`bestow token create --role agent` prints a token"),
    ] {
        let (code, told) = project.run(&[&["install", "claude"], words].concat());
        assert_eq!((code, told.contains(why)), (Some(1), true), "{words:?}: {told}");
        assert!(!project.settings().exists(), "{words:?}");
    }
}

/// An older version may pass over all settings because of a key that it does not know.
#[test]
fn a_hook_that_cannot_be_started_blocks_the_call_where_claude_code_can_do_that() {
    for (says, blocks) in [
        ("echo '2.1.295 (Claude Code)'", 6),
        ("echo '2.2.0 (Claude Code)'", 6),
        ("echo '2.1.294 (Claude Code)'", 0),
        ("echo 'version 3'", 0),
        ("exit 1", 0),
    ] {
        let project = Project::new(None);
        project.claude(says);
        let (code, told) = project.install(&[]);
        assert_eq!(code, Some(0), "{told}");
        assert_eq!(project.text().matches("\"onFailure\": \"block\"").count(), blocks, "{says}: {told}");
        assert_eq!(told.contains("2.1.295 or later was not found"), blocks == 0, "{told}");
        project.run(&["uninstall", "claude"]);
        assert!(!project.settings().exists());
    }
}

#[test]
fn the_settings_of_the_user_may_be_a_link_and_the_link_stays() {
    let project = Project::new(None);
    let (home, dotfiles) = (project.place.path().join("home/.claude"), project.place.path().join("dotfiles"));
    fs::create_dir_all(&home).unwrap();
    fs::create_dir(&dotfiles).unwrap();
    fs::write(dotfiles.join("claude.json"), "{}\n").unwrap();
    symlink("../../dotfiles/claude.json", home.join("settings.json")).unwrap();
    let (code, told) = project.install(&["--user"]);
    assert_eq!(code, Some(0), "{told}");
    assert!(fs::symlink_metadata(home.join("settings.json")).unwrap().is_symlink());
    assert!(fs::read_to_string(dotfiles.join("claude.json")).unwrap().contains("hook claude"));
    assert!(!project.settings().exists(), "the project has none");
    let (code, told) = project.run(&["uninstall", "claude", "--user"]);
    assert_eq!(code, Some(0), "{told}");
    assert_eq!(fs::read_to_string(dotfiles.join("claude.json")).unwrap(), "{}\n");
}

/// The attack: the settings of a project that somebody else wrote have signs that a terminal obeys.
#[test]
fn the_change_is_shown_without_signs_that_a_terminal_obeys() {
    let project = Project::new(Some("{ \"model\": \"\u{9b}2J\u{202e}\" }\n"));
    let (_, told) = project.install(&["--dry-run"]);
    assert!(told.contains("\\u{9b}") && !told.contains('\u{9b}') && !told.contains('\u{202e}'), "{told}");
}

/// The attack on the installer: a command line of somebody else that only ends with ours is taken for ours.
#[test]
fn a_command_line_of_somebody_else_that_contains_ours_stays() {
    let theirs = "{ \"hooks\": { \"PreToolUse\": [ { \"hooks\": [ { \"type\": \"command\", \"command\": \
                  \"/opt/log.sh; /usr/bin/bestow hook claude --x\" } ] } ] } }\n";
    let project = Project::new(Some(theirs));
    project.install(&[]);
    assert!(project.text().contains("/opt/log.sh; /usr/bin/bestow hook claude --x"), "{}", project.text());
    project.run(&["uninstall", "claude"]);
    assert_eq!(project.text(), theirs);
}

#[test]
fn hooks_of_ours_that_were_weakened_are_put_right() {
    let project = Project::new(None);
    project.install(&[]);
    for weak in ["\"type\": \"prompt\"", "\"async\": true, \"type\": \"command\""] {
        let text = project.text().replacen("\"type\": \"command\"", weak, 1);
        fs::write(project.settings(), &text).unwrap();
        let (code, told) = project.install(&[]);
        assert_eq!((code, told.contains("wrote")), (Some(0), true), "{weak}: {told}");
        assert!(!project.text().contains(weak), "{}", project.text());
    }
}

#[test]
fn settings_that_turn_all_hooks_off_are_named() {
    let project = Project::new(Some("{ \"disableAllHooks\": true }\n"));
    let (_, told) = project.install(&["--dry-run"]);
    assert!(told.contains("`disableAllHooks` is true in these settings, so no hook runs"), "{told}");
}

#[test]
fn a_pipe_in_the_place_of_settings_is_refused() {
    let project = Project::new(Some("{}"));
    fs::remove_file(project.settings()).unwrap();
    assert!(Command::new("mkfifo").arg(project.settings()).status().unwrap().success());
    let (code, told) = project.install(&[]);
    assert_eq!((code, told.contains("is not a file of at most")), (Some(1), true), "{told}");
}

#[test]
fn settings_behind_a_link_that_leads_elsewhere_are_named() {
    let project = Project::new(None);
    let elsewhere = tempfile::tempdir().unwrap();
    symlink(elsewhere.path(), project.place.path().join(".claude")).unwrap();
    let (_, told) = project.install(&["--dry-run"]);
    let leads_to = real(elsewhere.path()).join("settings.json");
    assert!(told.contains(&format!("a link leads to {}", leads_to.display())), "{told}");
    let (_, told) = Project::new(None).install(&["--dry-run"]);
    assert!(!told.contains("a link"), "{told}");
}

#[test]
fn a_second_hook_of_bestow_and_a_missing_token_file_are_named() {
    let command = "bestow hook pre-tool-use --wait 8s";
    let hook = json!({ "hooks": { "PreToolUse": [{ "hooks": [{ "type": "command", "command": command }] }] } });
    let project = Project::new(Some(&hook.to_string()));
    let (_, told) = project.run(&["install", "claude", "--dry-run"]);
    assert!(told.contains("note: `bestow hook pre-tool-use` is in these settings, too"), "{told}");
    assert!(told.contains("note: without `--token-file`"), "{told}");
    let (_, told) = project.install(&["--dry-run"]);
    assert!(!told.contains("without `--token-file`"), "{told}");
}
