use serde_json::{Value, json, value::RawValue};

use super::{Asked, Choice, Subject};

fn read(params: &Value) -> Result<Asked, String> {
    let raw = RawValue::from_string(params.to_string()).unwrap();
    Asked::read(Some(&raw))
}

fn offering(options: &[(&str, &str)]) -> Asked {
    let options: Vec<_> =
        options.iter().map(|(id, kind)| json!({ "optionId": id, "name": "Yes, yes", "kind": kind })).collect();
    read(&json!({ "sessionId": "s", "toolCall": { "toolCallId": "c" }, "options": options })).unwrap()
}

fn selected(id: &str) -> Choice {
    Choice::Selected(id.to_owned())
}

#[test]
fn an_option_is_chosen_by_its_kind_and_never_by_its_place_or_name() {
    let all = ["allow_always", "reject_always", "allow_once", "reject_once"];
    for turn in 0..4 {
        let options: Vec<_> = (0..4).map(|place| (all[(place + turn) % 4], all[(place + turn) % 4])).collect();
        let asked = offering(&options);
        assert_eq!(asked.allowing(false), Some(selected("allow_once")));
        assert_eq!(asked.refusing(), selected("reject_once"));
    }
}

#[test]
fn nothing_lasting_and_nothing_unknown_is_chosen() {
    for kinds in [&[][..], &["allow_always", "reject_always"], &["allow", "reject"], &["ALLOW_ONCE", "bypass"]] {
        let options: Vec<_> = kinds.iter().map(|kind| (*kind, *kind)).collect();
        let asked = offering(&options);
        assert_eq!((asked.allowing(false), asked.refusing()), (None, Choice::Cancelled), "{kinds:?}");
    }
}

#[test]
fn a_lasting_option_is_chosen_only_if_it_may_be_and_nothing_narrower_is_offered() {
    let lasting = offering(&[("no", "reject_once"), ("always", "allow_always")]);
    assert_eq!((lasting.allowing(false), lasting.allowing(true)), (None, Some(selected("always"))));
    let both = offering(&[("always", "allow_always"), ("once", "allow_once")]);
    assert_eq!(both.allowing(true), Some(selected("once")));
    for several in [["allow_once", "allow_once", "allow_always"], ["allow_always", "allow_always", "reject_once"]] {
        let options: Vec<_> = ["a", "b", "c"].into_iter().zip(several).collect();
        assert_eq!(offering(&options).allowing(true), None, "{several:?}");
    }
}

#[test]
fn two_ways_to_allow_once_are_a_question_that_only_a_person_can_answer() {
    let asked = offering(&[("red", "allow_once"), ("blue", "allow_once"), ("none", "reject_once")]);
    assert_eq!((asked.allowing(false), asked.refusing()), (None, selected("none")));
}

#[test]
fn a_request_that_cannot_be_understood_is_an_error_that_names_the_place() {
    let options = json!([{ "optionId": "a", "name": "A", "kind": "allow_once" }]);
    let call = json!({ "toolCallId": "c" });
    for (params, named) in [
        (json!([]), "params"),
        (json!({}), "sessionId"),
        (json!({ "sessionId": 1, "toolCall": call, "options": options }), "params"),
        (json!({ "sessionId": "s", "options": options }), "toolCall"),
        (json!({ "sessionId": "s", "toolCall": call }), "options"),
        (json!({ "sessionId": "s", "toolCall": call, "options": "all" }), "params"),
        (json!({ "sessionId": "s", "toolCall": call, "options": [{ "optionId": "a" }] }), "kind"),
        (json!({ "sessionId": "s", "toolCall": call, "subject": {}, "options": options }), "subject"),
        (json!({ "sessionId": "s", "subject": {}, "options": options }), "type"),
        (json!({ "sessionId": "s", "subject": { "type": "command", "cwd": "/" }, "options": options }), "command"),
        (json!({ "sessionId": "s", "toolCall": { "locations": [{}] }, "options": options }), "path"),
        (
            json!({ "sessionId": "s", "toolCall": call, "options": [
                { "optionId": "a", "kind": "reject_once" }, { "optionId": "a", "kind": "allow_once" },
            ] }),
            "optionId",
        ),
    ] {
        let why = read(&params).unwrap_err();
        assert!(why.contains(named), "{params}: {why}");
    }
    assert!(Asked::read(None).is_err());
}

#[test]
fn a_key_that_occurs_twice_is_an_error_at_any_depth() {
    for params in [
        r#"{"sessionId":"s","sessionId":"t","toolCall":{},"options":[]}"#,
        r#"{"sessionId":"s","toolCall":{"rawInput":{"command":"ls","command":"rm -rf /"}},"options":[]}"#,
    ] {
        let raw = RawValue::from_string(params.to_owned()).unwrap();
        assert!(Asked::read(Some(&raw)).unwrap_err().contains("twice"), "{params}");
    }
}

#[test]
fn the_draft_of_version_2_is_read_too() {
    let options = json!([{ "optionId": "a", "name": "A", "kind": "allow_once" }]);
    let of = |subject: Value| {
        read(&json!({ "sessionId": "s", "title": "Run it?", "subject": subject, "options": options })).unwrap().subject
    };
    let command = json!({ "type": "command", "command": "cargo test", "cwd": "/w", "terminalId": null });
    assert_eq!(of(command), Subject::Command { command: "cargo test".into(), cwd: "/w".into() });
    let Subject::Call(call) = of(json!({ "type": "tool_call", "toolCall": { "toolCallId": "c", "name": "Read" } }))
    else {
        panic!("a call")
    };
    assert_eq!((call.tool_name(), call.title.as_deref()), (Some("Read"), Some("Run it?")));
    assert_eq!(of(json!({ "type": "_mine", "x": 1 })), Subject::Unknown("_mine".into()));
    let Subject::Call(call) = of(Value::Null) else { panic!("a call") };
    assert_eq!(call.title.as_deref(), Some("Run it?"));
}
