//! `GET` and `POST /api/permissions` (`sources/003`, cases C27 to C37, C47 and C50 of the dialect).

use serde_json::json;

use super::{client::call, daemon::Daemon};

#[tokio::test]
async fn c27_and_c30_a_queued_call_is_listed_with_every_field_and_is_gone_when_it_is_approved() {
    let daemon = Daemon::start().await;
    let (bot, you) = (daemon.agent("bot"), daemon.approver("you"));
    let queued = daemon.classify(&bot, "node script.js").await.json;
    let [item] = &daemon.pending(&you).await[..] else { panic!("one waits") };
    assert_eq!(item["id"], queued["requestId"]);
    let [waiting] = &daemon.world.engine.pending().unwrap()[..] else { panic!("one waits") };
    assert_eq!(item["code"], waiting.request.code().to_string());
    assert_eq!((&item["agentId"], &item["userId"], &item["toolName"]), (&json!("bot"), &json!("you"), &json!("bash")));
    assert_eq!(item["toolInput"], json!({ "command": "node script.js" }), "as it was given");
    assert_eq!((&item["tier"], &item["status"]), (&json!("dangerous"), &json!("pending")));
    assert_eq!(item["timestamp"], json!(daemon.world.now().as_millis()));
    assert!(item["expiresAt"].as_u64() > item["timestamp"].as_u64() && item["permissions"] == json!([]), "{item}");
    let id = item["id"].as_str().unwrap();
    let done = daemon.decide(&you, id, "approve").await;
    assert_eq!(done.status, 200);
    let expected =
        json!({ "success": true, "requestId": id, "decision": "approve", "scope": "once", "tier": "dangerous" });
    assert_eq!(done.json, expected);
    assert_eq!(daemon.pending(&you).await, Vec::<serde_json::Value>::new());
}

#[tokio::test]
async fn c33_an_approval_is_for_one_call_of_exactly_this_agent_and_input() {
    let daemon = Daemon::start().await;
    let (bot, other, you) = (daemon.agent("bot"), daemon.agent("other"), daemon.approver("you"));
    let id = daemon.classify(&bot, "node a.js").await.json["requestId"].as_str().unwrap().to_owned();
    assert_eq!(daemon.decide(&you, &id, "approve").await.status, 200);
    assert_eq!(daemon.classify(&other, "node a.js").await.json["allow"], false, "another agent");
    assert_eq!(daemon.classify(&bot, "node b.js").await.json["allow"], false, "another input");
    assert_eq!(daemon.classify(&bot, "node a.js").await.json["allow"], true);
    assert_eq!(daemon.classify(&bot, "node a.js").await.json["allow"], false, "a second call");
}

#[tokio::test]
async fn c37_what_is_always_approved_is_a_listed_decision_for_this_agent_that_ends_when_it_is_revoked() {
    let daemon = Daemon::start().await;
    let (bot, other, you) = (daemon.agent("bot"), daemon.agent("other"), daemon.approver("you"));
    let id = daemon.classify(&bot, "node a.js").await.json["requestId"].as_str().unwrap().to_owned();
    assert_eq!(daemon.decide(&you, &id, "approve_always").await.status, 200);
    for _ in 0..3 {
        assert_eq!(daemon.classify(&bot, "node a.js").await.json["allow"], true);
    }
    assert_eq!(daemon.classify(&other, "node a.js").await.json["allow"], false);
    assert_eq!(daemon.classify(&bot, "node a.js; rm -rf /").await.json["tier"], "destructive");
    let listed = daemon.get(&you, "/v1/decisions").await.json;
    let [saved] = &listed["savedDecisions"].as_array().unwrap()[..] else { panic!("one saved decision: {listed}") };
    assert!(saved.to_string().contains("node a.js") && saved["agentId"] == "bot", "{saved}");
    let path = format!("/v1/decisions/{}", saved["id"].as_str().unwrap());
    assert_eq!(daemon.delete(&daemon.approver("them"), &path).await.status, 404, "another owner's looks unknown");
    assert_eq!(daemon.delete(&you, &path).await.status, 200);
    assert_eq!(daemon.get(&you, "/v1/decisions").await.json["savedDecisions"], json!([]));
    assert_eq!(daemon.classify(&bot, "node a.js").await.json["allow"], false);
}

