//! Commands that try to remove a protected path's protection. Each of them worked once.

use std::{
    fs,
    os::unix::fs::{FileTypeExt, PermissionsExt},
    path::Path,
    process::Command as Process,
};

use bestow::{Permission, sandbox::Profile};

use super::ground::{Ground, everywhere, scope, shown, with_bubblewrap};

fn hiding(ground: &Ground, hidden: &str) -> Profile {
    ground.profile_hiding(&[], &[hidden])
}

/// Returns every entry directly below a directory.
pub(super) fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Runs a line as the user of the commands, outside of the sandbox.
fn made(ground: &Ground, line: &str) {
    let status = Process::new("sh").args(["-c", line]).current_dir(ground.path("workspace")).status().unwrap();
    assert!(status.success(), "{ground}: {line}");
}

#[test]
fn a_directory_that_a_command_has_closed_is_kept_from_the_next_one() {
    with_bubblewrap(|ground| {
        made(ground, "mkdir d && echo secret > d/secret && mkdir -p e/.git/hooks");
        assert_eq!(ground.sh_under(&hiding(ground, "workspace/d/secret"), "chmod 000 d e; chmod 0311 .").code, Some(0));
        // The paths of the profile are no longer visible.
        let profile = hiding(ground, "workspace/d/secret");
        let done =
            ground.sh_under(&profile, "chmod 755 . d; cat d/secret; chmod 755 e; echo x > e/.git/hooks/pre-commit");
        let told = shown(&done.stdout.bytes);
        assert!(!told.contains("secret"), "{ground}: {told}");
        let done =
            ground.sh_under(&profile, "chmod 755 .; echo x > .git/hooks/pre-commit; echo x > e/.git/hooks/pre-commit");
        assert_ne!(done.code, Some(0), "{ground}");
        made(ground, "chmod 755 . && chmod 755 d e");
        assert!(!ground.world.exists("workspace/.git/hooks/pre-commit"), "{ground}");
        assert!(!ground.world.exists("workspace/e/.git/hooks/pre-commit"), "{ground}");
        if !ground.is_root {
            let told = done.facts.stricter.join("; ");
            assert!(told.contains("chmod u+rwx"), "{ground}: {told}");
            assert!(done.facts.hidden.contains(&ground.world.text("workspace/d").parse().unwrap()), "{:?}", done.facts);
        }
    });
}

#[test]
fn a_root_that_may_not_be_written_is_read_only_as_a_whole_and_said_to_be() {
    with_bubblewrap(|ground| {
        if ground.is_root {
            return;
        }
        fs::set_permissions(ground.path("workspace"), fs::Permissions::from_mode(0o555)).unwrap();
        let done = ground.sh("chmod 755 .; mkdir .claude && echo x > .claude/settings.json");
        assert_ne!(done.code, Some(0), "{ground}");
        assert!(done.facts.stricter.iter().any(|told| told.contains("chmod u+rwx")), "{:?}", done.facts.stricter);
        fs::set_permissions(ground.path("workspace"), fs::Permissions::from_mode(0o755)).unwrap();
        assert!(!ground.world.exists("workspace/.claude"), "{ground}");
        ground.can("echo x > new");
    });
}

#[test]
fn a_hidden_path_that_is_a_link_is_neither_replaced_nor_read() {
    with_bubblewrap(|ground| {
        made(
            ground,
            "mkdir conf && echo hidden-text > conf/own.toml && ln -s conf/own.toml own.toml && ln -s gone away",
        );
        let profile = hiding(ground, "workspace/own.toml");
        for line in [
            "rm own.toml",
            "ln -sfn f own.toml",
            "mv conf c2",
            "grep -q hidden own.toml",
            "grep -q hidden conf/own.toml",
            "echo x > conf/own.toml",
        ] {
            ground.cannot_under(&profile, line);
        }
        let profile = hiding(ground, "workspace/away");
        ["rm away", "echo x > gone", "echo x > away"].iter().for_each(|line| ground.cannot_under(&profile, line));
        assert_eq!(fs::read_link(ground.path("workspace/own.toml")).unwrap(), Path::new("conf/own.toml"), "{ground}");
    });
}

