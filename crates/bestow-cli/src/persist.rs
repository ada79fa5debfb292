//! Permanent approvals are written into the policy file. The library makes the lines; the engine knows the approvals.

use std::{
    io::{Write as _, stderr},
    os::unix::fs::MetadataExt as _,
    path::Path,
};

use bestow::{
    PolicyFile,
    control::{AdminCommand, GrantOrDecisionId, Line},
    decision::SavedDecision,
    grant::{Grant, Scope},
    host::{Clock, SystemClock},
    journal::followed,
    policy::{PermanentDecision, Written, WrittenAtStart},
    request::Request,
    user::{ApproverId, OwnerId},
};
use serde::de::DeserializeOwned;

use crate::{
    args::{AdminRequest, Form, KeepArgs},
    exit::Exit,
    state::{Lasting, answered, lines, printed},
};

/// The means by which a person at the command line decides.
const MEANS: &str = "cli";

/// Writes the permanent approval into `file`, and approves the request for this time. The order matters: if the process
/// is killed in between, the file has the approval and the request still waits. In the other order, an answered request
/// would hide that nothing is permanent.
pub(crate) fn approve(args: &AdminRequest, file: &Path) -> Result<Exit, Exit> {
    let AdminCommand::Answer { request, verdict, feedback, by, .. } = &args.order else {
        return Err(Exit::usage("only an approval can be written into the policy file"));
    };
    let (request, file) = (waiting(&args.state, request)?, PolicyFile::new(file));
    is_followed(&args.state, &file)?;
    let approval = approval(&request, by)?;
    // Nothing is written for a process that may not approve: the engine may follow the file at once.
    answered(args, &AdminCommand::Verify { by: by.clone() }, Lasting::ByItself)?;
    let scope = Some(if request.asks_about_action() { Scope::Once } else { Scope::Session });
    let (verdict, feedback, by) = (*verdict, feedback.clone(), by.clone());
    let answer = AdminCommand::Answer {
        request: request.id.to_string(),
        verdict,
        scope,
        feedback,
        permissions: None,
        instead: None,
        by,
    };
    let kept = file.keep_at_first(&approval).map_err(Exit::failed)?;
    let lines = match answered(args, &answer, Lasting::InTheFile) {
        Ok(lines) => lines,
        Err(exit) => return Err(unanswered(exit, kept, &request, &args.state)),
    };
    let written = written(&kept.stands(), &file);
    // With --json, standard output has only the resolution.
    Ok(match (printed(&lines, args.form), args.form) {
        (Exit::Done, Form::Text) => Exit::print(&written),
        (exit, Form::Text | Form::Json) => exit,
    })
}

/// Removes the lines again if the engine refused. If it is unknown whether the engine got the approval, the lines stay
/// and the message says so.
fn unanswered(exit: Exit, kept: WrittenAtStart, request: &Request, state: &Path) -> Exit {
    let places: Vec<_> = kept.kept().places.iter().map(ToString::to_string).collect();
    let places = places.join(", ");
    match exit {
        Exit::Denied(why) if kept.kept().was_there => {
            Exit::Denied(format!("{why}; {places} already allows it permanently"))
        }
        Exit::Denied(why) => match kept.take_back() {
            Ok(()) => Exit::Denied(why),
            Err(not) => Exit::Denied(format!("{why}; {places} still allows it permanently ({not}): remove it by hand")),
        },
        Exit::Failed(why) => Exit::failed(format_args!(
            "{why}; {places} allows it permanently, but it is unknown if [{0}] was approved this time: see `bestow \
             requests --state {1}`",
            request.code(),
            shown(state)
        )),
        exit @ (Exit::Done | Exit::Confined | Exit::Blocked | Exit::Ended(_) | Exit::WouldAsk(_) | Exit::Usage(_)) => {
            exit
        }
    }
}

