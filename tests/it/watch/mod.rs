//! Tests of hot reload on real files. No test sleeps: each waits for the event that it expects.

mod gone;
mod links;
mod saves;

use std::{fs, time::Duration};

use bestow::policy::{Change, PolicyChange};
use tokio::{sync::mpsc::Receiver, time::timeout};

use crate::config::{Place, one_agent};

/// A timeout that is long enough for any machine. Only a failing test waits for it.
const GUARD: Duration = Duration::from_secs(30);

/// A place whose policy file is watched.
struct Watched {
    place: Place,
    changes: Receiver<PolicyChange>,
}

/// Returns a policy that its mark distinguishes from others.
fn policy(mark: &str) -> String {
    one_agent(&format!("permissions = [\"@read:/marks/{mark}\"]"))
}

impl Watched {
    /// Watches the file `name`, which must be valid.
    fn start(place: Place, name: &str) -> Watched {
        let file = place.file_at(name);
        let text = file.read().unwrap();
        text.parse().unwrap();
        Watched { changes: file.watch(text), place }
    }

    /// Watches a policy file marked `first`, and waits for a change to `armed`, which proves that everything is
    /// watched.
    async fn armed() -> Watched {
        let mut watched = Watched::start(Place::with(&policy("first")), "policy/agents.toml");
        watched.save("policy/agents.toml", &policy("armed"));
        assert_eq!(watched.next().await, "armed");
        watched
    }

    /// Saves as editors do: it writes a second file and renames it over the first one.
    fn save(&self, name: &str, text: &str) {
        let beside = format!("{name}.new");
        self.place.write(&beside, text);
        fs::rename(self.place.path(&beside), self.place.path(name)).unwrap();
    }

    /// Returns the mark of the next policy, or the error of the file.
    async fn next(&mut self) -> String {
        match timeout(GUARD, self.changes.recv()).await.expect("nothing was told").expect("the watch ended") {
            Change::Loaded(policy) => {
                let mark = policy.agents["lead"].permissions[0].pinned.permission.to_string();
                mark.strip_prefix("@read:/marks/").unwrap().to_owned()
            }
            Change::Rejected(error) => {
                let problem = error.problems()[0].to_string();
                problem.split([';', ',']).next().unwrap().to_owned()
            }
            Change::Polling { why } => panic!("{why}"),
        }
    }

    /// Returns the changes until the policy marked `last`.
    async fn until(&mut self, last: &str) -> Vec<String> {
        let mut told = vec![self.next().await];
        while told.last().unwrap() != last {
            told.push(self.next().await);
        }
        told
    }
}
