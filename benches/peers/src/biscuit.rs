//! biscuit-auth: the directories of an agent are facts of its token, which was verified before. A check asks its
//! Datalog.

use std::{collections::HashMap, time::Duration};

use bestow::grant::Access;
use biscuit_auth::{
    AuthorizerBuilder, AuthorizerLimits, Biscuit, KeyPair,
    builder::{Policy, fact, string},
};

use crate::{
    contender::{Asked, Contender, Roots, prefixes, roots_of_receivers},
    world::World,
};

pub(crate) struct Biscuits {
    tokens: HashMap<String, Biscuit>,
    policy: Policy,
    limits: AuthorizerLimits,
    roots: HashMap<String, Roots>,
    key: KeyPair,
}

impl Biscuits {
    pub(crate) fn load(world: &World) -> Box<dyn Contender> {
        let key = KeyPair::new();
        let tokens = world.agents.iter().map(|(id, roots)| (id.to_string(), token(&key, roots))).collect();
        // The usual limit of a millisecond refuses on a busy machine what is allowed.
        let limits = AuthorizerLimits { max_facts: 100_000, max_iterations: 1_000, max_time: Duration::from_secs(10) };
        let policy = "allow if wants($path, $access), right($path, $access)".try_into().unwrap();
        Box::new(Biscuits { tokens, policy, limits, roots: roots_of_receivers(world), key })
    }
}

fn token(key: &KeyPair, roots: &[(Access, String)]) -> Biscuit {
    let mut token = Biscuit::builder();
    for (held, path) in roots {
        for access in [Access::Read, Access::Write].into_iter().filter(|access| access <= held) {
            token = token.fact(fact("right", &[string(path), string(name(access))])).unwrap();
        }
    }
    token.build(key).unwrap()
}

fn name(access: Access) -> &'static str {
    if access == Access::Write { "write" } else { "read" }
}

impl Contender for Biscuits {
    fn check(&mut self, asked: Asked<'_>) -> bool {
        let Some(token) = self.tokens.get(asked.id) else { return false };
        let mut authorizer = AuthorizerBuilder::new().set_limits(self.limits.clone());
        for path in prefixes(asked.path) {
            authorizer = authorizer.fact(fact("wants", &[string(path), string(name(asked.access))])).unwrap();
        }
        authorizer.policy(self.policy.clone()).unwrap().build(token).unwrap().authorize().is_ok()
    }

    /// Signs another token for the agent.
    fn grant(&mut self, _agent: usize, id: &str, path: &str) -> bool {
        let roots = self.roots.entry(id.to_owned()).or_default();
        roots.push((Access::Read, path.to_owned()));
        self.tokens.insert(id.to_owned(), token(&self.key, roots));
        true
    }
}
