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
    if !spec.has_namespaces {
        enough(version_here(spec.landlock_at_most))?;
    }
    let status = ruleset(spec).map_err(|why| format!("Landlock: {why}"))?.restrict_self();
    let status = status.map_err(|why| format!("Landlock: {why}"))?;
    let is_full = status.ruleset == RulesetStatus::FullyEnforced;
    if !is_full && !spec.has_namespaces {
        return Err("Landlock is not fully enforced by this kernel".into());
    }
    Ok(version(&status).map(|version| spec.landlock_at_most.map_or(version, |most| version.min(most))))
}

/// Checks that a sandbox without bubblewrap can use this Landlock version.
fn enough(version: u32) -> Result<(), String> {
    let has = match version {
        0 => "this kernel has none".to_owned(),
        version if version < ALONE as u32 => format!("this kernel has ABI {version}"),
        _ => return Ok(()),
    };
    let needed = ALONE as u32;
    Err(format!(
        "without bubblewrap, a sandbox needs Landlock ABI {needed} (Linux 6.12), and {has}: install bubblewrap"
    ))
}

/// Returns the Landlock version of this kernel, at most the one that a sandbox uses. 0 means that there is none.
fn version_here(at_most: Option<u32>) -> u32 {
    let hard = || Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let has = |abi: &ABI| {
        // The versions 4 and 6 brought no access to files.
        let ruleset = match *abi as u32 {
            4 => hard().handle_access(AccessNet::from_all(ABI::V4)),
            6 => hard().scope(Scope::from_all(ABI::V6)),
            _ => hard().handle_access(AccessFs::from_all(*abi)),
        };
        ruleset.is_ok()
    };
    let known = [ABI::V6, ABI::V5, ABI::V4, ABI::V3, ABI::V2, ABI::V1];
    let here = known.iter().find(|abi| has(abi)).map_or(0, |abi| *abi as u32);
    at_most.map_or(here, |most| here.min(most))
}

fn ruleset(spec: &Spec) -> Result<RulesetCreated, Box<dyn std::error::Error>> {
    let level = if spec.has_namespaces { CompatLevel::BestEffort } else { CompatLevel::HardRequirement };
    let used = spec.landlock_at_most.map_or(ALONE, |most| ALONE.min(ABI::from(i32::try_from(most).unwrap_or(0))));
    let mut ruleset = Ruleset::default().set_compatibility(level).handle_access(AccessFs::from_all(used))?;
    if !spec.network && used >= ABI::V4 {
        ruleset = ruleset.handle_access(AccessNet::from_all(used))?;
    }
    if used >= ABI::V6 {
        ruleset = ruleset.scope(Scope::from_all(used))?;
    }
    let mut rules = ruleset.create()?;
    rules = rules.add_rule(PathBeneath::new(PathFd::new("/")?, AccessFs::from_read(used)))?;
    for (root, identity) in &spec.write {
        rules = allow(rules, root, Some(*identity), AccessFs::from_all(used))?;
    }
    if spec.has_namespaces {
        // This file system belongs to the sandbox and has only a few devices.
        return allow(rules, &"/dev".parse()?, None, AccessFs::from_all(used));
    }
    let device = (AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev) & AccessFs::from_all(used);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_that_is_not_enough_is_named() {
        for version in 1..6 {
            let why = enough(version).unwrap_err();
            assert!(why.contains("ABI 6") && why.contains(&format!("this kernel has ABI {version}")), "{why}");
        }
        assert!(enough(0).unwrap_err().contains("this kernel has none"));
        assert_eq!((enough(6), enough(7)), (Ok(()), Ok(())));
    }

    #[test]
    fn a_kernel_has_at_most_the_version_that_is_allowed() {
        let here = version_here(None);
        assert!(here <= ALONE as u32);
        (0..8).for_each(|most| assert_eq!(version_here(Some(most)), here.min(most)));
    }
}
