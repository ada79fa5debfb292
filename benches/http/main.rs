//! Measures the server: its requests per second beside a bare axum handler, the times of hooks and of a thousand
//! subscribers, and its memory. The servers are processes of their own, and the clients use real sockets:
//! `cargo bench -p bestow-benches --bench http`. One part alone: `-- check`, `classify`, `subscribers` or `memory`.
//! Prints tables. It makes no assertions about time.
#![allow(missing_docs, reason = "a bench has no reader but its author and the next one")]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a bench may stop, and looks at the clock"
)]

mod bare;
mod check;
mod classify;
mod connection;
mod figures;
mod server;
mod socket;
mod subscribers;

fn main() {
    // Cargo adds `--bench`.
    let words: Vec<_> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    if words == ["bare"] {
        return bare::serve();
    }
    let is_wanted = |part: &str| words.is_empty() || words.iter().any(|word| word == part);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        if is_wanted("check") {
            check::measure().await;
        }
        if is_wanted("classify") {
            classify::measure().await;
        }
        if is_wanted("subscribers") {
            subscribers::measure().await;
        }
        if is_wanted("memory") {
            subscribers::memory().await;
        }
    });
}
