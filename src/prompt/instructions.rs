//! The paragraph for the system prompt: the model's identity, its holdings, and its behavior when it is blocked.

use crate::{
    engine::{Agent, Error},
    kernel::PermissionState,
    model::{Escaped, Hold, Interaction, Mode, Reads, Scope},
};

/// Returns the text for the system prompt of a model that acts as `agent`. It contains the agent's identity, its
/// working directory, its current holdings, and the restrictions of its mode. It ends with the stance of `sources/004`
/// ("Prompt stance"): request a permission when blocked, and continue with other work meanwhile.
///
/// The text is a snapshot. Later changes reach the agent's mailbox ([`news`](super::news)).
///
/// # Errors
///
/// [`Error::Refused`] if the agent is gone.
pub fn instructions(agent: &Agent) -> Result<String, Error> {
    let (profile, grants, state) = (agent.profile()?, agent.grants()?, agent.permission_state()?);
    let (id, dir) = (agent.id(), Escaped(profile.working_dir.as_str()));
    let stands = if profile.kind.is_foreground() {
        "a foreground agent: a person talks to you, and your requests are shown to them".to_owned()
    } else {
        let through = "your requests reach a person through the foreground agent, under your own name";
        format!("a background agent ({}): {through}", profile.kind)
    };
    let held = |wanted: fn(&crate::model::Grant) -> bool| {
        let of_kind = grants.iter().filter(|grant| wanted(grant));
        let lines: Vec<String> = of_kind.map(|grant| format!("\n- {}", grant.pinned.permission.describe())).collect();
        if lines.is_empty() { " nothing".to_owned() } else { lines.concat() }
    };
    let lasting = held(|grant| grant.hold == Hold::Use && grant.scope != Scope::Once);
    let mut text =
        format!("You are the agent `{id}`, {stands}. Your working directory is `{dir}`.\n\nYou hold:{lasting}\n");
    for (title, wanted) in [
        (
            "For one use:",
            (|grant| grant.hold == Hold::Use && grant.scope == Scope::Once) as fn(&crate::model::Grant) -> bool,
        ),
        ("Only to pass on:", |grant| grant.hold == Hold::PassOn),
    ] {
        let list = held(wanted);
        if list.starts_with('\n') {
            text += &format!("{title}{list}\n");
        }
    }
    if state.reads == Reads::Anywhere {
        text += "You may read files without a permission, except files that are protected or denied.\n";
    }
    Ok([text.as_str(), in_mode(&state), if asks_nobody(&state) { ALONE } else { ASKING }, PASSING_ON].concat())
}

/// Returns true if every request is refused at once.
fn asks_nobody(state: &PermissionState) -> bool {
    state.interaction == Interaction::NonInteractive || modes(state).any(|mode| mode == Mode::Never)
}

/// Returns the modes of the agent and of its ancestors, which also apply to it.
fn modes(state: &PermissionState) -> impl Iterator<Item = Mode> {
    std::iter::once(state.mode).chain(state.modes_above.iter().map(|above| above.mode))
}

/// Returns the sentence about a mode that restricts the agent's holdings.
fn in_mode(state: &PermissionState) -> &'static str {
    if modes(state).any(|mode| mode == Mode::Plan) {
        "Your mode is `plan`: you may only read. The engine denies everything that you write, send or run.\n"
    } else {
        ""
    }
}

const ASKING: &str = "
Use the permissions that you hold without asking. They exist so that you can work fast.

When you lack a permission, call `request_permission` at once. Request the narrowest permission that is enough, and \
give the reason in one sentence. Do not wait for an instruction, and do not ask in prose. The call returns \
immediately: continue with work that does not need the permission. The decision arrives later as a message. After an \
approval, do the blocked work. After a denial, use another method or report what you could not do. Do not request a \
denied permission again, and do not try to bypass the denial.
";

const ALONE: &str = "
Use the permissions that you hold without asking.

No person can answer you now: the engine refuses `request_permission` at once. When you lack a permission, use another \
method or report what you could not do. Do not try to bypass the missing permission.
";

const PASSING_ON: &str = "
Use `grant_permission` to pass a part of your permissions on to another agent of your owner. Give only what its task \
needs, with the reason. A permission that you gave ends when you lose it.
";
