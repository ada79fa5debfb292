//! A test of the architecture: the files of a package do not import each other in a circle.
//!
//! A file imports another one if it names an item of it. A name that a `mod.rs` only passes on counts for the file that
//! defines the item. So a folder may have a face, and its files may use what the face shows of their neighbours.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use crate::support::ROOT;

/// The path of a module, from the root of its package.
type Module = Vec<String>;

/// An item of another module that a module passes on.
struct PassedOn {
    /// The name under which the item is passed on; `*` for all items.
    shown: String,
    from: Module,
    name: String,
}

/// The `use` declarations of a file, and the rest of its code.
struct Code {
    /// The paths of names that are passed on.
    public: Vec<String>,
    /// The paths of names that only the file uses.
    private: Vec<String>,
    rest: String,
}

/// The files of a package, and the names that each passes on.
struct Package {
    files: BTreeMap<Module, Code>,
    passed_on: BTreeMap<Module, Vec<PassedOn>>,
}

impl Package {
    fn new(texts: BTreeMap<Module, String>) -> Package {
        let files = texts.into_iter().map(|(module, text)| (module, Code::of(&text))).collect();
        let mut package = Package { files, passed_on: BTreeMap::new() };
        let passed_on = package.files.iter().map(|(module, code)| (module.clone(), package.shown(module, code)));
        package.passed_on = passed_on.collect();
        package
    }

    fn shown(&self, module: &Module, code: &Code) -> Vec<PassedOn> {
        let passed_on = code.public.iter().filter_map(|path| {
            let (path, alias) = path.split_once(" as ").map_or((path.as_str(), None), |(path, as_)| (path, Some(as_)));
            let (from, name) = self.find(module, path)?;
            let name = name?;
            Some(PassedOn { shown: alias.unwrap_or(&name).to_owned(), from, name })
        });
        passed_on.collect()
    }

    /// Returns the module that `path` leads to from `module`, and the name of the item in it.
    fn find(&self, module: &Module, path: &str) -> Option<(Module, Option<String>)> {
        let mut names = path.split("::").peekable();
        let mut place = match *names.peek()? {
            "crate" => {
                names.next();
                Module::new()
            }
            "super" | "self" => {
                let mut place = module.clone();
                while let Some(name) = names.next_if(|name| matches!(*name, "super" | "self")) {
                    if name == "super" {
                        place.pop();
                    }
                }
                place
            }
            first if self.files.contains_key(&child(module, first)) => module.clone(),
            _ => return None,
        };
        while let Some(name) = names.next_if(|name| self.files.contains_key(&child(&place, name))) {
            place = child(&place, name);
        }
        Some((place, names.next().filter(|name| *name != "self").map(str::to_owned)))
    }

    /// Returns the module that defines an item that `place` shows, or all that may define it.
    fn defining(&self, place: Module, name: Option<String>) -> Vec<Module> {
        let Some(name) = name else { return vec![place] };
        let passed_on = &self.passed_on[&place];
        if let Some(item) = passed_on.iter().find(|item| item.shown == name) {
            return self.defining(item.from.clone(), Some(item.name.clone()));
        }
        let all = passed_on.iter().filter(|item| item.shown == "*");
        let from_others = all.flat_map(|item| self.defining(item.from.clone(), Some(name.clone())));
        from_others.chain([place.clone()]).collect()
    }

    /// Returns the modules whose items `module` names.
    fn imports(&self, module: &Module, code: &Code) -> BTreeSet<Module> {
        let used = code.private.iter().filter_map(|path| path.split(" as ").next());
        let found = used.chain(inline_paths(&code.rest)).filter_map(|path| self.find(module, path));
        found.flat_map(|(place, name)| self.defining(place, name)).filter(|place| place != module).collect()
    }

    /// Returns the groups of modules that import each other in a circle.
    fn circles(&self) -> BTreeSet<Vec<Module>> {
        let direct = self.files.iter().map(|(module, code)| (module.clone(), self.imports(module, code)));
        let direct: BTreeMap<_, _> = direct.collect();
        let reached: BTreeMap<_, _> = direct.keys().map(|module| (module, reach(&direct, module))).collect();
        let circle = |module: &Module| -> Vec<Module> {
            reached[module].iter().filter(|other| reached[*other].contains(module)).cloned().collect()
        };
        direct.keys().map(circle).filter(|circle| !circle.is_empty()).collect()
    }
}

/// Returns the modules that `start` imports, directly or through others.
fn reach(direct: &BTreeMap<Module, BTreeSet<Module>>, start: &Module) -> BTreeSet<Module> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![start]);
    while let Some(module) = open.pop() {
        open.extend(direct[module].iter().filter(|next| seen.insert((*next).clone())));
    }
    seen
}

fn child(module: &Module, name: &str) -> Module {
    [module.as_slice(), &[name.to_owned()]].concat()
}

