//! The stage of a test: an engine with agents, its server, and the browsers of people.

use std::{
    net::SocketAddr,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, OnceLock},
    time::Duration,
};

use bestow::{
    Action, Agent, Engine, InitialGrants, Kind, PermissionRequest, Settings,
    action::Authorization,
    request::Ticket,
    grant::Permissions,
    host::{Clock, SystemClock},
};
use bestow_http::{
    Limits, Options, Server,
    credentials::{CredentialFile, Credentials, NewCredential, Role},
    router,
};
use futures_util::FutureExt;
use tempfile::TempDir;
use tokio::task::JoinHandle;

use super::{
    browser::Browser,
    webdriver::{Driver, is_installed},
};
use crate::support::{profile, tags};

/// Plays a scene with an engine, its server and browsers. Afterwards no page may have had an error.
pub(super) async fn scene(play: impl AsyncFnOnce(&Stage)) {
    scene_with(|_| {}, play).await;
}

/// Plays a scene with other settings of the engine.
pub(super) async fn scene_with(change: impl FnOnce(&mut Settings), play: impl AsyncFnOnce(&Stage)) {
    if !is_installed() {
        return;
    }
    let stage = Stage::set(change).await;
    let played = AssertUnwindSafe(play(&stage)).catch_unwind().await;
    let browsers = std::mem::take(&mut *stage.browsers.lock().unwrap());
    let mut faults = Vec::new();
    for browser in browsers {
        faults.extend(browser.faults().await);
        browser.close().await;
    }
    match played {
        Ok(()) => assert!(faults.is_empty(), "the page had errors: {faults:#?}"),
        Err(failed) => {
            eprintln!("errors of the page: {faults:#?}");
            std::panic::resume_unwind(failed)
        }
    }
}

/// An engine, its server, and the browsers of people. Its owner is `you`.
pub(super) struct Stage {
    pub(super) engine: Engine,
    pub(super) address: SocketAddr,
    file: CredentialFile,
    server: JoinHandle<()>,
    driver: OnceLock<Arc<Driver>>,
    browsers: Mutex<Vec<Arc<Browser>>>,
    _directory: TempDir,
}

impl Stage {
    async fn set(change: impl FnOnce(&mut Settings)) -> Stage {
        let mut settings = Settings::default();
        settings.request_timeout = Duration::from_secs(3600);
        change(&mut settings);
        let engine = Engine::new(settings).unwrap();
        let directory = tempfile::tempdir().unwrap();
        let file = CredentialFile::in_directory(directory.path().join("state"));
        let server = Server::on_loopback("127.0.0.1:0".parse().unwrap(), Limits::default()).await.unwrap();
        let address = server.address();
        let mut options = Options::new(Credentials::of(file.clone()));
        options.dashboard = true;
        let server = tokio::spawn(server.serve(router(&engine, options), std::future::pending()));
        let (driver, browsers) = (OnceLock::new(), Mutex::default());
        Stage { engine, address, file, server, driver, browsers, _directory: directory }
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
        let issued = self.file.create_link(Stage::approver(by), None, now).unwrap();
        format!("{}#link={}", self.url(), issued.token)
    }

    /// Returns a token of a person.
    pub(super) fn token(&self, by: &str) -> String {
        self.token_of(Stage::approver(by))
    }

    pub(super) fn token_of(&self, role: Role) -> String {
        let now = SystemClock::new().now().unwrap();
        self.file.create(NewCredential { role, name: None, expires_at: None }, now).unwrap().token
    }

    /// Revokes every credential.
    pub(super) fn end_sessions(&self) {
        let now = SystemClock::new().now().unwrap();
        for credential in self.file.list().unwrap() {
            let _ = self.file.revoke(&credential.id, now);
        }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Opens a browser.
    pub(super) async fn browser(&self) -> Arc<Browser> {
        let driver = self.driver.get_or_init(|| Arc::new(Driver::start()));
        let browser = Arc::new(Browser::open(driver.clone()).await);
        self.browsers.lock().unwrap().push(browser.clone());
        browser
    }

    /// Opens the dashboard in a browser of `ann`.
    pub(super) async fn dashboard(&self) -> Arc<Browser> {
        self.dashboard_of("ann").await
    }

    /// Opens the dashboard in a browser of a person. Returns when it shows the state of the server.
    pub(super) async fn dashboard_of(&self, by: &str) -> Arc<Browser> {
        let browser = self.browser().await;
        browser.go(&self.link(by)).await;
        browser.page().shows("Live").await;
        browser
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
