//! The program of `docs/embedding.md`: `cargo run --example embedding`, and on Linux with `--features sandbox`.

use std::{error::Error, process::ExitCode, time::Duration};

use bestow::{
    Action, Agent, Answer, Engine, InitialGrants, Kind, Outcome, Permission, PermissionRequest, Profile, Settings,
    action::{Authorization, Operation},
    grant::{PermissionRef, Scope},
    host::{Clock, SystemClock},
    tool::{Tool, Tools},
};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    // With the feature `sandbox`, this program is also the helper that confines its commands.
    #[cfg(feature = "sandbox")]
    if let Some(code) = bestow::sandbox::enter_if_asked() {
        return code;
    }
    run().map_or_else(|why| (eprintln!("{why}"), ExitCode::FAILURE).1, |()| ExitCode::SUCCESS)
}

#[tokio::main]
async fn run() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let site = directory.path().to_str().ok_or("the path is not text")?;
    let engine = Engine::new(Settings::default())?;
    let profile = |id: &str, kind| Result::Ok(Profile::new(id.parse()?, "you".parse()?, kind, site.parse()?));

    let write: Permission = format!("@write:{site}").parse()?;
    let lead = engine.register(profile("lead", Kind::Foreground)?, InitialGrants::of([write.clone()])).await?;
    let worker = engine.register(profile("worker", Kind::Subagent)?, InitialGrants::nothing()).await?;
    let checker = engine.register(profile("checker", Kind::Subagent)?, InitialGrants::nothing()).await?;

    let mut events = engine.subscribe();

    let ann = engine.approver("you", "ann", "terminal");
    let user = tokio::spawn(engine.serve_user("lead", &ann, async |question| {
        println!("[{}] {question}", question.code()); // your program asks a person here
        Answer::allow()
    }));

    let ticket = worker.request(PermissionRequest::new(Permission::Network, "to read the latest docs")).await?;
    println!("{}", ticket.resolution().await); // meanwhile, other tasks go on
    assert!(worker.check(PermissionRef::Network).is_held());

    let soon = SystemClock::new().now()?.after(Duration::from_secs(600));
    let given = lead.grant_for("worker", &write, Scope::Until(soon), "you write the pages").await?;
    worker.grant("checker", &write, "you correct them").await?;
    assert!(checker.check(&write).is_held());

    let page = format!("{site}/index.html");
    println!("{}", worker.explain(&Action::write(&page))?);
    worker.fs().write(&page, "<h1>Hello</h1>\n").await?;

    println!("{}", command(&worker, "ls").await?);
    println!("{}", command(&worker, "rm index.html").await?); // the user is asked, and allows it

    #[cfg(feature = "sandbox")]
    {
        use bestow::sandbox::{Command, Sandbox};
        let done = worker.run(&Sandbox::with_this_program()?, Command::new("ls").arg("-A")).await?;
        println!("exit {:?} under {}", done.code, done.facts.backend);
    }

    let save = Tool::new("save_page".parse()?, Operation::Write).path("page.path".parse()?);
    engine.declare_tools(Tools::new([save])?)?;
    let call = Action::tool("save_page".parse()?, serde_json::json!({ "page": { "path": "about.html" } }));
    assert!(worker.authorize(call).await?.is_allowed());

    for grant in given {
        lead.revoke(grant, None).await?;
    }
    assert!(!worker.check(&write).is_held());
    assert!(!checker.check(&write).is_held(), "the grant of the checker rested on the revoked one");

    user.abort();
    engine.shutdown().await;
    while let Ok(event) = events.next().await {
        println!("{event}");
    }
    Ok(())
}

async fn command(agent: &Agent, line: &str) -> Result<String> {
    loop {
        match agent.authorize(Action::command(line)).await? {
            Authorization::Allowed(_) => {
                let cwd = agent.profile()?.working_dir.clone();
                let output = tokio::process::Command::new("sh").args(["-c", line]).current_dir(cwd.as_path()).output();
                return Ok(String::from_utf8_lossy(&output.await?.stdout).into_owned());
            }
            Authorization::Asked(_, ticket) => {
                let ended = ticket.resolution().await;
                if ended.outcome != Outcome::Granted {
                    return Ok(format!("not now: {ended}")); // a model can read this
                }
            }
            Authorization::Denied(decision)
            | Authorization::Confined(decision, _)
            | Authorization::Updated(decision, _) => return Ok(format!("no: {}", decision.decision_reason)),
        }
    }
}
