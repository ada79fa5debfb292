//! The stage of a test: an engine with agents, its server, and the browsers of people.

use std::{
    net::SocketAddr,
    panic::AssertUnwindSafe,
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Duration,
};

use bestow::{
    Action, Agent, Engine, InitialGrants, Kind, PermissionRequest, Settings,
    action::Authorization,
    grant::Permissions,
    host::{Clock, SystemClock},
    request::Ticket,
};
use bestow_http::{Limits, Options, Server, credentials::Role, router};
use futures_util::FutureExt;
use tempfile::TempDir;
use tokio::task::JoinHandle;

use super::{
    super::http::issuer::Issuer,
    browser::Browser,
    webdriver::{Driver, is_installed},
};
use crate::support::{profile, tags};

/// The time after which a scene has failed.
const LONGEST_SCENE: Duration = Duration::from_secs(180);

/// Plays a scene with an engine, its server and browsers. Afterwards no page may have had an error.
pub(super) async fn scene(play: impl AsyncFnOnce(&Stage)) {
    scene_with(|_| {}, play).await;
}

/// Plays a scene with other settings of the engine.
pub(super) async fn scene_with(change: impl FnOnce(&mut Settings), play: impl AsyncFnOnce(&Stage)) {
    people(async |people| {
        let stage = Stage::set(people, change).await;
        play(&stage).await;
        people.leave().await;
    })
    .await;
}

/// Plays a scene two days after `prepare`, with an engine that stores its events.
#[cfg(feature = "journal")]
pub(super) async fn scene_two_days_later(prepare: impl AsyncFnOnce(&Engine), play: impl AsyncFnOnce(&Stage)) {
    use bestow::{
        host::{AsWritten, ManualClock},
        journal::Journal,
    };
    const TWO_DAYS: Duration = Duration::from_secs(2 * 24 * 60 * 60);
    people(async |people| {
        let directory = tempfile::tempdir().unwrap();
        let trail = directory.path().join("journal");
        // A link must be younger than the server.
        let begin = SystemClock::new().now().unwrap().as_millis() - 60_000 - TWO_DAYS.as_millis() as u64;
        let (clock, journal) = (
            Arc::new(ManualClock::at(bestow::event::Timestamp::from_millis(begin))),
            Arc::new(Journal::open(&trail).unwrap()),
        );
        let settings = Some(Settings::default());
        let engine = Engine::restore(settings, clock.clone(), Arc::new(AsWritten), journal).await.unwrap();
        prepare(&engine).await;
        clock.advance(TWO_DAYS);
        let stage = Stage::serve(people, engine, directory, Some(trail)).await;
        play(&stage).await;
        people.leave().await;
    })
    .await;
}

/// Plays a scene with browsers, and with any server. Afterwards no page may have had an error.
pub(super) async fn people(play: impl AsyncFnOnce(&Arc<People>)) {
    if !is_installed() {
        return;
    }
    let (driver, browsers, faults) = (Arc::new(Driver::start()), Mutex::default(), Mutex::default());
    let people = Arc::new(People { driver, browsers, faults });
    let played = tokio::time::timeout(LONGEST_SCENE, AssertUnwindSafe(play(&people)).catch_unwind()).await;
    if played.is_err() {
        people.tell().await;
    }
    people.leave().await;
    let faults = std::mem::take(&mut *people.faults.lock().unwrap());
    match played {
        Ok(Ok(())) => assert!(faults.is_empty(), "the page had errors: {faults:#?}"),
        Ok(Err(failed)) => {
            eprintln!("errors of the page: {faults:#?}");
            std::panic::resume_unwind(failed)
        }
        Err(_) => panic!("the scene does not end. Errors of the pages: {faults:#?}"),
    }
}

/// The people of a scene, each with a browser.
pub(super) struct People {
    driver: Arc<Driver>,
    browsers: Mutex<Vec<Arc<Browser>>>,
    /// The errors of pages that were closed.
    faults: Mutex<Vec<String>>,
}

impl People {
    /// Opens a browser.
    pub(super) async fn browser(&self) -> Arc<Browser> {
        self.browser_that_is(false).await
    }

    async fn browser_that_is(&self, traced: bool) -> Arc<Browser> {
        let browser = Arc::new(Browser::open(self.driver.clone(), traced).await);
        self.browsers.lock().unwrap().push(browser.clone());
        browser
    }

    /// Opens a link to the dashboard in a new browser. Returns when the page shows the state of the server.
    pub(super) async fn dashboard(&self, link: &str) -> Arc<Browser> {
        self.dashboard_that_is(false, link).await
    }

