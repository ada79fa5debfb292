//! cedar-policy, with the fastest formulation found: the directories of an agent are sets of texts on its entity, and
//! the request carries the directories above the path. A check sees the entity of its agent alone, and the policy of
//! its action alone.

use std::collections::HashSet;

use bestow::grant::Access;
use cedar_policy::{
    Authorizer, Context, Decision, Entities, Entity, EntityId, EntityTypeName, EntityUid, PolicySet, Request,
    RestrictedExpression,
};

use crate::{
    contender::{Asked, Change, Contender, Published, Root, held, prefixes},
    world::World,
};

const POLICIES: [&str; 2] = [
    r#"permit(principal, action == Action::"read", resource) when { principal.read.containsAny(context.above) };"#,
    r#"permit(principal, action == Action::"write", resource) when { principal.write.containsAny(context.above) };"#,
];
const ACTIONS: [&str; 2] = [r#"Action::"read""#, r#"Action::"write""#];

pub(crate) struct Cedar {
    authorizer: Authorizer,
    policies: [PolicySet; 2],
    actions: [EntityUid; 2],
    agents: Published<(EntityUid, Entities)>,
}

impl Cedar {
    pub(crate) fn load(world: &World) -> Box<dyn Contender> {
        Box::new(Cedar {
            authorizer: Authorizer::new(),
            policies: POLICIES.map(|policy| policy.parse().unwrap()),
            actions: ACTIONS.map(|action| action.parse().unwrap()),
            agents: Published::of(world, agent),
        })
    }
}

fn agent(id: &str, roots: &[Root]) -> (EntityUid, Entities) {
    let of: EntityTypeName = "Agent".parse().unwrap();
    let uid = EntityUid::from_type_name_and_id(of, EntityId::new(id));
    let set = |access| set(held(roots, access));
    let attributes = [("read".to_owned(), set(Access::Read)), ("write".to_owned(), set(Access::Write))];
    let entity = Entity::new(uid.clone(), attributes.into(), HashSet::new()).unwrap();
    (uid, Entities::from_entities([entity], None).unwrap())
}

fn set<'t>(texts: impl Iterator<Item = &'t str>) -> RestrictedExpression {
    RestrictedExpression::new_set(texts.map(|text| RestrictedExpression::new_string(text.to_owned())))
}

impl Contender for Cedar {
    fn check(&self, asked: Asked<'_>) -> bool {
        let Some(agent) = self.agents.get(asked.id) else { return false };
        let (uid, entities) = &**agent;
        let context = Context::from_pairs([("above".to_owned(), set(prefixes(asked.path)))]).unwrap();
        let place = usize::from(asked.access == Access::Write);
        let action = self.actions[place].clone();
        // The policies do not look at the resource: the context names the directory.
        let request = Request::new(uid.clone(), action.clone(), action, context, None).unwrap();
        self.authorizer.is_authorized(&request, &self.policies[place], entities).decision() == Decision::Allow
    }

    fn publish(&self, change: Change<'_>) -> bool {
        self.agents.replace(change.id, agent(change.id, change.roots))
    }
}
