//! The writer. It lacks permissions, requests them, continues with other work, and returns when there is an answer.

use std::path::Path;

use bestow::{
    Outcome, Permission,
    stdio::{FromAgent, GrantPermission, NoticeKind, PermissionResult, RequestPermission, ToAgent},
};

use super::talk::{Result, Talk};

pub(crate) fn run() -> Result<()> {
    let (hello, mut talk) = Talk::begin()?;
    let site = Path::new(&hello.working_dir);
    let workspace = site.parent().ok_or("the site lies in no workspace")?;
    let report = workspace.join("reports/summary.md");
    talk.told_by(Some("lead"))?;

    // It lacks two permissions. It requests them and does not wait.
    if talk.write(&report, "")?.is_err() {
        eprintln!("I lack two permissions: I ask for them, and write the pages meanwhile");
    }
    ask(&talk, "reports", write_to(&workspace.join("reports"))?, "to write a summary of what I did")?;
    ask(&talk, "network", Permission::Network, "to look up how others do it")?;

    // It continues with work that it may do.
    talk.write(&site.join("index.html"), "<h1>Home</h1>\n")??;
    talk.write(&site.join("about.html"), "<h1>About</h1>\n")??;

    // Then it reads the answers to its requests, in any order.
    let looked_up = answered(&mut talk, "network")?;
    let sources = match looked_up.outcome {
        Outcome::Granted => "looked up how others do it".to_owned(),
        Outcome::Denied | Outcome::Expired | Outcome::Cancelled | Outcome::Unavailable => {
            format!("looked nothing up: {}", looked_up.text)
        }
    };
    if answered(&mut talk, "reports")?.outcome == Outcome::Granted {
        talk.write(&report, &format!("# Summary\n\nTwo pages written; {sources}.\n"))??;
    }
    talk.tell(Some("lead"), "the pages are written; where do the images go?")?;

    // It receives a permission, and passes on a part of it. It cannot pass on more than it holds.
    noticed(&mut talk, NoticeKind::Granted)?;
    let assets = workspace.join("assets");
    talk.write(&assets.join("logo.svg"), "<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n")??;
    for (part, path) in [("more", workspace), ("checked", &assets.join("checked"))] {
        talk.say(&FromAgent::GrantPermission(GrantPermission {
            agent_id: "checker".parse()?,
            about: write_to(path)?.into(),
            reason: "to note that the images are checked".parse()?,
            scope: None,
            request_id: Some(part.to_owned()),
        }))?;
        // The events tell the result.
        let _ = talk.answer(part, |heard| if let ToAgent::GrantResult(_) = heard { Some(()) } else { None })?;
    }

    // The permission is revoked.
    noticed(&mut talk, NoticeKind::Lost)?;
    if talk.write(&assets.join("late.svg"), "")?.is_ok() {
        return Err("wrote where I may no longer write".into());
    }
    talk.tell(Some("lead"), "the site is done")?;
    // A bot stays until the engine says `bye`.
    talk.until(|heard| if let ToAgent::Bye(_) = heard { Some(()) } else { None })
}

fn write_to(path: &Path) -> Result<Permission> {
    Ok(Permission::write(path.to_str().ok_or("a path that is no text")?.parse()?))
}

fn ask(talk: &Talk, name: &str, wanted: Permission, reason: &str) -> Result<()> {
    talk.say(&FromAgent::RequestPermission(RequestPermission {
        about: wanted.into(),
        reason: reason.parse()?,
        scope: None,
        request_id: Some(name.to_owned()),
    }))
}

/// Waits for the end of the request called `name`.
fn answered(talk: &mut Talk, name: &str) -> Result<PermissionResult> {
    talk.until(|heard| match heard {
        ToAgent::PermissionResult(result) if result.request_id.as_deref() == Some(name) => Some(result.clone()),
        _ => None,
    })
}

fn noticed(talk: &mut Talk, kind: NoticeKind) -> Result<String> {
    talk.until(|heard| match heard {
        ToAgent::Notice(notice) if notice.notice == kind => Some(notice.text.clone()),
        _ => None,
    })
}
