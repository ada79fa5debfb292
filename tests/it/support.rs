//! Shared helpers of the engine tests: short forms for agents, permissions and times.

use std::{path::PathBuf, process::Command, sync::Arc, time::Duration};

use bestow::{
    Agent, AgentId, Approver, Engine, Error, InitialGrants, Kind, Permission, PermissionRequest, Policy, Profile,
    Settings,
    agent::{Inbox, Notification},
    decision::Refusal,
    event::{NoEvent, Recorded, Subscription, Timestamp},
    grant::{Grant, Hold, PinnedPermission, Place, Reads},
    host::{AsWritten, Clock, ClockUnreadable, ManualClock},
    policy::{AgentPolicy, PolicyPermission},
    request::Pending,
    text::Reason,
    user::OwnerId,
};

/// The repository.
pub(crate) const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Returns the number of cases that a property tries: `usual`, times the number in `BESTOW_CASES`. A night tries more.
pub(crate) fn cases(usual: u32) -> u32 {
    let factor = std::env::var("BESTOW_CASES").ok().map(|text| text.parse::<u32>().expect("BESTOW_CASES is a number"));
    usual.saturating_mul(factor.unwrap_or(1))
}

/// Returns a rule about an operation and the paths of a glob.
pub(crate) fn rule(
    verdict: bestow::decision::Verdict,
    operation: Option<bestow::action::Operation>,
    path: Option<&str>,
) -> bestow::policy::Rule {
    bestow::policy::Rule {
        verdict,
        tool: None,
        operation,
        path: path.map(|path| bestow::path::PathGlob::try_from(path.to_owned()).unwrap()),
        command: None,
        shape: None,
        cwd: None,
        children: false,
        why: None,
        place: bestow::grant::Place { file: "agents.toml".into(), line: 3 },
    }
}

/// The command line of bestow.
#[cfg(feature = "cli")]
pub(crate) const BESTOW: &str = env!("CARGO_BIN_EXE_bestow-under-test");

/// Returns the program of an example. Cargo builds it, if the sources are newer, and with the features that
/// `scripts/test` builds it with: with others, its libraries would be compiled again.
pub(crate) fn example(name: &str) -> PathBuf {
    let this = std::env::current_exe().unwrap();
    // The path is `<target>/<profile>/deps/<test>`.
    let (profile, target) = (this.ancestors().nth(2).unwrap(), this.ancestors().nth(3).unwrap());
    let mut build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    build.args(["build", "--quiet", "--offline", "--package", "bestow", "--package", "bestow-tests"]);
    if profile.ends_with("release") {
        build.arg("--release");
    }
    build.args(["--example", name, "--target-dir"]).arg(target).current_dir(ROOT);
    let built = build.output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    profile.join("examples").join(name)
}

/// The start time of every engine in these tests.
pub(crate) const START: Timestamp = Timestamp::from_millis(1_000_000);

/// An engine on a manual clock, with paths as written, and with reads that must be granted.
pub(crate) struct World {
    pub(crate) engine: Engine,
    pub(crate) clock: Arc<ManualClock>,
}

impl World {
    pub(crate) fn new() -> World {
        World::with(|_| {})
    }

    pub(crate) fn with(change: impl FnOnce(&mut Settings)) -> World {
        let clock = Arc::new(ManualClock::at(START));
        let engine = Engine::on(settings(change), clock.clone(), Arc::new(AsWritten)).unwrap();
        World { engine, clock }
    }

    /// Registers a subagent of `you`.
    pub(crate) async fn worker(&self, id: &str, holds: &[&str]) -> Agent {
        self.agent(id, "you", Kind::Subagent, holds).await
    }

    /// Registers a foreground agent of `you`.
    pub(crate) async fn lead(&self, id: &str, holds: &[&str]) -> Agent {
        self.agent(id, "you", Kind::Foreground, holds).await
    }

    pub(crate) async fn agent(&self, id: &str, owner: &str, kind: Kind, holds: &[&str]) -> Agent {
        self.engine.register(profile(id, owner, kind), InitialGrants::of(tags(holds))).await.unwrap()
    }

