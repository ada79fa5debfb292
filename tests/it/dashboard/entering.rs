//! The way in, by a link or by a token, and the way out.

use bestow_http::credentials::Role;

use super::stage::{ask, scene};
use crate::http::client::call;

#[tokio::test]
async fn a_link_opens_the_dashboard_once_and_leaves_the_address_at_once() {
    scene(async |stage| {
        let link = stage.link("ann");
        let browser = stage.browser().await;
        browser.go(&link).await;
        browser.page().shows("You are ann").await;
        browser.page().shows("Nothing waits").await;
        assert_eq!(browser.address().await, stage.url());
        let secret = link.split_once("#link=").unwrap().1;
        assert!(!browser.run("return JSON.stringify(sessionStorage)", &[]).await.to_string().contains(secret));
        let second = stage.browser().await;
        second.go(&link).await;
        second.page().shows("This link was used already").await;
        assert_eq!(second.address().await, stage.url());
    })
    .await;
}

#[tokio::test]
async fn a_reload_keeps_the_session_and_another_tab_does_not_have_it() {
    scene(async |stage| {
        let browser = stage.dashboard().await;
        browser.reload().await;
        browser.page().shows("You are ann").await;
        assert_eq!(browser.run("return [document.cookie, localStorage.length]", &[]).await, serde_json::json!(["", 0]));
        browser.new_tab().await;
        browser.go(&stage.url()).await;
        browser.page().shows("bestow dashboard").await;
        browser.page().hides("You are ann").await;
    })
    .await;
}

#[tokio::test]
async fn signing_out_ends_the_token() {
    scene(async |stage| {
        let browser = stage.dashboard().await;
        let token = browser.run("return sessionStorage.getItem('bestow.token')", &[]).await;
        let token = format!("Bearer {}", token.as_str().unwrap());
        let session = async || call(stage.address, "GET", "/v1/session", &[("authorization", &token)], "").await.status;
        assert_eq!(session().await, 200);
        browser.page().button("Sign out").click().await;
        let dialog = browser.page().dialog("Sign out?");
        dialog.button("Cancel").click().await;
        dialog.is_gone().await;
        browser.page().button("Sign out").click().await;
        dialog.button("Sign out").click().await;
        browser.page().shows("Open it from a terminal").await;
        assert_eq!(session().await, 401);
        browser.reload().await;
        browser.page().shows("Open it from a terminal").await;
    })
    .await;
}

#[tokio::test]
async fn a_token_of_an_approver_or_operator_opens_the_dashboard_and_one_of_an_agent_does_not() {
    scene(async |stage| {
        stage.agent("writer", &[]).await;
        let browser = stage.browser().await;
        browser.go(&stage.url()).await;
        let page = browser.page();
        page.a("DisclosureTriangle", "Use a token instead").click().await;
        let enter = async |token: &str| {
            page.a("textbox", "Token").becomes(token).await;
            page.button("Open the dashboard").click().await;
        };
        enter("nonsense").await;
        page.shows("The server does not accept this token").await;
        enter(&stage.token_of(Role::Agent { agent: "writer".parse().unwrap() })).await;
        page.shows("An agent answers no requests").await;
        enter(&stage.token("bert")).await;
        page.shows("You are bert").await;
    })
    .await;
}

/// The page says that the session has ended, stays readable, and can send nothing more.
#[tokio::test]
async fn a_revoked_session_ends_while_the_page_is_open() {
    scene(async |stage| {
        let writer = stage.agent("writer", &[]).await;
        let _waiting = ask(&writer, "@network").await;
        let browser = stage.dashboard().await;
        let page = browser.page();
        page.card("writer asks to use the network").is_there().await;
        page.card("writer").is_ready().await;
        stage.end_sessions();
        browser.press(&["j", "a"]).await;
        page.shows("The session has ended.").await;
        page.shows("writer asks to use the network").await;
        page.card("writer").is_gone().await;
        page.button("Sign in again").click().await;
        page.shows("Open it from a terminal").await;
        assert_eq!(stage.engine.pending().unwrap().len(), 1);
    })
    .await;
}
