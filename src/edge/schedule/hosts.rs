//! Hosts that a gate may name, and those behind the names of package managers.

/// What each package manager's tools fetch from.
pub(super) const PACKAGES: [(&str, &[&str]); 9] = [
    ("dart", &["pub.dev", "storage.googleapis.com"]),
    ("dotnet", &["api.nuget.org", "www.nuget.org"]),
    ("go", &["proxy.golang.org", "sum.golang.org"]),
    ("java", &["repo.maven.apache.org", "repo1.maven.org", "plugins.gradle.org", "services.gradle.org"]),
    ("node", &["registry.npmjs.org", "registry.yarnpkg.com"]),
    ("php", &["packagist.org", "repo.packagist.org"]),
    ("python", &["pypi.org", "files.pythonhosted.org"]),
    ("ruby", &["rubygems.org", "index.rubygems.org"]),
    ("rust", &["crates.io", "index.crates.io", "static.crates.io"]),
];

pub(super) fn of_packages(name: &str) -> Option<&'static [&'static str]> {
    PACKAGES.iter().find(|(known, _)| *known == name).map(|(_, hosts)| *hosts)
}

/// A name of a host, exactly: what is below it is another host.
pub(super) fn valid(name: &str) -> Result<(), String> {
    if name == "*" {
        return Err("`*` is every host: name those that are needed".into());
    }
    let label = |label: &str| {
        let inner = label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        inner && !label.is_empty() && label.len() <= 63 && !label.starts_with('-') && !label.ends_with('-')
    };
    if name.len() <= 253 && name.split('.').all(label) {
        Ok(())
    } else {
        Err(format!("`{}` is no name of a host, as in `api.example.com`", name.escape_debug()))
    }
}
