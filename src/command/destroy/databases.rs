//! Databases beyond what statements do: the commands that drop, wipe or restore over them.

use super::{
    Rule,
    When::{Flag, Named, Operand, Text},
    rule,
};

pub(super) const RULES: &[Rule] = &[
    rule("dropdb", "drops a database").examples(&["dropdb production", "dropdb -h x --if-exists y"], &["createdb x"]),
    rule("mysqladmin mariadb-admin", "drops a database")
        .when(&[Named("drop")])
        .examples(&["mysqladmin -u root drop shop"], &["mysqladmin status"]),
    rule("pg_restore", "drops what it restores")
        .when(&[Flag("--clean -c")])
        .examples(&["pg_restore --clean -d x f"], &["pg_restore -l f"]),
    rule("mongorestore", "drops what it restores")
        .when(&[Flag("--drop")])
        .examples(&["mongorestore --drop dump"], &["mongorestore dump"]),
    rule("redis-cli valkey-cli keydb-cli", "empties the store")
        .when(&[Operand(flushes)])
        .examples(&["redis-cli FLUSHALL", "redis-cli -h x -n 1 flushdb"], &["redis-cli GET x", "redis-cli PING"]),
    rule("influx", "deletes a bucket")
        .sub("bucket delete|org delete|delete")
        .examples(&["influx bucket delete -n x"], &["influx ping"]),
    rule("cockroach", "takes a node apart")
        .sub("node decommission|debug reset-quorum")
        .examples(&["cockroach node decommission 1"], &["cockroach version"]),
    rule("neo4j-admin", "overwrites a database")
        .when(&[Text("--overwrite-destination --force")])
        .examples(&["neo4j-admin database load x --overwrite-destination=true"], &["neo4j-admin server status"]),
    rule("pg_resetwal pg_resetxlog", "resets the log that a database recovers from")
        .examples(&["pg_resetwal -f /var/lib/x"], &["pg_ctl status"]),
    rule("elasticsearch-node opensearch-cli curator_cli", "deletes indices")
        .when(&[Text("delete detach unsafe")])
        .examples(&["elasticsearch-node unsafe-bootstrap"], &["elasticsearch-node --help"]),
    rule("curl http https wget xh", "deletes everything in a search index")
        .when(&[Text("DELETE"), Text("/_all :9200/* /_search /_delete_by_query")])
        .examples(
            &["curl -X DELETE localhost:9200/_all"],
            &["curl -X DELETE https://api.example.com/users/1", "curl localhost:9200/_all"],
        ),
];

/// `FLUSHALL` in any case.
fn flushes(word: &str, _: &crate::command::walk::Place) -> bool {
    word.eq_ignore_ascii_case("flushall") || word.eq_ignore_ascii_case("flushdb")
}
