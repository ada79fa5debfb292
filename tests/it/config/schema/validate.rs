//! A validator for the part of JSON Schema that `agents.schema.json` uses. An unknown keyword is an error.

use std::{cell::RefCell, collections::HashMap};

use regex::Regex;
use serde_json::Value as Json;

/// Returns the first disagreement of `value` with `schema`, a part of `root`; none if they agree.
pub(super) fn disagreement(root: &Json, schema: &Json, value: &Json) -> Option<String> {
    schema.as_object().unwrap().iter().find_map(|(keyword, rule)| against(root, schema, keyword, rule, value))
}

fn against(root: &Json, schema: &Json, keyword: &str, rule: &Json, value: &Json) -> Option<String> {
    let wrong = |holds: bool| (!holds).then(|| format!("{value} is against `{keyword}`: {rule}"));
    let within = |part: &Json, schema: &Json| disagreement(root, schema, part);
    match keyword {
        "$schema" | "title" | "description" | "default" | "definitions" => None,
        "$ref" => within(value, root.pointer(rule.as_str().unwrap().strip_prefix('#').unwrap()).unwrap()),
        "allOf" => rule.as_array().unwrap().iter().find_map(|schema| within(value, schema)),
        "anyOf" => wrong(rule.as_array().unwrap().iter().any(|schema| within(value, schema).is_none())),
        "type" => wrong(match rule.as_str().unwrap() {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "boolean" => value.is_boolean(),
            "integer" => value.is_i64() || value.is_u64(),
            other => panic!("the type {other}"),
        }),
        "enum" => wrong(rule.as_array().unwrap().contains(value)),
        "pattern" => value.as_str().and_then(|text| wrong(is_match(rule.as_str().unwrap(), text))),
        "minimum" => value.as_i64().and_then(|number| wrong(number >= rule.as_i64().unwrap())),
        "maximum" => value.as_i64().and_then(|number| wrong(number <= rule.as_i64().unwrap())),
        "items" => value.as_array().and_then(|list| list.iter().find_map(|item| within(item, rule))),
        "minItems" => value.as_array().and_then(|list| wrong(list.len() as u64 >= rule.as_u64().unwrap())),
        "minProperties" => value.as_object().and_then(|table| wrong(table.len() as u64 >= rule.as_u64().unwrap())),
        "required" => {
            let has = |key: &Json| value.get(key.as_str().unwrap()).is_some();
            value.as_object().and_then(|_| wrong(rule.as_array().unwrap().iter().all(has)))
        }
        "propertyNames" => {
            value.as_object().and_then(|table| table.keys().find_map(|key| within(&Json::String(key.clone()), rule)))
        }
        "properties" => {
            let of = |(key, schema): (&String, &Json)| value.get(key).and_then(|value| within(value, schema));
            rule.as_object().unwrap().iter().find_map(of)
        }
        "additionalProperties" => {
            let known = |key: &String| schema.get("properties").is_some_and(|known| known.get(key).is_some());
            let mut others = value.as_object().into_iter().flatten().filter(|(key, _)| !known(key));
            others.find_map(|(key, value)| match rule {
                Json::Bool(_) => Some(format!("`{key}` is unknown")),
                schema => within(value, schema),
            })
        }
        other => panic!("the keyword {other}"),
    }
}

fn is_match(pattern: &str, text: &str) -> bool {
    thread_local! {
        /// The patterns that this thread has compiled, because that takes long.
        static COMPILED: RefCell<HashMap<String, Regex>> = RefCell::default();
    }
    COMPILED.with_borrow_mut(|compiled| {
        compiled.entry(pattern.to_owned()).or_insert_with_key(|pattern| Regex::new(pattern).unwrap()).is_match(text)
    })
}
