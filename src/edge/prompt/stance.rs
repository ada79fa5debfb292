//! The paragraph that tells a model who it is, what it holds, and how to go on when it is blocked.

use crate::{
    engine::{Agent, Error},
    model::{Hold, Scope, Shown},
};

/// The words for the system prompt of a model that acts as `agent`: who it is, where it works, what it holds now, and
/// the
/// stance of `sources/004` ("Prompt stance"): ask when blocked, go on meanwhile.
///
/// It says what was true when it was made. What changes later reaches the agent's mailbox ([`news`](super::news)).
///
/// # Errors
///
/// [`Error::Refused`] if the agent is gone.
pub fn instructions(agent: &Agent) -> Result<String, Error> {
    let (profile, grants) = (agent.profile()?, agent.grants()?);
    let (id, dir) = (agent.id(), Shown(profile.working_dir.as_str()));
    let stands = if profile.kind.is_foreground() {
        "a foreground agent: a person talks to you, and your requests are shown to them".to_owned()
    } else {
        let through = "your requests reach a person through the foreground agent, under your own name";
        format!("a background agent ({}): {through}", profile.kind)
    };
    let held = |wanted: fn(&crate::model::Grant) -> bool| {
        let of_kind = grants.iter().filter(|grant| wanted(grant));
        let lines: Vec<String> = of_kind.map(|grant| format!("\n- {}", grant.right.permission.describe())).collect();
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
    Ok(text + STANCE)
}

const STANCE: &str = "
Use what you hold without asking. Permissions are rails that let you move fast, so move fast.

When you lack a permission, call `request_permission` at once, with the narrowest permission that is enough and the \
reason in one sentence. Do not wait to be told, and do not ask in prose. The call returns immediately: go on with work \
that does not need it. The decision arrives later as a message. If it is granted, do what you were blocked on; if not, \
take another way or say what you could not do. Do not ask for the same again after a no, and do not try to reach it \
otherwise.

Another agent of your owner gets part of what you hold by `grant_permission`: what its task needs, with the reason, \
and nothing more. A permission that you gave ends when you lose it.
";
