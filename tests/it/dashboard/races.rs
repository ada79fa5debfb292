//! Two people, or one person twice.

use bestow::Outcome;

use super::stage::{ask, scene};

#[tokio::test]
async fn the_answer_of_another_person_greys_the_card_and_names_the_person() {
    scene(async |stage| {
        let writer = stage.agent("writer", &[]).await;
        let ticket = ask(&writer, "@network").await;
        let (ann, bert) = (stage.dashboard_of("ann").await, stage.dashboard_of("bert").await);
        let (hers, his) = (ann.page().card("writer asks to use"), bert.page().card("writer asks to use"));
        hers.is_ready().await;
        his.is_ready().await;
        hers.answers("Allow for this run").await;
        assert_eq!(ticket.resolution().await.outcome, Outcome::Granted);
        his.shows("Allowed for this run by ann").await;
        his.button("Deny").is_gone().await;
        bert.press(&["d"]).await;
        hers.shows("Allowed for this run by you").await;
        assert_eq!(writer.grants().unwrap().len(), 1);
    })
    .await;
}

/// Both click at the same time. One answer is in force, and both pages say whose.
#[tokio::test]
async fn of_two_answers_at_once_one_counts() {
    scene(async |stage| {
        let writer = stage.agent("writer", &[]).await;
        let (ann, bert) = (stage.dashboard_of("ann").await, stage.dashboard_of("bert").await);
        for round in ["a", "b", "c"] {
            let ticket = ask(&writer, &format!("@write:/srv/{round}")).await;
            let sentence = format!("writer asks to write /srv/{round}");
            let (hers, his) = (ann.page().card(&sentence), bert.page().card(&sentence));
            hers.is_ready().await;
            his.is_ready().await;
            tokio::join!(hers.may_answer("Allow for this run"), his.may_answer("Deny"));
            let resolution = ticket.resolution().await;
            let (decision, winner) = (resolution.outcome, resolution.decider.to_string());
            let by_ann = winner.contains("ann");
            assert_eq!(decision, if by_ann { Outcome::Granted } else { Outcome::Denied }, "{winner}");
            let word = if by_ann { "Allowed for this run" } else { "Denied" };
            let on_hers = format!("{word} by {}", if by_ann { "you" } else { "bert" });
            let on_his = format!("{word} by {}", if by_ann { "ann" } else { "you" });
            for (browser, words) in [(&ann, on_hers), (&bert, on_his)] {
                // Nothing moves under the pointer.
                browser.point_away().await;
                let ended = browser.page().the("region", "Ended just now");
                ended.shows(&format!("/srv/{round}\n{words}")).await;
            }
        }
    })
    .await;
}

#[tokio::test]
async fn a_double_click_answers_once_and_not_the_request_below() {
    scene(async |stage| {
        let writer = stage.agent("writer", &[]).await;
        let first = ask(&writer, "@write:/srv/first").await;
        let second = ask(&writer, "@write:/srv/second").await;
        let browser = stage.dashboard().await;
        let card = browser.page().card("/srv/first");
        card.is_ready().await;
        let clicked = async || {
            card.button("Allow for this run").double_click().await;
            browser.change().await;
            first.poll().ok_or("it came too early".to_owned())
        };
        assert_eq!(browser.until("the double click does nothing", clicked).await.outcome, Outcome::Granted);
        card.shows("Allowed for this run by you").await;
        browser.point_away().await;
        card.is_gone().await;
        assert!(second.poll().is_none());
        browser.page().card("/srv/second").is_there().await;
    })
    .await;
}

/// An answer in the terminal, or the end of the time, reaches the page in the same way.
#[tokio::test]
async fn a_request_that_ends_elsewhere_leaves_the_inbox() {
    scene(async |stage| {
        let writer = stage.agent("writer", &[]).await;
        let ticket = ask(&writer, "@network").await;
        let browser = stage.dashboard().await;
        let card = browser.page().card("writer asks to use");
        card.is_there().await;
        writer.cancel(ticket.id()).await.unwrap();
        card.shows("Withdrawn").await;
        browser.page().shows("Nothing waits").await;
    })
    .await;
}
