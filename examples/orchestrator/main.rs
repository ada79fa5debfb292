//! The whole story in a minute, with real processes, real files, and you as the user.
//!
//! ```text
//! cargo run --example orchestrator              asks you in the terminal
//! cargo run --example orchestrator -- --script  answers for you
//! cargo run --example orchestrator -- --dir D   works in D instead of a temporary directory
//! cargo run --example orchestrator -- --help    says this
//! ```
//!
//! A *lead* talks with you through a *console*. A *writer* (Rust) and a *checker* (Python) work for it. All four are
//! child processes that speak the protocol of `docs/protocol.md`. This program only starts them, prints the events, and
//! edits `agents.toml` once. With the feature `schedule` it also runs a scheduled task.

#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "a bot listens for one thing at a time, and what it does not know is for newer bots"
)]

#[path = "../bots/answer.rs"]
mod answer;
#[path = "../bots/console.rs"]
mod console;
#[path = "../bots/lead.rs"]
mod lead;
#[cfg(feature = "schedule")]
mod night;
mod open;
mod place;
#[path = "../bots/talk.rs"]
mod talk;
mod teller;
mod verdict;
#[path = "../bots/writer.rs"]
mod writer;

use std::{error::Error, fs::OpenOptions, path::PathBuf, process::ExitCode, time::Duration};

use bestow::{
    Engine,
    stdio::{Bot, Exit, Running},
    text::Escaped,
};
use tokio::{
    process::Command,
    signal::unix::{SignalKind, signal},
};

use place::Place;
use teller::Teller;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The time limit of the story with a script.
const PATIENCE: Duration = Duration::from_secs(60);

const USAGE: &str = "\
usage: orchestrator [--script] [--dir D]

  --script  answers for you, instead of asking in the terminal
  --dir D   works in D, which stays, instead of a temporary directory
  --help    says this
";

/// The exit status for an invalid command line (`sysexits.h`).
const EX_USAGE: u8 = 64;

#[derive(Default)]
struct Options {
    scripted: bool,
    dir: Option<PathBuf>,
}

/// A command line.
enum Call {
    Help,
    Run(Options),
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    // The bots in Rust are this program too, so that one file is enough to run the example.
    let ended = match arguments.as_slice() {
        ["bot", "lead"] => lead::run().map(|()| ExitCode::SUCCESS),
        ["bot", "writer"] => writer::run().map(|()| ExitCode::SUCCESS),
        ["bot", "console", mode] => console::run(*mode == "--script").map(|()| ExitCode::SUCCESS),
        options => match parse(options) {
            Ok(Call::Run(options)) => orchestrate(options),
            Ok(Call::Help) => {
                print!("{USAGE}");
                return ExitCode::SUCCESS;
            }
            Err(why) => {
                eprint!("{why}\n{USAGE}");
                return ExitCode::from(EX_USAGE);
            }
        },
    };
    ended.unwrap_or_else(|why| {
        eprintln!("{why}");
        ExitCode::FAILURE
    })
}

fn parse(arguments: &[&str]) -> std::result::Result<Call, String> {
    let mut options = Options::default();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match *argument {
            "--help" | "-h" => return Ok(Call::Help),
            "--script" => options.scripted = true,
            "--dir" => options.dir = Some(PathBuf::from(arguments.next().ok_or("--dir needs a directory")?)),
            other => return Err(format!("`{}` is no option", Escaped(other))),
        }
    }
    Ok(Call::Run(options))
}

