//! Tests that a permanent decision of a person is written into the file, and that the rest of the file stays unchanged.

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt},
    sync::Arc,
};

use bestow::{
    Action, Answer, Approver, Engine, Permission, PermissionRequest,
    action::Authorization,
    decision::{Check, Verdict},
    event::Timestamp,
    grant::{PermissionRef, Scope},
    policy::{PermanentDecision, PersistError},
    request::Request,
};

use super::Place;
use crate::support::{id, owner, tag, why};

/// A file with comments, an order, spaces and quotes that a person chose.
const FILE: &str = r#"# who works here

[engine]
denial_memory = "0s"
reads = "granted"   # nothing is read unasked

[defaults]
owner       = 'you'
working_dir = "."

# the one people talk to
[agents.lead]
kind = "foreground"
permissions = [ "@network" ]  # for the weather

  [[agents.lead.rules]]
  verdict = 'deny'     # never
  path = "secrets/**"

# at night
[agents.worker]
kind = "cron"
permissions = [
  "@events",   # to ask
  # last words
]

# the end
"#;

fn at() -> Timestamp {
    "2026-11-22T09:30:00.000Z".parse().unwrap()
}

fn you(engine: &Engine) -> Approver {
    engine.approver(owner("you"), "ann", "terminal")
}

/// Opens an engine on the file of `place`, with a person to ask.
async fn engine(place: &Place) -> (Engine, bestow::user::ApproverSession) {
    let engine = Engine::open(place.path("policy/agents.toml")).await.unwrap();
    let there = you(&engine).attend().unwrap();
    (engine, there)
}

/// Returns the request of `agent` for a permission.
async fn asks(engine: &Engine, agent: &str, wanted: Permission) -> Arc<Request> {
    let ticket = engine.agent(id(agent)).unwrap().request(PermissionRequest::new(wanted, why())).await.unwrap();
    pending(engine, ticket.id())
}

/// Returns the request of `agent` about an action.
async fn asks_to(engine: &Engine, agent: &str, action: Action) -> Arc<Request> {
    let agent = engine.agent(id(agent)).unwrap();
    match agent.authorize(action).await.unwrap() {
        Authorization::Asked(_, ticket) => pending(engine, ticket.id()),
        other => panic!("it is not asked: {other:?}"),
    }
}

fn pending(engine: &Engine, request: bestow::request::RequestId) -> Arc<Request> {
    let mut pending = engine.pending().unwrap().into_iter();
    pending.find(|pending| pending.request.id == request).unwrap().request
}

/// Returns a copy of `request` about another action.
fn about(request: &Request, action: Arc<bestow::action::ActionFacts>) -> Request {
    let mut request = Request::clone(request);
    (request.action, request.only_lacks) = (Some(action), false);
    request
}

fn yes(request: &Request) -> Result<PermanentDecision, PersistError> {
    PermanentDecision::to(request, "ann".parse().unwrap(), "terminal", at())
}

fn content(place: &Place) -> String {
    fs::read_to_string(place.path("policy/agents.toml")).unwrap()
}

/// Returns the lines of `new` that `old` lacks. All lines of `old` must be in `new` in their order.
fn added<'n>(old: &str, new: &'n str) -> Vec<&'n str> {
    let mut old = old.lines().peekable();
    let more = new.lines().filter(|line| old.next_if_eq(line).is_none()).collect();
    assert_eq!(old.next(), None, "a line was changed, moved or removed:\n{new}");
    more
}

