//! An action after resolution: a canonical path, a parsed command, a tier. The judged action is the action that runs.

use std::sync::Arc;

use crate::model::{
    ActionFacts, CallId, CommandFingerprint, CommandPattern, CommandShape, Destructive, Details, Digest, DigestTexts,
    LazyDigest, Operation, Permission, PinnedPermission, Reason, SanitizedPath, Secrets, Shell, StartDir, Tier,
    ToolName, UseFacts, UseOrigin, cut, has_mark,
};

use super::{
    action_uses::{Use, Uses},
    command_match::{Likelihood, meets},
    target::Target,
    unknown_tool_input::InputText,
};

/// The maximum number of uses in a record. The digest that binds an approval covers all uses.
const MAX_LISTED: usize = 64;

/// The most bytes that are reserved for the texts of a digest.
const MAX_ROOM: usize = 4096;

/// Returns the uses for a record: a limited number, without words of unknown meaning.
fn listed(mut uses: Vec<UseFacts>) -> Vec<UseFacts> {
    uses.retain(|used| !used.origin.is_word());
    uses.truncate(MAX_LISTED);
    uses
}

/// A resolved action. All lookups on the disk and all parsing are done.
#[derive(Debug)]
pub(crate) struct ResolvedAction {
    pub(crate) tool: ToolName,
    /// All uses of the action, pinned to the disk. Its own use names the object.
    pub(crate) uses: Uses,
    /// The text that people and records see.
    pub(crate) shown: Arc<str>,
    /// True if people see only a part of the action.
    pub(crate) cut: bool,
    /// The tier, or `None` if the action could not be classified.
    pub(crate) tier: Option<Tier>,
    pub(crate) tier_reason: Arc<str>,
    /// True if the classifier used the strict limit between safe and dangerous. It does so for an agent that may only
    /// read without approval.
    pub(crate) strictly: bool,
    pub(crate) shape: Option<CommandShape>,
    pub(crate) destructive: Option<Destructive>,
    /// The canonical form of the tool input.
    pub(crate) input: String,
    /// Further input of the tool besides the command line.
    pub(crate) besides: Option<String>,
    /// The text of that further input, searched for commands. The tool may run them, because its behaviour is unknown.
    pub(crate) told: Option<InputText>,
    pub(crate) reason: Option<Reason>,
    pub(crate) call: Option<CallId>,
    /// True if a hook replaced the original input.
    pub(crate) updated: bool,
    /// True if a person may be asked despite a denial for the session.
    pub(crate) overrides: bool,
    /// The shell that runs a command line of the action.
    pub(crate) shell: Shell,
    /// The working directory, if the action runs something.
    pub(crate) cwd: Option<SanitizedPath>,
    /// The directory in which the action happens, if it is not the agent's working directory.
    pub(crate) directory: Option<SanitizedPath>,
    /// The content that the action writes or sends.
    pub(crate) details: Option<Details>,
    /// A digest of further facts that the decision depends on.
    pub(crate) circumstances: Option<Digest>,
    /// True if a sandbox denies the action everything that it was not given, whatever its command line names.
    pub(crate) in_sandbox: bool,
    /// True if the host program, and not an agent, chose a sandbox that contains only the named resources.
    pub(crate) confined: bool,
    /// True if every permission to a missing path is bound to an existing directory on the disk. Before that, the
    /// kernel neither asks for the permission nor grants it.
    pub(crate) placed: bool,
}

impl ResolvedAction {
    /// Returns true if one of these permissions is for a missing path and not bound to a directory yet.
    pub(crate) fn lacks_place_of<'r>(&self, mut permissions: impl Iterator<Item = &'r PinnedPermission>) -> bool {
        !self.placed && permissions.any(PinnedPermission::is_unplaced)
    }
}

impl ResolvedAction {
    /// Returns the operation of its own use.
    pub(crate) fn operation(&self) -> Operation {
        self.uses.own.operation
    }

    /// Returns the object of its own use.
    pub(crate) fn target(&self) -> &Target {
        &self.uses.own.target
    }

    /// Returns true if the action is impossible. Further facts about it do not matter then.
    pub(crate) fn is_invalid(&self) -> bool {
        matches!(self.target(), Target::Invalid { .. })
    }

