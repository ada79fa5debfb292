//! The facts that an agent tells about its calls before it asks. They are kept within limits.

use std::collections::{HashMap, HashSet, VecDeque};

use super::tool_call::ToolCall;

/// The most bytes that are kept of one call. Of a call with more, nothing is known.
const LONGEST: usize = 4 << 20;

/// The most bytes that are kept of all calls. The oldest calls are forgotten first.
const MOST_BYTES: usize = 16 << 20;

/// The most calls that are kept.
const MOST: usize = 1024;

/// The longest id of a call, in bytes.
const LONGEST_ID: usize = 256;

/// The knowledge about one call.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Known {
    /// The agent told nothing.
    #[default]
    Nothing,
    /// The agent told this.
    Told(Box<ToolCall>),
    /// The agent told something that was not understood or not kept. Nothing that it told before counts.
    Unclear,
}

/// The calls of one session after the other, by their ids.
#[derive(Debug, Default)]
pub(super) struct Calls {
    kept: HashMap<(String, String), Kept>,
    /// The calls, the oldest first. Some may be forgotten already.
    order: VecDeque<(String, String)>,
    bytes: usize,
    /// The sessions of calls that were forgotten before they were over. Nothing is known of their other calls.
    forgot: HashSet<String>,
}

#[derive(Debug)]
struct Kept {
    known: Known,
    bytes: usize,
}

impl Calls {
    /// Notes a new call. An earlier one with this id is another one.
    pub(super) fn begin(&mut self, session: &str, call: ToolCall) {
        let Some(id) = call.tool_call_id.clone() else { return };
        self.end(session, &id);
        self.keep(session, id, Known::Told(Box::new(call)));
    }

    /// Notes further facts about a call.
    pub(super) fn update(&mut self, session: &str, update: ToolCall) {
        let Some(id) = update.tool_call_id.clone() else { return };
        let known = match self.take(session, &id) {
            Known::Nothing => Known::Told(Box::new(update)),
            Known::Told(call) => Known::Told(Box::new(call.updated(update))),
            Known::Unclear => Known::Unclear,
        };
        self.keep(session, id, known);
    }

    /// Notes that something was told about a call that is not known.
    pub(super) fn blur(&mut self, session: &str, id: &str) {
        self.take(session, id);
        self.keep(session, id.to_owned(), Known::Unclear);
    }

    /// Notes that something was told about a call, and that it is not known which. Without a session, it may be one of
    /// any session.
    pub(super) fn blur_all(&mut self, session: Option<&str>) {
        for ((of, _), kept) in &mut self.kept {
            if session.is_none_or(|session| of == session) {
                self.bytes -= std::mem::take(&mut kept.bytes);
                kept.known = Known::Unclear;
            }
        }
    }

    /// Forgets a call that is over.
    pub(super) fn end(&mut self, session: &str, id: &str) {
        if self.take(session, id) != Known::Nothing {
            self.order.retain(|(of, kept)| of != session || kept != id);
        }
    }

    /// Returns the knowledge about a call.
    pub(super) fn get(&self, session: &str, id: &str) -> Known {
        // A call whose id is too long is not kept, and neither is what is told about it.
        if LONGEST_ID < id.len() {
            return Known::Unclear;
        }
        let unknown = if self.forgot.contains(session) { Known::Unclear } else { Known::Nothing };
        self.kept.get(&(session.to_owned(), id.to_owned())).map_or(unknown, |kept| kept.known.clone())
    }

    fn take(&mut self, session: &str, id: &str) -> Known {
        let Some(kept) = self.kept.remove(&(session.to_owned(), id.to_owned())) else { return Known::Nothing };
        self.bytes -= kept.bytes;
        kept.known
    }

