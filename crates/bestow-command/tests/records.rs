//! Tests of the build script: it refuses records that are not well formed, and names the file and the line.
#![allow(dead_code, reason = "the tests use a part of the build script")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a helper of a test fails the test")]

#[path = "../build/check.rs"]
mod check;
#[path = "../src/hash.rs"]
mod hash;
#[path = "../src/programs/operand_kind.rs"]
mod operand_kind;
#[path = "../build/read.rs"]
mod read;
#[path = "../build/schema.rs"]
mod schema;

use std::{collections::BTreeSet, fs, path::Path};

/// Returns the records of the package as the build script reads them.
fn package() -> Vec<(String, String)> {
    read::texts(&Path::new(env!("CARGO_MANIFEST_DIR")).join("programs")).unwrap()
}

fn predicates() -> BTreeSet<String> {
    let module = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/predicates/mod.rs");
    check::named_in(&fs::read_to_string(module).unwrap())
}

/// Returns the problems of a file of records that stands alone.
fn problems(text: &str) -> Vec<String> {
    let book = match read::book(vec![("programs/x.toml".to_owned(), text.to_owned())]) {
        Ok(book) => book,
        Err(problems) => return problems,
    };
    check::programs(&book, &predicates()).err().unwrap_or_default()
}

/// A record without mistakes.
const RIGHT: &str = r#"
[[program]]
names = ["mytool", "yourtool"]

[[program.reads]]
only = ["mytool"]
subcommands = ["list"]
flags = "-a --limit:"
code = "sed_script"
match = ["mytool list -a"]
not_match = ["mytool delete x"]

[[program.destroys]]
subcommands = ["wipe"]
why = "wipes everything"
match = ["mytool wipe"]
not_match = ["mytool list"]
"#;

#[test]
fn a_record_without_mistakes_is_accepted() {
    assert_eq!(problems(RIGHT), Vec::<String>::new());
}

#[test]
fn each_mistake_is_refused_with_its_line_and_a_way_out() {
    let mistakes = [
        ("flags = \"-a", "falgs = \"-a", "programs/x.toml:8: unknown field `falgs`", "did you mean `flags`?"),
        ("names = [\"mytool\"", "names = [\"my tool\"", "programs/x.toml:2: `my tool` is not the name", ""),
        ("\"yourtool\"", "\"mytool\"", "programs/x.toml:2: `mytool` has another record", ""),
        ("only = [\"mytool\"]", "only = [\"mytol\"]", "programs/x.toml:5: there is no name", "did you mean `mytool`?"),
        ("sed_script", "sed_scirpt", "programs/x.toml:5: there is no predicate", "did you mean `sed_script`?"),
        ("-a --limit:", "-a -a", "programs/x.toml:5: `-a` stands in the list twice", ""),
        ("-a --limit:", "-a -a:", "programs/x.toml:5: `-a` and `-a:` stand in the list", ""),
        ("-a --limit:", "-a limit", "programs/x.toml:5: `limit` is not an option", ""),
        ("-a --limit:", "@al", "programs/x.toml:5: there is no list of options `al`", ""),
        ("match = [\"mytool list -a\"]", "", "programs/x.toml:5: the row has no example in `match`", ""),
        ("not_match = [\"mytool list\"]", "", "programs/x.toml:13: the row has no example in `not_match`", ""),
        ("why = \"wipes everything\"", "", "programs/x.toml:13: the row has no `why`", ""),
        ("code = \"sed_script\"", "use = \"nothing\"", "there is no shared row of this kind `nothing`", ""),
        ("match = [\"mytool list -a\"]", "match = [\"ls\"]", "programs/x.toml:5: no example in `match` names", ""),
        ("[\"mytool delete x\"]", "[\"rm x\"]", "programs/x.toml:5: no example in `not_match` names", ""),
        ("code = \"sed_script\"", "operands = \"many\"", "programs/x.toml:9: ", ""),
        ("why =", "operand_kind = \"devise\"\nwhy =", "unknown variant `devise`", "did you mean `device`?"),
        ("code = \"sed_script\"", "operands_are = \"number\"", "programs/x.toml:9: ", "did you mean `numbers`?"),
    ];
    for (right, wrong, problem, help) in mistakes {
        assert!(RIGHT.contains(right), "{right}");
        let found = problems(&RIGHT.replacen(right, wrong, 1)).join("\n");
        assert!(found.contains(problem) && found.contains(help), "{wrong}: {found}");
    }
    let shared = "[[shared]]\nname = \"mine\"\ndestroys = { why = \"x\", match = [\"a\"], not_match = [\"b\"] }\n\
                  [[program]]\nnames = [\"a\"]\ndestroys = [{ use = \"mine\" }]\n";
    assert_eq!(problems(shared), Vec::<String>::new());
    for (wrong, problem) in [
        ("reads = [{ use = \"mine\" }]\n", "programs/x.toml:6: there is no shared row of this kind `mine`"),
        ("destroys = [{ use = \"mine\", text = \"x\" }]\n", "programs/x.toml:6: beside `use`, only `only` may stand"),
    ] {
        let found = problems(&shared.replace("destroys = [{ use = \"mine\" }]\n", wrong)).join("\n");
        assert!(found.contains(problem), "{wrong}: {found}");
    }
    let unused = "[[shared]]\nname = \"x\"\nreads = { match = [\"a\"], not_match = [\"b\"] }\n";
    assert_eq!(problems(unused), ["programs/x.toml:1: no record uses the row `x`"]);
}

