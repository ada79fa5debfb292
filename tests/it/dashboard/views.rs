//! Tests of each view: by day, by night and on a phone, and for assistive technology.
#![cfg(feature = "cli")]

use std::path::Path;

use serde_json::{Value, json};

use super::{browser::Browser, demo::Demo, stage::people};
use crate::support::ROOT;

/// The views, the name of a picture of each, and a text that is on it when it is complete.
const VIEWS: [(&str, &str, &str); 8] = [
    ("inbox", "#/inbox", "checker wants to"),
    ("agents", "#/agents", "Choose an agent"),
    ("agent", "#/agents/publisher", "permission now"),
    ("activity", "#/activity", "events since"),
    ("policy", "#/policy", "[agents.lead]"),
    ("try", "#/policy/try", "Judge it"),
    ("suggestions", "#/policy/suggestions", "From what happened in the last"),
    ("tasks", "#/tasks", "Last runs"),
];

/// Goes to a view, and returns when it is complete.
async fn go(browser: &Browser, hash: &str, text: &str) {
    browser.run("location.hash = arguments[0]", &[json!(hash)]).await;
    browser.page().shows(text).await;
    browser
        .until("the page is busy", async || {
            let is_busy = browser.run("return document.querySelector('[aria-busy=true]') !== null", &[]).await;
            if is_busy == true { Err(String::new()) } else { Ok(()) }
        })
        .await;
}

/// Returns the source of axe-core. `scripts/test` installs it. In CI it must be there.
fn axe() -> Option<String> {
    let file = Path::new(ROOT).join("target/axe/node_modules/axe-core/axe.min.js");
    let source = std::fs::read_to_string(&file);
    assert!(source.is_ok() || std::env::var_os("CI").is_none(), "axe-core is missing: {}", file.display());
    if source.is_err() {
        eprintln!("not run: the check of axe-core, because {} is missing", file.display());
    }
    source.ok()
}

/// Checks what is on the page with axe-core.
async fn is_accessible(browser: &Browser, axe: &str, what: &str) {
    browser.run(&format!("{axe}; globalThis.axe = axe;"), &[]).await;
    let script = "
        const done = arguments[arguments.length - 1];
        axe.run(document, { resultTypes: ['violations'] }).then(
            ({ violations }) => done(violations
                .filter(({ impact }) => ['serious', 'critical'].includes(impact))
                .map(({ id, help, nodes }) => ({ id, help, at: nodes.map(({ html }) => html.slice(0, 200)) }))),
            (why) => done([`${why}`]));";
    let found = browser.run_async(script, &[]).await.unwrap();
    assert_eq!(found, json!([]), "{what}: {found:#}");
}

#[tokio::test]
async fn every_view_is_accessible_by_day_and_by_night() {
    people(async |people| {
        let demo = Demo::start();
        let browser = demo.opened(people).await;
        let axe = axe();
        for scheme in ["light", "dark"] {
            browser.prefers(scheme).await;
            for (name, hash, text) in VIEWS {
                go(&browser, hash, text).await;
                browser.picture(&format!("{name}-{scheme}")).await;
                if let Some(axe) = &axe {
                    is_accessible(&browser, axe, &format!("{name}, {scheme}")).await;
                }
            }
        }
    })
    .await;
}

#[tokio::test]
async fn on_a_phone_every_view_fits_the_screen() {
    people(async |people| {
        let demo = Demo::start();
        let browser = demo.opened(people).await;
        let axe = axe();
        browser.screen(360, 740, true).await;
        for (name, hash, text) in VIEWS {
            let text = if name == "agents" { " agents" } else { text };
            go(&browser, hash, text).await;
            browser.picture(&format!("{name}-phone")).await;
            assert_eq!(browser.overflow().await, 0, "{name} is wider than the screen");
            if let Some(axe) = &axe {
                is_accessible(&browser, axe, &format!("{name} on a phone")).await;
            }
        }
        go(&browser, "#/policy/try", "Judge it").await;
        let page = browser.page();
        page.field("Command line").types("npm test && cat .env").await;
        page.button("Judge it").click().await;
        page.shows("What would allow it").await;
        browser.run("document.querySelector('.result').scrollIntoView()", &[]).await;
        browser.picture("judged-phone").await;
        assert_eq!(browser.overflow().await, 0, "a decision is wider than the screen");
        if let Some(axe) = &axe {
            is_accessible(&browser, axe, "a decision on a phone").await;
        }
    })
    .await;
}

/// The parts that open above a view: an event, a dialog, the details of a request, and the page without a session.
#[tokio::test]
async fn what_opens_above_a_view_is_accessible_too() {
    people(async |people| {
        let demo = Demo::start();
        let browser = demo.opened(people).await;
        let page = browser.page();
        let axe = axe();
        let check = async |name: &str| {
            browser.picture(name).await;
            if let Some(axe) = &axe {
                is_accessible(&browser, axe, name).await;
            }
        };
        browser.press(&["j", "Enter"]).await;
        page.a("button", "Details").is("expanded", true).await;
        check("details").await;
        browser.press(&["?"]).await;
        page.dialog("Keys").is_there().await;
        check("keys").await;
        browser.press(&["Escape"]).await;
        page.button("Notifications").click().await;
        page.dialog("Notifications").is_there().await;
        check("notifications").await;
        page.dialog("Notifications").button("Close").click().await;
        go(&browser, "#/agents/publisher", "permission now").await;
        page.a("DisclosureTriangle", "@write").click().await;
        page.a("button", "Revoke …").is_there_times(2).await;
        check("chain").await;
        page.a("button", "of writer").click().await;
        page.dialog("Revoke this permission?").is_there().await;
        check("revoke").await;
        browser.press(&["Escape"]).await;
        go(&browser, "#/policy/try", "Judge it").await;
        page.field("Command line").types("git push --force && ls").await;
        page.button("Judge it").click().await;
        page.shows("destructive").await;
        check("judged").await;
        go(&browser, "#/activity", "requests").await;
        page.a("option", "publisher asks").click_first().await;
        page.a("heading", "The same action now").is_there().await;
        check("event").await;
        let signed_out = people.browser().await;
        signed_out.go(demo.link.split_once('#').unwrap().0).await;
        signed_out.page().shows("Open it from a terminal").await;
        signed_out.picture("entry").await;
        if let Some(axe) = &axe {
            is_accessible(&signed_out, axe, "entry").await;
        }
    })
    .await;
}

/// The colors follow the person's choice for the whole system.
#[tokio::test]
async fn by_night_the_page_is_dark() {
    people(async |people| {
        let demo = Demo::start();
        let browser = demo.opened(people).await;
        let background = "
            const color = getComputedStyle(document.body).backgroundColor.match(/[\\d.]+/g).map(Number);
            return color.slice(0, 3).reduce((sum, part) => sum + part, 0);";
        let light = browser.run(background, &[]).await;
        browser.prefers("dark").await;
        let dark = browser.run(background, &[]).await;
        let number = |value: &Value| value.as_f64().unwrap();
        assert!(number(&light) > 600.0 && number(&dark) < 200.0, "{light} and {dark}");
    })
    .await;
}