#[tokio::test]
async fn a_yes_to_a_command_becomes_a_rule_with_a_comment_and_every_other_line_stays() {
    let place = Place::with(FILE);
    let (engine, _there) = engine(&place).await;
    let request = asks_to(&engine, "lead", Action::command("git commit -m 'first'")).await;
    let kept = place.file().keep(&yes(&request).unwrap()).unwrap();
    let new = content(&place);
    let expected = [
        format!("# ann (terminal) approved this permanently at 2026-11-22T09:30:00.000Z, request {}", request.id),
        "[[agents.lead.rules]]".to_owned(),
        "verdict = \"allow\"".to_owned(),
        "operation = \"command.execute\"".to_owned(),
        format!("tool = \"{}\"", request.action.as_ref().unwrap().tool),
        "shape = \"git commit -m <any text>\"".to_owned(),
        String::new(),
    ];
    assert_eq!(added(FILE, &new), expected);
    assert_eq!(kept.places.len(), 1);
    assert_eq!(new.lines().nth(kept.places[0].line as usize - 1).unwrap(), "[[agents.lead.rules]]");
    assert!(!kept.was_there && !kept.waits);
    let again = place.file().keep(&yes(&request).unwrap()).unwrap();
    assert!(again.was_there);
    assert_eq!((content(&place), again.places), (new, kept.places), "what is there is not written twice");
}

#[tokio::test]
async fn a_yes_to_a_permission_becomes_one_of_the_permissions() {
    let place = Place::with(FILE);
    let (engine, _there) = engine(&place).await;
    let wanted = format!("@write:{}", place.text("home"));
    for agent in ["lead", "worker"] {
        let request = asks(&engine, agent, tag(&wanted)).await;
        place.file().keep(&yes(&request).unwrap()).unwrap();
    }
    let new = content(&place);
    assert!(new.contains("permissions = [ \"@network\" ,\n    # ann (terminal) approved this"), "{new}");
    assert!(new.contains("  \"@events\",   # to ask\n  # last words\n  # ann (terminal) approved this"), "{new}");
    assert_eq!(new.lines().filter(|line| line.trim() == format!("\"{wanted}\",")).count(), 2, "{new}");
    let policy = place.load().unwrap();
    assert!(policy.agents.values().all(|agent| agent.permissions.len() == 2), "each has its one and the new one");
}

#[tokio::test]
async fn every_way_to_write_an_agent_down_can_be_added_to() {
    let lead = "kind = \"foreground\", owner = \"you\", working_dir = \".\"";
    let table = "kind = \"foreground\"\nowner = \"you\"\nworking_dir = \".\"\n";
    let files = [
        format!("agents.lead = {{ {lead} }}\n"),
        format!("agents.lead = {{ {lead} }}"),
        format!(
            "[agents]\nlead = {{ {lead}, permissions = [\"@network\"], \
             rules = [{{ verdict = \"deny\", path = \"x\" }}] }} # me\n"
        ),
        format!("[agents.lead]\n{table}"),
        format!("[agents.lead]\n{table}permissions = []\nrules = []\n"),
        format!("[agents.lead]\n{table}permissions = [\"@network\" # why\n]\n[agents.\"a.b\"]\n{table}"),
        format!("[agents.\"a.b\"]\n{table}[agents.lead]\n{table}").trim_end().to_owned(),
        "agents.lead.kind = \"foreground\"\nagents.lead.owner = \"you\"\nagents.lead.working_dir = \".\"\n".to_owned(),
        format!("[agents.lead]\n{table}\n[[test]]\nagent = \"lead\"\nnetwork = \"h\"\nexpect = \"ask\"\n# end"),
        FILE.replace('\n', "\r\n"),
    ];
    for file in files {
        let place = Place::with(&file);
        let (engine, _there) = engine(&place).await;
        let wanted = asks(&engine, "lead", tag(&format!("@write:{}", place.text("home")))).await;
        let action = asks_to(&engine, "lead", Action::command("npm run build")).await;
        for request in [wanted, action] {
            place.file().keep(&yes(&request).unwrap()).unwrap_or_else(|why| panic!("{why}:\n{file}"));
        }
        let (new, policy) = (content(&place), place.load().unwrap());
        let mut bytes = new.bytes();
        assert!(file.bytes().all(|byte| bytes.any(|other| other == byte)), "{file}\n----\n{new}");
        assert_eq!(new.matches("approved this permanently").count(), 2, "{new}");
        let agent = &policy.agents[&id("lead")];
        assert!(agent.rules.iter().any(|rule| rule.verdict == Verdict::Allow && rule.shape.is_some()), "{new}");
        assert!(agent.permissions.iter().any(|listed| listed.pinned.permission.path().is_some()), "{new}");
        assert_eq!(new.contains('\r'), file.contains('\r'));
        assert!(!file.contains('\r') || new.lines().count() == new.matches("\r\n").count(), "one kind of line end");
    }
}

