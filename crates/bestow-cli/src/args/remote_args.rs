//! The options that name a running server and the token for it.

use std::path::PathBuf;

use clap::Args;

/// The options that name a running server and the token for it.
#[derive(Clone, Debug, Args)]
pub(crate) struct RemoteArgs {
    /// The address of the server [default: BESTOW_URL, or http://127.0.0.1:7422]
    #[arg(long, value_name = "URL", conflicts_with = "ready_file")]
    pub(crate) url: Option<String>,
    /// The ready file of the server, which has its address
    #[arg(long, value_name = "FILE")]
    pub(crate) ready_file: Option<PathBuf>,
    /// The file whose first line is the token [default: the token in BESTOW_TOKEN]
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Sends the token to a server on another machine, without encryption
    #[arg(long)]
    pub(crate) allow_plain_http: bool,
}
