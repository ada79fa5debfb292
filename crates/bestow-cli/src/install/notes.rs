//! Notes for the person who installs hooks.

use super::{
    file::{SettingsFile, shown},
    settings::{Hook, Settings},
};
use crate::args::HostHookArgs;

/// Returns what a person should know about these hooks in these settings, a line each.
pub(super) fn notes(file: &SettingsFile, settings: &Settings, args: &HostHookArgs, hooks: &[Hook]) -> String {
    let real = file.behind_links();
    let has_no_token = args.engine.agent.is_none() && args.engine.remote.token_file.is_none();
    let blocks = hooks.iter().any(|hook| hook.blocks_on_failure);
    let notes = [
        real.map(|real| format!("a link leads to {}, which is outside of that directory", shown(&real))),
        settings
            .turn_hooks_off()
            .then(|| "`disableAllHooks` is true in these settings, so no hook runs: remove it".to_owned()),
        settings.have_plain_hook().then(|| {
            "`bestow hook pre-tool-use` is in these settings, too, and asks about each call a second time: remove it"
                .to_owned()
        }),
        has_no_token.then(|| {
            "without `--token-file`, the hooks take the token from the variable BESTOW_TOKEN of Claude Code, and deny \
             every call if there is none"
                .to_owned()
        }),
        (!blocks).then(|| {
            "Claude Code 2.1.295 or later was not found, so a hook that cannot be started does not block the call; \
             run this again after an update"
                .to_owned()
        }),
    ];
    notes.into_iter().flatten().map(|note| format!("note: {note}\n")).collect()
}