/// The attack: a rule written for one file or one command covers others.
#[tokio::test]
async fn what_is_written_covers_what_was_said_and_nothing_more() {
    let place = Place::with(FILE);
    let odd = ["a*", "a?", "[ab]", "{a,b}", "a\\b", "a", "ab", "!a", "a]b"];
    for name in odd {
        place.write(&format!("home/{name}"), "");
    }
    let (engine, _there) = engine(&place).await;
    let agent = engine.agent(id("lead")).unwrap();
    you(&engine).give(agent.id(), tag(&format!("@write:{}", place.text("home"))), Scope::Always, why()).await.unwrap();
    for name in odd {
        let path = place.text(&format!("home/{name}"));
        // The engine does not ask about a writable file, so the test replaces the action of another request.
        let facts = agent.explain(&Action::write(&path)).unwrap().decision.action;
        let asked = asks_to(&engine, "lead", Action::command("npm run once")).await;
        let request = about(&asked, facts);
        place.file().keep(&yes(&request).unwrap()).unwrap();
        you(&engine).answer(asked.id, Answer::deny()).await.unwrap();
        let policy = place.load().unwrap();
        let mut globs = policy.agents[&id("lead")].rules.iter().filter(|rule| rule.verdict == Verdict::Allow);
        let last = globs.next_back().unwrap().path.clone().unwrap();
        let set = globset::GlobBuilder::new(last.as_str()).literal_separator(true).backslash_escape(true).build();
        let matcher = set.unwrap().compile_matcher();
        let met: Vec<_> = odd.iter().filter(|name| matcher.is_match(place.path(&format!("home/{name}")))).collect();
        assert_eq!(met, [&name], "{last}");
    }
    for (said, other) in [
        ("npm run build", "cd /tmp && npm run build"),
        ("npm run build", "npm run build; ls"),
        ("npm run build", "npm run build > f"),
        ("npm run build", "npm run build --prefix /tmp"),
        ("npm run build", "npm run deploy"),
        ("npm run 'a*'", "npm run ab"),
        ("npm run '<any' 'text>'", "npm run '<any text>'"),
        ("npm run '\"a' 'b\"'", "npm run 'a b'"),
        ("npm run 'a;' b", "npm run a; b"),
        ("touch build/x", "touch /etc/x"),
        ("touch build/x", "touch ../x"),
    ] {
        let place = Place::with(FILE);
        let (engine, _there) = self::engine(&place).await;
        let request = asks_to(&engine, "lead", Action::command(said)).await;
        place.file().keep(&yes(&request).unwrap()).unwrap();
        let file = bestow::policy::DryRun::of(place.load().unwrap()).unwrap();
        let verdict = |text| file.explain(&id("lead"), &Action::command(text)).unwrap().decision.verdict();
        assert_eq!((verdict(said), verdict(other)), (bestow::Effect::Allow, bestow::Effect::Ask), "{said} / {other}");
        let by_other = file.explain(&id("lead"), &Action::command(said).by_tool("other".parse().unwrap())).unwrap();
        assert_eq!(by_other.decision.verdict(), Verdict::Ask, "another tool was not allowed");
        let of_other = file.explain(&id("worker"), &Action::command(said)).unwrap();
        assert_eq!(of_other.decision.verdict(), Verdict::Ask, "another agent was not allowed");
    }
}

