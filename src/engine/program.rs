//! Program files that are run as commands: rules about commands apply to them too.

use bestow_command::internal::Judged;

use crate::{
    kernel::{ResolvedAction, Target, Use},
    model::{Action, Named, Operation, Profile, UseOrigin, What},
};

use super::{Error, plain_action::reaching, shared::Shared};

impl Shared {
    /// Resolves `action` as the agent of `profile` means it, with all its uses.
    ///
    /// An action that cannot be understood is no error: it becomes an invalid action that is never allowed, with the
    /// reason.
    pub(super) fn understood(&self, profile: &Profile, action: &Action) -> Result<ResolvedAction, Error> {
        Ok(self.placed(self.understood_so_far(profile, action)?))
    }

    /// Resolves `action` as far as needed to decide for an agent that holds every needed permission
    /// ([`ResolvedAction::placed`]).
    pub(super) fn understood_so_far(&self, profile: &Profile, action: &Action) -> Result<ResolvedAction, Error> {
        let mut understood = self.consider(profile, action)?;
        let mut programs = program_files(&understood);
        if let (Operation::Exec, What::Plain(_, written)) = (understood.operation(), &action.what) {
            // A rule may name the link or its target.
            let is_linked = programs.first().is_some_and(|real| name(real) != name(written));
            programs.extend(is_linked.then(|| written.to_string()));
        }
        if !programs.is_empty() {
            let classifier = self.classifier.load();
            programs.iter().for_each(|path| add(&mut understood, path, &classifier.judge_program(path)));
        }
        Ok(understood)
    }
}

/// Returns the real paths of the program files that an action runs.
fn program_files(understood: &ResolvedAction) -> Vec<String> {
    let runs = |used: &Use| match (&used.target, used.operation) {
        // A word of a line belongs to that line, which the rules already cover.
        (Target::Path(path), Operation::Exec) if !used.origin.is_word() => Some(path.to_string()),
        _ => None,
    };
    understood.uses.iter().filter_map(runs).collect()
}

fn name(path: &str) -> Option<&str> {
    path.rsplit('/').next()
}

/// Adds the command of running the program at `path`, and the uses of that program.
fn add(understood: &mut ResolvedAction, path: &str, judged: &Judged) {
    let target = Target::Command { text: path.into(), parts: judged.spoken(), doing: None };
    understood.uses.add(Use { operation: Operation::Command, target, takes: None, origin: UseOrigin::Named });
    for named in judged.named.iter() {
        // The action already uses the file itself.
        if let Named::Network { host, certain } = named {
            understood.uses.add(reaching(host.as_deref(), *certain));
        }
    }
}
