//! An action as it was understood: a real path, a parsed command, a tier. What was judged is what runs.

use std::sync::Arc;

use crate::model::{
    ActionFacts, CallId, CommandPattern, CommandShape, Destructive, Details, Digest, Doing, Operation, Permission,
    Reason, Right, SanitizedPath, SpokenPart, Tier, ToolName, ToolPath, UseFacts, UseOrigin, cut,
};

use super::{
    mentions::Mentions,
    uses::{Use, Uses},
};

/// How many uses a record lists. What binds an approval is about all of them.
const MAX_LISTED: usize = 64;

/// The uses for a record: not all of very many, and no words that may mean anything.
fn listed(mut uses: Vec<UseFacts>) -> Vec<UseFacts> {
    uses.retain(|used| used.origin != UseOrigin::Word);
    uses.truncate(MAX_LISTED);
    uses
}

/// An action, understood. Everything that needs the disk or a parser has been asked.
#[derive(Debug)]
pub(crate) struct Considered {
    pub(crate) tool: ToolName,
    /// Everything that it uses, pinned to the disk; its own use says what it is about.
    pub(crate) uses: Uses,
    /// What people and records see.
    pub(crate) shown: Arc<str>,
    /// Whether what a person sees is not all of it.
    pub(crate) cut: bool,
    /// None if nobody could classify it.
    pub(crate) tier: Option<Tier>,
    pub(crate) tier_reason: Arc<str>,
    /// The line between safe and dangerous was drawn for an agent by which nothing but reads happens by itself.
    pub(crate) strictly: bool,
    pub(crate) shape: Option<CommandShape>,
    pub(crate) destructive: Option<Destructive>,
    /// The input of the tool, in its one form.
    pub(crate) input: String,
    /// What a command runs with besides its line, if its tool is told so.
    pub(crate) besides: Option<String>,
    /// What of that its tool may run too: nobody knows what a tool does with what it is told besides.
    pub(crate) told: Option<Mentions>,
    pub(crate) reason: Option<Reason>,
    pub(crate) call: Option<CallId>,
    /// Whether a hook put it in the place of what was asked about.
    pub(crate) updated: bool,
    /// Whether a person may be asked although a no for the session stands.
    pub(crate) overrides: bool,
    /// Where it runs, if it runs.
    pub(crate) cwd: Option<SanitizedPath>,
    /// The content that it writes or sends.
    pub(crate) details: Option<Details>,
    /// Binds what decides besides what would run.
    pub(crate) circumstances: Option<Digest>,
    /// A sandbox keeps it from everything that it is not given, whatever its line names.
    pub(crate) in_sandbox: bool,
    /// Whether it runs in a sandbox with nothing but what is named, because the host program says so and no agent.
    pub(crate) confined: bool,
    /// Every right that it takes is bound to a directory of the disk where nothing stands at its path yet. Nothing is asked
    /// or given before.
    pub(crate) placed: bool,
}

impl Considered {
    /// Returns true if one of these rights is to a path at which nothing stands yet, and not bound to a directory.
    pub(crate) fn lacks_place_of<'r>(&self, mut rights: impl Iterator<Item = &'r Right>) -> bool {
        !self.placed && rights.any(Right::is_unplaced)
    }
}

/// What an action, or one of its uses, is about.
#[derive(Debug)]
pub(crate) enum Target {
    /// A file or directory, where it really is.
    Path(SanitizedPath),
    /// A directory with everything below it.
    Tree(SanitizedPath),
    /// A command line, in its parts; none of them if it was not understood.
    Command { text: Arc<str>, parts: Option<Vec<SpokenPart>> },
    /// A tool that is on no list, by its name. It may run any of what it mentions.
    Tool { name: Arc<str>, mentions: Mentions },
    /// A host.
    Host(Arc<str>),
    /// Any host.
    Network,
    /// The engine's own socket.
    Events,
    /// A capability of the host program.
    Capability(ToolPath),
    /// Nothing that could happen, and why.
    Invalid { text: Arc<str>, why: Arc<str> },
}

impl Target {
    /// The text of it. No host is called like a permission.
    pub(crate) fn resource(&self) -> &str {
        match self {
            Target::Path(path) | Target::Tree(path) => path.as_str(),
            Target::Command { text, .. } | Target::Invalid { text, .. } => text,
            Target::Host(host) => host,
            Target::Tool { name, .. } => name,
            Target::Network => "@network",
            Target::Events => "@events",
            Target::Capability(name) => name.as_str(),
        }
    }

