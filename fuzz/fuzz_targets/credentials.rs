//! Tests the file of credentials, and tokens. No file makes a token valid that the file does not have.

#![no_main]

use std::fs;

use arbitrary::Arbitrary;
use bestow::event::Timestamp;
use bestow_http::credentials::{CredentialFile, Credentials};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Input {
    content: String,
    token: String,
}

fuzz_target!(|input: Input| {
    let directory = tempfile::tempdir().unwrap();
    let file = CredentialFile::in_directory(directory.path());
    fs::write(file.path(), &input.content).unwrap();
    let now = Timestamp::from_millis(1_000_000);
    let listed = file.list();
    if let Err(why) = &listed {
        assert!(!why.to_string().is_empty());
    }
    if let Ok(found) = Credentials::of(file.clone()).authenticate(&input.token, now) {
        assert!(found.is_live(now) && listed.unwrap().contains(&found));
        // A token has the id of its credential, and the file has no secret.
        assert!(input.token.starts_with(&format!("bestow_{}_", found.id)) && !input.content.contains(&input.token));
    }
});
