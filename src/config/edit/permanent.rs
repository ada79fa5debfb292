//! A person's permanent decision in the form of the policy file: permissions and rules, exactly as wide as the
//! decision.

use std::sync::Arc;

use crate::{
    command::Shape,
    model::{
        Action, ActionFacts, AgentId, AgentPolicy, ApproverId, CommandShape, Digest, Escaped, Grant, Hold, Means,
        Operation, Origin, OwnerId, PathGlob, Permission, PinnedPermission, Place, Request, RequestId, Rule,
        SanitizedPath, SavedDecision, Scope, Subject, Tier, Timestamp, ToolName, Verdict,
    },
};

use super::PersistError;

/// A permanent approval. It is made from a request, a saved decision or a grant, with the person who gave it, or it is
/// only suggested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermanentDecision {
    agent: AgentId,
    owner: OwnerId,
    permissions: Vec<PinnedPermission>,
    rules: Vec<Rule>,
    origin: Said,
    /// The directory in which it was given, if it is about a command.
    cwd: Option<SanitizedPath>,
}

/// The source of a permanent approval.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Said {
    /// A person approved it.
    By { by: ApproverId, means: Means, at: Timestamp, request: Option<RequestId> },
    /// It is only suggested, for the reason in the text.
    Suggested(Arc<str>),
}

impl PermanentDecision {
    /// Creates the suggestion to give a permission permanently. `why` becomes a comment of the file.
    pub fn suggested_permission(
        agent: &AgentId,
        owner: &OwnerId,
        permission: &Permission,
        why: impl Into<Arc<str>>,
    ) -> PermanentDecision {
        PermanentDecision {
            agent: agent.clone(),
            owner: owner.clone(),
            permissions: vec![permission.clone().into()],
            rules: Vec::new(),
            origin: Said::Suggested(why.into()),
            cwd: None,
        }
    }

    /// Creates the suggestion to allow an action permanently. `why` becomes a comment of the file.
    ///
    /// # Errors
    ///
    /// [`PersistError::NotSayable`] if a rule cannot express exactly this.
    pub fn suggested_action(
        agent: &AgentId,
        owner: &OwnerId,
        action: &ActionFacts,
        why: impl Into<Arc<str>>,
    ) -> Result<PermanentDecision, PersistError> {
        Ok(PermanentDecision {
            agent: agent.clone(),
            owner: owner.clone(),
            permissions: Vec::new(),
            rules: vec![rule_about(action)?],
            origin: Said::Suggested(why.into()),
            cwd: action.shape.as_ref().and_then(|shape| shape.cwd.clone()),
        })
    }

    /// Creates a permanent approval of everything that `request` asks for.
    ///
    /// # Errors
    ///
    /// [`PersistError::NotSayable`] if the request asks for less than a permanent approval, or if a rule cannot express
    /// exactly this: a command without a shape of its own, a destructive action, a host.
    pub fn to(
        request: &Request,
        by: ApproverId,
        means: impl Into<Means>,
        at: Timestamp,
    ) -> Result<PermanentDecision, PersistError> {
        if let Some(asked) = request.scope.filter(|asked| !Scope::Always.fits_within(*asked)) {
            let code = request.code();
            let why = format!("[{code}] requests the scope `{asked}`, so the answer cannot be permanent");
            return Err(PersistError::not_sayable(why));
        }
        if request.is_once_only() {
            let why = format!(
                "the question [{}] did not show the complete action, so a permanent approval is not possible",
                request.code()
            );
            return Err(PersistError::not_sayable(why));
        }
        refuse_hooked(&request.hooks)?;
        // If a request asks only for permissions, only these are granted permanently.
        let action = request.action.as_deref().filter(|_| request.asks_about_action());
        let rule = action.map(rule_about).transpose()?;
        Ok(PermanentDecision {
            agent: request.from.clone(),
            owner: request.owner.clone(),
            permissions: request.asked.clone(),
            rules: rule.into_iter().collect(),
            origin: Said::By { by, means: means.into(), at, request: Some(request.id) },
            cwd: action.and_then(|action| action.shape.as_ref()?.cwd.clone()),
        })
    }

