use std::sync::Arc;

use dashmap::DashMap;

use super::*;
use crate::{
    kernel::{SharedLimits, compile},
    model::{AgentId, Grant, GrantId, Hold, Origin, PinnedPermission, Reads, Scope},
};

fn held(agent: &AgentId, number: usize) -> Vec<Arc<CompactGrant>> {
    let grant = |root: usize| Grant {
        id: GrantId::new(root as u64),
        to: agent.clone(),
        pinned: PinnedPermission::from(
            format!("@write:/srv/agents/{number:09}/work/part-{root:03}/src")
                .parse::<crate::model::Permission>()
                .unwrap(),
        ),
        hold: Hold::Use,
        origin: Origin::Operator,
        reason: None,
        scope: Scope::Always,
        run: None,
        since: Timestamp::from_millis(0),
        until: None,
        depth: 0,
    };
    (0..4).map(|root| Arc::new(CompactGrant::new(&grant(root), None))).collect()
}

/// Measures the memory that a check reads: the map, its ids, the cells and the blocks. Provenance is stored elsewhere.
#[test]
fn what_is_published_of_an_agent_with_four_roots_takes_at_most_four_hundred_bytes() {
    const AGENTS: usize = 100_000;
    let ground = Arc::new(SharedLimits::new(Reads::Granted, &crate::kernel::Protected::default(), 1));
    let mut kept = None;
    let counted = allocation_counter::measure(|| {
        let cells: DashMap<AgentId, Arc<AgentSlot>> = DashMap::new();
        for number in 0..AGENTS {
            let agent: AgentId = format!("agent-{number:018}").parse().unwrap();
            let compiled = compile(&held(&agent, number), &ground);
            cells.insert(agent, Arc::new(AgentSlot::new(compiled)));
        }
        kept = Some(cells);
    });
    let each = counted.bytes_current / AGENTS as i64;
    assert!(each <= 400, "{each} bytes an agent");
    println!("{each} bytes an agent");
}

#[tokio::test]
async fn a_check_by_id_and_by_text_allocates_nothing() {
    use crate::{
        engine::{Engine, InitialGrants},
        model::{Kind, Permission, Profile, Settings},
        ports::{AsWritten, SystemClock},
    };
    let engine = Engine::on(Settings::default(), Arc::new(SystemClock::new()), Arc::new(AsWritten)).unwrap();
    let id: AgentId = "worker".parse().unwrap();
    let profile = Profile::new(id.clone(), "you".parse().unwrap(), Kind::Subagent, "/w".parse().unwrap());
    let held: Permission = "@write:/w".parse().unwrap();
    engine.register(profile, InitialGrants::of([held])).await.unwrap();
    let asked = || {
        let want = PermissionRef::write("/w/src/lib.rs");
        assert!(engine.check(&id, want).is_held() && engine.check("worker", want).is_held());
        assert!(!engine.check("nobody", want).is_held() && !engine.check("/no name", want).is_held());
    };
    // The first check of a thread prepares its place for snapshots.
    asked();
    assert_eq!(allocation_counter::measure(asked).count_total, 0);
}

/// Measures the memory of the state and of what is published together.
#[test]
fn a_permission_with_its_provenance_takes_at_most_three_hundred_and_forty_bytes() {
    use crate::{
        engine::{Engine, InitialGrants},
        model::{Kind, Permission, Profile, Settings},
        ports::{AsWritten, SystemClock},
    };
    const AGENTS: usize = 200;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let weight = |roots: usize| {
        let mut kept = None;
        let counted = allocation_counter::measure(|| {
            kept = Some(runtime.block_on(async {
                let settings = Settings { max_changes_per_minute: u32::MAX, ..Settings::default() };
                let engine = Engine::on(settings, Arc::new(SystemClock::new()), Arc::new(AsWritten)).unwrap();
                for number in 0..AGENTS {
                    let id = format!("agent-{number:018}").parse().unwrap();
                    let profile = Profile::new(id, "you".parse().unwrap(), Kind::Subagent, "/srv".parse().unwrap());
                    let path = |root| format!("@write:/srv/agents/{number:09}/work/part-{root:03}/src");
                    let held = InitialGrants::of((0..roots).map(|root| path(root).parse::<Permission>().unwrap()));
                    engine.register(profile, held).await.unwrap();
                }
                engine
            }));
        });
        counted.bytes_current / AGENTS as i64
    };
    let each = (weight(40) - weight(8)) / 32;
    assert!(each <= 340, "{each} bytes a permission");
}
