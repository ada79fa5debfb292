use super::{Envelope, Key, Said, names_permission};

fn key(line: &str) -> Option<Key> {
    Envelope::read(line.as_bytes()).unwrap().key()
}

#[test]
fn ids_are_equal_if_they_mean_the_same_number_or_text() {
    let same = |a: &str, b: &str| key(&format!("{{\"id\":{a}}}")) == key(&format!("{{\"id\":{b}}}"));
    for (a, b) in [("5", "5.0"), ("5", "50e-1"), ("\"a\"", "\"\\u0061\""), ("null", " null "), ("0", "-0.0")] {
        assert!(same(a, b), "{a} {b}");
    }
    for (a, b) in [("5", "\"5\""), ("5", "5.5"), ("null", "\"null\""), ("1", "-1"), ("null", "0")] {
        assert!(!same(a, b), "{a} {b}");
    }
    // A reader with doubles cannot tell them apart.
    assert!(same("9007199254740993", "9007199254740992"));
    for odd in ["{}", "[1]", "true"] {
        assert_eq!(key(&format!("{{\"id\":{odd}}}")), None, "{odd}");
    }
}

#[test]
fn a_request_for_permission_is_seen_in_every_spelling() {
    for line in [
        r#"{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{}}"#,
        r#"{"method":"session\/request_permission"}"#,
        r#" {"\u006dethod" : "\u0073ession/request_permissio\u006e"} "#,
        r#"{"method":"x","method":"session/request_permission"}"#,
        r#"{"method":"session/request_permission","method":"x"}"#,
    ] {
        assert!(Envelope::read(line.as_bytes()).unwrap().is_permission, "{line}");
    }
    for line in [
        r#"{"params":{"method":"session/request_permission"},"method":"session/update"}"#,
        r#"{"method":"_session/request_permission"}"#,
        r#"{"method":["session/request_permission"]}"#,
        r#"{"result":"session/request_permission"}"#,
    ] {
        assert!(!Envelope::read(line.as_bytes()).unwrap().is_permission, "{line}");
    }
}

#[test]
fn a_line_that_is_no_message_is_suspect_if_it_names_the_method() {
    for line in [
        r#"[{"method":"session/request_permission"}]"#,
        r#"{"method":"session/request_permission",}"#,
        "{\"method\":\"session\\/request\\u005Fpermission\", x",
        "{}\r{\"method\":\"session/request_permission\"}",
    ] {
        assert!(Envelope::read(line.as_bytes()).is_none(), "{line}");
        assert!(names_permission(line.as_bytes()), "{line}");
    }
    for line in ["", "[]", "log: started", "\\u", "\\", r"session\u002frequest_permissio"] {
        assert!(Envelope::read(line.as_bytes()).is_none() && !names_permission(line.as_bytes()), "{line}");
    }
    // Not even UTF-8.
    assert!(names_permission(b"\xff session/request_permission \xff"));
}

#[test]
fn a_message_may_be_nested_deeply_and_have_halves_of_characters() {
    let deep = format!(r#"{{"id":1,"params":{}{}}}"#, "[".repeat(5000), "]".repeat(5000));
    assert!(Envelope::read(deep.as_bytes()).is_some());
    assert!(Envelope::read(br#"{"method":"x","params":["\ud800"]}"#).is_some());
}

#[test]
fn what_a_long_line_begins_with_is_known_before_its_end() {
    let found = Envelope::read_beginning(br#"{"jsonrpc":"2.0","id":7,"method":"fs/write_text_file","params":{"co"#);
    assert_eq!((found.key(), found.method.as_deref()), (Some(Key::Whole(7)), Some("fs/write_text_file")));
    let found = Envelope::read_beginning(br#"{"params":{"content":"..."#);
    assert!(found.method.is_none() && found.id.is_none());
}

/// The attack: readers that are less strict see a request or an answer where a strict one sees nothing of interest.
#[test]
fn a_line_that_readers_may_understand_differently_is_unclear() {
    for line in [
        r#"{"id":999,"id":7,"result":{}}"#,
        r#"{"id":7,"ID":8,"result":{}}"#,
        r#"{"id":7,"Result":{}}"#,
        r#"{"id":7,"result":{},"error":null,"error":{}}"#,
        r#"{"Method":"session/request_permission"}"#,
        r#"{"method":"x","re\u017fult":{}}"#,
        r#"{"method":null,"id":7,"result":{}}"#,
        r#"{"method":"x","id":7,"result":{}}"#,
        r#"{"id":{},"result":{}}"#,
        r#"[{"id":7,"result":{}}]"#,
        "\u{feff}{\"id\":7,\"result\":{}}",
        "\u{a0}{\"id\":7,\"result\":{}}",
        "{\"id\":7,\"result\":{},}",
        "{\"method\":\"_x\",\"params\":[\r{\"id\":7,\"result\":{}}\r]}",
        "log: started\r{\"id\":7,\"result\":{}}",
        "log: started\u{2028}{\"id\":7,\"result\":{}}",
        "\0{\"id\":7,\"result\":{}}",
        "{\"half\":",
    ] {
        assert!(matches!(Said::read(line.as_bytes()), Said::Unclear(_)), "{line:?}");
    }
    assert!(matches!(Said::read(b"{\"x\":\"\xff\"}"), Said::Unclear(_)));
    for line in ["", "\n", "log: started\n", "heard {\"id\":1}\r\n", "[INFO] started", "[]", "\r"] {
        assert!(matches!(Said::read(line.as_bytes()), Said::Text), "{line:?}");
    }
    for line in
        ["{}", " {\"id\":7,\"result\":{}}\r\n", r#"{"method":"x","params":{"id":1,"ID":2},"extra":{"method":1}}"#]
    {
        assert!(matches!(Said::read(line.as_bytes()), Said::Message(_)), "{line:?}");
    }
}
