//! A person answers requests with the keyboard alone.

use std::sync::Arc;

use bestow::{Action, Outcome, grant::Scope, request::Ticket};

use super::{
    browser::Browser,
    stage::{Stage, ask, scene, scene_with, want},
};

/// Opens the dashboard while `writer` waits for these permissions, one request for each.
async fn waiting<const N: usize>(stage: &Stage, wanted: [&str; N]) -> ([Ticket; N], Arc<Browser>) {
    let writer = stage.agent("writer", &[]).await;
    let mut tickets = Vec::new();
    for permission in wanted {
        tickets.push(ask(&writer, permission).await);
    }
    (tickets.try_into().unwrap(), stage.dashboard().await)
}

#[tokio::test]
async fn every_answer_is_possible_without_a_mouse() {
    scene(async |stage| {
        let browser = stage.dashboard().await;
        let page = browser.page();
        let writer = stage.agent("writer", &[]).await;
        let first = ask(&writer, "@write:/srv/first").await;
        let second = ask(&writer, "@write:/srv/second").await;
        let third = want(&writer, Action::command("node build.js")).await;
        let card = |sentence: &str| page.card(&format!("writer {sentence}"));
        card("wants to run a command").is_there().await;

        browser.press(&["j"]).await;
        card("asks to write /srv/first").is("focused", true).await;
        browser.press(&["j"]).await;
        card("asks to write /srv/second").is("focused", true).await;
        browser.press(&["1"]).await;
        card("asks to write /srv/second").choice("Once").is("checked", true).await;
        card("asks to write /srv/second").answers_to("a").await;
        let resolution = second.resolution().await;
        assert_eq!((resolution.outcome, resolution.scope), (Outcome::Granted, Some(Scope::Once)));

        card("wants to run a command").is("focused", true).await;
        browser.press(&["Enter"]).await;
        card("wants to run a command").button("Details").is("expanded", true).await;
        browser.press(&["w"]).await;
        card("wants to run a command").field("A few words to the agent").is("focused", true).await;
        // These keys are text now, and no answers.
        browser.press(&["a", "d", "d"]).await;
        browser.press(&["Escape"]).await;
        card("wants to run a command").is("focused", true).await;
        card("wants to run a command").answers_to("d").await;
        let resolution = third.resolution().await;
        assert_eq!(resolution.outcome, Outcome::Denied);
        assert_eq!(resolution.feedback.as_ref().map(ToString::to_string).as_deref(), Some("add"));

        card("asks to write /srv/first").is("focused", true).await;
        assert!(first.poll().is_none());
    })
    .await;
}

#[tokio::test]
async fn the_keys_are_listed_and_go_to_every_view() {
    scene(async |stage| {
        let browser = stage.dashboard().await;
        let page = browser.page();
        browser.press(&["?"]).await;
        page.dialog("Keys").shows("Allow").await;
        page.dialog("Keys").shows("Go to a view").await;
        browser.press(&["Escape"]).await;
        page.dialog("Keys").is_gone().await;
        for (letter, title) in [("n", "Agents"), ("c", "Activity"), ("p", "Policy"), ("t", "Tasks"), ("i", "Inbox")] {
            browser.press(&["g", letter]).await;
            page.a("heading", title).is_there().await;
            assert_eq!(browser.title().await, format!("{title} · bestow"));
        }
    })
    .await;
}

/// `g` waits for the letter of a view. Another letter is no answer.
#[tokio::test]
async fn a_wrong_letter_after_g_answers_nothing() {
    scene(async |stage| {
        let ([ticket], browser) = waiting(stage, ["@network"]).await;
        let card = browser.page().card("writer asks to use the network");
        browser.press(&["j"]).await;
        card.is_ready().await;
        for letter in ["a", "d"] {
            browser.press(&["g", letter]).await;
        }
        browser.press(&["3"]).await;
        card.choice("Until").is("checked", true).await;
        assert!(ticket.poll().is_none());
        card.answers_to("d").await;
        assert_eq!(ticket.resolution().await.outcome, Outcome::Denied);
    })
    .await;
}

/// A key that was meant for the request before does nothing to one that has only just appeared.
#[tokio::test]
async fn a_key_too_early_answers_nothing() {
    scene(async |stage| {
        let browser = stage.dashboard().await;
        let page = browser.page();
        let writer = stage.agent("writer", &[]).await;
        // The key is pressed in the moment in which the card is on the screen.
        browser
            .run(
                "const press = () => document.activeElement.dispatchEvent(
                     new KeyboardEvent('keydown', { key: 'a', bubbles: true }));
                 const observer = new MutationObserver(() => {
                     if (!document.querySelector('article')) return;
                     observer.disconnect();
                     setTimeout(press);
                 });
                 observer.observe(document.body, { childList: true, subtree: true });",
                &[],
            )
            .await;
        let ticket = ask(&writer, "@network").await;
        let card = page.card("writer asks to use the network");
        card.shows("This request has only just appeared here. Read it, then answer.").await;
        assert!(ticket.poll().is_none());
        card.answers("Deny").await;
        assert_eq!(ticket.resolution().await.outcome, Outcome::Denied);
    })
    .await;
}

