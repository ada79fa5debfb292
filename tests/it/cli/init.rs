//! `bestow init`: a first policy file.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::Path,
    process::Command,
};

use super::{BESTOW, bestow, text};

/// A directory with these entries; one that ends in `/` is a directory.
fn directory(entries: &[&str]) -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    for entry in entries {
        let path = place.path().join(entry);
        if entry.ends_with('/') { fs::create_dir(path).unwrap() } else { fs::write(path, "").unwrap() }
    }
    place
}

fn run(words: &[&str], place: &Path) -> (Option<i32>, String) {
    let done = Command::new(BESTOW).args(words).current_dir(place).output().unwrap();
    (done.status.code(), format!("{}{}", text(&done.stdout), text(&done.stderr)))
}

#[test]
fn a_first_file_is_clean_and_answers_at_once() {
    let place = directory(&["src/", ".git/", "Cargo.toml", "README.md", ".env"]);
    let (code, told) = run(&["init"], place.path());
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("wrote agents.toml: good: 2 agents") && told.contains("found: .git, Cargo.toml"), "{told}");
    let mode = fs::metadata(place.path().join("agents.toml")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let (code, told) = run(&["check-config"], place.path());
    assert!(code == Some(0) && told.starts_with("agents.toml: good: 2 agents, 3 rules, 3 tests"), "{told}");
    for (agent, words, expected) in [
        ("lead", ["--write", "src/main.rs"], 0),
        ("lead", ["--write", "README.md"], 0),
        ("lead", ["--command", "cargo test --release"], 2),
        ("lead", ["--command", "git status"], 0),
        ("lead", ["--command", "git push origin main"], 2),
        ("lead", ["--command", "cargo publish"], 2),
        ("lead", ["--write", "other"], 2),
        ("lead", ["--read", ".env"], 3),
        ("lead", ["--read", "src/.env.local"], 3),
        ("lead", ["--write", ".git/config"], 3),
        ("lead", ["--write", "agents.toml"], 3),
        ("helper", ["--read", "src/main.rs"], 0),
        ("helper", ["--write", "src/main.rs"], 2),
        ("helper", ["--read", ".env"], 3),
    ] {
        let (code, told) = run(&[&["check", "--agent", agent], &words[..]].concat(), place.path());
        assert_eq!(code, Some(expected), "{agent} {words:?}: {told}");
    }
}

#[test]
fn the_commands_that_it_tells_to_try_are_understood_and_answered() {
    let place = directory(&["go.mod", "it's here/"]);
    let inner = place.path().join("it's here");
    for (from, named) in [(place.path(), "."), (place.path(), "it's here"), (inner.as_path(), "..")] {
        let _ = fs::remove_file(from.join(named).join("agents.toml"));
        let (code, told) = run(&["init", named], from);
        assert_eq!(code, Some(0), "{told}");
        let tries: Vec<_> = told.lines().filter_map(|line| line.strip_prefix("  bestow ")).collect();
        assert_eq!(tries.len(), 3, "{told}");
        // The third one needs a sandbox.
        for (line, expected) in tries.iter().zip([0, 3]) {
            let shell = Command::new("sh").args(["-c", &format!("'{BESTOW}' {line}")]).current_dir(from).output();
            let done = shell.unwrap();
            assert_eq!(done.status.code(), Some(expected), "{line}: {}", text(&done.stderr));
        }
    }
}

#[test]
fn a_command_that_runs_code_of_the_project_asks() {
    for (files, runs, asked) in [
        (&["Cargo.toml"][..], "cargo test", Some("cargo publish")),
        (&["package.json"], "npm test", Some("npm publish")),
        (&["package.json", "pnpm-lock.yaml"], "pnpm test", Some("pnpm publish")),
        (&["package.json", "yarn.lock"], "yarn test", Some("yarn publish")),
        (&["package.json", "bun.lock"], "bun test", Some("bun publish")),
        (&["pyproject.toml"], "pytest", Some("twine upload x")),
        (&["pyproject.toml", "uv.lock"], "uv run pytest", Some("uv publish")),
        (&["pyproject.toml", "poetry.lock"], "poetry run pytest", Some("poetry publish")),
        (&["requirements.txt"], "python3 -m pytest", None),
        (&["go.mod"], "go test ./...", None),
        (&["pom.xml"], "mvn test", Some("mvn deploy")),
        (&["build.gradle"], "gradle test", Some("gradle publish")),
        (&["Gemfile"], "bundle exec rspec", Some("gem push x")),
        (&["composer.json"], "composer test", None),
        (&["mix.exs"], "mix test", Some("mix hex.publish")),
        (&["Makefile"], "make check", None),
        (&["Cargo.toml", "package.json"], "cargo test && npm test", Some("npm publish")),
    ] {
        let place = directory(files);
        let (code, told) = run(&["init"], place.path());
        assert!(code == Some(0) && files.iter().any(|file| told.contains(file)), "{files:?}: {told}");
        let check = |command| run(&["check", "--agent", "lead", "--command", command], place.path());
        assert_eq!(check(runs).0, Some(2), "{files:?}: {}", check(runs).1);
        if let Some(asked) = asked {
            assert_eq!(check(asked).0, Some(2), "{files:?}: {}", check(asked).1);
        }
        let other = if files.contains(&"Cargo.toml") { "pytest" } else { "cargo test" };
        assert_eq!(check(other).0, Some(2), "{files:?}: {}", check(other).1);
    }
}

