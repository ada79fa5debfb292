//! The seccomp filter: the system calls that a confined command cannot make, because they would bypass other
//! restrictions.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen::Dword, SeccompCmpOp as Is, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

/// The calls that no command needs and that could bypass the sandbox. They reach the memory of other processes,
/// namespaces and mounts, the kernel itself, rings that call the kernel without a system call, keys, and file handles.
const NEVER: &[i64] = &[
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_adjtimex,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_fanotify_init,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_kcmp,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_process_madvise,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
];

/// The calls that are forbidden if there are no namespaces and no read-only mounts, because a filter cannot limit them
/// to some files or processes. They change modes, owners, times and attributes of files, memory and queues that are
/// shared by name, priorities of other processes, and the process group.
const WITHOUT_NAMESPACES: &[i64] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    SYS_FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_fremovexattr,
    libc::SYS_fsetxattr,
    libc::SYS_ioprio_set,
    libc::SYS_lremovexattr,
    libc::SYS_lsetxattr,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_msgget,
    libc::SYS_removexattr,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setscheduler,
    libc::SYS_semget,
    libc::SYS_setpgid,
    libc::SYS_setpriority,
    libc::SYS_setsid,
    libc::SYS_setxattr,
    SYS_SETXATTRAT,
    libc::SYS_shmget,
    libc::SYS_utimensat,
];

/// Older names of the calls in [`WITHOUT_NAMESPACES`].
#[cfg(target_arch = "x86_64")]
const WITHOUT_NAMESPACES_OLD: &[i64] =
    &[libc::SYS_chmod, libc::SYS_chown, libc::SYS_futimesat, libc::SYS_lchown, libc::SYS_utime, libc::SYS_utimes];
#[cfg(not(target_arch = "x86_64"))]
const WITHOUT_NAMESPACES_OLD: &[i64] = &[];

/// The numbers of calls that are newer than the headers on some machines. They are equal on all architectures.
const SYS_FCHMODAT2: i64 = 452;
const SYS_SETXATTRAT: i64 = 463;
const SYS_FILE_SETATTR: i64 = 469;

/// The calls that set the mode of a file, each with the index of the argument that holds the mode.
const WITH_A_MODE: &[(i64, u8)] = &[
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (SYS_FCHMODAT2, 2),
    (libc::SYS_mkdirat, 2),
    (libc::SYS_mknodat, 2),
];

/// Older names of the calls in [`WITH_A_MODE`].
#[cfg(target_arch = "x86_64")]
const WITH_A_MODE_OLD: &[(i64, u8)] =
    &[(libc::SYS_chmod, 1), (libc::SYS_creat, 1), (libc::SYS_mkdir, 1), (libc::SYS_mknod, 1)];
#[cfg(not(target_arch = "x86_64"))]
const WITH_A_MODE_OLD: &[(i64, u8)] = &[];

/// The calls whose flags decide about the creation of a file, each with the index of the flags argument. The mode is
/// the next argument.
const OPENING: &[(i64, u8)] = &[(libc::SYS_openat, 2)];

/// Older names of the calls in [`OPENING`].
#[cfg(target_arch = "x86_64")]
const OPENING_OLD: &[(i64, u8)] = &[(libc::SYS_open, 1)];
#[cfg(not(target_arch = "x86_64"))]
const OPENING_OLD: &[(i64, u8)] = &[];

/// The `ioctl` requests that insert input into a terminal, as if its user had typed it.
const TIOCSTI: u64 = 0x5412;
const TIOCLINUX: u64 = 0x541c;

/// The `ioctl` requests that change a file that is open for reading: its flags, its project, its version, its verity
/// seal or its encryption.
const ATTRIBUTES: &[u64] = &[
    0x4004_6602, // FS_IOC32_SETFLAGS
    0x4008_6602, // FS_IOC_SETFLAGS
    0x4008_7602, // FS_IOC_SETVERSION
    0x4004_7602, // FS_IOC32_SETVERSION
    0x4008_6604, // EXT4_IOC_SETVERSION
    0x401c_5820, // FS_IOC_FSSETXATTR
    0x4080_6685, // FS_IOC_ENABLE_VERITY
    0x800c_6613, // FS_IOC_SET_ENCRYPTION_POLICY
];

