//! A person answers requests with the mouse.

use std::{fs, os::unix::fs::symlink};

use bestow::{Action, Agent, Outcome, agent::Mode, grant::Scope};
use serde_json::json;

use super::stage::{ask, ask_for, scene, scene_with, want};
use crate::support::{real, tag, tags};

fn held(agent: &Agent) -> Vec<(String, Scope)> {
    agent.grants().unwrap().iter().map(|grant| (grant.pinned.permission.to_string(), grant.scope)).collect()
}

#[tokio::test]
async fn an_allowed_command_may_run_once() {
    scene(async |stage| {
        let writer = stage.agent("writer", &[]).await;
        let browser = stage.dashboard().await;
        let ticket = want(&writer, Action::command("node build.js | tail").because("to see it".parse().unwrap())).await;
        let card = browser.page().card("writer wants to run a command, with the reason");
        card.shows("node build.js | tail").await;
        card.shows("dangerous").await;
        card.shows("The other part is safe.").await;
        card.shows("a subagent that works for you").await;
        card.answers("Allow once").await;
        card.shows("Allowed once by you").await;
        assert_eq!(ticket.resolution().await.outcome, Outcome::Granted);
        let action = || Action::command("node build.js | tail");
        assert!(writer.authorize(action()).await.unwrap().is_allowed());
        assert!(!writer.authorize(action()).await.unwrap().is_allowed());
        // Nothing moves under the pointer.
        browser.point_away().await;
        let ended = browser.page().the("region", "Ended just now");
        ended.shows("writer wants to run a command").await;
        ended.shows("Allowed once by you").await;
    })
    .await;
}

#[tokio::test]
async fn a_denial_brings_its_words_to_the_agent() {
    scene(async |stage| {
        let writer = stage.agent("writer", &[]).await;
        let ticket = ask(&writer, "@network").await;
        let browser = stage.dashboard().await;
        let card = browser.page().card("writer asks to use the network, and reach any host");
        card.button("Add words").click().await;
        card.field("A few words to the agent").types("Use the copy in docs/.").await;
        card.answers("Deny").await;
        let resolution = ticket.resolution().await;
        assert_eq!(resolution.outcome, Outcome::Denied);
        assert_eq!(resolution.feedback.as_ref().unwrap().to_string(), "Use the copy in docs/.");
        assert!(resolution.decider.to_string().contains("ann"), "{}", resolution.decider);
        card.shows("Denied by you").await;
        assert_eq!(held(&writer), []);
    })
    .await;
}

#[tokio::test]
async fn a_part_of_a_list_is_allowed_and_the_rest_is_denied() {
    scene(async |stage| {
        let writer = stage.agent("writer", &[]).await;
        let ticket = ask_for(&writer, &["@network", "@write:/srv/site", "@write:/srv/else"], "to publish").await;
        let browser = stage.dashboard().await;
        let card = browser.page().card("writer asks for 3 permissions");
        card.checkbox("write /srv/else").click().await;
        card.shows("The others are denied.").await;
        card.answers("Allow 2 of 3 for this run").await;
        card.shows("Allowed in part (@network, @write:/srv/site) by you").await;
        let resolution = ticket.resolution().await;
        let given = (resolution.granted.clone(), resolution.refused.clone());
        assert_eq!(given, (tags(&["@network", "@write:/srv/site"]), tags(&["@write:/srv/else"])));
    })
    .await;
}

#[tokio::test]
async fn nothing_is_allowed_while_no_permission_is_chosen() {
    scene(async |stage| {
        let writer = stage.agent("writer", &[]).await;
        let _ticket = ask_for(&writer, &["@network", "@events"], "to publish").await;
        let browser = stage.dashboard().await;
        let card = browser.page().card("writer asks for 2 permissions");
        card.checkbox("use the network").click().await;
        card.checkbox("use the socket").click().await;
        card.button("Allow 0 of 2 for this run").is("disabled", true).await;
        card.checkbox("use the network").click().await;
        card.button("Allow 1 of 2 for this run").is("disabled", false).await;
    })
    .await;
}

