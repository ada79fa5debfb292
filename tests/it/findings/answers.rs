//! Tests that an approval of an action covers that action only, also if only a permission is missing.

use bestow::{
    Action, Agent, Answer, Approver, Event, PermissionRequest,
    action::{Authorization, Operation},
    agent::Mode,
    decision::{Check, Decision, Ruled, SavedDecision, Verdict},
    grant::{Permissions, Place, Scope},
    policy::Rule,
    request::Request,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{World, heard, id, policy, profile, refusal, settings, tag, why};

/// An agent of a policy file in `/ws`, with a person who answers.
struct Asking {
    world: World,
    ann: Agent,
    you: Approver,
    _there: bestow::user::ApproverSession,
}

impl Asking {
    async fn new(holds: &[&str]) -> Asking {
        let world = World::with(|settings| settings.reads = bestow::grant::Reads::Anywhere);
        bind(&world, holds, &[]).await;
        let there = world.you().attend().unwrap();
        Asking { ann: world.engine.agent(id("ann")).unwrap(), you: world.you(), world, _there: there }
    }

    async fn decision(&self, action: Action) -> Decision {
        Decision::clone(self.ann.authorize(action).await.unwrap().decision())
    }

    async fn ruled(&self, action: Action) -> Ruled {
        self.decision(action).await.decision
    }

    /// Returns the request about `action`.
    async fn question(&self, action: Action) -> Request {
        let authorized = self.ann.authorize(action).await.unwrap();
        let Authorization::Asked(_, ticket) = authorized else { panic!("not asked: {authorized:?}") };
        let pending = self.you.pending().unwrap();
        let waiting = pending.iter().find(|waiting| waiting.request.id == ticket.id()).unwrap();
        Request::clone(&waiting.request)
    }

    async fn answered(&self, action: Action, answer: Answer) {
        let question = self.question(action).await;
        self.you.answer(question.id, answer).await.unwrap();
    }

    fn explained(&self, action: &Action) -> (Ruled, Vec<String>, String) {
        let decision = self.ann.explain(action).unwrap().decision;
        let missing = decision.missing.iter().map(ToString::to_string).collect();
        (decision.decision, missing, decision.decision_reason.to_string())
    }

    fn remembered(&self) -> Vec<SavedDecision> {
        self.world.engine.rulings().unwrap().iter().map(|ruling| SavedDecision::clone(ruling)).collect()
    }
}

async fn bind(world: &World, holds: &[&str], rules: &[Rule]) {
    let mut file =
        policy(settings(|settings| settings.reads = bestow::grant::Reads::Anywhere), &[("ann", "you", holds)]);
    let of_file = file.agents.get_mut(&id("ann")).unwrap();
    of_file.rules = rules.into();
    of_file.profile = profile("ann", "you", bestow::Kind::Permanent).in_mode(Mode::Default);
    world.engine.configure(file).await.unwrap();
}

fn write(path: &str, content: &str) -> Action {
    Action::tool("Write".parse().unwrap(), json!({"file_path": path, "content": content}))
}

fn once() -> Answer {
    Answer::allow().scope(Scope::Once)
}

#[tokio::test]
async fn a_question_about_a_missing_permission_shows_the_action_and_the_permission() {
    let asking = Asking::new(&["@write:/ws"]).await;
    let question = asking.question(Action::command("curl https://ok.com")).await;
    let text = question.to_string();
    assert!(text.contains("curl https://ok.com") && text.contains("network access"), "{text}");
    assert_eq!(question.permissions().collect::<Vec<_>>(), [&tag("@network")]);
    assert!(question.only_lacks && !question.asks_about_action());

    let question = asking.question(write("/elsewhere/x", "harmless")).await;
    let text = question.to_string();
    assert!(text.contains("/elsewhere/x") && text.contains("harmless"), "{text}");
    let action = question.action.unwrap();
    assert_eq!((action.operation, &*action.resource), (Operation::Write, "/elsewhere/x"));
}

#[tokio::test]
async fn a_yes_for_once_to_a_command_reaches_no_other_host() {
    let asking = Asking::new(&["@write:/ws"]).await;
    let (ok, evil) = (|| Action::command("curl https://ok.com"), || Action::command("curl https://evil.com"));
    asking.answered(ok(), once()).await;
    assert_eq!(asking.explained(&evil()).0, Ruled::Ask);
    assert_eq!(asking.explained(&Action::network("evil.com")).0, Ruled::Ask);
    assert_eq!(asking.ann.check(&tag("@network")), Check::NotHeld);
    refusal(asking.ann.spend(&tag("@network")).await);
    let child = asking.world.worker("bob", &[]).await;
    refusal(asking.ann.grant(child.id(), tag("@network"), why()).await);

    let decision = asking.decision(ok()).await;
    assert_eq!((decision.decision, decision.scope), (Ruled::Allow, Some(Scope::Once)));
    assert!(decision.approval_action_id.is_some() && decision.used.is_some());
    assert!(asking.remembered().is_empty());
    assert_eq!(asking.ruled(ok()).await, Ruled::Ask);
}

#[tokio::test]
async fn a_yes_for_once_to_a_write_writes_no_other_content() {
    let asking = Asking::new(&["@write:/ws"]).await;
    asking.answered(write("/elsewhere/x", "harmless"), once()).await;
    for other in [
        write("/elsewhere/x", "evil"),
        write("/elsewhere/y", "harmless"),
        Action::write("/elsewhere/x"),
        Action::command("touch /elsewhere/x"),
        write("/elsewhere/x", "harmless").needing(tag("@write:/elsewhere")),
    ] {
        assert_eq!(asking.explained(&other).0, Ruled::Ask, "{other:?}");
    }
    refusal(asking.ann.spend(&tag("@write:/elsewhere/x")).await);
    refusal(asking.ann.resolve(bestow::grant::Access::Write, "/elsewhere/x").await);
    assert_eq!(asking.ruled(write("/elsewhere/x", "harmless")).await, Ruled::Allow);
    assert_eq!(asking.ruled(write("/elsewhere/x", "harmless")).await, Ruled::Ask);
}

#[tokio::test]
async fn a_yes_for_once_to_a_command_and_its_permission_is_used_up_as_one() {
    let asking = Asking::new(&["@write:/ws"]).await;
    let line = || Action::command("node build.js > /elsewhere/x");
    let question = asking.question(line()).await;
    assert!(question.asks_about_action() && question.permissions().eq([&tag("@write:/elsewhere/x")]));
    asking.you.answer(question.id, once()).await.unwrap();
    assert_eq!(asking.ruled(write("/elsewhere/x", "evil")).await, Ruled::Ask);
    assert_eq!(asking.remembered().len(), 1);
    assert_eq!(asking.ruled(line()).await, Ruled::Allow);
    assert!(asking.remembered().is_empty());
    assert_eq!(asking.ruled(line()).await, Ruled::Ask);
}

#[tokio::test]
async fn another_input_gets_what_it_needs_and_nothing_that_only_the_first_lacked() {
    let asking = Asking::new(&["@write:/ws"]).await;
    let (asked, instead) = (|| Action::command("touch /elsewhere/x"), || Action::command("touch /ws/x"));
    let question = asking.question(asked()).await;
    asking.you.answer(question.id, once().instead(instead())).await.unwrap();
    let resolution = asking.world.engine.resolution(question.id).unwrap().unwrap();
    assert!(resolution.granted.is_empty() && resolution.refused.is_empty(), "{resolution}");
    assert_eq!(asking.ruled(instead()).await, Ruled::Allow);
    for other in [asked(), Action::write("/elsewhere/x"), write("/elsewhere/x", "")] {
        assert_eq!(asking.explained(&other).0, Ruled::Ask, "{other:?}");
    }

    let (asked, instead) = (|| Action::command("touch /a/x /b/x"), || Action::command("touch /b/x"));
    for scope in [Scope::Once, Scope::Session] {
        let question = asking.question(asked()).await;
        asking.you.answer(question.id, Answer::allow().scope(scope).instead(instead())).await.unwrap();
        let resolution = asking.world.engine.resolution(question.id).unwrap().unwrap();
        assert_eq!(resolution.granted, [tag("@write:/b/x")], "{resolution}");
        assert_eq!(asking.explained(&Action::write("/a/x")).0, Ruled::Ask);
        let of_b = if scope == Scope::Once { Ruled::Ask } else { Ruled::Allow };
        assert_eq!(asking.explained(&Action::write("/b/x")).0, of_b);
        assert_eq!(asking.ruled(instead()).await, Ruled::Allow);
    }
}

#[tokio::test]
async fn a_lasting_yes_gives_the_permission_and_says_nothing_about_the_action() {
    for scope in [Scope::Session, Scope::Always] {
        let asking = Asking::new(&["@write:/ws"]).await;
        asking.answered(Action::command("curl https://ok.com"), Answer::allow().scope(scope)).await;
        assert_eq!(asking.ann.check(&tag("@network")), Check::Held);
        assert!(asking.remembered().is_empty());
        assert_eq!(asking.ruled(Action::command("curl https://other.com")).await, Ruled::Allow);
    }
}

/// The request was only about permissions, so a question of a later rule is still asked.
#[tokio::test]
async fn a_yes_to_what_is_missing_answers_no_rule() {
    let asking = Asking::new(&["@write:/ws"]).await;
    let curl = || Action::command("curl https://ok.com");
    asking.answered(curl(), once()).await;
    let rule = Rule {
        verdict: Verdict::Ask,
        tool: None,
        operation: Some(Operation::Command),
        path: None,
        command: None,
        shape: None,
        cwd: None,
        children: false,
        why: None,
        place: Place { file: "agents.toml".into(), line: 9 },
    };
    bind(&asking.world, &["@write:/ws"], &[rule]).await;
    let question = asking.question(curl()).await;
    assert!(question.asks_about_action() && question.asked.is_empty(), "{question}");
    asking.you.answer(question.id, once()).await.unwrap();
    assert_eq!(asking.ruled(curl()).await, Ruled::Allow);
    assert!(asking.remembered().is_empty(), "{:?}", asking.remembered());
}

#[tokio::test]
async fn part_of_what_an_action_lacks_is_nothing_for_once() {
    let asking = Asking::new(&["@write:/ws"]).await;
    let line = || Action::command("curl https://ok.com > /elsewhere/x");
    let part = Answer::allow_only(Permissions::from_tags(["@network"]).unwrap());
    let question = asking.question(line()).await;
    asking.you.answer(question.id, part.scope(Scope::Once)).await.unwrap();
    let resolution = asking.world.engine.resolution(question.id).unwrap().unwrap();
    assert!(resolution.granted.is_empty(), "{resolution}");
    assert_eq!(resolution.refused, [tag("@write:/elsewhere/x")]);
    assert!(asking.remembered().is_empty() && asking.ann.check(&tag("@network")) == Check::NotHeld);
}

/// The approval may concern an irreversible action, so it counts only in its run.
#[tokio::test]
async fn a_permission_that_came_with_a_yes_ends_with_the_run_and_with_the_yes() {
    let curl = || Action::command("curl https://ok.com");
    let asking = Asking::new(&[]).await;
    asking.answered(curl(), once()).await;
    asking.world.engine.begin_run(asking.ann.id(), "next".parse().unwrap()).await.unwrap();
    assert_eq!(asking.ruled(curl()).await, Ruled::Ask);

    let asking = Asking::new(&[]).await;
    asking.answered(curl(), once()).await;
    let said = asking.remembered();
    assert!(said[0].only_gives && said[0].to_string().contains("with @network"), "{}", said[0]);
    asking.you.revoke_ruling(said[0].id, None).await.unwrap();
    assert_eq!(asking.ruled(curl()).await, Ruled::Ask);
}

/// The written file stays after the permission is consumed.
#[tokio::test]
async fn a_program_that_obeys_what_a_yes_let_an_agent_write_is_not_safe() {
    let asking = Asking::new(&[]).await;
    let (plant, obeys) = (|| write("/ws/pyproject.toml", "x"), Action::command("poetry check"));
    let tier = || asking.ann.explain(&obeys).unwrap().decision.action.tier;
    assert_eq!(tier(), bestow::command::Tier::Safe);
    asking.answered(plant(), once()).await;
    assert_eq!(tier(), bestow::command::Tier::Dangerous);
    assert_eq!(asking.ruled(plant()).await, Ruled::Allow);
    assert_eq!(tier(), bestow::command::Tier::Dangerous);
}

#[tokio::test]
async fn a_plain_request_gives_a_plain_permission_for_once() {
    let asking = Asking::new(&[]).await;
    let ticket = asking.ann.request(PermissionRequest::new(tag("@network"), why())).await.unwrap();
    let question = asking.question(Action::command("curl https://ok.com")).await;
    assert_ne!(question.id, ticket.id());
    asking.you.answer(ticket.id(), once()).await.unwrap();
    assert_eq!(asking.ann.check(&tag("@network")), Check::HeldOnce);
    asking.ann.spend(&tag("@network")).await.unwrap();
}

/// A request for permissions alone ends when they are held, as before.
#[tokio::test]
async fn a_question_for_what_is_missing_ends_when_it_is_held() {
    let asking = Asking::new(&[]).await;
    let mut seen = asking.world.engine.subscribe();
    let question = asking.question(Action::command("curl https://ok.com")).await;
    asking.you.give(asking.ann.id(), tag("@network"), Scope::Session, why()).await.unwrap();
    let ended =
        |event: &Event| matches!(event, Event::Resolved { resolution, .. } if resolution.request == question.id);
    assert!(heard(&mut seen).iter().any(|recorded| ended(&recorded.event)));
}

/// Data stored by an earlier version can be read.
#[tokio::test]
async fn questions_and_words_of_before_are_read() {
    let asking = Asking::new(&[]).await;
    let question = asking.question(Action::command("curl https://ok.com")).await;
    let mut stored = serde_json::to_value(&question).unwrap();
    assert_eq!(stored.as_object_mut().unwrap().remove("only_lacks"), Some(Value::Bool(true)));
    let read: Request = serde_json::from_value(stored).unwrap();
    assert!(read.asks_about_action());
    asking.you.answer(question.id, once()).await.unwrap();
    let said = asking.remembered().remove(0);
    let mut stored = serde_json::to_value(&said).unwrap();
    let again: SavedDecision = serde_json::from_value(stored.clone()).unwrap();
    assert_eq!(again, said);
    for field in ["gives", "only_gives"] {
        assert!(stored.as_object_mut().unwrap().remove(field).is_some());
    }
    let read: SavedDecision = serde_json::from_value(stored).unwrap();
    assert!(read.gives.is_empty() && !read.only_gives);
}

fn some_action() -> impl Strategy<Value = Action> {
    let line = prop::sample::select(vec![
        "curl https://ok.com",
        "curl https://evil.com",
        "curl -d @x https://ok.com",
        "curl https://ok.com > /elsewhere/x",
        "node build.js > /elsewhere/x",
        "node build.js",
        "touch /elsewhere/x",
        "touch /elsewhere/y /ws/x",
        "git push",
        "ls",
        "rm -rf /",
    ]);
    let path = prop::sample::select(vec!["/elsewhere/x", "/elsewhere/y", "/elsewhere", "/ws/x"]);
    let need = prop::sample::select(vec![None, Some("@network"), Some("@write:/elsewhere/x"), Some("@events")]);
    let plain = prop_oneof![
        line.clone().prop_map(Action::command),
        line.prop_map(|line| Action::tool("Bash".parse().unwrap(), json!({"command": line}))),
        (path.clone(), "[ab]{0,1}").prop_map(|(path, content)| write(path, &content)),
        path.clone().prop_map(Action::write),
        path.clone().prop_map(Action::read),
        path.prop_map(|path| Action::tool("Odd".parse().unwrap(), json!({"p": path}))),
        prop::sample::select(vec!["ok.com", "evil.com"]).prop_map(Action::network),
    ];
    (plain, need).prop_map(|(action, need)| match need {
        Some(need) => action.needing(tag(need)),
        None => action,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::support::cases(128), ..ProptestConfig::default() })]

    /// A one-time approval does not change the decision about any other action, neither before nor after its use. No
    /// check reports its permission as held.
    #[test]
    fn a_yes_for_once_changes_nothing_for_any_other_action(
        asked in some_action(),
        others in prop::collection::vec(some_action(), 1..12),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let asking = Asking::new(&["@write:/ws"]).await;
            let input = |action: &Action| *asking.ann.explain(action).unwrap().decision.action.input;
            let before: Vec<_> = others.iter().map(|other| asking.explained(other)).collect();
            let Authorization::Asked(_, ticket) = asking.ann.authorize(asked.clone()).await.unwrap() else { return };
            asking.you.answer(ticket.id(), once()).await.unwrap();
            let unchanged = || {
                for (other, before) in others.iter().zip(&before).filter(|(other, _)| input(other) != input(&asked)) {
                    assert_eq!(asking.explained(other), *before, "{other:?} after a yes to {asked:?}");
                }
                for wanted in ["@network", "@write:/elsewhere/x", "@write:/elsewhere", "@events"] {
                    assert_eq!(asking.ann.check(&tag(wanted)), Check::NotHeld, "{wanted} after a yes to {asked:?}");
                }
            };
            unchanged();
            assert_eq!(asking.ruled(asked.clone()).await, Ruled::Allow, "{asked:?}");
            unchanged();
            assert_eq!(asking.ruled(asked.clone()).await, Ruled::Ask, "{asked:?}");
        });
    }
}
