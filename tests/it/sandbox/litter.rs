//! Names that one command leaves behind, so many or so odd that they once kept the commands of all agents from running.
//! Finding C9.

use std::{fs, os::unix::fs::PermissionsExt, process::Command as Process};

use bestow::{
    agent::RunId,
    sandbox::{ExecError, Finished},
    tool::ToolPolicies,
};

use super::{
    agents::{Host, alone, host, sh},
    ground::{Ground, shown, with_bubblewrap},
};

/// Prints the content of every file, and tries to change each.
const ATTACK: &str = "find . -type f -exec cat {} + ; \
    find . -name '*.secret' -exec cp -rL {} repo/copy ';'; \
    find -L repo/copy -type f -exec cat {} + ; rm -rf repo/copy; \
    for f in $(find . -type f); do echo changed >> $f; done; true";

/// Makes litter as the user of the commands, with Python, because a shell cannot have such names.
fn litter(ground: &Ground, script: &str) {
    let script = format!("import os\n{script}");
    let status = Process::new("/usr/bin/python3").args(["-c", &script]).current_dir(ground.path("workspace")).status();
    assert!(status.unwrap().success(), "{ground}: {script}");
}

/// Runs a test with an engine that denies the files `*.secret`.
fn denying(test: impl AsyncFn(&Ground, &Host) + Sync) {
    with_bubblewrap(|ground| {
        alone(async {
            let host = host(ground, &[]).await;
            let run: RunId = "night".parse().unwrap();
            host.engine.begin_run(host.agent.id(), run.clone()).await.unwrap();
            let workspace = ground.world.workspace().parse().unwrap();
            let glob = bestow::path::PathGlob::at("**/*.secret", &workspace, bestow::path::Reach::Below).unwrap();
            let policies = ToolPolicies { forbidden: vec![glob], ..Default::default() };
            host.engine.approver("you", "ann", "terminal").set_policies(&run, None, policies).await.unwrap();
            test(ground, &host).await;
        });
    });
}

async fn exec(ground: &Ground, host: &Host, line: &str) -> Result<Finished, ExecError> {
    let write = bestow::Permission::write(ground.world.workspace().parse().unwrap());
    host.agent.exec(&ground.sandbox, sh(line), &[write]).await
}

/// Runs a script that only the sandbox can restrict: the engine does not see what it names.
async fn attack(ground: &Ground, host: &Host) -> Finished {
    fs::write(ground.path("attack.sh"), ATTACK).unwrap();
    let line = format!("sh {} 2>/dev/null; echo x > repo/new && echo wrote", ground.world.text("attack.sh"));
    let done = exec(ground, host, &line).await;
    let done = done.unwrap_or_else(|why| panic!("{ground}: {why}"));
    let told = shown(&done.stdout.bytes);
    assert!(!told.contains("hush"), "{ground}: {told}");
    assert!(told.contains("wrote"), "{ground}: {told}: {}", shown(&done.stderr.bytes));
    done
}

#[test]
fn an_odd_name_or_a_link_that_a_glob_denies_stops_no_command_and_is_hidden() {
    denying(async |ground, host| {
        litter(
            ground,
            "open(b'x\\xff.secret', 'w').write('hush')\n\
             open(b'repo/y\\x01\\n.secret', 'w').write('hush')\n\
             open('repo/plain', 'w').write('hush')\n\
             os.makedirs(b'odd\\xfe.secret/below'); open(b'odd\\xfe.secret/below/z', 'w').write('hush')\n\
             os.symlink('/usr', 'a.secret'); os.symlink('/', 'b.secret'); os.symlink('c.secret', 'c.secret')\n\
             os.symlink('nowhere', 'd.secret'); os.symlink('repo/plain', 'e.secret')\n\
             os.symlink('..', 'repo/f.secret'); os.symlink('.git', 'g.secret')\n",
        );
        let done = attack(ground, host).await;
        assert_eq!(fs::read_to_string(ground.path("workspace/repo/plain")).unwrap(), "hush", "{ground}");
        for target in ["/".to_owned(), "/usr".to_owned(), ground.world.workspace(), ground.world.text("workspace/.git")]
        {
            assert!(!done.facts.hidden.contains(&target.parse().unwrap()), "{ground}: {:?}", done.facts.hidden);
        }
        assert!(done.facts.stricter.is_empty(), "{ground}: {:?}", done.facts.stricter);
        exec(ground, host, "cat .git/config").await.unwrap();
    });
}

#[test]
fn more_matches_than_a_sandbox_can_mount_hide_their_directory_and_stop_no_command() {
    denying(async |ground, host| {
        litter(
            ground,
            "os.makedirs('many/below')\n\
             for i in range(12000): open(f'many/{i}.secret', 'w').write('hush')\n\
             open('many/below/x.secret', 'w').write('hush'); open('many/below/free', 'w').write('free')\n",
        );
        let done = attack(ground, host).await;
        assert!(shown(&done.stdout.bytes).contains("free"), "{ground}: what no pattern denies is still there");
        assert_eq!(fs::read_to_string(ground.path("workspace/many/below/free")).unwrap(), "freechanged\n", "{ground}");
        let told = done.facts.stricter.join("; ");
        assert!(told.contains("/workspace/many` can be read") && told.contains("remove them"), "{ground}: {told}");
        assert_eq!(fs::read_to_string(ground.path("workspace/many/7.secret")).unwrap(), "hush", "{ground}");
        // All of them in the root itself.
        litter(ground, "for i in range(12000): os.rename(f'many/{i}.secret', f'{i}.secret')\n");
        let done = attack(ground, host).await;
        let told = done.facts.stricter.join("; ");
        assert!(told.contains("/workspace` can be read"), "{ground}: {told}");
        assert_eq!(fs::read_to_string(ground.path("workspace/7.secret")).unwrap(), "hush", "{ground}");
        assert_eq!(fs::read_to_string(ground.path("workspace/.git/config")).unwrap(), "inside", "{ground}");
    });
}

