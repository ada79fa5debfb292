//! Anchors (A7): a permission covers the object that existed when it was granted. Derived grants depend on that object
//! too.

use std::{
    fs, io,
    path::PathBuf,
    sync::{Arc, Mutex},
};

use bestow::{
    Action, Agent, Engine, Error, InitialGrants, Kind,
    agent::Mode,
    decision::{ProvenanceStep, Verdict},
    grant::{Access, Reads},
    host::{DiskPaths, ManualClock, PathFailure, Paths, Real},
    path::{FileIdentity, SanitizedPath},
};

use crate::support::{START, id, profile, settings, tag, tags, why};

/// A directory `out` that agent `a` may write, and agents `b` and `c` that hold nothing.
struct Ground {
    engine: Engine,
    directory: tempfile::TempDir,
}

impl Ground {
    async fn new() -> Ground {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("out")).unwrap();
        let granted = settings(|settings| settings.reads = Reads::Granted);
        let engine = Engine::on(granted, Arc::new(ManualClock::at(START)), Arc::new(DiskPaths)).unwrap();
        let ground = Ground { engine, directory };
        ground.agent("a", &[&ground.permission("out")]).await;
        ground.agent("b", &[]).await;
        ground.agent("c", &[]).await;
        ground
    }

    fn path(&self, below: &str) -> PathBuf {
        crate::support::real(self.directory.path()).join(below)
    }

    fn text(&self, below: &str) -> String {
        self.path(below).to_str().unwrap().to_owned()
    }

    fn permission(&self, below: &str) -> String {
        format!("@write:{}", self.text(below))
    }

    async fn agent(&self, name: &str, holds: &[&str]) -> Agent {
        self.engine.register(profile(name, "you", Kind::Subagent), InitialGrants::of(tags(holds))).await.unwrap()
    }

    fn named(&self, name: &str) -> Agent {
        self.engine.agent(id(name)).unwrap()
    }

    async fn pass_on(&self, from: &str, to: &str, below: &str) -> Result<(), Error> {
        self.named(from).grant(&id(to), tag(&self.permission(below)), why()).await.map(drop)
    }

    /// Replaces `out` with another directory.
    fn replace_out(&self) {
        fs::rename(self.path("out"), self.path("old")).unwrap();
        fs::create_dir(self.path("out")).unwrap();
    }

    /// Asserts that no kind of use lets the agent write there any more.
    async fn cannot_write(&self, name: &str, below: &str) {
        let (agent, path) = (self.named(name), self.text(below));
        assert!(agent.fs().write(&path, "x").await.is_err(), "{name} writes {below}");
        assert!(agent.resolve(Access::Write, &path).await.is_err(), "{name} resolves {below}");
        assert_ne!(agent.verdict(&Action::write(&path)).unwrap(), Verdict::Allow, "{name} {below}");
        assert!(agent.exec_scope(&[tag(&self.permission(below))]).is_err(), "{name} runs a command with {below}");
        assert!(agent.spend(&tag(&self.permission(below))).await.is_err(), "{name} spends {below}");
        let on = self.engine.agent(id(if name == "c" { "b" } else { "c" })).unwrap();
        assert!(agent.grant(on.id(), tag(&self.permission(below)), why()).await.is_err(), "{name} passes on {below}");
        let chain = agent.why(&tag(&self.permission(below))).unwrap();
        assert!(chain.iter().any(|link| matches!(link, ProvenanceStep::Replaced(_))), "{chain:?}");
        assert!(!self.path(below).exists(), "{name} wrote {below}");
    }
}

#[tokio::test]
async fn a_permission_to_what_is_not_there_yet_ends_with_the_directory_in_which_it_was_given() {
    let ground = Ground::new().await;
    ground.pass_on("a", "b", "out/precious").await.unwrap();
    ground.replace_out();
    ground.cannot_write("b", "out/precious").await;
    let told = ground.named("a").resolve(Access::Write, &ground.text("out/x")).await;
    assert!(matches!(told, Err(Error::Replaced { .. })), "{told:?}");
}

#[tokio::test]
async fn given_back_it_is_no_better() {
    let ground = Ground::new().await;
    ground.pass_on("a", "b", "out/precious").await.unwrap();
    ground.pass_on("b", "a", "out/precious").await.unwrap();
    ground.pass_on("b", "c", "out/precious/deep").await.unwrap();
    ground.replace_out();
    ground.cannot_write("a", "out/precious").await;
    ground.cannot_write("b", "out/precious").await;
    ground.cannot_write("c", "out/precious/deep").await;
}

#[tokio::test]
async fn a_directory_that_moves_into_another_one_takes_no_permission_along() {
    let ground = Ground::new().await;
    fs::create_dir(ground.path("out/sub")).unwrap();
    ground.pass_on("a", "b", "out/sub").await.unwrap();
    ground.pass_on("b", "c", "out/sub/new").await.unwrap();
    ground.replace_out();
    // The granted object is back at its old path. The object of the original grant has changed all the same.
    fs::rename(ground.path("old/sub"), ground.path("out/sub")).unwrap();
    ground.cannot_write("b", "out/sub/x").await;
    ground.cannot_write("c", "out/sub/new").await;
}

