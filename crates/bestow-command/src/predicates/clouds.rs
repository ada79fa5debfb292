//! Predicates on the words of the clients of clouds.

use crate::{predicates::Answer, word::Word};

/// Options before a verb whose value is the next word.
const VALUED: &[&str] = &[
    "--profile",
    "--region",
    "--output",
    "-o",
    "--query",
    "--format",
    "--project",
    "--account",
    "--zone",
    "--filter",
    "--flatten",
    "--subscription",
    "--resource-group",
    "-g",
    "--configuration",
    "--verbosity",
    "--color",
];

/// The limit of groups, verbs and operands. Real commands have fewer.
const MAX_VERBS: usize = 64;

/// Returns the words that are neither options nor their values. Every option before the verb must be known: an unknown
/// option without a value would otherwise hide the verb.
fn verbs<'a>(rest: &'a [Word], bare: &[&str], has_verb: fn(&[&str]) -> bool) -> Result<Vec<&'a str>, String> {
    let mut words = Vec::new();
    let mut rest = rest.iter().peekable();
    while let Some(word) = rest.next() {
        if word.may_be_option() || (!has_verb(&words) && !word.is_exact()) {
            return Err("an expansion may turn into an option".into());
        }
        let text = word.text();
        if words.len() > MAX_VERBS {
            return Err("more words than are read".into());
        }
        if !text.starts_with('-') {
            words.push(text);
            continue;
        }
        // Behind the verb, an option may be abbreviated.
        let is_abbreviated = || text.len() > 2 && bare.iter().any(|option| option.starts_with(text));
        if text.contains('=') || bare.contains(&text) || (has_verb(&words) && is_abbreviated()) {
            continue;
        }
        if !VALUED.contains(&text) && !has_verb(&words) {
            return Err("an option in front of the verb is not on the list".into());
        }
        // An option that denies something takes no value.
        if !text.starts_with("--no-") && rest.peek().is_some_and(|next| !next.text().starts_with('-')) {
            rest.next();
        }
    }
    Ok(words)
}

/// Refuses options that redirect a request, run a program, or read options from a file, including their abbreviations.
/// Also refuses values from a file or an address.
fn no_option(rest: &[Word], names: &[&str]) -> Answer {
    let named = |word: &Word| {
        let option = word.text().split('=').next().unwrap_or_default();
        option.len() > 2 && option.starts_with("--") && names.iter().any(|name| name.starts_with(option))
    };
    let from_elsewhere = |word: &Word| {
        let value = word.text().split_once('=').filter(|_| word.text().starts_with('-')).map_or(word.text(), |it| it.1);
        let text = word.text().to_ascii_lowercase();
        value.starts_with('@')
            || ["file://", "fileb://", "http://", "https://"].iter().any(|start| text.contains(start))
    };
    // The values of a query may be in a JSON file next to the project. Files elsewhere must not be sent.
    let beside = |word: &Word| {
        let path = word.text().strip_prefix("file://").unwrap_or("/");
        let elsewhere = path.starts_with(['/', '~', '.']) || path.contains("..") || path.contains("/.");
        let secret = ["cred", "secret", "key", "token", "pass", "account"].iter().any(|name| path.contains(name));
        word.is_exact() && !elsewhere && !secret && path.ends_with(".json")
    };
    match rest.iter().find(|word| named(word) || (from_elsewhere(word) && !beside(word))) {
        Some(_) => Err("an option that is not on the list".into()),
        None => Ok(()),
    }
}

const SECRET_WORDS: &[&str] = &[
    "secret",
    "password",
    "token",
    "credential",
    "private-key",
    "ssh-key",
    "access-key",
    "api-key",
    "parameter",
    "connection-string",
    "login",
    "keys",
    "print-",
];

fn is_secret(words: &[&str]) -> bool {
    words.iter().take(5).any(|word| SECRET_WORDS.iter().any(|secret| word.contains(secret)))
}

