//! Notices outside of the page: only if the person wants them, and never in the way of a request.

use serde_json::json;

use super::{
    browser::Browser,
    stage::{ask, scene},
};

/// Keeps what the page would tell the person. The page is never in front.
const HEARD: &str = "
    globalThis.heard = [];
    document.hasFocus = () => false;
    globalThis.Notification = class {
        static permission = 'default';
        static requestPermission() {
            globalThis.Notification.permission = 'granted';
            return Promise.resolve('granted');
        }
        constructor(title, { body }) {
            if (globalThis.isPhone) throw new TypeError('Illegal constructor.');
            globalThis.heard.push(`${title}: ${body}`);
        }
    };
    globalThis.AudioContext = class {
        constructor() {
            globalThis.heard.push('a sound');
            throw new TypeError('no audio here');
        }
    };
";

async fn heard(browser: &Browser) -> serde_json::Value {
    browser.run("return globalThis.heard.splice(0)", &[]).await
}

#[tokio::test]
async fn nothing_is_shown_and_nothing_sounds_until_the_person_wants_it() {
    scene(async |stage| {
        let writer = stage.agent("writer", &[]).await;
        let browser = stage.browser().await;
        browser.before_each_page(HEARD).await;
        browser.go(&stage.link("ann")).await;
        let page = browser.page();
        page.shows("Live").await;
        let _first = ask(&writer, "@write:/srv/first").await;
        page.card("/srv/first").is_there().await;
        assert_eq!(heard(&browser).await, json!([]));

        page.button("Notifications").click().await;
        let dialog = page.dialog("Notifications");
        dialog.checkbox("Play a short sound").is("checked", false).await;
        dialog.checkbox("Show a notification").is("checked", false).await;
        dialog.checkbox("Show a notification").click().await;
        dialog.checkbox("Show a notification").is("checked", true).await;
        dialog.button("Close").click().await;
        let _second = ask(&writer, "@write:/srv/second").await;
        page.card("/srv/second").is_there().await;
        let told = "A request waits for you: ";
        let expected = [format!("{told}This is how a notification looks."), format!("{told}The agent writer asks.")];
        assert_eq!(heard(&browser).await, json!(expected));
    })
    .await;
}

/// A browser of a phone has notifications that a page cannot make. The request is on the screen nevertheless.
#[tokio::test]
async fn a_browser_that_cannot_show_a_notification_shows_the_request() {
    scene(async |stage| {
        let writer = stage.agent("writer", &[]).await;
        let browser = stage.browser().await;
        browser.before_each_page(HEARD).await;
        let phone = "
            globalThis.isPhone = true;
            globalThis.Notification.permission = 'granted';
            localStorage.setItem('bestow.notify', 'on');";
        browser.before_each_page(phone).await;
        browser.go(&stage.link("ann")).await;
        let page = browser.page();
        page.shows("Live").await;
        let _first = ask(&writer, "@write:/srv/first").await;
        page.card("/srv/first").is_there().await;
        page.link("Inbox 1 waiting").is_there().await;
        page.button("Notifications").click().await;
        let dialog = page.dialog("Notifications");
        dialog.checkbox("Show a notification").is("checked", true).await;
        dialog.checkbox("Show a notification").click().await;
        dialog.checkbox("Show a notification").click().await;
        dialog.shows("This browser shows no notifications of pages.").await;
        dialog.checkbox("Show a notification").is("checked", false).await;
    })
    .await;
}