    /// What running it does, if it is something that runs.
    pub(crate) fn doing(&self) -> Option<Doing> {
        match self {
            Target::Command { text, parts } => Some(Doing::of(text, parts.as_deref())),
            // A no to a tool of which nobody knows what it does is one to the tool.
            Target::Tool { name, .. } => Some(Doing::of(name, None)),
            Target::Path(_)
            | Target::Tree(_)
            | Target::Host(_)
            | Target::Network
            | Target::Events
            | Target::Capability(_)
            | Target::Invalid { .. } => None,
        }
    }
}

impl Considered {
    /// The operation of its own use.
    pub(crate) fn operation(&self) -> Operation {
        self.uses.own.operation
    }

    /// The object of its own use.
    pub(crate) fn target(&self) -> &Target {
        &self.uses.own.target
    }

    /// Whether it is nothing that could happen, and nothing that is found out about it besides matters.
    pub(crate) fn is_invalid(&self) -> bool {
        matches!(self.target(), Target::Invalid { .. })
    }

    /// What it is, for records and for binding an approval to it. Made only where somebody wants to know, since it costs
    /// more than judging.
    pub(crate) fn facts(&self) -> Arc<ActionFacts> {
        let operation = self.operation().as_str();
        let (tool, resource) = (self.tool.as_str(), self.target().resource());
        let cwd = self.cwd.as_ref().map(SanitizedPath::as_str);
        let further: Vec<UseFacts> = self.uses.further().iter().map(Use::facts).collect();
        let bound = self.bound(&further);
        let whole = [operation, tool, resource, &self.input].into_iter().chain(cwd);
        let whole = whole.chain(bound.iter().map(String::as_str));
        Arc::new(ActionFacts {
            operation: self.operation(),
            tool: self.tool.clone(),
            resource: Arc::clone(&self.shown),
            uses: listed(further),
            tier: self.tier.unwrap_or(Tier::Dangerous),
            tier_reason: Arc::clone(&self.tier_reason),
            input: Digest::of_texts(whole),
            access: self.access(operation, tool, resource, cwd),
            circumstances: self.circumstances,
            shape: self.remembered_shape(),
            doing: self.doing(),
            call: self.call.clone(),
            details: self.details.clone(),
            destructive: self.destructive.clone(),
            overrides: self.overrides,
            cut: self.cut || cut(&self.shown).is_some(),
        })
    }

    fn access(&self, operation: &str, tool: &str, resource: &str, cwd: Option<&str>) -> Digest {
        let circumstances = self.circumstances.map(|digest| digest.to_string());
        let besides = cwd.into_iter().chain(self.said()).chain(circumstances.as_deref());
        Digest::of_texts([operation, tool, resource].into_iter().chain(besides))
    }

    /// What a yes for good is about, if there may be one: the shape of the command, in the same directory and under the
    /// same circumstances.
    pub(crate) fn remembered_shape(&self) -> Option<CommandShape> {
        let shape = self.shape.as_ref()?.in_directory(self.cwd.as_ref());
        Some(self.circumstances.map_or_else(|| shape.clone(), |digest| shape.under(digest)))
    }

    /// The permissions that must be held for it.
    pub(crate) fn permissions(&self) -> impl Iterator<Item = &Permission> + Clone {
        self.uses.permissions()
    }

    /// Whether what its tool was told besides a command line may run a command like `pattern`.
    pub(super) fn is_told(&self, pattern: &CommandPattern) -> bool {
        self.told.as_ref().is_some_and(|told| told.may_run(pattern))
    }

    /// What a tool was told besides the resource; one that is on no list, everything: of such a tool nobody knows what of
    /// that is the resource.
    fn said(&self) -> Option<&str> {
        let all = matches!(self.target(), Target::Tool { .. }).then_some(self.input.as_str());
        all.or(self.besides.as_deref())
    }

    /// What an approval binds besides what is shown: everything that it uses, for a program the very file, and its
    /// circumstances.
    fn bound(&self, further: &[UseFacts]) -> Vec<String> {
        let needs = self.permissions().map(ToString::to_string);
        let files = self.uses.rights().filter(|_| self.operation() == Operation::Exec);
        let files = files.map(|right| format!("{:?}", right.identity));
        let further = further.iter().map(ToString::to_string);
        let content = self.details.as_ref().map(|details| details.digest);
        let digests = self.circumstances.into_iter().chain(content).map(|digest| digest.to_string());
        needs.chain(files).chain(further).chain(digests).collect()
    }

    /// What a command line does, however it is written; of a program file, what the command does that it is.
    pub(crate) fn doing(&self) -> Option<Doing> {
        let is_program = |used: &&Use| self.operation() == Operation::Exec && used.operation == Operation::Command;
        let runs = self.uses.further().iter().find(is_program).unwrap_or(&self.uses.own);
        runs.target.doing()
    }
}