#[test]
fn more_sensitive_names_than_a_sandbox_can_mount_leave_the_other_directories_as_they_are() {
    with_bubblewrap(|ground| {
        litter(ground, "for i in range(12000): open(f'{i}.pem', 'w').write('inside')\n");
        let line = "echo x > repo/new && echo wrote; for f in 7.pem .git/config repo/../new .npmrc; do \
                    echo changed > $f; done; mv repo r; mkdir x; true";
        let done = ground.sh(line);
        assert_eq!(shown(&done.stdout.bytes), "wrote\n", "{ground}: {}", shown(&done.stderr.bytes));
        let told = done.facts.stricter.join("; ");
        assert!(told.contains("no file directly in") && told.contains("/workspace` can be written"), "{told}");
        for (path, content) in [("7.pem", "inside"), (".git/config", "inside"), ("repo/new", "x\n")] {
            assert_eq!(ground.world.content(&format!("workspace/{path}")), content, "{ground}: {path}");
        }
        for missing in ["new", ".npmrc", "r", "x"] {
            assert!(!ground.world.exists(&format!("workspace/{missing}")), "{ground}: {missing}");
        }
    });
}

#[test]
fn directories_that_cannot_be_searched_are_hidden_and_stop_no_command() {
    denying(async |ground, host| {
        litter(
            ground,
            "os.mkdir('shut'); open('shut/a.secret', 'w').write('hush'); os.chmod('shut', 0)\n\
             os.mkdir('listed'); open('listed/b.secret', 'w').write('hush'); open('listed/.env', 'w').write('x')\n\
             os.mkdir('listed/.git'); os.chmod('listed', 0o600)\n\
             here = os.getcwd(); os.mkdir('deep'); os.chdir('deep')\n\
             for i in range(3000): os.mkdir('d' * 20); os.chdir('d' * 20)\n\
             open('c.secret', 'w').write('hush')\n",
        );
        let done = attack(ground, host).await;
        let told = done.facts.stricter.join("; ");
        assert!(told.contains("within each other"), "{ground}: {told}");
        assert!(ground.is_root || told.contains("chmod u+rwx"), "{ground}: {told}");
        let open = "chmod -R u+rwx shut listed; python3 -c \"import os; [print(open(d + '/' + f).read()) for d in \
                    ['shut', 'listed'] for f in os.listdir(d) if f.endswith('t')]\"";
        fs::write(ground.path("open.sh"), open).unwrap();
        let done = exec(ground, host, &format!("sh {}", ground.world.text("open.sh"))).await.unwrap();
        assert!(!shown(&done.stdout.bytes).contains("hush"), "{ground}");
        for closed in ["shut", "listed"] {
            fs::set_permissions(ground.path(&format!("workspace/{closed}")), fs::Permissions::from_mode(0o755))
                .unwrap();
        }
        Process::new("rm").args(["-rf", "deep"]).current_dir(ground.path("workspace")).status().unwrap();
    });
}

#[test]
fn a_root_that_its_owner_has_closed_stops_no_command() {
    denying(async |ground, host| {
        fs::write(ground.path("workspace/a.secret"), "hush").unwrap();
        fs::set_permissions(ground.path("workspace"), fs::Permissions::from_mode(0o0)).unwrap();
        let line = "echo up; chmod 755 $PWD; cat *t; echo x > new";
        fs::write(ground.path("open.sh"), line).unwrap();
        let done = exec(ground, host, &format!("sh {}", ground.world.text("open.sh"))).await;
        fs::set_permissions(ground.path("workspace"), fs::Permissions::from_mode(0o755)).unwrap();
        let done = done.unwrap_or_else(|why| panic!("{ground}: {why}"));
        let told = shown(&done.stdout.bytes);
        assert!(told.contains("up") && !told.contains("hush"), "{ground}: {told}");
        let told = done.facts.stricter.join("; ");
        assert!(ground.is_root || told.contains("chmod u+rwx"), "{ground}: {told}");
        assert_eq!(fs::read_to_string(ground.path("workspace/a.secret")).unwrap(), "hush", "{ground}");
    });
}

#[test]
fn a_closed_root_without_denied_patterns_stops_no_command() {
    with_bubblewrap(|ground| {
        let profile = ground.profile();
        fs::set_permissions(ground.path("workspace"), fs::Permissions::from_mode(0o0)).unwrap();
        let line = "echo up; chmod 755 $PWD; mkdir -p $PWD/.claude/x";
        let done = ground.sandbox.run(&profile, &bestow::sandbox::Command::new("sh").args(["-c", line]));
        fs::set_permissions(ground.path("workspace"), fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(shown(&done.unwrap().stdout.bytes), "up\n", "{ground}");
        assert!(!ground.world.exists("workspace/.claude"), "{ground}");
    });
}
