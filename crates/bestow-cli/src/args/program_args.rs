//! Commands about this program itself.

use std::path::PathBuf;

use clap::Subcommand;
use clap_complete::Shell;

/// Commands about this program itself.
#[derive(Debug, Subcommand)]
pub(crate) enum ProgramCommand {
    /// Prints a completion script for a shell
    ///
    /// Each shell reads such scripts from a directory of its own.
    #[command(after_long_help = "\
Examples:
  bestow completions bash > ~/.local/share/bash-completion/completions/bestow
  bestow completions zsh > ~/.zfunc/_bestow
  bestow completions fish > ~/.config/fish/completions/bestow.fish")]
    Completions {
        /// The shell
        #[arg(value_name = "SHELL")]
        shell: Shell,
    },

    /// Writes the manual pages, one for each command
    #[command(after_long_help = "\
Examples:
  bestow man ~/.local/share/man/man1")]
    Man {
        /// The directory for the pages; it is created where it does not exist
        #[arg(value_name = "DIRECTORY")]
        directory: PathBuf,
    },
}