    /// Returns the facts for records and for binding an approval to the action. They cost more than the decision, so
    /// they are computed only on demand.
    pub(crate) fn facts(&self) -> Arc<ActionFacts> {
        let operation = self.operation().as_str();
        let (tool, resource) = (self.tool.as_str(), self.target().resource());
        // Relative names in the input of a tool begin in that directory, too.
        let cwd = self.cwd.as_ref().or(self.directory.as_ref()).map(SanitizedPath::as_str);
        let further: Vec<UseFacts> = self.uses.further().iter().map(Use::facts).collect();
        let len = tool.len() + resource.len() + self.input.len() + cwd.map_or(0, str::len);
        let mut own = DigestTexts::with_capacity(len.min(MAX_ROOM) + 128);
        [operation, tool, resource].into_iter().for_each(|text| own.add(text));
        Arc::new(ActionFacts {
            operation: self.operation(),
            tool: self.tool.clone(),
            resource: Arc::clone(&self.shown),
            input: self.whole(own.clone(), cwd, &further),
            access: self.access(own, cwd),
            uses: listed(self.without_secrets(further)),
            tier: self.tier.unwrap_or(Tier::Dangerous),
            tier_reason: Arc::clone(&self.tier_reason),
            circumstances: self.circumstances,
            directory: self.directory.clone(),
            shape: self.remembered_shape(),
            doing: self.doing(),
            call: self.call.clone(),
            details: self.details.clone(),
            destructive: self.destructive.clone(),
            overrides: self.overrides,
            cut: self.cut || cut(&self.shown).is_some(),
        })
    }

    /// Returns the uses for people and records. The word of a line that is a secret may be read as a path, too.
    pub(crate) fn shown_uses(&self) -> Vec<UseFacts> {
        self.without_secrets(self.uses.further().iter().map(Use::facts).collect())
    }

    /// Returns one of the uses for people and records.
    pub(crate) fn shown_use(&self, used: &Use) -> UseFacts {
        let mut shown = self.without_secrets(vec![used.facts()]);
        shown.pop().unwrap_or_else(|| used.facts())
    }

    /// Redacts the secrets of the action in its uses, except those that its own text shows.
    fn without_secrets(&self, mut uses: Vec<UseFacts>) -> Vec<UseFacts> {
        if uses.is_empty() || !self.cut && !has_mark(&self.shown) {
            return uses;
        }
        let of_text = Secrets::of(self.target().resource());
        let input = serde_json::from_str(&self.input).ok();
        let all = match &input {
            Some(input) => of_text.and(Secrets::of_input(input)),
            None => of_text,
        };
        let secrets = all.except_shown_in(&self.shown);
        for used in &mut uses {
            used.resource = secrets.removed_from(&used.resource);
        }
        uses
    }

    /// Returns the digest of everything that an approval of the action is bound to. `own` contains the operation, the
    /// tool and the resource. The rest is the input, the directory, all uses, the identity of a program file, the
    /// circumstances and the content.
    fn whole(&self, own: DigestTexts, cwd: Option<&str>, further: &[UseFacts]) -> LazyDigest {
        let mut all = own;
        std::iter::once(self.input.as_str()).chain(cwd).for_each(|text| all.add(text));
        self.permissions().for_each(|permission| all.add_shown(permission));
        if self.operation() == Operation::Exec {
            self.uses.pinned().for_each(|pinned| all.add_shown(&format_args!("{:?}", pinned.identity)));
        }
        further.iter().for_each(|used| all.add_shown(used));
        let content = self.details.as_ref().map(|details| details.digest);
        self.circumstances.into_iter().chain(content).for_each(|digest| all.add_shown(&digest));
        all.digest()
    }

    /// Returns the digest of what a decision for a session is saved under.
    fn access(&self, own: DigestTexts, cwd: Option<&str>) -> LazyDigest {
        let mut access = own;
        cwd.into_iter().chain(self.said()).for_each(|text| access.add(text));
        self.circumstances.iter().for_each(|digest| access.add_shown(digest));
        access.digest()
    }

