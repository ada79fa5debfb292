//! Tests that no text makes the classifier panic, and that no text hides a removal of everything on the next line.

#![no_main]

use bestow::command::{Tier, classify};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let answer = classify(text);
    for part in &answer.parts {
        assert!(part.tier <= answer.tier);
        assert!(part.span.start <= part.span.end && part.span.end <= text.len());
    }
    let appended = classify(&format!("{text}; rm -rf /"));
    assert!(appended.tier >= answer.tier);
    // A command that is understood and safe ends where it appears to end, so the next line is a command.
    let plain = !text.contains("<<") && !text.ends_with('\\');
    if answer.tier == Tier::Safe && plain {
        assert_eq!(classify(&format!("{text}\nrm -rf /")).tier, Tier::Destructive);
    }
});
