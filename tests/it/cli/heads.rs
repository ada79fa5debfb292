//! Tests of the head of the trail that is noted outside of the state directory: by `bestow audit head`, and by `bestow
//! serve` as a habit.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};

use super::{BESTOW, bestow, text};

const POLICY: &str = "[defaults]\nowner = \"you\"\nworking_dir = \".\"\n\n[agents.bot]\nkind = \"subagent\"\n";

/// The longest time that a test waits for a line.
const BOUND: Duration = Duration::from_secs(60);

/// A project whose server notes the head in `notes/head`.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        fs::write(place.path("agents.toml"), POLICY).unwrap();
        fs::create_dir(place.path("notes")).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn note(&self) -> String {
        fs::read_to_string(self.path("notes/head")).unwrap()
    }

    /// Starts the server with the options of a habit of noting, or without.
    fn serve(&self, notes: bool) -> Result<Server, String> {
        let mut command = Command::new(BESTOW);
        command.args(["serve", "--listen", "127.0.0.1:0"]).current_dir(self.0.path());
        if notes {
            command.args(["--note-head", "notes/head", "--note-head-every", "50ms"]);
        }
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        if line.starts_with("listening on ") {
            return Ok(Server::of(child));
        }
        let told = child.wait_with_output().unwrap();
        assert_eq!(told.status.code(), Some(1), "{told:?}");
        Err(text(&told.stderr).to_owned())
    }

    /// Runs a server to its orderly end.
    fn live(&self, notes: bool) {
        assert_eq!(self.serve(notes).unwrap().end(Signal::TERM), Some(0));
    }

    /// Runs `bestow audit` with these words. Returns the output, the complaint and the exit code.
    fn audit(&self, words: &[&str]) -> (String, String, Option<i32>) {
        let mut command = Command::new(BESTOW);
        let done = command.arg("audit").args(words).args(["--state", "state"]).current_dir(self.0.path()).output();
        let done = done.unwrap();
        (text(&done.stdout).to_owned(), text(&done.stderr).to_owned(), done.status.code())
    }
}

/// A server whose lines on standard error are heard.
struct Server {
    child: Child,
    lines: Receiver<String>,
}

impl Server {
    fn of(mut child: Child) -> Server {
        let (say, lines) = mpsc::channel();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        thread::spawn(move || stderr.lines().map_while(Result::ok).try_for_each(|line| say.send(line)));
        Server { child, lines }
    }

    /// Waits for a line that contains `words`.
    fn says(&self, words: &str) -> String {
        let mut heard = Vec::new();
        while let Ok(line) = self.lines.recv_timeout(BOUND) {
            if line.contains(words) {
                return line;
            }
            heard.push(line);
        }
        panic!("it never says `{words}`, but {heard:?}");
    }

    fn end(mut self, signal: Signal) -> Option<i32> {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        self.child.wait().unwrap().code()
    }
}

