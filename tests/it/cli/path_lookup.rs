//! Programs that an agent could put into the place of usual ones: in `PATH`, or in a Python environment.

use std::{fs, os::unix::fs::PermissionsExt, process::Command};

use super::{BESTOW, text};
use crate::fs::world::World;

/// An agent that writes the workspace and the directory `tools`, and a second one that writes nothing.
const FILE: &str = r#"[defaults]
owner = "you"
working_dir = "workspace"
[agents.lead]
kind = "foreground"
permissions = ["@write:workspace", "@write:tools"]
[agents.guest]
kind = "foreground"
"#;

struct Machine {
    world: World,
    config: String,
}

impl Machine {
    fn new(file: &str) -> Machine {
        let world = World::new();
        for directory in ["tools", "own", "workspace/bin", "workspace/.venv/bin", "workspace/.venv/lib/site-packages"] {
            fs::create_dir_all(world.path(directory)).unwrap();
        }
        for program in ["own/pip", "own/wc", "workspace/.venv/bin/pip"] {
            fs::write(world.path(program), "#!/bin/sh\n").unwrap();
            fs::set_permissions(world.path(program), fs::Permissions::from_mode(0o755)).unwrap();
        }
        fs::write(world.path("workspace/.venv/pyvenv.cfg"), "home = /usr/bin\n").unwrap();
        let config = world.text("agents.toml");
        fs::write(&config, file).unwrap();
        fs::set_permissions(&config, fs::Permissions::from_mode(0o600)).unwrap();
        Machine { world, config }
    }

    /// Returns the answer to a question of an agent. The engine has these directories in its `PATH`.
    fn asked(&self, agent: &str, path: &[&str], environment: Option<&str>, words: &[&str]) -> String {
        let path: Vec<_> = path.iter().map(|directory| self.world.text(directory)).collect();
        let mut program = Command::new(BESTOW);
        program.args(["check", "--agent", agent, "--config", &self.config]).args(words);
        program.env("PATH", format!("{}:/usr/bin:/bin", path.join(":"))).env_remove("VIRTUAL_ENV");
        if let Some(environment) = environment {
            program.env("VIRTUAL_ENV", self.world.text(environment));
        }
        text(&program.output().unwrap().stdout).split(' ').next().unwrap().to_owned()
    }
}

#[test]
fn no_program_that_an_agent_may_have_written_runs_unasked() {
    let machine = Machine::new(FILE);
    for (path, command, answer) in [
        (&["own"][..], "wc notes", "allow"),
        (&["tools", "own"], "wc notes", "ask"),
        (&["workspace/bin", "own"], "wc notes", "ask"),
        (&["workspace/missing", "own"], "wc notes", "ask"),
        // A directory behind the one with the program is never reached.
        (&["own", "tools"], "wc notes", "allow"),
        (&["own", "tools"], "head notes", "ask"),
        (&["tools"], "echo hi", "allow"),
        (&["tools"], "cd . && wc notes", "ask"),
        (&["tools"], "echo hi | wc", "ask"),
    ] {
        for agent in ["lead", "guest"] {
            let found = machine.asked(agent, path, None, &["--command", command]);
            assert_eq!(found, answer, "{agent}, {path:?}: {command}");
        }
    }
}

/// The attack: a file of the environment, and then a command that only reads.
#[test]
fn no_agent_runs_its_code_through_an_active_environment_of_python() {
    let machine = Machine::new(FILE);
    let active = (&["workspace/.venv/bin", "own"][..], Some("workspace/.venv"));
    for file in [".venv/lib/site-packages/e.pth", ".venv/bin/ls", "x/site-packages/e.pth", "sitecustomize.py"] {
        assert_eq!(machine.asked("lead", active.0, active.1, &["--write", file]), "ask", "{file}");
    }
    for command in ["pip list", "wc notes"] {
        assert_eq!(machine.asked("lead", active.0, active.1, &["--command", command]), "allow", "{command}");
    }
    let may = FILE.replace("@write:tools\"", "@write:workspace/.venv/lib\"");
    let machine = Machine::new(&may);
    for environment in [active.1, None] {
        assert_eq!(machine.asked("lead", active.0, environment, &["--command", "pip list"]), "ask");
        assert_eq!(machine.asked("lead", active.0, environment, &["--command", "wc notes"]), "allow");
    }
    // The variable alone tells the environment, too.
    assert_eq!(machine.asked("lead", &["own"], active.1, &["--command", "pip list"]), "ask");
}

