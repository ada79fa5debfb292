//! The hosts of package managers.

use crate::model::Domain;

/// The hosts from which the tools of each package manager download.
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

pub(super) fn of_packages(name: &str) -> Option<Vec<Domain>> {
    let (_, hosts) = PACKAGES.iter().find(|(known, _)| *known == name)?;
    hosts.iter().map(|host| host.parse().ok()).collect()
}
