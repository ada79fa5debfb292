//! `bestow dashboard`: opens the dashboard of a running server.

use std::{
    collections::BTreeSet,
    fs::{self, OpenOptions},
    io::{self, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::Path,
};

use bestow::{
    PolicyFile,
    control::AdminCommand,
    event::Timestamp,
    host::{Clock as _, SystemClock},
    journal::{Disk as _, RealDisk},
    text::Escaped,
    user::{ApproverId, OwnerId},
};
use bestow_http::credentials::{Role, UnrecordedToken};
use serde::Deserialize;

use crate::{
    args::{DashboardArgs, user_name},
    exit::Exit,
    server_files::{LOCK, PAGE, SERVER_FILE},
    state::{Lasting, lines},
};

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
    let link = link(args.url.as_ref().unwrap_or(&running), &args.state, owner, by, args.token_file.as_deref())?;
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
pub(crate) fn link(
    url: &str,
    state: &Path,
    owner: OwnerId,
    by: ApproverId,
    token_file: Option<&Path>,
) -> Result<String, Exit> {
    let now: Timestamp = SystemClock::new().now().map_err(Exit::failed)?;
    let role = Role::Approver { owner, by: by.clone() };
    let link = UnrecordedToken::create_link(role, Some("dashboard".to_owned()), now).map_err(Exit::failed)?;
    let order = AdminCommand::Credential { change: link.order, by };
    lines(state, &order, token_file, Lasting::ByItself)?;
    Ok(format!("{}/#link={}", url.trim_end_matches('/'), link.token))
}

/// The content of the server's file.
#[derive(Deserialize)]
struct Found {
    url: String,
    pid: u32,
}

/// Returns the address of the server that runs on a state directory.
///
/// After a crash, the file of the server stays, and another program may listen at the address. So the address counts
/// only while the process that wrote it holds the lock of the directory.
pub(crate) fn running(state: &Path) -> Result<String, Exit> {
    RealDisk.refuse_others(state).map_err(|why| no_server(state, &why))?;
    let text = RealDisk.read(&state.join(SERVER_FILE)).map_err(|why| no_server(state, &why))?;
    let Found { url, pid } = serde_json::from_slice(&text).map_err(|why| no_server(state, &why))?;
    if holds(pid, &state.join(LOCK)).map_err(|why| no_server(state, &why))? {
        return Ok(url);
    }
    Err(no_server(state, &"the one before has ended without cleaning up"))
}

/// Returns true if the process has the file open.
fn holds(pid: u32, file: &Path) -> io::Result<bool> {
    let id = |found: &fs::Metadata| (found.dev(), found.ino());
    let file = id(&fs::metadata(file)?);
    let open = match fs::read_dir(format!("/proc/{pid}/fd")) {
        Ok(open) => open,
        Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(why) => return Err(why),
    };
    Ok(open.flatten().any(|open| fs::metadata(open.path()).is_ok_and(|found| id(&found) == file)))
}

fn no_server(state: &Path, why: &dyn std::fmt::Display) -> Exit {
    let state = state.display().to_string();
    let state = Escaped(&state);
    Exit::failed(format!(
        "no server runs on the state directory {state} ({why}): `bestow serve --state {state}` starts one"
    ))
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