/// Checks the rows that programs of many records share. A row without words at its beginning is about every command of
/// its program. As the last row it would hide the reason of the row that the command is nearest to.
#[test]
fn a_form_that_only_answers_never_hides_the_reason_of_a_refusal() {
    let book = read::book(package()).unwrap();
    let records = book.records.iter().flat_map(|(_, record)| record.some.iter().chain([record]));
    let answers: BTreeSet<&str> = records.flat_map(|record| &record.answers).map(String::as_str).collect();
    assert!(answers.len() > 4, "{answers:?}");
    for name in answers {
        assert!(!book.reads[name].1.subcommands.is_empty(), "{name}");
    }
}

#[test]
fn every_program_has_one_record_and_every_row_has_examples() {
    let book = read::book(package()).unwrap();
    let programs = check::programs(&book, &predicates()).unwrap();
    let names: Vec<&str> = programs.iter().flat_map(|program| program.names.iter().copied()).collect();
    assert_eq!(names.len(), names.iter().collect::<BTreeSet<_>>().len());
    assert!(names.len() > 1_300, "{}", names.len());
    let rows = programs.iter().flat_map(|program| &program.reads);
    assert!(rows.into_iter().all(|row| !row.row.matches.is_empty() && !row.row.not_matches.is_empty()));
    let rows = programs.iter().flat_map(|program| &program.destroys);
    assert!(rows.into_iter().all(|row| !row.row.matches.is_empty() && !row.row.not_matches.is_empty()));
}

#[test]
fn every_predicate_is_named_by_a_record() {
    let records: String = package().into_iter().map(|(_, text)| text).collect();
    let unnamed: Vec<_> = predicates().into_iter().filter(|name| !records.contains(&format!("\"{name}\""))).collect();
    assert_eq!(unnamed, Vec::<String>::new());
}

/// Checks that the worked example of the documentation is a record of the package, whose examples another test runs.
#[test]
fn the_worked_example_of_the_documentation_is_a_record() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/programs.md");
    let page = fs::read_to_string(page).unwrap();
    let example = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    assert_eq!(example.lines().count(), 5, "the title promises five lines");
    assert!(package().iter().any(|(_, text)| text.contains(&format!("\n{example}\n"))), "{example}");
}

/// Checks that the documentation explains every word of the schema.
#[test]
fn the_documentation_names_every_word_of_a_record() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/programs.md");
    let page = fs::read_to_string(page).unwrap();
    let schema = include_str!("../build/schema.rs");
    let renamed = [("uses", "use"), ("matches", "match"), ("not_matches", "not_match"), ("program", "[[program]]")];
    let fields = schema.lines().filter_map(|line| line.trim().strip_prefix("pub(crate) ")?.split_once(':'));
    for (field, _) in fields {
        let word = renamed.iter().find(|(name, _)| *name == field).map_or(field, |(_, word)| word);
        assert!(page.contains(word), "`{word}` is not explained");
    }
}

