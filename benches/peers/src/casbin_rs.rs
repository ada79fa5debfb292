//! casbin, with the faster of its two formulations: an enforcer of its own for each agent, and `keyMatch`.

use std::collections::HashMap;

use bestow::grant::Access;
use casbin::{CoreApi, DefaultModel, Enforcer, MemoryAdapter, MgmtApi};

use crate::{
    contender::{Asked, Contender},
    own::done,
    world::World,
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

pub(crate) struct Casbin(HashMap<String, Enforcer>);

impl Casbin {
    pub(crate) fn load(world: &World) -> Box<dyn Contender> {
        let model = done(DefaultModel::from_str(MODEL)).unwrap();
        let agents = world.agents.iter().map(|(id, roots)| {
            let mut enforcer = done(Enforcer::new(model.clone(), MemoryAdapter::default())).unwrap();
            let rules = roots.iter().map(|(access, path)| rule(*access, path)).collect();
            done(enforcer.add_policies(rules)).unwrap();
            (id.to_string(), enforcer)
        });
        Box::new(Casbin(agents.collect()))
    }
}

/// Returns the rule for everything below `path`. The request gets a slash at its end, so that it also matches itself.
fn rule(access: Access, path: &str) -> Vec<String> {
    vec![format!("{path}/*"), name(access).to_owned()]
}

fn name(access: Access) -> &'static str {
    if access == Access::Write { "write" } else { "read" }
}

impl Contender for Casbin {
    fn check(&mut self, asked: Asked<'_>) -> bool {
        let path = format!("{}/", asked.path);
        self.0.get(asked.id).is_some_and(|agent| agent.enforce((path, name(asked.access))).unwrap())
    }

    /// Changes the enforcer in place. Those who check meanwhile would need a lock.
    fn grant(&mut self, _agent: usize, id: &str, path: &str) -> bool {
        self.0.get_mut(id).is_some_and(|agent| done(agent.add_policy(rule(Access::Read, path))).unwrap())
    }
}
