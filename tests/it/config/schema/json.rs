//! `agents.schema.json`, made from the table.

use serde_json::{Map, Value as Json, json};

use super::table::{Form, Key, TABLES, Table, Value};

/// Returns the whole schema. Editors know this draft.
pub(super) fn schema() -> Json {
    let (file, others) = TABLES.split_first().unwrap();
    let mut schema = table(file);
    schema.insert("$schema".to_owned(), json!("http://json-schema.org/draft-07/schema#"));
    schema.insert("title".to_owned(), json!("agents.toml of bestow"));
    let definitions: Map<_, _> =
        others.iter().map(|other| (other.name.to_owned(), Json::Object(table(other)))).collect();
    schema.insert("definitions".to_owned(), Json::Object(definitions));
    Json::Object(schema)
}

fn table(table: &Table) -> Map<String, Json> {
    let properties: Map<_, _> = table.keys.iter().map(|key| (key.name.to_owned(), property(key))).collect();
    let required: Vec<_> = table.keys.iter().filter(|key| key.required).map(|key| key.name).collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("description".to_owned(), json!(table.about));
    schema.insert("properties".to_owned(), Json::Object(properties));
    schema.insert("additionalProperties".to_owned(), json!(false));
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema
}

fn property(key: &Key) -> Json {
    let mut schema = value(key.value);
    schema.insert("description".to_owned(), json!(key.about));
    if let Some(default) = key.default {
        schema.insert("default".to_owned(), serde_json::from_str(default).unwrap());
    }
    Json::Object(schema)
}

fn value(value: Value) -> Map<String, Json> {
    let list = |items: Json| json!({ "type": "array", "items": items });
    let one_or_more = |item: Json| json!({ "anyOf": [item, { "type": "array", "items": item, "minItems": 1 }] });
    let word = |words: &[&str]| json!({ "type": "string", "enum": words });
    // An editor shows the description beside it, which a bare reference would hide.
    let reference = |name: &str| json!({ "$ref": format!("#/definitions/{name}") });
    let schema = match value {
        Value::Word(words) => word(words),
        Value::Words(words) => one_or_more(word(words)),
        Value::Text(form) => text(form),
        Value::Texts(form) => list(text(form)),
        Value::SomeTexts(form) => json!({ "type": "array", "items": text(form), "minItems": 1 }),
        Value::OneOrMore(form) => one_or_more(text(form)),
        Value::Flag => json!({ "type": "boolean" }),
        Value::Number(least, most) => json!({ "type": "integer", "minimum": least, "maximum": most }),
        Value::Limit(form) => json!({ "anyOf": [text(form), { "type": "integer", "minimum": 1 }] }),
        Value::Table(name) => json!({ "allOf": [reference(name)] }),
        Value::Tables(name) => list(reference(name)),
        Value::Named(form, name) => json!({
            "type": "object",
            "minProperties": 1,
            "propertyNames": text(form),
            "additionalProperties": reference(name),
        }),
        Value::Any => json!({}),
    };
    schema.as_object().unwrap().clone()
}

fn text(form: Form) -> Json {
    match form.pattern() {
        Some(pattern) => json!({ "type": "string", "pattern": pattern }),
        None => json!({ "type": "string" }),
    }
}
