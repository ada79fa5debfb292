//! Statements that destroy data: read as words, after comments and texts are gone.

/// What destroys data in `text`, if anything does: anywhere a statement may start.
pub(in crate::command) fn destroys(text: &str) -> Option<&'static str> {
    let words = words(text);
    (0..words.len()).find_map(|at| {
        let at_start = at == 0 || words.get(at - 1).is_some_and(|before| may_precede_statement(before));
        at_start.then(|| words.get(at..).and_then(destroying)).flatten()
    })
}

/// What the text destroys if it is one statement as a whole.
pub(in crate::command) fn is_destroying_statement(text: &str) -> Option<&'static str> {
    destroying(&words(text)).filter(|_| !text.contains(" -"))
}

/// Whether a text starts like a statement that may destroy something.
pub(in crate::command) fn may_start(text: &str) -> bool {
    const VERBS: &[&str] = &["drop", "truncate", "delete", "alter", "with", "begin", "/*", "--", "(", ";"];
    VERBS.iter().any(|verb| text.get(..verb.len()).is_some_and(|start| start.eq_ignore_ascii_case(verb)))
}

/// The same for the verbs of document and key-value stores.
pub(in crate::command) fn destroys_otherwise(text: &str) -> Option<&'static str> {
    const CALLS: &[(&str, &str)] = &[
        ("dropdatabase", "dropDatabase"),
        ("dropalldatabases", "dropAllDatabases"),
        (".drop(", "drop"),
        ("deletemany({})", "deleteMany({})"),
        (".remove({})", "remove({})"),
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
    CALLS.iter().find(|(call, _)| plain.contains(call)).map(|(_, what)| *what)
}

/// `BEGIN; … ; EXPLAIN …`: a statement starts after a semicolon, a control word, or an option's own text.
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

fn destroying(words: &[String]) -> Option<&'static str> {
    let word = |index: usize| words.get(index).map(String::as_str).unwrap_or_default();
    match word(0) {
        "DROP" => match word(1) {
            "DATABASE" => Some("DROP DATABASE"),
            "TABLE" => Some("DROP TABLE"),
            "SCHEMA" => Some("DROP SCHEMA"),
            "KEYSPACE" => Some("DROP KEYSPACE"),
            "TABLESPACE" => Some("DROP TABLESPACE"),
            "OWNED" => Some("DROP OWNED"),
            "MATERIALIZED" | "FOREIGN" | "TEMPORARY" | "TEMP" | "EXTERNAL" => Some("DROP TABLE"),
            "COLLECTION" | "BUCKET" | "MEASUREMENT" | "SERIES" | "STREAM" => Some("DROP"),
            _ => None,
        },
        "TRUNCATE" => (!word(1).is_empty() && !word(1).starts_with(['-', '(', '=', ';'])).then_some("TRUNCATE"),
        "DELETE" => (word(1) == "FROM").then_some("DELETE FROM"),
        "ALTER" => words
            .iter()
            .take(64)
            .take_while(|word| *word != ";")
            .any(|word| word == "DROP")
            .then_some("ALTER … DROP")
            .filter(|_| word(1) == "TABLE"),
        "WITH" => {
            let deletes = |pair: &[String]| matches!(pair, [first, second] if first == "DELETE" && second == "FROM");
            words.windows(2).take(256).any(deletes).then_some("DELETE FROM")
        }
        _ => None,
    }
}

/// The words in upper case, each `;` and `(` by itself; comments and texts in quotes are left out.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut chars = text.chars().peekable();
    let end = |word: &mut String, words: &mut Vec<String>| {
        if !word.is_empty() {
            words.push(std::mem::take(word));
        }
    };
    while let Some(c) = chars.next() {
        match c {
            '-' if word.is_empty() && chars.peek() == Some(&'-') => {
                // A comment ends with the line; an option of the client looks the same and is one word.
                chars.next();
                match chars.peek() {
                    Some(next) if next.is_ascii_alphabetic() => word.push_str("--"),
                    _ => while chars.next().is_some_and(|c| c != '\n') {},
                }
            }
            '/' if chars.peek() == Some(&'*') => {
                chars.next();
                let special = chars.peek() == Some(&'!');
                end(&mut word, &mut words);
                if special {
                    // MySQL runs what is inside `/*! … */`.
                    chars.next();
                    while chars.next_if(char::is_ascii_digit).is_some() {}
                    words.push(";".into());
                } else {
                    let mut before = ' ';
                    while chars.next().is_some_and(|c| std::mem::replace(&mut before, c) != '*' || c != '/') {}
                }
            }
            '\'' => {
                end(&mut word, &mut words);
                while chars.next().is_some_and(|c| c != '\'') {}
                words.push("'".into());
            }
            '"' | '`' => end(&mut word, &mut words),
            ';' | '(' | ')' => {
                end(&mut word, &mut words);
                words.push(c.into());
            }
            c if c.is_whitespace() => end(&mut word, &mut words),
            c => word.extend(c.to_uppercase()),
        }
    }
    end(&mut word, &mut words);
    words
}
