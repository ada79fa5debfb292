//! `cargo xtask msrv`: the publishable packages compile with the oldest supported compiler.

use std::process::Command;

use super::{
    Outcome, Result,
    workspace::{self, list, metadata, publishable, run, text},
};

/// Checks the publishable packages with the compiler that `rust-version` names. It is installed if rustup can do that.
/// The packages have the features that they ask of each other, as for a user of the command line. The tests ask for
/// more.
pub(crate) fn check() -> Result<Outcome> {
    let metadata = metadata()?;
    let names = publishable(&metadata);
    let mut versions = list(&metadata["packages"]).iter().filter(|package| names.contains(&text(&package["name"])));
    let version = versions.next().map(|package| text(&package["rust_version"]).to_owned());
    let version = version.filter(|version| !version.is_empty()).ok_or("no publishable package has a `rust-version`")?;
    if !is_installed(&version) && !install(&version) {
        let why = format!("Rust {version} is not installed (rustup toolchain install {version} --profile minimal)");
        return Ok(Outcome::NotRun(format!("the check with the oldest supported compiler: {why}")));
    }
    let mut cargo = Command::new("rustup");
    cargo.current_dir(workspace::root()).args(["run", &version, "cargo", "check", "--quiet"]);
    // Names of this compiler's own programs; the older one has its own.
    cargo.env_remove("CARGO").env_remove("RUSTC").env_remove("RUSTDOC").env_remove("RUSTUP_TOOLCHAIN");
    cargo.args(names.iter().flat_map(|name| ["--package", name]));
    run(&mut cargo, &format!("Rust {version} does not compile the packages"))?;
    Ok(Outcome::Done(format!("Rust {version} compiles {}", names.join(", "))))
}

fn is_installed(version: &str) -> bool {
    let output = Command::new("rustup").args(["run", version, "rustc", "--version"]).output();
    output.is_ok_and(|output| output.status.success())
}

/// Asks rustup for the compiler. Returns false if there is no rustup, or no network.
fn install(version: &str) -> bool {
    let output = Command::new("rustup").args(["toolchain", "install", version, "--profile", "minimal"]).output();
    output.is_ok_and(|output| output.status.success()) && is_installed(version)
}
