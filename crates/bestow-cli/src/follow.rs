//! `bestow requests --follow`: the requests that wait, as they come and end.

use std::{
    io::{self, Write as _, stdout},
    path::{Path, PathBuf},
};

use bestow::{control::RequestNews, event::camel_case};
use serde_json::json;

use crate::{
    args::Form,
    exit::Exit,
    feed::{Fed, Feed},
    pump, state,
};

/// Prints a line for each request that waits now, each that comes, and each end, until the engine ends.
pub(crate) fn follow(directory: &Path, form: Form) -> Result<Exit, Exit> {
    state::require(directory)?;
    let directory = directory.to_owned();
    pump::until_told(move || followed(directory, form))
}

fn followed(directory: PathBuf, form: Form) -> Exit {
    let mut feed = Feed::of(&directory);
    loop {
        match feed.next() {
            Fed::Current(news) | Fed::Changed(news) => {
                if let Err(why) = print(&news, form) {
                    return Exit::output_failed(&why);
                }
            }
            Fed::Lost(why) => {
                return Exit::failed(format_args!(
                    "{why}: start `bestow requests --follow` again when an engine runs, or use `bestow watch`, which \
                     waits for one"
                ));
            }
            Fed::Refused(why) => return Exit::Denied(why),
        }
    }
}

/// Prints one line for each piece of news. A reader gets whole lines, at once.
pub(crate) fn print(news: &[RequestNews], form: Form) -> io::Result<()> {
    let line = |news: &RequestNews| match form {
        Form::Text => format!("{news}\n"),
        Form::Json => format!("{}\n", camel_case(json!(news))),
    };
    let mut output = stdout().lock();
    news.iter().try_for_each(|news| output.write_all(line(news).as_bytes()))?;
    output.flush()
}
