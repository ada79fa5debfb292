//! The facts that an agent tells about its calls before it asks. They are kept within limits.

use std::collections::{HashMap, VecDeque};

use super::tool_call::ToolCall;

/// The most bytes that are kept of one call, as they were told. Of a call with more, nothing is known.
const LONGEST: usize = 256 << 10;

/// The most bytes that are kept of all calls. The oldest calls are forgotten first.
const MOST_BYTES: usize = 8 << 20;

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
    Told(ToolCall),
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
}

#[derive(Debug)]
struct Kept {
    known: Known,
    bytes: usize,
}

impl Calls {
    /// Notes a new call. An earlier one with this id is another one.
    pub(super) fn begin(&mut self, session: &str, call: ToolCall, bytes: usize) {
        let Some(id) = call.tool_call_id.clone() else { return };
        self.end(session, &id);
        self.keep(session, id, Known::Told(call), bytes);
    }

    /// Notes further facts about a call.
    pub(super) fn update(&mut self, session: &str, update: ToolCall, bytes: usize) {
        let Some(id) = update.tool_call_id.clone() else { return };
        let (before, size) = self.take(session, &id);
        let known = match before {
            Known::Nothing => Known::Told(update),
            Known::Told(call) => Known::Told(call.updated(update)),
            Known::Unclear => Known::Unclear,
        };
        self.keep(session, id, known, size + bytes);
    }

    /// Notes that something was told about a call that is not known.
    pub(super) fn blur(&mut self, session: &str, id: &str) {
        self.take(session, id);
        self.keep(session, id.to_owned(), Known::Unclear, 0);
    }

    /// Notes that something was told about a call of this session, and that it is not known which.
    pub(super) fn blur_all(&mut self, session: &str) {
        for ((of, _), kept) in &mut self.kept {
            if of == session {
                self.bytes -= std::mem::take(&mut kept.bytes);
                kept.known = Known::Unclear;
            }
        }
    }

    /// Forgets a call that is over.
    pub(super) fn end(&mut self, session: &str, id: &str) {
        self.take(session, id);
    }

    /// Returns the knowledge about a call.
    pub(super) fn get(&self, session: &str, id: &str) -> Known {
        // A call whose id is too long is not kept, and neither is what is told about it.
        if LONGEST_ID < id.len() {
            return Known::Unclear;
        }
        self.kept.get(&(session.to_owned(), id.to_owned())).map_or(Known::Nothing, |kept| kept.known.clone())
    }

    fn take(&mut self, session: &str, id: &str) -> (Known, usize) {
        let Some(kept) = self.kept.remove(&(session.to_owned(), id.to_owned())) else { return (Known::Nothing, 0) };
        self.bytes -= kept.bytes;
        (kept.known, kept.bytes)
    }

    fn keep(&mut self, session: &str, id: String, known: Known, bytes: usize) {
        if LONGEST_ID < id.len() {
            return;
        }
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
        calls.begin("s", serde_json::from_value(json!({ "toolCallId": "c", "name": "Write" })).unwrap(), 10);
        calls.begin("s", call("c", "Delete"), 10);
        let Known::Told(known) = calls.get("s", "c") else { panic!() };
        assert_eq!((known.tool_name(), known.title.as_deref()), (None, Some("Delete")));
        calls.end("s", "c");
        assert_eq!(calls.get("s", "c"), Known::Nothing);
    }

    #[test]
    fn nothing_is_known_of_a_call_about_which_too_much_was_told() {
        let mut calls = Calls::default();
        calls.begin("s", call("c", "a"), 10);
        calls.update("s", call("c", "b"), LONGEST);
        assert_eq!(calls.get("s", "c"), Known::Unclear);
        calls.update("s", call("c", "c"), 10);
        assert_eq!(calls.get("s", "c"), Known::Unclear, "what comes later does not say what was lost");
        assert_eq!(calls.get("s", &"x".repeat(300)), Known::Unclear);
    }

    #[test]
    fn all_calls_of_one_session_are_unclear_if_it_is_not_known_which_one_was_told() {
        let mut calls = Calls::default();
        calls.begin("s", call("c", "a"), 10);
        calls.begin("t", call("c", "b"), 10);
        calls.blur_all("s");
        assert_eq!((calls.get("s", "c"), title(calls.get("t", "c"))), (Known::Unclear, Some("b".to_owned())));
        assert_eq!(calls.bytes, 10);
    }

    #[test]
    fn the_oldest_calls_are_forgotten_first_by_number_and_by_length() {
        let mut calls = Calls::default();
        for number in 0..=MOST {
            calls.begin("s", call(&number.to_string(), "x"), 1);
        }
        assert_eq!((calls.get("s", "0"), calls.kept.len()), (Known::Nothing, MOST));
        for number in 0..MOST {
            calls.begin("t", call(&number.to_string(), "x"), LONGEST);
            assert!(calls.bytes <= MOST_BYTES);
        }
        assert!(calls.kept.len() <= MOST_BYTES / LONGEST && title(calls.get("t", "1023")).is_some());
    }
}