#[tokio::test]
async fn what_is_made_later_below_an_anchor_that_stands_is_written_as_before() {
    let ground = Ground::new().await;
    ground.pass_on("a", "b", "out/precious/deep").await.unwrap();
    let b = ground.named("b");
    let missing = b.fs().write(&ground.text("out/precious/deep/f"), "x").await;
    assert!(matches!(missing, Err(Error::File(_))), "{missing:?}");
    fs::create_dir(ground.path("out/precious")).unwrap();
    b.fs().create_dir_all(&ground.text("out/precious/deep/er")).await.unwrap();
    b.fs().write(&ground.text("out/precious/deep/er/f"), "x").await.unwrap();
    assert_eq!(fs::read(ground.path("out/precious/deep/er/f")).unwrap(), b"x");
    assert!(b.fs().write(&ground.text("out/precious/f"), "x").await.is_err());
    let chain = b.why(&tag(&ground.permission("out/precious/deep"))).unwrap();
    assert!(chain.iter().all(|link| matches!(link, ProvenanceStep::Grant(_))), "{chain:?}");
}

#[tokio::test]
async fn a_second_chain_that_stands_carries_the_permission_on() {
    let ground = Ground::new().await;
    let all = format!("@write:{}", ground.path("").to_str().unwrap().trim_end_matches('/'));
    fs::create_dir(ground.path("out/sub")).unwrap();
    ground.pass_on("a", "b", "out/sub").await.unwrap();
    ground.agent("top", &[&all]).await;
    ground.named("top").grant(&id("a"), tag(&all), why()).await.unwrap();
    ground.replace_out();
    fs::rename(ground.path("old/sub"), ground.path("out/sub")).unwrap();
    ground.named("b").fs().write(&ground.text("out/sub/x"), "x").await.unwrap();
}

/// Many file systems reuse inodes at once. A different birth time makes it another object.
#[tokio::test]
async fn an_inode_that_is_used_again_is_another_object() {
    let ground = Ground::new().await;
    ground.pass_on("a", "b", "out/precious").await.unwrap();
    let before = bestow::fs::real(&ground.text("out")).unwrap().identity().unwrap();
    #[expect(clippy::disallowed_methods, reason = "a second answer, where the standard library has one")]
    let tells_births = fs::metadata(ground.path("out")).unwrap().created().is_ok();
    assert_eq!(before.born.is_some(), tells_births);
    fs::remove_dir(ground.path("out")).unwrap();
    fs::create_dir(ground.path("out")).unwrap();
    let after = bestow::fs::real(&ground.text("out")).unwrap().identity().unwrap();
    // Within one tick of the kernel's clock a reused inode cannot be distinguished. See docs/paths.md.
    if before != after {
        ground.cannot_write("b", "out/precious").await;
    }
}

/// A disk with one directory, whose identity a test sets.
#[derive(Debug)]
struct OneDirectory(Mutex<FileIdentity>);

impl Paths for OneDirectory {
    fn real(&self, path: &str) -> Result<Real, PathFailure> {
        let path: SanitizedPath =
            path.parse().map_err(|why: bestow::path::InvalidPath| PathFailure::new(why.to_string()))?;
        let identity = match path.as_str() {
            "/" => Some(FileIdentity::new(1, 1)),
            "/out" => Some(*self.0.lock().unwrap()),
            _ => None,
        };
        Ok(Real { path, identity })
    }
}

#[tokio::test]
async fn the_same_inode_born_at_another_moment_ends_every_permission_that_hung_on_it() {
    let paths = Arc::new(OneDirectory(Mutex::new(FileIdentity::new(1, 2).born(10, 0))));
    let engine = Engine::on(settings(|_| {}), Arc::new(ManualClock::at(START)), paths.clone()).unwrap();
    let a =
        engine.register(profile("a", "you", Kind::Subagent), InitialGrants::of(tags(&["@write:/out"]))).await.unwrap();
    let b = engine.register(profile("b", "you", Kind::Subagent), InitialGrants::nothing()).await.unwrap();
    a.grant(b.id(), tag("@write:/out/precious"), why()).await.unwrap();
    for agent in [&a, &b] {
        assert_eq!(agent.verdict(&Action::write("/out/precious")).unwrap(), Verdict::Allow);
    }
    *paths.0.lock().unwrap() = FileIdentity::new(1, 2).born(10, 1);
    for agent in [&a, &b] {
        assert_ne!(agent.verdict(&Action::write("/out/precious")).unwrap(), Verdict::Allow, "{agent:?}");
        assert!(agent.spend(&tag("@write:/out/precious")).await.is_err(), "{agent:?}");
    }
    // The original object comes back, for example by a mount.
    *paths.0.lock().unwrap() = FileIdentity::new(1, 2).born(10, 0);
    assert_eq!(b.verdict(&Action::write("/out/precious")).unwrap(), Verdict::Allow);
}

