//! Hot reload, on real files. Nothing here sleeps: each test waits for what it expects to hear.

mod gone;
mod links;
mod saves;

use std::{fs, time::Duration};

use bestow::{Change, PolicyChange};
use tokio::{sync::mpsc::Receiver, time::timeout};

use crate::config::{Place, one_agent};

/// Long enough for any machine; only a test that fails waits for so long.
const GUARD: Duration = Duration::from_secs(30);

/// A place whose policy file is watched.
struct Watched {
    place: Place,
    changes: Receiver<PolicyChange>,
}

/// A policy that can be told from others by its mark.
fn policy(mark: &str) -> String {
    one_agent(&format!("permissions = [\"@read:/marks/{mark}\"]"))
}

impl Watched {
    /// Watches the file `name`, which must be good.
    fn start(place: Place, name: &str) -> Watched {
        let file = place.file_at(name);
        let text = file.read().unwrap();
        text.parse().unwrap();
        Watched { changes: file.watch(text), place }
    }

    /// Watches a policy file marked `first`, and has heard of a change to `armed`, so that everything is watched.
    async fn armed() -> Watched {
        let mut watched = Watched::start(Place::with(&policy("first")), "policy/agents.toml");
        watched.save("policy/agents.toml", &policy("armed"));
        assert_eq!(watched.next().await, "armed");
        watched
    }

    /// Saves as editors do: writes beside the file, then renames over it.
    fn save(&self, name: &str, text: &str) {
        let beside = format!("{name}.new");
        self.place.write(&beside, text);
        fs::rename(self.place.path(&beside), self.place.path(name)).unwrap();
    }

    /// The mark of the policy that is told next, or what is wrong with the file.
    async fn next(&mut self) -> String {
        match timeout(GUARD, self.changes.recv()).await.expect("nothing was told").expect("the watch ended") {
            Change::Loaded(policy) => {
                let mark = policy.agents["lead"].rights[0].right.permission.to_string();
                mark.strip_prefix("@read:/marks/").unwrap().to_owned()
            }
            Change::Rejected(error) => {
                let problem = error.problems()[0].to_string();
                problem.split([';', ',']).next().unwrap().to_owned()
            }
            Change::Polling { why } => panic!("{why}"),
        }
    }

    /// Tells what is told until the policy marked `last` is.
    async fn until(&mut self, last: &str) -> Vec<String> {
        let mut told = vec![self.next().await];
        while told.last().unwrap() != last {
            told.push(self.next().await);
        }
        told
    }
}
