//! Plain lines, for a reader that is no terminal.

use std::path::{Path, PathBuf};

use crate::{
    args::Form,
    exit::Exit,
    feed::{Fed, Feed},
    follow, pump,
};

/// Prints a line for each request and for each end. Standard error tells when the engine is lost and found.
pub(super) fn print(state: &Path) -> Result<Exit, Exit> {
    let state = state.to_owned();
    pump::until_told(move || printed(state))
}

fn printed(state: PathBuf) -> Exit {
    let mut feed = Feed::of(&state);
    let mut was_lost = false;
    loop {
        let news = match feed.next() {
            Fed::Current(news) => {
                if std::mem::take(&mut was_lost) {
                    eprintln!("bestow: the engine runs again");
                }
                news
            }
            Fed::Changed(news) => news,
            Fed::Lost(why) => {
                was_lost = true;
                eprintln!("bestow: {why}: waiting for it");
                continue;
            }
            Fed::Refused(why) => return Exit::Denied(why),
        };
        if let Err(why) = follow::print(&news, Form::Text) {
            return Exit::output_failed(&why);
        }
    }
}
