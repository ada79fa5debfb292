//! The conversation with an editor. It reads and writes nothing: messages and news come in, and orders come out.

use std::collections::BTreeMap;

use serde_json::{Value, json, value::RawValue};

use super::{
    super::envelope::{Envelope, Key, Said},
    card::{Card, Choice},
    inbox::News,
    message::{self, HELP, Prompt},
};

/// The codes of JSON-RPC.
const PARSE_ERROR: i32 = -32700;
const NO_METHOD: i32 = -32601;
const INVALID_PARAMS: i32 = -32602;

/// The most questions that are known. Later ones stay in the engine.
const MOST: usize = 1024;

/// Something to do.
#[derive(Debug)]
pub(super) enum Order {
    Say(Value),
    /// A person answered this request.
    Answer(String, Choice),
    /// A prompt is to be answered with a report.
    Report(Turn),
}

/// A prompt that waits for its answer.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    id: Box<RawValue>,
    session: String,
}

/// A question that waits.
#[derive(Debug)]
struct Waiting {
    card: Box<Card>,
    shown: Option<CardPlace>,
}

/// The place of a card.
#[derive(Clone, Debug)]
struct CardPlace {
    session: String,
    call_id: String,
    /// The id of the request to the editor, until it is answered.
    asked: Option<u64>,
}

/// The state of the conversation.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    /// The session in which cards appear.
    session: Option<String>,
    /// The number of sessions.
    sessions: u64,
    /// The turn that stays open.
    watching: Option<Turn>,
    waiting: BTreeMap<String, Waiting>,
    /// The number of requests to the editor.
    asked: u64,
}

/// The side of the editor.
impl Conversation {
    /// Returns true once the editor has begun a session.
    pub(super) fn has_session(&self) -> bool {
        self.session.is_some()
    }

    /// Returns the consequence of a line of the editor.
    pub(super) fn heard(&mut self, line: &[u8]) -> Vec<Order> {
        if line.trim_ascii().is_empty() {
            return Vec::new();
        }
        let Said::Message(message) = Said::read(line) else {
            return vec![Order::Say(message::error(None, PARSE_ERROR, "the line is not one clear message"))];
        };
        match (message.method.as_deref(), message.id) {
            (None, _) => self.answer(&message),
            (Some(method), Some(id)) => self.request(method, id, message.params),
            (Some("session/cancel"), None) => self.cancelled(message.params),
            (Some(_), None) => Vec::new(),
        }
    }

    fn request(&mut self, method: &str, id: &RawValue, params: Option<&RawValue>) -> Vec<Order> {
        match method {
            "initialize" => vec![Order::Say(message::initialized(id))],
            "authenticate" => vec![Order::Say(message::result(id, &json!({})))],
            "session/new" => self.new_session(id),
            "session/prompt" => match params.map(|params| serde_json::from_str::<Prompt>(params.get())) {
                Some(Ok(prompt)) if self.is_known(&prompt.session_id) => self.prompted(id, prompt),
                _ => vec![Order::Say(message::error(Some(id), INVALID_PARAMS, "there is no such session"))],
            },
            _ => vec![Order::Say(message::error(Some(id), NO_METHOD, "bestow has no such method"))],
        }
    }

    fn new_session(&mut self, id: &RawValue) -> Vec<Order> {
        self.sessions += 1;
        let session = format!("bestow-{}", self.sessions);
        let begun = Order::Say(message::result(id, &json!({ "sessionId": session })));
        self.session = Some(session);
        [begun].into_iter().chain(self.show_all()).collect()
    }

    fn is_known(&self, session: &str) -> bool {
        let number = session.strip_prefix("bestow-").and_then(|number| number.parse::<u64>().ok());
        number.is_some_and(|number| (1..=self.sessions).contains(&number))
    }

    fn prompted(&mut self, id: &RawValue, prompt: Prompt) -> Vec<Order> {
        let text = prompt.text();
        let session = prompt.session_id;
        self.session = Some(session.clone());
        let turn = Turn { id: id.to_owned(), session };
        let mut orders = self.show_all();
        match &*text {
            "watch" => {
                orders.extend(self.watching.take().map(|before| Order::Say(ended(&before, "end_turn"))));
                self.watching = Some(turn);
            }
            "help" => {
                orders.push(Order::Say(message::text(&turn.session, HELP)));
                orders.push(Order::Say(ended(&turn, "end_turn")));
            }
            _ => orders.push(Order::Report(turn)),
        }
        orders
    }

