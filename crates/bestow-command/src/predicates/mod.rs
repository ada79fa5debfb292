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
    api_request, cluster_objects, compose_sources, curl_addresses, dig_words, go_modules, http_request,
    local_manifests, local_repository, repository_of_github, repository_of_gitlab, wget_addresses,
};
pub(crate) use archives::{
    ar_letters, archive_listing, image_files, jar_letters, tar_letters, tar_letters_of_output, tar_options,
};
pub(crate) use builtins::{
    arithmetic, declared_variables, exported_variables, getopts_words, printf_words, read_variables, set_options,
    test_words,
};
pub(crate) use clouds::{aws_words, az_words, gcloud_words};
pub(crate) use packages::{cargo_fmt_words, formula_names, rpm_query};
pub(crate) use removals::{
    absent_path, bytes_to_output, edit_of_vital_file, empty_source, mode_for_everybody, move_of_system_files,
    move_to_nothing, set_user_id, target_of_bytes, vital_output, vital_target, whole_drive,
};
pub(crate) use requests::{deletion_at_platform, deletion_in_store, destructive_mutation, destructive_statement};
pub(crate) use scripts::{
    awk_program, compiler_check, find_expression, jq_program, jq_words, sed_script, yq_expression,
};
pub(crate) use stores::{
    all_containers, directory_of_manifests, migration_of_everything, no_dry_run, removal_in_store, store_reading,
    unknown_keys,
};
pub(crate) use system::{hg_identify, ip_words, one_setting, openssl_words, ps_words};

use crate::programs::Answer;

fn when(holds: bool, why: &'static str) -> Answer {
    if holds { Ok(()) } else { Err(why.into()) }
}
