//! Tests the bodies of requests and the frames of sockets. What is read is what any other reader reads.

#![no_main]

use bestow_http::fuzzing::{body, frame};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|text: &[u8]| {
    match body(text) {
        Ok(fields) => assert_eq!(serde_json::from_slice::<Value>(text).unwrap(), Value::Object(fields)),
        Err(why) => assert!(!why.is_empty()),
    }
    match frame(text) {
        Ok(None) => assert_eq!(body(text).unwrap()["type"], "ping"),
        Ok(Some(request)) => {
            let fields = body(text).unwrap();
            assert!(!request.is_empty() && fields["type"] == "decision" && fields["data"]["requestId"] == request);
            assert!(["approve", "reject", "approve_always"].iter().any(|word| fields["data"]["decision"] == *word));
        }
        Err(why) => assert!(!why.is_empty()),
    }
});
