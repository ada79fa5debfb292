//! The list of events says what happened, as the audit trail has it.

use std::time::Duration;

use bestow::{Action, Answer, Outcome};
use serde_json::json;

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
        page.the("link", "Activity").click().await;
        page.a("option", "writer was allowed @write:/srv/site, and denied @network by ann").is_there().await;
        page.shows("allowed by people, 1 in part").await;
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
        page.the("link", "Activity").click().await;
        let answered = "was allowed node build.js --one, changed from node build.js --all by ann";
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
            page.the("link", "Activity").click().await;
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
        page.the("link", "Activity").click().await;
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

/// A paused list keeps still. The filters choose by agent, outcome and text, and what is chosen stays.
#[tokio::test]
async fn the_list_is_paused_and_filtered() {
    scene(async |stage| {
        let writer = stage.agent("writer", &["@read:/srv"]).await;
        let reader = stage.agent("reader", &[]).await;
        let browser = stage.dashboard().await;
        let page = browser.page();
        page.the("link", "Activity").click().await;
        page.shows("since").await;
        let _ = writer.authorize(Action::command("ls /srv/one")).await.unwrap();
        page.a("option", "writer may run ls /srv/one").is_there().await;

        browser.press(&["p"]).await;
        page.button("Go on").is_there().await;
        let _ = writer.authorize(Action::command("ls /srv/two")).await.unwrap();
        page.a("button", "Go on (1 new event)").is_there().await;
        page.a("option", "ls /srv/two").is_gone().await;
        page.a("button", "Go on").click().await;
        page.a("option", "writer may run ls /srv/two").is_there().await;

        let _ticket = ask(&reader, "@network").await;
        let _ = reader.authorize(Action::command("rm -rf /")).await.unwrap();
        page.a("option", "reader may not run rm -rf /").is_there().await;
        page.a("combobox", "Agent").chooses("reader").await;
        page.a("option", "writer may run").is_gone().await;
        page.a("option", "reader asks for @network").is_there().await;
        page.a("combobox", "Outcome").chooses("blocked").await;
        page.a("option", "reader may not run rm -rf /").is_there().await;
        page.a("option", "reader asks for @network").is_gone().await;
        page.a("combobox", "Agent").chooses("Any agent").await;
        page.a("combobox", "Outcome").chooses("Any outcome").await;
        page.a("searchbox", "Search in the events").types("two").await;
        page.a("option", "writer may run ls /srv/two").is_there().await;
        page.a("option", "ls /srv/one").is_gone().await;
        page.link("Inbox").click().await;
        page.the("link", "Activity").click().await;
        page.a("option", "ls /srv/one").is_gone().await;
    })
    .await;
}

/// The list is virtual, so each row says its place and the number of all.
#[tokio::test]
async fn each_row_says_its_place_in_the_whole_list() {
    scene(async |stage| {
        let writer = stage.agent("writer", &["@read:/srv"]).await;
        for number in 0..60 {
            let _ = writer.authorize(Action::command(&format!("ls /srv/{number}"))).await.unwrap();
        }
        let browser = stage.dashboard().await;
        let page = browser.page();
        page.the("link", "Activity").click().await;
        page.a("option", "ls /srv/59").is_there().await;
        let places = "
            const rows = [...document.querySelectorAll('[role=option]')];
            return rows.map((row) => [row.ariaPosInSet, row.ariaSetSize, row.textContent]);";
        let rows = browser.run(places, &[]).await;
        let rows = rows.as_array().unwrap();
        assert!(rows.len() < 60, "{} rows", rows.len());
        let size = rows[0][1].as_str().unwrap().parse::<usize>().unwrap();
        assert!(size > 60, "{size}");
        for (place, row) in rows.iter().enumerate() {
            assert_eq!([&row[0], &row[1]], [&json!((place + 1).to_string()), &json!(size.to_string())], "{row}");
        }
        browser.run("location.hash = '#/agents'", &[]).await;
        page.a("treeitem", "writer").is_there().await;
        let tree = "
            const rows = [...document.querySelectorAll('[role=treeitem]')];
            return rows.map((row) => [row.ariaPosInSet, row.ariaSetSize]);";
        assert_eq!(browser.run(tree, &[]).await, json!([["1", "1"], ["1", "1"]]));
    })
    .await;
}
