//! `cargo xtask publish`: every publishable package can be packed, and what is packed compiles.

use super::{
    Outcome, Result,
    workspace::{cargo, metadata, publishable, run},
};

/// Packs every publishable member. With `verify`, compiles what was packed, as a registry's user would.
///
/// Members that depend on each other are packed together: cargo then takes the packed library for the packed command
/// line, so that neither has to be in a registry.
pub(crate) fn package(verify: bool) -> Result<Outcome> {
    let metadata = metadata()?;
    let names = publishable(&metadata);
    if names.is_empty() {
        return Err("no member of the workspace can be published".into());
    }
    // Without the network the dependencies of a lock file are enough, if they were downloaded before.
    let mut command = cargo();
    command.args(["package", "--quiet", "--locked", "--offline", "--allow-dirty"]);
    if !verify {
        command.arg("--no-verify");
    }
    command.args(names.iter().flat_map(|name| ["--package", name]));
    run(&mut command, "a package cannot be published")?;
    let compiled = if verify { "packed and compiled" } else { "packed" };
    Ok(Outcome::Done(format!("{compiled}: {}", names.join(", "))))
}
