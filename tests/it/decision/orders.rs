//! No agent gives an order of a person.

use bestow::{Action, Effect, InitialGrants, Kind, agent::Mode};

use crate::support::{World, profile};

#[tokio::test]
async fn no_agent_gives_an_order_of_a_person_in_any_mode() {
    let world = World::new();
    let bold = profile("bold", "you", Kind::Subagent).in_mode(Mode::Bypass);
    let bold = world.engine.register(bold, InitialGrants::nothing()).await.unwrap();
    for line in [
        "bestow token create --role operator",
        "cd .. && bestow token create --role operator",
        "/usr/local/bin/bestow approve k3f9qd --state state",
        "./target/debug/bestow deny k3f9qd",
        "echo yes | bestow approve k3f9qd",
        "b=bestow; $b mode bold bypass",
        "sh -c 'bestow mode bold bypass'",
        "setsid bestow revoke r1",
        "nohup bestow agree 1 &",
        "env -i bestow token rotate 0a1b2c3d4e5f",
        "timeout 9 bestow exec --agent other -- ls",
        "echo 0a1b2c3d4e5f | xargs bestow token revoke",
        "find . -exec bestow keep r1 \\;",
        "if true; then bestow serve; fi",
        "bestow audit cut --state state --before 5",
        "bestow audit $WHAT --state state",
        "bestow tasks run cron/nightly",
        "bestow mcp --agent lead --config agents.toml --elicit",
        "script -qc 'bestow token create --role operator' /dev/null",
    ] {
        let explained = bold.explain(&Action::command(line)).unwrap();
        assert_eq!(explained.decision.verdict(), Effect::Deny, "{line}: {explained}");
        assert!(explained.decision.decision_reason.contains("orders of a person"), "{line}: {explained}");
    }
    for line in ["bestow --version", "bestow requests --state state", "bestow check --agent bold --command ls"] {
        let explained = bold.explain(&Action::command(line)).unwrap();
        assert_eq!(explained.decision.verdict(), Effect::Allow, "{line}: {explained}");
    }
    for line in ["echo bestow approve", "grep -r 'bestow token create' docs", "git commit -m 'bestow approve'"] {
        let explained = bold.explain(&Action::command(line)).unwrap();
        assert!(!explained.decision.decision_reason.contains("orders of a person"), "{line}: {explained}");
    }
}
