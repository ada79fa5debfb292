//! The list of events says what happened, as the audit trail has it.

use std::time::Duration;

use bestow::{Action, Answer, Outcome};

use super::stage::{ask, ask_for, scene, scene_with, want};

#[tokio::test]
async fn an_approval_in_part_says_both_parts() {
    scene(async |stage| {
        let writer = stage.agent("writer", &[]).await;
        let ticket = ask_for(&writer, &["@network", "@write:/srv/site"], "to publish").await;
        let browser = stage.dashboard().await;
        let page = browser.page();
        let card = page.card("writer asks for 2 permissions");
        card.checkbox("use the network").click().await;
        card.answers("Allow 1 of 2 for this run").await;
        card.shows("Allowed in part (@write:/srv/site) by you").await;
        assert_eq!(ticket.resolution().await.outcome, Outcome::Denied);
        page.link("Activity").click().await;
        page.a("option", "writer was granted @write:/srv/site, and denied @network by ann").is_there().await;
        page.shows("approved by people, 1 in part").await;
        page.shows("100 %").await;
        browser.picture("part").await;
    })
    .await;
}

#[tokio::test]
async fn an_answer_with_a_change_names_the_changed_command() {
    scene(async |stage| {
        let writer = stage.agent("writer", &["@write:/srv"]).await;
        let ticket = want(&writer, Action::command("node build.js --all")).await;
        let browser = stage.dashboard().await;
        let page = browser.page();
        let card = page.card("writer wants to run a command");
        card.button("Change it").click().await;
        card.field("The command to allow instead").becomes("node build.js --one").await;
        card.button("Allow once, as changed").is("disabled", false).await;
        card.answers("Allow once, as changed").await;
        card.shows("Allowed once, as changed, by you: node build.js --one").await;
        assert_eq!(ticket.resolution().await.outcome, Outcome::Granted);
        browser.point_away().await;
        page.the("region", "Ended just now").shows("node build.js --one").await;
        page.link("Activity").click().await;
        let answered = "was granted node build.js --one, changed from node build.js --all by ann";
        page.a("option", answered).is_there().await;
    })
    .await;
}

/// A permission that was denied a moment ago is denied again. The agent does not hold it.
#[tokio::test]
async fn a_request_that_asks_for_nothing_new_is_not_told_as_one_for_what_is_held() {
    scene_with(
        |settings| settings.denial_memory = Duration::from_secs(3600),
        async |stage| {
            let writer = stage.agent("writer", &[]).await;
            let ticket = ask(&writer, "@network").await;
            let ann = stage.engine.approver("you", "ann", "terminal");
            ann.answer(ticket.id(), Answer::deny()).await.unwrap();
            assert_eq!(ask(&writer, "@network").await.resolution().await.outcome, Outcome::Denied);
            let browser = stage.dashboard().await;
            let page = browser.page();
            page.link("Activity").click().await;
            page.a("option", "writer asks for @network, which needs no new answer").is_there().await;
            page.a("option", "writer was denied @network: it was denied a moment ago").is_there().await;
        },
    )
    .await;
}

/// The decision to ask and the way of the question are listed with their kinds, and with the question.
#[tokio::test]
async fn a_question_is_one_line() {
    scene(async |stage| {
        let writer = stage.agent("writer", &["@write:/srv"]).await;
        let _ticket = want(&writer, Action::command("node build.js")).await;
        let browser = stage.dashboard().await;
        let page = browser.page();
        page.link("Activity").click().await;
        page.a("option", "asks to run node build.js").is_there().await;
        page.a("option", "has to ask before it may run node build.js").is_gone().await;
        page.a("option", "has a request that waits").is_gone().await;
        page.a("option", "asks to run node build.js").click().await;
        page.a("button", "has to ask before it may run node build.js").is_there().await;
        page.a("combobox", "Kind").chooses("Decisions").await;
        page.a("option", "has to ask before it may run node build.js").is_there().await;
    })
    .await;
}
