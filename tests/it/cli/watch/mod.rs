//! Tests of `bestow watch` in a real pseudo-terminal, and of `bestow requests --follow`.

mod follow;
mod injection;
mod keys;
mod presence;
mod restarts;
mod terminal;

use std::path::PathBuf;

use bestow::{
    Action, Agent, Engine, InitialGrants, Kind, PermissionRequest, Settings, action::Authorization, control::Surfaces,
    request::Ticket,
};

use self::terminal::Terminal;
use crate::support::{profile, tag};

/// The words below a request that a key can answer.
const READY: &str = "a allow";

/// A state directory, and the name by which the program under test knows it.
struct Place {
    directory: tempfile::TempDir,
    named: PathBuf,
}

impl Place {
    fn new() -> Place {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("real")).unwrap();
        let named = directory.path().join("link/state");
        let place = Place { directory, named };
        place.name();
        place
    }

    fn link(&self) -> PathBuf {
        self.directory.path().join("link")
    }

    fn name(&self) {
        std::os::unix::fs::symlink("real", self.link()).unwrap();
    }

    async fn engine(&self) -> Engine {
        self.engine_with(Settings::default()).await
    }

    async fn engine_with(&self, settings: Settings) -> Engine {
        Engine::durable(settings, self.directory.path().join("real/state")).await.unwrap()
    }

    /// Starts an engine for a program that runs already. The program finds the engine after it is admitted: the engine
    /// under test would refuse its own child otherwise.
    async fn engine_for(&self, program: u32) -> Engine {
        std::fs::remove_file(self.link()).unwrap();
        let engine = self.engine().await;
        engine.surfaces().admit(program).unwrap();
        self.name();
        engine
    }

    fn words<'w>(&'w self, words: &[&'w str]) -> Vec<&'w str> {
        words.iter().copied().chain(["--state", self.named.to_str().unwrap()]).collect()
    }

    fn watch(&self, engine: &Engine) -> Terminal {
        self.watch_in(engine, (24, 100))
    }

    fn watch_in(&self, engine: &Engine, size: (u16, u16)) -> Terminal {
        let terminal = Terminal::start(Some(engine.surfaces()), &self.words(&["watch", "--as", "ann"]), size);
        terminal.until("the inbox", |screen| screen.alternate_screen() && screen.contents().contains(" waiting "));
        terminal
    }
}

/// Registers the agent `bob`, which holds nothing.
async fn bob(engine: &Engine) -> Agent {
    engine.register(profile("bob", "you", Kind::Subagent), InitialGrants::nothing()).await.unwrap()
}

async fn asks_for(agent: &Agent, permission: &str, reason: &str) -> Ticket {
    agent.request(PermissionRequest::new(tag(permission), reason)).await.unwrap()
}

/// Returns the request that an action leads to.
async fn asks_to(agent: &Agent, action: Action) -> Ticket {
    match agent.authorize(action).await.unwrap() {
        Authorization::Asked(_, ticket) => ticket,
        other => panic!("{other:?}"),
    }
}

/// Returns the processes that may answer, for a program under test.
fn surfaces(engine: &Engine) -> Option<Surfaces> {
    Some(engine.surfaces())
}
