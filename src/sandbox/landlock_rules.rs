//! Landlock: the directories below which a process can open files.

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus, PathBeneath, PathFd,
    RestrictionStatus, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope,
};
use rustix::fs::fstat;

use super::handshake::Spec;
use crate::model::{FileIdentity, SanitizedPath};

/// The device files that a command must be able to write.
const DEVICES: [&str; 6] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/// The Landlock version that a sandbox without bubblewrap needs. It has scopes of signals and sockets.
const ALONE: ABI = ABI::V6;

/// Restricts this thread for good, and returns the Landlock version. The result can be `None` only with namespaces,
/// where Landlock is the second layer.
pub(super) fn restrict(spec: &Spec) -> Result<Option<u32>, String> {
    let status = ruleset(spec).map_err(|why| format!("Landlock: {why}"))?.restrict_self();
    let status = status.map_err(|why| format!("Landlock: {why}"))?;
    let is_full = status.ruleset == RulesetStatus::FullyEnforced;
    if !is_full && !spec.has_namespaces {
        return Err("Landlock is not fully enforced by this kernel".into());
    }
    Ok(version(&status))
}

fn ruleset(spec: &Spec) -> Result<RulesetCreated, Box<dyn std::error::Error>> {
    let level = if spec.has_namespaces { CompatLevel::BestEffort } else { CompatLevel::HardRequirement };
    let mut ruleset = Ruleset::default().set_compatibility(level).handle_access(AccessFs::from_all(ALONE))?;
    if !spec.network {
        ruleset = ruleset.handle_access(AccessNet::from_all(ALONE))?;
    }
    let mut rules = ruleset.scope(Scope::from_all(ALONE))?.create()?;
    rules = rules.add_rule(PathBeneath::new(PathFd::new("/")?, AccessFs::from_read(ALONE)))?;
    for (root, identity) in &spec.write {
        rules = allow(rules, root, Some(*identity), AccessFs::from_all(ALONE))?;
    }
    if spec.has_namespaces {
        // This file system belongs to the sandbox and has only a few devices.
        return allow(rules, &"/dev".parse()?, None, AccessFs::from_all(ALONE));
    }
    let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev;
    for path in DEVICES {
        if let Ok(path) = path.parse()
            && let Ok(allowed) = allow(rules.try_clone()?, &path, None, device)
        {
            rules = allowed;
        }
    }
    Ok(rules)
}

/// Allows access below a path. The path was resolved when it was granted, and must still lead to that object. Otherwise
/// another process may have replaced the object in between, and the call fails.
fn allow(
    rules: RulesetCreated,
    path: &SanitizedPath,
    identity: Option<FileIdentity>,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, Box<dyn std::error::Error>> {
    let fd = PathFd::new(path.as_path())?;
    let stat = fstat(&fd)?;
    if identity.is_some_and(|identity| !identity.is_inode(stat.st_dev, stat.st_ino)) {
        return Err(format!("the object at `{path}` changed after the permission was granted").into());
    }
    let is_dir = rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::Directory;
    let access = if is_dir { access } else { access & AccessFs::from_file(ALONE) };
    Ok(rules.add_rule(PathBeneath::new(fd, access))?)
}

fn version(status: &RestrictionStatus) -> Option<u32> {
    match status.landlock {
        LandlockStatus::Available { effective_abi, .. } if status.ruleset != RulesetStatus::NotEnforced => {
            Some(effective_abi as u32)
        }
        LandlockStatus::Available { .. } | LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => None,
    }
}