impl Code {
    /// Reads the code without comments, without the tests at its end, and without the modules in `pub(in module)`.
    fn of(text: &str) -> Code {
        let text = text.split_once("\nmod tests {").map_or(text, |(code, _)| code);
        let lines: Vec<_> = text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
        let mut code = Code { public: Vec::new(), private: Vec::new(), rest: String::new() };
        let text = without_scopes(&lines.join("\n"));
        let mut unread = text.as_str();
        while let Some((before, after)) = unread.split_once("use ") {
            let line = before.rsplit('\n').next().unwrap_or_default().trim();
            let is_public = matches!(line, "pub" | "pub(crate)" | "pub(super)");
            let tree = after.split_once(';').filter(|(tree, _)| (is_public || line.is_empty()) && is_tree(tree));
            code.rest += before;
            unread = after;
            if let Some((tree, after)) = tree {
                let list = if is_public { &mut code.public } else { &mut code.private };
                list.extend(paths(tree));
                unread = after;
            }
        }
        code.rest += unread;
        code
    }
}

/// Returns true if `text` has only the characters of a `use` tree. A text for people may have the word too.
fn is_tree(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || c.is_whitespace() || "_:{},*".contains(c))
}

/// Returns `text` with `pub` in place of each `pub(in module)`, which imports nothing.
fn without_scopes(text: &str) -> String {
    let mut parts = text.split("pub(in ");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |code, part| code + "pub" + part.split_once(')').map_or(part, |(_, rest)| rest))
}

/// Returns the paths of more than one name in the text of functions and types.
fn inline_paths(text: &str) -> impl Iterator<Item = &str> {
    let pieces = text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':');
    pieces.filter(|piece| piece.contains("::")).map(|piece| piece.trim_matches(':'))
}

/// Returns the paths of a `use` tree, one for each name.
fn paths(tree: &str) -> Vec<String> {
    let Some((start, list)) = tree.split_once('{') else {
        return vec![tree.split_whitespace().collect::<Vec<_>>().join(" ")];
    };
    let list = list.rsplit_once('}').map_or(list, |(list, _)| list);
    let (mut depth, mut parts) = (0, vec![String::new()]);
    for c in list.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut().unwrap().push(c);
    }
    let parts = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty());
    parts.flat_map(|part| paths(&format!("{}{part}", start.trim()))).collect()
}

/// Reads the files below `directory`, except those with tests.
fn read_files(directory: &Path, place: &Module, texts: &mut BTreeMap<Module, String>) {
    for path in fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
        let name = path.file_stem().unwrap().to_str().unwrap();
        if name == "tests" {
            continue;
        }
        if path.is_dir() {
            read_files(&path, &child(place, name), texts);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let module = if matches!(name, "mod" | "lib") { place.clone() } else { child(place, name) };
            texts.insert(module, fs::read_to_string(&path).unwrap());
        }
    }
}

fn package(source: &str) -> Package {
    let mut texts = BTreeMap::new();
    read_files(&Path::new(ROOT).join(source), &Module::new(), &mut texts);
    Package::new(texts)
}

/// The folders and files of the classifier, from the one that imports none of the others to the one that may import
/// all of them.
const LAYERS_OF_THE_CLASSIFIER: [&str; 5] = ["word", "syntax", "interpreter", "programs", "evaluator"];

#[test]
fn the_layers_of_the_classifier_import_lower_layers_only() {
    let package = package("crates/bestow-command/src");
    let layer = |module: &Module| {
        LAYERS_OF_THE_CLASSIFIER.iter().position(|layer| Some(*layer) == module.first().map(String::as_str))
    };
    let mut checked = 0;
    for (module, code) in &package.files {
        let Some(own) = layer(module) else { continue };
        for imported in package.imports(module, code) {
            checked += 1;
            assert!(
                layer(&imported).is_none_or(|other| other <= own),
                "{} imports {}",
                module.join("::"),
                imported.join("::")
            );
        }
    }
    assert!(checked > 100, "the layers import something: {checked}");
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    for source in [
        "src",
        "crates/bestow-cli/src",
        "crates/bestow-command/src",
        "crates/bestow-hosts/src",
        "crates/bestow-http/src",
        "crates/bestow-mcp/src",
    ] {
        let package = package(source);
        let names = |circle: Vec<Module>| circle.iter().map(|file| file.join("::")).collect::<Vec<_>>().join(", ");
        let circles: Vec<_> = package.circles().into_iter().map(names).collect();
        assert!(circles.is_empty(), "files of {source} import each other in a circle:\n{}", circles.join("\n"));
    }
}

#[test]
fn the_reader_of_imports_finds_circles_and_follows_names_that_are_passed_on() {
    let files = [
        ("", "mod a;\nmod b;\npub use a::A;\npub use x::*;\nuse c::C;"),
        ("a", "pub use std::fmt;\nuse super::b::{\n    self,\n    B,\n};\npub struct A;"),
        ("b", "pub(in super::a) struct B(crate::A);"),
        // The root uses `c`, and `c` uses nothing that the root itself defines.
        ("c", "use crate::A;\npub struct C;\n\nmod tests {\n    use super::super::d;\n}"),
        ("d", "fn f() { crate::X::new() } // crate::c::C"),
        ("x", "pub use y::{X as Z, Y as X};"),
        ("x::y", "use crate::d::f;\npub struct Y;"),
    ];
    let module = |name: &str| name.split("::").filter(|name| !name.is_empty()).map(str::to_owned).collect::<Module>();
    let package = Package::new(files.iter().map(|(name, text)| (module(name), (*text).to_owned())).collect());
    let expected = [["a", "b"], ["d", "x::y"]].map(|circle| circle.map(module).to_vec());
    assert_eq!(package.circles(), BTreeSet::from(expected));
}