#[tokio::main]
async fn orchestrate(mut options: Options) -> Result<ExitCode> {
    // Without a terminal, the example cannot ask a person.
    if !options.scripted && OpenOptions::new().read(true).write(true).open("/dev/tty").is_err() {
        println!("no terminal: answering by script");
        options.scripted = true;
    }
    let (mut terminated, mut hung_up) = (signal(SignalKind::terminate())?, signal(SignalKind::hangup())?);
    let place = Place::prepare(options.dir)?;
    let engine = Engine::open(place.policy()).await?;
    let teller = Teller::follow(&engine, &place, !options.scripted);
    println!("The story happens in {}. The agents stand in agents.toml.", place.dir().display());

    let mut bots = Bots::start(&engine, &teller, &place, options.scripted)?;
    #[cfg(feature = "schedule")]
    let tasks = night::start(&engine).await?;
    let told_to_the_end = async {
        #[cfg(feature = "schedule")]
        night::story(&tasks, &teller).await?;
        let (_, exit) = tokio::try_join!(story(&teller, &place), bots.lead_ends())?;
        Ok(Ok(exit))
    };
    // The exit of the lead, or the exit status after a signal.
    let ended: Result<std::result::Result<Exit, u8>> = tokio::select! {
        // The signals come first, because they end the console too.
        biased;
        _ = tokio::signal::ctrl_c() => Ok(Err(130)),
        _ = terminated.recv() => Ok(Err(143)),
        _ = hung_up.recv() => Ok(Err(129)),
        ended = told_to_the_end => ended,
        () = tokio::time::sleep(PATIENCE), if options.scripted => Err("the story got stuck".into()),
    };
    bots.stop().await;
    engine.shutdown().await;
    let told = teller.finish(engine).await;
    match ended? {
        Err(status) => Ok(ExitCode::from(status)),
        Ok(exit) => Ok(verdict::verdict(&told, &place, &exit, options.scripted)),
    }
}

/// Runs the part of this program itself. The bots, the engine and you do the rest.
async fn story(teller: &Teller, place: &Place) -> Result<()> {
    // The lead revokes its grant to the writer. The grant of the writer to the checker ends with it.
    teller.until("what the checker was given to fall", verdict::fell_with_its_support).await?;
    // A person edits agents.toml while everything runs.
    place.let_the_checker_sign_off()?;
    println!("     agents.toml was edited");
    Ok(())
}

/// The four bots, as child processes. Dropping this kills them.
struct Bots {
    lead: Running,
    writer: Running,
    checker: Running,
    console: Running,
}

impl Bots {
    fn start(engine: &Engine, teller: &Teller, place: &Place, scripted: bool) -> Result<Bots> {
        let this = std::env::current_exe()?;
        let rust = |role: &[&str]| {
            let mut command = Command::new(&this);
            command.arg("bot").args(role);
            command
        };
        let mut python = Command::new("python3");
        python.arg(place.python_bot());
        let (mut writer, mut lead) = (rust(&["writer"]), rust(&["lead"]));
        // Ctrl-C must reach only this program, which then ends the bots. The console needs the terminal, so it stays in
        // the group.
        for command in [&mut python, &mut writer, &mut lead] {
            command.process_group(0);
        }
        let agent = |name| Ok::<_, Box<dyn Error>>(heard(name, Bot::agent(engine, &str::parse(name)?)?, teller, place));
        // The console may decide as the person `you`. No other bot may decide.
        let console = Bot::connector(engine, &"lead".parse()?)?.answering_as("you".parse()?);
        Ok(Bots {
            checker: agent("checker")?.spawn(python)?,
            writer: agent("writer")?.spawn(writer)?,
            lead: agent("lead")?.spawn(lead)?,
            console: heard("console", console, teller, place)
                .spawn(rust(&["console", if scripted { "--script" } else { "--ask" }]))?,
        })
    }

    /// Waits until the lead ends. If another bot ends earlier, this is an error.
    async fn lead_ends(&mut self) -> Result<Exit> {
        let (who, exit) = tokio::select! {
            exit = self.lead.wait() => return Ok(exit),
            exit = self.writer.wait() => ("writer", exit),
            exit = self.checker.wait() => ("checker", exit),
            exit = self.console.wait() => {
                return Err(format!("without the console nobody answers, so the story ends here ({exit})").into());
            }
        };
        Err(format!("the {who} ended too early: {exit}").into())
    }

    async fn stop(self) {
        tokio::join!(self.lead.stop(), self.writer.stop(), self.checker.stop(), self.console.stop());
    }
}

/// Shows the standard error of a bot beside the events.
fn heard(name: &'static str, bot: Bot, teller: &Teller, place: &Place) -> Bot {
    let (noticed, short) = (teller.noticed(), place.shortening());
    bot.stderr(move |line| {
        println!("     {name:>8} | {}", short(line));
        noticed();
    })
}
