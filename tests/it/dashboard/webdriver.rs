//! WebDriver: commands to `chromedriver`, which drives a real browser. The protocol is JSON over HTTP.

use std::{
    fmt,
    io::{self, BufRead, Read},
    net::SocketAddr,
    process::{Child, ChildStdout, Command, Stdio},
    time::Duration,
};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    time::timeout,
};

/// The programs of the tests.
const PROGRAMS: [&str; 2] = ["chromium", "chromedriver"];

/// The time after which a command counts as unanswered.
const LONGEST_COMMAND: Duration = Duration::from_secs(15);

/// Returns true if there is a browser. In CI there must be one.
pub(super) fn is_installed() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |name: &&str| std::env::split_paths(&path).any(|directory| directory.join(name).is_file());
    let missing: Vec<_> = PROGRAMS.iter().filter(|name| !is_there(name)).collect();
    assert!(missing.is_empty() || std::env::var_os("CI").is_none(), "the tests of the dashboard need {missing:?}");
    if !missing.is_empty() {
        eprintln!("not run: the tests of the dashboard need {missing:?}");
    }
    missing.is_empty()
}

/// An error of a command, with the name that the protocol has for it.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) error: String,
    message: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.message.lines().next().unwrap_or_default();
        write!(f, "{}: {first}", self.error)
    }
}

/// A `chromedriver`. It ends with this value, and with this process.
pub(super) struct Driver {
    process: Child,
    /// The rest of its output. It ends when nobody can hear it.
    _said: io::BufReader<ChildStdout>,
    address: SocketAddr,
    /// The profiles of the browsers.
    _directory: TempDir,
}

impl Driver {
    /// Starts a driver, and returns when it listens. The port that it finds free may be taken at the same moment.
    pub(super) fn start() -> Driver {
        (0..5).find_map(|_| Driver::try_to_start()).expect("chromedriver listens")
    }

    fn try_to_start() -> Option<Driver> {
        let directory = tempfile::tempdir().unwrap();
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "--", "chromedriver", "--port=0"]);
        command
            .env("TMPDIR", directory.path())
            .env("TZ", "UTC")
            .env("LANGUAGE", "en")
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut process = command.spawn().unwrap();
        let mut said = io::BufReader::new(process.stdout.take().unwrap());
        let port = said.by_ref().lines().map_while(Result::ok).find_map(|line| port(&line));
        Some(Driver { process, _said: said, address: ([127, 0, 0, 1], port?).into(), _directory: directory })
    }

    /// Starts a browser with an empty profile. Returns the path of its session. With `traced`, the browser records the
    /// work of its threads.
    pub(super) async fn open(&self, traced: bool) -> String {
        let mut arguments = vec![
            // The browser ends when the driver does.
            "--remote-debugging-pipe".to_owned(),
            "--headless".to_owned(),
            "--window-size=1280,800".to_owned(),
            "--force-device-scale-factor=1".to_owned(),
            "--font-render-hinting=none".to_owned(),
            "--disable-dev-shm-usage".to_owned(),
            // Pages from elsewhere are on this machine as well.
            "--host-resolver-rules=MAP *.example 127.0.0.1".to_owned(),
        ];
        if rustix::process::geteuid().is_root() {
            arguments.push("--no-sandbox".to_owned());
        }
        let mut options = json!({ "args": arguments });
        let mut logs = json!({ "browser": "ALL" });
        if traced {
            let categories = "disabled-by-default-devtools.timeline";
            let network_and_page = json!(false);
            options["perfLoggingPrefs"] = json!({
                "enableNetwork": network_and_page, "enablePage": network_and_page, "traceCategories": categories,
            });
            logs["performance"] = json!("ALL");
        }
        let capabilities = json!({
            "unhandledPromptBehavior": "ignore",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": logs,
        });
        let body = json!({ "capabilities": { "alwaysMatch": capabilities } });
        let opened = self.send("POST", "/session", &body).await.unwrap();
        format!("/session/{}", opened["sessionId"].as_str().unwrap())
    }

    /// Sends a command, and returns its value.
    pub(super) async fn send(&self, method: &str, path: &str, body: &Value) -> Result<Value, Refused> {
        let body = if method == "POST" { body.to_string() } else { String::new() };
        let Ok(reply) = timeout(LONGEST_COMMAND, exchange(self.address, method, path, &body)).await else {
            panic!("chromedriver does not answer: {method} {path} {body}");
        };
        let mut reply = reply.unwrap_or_else(|why| panic!("chromedriver has ended: {why}: {method} {path} {body}"));
        let value = reply["value"].take();
        match value["error"].as_str() {
            None => Ok(value),
            Some(error) => Err(Refused {
                error: error.to_owned(),
                message: value["message"].as_str().unwrap_or_default().to_owned(),
            }),
        }
    }
}

/// Sends one request. The driver keeps the connection open after its reply.
async fn exchange(address: SocketAddr, method: &str, path: &str, body: &str) -> io::Result<Value> {
    let mut stream = BufReader::new(TcpStream::connect(address).await?);
    let length = body.len();
    let request = format!("{method} {path} HTTP/1.1\r\nhost: {address}\r\ncontent-length: {length}\r\n\r\n{body}");
    stream.write_all(request.as_bytes()).await?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await?;
        match line.to_lowercase().split_once(':') {
            Some(("content-length", value)) => length = value.trim().parse().unwrap(),
            Some(_) => {}
            None if line.trim().is_empty() => break,
            None => {}
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    Ok(serde_json::from_slice(&body)?)
}

/// Returns the port in the line that says that the driver listens.
fn port(line: &str) -> Option<u16> {
    line.split_once("started successfully on port ")?.1.trim_end_matches('.').parse().ok()
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
