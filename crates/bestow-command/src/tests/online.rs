//! Tests of forms that only read, and may fetch.

use crate::{classifier::Classifier, tier::Tier, values::Named};

/// Returns true if a line, which only reads, certainly needs the network.
fn needs(line: &str) -> bool {
    let judged = Classifier::default().judge(line);
    assert_eq!(judged.classification.tier, Tier::Safe, "{line}");
    judged.named.iter().any(|named| matches!(named, Named::Network { certain: true, .. }))
}

/// A package manager resolves before it describes: what is missing is fetched.
#[test]
fn a_form_that_may_fetch_needs_the_network_unless_it_is_offline() {
    for line in [
        "cargo tree",
        "cargo tree -d --depth 1",
        "cargo tree --locked",
        "cargo metadata --format-version 1",
        "cargo search serde",
        "cargo update --dry-run",
        "go list ./...",
        "go list -m all",
        "go list -deps -mod=readonly ./...",
        "go mod why x",
        "go mod graph",
        "npm view react",
        "npm outdated",
        "npm audit",
        "pnpm outdated",
        "yarn info react",
        "pip index versions requests",
        "pip list --outdated",
        "uv pip list --outdated",
        "composer outdated",
        "composer fund",
        "dart pub deps",
        "gem search rails",
        "brew info jq",
        "rustup check",
    ] {
        assert!(needs(line), "{line}");
    }
    for line in [
        "cargo tree --offline",
        "cargo tree --frozen -d",
        "cargo metadata --no-deps",
        "cargo metadata --offline --format-version 1",
        "cargo pkgid",
        "cargo locate-project",
        "cargo install --list",
        "cargo fmt --check",
        "cargo --version",
        "go list -mod=vendor ./...",
        "go env GOPATH",
        "go version",
        "npm ls",
        "pip list",
        "uv pip list",
        "rustup show",
    ] {
        assert!(!needs(line), "{line}");
    }
}

#[test]
fn a_definition_of_another_machine_needs_the_network() {
    for line in [
        "docker compose -f git@evil.com:x ps",
        "docker compose -f github.com/a/b ps",
        "docker compose --file=git@evil.com:x ps",
        "docker compose --file https://x.org/y.git ps",
        "docker compose -fgithub.com/a/b logs",
        "docker-compose -f git@evil.com:x ps",
    ] {
        assert!(needs(line), "{line}");
    }
    for line in
        ["docker compose ps", "docker compose -f a/b/compose.yml ps", "docker compose -f ../a/b/c.yml logs -f web"]
    {
        assert!(!needs(line), "{line}");
    }
}