/// The card, the saved decision and what passes afterwards are one thing.
#[tokio::test]
async fn an_approval_for_always_saves_the_shape_that_every_card_showed() {
    let daemon = Daemon::start().await;
    let (bot, you) = (daemon.agent("bot"), daemon.approver("you"));
    for (asked, shape, others) in [
        ("git add notes.txt", "`git add <any path in the working directory>`", &["git add src/index.ts"][..]),
        ("node a.js", "`node a.js`", &[]),
        ("npm test", "`npm test`", &[]),
    ] {
        let id = daemon.classify(&bot, asked).await.json["requestId"].as_str().unwrap().to_owned();
        let [item] = &daemon.pending(&you).await[..] else { panic!("one waits") };
        let (shown, text) = (item["always"]["shape"].as_str().unwrap(), item["always"]["text"].as_str().unwrap());
        assert!(text.starts_with("`always` allows every ") && text.contains(shown), "{item}");
        let listed = daemon.get(&you, "/v1/requests").await.json;
        let question = &listed["requests"][0]["question"];
        assert_eq!((&question["action"]["shape"], &question["always"]), (&json!(shown), &json!(text)), "{question}");
        assert!(shown.starts_with(shape), "{asked}: {shown}");
        let reply = daemon.decide(&you, &id, "approve_always").await;
        assert_eq!((reply.status, &reply.json["scope"]), (200, &json!("always")));
        let listed = daemon.get(&you, "/v1/decisions").await.json["savedDecisions"].to_string();
        assert!(listed.contains(shown.split(" in ").next().unwrap().trim_matches('`')), "{shown}: {listed}");
        for line in others.iter().chain([&asked]) {
            assert_eq!(daemon.classify(&bot, line).await.json["allow"], true, "{line}");
        }
    }
    let id = daemon.classify(&bot, "rm -r build").await.json["requestId"].as_str().unwrap().to_owned();
    assert_eq!(daemon.decide(&you, &id, "reject").await.json["scope"], json!(null));
}

/// The documentation says that `approve` is for one use, and the reply says it again.
#[tokio::test]
async fn an_approved_request_for_permissions_gives_them_for_one_use() {
    let daemon = Daemon::start().await;
    let offline = daemon.world.agent("offline", "you", bestow::Kind::Subagent, &["@write:/ws"]).await;
    let you = daemon.approver("you");
    for (decision, scope, uses) in [("approve", "once", 1), ("approve_always", "always", 3)] {
        let path = format!("/ws/{decision}/.env");
        let wanted = format!("@write:{path}");
        let ticket = offline.request(bestow::PermissionRequest::new(&*wanted, "to set it")).await.unwrap();
        let [item] = &daemon.pending(&you).await[..] else { panic!("one waits") };
        let text = item["always"]["text"].as_str().unwrap();
        assert_eq!(text, format!("`always` gives `{wanted}` for everything that the agent does"));
        assert_eq!(item["always"]["shape"], json!(null));
        let reply = daemon.decide(&you, item["id"].as_str().unwrap(), decision).await;
        assert_eq!((reply.status, &reply.json["scope"]), (200, &json!(scope)), "{:?}", reply.json);
        drop(ticket);
        for number in 0..3 {
            let decided = offline.authorize(bestow::Action::write(&path)).await.unwrap();
            assert_eq!(decided.is_allowed(), number < uses, "{decision}: {number}");
            for item in daemon.pending(&you).await {
                daemon.decide(&you, item["id"].as_str().unwrap(), "reject").await;
            }
        }
    }
}

