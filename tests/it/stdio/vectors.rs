//! Replays `tests/vectors`: the input lines, and the exact output lines.
//!
//! A text in angle brackets stands for any text. It has one value in a vector, except `<any>`.

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    sync::Arc,
    time::Duration,
};

use bestow::{
    Engine, InitialGrants, Kind, Permission, Profile, Settings,
    host::{AsWritten, ManualClock},
    policy::OnNoUser,
    stdio::{Bot, Limits},
    text::Name,
    user::{ApproverId, OwnerId},
};
use serde::Deserialize;
use serde_json::Value;

use super::{Wire, clock, id, repository, soon};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Vector {
    number: usize,
    title: String,
    #[serde(default)]
    settings: Options,
    #[serde(default)]
    limits: Bounds,
    agents: Vec<Given>,
    bots: BTreeMap<String, Role>,
    steps: Vec<Step>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Options {
    on_no_user: Option<OnNoUser>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Bounds {
    line: Option<usize>,
    bad_lines: Option<u32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Given {
    id: String,
    kind: Kind,
    owner: OwnerId,
    name: Option<Name>,
    holds: Vec<Permission>,
    #[serde(default)]
    grant_only: Vec<Permission>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Role {
    role: String,
    agent: String,
    decides_as: Option<ApproverId>,
}

#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Step {
    Open { open: String },
    Write { write: String, line: Value },
    WriteRaw { write: String, raw: String },
    Read { read: String, line: Value },
    Close { close: String },
    Ended { ended: String },
    Advance { advance: String },
}

struct World {
    engine: Engine,
    clock: Arc<ManualClock>,
    limits: Limits,
    bots: BTreeMap<String, Role>,
    wires: HashMap<String, Wire>,
    bound: HashMap<String, String>,
}

async fn world(vector: &mut Vector) -> World {
    let mut settings = Settings::default();
    settings.on_no_user = vector.settings.on_no_user.unwrap_or(settings.on_no_user);
    let mut limits = Limits::default();
    limits.line = vector.limits.line.unwrap_or(limits.line);
    limits.bad_lines = vector.limits.bad_lines.unwrap_or(limits.bad_lines);
    let clock = clock();
    let engine = Engine::on(settings, clock.clone(), Arc::new(AsWritten)).unwrap();
    for given in std::mem::take(&mut vector.agents) {
        let profile = Profile::new(id(&given.id), given.owner, given.kind, "/ws".parse().unwrap());
        let profile = if let Some(name) = given.name { profile.named(name) } else { profile };
        engine.register(profile, InitialGrants::of(given.holds).passing_on(given.grant_only)).await.unwrap();
    }
    let bots = std::mem::take(&mut vector.bots);
    World { engine, clock, limits, bots, wires: HashMap::new(), bound: HashMap::new() }
}

impl World {
    fn open(&mut self, name: &str) {
        let role = &self.bots[name];
        let agent = id(&role.agent);
        let bot = match role.role.as_str() {
            "agent" => Bot::agent(&self.engine, &agent).unwrap(),
            "connector" => Bot::connector(&self.engine, &agent).unwrap(),
            other => panic!("no role {other}"),
        };
        let bot = if let Some(by) = &role.decides_as { bot.answering_as(by.clone()) } else { bot };
        self.wires.insert(name.to_owned(), Wire::open(bot.limits(self.limits)));
    }

    async fn step(&mut self, step: Step) {
        match step {
            Step::Open { open } => self.open(&open),
            Step::Write { write, line } => {
                let line = self.filled(line).to_string();
                self.wire(&write).write(&line).await;
            }
            Step::WriteRaw { write, raw } => self.wire(&write).write(&raw).await,
            Step::Read { read, line } => {
                let told = self.wire(&read).read().await;
                assert!(self.matches(&told, &line), "\n{read} was told  {told}\nand expected    {line}");
            }
            Step::Close { close } => {
                let Wire { served, .. } = self.wires.remove(&close).unwrap();
                // The pipe is gone with the wire. The next step waits until the engine knows.
                soon("the end", served).await.unwrap();
            }
            Step::Ended { ended } => {
                self.wires.remove(&ended).unwrap().ended().await;
            }
            Step::Advance { advance } => {
                let seconds = advance.strip_suffix('s').unwrap().parse().unwrap();
                self.clock.advance(Duration::from_secs(seconds));
            }
        }
    }

    fn wire(&mut self, name: &str) -> &mut Wire {
        self.wires.get_mut(name).unwrap()
    }

    fn filled(&self, value: Value) -> Value {
        match value {
            Value::String(ref text) if is_placeholder(text) => Value::String(self.bound[text].clone()),
            Value::Array(list) => list.into_iter().map(|value| self.filled(value)).collect(),
            Value::Object(map) => map.into_iter().map(|(key, value)| (key, self.filled(value))).collect(),
            Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => value,
        }
    }

    fn matches(&mut self, told: &Value, expected: &Value) -> bool {
        match (told, expected) {
            (Value::String(_), Value::String(any)) if any == "<any>" => true,
            (Value::String(told), Value::String(name)) if is_placeholder(name) => {
                self.bound.entry(name.clone()).or_insert_with(|| told.clone()) == told
            }
            (Value::Array(told), Value::Array(expected)) => {
                told.len() == expected.len() && told.iter().zip(expected).all(|(told, value)| self.matches(told, value))
            }
            (Value::Object(told), Value::Object(expected)) => {
                let same =
                    |(key, value): (&String, &Value)| told.get(key).is_some_and(|told| self.matches(told, value));
                told.len() == expected.len() && expected.iter().all(same)
            }
            (told, expected) => told == expected,
        }
    }
}

fn is_placeholder(text: &str) -> bool {
    text.starts_with('<') && text.ends_with('>')
}

#[tokio::test]
async fn every_vector_is_answered_line_by_line() {
    let mut files: Vec<_> =
        fs::read_dir(repository().join("tests/vectors")).unwrap().map(|it| it.unwrap().path()).collect();
    files.sort();
    for (place, file) in files.iter().enumerate() {
        let mut vector: Vector = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
        println!("{} {}", vector.number, vector.title);
        assert_eq!(vector.number, place + 1, "vectors are numbered without gaps: {}", file.display());
        let mut world = world(&mut vector).await;
        for step in std::mem::take(&mut vector.steps) {
            world.step(step).await;
        }
    }
    assert!(files.len() >= 32);
}
