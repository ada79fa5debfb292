//! Measures the time that an input of an undeclared tool can hold up the engine: the worst known inputs, within its
//! limits and beyond them. Run: `cargo bench -p bestow-benches --bench tool_input`.
#![allow(clippy::disallowed_methods, reason = "a bench looks at the clock")]
#![allow(clippy::unwrap_used, reason = "a bench may stop")]

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use bestow::{Action, Agent, Engine, InitialGrants, Kind, Permission, Profile, Settings, host::SystemClock};
use serde_json::{Map, Value};

/// Pieces of command lines that are expensive to follow when they are repeated.
const PIECES: [&str; 40] = [
    "rm ",
    "env ",
    "x env nice ",
    "sudo rm -rf ",
    "docker exec sh -c ",
    "f(){ f;};",
    "sh -c 'sh -c x' ",
    "${a[${b[",
    "$x$y",
    "{a,b}{c,d}",
    "$(",
    "(",
    "`",
    "{ ",
    "\"$(",
    "$((",
    "${x:-",
    "<(",
    "if ",
    "[[ ",
    "{a,",
    "a[$(",
    "a | ",
    "cat a|sh;",
    "find . -exec sh -c x ; ",
    "xargs ",
    "eval ",
    "x=$x$x;",
    "git -c a=b ",
    "ssh h ",
    "psql -c 'DROP TABLE x' ",
    "a/b/c ",
    "../x ",
    "$(cat a)",
    "for i in a b; do ",
    "awk '{system(x)}' ",
    "/*/ ",
    "parallel x ::: ",
    "trap x EXIT;",
    "alias a='b';",
];

fn filled(piece: &str, bytes: usize) -> String {
    piece.repeat(bytes / piece.len())
}

fn texts(texts: impl Iterator<Item = String>) -> Value {
    texts.map(Value::from).collect()
}

/// Returns inputs that are read to the end, and some that are far too large for that.
fn inputs() -> Vec<(String, Value)> {
    let mut all = Vec::new();
    for piece in PIECES {
        let fields = (0..7).map(|number| (format!("f{number}"), format!("{number}{}", filled(piece, 8_000)).into()));
        all.push((format!("7 texts of 8 KB of `{piece}`"), Value::Object(fields.collect())));
        let many = (0..100).map(|number| format!("{number} {}", filled(piece, 256)));
        all.push((format!("100 texts of 256 bytes of `{piece}`, in a list"), texts(many)));
    }
    let words = |start: usize| (0..1_000).map(|number| format!("{start}/{number} ")).collect::<String>();
    all.push(("7 texts of 1,000 paths".into(), texts((0..7).map(words))));
    all.push(("100 paths of 256 bytes".into(), texts((0..100).map(|number| format!("/{number}{}", "/a".repeat(126))))));
    all.push(("7 paths of 4 KB".into(), texts((0..7).map(|number| format!("/{number}{}", "/a".repeat(2_000))))));
    all.push(("200 names".into(), texts((0..200).map(|number| format!("name{number}")))));
    let fields: Map<_, _> = (0..45).map(|number| (format!("f{number}"), format!("p{number}").into())).collect();
    all.push(("45 programs beside each other".into(), Value::Object(fields.clone())));
    // These inputs exceed the limits.
    let long = || texts((0..128).map(|number| format!("{number}{}", filled("$x ", 8_000))));
    all.push(("45 programs beside a list of 1 MB".into(), {
        let mut fields = fields;
        fields.insert("list".into(), long());
        Value::Object(fields)
    }));
    all.push(("1 MB in one text".into(), filled("$x a/b 'c' ", 1_000_000).into()));
    all.push(("1 MB of short texts".into(), texts((0..100_000).map(|number| format!("$x/{number}")))));
    all.push(("1 MB of numbers".into(), (0..200_000).collect()));
    let deep = (0..100).fold(Value::from("rm -rf x"), |inner, _| [("a".to_owned(), inner)].into_iter().collect());
    all.push(("100 levels".into(), deep));
    all
}

async fn agent(directory: &str) -> (Engine, Agent) {
    let settings = Settings::default();
    let engine = Engine::on(settings, Arc::new(SystemClock::new()), Arc::new(bestow::host::DiskPaths)).unwrap();
    let profile =
        Profile::new("ann".parse().unwrap(), "you".parse().unwrap(), Kind::Permanent, directory.parse().unwrap());
    let write: Permission = format!("@write:{directory}").parse().unwrap();
    let agent = engine.register(profile, InitialGrants::of([write])).await.unwrap();
    (engine, agent)
}

/// Returns the time of one decision, the shortest of five.
fn once(agent: &Agent, action: &Action) -> Duration {
    let timed = |_| {
        let start = Instant::now();
        agent.verdict(action).unwrap();
        start.elapsed()
    };
    (0..5).map(timed).min().unwrap_or_default()
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let directory = std::fs::canonicalize(directory.path()).unwrap();
    let (_engine, agent) = runtime.block_on(agent(directory.to_str().unwrap()));
    let mut all: Vec<_> = inputs()
        .into_iter()
        .map(|(name, input)| {
            let bytes = input.to_string().len();
            (once(&agent, &Action::tool("mystery".parse().unwrap(), input)), bytes, name)
        })
        .collect();
    all.sort_unstable_by(|one, other| other.cmp(one));
    for (time, bytes, name) in all.iter().take(25) {
        println!("{time:>10.2?}  {bytes:>9} bytes  {name}");
    }
    println!("of {} inputs", all.len());
}
