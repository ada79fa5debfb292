//! Destructive commands for databases that drop, wipe or overwrite by a restore. SQL statements are evaluated
//! elsewhere.

use super::{
    Rule,
    When::{Flag, Line, Named, NoFlag, Operand, Text},
    rule,
};
use crate::{place::Place, word::Word};

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
    rule("redis-cli valkey-cli keydb-cli", "deletes every key that it is given")
        .when(&[Line(deletes_unknown_keys)])
        .examples(
            &["redis-cli KEYS '*' | xargs redis-cli DEL", "redis-cli --scan | xargs -L 100 redis-cli unlink"],
            &["redis-cli del x", "redis-cli get $k"],
        ),
    rule("dropuser", "removes a user of a database").examples(&["dropuser x"], &["createuser x"]),
    rule("memcflush memccapable", "empties the store")
        .when(&[NoFlag("--help --version")])
        .examples(&["memcflush --servers=h"], &["memcflush --help"]),
    rule("sqlx diesel sea-orm-cli dbmate goose sql-migrate migrate atlas rake-db piccolo aerich", "drops the database")
        .sub(
            "database drop|database reset|drop|reset|migrate fresh|migrate reset|schema clean|down --all|migrate down \
             --all",
        )
        .examples(
            &[
                "sqlx database drop -y",
                "diesel database reset",
                "dbmate drop",
                "sea-orm-cli migrate fresh",
                "atlas schema clean -u x",
            ],
            &["sqlx database create", "dbmate up", "diesel migration run", "migrate up"],
        ),
    rule("goose migrate", "takes every migration back").when(&[Line(takes_everything_back)]).examples(
        &["migrate -path x -database y drop -f", "migrate -database y down -all", "goose postgres x reset"],
        &["migrate -path x up", "goose postgres x up", "migrate -database y down 1"],
    ),
    rule("wp", "drops or empties the database of a site")
        .sub("db reset|db drop|db clean|site empty|site delete")
        .examples(&["wp db reset --yes", "wp site empty --yes"], &["wp db export", "wp plugin list"]),
    rule("drush", "drops the database of a site")
        .when(&[Named("sql-drop sql:drop site:install site-install si")])
        .examples(&["drush sql-drop -y", "drush sql:drop"], &["drush status"]),
    rule("drizzle-kit", "drops what migrations made")
        .sub("drop")
        .examples(&["npx drizzle-kit drop"], &["drizzle-kit generate"]),
    rule("flask", "takes every migration back")
        .sub("db downgrade base")
        .examples(&["flask db downgrade base"], &["flask db upgrade", "flask db downgrade"]),
    rule("knex", "takes every migration back")
        .sub("migrate:rollback")
        .when(&[Flag("--all")])
        .examples(&["npx knex migrate:rollback --all"], &["knex migrate:latest", "knex migrate:rollback"]),
    rule("hasura", "takes every migration back")
        .when(&[Text("--down-all-migrations")])
        .examples(&["hasura migrate apply --down-all-migrations"], &["hasura migrate apply"]),
];

/// Returns true for `FLUSHALL` and `FLUSHDB` in any letter case.
fn flushes(word: &str, _: &Place) -> bool {
    word.eq_ignore_ascii_case("flushall") || word.eq_ignore_ascii_case("flushdb")
}

/// Returns true for `del` and `unlink` with keys that another command lists.
fn deletes_unknown_keys(words: &[Word], _: &Place) -> bool {
    let deletes = |word: &Word| ["del", "unlink"].iter().any(|verb| word.text().eq_ignore_ascii_case(verb));
    let at = words.iter().position(deletes);
    at.and_then(|at| words.get(at..)).is_some_and(|keys| keys.iter().any(|key| key.is_open() || key.has_output()))
}

/// Returns true if the command ends with `reset`, `drop`, `drop -f`, `down -all` or `down --all`.
fn takes_everything_back(words: &[Word], _: &Place) -> bool {
    let last: Vec<&str> = words.iter().rev().filter(|word| !word.is_wild()).take(2).map(Word::text).collect();
    matches!(last.as_slice(), ["reset" | "drop", ..] | ["-all" | "--all", "down"] | ["-f", "drop"])
}
