//! Advice on recovery after a destructive command.

use super::{
    answer::{Classification, Part},
    tier::Tier,
};

/// Programs and the advice for each of them. The advice for the first program among the commands of a part counts.
const ADVICE: &[(&[&str], &str)] = &[
    (&["git"], "`git reflog` finds commits for some weeks; uncommitted work is gone"),
    (&["gh", "glab"], "ask the hosting service at once: some restore deleted repositories for a while"),
    (
        &["mkfs", "dd", "fdisk", "parted", "sgdisk", "wipefs", "shred", "blkdiscard", "diskutil"],
        "restore the device from a backup; nothing else brings it back",
    ),
    (
        &["terraform", "tofu", "pulumi", "cdk"],
        "apply the definition again; data of what was destroyed comes from backups only",
    ),
    (&["kubectl", "helm", "oc"], "apply the manifests again; volumes come back from snapshots only"),
    (&["docker", "podman", "nerdctl"], "pull or build images again; volumes come back from backups only"),
    (
        &["psql", "mysql", "mariadb", "sqlite3", "mongosh", "redis-cli", "dropdb", "clickhouse-client"],
        "restore the database from a backup or to a point in time",
    ),
    (
        &["aws", "gcloud", "az", "doctl", "railway", "vercel", "heroku", "fly", "flyctl"],
        "look for the service's own recovery (versions, soft deletion) before anything else is written",
    ),
    (
        &["chmod", "chown", "chgrp", "setfacl"],
        "set the permissions again from a known list; note the old ones first (`getfacl -R`)",
    ),
    (
        &["rm", "rmdir", "unlink", "find", "truncate"],
        "restore from version control or a backup; nothing is kept elsewhere",
    ),
];

impl Classification {
    /// Returns the advice for the first destructive part.
    #[doc(hidden)]
    pub fn rollback_advice(&self) -> &'static str {
        let part = self.parts.iter().find(|part| part.tier == Tier::Destructive);
        part.and_then(advice).unwrap_or("nothing is known to undo this: make a backup or a snapshot first")
    }
}

fn advice(part: &Part) -> Option<&'static str> {
    let exactly = part.starts.iter().filter(|command| !command.anywhere).rev();
    let programs = exactly.filter_map(|command| command.words.first()?.written());
    let named = programs.map(|program| program.rsplit('/').next().unwrap_or(program));
    let known = named.filter_map(|name| {
        let mut rows = ADVICE.iter();
        rows.find(|(programs, _)| programs.iter().any(|known| *known == name || is_variant(name, known)))
    });
    known.map(|(_, advice)| *advice).next()
}

/// Returns true if `name` is a variant of `known`, such as `mkfs.ext4` of `mkfs`.
fn is_variant(name: &str, known: &str) -> bool {
    name.strip_prefix(known).is_some_and(|rest| rest.starts_with('.'))
}
