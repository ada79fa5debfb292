//! Statements that destroy data. They are compared as words, after comments and texts are removed.

use super::sql_words::{Manner, words};

/// Returns the kind of destruction in `text`, if any statement in it destroys data. A statement may start at many
/// places.
pub(crate) fn destroys(text: &str) -> Option<&'static str> {
    if !may_have_verb(text) {
        return None;
    }
    [Manner::Standard, Manner::Escaping].into_iter().find_map(|manner| {
        let words = words(text, manner);
        (0..words.len()).find_map(|at| {
            let at_start = at == 0 || words.get(at - 1).is_some_and(|before| may_precede_statement(before));
            at_start.then(|| words.get(at..).and_then(destroying)).flatten()
        })
    })
}

/// Returns false if no word of the text begins a statement that destroys. A word is one piece of the text.
fn may_have_verb(text: &str) -> bool {
    let begins = |rest: &[u8]| {
        STATEMENTS
            .iter()
            .any(|(verb, _)| rest.get(..verb.len()).is_some_and(|start| start.eq_ignore_ascii_case(verb.as_bytes())))
    };
    let bytes = text.as_bytes();
    // A letter may become an ASCII one in upper case.
    !text.is_ascii() || (0..bytes.len()).any(|at| bytes.get(at..).is_some_and(begins))
}

/// Returns the kind of destruction if the whole text is one statement.
pub(crate) fn is_destroying_statement(text: &str) -> Option<&'static str> {
    destroying(&words(text, Manner::Standard)).filter(|_| !text.contains(" -"))
}

/// Returns true if a text starts like a statement that may destroy data.
pub(crate) fn may_start(text: &str) -> bool {
    let verbs: &[&str] = match text.as_bytes() {
        [b'a' | b'A', ..] => &["alter"],
        [b'b' | b'B', ..] => &["begin"],
        [b'd' | b'D', ..] => &["drop", "delete"],
        [b't' | b'T', ..] => &["truncate"],
        [b'w' | b'W', ..] => &["with"],
        [b'(' | b';', ..] | [b'/', b'*', ..] | [b'-', b'-', ..] => return true,
        _ => return false,
    };
    verbs.iter().any(|verb| text.get(..verb.len()).is_some_and(|start| start.eq_ignore_ascii_case(verb)))
}

/// Returns the kind of destruction for document, graph and key-value stores.
pub(crate) fn destroys_otherwise(text: &str) -> Option<&'static str> {
    const CALLS: &[(&str, &str)] = &[
        ("dropdatabase", "dropDatabase"),
        ("dropalldatabases", "dropAllDatabases"),
        (".drop(", "drop"),
        (".deletemany(", "deleteMany"),
        (".remove({", "remove"),
        (".remove()", "remove"),
        ("_delete_by_query", "delete by query"),
        (".truncate(", "truncate"),
        ("flushall", "FLUSHALL"),
        ("flushdb", "FLUSHDB"),
        ("detachdelete", "DETACH DELETE"),
        ("_drop(", "drop"),
        ("dropcollection", "dropCollection"),
        ("del--prefix", "del --prefix"),
        ("del\"\"--prefix", "del --prefix"),
        ("debugsegfault", "DEBUG SEGFAULT"),
    ];
    let plain: String = text.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect();
    let found = CALLS.iter().find(|(call, _)| plain.contains(call)).map(|(_, what)| *what);
    // A graph pattern and the deletion of its matches.
    let found = found.or_else(|| (plain.contains("match(") && plain.contains(")delete")).then_some("MATCH … DELETE"));
    found.or_else(|| destroying_command(&plain.replace(['"', '\''], "")))
}

/// Returns the kind of destruction of a command in the form of a document: `db.runCommand({drop: "a"})`.
fn destroying_command(plain: &str) -> Option<&'static str> {
    let runs = |command: &str| {
        ["runcommand({", "admincommand({"]
            .iter()
            .any(|call| plain.split(call).skip(1).any(|document| document.starts_with(command)))
    };
    if runs("drop:") {
        Some("drop")
    } else if runs("delete:") && plain.contains("limit:0") || plain.contains("{deletemany:") {
        Some("deleteMany")
    } else {
        None
    }
}

/// Returns the kind of destruction for databases that know `DELETE` without `FROM`.
pub(crate) fn destroys_without_from(text: &str) -> Option<&'static str> {
    let deletes = |words: Vec<String>| {
        (0..words.len()).any(|at| {
            let at_start = at == 0 || words.get(at - 1).is_some_and(|before| may_precede_statement(before));
            at_start && word(&words, at) == "DELETE" && word(&words, at + 1).starts_with(begins_table)
        })
    };
    destroys(text).or_else(|| (may_have_verb(text) && deletes(words(text, Manner::Standard))).then_some("DELETE"))
}

