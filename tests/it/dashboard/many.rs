//! Very many requests and agents.

use std::sync::Arc;

use bestow::{Outcome, Settings};

use super::{
    browser::Browser,
    stage::{Stage, ask, scene_with},
};

fn without_limits(settings: &mut Settings) {
    settings.max_pending = 100_000;
    settings.max_asks_per_minute = 100_000;
    settings.max_children = 100_000;
    settings.max_changes_per_minute = 100_000;
}

/// Returns the number of elements on the page.
async fn elements(browser: &Browser) -> i64 {
    browser.run("return document.querySelectorAll('*').length", &[]).await.as_i64().unwrap()
}

async fn opened(stage: &Stage, hash: &str) -> Arc<Browser> {
    let browser = stage.dashboard().await;
    browser.run("location.hash = arguments[0]", &[hash.into()]).await;
    browser
}

#[tokio::test]
async fn of_500_waiting_requests_the_oldest_comes_first_and_each_can_be_answered() {
    scene_with(without_limits, async |stage| {
        let mut tickets = Vec::new();
        for number in 0..500 {
            if number % 50 == 0 {
                stage.agent(&format!("agent-{}", number / 50), &[]).await;
            }
            let agent = stage.engine.agent(format!("agent-{}", number / 50)).unwrap();
            tickets.push(ask(&agent, &format!("@write:/srv/place-{number}")).await);
        }
        let browser = stage.dashboard().await;
        let page = browser.page();
        page.link("Inbox 500 waiting").is_there().await;
        assert!(browser.title().await.starts_with("(500) Inbox"));
        let sentences = "const cards = [...document.querySelectorAll('article')];
             return cards.map((card) => card.querySelector('p')?.textContent ?? '')";
        let shown = browser.until("not all are there", async || {
            let shown = browser.run(sentences, &[]).await;
            let complete = shown.as_array().unwrap().iter().filter(|text| **text != "").count();
            if complete == 500 { Ok(shown) } else { Err(format!("{complete} of 500")) }
        });
        for (number, sentence) in shown.await.as_array().unwrap().iter().enumerate() {
            let words = format!("agent-{} asks to write /srv/place-{number},", number / 50);
            assert!(sentence.as_str().unwrap().starts_with(&words), "{sentence}");
        }
        browser.press(&["j"]).await;
        page.card("/srv/place-0,").is("focused", true).await;
        page.card("/srv/place-0,").answers_to("d").await;
        assert_eq!(tickets[0].resolution().await.outcome, Outcome::Denied);
        page.link("Inbox 499 waiting").is_there().await;
        browser.run("scrollTo(0, document.body.scrollHeight)", &[]).await;
        page.card("/srv/place-499,").answers("Deny").await;
        assert_eq!(tickets[499].resolution().await.outcome, Outcome::Denied);
        page.link("Inbox 498 waiting").is_there().await;
    })
    .await;
}

/// A browser has six connections to a server, for all its tabs together.
#[tokio::test]
async fn eight_tabs_of_one_browser_are_live() {
    scene_with(without_limits, async |stage| {
        let browser = stage.dashboard().await;
        let first = browser.tab().await;
        for _ in 0..7 {
            browser.new_tab().await;
            browser.go(&stage.link("ann")).await;
            browser.page().shows("Live").await;
        }
        let writer = stage.agent("writer", &[]).await;
        let ticket = ask(&writer, "@network").await;
        browser.page().card("writer asks").answers("Deny").await;
        assert_eq!(ticket.resolution().await.outcome, Outcome::Denied);
        browser.turn_to(&first).await;
        browser.page().shows("Denied by ann").await;
    })
    .await;
}

#[tokio::test]
async fn among_10_000_agents_one_is_found_and_few_are_on_the_page() {
    scene_with(without_limits, async |stage| {
        for number in 0..10_000 {
            stage.agent(&format!("agent-{number:05}"), &["@network"]).await;
        }
        let browser = opened(stage, "#/agents").await;
        let page = browser.page();
        page.shows("10,000 agents").await;
        let all = elements(&browser).await;
        assert!(all < 1500, "{all} elements");
        page.the("tree", "Agents").click().await;
        browser.press(&["End"]).await;
        page.a("treeitem", "agent-09999").is_there().await;
        page.a("searchbox", "Search agents").types("agent-04242").await;
        page.shows("1 agent of 10,000").await;
        page.a("treeitem", "agent-04242").click().await;
        page.the("region", "Details").shows("Holds 1 permission now").await;
        assert!(elements(&browser).await < 1500);
    })
    .await;
}

/// A search that begins with `@` finds the holders of a permission.
#[tokio::test]
async fn the_holders_of_a_permission_are_found() {
    scene_with(without_limits, async |stage| {
        for number in 0..30 {
            let holds: &[&str] = if number % 10 == 3 { &["@write:/srv/site"] } else { &["@network"] };
            stage.agent(&format!("agent-{number:02}"), holds).await;
        }
        let browser = opened(stage, "#/agents").await;
        let page = browser.page();
        page.shows("30 agents").await;
        page.a("searchbox", "Search agents").types("@write:/srv").await;
        page.shows("3 agents of 30").await;
        for number in ["03", "13", "23"] {
            page.a("treeitem", &format!("agent-{number}")).is_there().await;
        }
        page.a("treeitem", "agent-04").is_gone().await;
    })
    .await;
}

/// An event about one agent makes one row anew. The others stay the same elements.
#[tokio::test]
async fn the_rows_of_other_agents_stay_as_they_are() {
    scene_with(without_limits, async |stage| {
        for number in 0..10 {
            stage.agent(&format!("agent-{number}"), &[]).await;
        }
        let browser = opened(stage, "#/agents").await;
        let page = browser.page();
        page.a("treeitem", "agent-9").is_there().await;
        browser.run("for (const row of document.querySelectorAll('[role=treeitem]')) row.isOld = true", &[]).await;
        let you = stage.engine.approver("you", "bert", "terminal");
        you.set_mode(&"agent-3".parse().unwrap(), bestow::agent::Mode::Plan).await.unwrap();
        page.a("treeitem", "agent-3 plan").is_there().await;
        let fresh = "
            const rows = [...document.querySelectorAll('[role=treeitem]')];
            return rows.filter((row) => !row.isOld).map((row) => row.textContent);";
        let fresh = browser.run(fresh, &[]).await;
        assert_eq!(fresh.as_array().unwrap().len(), 1, "{fresh}");
    })
    .await;
}
