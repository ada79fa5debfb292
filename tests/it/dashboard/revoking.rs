//! A person takes permissions back, and takes that back.

use bestow::{Action, Agent, Engine, InitialGrants, Kind, action::Operation, decision::Effect, grant::Scope};

use super::stage::{Stage, ask, scene, scene_two_days_later, want};
use crate::{
    http::client::call,
    support::{id, tag, tags},
};

/// Three agents, of which each passes a permission on to the next one.
async fn chain(stage: &Stage) -> [Agent; 3] {
    let lead = stage.agent("lead", &[]).await;
    let you = stage.engine.approver("you", "bert", "terminal");
    you.give("lead", "@write:/srv/site", Scope::Always, "for the site").await.unwrap();
    let profile = |name: &str| crate::support::profile(name, "you", Kind::Subagent);
    let writer = lead.create(profile("writer"), &[tag("@write:/srv/site")], "it writes the pages").await.unwrap();
    let helper = writer.create(profile("helper"), &[tag("@write:/srv/site/news")], "it writes the news").await.unwrap();
    [lead, writer, helper]
}

fn holds(agent: &Agent, permission: &str) -> bool {
    agent.check(&tag(permission)).is_held()
}

#[tokio::test]
async fn the_chain_shows_why_and_a_revocation_shows_first_what_falls_with_it() {
    scene(async |stage| {
        let [lead, writer, helper] = chain(stage).await;
        let browser = stage.dashboard().await;
        let page = browser.page();
        page.link("Agents").click().await;
        page.a("treeitem", "lead").click().await;
        page.a("treeitem", "helper").click().await;
        let details = page.the("region", "Details");
        details.shows("Holds 1 permission now").await;
        details.a("DisclosureTriangle", "@write:/srv/site/news").click().await;
        let chain = details.a("list", "Where the permission comes from");
        for words in ["bert", "lead", "“it writes the pages”", "writer", "“it writes the news”", "helper"] {
            chain.shows(words).await;
        }
        chain.a("button", "Revoke … @write:/srv/site of lead").click().await;
        let dialog = page.dialog("Revoke this permission?");
        dialog.shows("2 more permissions depend on it and fall with it:").await;
        dialog.a("list", "What falls with it").shows("helper loses @write:/srv/site/news").await;
        dialog.button("Cancel").click().await;
        dialog.is_gone().await;
        assert!(holds(&helper, "@write:/srv/site/news"));
        chain.a("button", "Revoke … @write:/srv/site of lead").click().await;
        dialog.field("Words to the agent").types("the site is done").await;
        dialog.button("Revoke 3 permissions").click().await;
        page.shows("2 more permissions fell with it").await;
        details.shows("It holds nothing.").await;
        for (agent, permission) in
            [(&lead, "@write:/srv/site"), (&writer, "@write:/srv/site"), (&helper, "@write:/srv/site/news")]
        {
            assert!(!holds(agent, permission), "{permission}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_revocation_is_undone_within_some_seconds() {
    scene(async |stage| {
        let [lead, writer, helper] = chain(stage).await;
        let browser = stage.dashboard().await;
        let page = browser.page();
        for undo in ["click", "key"] {
            browser.run("location.hash = '#/agents/lead'", &[]).await;
            let details = page.the("region", "Details");
            details.a("DisclosureTriangle", "@write:/srv/site").click().await;
            details.a("button", "Revoke … @write:/srv/site of lead").click().await;
            let dialog = page.dialog("Revoke this permission?");
            dialog.shows("It ends at once.").await;
            dialog.a("button", "Revoke 3 permissions").click().await;
            page.button("Undo").is_there().await;
            assert!(!holds(&lead, "@write:/srv/site"));
            match undo {
                "click" => page.button("Undo").click().await,
                _ => browser.press(&["u"]).await,
            }
            page.shows("lead holds @write:/srv/site again, given by you. 2 permissions that fell with it came back.")
                .await;
            assert!(holds(&lead, "@write:/srv/site"));
            assert!(holds(&writer, "@write:/srv/site") && holds(&helper, "@write:/srv/site/news"));
            details.shows("given by ann").await;
            browser.run("location.hash = '#/inbox'", &[]).await;
            page.a("heading", "Inbox").is_there().await;
        }
    })
    .await;
}

#[tokio::test]
async fn an_approval_in_the_inbox_is_taken_back_and_given_again() {
    scene(async |stage| {
        let writer = stage.agent("writer", &[]).await;
        let ticket = ask(&writer, "@network").await;
        let browser = stage.dashboard().await;
        let page = browser.page();
        page.card("writer asks to use the network").answers("Allow for this run").await;
        ticket.resolution().await;
        browser.point_away().await;
        let ended = page.the("region", "Ended just now");
        ended.a("button", "Revoke").click().await;
        page.shows("Revoked.").await;
        assert!(!holds(&writer, "@network"));
        browser.press(&["u"]).await;
        ended.shows("given again").await;
        assert!(holds(&writer, "@network"));
    })
    .await;
}

/// An answer about an action is valid again after an undo, too.
#[tokio::test]
async fn a_revoked_answer_about_an_action_is_valid_again_after_an_undo() {
    scene(async |stage| {
        let writer = stage.agent("writer", &["@write:/srv"]).await;
        let build = || Action::command("node build.js");
        let ticket = want(&writer, build()).await;
        let browser = stage.dashboard().await;
        let page = browser.page();
        let card = page.card("writer wants to run a command");
        card.choice("This run").click().await;
        card.answers("Allow for this run").await;
        ticket.resolution().await;
        browser.point_away().await;
        let ended = page.the("region", "Ended just now");
        ended.a("button", "Revoke").click().await;
        page.shows("Revoked. The agent has to ask again.").await;
        let is_allowed = async || match writer.explain(&build()) {
            Ok(explanation) => explanation.decision.verdict() == Effect::Allow,
            Err(why) => panic!("{why}"),
        };
        assert!(!is_allowed().await);
        browser.press(&["u"]).await;
        ended.shows("given again").await;
        assert!(is_allowed().await);

        browser.run("location.hash = '#/agents/writer'", &[]).await;
        let details = page.the("region", "Details");
        details.shows("by ann").await;
        details.a("button", "Revoke …").click().await;
        page.dialog("Revoke this answer?").button("Revoke").click().await;
        page.shows("The answer is not valid any more.").await;
        assert!(!is_allowed().await);
        browser.press(&["u"]).await;
        page.shows("The answer is valid again, given by you.").await;
        assert!(is_allowed().await);
    })
    .await;
}

/// After the time of the undo, or for another person, a revocation stands.
#[tokio::test]
async fn an_undo_of_what_has_changed_is_refused_and_says_why() {
    scene(async |stage| {
        let [lead, _, helper] = chain(stage).await;
        let browser = stage.dashboard().await;
        let page = browser.page();
        browser.run("location.hash = '#/agents/lead'", &[]).await;
        let details = page.the("region", "Details");
        details.a("DisclosureTriangle", "@write:/srv/site").click().await;
        details.a("button", "Revoke … @write:/srv/site of lead").click().await;
        page.dialog("Revoke this permission?").a("button", "Revoke 3 permissions").click().await;
        page.button("Undo").is_there().await;
        stage.engine.begin_run(&id("helper"), "r-next".parse().unwrap()).await.unwrap();
        page.button("Undo").click().await;
        page.shows("the revocation cannot be undone, because agent `helper` has begun another run").await;
        assert!(!holds(&lead, "@write:/srv/site") && !holds(&helper, "@write:/srv/site/news"));
    })
    .await;
}

/// A permission that nobody uses is named, over the API and on the page, and can be taken back there.
#[cfg(feature = "cli")]
#[tokio::test]
async fn a_permission_that_was_never_used_is_named_and_taken_back() {
    let prepare = async |engine: &Engine| {
        let holds = InitialGrants::of(tags(&["@network", "@write:/srv/site"]));
        let bot = engine.register(crate::support::profile("bot", "you", Kind::Subagent), holds).await.unwrap();
        assert!(bot.authorize(Action::new(Operation::Write, "/srv/site/a")).await.unwrap().is_allowed());
    };
    scene_two_days_later(prepare, async |stage| {
        let token = stage.token("ann");
        let address = stage.address;
        let suggestions = async || {
            let authorization = format!("Bearer {token}");
            let reply = call(address, "GET", "/v1/suggestions", &[("authorization", &authorization)], "").await;
            let named = reply.json["suggestions"].as_array().unwrap().clone();
            named.iter().map(|one| (one["kind"].clone(), one["permission"].clone())).collect::<Vec<_>>()
        };
        assert_eq!(suggestions().await, [("unused".into(), "@network".into())]);
        let browser = stage.dashboard().await;
        browser.run("location.hash = '#/policy/suggestions'", &[]).await;
        let page = browser.page();
        page.shows("bot has held @network for 2 days and never used it.").await;
        browser.picture("never-used").await;
        page.a("button", "Revoke").click().await;
        page.dialog("Revoke this permission?").button("Revoke").click().await;
        page.shows("Nothing to suggest").await;
        assert_eq!(suggestions().await, []);
        assert!(!holds(&stage.engine.agent("bot").unwrap(), "@network"));
    })
    .await;
}
