//! Database clients: what they are told to run is searched for statements that destroy data.

use super::{Input, Verdict};
use crate::command::{
    lang::sql,
    walk::{Arg, Walker},
};

/// Clients that take statements of SQL or a language with the same verbs.
const CLIENTS: &[&str] = &[
    "psql", "pgcli", "mysql", "mariadb", "mycli", "sqlite3", "sqlite", "litecli", "duckdb", "clickhouse", "clickhouse-client", "cqlsh", "sqlcmd",
    "sqlplus", "snowsql", "bq", "presto", "trino", "hive", "beeline", "impala-shell", "spark-sql", "cockroach", "usql", "db2", "isql", "vsql",
    "wrangler", "turso", "prisma", "supabase", "influx", "osqueryi", "athenacli", "dolt", "crdb", "ysqlsh", "monetdb", "mclient", "tarantool", "surreal",
];

/// Clients with a language of their own.
const OTHER_CLIENTS: &[&str] = &["mongo", "mongosh", "redis-cli", "valkey-cli", "keydb-cli", "etcdctl", "neo4j", "cypher-shell", "arangosh"];

pub(super) fn is_client(name: &str) -> bool {
    CLIENTS.contains(&name) || OTHER_CLIENTS.contains(&name)
}

/// Where a statement may begin in a word: at its start, behind `-e`, behind `--execute=`.
fn statements(word: &str) -> impl Iterator<Item = &str> {
    let joined = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')).and_then(|rest| rest.get(1..));
    let valued = word.strip_prefix("--").and_then(|rest| rest.split_once('=')).map(|(_, value)| value);
    [Some(word), joined, valued].into_iter().flatten()
}

impl Walker<'_> {
    /// The verdict on a database client that is told to destroy data.
    pub(in crate::command) fn judge_sql(&mut self, name: &str, args: &[Arg], input: &Input) -> Option<Verdict> {
        let statement_itself = self.nesting <= 2;
        let rest = args.get(1..).unwrap_or_default();
        if is_client(name) {
            let joined = rest.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
            let given = if let Input::Text(text) = input { text.as_str() } else { "" };
            let texts = rest.iter().flat_map(|word| statements(&word.text)).chain([joined.as_str(), given]);
            let found = if CLIENTS.contains(&name) {
                texts.filter_map(sql::destroys).next()
            } else {
                texts.filter_map(sql::destroys_otherwise).next()
            };
            return found.map(|what| Verdict::destructive(format!("a database client runs `{what}`")));
        }
        // A statement where a command should stand: some tool runs it as it is.
        let whole = args.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
        let found = statement_itself.then(|| sql::is_destroying_statement(&whole)).flatten();
        found.map(|what| Verdict::destructive(format!("a database statement: `{what}`")))
    }
}