#[test]
fn every_promise_of_a_profile_is_among_the_facts() {
    with_bubblewrap(|ground| {
        let profile =
            ground.profile_hiding(&[], &["workspace/f", "outside/secret", "workspace/later/own", "outside/later"]);
        let facts = ground.sh_under(&profile, "true").facts;
        let has =
            |all: &[bestow::path::SanitizedPath], path: &str| all.contains(&ground.world.text(path).parse().unwrap());
        assert!(has(&facts.hidden, "workspace/f") && has(&facts.hidden, "outside/secret"), "{facts:?}");
        assert!(has(&facts.read_only, "workspace/later") && has(&facts.read_only, "workspace/.git"), "{facts:?}");
        assert!(has(&facts.not_there, "outside/later"), "{facts:?}");
    });
}

/// Runs a command that waits, calls `then` meanwhile, and lets the command continue. Returns true if it succeeded.
fn while_one_waits(ground: &Ground, profile: &Profile, line: &str, then: impl FnOnce()) -> bool {
    let pipe = ground.path("workspace/go");
    let fifo = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, fifo, rustix::fs::Mode::from_raw_mode(0o600), 0).unwrap();
    let ended_well = std::thread::scope(|scope| {
        let long = scope.spawn(|| ground.sh_under(profile, &format!("cat go > went && {line}")));
        let mut go = fs::OpenOptions::new().write(true).open(&pipe).unwrap();
        then();
        std::io::Write::write_all(&mut go, b"!").unwrap();
        drop(go);
        long.join().unwrap().code == Some(0)
    });
    fs::remove_file(pipe).unwrap();
    ended_well
}

#[test]
fn a_command_that_ends_leaves_what_holds_a_place_to_one_that_needs_it_for_whatever_reason() {
    with_bubblewrap(|ground| {
        let workspace = Permission::write(ground.world.workspace().parse().unwrap());
        let of = |hidden: &[&str]| {
            let hidden = hidden.iter().map(|path| ground.world.text(path).parse().unwrap());
            Profile::of(&scope(&ground.world.workspace(), std::slice::from_ref(&workspace)), hidden).unwrap()
        };
        // The first profile hides missing paths. The second one is created while placeholders stand in their place, and
        // hides those.
        let first = of(&["workspace/deep/own.toml", "workspace/agents.toml"]);
        let ended_well = while_one_waits(ground, &first, "true", || {
            let second = of(&["workspace/deep/own.toml", "workspace/deep/other", "workspace/agents.toml"]);
            assert_eq!(ground.sh_under(&second, "true").code, Some(0), "{ground}");
            for line in ["mkdir -p deep && echo x > deep/own.toml", "echo x > deep/other", "echo x > agents.toml"] {
                ground.cannot_under(&second, line);
            }
            assert!(ground.world.exists("workspace/deep"), "{ground}");
        });
        assert!(ended_well, "{ground}");
        let attack = "{ mkdir -p deep; echo x > deep/own.toml; } || echo x > agents.toml";
        assert!(!while_one_waits(ground, &first, attack, || ground.can("true").clear()), "{ground}");
        assert_eq!(names(&ground.path("workspace")), [".git", "f", "repo", "went"], "{ground}");
    });
}