    /// Creates a permanent approval from a saved decision of a person about an action.
    ///
    /// # Errors
    ///
    /// [`PersistError::NotSayable`] if the decision is not permanent, is a denial, or cannot be expressed exactly by a
    /// rule.
    pub fn of_ruling(ruling: &SavedDecision) -> Result<PermanentDecision, PersistError> {
        let name = ruling.id;
        if ruling.verdict != Verdict::Allow || ruling.scope != Scope::Always {
            let why = format!("{name} is not a permanent approval: only permanent approvals are written into the file");
            return Err(PersistError::not_sayable(why));
        }
        refuse_hooked(&ruling.hooks)?;
        let about = match &ruling.about {
            Subject::Shape(shape) => About::Shape(shape),
            Subject::Access(access) => About::Access(*access),
            Subject::Input(_) => {
                return Err(PersistError::not_sayable(format_args!(
                    "{name} is for one use: only permanent approvals are written into the file"
                )));
            }
            Subject::Doing(_) => {
                return Err(PersistError::not_sayable(format_args!(
                    "{name} is a denial: only permanent approvals are written into the file"
                )));
            }
        };
        let rule = rule(&ruling.tool, ruling.operation, &ruling.resource, about)?;
        Ok(PermanentDecision {
            agent: ruling.agent.clone(),
            owner: ruling.owner.clone(),
            permissions: Vec::new(),
            rules: vec![rule],
            origin: Said::By {
                by: ruling.by.clone(),
                means: ruling.means.clone(),
                at: ruling.since,
                request: ruling.request,
            },
            cwd: if let Subject::Shape(shape) = &ruling.about { shape.cwd.clone() } else { None },
        })
    }

    /// Creates a permanent approval from a grant that a person gave to an agent of `owner`.
    ///
    /// # Errors
    ///
    /// [`PersistError::NotSayable`] if the grant is not permanent, is not for use, or was not given by a person.
    pub fn of_grant(grant: &Grant, owner: &OwnerId) -> Result<PermanentDecision, PersistError> {
        let name = grant.id;
        let Origin::Person { by, means, request } = &grant.origin else {
            let why = format!("{name} was not given by a person: only answers of people are written into the file");
            return Err(PersistError::not_sayable(why));
        };
        if grant.scope != Scope::Always || grant.hold != Hold::Use {
            let why = format!("{name} is not a permanent permission for use: only those are written into the file");
            return Err(PersistError::not_sayable(why));
        }
        Ok(PermanentDecision {
            agent: grant.to.clone(),
            owner: owner.clone(),
            permissions: vec![grant.pinned.clone()],
            rules: Vec::new(),
            origin: Said::By { by: by.clone(), means: means.clone(), at: grant.since, request: *request },
            cwd: None,
        })
    }

    pub(super) fn agent(&self) -> &AgentId {
        &self.agent
    }

    pub(super) fn owner(&self) -> &OwnerId {
        &self.owner
    }

    pub(super) fn permissions(&self) -> &[PinnedPermission] {
        &self.permissions
    }

    pub(super) fn rules(&self) -> &[Rule] {
        &self.rules
    }

    pub(super) fn is_nothing(&self) -> bool {
        self.permissions.is_empty() && self.rules.is_empty()
    }

    /// Returns the directory in which the approval was given, if a rule of an agent that works in `own` would apply to
    /// another directory.
    pub(super) fn said_elsewhere(&self, own: &SanitizedPath) -> Option<&SanitizedPath> {
        self.cwd.as_ref().filter(|cwd| *cwd != own)
    }

    /// Returns the permissions and rules that the policy of `agent` does not contain yet.
    pub(super) fn without(&self, agent: &AgentPolicy) -> PermanentDecision {
        let (mut permissions, mut rules) = (self.permissions.clone(), self.rules.clone());
        permissions.retain(|pinned| {
            !agent.permissions.iter().any(|there| there.hold == Hold::Use && says(pinned, &there.pinned))
        });
        rules.retain(|rule| !agent.rules.iter().any(|there| there.says_the_same(rule)));
        PermanentDecision { permissions, rules, ..self.clone() }
    }

    /// Returns the lines in the policy of `agent` that contain the approval.
    pub(super) fn places_in(&self, agent: &AgentPolicy) -> Vec<Place> {
        let permissions = agent.permissions.iter().filter(|there| self.gives(&there.pinned)).map(|there| &there.place);
        let rules = agent.rules.iter().filter(|there| self.rules.iter().any(|rule| rule.says_the_same(there)));
        permissions.chain(rules.map(|rule| &rule.place)).cloned().collect()
    }

    /// Returns true if the approval gives exactly this permission of a file.
    pub(super) fn gives(&self, there: &PinnedPermission) -> bool {
        self.permissions.iter().any(|pinned| says(pinned, there))
    }

