//! Tests of `bestow exec` and `bestow sandbox profile`.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    os::unix::fs::PermissionsExt,
    process::{Command, Output, Stdio},
};

use super::{bestow, text};
use crate::{fs::world::World, support::BESTOW};

/// Creates a policy file with one agent that writes its workspace.
fn config(more: &str) -> (World, String) {
    let world = World::new();
    let engine = format!("[engine]\n{more}\n");
    let text = format!(
        "{engine}[defaults]\nowner = \"you\"\nworking_dir = \"workspace\"\n\
         [agents.worker]\nkind = \"permanent\"\npermissions = [\"@write:workspace\", \"@events\"]\n"
    );
    let path = world.text("agents.toml");
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    (world, path)
}

fn exec(config: &str, grants: &[&str], line: &str) -> Output {
    let mut words = vec!["exec", "--agent", "worker", "--config", config];
    words.extend(grants.iter().flat_map(|tag| ["--grant", tag]));
    words.extend(["--timeout", "20s", "--", "sh", "-c", line]);
    bestow(&words, b"typed")
}

#[test]
fn a_command_runs_with_what_it_is_granted_and_its_streams_are_this_ones() {
    let (world, config) = config("");
    let grant = format!("@write:{}", world.workspace());
    let told = exec(&config, &[&grant], "cat > typed; cat typed; echo err >&2");
    assert_eq!((told.status.code(), text(&told.stdout), text(&told.stderr)), (Some(0), "typed", "err\n"));
    assert_eq!(world.content("workspace/typed"), "typed");
    let told = exec(&config, &[], "echo x > new");
    assert_eq!(told.status.code(), Some(1));
    assert!(!world.exists("workspace/new"));
    // The policy file is hidden from the command.
    let told = exec(&config, &[], "cat ../*.toml");
    assert_eq!((told.status.code(), text(&told.stdout)), (Some(1), ""));
    // A line that names the policy file does not run.
    let told = exec(&config, &[], "cat ../agents.toml");
    assert_eq!((told.status.code(), text(&told.stdout)), (Some(3), ""));
}

#[test]
fn what_is_not_held_would_be_asked_or_is_denied_and_nothing_runs() {
    for (settings, code) in [("", 2), ("interaction = \"noninteractive\"", 3)] {
        let (world, config) = config(settings);
        for tag in ["@network".to_owned(), format!("@write:{}", world.text("outside"))] {
            let told = exec(&config, &[&tag], "echo ran");
            assert_eq!((told.status.code(), text(&told.stdout)), (Some(code), ""), "{tag}: {}", text(&told.stderr));
            let way_out = format!("add it to its `permissions` in {config}");
            assert!(text(&told.stderr).contains(&way_out), "{}", text(&told.stderr));
        }
    }
}

/// Creates the policy file of `config` with a rule that denies.
fn with_rule(operations: &str, paths: &str) -> (World, String) {
    let (world, config) = config("");
    let rule = format!("[[defaults.rules]]\nverdict = \"deny\"\noperation = {operations}\npath = {paths}\n");
    fs::write(&config, fs::read_to_string(&config).unwrap() + &rule).unwrap();
    (world, config)
}