#[tokio::test]
async fn what_a_file_cannot_say_exactly_is_not_written_and_the_message_says_so() {
    let place = Place::with(&format!("{FILE}[[agents.lead.rules]]\nverdict = \"ask\"\ncommand = \"npm run deploy\"\n"));
    let before = content(&place);
    let (engine, _there) = engine(&place).await;
    let said = |request: &Request| yes(request).and_then(|said| place.file().keep(&said)).unwrap_err().to_string();
    let refused = [
        ("npm test; npm run build", "is not one command with literal words"),
        ("npm run $X", "is not one command with literal words"),
        ("npm run deploy", "would have no effect: a rule requires a person to decide"),
        ("curl -H 'Authorization: Bearer abcdefghijklmnopqrstuvwxyz0123456789' -X POST h", "may contain a secret"),
    ];
    for (command, expected) in refused {
        let request = asks_to(&engine, "lead", Action::command(command)).await;
        let why = said(&request);
        assert!(why.contains(expected), "{command}: {why}");
    }
    let request = asks_to(&engine, "worker", Action::network("example.org")).await;
    let facts = engine.agent(id("lead")).unwrap().explain(&Action::network("example.org")).unwrap().decision.action;
    let why = said(&about(&request, facts));
    assert!(why.contains("a rule cannot match exactly `network` of `example.org`"), "{why}");

    let ticket = engine.agent(id("worker")).unwrap();
    let ticket = ticket
        .request(PermissionRequest::new(tag("@network"), crate::support::why()).at_most(Scope::Session))
        .await
        .unwrap();
    let why = said(&pending(&engine, ticket.id()));
    assert!(why.contains("requests the scope `session`"), "{why}");

    let made =
        engine.register(crate::support::profile("made", "you", bestow::Kind::Cron), bestow::InitialGrants::nothing());
    made.await.unwrap();
    let why = said(&*asks(&engine, "made", tag("@network")).await);
    assert!(why.contains("has no agent `made`") && why.contains("--scope always"), "{why}");
    let request = asks(&engine, "lead", tag("@events")).await;
    let mut hooked = Request::clone(&request);
    hooked.hooks = vec!["lint".into()];
    let why = said(&hooked);
    assert!(why.contains("a rule cannot answer a hook"), "{why}");
    let mut of_eve = Request::clone(&request);
    of_eve.owner = owner("eve");
    let why = said(&of_eve);
    assert!(why.contains("belongs to owner you"), "{why}");
    assert_eq!(content(&place), before);
}

#[tokio::test]
async fn a_path_that_leads_elsewhere_by_now_is_not_written() {
    let place = Place::with(FILE);
    fs::create_dir(place.path("home/data")).unwrap();
    let (engine, _there) = engine(&place).await;
    let request = asks(&engine, "lead", tag(&format!("@write:{}", place.text("home/data")))).await;
    fs::rename(place.path("home/data"), place.path("home/old")).unwrap();
    for other in ["link", "directory"] {
        match other {
            "link" => place.link("home/data", "/etc"),
            _ => {
                fs::remove_file(place.path("home/data")).unwrap();
                fs::create_dir(place.path("home/data")).unwrap();
            }
        }
        let why = place.file().keep(&yes(&request).unwrap()).unwrap_err().to_string();
        assert!(why.contains("leads to another place"), "{other}: {why}");
    }
    assert_eq!(content(&place), FILE);
}

#[tokio::test]
async fn the_file_is_replaced_where_it_really_is_with_its_mode() {
    let place = Place::with(FILE);
    place.mode("policy/agents.toml", 0o640);
    place.link("home/agents.toml", "../policy/agents.toml");
    let (engine, _there) = engine(&place).await;
    let request = asks(&engine, "lead", tag("@events")).await;
    let before = fs::metadata(place.path("policy/agents.toml")).unwrap();
    place.file_at("home/agents.toml").keep(&yes(&request).unwrap()).unwrap();
    let after = fs::metadata(place.path("policy/agents.toml")).unwrap();
    assert_ne!(before.ino(), after.ino(), "it is replaced as a whole");
    assert_eq!((after.mode() & 0o7777, after.uid(), after.gid()), (0o640, before.uid(), before.gid()));
    assert!(fs::symlink_metadata(place.path("home/agents.toml")).unwrap().is_symlink());
    assert_eq!(fs::read_dir(place.path("policy")).unwrap().count(), 1, "nothing is left beside it");
}