    async fn dashboard_that_is(&self, traced: bool, link: &str) -> Arc<Browser> {
        let browser = self.browser_that_is(traced).await;
        browser.go(link).await;
        browser.page().shows("Live").await;
        browser.page().a("heading", "").is_somewhere().await;
        browser
    }

    /// Tells what is on the pages.
    async fn tell(&self) {
        let browsers = self.browsers.lock().unwrap().clone();
        for browser in browsers {
            eprintln!("{}", browser.outline().await);
        }
    }

    /// Closes all browsers, while their servers still answer.
    async fn leave(&self) {
        let browsers = std::mem::take(&mut *self.browsers.lock().unwrap());
        for browser in browsers {
            let faults = browser.faults().await;
            self.faults.lock().unwrap().extend(faults);
            browser.close().await;
        }
    }
}

/// An engine, its server, and the browsers of people. Its owner is `you`.
pub(super) struct Stage {
    pub(super) engine: Engine,
    pub(super) address: SocketAddr,
    credentials: Issuer,
    server: JoinHandle<()>,
    people: Arc<People>,
    _directory: TempDir,
}

impl Stage {
    async fn set(people: &Arc<People>, change: impl FnOnce(&mut Settings)) -> Stage {
        let mut settings = Settings::default();
        settings.request_timeout = Duration::from_secs(3600);
        change(&mut settings);
        let engine = Engine::new(settings).unwrap();
        Stage::serve(people, engine, tempfile::tempdir().unwrap(), None).await
    }

    /// Serves an engine. `trail` is the directory of its journal.
    async fn serve(people: &Arc<People>, engine: Engine, directory: TempDir, trail: Option<PathBuf>) -> Stage {
        let server = Server::on_loopback("127.0.0.1:0".parse().unwrap(), Limits::default()).await.unwrap();
        let address = server.address();
        let mut options = Options::default();
        options.dashboard = true;
        options.trail = trail;
        let server = tokio::spawn(server.serve(router(&engine, options), std::future::pending()));
        let credentials = Issuer::of(&engine);
        Stage { engine, address, credentials, server, people: people.clone(), _directory: directory }
    }

    /// Registers a subagent of `you`.
    pub(super) async fn agent(&self, id: &str, holds: &[&str]) -> Agent {
        let holds = InitialGrants::of(tags(holds));
        self.engine.register(profile(id, "you", Kind::Subagent), holds).await.unwrap()
    }

    fn approver(by: &str) -> Role {
        Role::Approver { owner: "you".parse().unwrap(), by: by.parse().unwrap() }
    }

    /// Returns a link to the dashboard for a person, as `bestow dashboard` prints it.
    pub(super) fn link(&self, by: &str) -> String {
        let now = SystemClock::new().now().unwrap();
        let issued = self.credentials.create_link(Stage::approver(by), now);
        format!("{}#link={}", self.url(), issued.token)
    }

    /// Returns a token of a person.
    pub(super) fn token(&self, by: &str) -> String {
        self.token_of(Stage::approver(by))
    }

    pub(super) fn token_of(&self, role: Role) -> String {
        self.credentials.create(role, None).unwrap().token
    }

    /// Revokes every credential.
    pub(super) fn end_sessions(&self) {
        for credential in self.credentials.list() {
            let _ = self.credentials.revoke(&credential.id);
        }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    pub(super) async fn browser(&self) -> Arc<Browser> {
        self.people.browser().await
    }

    /// Opens the dashboard in a browser of `ann`.
    pub(super) async fn dashboard(&self) -> Arc<Browser> {
        self.dashboard_of("ann").await
    }

    /// Opens the dashboard in a browser that records the work of its threads.
    pub(super) async fn traced_dashboard(&self) -> Arc<Browser> {
        self.people.dashboard_that_is(true, &self.link("ann")).await
    }

    /// Opens the dashboard in a browser of a person.
    pub(super) async fn dashboard_of(&self, by: &str) -> Arc<Browser> {
        self.people.dashboard(&self.link(by)).await
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// Asks for a permission.
pub(super) async fn ask(agent: &Agent, wanted: &str) -> Ticket {
    ask_for(agent, &[wanted], "because it must").await
}

/// Asks for permissions with a reason.
pub(super) async fn ask_for(agent: &Agent, wanted: &[&str], why: &str) -> Ticket {
    agent.request(PermissionRequest::new(Permissions::try_from(tags(wanted)).unwrap(), why)).await.unwrap()
}

/// Wants to do something that a person must decide.
pub(super) async fn want(agent: &Agent, action: Action) -> Ticket {
    match agent.authorize(action).await.unwrap() {
        Authorization::Asked(_, ticket) => ticket,
        other => panic!("nobody is asked: {other:?}"),
    }
}
