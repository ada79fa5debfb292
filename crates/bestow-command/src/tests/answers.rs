//! Programs that only say their help or their version. Each one that is installed runs in a directory of traps: files
//! that programs obey, each of which leaves a marker.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{Classifier, Tier, classify, programs};

/// The traps. `MARKER` stands for the file that shows that a trap was loaded.
const TRAPS: &[(&[&str], &str)] = &[
    (
        &["conftest.py", "toxfile.py", "noxfile.py", "conf.py", "setup.py", "sitecustomize.py", "trap.py"],
        "open('MARKER', 'w').close()\n",
    ),
    (&["pytest.ini"], "[pytest]\naddopts = -p trap\npythonpath = .\n"),
    (&[".flake8", "tox.ini"], "[flake8:local-plugins]\nextension =\n  X = trap:X\npaths = .\n"),
    (&[".pylintrc"], "[MAIN]\ninit-hook='open(\"MARKER\", \"w\").close()'\nload-plugins=trap\n"),
    (&["mypy.ini"], "[mypy]\nplugins = trap.py\n"),
    (&["package.json"], "{\"name\": \"x\", \"jest\": {}}\n"),
    (
        &[
            ".mocharc.js",
            "jest.config.js",
            "eslint.config.js",
            ".eslintrc.js",
            ".prettierrc.js",
            "ava.config.js",
            "webpack.config.js",
            "vitest.config.js",
            "stylelint.config.js",
            "Gruntfile.js",
            "gulpfile.js",
            ".pnpmfile.cjs",
        ],
        "require('fs').writeFileSync('MARKER', '');\nmodule.exports = {};\n",
    ),
    (&[".mvn/jvm.config"], "-Xlog:gc:MARKER\n"),
    (&[".mvn/maven.config"], "\n"),
    (&["Rakefile", "Gemfile", "rakefile.rb", ".irbrc", ".pryrc"], "File.write('MARKER', '')\n"),
    (&["Makefile", "makefile", "GNUmakefile"], "$(shell touch MARKER)\nall: ; touch MARKER\n"),
    (&["justfile"], "x := `touch MARKER`\n"),
    (&[".cargo/config.toml"], "[build]\nrustc = \"./trap.sh\"\n[alias]\nhelp = \"trap\"\n"),
    (&["trap.sh", "bin/rails", "gradlew", "mvnw", "configure"], "#!/bin/sh\ntouch MARKER\n"),
    (&[".bashrc", ".profile", ".zshrc", ".envrc"], "touch MARKER\n"),
    (&[".vimrc", ".exrc"], "call writefile([], 'MARKER')\n"),
    (&[".gdbinit"], "shell touch MARKER\n"),
    (&[".perltidyrc", ".proverc"], "--exec ./trap.sh\n"),
    (&["build.gradle", "settings.gradle"], "new File('MARKER').createNewFile()\n"),
];

/// Commands in languages of shells, editors and other programs. One that starts on an unknown option runs them.
const COMMANDS: &str = "touch MARKER\n:!touch MARKER\n!touch MARKER\nsystem(\"touch MARKER\")\n\
                        file:write_file(\"MARKER\", \"\").\n\\! touch MARKER\n.shell touch MARKER\n:q!\n";

/// The packages that programs prefer to themselves if the directory has them.
const PACKAGES: &[&str] = &["jest", "jest-cli", "webpack", "webpack-cli", "lerna", "nx", "eslint", "prettier", "mocha"];

/// A directory of traps that is removed at the end.
struct Traps(PathBuf);

impl Traps {
    /// Lays the traps for one test.
    fn lay(test: &str) -> Traps {
        let traps = Traps(std::env::temp_dir().join(format!("bestow-traps-{test}-{}", std::process::id())));
        let marker = traps.marker().display().to_string();
        for (names, text) in TRAPS {
            names.iter().for_each(|name| traps.write(name, &text.replace("MARKER", &marker)));
        }
        traps.write("commands", &COMMANDS.replace("MARKER", &marker));
        let code = format!("require('fs').writeFileSync('{marker}', '');\n");
        for package in PACKAGES {
            let about = format!("{{\"name\": \"{package}\", \"version\": \"1.0.0\", \"main\": \"index.js\"}}\n");
            traps.write(&format!("node_modules/{package}/package.json"), &about);
            for file in ["index.js".to_owned(), "cli.js".to_owned(), format!("bin/{package}.js"), "bin/cli.js".into()] {
                traps.write(&format!("node_modules/{package}/{file}"), &code);
            }
        }
        traps
    }

