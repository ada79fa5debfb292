//! Sessions of the host `claude` under an engine on a manual clock.

use std::{path::PathBuf, sync::Arc, time::Duration};

use bestow::{Agent, Kind, command::Shell, grant::Reads};
use bestow_hosts::{Answer, Call, Caller, OwnSessions, Sessions as _, Subagent, Unanswered};
use serde_json::{Value, json};

use crate::support::World;

/// A time that no test waits for.
pub(super) const FOR_EVER: Duration = Duration::from_secs(3_600);

/// An engine with the agent `claude` of `you`, which may write below `/ws`, and its sessions.
pub(super) struct Stage {
    pub(super) world: World,
    pub(super) host: Agent,
    pub(super) sessions: Arc<OwnSessions>,
}

impl Stage {
    pub(super) async fn new() -> Stage {
        Stage::holding(&["@write:/ws"]).await
    }

    pub(super) async fn holding(permissions: &[&str]) -> Stage {
        let world = World::with(|settings| settings.reads = Reads::Anywhere);
        let host = world.agent("claude", "you", Kind::Permanent, permissions).await;
        let sessions = Arc::new(OwnSessions::new(world.engine.clone(), host.clone()));
        Stage { world, host, sessions }
    }

    pub(super) async fn ask(&self, call: Call) -> Answer {
        self.sessions.call(call).await.unwrap()
    }

    pub(super) fn agent(&self, id: &str) -> Agent {
        self.world.engine.agent(id).unwrap()
    }

    pub(super) fn is_there(&self, id: &str) -> bool {
        self.world.engine.agent(id).is_ok()
    }
}

/// Returns the caller of a session in `/ws`.
pub(super) fn session(id: &str) -> Caller {
    Caller { session: id.parse().unwrap(), subagent: None, working_dir: PathBuf::from("/ws"), shell: Shell::Unknown }
}

/// Returns the caller of a subagent in a session.
pub(super) fn subagent(of: &str, id: &str, kind: Option<&str>) -> Caller {
    Caller { subagent: Some(Subagent { id: id.parse().unwrap(), kind: kind.map(Into::into) }), ..session(of) }
}

/// Returns a call that waits for nobody.
pub(super) fn call(caller: Caller, tool: &str, input: Value) -> Call {
    Call {
        coding_agent: None,
        caller,
        tool: tool.parse().unwrap(),
        input,
        wait: Duration::ZERO,
        unanswered: Unanswered::Leave,
        can_replace_input: false,
    }
}

pub(super) fn write(caller: Caller, path: &str) -> Call {
    call(caller, "Write", json!({ "file_path": path, "content": "x" }))
}

pub(super) fn bash(caller: Caller, command: &str) -> Call {
    call(caller, "Bash", json!({ "command": command }))
}

pub(super) fn is_allowed(answer: &Answer) -> bool {
    matches!(answer, Answer::Allowed { .. })
}

pub(super) fn waits(answer: &Answer) -> bool {
    matches!(answer, Answer::Waits { .. })
}

/// Returns the reason of a denial.
pub(super) fn denied(answer: &Answer) -> &str {
    match answer {
        Answer::Denied { reason } => reason,
        other => panic!("not denied: {other:?}"),
    }
}