#[tokio::test]
async fn a_file_that_is_read_only_stays_as_it_is_and_the_message_says_what_to_do() {
    let place = Place::with(FILE);
    let (engine, _there) = engine(&place).await;
    let request = asks(&engine, "lead", tag("@events")).await;
    place.mode("policy/agents.toml", 0o444);
    for tried in [PolicyFileCall::Keep, PolicyFileCall::CouldKeep] {
        let why = tried.on(&place, &yes(&request).unwrap()).unwrap_err().to_string();
        assert!(why.contains("it is read-only (mode 444): `chmod u+w` it"), "{why}");
    }
    let mode = fs::metadata(place.path("policy/agents.toml")).unwrap().permissions().mode();
    assert_eq!((content(&place).as_str(), mode & 0o777), (FILE, 0o444));
}

#[derive(Clone, Copy)]
enum PolicyFileCall {
    Keep,
    CouldKeep,
}

impl PolicyFileCall {
    fn on(self, place: &Place, said: &PermanentDecision) -> Result<bestow::policy::Written, PersistError> {
        match self {
            PolicyFileCall::Keep => place.file().keep(said),
            PolicyFileCall::CouldKeep => place.file().could_keep(said),
        }
    }
}

#[tokio::test]
async fn a_file_that_is_wrong_is_not_made_worse() {
    let place = Place::with(FILE);
    let (engine, _there) = engine(&place).await;
    let request = asks(&engine, "lead", tag("@events")).await;
    let wrong = format!("{FILE}surprise = 1\n");
    place.write("policy/agents.toml", &wrong);
    let why = place.file().keep(&yes(&request).unwrap()).unwrap_err();
    assert!(matches!(&why, PersistError::File(_)) && why.to_string().contains("surprise"), "{why}");
    let forbidding =
        format!("{FILE}[[test]]\nagent = \"lead\"\nneeds = \"@events\"\ncommand = \"pwd\"\nexpect = \"ask\"\n");
    place.write("policy/agents.toml", &forbidding);
    let why = place.file().keep(&yes(&request).unwrap()).unwrap_err().to_string();
    assert!(why.contains("this test fails"), "what a person expects of the file holds against a yes, too: {why}");
    assert_eq!(content(&place), forbidding);
}

/// Such a permission is an error in the file. If it were given, a confined command could attack: it opens the temporary
/// file beside agents.toml, keeps it open, and writes to it after the rename.
#[tokio::test]
async fn nobody_is_given_a_directory_that_holds_agents_toml() {
    let place = Place::with(FILE);
    let (engine, _there) = engine(&place).await;
    for root in [place.text("policy"), place.text("policy/agents.toml"), place.text(""), "/".to_owned()] {
        let wanted = tag(&format!("@write:{root}"));
        let refused = you(&engine).give(&id("lead"), wanted, Scope::Always, why()).await.unwrap_err().to_string();
        assert!(refused.contains("agents.toml"), "{refused}");
    }
    you(&engine).give(&id("lead"), tag(&format!("@read:{}", place.text(""))), Scope::Always, why()).await.unwrap();
    you(&engine).give(&id("lead"), tag(&format!("@write:{}", place.text("home"))), Scope::Always, why()).await.unwrap();
}

