//! `bestow demo`: a server with agents that play a story.

mod agents;
mod place;
mod tasks;

use bestow::{text::Escaped, user::OwnerId};

use self::place::Place;
use crate::{
    args::{DemoArgs, NoteArgs, PolicyFileArgs, ServeArgs, ShareArgs, user_name},
    dashboard,
    exit::Exit,
    serve,
};

/// The owner of the agents.
const OWNER: &str = "you";

/// Runs the demo until a signal ends this process.
pub(crate) fn demo(args: &DemoArgs) -> Result<Exit, Exit> {
    let place = Place::prepare(args.dir.as_deref()).map_err(Exit::failed)?;
    let by = user_name("USER")?;
    let owner: OwnerId = OWNER.parse().map_err(Exit::failed)?;
    let served = ServeArgs {
        policy: PolicyFileArgs { config: place.policy() },
        state: place.state(),
        listen: args.listen,
        ready_file: None,
        notes: NoteArgs::default(),
        allow_host: Vec::new(),
        allow_origin: Vec::new(),
        behind_tls_proxy: false,
        shares: ShareArgs::default(),
    };
    let workspace = place.directory().join("workspace").display().to_string();
    serve::serve_with(&served, |url, engine| {
        let directory = place.directory().display().to_string();
        eprintln!("The agents of the demo work in {}. Ctrl-C ends it.", Escaped(&directory));
        let engine = engine.clone();
        tokio::spawn(async move {
            if let Err(why) = agents::start(&engine, &workspace).await {
                eprintln!("bestow: the agents of the demo did not start: {why}");
            }
            if let Err(why) = tasks::run_once(&engine).await {
                eprintln!("bestow: the tasks of the demo did not run: {why}");
            }
        });
        let link = dashboard::link(url, &served.state, owner, by, None)?;
        let shown = dashboard::show(&link, &served.state, args.print_link)?;
        if let Exit::Failed(why) = shown { Err(Exit::Failed(why)) } else { Ok(()) }
    })
}