#[test]
fn an_existing_file_stays_as_it_is() {
    let place = directory(&["agents.toml"]);
    fs::write(place.path().join("agents.toml"), "mine").unwrap();
    let (code, told) = run(&["init"], place.path());
    assert!(code == Some(1) && told.contains("agents.toml exists already and is not changed"), "{told}");
    assert_eq!(fs::read_to_string(place.path().join("agents.toml")).unwrap(), "mine");
    // Nor is a link followed, wherever it leads.
    fs::remove_file(place.path().join("agents.toml")).unwrap();
    symlink("elsewhere", place.path().join("agents.toml")).unwrap();
    assert_eq!(run(&["init"], place.path()).0, Some(1));
    assert!(!place.path().join("elsewhere").exists());
}

#[test]
fn secrets_links_and_odd_names_are_not_given() {
    let place = directory(&["src/", "server.pem", "credentials.json", ".ssh/", "odd\"name", "$HOME", "*", "notes.md"]);
    symlink("src", place.path().join("link")).unwrap();
    let (code, told) = run(&["init"], place.path());
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("`lead` may write: src, notes.md\n"), "{told}");
    let written = fs::read_to_string(place.path().join("agents.toml")).unwrap();
    assert!(written.contains("permissions = [\n  \"@write:src\",\n  \"@write:notes.md\",\n]"), "{written}");
}

#[test]
fn an_empty_directory_gets_a_workspace_and_very_many_entries_are_not_all_named() {
    let place = directory(&[]);
    let (code, told) = run(&["init"], place.path());
    assert!(code == Some(0) && told.contains("`lead` may write: workspace\n"), "{told}");
    assert_eq!(run(&["check", "--agent", "lead", "--write", "workspace/a"], place.path()).0, Some(0));
    let names: Vec<_> = (0..100).map(|number| format!("f{number:03}")).collect();
    let place = directory(&names.iter().map(String::as_str).chain(["src/"]).collect::<Vec<_>>());
    let (code, told) = run(&["init"], place.path());
    assert!(
        code == Some(0) && told.contains("may write: src, f000, f001,") && told.contains(", and not 61 more"),
        "{told}"
    );
}

#[test]
fn a_file_that_no_engine_would_take_is_not_left_behind() {
    let place = directory(&["src/"]);
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let (code, told) = run(&["init"], place.path());
    assert!(code == Some(1) && told.contains("chmod go-w") && told.contains("no policy file was written"), "{told}");
    assert!(!place.path().join("agents.toml").exists());
    let told = bestow(&["init", "/no/such/directory"], b"");
    assert_eq!(told.status.code(), Some(1));
    assert!(text(&told.stderr).contains("/no/such/directory cannot be read"), "{}", text(&told.stderr));
}

/// The attack: an agent that may write the state directory writes the records of the engine.
#[test]
fn no_agent_may_write_the_state_directory_of_an_engine() {
    let place = directory(&["src/", "state/", "records/", "stated/"]);
    fs::write(place.path().join("records/journal-00000000000000000001"), "").unwrap();
    let (code, told) = run(&["init"], place.path());
    assert_eq!(code, Some(0), "{told}");
    let policy = fs::read_to_string(place.path().join("agents.toml")).unwrap();
    assert!(policy.contains("\"@write:src\"") && policy.contains("\"@write:stated\""), "{policy}");
    assert!(!policy.contains("\"@write:state\"") && !policy.contains("\"@write:records\""), "{policy}");
}