/// A naive read and write loses a save that happens in between.
#[tokio::test]
async fn nobodys_save_is_lost_whoever_writes_at_the_same_time() {
    let place = Arc::new(Place::with(FILE));
    let (engine, _there) = engine(&place).await;
    let mut said = Vec::new();
    for number in 0..40 {
        let command = Action::command(&format!("npm run job{number}"));
        let request = asks_to(&engine, "lead", command).await;
        said.push(yes(&request).unwrap());
        you(&engine).answer(request.id, Answer::deny()).await.unwrap();
    }
    let barrier = Arc::new(std::sync::Barrier::new(5));
    std::thread::scope(|scope| {
        for chunk in said.chunks(10) {
            let (place, barrier) = (Arc::clone(&place), Arc::clone(&barrier));
            scope.spawn(move || {
                barrier.wait();
                for said in chunk {
                    // A writer that meets constant saves gets an error and tries again.
                    while place.file().keep(said).is_err() {}
                }
            });
        }
        // This thread acts as an editor: it saves by renaming a copy of an earlier read.
        let (place, barrier) = (Arc::clone(&place), Arc::clone(&barrier));
        scope.spawn(move || {
            barrier.wait();
            for number in 0..20 {
                let line = format!("# note {number}\n");
                place.write("policy/.editor", format!("{line}{}", content(&place)));
                fs::rename(place.path("policy/.editor"), place.path("policy/agents.toml")).unwrap();
            }
        });
    });
    let (text, policy) = (content(&place), place.load().unwrap());
    let rules = policy.agents[&id("lead")].rules.iter().filter(|rule| rule.shape.is_some()).count();
    // The editor is naive. It overwrites changes made between its read and its save. The engine overwrites none of the
    // editor's saves.
    assert!(text.contains("# note 19"), "the editor's last save is there");
    assert!(rules > 0 && policy.agents.len() == 2);
    for said in &said {
        place.file().keep(said).unwrap();
    }
    let rules = place.load().unwrap().agents[&id("lead")].rules.iter().filter(|rule| rule.shape.is_some()).count();
    assert_eq!(rules, 40, "each is there once");
    let left: Vec<_> = fs::read_dir(place.path("policy")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["agents.toml"]);
}

#[tokio::test]
async fn an_engine_that_follows_the_file_takes_it_over_and_the_file_alone_gives_it() {
    let place = Place::with(FILE);
    let (engine, _there) = engine(&place).await;
    let mut events = engine.subscribe();
    let lead = engine.agent(id("lead")).unwrap();
    let wanted = tag(&format!("@write:{}", place.text("home")));
    let request = asks(&engine, "lead", wanted.clone()).await;
    place.file().keep(&yes(&request).unwrap()).unwrap();
    let guard = std::time::Duration::from_secs(30);
    while engine.resolution(request.id).unwrap().is_none() {
        tokio::time::timeout(guard, events.next()).await.unwrap().unwrap();
    }
    assert_eq!(engine.resolution(request.id).unwrap().unwrap().outcome, bestow::Outcome::Granted);
    assert_eq!(lead.check(PermissionRef::from(&wanted)), Check::Held);
    let from_file = engine.grants().unwrap().into_iter().filter(|grant| grant.pinned.permission == wanted);
    assert_eq!(from_file.count(), 1, "once, from the file");
    place.write("policy/agents.toml", FILE);
    while lead.check(PermissionRef::from(&wanted)) == Check::Held {
        tokio::time::timeout(guard, events.next()).await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn what_an_engine_keeps_for_good_can_be_written_down_later() {
    let place = Place::with(FILE);
    let (engine, _there) = engine(&place).await;
    let command = asks_to(&engine, "lead", Action::command("npm run build")).await;
    you(&engine).answer(command.id, Answer::allow().scope(Scope::Always)).await.unwrap();
    let request = asks(&engine, "lead", tag("@events")).await;
    you(&engine).answer(request.id, Answer::allow().scope(Scope::Always)).await.unwrap();
    let ruling = engine.rulings().unwrap().remove(0);
    let kept = place.file().keep(&PermanentDecision::of_ruling(&ruling).unwrap()).unwrap();
    assert_eq!(kept.places.len(), 1);
    let grant = engine
        .grants()
        .unwrap()
        .into_iter()
        .find(|grant| grant.pinned.permission == tag("@events") && grant.to == id("lead"));
    let grant = grant.unwrap();
    place.file().keep(&PermanentDecision::of_grant(&grant, &owner("you")).unwrap()).unwrap();
    let config = engine.grants().unwrap().into_iter().find(|grant| grant.pinned.permission == tag("@network")).unwrap();
    let why = PermanentDecision::of_grant(&config, &owner("you")).unwrap_err().to_string();
    assert!(why.contains("was not given by a person"), "{why}");
    let text = content(&place);
    assert_eq!(text.matches("ann (terminal) approved this permanently").count(), 2, "{text}");
    let policy = place.load().unwrap();
    assert_eq!(policy.agents[&id("lead")].permissions.len(), 2);
}
