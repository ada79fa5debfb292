//! Commands that put hooks into the settings of a host.

use clap::{Args, Subcommand};

use super::HostHookArgs;

/// Commands below `install`.
#[derive(Debug, Subcommand)]
pub(crate) enum InstallPart {
    /// Puts the hooks of bestow into the settings of Claude Code
    ///
    /// It shows the change, keeps the old file beside the new one, and leaves everything else as it is. If the hooks
    /// are there already, nothing changes. Settings that it does not understand are refused. `bestow uninstall claude`
    /// undoes it.
    ///
    /// The options of `bestow hook claude` name the server, or an engine of its own. Paths become absolute.
    #[command(after_long_help = "\
Examples:
  bestow install claude --project --ready-file state/server.json --token-file claude-token --dry-run
  bestow install claude --user --agent claude --config agents.toml --state state")]
    Claude(InstallArgs),
}

/// Commands below `uninstall`.
#[derive(Debug, Subcommand)]
pub(crate) enum UninstallPart {
    /// Takes the hooks of bestow out of the settings of Claude Code
    ///
    /// If nothing else was changed since the installation, the old file is put back as it was.
    #[command(after_long_help = "\
Examples:
  bestow uninstall claude --project
  bestow uninstall claude --user --dry-run")]
    Claude(UninstallArgs),
}

/// The arguments of `install`.
#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    #[command(flatten)]
    pub(crate) hook: HostHookArgs,
}

/// The arguments of `uninstall`.
#[derive(Debug, Args)]
pub(crate) struct UninstallArgs {
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
}

/// The options that name the settings.
#[derive(Debug, Args)]
pub(crate) struct SettingsArgs {
    /// The settings of the project in this directory, `.claude/settings.json` (the default)
    #[arg(long, conflicts_with = "user")]
    project: bool,
    /// The settings of the user, `~/.claude/settings.json`
    #[arg(long)]
    pub(crate) user: bool,
    /// Shows the change and writes nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}
