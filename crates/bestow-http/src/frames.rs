//! The texts of frames that go to many clients. Each is rendered once, and not once for each client.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use axum::extract::ws::Utf8Bytes;
use bestow::request::{Request, Resolution};

/// The number of texts that are kept. Clients that lag further render theirs again.
const KEPT: usize = 32;

/// The frames of the dialects about requests.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    pub(crate) runs: RequestFrames,
    pub(crate) permissions: RequestFrames,
}

/// The frames of one dialect about requests. A text depends on nothing but the request or its end.
#[derive(Debug, Default)]
pub(crate) struct RequestFrames {
    pub(crate) asked: Latest<Request>,
    pub(crate) ended: Latest<Resolution>,
}

/// The texts about the latest values, found by the identity of the value.
#[derive(Debug)]
pub(crate) struct Latest<T>(Mutex<VecDeque<(Arc<T>, Utf8Bytes)>>);

impl<T> Default for Latest<T> {
    fn default() -> Latest<T> {
        Latest(Mutex::default())
    }
}

impl<T> Latest<T> {
    /// Returns the text about a value. `render` makes it for the first client.
    pub(crate) fn text(&self, about: &Arc<T>, render: impl FnOnce() -> String) -> Utf8Bytes {
        // Each change is one insertion or removal, so a panic elsewhere leaves the list whole.
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, text)) = kept.iter().rev().find(|(known, _)| Arc::ptr_eq(known, about)) {
            return text.clone();
        }
        let text = Utf8Bytes::from(render());
        if kept.len() >= KEPT {
            kept.pop_front();
        }
        kept.push_back((Arc::clone(about), text.clone()));
        text
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{KEPT, Latest};

    #[test]
    fn a_text_is_rendered_once_for_each_value_and_only_the_latest_are_kept() {
        let (latest, values): (Latest<usize>, Vec<_>) = (Latest::default(), (0..=KEPT).map(Arc::new).collect());
        for value in &values {
            assert_eq!(latest.text(value, || value.to_string()).as_str(), value.to_string());
        }
        assert_eq!(latest.text(&values[1], || "again".to_owned()).as_str(), "1");
        assert_eq!(latest.text(&values[0], || "again".to_owned()).as_str(), "again");
    }

    #[test]
    fn an_equal_value_of_another_identity_has_its_own_text() {
        let latest = Latest::default();
        let (one, other) = (Arc::new(7), Arc::new(7));
        assert_eq!(latest.text(&one, || "one".to_owned()).as_str(), "one");
        assert_eq!(latest.text(&other, || "other".to_owned()).as_str(), "other");
    }
}
