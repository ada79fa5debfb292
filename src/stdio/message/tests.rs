//! The fields of the messages: the types, the schema that explains mistakes, and `docs/protocol.md` agree.

use std::collections::{BTreeMap, BTreeSet};

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{Error as _, Visitor, value::Error},
    forward_to_deserialize_any,
};
use serde_json::{Map, Value};

use super::*;
use crate::model::{self, Permissions, Timestamp};

type Fields = BTreeSet<String>;

/// A deserializer that returns the field names of a struct as its error.
struct FieldNames;

impl<'de> Deserializer<'de> for FieldNames {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("no struct, or one with a flattened field"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        Err(Error::custom(format!("fields:{}", fields.join(","))))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// Returns the fields of a struct without flattened fields.
fn of<T: for<'de> Deserialize<'de>>() -> Fields {
    let Err(told) = T::deserialize(FieldNames) else { panic!("it has no fields") };
    let told = told.to_string();
    let fields = told.strip_prefix("fields:").unwrap_or_else(|| panic!("{}: {told}", std::any::type_name::<T>()));
    fields.split(',').filter(|field| !field.is_empty()).map(str::to_owned).collect()
}

/// Returns the fields of a value that has all of them.
fn given(value: &impl Serialize) -> Fields {
    serde_json::to_value(value).unwrap().as_object().unwrap().keys().cloned().collect()
}

/// Adds `permission`, which a bot may write in place of `permissions`.
fn or_one(mut fields: Fields) -> Fields {
    assert!(fields.insert("permission".to_owned()));
    fields
}

/// Removes fields that the messages of one role never have.
fn without(mut fields: Fields, never: &[&str]) -> Fields {
    assert!(never.iter().all(|name| fields.remove(*name)));
    fields
}

/// Returns the fields of an answer to a line.
fn answered<T: for<'de> Deserialize<'de>>() -> Fields {
    of::<T>().into_iter().chain(["requestId".to_owned(), "ts".to_owned()]).collect()
}

/// Returns the message types that an enum of messages knows.
fn types<T: for<'de> Deserialize<'de>>() -> BTreeSet<String> {
    let Err(told) = serde_json::from_str::<T>(r#"{"type":"?"}"#) else { panic!("`?` is a type") };
    let told = told.to_string();
    let (_, known) = told.split_once("expected one of ").unwrap();
    known.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn named<const N: usize>(all: [(&str, Fields); N]) -> BTreeMap<String, Fields> {
    let named: BTreeMap<_, _> = all.into_iter().map(|(kind, fields)| (kind.to_owned(), fields)).collect();
    assert_eq!(named.len(), N);
    named
}

fn about() -> About {
    About { permissions: permissions() }
}

fn permissions() -> Permissions {
    Permissions::from_tags(["@network"]).unwrap()
}

fn action() -> DescribedAction {
    DescribedAction {
        operation: Some(model::Operation::Network),
        resource: Some("a".to_owned()),
        tool_name: Some("a".parse().unwrap()),
        tool_input: Some(Map::new()),
        details: Some(Value::Object(Map::new())),
        permissions: Some(permissions()),
    }
}

fn from_agent() -> BTreeMap<String, Fields> {
    let request_id = || Some("r".to_owned());
    let (reason, scope) = ("docs".parse::<model::Reason>().unwrap(), Some(model::Scope::Once));
    let request = RequestPermission { about: about(), reason: reason.clone(), scope, request_id: request_id() };
    let agent_id = "a".parse().unwrap();
    let grant = GrantPermission { agent_id, about: about(), reason: reason.clone(), scope, request_id: request_id() };
    let check = CheckPermission { about: about(), request_id: request_id() };
    let authorize = Authorize {
        action: action(),
        reason: Some(reason),
        tool_call_id: Some("c".parse().unwrap()),
        overrides: true,
        request_id: request_id(),
    };
    named([
        ("hello", of::<Hello>()),
        ("request_permission", or_one(given(&request))),
        ("cancel_request", of::<CancelRequest>()),
        ("grant_permission", or_one(given(&grant))),
        ("revoke_permission", of::<RevokePermission>()),
        ("check_permission", or_one(given(&check))),
        ("use_permission", of::<UsePermission>()),
        ("authorize", given(&authorize)),
        ("permission_state", of::<AskPermissionState>()),
        ("process_start", of::<ProcessStart>()),
        ("process_list", of::<ProcessList>()),
        ("process_read", of::<ProcessRead>()),
        ("process_write", of::<ProcessWrite>()),
        ("process_stop", of::<ProcessStop>()),
        ("process_restart", of::<ProcessRestart>()),
        ("message", of::<MessageFromAgent>()),
        ("bye", of::<Bye>()),
    ])
}

fn from_connector() -> BTreeMap<String, Fields> {
    let (agent_id, reason) = ("a".parse().unwrap(), "docs".parse().unwrap());
    let enable = EnableAction { agent_id, action: action(), reason, request_id: Some("r".to_owned()) };
    named([
        ("hello", of::<Hello>()),
        ("permission_decision", of::<PermissionDecision>()),
        ("revoke_permission", of::<RevokePermission>()),
        ("agree_to_widening", of::<AgreeToWidening>()),
        ("update_policy", of::<UpdatePolicy>()),
        ("list_policies", of::<ListPolicies>()),
        ("enable_action", given(&enable)),
        ("declare_tools", of::<DeclareTools>()),
        ("begin_run", of::<EnterRun>()),
        ("join_run", of::<EnterRun>()),
        ("end_run", of::<EndRun>()),
        ("message", of::<MessageFromUser>()),
        ("bye", of::<Bye>()),
    ])
}

fn holdings() -> Holdings {
    let tag = "@network".parse::<model::Permission>().unwrap();
    Holdings { permissions: vec![tag.clone()], once: vec![tag.clone()], grant_only: vec![tag] }
}

fn to_agent() -> BTreeMap<String, Fields> {
    let agent_id: model::AgentId = "a".parse().unwrap();
    let hello = AgentHello {
        protocol: PROTOCOL,
        role: Role::Agent,
        agent_id: agent_id.clone(),
        agent_name: Some("A".parse().unwrap()),
        agent_kind: model::Kind::Subagent,
        working_dir: "/".to_owned(),
        holdings: holdings(),
        ts: Timestamp::from_millis(0),
    };
    let exits = [model::ProcessExit::Exited { code: 0 }, model::ProcessExit::Signalled { signal: 15 }];
    let exits = exits
        .map(|exit| given(&ProcessExited { process_id: "p0".parse().unwrap(), exit, ts: Timestamp::from_millis(0) }));
    let exited = exits.into_iter().flatten().collect();
    let updated = PolicyUpdated { agent_id, holdings: holdings(), ts: Timestamp::from_millis(0) };
    named([
        ("hello", given(&hello)),
        ("request_accepted", answered::<RequestAccepted>()),
        ("permission_result", of::<PermissionResult>()),
        ("grant_result", answered::<GrantResult>()),
        ("revoke_result", answered::<RevokeResult>()),
        ("check_result", answered::<CheckResult>()),
        ("use_result", answered::<UseResult>()),
        ("authorize_result", answered::<AuthorizeResult>()),
        ("permission_state_result", answered::<PermissionStateResult>()),
        ("process_started", answered::<ProcessStarted>()),
        ("process_list_result", answered::<ProcessListResult>()),
        ("process_output", answered::<ProcessOutput>()),
        ("process_written", answered::<ProcessWritten>()),
        ("process_stopping", answered::<ProcessStopping>()),
        ("process_exited", exited),
        ("policy_updated", given(&updated)),
        ("notice", without(of::<Notice>(), &["change"])),
        ("message", of::<MessageToAgent>()),
        ("error", of::<Fault>()),
        ("bye", of::<Bye>()),
    ])
}

fn to_connector() -> BTreeMap<String, Fields> {
    named([
        ("hello", of::<ConnectorHello>()),
        ("request_permission", of::<PermissionRequest>()),
        ("permission_resolved", of::<PermissionResolved>()),
        ("revoke_result", answered::<RevokeResult>()),
        ("policy_updated", of::<GuardUpdated>()),
        ("policies", answered::<PoliciesOfRun>()),
        ("policy_for_all", of::<GuardForAll>()),
        ("tools_declared", answered::<ToolsDeclared>()),
        ("run_changed", answered::<RunChanged>()),
        ("action_enabled", answered::<ActionEnabled>()),
        // A notice for the user is about the policy file.
        ("notice", without(of::<Notice>(), &["agentId", "grantId", "permission", "permissionRequestId"])),
        ("message", of::<MessageToUser>()),
        ("error", of::<Fault>()),
        ("bye", of::<Bye>()),
    ])
}

#[test]
fn every_message_of_a_bot_has_a_schema_with_exactly_its_fields() {
    let check = |role, said: &BTreeMap<String, Fields>, types: BTreeSet<String>, accepted: &[&str]| {
        assert_eq!(said.keys().cloned().collect::<BTreeSet<_>>(), types);
        assert_eq!(accepted.iter().map(|&kind| kind.to_owned()).collect::<BTreeSet<_>>(), types);
        for (kind, fields) in said {
            let shape = schema::of(role, kind).unwrap_or_else(|| panic!("{kind} has no schema"));
            let mut described: Fields = shape.names().map(str::to_owned).collect();
            described.remove("type");
            // `bye` is not answered. Its schema accepts the field all the same.
            if kind == "bye" {
                described.remove("requestId");
            }
            assert_eq!(described, *fields, "{kind}");
        }
    };
    check(Role::Agent, &from_agent(), types::<FromAgent>(), FromAgent::TYPES);
    check(Role::Connector, &from_connector(), types::<FromConnector>(), FromConnector::TYPES);
}

const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/protocol.md"));

fn section(heading: &str) -> &'static str {
    let (_, rest) = PAGE.split_once(&format!("\n## {heading}\n")).unwrap();
    rest.split("\n## ").next().unwrap()
}

/// Returns the fields of a message that a section describes: in braces behind the type, or in a table below it.
fn documented(heading: &str, kind: &str) -> Option<Fields> {
    let text = section(heading);
    if let Some((_, rest)) = text.split_once(&format!("`{kind}` `{{")) {
        let (fields, _) = rest.split_once("}`").unwrap();
        // The fields of an element of a list are not those of the message.
        let (mut depth, mut own) = (0, String::new());
        for c in fields.chars() {
            depth -= i32::from(c == ']');
            own.extend(Some(c).filter(|c| depth == 0 && *c != ']'));
            depth += i32::from(c == '[');
        }
        let names = own.split([',', '|']).map(|name| name.trim().trim_end_matches(['[', ':', '?', ' ']));
        return Some(names.filter(|name| !name.is_empty()).map(str::to_owned).collect());
    }
    let (_, entry) = text.split_once(&format!("\n`{kind}`: "))?;
    let table = entry.split_once("\n| field |")?.1.split("\n\n").next()?;
    let first = table.lines().skip(2).map(|row| row.split('|').nth(1).unwrap());
    let names = first.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    Some(names.map(|name| name.trim_end_matches('?').to_owned()).collect())
}

#[test]
fn the_page_describes_every_message_with_exactly_its_fields() {
    let check = |all: BTreeMap<String, Fields>, types: BTreeSet<String>, headings: &[&str]| {
        assert_eq!(all.keys().cloned().collect::<BTreeSet<_>>(), types);
        let described = |kind: &String| headings.iter().find_map(|heading| documented(heading, kind));
        let wrong = all.iter().filter_map(|(kind, fields)| {
            let described = described(kind);
            (described.as_ref() != Some(fields)).then(|| format!("{kind}: {fields:?}, and the page has {described:?}"))
        });
        assert_eq!(wrong.collect::<Vec<_>>(), [""; 0], "{headings:?}");
    };
    let (says, hears) = ("Agent: what the bot says", "Agent: what the bot hears");
    check(from_agent(), types::<FromAgent>(), &[says]);
    check(to_agent(), types::<ToAgent>(), &[hears, "Errors"]);
    // A message that is the same as for an agent is described there.
    check(from_connector(), types::<FromConnector>(), &["Connector: what the bot says", says]);
    check(to_connector(), types::<ToConnector>(), &["Connector: what the bot hears", hears, "Errors"]);
}
