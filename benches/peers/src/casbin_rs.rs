//! casbin, with the faster of its two formulations: an enforcer of its own for each agent, and `keyMatch`. A lock
//! around each enforcer, as its authors advise, lets a writer change it.

use std::{collections::HashMap, sync::RwLock};

use bestow::grant::Access;
use casbin::{CoreApi, DefaultModel, Enforcer, MemoryAdapter, MgmtApi};

use crate::{
    contender::{Asked, Change, Contender, name},
    own::done,
    world::{FastHash, World},
};

const MODEL: &str = r#"
[request_definition]
r = obj, act

[policy_definition]
p = obj, act

[policy_effect]
e = some(where (p.eft == allow))

[matchers]
m = (r.act == "read" || p.act == "write") && keyMatch(r.obj, p.obj)
"#;

pub(crate) struct Casbin(HashMap<String, RwLock<Enforcer>, FastHash>);

impl Casbin {
    pub(crate) fn load(world: &World) -> Box<dyn Contender> {
        let model = done(DefaultModel::from_str(MODEL)).unwrap();
        let agents = world.agents.iter().map(|(id, roots)| {
            let mut enforcer = done(Enforcer::new(model.clone(), MemoryAdapter::default())).unwrap();
            let rules = roots.iter().map(|(access, path)| rule(*access, path)).collect();
            done(enforcer.add_policies(rules)).unwrap();
            (id.to_string(), RwLock::new(enforcer))
        });
        Box::new(Casbin(agents.collect()))
    }
}

/// Returns the rule for everything below `path`. The request gets a slash at its end, so that it also matches itself.
fn rule(access: Access, path: &str) -> Vec<String> {
    vec![format!("{path}/*"), name(access).to_owned()]
}

impl Contender for Casbin {
    fn check(&self, asked: Asked<'_>) -> bool {
        let path = format!("{}/", asked.path);
        let agent = self.0.get(asked.id);
        agent.is_some_and(|agent| agent.read().unwrap().enforce((path, name(asked.access))).unwrap())
    }

    /// Changes the enforcer in place. Those who check this agent wait meanwhile.
    fn publish(&self, change: Change<'_>) -> bool {
        let Some(agent) = self.0.get(change.id) else { return false };
        let (mut agent, rule) = (agent.write().unwrap(), rule(Access::Read, change.path));
        if change.is_given { done(agent.add_policy(rule)).unwrap() } else { done(agent.remove_policy(rule)).unwrap() }
    }
}
