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

/// A policy whose changes take effect at once.
const OPEN: &str = "\
[engine]
request_timeout = \"10m\"

[defaults]
owner = \"you\"
working_dir = \".\"

[agents.bot]
kind = \"subagent\"
";

/// Starts a server with this policy.
fn served_with(policy: &str) -> Project {
    let mut project = Project::new();
    project.policy(policy);
    project.serve();
    project
}

/// Returns a link to the dashboard.
fn link(project: &Project) -> String {
    let printed = project.bestow(&["dashboard", "--print-link", "--by", "ann"]);
    assert!(printed.status.success(), "{}", String::from_utf8_lossy(&printed.stderr));
    String::from_utf8(printed.stdout).unwrap().trim().to_owned()
}

/// Starts a server with this policy. Returns a link to the page of the policy.
fn served() -> (Project, String) {
    let project = served_with(POLICY);
    let link = link(&project);
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
        // The line that is in force is there too, and both are marked.
        page.shows("The file is not what is in force. + 1 line not in force, − 1 line in force and not in the file.")
            .await;
        file.shows("In force, not in the file:\nkind = \"subagent\"").await;
        browser.picture("policy-mistake").await;
        project.policy(POLICY);
        page.hides("The file has mistakes.").await;
        page.hides("The file is not what is in force.").await;
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
        page.the("region", "The policy file").shows("Not in force:\npermissions").await;
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
        page.hides("The file is not what is in force.").await;
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
        page.shows("permissions = [").await;
        page.shows("\"@network\",").await;
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

/// A change that allows less is told in sentences: permissions, rules, modes and settings.
#[tokio::test]
async fn the_last_change_says_what_it_allows_less_and_more() {
    people(async |people| {
        let project = served_with(&format!("{OPEN}permissions = [\"@network\"]\n"));
        let browser = people.dashboard(&link(&project)).await;
        let page = browser.page();
        page.link("Policy").click().await;
        page.shows("[agents.bot]").await;
        let stricter = OPEN.replace("[defaults]", "default_verdict = \"deny\"\n\n[defaults]");
        let rule = "[[agents.bot.rules]]\nverdict = \"deny\"\ncommand = [\"curl **\"]\n";
        let allow = "[[agents.bot.rules]]\nverdict = \"allow\"\ncommand = [\"git status\"]\n";
        project.policy(&format!("{stricter}mode = \"plan\"\n\n{rule}\n{allow}"));
        page.shows("Allows less").await;
        for words in [
            "bot lost @network",
            "settings: default_verdict from ask to deny",
            "bot: mode from default to plan",
            "bot: deny everything like `curl **`",
            "bot: allow everything like `git status`",
        ] {
            page.shows(words).await;
        }
        browser.picture("policy-change").await;
    })
    .await;
}

/// A command that a person allows again and again is suggested as a rule, with the exact lines.
#[tokio::test]
async fn a_command_that_is_allowed_again_and_again_is_suggested_as_a_rule() {
    people(async |people| {
        let project = served_with(OPEN);
        let (bot, ann) = (project.agent(), project.approver());
        let build = json!({ "operation": "command.execute", "resource": "node build.js" });
        for _ in 0..3 {
            let asked = project.post(&bot, "/v1/authorize", &build).await.json;
            let answer = format!("/v1/requests/{}/answer", asked["requestId"].as_str().unwrap());
            let body = json!({ "decision": "allow", "scope": "once" });
            let answered = project.post(&ann, &answer, &body).await;
            assert_eq!(answered.json["status"], "granted", "{answered:?}");
            project.post(&bot, "/v1/authorize", &build).await;
        }
        let suggested = project.get(&ann, "/v1/suggestions").await.json["suggestions"].clone();
        assert_eq!(suggested[0]["kind"], "add_rule", "{suggested}");
        let browser = people.dashboard(&link(&project)).await;
        let page = browser.page();
        page.link("Policy").click().await;
        page.choice("Suggestions").click().await;
        page.shows("3 times a person allowed bot").await;
        page.shows("[[agents.bot.rules]]").await;
        browser.picture("suggestion-rule").await;
        // The lines are exact: with them nobody is asked.
        let edit = &suggested[0]["edit"];
        assert_eq!(edit["old"], "");
        let file = project.path().join("agents.toml");
        let text = std::fs::read_to_string(&file).unwrap();
        let mut lines: Vec<&str> = text.split('\n').collect();
        let place = usize::try_from(edit["line"].as_u64().unwrap()).unwrap() - 1;
        lines.insert(place, edit["new"].as_str().unwrap());
        project.policy(&lines.join("\n"));
        browser
            .until("the rule is not in force", async || {
                let decided = project.post(&bot, "/v1/check", &build).await.json;
                let authorized = project.post(&bot, "/v1/authorize", &build).await.json;
                if authorized["decision"] == "allow" { Ok(()) } else { Err(format!("{decided} {authorized}")) }
            })
            .await;
    })
    .await;
}

/// A rule for paths says beside its line what it covers now.
#[tokio::test]
async fn a_rule_for_paths_shows_what_it_covers_now() {
    people(async |people| {
        let rule = "[[agents.bot.rules]]\nverdict = \"deny\"\noperation = \"fs.read\"\npath = [\"**/.env*\"]\n";
        let project = served_with(&format!("{OPEN}\n{rule}"));
        std::fs::create_dir_all(project.path().join("site/deep")).unwrap();
        for name in [".env", "site/deep/.env.local", "site/readme.md"] {
            std::fs::write(project.path().join(name), "").unwrap();
        }
        let browser = people.dashboard(&link(&project)).await;
        let page = browser.page();
        page.link("Policy").click().await;
        let file = page.the("region", "The policy file");
        file.shows("matches 2 paths now").await;
        file.a("DisclosureTriangle", "matches 2 paths now").click().await;
        file.shows("site/deep/.env.local").await;
        file.hides("readme.md").await;
        browser.picture("policy-globs").await;
    })
    .await;
}

/// A call of a tool is tried as well as a command.
#[tokio::test]
async fn the_call_of_a_tool_is_tried() {
    people(async |people| {
        let project = served_with(OPEN);
        let browser = people.dashboard(&link(&project)).await;
        let page = browser.page();
        browser.run("location.hash = '#/policy/try'", &[]).await;
        page.a("combobox", "Agent").becomes("bot").await;
        page.choice("Tool").click().await;
        page.field("Tool").becomes("notes/save").await;
        page.field("Input").becomes("{ \"text\": ").await;
        page.button("Judge it").click().await;
        page.shows("JSON").await;
        page.field("Input").becomes("{ \"text\": \"hello\" }").await;
        page.button("Judge it").click().await;
        page.a("heading", "The decision").is_there().await;
        page.shows("a tool that is not on any list").await;
        assert_eq!(project.pending(&project.approver()).await.len(), 0, "nobody is asked");
    })
    .await;
}
