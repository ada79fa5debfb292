//! regorus with its register machine: the input carries the directories above the path, and an object whose keys are
//! the directories of the agent. A machine for each thread.

use std::{cell::RefCell, collections::BTreeMap};

use bestow::grant::Access;
use regorus::{
    Engine, Rc, Value,
    languages::rego::compiler::Compiler,
    rvm::{program::Program, vm::RegoVM},
};
use thread_local::ThreadLocal;

use crate::{
    contender::{Asked, Change, Contender, Published, Root, held, prefixes},
    world::World,
};

const POLICY: &str = "package bench

default allow := false

allow if {
	some path in input.above
	input.rights[path]
}
";

pub(crate) struct Rego {
    program: std::sync::Arc<Program>,
    machines: ThreadLocal<RefCell<RegoVM>>,
    /// The directories that each agent may read, and those that it may write.
    rights: Published<[Value; 2]>,
    keys: [Value; 2],
}

impl Rego {
    pub(crate) fn load(world: &World) -> Box<dyn Contender> {
        let mut engine = Engine::new();
        engine.add_policy("bench.rego".to_owned(), POLICY.to_owned()).unwrap();
        let entry: Rc<str> = "data.bench.allow".into();
        let policy = engine.compile_with_entrypoint(&entry).unwrap();
        let program = Compiler::compile_from_policy(&policy, &["data.bench.allow"]).unwrap();
        let rights = Published::of(world, |_, roots| rights(roots));
        Box::new(Rego { program, machines: ThreadLocal::new(), rights, keys: ["above", "rights"].map(text) })
    }

    fn machine(&self) -> RefCell<RegoVM> {
        let mut machine = RegoVM::new();
        machine.load_program(self.program.clone());
        RefCell::new(machine)
    }
}

fn rights(roots: &[Root]) -> [Value; 2] {
    [Access::Read, Access::Write].map(|access| object(held(roots, access).map(|path| (text(path), Value::Bool(true)))))
}

fn text(text: &str) -> Value {
    Value::String(text.into())
}

fn object(pairs: impl IntoIterator<Item = (Value, Value)>) -> Value {
    Value::from(pairs.into_iter().collect::<BTreeMap<_, _>>())
}

impl Contender for Rego {
    fn check(&self, asked: Asked<'_>) -> bool {
        let Some(rights) = self.rights.get(asked.id) else { return false };
        let above = Value::from(prefixes(asked.path).map(text).collect::<Vec<_>>());
        let right = rights[usize::from(asked.access == Access::Write)].clone();
        let [key, other] = &self.keys;
        let mut machine = self.machines.get_or(|| self.machine()).borrow_mut();
        machine.set_input(object([(key.clone(), above), (other.clone(), right)]));
        machine.execute().unwrap() == Value::Bool(true)
    }

    fn publish(&self, change: Change<'_>) -> bool {
        self.rights.replace(change.id, rights(change.roots))
    }
}
