//! Tests that a command does not show the content of a denied file through a form that names the file nowhere.

use std::{fs, path::PathBuf, process::Command, sync::Arc};

use bestow::{
    Action, Agent, Effect, Engine, Kind, Settings, action::Operation, agent::Mode, decision::Verdict, grant::Reads,
    policy::Rule,
};

use crate::support::{id, policy, profile, real, settings};

/// A repository in which `.env`, `secrets/x` and `top.txt` are tracked and denied. Each contains `HIDDEN`, in two
/// versions.
struct Repository {
    _directory: tempfile::TempDir,
    work: PathBuf,
    engine: Engine,
}

const DENIED: [&str; 3] = [".env", "secrets/x", "top.txt"];

impl Repository {
    fn new() -> Repository {
        let directory = tempfile::tempdir().unwrap();
        let work = real(directory.path()).join("data/ann/work");
        for name in DENIED.into_iter().chain(["src/x.c", "src/y.c", "secrets.md"]) {
            let path = work.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "first\n").unwrap();
        }
        let repository = Repository { _directory: directory, work, engine: Engine::new(Settings::default()).unwrap() };
        repository.git("init -q -b main .");
        repository.git("config user.name n");
        repository.git("config user.email a@b.c");
        repository.commit();
        for version in ["HIDDEN 1\n", "HIDDEN 2\n"] {
            DENIED.iter().for_each(|name| fs::write(repository.work.join(name), version).unwrap());
            fs::write(repository.work.join("src/x.c"), format!("int x; /* {} */", version.len())).unwrap();
            repository.commit();
        }
        DENIED.iter().for_each(|name| fs::write(repository.work.join(name), "HIDDEN 3\n").unwrap());
        repository.git("stash push -q");
        DENIED.iter().for_each(|name| fs::write(repository.work.join(name), "HIDDEN 4\n").unwrap());
        repository
    }

    fn commit(&self) {
        self.git("add -A");
        self.git("commit -q --allow-empty -m c");
    }

    fn git(&self, words: &str) {
        let done = Command::new("git").args(words.split(' ')).current_dir(&self.work).output().unwrap();
        assert!(done.status.success(), "{words}: {done:?}");
    }

    /// Returns true if the line prints content of a denied file.
    fn leaks(&self, line: &str) -> bool {
        let mut bash = Command::new("timeout");
        bash.args(["5", "bash", "--norc", "-c", line]).current_dir(&self.work).env("GIT_PAGER", "cat");
        let done = bash.stdin(std::process::Stdio::null()).output().unwrap();
        [done.stdout, done.stderr].iter().any(|text| String::from_utf8_lossy(text).contains("HIDDEN"))
    }

    async fn agent(&self, reads: Reads) -> Agent {
        let work = self.work.to_str().unwrap();
        let deny = |(operation, glob): (Operation, &str)| {
            crate::support::rule(Verdict::Deny, Some(operation), Some(&glob.replace("{}", work)))
        };
        let globs = ["/**/.env*", "/**/secrets/**", "{}/top.txt"];
        let both = [Operation::Read, Operation::Write];
        let rules: Vec<Rule> = globs.iter().flat_map(|glob| both.map(|operation| deny((operation, glob)))).collect();
        let mut file = policy(settings(|_| {}), &[("ann", "you", &[&format!("@write:{work}"), "@network"])]);
        let ann = file.agents.get_mut(&id("ann")).unwrap();
        ann.profile = profile("ann", "you", Kind::Permanent).in_mode(Mode::Default);
        ann.profile.working_dir = work.parse().unwrap();
        ann.rules = Arc::from(rules);
        file.settings.reads = reads;
        self.engine.configure(file).await.unwrap();
        self.engine.agent(id("ann")).unwrap()
    }
}

fn verdict(agent: &Agent, line: &str) -> Effect {
    agent.verdict(&Action::command(line)).unwrap()
}

fn none_allowed<'l>(agent: &Agent, lines: impl IntoIterator<Item = &'l str>) {
    let allowed: Vec<_> = lines.into_iter().filter(|line| verdict(agent, line) < Effect::Ask).collect();
    assert!(allowed.is_empty(), "allowed: {allowed:#?}");
}

fn all_allowed(agent: &Agent, lines: &[&str]) {
    let others: Vec<_> = lines.iter().filter(|line| verdict(agent, line) != Effect::Allow).collect();
    assert!(others.is_empty(), "not allowed: {others:#?}");
}

