//! Calls that wait for a person.

use bestow::{Action, Answer as Said, Outcome, grant::Scope, user::Prompt};
use bestow_hosts::{Answer, Call, Sessions as _, Unanswered};
use serde_json::json;

use super::stage::{FOR_EVER, Stage, bash, denied, is_allowed, session, subagent, waits};
use crate::support::settle;

/// Waits for the next question on a surface, and answers it.
async fn answering(stage: &Stage, answer: Said) {
    let person = stage.world.you();
    let mut surface = person.attend().unwrap();
    while let Some(prompt) = surface.next().await {
        if let Prompt::Ask(request) = prompt {
            return person.answer(request.id, answer).await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_call_does_not_wait_if_nobody_is_there() {
    let stage = Stage::new().await;
    let answer = stage.ask(Call { wait: FOR_EVER, ..bash(session("s"), "make") }).await;
    assert!(waits(&answer), "{answer:?}");
    assert_eq!(stage.world.engine.pending().unwrap().len(), 1, "the question stays");
}

#[tokio::test]
async fn an_approval_is_used_by_the_call_that_waited_for_it() {
    let stage = Stage::new().await;
    let make = || Call { wait: FOR_EVER, ..bash(session("s"), "make") };
    let (answer, ()) = tokio::join!(
        async {
            settle().await;
            stage.ask(make()).await
        },
        answering(&stage, Said::allow())
    );
    assert!(is_allowed(&answer), "{answer:?}");
    assert!(waits(&stage.ask(bash(session("s"), "make")).await), "once");
}

#[tokio::test]
async fn a_denial_reaches_the_call_with_the_remark_of_the_person() {
    let stage = Stage::new().await;
    let no = Said::deny().feedback("use cargo".parse().unwrap());
    let (answer, ()) = tokio::join!(
        async {
            settle().await;
            stage.ask(Call { wait: FOR_EVER, ..bash(session("s"), "make") }).await
        },
        answering(&stage, no)
    );
    assert!(denied(&answer).contains("use cargo"), "{answer:?}");
}

#[tokio::test]
async fn a_withdrawn_question_leaves_no_request_and_no_approval() {
    let stage = Stage::new().await;
    let make = || Call { unanswered: Unanswered::Withdraw, ..bash(session("s"), "make") };
    let Answer::Waits { id, .. } = stage.ask(make()).await else { panic!("it waits") };
    assert!(stage.world.engine.pending().unwrap().is_empty());
    assert_eq!(stage.world.engine.resolution(id).unwrap().unwrap().outcome, Outcome::Cancelled);
    assert!(stage.world.you().answer(id, Said::allow()).await.is_err(), "too late");
    assert!(waits(&stage.ask(make()).await));
}

#[tokio::test]
async fn a_host_that_is_gone_while_its_call_waits_leaves_no_question() {
    let stage = Stage::new().await;
    let person = stage.world.you();
    let mut surface = person.attend().unwrap();
    let sessions = stage.sessions.clone();
    let call = Call { wait: FOR_EVER, unanswered: Unanswered::Withdraw, ..bash(session("s"), "make") };
    let waiting = tokio::spawn(async move { sessions.call(call).await });
    let Some(Prompt::Ask(request)) = surface.next().await else { panic!("a question") };
    waiting.abort();
    let Some(Prompt::Settled(ended)) = surface.next().await else { panic!("its end") };
    assert_eq!((ended.request, ended.outcome), (request.id, Outcome::Cancelled));
}

#[tokio::test]
async fn a_question_of_a_subagent_names_the_subagent_and_its_approval_is_its_own() {
    let stage = Stage::new().await;
    let Answer::Waits { id, .. } = stage.ask(bash(subagent("s", "a", None), "make")).await else { panic!("it waits") };
    let pending = stage.world.engine.pending().unwrap();
    assert_eq!(pending[0].request.from.as_str(), "claude:s:a");
    stage.world.you().answer(id, Said::allow()).await.unwrap();
    assert!(waits(&stage.ask(bash(session("s"), "make")).await), "not its session's");
    assert!(waits(&stage.ask(bash(subagent("s", "b", None), "make")).await), "not another subagent's");
    assert!(is_allowed(&stage.ask(bash(subagent("s", "a", None), "make")).await));
}

#[tokio::test]
async fn a_changed_input_is_used_by_the_call_if_the_host_can_replace_it() {
    let stage = Stage::new().await;
    let input = json!({ "command": "make safe" });
    let instead = || Action::tool("Bash".parse().unwrap(), input.clone()).with_details(input.clone());
    for can_replace_input in [true, false] {
        let call = Call { wait: FOR_EVER, can_replace_input, ..bash(session("s"), "make") };
        let (answer, ()) = tokio::join!(
            async {
                settle().await;
                stage.ask(call).await
            },
            answering(&stage, Said::allow().scope(Scope::Once).instead(instead()))
        );
        let Answer::Changed { input: changed, .. } = &answer else { panic!("{answer:?}") };
        assert_eq!(*changed, input);
        let next = Call { unanswered: Unanswered::Withdraw, ..bash(session("s"), "make safe") };
        let next = stage.ask(next).await;
        assert_eq!(is_allowed(&next), !can_replace_input, "{next:?}");
    }
}

#[tokio::test]
async fn two_equal_calls_at_once_use_one_approval_once() {
    let stage = Stage::new().await;
    let make = || Call { wait: FOR_EVER, ..bash(session("s"), "make") };
    let calls = async {
        settle().await;
        tokio::join!(stage.ask(make()), async {
            let mut second = make();
            second.wait = std::time::Duration::ZERO;
            stage.ask(second).await
        })
    };
    let ((first, second), ()) = tokio::join!(calls, answering(&stage, Said::allow()));
    let allowed = [&first, &second].into_iter().filter(|answer| is_allowed(answer)).count();
    assert_eq!(allowed, 1, "{first:?} {second:?}");
}

#[tokio::test]
async fn every_answer_of_a_closed_engine_is_an_error() {
    let stage = Stage::new().await;
    stage.sessions.begin(session("s")).await.unwrap();
    stage.world.engine.shutdown().await;
    assert!(stage.sessions.call(bash(session("s"), "ls")).await.is_err());
    assert!(stage.sessions.call(bash(session("t"), "ls")).await.is_err());
}

#[tokio::test]
async fn the_words_of_an_approval_reach_the_call_that_uses_it() {
    let stage = Stage::new().await;
    let Answer::Waits { id, .. } = stage.ask(bash(session("s"), "make")).await else { panic!("it waits") };
    let yes = Said::allow().feedback("only today".parse().unwrap());
    stage.world.you().answer(id, yes).await.unwrap();
    let answer = stage.ask(bash(session("s"), "make")).await;
    let Answer::Allowed { reason, feedback } = &answer else { panic!("{answer:?}") };
    assert_eq!(feedback.as_deref(), Some("only today"));
    assert!(reason.contains("only today"), "{reason}");
}

#[tokio::test]
async fn a_call_that_waited_gets_the_words_of_its_approval() {
    let stage = Stage::new().await;
    let (answer, ()) = tokio::join!(
        async {
            settle().await;
            stage.ask(Call { wait: FOR_EVER, ..bash(session("s"), "make") }).await
        },
        answering(&stage, Said::allow().feedback("only today".parse().unwrap()))
    );
    let Answer::Allowed { feedback, .. } = &answer else { panic!("{answer:?}") };
    assert_eq!(feedback.as_deref(), Some("only today"));
}
