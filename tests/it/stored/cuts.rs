//! Tests of the limits of a cut. Each test is an attack: a user damages one record and lets the repair do the rest.

use std::{collections::BTreeMap, fs, os::unix::fs::PermissionsExt as _, path::PathBuf, sync::Arc};

use bestow::{
    Action, Answer, Approver, Engine, InitialGrants, Kind, Settings,
    action::{Authorization, Operation},
    agent::Mode,
    decision::Verdict,
    grant::Scope,
    host::{DiskPaths, SystemClock},
    journal::{
        Journal, RealDisk, SEGMENT,
        audit::{self, Cut},
    },
    request::Ticket,
    tool::{Tool, Tools},
};

use crate::support::{id, profile};

const FILE: &str = "[defaults]\nowner = \"you\"\nworking_dir = \".\"\n\n[agents.lead]\nkind = \"foreground\"\n";

/// A policy file and a state directory.
struct Place(tempfile::TempDir);

impl Place {
    fn new(policy: &str) -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        place.save(policy);
        place
    }

    fn state(&self) -> PathBuf {
        self.0.path().join("state")
    }

    fn save(&self, policy: &str) {
        let file = self.0.path().join("agents.toml");
        fs::write(&file, policy).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    }

    async fn engine(&self) -> Engine {
        Engine::open_durable(self.0.path().join("agents.toml"), self.state()).await.unwrap()
    }

    /// Opens an engine without a file, whose segments end at so many bytes.
    async fn engine_of(&self, segment: u64) -> Engine {
        let journal = Arc::new(Journal::open_on(Arc::new(RealDisk), self.state(), segment).unwrap());
        let (clock, paths) = (Arc::new(SystemClock::new()), Arc::new(DiskPaths));
        Engine::restore(Some(Settings::default()), clock, paths, journal).await.unwrap()
    }

    fn records(&self) -> u64 {
        audit::records(self.state()).unwrap().count() as u64
    }

    /// Makes a record unreadable, and cuts there.
    fn cut_at(&self, record: u64) -> Cut {
        damage(self, record);
        audit::cut(self.state(), record).unwrap()
    }

    /// Returns the content of the files whose names begin with `start`, by name.
    fn files(&self, start: &str) -> BTreeMap<String, String> {
        let entries = fs::read_dir(self.state()).unwrap().map(|entry| entry.unwrap());
        let named = entries.map(|entry| (entry.file_name().into_string().unwrap(), entry.path()));
        named
            .filter(|(name, _)| name.starts_with(start))
            .map(|(name, path)| (name, fs::read_to_string(path).unwrap()))
            .collect()
    }
}

fn damage(place: &Place, record: u64) {
    let mut left = usize::try_from(record).unwrap() - 1;
    for (name, text) in place.files("journal-") {
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        if let Some(line) = lines.get_mut(left) {
            line.replace_range(0..1, "x");
            return fs::write(place.state().join(name), lines.join("\n") + "\n").unwrap();
        }
        left -= lines.len();
    }
    panic!("there is no record {record}");
}

fn eve(engine: &Engine) -> Approver {
    engine.approver("you", "eve", "test")
}

async fn decided(engine: &Engine, command: &str) -> Authorization {
    engine.agent(id("lead")).unwrap().authorize(Action::command(command)).await.unwrap()
}

async fn asked(engine: &Engine, command: &str) -> Ticket {
    match decided(engine, command).await {
        Authorization::Asked(_, ticket) => ticket,
        other => panic!("it is not asked: {other:?}"),
    }
}

async fn is_denied(engine: &Engine, command: &str) -> bool {
    matches!(decided(engine, command).await, Authorization::Denied(_))
}

async fn say_no_for_good(engine: &Engine, command: &str) {
    let ticket = asked(engine, command).await;
    eve(engine).answer(ticket.id(), Answer::deny().scope(Scope::Always)).await.unwrap();
}