#[test]
fn git_sees_nothing_of_what_holds_a_place() {
    with_bubblewrap(|ground| {
        let git = |words: &[&str]| {
            let mut git = Process::new("git");
            git.args(["-c", "safe.directory=*"]).args(words).current_dir(ground.path("workspace"));
            let done = git.env("HOME", "/nonexistent").output().unwrap();
            assert!(done.status.success(), "{ground}: {}", shown(&done.stderr));
            shown(&done.stdout)
        };
        made(ground, "rm -rf .git && git init -q . && echo go >> .git/info/exclude && echo went >> .git/info/exclude");
        git(&["-c", "user.name=a", "-c", "user.email=b", "commit", "-q", "--allow-empty", "-m", "x"]);
        let before = git(&["status", "--porcelain", "-uall"]);
        let profile = ground.profile_hiding(&[], &["workspace/own.toml"]);
        while_one_waits(ground, &profile, "true", || {
            let all = names(&ground.path("workspace"));
            assert!(
                [".npmrc", ".claude", "refs", "own.toml"].iter().all(|name| all.contains(&(*name).to_owned())),
                "{all:?}"
            );
            let kind =
                |name: &str| fs::symlink_metadata(ground.path(&format!("workspace/{name}"))).unwrap().file_type();
            assert!([".npmrc", "own.toml", ".claude"].iter().all(|name| kind(name).is_socket()), "{ground}");
            assert_eq!(git(&["status", "--porcelain", "-uall"]), before, "{ground}");
            git(&["diff", "HEAD"]);
            // A person who cleans up takes nothing away from a command that runs.
            assert!(!git(&["clean", "-ndx"]).contains(".claude"), "{ground}");
            git(&["clean", "-fdxq", "-e", "go", "-e", "went", "-e", "f", "-e", "repo"]);
            assert!(kind(".claude").is_socket() && kind(".vscode").is_socket(), "{ground}");
            let inside = "git -c safe.directory='*' status --porcelain -uall";
            assert_eq!(ground.can(inside), before, "{ground}: from inside");
        });
        assert_eq!(git(&["status", "--porcelain", "-uall"]), before, "{ground}");
        fs::remove_file(ground.path("workspace/went")).unwrap();
        assert_eq!(names(&ground.path("workspace")), [".git", "f", "repo"], "{ground}");
    });
}

#[test]
fn a_command_makes_no_program_that_runs_as_its_owner() {
    everywhere(|ground| {
        for line in [
            "cp /bin/true t && chmod 4755 t",
            "cp /bin/true t && chmod g+s t",
            "mkdir -m 2755 d",
            "python3 -c 'import os; os.close(os.open(\"made\", os.O_CREAT | os.O_WRONLY, 0o4755)); \
             os.stat(\"made\").st_mode & 0o4000 or 1/0'",
            "python3 -c 'import os; os.mknod(\"node\", 0o104755); os.stat(\"node\").st_mode & 0o4000 or 1/0'",
            "python3 -c 'import os; fd = os.open(\"g\", os.O_CREAT | os.O_WRONLY, 0o755); os.fchmod(fd, 0o6755)'",
            "install -m 4755 /bin/true t2",
        ] {
            ground.cannot(line);
        }
        ground.can("echo x > plain && mkdir -p e/f && test -d e/f");
        if ground.over == "bubblewrap" {
            ground.can("chmod 755 plain && mkdir -m 1777 sticky");
        }
        for entry in fs::read_dir(ground.path("workspace")).unwrap().map(Result::unwrap) {
            let mode = entry.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o6000, 0, "{ground}: {:?}", entry.path());
        }
    });
}

#[test]
fn a_repository_without_a_name_of_its_own_is_not_made_in_a_root() {
    with_bubblewrap(|ground| {
        fs::remove_dir_all(ground.path("workspace/.git")).unwrap();
        let attack = "git init -q --bare . || { mkdir -p objects refs; echo 'ref: refs/heads/x' > HEAD; }; \
                      printf '[core]\\n\\tfsmonitor = touch %s/ran; false\\n' $PWD > config";
        ground.sh(attack);
        let mut git = Process::new("git");
        git.args(["-c", "safe.directory=*", "status"]).current_dir(ground.path("workspace"));
        let done = git.env("HOME", "/nonexistent").env("GIT_CEILING_DIRECTORIES", ground.path("")).output().unwrap();
        assert!(!done.status.success(), "{ground}: {}", shown(&done.stdout));
        assert!(!ground.world.exists("workspace/ran"), "{ground}");
        // An existing bare repository stays unchanged.
        made(ground, "rm -rf HEAD objects refs config; git init -q --bare sub/bare");
        ground.cannot("echo x >> sub/bare/config");
        ground.cannot("mv sub/bare sub/b2");
        ground.cannot("mkdir -p sub/bare/hooks && echo x > sub/bare/hooks/post-update");
    });
}

