//! Text of agents is text, wherever the page shows it.

use std::sync::Arc;

use bestow::{
    Action, Agent, InitialGrants, Kind, PermissionRequest,
    host::{Hook, HookAnswer, HookFailure, Proposal},
};
use serde_json::{Value, json};

use super::{
    browser::Browser,
    stage::{Stage, scene, want},
};

/// Markup that runs a script if it ever becomes markup. The characters at its end turn the direction of the text.
const MARKUP: &str = "<img src=x onerror=\"globalThis.ran=1\"><script>globalThis.ran=1</script>\
    <a href=\"javascript:globalThis.ran=1\">click</a>'\"><svg onload=globalThis.ran=1> \
    javascript:globalThis.ran=1 \u{202e}gnp.exe";

/// Counts what a script or the policy of the page left behind. It runs before every page.
const WATCH: &str = "
    globalThis.forbidden = [];
    addEventListener('securitypolicyviolation', (event) =>
        globalThis.forbidden.push(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
";

/// The elements of the page that only markup of an agent could have made.
const FOREIGN: &str = "
    const made = [...document.querySelectorAll(
        'img, iframe, object, embed, video, audio, base, meta[http-equiv], [onerror], [onload], [onclick], ' +
        '[style*=url], script:not([src=\"/dashboard/main.js\"]), a:not([href^=\"#\"]), ' +
        'link:not([href^=\"/dashboard/\"])')];
    return { ran: globalThis.ran ?? null, forbidden: globalThis.forbidden, made: made.map((one) => one.outerHTML) };
";

async fn nothing_ran(browser: &Browser, place: &str) {
    let found = browser.run(FOREIGN, &[]).await;
    assert_eq!(found, json!({ "ran": null, "forbidden": [], "made": [] }), "in {place}");
}

/// A hook whose statement is markup.
#[derive(Debug)]
struct Says(&'static str);

#[async_trait::async_trait]
impl Hook for Says {
    async fn before(&self, _: Proposal) -> Result<HookAnswer, HookFailure> {
        Ok(HookAnswer::ask(self.0))
    }
}

/// Asks with foreign text in every field that an agent fills.
async fn asks_with_markup(stage: &Stage) -> Agent {
    let mut profile = crate::support::profile("writer", "you", Kind::Subagent);
    profile.name = Some("<img src=x onerror=globalThis.ran=1>".parse().unwrap());
    let writer = stage.engine.register(profile, InitialGrants::default()).await.unwrap();
    let _ = writer.request(PermissionRequest::new(format!("@write:/srv/{MARKUP}"), MARKUP)).await.unwrap();
    let because = || MARKUP.parse().unwrap();
    let _ = want(&writer, Action::command(&format!("echo '{MARKUP}' > out")).because(because())).await;
    let _ =
        want(&writer, Action::write(&format!("/srv/b{MARKUP}")).with_details(json!(MARKUP)).because(because())).await;
    let _ = want(&writer, Action::network("javascript:globalThis.ran=1").because(because())).await;
    let input = json!({ MARKUP: MARKUP, "list": [MARKUP, { "deep": MARKUP }] });
    let _ = want(&writer, Action::tool("publish".parse().unwrap(), input).because(because())).await;
    writer
}

#[tokio::test]
async fn markup_in_any_field_of_a_request_is_shown_and_never_runs() {
    scene(async |stage| {
        stage.engine.add_hook("guard".parse().unwrap(), Arc::new(Says(MARKUP))).unwrap();
        let writer = asks_with_markup(stage).await;
        let browser = stage.browser().await;
        browser.before_each_page(WATCH).await;
        // What is not on the screen has no text yet.
        browser.screen(1280, 6000, false).await;
        browser.go(&stage.link("ann")).await;
        let page = browser.page();
        let number = stage.engine.pending().unwrap().len();
        page.shows(&format!("Inbox {number}")).await;
        page.a("article", "img src=x").is_there_times(number).await;
        page.shows("<img src=x onerror=\"globalThis.ran=1\"><script>").await;
        page.shows("⟨U+202E⟩").await;
        browser
            .run(
                "for (const fold of document.querySelectorAll('article button')) \
            if (/show all|Details/.test(fold.textContent)) fold.click();",
                &[],
            )
            .await;
        nothing_ran(&browser, "the inbox").await;
        browser.picture("foreign-text").await;
        for (place, shown) in
            [("agents/writer", "writer"), ("activity", "writer"), ("policy", "Policy"), ("tasks", "Tasks")]
        {
            browser.run("location.hash = arguments[0]", &[json!(format!("#/{place}"))]).await;
            page.shows(shown).await;
            nothing_ran(&browser, place).await;
        }
        for event in 1..=9 {
            browser.run("location.hash = arguments[0]", &[json!(format!("#/activity/{event}"))]).await;
            page.the("region", "Details").a("heading", "").is_somewhere().await;
            nothing_ran(&browser, &format!("event {event}")).await;
        }
        drop(writer);
    })
    .await;
}

/// A long text is folded, and says how long it is. Nothing is offered for ever before it was shown whole.
#[tokio::test]
async fn a_text_of_100_kilobytes_is_folded_and_does_not_widen_the_page() {
    scene(async |stage| {
        let writer = stage.agent("writer", &[]).await;
        let long = format!("node build.js {}", "x".repeat(100_000));
        let _ticket = want(&writer, Action::command(&long)).await;
        let browser = stage.dashboard().await;
        let card = browser.page().card("writer wants to run a command");
        card.shows("show all 100,014 characters").await;
        card.choice("Always").is_gone().await;
        assert_eq!(browser.overflow().await, 0);
        card.button("show all 100,014 characters").click().await;
        card.hides("show all").await;
        assert_eq!(browser.overflow().await, 0);
    })
    .await;
}

/// Each of these would be unseen, or would change how the text around it is read.
#[tokio::test]
async fn hidden_characters_and_letters_that_look_alike_are_marked() {
    scene(async |stage| {
        let writer = stage.agent("writer", &[]).await;
        let browser = stage.dashboard().await;
        browser.screen(1280, 6000, false).await;
        let page = browser.page();
        for (hidden, mark) in [
            ("\u{202e}", "right-to-left override"),
            ("\u{200b}", "zero-width space"),
            ("\u{2066}", "left-to-right isolate"),
            ("\u{feff}", "byte order mark"),
            ("\u{ad}", "soft hyphen"),
        ] {
            let _ticket = want(&writer, Action::command(&format!("node a{hidden}b.js"))).await;
            page.a("image", mark).is_somewhere().await;
        }
        let _ticket = want(&writer, Action::network("ex\u{430}mple.com")).await;
        page.a("image", "letters that look like others").is_somewhere().await;
    })
    .await;
}

/// Words of a command that are not what they seem to be, in letters, digits and signs.
const DECEPTIVE: [&str; 10] = [
    "r\u{435}adme",          // Cyrillic
    "\u{3bf}pt",             // Greek
    "\u{ff52}m",             // full width
    "\u{1d42b}m",            // mathematical
    "\u{13aa}\u{13de}",      // Cherokee
    "s\u{585}ck",            // Armenian
    "a\u{2044}b",            // a fraction slash
    "a \u{2010}rf",          // a hyphen
    "v\u{663}",              // a digit
    "a\u{131}b\u{2024}conf", // a leader dot
];

/// Words of languages, in their own letters.
const PLAIN: [&str; 4] =
    ["stra\u{df}e", "na\u{ef}ve", "\u{65e5}\u{672c}\u{8a9e}", "\u{43f}\u{440}\u{438}\u{43c}\u{435}\u{440}"];

#[tokio::test]
async fn letters_and_signs_of_other_scripts_are_marked_and_those_of_languages_are_not() {
    scene(async |stage| {
        let words = DECEPTIVE.iter().map(|word| (word, true)).chain(PLAIN.iter().map(|word| (word, false)));
        let words: Vec<_> = words.collect();
        let mut tickets = Vec::new();
        for (number, (word, _)) in words.iter().enumerate() {
            let agent = stage.agent(&format!("agent-{number:02}"), &[]).await;
            tickets.push(want(&agent, Action::command(&format!("node '{word}'"))).await);
        }
        let browser = stage.dashboard().await;
        browser.screen(1280, 3000, false).await;
        let page = browser.page();
        for (number, (word, is_deceptive)) in words.iter().enumerate() {
            let card = page.card(&format!("agent-{number:02} wants"));
            card.shows("node").await;
            let mark = card.a("image", "letters that look like others");
            match is_deceptive {
                true => mark.is_somewhere().await,
                false => mark.is_gone().await,
            }
            println!("{word:?}");
        }
        browser.picture("look-alikes").await;
    })
    .await;
}

/// The resource of an undeclared tool's call begins with the name of the tool and `{`. A command can begin so, too.
#[tokio::test]
async fn a_command_that_looks_like_the_call_of_a_tool_is_shown_whole() {
    scene(async |stage| {
        let writer = stage.agent("writer", &[]).await;
        let _ticket = want(&writer, Action::command("bash {/srv/evil.sh,x}")).await;
        let browser = stage.dashboard().await;
        browser.page().shows("bash {/srv/evil.sh,x}").await;
    })
    .await;
}

/// No link on the page leads out of it.
#[tokio::test]
async fn an_address_in_a_text_is_not_a_link() {
    scene(async |stage| {
        let writer = stage.agent("writer", &[]).await;
        let _ticket = want(&writer, Action::command("curl https://example.com/a")).await;
        let browser = stage.dashboard().await;
        browser.page().shows("https://example.com/a").await;
        let links = browser.run("return [...document.links].map((link) => link.origin)", &[]).await;
        let own = Value::from(stage.url().trim_end_matches('/'));
        assert!(links.as_array().unwrap().iter().all(|origin| *origin == own), "{links}");
    })
    .await;
}

/// If the page had a mistake, it could still make no markup of a text, and run no text.
#[tokio::test]
async fn the_page_itself_can_make_no_markup_and_no_code_of_text() {
    scene(async |stage| {
        let browser = stage.dashboard().await;
        // A script of the test itself may do more than one of the page, so that this one runs later.
        let tries = "setTimeout(() => arguments[0]([
            () => (document.body.innerHTML = '<b>bold</b>'),
            () => document.body.insertAdjacentHTML('beforeend', '<b>bold</b>'),
            () => document.write('<b>bold</b>'),
            () => eval('1'),
            () => new Function('return 1')(),
            () => trustedTypes.createPolicy('own', { createHTML: (text) => text }),
        ].map((attempt) => { try { attempt(); return 'done'; } catch (why) { return why.name; } })));";
        let names = browser.run_async(tries, &[]).await.unwrap();
        assert_eq!(names, json!(["TypeError", "TypeError", "TypeError", "EvalError", "EvalError", "TypeError"]));
        let _ = browser.faults().await;
    })
    .await;
}
