//! Single texts: bodies, frames, messages, values, commands and credentials.

use std::sync::Arc;

use bestow::{
    Engine, Permission, Settings,
    command::{Classifier, Tier, classify},
    event::{CredentialOrder, Timestamp},
    grant::Scope,
    host::{AsWritten, ManualClock},
    request::RequestId,
    stdio::{FromAgent, FromConnector},
};
use bestow_http::{credentials::Credentials, fuzzing};
use serde_json::Value;

/// Checks the bodies of requests and the frames of `/ws/permissions`. What is read is what any other reader reads.
pub fn body(text: &[u8]) {
    match fuzzing::body(text) {
        Ok(fields) => assert_eq!(serde_json::from_slice::<Value>(text).unwrap(), Value::Object(fields)),
        Err(why) => assert!(!why.is_empty()),
    }
    match fuzzing::frame(text) {
        Ok(None) => assert_eq!(fuzzing::body(text).unwrap()["type"], "ping"),
        Ok(Some(request)) => {
            let fields = fuzzing::body(text).unwrap();
            assert!(!request.is_empty() && fields["type"] == "decision" && fields["data"]["requestId"] == request);
            assert!(["approve", "reject", "approve_always"].iter().any(|word| fields["data"]["decision"] == *word));
        }
        Err(why) => assert!(!why.is_empty()),
    }
}

/// Checks the messages of `/ws` and of bots over stdio. A message that is carried out is one object with a known type,
/// and an error names its cause and repeats the identifier that the client chose.
pub fn message(text: &str) {
    let any: Option<Value> = serde_json::from_str(text).ok();
    let kind = any.as_ref().and_then(|any| any["type"].as_str().map(str::to_owned));
    match fuzzing::message(text) {
        None => assert!(kind.is_some_and(|kind| !kind.is_empty())),
        Some(error) => {
            let code = error["code"].as_str().unwrap();
            assert!(["PARSE_ERROR", "VALIDATION_ERROR", "FORBIDDEN"].contains(&code), "{error}");
            assert!(error["type"] == "error" && !error["message"].as_str().unwrap().is_empty());
            assert!(any.is_some() || code != "FORBIDDEN");
            if let Some(repeated) = error.get("requestId") {
                assert_eq!(Some(repeated), any.as_ref().map(|any| &any["requestId"]));
            }
        }
    }
    for faulty in [text.parse::<FromAgent>().err(), text.parse::<FromConnector>().err()].into_iter().flatten() {
        assert!(!faulty.message.is_empty());
    }
    if let Ok(said) = text.parse::<FromConnector>()
        && let Some(id) = said.request_id()
    {
        assert_eq!(any.unwrap()["requestId"], id);
    }
}

/// Checks the values that queries, headers and bodies have. A value that is read is written in a form that is read as
/// the same value.
pub fn value(text: &str) {
    if let Ok(permission) = text.parse::<Permission>() {
        assert_eq!(permission.to_string().parse::<Permission>(), Ok(permission));
    }
    if let Ok(scope) = text.parse::<Scope>() {
        assert_eq!(scope.to_string().parse::<Scope>(), Ok(scope));
    }
    if let Ok(moment) = text.parse::<Timestamp>() {
        assert_eq!(moment.to_string().parse::<Timestamp>(), Ok(moment));
    }
    if let Ok(id) = text.parse::<RequestId>() {
        assert_eq!(id.to_string().parse::<RequestId>(), Ok(id));
    }
}

/// Checks that no text makes the classifier panic, and that no text hides a removal of everything on the next line.
pub fn command(text: &str) {
    let answer = classify(text);
    // The answer does not depend on whether somebody asks for the commands and the resources.
    assert_eq!(Classifier::default().judge(text).classification, answer);
    for part in &answer.parts {
        assert!(part.tier <= answer.tier);
        assert!(part.span.start <= part.span.end && part.span.end <= text.len());
    }
    // Behind a backslash, what follows belongs to the last word.
    let ends = !text.ends_with('\\');
    let appended = classify(&format!("{text}; rm -rf /"));
    assert!(appended.tier >= answer.tier || !ends);
    // A command that is understood and safe ends where it appears to end, so the next line is a command.
    let plain = !text.contains("<<") && ends;
    if answer.tier == Tier::Safe && plain {
        assert_eq!(classify(&format!("{text}\nrm -rf /")).tier, Tier::Destructive);
    }
}

/// Checks orders about credentials, and tokens. No order makes a token valid whose hash it does not have.
pub fn credentials(content: &str, token: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let _inside = runtime.enter();
    let now = Timestamp::from_millis(1_000_000);
    let engine = Engine::on(Settings::default(), Arc::new(ManualClock::at(now)), Arc::new(AsWritten)).unwrap();
    if let Ok(order) = serde_json::from_str::<CredentialOrder>(content)
        && let Err(why) = runtime.block_on(engine.change_credential(order, None, "fuzz".into()))
    {
        assert!(!why.to_string().is_empty());
    }
    let credentials = Credentials::of(&engine);
    if let Ok(found) = credentials.authenticate(token, now) {
        assert!(found.revoked_at.is_none() && credentials.list().contains(&found));
        // A token has the id of its credential, and the order has no secret.
        assert!(token.starts_with(&format!("bestow_{}_", found.id)) && !content.contains(token));
    }
}
