//! Signatures and types, written as in Rust, with the last name of each path only.
//!
//! Fields of the JSON have had several names; a form that is not known here is written as `_`.

#![allow(clippy::wildcard_enum_match_arm, reason = "a value of JSON is null or of the form that is read")]

use serde_json::Value;

use super::super::workspace::{list, text};

/// Returns the words before the name of a function: `async fn `.
pub(crate) fn head(function: &Value) -> String {
    let header = &function["header"];
    let words = [("is_const", "const "), ("is_async", "async "), ("is_unsafe", "unsafe ")];
    let words: String = words.into_iter().filter(|(key, _)| header[*key] == true).map(|(_, word)| word).collect();
    words + "fn "
}

/// Returns the rest of a function: `<T>(&self, name: T) -> bool`.
pub(crate) fn function(function: &Value) -> String {
    let sig = if function["sig"].is_null() { &function["decl"] } else { &function["sig"] };
    let inputs = list(&sig["inputs"]).iter().map(|input| {
        let (name, kind) = (text(&input[0]), &input[1]);
        match (name, type_name(kind).as_str()) {
            ("self", "Self") => "self".to_owned(),
            ("self", kind) if kind.starts_with('&') && kind.ends_with("Self") => kind.replace("Self", "self"),
            // Names of arguments are no promise, and patterns have none.
            (_, kind) if name.is_empty() || name == "_" => kind.to_owned(),
            (_, kind) => format!("{name}: {kind}"),
        }
    });
    let inputs = inputs.collect::<Vec<_>>().join(", ");
    let output = if sig["output"].is_null() { String::new() } else { format!(" -> {}", type_name(&sig["output"])) };
    format!("{}({inputs}){output}{}", generics(&function["generics"]), bounds_of(&function["generics"]))
}

/// Returns the parameters that a person has to know: `<'a, T: Clone>`.
pub(crate) fn generics(generics: &Value) -> String {
    let params = list(&generics["params"]).iter().filter_map(|param| {
        let kind = &param["kind"];
        // `impl Trait` is written where it stands.
        if kind["type"]["is_synthetic"] == true || kind["type"]["synthetic"] == true {
            return None;
        }
        let (name, bounds) = (text(&param["name"]), bounds(&kind["type"]["bounds"]));
        Some(match (kind["const"].is_null(), bounds.is_empty()) {
            (false, _) => format!("const {name}: {}", type_name(&kind["const"]["type"])),
            (true, true) => name.to_owned(),
            (true, false) => format!("{name}: {bounds}"),
        })
    });
    let params = params.collect::<Vec<_>>().join(", ");
    if params.is_empty() { params } else { format!("<{params}>") }
}

/// Returns the `where` part of generics.
fn bounds_of(generics: &Value) -> String {
    let bounds = list(&generics["where_predicates"]).iter().filter_map(|predicate| {
        let predicate = &predicate["bound_predicate"];
        let bounds = bounds(&predicate["bounds"]);
        (!bounds.is_empty()).then(|| format!("{}: {bounds}", type_name(&predicate["type"])))
    });
    let bounds = bounds.collect::<Vec<_>>().join(", ");
    if bounds.is_empty() { bounds } else { format!(" where {bounds}") }
}

/// Returns bounds with `+` between them.
pub(crate) fn bounds(bounds: &Value) -> String {
    let bounds = list(bounds).iter().map(|bound| match &bound["trait_bound"] {
        Value::Null => bound["outlives"].as_str().map_or_else(|| "_".to_owned(), str::to_owned),
        found => {
            let mark = if text(&found["modifier"]) == "maybe" { "?" } else { "" };
            format!("{mark}{}", path(&found["trait"]))
        }
    });
    bounds.collect::<Vec<_>>().join(" + ")
}

/// Returns a path by its last name, with its arguments: `Result<(), Error>`.
pub(crate) fn path(path: &Value) -> String {
    let name = path["path"].as_str().or(path["name"].as_str()).unwrap_or("_");
    format!("{}{}", last_name(name), arguments(&path["args"]))
}

/// Returns the part of a path after its last `::`.
pub(crate) fn last_name(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path)
}