#[tokio::test]
async fn c34_a_rejection_stands_and_its_remark_reaches_the_agent() {
    let daemon = Daemon::start().await;
    let (bot, you) = (daemon.agent("bot"), daemon.approver("you"));
    let id = daemon.classify(&bot, "node a.js").await.json["requestId"].as_str().unwrap().to_owned();
    let body = json!({ "requestId": id, "decision": "reject", "feedback": "use deno" }).to_string();
    assert_eq!(daemon.post(&you, "/api/permissions", &body).await.status, 200);
    assert_eq!(daemon.classify(&bot, "node a.js").await.json["allow"], false);
    let path = format!("/api/hooks/requests/{id}");
    let told = daemon.get(&bot, &path).await.json;
    assert_eq!((&told["status"], &told["feedback"]), (&json!("rejected"), &json!("use deno")), "{told}");
    let other = daemon.agent("other");
    for (token, path, status) in [
        (&*other, &*path, 404),
        (&you, &path, 403),
        ("", &path, 401),
        (&bot, "/api/hooks/requests/hook_nonsense", 404),
        (&bot, "/api/hooks/requests/%ff", 404),
    ] {
        assert_eq!(daemon.get(token, path).await.status, status, "{path}");
    }
}

#[tokio::test]
async fn c36_an_input_that_the_approver_changed_into_something_worse_is_refused_and_the_request_stays() {
    let daemon = Daemon::start().await;
    let (bot, you) = (daemon.agent("bot"), daemon.approver("you"));
    let id = daemon.classify(&bot, "node a.js").await.json["requestId"].as_str().unwrap().to_owned();
    let body = json!({ "requestId": id, "decision": "approve", "modifiedInput": "rm -rf /" }).to_string();
    let reply = daemon.post(&you, "/api/permissions", &body).await;
    assert_eq!(reply.status, 422, "{}", reply.json);
    assert_eq!(daemon.pending(&you).await.len(), 1);
    assert_eq!(daemon.classify(&bot, "rm -rf /").await.json["allow"], false);
    assert_eq!(daemon.classify(&bot, "node a.js").await.json["allow"], false);
}

/// The agent learns the approved input as it is shown, so an input that is not shown whole cannot be approved instead.
#[tokio::test]
async fn a_changed_input_with_a_secret_or_too_much_text_is_refused() {
    let daemon = Daemon::start().await;
    let (bot, you) = (daemon.agent("bot"), daemon.approver("you"));
    let id = daemon.classify(&bot, "node a.js").await.json["requestId"].as_str().unwrap().to_owned();
    for modified in
        ["node b.js --password hunter3", "node b.js [redacted 7]", &format!("node b.js {}", "b".repeat(20_000))]
    {
        let body = json!({ "requestId": id, "decision": "approve", "modifiedInput": modified }).to_string();
        let reply = daemon.post(&you, "/api/permissions", &body).await;
        assert_eq!((reply.status, &reply.json["code"]), (422, &json!("not_shown_whole")), "{}", reply.json);
    }
    assert_eq!(daemon.pending(&you).await.len(), 1);
}

#[tokio::test]
async fn an_input_that_is_shown_in_part_says_so_and_is_approved_as_a_whole_or_not_at_all() {
    let daemon = Daemon::start().await;
    let (bot, you) = (daemon.agent("bot"), daemon.approver("you"));
    let long = format!("node a.js {}", "z".repeat(20_000));
    let id = daemon.classify(&bot, &long).await.json["requestId"].as_str().unwrap().to_owned();
    let [item] = &daemon.pending(&you).await[..] else { panic!("one waits") };
    assert_eq!((&item["toolInputCut"], &item["toolInput"]["leftOut"]), (&json!(true), &json!(17_024)), "{item}");
    assert_eq!(daemon.decide(&you, &id, "approve_always").await.status, 422);
    assert_eq!(daemon.decide(&you, &id, "approve").await.status, 200);
    assert_eq!(daemon.classify(&bot, &format!("{long}z")).await.json["allow"], false, "another end");
    assert_eq!(daemon.classify(&bot, &long).await.json["allow"], true);
}

