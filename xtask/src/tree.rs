//! `cargo xtask tree`: the size of the dependency tree that a program gets with the default features.

use std::collections::BTreeSet;

use super::{Outcome, Result, workspace::cargo};

/// The most packages of a program with the default features, the packages of this repository included. Packages that
/// only run in the compiler are not counted. Never raise this number without a reason in docs/architecture.md.
const MOST: usize = 60;

/// Counts the packages, and compares the number with its bound.
pub(crate) fn check() -> Result<Outcome> {
    let linked = packages("bestow", "normal,no-proc-macro")?;
    let all = packages("bestow", "normal")?;
    let told =
        format!("{linked} packages with the default features, and {} that only run in the compiler", all - linked);
    if linked > MOST { Err(format!("{told}: {MOST} are the most").into()) } else { Ok(Outcome::Done(told)) }
}

/// Counts a package and those below it that edges of these kinds reach.
pub(crate) fn packages(package: &str, edges: &str) -> Result<usize> {
    let output = cargo().args(["tree", "--package", package, "--prefix", "none", "--edges", edges]).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let tree = String::from_utf8(output.stdout)?;
    let name = |line: &str| line.split(" (").next().unwrap_or_default().to_owned();
    let names: BTreeSet<_> = tree.lines().map(name).filter(|name| !name.is_empty()).collect();
    Ok(names.len())
}