fn arguments(args: &Value) -> String {
    if let Some(called) = args.get("parenthesized") {
        let inputs = list(&called["inputs"]).iter().map(type_name).collect::<Vec<_>>().join(", ");
        let output =
            if called["output"].is_null() { String::new() } else { format!(" -> {}", type_name(&called["output"])) };
        return format!("({inputs}){output}");
    }
    let args = &args["angle_bracketed"];
    let of_types = list(&args["args"]).iter().map(|arg| {
        let lifetime = arg["lifetime"].as_str().map(str::to_owned);
        let constant = arg["const"]["expr"].as_str().map(str::to_owned);
        lifetime
            .or(constant)
            .unwrap_or_else(|| if arg["type"].is_null() { "_".to_owned() } else { type_name(&arg["type"]) })
    });
    let constraints = if args["constraints"].is_null() { &args["bindings"] } else { &args["constraints"] };
    let of_names = list(constraints).iter().map(|constraint| {
        let binding = &constraint["binding"];
        let name = text(&constraint["name"]);
        match &binding["equality"]["type"] {
            Value::Null => format!("{name}: {}", bounds(&binding["constraint"])),
            kind => format!("{name} = {}", type_name(kind)),
        }
    });
    let all = of_types.chain(of_names).collect::<Vec<_>>().join(", ");
    if all.is_empty() { all } else { format!("<{all}>") }
}

/// Returns a type as it is written in Rust.
pub(crate) fn type_name(value: &Value) -> String {
    let Some((form, inner)) = value.as_object().and_then(|object| object.iter().next()) else {
        return "_".to_owned();
    };
    let all = |types: &Value| list(types).iter().map(type_name).collect::<Vec<_>>().join(", ");
    match form.as_str() {
        "primitive" if inner == "never" => "!".to_owned(),
        "primitive" | "generic" => text(inner).to_owned(),
        "resolved_path" => path(inner),
        "tuple" if list(inner).len() == 1 => format!("({},)", all(inner)),
        "tuple" => format!("({})", all(inner)),
        "slice" => format!("[{}]", type_name(inner)),
        "array" => format!("[{}; {}]", type_name(&inner["type"]), text(&inner["len"])),
        "impl_trait" => format!("impl {}", bounds(inner)),
        "dyn_trait" => {
            let traits = list(&inner["traits"]).iter().map(|found| path(&found["trait"]));
            let lifetime = inner["lifetime"].as_str().map(str::to_owned);
            format!("dyn {}", traits.chain(lifetime).collect::<Vec<_>>().join(" + "))
        }
        "borrowed_ref" => {
            let lifetime = inner["lifetime"].as_str().map(|name| format!("{name} ")).unwrap_or_default();
            let mutable = if inner["is_mutable"] == true || inner["mutable"] == true { "mut " } else { "" };
            format!("&{lifetime}{mutable}{}", type_name(&inner["type"]))
        }
        "raw_pointer" => {
            let mutable = if inner["is_mutable"] == true || inner["mutable"] == true { "mut" } else { "const" };
            format!("*{mutable} {}", type_name(&inner["type"]))
        }
        "qualified_path" => {
            let (of, name) = (type_name(&inner["self_type"]), text(&inner["name"]));
            // A name of `Self` or of a parameter needs no trait.
            match &inner["trait"] {
                found if !inner["self_type"]["generic"].is_null() || text(&found["path"]).is_empty() => {
                    format!("{of}::{name}")
                }
                found => format!("<{of} as {}>::{name}", path(found)),
            }
        }
        "function_pointer" => {
            let sig = if inner["sig"].is_null() { &inner["decl"] } else { &inner["sig"] };
            let inputs = list(&sig["inputs"]).iter().map(|input| type_name(&input[1])).collect::<Vec<_>>().join(", ");
            let output =
                if sig["output"].is_null() { String::new() } else { format!(" -> {}", type_name(&sig["output"])) };
            format!("fn({inputs}){output}")
        }
        _ => "_".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{function, type_name};

    #[test]
    fn a_function_is_written_as_in_rust() {
        let args = json!({ "angle_bracketed": { "args": [{ "type": { "primitive": "u8" } }], "constraints": [] } });
        let into = json!({ "path": "std::convert::Into", "args": args });
        let sig = json!({
            "inputs": [
                ["self", { "borrowed_ref": { "lifetime": null, "is_mutable": true, "type": { "generic": "Self" } } }],
                ["name", { "impl_trait": [{ "trait_bound": { "modifier": "none", "trait": into } }] }],
            ],
            "output": { "tuple": [] },
        });
        assert_eq!(function(&json!({ "sig": sig })), "(&mut self, name: impl Into<u8>) -> ()");
    }

    #[test]
    fn a_form_of_a_later_compiler_is_no_mistake() {
        assert_eq!(type_name(&json!({ "slice": { "of_a_new_kind": 1 } })), "[_]");
        assert_eq!(type_name(&json!("infer")), "_");
    }
}
