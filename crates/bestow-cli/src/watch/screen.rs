//! The terminal while requests are shown, and its restoration.

use std::{
    io::{self, BufWriter, Stdout, stdout},
    panic,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use ratatui::{
    Frame, Terminal,
    backend::CrosstermBackend,
    crossterm::{
        cursor::Show,
        event::{self, DisableBracketedPaste, EnableBracketedPaste, Event},
        execute,
        terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode},
    },
};
use tokio::sync::mpsc::{Receiver, channel};

/// The most keys that wait to be read.
const KEYS: usize = 256;

/// The terminal, taken over. It is restored when this value is dropped, and before a panic is reported.
pub(super) struct Screen(Terminal<CrosstermBackend<BufWriter<Stdout>>>);

impl Screen {
    pub(super) fn enter() -> io::Result<Screen> {
        let hook = panic::take_hook();
        panic::set_hook(Box::new(move |why| {
            restore();
            hook(why);
        }));
        let screen = Screen(Terminal::new(CrosstermBackend::new(BufWriter::new(stdout())))?);
        // From here on, dropping this value restores the terminal.
        IS_TAKEN.store(true, Ordering::Relaxed);
        enable_raw_mode()?;
        // Without bracketed paste, pasted text would count as keys.
        execute!(stdout(), EnterAlternateScreen, EnableBracketedPaste)?;
        Ok(screen)
    }

    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.0.draw(draw).map(drop)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// True while the terminal is taken over. A second restoration would move the cursor back, over a reported panic.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// Gives the terminal back as it was. A terminal that is gone needs no restoration.
fn restore() {
    if !IS_TAKEN.swap(false, Ordering::Relaxed) {
        return;
    }
    let _ = disable_raw_mode();
    let _ = execute!(stdout(), DisableBracketedPaste, LeaveAlternateScreen, Show);
}

/// Reads keys, pastes and changes of the size in a thread of its own. It ends with the process, or with the terminal.
pub(super) fn events() -> Receiver<io::Result<Event>> {
    let (sender, receiver) = channel(KEYS);
    thread::spawn(move || {
        loop {
            let event = event::read();
            let is_over = event.is_err();
            if sender.blocking_send(event).is_err() || is_over {
                return;
            }
        }
    });
    receiver
}
