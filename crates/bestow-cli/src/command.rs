//! `bestow exec` and `bestow sandbox profile`: an agent of a file, its scope, and what that makes of a command.

use std::{path::Path, time::Duration};

use bestow::{
    Action, Agent, Engine, Error, Escaped, Interaction, Policy, PolicyFile, Refusal, Settings,
    sandbox::{Command, ExecError, Format, Profile, Sandbox},
};

use crate::{arguments::Scoped, end::End, near, signals};

/// A person at a terminal ends a command; a program says `--timeout`.
const LONG: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Runs the command, with this process's input and output.
pub(crate) fn exec(asked: Scoped) -> End {
    ending(as_agent(&asked, async |engine, agent, profile, settings| {
        let mut limits = profile.limits().clone();
        limits.time = LONG;
        asked.limits.iter().for_each(|limit| limit.set_in(&mut limits));
        limits.time = asked.time.unwrap_or(limits.time);
        let sandbox = Sandbox::with_this_program().map_err(End::failed)?;
        let mut words = asked.words.iter().cloned();
        let command = Command::new(words.next().unwrap_or_default()).args(words).inheriting();
        let profile = profile.limited(limits).only_to(asked.domains.iter().cloned());
        stand_behind(engine, &agent, &profile.action(&command).map_err(End::failed)?).await?;
        let done = signals::until_told(agent.exec_under(&sandbox, profile, command)).await?;
        let done = done.map_err(|why| refused(&why, settings, &asked.config))?;
        match (done.code, done.timed_out) {
            (Some(0), _) => Ok(End::Done),
            (_, true) => Err(End::failed("the command was killed: its time was over")),
            (Some(code), _) => Err(End::failed(format_args!("the command ended with {code}"))),
            (None, _) => Err(End::failed("the command was ended by a signal")),
        }
    }))
}

/// Whoever types a command stands behind it, once: that answers what would be asked, and enables what nobody can undo. What a
/// rule denies stays denied.
async fn stand_behind(engine: &Engine, agent: &Agent, action: &Action) -> Result<(), End> {
    let owner = agent.profile().map_err(End::failed)?.owner.clone();
    let by = "operator".parse().map_err(End::failed)?;
    let reason = "typed on the command line".parse().map_err(End::failed)?;
    let person = engine.approver(&owner, by, "command line");
    person.enable(agent.id(), action, reason).await.map(drop).map_err(End::failed)
}

/// Prints the profile.
pub(crate) fn profile(asked: &Scoped, format: Format) -> End {
    ending(as_agent(asked, async |_, _, profile, _| {
        let profile = profile.only_to(asked.domains.iter().cloned());
        Ok(End::said(&profile.export(format).map_err(End::failed)?))
    }))
}

fn ending(answer: Result<End, End>) -> End {
    answer.unwrap_or_else(|end| end)
}

/// Does `work` as the agent, with the profile of its scope.
fn as_agent(
    asked: &Scoped,
    work: impl AsyncFnOnce(&Engine, Agent, Profile, &Settings) -> Result<End, End>,
) -> Result<End, End> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(End::failed)?;
    runtime.block_on(async {
        let policy: Policy =
            PolicyFile::new(&asked.config).read().and_then(|text| text.parse()).map_err(End::failed)?;
        near::known(&asked.agent, &policy, asked.config.display())?;
        let settings = policy.settings.clone();
        let engine = Engine::new(Settings::default()).map_err(End::failed)?;
        engine.configure(policy).await.map_err(End::failed)?;
        let agent = engine.agent(&asked.agent).map_err(End::failed)?;
        let profile = agent.sandbox_profile(&asked.named).map_err(|why| refused(&why, &settings, &asked.config))?;
        work(&engine, agent, profile, &settings).await
    })
}

/// What an agent lacks it could ask a person for, where people answer; what is protected it could not.
fn refused(why: &ExecError, settings: &Settings, file: &Path) -> End {
    let ExecError::Engine(no @ (Error::Refused(_) | Error::Replaced { .. })) = why else {
        return End::failed(why);
    };
    let told = if let Error::Refused(Refusal::NotHeld { agent, permission }) = no {
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
        End::WouldAsk(told)
    } else {
        End::Denied(told)
    }
}
