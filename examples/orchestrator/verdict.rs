//! Checks that the story went as planned.

use std::process::ExitCode;

use bestow::{
    Event, Outcome, Permission,
    grant::{Actor, Ended, Origin},
    stdio::Exit,
};

use super::place::Place;

/// Returns true if the checker lost a permission because the grant that supported it ended.
pub(crate) fn fell_with_its_support(event: &Event) -> bool {
    matches!(event, Event::GrantRevoked { grant, ended: Ended::SupportLost { .. } } if grant.to.as_str() == "checker")
}

/// Prints the results of the checks. The exit code is a success if all of them passed.
pub(crate) fn verdict(told: &[Event], place: &Place, lead: &Exit, scripted: bool) -> ExitCode {
    let any = |wanted: &dyn Fn(&Event) -> bool| told.iter().any(wanted);
    let answered = |agent: &str, asked: &str| {
        told.iter().find_map(|event| match event {
            Event::Resolved { resolution, .. } => {
                let about = resolution.granted.iter().chain(&resolution.refused);
                let same =
                    resolution.from.as_str() == agent && about.clone().any(|named| named.to_string().ends_with(asked));
                same.then_some(resolution.outcome)
            }
            _ => None,
        })
    };
    let given_by = |giver: &str, to: &str| {
        any(&|event| {
            matches!(event, Event::GrantIssued { grant } if grant.to.as_str() == to
                && matches!(&grant.origin, Origin::Agent { from } if from.as_str() == giver))
        })
    };
    let (reports, notes) = (answered("writer", "/reports"), answered("checker", "/check"));
    let network = answered("writer", "@network");
    // A person may give other answers than the script. The consequences of the answers are checked in both cases.
    let as_scripted = [reports, notes] == [Some(Outcome::Granted); 2] && network == Some(Outcome::Denied);
    let came_true = [
        ("both workers asked, through the lead, and each got an answer", reports.is_some() && notes.is_some()),
        ("the answers are those of the script, or yours", !scripted || as_scripted),
        ("meanwhile the writer wrote its pages", place.has("site/index.html") && place.has("site/about.html")),
        ("the summary was written if that was allowed", place.has("reports/summary.md") == is_yes(reports)),
        ("the notes were written if that was allowed", place.has("check/notes.txt") == is_yes(notes)),
        (
            "the lead gave the writer a part of what it holds",
            given_by("lead", "writer") && place.has("assets/logo.svg"),
        ),
        (
            "the writer gave the checker a part of that",
            given_by("writer", "checker") && place.has("assets/checked/logo.txt"),
        ),
        (
            "the writer could not give more than it holds",
            any(&|event| {
                matches!(event, Event::Refused { by: Actor::Agent(by), why, .. }
                if by.as_str() == "writer" && why.contains("does not hold"))
            }),
        ),
        (
            "every grant that depended on a revoked one ended with it",
            any(&fell_with_its_support) && !place.has("assets/late.svg"),
        ),
        (
            "agents.toml was edited and took effect",
            any(&|event| {
                matches!(event, Event::ConfigReloaded { gained, .. }
                if gained.iter().any(|(agent, permission)| agent.as_str() == "checker" && is_done(permission)))
            }),
        ),
        ("the checker signed off", place.has("done/signed.txt")),
        ("the lead ended well", lead.status.is_some_and(|status| status.success())),
    ];
    #[cfg(feature = "schedule")]
    let came_true = [came_true.as_slice(), &super::night::came_true(told, place)].concat();
    println!();
    for (what, true_) in &came_true {
        println!("{} {what}", if *true_ { "  yes" } else { "   NO" });
    }
    if came_true.iter().all(|(_, true_)| *true_) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn is_yes(outcome: Option<Outcome>) -> bool {
    outcome == Some(Outcome::Granted)
}

fn is_done(permission: &Permission) -> bool {
    permission.to_string().ends_with("/workspace/done")
}