/// Each file is obeyed by a program that a rule may allow, or that a person starts.
#[test]
fn a_permission_for_a_home_writes_no_file_that_programs_obey() {
    let machine = Machine::new(FILE);
    for file in [
        ".lesskey",
        ".wgetrc",
        ".curlrc",
        ".local/bin/ls",
        "usercustomize.py",
        ".copilot/hooks/x",
        ".github/hooks/x",
        ".github/workflows/ci.yml",
        ".gradle/init.d/x.gradle",
        ".claude.json",
        "opencode.json",
        ".zed/tasks.json",
        ".windsurf/x",
        ".roo/mcp.json",
        ".kiro/x",
        ".clinerules",
        ".aider.conf.yml",
        ".bash_aliases",
        ".xprofile",
        ".gdbinit",
        ".emacs",
        ".exrc",
        ".nvim.lua",
        ".screenrc",
        ".forward",
        "bunfig.toml",
        "conftest.py",
        ".venv/x",
        "a/node_modules/.bin/x",
        "x.pth",
        ".envrc",
        ".direnv/x",
        ".mise.toml",
        ".tool-versions",
        ".netrc",
        ".pypirc",
        ".npmrc",
        ".yarnrc",
        ".pre-commit-config.yaml",
        "approver-token",
        ".bestow-ann",
    ] {
        assert_eq!(machine.asked("lead", &["own"], None, &["--write", file]), "ask", "{file}");
        let upper = file.to_ascii_uppercase();
        assert_eq!(machine.asked("lead", &["own"], None, &["--write", &upper]), "ask", "{upper}");
    }
    for file in ["src/main.rs", "package.json", ".gitignore", ".github/CODEOWNERS", "bin/x", "token.rs"] {
        assert_eq!(machine.asked("lead", &["own"], None, &["--write", file]), "allow", "{file}");
    }
}

/// The attack: a package in the project, a variable that leads there, and then a command that only reads.
#[test]
fn no_agent_runs_its_code_through_a_variable_that_leads_to_it() {
    let machine = Machine::new(FILE);
    fs::create_dir_all(machine.world.path("workspace/src")).unwrap();
    let inside = machine.world.text("workspace/src");
    let answer = |name: &str, value: &str, command: &str| {
        let mut program = Command::new(BESTOW);
        program.args(["check", "--agent", "lead", "--config", &machine.config, "--command", command]);
        program.env_remove("VIRTUAL_ENV").env(name, value);
        text(&program.output().unwrap().stdout).split(' ').next().unwrap().to_owned()
    };
    for (name, value) in [
        ("PYTHONPATH", "src"),
        ("PYTHONPATH", &*inside),
        ("NODE_OPTIONS", &*format!("--require={inside}")),
        ("PATH", "./bin:/usr/bin:/bin"),
        ("PATH", "/usr/bin:/bin:"),
        ("PATH", "bin:/usr/bin:/bin"),
    ] {
        assert_eq!(answer(name, value, "wc notes"), "ask", "{name}={value}");
        assert_eq!(answer(name, value, "echo hi"), "allow", "{name}={value}: a builtin loads nothing");
    }
    for (name, value) in
        [("PYTHONPATH", "missing"), ("PYTHONPATH", "/usr/lib"), ("NODE_OPTIONS", "--max-old-space-size=9")]
    {
        assert_eq!(answer(name, value, "wc notes"), "allow", "{name}={value}");
    }
}
