//! Database clients, whose statements are searched for destruction of data.

use std::sync::LazyLock;

use foldhash::HashMap;

use crate::{
    evaluator::{Evaluation, Use},
    invocation::Input,
    lang::sql,
    tier::Tier,
    verdict::Verdict,
    word::Word,
};

/// Clients for SQL or for a language with the verbs of SQL.
const CLIENTS: &[&str] = &[
    "psql",
    "pgcli",
    "mysql",
    "mariadb",
    "mycli",
    "sqlite3",
    "sqlite",
    "litecli",
    "duckdb",
    "clickhouse",
    "clickhouse-client",
    "cqlsh",
    "snowsql",
    "bq",
    "presto",
    "trino",
    "hive",
    "beeline",
    "impala-shell",
    "spark-sql",
    "cockroach",
    "usql",
    "db2",
    "isql",
    "vsql",
    "wrangler",
    "turso",
    "prisma",
    "supabase",
    "influx",
    "osqueryi",
    "athenacli",
    "dolt",
    "crdb",
    "ysqlsh",
    "monetdb",
    "mclient",
    "tarantool",
    "surreal",
    "mysqlsh",
    "sqlcipher",
    "snow",
    "sql",
    "sq",
    "gsql",
    "phoenix-sqlline",
    "sqlline",
    "taos",
    "ksql",
    "rqlite",
    "steampipe",
    "isql-fb",
    "nzsql",
    "exaplus",
    "hdbsql",
];

/// Clients for SQL in which `DELETE` needs no `FROM`.
const SHORT_CLIENTS: &[&str] = &["sqlcmd", "sqlplus", "tsql", "osql"];

/// Clients with a language of their own.
const OTHER_CLIENTS: &[&str] = &[
    "mongo",
    "mongosh",
    "redis-cli",
    "iredis",
    "valkey-cli",
    "keydb-cli",
    "etcdctl",
    "neo4j",
    "cypher-shell",
    "arangosh",
];

/// Programs with many uses. Some of these uses pass a statement to a database.
const PLATFORMS: &[&str] =
    &["heroku", "fly", "flyctl", "wp", "drush", "aws", "gcloud", "rails", "manage.py", "django-admin", "databricks"];

/// A function that returns the kind of destruction in a text.
type Search = fn(&str) -> Option<&'static str>;

static INDEX: LazyLock<HashMap<&'static str, Search>> = LazyLock::new(|| {
    let sql = CLIENTS.iter().chain(PLATFORMS).map(|name| (*name, sql::destroys as Search));
    let other = OTHER_CLIENTS.iter().map(|name| (*name, sql::destroys_otherwise as Search));
    let short = SHORT_CLIENTS.iter().map(|name| (*name, sql::destroys_without_from as Search));
    sql.chain(short).chain(other).collect()
});

/// Returns all clients.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    CLIENTS.iter().chain(SHORT_CLIENTS).chain(OTHER_CLIENTS).copied()
}

/// Returns a destructive verdict if a client of this name destroys data with `text`, and safe otherwise.
pub(super) fn destroys(name: &str, text: &str) -> Verdict {
    let found = client(name).and_then(|destroys| destroys(text));
    found.map_or_else(|| Verdict::safe(""), |what| Verdict::destructive(format!("a database client runs `{what}`")))
}

/// Returns true if a client or a platform has this name.
pub(super) fn is_client(name: &str) -> bool {
    client(name).is_some()
}

/// Returns the search function of a client. It accepts names with a version or an extension: `psql-15`, `mysql.exe`.
fn client(name: &str) -> Option<Search> {
    let known = INDEX.get(name);
    if known.is_some() || !name.contains(['.', '-']) {
        return known.copied();
    }
    let plain = name.strip_suffix(".exe").unwrap_or(name);
    let plain = plain.split_once("-1").map_or(plain, |(plain, _)| plain);
    INDEX.get(plain).copied()
}

/// The limit of commands in statements that are followed.
const MAX_STARTED: usize = 16;

/// Returns the commands that a client starts for `.shell`, `.system`, `\!` and `PROGRAM '…'`.
fn started(text: &str) -> Vec<String> {
    const SIGNS: &[&str] = &[".shell ", ".system ", "\\!", "PROGRAM '", "program '", "system ", "host "];
    let lines = text.lines().take(256).map(str::trim_start);
    let commands = lines.filter_map(|line| {
        SIGNS.iter().find_map(|sign| {
            let quoted = sign.ends_with('\'');
            let rest = if quoted { line.split_once(sign)?.1 } else { line.strip_prefix(sign)? };
            Some(if quoted { rest.split('\'').next().unwrap_or_default() } else { rest })
        })
    });
    commands.map(str::to_owned).collect()
}

/// The limit of short options that are joined before a statement.
const MAX_JOINED: usize = 6;

/// Returns the texts in a word that may be statements: the word, the text after `-e` or `-Nse`, the text after
/// `--execute=`.
fn statements(word: &str) -> impl Iterator<Item = &str> {
    let short = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')).unwrap_or_default();
    let letters = short.bytes().take_while(u8::is_ascii_alphanumeric).count();
    let joined = (1..=letters.clamp(1, MAX_JOINED)).filter_map(move |at| short.get(at..));
    let valued = word.strip_prefix("--").and_then(|rest| rest.split_once('=')).map(|(_, value)| value);
    [Some(word), valued].into_iter().flatten().chain(joined)
}

impl Evaluation<'_, '_> {
    /// Returns the verdict on a database client that destroys data.
    pub(super) fn evaluate_sql(&mut self, usage: &Use<'_>, input: &Input) -> Option<Verdict> {
        let rest = usage.rest;
        let destroys = client(usage.name)?;
        let joined = rest.iter().map(Word::text).collect::<Vec<_>>().join(" ");
        let given = if let Input::Text(text) = input { text.as_str() } else { "" };
        let texts = rest.iter().flat_map(|word| statements(word.text())).chain([joined.as_str(), given]);
        let texts: Vec<&str> = texts.chain(rest.iter().filter_map(|word| word.content())).collect();
        let found = texts.iter().find_map(|text| destroys(text));
        let found = found.map(|what| Verdict::destructive(format!("a database client runs `{what}`")));
        let started: Vec<String> = texts.iter().flat_map(|text| started(text)).take(MAX_STARTED).collect();
        found.or_else(|| {
            let here = self.shell.here;
            let mut searched = started.iter().map(|text| self.shell.search_text(text, here));
            searched.find(|found| found.tier == Tier::Destructive)
        })
    }
}

/// Returns the verdict on words that are a statement in the place of a command.
pub(super) fn statement_of(args: &[Word]) -> Option<Verdict> {
    if args.first().is_some_and(|word| sql::may_start(word.text())) { joined_statement(args) } else { None }
}

fn joined_statement(args: &[Word]) -> Option<Verdict> {
    statement(&args.iter().map(Word::text).collect::<Vec<_>>().join(" "))
}

/// Returns the verdict on a text that is a statement: some tools run it directly.
pub(crate) fn statement(text: &str) -> Option<Verdict> {
    if !sql::may_start(text) {
        return None;
    }
    let found = sql::is_destroying_statement(text);
    found.map(|what| Verdict::destructive(format!("a database statement: `{what}`")))
}
