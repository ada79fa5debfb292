//! Predicates on requests that delete or publish at a store or a platform.

use crate::{lang::sql, place::Place, predicates::addresses::decoded as unescaped, word::Word};

/// Ports of stores and daemons whose `DELETE` removes a whole index, database or volume.
const PORTS: &[&str] = &[
    "9200", "9201", "9243", "5984", "6984", "6333", "8123", "8086", "8983", "7700", "8108", "8500", "2375", "2376",
    "15672", "6443", "8529", "7474", "8091", "19530", "8428", "4001", "4200", "8181", "8882",
];

/// Ports of databases that read statements from a request.
const STATEMENT_PORTS: &[&str] = &["8123", "8443", "8086", "4200", "4001", "8529", "8047", "8882", "9047"];

/// Hosts whose `DELETE` removes infrastructure or a repository.
const PLATFORMS: &[&str] = &[
    "api.github.com",
    "gitlab.com",
    "api.bitbucket.org",
    "api.heroku.com",
    "api.digitalocean.com",
    "api.cloudflare.com",
    "api.vercel.com",
    "api.netlify.com",
    "api.hetzner.cloud",
    "api.linode.com",
    "api.machines.dev",
    "api.fly.io",
    "backboard.railway.app",
    "backboard.railway.com",
    "management.azure.com",
    "googleapis.com",
    "amazonaws.com",
    "registry.npmjs.org",
    "hub.docker.com",
    "console.neon.tech",
    "api.supabase.com",
    "api.render.com",
    "api.scaleway.com",
    "api.vultr.com",
    "cloud.mongodb.com",
    "api.planetscale.com",
    "huggingface.co",
];

/// The parts of an address that the rules here need.
#[derive(Debug)]
struct Address<'a> {
    host: &'a str,
    port: &'a str,
    path: &'a str,
}

fn address(word: &str) -> Option<Address<'_>> {
    if word.starts_with('-') || word.contains(char::is_whitespace) {
        return None;
    }
    let rest = word.split_once("://").map_or(word, |(_, rest)| rest);
    let (authority, path) = rest.find(['/', '?']).map_or((rest, ""), |at| rest.split_at(at));
    let authority = authority.rsplit('@').next().unwrap_or(authority);
    let (host, port) = authority.rsplit_once(':').unwrap_or((authority, ""));
    Some(Address { host, port, path })
}

fn addresses(words: &[Word]) -> impl Iterator<Item = Address<'_>> {
    words.iter().filter_map(|word| address(word.text()))
}

/// Returns true if a word gives the method `DELETE` in any form: `-X DELETE`, `-sXDELETE`, `--method=DELETE`.
fn asks_to_delete(words: &[Word]) -> bool {
    words.iter().any(|word| {
        let text = word.text();
        let start = text.len().checked_sub("DELETE".len());
        let named = start.and_then(|start| text.split_at_checked(start));
        named.is_some_and(|(before, method)| {
            method.eq_ignore_ascii_case("DELETE")
                && (before.is_empty()
                    || before.starts_with("--") && before.ends_with('=')
                    || before.starts_with('-') && before.ends_with(['x', 'X']))
        })
    })
}

pub(crate) fn deletion_in_store(words: &[Word], _: &Place) -> bool {
    let deletes = asks_to_delete(words);
    let to_the_daemon =
        words.iter().any(|word| word.text().ends_with("docker.sock") || word.text().ends_with("podman.sock"));
    addresses(words).any(|address| {
        let one_document = address.path.contains("/_doc/") || address.path.contains("/documents/");
        let kept = address.path.trim_matches('/').starts_with(|c: char| c != '?');
        let everything = ["/_all", "/*", "/_search"].iter().any(|all| address.path.starts_with(all));
        let whole = PORTS.contains(&address.port) && kept && !one_document;
        (deletes && (whole || everything || to_the_daemon))
            || address.path.contains("/_delete_by_query")
            || (to_the_daemon && address.path.ends_with("/prune"))
            || (address.path.contains("/solr/") && solr_deletes(words))
    })
}

fn solr_deletes(words: &[Word]) -> bool {
    let deletes = ["action=delete", "action=unload", "<delete>", "\"delete\":{\"query\""];
    words.iter().any(|word| {
        // `http` sends `name==value` as a parameter.
        let plain = unescaped(word.text()).to_ascii_lowercase().replace("==", "=");
        deletes.iter().any(|sign| plain.contains(sign))
    })
}

pub(crate) fn deletion_at_platform(words: &[Word], _: &Place) -> bool {
    let is = |host: &str, known: &str| {
        host.strip_suffix(known).is_some_and(|before| before.is_empty() || before.ends_with('.'))
    };
    asks_to_delete(words)
        && addresses(words).any(|address| {
            PLATFORMS.iter().any(|known| is(address.host, known)) || address.path.starts_with("/api/v4/projects/")
        })
}

pub(crate) fn destructive_statement(words: &[Word], _: &Place) -> bool {
    let reads = addresses(words).any(|address| {
        let queried = ["/query", "/sql", "/exec", "/_sql"].iter().any(|path| address.path.starts_with(path));
        STATEMENT_PORTS.contains(&address.port) || queried
    });
    reads
        && words.iter().any(|word| {
            let value = |text: &str| text.split_once('=').map(|(_, value)| value.to_owned());
            let plain = decoded(word.text());
            [value(&plain), Some(plain)].into_iter().flatten().any(|text| sql::destroys(&text).is_some())
        })
}

/// Decodes the blanks and the escapes of a URL.
fn decoded(text: &str) -> String {
    unescaped(&text.replace('+', " "))
}

/// Returns true for a mutation that deletes, or for a setting that makes a private repository public.
pub(crate) fn destructive_mutation(words: &[Word], _: &Place) -> bool {
    words.iter().any(|word| {
        let plain: String =
            word.text().chars().filter(|c| !c.is_whitespace() && !matches!(c, '"' | '\'' | '\\')).collect();
        let asks = plain.contains("mutation")
            && ["delete", "Delete", "destroy", "Destroy"].iter().any(|verb| plain.contains(verb));
        asks || ((plain.contains("private:false")
            || plain.contains("private=false")
            || plain.contains("visibility:public")
            || plain.contains("visibility=public"))
            && words.iter().any(|word| word.text().contains("repos/") || word.text().contains("/projects/")))
    })
}
