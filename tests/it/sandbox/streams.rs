//! Tests of the limits on the inherited streams of the host.

use std::{
    fs,
    os::{fd::OwnedFd, unix::net::UnixDatagram},
    process::{Command as Process, Stdio},
};

use bestow::{
    Permission,
    sandbox::{Command, Profile, Sandbox},
};

use super::ground::{Ground, everywhere, scope, shown};

/// Returns the output of a host that runs `program` in Python. `input` is its standard input, and the program inherits
/// it.
fn with_input(ground: &Ground, input: impl Into<Stdio>, program: &str) -> String {
    let mut host = Process::new(std::env::current_exe().unwrap());
    host.args(["--exact", "sandbox::streams::a_host_that_hands_its_streams_on", "--nocapture"]);
    host.env("BESTOW_TEST_WORKSPACE", ground.world.workspace()).env("BESTOW_TEST_HELPER", ground.path("helper"));
    host.env("BESTOW_TEST_OVER", ground.over).env("BESTOW_TEST_PROGRAM", program);
    let told = host.stdin(input).stderr(Stdio::piped()).output().unwrap();
    shown(&told.stdout) + &shown(&told.stderr)
}

/// The host of the tests below, in another process. Alone it does nothing.
#[test]
fn a_host_that_hands_its_streams_on() {
    let of = |name: &str| std::env::var(format!("BESTOW_TEST_{name}"));
    let (Ok(workspace), Ok(helper), Ok(program)) = (of("WORKSPACE"), of("HELPER"), of("PROGRAM")) else { return };
    let write = Permission::write(workspace.parse().unwrap());
    let profile = Profile::of(&scope(&workspace, &[write]), []).unwrap();
    let sandbox = Sandbox::with_helper(helper);
    let (sandbox, profile) = match of("OVER").as_deref() {
        Ok("landlock") => (sandbox.without_bubblewrap(), profile.without_guard()),
        _ => (sandbox, profile),
    };
    let done = sandbox.run(&profile, &Command::new("python3").args(["-c", &program]).inheriting());
    println!("{}", done.map_or_else(|why| format!("refused: {why}"), |done| format!("ran: {:?}", done.code)));
}

#[test]
fn a_socket_that_can_be_turned_to_anybody_is_not_handed_on() {
    everywhere(|ground| {
        let there = UnixDatagram::bind(ground.path("outside/dir/dgram")).unwrap();
        there.set_nonblocking(true).unwrap();
        let send = format!(
            "import socket; s = socket.socket(fileno=0); s.sendto(b'x', {:?})",
            ground.world.text("outside/dir/dgram")
        );
        let datagram = || OwnedFd::from(UnixDatagram::unbound().unwrap());
        let told = with_input(ground, datagram(), &send);
        assert!(told.contains("refused: sandbox_unavailable") && told.contains("standard input"), "{ground}: {told}");
        let (pair, _other) = UnixDatagram::pair().unwrap();
        let told = with_input(ground, OwnedFd::from(pair), &send);
        assert!(told.contains("refused: "), "{ground}: {told}");
        assert!(there.recv(&mut [0; 8]).is_err(), "{ground}: something arrived");
        let (stream, mut other) = std::os::unix::net::UnixStream::pair().unwrap();
        std::io::Write::write_all(&mut other, b"hello").unwrap();
        drop(other);
        let told = with_input(ground, OwnedFd::from(stream), "import os; print('heard', os.read(0, 9))");
        assert!(told.contains("heard b'hello'") && told.contains("ran: Some(0)"), "{ground}: {told}");
    });
}

#[test]
fn a_directory_of_the_host_is_not_handed_on() {
    everywhere(|ground| {
        let workspace = || fs::File::open(ground.path("workspace")).unwrap();
        let write = "import os; os.write(os.open('.git/config', os.O_WRONLY | os.O_TRUNC, dir_fd=0), b'changed')";
        let told = with_input(ground, workspace(), write);
        assert!(told.contains("refused: sandbox_unavailable") && told.contains("a directory"), "{ground}: {told}");
        assert_eq!(ground.world.content("workspace/.git/config"), "inside", "{ground}");
        let told = with_input(ground, fs::File::open(ground.path("workspace/f")).unwrap(), "print(open(0).read())");
        assert!(told.contains("inside") && told.contains("ran: Some(0)"), "{ground}: {told}");
    });
}