    /// Returns the shape that a permanent approval covers, if one is possible. It includes the working directory and
    /// the circumstances.
    pub(crate) fn remembered_shape(&self) -> Option<CommandShape> {
        let directory = match self.shape_runs_in()? {
            StartDir::Own => self.cwd.as_ref(),
            StartDir::Real(path) => Some(path).filter(|path| self.cwd.as_ref().is_some_and(|cwd| cwd.contains(path))),
            StartDir::Said(_) | StartDir::Unknown => None,
        };
        let is_known = directory.is_some() || self.cwd.is_none();
        let shape = self.shape.as_ref().filter(|_| is_known)?.in_directory(directory);
        Some(self.circumstances.map_or_else(|| shape.clone(), |digest| shape.under(digest)))
    }

    /// Returns the directory in which the command of the shape runs. Returns none if the disk made another part of the
    /// line unsafe, or if there may be several directories.
    pub(crate) fn shape_runs_in(&self) -> Option<&StartDir> {
        if !self.shape.as_ref()?.is_beside() {
            return Some(&StartDir::Own);
        }
        let Target::Command { parts: Some(parts), .. } = self.target() else { return None };
        let mut rest = parts.iter().filter(|part| part.tier > Tier::Safe);
        match (rest.next()?.dirs.as_slice(), rest.next()) {
            ([directory], None) => Some(directory),
            _ => None,
        }
    }

    /// Returns true if all parts of a line only read, or all but the one that a person may allow permanently.
    pub(crate) fn reads_besides(&self) -> bool {
        self.tier == Some(Tier::Safe) || self.shape.as_ref().is_some_and(CommandShape::is_beside)
    }

    /// Raises the tier of a line that seemed to read only, because of `why`. Of a line with another unsafe part,
    /// nothing may be allowed permanently then.
    pub(crate) fn distrust(&mut self, why: &str) {
        if self.tier == Some(Tier::Safe) {
            (self.tier, self.tier_reason) = (Some(Tier::Dangerous), why.into());
        }
        self.shape = None;
    }

    /// Returns the permissions that the agent must hold.
    pub(crate) fn permissions(&self) -> impl Iterator<Item = &Permission> + Clone {
        self.uses.permissions()
    }

    /// Returns true if a sandbox for this action hides a denied path that a glob matches. It looks such paths up in the
    /// start directory and in the directories that the action may write.
    pub(crate) fn is_searched_by_sandbox(&self, path: &SanitizedPath) -> bool {
        let is_given = |used: &&Use| used.origin == UseOrigin::Given && used.operation == Operation::Write;
        let mut given = self.uses.iter().filter(is_given).filter_map(Use::path);
        self.cwd.as_ref().is_some_and(|cwd| cwd.contains(path)) || given.any(|root| root.contains(path))
    }

    /// Returns how likely `used`, which is one of the uses of this action, runs a command that matches `pattern`.
    pub(super) fn runs(&self, used: &Use, pattern: &CommandPattern) -> Likelihood {
        match &used.target {
            Target::Command { parts, .. } if meets(pattern, parts.as_deref()) => Likelihood::Certain,
            Target::Command { .. } => self.told.as_ref().map_or(Likelihood::None, |told| told.runs(pattern)),
            Target::Tool { mentions, .. } => mentions.runs(pattern),
            Target::Path(_)
            | Target::Tree(_)
            | Target::Host(_)
            | Target::Network
            | Target::Events
            | Target::Capability(_)
            | Target::Unresolved { .. }
            | Target::Invalid { .. } => Likelihood::None,
        }
    }

    /// Returns the tool input besides the resource. For an unknown tool this is the whole input, because it is not
    /// known which part is the resource.
    fn said(&self) -> Option<&str> {
        let all = matches!(self.target(), Target::Tool { .. }).then_some(self.input.as_str());
        all.or(self.besides.as_deref())
    }

    /// Returns the fingerprint of a command line, however it is written. For a program file it is the fingerprint of
    /// the command that the file is.
    pub(crate) fn doing(&self) -> Option<CommandFingerprint> {
        let is_program = |used: &&Use| self.operation() == Operation::Exec && used.operation == Operation::Command;
        let runs = self.uses.further().iter().find(is_program).unwrap_or(&self.uses.own);
        runs.target.doing()
    }
}