    fn marker(&self) -> PathBuf {
        self.0.with_extension("marker")
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        #[cfg(unix)]
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }

    /// Returns the names in the directory.
    fn names(&self) -> BTreeSet<PathBuf> {
        fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().path()).collect()
    }

    /// Runs a program and returns true if it loaded a trap or left a file.
    fn catches(&self, program: &Path, option: &str) -> bool {
        let before = self.names();
        let mut command = Command::new("timeout");
        command.args(["-k", "1", "20"]).arg(program).arg(option).current_dir(&self.0);
        command.env("HOME", std::env::temp_dir().join("bestow-no-home"));
        command.stdin(fs::File::open(self.0.join("commands")).unwrap());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let _ = command.status();
        let is_marked = fs::remove_file(self.marker()).is_ok();
        is_marked || self.names() != before
    }
}

impl Drop for Traps {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
        let _ = fs::remove_file(self.marker());
    }
}

/// Returns the file of a program that is installed.
fn installed(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(name)).find(|file| file.is_file())
}

/// Runs each installed program whose help is safe and that obeys no file of its directory. The files that a program
/// obeys are the matter of the engine, which knows who may write them.
#[test]
#[cfg(unix)]
fn a_program_that_only_says_what_it_is_loads_nothing_of_its_directory() {
    let traps = Traps::lay("help");
    assert!(traps.catches(&traps.0.join("trap.sh"), "--help"), "a trap leaves its marker");
    let mut caught = Vec::new();
    let mut ran = 0;
    for program in programs::all().filter(|program| program.obeys.is_none()) {
        for name in program.names {
            let Some(file) = installed(name) else { continue };
            for option in ["--help", "--version", "-h", "-V", "-v", "-version"] {
                let line = format!("{name} {option}");
                if classify(&line).tier == Tier::Safe {
                    ran += 1;
                    caught.extend(traps.catches(&file, option).then_some(line));
                }
            }
        }
    }
    assert!(ran > 100, "{ran}");
    assert!(caught.is_empty(), "{caught:?}");
}

/// A program that runs code of its directory before it reads its options has no form that is safe.
#[test]
fn a_program_that_loads_code_first_is_never_safe() {
    let names: Vec<&str> =
        programs::all().filter(|program| program.loads_first).flat_map(|program| program.names).copied().collect();
    for known in ["pytest", "rails", "rebar3", "rspec", "rubocop"] {
        assert!(names.contains(&known), "{known}");
    }
    for name in names {
        for option in ["--help", "--version", "-h", "-V", "-v", "version", "help"] {
            assert!(classify(&format!("{name} {option}")).tier > Tier::Safe, "{name} {option}");
        }
    }
}

/// Runs the read-only forms of git in a repository whose settings start programs. A form that starts one names the
/// repository as what it obeys.
#[test]
#[cfg(unix)]
fn a_reader_that_settings_turn_into_a_writer_names_what_it_obeys() {
    let Some(git) = installed("git") else { return };
    let traps = Traps::lay("git");
    let run = |words: &[&str]| {
        let mut command = Command::new(&git);
        command.args(words).current_dir(&traps.0).env("HOME", &traps.0).stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap()
    };
    run(&["init", "-q"]);
    traps.write(".gitattributes", "* diff=trap filter=trap\n");
    run(&["add", "-f", "trap.py"]);
    run(&["-c", "user.name=x", "-c", "user.email=x@x.example", "commit", "-qm", "x"]);
    for setting in ["core.fsmonitor", "diff.external", "diff.trap.textconv", "filter.trap.clean", "gpg.program"] {
        run(&["config", setting, "./trap.sh"]);
    }
    let git_forms = programs::find("git").unwrap().reads.iter().flat_map(|row| row.matches);
    let mut marked = 0;
    for line in git_forms.filter(|line| line.starts_with("git ") && !line.contains(['|', '>', ';', '&', '$', '\''])) {
        let words: Vec<&str> = line.split(' ').skip(1).collect();
        run(&words);
        if fs::remove_file(traps.marker()).is_ok() {
            marked += 1;
            let obeyed = Classifier::default().judge(line).commands.into_iter().any(|part| !part.obeys.is_empty());
            assert!(obeyed, "{line}");
        }
    }
    assert!(marked > 0, "a setting starts its program");
}
