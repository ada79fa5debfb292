use std::net::Shutdown;

use proptest::prelude::*;

use super::*;

/// Parses these bytes as the helper does.
fn heard(bytes: &[u8]) -> io::Result<Option<Spec>> {
    let (mut ours, theirs) = UnixStream::pair()?;
    ours.write_all(bytes)?;
    ours.shutdown(Shutdown::Write)?;
    Ok(receive::<Spec>(&theirs)?.map(|received| received.message))
}

fn spec(words: Vec<Vec<u8>>, environment: BTreeMap<String, Vec<u8>>, processes: Option<u64>) -> Spec {
    let limits = Limits { processes, ..Limits::default() };
    Spec {
        words,
        environment,
        cwd: SanitizedPath::root(),
        write: BTreeMap::new(),
        network: false,
        has_namespaces: true,
        mounts: vec![OwnMount::read_only("/work/.git")],
        own: Own::here(),
        limits,
        counted_by: CountedBy::User,
        landlock_at_most: None,
        events: false,
        door: false,
    }
}

/// Encodes a message as it is sent.
fn sent(message: &Spec) -> Vec<u8> {
    let body = serde_json::to_vec(message).unwrap();
    [u32::try_from(body.len()).unwrap().to_be_bytes().as_slice(), &body].concat()
}

proptest! {
    #[test]
    fn what_is_sent_is_heard(
        words in proptest::collection::vec(any::<Vec<u8>>(), 0..5),
        environment in proptest::collection::btree_map(any::<String>(), any::<Vec<u8>>(), 0..4),
        processes in any::<Option<u64>>(),
    ) {
        let message = spec(words, environment, processes);
        let heard = heard(&sent(&message)).unwrap().unwrap();
        prop_assert_eq!(format!("{heard:?}"), format!("{message:?}"));
    }

    #[test]
    fn noise_is_refused_with_a_reason_or_is_the_end(bytes in any::<Vec<u8>>()) {
        match heard(&bytes) {
            Ok(message) => prop_assert!(message.is_none() && bytes.is_empty()),
            Err(why) => prop_assert!(!why.to_string().is_empty()),
        }
        prop_assert_eq!(helper_hears(&bytes).ok(), bytes.is_empty().then_some(false));
    }

    #[test]
    fn what_was_changed_on_its_way_is_refused_or_is_a_message(
        at in any::<proptest::sample::Index>(),
        byte in any::<u8>(),
        cut in any::<proptest::sample::Index>(),
    ) {
        let mut bytes = sent(&spec(vec![b"true".to_vec()], BTreeMap::new(), Some(7)));
        prop_assert!(heard(&bytes[..cut.index(bytes.len())]).map_or(true, |none| none.is_none()));
        let at = at.index(bytes.len());
        bytes[at] = byte;
        // A length that is longer than the message, or beyond the longest message, is an error.
        if let Ok(Some(message)) = heard(&bytes) {
            prop_assert!(heard(&sent(&message)).unwrap().is_some());
        }
    }
}

#[test]
fn a_length_beyond_any_message_is_refused_before_there_is_room_for_it() {
    let why = heard(&[&u32::MAX.to_be_bytes()[..], b"{}"].concat()).unwrap_err();
    assert_eq!(why.kind(), io::ErrorKind::InvalidData);
}