/// A real `git` runs each combination.
#[tokio::test]
async fn a_git_command_that_prints_a_denied_file_is_not_allowed() {
    let repository = Repository::new();
    let agent = repository.agent(Reads::Anywhere).await;
    let commands = [
        "log",
        "show",
        "diff",
        "diff --cached HEAD~1",
        "reflog",
        "stash show",
        "stash list",
        "-c stash.showPatch=true stash show",
        "diff-index HEAD",
        "diff-files",
        "diff-tree -r HEAD~1 HEAD",
        "format-patch --stdout HEAD~1",
        "range-diff HEAD~2..HEAD~1 HEAD~1..HEAD",
        "status",
        "commit --dry-run",
        "blame",
        "-C src log",
    ];
    let options = [
        "",
        "-p",
        "-u",
        "-U1",
        "--patch",
        "--patc",
        "--binary",
        "-c",
        "--cc",
        "-m",
        "--remerge-diff",
        "--patch-with-raw",
        "--patch-with-stat",
        "-W",
        "--word-diff",
        "--color-words",
        "-G HIDDEN -p",
        "-S HIDDEN -p",
        "-v",
        "-vv",
        "--verbose",
        "--stat",
        "--stat -p",
        "-p --stat",
        "--name-only",
        "--name-only --patch",
        "--oneline",
        "--oneline --unified=3",
        "--raw -u",
        "--exit-code",
        "--check",
        "--format=%h",
        "--author -p",
        "--author -- -p",
        "-L1,1:top.txt",
        "--no-patch -p",
        "-s",
        "--full-diff -p -- src",
        "-p -- :(top)",
        "-p -- src :(top)",
        "-p -- :/",
        "-p -- :!src",
        "-p -- :(icase)TOP.TXT",
        "-p -- to*",
        "-p -- src to*",
        "-p -- src *.tx?",
        "-p src -- to*",
        "--follow top.txt",
        "-p --format -p",
        "--submodule -p",
        "-p --word-diff=porcelain",
    ];
    let quoted = |options: &str| options.split(' ').map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ");
    let lines = commands.iter().flat_map(|command| {
        options.iter().map(move |option| match *option {
            "" => format!("git {command}"),
            option => format!("git {command} {}", quoted(option)),
        })
    });
    let leaking: Vec<_> = lines.filter(|line| repository.leaks(line)).collect();
    assert!(leaking.len() > 100, "{}", leaking.len());
    none_allowed(&agent, leaking.iter().map(String::as_str));
    let others = [
        "git grep HIDDEN",
        "git grep HIDDEN -- 'to*'",
        "git grep HIDDEN 'to*'",
        "git grep HIDDEN -- ':(top)'",
        "git -C src grep HIDDEN -- ':/'",
        "git grep HIDDEN -- ':!src'",
        "git grep HIDDEN -- ':(icase)TOP.TXT'",
        "git grep --no-index HIDDEN -- 'to*'",
        "git grep --no-index HIDDEN -- ':!src'",
        "git grep --untracked HIDDEN -- 'to*'",
        "git grep --untracked HIDDEN .",
        "git cat-file --batch < <(git rev-parse HEAD:top.txt)",
        "echo HEAD:top.txt | git cat-file --batch",
        "git cat-file -p $(git rev-parse HEAD:top.txt)",
        "git cat-file blob $(git rev-parse HEAD:top.txt)",
        "git show -s $(git rev-parse HEAD:top.txt)",
        "git -C src show --stat HEAD:top.txt",
        "git archive HEAD",
        "git archive HEAD 'to*'",
        "git archive HEAD ':(top)'",
        "git fast-export HEAD",
        "yes n | git add -p",
        "yes n | git checkout -p",
    ];
    let silent: Vec<_> = others.iter().filter(|line| !repository.leaks(line)).collect();
    assert!(silent.is_empty(), "prints nothing: {silent:#?}");
    none_allowed(&agent, others);
}

#[tokio::test]
async fn a_git_command_that_prints_no_denied_file_needs_nobody() {
    let repository = Repository::new();
    let agent = repository.agent(Reads::Anywhere).await;
    let lines = [
        "git status",
        "git status -sb",
        "git status --porcelain",
        "git log",
        "git log --oneline -5",
        "git log --oneline --graph --all",
        "git log -n 3 --stat",
        "git log --since='2 days ago' --author=x --format='%h %s'",
        "git log --name-only -- src",
        "git log -p -- src/x.c",
        "git log -p -- 'src/*.c'",
        "git diff --stat",
        "git diff --name-only HEAD~1",
        "git diff src",
        "git diff -- src/x.c",
        "git show --stat",
        "git show --name-only HEAD~1",
        "git stash list",
        "git blame src/x.c",
        "git blame -L 1,1 src/x.c",
        "git grep int -- src",
        "git grep int -- 'src/*.c'",
        "git cat-file -t HEAD",
        "git reflog",
        "git branch",
    ];
    all_allowed(&agent, &lines);
    let leaking: Vec<_> = lines.iter().filter(|line| repository.leaks(line)).collect();
    assert!(leaking.is_empty(), "{leaking:#?}");
}

