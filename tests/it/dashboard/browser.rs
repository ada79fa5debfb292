//! A real browser, without a window.

use std::{path::Path, sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use crate::support::ROOT;

use super::{
    found::Found,
    webdriver::{Driver, Refused},
};

/// The time after which what should come counts as missing.
pub(super) const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Returns after the next change of the page, and after 50 ms at the latest.
const CHANGE: &str = "
    const done = arguments[0];
    const end = () => { observer.disconnect(); clearTimeout(timer); done(); };
    const observer = new MutationObserver(end);
    observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    const timer = setTimeout(end, 50);
";

/// A browser with one tab and a profile of its own.
pub(super) struct Browser {
    driver: Arc<Driver>,
    session: String,
}

impl Browser {
    pub(super) async fn open(driver: Arc<Driver>, traced: bool) -> Browser {
        let session = driver.open(traced).await;
        let browser = Browser { driver, session };
        // Animations end at once, so that pictures are the same each time.
        browser.prefers("light").await;
        browser.screen(1280, 800, false).await;
        browser
    }

    /// Sends a command about this browser.
    pub(super) async fn send(&self, method: &str, path: &str, body: &Value) -> Result<Value, Refused> {
        self.driver.send(method, &format!("{}/{path}", self.session), body).await
    }

    /// Opens an address, as a person does who types it.
    pub(super) async fn go(&self, url: &str) {
        self.send("POST", "url", &json!({ "url": url })).await.unwrap();
    }

    pub(super) async fn reload(&self) {
        self.send("POST", "refresh", &json!({})).await.unwrap();
    }

    /// Opens another tab, and turns to it.
    pub(super) async fn new_tab(&self) {
        let tab = self.send("POST", "window/new", &json!({ "type": "tab" })).await.unwrap();
        self.turn_to(tab["handle"].as_str().unwrap()).await;
    }

    /// Returns the tab that commands are for.
    pub(super) async fn tab(&self) -> String {
        self.send("GET", "window", &Value::Null).await.unwrap().as_str().unwrap().to_owned()
    }

    /// Turns to the only other tab.
    pub(super) async fn turn_to_the_other_tab(&self) {
        let (here, all) = (self.tab().await, self.send("GET", "window/handles", &Value::Null).await.unwrap());
        let other = all.as_array().unwrap().iter().find(|tab| **tab != here).expect("another tab");
        self.turn_to(other.as_str().unwrap()).await;
    }

    /// Does something in a frame of the page.
    pub(super) async fn in_frame(&self, number: u32, act: impl AsyncFnOnce()) {
        self.send("POST", "frame", &json!({ "id": number })).await.unwrap();
        act().await;
        self.send("POST", "frame", &json!({ "id": null })).await.unwrap();
    }

    /// Turns to a tab.
    pub(super) async fn turn_to(&self, tab: &str) {
        self.send("POST", "window", &json!({ "handle": tab })).await.unwrap();
    }

    /// Returns what the address bar shows.
    pub(super) async fn address(&self) -> String {
        self.send("GET", "url", &Value::Null).await.unwrap().as_str().unwrap().to_owned()
    }

    pub(super) async fn title(&self) -> String {
        self.send("GET", "title", &Value::Null).await.unwrap().as_str().unwrap().to_owned()
    }

    /// Runs a script in the page, and returns its value.
    pub(super) async fn run(&self, script: &str, arguments: &[Value]) -> Value {
        self.try_run(script, arguments).await.unwrap()
    }

    pub(super) async fn try_run(&self, script: &str, arguments: &[Value]) -> Result<Value, Refused> {
        self.send("POST", "execute/sync", &json!({ "script": script, "args": arguments })).await
    }

    /// Runs a script that calls its last argument when it has ended.
    pub(super) async fn run_async(&self, script: &str, arguments: &[Value]) -> Result<Value, Refused> {
        self.send("POST", "execute/async", &json!({ "script": script, "args": arguments })).await
    }

    /// Runs a script in every page from now on, before the page's own scripts.
    pub(super) async fn before_each_page(&self, script: &str) {
        let source = json!({ "source": script });
        self.develop("Page.addScriptToEvaluateOnNewDocument", &source).await.unwrap();
    }

    /// Returns by how many pixels the page is wider than the screen.
    pub(super) async fn overflow(&self) -> i64 {
        let script = "const page = document.documentElement; return page.scrollWidth - page.clientWidth;";
        self.run(script, &[]).await.as_i64().unwrap()
    }

    /// Returns a picture of the page.
    pub(super) async fn png(&self) -> Vec<u8> {
        from_base64(self.send("GET", "screenshot", &Value::Null).await.unwrap().as_str().unwrap())
    }

    /// Writes a picture of the page to `target/screenshots`, for people to look at.
    pub(super) async fn picture(&self, name: &str) {
        let directory = Path::new(ROOT).join("target/screenshots");
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(directory.join(format!("{name}.png")), self.png().await).unwrap();
    }

    /// Sends a command of the protocol for developers.
    pub(super) async fn develop(&self, command: &str, parameters: &Value) -> Result<Value, Refused> {
        self.send("POST", "goog/cdp/execute", &json!({ "cmd": command, "params": parameters })).await
    }

    /// Returns the whole page, in which elements can be found.
    pub(super) fn page(&self) -> Found<'_> {
        Found::page(self)
    }

    /// Waits for a change of the page, but not for long.
    pub(super) async fn change(&self) {
        if self.run_async(CHANGE, &[]).await.is_err() {
            // The page is being replaced by another one.
            tokio::task::yield_now().await;
        }
    }

    /// Waits until `test` returns a value. Its last complaint is the reason for a failure. A complaint that differs
    /// from the one before it is progress: the wait begins again, up to the end of the scene.
    pub(super) async fn until<T>(&self, what: &str, mut test: impl AsyncFnMut() -> Result<T, String>) -> T {
        let (mut complaint, mut since) = (String::new(), Instant::now());
        loop {
            let why = match timeout_at(since + LONGEST_WAIT, test()).await {
                Ok(Ok(value)) => return value,
                Ok(Err(why)) => why,
                Err(_) => complaint.clone(),
            };
            if why != complaint {
                (complaint, since) = (why, Instant::now());
            }
            if since.elapsed() >= LONGEST_WAIT {
                panic!("{what}: {complaint}\nThe page:\n{}", self.outline().await);
            }
            self.change().await;
        }
    }

    /// Presses keys one after the other, where the focus is.
    pub(super) async fn press(&self, keys: &[&str]) {
        let strokes: Vec<_> = keys
            .iter()
            .map(|name| key(name))
            .flat_map(|key| ["keyDown", "keyUp"].map(|kind| json!({ "type": kind, "value": key })))
            .collect();
        let body = json!({ "actions": [{ "type": "key", "id": "keyboard", "actions": strokes }] });
        self.send("POST", "actions", &body).await.unwrap();
    }

    /// Moves the pointer to the edge of the page.
    pub(super) async fn point_away(&self) {
        let moved = json!([{ "type": "pointerMove", "origin": "viewport", "x": 2, "y": 2 }]);
        let body = json!({ "actions": [{ "type": "pointer", "id": "mouse", "actions": moved }] });
        self.send("POST", "actions", &body).await.unwrap();
    }

    /// Sets the color scheme that the person prefers.
    pub(super) async fn prefers(&self, scheme: &str) {
        let features = json!([
            { "name": "prefers-color-scheme", "value": scheme },
            { "name": "prefers-reduced-motion", "value": "reduce" },
        ]);
        self.develop("Emulation.setEmulatedMedia", &json!({ "features": features })).await.unwrap();
    }

    /// Sets the size of the screen.
    pub(super) async fn screen(&self, width: u32, height: u32, is_phone: bool) {
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": is_phone });
        self.develop("Emulation.setDeviceMetricsOverride", &metrics).await.unwrap();
    }

    /// Returns the roles and names of what is on the page, one in each line.
    pub(super) async fn outline(&self) -> String {
        let Ok(tree) = self.develop("Accessibility.getFullAXTree", &json!({})).await else {
            return "(the browser does not tell)".to_owned();
        };
        let lines = tree["nodes"].as_array().into_iter().flatten().filter_map(|node| {
            let (role, name) = (node["role"]["value"].as_str()?, node["name"]["value"].as_str()?);
            let is_shown =
                node["ignored"] == false && !["InlineTextBox", "StaticText", "none", "generic"].contains(&role);
            let name: String = name.chars().take(120).collect();
            (is_shown && !name.is_empty()).then(|| format!("  {role} {name:?}\n"))
        });
        lines.collect()
    }

    /// Returns the errors of scripts, and what the policy of the page forbade, since the last call.
    pub(super) async fn faults(&self) -> Vec<String> {
        let log = self.send("POST", "se/log", &json!({ "type": "browser" })).await.unwrap();
        let is_fault = |entry: &&Value| entry["level"] == "SEVERE" && entry["source"] != "network";
        let entries = log.as_array().unwrap().iter().filter(is_fault);
        entries.map(|entry| entry["message"].as_str().unwrap().to_owned()).collect()
    }

    /// Returns the tasks of the main threads of pages since the last call, by the browser's own tracing: the time that
    /// each took, and the time for which the processor worked on it, in milliseconds.
    pub(super) async fn tasks(&self) -> Vec<[f64; 2]> {
        let log = self.send("POST", "se/log", &json!({ "type": "performance" })).await.unwrap();
        let messages: Vec<Value> = log
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|entry| serde_json::from_str::<Value>(entry["message"].as_str()?).ok())
            .map(|mut message| message["message"]["params"].take())
            .collect();
        let main = |event: &&Value| event["name"] == "thread_name" && event["args"]["name"] == "CrRendererMain";
        let mains: Vec<_> = messages.iter().filter(main).map(|event| (&event["pid"], &event["tid"])).collect();
        let is_task = |event: &&Value| event["name"] == "RunTask" && mains.contains(&(&event["pid"], &event["tid"]));
        let milliseconds = |value: &Value| value.as_f64().unwrap_or_default() / 1000.0;
        let times = |event: &Value| [milliseconds(&event["dur"]), milliseconds(&event["tdur"])];
        messages.iter().filter(is_task).map(times).collect()
    }

    pub(super) async fn close(&self) {
        let _ = self.driver.send("DELETE", &self.session, &Value::Null).await;
    }
}

/// Returns the bytes that a text in base64 stands for.
fn from_base64(text: &str) -> Vec<u8> {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let values: Vec<_> = text.bytes().filter_map(|byte| LETTERS.iter().position(|letter| *letter == byte)).collect();
    let bits =
        |group: &[usize]| group.iter().fold(0_u32, |bits, value| bits << 6 | *value as u32) << (6 * (4 - group.len()));
    let bytes = |group: &[usize]| bits(group).to_be_bytes()[1..group.len()].to_vec();
    values.chunks(4).flat_map(bytes).collect()
}

/// Returns the character that stands for a key.
fn key(name: &str) -> &str {
    match name {
        "Tab" => "\u{e004}",
        "End" => "\u{e010}",
        "Enter" => "\u{e007}",
        "Shift" => "\u{e008}",
        "Escape" => "\u{e00c}",
        "ArrowUp" => "\u{e013}",
        "ArrowDown" => "\u{e015}",
        other => other,
    }
}
