//! The policy file on the page: its mistakes, its changes, and a trial of it.
#![cfg(feature = "cli")]

use serde_json::json;

use super::{browser::Browser, stage::people};
use crate::http::project::Project;

const POLICY: &str = "\
[engine]
confirm_widening = true

[defaults]
owner = \"you\"
working_dir = \".\"

[agents.bot]
kind = \"subagent\"
";

/// Starts a server with this policy. Returns a link to the page of the policy.
fn served() -> (Project, String) {
    let mut project = Project::new();
    project.policy(POLICY);
    project.serve();
    let printed = project.bestow(&["dashboard", "--print-link", "--by", "ann"]);
    assert!(printed.status.success(), "{}", String::from_utf8_lossy(&printed.stderr));
    let link = String::from_utf8(printed.stdout).unwrap().trim().to_owned();
    (project, link)
}

#[tokio::test]
async fn a_mistake_is_marked_at_its_line_until_it_is_mended() {
    people(async |people| {
        let (project, link) = served();
        let browser = people.dashboard(&link).await;
        let page = browser.page();
        page.link("Policy").click().await;
        let file = page.the("region", "The policy file");
        file.shows("[agents.bot]").await;
        project.policy(&POLICY.replace("subagent", "subagentt"));
        page.shows("The file has mistakes. The last good version stays in force.").await;
        file.shows("kind = \"subagentt\"\nColumn").await;
        project.policy(POLICY);
        page.hides("The file has mistakes.").await;
    })
    .await;
}

#[tokio::test]
async fn a_change_that_allows_more_waits_for_the_person() {
    people(async |people| {
        let (project, link) = served();
        let bot = project.agent();
        let browser = people.dashboard(&link).await;
        let page = browser.page();
        page.link("Policy").click().await;
        page.shows("[agents.bot]").await;
        project.policy(&format!("{POLICY}permissions = [\"@network\"]\n"));
        let change = page.the("region", "A change that waits");
        change.shows("bot gains @network").await;
        let holds = async || project.get(&bot, "/v1/agents/me").await.json.to_string().contains("@network");
        assert!(!holds().await);
        change.a("button", "Agree").click().await;
        let dialog = page.dialog("Agree to this change?");
        dialog.shows("bot gains @network").await;
        dialog.button("Agree").click().await;
        page.shows("The change is in force.").await;
        change.is_gone().await;
        assert!(holds().await);
        page.shows("Allows more").await;
    })
    .await;
}

#[tokio::test]
async fn an_action_is_tried_and_every_stage_says_its_part() {
    people(async |people| {
        let (project, link) = served();
        let browser = people.dashboard(&link).await;
        let page = browser.page();
        page.link("Policy").click().await;
        page.choice("Try it").click().await;
        page.a("combobox", "Agent").becomes("bot").await;
        page.field("Command line").types("curl https://example.com").await;
        page.button("Judge it").click().await;
        let result = page.a("heading", "The decision");
        result.is_there().await;
        page.shows("@network").await;
        page.a("table", "").is_somewhere().await;
        page.choice("Write").click().await;
        page.field("Path").becomes("/etc/passwd").await;
        page.button("Judge it").click().await;
        page.shows("/etc/passwd").await;
        assert_eq!(project.pending(&project.approver()).await.len(), 0, "nobody is asked");
    })
    .await;
}

#[tokio::test]
async fn what_is_given_again_and_again_is_suggested_as_a_line() {
    people(async |people| {
        let (project, link) = served();
        let (bot, ann) = (project.agent(), project.approver());
        for _ in 0..3 {
            let body = json!({ "permissions": ["@network"], "reason": "to look" });
            let asked = project.post(&bot, "/v1/requests", &body).await.json;
            let answer = format!("/v1/requests/{}/answer", asked["id"].as_str().unwrap());
            let body = json!({ "decision": "allow", "scope": "once" });
            let answered = project.post(&ann, &answer, &body).await;
            assert_eq!(answered.json["status"], "granted", "{answered:?}");
            let body = json!({ "operation": "network", "resource": "example.com" });
            project.post(&bot, "/v1/authorize", &body).await;
        }
        let browser = people.dashboard(&link).await;
        let page = browser.page();
        page.link("Policy").click().await;
        page.choice("Suggestions").click().await;
        page.shows("3 times a person gave @network to bot.").await;
        page.shows("permissions = [\"@network\"]").await;
    })
    .await;
}

#[tokio::test]
async fn a_file_that_needs_the_person_is_told_in_the_inbox_and_in_the_menu() {
    people(async |people| {
        let (project, link) = served();
        let browser = people.dashboard(&link).await;
        let page = browser.page();
        page.shows("Nothing waits").await;
        project.policy(&POLICY.replace("subagent", "subagentt"));
        page.shows("The policy file has mistakes: see Policy").await;
        page.a("link", "Policy The policy file has mistakes").is_there().await;
        project.policy(&format!("{POLICY}permissions = [\"@network\"]\n"));
        page.shows("A change of the policy file waits for you: see Policy").await;
        browser.picture("policy-waits").await;
        page.the("link", "see Policy").click().await;
        page.the("region", "A change that waits").shows("What it takes away is in force already.").await;
        project.policy(POLICY);
        page.the("region", "A change that waits").is_gone().await;
        page.the("link", "Policy").is_there().await;
    })
    .await;
}

#[tokio::test]
async fn a_mistake_is_named_with_a_way_to_its_line() {
    people(async |people| {
        let (project, link) = served();
        let browser = people.dashboard(&link).await;
        let page = browser.page();
        project.policy(&format!("{}{}", "# a note\n".repeat(80), POLICY.replace("subagent", "subagentt")));
        page.the("link", "see Policy").click().await;
        page.the("button", "Line 89").click().await;
        browser.until("the line is not on the screen", async || is_line_on_screen(&browser).await).await;
    })
    .await;
}

async fn is_line_on_screen(browser: &Browser) -> Result<(), String> {
    let script = "
        const box = document.querySelector('.file-line.wrong')?.getBoundingClientRect();
        return box !== undefined && box.top >= 0 && box.bottom <= innerHeight;";
    if browser.run(script, &[]).await == true { Ok(()) } else { Err(String::new()) }
}