#[tokio::test]
async fn an_option_of_the_shell_does_not_hide_what_a_pattern_finds() {
    let repository = Repository::new();
    let agent = repository.agent(Reads::Anywhere).await;
    let lines = [
        "shopt -s dotglob; cat *",
        "shopt -s nocaseglob; cat TOP*",
        "shopt -s extglob\ncat !(src|secrets)",
        "shopt -s globstar; cat **",
        "shopt -s nullglob dotglob; for f in *; do cat \"$f\"; done",
        "bash -O dotglob -c 'cat *'",
        "bash -O nocaseglob -c 'cat TOP*'",
        "zsh -o globdots -c 'cat *'",
        "GLOBIGNORE=x; cat *",
        "BASHOPTS=dotglob bash -c 'cat *'",
    ];
    none_allowed(&agent, lines);
}

#[tokio::test]
async fn an_exclusion_that_excludes_nothing_is_not_believed() {
    let repository = Repository::new();
    let agent = repository.agent(Reads::Anywhere).await;
    let but = "--exclude=.env --exclude=top.txt";
    let lines = [
        format!("grep -r HIDDEN . {but} --exclude-dir=./secrets"),
        format!("grep -r HIDDEN {but} --exclude-dir=/secrets"),
        "grep -r HIDDEN . --exclude-dir=secrets --exclude=top.txt --exclude='.env/'".to_owned(),
        "grep -r HIDDEN . --exclude-dir=secrets --exclude=.env --exclude=./top.txt".to_owned(),
        "rg --hidden HIDDEN -g '!.env/' -g '!top.txt' -g '!secrets'".to_owned(),
        "rg HIDDEN . -g '!./secrets' -g '!top.txt'".to_owned(),
        "rg HIDDEN .. -g '!/top.txt' -g '!secrets'".to_owned(),
        "rg HIDDEN -g '!secrets' -g '!top.txt' -g 'top.txt'".to_owned(),
        "rg HIDDEN -g '!!top.txt' -g '!secrets'".to_owned(),
        "rg --type-add 'c:*' -t c HIDDEN".to_owned(),
    ];
    none_allowed(&agent, lines.iter().map(String::as_str));
    all_allowed(
        &agent,
        &[
            &format!("grep -r HIDDEN . {but} --exclude-dir=secrets"),
            &format!("grep -r HIDDEN . {but} --exclude-dir=secrets/"),
            "rg HIDDEN -g '!secrets' -g '!top.txt'",
            "rg HIDDEN -g '!secrets/' -g '!**/top.txt'",
            "rg HIDDEN -g '!**/secrets/**' -g '!*.txt'",
        ],
    );
}

#[tokio::test]
async fn a_name_without_its_suffix_is_the_name_of_the_packed_file() {
    let repository = Repository::new();
    let agent = repository.agent(Reads::Granted).await;
    for name in ["z.zip", "y.gz", "x.Z"] {
        fs::write(repository.work.parent().unwrap().join(name), "x").unwrap();
        fs::write(repository.work.join("secrets").join(name), "x").unwrap();
        fs::write(repository.work.join(name), "x").unwrap();
    }
    none_allowed(
        &agent,
        [
            "unzip -p ../z",
            "unzip -p '../z*'",
            "zipinfo ../z",
            "gzip -dc ../y",
            "gunzip -c ../y",
            "zcat ../y",
            "zcat ../x",
            "unzip -p secrets/z",
            "zcat secrets/y",
        ],
    );
    all_allowed(&agent, &["unzip -p z", "gzip -dc y", "zcat y.gz"]);
}

#[tokio::test]
async fn a_program_that_includes_or_merges_files_is_not_trusted_to_print_none() {
    let repository = Repository::new();
    let agent = repository.agent(Reads::Anywhere).await;
    let lines = [
        "gcc -E src/x.c",
        "gcc -E -P src/x.c",
        "gcc -fsyntax-only src/x.c",
        "g++ -fsyntax-only src/x.c",
        "cpp src/x.c",
        "clang -E src/x.c",
        "gcc -E -dM -include top.txt -x c /dev/null",
        "gcc -E - < src/x.c",
        "docker compose config",
        "docker compose config --environment",
        "docker-compose config",
    ];
    none_allowed(&agent, lines);
    all_allowed(&agent, &["gcc -E -dM -x c /dev/null", "gcc --version", "docker compose ps"]);
}