fn copy(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    fs::create_dir(to).unwrap();
    fs::set_permissions(to, fs::metadata(from).unwrap().permissions()).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap).filter(|entry| entry.file_type().unwrap().is_file()) {
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// The attack: somebody puts back a copy of the whole state directory, from before a revocation. Every record in it
/// follows from the previous one.
#[test]
fn a_whole_older_copy_is_named_by_the_head_that_the_server_noted() {
    let place = Place::new();
    place.live(true);
    copy(&place.path("state"), &place.path("older"));
    place.live(true);
    let noted = place.note();
    assert_eq!(place.audit(&["head"]), (noted.clone(), String::new(), Some(0)), "the last note is the end");
    assert_eq!(place.audit(&["verify", "--noted", "notes/head"]).2, Some(0));
    copy(&place.path("older"), &place.path("state"));
    assert_eq!(place.audit(&["verify"]).2, Some(0), "nothing in the copy reveals that it is old");
    let (_, told, code) = place.audit(&["verify", "--noted", "notes/head"]);
    assert!(code == Some(1) && told.contains("the directory is an older copy"), "{told}");
    for _ in 0..2 {
        let told = place.serve(true).err().unwrap();
        assert!(told.contains("is an older copy") && told.contains("notes/head"), "{told}");
    }
    // The naive habit writes the older head over the note, and nothing reveals the copy any more.
    let (_, told, code) = place.audit(&["head", "--to", "notes/head"]);
    assert!(code == Some(1) && told.contains("is an older copy") && told.contains("notes/head"), "{told}");
    assert_eq!(place.note(), noted, "the note stays");
    // The copy goes on, until it has as many events.
    while place.audit(&["head"]).0.split(':').next().unwrap().parse::<u64>().unwrap() < 40 {
        place.live(false);
    }
    let told = place.serve(true).err().unwrap();
    assert!(told.contains("an older copy of it went on"), "{told}");
    assert_eq!(place.note(), noted);
    // Without its directory, the server would begin a new trail.
    fs::remove_dir_all(place.path("state")).unwrap();
    let told = place.serve(true).err().unwrap();
    assert!(told.contains("end at event 0") && !place.path("state").exists(), "{told}");
}

#[test]
fn a_server_that_is_killed_starts_again_beside_its_note() {
    let place = Place::new();
    for _ in 0..5 {
        let server = place.serve(true).unwrap();
        server.end(Signal::KILL);
    }
    let server = place.serve(true).unwrap();
    server.end(Signal::TERM);
    assert_eq!(place.audit(&["head"]).0, place.note());
}

/// The habit goes on after a failure, and nobody has to read a file to learn of it.
#[test]
fn a_note_that_fails_is_told_with_its_file_and_again_at_the_end() {
    let place = Place::new();
    let server = place.serve(true).unwrap();
    fs::rename(place.path("notes"), place.path("notes-before")).unwrap();
    // A decision is an event, so there is a new head.
    let asked = |words: &[&str]| {
        let mut command = Command::new(BESTOW);
        command.args(words).args(["--state", "state", "--as", "ann"]).current_dir(place.0.path()).output().unwrap()
    };
    let token = place.path("state/approver-token");
    let set = |mode: &str| {
        let done = asked(&["mode", "bot", mode, "--token-file", token.to_str().unwrap()]);
        assert!(done.status.success(), "{done:?}");
    };
    set("plan");
    let told = server.says("was not noted");
    assert!(told.contains("notes/head") && told.contains("tries again"), "{told}");
    fs::create_dir(place.path("notes")).unwrap();
    let told = server.says("again: ");
    assert!(told.contains(place.note().trim()), "{told}");
    fs::rename(place.path("notes"), place.path("notes-again")).unwrap();
    set("default");
    assert_eq!(server.end(Signal::TERM), Some(1), "the last head is not noted");
}

#[test]
fn a_head_is_noted_in_a_file_or_by_a_command() {
    let place = Place::new();
    place.live(false);
    let head = place.audit(&["head"]).0;
    assert_eq!(place.audit(&["head", "--to", "notes/head"]), (head.clone(), String::new(), Some(0)));
    assert_eq!(place.note(), head);
    assert_eq!(place.audit(&["head", "--to-command", "cat >> 'notes/by command'"]).2, Some(0));
    assert_eq!(fs::read_to_string(place.path("notes/by command")).unwrap(), head);
    let (_, told, code) = place.audit(&["head", "--to-command", "echo no route >&2; exit 7"]);
    assert!(code == Some(1) && told.contains("exit status: 7: no route") && told.contains("echo no route"), "{told}");
    let (_, told, code) = place.audit(&["head", "--to", "state/head"]);
    assert!(code == Some(1) && told.contains("it is in the state directory"), "{told}");
    let (_, told, code) = place.audit(&["head", "--to", "notes"]);
    assert!(code == Some(1) && told.contains("not a regular file"), "{told}");
    let (_, told, code) = place.audit(&["verify", "--noted", "notes/hed"]);
    assert!(code == Some(1) && told.contains("notes/hed") && told.contains("does not exist"), "{told}");
    fs::write(place.path("notes/head"), "12").unwrap();
    for told in [place.audit(&["verify", "--noted", "notes/head"]).1, place.serve(true).err().unwrap()] {
        assert!(told.contains("it is not the note of a head") && told.contains("notes/head"), "{told}");
    }
    let both = bestow(&["audit", "head", "--state", "x", "--to", "a", "--to-command", "b"], b"");
    assert_eq!(both.status.code(), Some(64));
}

/// The attack: another user of the machine writes the note, and hides an older copy.
#[test]
fn a_note_that_other_users_can_write_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    place.live(true);
    let open = |name: &str, mode| fs::set_permissions(place.path(name), fs::Permissions::from_mode(mode)).unwrap();
    open("notes/head", 0o666);
    let told = place.serve(true).err().unwrap();
    assert!(told.contains("notes/head") && told.contains("other than its owner can write"), "{told}");
    open("notes/head", 0o600);
    open("notes", 0o777);
    let (_, told, code) = place.audit(&["head", "--to", "notes/head"]);
    assert!(code == Some(1) && told.contains("other than its owner can write"), "{told}");
}
