//! `bestow exec` and `bestow sandbox profile`: a command in the sandbox of an agent.

use std::{path::Path, time::Duration};

use bestow::{
    Action, Agent, Engine, Error, Policy, PolicyFile, Settings,
    decision::Refusal,
    policy::Interaction,
    sandbox::{Command, ExecError, Format, Profile, Sandbox},
    text::Escaped,
};

use crate::{
    args::{ExecArgs, ScopeArgs},
    exit::Exit,
    own_engine, signals, suggest,
};

/// The time limit where neither the file nor the command line names one.
const LONG: Duration = Duration::from_secs(60 * 60);

/// Runs the command, with the input and output of this process.
pub(crate) fn exec(args: &ExecArgs) -> Result<Exit, Exit> {
    let domains = args.scope.domains()?;
    as_agent(&args.scope, args.state.as_deref(), async |engine, agent, profile, settings| {
        let mut limits = profile.limits().clone();
        args.limits.iter().for_each(|limit| limit.set_in(&mut limits));
        limits.time = args.timeout.or(limits.time).or(Some(LONG));
        let sandbox = Sandbox::with_this_program().map_err(Exit::failed)?;
        let mut words = args.words.iter().cloned();
        let command = Command::new(words.next().unwrap_or_default()).args(words).inheriting();
        let profile = profile.limited(limits).only_to(domains);
        approve_once(engine, &agent, &profile.action(&command).map_err(Exit::failed)?).await?;
        let done = signals::until_signal(agent.exec_under(&sandbox, profile, command)).await?;
        let done = done.map_err(|why| refused(&why, settings, args.scope.config()))?;
        match (done.code, done.timed_out) {
            (Some(0), _) => Ok(Exit::Done),
            (_, true) => Err(Exit::failed("the command was killed: it exceeded its time limit")),
            (Some(code), _) => Err(Exit::failed(format_args!("the command exited with code {code}"))),
            (None, _) => Err(Exit::failed("the command was ended by a signal")),
        }
    })
}

/// Records the approval of the person who typed the command, for this one use. It answers what would be asked, and
/// enables a command that cannot be undone. It does not override a rule that denies.
async fn approve_once(engine: &Engine, agent: &Agent, action: &Action) -> Result<(), Exit> {
    let owner = agent.profile().map_err(Exit::failed)?.owner.clone();
    let person = engine.approver(&owner, "operator", "command line");
    person.enable(agent.id(), action, "typed on the command line").await.map(drop).map_err(Exit::failed)
}

/// Prints the sandbox profile of an agent.
pub(crate) fn profile(args: &ScopeArgs, format: Format) -> Result<Exit, Exit> {
    let domains = args.domains()?;
    as_agent(args, None, async |_, _, profile, _| {
        let profile = profile.only_to(domains);
        Ok(Exit::print(&profile.export(format).map_err(Exit::failed)?))
    })
}

/// Does `work` as the agent, with the sandbox profile of its permissions. With a state directory, the engine has the
/// permissions and denials that are stored there, and its events are stored.
fn as_agent(
    args: &ScopeArgs,
    state: Option<&Path>,
    work: impl AsyncFnOnce(&Engine, Agent, Profile, &Settings) -> Result<Exit, Exit>,
) -> Result<Exit, Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Exit::failed)?;
    runtime.block_on(async {
        let policy: Policy =
            PolicyFile::new(args.config()).read().and_then(|text| text.parse()).map_err(Exit::failed)?;
        suggest::require_agent(&args.agent, &policy, args.config().display())?;
        let settings = policy.settings.clone();
        let engine = match state {
            Some(state) => own_engine::open_for(&args.agent, args.config(), state).await?,
            None => in_memory(policy).await?,
        };
        let done = async {
            let agent = engine.agent(&args.agent).map_err(Exit::failed)?;
            let profile =
                agent.sandbox_profile(&args.permissions).map_err(|why| refused(&why, &settings, args.config()))?;
            work(&engine, agent, profile, &settings).await
        };
        let done = done.await;
        engine.shutdown().await;
        done
    })
}

/// Returns an engine with the policy, which stores nothing.
async fn in_memory(policy: Policy) -> Result<Engine, Exit> {
    let engine = Engine::new(Settings::default()).map_err(Exit::failed)?;
    engine.configure(policy).await.map_err(Exit::failed)?;
    Ok(engine)
}

/// Returns the outcome of a refusal. A permission that the agent lacks could be requested, where people answer. A
/// protected path could not.
fn refused(why: &ExecError, settings: &Settings, file: &Path) -> Exit {
    let ExecError::Engine(no @ (Error::Refused(_) | Error::Replaced { .. })) = why else {
        return Exit::failed(why);
    };
    let text = if let Error::Refused(Refusal::NotHeld { agent, permission }) = no {
        let (permission, file) = (permission.to_string(), file.to_string_lossy());
        format!(
            "agent `{agent}` does not hold `{}`: add it to its `permissions` in {}",
            Escaped(&permission),
            Escaped(&file)
        )
    } else {
        no.to_string()
    };
    let could_be_given = matches!(no, Error::Refused(Refusal::NotHeld { .. } | Refusal::Sensitive { .. }));
    if could_be_given && settings.interaction == Interaction::Interactive {
        Exit::WouldAsk(text)
    } else {
        Exit::Denied(text)
    }
}
