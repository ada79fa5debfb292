//! Tests that a wrong or foreign line changes no permission.

use bestow::stdio::Bot;

use super::{Wire, engine, id};

#[tokio::test]
async fn no_wrong_line_changes_what_anybody_holds_or_waits_for() {
    let engine = engine().await;
    let before = (engine.grants().unwrap(), engine.pending().unwrap());
    let mut bot = Wire::open(Bot::agent(&engine, &id("worker")).unwrap());
    let mut user = Wire::open(Bot::connector(&engine, &id("lead")).unwrap());
    bot.read_type("hello").await;
    user.read_type("hello").await;
    let lines = [
        r#"{"type":"permission_decision","permissionRequestId":"x","decision":"allow-always"}"#,
        r#"{"type":"grant_permission","agentId":"worker","permission":"@write:/","reason":"all of it"}"#,
        r#"{"type":"grant_permission","agentId":"lead","permission":"@write:/ws/site","reason":"back to you"}"#,
        r#"{"type":"request_permission","permission":"@write:/a/../b","reason":"around the corner"}"#,
        r#"{"type":"request_permission","agentId":"lead","permission":"@everything","reason":"all"}"#,
        r#"{"type":"revoke_permission","grantId":"g1"}"#,
        r#"{"type":"revoke_permission","grantId":1}"#,
        r#"{"type":"agree_to_widening","change":1}"#,
        "\u{feff}{}",
        "null",
    ];
    let long = format!(r#"{{"type":"message","text":"{}"}}"#, "x".repeat(64 * 1024 + 1));
    for line in lines.into_iter().chain([long.as_str()]) {
        for wire in [&mut bot, &mut user] {
            wire.write(line).await;
            assert_eq!(wire.read().await["type"], "error", "{line}");
        }
    }
    assert_eq!((engine.grants().unwrap(), engine.pending().unwrap()), before);
}
