//! The listing: every public item by its path, found from the root of the library.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fmt,
};

use serde_json::Value;

use super::super::{
    Result,
    workspace::{list, text},
};
use super::signature::{self, function, generics, last_name, type_name};

/// All public items, one line each.
#[derive(Debug)]
pub(crate) struct Listing {
    /// Ordered by path, so that the members of a type follow it.
    lines: BTreeSet<(String, String)>,
    names_in_root: usize,
}

impl Listing {
    /// Reads the JSON of rustdoc. Kinds of items that are not known are listed by kind and path.
    pub(crate) fn read(json: &Value) -> Result<Listing> {
        let root = find(json, &json["root"]).ok_or("the JSON of rustdoc has no root")?;
        let crate_name = text(&root["name"]);
        let mut walk = Walk { json, ..Walk::default() };
        walk.queue.push_back((crate_name.to_owned(), root));
        while let Some((path, item)) = walk.queue.pop_front() {
            walk.item(&path, item);
        }
        let depth = |path: &str| path.matches("::").count();
        let names_in_root = walk.paths.iter().filter(|path| depth(path) == 1).count();
        if names_in_root == 0 {
            return Err("the JSON of rustdoc has no public item in a form that is known here".into());
        }
        Ok(Listing { lines: walk.lines, names_in_root })
    }

    /// Returns the number of items.
    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }

    /// Returns the number of names that stand in the root of the library.
    pub(crate) fn names_in_root(&self) -> usize {
        self.names_in_root
    }
}

impl fmt::Display for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines.iter().try_for_each(|(_, line)| writeln!(f, "{line}"))
    }
}

/// The walk over all public items, modules near the root first.
#[derive(Default)]
struct Walk<'j> {
    json: &'j Value,
    queue: VecDeque<(String, &'j Value)>,
    /// The first path of each item, by its id.
    known: BTreeMap<String, String>,
    /// Every path under which an item can be named.
    paths: BTreeSet<String>,
    lines: BTreeSet<(String, String)>,
}

impl<'j> Walk<'j> {
    fn line(&mut self, path: &str, line: String) {
        self.lines.insert((path.to_owned(), line));
    }

    /// Lists an item of a module, and what is in it.
    fn item(&mut self, path: &str, item: &'j Value) {
        self.paths.insert(path.to_owned());
        let id = item["id"].to_string();
        if let Some(first) = self.known.get(&id) {
            let line = format!("use {path} = {first}");
            if first != path {
                self.line(path, line);
            }
            return;
        }
        self.known.insert(id, path.to_owned());
        let (kind, inner) = kind(item);
        match kind {
            "module" => {
                self.line(path, format!("mod {path}"));
                self.module(path, inner);
            }
            "struct" | "enum" | "union" => self.data(path, kind, inner),
            "trait" => {
                let bounds = signature::bounds(&inner["bounds"]);
                let bounds = if bounds.is_empty() { bounds } else { format!(": {bounds}") };
                self.line(path, format!("trait {path}{}{bounds}", generics(&inner["generics"])));
                self.members(path, &inner["items"]);
            }
            _ => self.member(path, item),
        }
    }

    /// Adds the public items of a module to the queue. A glob stands for the items of the module that it names.
    fn module(&mut self, path: &str, inner: &'j Value) {
        for id in list(&inner["items"]) {
            let Some(item) = find(self.json, id) else { continue };
            let (kind, used) = kind(item);
            let is_public = text(&item["visibility"]) == "public" || kind == "macro";
            match kind {
                _ if !is_public => {}
                "use" | "import" if used["is_glob"] == true => {
                    if let Some(target) = find(self.json, &used["id"]) {
                        self.module(path, self::kind(target).1);
                    }
                }
                "use" | "import" => {
                    let path = format!("{path}::{}", text(&used["name"]));
                    match find(self.json, &used["id"]) {
                        Some(target) => self.queue.push_back((path, target)),
                        // An item of another crate.
                        None => {
                            self.line(&path, format!("use {path} = {}", text(&used["source"])));
                            self.paths.insert(path);
                        }
                    }
                }
                _ => self.queue.push_back((format!("{path}::{}", text(&item["name"])), item)),
            }
        }
    }

    /// Lists a type with its traits, its public fields, its variants and its own functions.
    fn data(&mut self, path: &str, kind: &str, inner: &'j Value) {
        let impls = list(&inner["impls"]).iter().filter_map(|id| find(self.json, id));
        let impls: Vec<_> = impls.map(|item| self::kind(item).1).collect();
        // What the compiler or a blanket of another crate implements is not of this crate's making.
        let own = impls.iter().filter(|found| found["is_synthetic"] != true && found["blanket_impl"].is_null());
        let traits: BTreeSet<String> = own
            .clone()
            .filter(|found| !found["trait"].is_null())
            .map(|found| signature::path(&found["trait"]))
            // Such as `StructuralPartialEq`: marks of the compiler that come with a derived trait.
            .filter(|name| !name.starts_with("Structural"))
            .collect();
        let traits = traits.into_iter().collect::<Vec<_>>().join(", ");
        let traits = if traits.is_empty() { traits } else { format!(": {traits}") };
        self.line(path, format!("{kind} {path}{}{traits}", generics(&inner["generics"])));
        self.fields(path, &inner["kind"]);
        self.members(path, &inner["fields"]);
        self.members(path, &inner["variants"]);
        for found in own.filter(|found| found["trait"].is_null()) {
            self.members(path, &found["items"]);
        }
    }

    /// Lists the fields of a struct or a variant, in whichever form it is.
    fn fields(&mut self, path: &str, form: &'j Value) {
        self.members(path, &form["plain"]["fields"]);
        self.members(path, &form["struct"]["fields"]);
        self.members(path, &form["tuple"]);
    }

    fn members(&mut self, path: &str, ids: &'j Value) {
        for id in list(ids) {
            let Some(item) = find(self.json, id) else { continue };
            // Members of traits and variants are public without saying so; fields and functions say it.
            if matches!(text(&item["visibility"]), "public" | "default") {
                self.member(&format!("{path}::{}", text(&item["name"])), item);
            }
        }
    }

    /// Lists an item that has no paths of its own below it, but for the fields of a variant.
    fn member(&mut self, path: &str, item: &'j Value) {
        let (kind, inner) = kind(item);
        let line = match kind {
            "function" => format!("{}{path}{}", signature::head(inner), function(inner)),
            "struct_field" => format!("field {path}: {}", type_name(inner)),
            "variant" => {
                self.fields(path, &inner["kind"]);
                format!("variant {path}")
            }
            "constant" | "assoc_const" => format!("const {path}: {}", type_name(&inner["type"])),
            "static" => format!("static {path}: {}", type_name(&inner["type"])),
            "type_alias" => format!("type {path}{} = {}", generics(&inner["generics"]), type_name(&inner["type"])),
            "assoc_type" => format!("type {path}"),
            "macro" => format!("macro {path}!"),
            other => format!("{} {path}", last_name(other)),
        };
        self.line(path, line);
    }
}

/// Returns the item with this id, which is a number or a text.
fn find<'j>(json: &'j Value, id: &Value) -> Option<&'j Value> {
    let key = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
    json["index"].get(&key)
}

/// Returns the kind of an item, and what it says about items of that kind.
fn kind(item: &Value) -> (&str, &Value) {
    let inner = item["inner"].as_object().and_then(|inner| inner.iter().next());
    inner.map_or(("item", &Value::Null), |(kind, inner)| (kind, inner))
}