    /// Returns the person who answers for the owner `you`.
    pub(crate) fn you(&self) -> Approver {
        self.approver("you")
    }

    pub(crate) fn approver(&self, owner: &str) -> Approver {
        self.engine.approver(owner, "ann", "terminal")
    }

    /// Advances the clock, and runs the tasks that depend on it.
    pub(crate) async fn later(&self, millis: u64) {
        self.clock.advance(Duration::from_millis(millis));
        settle().await;
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now().unwrap()
    }

    /// Returns the moment this many milliseconds from now.
    pub(crate) fn after(&self, millis: u64) -> Timestamp {
        self.now().after(Duration::from_millis(millis))
    }

    /// Returns the state that is visible from outside.
    pub(crate) fn view(&self) -> View {
        let engine = &self.engine;
        View { agents: engine.agents().unwrap(), grants: engine.grants().unwrap(), pending: engine.pending().unwrap() }
    }
}

#[derive(Debug, PartialEq)]
pub(crate) struct View {
    agents: Vec<Arc<Profile>>,
    grants: Vec<Arc<Grant>>,
    pending: Vec<Pending>,
}

/// Runs every task that can continue.
pub(crate) async fn settle() {
    for _ in 0..16 {
        tokio::task::yield_now().await;
    }
}

/// Returns the result of a future that does not wait. The calls of the engine do not wait, so any thread can make them.
pub(crate) fn futures_now<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    match future.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => panic!("it waits"),
    }
}

pub(crate) fn settings(change: impl FnOnce(&mut Settings)) -> Settings {
    let mut settings = Settings::default();
    settings.reads = Reads::Granted;
    change(&mut settings);
    settings
}

pub(crate) fn profile(id: &str, owner: &str, kind: Kind) -> Profile {
    Profile::new(id.parse().unwrap(), owner.parse().unwrap(), kind, "/ws".parse().unwrap())
}

pub(crate) fn id(id: &str) -> AgentId {
    id.parse().unwrap()
}

pub(crate) fn owner(id: &str) -> OwnerId {
    id.parse().unwrap()
}

/// Returns the permission with this tag.
pub(crate) fn tag(tag: &str) -> Permission {
    tag.parse().unwrap()
}

pub(crate) fn tags(list: &[&str]) -> Vec<Permission> {
    list.iter().map(|text| tag(text)).collect()
}

pub(crate) fn why() -> Reason {
    "because it must".parse().unwrap()
}

/// Returns a request for `wanted`.
pub(crate) fn ask(wanted: &str) -> PermissionRequest {
    PermissionRequest::new(tag(wanted), why())
}

pub(crate) fn check(agent: &Agent, wanted: &str) -> bestow::decision::Check {
    agent.check(&tag(wanted))
}

/// Returns the refusal in `result`, and panics if there is none.
pub(crate) fn refusal<T: std::fmt::Debug>(result: Result<T, Error>) -> Refusal {
    match result {
        Err(Error::Refused(refusal)) => refusal,
        other => panic!("expected a refusal, not {other:?}"),
    }
}

/// Returns the notifications in a mailbox.
pub(crate) fn mail(mailbox: &Inbox) -> Vec<Notification> {
    std::iter::from_fn(|| mailbox.try_next()).collect()
}

/// Returns all events since the last call.
pub(crate) fn heard(subscription: &mut Subscription) -> Vec<Recorded> {
    let mut all = Vec::new();
    loop {
        match subscription.try_next() {
            Ok(Some(event)) => all.push(event),
            Ok(None) | Err(NoEvent::Ended) => return all,
            Err(missed @ NoEvent::Missed(_)) => panic!("{missed}"),
        }
    }
}

