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
    let suggested = &suggested[0];
    assert_eq!(suggested["kind"], "add_permission", "{suggested}");
    assert_eq!((&suggested["permission"], &suggested["times"]), (&json!("@network"), &json!(3)));
    // The change is one of the file: it replaces no other key, and the file says it then.
    let edit = &suggested["edit"];
    let text = std::fs::read_to_string(project.path().join("agents.toml")).unwrap();
    assert_eq!(edit["old"], "", "{edit}");
    let mut lines: Vec<&str> = text.split('\n').collect();
    lines.insert(usize::try_from(edit["line"].as_u64().unwrap()).unwrap() - 1, edit["new"].as_str().unwrap());
    let changed = lines.join("\n");
    let parsed: toml::Table = changed.parse().unwrap();
    assert_eq!(parsed["agents"]["bot"]["permissions"].as_array().unwrap()[0].as_str(), Some("@network"), "{changed}");
    assert_eq!(self::suggested(&project, &outside).await, json!([]), "another owner learns nothing");
    assert_eq!(project.get(&bot, "/v1/suggestions").await.status, 403);
}

async fn suggested(project: &Project, token: &str) -> Value {
    project.get(token, "/v1/suggestions").await.json["suggestions"].clone()
}

/// An agent that has permissions in the file gets one list of them, and no second key.
#[tokio::test]
async fn a_suggested_permission_joins_the_list_that_is_there() {
    let mut project = Project::new();
    let text = std::fs::read_to_string(project.path().join("agents.toml")).unwrap();
    project.policy(&format!("{text}permissions = [\"@read:/srv/a\"] # the first one\n"));
    project.serve();
    let (bot, you) = (project.agent(), project.approver());
    for _ in 0..3 {
        let asked = json!({ "permissions": ["@network"], "reason": "r", "scope": "once" });
        let id = project.post(&bot, "/v1/requests", &asked).await.json["id"].as_str().unwrap().to_owned();
        let answer = json!({ "decision": "allow" });
        assert_eq!(project.post(&you, &format!("/v1/requests/{id}/answer"), &answer).await.status, 200);
        let used = json!({ "operation": "network", "resource": "example.com" });
        project.post(&bot, "/v1/authorize", &used).await;
    }
    let suggested = suggested(&project, &you).await;
    let edit = &suggested[0]["edit"];
    assert_eq!(edit["old"], "permissions = [\"@read:/srv/a\"] # the first one", "{suggested}");
    let parsed: toml::Table = edit["new"].as_str().unwrap().parse().unwrap();
    let permissions: Vec<_> = parsed["permissions"].as_array().unwrap().iter().filter_map(|one| one.as_str()).collect();
    assert_eq!(permissions, ["@read:/srv/a", "@network"]);
    assert!(edit["new"].as_str().unwrap().contains("# the first one"));
}
