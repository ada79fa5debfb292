//! regorus with its register machine: the directories of an agent are keys of an object, and the input carries the
//! directories above the path.

use std::collections::BTreeMap;

use bestow::grant::Access;
use regorus::{Engine, Rc, Value, languages::rego::compiler::Compiler, rvm::vm::RegoVM};

use crate::{
    contender::{Asked, Contender, prefixes},
    world::World,
};

const POLICY: &str = "package bench

default allow := false

allow if {
	some path in input.above
	data.agents[input.agent][input.access][path]
}
";

pub(crate) struct Rego {
    machine: RegoVM,
    data: Value,
    keys: [Value; 3],
    access: [Value; 2],
}

impl Rego {
    pub(crate) fn load(world: &World) -> Box<dyn Contender> {
        let mut engine = Engine::new();
        engine.add_policy("bench.rego".to_owned(), POLICY.to_owned()).unwrap();
        let entry: Rc<str> = "data.bench.allow".into();
        let policy = engine.compile_with_entrypoint(&entry).unwrap();
        let program = Compiler::compile_from_policy(&policy, &["data.bench.allow"]).unwrap();
        let agents = world.agents.iter().map(|(id, roots)| (text(id.as_str()), rights(roots)));
        let data = object([(text("agents"), object(agents))]);
        let mut machine = RegoVM::new();
        machine.load_program(program);
        machine.set_data(data.clone()).unwrap();
        let keys = ["agent", "access", "above"].map(text);
        Box::new(Rego { machine, data, keys, access: ["read", "write"].map(text) })
    }
}

fn rights(roots: &[(Access, String)]) -> Value {
    let held = |access: Access| {
        let held = roots.iter().filter(move |(held, _)| access <= *held);
        object(held.map(|(_, path)| (text(path), Value::Bool(true))))
    };
    object([(text("read"), held(Access::Read)), (text("write"), held(Access::Write))])
}

fn text(text: &str) -> Value {
    Value::String(text.into())
}

fn object(pairs: impl IntoIterator<Item = (Value, Value)>) -> Value {
    Value::from(pairs.into_iter().collect::<BTreeMap<_, _>>())
}

impl Contender for Rego {
    fn check(&mut self, asked: Asked<'_>) -> bool {
        let above = prefixes(asked.path).map(text).collect::<Vec<_>>();
        let [agent, access, key] = &self.keys;
        let named = self.access[usize::from(asked.access == Access::Write)].clone();
        let input = [(agent.clone(), text(asked.id)), (access.clone(), named), (key.clone(), Value::from(above))];
        self.machine.set_input(object(input));
        self.machine.execute().unwrap() == Value::Bool(true)
    }

    /// Publishes a copy of the data in which the objects on the way to this directory are others.
    fn grant(&mut self, _agent: usize, id: &str, path: &str) -> bool {
        let agents = self.data.as_object_mut().unwrap().get_mut(&text("agents")).unwrap();
        let agent = agents.as_object_mut().unwrap().get_mut(&text(id)).unwrap();
        let read = agent.as_object_mut().unwrap().get_mut(&self.access[0]).unwrap();
        read.as_object_mut().unwrap().insert(text(path), Value::Bool(true));
        self.machine.set_data(self.data.clone()).unwrap();
        true
    }
}
