//! A command beside a server that starts: it waits for the server, and not for a time.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    os::unix::{fs::MetadataExt as _, net::UnixListener},
    path::Path,
    process::Child,
};

use bestow::{
    Engine, Settings,
    control::Reply,
    journal::{Disk as _, RealDisk},
};

use super::started;

/// Waits until a process waits for the lock of this file, as `command` does.
fn wait_for_waiter(file: &Path, command: &mut Child) {
    let inode = format!(":{} ", std::fs::metadata(file).unwrap().ino());
    let is_awaited = |locks: String| locks.lines().any(|line| line.contains("->") && line.contains(&inode));
    while !is_awaited(std::fs::read_to_string("/proc/locks").unwrap()) {
        if command.try_wait().unwrap().is_some() {
            let mut said = String::new();
            command.stderr.take().unwrap().read_to_string(&mut said).unwrap();
            panic!("the command does not wait: {said}");
        }
        std::thread::yield_now();
    }
}

#[tokio::test]
async fn a_command_reaches_a_starting_server_once_it_answers() {
    let directory = tempfile::tempdir().unwrap();
    let state = directory.path().join("state");
    Engine::durable(Settings::default(), &state).await.unwrap().shutdown().await;
    // The socket of an engine goes a moment after the engine.
    while state.join("control").exists() {
        std::thread::yield_now();
    }
    // A server that has just read its trail has both locks and has named itself, and has no socket yet.
    let _directory = RealDisk.lock_dir(&state).unwrap().unwrap();
    let lock = state.join("LOCK");
    let _lock = RealDisk.lock(&lock).unwrap().unwrap();
    std::fs::write(&lock, format!("{}\n", std::process::id())).unwrap();
    let mut command = started(&["revoke", "g1", "--as", "ann", "--state", state.to_str().unwrap()]);
    wait_for_waiter(&lock, &mut command);
    let listener = UnixListener::bind(state.join("control")).unwrap();
    listener.set_nonblocking(true).unwrap();
    let order = loop {
        let Ok((stream, _)) = listener.accept() else {
            assert!(command.try_wait().unwrap().is_none(), "the command gave up");
            std::thread::yield_now();
            continue;
        };
        let mut lines = BufReader::new(&stream).lines();
        // A look whether the server answers has no order.
        let Some(_secret) = lines.next() else { continue };
        let order = lines.next().unwrap().unwrap();
        writeln!(&stream, "{}", serde_json::to_string(&Reply::Done(Vec::new())).unwrap()).unwrap();
        break order;
    };
    assert!(order.contains("revoke"), "{order}");
    let output = command.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
}