/// After an answer, the next request takes the place of the answered one. The second key of two quick ones is not for
/// it.
#[tokio::test]
async fn two_quick_keys_answer_one_request() {
    scene(async |stage| {
        let ([first, second], browser) = waiting(stage, ["@write:/srv/first", "@write:/srv/second"]).await;
        let page = browser.page();
        page.card("/srv/second").is_ready().await;
        browser.press(&["j"]).await;
        page.card("/srv/first").is("focused", true).await;
        page.card("/srv/first").is_ready().await;
        // A further key is pressed in the moment in which the next card has the focus.
        let press_when_focused = "
            const key = new KeyboardEvent('keydown', { key: 'a', bubbles: true });
            document.addEventListener('focusin', ({ target }) => target.dispatchEvent(key), { once: true });
        ";
        browser.run(press_when_focused, &[]).await;
        browser.press(&["a", "a"]).await;
        assert_eq!(first.resolution().await.outcome, Outcome::Granted);
        page.card("/srv/second").is("focused", true).await;
        page.card("/srv/second").shows("has only just appeared").await;
        assert!(second.poll().is_none());
        page.card("/srv/second").answers_to("d").await;
        assert_eq!(second.resolution().await.outcome, Outcome::Denied);
    })
    .await;
}

/// The scope that the card had chosen is not on the screen while several requests are selected, and it is not given.
#[tokio::test]
async fn while_several_are_selected_the_keys_are_those_of_the_bar() {
    scene(async |stage| {
        let ([first, second], browser) = waiting(stage, ["@write:/srv/first", "@write:/srv/second"]).await;
        let page = browser.page();
        let card = |place: &str| page.card(&format!("writer asks to write /srv/{place}"));
        card("second").is_ready().await;
        browser.press(&["j"]).await;
        card("first").is("focused", true).await;
        card("first").choice("This run").is("checked", true).await;
        page.button("Select several").click().await;
        // Nothing is selected yet, and no control on the screen does any of this.
        browser.press(&["a", "d", "w", "e", "4"]).await;
        card("second").picked().await;
        page.the("region", "Selected requests").shows("1 selected").await;
        browser.picture("several").await;
        browser.press(&["a"]).await;
        let resolution = second.resolution().await;
        assert_eq!((resolution.outcome, resolution.scope), (Outcome::Granted, Some(Scope::Once)));
        assert!(first.poll().is_none());
        card("first").choice("This run").is("checked", true).await;
    })
    .await;
}

#[tokio::test]
async fn escape_ends_the_selection_of_several_at_once() {
    scene(async |stage| {
        let ([first, _second], browser) = waiting(stage, ["@write:/srv/first", "@write:/srv/second"]).await;
        let page = browser.page();
        let card = |place: &str| page.card(&format!("writer asks to write /srv/{place}"));
        page.button("Select several").click().await;
        card("first").picked().await;
        browser.press(&["Escape"]).await;
        page.the("region", "Selected requests").is_gone().await;
        card("first").checkbox("Select this request").is_gone().await;
        card("first").is("focused", true).await;
        card("first").answers_to("d").await;
        assert_eq!(first.resolution().await.outcome, Outcome::Denied);
    })
    .await;
}

/// A key answers only a request whose buttons are on the screen. Otherwise it brings them there.
#[tokio::test]
async fn a_key_answers_nothing_that_is_off_the_screen() {
    scene_with(
        |settings| settings.max_pending = 100,
        async |stage| {
            let wanted: [String; 27] = std::array::from_fn(|place| format!("@write:/srv/{place:02}"));
            let ([first, others @ ..], browser) = waiting(stage, wanted.each_ref().map(String::as_str)).await;
            let page = browser.page();
            let card = page.card("/srv/00");
            page.link("Inbox 27 waiting").is_there().await;
            browser.press(&["j"]).await;
            card.is("focused", true).await;
            card.is_ready().await;
            browser.run("scrollTo(0, document.body.scrollHeight)", &[]).await;
            browser.press(&["a"]).await;
            card.shows("This request was not on the screen.").await;
            assert!(first.poll().is_none());
            card.answers_to("a").await;
            assert_eq!(first.resolution().await.outcome, Outcome::Granted);
            assert!(others.iter().all(|other| other.poll().is_none()));
        },
    )
    .await;
}

/// After a click in the menu, the keys are for the view.
#[tokio::test]
async fn after_a_click_in_the_menu_enter_opens_the_current_request() {
    scene(async |stage| {
        let (_tickets, browser) = waiting(stage, ["@network"]).await;
        let page = browser.page();
        let card = page.card("writer asks to use the network");
        page.link("Agents").click().await;
        page.a("heading", "Agents").is_there().await;
        page.link("Inbox").click().await;
        card.is_there().await;
        browser.press(&["Enter"]).await;
        card.button("Details").is("expanded", true).await;
        card.shows("to the queue, because no person was connected").await;
    })
    .await;
}

/// The key 4 chooses the longest scope, and the answer has it.
#[tokio::test]
async fn the_key_4_allows_always() {
    scene(async |stage| {
        let ([ticket], browser) = waiting(stage, ["@network"]).await;
        let card = browser.page().card("writer asks to use the network");
        browser.press(&["j"]).await;
        card.is_ready().await;
        browser.press(&["4"]).await;
        card.choice("Always").is("checked", true).await;
        card.answers_to("a").await;
        assert_eq!(ticket.resolution().await.scope, Some(Scope::Always));
    })
    .await;
}
