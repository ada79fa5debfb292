//! A terminal with a program in it, as a person sees and uses it.

use std::{
    fs::File,
    io::{Read as _, Write as _},
    num::NonZeroU16,
    os::fd::{AsFd as _, OwnedFd},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, Condvar, Mutex},
    thread,
    time::Duration,
};

use bestow::control::Surfaces;
use rustix::{
    process::{Pid, Signal, kill_process},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{Termios, Winsize, tcgetattr, tcsetwinsize},
};
use vt100::{Parser, Screen};

use super::super::BESTOW;

/// The longest wait for a change of the screen.
const PATIENCE: Duration = Duration::from_secs(20);

/// A terminal, and the program that it controls.
pub(super) struct Terminal {
    child: Child,
    keyboard: File,
    /// Keeps the terminal open after the program has ended.
    inside: OwnedFd,
    settings: Termios,
    output: Arc<(Mutex<Output>, Condvar)>,
}

/// The whole output to the terminal.
struct Output {
    screen: Parser,
    raw: Vec<u8>,
}

impl Terminal {
    /// Starts the program with these words, as a process of a person if `surfaces` is given.
    pub(super) fn start(surfaces: Option<Surfaces>, words: &[&str], (rows, columns): (u16, u16)) -> Terminal {
        let keyboard = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&keyboard).unwrap();
        unlockpt(&keyboard).unwrap();
        let name = ptsname(&keyboard, Vec::new()).unwrap().into_string().unwrap();
        let inside: OwnedFd = File::options().read(true).write(true).open(name).unwrap().into();
        tcsetwinsize(&inside, size(rows, columns)).unwrap();
        let settings = tcgetattr(&inside).unwrap();
        let end = || Stdio::from(inside.try_clone().unwrap());
        let mut shell = Command::new("/bin/sh");
        // The program starts after the engine has admitted it. It gets the terminal as its own.
        shell.args(["-c", "read -r go; exec setsid --ctty \"$0\" \"$@\"", BESTOW]).args(words);
        shell.env("TERM", "xterm-256color").env_remove("NO_COLOR");
        let child = shell.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
        if let Some(surfaces) = surfaces {
            surfaces.admit(child.id()).unwrap();
        }
        let screen = Parser::new(number(rows), number(columns), 0);
        let output = Arc::new((Mutex::new(Output { screen, raw: Vec::new() }), Condvar::new()));
        let (shown, read) = (Arc::clone(&output), File::from(keyboard.try_clone().unwrap()));
        thread::spawn(move || show(read, &shown));
        let mut terminal = Terminal { child, keyboard: keyboard.into(), inside, settings, output };
        terminal.press("go\r");
        terminal
    }

    /// Presses keys, one after the other.
    pub(super) fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    pub(super) fn resize(&mut self, rows: u16, columns: u16) {
        self.output.0.lock().unwrap().screen.set_size(number(rows), number(columns));
        tcsetwinsize(self.keyboard.as_fd(), size(rows, columns)).unwrap();
    }

    /// Waits until the screen is as `is_so` says, and returns its text.
    pub(super) fn until(&self, what: &str, is_so: impl Fn(&Screen) -> bool) -> String {
        let (output, changed) = &*self.output;
        let is_not_so = |output: &mut Output| !is_so(output.screen.screen());
        let (output, waited) = changed.wait_timeout_while(output.lock().unwrap(), PATIENCE, is_not_so).unwrap();
        let text = output.screen.screen().contents();
        assert!(!waited.timed_out(), "waited for {what}, and the screen is:\n{text}");
        text
    }

    /// Waits until the screen shows a text, and returns all of its text.
    pub(super) fn shows(&self, text: &str) -> String {
        self.until(text, |screen| screen.contents().contains(text))
    }

    /// Waits until the screen does not show a text.
    pub(super) fn hides(&self, text: &str) -> String {
        self.until(&format!("the end of {text}"), |screen| !screen.contents().contains(text))
    }

    /// Returns everything that was written to the terminal.
    pub(super) fn raw(&self) -> Vec<u8> {
        self.output.0.lock().unwrap().raw.clone()
    }

    /// Returns the number of the program's process.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for the end of the program. The terminal must be as it was before.
    pub(super) fn ends(mut self) -> ExitStatus {
        let status = self.child.wait().unwrap();
        let is_plain =
            |screen: &Screen| !screen.alternate_screen() && !screen.hide_cursor() && !screen.bracketed_paste();
        self.until("a restored terminal", is_plain);
        let now = tcgetattr(&self.inside).unwrap();
        let modes = |of: &Termios| (of.input_modes, of.output_modes, of.local_modes, of.control_modes);
        assert_eq!(modes(&now), modes(&self.settings), "the terminal reads and writes as before");
        status
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn show(mut from: File, output: &(Mutex<Output>, Condvar)) {
    let mut bytes = [0; 4096];
    while let Ok(read) = from.read(&mut bytes) {
        let mut all = output.0.lock().unwrap();
        all.screen.process(&bytes[..read]);
        all.raw.extend_from_slice(&bytes[..read]);
        output.1.notify_all();
    }
}

fn size(rows: u16, columns: u16) -> Winsize {
    Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}

fn number(number: u16) -> NonZeroU16 {
    NonZeroU16::new(number).unwrap()
}
