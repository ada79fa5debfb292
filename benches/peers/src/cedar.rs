//! cedar-policy, with the fastest formulation found: the directories of an agent are sets of texts on its entity, and
//! the request carries the directories above the path. Two policies for everybody.

use std::collections::{HashMap, HashSet};

use bestow::grant::Access;
use cedar_policy::{
    Authorizer, Context, Decision, Entities, Entity, EntityId, EntityTypeName, EntityUid, PolicySet, Request,
    RestrictedExpression,
};

use crate::{
    contender::{Asked, Contender, Roots, prefixes, roots_of_receivers},
    world::World,
};

const POLICIES: &str = r#"
permit(principal, action == Action::"read", resource) when { principal.read.containsAny(context.above) };
permit(principal, action == Action::"write", resource) when { principal.write.containsAny(context.above) };
"#;

pub(crate) struct Cedar {
    authorizer: Authorizer,
    policies: PolicySet,
    entities: Entities,
    agent: EntityTypeName,
    read: EntityUid,
    write: EntityUid,
    roots: HashMap<String, Roots>,
}

impl Cedar {
    pub(crate) fn load(world: &World) -> Box<dyn Contender> {
        let agent: EntityTypeName = "Agent".parse().unwrap();
        let entities = world.agents.iter().map(|(id, roots)| entity(&agent, id.as_str(), roots));
        Box::new(Cedar {
            authorizer: Authorizer::new(),
            policies: POLICIES.parse().unwrap(),
            entities: Entities::from_entities(entities, None).unwrap(),
            agent,
            read: r#"Action::"read""#.parse().unwrap(),
            write: r#"Action::"write""#.parse().unwrap(),
            roots: roots_of_receivers(world),
        })
    }
}

fn entity(agent: &EntityTypeName, id: &str, roots: &[(Access, String)]) -> Entity {
    let set = |access: Access| {
        let held = roots.iter().filter(move |(held, _)| access <= *held);
        RestrictedExpression::new_set(held.map(|(_, path)| RestrictedExpression::new_string(path.clone())))
    };
    let attributes = [("read".to_owned(), set(Access::Read)), ("write".to_owned(), set(Access::Write))];
    Entity::new(uid(agent, id), attributes.into(), HashSet::new()).unwrap()
}

fn uid(of: &EntityTypeName, id: &str) -> EntityUid {
    EntityUid::from_type_name_and_id(of.clone(), EntityId::new(id))
}

impl Contender for Cedar {
    fn check(&mut self, asked: Asked<'_>) -> bool {
        let above = prefixes(asked.path).map(|path| RestrictedExpression::new_string(path.to_owned()));
        let context = Context::from_pairs([("above".to_owned(), RestrictedExpression::new_set(above))]).unwrap();
        let action = if asked.access == Access::Write { &self.write } else { &self.read };
        let request =
            Request::new(uid(&self.agent, asked.id), action.clone(), self.read.clone(), context, None).unwrap();
        self.authorizer.is_authorized(&request, &self.policies, &self.entities).decision() == Decision::Allow
    }

    /// Publishes a copy of the entities with another one for this agent: those who check may still use the old ones.
    fn grant(&mut self, _agent: usize, id: &str, path: &str) -> bool {
        let roots = self.roots.entry(id.to_owned()).or_default();
        roots.push((Access::Read, path.to_owned()));
        let changed = entity(&self.agent, id, roots);
        self.entities = self.entities.clone().upsert_entities([changed], None).unwrap();
        true
    }
}
