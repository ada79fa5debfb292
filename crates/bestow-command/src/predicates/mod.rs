//! The predicates that the records of programs name: conditions that the words of a record cannot express.
//!
//! A record names a predicate of this list. The build script refuses a name that is not in it.

mod accounts;
mod addresses;
mod archives;
mod builtins;
mod clouds;
mod packages;
mod removals;
mod requests;
mod scripts;
mod stores;
mod system;

pub(crate) use accounts::{root_user, superuser_command};
pub(crate) use addresses::{
    api_request, curl_addresses, dig_words, go_modules, http_request, local_chart, local_manifests, local_repository,
    pip_links, wget_addresses,
};
pub(crate) use archives::{ar_letters, archive_listing, image_files, jar_letters, tar_letters, text_of_document};
pub(crate) use builtins::{
    arithmetic, declared_variables, exported_variables, getopts_words, kill_words, numbers, printf_words,
    read_variables, set_options, test_words, variable_names,
};
pub(crate) use clouds::{aws_words, az_words, gcloud_words};
pub(crate) use packages::{cargo_fmt_words, formatter_check, rpm_query, simulation};
pub(crate) use removals::{
    absent_path, bytes_to_output, critical_path_elsewhere, critical_path_outside, device, drive, edit_of_vital_file,
    empty_source, mode_for_everybody, move_of_system_files, move_to_nothing, private_key, search_root, set_user_id,
    target_of_bytes, vital_target, whole_drive,
};
pub(crate) use requests::{deletion_at_platform, deletion_in_store, destructive_mutation, destructive_statement};
pub(crate) use scripts::{
    awk_program, compiler_check, find_expression, isolated_module, jq_words, sed_script, yq_expression,
};
pub(crate) use stores::{
    all_containers, deleted_ref, directory_of_manifests, flush_command, migration_of_everything, no_dry_run,
    removal_in_store, store_reading, unknown_keys,
};
pub(crate) use system::{
    date_format, firewall_status, hg_identify, ip_words, one_setting, openssl_words, process_numbers, ps_words,
    service_status, version_option, writes_nothing,
};

pub(crate) use crate::critical_paths::{
    is_doomed as critical_path, is_system_file as system_file, is_tree as critical_tree, is_vital as vital_file,
    names_device as device_option,
};

use crate::programs::Answer;

fn when(holds: bool, why: &'static str) -> Answer {
    if holds { Ok(()) } else { Err(why.into()) }
}
