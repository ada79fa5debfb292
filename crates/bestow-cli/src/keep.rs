//! A yes for good goes into the policy file. The library says what is written; the engine is asked what was said.

use std::{
    io::{Write as _, stderr},
    os::unix::fs::MetadataExt as _,
    path::Path,
};

use bestow::{
    ApproverId, Clock, Grant, OwnerId, PermanentDecision, PolicyFile, Request, SavedDecision, Scope, SystemClock,
    Written, WrittenAtStart,
    control::{AdminCommand, GrantOrDecisionId, Line},
    journal::followed,
};
use serde::de::DeserializeOwned;

use crate::{
    arguments::{Keeping, Ordered, Style},
    end::End,
    state::{Lasting, answered, lines, told},
};

/// Through what a person speaks who types a command.
const MEANS: &str = "cli";

/// Writes what lasts into `file`, and says yes for this time. In this order: whoever is killed in between has said what lasts,
/// and the question still waits; the other way round, an answered question would hide that nothing lasts.
pub(crate) fn approve(asked: &Ordered, file: &Path) -> Result<End, End> {
    let AdminCommand::Answer { request, verdict, feedback, by, .. } = &asked.order else {
        return Err(End::usage("only an answer can be written down"));
    };
    let (request, file) = (waiting(&asked.state, request)?, PolicyFile::new(file));
    is_followed(&asked.state, &file)?;
    let said = yes(&request, by)?;
    let scope = Some(if request.asks_about_action() { Scope::Once } else { Scope::Session });
    let (verdict, feedback, by) = (*verdict, feedback.clone(), by.clone());
    let answer = AdminCommand::Answer { request: request.id.to_string(), verdict, scope, feedback, by };
    let kept = file.keep_at_first(&said).map_err(End::failed)?;
    let heard = match answered(asked, &answer, Lasting::InTheFile) {
        Ok(heard) => heard,
        Err(end) => return Err(unanswered(end, kept, &request, &asked.state)),
    };
    let written = written(&kept.stands(), &file);
    // With --json, standard output has the resolution and nothing else.
    Ok(match (told(&heard, asked.style), asked.style) {
        (End::Done, Style::Human) => End::said(&written),
        (end, Style::Human | Style::Json) => end,
    })
}

/// A no of the engine takes the lines back. Where nobody knows whether it heard the yes, they stay, and that is told.
fn unanswered(end: End, kept: WrittenAtStart, request: &Request, state: &Path) -> End {
    let places: Vec<_> = kept.kept().places.iter().map(ToString::to_string).collect();
    let places = places.join(", ");
    match end {
        End::Denied(why) if kept.kept().was_there => End::Denied(format!("{why}; {places} says it for good already")),
        End::Denied(why) => match kept.take_back() {
            Ok(()) => End::Denied(why),
            Err(not) => {
                End::Denied(format!("{why}; {places} says it for good all the same ({not}): take it out by hand"))
            }
        },
        End::Failed(why) => End::failed(format_args!(
            "{why}; for good it is said, by {places}, and whether [{0}] has its yes for this time, \
             `bestow requests --state {1}` says",
            request.code(),
            shown(state)
        )),
        end @ (End::Done | End::Confined | End::WouldAsk(_) | End::Usage(_)) => end,
    }
}

/// Writes down what the engine keeps for good already.
pub(crate) fn keep(asked: &Keeping) -> End {
    kept(asked).unwrap_or_else(|end| end)
}

