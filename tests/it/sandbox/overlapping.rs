//! Commands that overlap, in several host processes, some of which are killed.

use std::{
    env, fs,
    io::{BufRead as _, BufReader},
    process::{Child, Command as Process, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
};

use bestow::{
    Permission,
    sandbox::{Command, Profile, Sandbox},
};

use super::{
    ground::{Ground, scope, with_bubblewrap},
    shaking::names,
};

/// The variable with the directory of a host, which runs a part of the commands.
const HOST: &str = "BESTOW_TEST_OVERLAPPING";

const LINES: [&str; 10] = [
    "mkdir -p later",
    "echo x > later/own",
    "echo x > agents.toml",
    "mkdir .claude/x",
    "mkdir -p x/y/z",
    "rm -rf later x",
    "mv later x",
    "rmdir .git refs",
    "mkdir -p x/.git",
    "rm -rf x/.git",
];

/// The paths that are hidden in the workspace, the first ones only in some runs.
const HIDDEN: [&str; 4] = ["workspace/later/own", "workspace/agents.toml", "workspace/x/y/z", "outside/later"];

/// The commands of one host, and of all hosts together.
const OF_ONE: usize = 40;
const HOSTS: usize = 5;

/// A generator of numbers from a seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

/// Runs one command in a random order of lines. Prints whether it ran or was refused.
fn one(at: &str, sandbox: &Sandbox, number: usize) {
    let mut numbers = Numbers(number as u64);
    let workspace = format!("{at}/workspace");
    let hidden = HIDDEN[numbers.below(HIDDEN.len())..].iter().map(|path| format!("{at}/{path}").parse().unwrap());
    let write = Permission::write(workspace.parse().unwrap());
    let profile = Profile::of(&scope(&workspace, &[write]), hidden).unwrap();
    let mut lines = LINES.to_vec();
    let order: Vec<_> = (0..6).map(|_| lines.swap_remove(numbers.below(lines.len()))).collect();
    let line = format!("exec 2>/dev/null; {}; true", order.join("; "));
    // A concurrent change by another command is refused with its path, and the command does not run.
    match sandbox.run(&profile, &Command::new("sh").args(["-c", &line])).map_err(|why| why.to_string()) {
        Ok(done) => println!("overlap: ran {:?}", done.code),
        Err(why) => {
            let is_named =
                why.contains(at) && (why.contains("sandbox_unavailable") || why.contains("cannot be blocked"));
            println!("overlap: {} {why}", if is_named { "refused" } else { "wrong" });
        }
    }
}

/// The host of the test below, in another process. Alone it does nothing.
#[test]
fn a_host_of_overlapping_commands() {
    let Ok(at) = env::var(HOST) else { return };
    let (at, first) = at.rsplit_once(' ').unwrap();
    let (first, next) = (first.parse::<usize>().unwrap(), AtomicUsize::new(0));
    let sandbox = Sandbox::with_helper(format!("{at}/helper"));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(number) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|number| *number < OF_ONE) {
                    one(at, &sandbox, first * OF_ONE + number);
                }
            });
        }
    });
}

fn host(ground: &Ground, number: usize) -> Child {
    let mut host = Process::new(env::current_exe().unwrap());
    host.args(["--exact", "sandbox::overlapping::a_host_of_overlapping_commands", "--nocapture"]);
    host.env(HOST, format!("{} {number}", ground.world.root())).stdin(Stdio::null()).stdout(Stdio::piped());
    host.spawn().unwrap()
}

/// Reads the lines of a host to its end. If it `is_killed`, that happens after some commands.
fn told_by(mut host: Child, is_killed: bool) -> Vec<String> {
    let mut told = Vec::new();
    let lines = BufReader::new(host.stdout.take().unwrap()).lines().map_while(Result::ok);
    for line in lines.filter(|line| line.contains("overlap: ")) {
        told.push(line);
        if is_killed && told.len() == OF_ONE / 4 {
            host.kill().unwrap();
        }
    }
    assert_eq!(host.wait().unwrap().success(), !is_killed, "{told:?}");
    told
}

#[test]
fn two_hundred_commands_of_several_hosts_leave_nothing_behind() {
    with_bubblewrap(|ground| {
        fs::remove_dir_all(ground.path("workspace/.git")).unwrap();
        let told: Vec<String> = std::thread::scope(|scope| {
            let hosts: Vec<_> = (0..HOSTS).map(|number| host(ground, number)).collect();
            let of_each = hosts.into_iter().enumerate();
            let readers: Vec<_> = of_each.map(|(at, host)| scope.spawn(move || told_by(host, at % 2 == 1))).collect();
            readers.into_iter().flat_map(|reader| reader.join().unwrap()).collect()
        });
        let count = |what: &str| told.iter().filter(|line| line.contains(&format!("overlap: {what}"))).count();
        assert_eq!(count("wrong"), 0, "{ground}: {told:?}");
        assert_eq!(count("ran Some(0)") + count("refused"), told.len(), "{ground}: {told:?}");
        assert!(told.len() >= 3 * OF_ONE + 2 * (OF_ONE / 4), "{ground}: {told:?}");
        eprintln!("{ground}: {} of {} commands were refused", count("refused"), told.len());
        // Each command renames and removes directories that the others are about to hold.
        assert!(count("refused") * 2 <= told.len(), "{ground}: {} were refused: {told:?}", count("refused"));
        // The next run removes what the killed hosts have left.
        ground.can("true");
        let left: Vec<_> = names(&ground.path("workspace"));
        assert!(left.iter().all(|name| ["f", "repo", "later", "x"].contains(&name.as_str())), "{ground}: {left:?}");
        assert!(!ground.world.exists("workspace/agents.toml") && !ground.world.exists("workspace/.claude"), "{ground}");
    });
}
