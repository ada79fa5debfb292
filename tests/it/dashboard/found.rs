//! Elements, found as a person with a screen reader finds them: by their roles and names, as the browser tells them.

use std::fmt;

use serde_json::{Value, json};

use super::browser::Browser;

/// The key under which WebDriver names an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// The remarks of a card that takes no answer yet.
const TOO_EARLY: [&str; 2] = ["has only just appeared", "has just moved"];

/// The name of an element.
#[derive(Clone, Debug)]
enum Name {
    Is(String),
    Has(String),
}

/// One step to an element: its role and its name.
#[derive(Clone, Debug)]
struct Step {
    role: &'static str,
    name: Name,
}

/// An element that is looked up anew for each use. Each use waits until it is there.
#[derive(Clone)]
pub(super) struct Found<'b> {
    browser: &'b Browser,
    steps: Vec<Step>,
}

impl fmt::Display for Found<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.steps.is_empty() {
            return f.write_str("the page");
        }
        for (place, Step { role, name }) in self.steps.iter().rev().enumerate() {
            let (Name::Is(name) | Name::Has(name)) = name;
            write!(f, "{}{role} {name:?}", if place == 0 { "" } else { " in " })?;
        }
        Ok(())
    }
}

impl<'b> Found<'b> {
    pub(super) fn page(browser: &'b Browser) -> Found<'b> {
        Found { browser, steps: Vec::new() }
    }

    fn step(&self, role: &'static str, name: Name) -> Found<'b> {
        let mut found = self.clone();
        found.steps.push(Step { role, name });
        found
    }

    /// Returns the element below this one with this role and exactly this name.
    pub(super) fn the(&self, role: &'static str, name: &str) -> Found<'b> {
        self.step(role, Name::Is(name.to_owned()))
    }

    /// Returns the element below this one with this role, whose name has this text.
    pub(super) fn a(&self, role: &'static str, name: &str) -> Found<'b> {
        self.step(role, Name::Has(name.to_owned()))
    }

    pub(super) fn button(&self, name: &str) -> Found<'b> {
        self.the("button", name)
    }

    pub(super) fn link(&self, name: &str) -> Found<'b> {
        self.a("link", name)
    }

    pub(super) fn field(&self, name: &str) -> Found<'b> {
        self.a("textbox", name)
    }

    pub(super) fn choice(&self, name: &str) -> Found<'b> {
        self.a("radio", name)
    }

