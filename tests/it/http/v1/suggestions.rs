//! Tests of suggestions for the policy file.
#![cfg(feature = "cli")]

use serde_json::{Value, json};

use super::super::project::Project;

#[tokio::test]
async fn a_permission_that_people_give_three_times_is_suggested_as_a_line_of_the_file() {
    let mut project = Project::new();
    project.serve();
    let (bot, you) = (project.agent(), project.approver());
    let outside = project.token(&["--role", "approver", "--owner", "them", "--by", "eve"]);
    for time in 0..3 {
        assert_eq!(suggested(&project, &you).await, json!([]), "{time}");
        let asked = json!({ "permissions": ["@network"], "reason": "r", "scope": "session" });
        let id = project.post(&bot, "/v1/requests", &asked).await.json["id"].as_str().unwrap().to_owned();
        let answer = json!({ "decision": "allow" });
        assert_eq!(project.post(&you, &format!("/v1/requests/{id}/answer"), &answer).await.status, 200);
        let grants = project.get(&you, "/v1/grants").await.json;
        let grant = grants["grants"][0]["id"].as_str().unwrap().to_owned();
        assert_eq!(project.delete(&you, &format!("/v1/grants/{grant}")).await.status, 200);
    }
    let suggested = suggested(&project, &you).await;
    let expected = json!([{
        "kind": "add_rule", "agentId": "bot", "permission": "@network", "times": 3,
        "table": "[agents.bot]", "line": "permissions = [\"@network\"]",
        "covers": [], "more": false,
    }]);
    assert_eq!(suggested, expected);
    assert_eq!(self::suggested(&project, &outside).await, json!([]), "another owner learns nothing");
    assert_eq!(project.get(&bot, "/v1/suggestions").await.status, 403);
}

async fn suggested(project: &Project, token: &str) -> Value {
    project.get(token, "/v1/suggestions").await.json["suggestions"].clone()
}