fn kept(asked: &Keeping) -> Result<End, End> {
    let file = PolicyFile::new(&asked.config);
    let all = lines(&asked.state, &AdminCommand::Grants { agent: None }, Lasting::ByItself)?;
    let name = asked.held.to_string();
    let line = all.iter().find(|line| text(line, "/id") == Some(&name));
    let line = line.ok_or_else(|| {
        End::Denied(format!("there is no {name}, or no longer: see `bestow grants --state {}`", shown(&asked.state)))
    })?;
    let said = match asked.held {
        GrantOrDecisionId::Ruling(_) => PermanentDecision::of_ruling(&read::<SavedDecision>(line, "")?),
        GrantOrDecisionId::Grant(_) => PermanentDecision::of_grant(&read::<Grant>(line, "")?, &owner(line)?),
    };
    is_followed(&asked.state, &file)?;
    let kept = file.keep(&said.map_err(End::failed)?).map_err(End::failed)?;
    let state = shown(&asked.state);
    let besides = format!(
        "{name} stays besides: `bestow revoke {name} --state {state}`, once `bestow grants --state {state}` lists what \
         the file gives, or `bestow audit show --state {state}` that the file took effect\n"
    );
    Ok(End::said(&format!("{}{besides}", written(&kept, &file))))
}

/// A line in a file that the engine does not follow would mean nothing to it, and whoever said yes would not notice.
fn is_followed(state: &Path, file: &PolicyFile) -> Result<(), End> {
    let Some(followed) = followed(state).map_err(End::failed)? else {
        // If standard error is gone, the rest still happens.
        let _ = writeln!(
            stderr().lock(),
            "bestow: whoever opened `{}` follows no file there: what is written counts for an engine that is opened on `{}`",
            shown(state),
            shown(file.path())
        );
        return Ok(());
    };
    let named = |path: &Path| std::fs::metadata(path).map(|found| (found.dev(), found.ino())).ok();
    if named(&followed).is_some_and(|there| Some(there) == named(file.path())) {
        return Ok(());
    }
    Err(End::failed(format_args!(
        "the engine on `{}` follows `{1}` and not `{2}`, where the line would mean nothing to it: `--config {1}`",
        shown(state),
        shown(&followed),
        shown(file.path())
    )))
}

fn owner(line: &Line) -> Result<OwnerId, End> {
    let owner = text(line, "/owner").ok_or_else(|| End::failed("the engine does not say whose agent it is"))?;
    owner.parse().map_err(End::failed)
}

/// The request with this code or id.
fn waiting(state: &Path, named: &str) -> Result<Request, End> {
    let all = lines(state, &AdminCommand::Requests, Lasting::ByItself)?;
    let code = named.trim().to_ascii_lowercase();
    let is_meant = |line: &&Line| ["/code", "/request/id"].iter().any(|at| text(line, at) == Some(&code));
    let mut meant = all.iter().filter(is_meant);
    match (meant.next(), meant.next()) {
        (Some(line), None) => read(line, "/request"),
        (Some(_), Some(_)) => Err(End::Denied(format!("two requests have the code {named}: name one by its id"))),
        (None, _) => Err(End::Denied(format!(
            "no pending request has the code or id {named}: `bestow requests --state {0}` lists those that wait, \
             `bestow audit show --request {named} --state {0}` says how one ended",
            shown(state)
        ))),
    }
}

/// As it can be typed.
fn shown(path: &Path) -> std::path::Display<'_> {
    path.display()
}

fn yes(request: &Request, by: &ApproverId) -> Result<PermanentDecision, End> {
    let now = SystemClock::new().now().map_err(End::failed)?;
    PermanentDecision::to(request, by.clone(), MEANS, now).map_err(End::failed)
}

/// What the engine says at this place.
fn read<T: DeserializeOwned>(line: &Line, place: &str) -> Result<T, End> {
    let there = line.json.pointer(place).cloned().unwrap_or_default();
    serde_json::from_value(there).map_err(|why| End::failed(format_args!("an answer of another version: {why}")))
}

fn text<'l>(line: &'l Line, place: &str) -> Option<&'l str> {
    line.json.pointer(place)?.as_str()
}

fn written(kept: &Written, file: &PolicyFile) -> String {
    let places: Vec<_> = kept.places.iter().map(ToString::to_string).collect();
    let places = places.join(", ");
    let how = if kept.was_there { "it stands there already" } else { "written" };
    let waits = if kept.waits {
        format!("; `{}` has `confirm_widening`, so it counts once a person agrees to the change", file.path().display())
    } else {
        String::new()
    };
    format!("{how}: {places}{waits}\n")
}
