//! Tests of the conditions under which a policy file is read.

use std::{fs, process::Command};

use super::{Place, one_agent};

#[test]
fn a_missing_file_is_said_to_be_missing() {
    assert_eq!(
        Place::new().complaints(),
        "agents.toml: the file does not exist; `bestow init` writes one; `agents.example.toml` is an example"
    );
}

#[test]
fn a_link_to_nothing_is_a_missing_file() {
    let place = Place::new();
    place.link("policy/agents.toml", "nowhere.toml");
    assert_eq!(
        place.complaints(),
        "agents.toml: the file does not exist; `bestow init` writes one; `agents.example.toml` is an example"
    );
}

#[test]
fn a_link_to_itself_is_not_followed_for_ever() {
    let place = Place::new();
    place.link("policy/agents.toml", "agents.toml");
    assert_eq!(
        place.complaints(),
        "agents.toml: the file cannot be read: too many links, or a link that leads to itself"
    );
}

#[test]
fn an_empty_path_is_an_error() {
    let error = bestow::PolicyFile::new("").load().unwrap_err();
    assert_eq!(error.to_string(), "no file is named");
}

#[test]
fn a_directory_is_not_a_file() {
    let place = Place::new();
    fs::create_dir(place.path("policy/agents.toml")).unwrap();
    assert_eq!(place.complaints(), "agents.toml: this is a directory, not a file; name the file in this directory");
}

#[test]
fn a_named_pipe_is_refused_without_waiting_for_a_writer() {
    let place = Place::new();
    assert!(Command::new("mkfifo").arg(place.path("policy/agents.toml")).status().unwrap().success());
    assert_eq!(place.complaints(), "agents.toml: this is a named pipe, not a file");
}

#[test]
fn a_socket_is_refused() {
    let place = Place::new();
    let _listener = std::os::unix::net::UnixListener::bind(place.path("policy/agents.toml")).unwrap();
    assert_eq!(place.complaints(), "agents.toml: this is a socket or a device, not a file");
}

#[test]
fn a_device_is_refused_however_it_is_reached() {
    let place = Place::new();
    place.link("policy/agents.toml", "/dev/zero");
    assert_eq!(place.complaints(), "agents.toml: this is a socket or a device, not a file");
}

#[test]
fn a_file_that_others_may_write_is_refused() {
    let place = Place::with(&one_agent(""));
    for (mode, shown) in [(0o664, "664"), (0o646, "646"), (0o622, "622"), (0o777, "777")] {
        place.mode("policy/agents.toml", mode);
        let expected = format!(
            "agents.toml: users other than its owner may write it (mode {shown}); run `chmod go-w \
             $DIR/policy/agents.toml`"
        );
        assert_eq!(place.complaints(), expected);
    }
    place.mode("policy/agents.toml", 0o600);
    assert_eq!(place.complaints(), "nothing");
}

#[test]
fn a_file_in_a_directory_that_everybody_may_write_is_refused() {
    let place = Place::with(&one_agent(""));
    place.mode("policy", 0o777);
    assert_eq!(
        place.complaints(),
        "agents.toml: other users may replace it: everybody may write the directory `$DIR/policy`; run `chmod go-w \
         $DIR/policy`"
    );
    place.mode("policy", 0o1777);
    assert_eq!(place.complaints(), "nothing");
}

#[test]
fn a_link_in_a_directory_that_everybody_may_write_is_refused() {
    let place = Place::with(&one_agent(""));
    fs::create_dir(place.path("open")).unwrap();
    place.link("open/agents.toml", "../policy/agents.toml");
    assert_eq!(place.complaints_about("open/agents.toml"), "nothing");
    place.mode("open", 0o777);
    assert_eq!(
        place.complaints_about("open/agents.toml"),
        "agents.toml: other users may replace it: everybody may write the directory `$DIR/open`; run `chmod go-w \
         $DIR/open`"
    );
}

#[test]
fn a_file_in_a_directory_that_its_group_may_write_is_refused() {
    let place = Place::with(&one_agent(""));
    place.mode("policy", 0o775);
    assert_eq!(
        place.complaints(),
        "agents.toml: other users may replace it: its group may write the directory `$DIR/policy`; run `chmod g-w \
         $DIR/policy`"
    );
    place.mode("policy", 0o1775);
    assert_eq!(place.complaints(), "nothing");
}