/// Options of `aws` that read or write other files, or that send the request elsewhere.
const AWS_OTHERS: &[&str] = &[
    "--endpoint-url",
    "--cli-input-json",
    "--cli-input-yaml",
    "--ca-bundle",
    "--cli-binary-format",
    "--generate-cli-skeleton",
    "--outfile",
    "--cli-auto-prompt",
    "--save-as",
];

/// Options of `aws` without a value.
const AWS_BARE: &[&str] = &[
    "--no-cli-pager",
    "--no-cli-auto-prompt",
    "--debug",
    "--v2-debug",
    "--no-paginate",
    "--recursive",
    "--human-readable",
    "--summarize",
    "--no-verify-ssl",
    "--no-sign-request",
    "--follow",
    "--dryrun",
];

/// Operations of `aws` that write the file that their last word names, change something, or issue credentials, in spite
/// of their verb.
const AWS_NOT_READING: &[&str] = &[
    "describe-input-device-thumbnail",
    "describe-user-pool-client",
    "describe-vpn-connections",
    "get-activity-task",
    "get-backend-auth",
    "get-chunk",
    "get-clip",
    "get-code-binding-source",
    "get-configuration",
    "get-compute-access",
    "get-connection",
    "get-connection-function",
    "get-credentials-for-identity",
    "get-data-access",
    "get-export",
    "get-external-data-view-access-details",
    "get-function",
    "get-game-session-log",
    "get-glyphs",
    "get-hosted-configuration-version",
    "get-ice-server-config",
    "get-id",
    "get-image-frame",
    "get-image-set-metadata",
    "get-instance-access",
    "get-instance-access-details",
    "get-introspection-schema",
    "get-job-details",
    "get-job-output",
    "get-latest-configuration",
    "get-lineage-event",
    "get-map-glyphs",
    "get-map-sprites",
    "get-map-style-descriptor",
    "get-map-tile",
    "get-media",
    "get-media-for-fragment-list",
    "get-object",
    "get-object-metadata",
    "get-object-torrent",
    "get-oidc-info",
    "get-open-id-token",
    "get-package-version-asset",
    "get-position-estimate",
    "get-profile",
    "get-raw-message-content",
    "get-read-set",
    "get-reference",
    "get-registration-code",
    "get-resource-position",
    "get-sdk",
    "get-session-endpoint",
    "get-snapshot-block",
    "get-sol-function-package-content",
    "get-sol-function-package-descriptor",
    "get-sol-network-package-content",
    "get-sol-network-package-descriptor",
    "get-sprites",
    "get-static-map",
    "get-style-descriptor",
    "get-thing-shadow",
    "get-third-party-job-details",
    "get-tile",
    "get-work-unit-results",
    "list-api-keys",
    "list-user-pool-client-secrets",
];

/// Returns the words without options that change nothing of what is asked, or `None` if there is another option. An
/// option is written with its whole name.
fn without_options(rest: &[Word]) -> Option<Vec<&str>> {
    const VALUED: &[&str] = &["--profile", "--region"];
    const BARE: &[&str] = &["--no-sign-request", "--no-cli-pager", "--no-progress", "--only-show-errors", "--quiet"];
    let (mut words, mut rest) = (Vec::new(), rest.iter());
    while let Some(word) = rest.next() {
        if VALUED.contains(&word.text()) {
            // A `-` is no operand here.
            rest.next().filter(|value| value.is_exact() && !value.text().starts_with('-'))?;
        } else if !BARE.contains(&word.text()) {
            words.push(Some(word.text()).filter(|text| word.is_exact() && (*text == "-" || !text.starts_with('-')))?);
        }
        if words.len() > MAX_VERBS {
            return None;
        }
    }
    Some(words)
}

