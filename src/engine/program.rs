//! A program file that is run is a command, too: whoever speaks about commands speaks about it.

use crate::{
    command::Classification,
    kernel::{Considered, Target, Use},
    model::{Action, Named, Operation, Profile, UseOrigin, What},
};

use super::{Error, consider::reaching, shared::Shared};

impl Shared {
    /// Understands `action`, as the agent of `profile` means it, with all that it uses.
    ///
    /// What cannot be understood is no error: it is an action that nobody may do, with the reason.
    pub(super) fn understood(&self, profile: &Profile, action: &Action) -> Result<Considered, Error> {
        Ok(self.placed(self.understood_so_far(profile, action)?))
    }

    /// Understands it so far as it takes to decide for somebody who holds what it takes ([`Considered::placed`]).
    pub(super) fn understood_so_far(&self, profile: &Profile, action: &Action) -> Result<Considered, Error> {
        let mut understood = self.consider(profile, action)?;
        let mut programs = program_files(&understood);
        if let (Operation::Exec, What::Plain(_, written)) = (understood.operation(), &action.what) {
            // A link may have the name that a rule is about, and so may what it leads to.
            let is_linked = programs.first().is_some_and(|real| name(real) != name(written));
            programs.extend(is_linked.then(|| written.to_string()));
        }
        if !programs.is_empty() {
            let classifier = self.classifier.load();
            programs.iter().for_each(|path| add(&mut understood, path, &classifier.classify_program(path)));
        }
        Ok(understood)
    }
}

/// The program files that an action runs, where they really are.
fn program_files(understood: &Considered) -> Vec<String> {
    let runs = |used: &Use| match (&used.target, used.operation) {
        // A word of a line is a part of that line, which says what it is.
        (Target::Path(path), Operation::Exec) if used.origin != UseOrigin::Word => Some(path.to_string()),
        _ => None,
    };
    understood.uses.iter().filter_map(runs).collect()
}

fn name(path: &str) -> Option<&str> {
    path.rsplit('/').next()
}

/// Adds the command that running the program at `path` is, and what that program needs.
fn add(understood: &mut Considered, path: &str, judged: &Classification) {
    let target = Target::Command { text: path.into(), parts: judged.spoken() };
    understood.uses.add(Use { operation: Operation::Command, target, takes: None, origin: UseOrigin::Named });
    for named in judged.named.iter() {
        // The file itself is what the action is about.
        if let Named::Network { host, certain } = named {
            understood.uses.add(reaching(host.as_deref(), *certain));
        }
    }
}