#[test]
fn what_was_noted_before_births_were_noted_is_compared_without() -> io::Result<()> {
    let old: FileIdentity = serde_json::from_str(r#"{"dev":1,"ino":2}"#)?;
    assert!(old.is_met_by(FileIdentity::new(1, 2).born(3, 4)));
    assert!(!FileIdentity::new(1, 2).born(3, 4).is_met_by(old));
    assert!(!old.is_met_by(FileIdentity::new(1, 3)));
    let permission: bestow::grant::PinnedPermission = serde_json::from_str(r#"{"permission":"@write:/w"}"#)?;
    assert_eq!(permission, bestow::grant::PinnedPermission::from(tag("@write:/w")));
    Ok(())
}

/// A disk that does not resolve paths below `/ws/out`, or does not return their anchor.
#[derive(Debug)]
struct Silent {
    says_where: bool,
}

impl Paths for Silent {
    fn real(&self, path: &str) -> Result<Real, PathFailure> {
        let real = bestow::host::AsWritten.real(path)?;
        let is_silent = !self.says_where && real.path.as_str().starts_with("/ws/out/");
        if is_silent { Err(PathFailure::new("the disk does not answer")) } else { Ok(real) }
    }

    fn have_no_links(&self) -> bool {
        true
    }

    fn anchor(&self, path: &SanitizedPath) -> Result<Option<bestow::path::Anchor>, PathFailure> {
        let is_silent = path.as_str().starts_with("/ws/out/");
        if is_silent { Err(PathFailure::new("the disk does not answer")) } else { Ok(None) }
    }
}

/// The finding: an unresolved path was compared as written, with a permission that had no anchor.
#[tokio::test]
async fn what_a_command_names_nobody_may_have_while_the_disk_does_not_answer() {
    for says_where in [false, true] {
        let clock = Arc::new(ManualClock::at(START));
        let engine = Engine::on(settings(|_| {}), clock, Arc::new(Silent { says_where })).unwrap();
        let holding = InitialGrants::of(tags(&["@write:/ws"]));
        let ann = engine.register(profile("ann", "you", Kind::Subagent), holding).await.unwrap();
        let holding = InitialGrants::of(tags(&["@write:/ws/other"]));
        let bea = engine.register(profile("bea", "you", Kind::Subagent), holding).await.unwrap();
        for line in ["cat out/a", "ls > out/a", "cd x && cat ../out/a"] {
            for agent in [&ann, &bea] {
                let decided = agent.authorize(Action::command(line)).await.unwrap();
                let decision = decided.decision();
                // An agent that holds the permission needs no anchor.
                if says_where && agent.id() == ann.id() {
                    assert_ne!(decision.verdict(), Verdict::Deny, "{line}: {decision}");
                    continue;
                }
                assert_ne!(decision.verdict(), Verdict::Allow, "{line}: {decision}");
                assert!(decision.decision_reason.contains("the disk does not answer"), "{line}: {decision}");
            }
        }
        assert_eq!(ann.verdict(&Action::command("cat other/a")).unwrap(), Verdict::Allow);
        // A word that may not be a path requires no permission. A denial of that path still applies.
        assert_eq!(ann.verdict(&Action::command("frob out/a")).unwrap(), Verdict::Ask);
        let you = engine.approver("you", "ann", "terminal");
        let policies = bestow::tool::ToolPolicies {
            forbidden: vec!["/ws/out/**".parse().unwrap()],
            ..bestow::tool::ToolPolicies::default()
        };
        you.set_policies(&engine.run_of(ann.id()).unwrap(), None, policies).await.unwrap();
        assert_eq!(ann.verdict(&Action::command("frob out/a")).unwrap(), Verdict::Deny);
    }
}

#[tokio::test]
async fn a_command_that_starts_nobody_knows_where_names_what_nobody_may_have() {
    let engine =
        Engine::on(settings(|_| {}), Arc::new(ManualClock::at(START)), Arc::new(bestow::host::AsWritten)).unwrap();
    let holding = InitialGrants::of(tags(&["@write:/ws"]));
    let ann = engine.register(profile("ann", "you", Kind::Subagent), holding).await.unwrap();
    let told = |more: serde_json::Value| {
        let mut input = serde_json::json!({ "command": "cat a" });
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        Action::tool("shell".parse().unwrap(), input)
    };
    let one = ann.explain(&told(serde_json::json!({ "workdir": "/ws/b" }))).unwrap();
    assert_eq!(one.decision.verdict(), Verdict::Allow, "{one}");
    assert!(one.uses.iter().any(|step| &*step.used.resource == "/ws/b/a"), "it reads a file of that directory: {one}");
    for mode in [Mode::Default, Mode::Bypass] {
        engine.set_mode(ann.id(), mode).await.unwrap();
        let two = ann.explain(&told(serde_json::json!({ "workdir": "/ws/b", "cwd": "/ws/c" }))).unwrap().decision;
        assert!(two.verdict() != Verdict::Allow && two.decision_reason.contains("two different things"), "{two}");
    }
}
