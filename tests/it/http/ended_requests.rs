//! Requests that ended so long ago that the engine has forgotten them.
#![cfg(feature = "cli")]

use serde_json::json;

use super::project::Project;

const POLICY: &str = "\
[engine]
max_asks_per_minute = 1000000
max_changes_per_minute = 1000000
max_facts_per_minute = 1000000

[defaults]
owner = \"you\"
working_dir = \".\"

[agents.bot]
kind = \"subagent\"

[agents.other]
kind = \"subagent\"

[agents.theirs]
kind = \"subagent\"
owner = \"them\"
";

/// More requests than an engine remembers for one agent.
const MANY: usize = 40;

#[tokio::test]
async fn the_trail_answers_for_a_request_that_the_engine_forgot() {
    let mut project = Project::new();
    project.policy(POLICY);
    let (bot, you, operator) = (project.agent(), project.approver(), project.token(&["--role", "operator"]));
    let other = project.token(&["--role", "agent", "--agent", "other"]);
    let theirs = project.token(&["--role", "agent", "--agent", "theirs"]);
    let them = project.token(&["--role", "approver", "--owner", "them", "--by", "eve", "--expires", "30d"]);
    project.serve();
    let mut asked = Vec::new();
    for number in 0..MANY {
        let body = json!({ "permissions": [format!("@write:/srv/{number}")], "reason": "r" });
        let request = project.post(&bot, "/v1/requests", &body).await.json;
        let path = format!("/v1/requests/{}", request["id"].as_str().unwrap());
        if number == 0 {
            let denied = json!({ "decision": "deny", "feedback": "not there" });
            assert_eq!(project.post(&you, &format!("{path}/answer"), &denied).await.status, 200);
        } else {
            assert_eq!(project.delete(&bot, &path).await.status, 200);
        }
        asked.push((path, format!("/v1/requests/{}", request["code"].as_str().unwrap())));
    }
    let (by_id, by_code) = &asked[0];
    for token in [&bot, &you, &operator] {
        for path in [by_id, by_code] {
            let found = project.get(token, path).await;
            assert_eq!((found.status, &found.json["status"]), (200, &json!("denied")), "{path}: {found:?}");
            assert_eq!(found.json["resolution"]["feedback"], "not there");
        }
    }
    let unknown = project.get(&them, "/v1/requests/00000000-0000-7000-8000-000000000000").await;
    for token in [&other, &theirs, &them] {
        for path in [by_id, by_code] {
            let found = project.get(token, path).await;
            assert_eq!((found.status, &found.json), (404, &unknown.json), "{path}: it looks like one that never was");
        }
    }
}
