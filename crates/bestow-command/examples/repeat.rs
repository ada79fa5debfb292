//! Classifies each line of a file as often as an argument says, so that its instructions can be counted:
//!
//! ```text
//! cargo build --release -p bestow-command --example repeat
//! valgrind --tool=callgrind --cache-sim=no target/release/examples/repeat 10 < commands.jsonl
//! ```
//!
//! The input has one `{"command":"…"}` per line. The instructions of one classification are the difference of two runs
//! with different counts, divided by the lines and by the difference of the counts.

use std::{hint::black_box, io::BufRead};

use bestow_command::Classifier;

fn main() {
    let count = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(1);
    let rows = std::io::stdin().lock().lines().map_while(Result::ok);
    let rows = rows.filter_map(|row| serde_json::from_str::<serde_json::Value>(&row).ok());
    let lines: Vec<String> = rows.filter_map(|row| Some(row.get("command")?.as_str()?.to_owned())).collect();
    let classifier = Classifier::default();
    for _ in 0..count {
        for line in &lines {
            drop(black_box(classifier.classify(black_box(line))));
        }
    }
}
