//! The wishes of clients, and the acknowledgements of the server.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Mutex,
};

use tokio::sync::watch;

/// A fact about the server that a client can change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum About {
    /// The agent holds the permission.
    Held(&'static str, String),
    /// The request waits.
    Waits(String),
    /// A decision is saved: the agent, its verdict, its scope and the command.
    Saved(&'static str, &'static str, &'static str, String),
    /// The mode of the agent.
    Mode(&'static str),
    /// The policies of the run deny the glob.
    Denies(String),
    /// The token is valid.
    Token(String),
}

/// A fact that the ledger knows.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Fact {
    /// The value of the last acknowledgement.
    known: String,
    /// The values that were asked for and not acknowledged.
    open: BTreeSet<String>,
}

/// The facts of all lives, and the number of acknowledgements since the last kill.
#[derive(Debug)]
pub(super) struct Ledger {
    facts: Mutex<BTreeMap<About, Fact>>,
    total: Mutex<usize>,
    count: watch::Sender<usize>,
}

impl Default for Ledger {
    fn default() -> Ledger {
        Ledger { facts: Mutex::default(), total: Mutex::default(), count: watch::channel(0).0 }
    }
}

impl Ledger {
    /// Notes that a client is about to ask for a change.
    pub(super) fn asks(&self, about: &About, from: &str, to: &str) {
        let mut facts = self.facts.lock().unwrap();
        let fact = facts.entry(about.clone()).or_insert_with(|| Fact { known: from.to_owned(), open: BTreeSet::new() });
        fact.open.insert(to.to_owned());
    }

    /// Notes that the server acknowledged a value.
    pub(super) fn told(&self, about: &About, value: &str) {
        let fact = Fact { known: value.to_owned(), open: BTreeSet::new() };
        self.facts.lock().unwrap().insert(about.clone(), fact);
        *self.total.lock().unwrap() += 1;
        self.count.send_modify(|count| *count += 1);
    }

    /// Waits until so many steps of this life are acknowledged, and begins to count anew.
    pub(super) async fn counts(&self, steps: usize) {
        let mut count = self.count.subscribe();
        count.wait_for(|count| *count >= steps).await.unwrap();
        self.count.send_replace(0);
    }

    pub(super) fn total(&self) -> usize {
        *self.total.lock().unwrap()
    }

    /// Returns the tokens whose state is compared. One that was seen to be revoked stays so, and is left out.
    pub(super) fn tokens(&self) -> Vec<String> {
        let facts = self.facts.lock().unwrap();
        facts
            .keys()
            .filter_map(|about| if let About::Token(token) = about { Some(token.clone()) } else { None })
            .collect()
    }

    /// Returns the permissions that an agent holds.
    pub(super) fn held_by(&self, of: &str) -> Vec<String> {
        let facts = self.facts.lock().unwrap();
        let held = facts.iter().filter(|(_, fact)| fact.known == "yes");
        held.filter_map(|(about, _)| match about {
            About::Held(agent, permission) if *agent == of => Some(permission.clone()),
            _ => None,
        })
        .collect()
    }

    /// Compares every fact with what a server has. What it has is known from now on.
    pub(super) fn settle(&self, life: usize, found: impl Fn(&About) -> String) {
        for (about, fact) in &mut *self.facts.lock().unwrap() {
            let found = found(about);
            assert!(
                found == fact.known || fact.open.contains(&found),
                "life {life}: {about:?} is {found}, after {fact:?}"
            );
            *fact = Fact { known: found, open: BTreeSet::new() };
        }
        self.facts.lock().unwrap().retain(|about, fact| !matches!(about, About::Token(_)) || fact.known == "yes");
    }

    /// Returns true if a client asked for this value of a fact at any time.
    pub(super) fn knows(&self, about: &About) -> bool {
        self.facts.lock().unwrap().contains_key(about)
    }

    /// Notes what follows from a kill by itself: approvals for a session have ended.
    pub(super) fn sessions_end(&self) {
        for (about, fact) in &mut *self.facts.lock().unwrap() {
            if matches!(about, About::Saved(_, "allow", "session", _)) {
                *fact = Fact { known: "no".to_owned(), open: BTreeSet::new() };
            }
        }
    }
}