    fn keep(&mut self, session: &str, id: String, known: Known) {
        if LONGEST_ID < id.len() {
            return;
        }
        let bytes = if let Known::Told(call) = &known { call.bytes() } else { 0 };
        let (known, bytes) = if LONGEST < bytes { (Known::Unclear, 0) } else { (known, bytes) };
        let name = (session.to_owned(), id);
        if !self.order.contains(&name) {
            self.order.push_back(name.clone());
        }
        self.bytes += bytes;
        self.kept.insert(name, Kept { known, bytes });
        while MOST < self.order.len() || MOST_BYTES < self.bytes {
            let Some((session, id)) = self.order.pop_front() else { return };
            self.take(&session, &id);
            if self.forgot.len() < MOST {
                self.forgot.insert(session);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::tool_call::ToolCall, Calls, Known, LONGEST, MOST, MOST_BYTES};

    fn call(id: &str, title: &str) -> ToolCall {
        serde_json::from_value(json!({ "toolCallId": id, "title": title })).unwrap()
    }

    fn title(known: Known) -> Option<String> {
        if let Known::Told(call) = known { call.title } else { None }
    }

    #[test]
    fn a_call_with_an_id_that_was_used_before_is_another_call() {
        let mut calls = Calls::default();
        calls.begin("s", serde_json::from_value(json!({ "toolCallId": "c", "name": "Write" })).unwrap());
        calls.begin("s", call("c", "Delete"));
        let Known::Told(known) = calls.get("s", "c") else { panic!() };
        assert_eq!((known.tool_name(), known.title.as_deref()), (None, Some("Delete")));
        calls.end("s", "c");
        assert_eq!(calls.get("s", "c"), Known::Nothing);
        assert!(calls.order.is_empty() && calls.bytes == 0);
    }

    #[test]
    fn what_a_later_fact_replaces_does_not_count() {
        let mut calls = Calls::default();
        for number in 0..20 {
            calls.update("s", call("c", &format!("{number}{}", "x".repeat(LONGEST / 4))));
        }
        assert!(title(calls.get("s", "c")).is_some_and(|title| title.starts_with("19")));
    }

    #[test]
    fn nothing_is_known_of_a_call_about_which_too_much_was_told() {
        let mut calls = Calls::default();
        calls.begin("s", call("c", "a"));
        calls.update("s", call("c", &"x".repeat(LONGEST)));
        assert_eq!(calls.get("s", "c"), Known::Unclear);
        calls.update("s", call("c", "c"));
        assert_eq!(calls.get("s", "c"), Known::Unclear, "what comes later does not say what was lost");
        assert_eq!(calls.get("s", &"x".repeat(300)), Known::Unclear);
    }

    #[test]
    fn all_calls_are_unclear_if_it_is_not_known_which_one_was_told() {
        let mut calls = Calls::default();
        calls.begin("s", call("c", "a"));
        calls.begin("t", call("c", "b"));
        calls.blur_all(Some("s"));
        assert_eq!((calls.get("s", "c"), title(calls.get("t", "c"))), (Known::Unclear, Some("b".to_owned())));
        calls.blur_all(None);
        assert_eq!((calls.get("t", "c"), calls.bytes), (Known::Unclear, 0));
    }

    /// The attack: a call with a bad place is announced, and so many others that it is forgotten.
    #[test]
    fn the_oldest_calls_are_forgotten_first_and_their_sessions_are_unclear_from_then_on() {
        let mut calls = Calls::default();
        for number in 0..MOST {
            calls.begin("s", call(&number.to_string(), "x"));
        }
        assert_eq!((calls.get("s", "new"), calls.kept.len()), (Known::Nothing, MOST));
        calls.begin("t", call("0", "x"));
        assert_eq!(
            (calls.get("s", "0"), calls.get("s", "new"), calls.kept.len()),
            (Known::Unclear, Known::Unclear, MOST)
        );
        assert_eq!(calls.get("t", "new"), Known::Nothing);
        for number in 0..20 {
            calls.begin("t", call(&number.to_string(), &"x".repeat(LONGEST / 2)));
            assert!(calls.bytes <= MOST_BYTES);
        }
        assert!(title(calls.get("t", "19")).is_some());
    }
}
