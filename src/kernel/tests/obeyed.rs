//! The index of write roots, compared with a scan of all grants of all agents.

use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::{
    kernel::support::for_use,
    model::{Access, Actor, GrantId, SanitizedPath, Scope},
};

const ROOTS: [&str; 14] = [
    "/",
    "/w",
    "/w/a",
    "/w/a-b",
    "/w/a/.git",
    "/w/a/.git/config",
    "/w/a/.git/hooks/x",
    "/w/ab",
    "/w/a/b/c",
    "/p",
    "/p/x",
    "/etc",
    "/w/HEAD",
    "/w/a/Makefile",
];

const ASKED: [&str; 16] = [
    "/",
    "/w",
    "/w/a",
    "/w/a/.git",
    "/w/a/.git/config",
    "/w/a/.git/hooks",
    "/w/a-b/x",
    "/w/.git",
    "/w/HEAD",
    "/w/b",
    "/w/ab/c",
    "/w/a/b",
    "/p/x",
    "/p/x/y",
    "/etc/gitconfig",
    "/home",
];

const AGENTS: [&str; 4] = ["a", "b", "c", "lead"];

fn path(text: &str) -> SanitizedPath {
    text.parse().unwrap()
}

/// Returns all agents that may write `path` or something below it, by a scan of all grants.
fn writers(state: &State, path: &SanitizedPath, now: Timestamp) -> Vec<AgentId> {
    let permission = Permission::write(path.clone());
    if state.is_protected(&permission) {
        return Vec::new();
    }
    let gives = state.gives(&permission);
    let may = |agent: &&crate::kernel::Known| {
        for_use(&agent.held).filter(|grant| grant.is_live(now)).any(|grant| {
            let Permission::Path(Access::Write, root) = &grant.pinned.permission else { return false };
            gives(grant) || path.contains(root)
        })
    };
    state.agents.values().filter(may).map(|agent| agent.profile.id.clone()).collect()
}

/// Applies one step of a history: a gift, a revocation, the end of an agent, or the passage of time with or without a
/// tick.
fn step(state: &mut State, now: &mut Timestamp, (kind, one, other): (u8, u8, u8)) {
    let (agent, root) = (id(AGENTS[usize::from(one) % AGENTS.len()]), ROOTS[usize::from(other) % ROOTS.len()]);
    let access = if kind.is_multiple_of(5) { "read" } else { "write" };
    let tags = [format!("@{access}:{root}")];
    let reason: crate::model::Reason = "why".parse().unwrap();
    let command = match kind % 8 {
        0..=3 => {
            let until = now.after(Duration::from_millis(u64::from(other) + 1));
            let scope = [Scope::Always, Scope::Until(until), Scope::Once, Scope::Session][usize::from(kind / 8) % 4];
            let mut permissions = starts(&[&tags[0]]);
            permissions[0].hold = if one > 200 { Hold::PassOn } else { Hold::Use };
            Command::Give { by: person("you"), to: agent, permissions, reason, scope }
        }
        4 | 5 => {
            let all: Vec<GrantId> = state.grants.keys().copied().collect();
            let Some(grant) = all.get(usize::from(other) % all.len().max(1)) else { return };
            Command::Revoke { grant: *grant, by: Actor::Operator, owner: None, reason: None }
        }
        6 => {
            *now = now.after(Duration::from_millis(u64::from(one)));
            if other > 128 {
                return;
            }
            Command::Tick
        }
        _ if other > 200 => Command::Retire { agent },
        _ => Command::Register {
            profile: profile(agent.as_str(), "you", Kind::Subagent),
            run: "r0".parse().unwrap(),
            permissions: starts(&[&tags[0]]),
        },
    };
    let _ = state.execute(command, *now);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::property_cases::cases(256), ..ProptestConfig::default() })]

    #[test]
    fn the_index_of_write_roots_says_what_a_scan_of_all_grants_says(
        steps in prop::collection::vec(any::<(u8, u8, u8)>(), 1..80)
    ) {
        let mut state = State::new(settings(|settings| settings.max_grants = 1000));
        let mut now = NOW;
        for agent in AGENTS {
            state.execute(register(agent, "you", Kind::Subagent, &[]), now).unwrap();
        }
        for one in steps {
            step(&mut state, &mut now, one);
            for asked in ASKED {
                let asked = [path(asked)];
                let found = state.writer_of(&asked, now).map(|(agent, _)| agent.clone());
                let all = writers(&state, &asked[0], now);
                prop_assert_eq!(found.is_some(), !all.is_empty(), "{}", asked[0]);
                prop_assert!(found.is_none_or(|found| all.contains(&found)), "{}", asked[0]);
            }
        }
        prop_assert!(State::from_image(&state.to_image().unwrap()).unwrap().link().into_state() == state);
    }
}

#[test]
fn a_root_beside_a_path_is_neither_above_nor_below_it() {
    let mut state = State::new(settings(|_| {}));
    state
        .execute(register("a", "you", Kind::Subagent, &["@write:/w/a-b", "@write:/w/a.b", "@write:/w/ab"]), NOW)
        .unwrap();
    let asked = |text: &str| state.writer_of(&[path(text)], NOW).is_some();
    assert!(!asked("/w/a") && !asked("/w/a/b") && !asked("/w/b"));
    assert!(asked("/w") && asked("/") && asked("/w/ab/x"));
}
