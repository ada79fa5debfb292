//! A16: "safe" commands that ran code which an agent wrote with its own file calls.

use std::{path::PathBuf, process::Command, sync::Arc};

use bestow::{
    Action, Agent, Engine, InitialGrants, Kind, Permission, Profile, Settings,
    agent::Mode,
    decision::Verdict,
    host::{DiskPaths, ManualClock},
};
use proptest::prelude::*;

use crate::support::START;

/// A directory with a checkout `repo`, a directory `plain` without one, and a path for a marker that does not exist
/// yet.
struct Ground {
    directory: tempfile::TempDir,
    engine: Engine,
}

impl Ground {
    fn new() -> Ground {
        let directory = tempfile::tempdir().unwrap();
        for name in ["repo/sub", "plain/sub", "out"] {
            std::fs::create_dir_all(directory.path().join(name)).unwrap();
        }
        let engine = Engine::on(Settings::default(), Arc::new(ManualClock::at(START)), Arc::new(DiskPaths)).unwrap();
        let ground = Ground { directory, engine };
        assert!(ground.git("repo", &["init", "-q"]).status.success(), "these tests need git");
        ground
    }

    fn path(&self, name: &str) -> String {
        #[expect(clippy::disallowed_methods, reason = "the second opinion on what `fs` says")]
        let real: PathBuf = self.directory.path().canonicalize().unwrap();
        real.join(name).to_str().unwrap().to_owned()
    }

    /// Runs git as a host does, without the configuration of the user who runs the tests.
    fn git(&self, dir: &str, args: &[&str]) -> std::process::Output {
        let mut git = Command::new("git");
        git.args(args).current_dir(self.path(dir)).env("GIT_CONFIG_NOSYSTEM", "1").env("HOME", self.path("out"));
        git.output().unwrap()
    }

    fn marker(&self) -> bool {
        std::path::Path::new(&self.path("out/ran")).exists()
    }

    /// Registers an agent that works in `dir` and may write `writes`.
    async fn agent(&self, id: &str, dir: &str, writes: &[&str]) -> Agent {
        self.agent_in(Mode::Default, id, dir, writes).await
    }

    async fn agent_in(&self, mode: Mode, id: &str, dir: &str, writes: &[&str]) -> Agent {
        let dir = self.path(dir).parse().unwrap();
        let profile = Profile::new(id.parse().unwrap(), "you".parse().unwrap(), Kind::Subagent, dir).in_mode(mode);
        let writes = writes.iter().map(|path| Permission::write(self.path(path).parse().unwrap()));
        self.engine.register(profile, InitialGrants::of(writes.collect::<Vec<_>>())).await.unwrap()
    }
}

fn verdict(agent: &Agent, command: &str) -> bestow::Effect {
    agent.explain(&Action::command(command)).unwrap().decision.verdict()
}

fn reason(agent: &Agent, command: &str) -> String {
    agent.explain(&Action::command(command)).unwrap().decision.decision_reason.to_string()
}