/// An agent without the network asks for a call that uses it: the approver sees what an approval gives besides.
#[tokio::test]
async fn a_call_that_lacks_a_permission_names_it_under_one_id_and_tier() {
    let daemon = Daemon::start().await;
    let _ = daemon.world.agent("offline", "you", bestow::Kind::Subagent, &["@write:/ws"]).await;
    let (offline, you) = (daemon.agent("offline"), daemon.approver("you"));
    let queued = daemon.classify(&offline, "curl https://example.com").await.json;
    let [item] = &daemon.pending(&you).await[..] else { panic!("one waits") };
    assert_eq!((&item["id"], &item["tier"]), (&queued["requestId"], &queued["tier"]));
    assert_eq!(item["permissions"], json!(["@network"]));
    let done = daemon.decide(&you, item["id"].as_str().unwrap(), "approve").await.json;
    assert_eq!(done["tier"], item["tier"]);
    assert_eq!(daemon.classify(&offline, "curl https://example.com").await.json["allow"], true);
    assert_eq!(daemon.classify(&offline, "curl https://example.com").await.json["allow"], false, "once");
}

/// A destructive call is never asked about. A person enables exactly one of them.
#[tokio::test]
async fn c48_a_destructive_call_that_a_person_enabled_passes_once_and_is_in_the_records() {
    let daemon = Daemon::start().await;
    let (bot, other, you) = (daemon.agent("bot"), daemon.agent("other"), daemon.approver("you"));
    let enable = async |token: &str, body: &serde_json::Value| {
        daemon.post(token, "/api/permissions/enable", &body.to_string()).await
    };
    let call = json!({
        "agentId": "bot", "toolName": "bash", "toolInput": { "command": "terraform destroy" }, "reason": "clean"
    });
    let classified = daemon.classify(&bot, "terraform destroy").await.json;
    assert_eq!((&classified["tier"], &classified["allow"]), (&json!("destructive"), &json!(false)), "{classified}");
    for (token, status) in [(&*bot, 403), ("", 401)] {
        assert_eq!(enable(token, &call).await.status, status);
    }
    for (field, status) in [("agentId", 400), ("toolName", 400), ("reason", 400)] {
        let mut partial = call.clone();
        partial.as_object_mut().unwrap().remove(field);
        assert_eq!(enable(&you, &partial).await.status, status, "{field}");
    }
    let mut answers = Vec::new();
    for agent in ["theirs", "unknown"] {
        let mut foreign = call.clone();
        foreign["agentId"] = json!(agent);
        let reply = enable(&you, &foreign).await;
        answers.push((reply.status, reply.json));
    }
    assert!(answers[0] == answers[1] && answers[0].0 == 404, "another owner's agent looks unknown: {answers:?}");
    let done = enable(&you, &call).await;
    assert_eq!(done.status, 200, "{}", done.json);
    assert_eq!(daemon.classify(&other, "terraform destroy").await.json["allow"], false, "another agent");
    assert_eq!(daemon.classify(&bot, "terraform destroy -target=a").await.json["allow"], false, "another input");
    assert_eq!(daemon.classify(&bot, "terraform destroy").await.json["allow"], true);
    assert_eq!(daemon.classify(&bot, "terraform destroy").await.json["allow"], false, "a second time");
    let recent = daemon.get(&you, "/v1/events/recent").await.json;
    let facts = recent["events"].as_array().unwrap().iter().filter(|event| event["agentId"] == "bot");
    let told: Vec<_> = facts
        .map(|event| (event["type"].as_str().unwrap(), event["payload"]["decision"]["decision"].as_str().unwrap_or("")))
        .collect();
    let evaluated = "permission.evaluated";
    let after: Vec<_> = told.iter().skip_while(|(kind, _)| *kind != "ruling.made").copied().collect();
    let expected =
        [("ruling.made", ""), (evaluated, "deny"), (evaluated, "allow"), ("ruling.used", ""), (evaluated, "deny")];
    assert_eq!(after, expected, "what was enabled, what it allowed, and that it was used up");
}

