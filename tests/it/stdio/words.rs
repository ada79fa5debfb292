//! Tests of the errors that a bot's author reads: the field, its value, and the expected value.

use bestow::stdio::{Bot, ErrorCode, FromAgent, FromConnector, PermissionDecision};

use super::{Wire, engine, id, repository, soon};

fn agent(line: &str) -> (ErrorCode, String) {
    line.parse::<FromAgent>().map_err(|why| (why.code, why.message)).unwrap_err()
}

fn connector(line: &str) -> String {
    line.parse::<FromConnector>().unwrap_err().message
}

fn decision(fields: &str) -> String {
    connector(&format!(r#"{{"type":"permission_decision","permissionRequestId":"k3v9ab",{fields}}}"#))
}

#[test]
fn what_is_no_json_is_shown_where_it_goes_wrong() {
    let (code, message) = agent("nope");
    assert_eq!(code, ErrorCode::ParseError);
    assert_eq!(message, "a line is one JSON object; this is not JSON at byte 2: `nope`");
    let (_, message) = agent(&format!("{{\"type\":\"message\",\"text\":\"{}\" oh}}", "x".repeat(5000)));
    assert!(message.ends_with(" oh}`") && message.len() < 200, "{message}");
    let (_, message) = agent("\u{1b}[2J");
    assert!(!message.contains('\u{1b}'), "{message}");
}

#[test]
fn what_stands_twice_is_named() {
    assert_eq!(agent(r#"{"type":"hello","type":"bye"}"#).1, "duplicate field `type`");
    let twice = r#""operation":"fs.read","resource":"/a","resource":"/b""#;
    assert_eq!(agent(&format!(r#"{{"type":"authorize",{twice}}}"#)).1, "authorize: duplicate field `resource`");
    let nested = r#""toolName":"bash","toolInput":{"command":"ls","options":{"a":1,"a":2}}"#;
    assert_eq!(agent(&format!(r#"{{"type":"authorize",{nested}}}"#)).1, "authorize: the key `a` occurs twice");
    let enable =
        |fields: &str| connector(&format!(r#"{{"type":"enable_action","agentId":"a","reason":"b",{fields}}}"#));
    assert_eq!(enable(twice), "enable_action: duplicate field `resource`");
    let declare = |tool: &str| connector(&format!(r#"{{"type":"declare_tools","tools":[{tool}]}}"#));
    assert_eq!(
        declare(r#"{"name":"a","operation":"fs.read","path":"a","path":"b"}"#),
        "declare_tools: duplicate field `path`"
    );
}

#[test]
fn an_action_that_is_enabled_is_described_as_the_agent_describes_it_and_is_no_call_of_its_own() {
    let more = |field: &str| {
        let line = r#"{"type":"enable_action","agentId":"a","reason":"b","operation":"fs.read","resource":"/a",FIELD}"#;
        connector(&line.replace("FIELD", field))
    };
    for field in [r#""toolCallId":"c""#, r#""override":true"#] {
        let name = field.split('"').nth(1).unwrap();
        assert!(more(field).starts_with(&format!("enable_action: there is no field `{name}`; it has `")), "{field}");
    }
    assert_eq!(more(r#""details":7"#), "enable_action: `details` is `7`: it must be an object or a text");
}

#[test]
fn a_declaration_that_is_none_hears_which_and_why() {
    let declare = |tools: &str| connector(&format!(r#"{{"type":"declare_tools","tools":{tools}}}"#));
    let tool = r#"{"name":"a/b","operation":"fs.write","path":["x","y?"],"needs":["@tool:a"]}"#;
    assert!(format!(r#"{{"type":"declare_tools","tools":[{tool}]}}"#).parse::<FromConnector>().is_ok());
    for (tools, why) in [
        (format!("[{tool},{tool}]"), "the tool `a/b` is declared twice"),
        (
            r#"[{"name":"a","operation":"fs.write"}]"#.to_owned(),
            "the tool `a` needs `path`: the field that contains its object",
        ),
        (r#"[{"name":"a","operation":"fs.wriet"}]"#.to_owned(), "of declaration 1: "),
        (r#"[{"name":"a","operation":"tool","comand":"x"}]"#.to_owned(), "of declaration 1: unknown field `comand`"),
        (r#"[{"name":"a//b","operation":"tool"}]"#.to_owned(), "divided by one `/` each"),
        (r#"[{"name":"a","operation":"tool","content":7}]"#.to_owned(), "a field, or a list of fields"),
        ("{}".to_owned(), "it must be a list of declarations"),
    ] {
        let told = declare(&tools);
        assert!(told.starts_with("declare_tools: `tools` is ") && told.contains(why), "{tools}: {told}");
    }
}

#[test]
fn a_decision_that_is_none_hears_which_there_are() {
    let known = "it must be `allow`, `allow-once`, `allow-session`, `allow-always`, `deny` or `deny-session`";
    assert_eq!(decision(r#""decision":"yes""#), format!("permission_decision: `decision` is `yes`: {known}"));
}

#[test]
fn a_field_is_named_with_what_was_given() {
    let said = |line: &str| agent(line).1;
    assert_eq!(
        said(r#"{"type":"request_permission","permission":"@network","reason":"docs","scope":"forever"}"#),
        "request_permission: `scope` is `forever`: a scope is `once`, `session`, `always` or `until <moment>`, \
         as in `until 2026-11-22T09:30:00Z`"
    );
    assert_eq!(
        said(r#"{"type":"revoke_permission","grantId":7}"#),
        "revoke_permission: `grantId` is `7`: it must be a text"
    );
    assert_eq!(
        said(r#"{"type":"check_permission","permissions":["@network","@moon"]}"#),
        "check_permission: `permissions` is `[\"@network\",\"@moon\"]`: `@moon` is not a permission: \
         a permission is `@network`, `@events`, `@read:<absolute path>`, `@write:<absolute path>` or `@tool:<name>`"
    );
    assert_eq!(said(r#"{"type":"hello","protocol":"1"}"#), "hello: `protocol` is `1`: it must be a whole number");
    assert_eq!(said(r#"{"type":"message"}"#), "message: missing field `text`");
    let long = format!(r#"{{"type":"message","text":"{}"}}"#, "x".repeat(70_000));
    assert!(said(&long).len() < 200 && said(&long).ends_with("it has at most 65536 bytes"));
    let hidden = said(r#"{"type":"use_permission","permission":"@net\u001b[2J"}"#);
    assert!(!hidden.contains('\u{1b}') && hidden.contains("`permission` is `@net"), "{hidden}");
}

#[test]
fn a_misspelt_field_of_a_decision_never_widens_it() {
    for (field, meant) in [
        (r#""permision":"@network""#, "permission"),
        (r#""permision":"@network""#, "permission"),
        (r#""permissons":["@network"]"#, "permissions"),
        (r#""Permissions":["@network"]"#, "permissions"),
        (r#""scop":"once""#, "scope"),
        (r#""scopes":"once""#, "scope"),
        (r#""feed_back":"no""#, "feedback"),
        (r#""run_id":"run-1""#, "runId"),
    ] {
        let told = decision(&format!(r#""decision":"allow",{field}"#));
        assert!(told.ends_with(&format!("did you mean `{meant}`?")), "{told}");
    }
    assert!(decision(r#""decision":"allow","comment":"x""#).contains("there is no field `comment`"));
    // The type alone is as strict, for callers that read it without a line around it.
    let json = r#"{"permissionRequestId":"k3v9ab","decision":"allow","comment":"x"}"#;
    assert!(serde_json::from_str::<PermissionDecision>(json).is_err());
    let json = r#"{"permissionRequestId":"k3v9ab","decision":"allow","permissions":null}"#;
    assert!(serde_json::from_str::<PermissionDecision>(json).is_err());
}

/// The author of a bot learns all mistakes of a line at once.
#[test]
fn a_line_with_several_mistakes_names_each_of_them() {
    let line = r#"{"type":"grant_permission","permission":7,"scope":"forever","reson":"docs"}"#;
    let told = line.parse::<FromAgent>().unwrap_err().message;
    let mistakes: Vec<_> = told.strip_prefix("grant_permission: ").unwrap().split("; ").collect();
    let begins =
        ["there is no field `reson`", "did you mean `reason`?", "missing field `agentId`", "`permission` is `7`"];
    for (mistake, begin) in mistakes.iter().zip(begins) {
        assert!(mistake.starts_with(begin), "{told}");
    }
    assert_eq!(mistakes.len(), 5, "{told}");
    assert!(mistakes[4].starts_with("`scope` is `forever`"), "{told}");
    let many: String = (0..100).map(|number| format!(r#","foreign{number}":1"#)).collect();
    let told = decision(&format!(r#""decision":"allow"{many}"#));
    assert!(told.ends_with("; and 84 more"), "it stays short: {told}");
}

#[test]
fn a_field_that_is_far_from_every_known_one_is_passed_over() {
    let foreign = ["task", "path", "region", "to", "t", "", "runId", "agentName", "reasonText", "priority", "x"];
    for name in foreign.into_iter().map(str::to_owned).chain(["permissionpermissionpermission".repeat(9)]) {
        let line = format!(r#"{{"type":"request_permission","permission":"@network","reason":"docs","{name}":1}}"#);
        assert!(line.parse::<FromAgent>().is_ok(), "{name}");
    }
}

/// Each documented field is known, and a misspelled one is refused with a suggestion.
#[test]
fn every_documented_field_is_known_and_nearly_it_is_refused() {
    let document = std::fs::read_to_string(repository().join("docs/protocol.md")).unwrap();
    let mut seen = 0;
    for (heading, is_agent) in [("Agent: what the bot says", true), ("Connector: what the bot says", false)] {
        let section = document.split_once(&format!("\n## {heading}\n")).unwrap().1.split("\n## ").next().unwrap();
        for entry in section.split("\n\n").map(str::trim).filter(|entry| entry.starts_with('`')) {
            let mut code = entry.split('`').skip(1).step_by(2);
            let (kind, fields) = (code.next().unwrap(), code.next().unwrap_or_default());
            let Some(fields) = fields.strip_prefix('{') else { continue };
            for field in fields.trim_end_matches('}').split([',', '|']) {
                let field = field.trim().trim_end_matches('?');
                let told = |name: &str| {
                    let line = format!(r#"{{"type":"{kind}","{name}":[]}}"#);
                    // An empty list is valid where lists are accepted.
                    let wrong =
                        if is_agent { line.parse::<FromAgent>().err() } else { line.parse::<FromConnector>().err() };
                    wrong.map(|why| why.message).unwrap_or_default()
                };
                assert!(!told(field).contains("there is no field"), "{kind}: {field}");
                let near = field.to_uppercase();
                assert!(told(&near).contains(&format!("did you mean `{field}`?")), "{}", told(&near));
                assert!(!told(&near).contains(&format!("missing field `{field}`")), "it is there: {}", told(&near));
                seen += 1;
            }
        }
    }
    assert!(seen > 35, "{seen}");
}

#[tokio::test]
async fn a_foreground_agent_without_a_connector_hears_that_nobody_is_there() {
    let engine = engine().await;
    let mut bot = Wire::open(Bot::agent(&engine, &id("lead")).unwrap());
    bot.read_type("hello").await;
    bot.write(r#"{"type":"message","text":"anybody?"}"#).await;
    let told = soon("an answer", bot.read_type("error")).await;
    assert_eq!(
        (told["code"].as_str(), told["message"].as_str()),
        (Some("NOBODY_THERE"), Some("no user of this agent is connected"))
    );
}