pub(crate) fn aws_words(rest: &[Word]) -> Answer {
    match without_options(rest).as_deref() {
        Some(["s3", "cp", source, "-"]) if source.starts_with("s3://") => return Ok(()),
        Some(["configure", "get", "region" | "output"]) => return Ok(()),
        _ => {}
    }
    no_option(rest, AWS_OTHERS)?;
    let words = verbs(rest, AWS_BARE, |words| words.len() >= 2)?;
    // Words after `--` are operands.
    let dry = rest.iter().any(|word| word.is_exact() && word.text() == "--dryrun")
        && !rest.iter().any(|word| word.text() == "--");
    match words.as_slice() {
        ["s3", "rm", _] if dry => Ok(()),
        // A download creates the directory of its target even then.
        ["s3", "cp" | "mv" | "sync", _, target] if dry && target.starts_with("s3://") => Ok(()),
        ["help"] | ["s3", "ls", ..] => Ok(()),
        ["sts", "get-caller-identity", ..] | ["configure", "list" | "list-profiles", ..] | ["logs", "tail", ..] => {
            Ok(())
        }
        [service, verb, rest @ ..] => {
            let reads =
                ["describe-", "list-", "batch-get-", "lookup-", "filter-"].iter().any(|start| verb.starts_with(start))
                    || matches!(*verb, "wait" | "help" | "head-object" | "head-bucket")
                    || (verb.starts_with("get-")
                        && !matches!(
                            *service,
                            "secretsmanager" | "ssm" | "s3api" | "sts" | "kms" | "lambda" | "codecommit"
                        )
                        && rest.is_empty());
            let reads = reads
                || (*service == "dynamodb" && matches!(*verb, "scan" | "query"))
                || (*service == "s3api" && verb.starts_with("get-bucket-") && rest.is_empty());
            let reads = reads && !AWS_NOT_READING.contains(verb);
            let names_only = verb.starts_with("describe-") || verb.starts_with("list-");
            if reads && (names_only || !is_secret(&[verb])) {
                Ok(())
            } else {
                Err("it is not known to only read".into())
            }
        }
        _ => Err("it is not known to only read".into()),
    }
}

const GCLOUD_VERBS: &[&str] =
    &["list", "describe", "info", "version", "get-value", "read", "get-iam-policy", "list-tags", "tail"];

/// Options of `gcloud` that read or write other files, or that send the request elsewhere.
const GCLOUD_OTHERS: &[&str] = &[
    "--flags-file",
    "--access-token-file",
    "--authorization-token-file",
    "--capture-session-file",
    "--credential-file-override",
    "--impersonate-service-account",
    "--log-http",
    "--trace-token",
    "--universe-domain",
];

/// Returns true for words that are groups at this place. `jobs run` would run the job that a verb names, and `docker`
/// would start the program of this name.
fn are_groups(words: &[&str]) -> bool {
    let words = match words {
        ["alpha" | "beta", rest @ ..] => rest,
        _ => words,
    };
    words.iter().enumerate().all(|(at, word)| match *word {
        "run" => at == 0,
        "docker" => at == 1 && words.first() == Some(&"artifacts"),
        word => GCLOUD_GROUPS.contains(&word),
    })
}

/// Returns true if `gcloud` may install a missing component without a question.
fn may_install(rest: &[Word], words: &[&str]) -> bool {
    let is_quiet = |word: &Word| {
        let option = word.text().split('=').next().unwrap_or_default();
        option.starts_with("-q") || (option.len() > 2 && "--quiet".starts_with(option))
    };
    words.iter().any(|word| matches!(*word, "alpha" | "beta")) && rest.iter().any(is_quiet)
}

pub(crate) fn gcloud_words(rest: &[Word]) -> Answer {
    no_option(rest, GCLOUD_OTHERS)?;
    let words = verbs(rest, &["--quiet", "-q", "--uri"], |words| words.iter().any(|word| GCLOUD_VERBS.contains(word)))?;
    if may_install(rest, &words) {
        return Err("it may install a component".into());
    }
    let end = words.iter().take(6).position(|word| GCLOUD_VERBS.contains(word));
    // An unknown word before the verb may be another verb. Then the known verb would be an operand.
    if matches!(
        words.as_slice(),
        ["storage", "ls" | "cat" | "du", ..]
            | ["builds", "log", _]
            | ["config", "get", _]
            | ["secrets", "list"]
            | ["secrets", "versions", "list", _]
    ) {
        return Ok(());
    }
    match end {
        Some(end)
            if words.get(..end).is_some_and(are_groups) && (!is_secret(&words) || words.get(end) == Some(&"list")) =>
        {
            Ok(())
        }
        _ => Err("it is not known to only read".into()),
    }
}