    pub(super) fn checkbox(&self, name: &str) -> Found<'b> {
        self.a("checkbox", name)
    }

    pub(super) fn dialog(&self, name: &str) -> Found<'b> {
        self.a("dialog", name)
    }

    /// Returns the card of a request whose sentence has this text.
    pub(super) fn card(&self, sentence: &str) -> Found<'b> {
        self.a("article", sentence)
    }

    /// Clicks it.
    pub(super) async fn click(&self) {
        self.browser.until(&format!("cannot click {self}"), async || self.try_click().await).await;
    }

    /// Clicks the first one of several.
    pub(super) async fn click_first(&self) {
        let click = async || {
            let nodes = self.nodes().await?;
            let first = nodes.first().ok_or("there is none")?;
            self.on(&self.element_of(first).await?, "click", json!({})).await
        };
        self.browser.until(&format!("cannot click the first {self}"), click).await;
    }

    /// Clicks it twice, as fast as a double click is.
    pub(super) async fn double_click(&self) {
        let element = self.browser.until(&format!("{self} is not there"), async || self.element().await).await;
        let pointer = |kind: &str| json!({ "type": kind, "button": 0 });
        let to = json!({ "type": "pointerMove", "origin": element, "x": 0, "y": 0 });
        let (down, up) = (pointer("pointerDown"), pointer("pointerUp"));
        let strokes = json!([to, down, up, down, up]);
        let body = json!({ "actions": [{ "type": "pointer", "id": "mouse", "actions": strokes }] });
        self.browser.send("POST", "actions", &body).await.unwrap();
    }

    /// Waits until this card takes answers.
    pub(super) async fn is_ready(&self) {
        self.is("busy", false).await;
    }

    async fn try_click(&self) -> Result<(), String> {
        self.on(&self.element().await?, "click", json!({})).await
    }

    /// Clicks a button of this card. The card refuses an answer that came too early, and this one is then given again.
    pub(super) async fn answers(&self, button: &str) {
        let clicked = async || {
            self.opens().await?;
            self.button(button).try_click().await
        };
        self.takes(&format!("{self} cannot be answered with {button:?}"), clicked).await;
    }

    /// Answers this card, unless somebody else is faster.
    pub(super) async fn may_answer(&self, button: &str) {
        let mut clicked = async || {
            self.opens().await?;
            let clicked = self.button(button).try_click().await;
            if self.is_answered().await? { Ok(()) } else { clicked }
        };
        let test = async || match self.nodes().await?.is_empty() {
            // It was answered, and has left the page.
            true => Ok(()),
            false => self.try_to_take(&mut clicked).await,
        };
        self.browser.until(&format!("{self} cannot be answered with {button:?}"), test).await;
    }

    /// Opens this card, if it is not the current one.
    async fn opens(&self) -> Result<(), String> {
        if self.button("Open").nodes().await?.is_empty() {
            return Ok(());
        }
        self.button("Open").try_click().await
    }

    /// Makes this card the current one.
    pub(super) async fn is_opened(&self) -> &Found<'b> {
        self.is_there().await;
        self.browser.until(&format!("{self} does not open"), async || self.opens().await).await;
        self
    }

    async fn is_answered(&self) -> Result<bool, String> {
        let text = self.seen().await?;
        Ok(["Allowed", "Denied"].iter().any(|word| text.contains(word)))
    }

    /// Presses a key that answers this card, which is the current one. A key that came too early is pressed again.
    pub(super) async fn answers_to(&self, key: &str) {
        let pressed = async || {
            self.browser.press(&[key]).await;
            Ok(())
        };
        self.takes(&format!("{self} cannot be answered with the key {key}"), pressed).await;
    }

    /// Answers this card until the answer does not count as too early.
    async fn takes(&self, what: &str, mut answer: impl AsyncFnMut() -> Result<(), String>) {
        self.browser.until(what, async || self.try_to_take(&mut answer).await).await;
    }

    /// Answers this card. An answer that came too early is an error.
    async fn try_to_take(&self, answer: &mut impl AsyncFnMut() -> Result<(), String>) -> Result<(), String> {
        if is_true(&self.node().await?, "busy") {
            return Err("it is busy".to_owned());
        }
        answer().await?;
        // A dialog above the card hides it.
        let Ok(text) = self.seen().await else { return Ok(()) };
        let remark = TOO_EARLY.iter().find(|remark| text.contains(**remark));
        remark.map_or(Ok(()), |remark| Err((*remark).to_owned()))
    }

    /// Selects this card, as soon as it can be.
    pub(super) async fn picked(&self) {
        let test = async || {
            let node = self.checkbox("Select this request").node().await?;
            if is_true(&node, "checked") {
                return Ok(());
            }
            self.checkbox("Select this request").try_click().await?;
            Err("it is not checked".to_owned())
        };
        self.browser.until(&format!("{self} cannot be selected"), test).await;
    }

    /// Chooses an option of this list.
    pub(super) async fn chooses(&self, option: &str) {
        let script = "
            const [list, text] = arguments;
            const found = [...list.options].find((option) => option.text === text);
            list.focus();
            list.value = found.value;
            for (const name of ['input', 'change']) list.dispatchEvent(new Event(name, { bubbles: true }));
        ";
        let choose = async |element| {
            let done = self.browser.try_run(script, &[element, json!(option)]).await;
            done.map(drop).map_err(|why| why.to_string())
        };
        self.does("choose", choose).await;
    }

    /// Types text into it, after what is there.
    pub(super) async fn types(&self, text: &str) {
        self.does("type", async |element| self.on(&element, "value", json!({ "text": text })).await).await;
    }

    /// Replaces its text.
    pub(super) async fn becomes(&self, text: &str) {
        self.does("clear", async |element| self.on(&element, "clear", json!({})).await).await;
        self.types(text).await;
    }

    async fn on(&self, element: &Value, command: &str, body: Value) -> Result<(), String> {
        let id = element[ELEMENT].as_str().unwrap_or_default();
        let done = self.browser.send("POST", &format!("element/{id}/{command}"), &body).await;
        done.map(drop).map_err(|why| why.to_string())
    }

    async fn does(&self, what: &str, mut act: impl AsyncFnMut(Value) -> Result<(), String>) {
        let what = format!("cannot {what} {self}");
        self.browser.until(&what, async || act(self.element().await?).await).await;
    }

    /// Waits until it is there.
    pub(super) async fn is_there(&self) -> &Found<'b> {
        self.browser.until(&format!("{self} is not there"), async || self.element().await.map(drop)).await;
        self
    }

    /// Waits until there is at least one.
    pub(super) async fn is_somewhere(&self) {
        let what = format!("{self} is nowhere");
        let test = async || if self.nodes().await?.is_empty() { Err(String::new()) } else { Ok(()) };
        self.browser.until(&what, test).await;
    }

    /// Waits until it is not there.
    pub(super) async fn is_gone(&self) {
        let what = format!("{self} is still there");
        self.browser.until(&what, async || self.counts(0).await).await;
    }

    /// Waits until there are as many.
    pub(super) async fn is_there_times(&self, number: usize) {
        let what = format!("{self} is not there {number} times");
        self.browser.until(&what, async || self.counts(number).await).await;
    }

    async fn counts(&self, wanted: usize) -> Result<(), String> {
        let found = self.nodes().await?.len();
        if found == wanted { Ok(()) } else { Err(format!("there are {found}")) }
    }

    /// Waits until its text has these words.
    pub(super) async fn shows(&self, words: &str) {
        let what = format!("{self} does not show {words:?}");
        let test = async || {
            let text = self.seen().await?;
            if text.contains(words) { Ok(()) } else { Err(format!("it shows {text:?}")) }
        };
        self.browser.until(&what, test).await;
    }

    /// Waits until its text does not have these words.
    pub(super) async fn hides(&self, words: &str) {
        let what = format!("{self} shows {words:?}");
        let test = async || {
            let text = self.seen().await?;
            if text.contains(words) { Err(format!("it shows {text:?}")) } else { Ok(()) }
        };
        self.browser.until(&what, test).await;
    }

    async fn seen(&self) -> Result<String, String> {
        let arguments = match self.steps.is_empty() {
            true => vec![],
            false => vec![self.element().await?],
        };
        let script = "return (arguments[0] ?? document.body).innerText";
        let text = self.browser.try_run(script, &arguments).await.map_err(|why| why.to_string())?;
        Ok(text.as_str().unwrap_or_default().to_owned())
    }

    /// Waits until a property that screen readers tell has this value: `disabled`, `checked`, `focused`, `expanded`.
    pub(super) async fn is(&self, property: &str, value: bool) {
        let what = format!("{self} is not {property}={value}");
        let test = async || {
            let node = self.node().await?;
            if is_true(&node, property) == value { Ok(()) } else { Err(node["properties"].to_string()) }
        };
        self.browser.until(&what, test).await;
    }

    /// Returns the element for commands of WebDriver and for scripts.
    pub(super) async fn element(&self) -> Result<Value, String> {
        self.element_of(&self.node().await?).await
    }

    async fn element_of(&self, node: &Value) -> Result<Value, String> {
        let id = node["backendDOMNodeId"].clone();
        let object = self.develop("DOM.resolveNode", json!({ "backendNodeId": id })).await?;
        let keep = json!({
            "objectId": object["object"]["objectId"],
            "functionDeclaration": "function () { globalThis.foundByTest = this; }",
        });
        self.develop("Runtime.callFunctionOn", keep).await?;
        let element = self.browser.try_run("return globalThis.foundByTest", &[]).await;
        element.map_err(|why| why.to_string())
    }

    /// Returns the only node that is meant.
    async fn node(&self) -> Result<Value, String> {
        let mut nodes = self.nodes().await?;
        match nodes.len() {
            0 => Err("there is none".to_owned()),
            1 => Ok(nodes.remove(0)),
            number => {
                let names: Vec<_> = nodes.iter().map(|node| &node["name"]["value"]).collect();
                Err(format!("there are {number}: {names:?}"))
            }
        }
    }

    /// Returns all nodes of the last step, below the only node of each step before it.
    async fn nodes(&self) -> Result<Vec<Value>, String> {
        let document = json!({ "expression": "document" });
        let document = self.develop("Runtime.evaluate", document).await?;
        let mut place = json!({ "objectId": document["result"]["objectId"] });
        let (last, before) = self.steps.split_last().expect("the page is one");
        for step in before {
            let nodes = self.below(&place, step).await?;
            let [node] = nodes.as_slice() else { return Err(format!("{step:?} is there {} times", nodes.len())) };
            place = json!({ "backendNodeId": node["backendDOMNodeId"] });
        }
        self.below(&place, last).await
    }

    async fn below(&self, place: &Value, step: &Step) -> Result<Vec<Value>, String> {
        let mut query = place.clone();
        query["role"] = json!(step.role);
        if let Name::Is(name) = &step.name {
            query["accessibleName"] = json!(name);
        }
        let found = self.develop("Accessibility.queryAXTree", query).await?;
        let fits = |node: &Value| match &step.name {
            Name::Is(_) => true,
            Name::Has(part) => node["name"]["value"].as_str().is_some_and(|name| name.contains(part)),
        };
        let nodes = found["nodes"].as_array().into_iter().flatten();
        Ok(nodes.filter(|node| node["ignored"] == false && fits(node)).cloned().collect())
    }

    async fn develop(&self, command: &str, parameters: Value) -> Result<Value, String> {
        self.browser.develop(command, &parameters).await.map_err(|why| why.to_string())
    }
}

fn is_true(node: &Value, property: &str) -> bool {
    let told = node["properties"].as_array().into_iter().flatten().find(|told| told["name"] == property);
    told.is_some_and(|told| [json!(true), json!("true"), json!(1)].contains(&told["value"]["value"]))
}
