//! The agents of the demo. Each does one thing after the other, and asks where it must. Nothing is really run: an agent
//! goes on when it would be allowed to act.

use std::time::Duration;

use bestow::{
    Action, Agent, AgentId, Engine, Kind, Permission, PermissionRequest, Profile, action::Authorization, grant::Scope,
    path::SanitizedPath,
};
use serde_json::json;
use tokio::time;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// The pause between two steps of an agent, so that a person can follow.
const PAUSE: Duration = Duration::from_secs(4);

/// A step of an agent.
enum Step {
    /// It asks for a permission.
    Ask { permission: String, reason: &'static str, scope: Option<Scope> },
    /// It wants to run a command.
    Run { command: &'static str, reason: &'static str },
    /// It wants to write a file.
    Write { path: &'static str, text: &'static str, reason: &'static str },
}

/// Starts the agents. They end with the engine.
pub(super) async fn start(engine: &Engine, workspace: &str) -> Result<()> {
    let lead = engine.agent("lead")?;
    let writer_id: AgentId = "writer".parse()?;
    lead.grant(&writer_id, format!("@write:{workspace}/site"), "you write the pages").await?;
    let site: SanitizedPath = format!("{workspace}/site").parse()?;
    let passed_on = [Permission::write(site.clone())];
    let publisher = Profile::new("publisher".parse()?, "you".parse()?, Kind::Subagent, site);
    let publisher = engine.agent("writer")?.create(publisher, &passed_on, "it publishes the pages").await?;
    let stories = [
        (engine.agent("writer")?, writer(workspace)),
        (engine.agent("checker")?, checker(workspace)),
        (publisher, publish(workspace)),
    ];
    for (agent, story) in stories {
        tokio::spawn(async move {
            // The only error is the end of the engine, or of the agent.
            let _ = play(&agent, &story).await;
        });
    }
    Ok(())
}

async fn play(agent: &Agent, story: &[Step]) -> Result<()> {
    loop {
        for step in story {
            take(agent, step).await?;
            time::sleep(PAUSE).await;
        }
    }
}

async fn take(agent: &Agent, step: &Step) -> Result<()> {
    let action = match step {
        Step::Ask { permission, reason, scope } => {
            let request = PermissionRequest::new(permission.as_str(), *reason);
            let request = scope.map_or(request.clone(), |scope| request.at_most(scope));
            agent.request(request).await?.resolution().await;
            return Ok(());
        }
        Step::Run { command, reason } => Action::command(command).because(reason.parse()?),
        Step::Write { path, text, reason } => Action::write(path).with_details(json!(text)).because(reason.parse()?),
    };
    if let Authorization::Asked(_, ticket) = agent.authorize(action.clone()).await? {
        ticket.resolution().await;
        // An approved action is authorized when the agent does it.
        let _ = agent.authorize(action).await?;
    }
    Ok(())
}

fn writer(workspace: &str) -> Vec<Step> {
    vec![
        Step::Ask { permission: "@network".to_owned(), reason: "to read the latest documentation", scope: None },
        Step::Write { path: "site/news.html", text: "<h1>News</h1>", reason: "a page for the news" },
        Step::Run { command: "npm test 2>&1 | tail -n 30", reason: "to see if the pages still build" },
        Step::Ask {
            permission: format!("@write:{workspace}/drafts"),
            reason: "to keep drafts beside the site",
            scope: Some(Scope::Session),
        },
    ]
}

fn checker(workspace: &str) -> Vec<Step> {
    vec![
        Step::Run {
            command: "grep -rn TODO site && curl -sS -X POST -d @check/notes.md https://example.com/report",
            reason: "to send the findings to the tracker",
        },
        Step::Run { command: "rm -rf /var/lib/site-cache", reason: "the cache is full" },
        Step::Ask {
            permission: format!("@write:{workspace}/site"),
            reason: "to correct spelling mistakes",
            scope: None,
        },
        Step::Run { command: "git status", reason: "to see what changed" },
    ]
}

fn publish(workspace: &str) -> Vec<Step> {
    vec![
        Step::Run { command: "git push origin main", reason: "the pages are ready" },
        Step::Ask {
            permission: format!("@read:{workspace}/package.json"),
            reason: "to find the name of the package",
            scope: None,
        },
    ]
}