const GCLOUD_GROUPS: &[&str] = &[
    "accounts",
    "addresses",
    "api-gateway",
    "app",
    "artifacts",
    "auth",
    "backends",
    "backend-services",
    "backups",
    "bigtable",
    "billing",
    "builds",
    "buckets",
    "certificates",
    "clusters",
    "components",
    "compute",
    "config",
    "configurations",
    "container",
    "databases",
    "dataflow",
    "dataproc",
    "datasets",
    "deployments",
    "disk-types",
    "disks",
    "dns",
    "domains",
    "endpoints",
    "environments",
    "filestore",
    "firestore",
    "firewall-rules",
    "folders",
    "forwarding-rules",
    "functions",
    "health-checks",
    "iam",
    "images",
    "indexes",
    "instance-groups",
    "instance-templates",
    "instances",
    "jobs",
    "keyrings",
    "kms",
    "locations",
    "logging",
    "logs",
    "machine-types",
    "managed",
    "managed-zones",
    "memcache",
    "metrics",
    "monitoring",
    "networks",
    "node-pools",
    "operations",
    "organizations",
    "policies",
    "project-info",
    "projects",
    "pubsub",
    "quotas",
    "record-sets",
    "redis",
    "regions",
    "repositories",
    "resource-manager",
    "revisions",
    "roles",
    "routers",
    "routes",
    "scheduler",
    "service-accounts",
    "services",
    "sinks",
    "snapshots",
    "spanner",
    "sql",
    "ssl-certificates",
    "storage",
    "subnets",
    "subscriptions",
    "tags",
    "target-pools",
    "tasks",
    "topics",
    "triggers",
    "url-maps",
    "users",
    "versions",
    "workflows",
    "zones",
];

const AZ_VERBS: &[&str] =
    &["list", "show", "version", "exists", "tail", "list-locations", "list-sizes", "list-skus", "list-usage"];

/// Words after which a word that looks like a verb is an operand.
const AZ_CHANGES: &[&str] = &[
    "set", "unset", "add", "delete", "remove", "create", "update", "clear", "purge", "import", "upgrade", "run",
    "build", "invoke", "start", "stop", "restart", "deploy", "execute", "push", "publish",
];

/// Returns true if a word that looks like a verb is an operand of these words.
fn az_changes(words: &[&str]) -> bool {
    let words = match words {
        ["pipelines", "build"] => &[],
        _ => words,
    };
    words.iter().any(|word| AZ_CHANGES.contains(word))
}

/// Returns true if the words name settings or keys that `az` prints in clear.
fn az_shows_secrets(words: &[&str]) -> bool {
    const SHOWN: &[&str] = &[
        "access-policy",
        "admin-key",
        "appsettings",
        "device-identity",
        "key",
        "kv",
        "nv",
        "query-key",
        "shared-key",
        "test-endpoint",
    ];
    words.iter().any(|word| SHOWN.contains(word)) || words.contains(&"iot") && words.contains(&"policy")
}

pub(crate) fn az_words(rest: &[Word]) -> Answer {
    no_option(rest, &["--refresh", "--include-secrets", "--msbot"])?;
    let words = verbs(rest, &["--verbose", "--debug", "--only-show-errors"], |words| {
        words.last().is_some_and(|word| AZ_VERBS.contains(word))
    })?;
    match words.split_last() {
        Some((verb, before))
            if AZ_VERBS.contains(verb)
                && !is_secret(before)
                && !az_shows_secrets(before)
                && !before.contains(&"rest")
                && !before.contains(&"keyvault")
                && !az_changes(before) =>
        {
            Ok(())
        }
        _ => Err("it is not known to only read".into()),
    }
}
