//! Actions in resolved form, as far as that needs neither the disk nor the state.

use std::sync::Arc;

use crate::{
    kernel::{ResolvedAction, Target, Use, operation_for},
    model::{
        Action, Details, Escaped, Operation, Permission, PinnedPermission, Profile, Reason, SanitizedPath, Tier,
        ToolName, UseOrigin, canonical_host, redacted, redacted_with,
    },
};

use super::input;

/// Creates the use of the network that a command line names. A line that only may reach it needs no permission.
pub(super) fn reaching(host: Option<&str>, certain: bool) -> Use {
    let target = host.map_or(Target::Network, |host| Target::Host(host.into()));
    let takes = certain.then(|| PinnedPermission::from(Permission::Network));
    let origin = if certain { UseOrigin::Needed } else { UseOrigin::Word };
    Use { operation: Operation::Network, target, takes, origin }
}

/// Returns the declared content of an action, in canonical form, if there is any.
pub(super) fn said_content(action: &Action) -> Option<Details> {
    action.details.as_ref().map(|content| Details::of(&input::canonical(content)))
}

/// Creates the use of a permission itself; for a path, the use of everything at and below it.
pub(super) fn using_permission(pinned: PinnedPermission) -> ResolvedAction {
    let operation = operation_for(&pinned.permission);
    let base = blank(operation, operation.own_tool(), &Action::new(operation, ""), String::new());
    let (target, why) = match &pinned.permission {
        Permission::Path(_, path) => (Target::Tree(path.clone()), "needs nothing but the permission"),
        Permission::Network => (Target::Network, "needs nothing but the permission"),
        Permission::Events => (Target::Events, "uses the engine's own socket"),
        Permission::Tool(name) => (Target::Capability(name.clone()), "needs nothing but the permission"),
    };
    let shown = target.resource().into();
    ResolvedAction { shown, tier: Some(Tier::Safe), tier_reason: why.into(), ..about(base, target, Some(pinned)) }
}

/// Turns `base` into the use of this permission.
pub(super) fn by_itself(base: ResolvedAction, permission: Permission) -> ResolvedAction {
    let ResolvedAction { uses, shown, tier, tier_reason, .. } = using_permission(PinnedPermission::from(permission));
    ResolvedAction { uses, shown, tier, tier_reason, ..base }
}

/// Sets the target and the needed permission of `base`.
pub(super) fn about(base: ResolvedAction, target: Target, takes: Option<PinnedPermission>) -> ResolvedAction {
    let own = Use { target, takes, operation: base.operation(), origin: UseOrigin::Own };
    ResolvedAction { uses: own.into(), ..base }
}

/// Creates an action of which only the description is known.
pub(super) fn blank(operation: Operation, tool: ToolName, action: &Action, input: String) -> ResolvedAction {
    ResolvedAction {
        tool,
        uses: Use::unknown(operation).into(),
        shown: Arc::default(),
        cut: false,
        tier: None,
        tier_reason: Arc::default(),
        strictly: true,
        shape: None,
        destructive: None,
        input,
        reason: action.reason.as_ref().map(Reason::redacted),
        call: action.call.clone(),
        besides: None,
        told: None,
        updated: false,
        overrides: action.overrides,
        shell: action.shell,
        cwd: None,
        circumstances: action.circumstances,
        directory: None,
        details: None,
        in_sandbox: action.in_sandbox,
        confined: false,
        placed: false,
    }
}

/// Returns the directory in which a command or program starts. Its effect depends on that directory.
pub(super) fn runs_in(profile: &Profile, operation: Operation) -> Option<SanitizedPath> {
    matches!(operation, Operation::Command | Operation::Exec).then(|| profile.working_dir.clone())
}

pub(super) fn invalid(base: ResolvedAction, text: &str, why: &str) -> ResolvedAction {
    let why = redacted_with(why, text);
    let target = Target::Invalid { text: text.into(), why: Arc::clone(&why) };
    ResolvedAction { shown: redacted(text), tier: Some(Tier::Dangerous), tier_reason: why, ..about(base, target, None) }
}

/// Refuses a text in the place of a host. A password may stand before a host, as in a URL.
fn invalid_host(base: ResolvedAction, text: &str, why: &str) -> ResolvedAction {
    let shown = match text.contains("//") {
        true => redacted(text),
        false => redacted(&format!("//{text}")).trim_start_matches("//").into(),
    };
    ResolvedAction { shown, ..invalid(base, text, why) }
}

/// Resolves a network access. The network permission covers every host; rules decide about single hosts.
pub(super) fn host(base: ResolvedAction, text: &str) -> ResolvedAction {
    if text == Target::Network.resource() {
        return by_itself(base, Permission::Network);
    }
    if let Some(host) = host_of_url(text) {
        return invalid_host(base, text, &format!("a URL is not a host: name the host `{}`", Escaped(host)));
    }
    let is_host = !text.is_empty() && !text.chars().any(|c| c.is_whitespace() || c.is_control());
    if !is_host {
        return invalid_host(base, text, "a host is a name or an address, without spaces");
    }
    // Host names are case-insensitive, and a trailing dot only marks them as complete.
    let host = text.to_ascii_lowercase();
    // A port does not change the host.
    let name = match host.rsplit_once(':') {
        Some((name, port)) if !name.contains(':') && port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => &host,
    };
    let canonical = canonical_host(name);
    let text = canonical.as_deref().unwrap_or_else(|| name.trim_end_matches('.'));
    if text.is_empty() {
        return invalid_host(base, text, "a host is a name or an address, without spaces");
    }
    let (target, takes) = (Target::Host(text.into()), Some(PinnedPermission::from(Permission::Network)));
    let tier_reason = "needs nothing but the permission".into();
    ResolvedAction { shown: text.into(), tier: Some(Tier::Safe), tier_reason, ..about(base, target, takes) }
}

/// Resolves a use of the engine's own socket, which has one name.
pub(super) fn events(base: ResolvedAction, text: &str) -> ResolvedAction {
    if text.is_empty() || text == Target::Events.resource() {
        by_itself(base, Permission::Events)
    } else {
        invalid(base, text, "the engine's own socket is called `@events`")
    }
}

/// Returns the host that a URL, or a text with parts of a URL, names.
fn host_of_url(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("//").unwrap_or(("", text));
    let host = rest.split(['/', '?', '#', '\\']).next().unwrap_or(rest);
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    (host != text).then_some(host)
}