/// Returns the files of an attack: git runs the program of the agent for each user who looks at the directory.
fn bare_repository(marker: &str) -> [(&'static str, String); 4] {
    let config = format!(
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\
         \tworktree = .\n\tfsmonitor = \"touch '{marker}'; false\"\n"
    );
    [
        ("HEAD", "ref: refs/heads/main\n".to_owned()),
        ("config", config),
        ("objects/x", String::new()),
        ("refs/x", String::new()),
    ]
}

/// The exploit. A real git runs it only where the engine allows it. The marker must never exist then.
#[tokio::test]
async fn a_bare_repository_written_by_file_calls_runs_nothing_at_git_status() {
    let ground = Ground::new();
    let agent = ground.agent("worker", "plain", &["plain"]).await;
    let marker = ground.path("out/ran");
    for (name, text) in bare_repository(&marker) {
        let path = ground.path(&format!("plain/{name}"));
        std::fs::create_dir_all(std::path::Path::new(&path).parent().unwrap()).unwrap();
        // The file calls of the agent may refuse some files. The files that they allow are on the disk.
        let _written = agent.fs().write(&path, text).await;
    }
    if verdict(&agent, "git status") == Verdict::Allow {
        ground.git("plain", &["status"]);
    }
    assert!(!ground.marker(), "`git status` ran what the agent wrote");
    // The exploit is real: a git that runs there without a check runs the program.
    for (name, text) in bare_repository(&marker) {
        let path = ground.path(&format!("plain/{name}"));
        std::fs::create_dir_all(std::path::Path::new(&path).parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    ground.git("plain", &["status"]);
    assert!(ground.marker(), "git no longer obeys a bare repository: these tests show nothing");
    assert_eq!(verdict(&agent, "git status"), Verdict::Ask);
    assert!(reason(&agent, "git status").contains("which worker may write"), "{}", reason(&agent, "git status"));
}

#[tokio::test]
async fn git_in_an_ordinary_workspace_stays_safe_for_who_may_write_it() {
    let ground = Ground::new();
    let agent = ground.agent("worker", "repo", &["repo"]).await;
    for command in ["git status", "git log --oneline | head", "git diff", "timeout 5 git status", "sh -c 'git status'"]
    {
        assert_eq!(verdict(&agent, command), Verdict::Allow, "{command}: {}", reason(&agent, command));
    }
    // A directory that was a checkout when it was granted stays one, even if agents write beside `.git`.
    let reader = ground.agent("reader", "repo", &[]).await;
    assert_eq!(verdict(&reader, "git status"), Verdict::Allow);
    // An agent whose permission names the config file may change it, so git is not safe there any more.
    let named = ground.agent("owner", "out", &["repo/.git/config"]).await;
    for command in ["git status", "git -C . status", "cd sub && git log", "x=$(git rev-parse HEAD); echo $x"] {
        assert_eq!(verdict(&agent, command), Verdict::Ask, "{command}");
        assert!(reason(&agent, command).contains("owner may write"), "{}", reason(&agent, command));
    }
    drop(named);
}

/// The exploit: git runs in each submodule that is there, and one that is not initialised has a free place for `.git`.
#[tokio::test]
async fn a_repository_in_place_of_a_submodule_runs_nothing_at_git_status() {
    let ground = Ground::new();
    let entry = "160000,1234567890123456789012345678901234567890,vendor/lib";
    assert!(ground.git("repo", &["update-index", "--add", "--cacheinfo", entry]).status.success());
    std::fs::create_dir_all(ground.path("repo/vendor/lib")).unwrap();
    let agent = ground.agent("worker", "repo", &["repo"]).await;
    let lines =
        ["git status", "git diff --stat", "git submodule status", "cd sub && git status", "go list -mod=vendor"];
    for command in lines {
        assert_eq!(verdict(&agent, command), Verdict::Allow, "{command}: {}", reason(&agent, command));
    }
    let _owner = ground.agent("owner", "out", &["repo/vendor/lib/.git"]).await;
    for command in lines {
        assert_eq!(verdict(&agent, command), Verdict::Ask, "{command}");
        assert!(reason(&agent, command).contains("vendor/lib/.git"), "{}", reason(&agent, command));
    }
    let marker = ground.path("out/ran");
    for (name, text) in bare_repository(&marker) {
        let path = ground.path(&format!("repo/vendor/lib/.git/{name}"));
        std::fs::create_dir_all(std::path::Path::new(&path).parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    ground.git("repo", &["status"]);
    assert!(ground.marker(), "git no longer runs in submodules: this test shows nothing");
}

/// A submodule of the user lies in the repository, where no agent writes unnamed.
#[tokio::test]
async fn a_submodule_of_the_user_stays_trusted() {
    let ground = Ground::new();
    let commit = ["-c", "user.name=u", "-c", "user.email=u@x", "commit", "-q", "--allow-empty", "-m", "x"];
    assert!(ground.git("plain", &["init", "-q", "."]).status.success());
    assert!(ground.git("plain", &commit).status.success());
    let (source, allow) = (ground.path("plain"), "protocol.file.allow=always");
    let added = ground.git("repo", &["-c", allow, "submodule", "--quiet", "add", &source, "vendor/lib"]);
    assert!(added.status.success(), "{added:?}");
    let agent = ground.agent("worker", "repo", &["repo"]).await;
    for command in ["git status", "git submodule status", "cd vendor/lib && git log"] {
        assert_eq!(verdict(&agent, command), Verdict::Allow, "{command}: {}", reason(&agent, command));
    }
    let _owner = ground.agent("owner", "out", &["repo/.git/modules/vendor/lib/config"]).await;
    assert_eq!(verdict(&agent, "git status"), Verdict::Ask);
}

/// A file `.git` may be longer than a path: git removes the ends of lines behind it.
#[tokio::test]
async fn a_long_pointer_to_a_repository_is_followed_as_git_follows_it() {
    let ground = Ground::new();
    let pointer = format!("gitdir: {}{}", ground.path("repo/.git"), "\n".repeat(5000));
    std::fs::write(ground.path("plain/.git"), pointer).unwrap();
    assert!(ground.git("plain", &["rev-parse", "HEAD@{0}"]).stderr.starts_with(b"fatal: ambiguous argument"));
    let agent = ground.agent("worker", "plain", &["plain/.git"]).await;
    assert_eq!(verdict(&agent, "git status"), Verdict::Ask);
}

/// `go list` asks the version control of its directory, and so may run what its settings say.
#[tokio::test]
async fn go_list_obeys_the_repository_of_its_directory() {
    let ground = Ground::new();
    let agent = ground.agent("worker", "repo", &["repo"]).await;
    let lines = ["go list -mod=vendor ./...", "cd sub && go list -mod=vendor -f '{{.Dir}}'", "go env GOPATH"];
    for command in lines {
        assert_eq!(verdict(&agent, command), Verdict::Allow, "{command}: {}", reason(&agent, command));
    }
    let _owner = ground.agent("owner", "out", &["repo/.git/config"]).await;
    for command in lines {
        assert!(reason(&agent, command).contains("owner may write"), "{}", reason(&agent, command));
    }
    let ground = Ground::new();
    let agent = ground.agent("worker", "repo", &["repo"]).await;
    std::fs::create_dir_all(ground.path("repo/sub/.hg")).unwrap();
    for command in [lines[1], "go -C sub list"] {
        assert_eq!(verdict(&agent, command), Verdict::Ask, "{command}");
    }
    assert!(reason(&agent, lines[1]).contains(".hg"), "{}", reason(&agent, lines[1]));
}

#[tokio::test]
async fn a_directory_that_a_line_goes_to_is_obeyed_too() {
    let ground = Ground::new();
    assert!(ground.git("plain", &["init", "-q", "--bare", "sub"]).status.success());
    let agent = ground.agent("worker", "repo", &["repo", "plain"]).await;
    let sub = ground.path("plain/sub");
    let there = [
        format!("cd {sub} && git status"),
        format!("git -C {sub} log"),
        format!("git -C{sub} log"),
        format!("env -C {sub} git log"),
        format!("(cd {sub}; git log)"),
        "cd ../plain/sub && git log".to_owned(),
        "git -C ../plain -C sub log".to_owned(),
        "cd \"$X\" && git log".to_owned(),
        // The second `cd` fails, and the line continues in the first directory.
        format!("cd {sub} && cd none; git log"),
        format!("cd {sub} && cd HEAD; git log"),
        "sh -c 'cd ../plain/sub; git log'".to_owned(),
        format!("git status; git -C {sub} log"),
    ];
    for command in there {
        assert_eq!(verdict(&agent, &command), Verdict::Ask, "{command}");
    }
    for command in ["git status", "git -C sub status", "cd sub && git log", "git --version"] {
        assert_eq!(verdict(&agent, command), Verdict::Allow, "{command}: {}", reason(&agent, command));
    }
}

/// `.git` may be a file that names another directory.
#[tokio::test]
async fn a_repository_that_lies_beside_its_checkout_is_obeyed_where_it_lies() {
    let ground = Ground::new();
    assert!(ground.git("plain", &["init", "-q", "--separate-git-dir", ".bare", "."]).status.success());
    let agent = ground.agent("worker", "plain", &["plain"]).await;
    assert_eq!(verdict(&agent, "git status"), Verdict::Ask);
    assert!(reason(&agent, "git status").contains("/.bare/config"), "{}", reason(&agent, "git status"));
    assert!(
        ground
            .git("repo", &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"])
            .status
            .success()
    );
    let tree = ground.path("out/tree");
    assert!(ground.git("repo", &["worktree", "add", "-q", &tree]).status.success());
    let agent = ground.agent("other", "out/tree", &["out/tree"]).await;
    assert_eq!(verdict(&agent, "git status"), Verdict::Allow, "{}", reason(&agent, "git status"));
}

#[tokio::test]
async fn a_rule_answers_for_what_is_obeyed_and_for_nothing_beside_it() {
    let ground = Ground::new();
    let agent = ground.agent("worker", "plain", &["plain"]).await;
    assert_eq!(verdict(&agent, "poetry check"), Verdict::Ask);
    assert!(reason(&agent, "poetry check").contains("`poetry` follows"), "{}", reason(&agent, "poetry check"));
    assert_eq!(verdict(&agent, "ls && poetry check | cat"), Verdict::Ask);
    // No agent may write to the directory of this one.
    let reader = ground.agent("reader", "out", &[]).await;
    for command in ["poetry check", "composer show"] {
        assert_eq!(verdict(&reader, command), Verdict::Allow, "{command}: {}", reason(&reader, command));
        assert_ne!(verdict(&agent, command), Verdict::Allow, "{command}");
    }
}

/// Programs with settings of their project, each with the file that makes it run another program.
const SETTINGS: &[(&str, &str)] = &[
    ("cargo tree --offline", ".cargo/config.toml"),
    ("cargo metadata --no-deps", ".cargo/config"),
    ("cargo --version", "rust-toolchain.toml"),
    ("rustc --version", "rust-toolchain"),
    ("npm ls", ".npmrc"),
    ("yarn why x", ".yarnrc.yml"),
    ("yarn --version", ".yarnrc"),
    ("pnpm ls", ".pnpmfile.cjs"),
    ("mvn -v", ".mvn/jvm.config"),
    ("git log", ".git/config"),
    ("git status", "HEAD"),
    ("composer show", "vendor/autoload.php"),
    ("hg status", ".hg/hgrc"),
    ("poetry check", "pyproject.toml"),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::support::cases(64)))]

    /// A program is unsafe in a directory if an agent may write a file that the program obeys, there or in a parent
    /// directory. Otherwise it is safe.
    #[test]
    fn what_an_agent_may_write_no_safe_program_obeys(
        (command, file) in prop::sample::select(SETTINGS),
        up in 0..3_usize,
        by_name in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let ground = Ground::new();
            std::fs::create_dir_all(ground.path("plain/a/b")).unwrap();
            let asker = ground.agent("asker", "plain/a/b", &[]).await;
            assert_eq!(verdict(&asker, command), Verdict::Allow, "{}", reason(&asker, command));
            let at = ["plain/a/b", "plain/a", "plain"][up];
            let target = format!("{at}/{file}");
            let writer = ground.agent("writer", "out", &[if by_name { &target } else { at }]).await;
            let write = Action::write(&ground.path(&target));
            let may_write = writer.explain(&write).unwrap().decision.verdict() == Verdict::Allow;
            let held = verdict(&asker, command) == Verdict::Allow;
            assert!(!(may_write && held), "{command} obeys {target}");
            assert!(may_write || held || file != "HEAD" && !by_name, "{command}: {}", reason(&asker, command));
        });
    }
}

/// In a mode that allows only reads, the engine trusts no file of a directory, except a repository that no agent may
/// write.
#[tokio::test]
async fn strict_modes_trust_no_program_that_obeys_its_directory() {
    let ground = Ground::new();
    let mut agents = Vec::new();
    for (mode, name, expected) in [(Mode::Plan, "p", Verdict::Deny), (Mode::Untrusted, "u", Verdict::Ask)] {
        let agent = ground.agent_in(mode, name, "repo", &[]).await;
        for command in ["cargo tree", "npm ls", "git commit -m x"] {
            assert_eq!(verdict(&agent, command), expected, "{mode:?} {command}");
        }
        for command in ["ls -la", "cat x | head", "git --version", "rg x", "git status"] {
            assert_eq!(verdict(&agent, command), Verdict::Allow, "{mode:?} {command}: {}", reason(&agent, command));
        }
        agents.push((agent, expected));
    }
    let _writer = ground.agent("writer", "out", &["repo/.git/config"]).await;
    for (agent, expected) in &agents {
        for command in ["git status", "git log", "git diff", "git status && ls"] {
            assert_eq!(verdict(agent, command), *expected, "{command}: {}", reason(agent, command));
        }
    }
}
