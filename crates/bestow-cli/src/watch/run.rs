//! The screen at work: keys, news and time come in, and each change is drawn.

use std::{io, thread, time::Duration};

use bestow::host::{Clock as _, SystemClock};
use ratatui::crossterm::event::Event;
use tokio::{
    runtime,
    sync::mpsc::{Receiver, Sender, channel, error::TryRecvError},
    time::{Instant, sleep_until},
};

use super::{
    inbox::Inbox,
    keys,
    press::{Effect, Now},
    screen::{self, Screen},
    send::{Judged, NotAnswered, Person},
    view::{self, Title},
};
use crate::{
    args::WatchArgs,
    exit::Exit,
    feed::{Fed, Feed},
    signals,
    state::secret,
};

/// The time after which the waiting times are drawn again.
const TICK: Duration = Duration::from_secs(1);

/// The most news, and the most keys, between two drawings.
const BURST: usize = 64;

pub(super) fn run(args: &WatchArgs) -> Result<Exit, Exit> {
    let token = args.person.token_file().map(secret);
    let person = Person { state: args.state.clone(), by: args.person.by()?, token: token.transpose()? };
    let runtime = runtime::Builder::new_current_thread().enable_all().build().map_err(Exit::failed)?;
    runtime.block_on(async {
        let end = signals::end().map_err(Exit::failed)?;
        // Both wait for the same signals, and the first one decides.
        tokio::select! {
            biased;
            () = end => Ok(Exit::Done),
            done = signals::until_signal(Watch::of(person)?.work()) => done?,
        }
    })
}

/// The inbox with everything that moves it.
struct Watch {
    screen: Screen,
    inbox: Inbox,
    person: Person,
    events: Receiver<io::Result<Event>>,
    news: Receiver<Fed>,
    failed: Sender<NotAnswered>,
    failures: Receiver<NotAnswered>,
    judged: Sender<Judged>,
    judgements: Receiver<Judged>,
    clock: SystemClock,
}

impl Watch {
    fn of(person: Person) -> Result<Watch, Exit> {
        let mut feed = Feed::of_person(&person.state, person.by.clone(), person.token.clone());
        let (sender, news) = channel(BURST);
        thread::spawn(move || while sender.blocking_send(feed.next()).is_ok() {});
        let screen = Screen::enter().map_err(|why| Exit::failed(format_args!("the terminal cannot be used: {why}")))?;
        let ((failed, failures), (judged, judgements)) = (channel(BURST), channel(BURST));
        let (inbox, events) = (Inbox::new(), screen::events());
        let clock = SystemClock::new();
        Ok(Watch { screen, inbox, person, events, news, failed, failures, judged, judgements, clock })
    }

    async fn work(mut self) -> Result<Exit, Exit> {
        loop {
            self.draw()?;
            let now = Instant::now();
            let ready = self.inbox.ready_at().filter(|ready| now < *ready);
            let tick = now + TICK;
            tokio::select! {
                event = self.events.recv() => {
                    if let Some(exit) = self.handle_events(event)? {
                        return Ok(exit);
                    }
                }
                fed = self.news.recv() => match fed {
                    Some(fed) => self.hear_all(fed)?,
                    None => return Err(Exit::failed("the news of the engine have ended")),
                },
                Some((request, why)) = self.failures.recv() => self.inbox.not_answered(request, why),
                Some((request, command, words)) = self.judgements.recv() => {
                    self.inbox.judged(request, &command, words);
                }
                () = sleep_until(ready.map_or(tick, |ready| ready.min(tick))) => {}
            }
        }
    }

    fn now(&self) -> Result<Now, Exit> {
        Ok(Now { instant: Instant::now(), wall: self.clock.now().map_err(Exit::failed)? })
    }

    fn draw(&mut self) -> Result<(), Exit> {
        let now = self.now()?;
        let (state, person) = (self.person.state.display().to_string(), self.person.by.to_string());
        let (state, person) = (bestow::text::Escaped(&state).to_string(), bestow::text::Escaped(&person).to_string());
        let title = Title { state: &state, person: &person };
        let inbox = &mut self.inbox;
        let drawn = self.screen.draw(|frame| view::draw(frame, inbox, &title, now.wall, now.instant));
        drawn.map_err(|why| Exit::failed(format_args!("the terminal cannot be used: {why}")))?;
        // A request counts as seen after it is on the screen, however long the terminal took.
        self.inbox.seen(Instant::now());
        Ok(())
    }

    /// Carries out the keys that were pressed. None of them can answer a request that was not drawn before.
    fn handle_events(&mut self, first: Option<io::Result<Event>>) -> Result<Option<Exit>, Exit> {
        let mut next = first;
        for _ in 0..BURST {
            let event = next.unwrap_or_else(|| Err(io::ErrorKind::UnexpectedEof.into()));
            let event = event.map_err(|why| Exit::failed(format_args!("the terminal cannot be read: {why}")))?;
            if let Some(key) = keys::key(event) {
                match self.inbox.press(key, self.now()?) {
                    Effect::Nothing => {}
                    Effect::Quit => return Ok(Some(Exit::Done)),
                    Effect::Answer(verdicts) => {
                        verdicts.into_iter().for_each(|verdict| self.person.answer(verdict, self.failed.clone()));
                    }
                    Effect::Judge(request, command) => self.person.judge(request, command, self.judged.clone()),
                }
            }
            next = match self.events.try_recv() {
                Ok(event) => Some(event),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => None,
            };
        }
        Ok(None)
    }

    fn hear_all(&mut self, first: Fed) -> Result<(), Exit> {
        self.hear(first)?;
        for _ in 1..BURST {
            match self.news.try_recv() {
                Ok(fed) => self.hear(fed)?,
                Err(_) => break,
            }
        }
        Ok(())
    }

    fn hear(&mut self, fed: Fed) -> Result<(), Exit> {
        match fed {
            Fed::Current(news) => {
                self.inbox.found();
                news.into_iter().for_each(|news| self.inbox.hear(news));
            }
            Fed::Changed(news) => news.into_iter().for_each(|news| self.inbox.hear(news)),
            Fed::Lost(why) => self.inbox.lost(why),
            Fed::Refused(why) => return Err(Exit::Denied(why)),
        }
        Ok(())
    }
}
