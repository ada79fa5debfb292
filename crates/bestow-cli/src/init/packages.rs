//! Package managers and build tools, by the files that show their use.

/// A package manager or build tool.
#[derive(Debug)]
pub(super) struct PackageManager {
    /// The file that lists the packages or targets.
    pub(super) manifest: &'static str,
    /// A second file that tells this tool from others with the same manifest.
    pub(super) lock: Option<&'static str>,
    /// A command that runs code of the directory.
    pub(super) test: &'static str,
    /// Commands that publish.
    pub(super) publish: &'static [&'static str],
}

const fn tool(
    manifest: &'static str,
    lock: Option<&'static str>,
    test: &'static str,
    publish: &'static [&'static str],
) -> PackageManager {
    PackageManager { manifest, lock, test, publish }
}

/// Every tool that is looked for. Of several with one manifest, the first one that is found counts.
pub(super) static ALL: [PackageManager; 16] = [
    tool("Cargo.toml", None, "cargo test", &["cargo publish **"]),
    tool("package.json", Some("pnpm-lock.yaml"), "pnpm test", &["pnpm publish **"]),
    tool("package.json", Some("yarn.lock"), "yarn test", &["yarn publish **"]),
    tool("package.json", Some("bun.lock"), "bun test", &["bun publish **"]),
    tool("package.json", None, "npm test", &["npm publish **"]),
    tool("pyproject.toml", Some("uv.lock"), "uv run pytest", &["uv publish **"]),
    tool("pyproject.toml", Some("poetry.lock"), "poetry run pytest", &["poetry publish **"]),
    tool("pyproject.toml", None, "pytest", &["twine upload **"]),
    tool("requirements.txt", None, "pytest", &["twine upload **"]),
    tool("go.mod", None, "go test ./...", &[]),
    tool("pom.xml", None, "mvn test", &["mvn deploy **"]),
    tool("build.gradle", None, "gradle test", &["gradle publish **"]),
    tool("Gemfile", None, "bundle exec rake test", &["gem push **"]),
    tool("composer.json", None, "composer test", &[]),
    tool("mix.exs", None, "mix test", &["mix hex.publish **"]),
    tool("Makefile", None, "make", &[]),
];