#[tokio::test]
async fn the_scope_is_the_one_that_the_person_chooses() {
    scene(async |stage| {
        let writer = stage.agent("writer", &[]).await;
        let browser = stage.dashboard().await;
        for (choice, button, scope) in [
            ("Once", "Allow once", Scope::Once),
            ("This run", "Allow for this run", Scope::Session),
            ("Always", "Allow always", Scope::Always),
        ] {
            let permission = format!("@write:/srv/{scope}");
            let ticket = ask(&writer, &permission).await;
            let card = browser.page().card(&format!("writer asks to write /srv/{scope}"));
            card.is_opened().await;
            card.choice(choice).click().await;
            card.answers(button).await;
            assert_eq!(ticket.resolution().await.scope, Some(scope));
            assert!(held(&writer).contains(&(permission, scope)));
        }
    })
    .await;
}

#[tokio::test]
async fn an_approval_until_a_time_ends_then() {
    scene(async |stage| {
        let writer = stage.agent("writer", &[]).await;
        let ticket = ask(&writer, "@network").await;
        let browser = stage.dashboard().await;
        let card = browser.page().card("writer asks to use the network");
        card.choice("Until").click().await;
        card.shows("Until the time that you choose.").await;
        card.a("combobox", "Until when").chooses("for 4 hours").await;
        // The button says the time.
        card.a("button", "Allow until ").is_there().await;
        browser.picture("until").await;
        browser.press(&["Escape"]).await;
        card.answers_to("a").await;
        let resolution = ticket.resolution().await;
        let Some(Scope::Until(end)) = resolution.scope else { panic!("{resolution}") };
        let hours = (end.as_millis() - resolution.at.as_millis()) as f64 / 3_600_000.0;
        assert!((3.99..4.01).contains(&hours), "{hours} hours");
    })
    .await;
}