#[test]
fn what_a_rule_denies_is_not_named_for_a_command() {
    let (world, config) =
        with_rule(r#"["fs.read", "fs.write"]"#, r#"["**/*.draft", "workspace/private", "workspace/old/**"]"#);
    for name in ["private", "private/deep", "old", "a.draft"] {
        fs::create_dir_all(world.path(&format!("workspace/{name}"))).unwrap();
        let tag = format!("@write:{}/{name}", world.workspace());
        let told = exec(&config, &[&tag], "echo ran");
        assert_eq!((told.status.code(), text(&told.stdout)), (Some(3), ""), "{tag}: {}", text(&told.stderr));
        assert!(text(&told.stderr).contains("agents.toml"), "{}", text(&told.stderr));
        let check = ["check", "--config", &config, "--agent", "worker", "--needs", &tag, "--command", "ls"];
        assert_eq!(bestow(&check, b"").status.code(), Some(3), "{tag}");
    }
}

#[test]
fn a_permission_for_a_directory_does_not_write_what_a_rule_denies_by_name_in_it() {
    let (world, config) = with_rule(r#""fs.write""#, r#"["workspace/private", "workspace/later/**"]"#);
    fs::create_dir(world.path("workspace/private")).unwrap();
    fs::write(world.path("workspace/private/old"), "old").unwrap();
    let tag = format!("@write:{}", world.workspace());
    for line in ["echo x > private/new", "rm private/old", "mv private other", "mkdir later", "echo x > later"] {
        let told = exec(&config, &[&tag], line);
        assert_ne!(told.status.code(), Some(0), "{line}");
    }
    let told = exec(&config, &[&tag], "cat private/old; echo x > beside");
    assert_eq!((told.status.code(), text(&told.stdout)), (Some(0), "old"), "{}", text(&told.stderr));
    assert!(world.exists("workspace/beside") && world.exists("workspace/private/old"));
    assert!(!world.exists("workspace/private/new") && !world.exists("workspace/later"));
}

#[test]
fn what_a_rule_denies_to_be_read_by_name_is_hidden_from_commands() {
    let (world, config) = with_rule(r#""fs.read""#, r#"["workspace/diary", "outside"]"#);
    fs::write(world.path("workspace/diary"), "secret").unwrap();
    let tag = format!("@write:{}", world.workspace());
    let told = exec(&config, &[&tag], "cat diary; mv diary d; cat d; ls ../outside");
    assert_eq!(text(&told.stdout), "", "{}", text(&told.stderr));
    assert!(world.exists("workspace/diary"));
}

#[test]
fn a_read_of_what_is_protected_must_be_held_to_be_named_and_others_are_passed_over() {
    let (world, config) = config("protected = [\"outside\"]");
    let told = exec(&config, &[&format!("@read:{}", world.text("outside"))], "echo ran");
    assert_eq!((told.status.code(), text(&told.stdout)), (Some(3), ""), "{}", text(&told.stderr));
    let told = exec(&config, &["@read:/etc/hostname"], "echo ran");
    assert_eq!(text(&told.stdout), "ran\n", "{}", text(&told.stderr));
}

#[test]
fn what_is_no_answer_is_an_error_and_what_makes_no_sense_is_usage() {
    let (_world, config) = config("");
    for (words, code) in [
        (&["exec", "--agent", "nobody", "--config", &config, "--", "true"][..], 1),
        (&["exec", "--agent", "worker", "--config", "/no/such/file", "--", "true"], 1),
        (&["exec", "--agent", "worker", "--config", &config, "--", "no-such-program"], 1),
        (&["exec", "--agent", "worker", "--config", &config], 64),
        (&["exec", "--config", &config, "--", "true"], 64),
        (&["exec", "--agent", "worker", "--grant", "@nonsense", "--", "true"], 64),
        (&["sandbox", "profile", "--agent", "worker", "--format", "docker"], 64),
        (&["sandbox"], 64),
    ] {
        assert_eq!(bestow(words, b"").status.code(), Some(code), "{words:?}");
    }
}

#[test]
fn a_profile_is_printed_in_each_format() {
    let (world, config) = config("");
    let grant = format!("@write:{}", world.workspace());
    for format in ["bwrap", "srt", "codex", "json"] {
        let words = ["sandbox", "profile", "--agent", "worker", "--config", &config, "--grant", &grant];
        let told = bestow(&[&words[..], &["--format", format]].concat(), b"");
        assert_eq!(told.status.code(), Some(0), "{}", text(&told.stderr));
        assert!(text(&told.stdout).contains(&world.workspace()), "{format}");
    }
}

#[test]
fn a_command_with_events_speaks_for_its_agent_and_one_without_does_not() {
    let (_world, config) = config("interaction = \"noninteractive\"");
    let bestow = crate::support::BESTOW;
    let ask = format!("{bestow} request @network --reason 'to fetch'; echo $?");
    let told = exec(&config, &["@events"], &ask);
    assert_eq!((told.status.code(), text(&told.stdout)), (Some(0), "3\n"), "{}", text(&told.stderr));
    let told = exec(&config, &[], &ask);
    assert_eq!(text(&told.stdout), "1\n");
    assert!(text(&told.stderr).contains("BESTOW_EVENTS_FD is not set"), "{}", text(&told.stderr));
    let check = format!(r#"echo '{{"type":"check_permission","permission":"@events"}}' | {bestow} events"#);
    let told = exec(&config, &["@events"], &check);
    assert!(text(&told.stdout).contains(r#""held":"held""#), "{}", text(&told.stdout));
}

#[test]
fn hosts_can_be_named_for_a_profile_and_what_is_none_is_a_usage_error() {
    let (_world, config) = config("");
    let text_of = fs::read_to_string(&config).unwrap().replace("\"@events\"", "\"@events\", \"@network\"");
    fs::write(&config, text_of).unwrap();
    let of_whom = ["sandbox", "profile", "--agent", "worker", "--config", &config];
    let with = |host: &str, format: &str| {
        let words = ["--grant", "@network", "--domain", host, "--format", format];
        bestow(&[&of_whom[..], &words].concat(), b"")
    };
    assert_eq!(with("*.com", "srt").status.code(), Some(64));
    let told = with("Example.com", "json");
    assert!(text(&told.stdout).contains("\"example.com\""), "{}", text(&told.stdout));
}

/// The user who types a command approves it, so the engine asks for no approval. A denial by a rule or by the mode
/// still applies.
#[test]
fn a_command_that_is_denied_does_not_run_whoever_types_it() {
    let rule = "[[agents.worker.rules]]\nverdict = \"deny\"\ncommand = \"touch **\"\nwhy = \"nothing is made here\"\n";
    let ask = "[[agents.worker.rules]]\nverdict = \"ask\"\noperation = \"command.execute\"\n";
    for (more, code) in [(rule, 3), ("mode = \"plan\"\n", 3), (ask, 0)] {
        let (world, config) = config("");
        let text = fs::read_to_string(&config).unwrap();
        fs::write(&config, text + more).unwrap();
        let grant = format!("@write:{}", world.workspace());
        let told = exec(&config, &[&grant], "touch new");
        assert_eq!(told.status.code(), Some(code), "{more}: {}", self::text(&told.stderr));
        assert_eq!(world.exists("workspace/new"), code == 0, "{more}");
    }
}

/// The attack: a command reaches a host outside the list, directly or through the egress proxy.
#[test]
fn a_network_can_be_kept_to_hosts() {
    let (_world, config) = config("");
    let text_of = fs::read_to_string(&config).unwrap().replace("\"@events\"", "\"@events\", \"@network\"");
    fs::write(&config, text_of).unwrap();
    let run = |line: &str| {
        let words = [
            "exec",
            "--agent",
            "worker",
            "--config",
            &config,
            "--grant",
            "@network",
            "--domain",
            "docs.example.invalid",
        ];
        bestow(&[&words[..], &["--timeout", "20", "--", "sh", "-c", line]].concat(), b"")
    };
    let ask = "import urllib.request as r, sys\n\
               try: r.urlopen(sys.argv[1])\n\
               except Exception as why: print(getattr(why, \"code\", why))";
    for (url, expected) in [("http://evil.example/", "403\n"), ("http://docs.example.invalid/", "502\n")] {
        let told = run(&format!("python3 -c '{ask}' {url}"));
        assert_eq!(text(&told.stdout), expected, "{url}: {}", text(&told.stderr));
    }
    let told = run(&format!("unset http_proxy HTTP_PROXY all_proxy ALL_PROXY; python3 -c '{ask}' http://192.0.2.1/"));
    assert!(text(&told.stdout).contains("unreachable"), "{}", text(&told.stdout));
}

#[test]
fn a_refusal_names_the_rule_its_line_and_why_it_is_there() {
    let (_world, config) = config("");
    let rule = "[[agents.worker.rules]]\nverdict = \"deny\"\ncommand = \"git push **\"\nwhy = \"people push\"\n";
    let text_before = fs::read_to_string(&config).unwrap();
    fs::write(&config, format!("{text_before}{rule}")).unwrap();
    let line = text_before.lines().count() + 1;
    let told = bestow(&["exec", "--agent", "worker", "--config", &config, "--", "git", "push"], b"");
    let said = text(&told.stderr);
    assert_eq!(told.status.code(), Some(3), "{said}");
    assert!(said.contains("agent `worker` may not run `git push`: denied by a rule"), "{said}");
    assert!(said.contains(&format!("agents.toml:{line}: ")) && said.contains("people push"), "{said}");
}

#[test]
fn a_program_that_is_not_there_and_a_time_that_is_none_are_named() {
    let (_world, config) = config("");
    let run = |words: &[&str]| {
        let all: Vec<_> = ["exec", "--agent", "worker", "--config", &config].iter().chain(words).copied().collect();
        let told = bestow(&all, b"");
        (told.status.code(), text(&told.stderr).to_owned())
    };
    let (code, said) = run(&["--", "no-such-program"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("`no-such-program`: the program is not on its PATH"), "{said}");
    for (wrong, why) in [
        ("soon", "`soon` is not a number and a unit (ms, s, m, h, d)"),
        ("0", "it must not be zero"),
        ("0ms", "it must not be zero"),
        ("-1", "`-1` is not a number and a unit"),
        ("1.5", "a number alone is in seconds"),
    ] {
        let (code, said) = run(&["--timeout", wrong, "--", "true"]);
        assert_eq!(code, Some(64), "{wrong}: {said}");
        assert!(said.contains("`--timeout`: ") && said.contains(why), "{said}");
    }
}

/// A limit on the command line replaces the limit in the file.
#[test]
fn limits_come_from_the_file_and_from_the_command_line() {
    let (_world, config) = config("[limits]\nmemory = \"512MiB\"\nopen_files = 100\n");
    let run = |words: &[&str]| {
        let all: Vec<_> = ["exec", "--agent", "worker", "--config", &config].iter().chain(words).copied().collect();
        let told = bestow(&all, b"");
        (told.status.code(), text(&told.stdout).to_owned(), text(&told.stderr).to_owned())
    };
    let show = ["--", "sh", "-c", "ulimit -d; ulimit -n"];
    assert_eq!(run(&show).1, "524288\n100\n");
    let (code, out, err) = run(&[&["--limit", "memory=1GiB", "--limit", "cpu_time=10s"], &show[..]].concat());
    assert_eq!((code, out.as_str()), (Some(0), "1048576\n100\n"), "{err}");
    let (code, out, err) = run(&[&["--timeout", "unlimited"], &show[..]].concat());
    assert_eq!((code, out.as_str()), (Some(0), "524288\n100\n"), "{err}");
    for (wrong, said) in [
        ("memory", "as in `memory=2GiB`"),
        ("memroy=1", "there is no limit \"memroy\": there are time, output"),
        ("memory=lots", "`memory` must be a size, as in `512MiB`, or `unlimited`, not \"lots\""),
    ] {
        let (code, _, err) = run(&["--limit", wrong, "--", "true"]);
        assert!(code == Some(64) && err.contains(said), "{err}");
    }
}

#[test]
fn the_time_of_a_command_is_that_of_the_file_or_of_the_command_line_or_one_hour() {
    let time = |limits: &str, more: &[&str]| {
        let (world, config) = config(limits);
        let state = world.text("state");
        let words = ["exec", "--agent", "worker", "--config", &config, "--state", &state];
        let told = bestow(&[&words, more, &["--", "true"]].concat(), b"");
        assert_eq!(told.status.code(), Some(0), "{}", text(&told.stderr));
        let shown = bestow(&["audit", "show", "--state", &state, "--json"], b"");
        let shown = text(&shown.stdout);
        let facts = shown.lines().find(|line| line.contains("sandbox.applied")).unwrap();
        assert!(!facts.contains("\"output\":"), "the output is inherited: {facts}");
        facts.split_once("\"time_ms\":").map(|(_, rest)| rest.split([',', '}']).next().unwrap().to_owned())
    };
    assert_eq!(time("", &[]).as_deref(), Some("3600000"));
    let file = "[limits]\ntime = \"7s\"\n";
    assert_eq!(time(file, &[]).as_deref(), Some("7000"));
    assert_eq!(time(file, &["--limit", "time=8s"]).as_deref(), Some("8000"));
    assert_eq!(time(file, &["--limit", "time=8s", "--timeout", "9"]).as_deref(), Some("9000"));
    assert_eq!(time(file, &["--timeout", "unlimited"]), None);
    let (_world, config) = config("[limits]\ntime = \"300ms\"\n");
    let told = bestow(&["exec", "--agent", "worker", "--config", &config, "--", "sleep", "60"], b"");
    assert!(text(&told.stderr).contains("exceeded its time limit"), "{}", text(&told.stderr));
}

/// With a state directory, the events of a command are stored, also if `bestow exec` is killed.
#[test]
fn the_begin_and_the_end_of_each_command_are_in_the_audit_trail_also_after_a_kill() {
    let (world, config) = config("");
    let state = world.text("state");
    let words = ["exec", "--agent", "worker", "--config", &config, "--state", &state, "--"];
    let run = |line: &[&str]| bestow(&[&words[..], line].concat(), b"");
    let told = run(&["sh", "-c", "exit 3"]);
    assert_eq!(told.status.code(), Some(1), "{}", text(&told.stderr));

    let mut child = Command::new(BESTOW);
    child.args(words).args(["sh", "-c", "echo up; sleep 999"]);
    let mut child = child.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(said.next().unwrap().unwrap(), "up");
    child.kill().unwrap();
    child.wait().unwrap();
    // The command ended with `bestow exec`: nobody holds its output any more.
    assert!(said.next().is_none());

    assert_eq!(run(&["true"]).status.code(), Some(0));
    let shown = bestow(&["audit", "show", "--state", &state], b"");
    let ends: Vec<_> = text(&shown.stdout).lines().filter(|line| line.contains("sandbox.ended")).collect();
    let found = |which: usize, what: &str| ends.get(which).is_some_and(|line| line.contains(what));
    assert!(ends.len() == 3 && found(0, "exited with code 3") && found(2, "exited with code 0"), "{ends:#?}");
    assert!(found(1, "a command of worker ended with its engine"), "{ends:#?}");
}

#[test]
fn the_audit_trail_has_what_the_sandbox_denied_to_a_typed_command() {
    let (world, config) = config("");
    let state = world.text("state");
    let outside = world.text("outside/denied");
    let words = ["exec", "--agent", "worker", "--config", &config, "--state", &state, "--"];
    let told = bestow(&[&words[..], &["sh", "-c", &format!("echo before >&2; echo x > {outside}")]].concat(), b"");
    assert!(text(&told.stderr).starts_with("before\n") && text(&told.stderr).contains(&outside), "{told:?}");
    let shown = bestow(&["audit", "show", "--state", &state], b"");
    let shown = text(&shown.stdout);
    assert!(shown.lines().any(|line| line.contains("sandbox.violation") && line.contains(&outside)), "{shown}");
}