#[test]
fn what_git_is_led_to_stays_as_it_is() {
    with_bubblewrap(|ground| {
        fs::remove_dir_all(ground.path("workspace/.git")).unwrap();
        made(ground, "git init -q --separate-git-dir=.bare . && test -f .git && mkdir hooked");
        made(ground, "git config core.hooksPath hooked");
        for line in [
            "echo x > .bare/hooks/post-checkout",
            "echo x >> .bare/config",
            "mv .bare b",
            "echo 'gitdir: ./other' > .git",
            "echo x > hooked/post-checkout",
            "mv hooked h",
        ] {
            ground.cannot(line);
        }
        ground.can("echo x > new");
    });
}

#[test]
fn the_litter_of_one_command_does_not_stop_the_next() {
    with_bubblewrap(|ground| {
        ground.can("ln -s f .env && mkdir -p a/b && ln -s ../../f a/b/.claude");
        ground.can("mkdir n && i=0; while [ $i -lt 60 ]; do mkdir -p n/r$i/.git; i=$((i+1)); done");
        ground.can("mkdir shut && chmod 000 shut");
        ground.can("python3 -c 'import os; os.makedirs(b\"odd\\xff\\x01/.git\")'");
        ground.can("echo x > still && i=0; while [ $i -lt 2100 ]; do : > k$i.pem; i=$((i+1)); done");
        let lines = [
            "rm .env",
            "ln -sfn repo .env",
            "mv .env e",
            "rm a/b/.claude",
            "mv a c",
            "echo x > k7.pem",
            "echo x > f",
            "echo x > n/r7/.git/config",
            "mv n/r7 n/other",
            "python3 -c 'import os; open(b\"odd\\xff\\x01/.git/config\", \"w\")'",
        ];
        // Each line must fail. A line that succeeds prints its text.
        let all: Vec<_> =
            lines.iter().map(|line| format!("{{ {line}; }} 2>/dev/null && echo 'done: {line}'")).collect();
        let done = ground.sh(&format!("{}; true", all.join("\n")));
        assert_eq!(shown(&done.stdout.bytes), "", "{ground}: {}", shown(&done.stderr.bytes));
        if !ground.is_root {
            ground.cannot("chmod 755 shut && mkdir shut/.git");
            assert!(done.facts.stricter.iter().any(|told| told.contains("/shut`")), "{:?}", done.facts.stricter);
        }
        assert_eq!(fs::read_link(ground.path("workspace/.env")).unwrap(), Path::new("f"), "{ground}");
        fs::set_permissions(ground.path("workspace/shut"), fs::Permissions::from_mode(0o755)).unwrap();
    });
}

/// Starts the command line with a command that waits, and returns when the command runs.
fn waiting_in_the_command_line(ground: &Ground) -> std::process::Child {
    let config = ground.path("agents.toml");
    let text = "[defaults]\nowner = \"you\"\nworking_dir = \"workspace\"\n[agents.worker]\nkind = \"permanent\"\n\
                permissions = [\"@write:workspace\"]\n";
    fs::write(&config, text).unwrap();
    fs::set_permissions(&config, fs::Permissions::from_mode(0o600)).unwrap();
    let mut bestow = Process::new(ground.path("helper"));
    bestow.args(["exec", "--agent", "worker", "--config"]).arg(&config);
    bestow.args(["--grant", &format!("@write:{}", ground.world.workspace()), "--", "sh", "-c", "echo up; sleep 600"]);
    bestow.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::piped());
    let mut child = bestow.spawn().unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.as_mut().unwrap()), &mut line).unwrap();
    assert_eq!(line, "up\n", "{ground}");
    assert!(ground.world.exists("workspace/.npmrc"), "{ground}");
    child
}