/// A settled request, an unknown one, and one of another owner look the same.
#[tokio::test]
async fn c31_a_request_that_is_not_the_approvers_does_not_exist() {
    let daemon = Daemon::start().await;
    let (bot, theirs) = (daemon.agent("bot"), daemon.agent("theirs"));
    let (you, them) = (daemon.approver("you"), daemon.approver("them"));
    let settled = daemon.classify(&bot, "node a.js").await.json["requestId"].as_str().unwrap().to_owned();
    assert_eq!(daemon.decide(&you, &settled, "approve").await.status, 200);
    let foreign = daemon.classify(&theirs, "node a.js").await.json["requestId"].as_str().unwrap().to_owned();
    let unknown = "hook_00000000-0000-7000-8000-000000000000";
    for id in [&settled, &foreign, unknown, "hook_nonsense", "x"] {
        let reply = daemon.decide(&you, id, "approve").await;
        assert_eq!((reply.status, &reply.json["code"]), (404, &json!("not_found")), "{id}: {}", reply.json);
    }
    assert_eq!(daemon.pending(&you).await.len(), 0);
    assert_eq!(daemon.pending(&them).await.len(), 1, "and it still waits");
}

#[tokio::test]
async fn c28_the_list_is_of_the_callers_own_agents_and_of_one_if_it_is_named() {
    let daemon = Daemon::start().await;
    let you = daemon.approver("you");
    for agent in ["bot", "other", "theirs"] {
        daemon.classify(&daemon.agent(agent), "node a.js").await;
    }
    let listed = async |query: &str| {
        let reply = daemon.get(&you, &format!("/api/permissions{query}")).await;
        reply.json["pending"].as_array().unwrap().iter().map(|item| item["agentId"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(listed("").await.len(), 2);
    assert_eq!(listed("?agentId=bot").await, ["bot"]);
    assert_eq!(listed("?agentId=%62ot").await, ["bot"], "a name in another spelling");
    assert_eq!(listed("?agentId=theirs").await.len(), 0);
    assert_eq!(listed("?agentId=nobody").await.len(), 0);
}

#[tokio::test]
async fn c29_and_c47_only_an_approver_sees_and_decides() {
    let daemon = Daemon::start().await;
    let (bot, you) = (daemon.agent("bot"), daemon.approver("you"));
    let operator = daemon.issue(bestow_http::credentials::Role::Operator).token;
    let id = daemon.classify(&bot, "node a.js").await.json["requestId"].as_str().unwrap().to_owned();
    for (token, status) in [("", 401), ("nonsense", 401), (&*bot, 403), (&*operator, 403)] {
        assert_eq!(daemon.get(token, "/api/permissions").await.status, status);
        assert_eq!(daemon.decide(token, &id, "approve").await.status, status);
    }
    assert_eq!(daemon.pending(&you).await.len(), 1, "it still waits");
}

#[tokio::test]
async fn c32_a_malformed_decision_changes_nothing() {
    let daemon = Daemon::start().await;
    let (bot, you) = (daemon.agent("bot"), daemon.approver("you"));
    let id = daemon.classify(&bot, "node a.js").await.json["requestId"].as_str().unwrap().to_owned();
    for (body, named) in [
        (json!({ "decision": "approve" }), "requestId"),
        (json!({ "requestId": id }), "decision"),
        (json!({ "requestId": id, "decision": "yes" }), "approve, reject, approve_always"),
        (json!({ "requestId": id, "decision": 1 }), "decision"),
        (json!({ "requestId": id, "decision": "reject", "modifiedInput": "ls" }), "modifiedInput"),
        (json!({ "requestId": id, "decision": "approve", "modifiedInput": " " }), "modifiedInput"),
        (json!({ "requestId": id, "decision": "approve", "modifiedInput": "{\"command\":1," }), "modifiedInput"),
        (
            json!({ "requestId": id, "decision": "approve", "modifiedInput": "{\"command\":\"a\",\"command\":\"b\"}" }),
            "modifiedInput",
        ),
        (json!({ "requestId": id, "decision": "approve", "feedback": "" , "modifiedInput": 7 }), "modifiedInput"),
    ] {
        let reply = daemon.post(&you, "/api/permissions", &body.to_string()).await;
        assert_eq!(reply.status, 400, "{body}: {}", reply.json);
        assert!(reply.json["error"].as_str().unwrap().contains(named), "{body}: {}", reply.json);
    }
    let authorized = format!("Bearer {you}");
    let body = json!({ "requestId": id, "decision": "approve" }).to_string();
    let plain = [("authorization", &*authorized), ("content-type", "text/plain")];
    assert_eq!(call(daemon.address, "POST", "/api/permissions", &plain, &body).await.status, 415);
    assert_eq!(daemon.pending(&you).await.len(), 1);
}

/// An equal call joins the request that waits.
#[tokio::test]
async fn c50_a_thousand_equal_calls_are_one_request() {
    let daemon = Daemon::start().await;
    let (bot, you) = (daemon.agent("bot"), daemon.approver("you"));
    let first = daemon.classify(&bot, "node a.js").await.json["requestId"].clone();
    for _ in 0..1_000 {
        let reply = daemon.classify(&bot, "node a.js").await;
        assert!(reply.json["allow"] == false && (reply.json["requestId"] == first || reply.status == 429));
    }
    assert_eq!(daemon.pending(&you).await.len(), 1);
}

/// Two approvers answer one request at the same time: one answer counts, and the other is told.
#[tokio::test]
async fn of_two_answers_at_the_same_time_one_wins() {
    let daemon = Daemon::start().await;
    let (ann, bea) = (daemon.approver("you"), daemon.approver("you"));
    let bot = daemon.agent("bot");
    for round in 0..200 {
        let id =
            daemon.classify(&bot, &format!("node {round}.js")).await.json["requestId"].as_str().unwrap().to_owned();
        let (yes, no) = tokio::join!(daemon.decide(&ann, &id, "approve"), daemon.decide(&bea, &id, "reject"));
        let mut statuses = [yes.status, no.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 404], "round {round}: {} {}", yes.json, no.json);
        let allowed = daemon.classify(&bot, &format!("node {round}.js")).await.json["allow"] == true;
        assert_eq!(allowed, yes.status == 200, "round {round}");
        daemon.world.later(120_000).await;
    }
}

/// The attack: a misspelled `modifiedInput` approved the original call.
#[tokio::test]
async fn a_field_that_is_not_known_is_refused_by_its_name_and_nothing_is_decided() {
    let daemon = Daemon::start().await;
    let (bot, you) = (daemon.agent("bot"), daemon.approver("you"));
    let id = daemon.classify(&bot, "node m.js").await.json["requestId"].clone();
    for (field, named) in [("modifiedinput", "modifiedInput"), ("feedbak", "feedback"), ("scope", "requestId")] {
        let body = json!({ "requestId": id, "decision": "approve", field: "node safe.js" });
        let reply = daemon.post(&you, "/api/permissions", &body.to_string()).await;
        let detail = reply.json["detail"].as_str().unwrap();
        assert_eq!((reply.status, detail.contains(field), detail.contains(named)), (400, true, true), "{detail}");
    }
    let foreign = json!({ "requestId": id, "decision": "approve", "userId": "them" });
    assert_eq!(daemon.post(&you, "/api/permissions", &foreign.to_string()).await.status, 403);
    assert_eq!(daemon.get(&you, "/api/permissions?agent=bot").await.status, 400);
    assert_eq!(daemon.pending(&you).await.len(), 1, "it still waits");
    let misspelled = json!({ "toolName": "bash", "toolinput": { "command": "ls" }, "session": "s" });
    let reply = daemon.post(&bot, "/api/hooks/classify", &misspelled.to_string()).await;
    assert_eq!((reply.status, &reply.json["allow"]), (400, &json!(false)), "{reply:?}");
    let more = json!({ "toolName": "bash", "toolInput": { "command": "ls" }, "session": "s" });
    assert_eq!(daemon.post(&bot, "/api/hooks/classify", &more.to_string()).await.json["allow"], true);
}