/// The record of the agent is cut off as well. The file defines the agent again, and the denial must exist before it.
#[tokio::test(flavor = "multi_thread")]
async fn a_no_for_good_waits_for_an_agent_that_only_the_file_brings_back() {
    let place = Place::new(FILE);
    let engine = place.engine().await;
    say_no_for_good(&engine, "npm run build").await;
    engine.shutdown().await;
    drop(engine);
    let cut = place.cut_at(2);
    assert_eq!(cut.again.iter().map(bestow::Event::kind).collect::<Vec<_>>(), ["ruling.made"], "{cut:?}");
    assert!(audit::verify(place.state(), None).is_ok());
    let engine = place.engine().await;
    assert!(is_denied(&engine, "npm run build").await);
    // The denial behaves as any other: it survives a restart, a person sees and revokes it, and it ends with its agent.
    engine.shutdown().await;
    drop(engine);
    let engine = place.engine().await;
    let rulings = engine.rulings().unwrap();
    assert!(is_denied(&engine, "npm run build").await && rulings.len() == 1, "{rulings:?}");
    eve(&engine).revoke_ruling(rulings[0].id, None).await.unwrap();
    drop(asked(&engine, "npm run build").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_no_that_waits_binds_no_agent_of_another_owner_and_outlives_the_end_of_others() {
    let place = Place::new(&format!("{FILE}\n[agents.other]\nkind = \"cron\"\n"));
    let engine = place.engine().await;
    say_no_for_good(&engine, "npm run build").await;
    engine.shutdown().await;
    drop(engine);
    place.cut_at(2);
    place.save(&FILE.replace("\"you\"", "\"bob\""));
    let engine = place.engine().await;
    drop(asked(&engine, "npm run build").await);
    engine.shutdown().await;
    drop(engine);
    // This removes the other owner's agent, which removes no denial of this owner.
    place.save(FILE);
    let engine = place.engine().await;
    assert!(is_denied(&engine, "npm run build").await);
}

/// One user narrowed the file, another widened it again, and no person agreed.
#[tokio::test(flavor = "multi_thread")]
async fn a_widening_that_waited_for_a_person_waits_after_a_cut() {
    let confirm = format!("[engine]\nconfirm_widening = true\n\n{FILE}");
    let wide = format!("{confirm}mode = \"bypass\"\n");
    let mode = format!("{confirm}mode = \"plan\"\n");
    let deny = format!("{wide}\n[[agents.lead.rules]]\nverdict = \"deny\"\ncommand = \"git push\"\n");
    let setting = wide.replace("confirm_widening = true\n", "confirm_widening = true\nmax_grants = 7\n");
    for (what, narrow) in [("mode", mode), ("deny", deny), ("setting", setting)] {
        let place = Place::new(&wide);
        let reopened = async |policy: &str| {
            place.save(policy);
            let engine = place.engine().await;
            let (mode, denied) =
                (engine.agent(id("lead")).unwrap().profile().unwrap().mode, is_denied(&engine, "git push").await);
            let found = (mode == Mode::Plan || denied, engine.held_change().unwrap().is_some());
            engine.shutdown().await;
            found
        };
        assert_eq!(reopened(&wide).await, (false, false), "{what}");
        let records = place.records();
        reopened(&wide).await;
        let narrowed = reopened(&narrow).await;
        assert_eq!(narrowed, (what != "setting", false), "{what}");
        assert_eq!(reopened(&wide).await, (narrowed.0, true), "{what}");
        place.cut_at(records + 1);
        assert_eq!(reopened(&wide).await, (narrowed.0, true), "{what}: nobody agreed");
    }
}

/// The unreadable record is the one that sets `confirm_widening`.
#[tokio::test(flavor = "multi_thread")]
async fn a_widening_that_waited_waits_although_the_record_of_that_setting_is_gone() {
    let narrow = format!("[engine]\nconfirm_widening = true\n\n{FILE}");
    let wide = format!("{narrow}mode = \"bypass\"\n");
    let place = Place::new(&narrow);
    let reopened = async |policy: &str| {
        place.save(policy);
        let engine = place.engine().await;
        let lead = engine.agent(id("lead"));
        let (there, waits) = (lead.is_ok(), engine.held_change().unwrap());
        if let (true, Some(waits)) = (there, &waits) {
            drop(asked(&engine, "npm run build").await);
            assert!(waits.besides.iter().any(|(_, what)| what.contains("to bypass")), "{waits:?}");
        }
        engine.shutdown().await;
        (there, waits.is_some())
    };
    assert_eq!(reopened(&narrow).await, (true, false));
    let changed = audit::records(place.state()).unwrap().map(|record| record.unwrap().recorded);
    let changed = changed.filter(|record| record.event.kind() == "config.settings").last().unwrap().sequence;
    assert_eq!(reopened(&wide).await, (true, true));
    place.cut_at(changed);
    assert_eq!(reopened(&wide).await, (false, true), "nobody agreed, and nobody knows to what of it somebody did");
}

/// A user whose cut was interrupted is told to repeat it.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_set_aside_is_never_overwritten() {
    for segment in [SEGMENT, 1] {
        let place = Place::new(FILE);
        let engine = place.engine_of(SEGMENT).await;
        engine.register(profile("lead", "you", Kind::Foreground), InitialGrants::of([])).await.unwrap();
        let records = place.records();
        engine.shutdown().await;
        drop(engine);
        let engine = place.engine_of(segment).await;
        say_no_for_good(&engine, "npm run build").await;
        engine.shutdown().await;
        drop(engine);
        place.cut_at(records + 1);
        let mut aside = place.files("cut-");
        assert!(aside.values().any(|content| content.contains("npm run build")), "{segment}");
        for _ in 0..3 {
            // The cut is repeated with an engine in between, and without one.
            audit::cut(place.state(), records + 1).unwrap();
            let engine = place.engine_of(segment).await;
            say_no_for_good(&engine, "npm run test").await;
            eve(&engine).revoke_ruling(engine.rulings().unwrap().last().unwrap().id, None).await.unwrap();
            engine.shutdown().await;
            drop(engine);
            audit::cut(place.state(), records + 1).unwrap();
            let now = place.files("cut-");
            assert!(aside.iter().all(|(name, content)| now.get(name) == Some(content)), "{segment}: {now:?}");
            assert!(aside.len() < now.len(), "{segment}");
            aside = now;
        }
        let engine = place.engine_of(segment).await;
        assert!(is_denied(&engine, "npm run build").await, "{segment}");
    }
}

/// After an interrupted cut, the number of a repeated denial equals the number of an approval that a person revoked.
#[tokio::test(flavor = "multi_thread")]
async fn a_cut_that_is_done_again_after_a_kill_takes_no_no_for_another() {
    let place = Place::new(FILE);
    let engine = place.engine_of(SEGMENT).await;
    engine.register(profile("lead", "you", Kind::Foreground), InitialGrants::of([])).await.unwrap();
    let records = place.records();
    let yes = asked(&engine, "npm run build").await;
    eve(&engine).answer(yes.id(), Answer::allow().scope(Scope::Always)).await.unwrap();
    say_no_for_good(&engine, "npm run deploy").await;
    engine.shutdown().await;
    drop(engine);
    let engine = place.engine_of(1).await;
    let yes = engine.rulings().unwrap().into_iter().find(|ruling| ruling.verdict == Verdict::Allow).unwrap();
    eve(&engine).revoke_ruling(yes.id, None).await.unwrap();
    engine.shutdown().await;
    drop(engine);
    let later = place.files("journal-").split_off(&format!("journal-{:020}.jsonl", 2));
    assert!(later.values().any(|content| content.contains("ruling.ended")));
    place.cut_at(records + 1);
    // A kill leaves this state: the first segment is written, and the others are not set aside yet.
    for name in later.keys() {
        fs::rename(place.state().join(format!("cut-{name}")), place.state().join(name)).unwrap();
    }
    assert!(Journal::open(place.state()).is_err(), "no engine goes on from it");
    audit::cut(place.state(), records + 1).unwrap();
    let engine = place.engine_of(SEGMENT).await;
    assert!(is_denied(&engine, "npm run deploy").await);
}

/// Declarations of people reveal more of a call. The record of one is cut off, so revoked declarations are unknown.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_declared_of_tools_stays_declared() {
    let needs = |name: &str, need: &str| {
        Tool::new(name.parse().unwrap(), Operation::Tool).needing(format!("@tool:{need}").parse().unwrap())
    };
    let declare = async |engine: &Engine, tools: &[Tool]| {
        eve(engine).declare(Tools::new(tools.iter().cloned()).unwrap()).await.unwrap();
    };
    let place = Place::new(FILE);
    let engine = place.engine().await;
    declare(&engine, &[needs("early", "a"), needs("both", "a")]).await;
    engine.shutdown().await;
    drop(engine);
    let records = place.records();
    let engine = place.engine().await;
    declare(&engine, &[needs("late", "b"), needs("both", "b")]).await;
    engine.shutdown().await;
    drop(engine);
    let cut = place.cut_at(records + 1);
    assert_eq!(cut.again.iter().map(bestow::Event::kind).collect::<Vec<_>>(), ["declarations.changed"], "{cut:?}");
    let engine = place.engine().await;
    let known = eve(&engine).declarations().unwrap().into_values().next().unwrap();
    let told: Vec<_> = known.iter().map(ToString::to_string).collect();
    let expected = ["`both`: tool, needs `@tool:b`", "`early`: tool, needs `@tool:a`", "`late`: tool, needs `@tool:b`"];
    assert_eq!(told, expected);
}
