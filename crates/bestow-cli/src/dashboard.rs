//! `bestow dashboard`: opens the dashboard of a running server.

use std::{
    collections::BTreeSet,
    fs::{self, OpenOptions},
    io::{self, Write},
    net::TcpStream,
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use bestow::{
    PolicyFile,
    event::Timestamp,
    host::{Clock as _, SystemClock},
    text::Escaped,
    user::{ApproverId, OwnerId},
};
use bestow_http::credentials::{CredentialFile, Role};
use serde::Deserialize;

use crate::{
    args::{DashboardArgs, user_name},
    exit::Exit,
    serve::SERVER_FILE,
};

/// The page that leads the browser to the dashboard. The secret of a link does not belong on a command line, which
/// other users can read.
const PAGE: &str = "dashboard.html";

/// Opens the dashboard, or prints a link to it.
pub(crate) fn dashboard(args: &DashboardArgs) -> Result<Exit, Exit> {
    let running = running(&args.state)?;
    let owner = match &args.owner {
        Some(owner) => owner.clone(),
        None => only_owner(&args.policy.config)?,
    };
    let by = match &args.by {
        Some(by) => by.clone(),
        None => user_name("--by")?,
    };
    let link = link(args.url.as_ref().unwrap_or(&running), &args.state, owner, by)?;
    show(&link, &args.state, args.print_link)
}

/// Shows a link in the browser. If none can be opened, or none should be, the link is printed.
pub(crate) fn show(link: &str, state: &Path, only_print: bool) -> Result<Exit, Exit> {
    if only_print {
        return Ok(Exit::print(&format!("{link}\n")));
    }
    let page = state.join(PAGE);
    let opened = write_page(&page, link).and_then(|()| open::that_detached(&page));
    Ok(Exit::print(&match opened {
        Ok(()) => "The dashboard opens in the browser.\n".to_owned(),
        Err(why) => format!("No browser could be opened ({why}). Open this link, which works once:\n{link}\n"),
    }))
}

/// Makes a link to the dashboard of the server at `url`.
pub(crate) fn link(url: &str, state: &Path, owner: OwnerId, by: ApproverId) -> Result<String, Exit> {
    let now: Timestamp = SystemClock::new().now().map_err(Exit::failed)?;
    let file = CredentialFile::in_directory(state);
    let role = Role::Approver { owner, by };
    let issued = file.create_link(role, Some("dashboard".to_owned()), now).map_err(Exit::failed)?;
    Ok(format!("{}/#link={}", url.trim_end_matches('/'), issued.token))
}

/// The content of the server's file.
#[derive(Deserialize)]
struct Found {
    url: String,
}

/// Returns the address of the server that runs on a state directory.
fn running(state: &Path) -> Result<String, Exit> {
    let none = |why: &str| {
        let state = state.display().to_string();
        let state = Escaped(&state);
        Exit::failed(format!(
            "no server runs on the state directory {state} ({why}): `bestow serve --state {state}` starts one"
        ))
    };
    let text = fs::read(state.join(SERVER_FILE)).map_err(|why| none(&why.to_string()))?;
    let found: Found = serde_json::from_slice(&text).map_err(|why| none(&why.to_string()))?;
    let address = found.url.strip_prefix("http://").unwrap_or(&found.url);
    TcpStream::connect(address).map_err(|why| none(&why.to_string()))?;
    Ok(found.url)
}

/// Returns the owner of all agents in a policy file.
fn only_owner(file: &Path) -> Result<OwnerId, Exit> {
    let (policy, _) = PolicyFile::new(file).check().map_err(Exit::failed)?;
    let owners: BTreeSet<_> = policy.agents.values().map(|agent| agent.profile.owner.clone()).collect();
    let mut all = owners.iter();
    match (all.next(), all.next()) {
        (Some(owner), None) => Ok(owner.clone()),
        (None, _) => Err(Exit::usage("the policy file has no agents: name the owner with `--owner`")),
        (Some(_), Some(_)) => {
            let names: Vec<_> = owners.iter().map(|owner| format!("`{owner}`")).collect();
            Err(Exit::usage(format!(
                "the policy file has several owners: choose one with `--owner`: {}",
                names.join(", ")
            )))
        }
    }
}

/// Writes the page that leads to the link. Only this user can read it.
fn write_page(page: &Path, link: &str) -> io::Result<()> {
    match fs::remove_file(page) {
        Err(why) if why.kind() != io::ErrorKind::NotFound => return Err(why),
        Ok(()) | Err(_) => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(page)?;
    let address = escaped(link);
    write!(
        file,
        "<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta http-equiv=\"refresh\" content=\"0; url={address}\">\n<title>bestow</title>\n\
         <p><a href=\"{address}\">Open the dashboard</a></p>\n"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;")
}