#[test]
pub(super) fn what_a_killed_run_left_goes_with_the_next_one() {
    with_bubblewrap(|ground| {
        fs::remove_dir_all(ground.path("workspace/.git")).unwrap();
        let mut child = waiting_in_the_command_line(ground);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(ground.world.exists("workspace/.npmrc"), "{ground}");
        ground.can("true");
        assert_eq!(names(&ground.path("workspace")), ["f", "repo"], "{ground}");
    });
}

#[test]
fn a_run_that_is_told_to_end_takes_away_what_held_places() {
    use rustix::process::{Pid, Signal, kill_process};
    with_bubblewrap(|ground| {
        fs::remove_dir_all(ground.path("workspace/.git")).unwrap();
        for signal in [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT] {
            let mut child = waiting_in_the_command_line(ground);
            kill_process(Pid::from_child(&child), signal).unwrap();
            assert_eq!(child.wait().unwrap().code(), Some(1), "{ground}");
            assert_eq!(names(&ground.path("workspace")), ["f", "repo"], "{ground}: {signal:?}");
        }
    });
}

#[test]
fn a_command_of_one_user_takes_nothing_from_the_command_of_another() {
    // A thread has the user of the thread that started it.
    let (ask, asked) = std::sync::mpsc::channel::<Box<dyn FnOnce() + Send>>();
    std::thread::spawn(move || asked.iter().for_each(|work| work()));
    let ask = std::sync::Mutex::new(ask);
    let is_superuser = rustix::process::geteuid().is_root();
    with_bubblewrap(|ground| {
        if ground.is_root || !is_superuser {
            return;
        }
        fs::remove_dir_all(ground.path("workspace/.git")).unwrap();
        made(ground, "mkfifo go up && chmod 666 go up && mkdir shared && chmod 777 .");
        let (sandbox, profile) = (ground.sandbox.clone(), ground.profile());
        let line = "echo > up; cat go; mkdir -p .claude/x .git/hooks; echo x > .npmrc; true";
        let waiting = bestow::sandbox::Command::new("sh").args(["-c", line]);
        let quick = bestow::sandbox::Command::new("true");
        for is_first in [true, false] {
            let (mine, others) = if is_first { (&waiting, &quick) } else { (&quick, &waiting) };
            let other = (sandbox.clone(), profile.clone(), others.clone());
            let (tell, told) = std::sync::mpsc::channel();
            let work = Box::new(move || tell.send(other.0.run(&other.1, &other.2).unwrap().code).unwrap());
            let free = || fs::write(ground.path("workspace/go"), "!").unwrap();
            let is_up = || drop(fs::read(ground.path("workspace/up")).unwrap());
            if is_first {
                std::thread::scope(|scope| {
                    let mine = scope.spawn(|| sandbox.run(&profile, mine).unwrap());
                    is_up();
                    ask.lock().unwrap().send(work).unwrap();
                    assert_eq!(told.recv().unwrap(), Some(0), "{ground}");
                    free();
                    mine.join().unwrap();
                });
            } else {
                ask.lock().unwrap().send(work).unwrap();
                is_up();
                sandbox.run(&profile, mine).unwrap();
                free();
                assert_eq!(told.recv().unwrap(), Some(0), "{ground}");
            }
            assert_eq!(names(&ground.path("workspace")), ["f", "go", "repo", "shared", "up"], "{ground}: {is_first}");
        }
    });
}