    /// Returns one comment line with the person, the time and the request. It contains no text that an agent chose.
    pub(super) fn comment(&self) -> String {
        match &self.origin {
            Said::By { by, means, at, request } => {
                let answered = request.map(|id| format!(", request {id}")).unwrap_or_default();
                format!("{by} ({}) approved this permanently at {at}{answered}", Escaped(means))
            }
            Said::Suggested(why) => Escaped(why).to_string(),
        }
    }

    /// Returns an example of an action that the rule allows.
    pub(super) fn example(&self) -> Option<Action> {
        let rule = self.rules.first()?;
        let action = match (&rule.shape, &rule.path) {
            (Some(shape), _) => Action::command(&shape.shown.parse::<Shape>().ok()?.example()),
            (None, Some(path)) => Action::new(rule.operation?, path.as_literal()?.as_str()),
            (None, None) => return None,
        };
        Some(rule.tool.clone().map_or(action.clone(), |tool| action.by_tool(tool)))
    }
}

/// Returns true if a line of the file gives this permission. A suggested permission names no object, so it means the
/// object that the line means.
fn says(pinned: &PinnedPermission, there: &PinnedPermission) -> bool {
    pinned == there || pinned.permission == there.permission && pinned.pinned_object().is_none()
}

/// Refuses an approval that a hook asked for, because a rule cannot answer a hook.
fn refuse_hooked(hooks: &[Arc<str>]) -> Result<(), PersistError> {
    let Some(hook) = hooks.first() else { return Ok(()) };
    Err(PersistError::not_sayable(format_args!(
        "the hook `{}` asks about this, and a rule cannot answer a hook: let the engine store the answer with \
         `--scope always`",
        Escaped(hook)
    )))
}

/// The subject of an approval.
enum About<'a> {
    Access(Digest),
    Shape(&'a CommandShape),
}

fn rule_about(action: &ActionFacts) -> Result<Rule, PersistError> {
    if action.tier == Tier::Destructive {
        let why = format!("`{}` is destructive: it is never allowed permanently", Escaped(&action.resource));
        return Err(PersistError::not_sayable(why));
    }
    let runs = matches!(action.operation, Operation::Command | Operation::Exec);
    let about = match &action.shape {
        Some(shape) if runs => About::Shape(shape),
        None if runs => {
            let why = format!(
                "`{}` is not one command with literal words, so no rule can match exactly this",
                Escaped(&action.resource)
            );
            return Err(PersistError::not_sayable(why));
        }
        Some(_) | None => About::Access(*action.access),
    };
    rule(&action.tool, action.operation, &action.resource, about)
}

/// Creates the rule that allows exactly this action.
fn rule(tool: &ToolName, operation: Operation, resource: &str, about: About<'_>) -> Result<Rule, PersistError> {
    let place = Place { file: Arc::default(), line: 0 };
    let verdict = Verdict::Allow;
    let (tool, operation_of_rule) = (Some(tool.clone()), Some(operation));
    let rule = Rule {
        verdict,
        tool,
        operation: operation_of_rule,
        path: None,
        command: None,
        shape: None,
        cwd: None,
        children: false,
        why: None,
        place,
    };
    match about {
        About::Shape(shape) if shape.is_shown_whole() && shape.shown.parse::<Shape>().is_ok() => {
            Ok(Rule { shape: Some(shape.in_directory(None)), ..rule })
        }
        About::Shape(shape) => Err(PersistError::not_sayable(format_args!(
            "`{}` may contain a secret, or the answer depends on circumstances that a rule cannot name",
            Escaped(&shape.shown)
        ))),
        About::Access(access) => {
            let tool = rule.tool.as_ref().map_or("", ToolName::as_str);
            let is_whole = access == Digest::of_texts([operation.as_str(), tool, resource]);
            let is_path = matches!(operation, Operation::Read | Operation::Write | Operation::Exec);
            let path = resource.parse::<SanitizedPath>().ok().filter(|_| is_whole && is_path);
            let glob = path.and_then(|path| PathGlob::literal(&path));
            let no_words = || {
                PersistError::not_sayable(format_args!(
                    "a rule cannot match exactly `{operation}` of `{}`: let the engine store the answer with \
                     `--scope always`",
                    Escaped(resource)
                ))
            };
            glob.map(|path| Rule { path: Some(path), ..rule }).ok_or_else(no_words)
        }
    }
}
