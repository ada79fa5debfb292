//! Tests that the classifications match the tables of the documented interface.

use bestow::command::{Classifier, Profile, Tier, classify};

fn all(tier: Tier, commands: &[&str]) {
    for command in commands {
        let answer = classify(command);
        assert_eq!(answer.tier, tier, "{command}: {}", answer.reason);
    }
}

#[test]
fn the_safe_table_is_safe() {
    all(
        Tier::Safe,
        &[
            "ls",
            "cat f",
            "git status",
            "head f",
            "tail f",
            "find .",
            "stat f",
            "wc f",
            "du",
            "df",
            "grep x f",
            "sort f",
            "uniq f",
            "cut -f1 f",
            "awk '{print $1}' f",
            "sed 's/a/b/' f",
            "git diff",
            "git log",
            "git show",
            "git branch",
            "echo hi",
            "pwd",
            "whoami",
            "date",
            "uptime",
            "env",
            "curl https://x",
            "wget https://x",
            "ping -c 1 x.org",
            "nslookup x.org",
            "dig x.org",
            "npm list",
            "npm view x",
            "pip list",
            "pip show x",
            "docker ps",
            "docker images",
            "docker logs x",
            "docker inspect x",
        ],
    );
}

#[test]
fn the_dangerous_table_is_dangerous() {
    all(
        Tier::Dangerous,
        &[
            "python s.py",
            "python",
            "node script.js",
            "npx x",
            "npm run build",
            "npm install x",
            "curl -X POST https://x",
            "curl -d x https://x",
            "wget --post-data=x https://x",
            "wget --post x",
            "git push origin main",
            "git commit -m x",
            "git merge x",
            "git rebase main",
            "git reset HEAD~1",
            "docker run nginx",
            "docker build .",
            "docker exec web ls",
            "docker rm x",
            "ssh u@h",
            "scp a h:b",
            "rsync a b",
            "echo x > /etc/motd",
            "mv / x",
            "cp a /",
            "railway up",
            "vercel deploy",
            "some-unknown-tool",
            "",
            "rm -rf /tmp/build",
        ],
    );
}

#[test]
fn the_destructive_table_is_destructive() {
    all(
        Tier::Destructive,
        &[
            "rm -rf /",
            "sudo rm x",
            "dd if=/dev/zero of=x",
            "mkfs.ext4 d",
            "mkfs d",
            "fdisk d",
            "gh repo delete r",
            "gh repo edit --visibility public",
            "DROP DATABASE x",
            "DROP TABLE users",
            "TRUNCATE t",
            "DELETE FROM t",
            "terraform destroy",
            "railway service delete",
            "docker system prune",
            "sudo ls",
            "chmod 777 f",
            "chown u f",
        ],
    );
}

#[test]
fn a_reason_names_tier_rule_and_part() {
    assert_eq!(classify("ls; some-tool x").reason, "Dangerous command: `some-tool` is not on any list (part 2 of 2)");
    assert!(classify("ls").reason.starts_with("Safe command: `ls` "));
    assert!(classify("rm -rf /").reason.starts_with("Destructive command: `rm` removes "));
}

#[test]
fn every_part_is_reported_with_its_own_tier_and_span() {
    let text = "ls && git push; rm -rf ~";
    let answer = classify(text);
    let parts: Vec<_> = answer.parts.iter().map(|part| (part.tier, &text[part.span.start..part.span.end])).collect();
    let expected = [(Tier::Safe, "ls"), (Tier::Dangerous, "git push"), (Tier::Destructive, "rm -rf ~")];
    assert_eq!(parts.iter().map(|(tier, text)| (*tier, text.trim())).collect::<Vec<_>>(), expected);
}

#[test]
fn the_strict_profile_asks_about_environment_network_and_secrets() {
    let strict = Classifier::new(Profile::Strict);
    for command in ["env", "printenv", "curl https://x", "wget https://x", "cat .env", "cat ~/.ssh/id_rsa"] {
        assert_eq!(strict.classify(command).tier, Tier::Dangerous, "{command}");
        assert_eq!(classify(command).tier, Tier::Safe, "{command}");
    }
    for command in [
        "echo $API_TOKEN",
        "jq -n env",
        "jq -n '$ENV.HOME'",
        "awk 'BEGIN { for (k in ENVIRON) print ENVIRON[k] }'",
        "docker inspect web",
        "kubectl get secrets -A",
        "kubectl -n x get pods,secret/y",
        "systemctl show nginx",
        "pip config list",
        "git config --list",
    ] {
        assert_eq!(strict.classify(command).tier, Tier::Dangerous, "{command}");
        assert_eq!(classify(command).tier, Tier::Safe, "{command}");
    }
    for command in
        ["ls -la | grep x", "echo $HOME", "jq .environment f", "jq .x.env.y f", "docker ps", "systemctl status nginx"]
    {
        assert_eq!(strict.classify(command).tier, Tier::Safe, "{command}");
    }
}

#[test]
fn a_text_of_more_than_ten_thousand_characters_is_not_safe() {
    let long = format!("echo {}", "a".repeat(10_000));
    assert_eq!(classify(&long).tier, Tier::Dangerous);
    assert_eq!(classify(&format!("{long}; rm -rf /")).tier, Tier::Destructive);
    assert_eq!(classify(&format!("{}; rm -rf /", "echo a;".repeat(20_000))).tier, Tier::Destructive);
}
