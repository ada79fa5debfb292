//! biscuit-auth: the directories of an agent are facts of its token, which was verified before. A check asks its
//! Datalog.

use std::time::Duration;

use bestow::grant::Access;
use biscuit_auth::{
    AuthorizerBuilder, AuthorizerLimits, Biscuit, KeyPair,
    builder::{Policy, fact, string},
};

use crate::{
    contender::{Asked, Change, Contender, Published, Root, held, name, prefixes},
    world::World,
};

pub(crate) struct Biscuits {
    tokens: Published<Biscuit>,
    policy: Policy,
    limits: AuthorizerLimits,
    key: KeyPair,
}

impl Biscuits {
    pub(crate) fn load(world: &World) -> Box<dyn Contender> {
        let key = KeyPair::new();
        let tokens = Published::of(world, |_, roots| token(&key, roots));
        // The usual limit of a millisecond refuses on a busy machine what is allowed.
        let limits = AuthorizerLimits { max_facts: 100_000, max_iterations: 1_000, max_time: Duration::from_secs(10) };
        let policy = "allow if wants($path, $access), right($path, $access)".try_into().unwrap();
        Box::new(Biscuits { tokens, policy, limits, key })
    }
}

fn token(key: &KeyPair, roots: &[Root]) -> Biscuit {
    let mut token = Biscuit::builder();
    for access in [Access::Read, Access::Write] {
        for path in held(roots, access) {
            token = token.fact(fact("right", &[string(path), string(name(access))])).unwrap();
        }
    }
    token.build(key).unwrap()
}

impl Contender for Biscuits {
    fn check(&self, asked: Asked<'_>) -> bool {
        let Some(token) = self.tokens.get(asked.id) else { return false };
        let mut authorizer = AuthorizerBuilder::new().set_limits(self.limits.clone());
        for path in prefixes(asked.path) {
            authorizer = authorizer.fact(fact("wants", &[string(path), string(name(asked.access))])).unwrap();
        }
        authorizer.policy(self.policy.clone()).unwrap().build(&token).unwrap().authorize().is_ok()
    }

    /// Signs another token for the agent.
    fn publish(&self, change: Change<'_>) -> bool {
        self.tokens.replace(change.id, token(&self.key, change.roots))
    }
}
