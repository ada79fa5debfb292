//! tenuo: a warrant for each agent, which was verified before. Its constraint is that the list of the directories above
//! the path contains one of the agent's. The path rule of tenuo itself (`Subpath`) normalizes the path once for each
//! directory of the agent, which takes several times as long.

use std::{collections::HashMap, time::Duration};

use bestow::grant::Access;
use tenuo::{Any, Constraint, ConstraintSet, ConstraintValue, Contains, SigningKey, Warrant};

use crate::{
    contender::{Asked, Change, Contender, Published, Root, held, name, prefixes},
    world::World,
};

/// The longest life that tenuo permits.
const LIFE: Duration = Duration::from_secs(90 * 24 * 60 * 60);

pub(crate) struct Tenuo {
    warrants: Published<Warrant>,
    key: SigningKey,
}

impl Tenuo {
    pub(crate) fn load(world: &World) -> Box<dyn Contender> {
        let key = SigningKey::generate();
        let warrants = Published::of(world, |_, roots| warrant(&key, roots));
        Box::new(Tenuo { warrants, key })
    }
}

fn warrant(key: &SigningKey, roots: &[Root]) -> Warrant {
    let [read, write] = [Access::Read, Access::Write].map(|access| {
        let one = held(roots, access).map(|path| Constraint::from(Contains::new([path])));
        ConstraintSet::from_iter([("above".to_owned(), Any::new(one).into())])
    });
    let builder = Warrant::builder().capability("read", read).capability("write", write).ttl(LIFE);
    let warrant = builder.build(key).unwrap();
    warrant.verify(&key.public_key()).unwrap();
    warrant
}

impl Contender for Tenuo {
    fn check(&self, asked: Asked<'_>) -> bool {
        let Some(warrant) = self.warrants.get(asked.id) else { return false };
        let above = prefixes(asked.path).map(ConstraintValue::from).collect();
        let arguments = HashMap::from([("above".to_owned(), ConstraintValue::List(above))]);
        warrant.check_constraints(name(asked.access), &arguments).is_ok()
    }

    /// Signs another warrant for the agent.
    fn publish(&self, change: Change<'_>) -> bool {
        self.warrants.replace(change.id, warrant(&self.key, change.roots))
    }
}