/// The `clone` flags that create a namespace of any kind.
const NAMESPACES: [u64; 8] =
    [0x0000_0080, 0x0002_0000, 0x0200_0000, 0x0400_0000, 0x0800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000];

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Builds the filters for a command: with or without a network, with or without namespaces.
pub(super) fn programs(network: bool, has_namespaces: bool) -> Result<Vec<BpfProgram>, seccompiler::Error> {
    let mut rules = Rules::new();
    let never = NEVER.iter().chain(if has_namespaces { &[] } else { WITHOUT_NAMESPACES });
    let never = never.chain(if has_namespaces { &[] } else { WITHOUT_NAMESPACES_OLD });
    rules.extend(never.map(|call| (*call, Vec::new())));
    if !has_namespaces {
        rules.insert(SYS_FILE_SETATTR, Vec::new());
        // The call can change the limits of other processes. A process names itself with 0.
        rules.insert(libc::SYS_prlimit64, vec![rule(&[(0, Is::Ne, 0)])?]);
    }
    sockets(&mut rules, network)?;
    let never = [TIOCSTI, TIOCLINUX].iter().chain(if has_namespaces { &[] } else { ATTRIBUTES });
    let never = never.map(|request| rule(&[(1, Is::Eq, *request)]));
    rules.insert(libc::SYS_ioctl, never.collect::<Result<_, _>>()?);
    let a_namespace = NAMESPACES.iter().map(|flag| rule(&[(0, Is::MaskedEq(*flag), *flag)]));
    rules.insert(libc::SYS_clone, a_namespace.collect::<Result<_, _>>()?);
    for (call, conditions) in other_users_bits()? {
        // A call that is forbidden completely stays forbidden.
        rules.entry(call).or_insert(conditions);
    }
    with_other_numbers(&mut rules);
    // The flags of these calls are in memory, which a filter cannot read. Programs that get `ENOSYS` fall back to
    // `clone` and `openat`.
    let unknown = [libc::SYS_clone3, libc::SYS_openat2].map(|call| (call, Vec::new()));
    let unknown = Rules::from(unknown);
    [(rules, libc::EPERM), (unknown, libc::ENOSYS)].into_iter().map(|(rules, errno)| program(rules, errno)).collect()
}

/// Forbids set-user-ID and set-group-ID bits in the mode of any file. A program with such a bit would run as another
/// user or group than the user who starts it.
fn other_users_bits() -> Result<Rules, seccompiler::Error> {
    const BITS: [u64; 2] = [0o4000, 0o2000];
    let creates = [libc::O_CREAT, libc::O_TMPFILE & !libc::O_DIRECTORY].map(|flag| u64::from(flag.unsigned_abs()));
    let mut rules = Rules::new();
    for (call, mode) in WITH_A_MODE.iter().chain(WITH_A_MODE_OLD) {
        let conditions = BITS.iter().map(|bit| rule(&[(*mode, Is::MaskedEq(*bit), *bit)]));
        rules.insert(*call, conditions.collect::<Result<_, _>>()?);
    }
    for (call, flags) in OPENING.iter().chain(OPENING_OLD) {
        let both = creates.iter().flat_map(|flag| BITS.iter().map(move |bit| (*flag, *bit)));
        let conditions =
            both.map(|(flag, bit)| rule(&[(*flags, Is::MaskedEq(flag), flag), (*flags + 1, Is::MaskedEq(bit), bit)]));
        rules.insert(*call, conditions.collect::<Result<_, _>>()?);
    }
    Ok(rules)
}

/// Limits sockets to the internet families, and forbids those too without a network. A socket then reaches no path, no
/// abstract name and no virtual machine host. Socket pairs of streams stay allowed, because they stay within the
/// process. Datagram pairs could send to another address.
fn sockets(rules: &mut Rules, network: bool) -> Result<(), seccompiler::Error> {
    let (inet, inet6) = (libc::AF_INET.unsigned_abs().into(), libc::AF_INET6.unsigned_abs().into());
    let families = if network { vec![rule(&[(0, Is::Ne, inet), (0, Is::Ne, inet6)])?] } else { Vec::new() };
    rules.insert(libc::SYS_socket, families);
    let datagram = [2, 3].map(|kind| rule(&[(1, Is::MaskedEq(0xf), kind)]));
    rules.insert(libc::SYS_socketpair, datagram.into_iter().collect::<Result<_, _>>()?);
    if !network {
        rules.extend([libc::SYS_bind, libc::SYS_connect, libc::SYS_listen].map(|call| (call, Vec::new())));
    }
    Ok(())
}

fn rule(conditions: &[(u8, Is, u64)]) -> Result<SeccompRule, seccompiler::Error> {
    let conditions = conditions.iter().map(|(arg, is, value)| SeccompCondition::new(*arg, Dword, is.clone(), *value));
    Ok(SeccompRule::new(conditions.collect::<Result<_, _>>()?)?)
}

/// Forbids the x32 variants of the filtered calls. They have the same architecture and other numbers, and no command
/// needs them.
#[cfg(target_arch = "x86_64")]
fn with_other_numbers(rules: &mut Rules) {
    const X32: i64 = 0x4000_0000;
    let same: Vec<i64> = rules.keys().map(|call| call | X32).collect();
    let own = (512..=547).map(|call| call | X32);
    rules.extend(same.into_iter().chain(own).chain([libc::SYS_clone3 | X32]).map(|call| (call, Vec::new())));
}

#[cfg(not(target_arch = "x86_64"))]
fn with_other_numbers(_: &mut Rules) {}

fn program(rules: Rules, errno: i32) -> Result<BpfProgram, seccompiler::Error> {
    let refuse = SeccompAction::Errno(errno.unsigned_abs());
    let arch: TargetArch = std::env::consts::ARCH.try_into()?;
    Ok(SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch)?.try_into()?)
}