/// Returns a policy with these agents (id, owner), each with these lines.
pub(crate) fn policy(settings: Settings, agents: &[(&str, &str, &[&str])]) -> Policy {
    let mut line = 0;
    let mut entry = |&(agent, owner, lines): &(&str, &str, &[&str])| {
        let permissions = lines.iter().map(|text| {
            line += 1;
            policy_permission(text, line)
        });
        (
            id(agent),
            AgentPolicy {
                profile: profile(agent, owner, Kind::Permanent),
                permissions: permissions.collect(),
                rules: [].into(),
            },
        )
    };
    Policy { settings, agents: agents.iter().map(&mut entry).collect(), left_out: Vec::new() }
}

/// Returns a line of a policy: a tag, or `pass ` and a tag.
fn policy_permission(text: &str, line: u32) -> PolicyPermission {
    let (hold, text) = text.strip_prefix("pass ").map_or((Hold::Use, text), |text| (Hold::PassOn, text));
    PolicyPermission {
        pinned: PinnedPermission::from(tag(text)),
        hold,
        place: Place { file: "agents.toml".into(), line },
    }
}

/// A clock that shows each of these moments once, and the last one permanently. `None` cannot be read.
#[derive(Debug)]
pub(crate) struct ScriptedClock {
    moments: std::sync::Mutex<std::collections::VecDeque<Option<u64>>>,
}

impl ScriptedClock {
    pub(crate) fn new(moments: impl IntoIterator<Item = Option<u64>>) -> Arc<ScriptedClock> {
        Arc::new(ScriptedClock { moments: std::sync::Mutex::new(moments.into_iter().collect()) })
    }

    /// Replaces the moments of the clock.
    pub(crate) fn set(&self, moments: impl IntoIterator<Item = Option<u64>>) {
        *self.moments.lock().unwrap() = moments.into_iter().collect();
    }
}

#[async_trait::async_trait]
impl Clock for ScriptedClock {
    fn now(&self) -> Result<Timestamp, ClockUnreadable> {
        let mut moments = self.moments.lock().unwrap();
        let now = if moments.len() > 1 { moments.pop_front() } else { moments.front().copied() };
        now.flatten().map(Timestamp::from_millis).ok_or(ClockUnreadable)
    }

    async fn reaches(&self, _: Timestamp) {
        std::future::pending().await
    }
}

/// Compares `found` with a file of this folder. `BESTOW_BLESS=1` rewrites the file, and the difference belongs into the
/// change log.
pub(crate) fn as_written(file: &str, found: &str) {
    if std::env::var_os("BESTOW_BLESS").is_some() {
        std::fs::write(file, found).unwrap();
    }
    let written = std::fs::read_to_string(file).unwrap_or_default();
    let wrong: Vec<_> = found.lines().zip(written.lines()).filter(|(found, written)| found != written).collect();
    assert!(found == written, "{file} reads differently: {wrong:#?}");
}

/// Returns the real path of a directory of the test.
#[expect(clippy::disallowed_methods, reason = "the second opinion on what `fs` says")]
pub(crate) fn real(path: &std::path::Path) -> std::path::PathBuf {
    path.canonicalize().unwrap()
}

/// Returns true if the words are an order of a person to a state directory.
#[cfg(feature = "cli")]
pub(crate) fn is_order(words: &[&str]) -> bool {
    match words {
        ["token", part, ..] => *part != "list",
        ["audit", part, ..] => ["cut", "rotate"].contains(part),
        ["mode", _, mode, ..] => !mode.starts_with('-'),
        [word, ..] => ["dashboard", "approve", "deny", "agree", "revoke", "keep"].contains(word),
        [] => false,
    }
}

/// Returns the option with the secret of the state directory, for an order of a person who has no terminal.
#[cfg(feature = "cli")]
pub(crate) fn secret(words: &[&str]) -> Vec<String> {
    let place = words.iter().position(|word| *word == "--state").and_then(|at| words.get(at + 1));
    let file = place.map(|place| PathBuf::from(place).join("approver-token")).filter(|file| file.exists());
    match file {
        Some(file) if is_order(words) && !words.contains(&"--token-file") => {
            vec!["--token-file".to_owned(), file.to_str().unwrap().to_owned()]
        }
        _ => Vec::new(),
    }
}