/// Writes a grant or saved decision into the policy file that the engine keeps permanently already.
pub(crate) fn keep(args: &KeepArgs) -> Result<Exit, Exit> {
    let file = PolicyFile::new(&args.file.config);
    let all = lines(&args.state, &AdminCommand::Grants { agent: None }, None, Lasting::ByItself)?;
    let name = args.held.to_string();
    let line = all.iter().find(|line| text(line, "/id") == Some(&name));
    let line = line.ok_or_else(|| {
        Exit::Denied(format!("{name} does not exist or has ended: see `bestow grants --state {}`", shown(&args.state)))
    })?;
    let permanent = match args.held {
        GrantOrDecisionId::Ruling(_) => PermanentDecision::of_ruling(&read::<SavedDecision>(line, "")?),
        GrantOrDecisionId::Grant(_) => PermanentDecision::of_grant(&read::<Grant>(line, "")?, &owner(line)?),
    };
    is_followed(&args.state, &file)?;
    let (verify, token_file) = (AdminCommand::Verify { by: args.person.by()? }, args.person.token_file());
    lines(&args.state, &verify, token_file, Lasting::ByItself)?;
    let kept = file.keep(&permanent.map_err(Exit::failed)?).map_err(Exit::failed)?;
    let state = shown(&args.state);
    let next = format!(
        "{name} stays too: remove it with `bestow revoke {name} --state {state}`, once `bestow grants --state \
         {state}` lists what the file gives, or `bestow audit show --state {state}` shows that the policy file took \
         effect\n"
    );
    Ok(Exit::print(&format!("{}{next}", written(&kept, &file))))
}

/// Refuses a file that the engine does not follow: a line there would have no effect, and the person would not notice.
fn is_followed(state: &Path, file: &PolicyFile) -> Result<(), Exit> {
    let Some(followed) = followed(state).map_err(Exit::failed)? else {
        // A closed standard error changes nothing here.
        let _ = writeln!(
            stderr().lock(),
            "bestow: the engine on `{}` follows no policy file: the line takes effect for an engine that is opened on \
             `{}`",
            shown(state),
            shown(file.path())
        );
        return Ok(());
    };
    let named = |path: &Path| std::fs::metadata(path).map(|found| (found.dev(), found.ino())).ok();
    if named(&followed).is_some_and(|there| Some(there) == named(file.path())) {
        return Ok(());
    }
    Err(Exit::failed(format_args!(
        "the engine on `{}` follows `{1}` and not `{2}`, so the line would have no effect: use `--config {1}`",
        shown(state),
        shown(&followed),
        shown(file.path())
    )))
}

fn owner(line: &Line) -> Result<OwnerId, Exit> {
    let owner = text(line, "/owner").ok_or_else(|| Exit::failed("the engine does not name the owner of the agent"))?;
    owner.parse().map_err(Exit::failed)
}

/// Returns the pending request with this code or id.
fn waiting(state: &Path, named: &str) -> Result<Request, Exit> {
    let all = lines(state, &AdminCommand::Requests, None, Lasting::ByItself)?;
    let code = named.trim().to_ascii_lowercase();
    let is_meant = |line: &&Line| ["/code", "/request/id"].iter().any(|at| text(line, at) == Some(&code));
    let mut meant = all.iter().filter(is_meant);
    match (meant.next(), meant.next()) {
        (Some(line), None) => read(line, "/request"),
        (Some(_), Some(_)) => Err(Exit::Denied(format!("two requests have the code {named}: name one by its id"))),
        (None, _) => Err(Exit::Denied(format!(
            "no pending request has the code or id {named}: `bestow requests --state {0}` lists those that wait, \
             `bestow audit show --request {named} --state {0}` says how one ended",
            shown(state)
        ))),
    }
}

/// Shows a path as a person can type it.
fn shown(path: &Path) -> std::path::Display<'_> {
    path.display()
}

fn approval(request: &Request, by: &ApproverId) -> Result<PermanentDecision, Exit> {
    let now = SystemClock::new().now().map_err(Exit::failed)?;
    PermanentDecision::to(request, by.clone(), MEANS, now).map_err(Exit::failed)
}

/// Reads a part of an answer of the engine.
fn read<T: DeserializeOwned>(line: &Line, place: &str) -> Result<T, Exit> {
    let there = line.json.pointer(place).cloned().unwrap_or_default();
    serde_json::from_value(there)
        .map_err(|why| Exit::failed(format_args!("the answer has an unknown form, perhaps of another version: {why}")))
}

fn text<'l>(line: &'l Line, place: &str) -> Option<&'l str> {
    line.json.pointer(place)?.as_str()
}

fn written(kept: &Written, file: &PolicyFile) -> String {
    let places: Vec<_> = kept.places.iter().map(ToString::to_string).collect();
    let places = places.join(", ");
    let how = if kept.was_there { "the file already has it" } else { "written" };
    let waits = if kept.waits {
        format!(
            "; `{}` has `confirm_widening`, so the change waits for the approval of a person",
            file.path().display()
        )
    } else {
        String::new()
    };
    format!("{how}: {places}{waits}\n")
}