/// A checkout under `umask 002` leaves this state. The user learns all necessary commands from one message.
#[test]
fn everything_that_others_may_write_is_told_at_once() {
    let place = Place::with(&one_agent(""));
    fs::rename(place.path("policy"), place.path("my policy")).unwrap();
    place.mode("my policy/agents.toml", 0o664);
    place.mode("my policy", 0o775);
    let told = place.complaints_about("my policy/agents.toml");
    for command in ["`chmod go-w '$DIR/my policy/agents.toml'`", "`chmod g-w '$DIR/my policy'`"] {
        assert!(told.contains(command), "{told}");
    }
}

#[test]
fn a_file_that_has_a_second_name_is_refused() {
    let place = Place::with(&one_agent(""));
    fs::hard_link(place.path("policy/agents.toml"), place.path("home/notes")).unwrap();
    assert_eq!(
        place.complaints(),
        "agents.toml: it has 2 names (hard links), and it can be changed through each of them; run `cp \
         $DIR/policy/agents.toml $DIR/policy/agents.toml.new && mv $DIR/policy/agents.toml.new \
         $DIR/policy/agents.toml`"
    );
}

/// Only root can give a file away, so only root can see this fail.
#[test]
fn what_somebody_else_owns_is_refused() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let somebody = Some(4242);
    let owned = |name: &str| {
        let place = Place::with(&one_agent(""));
        fs::create_dir(place.path("open")).unwrap();
        place.mode("open", 0o1777);
        place.link("open/agents.toml", "../policy/agents.toml");
        std::os::unix::fs::lchown(place.path(name), somebody, None).unwrap();
        place.complaints_about("open/agents.toml")
    };
    let file = owned("policy/agents.toml");
    assert!(file.contains("its owner is user 4242") && file.contains("`chown 0 $DIR/open/agents.toml`"), "{file}");
    let directory = owned("policy");
    assert!(directory.contains("user 4242 owns the directory `$DIR/policy` and may replace it"), "{directory}");
    let link = owned("open/agents.toml");
    assert!(link.contains("user 4242 owns `$DIR/open/agents.toml` and may replace it"), "{link}");
    assert_eq!(owned("home"), "nothing");
}

#[test]
fn a_file_of_more_than_sixteen_mebibytes_is_refused() {
    const MEBIBYTES_16: usize = 16 * 1024 * 1024;
    let (place, text) = (Place::new(), one_agent(""));
    let filled = |length: usize| format!("{text}#{}", "x".repeat(length - text.len() - 1));
    place.write("policy/agents.toml", filled(MEBIBYTES_16));
    assert_eq!(place.complaints(), "nothing");
    place.write("policy/agents.toml", filled(MEBIBYTES_16 + 1));
    assert_eq!(place.complaints(), "agents.toml: the file is larger than 16 MiB");
}

#[test]
fn a_file_that_is_not_utf_8_says_where() {
    let place = Place::new();
    place.write("policy/agents.toml", b"# fine\nname = \"caf\xe9\"\n");
    assert_eq!(place.complaints(), "agents.toml:2:12: the file is not UTF-8 from here on");
    place.write("policy/agents.toml", b"\xff\xfea\0g\0");
    assert_eq!(place.complaints(), "agents.toml:1:1: the file is not UTF-8 from here on");
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_are_fine() {
    let place = Place::with(&format!("\u{feff}{}", one_agent("").replace('\n', "\r\n")));
    assert_eq!(place.complaints(), "nothing");
}

#[test]
fn a_column_counts_characters() {
    let place = Place::with("agents.\"\u{1f511}\u{1f511}\" = 3\n");
    let error = place.load().unwrap_err().to_string();
    assert!(error.contains(":1:15: "), "{error}");
}

#[test]
fn reading_a_bad_file_leaves_it_as_it_was() {
    let place = Place::with("agents = 3");
    place.complaints();
    assert_eq!(fs::read_to_string(place.path("policy/agents.toml")).unwrap(), "agents = 3");
}

#[test]
fn a_home_that_cannot_be_protected_is_an_error_and_not_left_out() {
    let place = Place::with(&one_agent(""));
    let error = place.file().with_home("home").load().unwrap_err();
    assert!(
        error.to_string().contains("the home directory cannot be used: `home`: the path must be absolute"),
        "{error}"
    );
}

#[test]
fn a_file_that_cannot_be_protected_is_an_error() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
    let place = Place::with(&one_agent(""));
    let directory = place.path("").join(OsStr::from_bytes(b"caf\xe9"));
    fs::rename(place.path("policy"), &directory).unwrap();
    let error = bestow::PolicyFile::new(directory.join("agents.toml")).load().unwrap_err();
    assert!(error.to_string().ends_with("the path of this file is not UTF-8"), "{error}");
}