    /// Ends the open turn of a session. The editor takes its cards away and answers none of them.
    fn cancelled(&mut self, params: Option<&RawValue>) -> Vec<Order> {
        let Some(Ok(Prompt { session_id, .. })) = params.map(|params| serde_json::from_str(params.get())) else {
            return Vec::new();
        };
        let watching = self.watching.take_if(|turn| turn.session == session_id);
        watching.map(|turn| Order::Say(ended(&turn, "cancelled"))).into_iter().collect()
    }

    /// Takes the answer to a card. An answer to a card that is gone changes nothing.
    fn answer(&mut self, message: &Envelope<'_>) -> Vec<Order> {
        let Some(Key::Whole(id)) = message.key() else { return Vec::new() };
        let asked = |waiting: &Waiting| waiting.shown.as_ref().and_then(|shown| shown.asked);
        let found =
            self.waiting.iter_mut().find(|(_, waiting)| asked(waiting).is_some_and(|asked| i128::from(asked) == id));
        let Some((request, waiting)) = found else { return Vec::new() };
        let selected = message.result.filter(|_| !message.is_error()).and_then(message::selected);
        let choice = message::offered(&waiting.card).find(|choice| selected.as_deref() == Some(choice.id()));
        match choice {
            Some(choice) => {
                if let Some(shown) = &mut waiting.shown {
                    shown.asked = None;
                }
                vec![Order::Answer(request.clone(), choice)]
            }
            // It waits on, and is shown again with the next prompt.
            None => {
                let shown = waiting.shown.take();
                let how = "There is no answer. The request goes on waiting: any message shows it again.";
                shown.map(|at| Order::Say(message::over(&at.session, &at.call_id, false, how))).into_iter().collect()
            }
        }
    }
}

fn ended(turn: &Turn, reason: &str) -> Value {
    message::result(&turn.id, &json!({ "stopReason": reason }))
}

/// The side of the engine.
impl Conversation {
    /// Returns the consequence of news.
    pub(super) fn news(&mut self, news: News) -> Vec<Order> {
        match news {
            News::Asked(card) => {
                // A question that moved comes again.
                if self.waiting.contains_key(&card.request) || self.waiting.len() >= MOST {
                    return Vec::new();
                }
                self.waiting.insert(card.request.clone(), Waiting { card, shown: None });
                self.show_all()
            }
            News::Ended { request, is_granted, text } => self.over(&request, is_granted, &text),
            News::Said(text) => {
                let session = self.session.as_deref();
                session.map(|session| Order::Say(message::text(session, &format!("{text}\n")))).into_iter().collect()
            }
        }
    }

    /// Shows every card that is on no screen.
    fn show_all(&mut self) -> Vec<Order> {
        let Some(session) = &self.session else { return Vec::new() };
        let mut orders = Vec::new();
        for (request, waiting) in self.waiting.iter_mut().filter(|(_, waiting)| waiting.shown.is_none()) {
            self.asked += 1;
            let (session, id) = (session.clone(), self.asked);
            let call_id = format!("bestow-{request}-{id}");
            orders.extend(message::card(&session, &waiting.card, &call_id, id).map(Order::Say));
            waiting.shown = Some(CardPlace { session, call_id, asked: Some(id) });
        }
        orders
    }

    fn over(&mut self, request: &str, is_granted: bool, how: &str) -> Vec<Order> {
        let Some(shown) = self.waiting.remove(request).and_then(|waiting| waiting.shown) else { return Vec::new() };
        let cancel = shown.asked.map(message::cancel);
        let over = message::over(&shown.session, &shown.call_id, is_granted, how);
        cancel.into_iter().chain([over]).map(Order::Say).collect()
    }

    /// Returns what the person hears after an answer.
    pub(super) fn answered(&mut self, request: &str, choice: Choice, done: Result<(), String>) -> Vec<Value> {
        let Some(shown) = self.waiting.get_mut(request).and_then(|waiting| waiting.shown.take()) else {
            return Vec::new();
        };
        if done.is_ok() {
            self.waiting.remove(request);
        }
        let (is_granted, how) = match done {
            Ok(()) if choice == Choice::Deny => (false, "Denied.".to_owned()),
            Ok(()) => (true, "Allowed.".to_owned()),
            Err(why) => (false, format!("The answer was not accepted: {why}")),
        };
        vec![message::over(&shown.session, &shown.call_id, is_granted, &how)]
    }

    /// Returns the answer to a prompt.
    pub(super) fn reported(&mut self, turn: &Turn, report: Result<String, String>) -> Vec<Value> {
        let text = report.unwrap_or_else(|why| format!("There is no answer: {why}"));
        vec![message::text(&turn.session, &text), ended(turn, "end_turn")]
    }
}