fn begins_table(c: char) -> bool {
    c.is_alphabetic() || matches!(c, '[' | '"' | '#' | '@' | '_')
}

/// Returns true if a statement may start after this word: a semicolon, a control word, or an option of the client.
fn may_precede_statement(word: &str) -> bool {
    matches!(
        word,
        ";" | "BEGIN"
            | "AS"
            | "DO"
            | "$$"
            | "("
            | "THEN"
            | "ELSE"
            | "ANALYZE"
            | "GO"
            | "--COMMAND"
            | "-C"
            | "-E"
            | "-Q"
    ) || word.starts_with('\\')
        || word.starts_with('-')
}

/// Returns the first 64 words of one statement.
fn until_end(words: &[String]) -> impl Iterator<Item = &String> {
    words.iter().take(64).take_while(|word| *word != ";")
}

/// Returns the kind of destruction of a statement with a known first word.
type Destroying = fn(&[String]) -> Option<&'static str>;

/// The first words of statements that may destroy data, and what they destroy with the words that follow.
const STATEMENTS: [(&str, Destroying); 8] = [
    ("DROP", drops),
    ("REMOVE", |words| matches!(word(words, 1), "TABLE" | "DATABASE" | "NAMESPACE").then_some("REMOVE")),
    ("MATCH", matches_and_deletes),
    ("OPTIONAL", matches_and_deletes),
    ("TRUNCATE", |words| {
        (!word(words, 1).is_empty() && !word(words, 1).starts_with(['-', '(', '=', ';'])).then_some("TRUNCATE")
    }),
    ("DELETE", |words| deletes_rows(words).then_some("DELETE FROM")),
    ("ALTER", |words| {
        let drops = word(words, 1) == "TABLE" && until_end(words).any(|word| word == "DROP" || word == "DELETE");
        drops.then_some("ALTER … DROP")
    }),
    ("WITH", |words| {
        let deletes = |pair: &[String]| matches!(pair, [first, second] if first == "DELETE" && second == "FROM");
        words.windows(2).take(256).any(deletes).then_some("DELETE FROM")
    }),
];

/// Returns the kind of destruction of the statement that begins with these words.
fn destroying(words: &[String]) -> Option<&'static str> {
    STATEMENTS.iter().find(|(verb, _)| *verb == word(words, 0)).and_then(|(_, destroys)| destroys(words))
}

fn word(words: &[String], index: usize) -> &str {
    words.get(index).map(String::as_str).unwrap_or_default()
}

fn drops(words: &[String]) -> Option<&'static str> {
    match word(words, 1) {
        "DATABASE" => Some("DROP DATABASE"),
        "TABLE" => Some("DROP TABLE"),
        "SCHEMA" => Some("DROP SCHEMA"),
        "KEYSPACE" => Some("DROP KEYSPACE"),
        "TABLESPACE" => Some("DROP TABLESPACE"),
        "OWNED" => Some("DROP OWNED"),
        "MATERIALIZED" | "FOREIGN" | "TEMPORARY" | "TEMP" | "EXTERNAL" => Some("DROP TABLE"),
        "COLLECTION" | "BUCKET" | "MEASUREMENT" | "SERIES" | "STREAM" | "USER" | "ROLE" | "LOGIN" | "CATALOG"
        | "NAMESPACE" | "WAREHOUSE" | "PLUGGABLE" | "SHARE" => Some("DROP"),
        _ => until_end(words).any(|word| word == "CASCADE").then_some("DROP … CASCADE"),
    }
}

/// Returns true for `DELETE FROM`, after modifiers and tables: `DELETE QUICK FROM a`, `DELETE a, b FROM a JOIN b`,
/// `DELETE TOP (9) FROM a`.
fn deletes_rows(words: &[String]) -> bool {
    const MODIFIERS: &[&str] = &["LOW_PRIORITY", "QUICK", "IGNORE", ","];
    let behind = match words.get(1..5) {
        Some([top, open, _, close]) if top == "TOP" && open == "(" && close == ")" => 5,
        _ => 1,
    };
    let mut rest = until_end(words.get(behind..).unwrap_or_default()).map(String::as_str);
    // In `DELETE a FROM a JOIN b`, the deleted table comes before `FROM`.
    let first = rest.find(|word| !MODIFIERS.contains(word) && !word.ends_with(','));
    first == Some("FROM") || rest.next() == Some("FROM")
}

fn matches_and_deletes(words: &[String]) -> Option<&'static str> {
    until_end(words).any(|word| word == "DELETE").then_some("MATCH … DELETE")
}