#[test]
fn without_namespaces_nothing_outlives_a_host_that_is_killed() {
    super::ground::with_landlock(|ground| {
        // A host runs a command whose child holds a pipe of this test. The pipe ends when the child is gone.
        let (mut ours, theirs) = std::io::pipe().unwrap();
        let mut host = Process::new(std::env::current_exe().unwrap());
        host.args(["--exact", "sandbox::shaking::a_host_that_is_killed", "--nocapture"]);
        host.env("BESTOW_TEST_WORKSPACE", ground.world.workspace()).env("BESTOW_TEST_HELPER", ground.path("helper"));
        host.stdin(std::process::Stdio::null()).stdout(theirs.try_clone().unwrap()).stderr(theirs);
        let mut child = host.spawn().unwrap();
        drop(host);
        let mut said = String::new();
        while !said.contains("up") {
            let mut part = [0; 256];
            let length = std::io::Read::read(&mut ours, &mut part).unwrap();
            assert_ne!(length, 0, "{ground}: {said}");
            said += &shown(&part[..length]);
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // The read ends when the last process that holds the pipe has ended.
        std::io::Read::read_to_end(&mut ours, &mut Vec::new()).unwrap();
    });
}

/// The host of the test above, in another process. Alone it does nothing.
#[test]
fn a_host_that_is_killed() {
    let (Ok(workspace), Ok(helper)) = (std::env::var("BESTOW_TEST_WORKSPACE"), std::env::var("BESTOW_TEST_HELPER"))
    else {
        return;
    };
    let write = Permission::write(workspace.parse().unwrap());
    let profile = Profile::of(&scope(&workspace, &[write]), []).unwrap().without_guard();
    let sandbox = bestow::sandbox::Sandbox::with_helper(helper).without_bubblewrap();
    let line = "sleep 600 & sleep 600 & echo up; wait";
    sandbox.run(&profile, &bestow::sandbox::Command::new("sh").args(["-c", line]).inheriting()).unwrap();
}

#[test]
fn a_program_that_confines_is_not_taken_from_where_the_command_writes() {
    everywhere(|ground| {
        let root = Permission::write(ground.world.text("").parse().unwrap());
        let profile = Profile::of(&scope(&ground.world.workspace(), &[root]), []).unwrap();
        let profile = if ground.over == "landlock" { profile.without_guard() } else { profile };
        let why = ground.sandbox.run(&profile, &bestow::sandbox::Command::new("true")).unwrap_err().to_string();
        assert!(why.contains("helper") && why.contains("install it in another directory"), "{ground}: {why}");
    });
}

#[test]
fn a_directory_that_cannot_be_looked_into_is_kept_like_what_a_denied_glob_means_in_it() {
    with_bubblewrap(|ground| {
        made(ground, "mkdir d && echo hidden-text > d/x.secret && chmod 000 d");
        let config = ground.path("agents.toml");
        let text = "[defaults]\nowner = \"you\"\nworking_dir = \"workspace\"\n[agents.worker]\nkind = \"permanent\"\n\
                    permissions = [\"@write:workspace\"]\n[[agents.worker.rules]]\nverdict = \"deny\"\n\
                    operation = \"fs.read\"\npath = \"**/*.secret\"\n";
        fs::write(&config, text).unwrap();
        fs::set_permissions(&config, fs::Permissions::from_mode(0o600)).unwrap();
        let mut bestow = Process::new(ground.path("helper"));
        bestow.args(["exec", "--agent", "worker", "--config"]).arg(&config).arg("--grant");
        bestow.arg(format!("@write:{}", ground.world.workspace()));
        // Where the engine finds the denied path, it does not run the line at all.
        let told = bestow.args(["--", "sh", "-c", "chmod 755 d && tar cf - d"]).output().unwrap();
        assert!(!shown(&told.stdout).contains("hidden-text"), "{ground}: {}", shown(&told.stderr));
        assert_eq!(shown(&told.stderr).contains("chmod: "), !ground.is_root, "{ground}: {}", shown(&told.stderr));
        made(ground, "chmod 755 d");
    });
}
