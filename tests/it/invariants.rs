//! Tests of the architecture, read from the sources.

use std::{
    fs,
    path::{Path, PathBuf},
};

const SRC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../src");

/// The layers, from the lowest to the highest, and the layers that each may import.
const LAYERS: [(&str, &[&str]); 5] = [
    ("model", &[]),
    ("kernel", &["model"]),
    ("fs", &["model"]),
    ("ports", &["model", "kernel", "fs"]),
    ("engine", &["model", "kernel", "ports", "fs"]),
];

/// The adapters to the outside, and the adapters that each builds on. All others meet in `compose`.
const ADAPTERS: [(&str, &[&str]); 9] = [
    ("config", &[]),
    ("control", &["process"]),
    ("journal", &[]),
    // A process is a command in a sandbox, whose agent may have a bot.
    ("process", &["sandbox", "stdio", "compose"]),
    ("prompt", &[]),
    ("sandbox", &[]),
    ("schedule", &[]),
    ("stdio", &[]),
    ("watch", &[]),
];

/// Returns every source file below `dir`, except tests.
fn sources(dir: &Path) -> Vec<(PathBuf, String)> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let mut all = Vec::new();
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.file_stem().is_some_and(|name| name == "tests") {
            continue;
        }
        if path.is_dir() {
            all.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            all.push((path, without_comments(&text)));
        }
    }
    all
}

fn without_comments(text: &str) -> String {
    text.lines().map(|line| line.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n")
}

/// Returns the modules of the crate that `text` names, by `crate::x` or in a `use crate::{x, ...}`.
fn imports(text: &str) -> Vec<String> {
    let mut named = Vec::new();
    for (place, _) in text.match_indices("crate::") {
        let rest = &text[place + "crate::".len()..];
        let Some(list) = rest.strip_prefix('{') else {
            named.push(word(rest));
            continue;
        };
        let mut depth = 0;
        let mut start = true;
        for (place, c) in list.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => start = true,
                c if start && depth == 0 && !c.is_whitespace() => {
                    named.push(word(&list[place..]));
                    start = false;
                }
                _ => {}
            }
        }
    }
    named
}

fn word(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// Returns the imports of `folder` that are folders of this crate, but not among `allowed`.
fn forbidden(folder: &str, allowed: &[&str]) -> Vec<String> {
    let files = sources(&Path::new(SRC).join(folder));
    assert!(!files.is_empty(), "{folder} has sources");
    let folders = folders();
    let is_known = |name: &String| folders.contains(name) && name != folder && !allowed.contains(&name.as_str());
    let named = |(path, text): &(PathBuf, String)| {
        imports(text).into_iter().filter(is_known).map(|name| format!("{} names {name}", path.display())).collect()
    };
    files.iter().flat_map(|file| -> Vec<String> { named(file) }).collect()
}

fn folders() -> Vec<String> {
    let entries = fs::read_dir(SRC).unwrap().map(|entry| entry.unwrap()).filter(|entry| entry.path().is_dir());
    entries.map(|entry| entry.file_name().into_string().unwrap()).collect()
}

#[test]
fn imports_point_down_only() {
    let wrong: Vec<_> = LAYERS.iter().flat_map(|(layer, below)| forbidden(layer, below)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn adapters_meet_in_one_folder_only() {
    let layers = LAYERS.iter().map(|(layer, _)| *layer);
    let wrong = ADAPTERS.iter().flat_map(|(adapter, others)| {
        forbidden(adapter, &layers.clone().chain(others.iter().copied()).collect::<Vec<_>>())
    });
    let wrong: Vec<_> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_folder_is_a_layer_or_an_adapter() {
    for folder in folders() {
        let is_layer = LAYERS.iter().any(|(layer, _)| *layer == folder);
        let is_adapter = ADAPTERS.iter().any(|(adapter, _)| *adapter == folder);
        assert!(is_layer || is_adapter || folder == "compose", "{folder} has no place in the order of layers");
    }
}

#[test]
fn the_import_reader_reads_imports() {
    let text = "use crate::{fs, model::{A, ports}, kernel::B};\nlet x = crate::engine::C;";
    assert_eq!(imports(text), ["fs", "model", "kernel", "engine"]);
}

/// The model and the kernel do not wait, lock, read the clock, the disk or the environment, use the network, or draw
/// random numbers.
#[test]
fn the_model_and_the_kernel_are_pure() {
    const IMPURE: [&str; 20] = [
        "async ",
        ".await",
        "tokio",
        "Mutex",
        "RwLock",
        "OnceLock",
        "Atomic",
        "std::fs",
        "std::env",
        "std::net",
        "std::process",
        "std::thread",
        "std::io",
        "SystemTime",
        "Instant",
        "rustix",
        "rand::",
        "Uuid::now",
        "Utc::now",
        "thread_local",
    ];
    let mut wrong = Vec::new();
    for layer in ["model", "kernel"] {
        for (path, text) in sources(&Path::new(SRC).join(layer)) {
            // The cached forms of a glob, and a digest, depend on their texts alone.
            let keeps = ["model/glob.rs", "model/digest.rs"].iter().any(|file| path.ends_with(file));
            let is_memo = |word: &str| word == "OnceLock" && keeps;
            let found = IMPURE.iter().filter(|word| text.contains(**word) && !is_memo(word));
            wrong.extend(found.map(|word| format!("{}: {word}", path.display())));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_writer_lock_is_taken_in_one_file_only() {
    for (path, text) in sources(&Path::new(SRC).join("engine")) {
        let takes = text.matches(".writer.lock()").count();
        let expected = if path.ends_with("shared.rs") { 2 } else { 0 };
        assert_eq!(takes, expected, "{}: once for work, once for ending", path.display());
    }
}

const CLASSIFIER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/bestow-command/src");

/// Only `word.rs` names the characters that stand for gaps in the text of a word.
#[test]
fn gaps_in_words_are_named_in_one_file_only() {
    let signs = ["\\u{1}", "\\u{2}", "\\u{3}"];
    let texts = sources(Path::new(CLASSIFIER));
    assert!(
        texts.iter().any(|(path, text)| path.ends_with("src/word.rs") && signs.iter().all(|sign| text.contains(sign)))
    );
    for (path, text) in texts.iter().filter(|(path, _)| !path.ends_with("src/word.rs")) {
        assert!(!signs.iter().any(|sign| text.contains(sign)), "{}", path.display());
    }
}

/// The longest function of the classifier, in lines.
const LONGEST_FUNCTION: usize = 60;

#[test]
fn functions_of_the_classifier_are_short() {
    let mut long = Vec::new();
    let mut functions = 0;
    for (path, text) in sources(Path::new(CLASSIFIER)) {
        let mut open: Option<(usize, usize)> = None;
        for (at, line) in text.lines().enumerate() {
            let indent = line.len() - line.trim_start().len();
            let signature = line.trim_start().trim_start_matches("pub(crate) ").trim_start_matches("pub(super) ");
            let signature = signature.trim_start_matches("pub ").trim_start_matches("const ");
            if signature.starts_with("fn ") && open.is_none() {
                functions += 1;
                open = (!line.ends_with('}') && !line.ends_with(';')).then_some((at, indent));
            }
            if let Some((start, _)) = open.filter(|(_, outer)| line.trim_start() == "}" && indent == *outer) {
                open = None;
                if at + 1 - start > LONGEST_FUNCTION {
                    long.push(format!("{}:{}: {} lines", path.display(), start + 1, at + 1 - start));
                }
            }
        }
    }
    assert!(functions > 500, "{functions}");
    assert!(long.is_empty(), "{}", long.join("\n"));
}
