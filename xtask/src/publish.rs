//! `cargo xtask publish`: every publishable package can be packed, and what is packed compiles.

use std::env;

use super::{
    Outcome, Result,
    workspace::{cargo, metadata, publishable, run},
};

/// Packs every publishable member, and publishes all of them in a dry run. With `verify`, compiles what was packed, as
/// a registry's user would.
///
/// Members that depend on each other are packed together: cargo then takes the packed library for the packed command
/// line, so that neither has to be in a registry.
pub(crate) fn package(verify: bool) -> Result<Outcome> {
    let metadata = metadata()?;
    let names = publishable(&metadata);
    if names.is_empty() {
        return Err("no member of the workspace can be published".into());
    }
    let of_each = names.iter().flat_map(|name| ["--package", name]);
    // Without the network the dependencies of a lock file are enough, if they were downloaded before.
    let mut package = cargo();
    package.args(["package", "--quiet", "--locked", "--offline", "--allow-dirty"]);
    if !verify {
        package.arg("--no-verify");
    }
    run(package.args(of_each.clone()), "a package cannot be packed")?;
    let mut publish = cargo();
    publish.args(["publish", "--dry-run", "--quiet", "--locked", "--allow-dirty", "--no-verify"]);
    let published = run(publish.args(of_each), "a package cannot be published");
    let packed = if verify { "packed and compiled" } else { "packed" };
    match published {
        Ok(()) => Ok(Outcome::Done(format!("{packed}, and published in a dry run: {}", names.join(", ")))),
        // The dry run asks the registry for its index.
        Err(why) if env::var_os("CI").is_none() => {
            Ok(Outcome::NotRun(format!("the dry run of publishing, which needs the network: {why}")))
        }
        Err(why) => Err(why),
    }
}