/// Names of programs that are also other words.
const OTHER_WORDS: &str = ". : [ w R yes true false help set unset read write exec command source host \
    hosts patch file mail users snap join open rename pass expand jobs login ls cat \
    clear du tail wait time sort noglob ftp ab port nvme hd bash grep timeout tty \
    crontab passwd pr test just task docker mysql nix rpm dpkg del hash unlink cc c++ \
    type id format watch";

/// Files with the names of programs in their code, and the reason.
const WITH_NAMES: &[(&str, &str)] = &[
    ("inline_code.rs", "interpreters: languages are not data"),
    ("reader.rs", "programs that read a program: languages are not data"),
    ("shell.rs", "shells"),
    ("sql_client.rs", "clients of databases: languages are not data"),
    ("code_patterns.rs", "calls in code of languages"),
    ("beside.rs", "builtins, which change the shell"),
    ("builtin.rs", "builtins, which the interpreter runs"),
    ("container.rs", "mounts of containers"),
    ("hidden.rs", "words that runners hand on"),
    ("known.rs", "builtins, and programs that run a text"),
    ("builtins.rs", "the builtins of shells"),
    ("dialect.rs", "shells"),
    ("runners.rs", "the host of `ssh`"),
    ("wrappers.rs", "wrappers with words of their own"),
    ("started.rs", "the loader, and `git-x` for `git x`"),
    ("decision.rs", "programs that send their input"),
    ("hosts.rs", "patterns of `awk`"),
    ("declared.rs", "schemes of addresses"),
    ("addresses.rs", "schemes of addresses"),
    ("system.rs", "words of `ip` and of `hg`"),
    ("roles.rs", "programs whose files have forms of their own"),
    ("words.rs", "programs whose words name files in forms of their own"),
    ("clouds.rs", "subcommands of `aws s3`"),
    ("git.rs", "subcommands of `git`"),
    ("obeys.rs", "options of `git` before a subcommand"),
    ("recording.rs", "programs that start nothing"),
    ("shape.rs", "shapes with a path or a text"),
    ("pattern.rs", "global options of `git`"),
    ("wildcard.rs", "transports of `git`"),
    ("id_output.rs", "programs that print ids"),
    ("output.rs", "programs with a known output"),
    ("control_flow.rs", "the builtin that ends a shell"),
    ("scope.rs", "the builtin that ends a shell"),
    ("expand.rs", "builtins that print their words"),
    ("coding_agent.rs", "coding agents, which are hosts too"),
    ("own_words.rs", "wrappers whose options are read by hand"),
    ("built_in.rs", "tools of hosts that are named like a program"),
    ("tool_name.rs", "verbs in the names of tools"),
    ("selection.rs", "kinds of files"),
    ("generated_files.rs", "programs that write their input"),
];

/// Returns the texts between quotes in a file of Rust, without its comments and its tests.
fn texts_of(code: &str) -> Vec<String> {
    let code = code.split("#[cfg(test)]").next().unwrap();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.flat_map(|line| line.split('"').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>()).collect()
}

fn rust_files(directory: &Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && !matches!(name, "lang" | "tests") {
            rust_files(&path, found);
        } else if name.ends_with(".rs") && name != "tests.rs" {
            found.push(path);
        }
    }
}

/// Checks that what is known about a program stands in its record. A new list of programs in the code is refused.
#[test]
fn no_other_file_names_a_program() {
    let book = read::book(package()).unwrap();
    let names: BTreeSet<&str> =
        book.records.iter().flat_map(|(_, record)| record.names.iter().map(String::as_str)).collect();
    let words: BTreeSet<&str> = OTHER_WORDS.split_ascii_whitespace().collect();
    let mut files = Vec::new();
    rust_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    let mut wrong = Vec::new();
    let mut needed = BTreeSet::new();
    for file in files {
        let name = file.file_name().unwrap().to_str().unwrap();
        let texts = texts_of(&fs::read_to_string(&file).unwrap());
        let named = texts.iter().filter(|text| names.contains(text.as_str()) && !words.contains(text.as_str()));
        match WITH_NAMES.iter().find(|(known, _)| *known == name) {
            Some((known, _)) => needed.extend(named.map(|_| *known)),
            None => wrong.extend(named.map(|text| format!("{}: `{text}`", file.display()))),
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    let unneeded: Vec<_> = WITH_NAMES.iter().filter(|(known, _)| !needed.contains(known)).collect();
    assert_eq!(unneeded, Vec::<&(&str, &str)>::new());
}