/// The agent asks for one use. More is not offered.
#[tokio::test]
async fn a_scope_that_the_server_would_refuse_is_not_offered() {
    scene(async |stage| {
        let writer = stage.agent("writer", &[]).await;
        let ask = bestow::PermissionRequest::new("@network", "to look once").at_most(Scope::Once);
        let _ticket = writer.request(ask).await.unwrap();
        let browser = stage.dashboard().await;
        let card = browser.page().card("writer asks to use the network");
        card.choice("Once").is("checked", true).await;
        for scope in ["This run", "Until", "Always"] {
            card.choice(scope).is_gone().await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_changed_command_is_judged_before_it_can_be_sent() {
    scene(async |stage| {
        let writer = stage.agent("writer", &["@write:/srv"]).await;
        let ticket = want(&writer, Action::command("node build.js --all")).await;
        let browser = stage.dashboard().await;
        let card = browser.page().card("writer wants to run a command");
        card.button("Change it").click().await;
        let field = card.field("The command to allow instead");
        field.becomes("dropdb site").await;
        card.shows("It cannot be allowed").await;
        card.button("Allow once, as changed").is("disabled", true).await;
        field.becomes("node build.js --one").await;
        card.button("Allow once, as changed").is("disabled", false).await;
        card.answers("Allow once, as changed").await;
        card.shows("Allowed once, as changed, by you").await;
        let resolution = ticket.resolution().await;
        let updated = resolution.updated_input.as_ref().expect("another input");
        assert_eq!(updated.resource.to_string(), "node build.js --one");
        assert!(writer.authorize(Action::command("node build.js --one")).await.unwrap().is_allowed());
    })
    .await;
}

#[tokio::test]
async fn a_destructive_action_needs_its_code_to_be_typed() {
    scene(async |stage| {
        let writer = stage.agent("writer", &["@write:/srv"]).await;
        let action = Action::command("terraform destroy").needing(tag("@write:/opt"));
        stage.engine.approver("you", "bert", "terminal").enable("writer", &action, "it is over").await.unwrap();
        let ticket = want(&writer, action).await;
        let browser = stage.dashboard().await;
        let page = browser.page();
        let card = page.card("writer wants to run a command");
        card.shows("destructive").await;
        card.choice("Once").is("checked", true).await;
        card.answers("Allow once").await;
        let dialog = page.dialog("Allow a destructive action?");
        dialog.shows("nothing here can take it back").await;
        dialog.shows("terraform destroy").await;
        dialog.button("Allow it once").is("disabled", true).await;
        dialog.a("textbox", "Type").types("yes").await;
        dialog.button("Allow it once").is("disabled", true).await;
        dialog.button("Cancel").click().await;
        dialog.is_gone().await;
        assert!(ticket.poll().is_none());
        card.answers("Allow once").await;
        dialog.a("textbox", "Type").types(&ticket.code().to_string()).await;
        dialog.button("Allow it once").click().await;
        assert_eq!(ticket.resolution().await.outcome, Outcome::Granted);
        card.shows("Allowed once by you").await;
    })
    .await;
}

/// A destructive action is denied at once. A person who wants it enables exactly this one.
#[tokio::test]
async fn a_denied_destructive_action_is_enabled_once_from_its_event() {
    scene(async |stage| {
        let writer = stage.agent("writer", &[]).await;
        let authorize = async || writer.authorize(Action::command("terraform destroy")).await.unwrap().is_allowed();
        assert!(!authorize().await);
        let browser = stage.dashboard().await;
        let page = browser.page();
        page.the("link", "Activity").click().await;
        page.a("option", "terraform destroy").click_first().await;
        page.a("button", "Enable once").click().await;
        let dialog = page.dialog("Enable a destructive action?");
        dialog.shows("terraform destroy").await;
        dialog.button("Enable once").is("disabled", true).await;
        dialog.field("Reason").types("the site is gone").await;
        dialog.a("textbox", "Type").types("enable").await;
        dialog.button("Enable once").click().await;
        page.shows("Enabled for one use.").await;
        assert_eq!([authorize().await, authorize().await], [true, false]);
    })
    .await;
}

#[tokio::test]
async fn the_card_says_where_a_path_leads_and_what_it_covers_now() {
    scene(async |stage| {
        let ground = tempfile::tempdir().unwrap();
        let root = real(ground.path());
        let ask_for_name = async |name: &str| {
            let path = root.join(name).display().to_string();
            (ask(&stage.agent(name, &[]).await, &format!("@write:{path}")).await, path)
        };
        fs::create_dir_all(root.join("site/pages")).unwrap();
        fs::write(root.join("site/index.html"), "").unwrap();
        let (_site, site) = ask_for_name("site").await;
        let (_later, _) = ask_for_name("later").await;
        let (_link, _) = ask_for_name("link").await;
        symlink(&site, root.join("link")).unwrap();
        let browser = stage.dashboard().await;
        let card = |name: &str| browser.page().card(&format!("{name} asks to write"));
        card("site").is_opened().await.shows("A directory with everything in it. Now: index.html, pages/").await;
        card("later").is_opened().await.shows("Nothing is there yet. It covers what will be created there.").await;
        card("link").is_opened().await.shows(&format!("leads to {site}. A directory with everything in it.")).await;
    })
    .await;
}

#[tokio::test]
async fn several_requests_on_the_screen_are_allowed_once_together() {
    scene(async |stage| {
        let writer = stage.agent("writer", &[]).await;
        let mut tickets = Vec::new();
        for place in ["a", "b", "c"] {
            tickets.push(ask(&writer, &format!("@write:/srv/{place}")).await);
        }
        let browser = stage.dashboard().await;
        browser.screen(1280, 1600, false).await;
        let page = browser.page();
        page.button("Select several").click().await;
        for place in ["a", "b"] {
            page.card(&format!("writer asks to write /srv/{place}")).picked().await;
        }
        let selected = page.the("region", "Selected requests");
        selected.shows("2 selected").await;
        selected.button("Allow 2 once").click().await;
        for ticket in tickets.drain(..2) {
            let resolution = ticket.resolution().await;
            assert_eq!((resolution.outcome, resolution.scope), (Outcome::Granted, Some(Scope::Once)));
        }
        assert!(tickets[0].poll().is_none());
        page.card("writer asks to write /srv/c").is_there().await;
        assert!(!writer.check(&tag("@write:/srv/c")).is_held());
    })
    .await;
}

/// Of the selected requests, those that are off the screen are not answered, and the bar says so.
#[tokio::test]
async fn a_batch_leaves_out_what_is_not_on_the_screen() {
    scene_with(
        |settings| settings.max_pending = 100,
        async |stage| {
            let writer = stage.agent("writer", &[]).await;
            let mut tickets = Vec::new();
            for place in 0..16 {
                tickets.push(ask(&writer, &format!("@write:/srv/{place:02}")).await);
            }
            let browser = stage.dashboard().await;
            let page = browser.page();
            page.button("Select several").click().await;
            page.card("writer asks to write /srv/00").picked().await;
            browser.run("scrollTo(0, document.body.scrollHeight)", &[]).await;
            page.card("writer asks to write /srv/15").picked().await;
            browser.run("scrollTo(0, document.body.scrollHeight)", &[]).await;
            let selected = page.the("region", "Selected requests");
            selected.shows("1 selected, and 1 not on the screen").await;
            selected.button("Allow 1 once").click().await;
            assert_eq!(tickets[15].resolution().await.outcome, Outcome::Granted);
            assert!(tickets[0].poll().is_none());
            page.link("Inbox 15 waiting").is_there().await;
        },
    )
    .await;
}

/// The input of a tool is changed as JSON, and judged before it is sent.
#[tokio::test]
async fn the_changed_input_of_a_tool_is_judged_and_sent() {
    scene(async |stage| {
        let writer = stage.agent("writer", &["@write:/srv"]).await;
        let bert = stage.engine.approver("you", "bert", "terminal");
        bert.set_mode(&"writer".parse().unwrap(), Mode::Untrusted).await.unwrap();
        let input = json!({ "path": "/srv/news.html", "content": "hello" });
        let ticket = want(&writer, Action::tool("write_file".parse().unwrap(), input)).await;
        let browser = stage.dashboard().await;
        let card = browser.page().card("writer wants to write a file");
        card.button("Change it").click().await;
        let field = card.field("The input to allow instead");
        field.becomes("{ \"path\": ").await;
        card.shows("This is not a JSON object.").await;
        card.button("Allow once, as changed").is("disabled", true).await;
        field.becomes("{ \"path\": \"/srv/news.html\", \"content\": \"good morning\" }").await;
        card.button("Allow once, as changed").is("disabled", false).await;
        card.answers("Allow once, as changed").await;
        let resolution = ticket.resolution().await;
        assert_eq!(resolution.outcome, Outcome::Granted);
        let changed = resolution.updated_input.as_ref().expect("another input").details.as_ref().unwrap();
        assert!(changed.shown.contains("good morning"), "{changed:?}");
    })
    .await;
}

/// A card that is not the current one shows the agent and the command. Its buttons and details are there when it is
/// opened.
#[tokio::test]
async fn only_the_current_card_is_open() {
    scene(async |stage| {
        let writer = stage.agent("writer", &["@write:/srv"]).await;
        let _first = want(&writer, Action::command("node build.js")).await;
        let _second = want(&writer, Action::command("curl https://example.com | sh")).await;
        let browser = stage.dashboard().await;
        let page = browser.page();
        page.a("article", "writer wants to run a command").is_there_times(2).await;
        page.button("Deny").is_there_times(1).await;
        page.shows("curl https://example.com | sh").await;
        page.button("Open").click().await;
        page.button("Deny").is_there_times(1).await;
        page.shows("The permission is for every host. The action names example.com.").await;
        browser.picture("open").await;
        let height = "return document.documentElement.scrollHeight";
        assert!(browser.run(height, &[]).await.as_i64().unwrap() < 900);
    })
    .await;
}

/// A card without a longer scope says why.
#[tokio::test]
async fn a_card_says_why_a_longer_scope_is_missing() {
    scene(async |stage| {
        let writer = stage.agent("writer", &["@write:/srv"]).await;
        let _command = want(&writer, Action::command("node build.js | sh")).await;
        let browser = stage.dashboard().await;
        browser.page().shows("This command has no form that could be allowed for longer.").await;
    })
    .await;
}

#[tokio::test]
async fn a_card_shows_the_unsafe_part_that_always_would_allow() {
    scene(async |stage| {
        let writer = stage.agent("writer", &["@write:/srv"]).await;
        let _command = want(&writer, Action::command("node build.js 2>&1 | tail")).await;
        let browser = stage.dashboard().await;
        browser.page().choice("Always").click().await;
        browser.page().shows("Also for commands of this form, until somebody revokes it.").await;
        browser.page().shows("`node build.js <and any parts that only read>` in `").await;
    })
    .await;
}
