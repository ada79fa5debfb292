//! `cargo xtask api`: the public API of the libraries as committed listings, made from the JSON of rustdoc.

mod listing;
mod signature;

use std::{
    env,
    ffi::OsString,
    fs,
    path::PathBuf,
    process::{Command, ExitCode},
};

use super::{
    Outcome, Result,
    workspace::{cargo, root, run, target},
};
use listing::Listing;

/// The packages with a public API, and their listings below the root of the workspace.
const LISTINGS: [(&str, &str); 5] = [
    ("bestow", "docs/public-api.txt"),
    ("bestow-command", "crates/bestow-command/public-api.txt"),
    ("bestow-hosts", "crates/bestow-hosts/public-api.txt"),
    ("bestow-http", "crates/bestow-http/public-api.txt"),
    ("bestow-mcp", "crates/bestow-mcp/public-api.txt"),
];

/// The number of names that the root of a library may have. Modules by family take the others. Lower
/// this number when names have moved. Never raise it.
const MOST_NAMES_IN_ROOT: usize = 40;

/// The environment variable that names the real rustdoc to this program, while it stands in for it.
const RUSTDOC: &str = "XTASK_RUSTDOC";

/// Writes the listings.
pub(crate) fn write() -> Result<Outcome> {
    describe()?;
    each(|package, file| {
        let listing = read(package)?;
        fs::write(root().join(file), listing.to_string())?;
        Ok(format!("{file}: {} items, {} names in the root", listing.len(), listing.names_in_root()))
    })
}

/// Compares the listings with the committed ones, and the number of names in each root with its bound.
pub(crate) fn check() -> Result<Outcome> {
    describe()?;
    each(|package, file| {
        let listing = read(package)?;
        let committed = fs::read_to_string(root().join(file)).unwrap_or_default();
        if let Some(difference) = difference(&committed, &listing.to_string()) {
            let renew = "if that is meant, run `cargo xtask api`, and say in CHANGELOG.md what changed";
            return Err(format!("the public API is not the one in {file}:\n{difference}\n{renew}").into());
        }
        let names = listing.names_in_root();
        if names > MOST_NAMES_IN_ROOT {
            let message = format!("the root of {package} has {names} names, and {MOST_NAMES_IN_ROOT} are the most");
            return Err(format!("{message}: put new items into a module").into());
        }
        Ok(format!("{} items as in {file}, {names} names in the root (at most {MOST_NAMES_IN_ROOT})", listing.len()))
    })
}

/// Runs `step` for each listing, and joins what it reports.
fn each(step: impl Fn(&str, &str) -> Result<String>) -> Result<Outcome> {
    let told = LISTINGS.iter().map(|(package, file)| step(package, file)).collect::<Result<Vec<_>>>()?;
    Ok(Outcome::Done(told.join("\n")))
}

/// Returns the lines that are gone and those that are new; none if both texts have the same lines.
fn difference(committed: &str, found: &str) -> Option<String> {
    let (old, new): (Vec<_>, Vec<_>) = (committed.lines().collect(), found.lines().collect());
    let (in_old, in_new): (std::collections::HashSet<_>, std::collections::HashSet<_>) =
        (old.iter().collect(), new.iter().collect());
    let gone = old.iter().filter(|line| !in_new.contains(line)).map(|line| format!("- {line}"));
    let added = new.iter().filter(|line| !in_old.contains(line)).map(|line| format!("+ {line}"));
    let lines: Vec<_> = gone.chain(added).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Runs rustdoc on the libraries with all features. It compiles nothing that `cargo doc` has compiled for the same
/// packages.
fn describe() -> Result<()> {
    let mut command = cargo();
    command.args(["doc", "--quiet", "--no-deps", "--all-features"]);
    command.args(LISTINGS.iter().flat_map(|(package, _)| ["--package", package]));
    command.env("RUSTDOCFLAGS", "-Z unstable-options --output-format json --cap-lints allow");
    // Only rustdoc itself may use unstable options. With the variable in the environment of cargo, the build scripts of
    // half the dependencies would run again, here and in the next ordinary build.
    let rustdoc = env::var_os("RUSTDOC").unwrap_or_else(|| "rustdoc".into());
    command.env(RUSTDOC, rustdoc).env("RUSTDOC", env::current_exe()?);
    run(&mut command, "rustdoc cannot describe the libraries")
}

/// Reads what rustdoc wrote about a package.
fn read(package: &str) -> Result<Listing> {
    let file: PathBuf = target().join(format!("doc/{}.json", package.replace('-', "_")));
    let json = fs::read(&file).map_err(|why| format!("{}: {why}", file.display()))?;
    Listing::read(&serde_json::from_slice(&json)?)
}

/// Returns the real rustdoc, if cargo runs this program in its place.
pub(crate) fn wrapped_rustdoc() -> Option<OsString> {
    env::var_os(RUSTDOC)
}

/// Runs the real rustdoc with the arguments of this program, and with unstable options allowed.
pub(crate) fn run_rustdoc(rustdoc: &OsString) -> ExitCode {
    let mut command = Command::new(rustdoc);
    command.args(env::args_os().skip(1)).env("RUSTC_BOOTSTRAP", "1").env_remove(RUSTDOC);
    match command.status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("{}: {why}", rustdoc.to_string_lossy());
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::difference;

    #[test]
    fn only_lines_that_differ_are_told() {
        assert_eq!(difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(difference("a\nb\n", "a\nc\nd\n").unwrap(), "- b\n+ c\n+ d");
    }
}
