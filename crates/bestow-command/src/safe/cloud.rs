//! Read-only commands of clouds and hosting platforms.

use super::{Spec, spec};
use crate::{options::Options, word::Word};

pub(super) const SPECS: &[Spec] = &[
    spec("aws", "").raw(aws_reads).examples(
        &[
            "aws s3 ls",
            "aws s3 ls s3://b/p --recursive",
            "aws ec2 describe-instances --output json",
            "aws sts get-caller-identity",
            "aws --profile p iam list-users",
            "aws logs tail g --since 1h",
        ],
        &[
            "aws s3 rm s3://b/x",
            "aws ec2 run-instances",
            "aws s3 cp a s3://b",
            "aws --endpoint-url http://x s3 ls",
            "aws s3 ls --endpoint http://x",
            "aws ec2 describe-instances --filters file://x",
            "aws s3 ls s3://$SECRET",
            "aws secretsmanager get-secret-value --secret-id x",
            "aws s3api get-object --bucket b --key k f",
            "aws configure set a b",
            "aws s3 --quiet cp ls s3://b/x",
            "aws ec2 terminate-instances --instance-ids i",
        ],
    ),
    spec("gcloud", "").raw(gcloud_reads).examples(
        &[
            "gcloud compute instances list",
            "gcloud projects describe p",
            "gcloud config list",
            "gcloud auth list",
            "gcloud container clusters list --format=json",
            "gcloud logging read 'x' --limit 5",
        ],
        &[
            "gcloud compute instances delete x",
            "gcloud config set project p",
            "gcloud auth print-access-token",
            "gcloud compute ssh x",
            "gcloud compute instances --async delete list",
            "gcloud run deploy x",
            "gcloud --flags-file f projects list",
            "gcloud secrets versions access 1 --secret x",
        ],
    ),
    spec("az", "").raw(az_reads).examples(
        &["az vm list -o table", "az account show", "az group list", "az aks show -n x -g y"],
        &[
            "az vm delete -n x",
            "az group delete -n x",
            "az login",
            "az account get-access-token",
            "az keyvault secret show --name x",
            "az vm start -n x",
            "az vm show -n @/etc/passwd",
            "az config set a=b list",
            "az rest --method delete --url x",
        ],
    ),
    spec("gsutil", "-s -c -e -l -L -h -r -a -b -d -m -q -R")
        .sub("ls|du|stat|version|cat|hash")
        .online_for("ls|du|stat|cat")
        .examples(&["gsutil ls gs://b"], &["gsutil rm gs://b/x", "gsutil cp a gs://b", "gsutil -o x ls"]),
    spec("heroku", "-a: -n: -t -s: -d: -j --app: --num: --tail --source: --json --team: --all -A -p:")
        .sub(
            "apps|apps:info|info|ps|logs|releases|addons|domains|status|regions|auth:whoami|whoami|buildpacks|pg:info|\
             pg:ps|access|features|pipelines|stack|releases:info|version",
        )
        .asking(no_change)
        .examples(
            &["heroku apps", "heroku logs --tail -a x", "heroku ps"],
            &["heroku ps:scale web=0", "heroku apps:destroy x", "heroku run bash", "heroku config"],
        ),
    spec("fly flyctl", "-a: -j --app: --json --all -i: -r: --no-tail -n")
        .sub(
            "status|logs|apps list|machine list|machines list|releases|regions list|volumes list|ips list|scale show|\
             services list|checks list|platform regions|auth whoami|config show|postgres list|image show",
        )
        .examples(&["fly status", "fly logs -a x"], &["fly deploy", "fly apps destroy x", "fly ssh console"]),
    spec("fly flyctl", "--json").sub("version").none().offline().examples(&["fly version"], &["fly version upgrade"]),
    spec("vercel", "-S: --scope: --json -F: --no-color")
        .sub(
            "ls|list|inspect|logs|whoami|teams ls|domains ls|project ls|projects ls|certs ls|dns ls|alias ls|env ls|\
             target ls",
        )
        .examples(
            &["vercel ls", "vercel whoami"],
            &["vercel deploy", "vercel --prod", "vercel rm x", "vercel", "vercel env pull"],
        ),
    spec("netlify ntl", "--json")
        .sub("status|sites:list|functions:list|watch|status:hooks|logs:function")
        .examples(&["netlify status"], &["netlify deploy", "netlify sites:delete"]),
    spec("railway", "--json -s: -e: --service: --environment:").sub("status|logs|whoami|list|version").examples(
        &["railway status", "railway logs"],
        &["railway up", "railway run x", "railway variables --set a=b", "railway down"],
    ),
    spec(
        "supabase firebase wrangler doctl linode-cli hcloud scw oci ibmcloud",
        "-o: --output: --format: --json --project: --no-header --linked --region: --cloud",
    )
    .sub(
        "status|projects list|projects:list|apps:list|functions list|functions:list|migration list|whoami|account get|\
         auth list|compute droplet list|kubernetes cluster list|databases list|apps list|server list|volume list|\
         network list|linodes list|deployments list|kv namespace list|d1 list|r2 bucket list|hosting:channel:list|\
         orgs list|branches list|pages project list|login:list|versions list|regions|region list|context list|\
         account balance get",
    )
    .examples(
        &["wrangler whoami", "doctl compute droplet list", "supabase status", "hcloud server list"],
        &["wrangler deploy", "doctl compute droplet delete 1", "supabase db reset", "firebase deploy"],
    ),
    spec("vault consul nomad", "-format: -namespace: -detailed -verbose -json -short")
        .sub(
            "status|version|kv list|secrets list|auth list|policy list|policy read|members|node status|job status|\
             server members|catalog services|catalog nodes|operator raft list-peers|namespace list|alloc status|\
             catalog datacenters",
        )
        .examples(
            &["vault status", "consul members", "nomad job status x"],
            &["vault kv get secret/x", "vault kv delete x", "consul kv put a b", "nomad job stop x"],
        ),
    spec("stripe twilio sentry-cli snyk", "")
        .sub("version|info|whoami|projects list|releases list|organizations list")
        .none()
        .examples(&["sentry-cli info"], &["stripe trigger x", "snyk monitor"]),
];

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
        if text.contains('=') || bare.contains(&text) {
            continue;
        }
        if !VALUED.contains(&text) && !has_verb(&words) {
            return Err("an option in front of the verb is not on the list".into());
        }
        if rest.peek().is_some_and(|next| !next.text().starts_with('-')) {
            rest.next();
        }
    }
    Ok(words)
}

/// Refuses options that redirect a request, run a program, or read options from a file, including their abbreviations.
/// Also refuses values from a file or an address.
fn no_option(rest: &[Word], names: &[&str]) -> Result<(), String> {
    let named = |word: &Word| {
        let option = word.text().split('=').next().unwrap_or_default();
        option.len() > 3 && option.starts_with("--") && names.iter().any(|name| name.starts_with(option))
    };
    let from_elsewhere = |word: &Word| {
        let value = word.text().split_once('=').filter(|_| word.text().starts_with('-')).map_or(word.text(), |it| it.1);
        value.starts_with('@')
            || ["file://", "fileb://", "http://", "https://"].iter().any(|start| word.text().contains(start))
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
    "parameter",
    "connection-string",
    "login",
    "keys",
    "print-",
];

fn is_secret(words: &[&str]) -> bool {
    words.iter().take(5).any(|word| SECRET_WORDS.iter().any(|secret| word.contains(secret)))
}

fn aws_reads(rest: &[Word]) -> Result<(), String> {
    no_option(
        rest,
        &[
            "--endpoint-url",
            "--cli-input-json",
            "--cli-input-yaml",
            "--ca-bundle",
            "--cli-binary-format",
            "--generate-cli-skeleton",
            "--outfile",
            "--cli-auto-prompt",
            "--save-as",
        ],
    )?;
    let words = verbs(
        rest,
        &[
            "--no-cli-pager",
            "--debug",
            "--no-paginate",
            "--recursive",
            "--human-readable",
            "--summarize",
            "--no-verify-ssl",
            "--no-sign-request",
            "--follow",
        ],
        |words| words.len() >= 2,
    )?;
    match words.as_slice() {
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

fn gcloud_reads(rest: &[Word]) -> Result<(), String> {
    no_option(rest, &["--flags-file", "--access-token-file", "--impersonate-service-account", "--log-http"])?;
    let bare = ["--quiet", "-q", "--uri", "--verbose", "--show-labels", "--flatten"];
    let words = verbs(rest, &bare, |words| words.iter().any(|word| GCLOUD_VERBS.contains(word)))?;
    let end = words.iter().take(6).position(|word| GCLOUD_VERBS.contains(word));
    // An unknown word before the verb may be another verb. Then the known verb would be an operand.
    if matches!(words.as_slice(), ["storage", "ls" | "cat" | "du", ..] | ["builds", "log", _]) {
        return Ok(());
    }
    match end {
        Some(end)
            if words.iter().take(end).all(|word| GCLOUD_GROUPS.contains(word))
                && (!is_secret(&words) || words.get(end) == Some(&"list")) =>
        {
            Ok(())
        }
        _ => Err("it is not known to only read".into()),
    }
}

const GCLOUD_GROUPS: &[&str] = &[
    "accounts",
    "addresses",
    "alpha",
    "api-gateway",
    "app",
    "artifacts",
    "auth",
    "backends",
    "backend-services",
    "backups",
    "beta",
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
    "docker",
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
    "run",
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
const AZ_CHANGES: &[&str] =
    &["set", "unset", "add", "delete", "remove", "create", "update", "clear", "purge", "import", "upgrade"];

fn az_reads(rest: &[Word]) -> Result<(), String> {
    no_option(rest, &[])?;
    let bare = ["--verbose", "--debug", "--only-show-errors", "-d", "--show-details", "--all"];
    let words = verbs(rest, &bare, |words| words.last().is_some_and(|word| AZ_VERBS.contains(word)))?;
    match words.split_last() {
        Some((verb, before))
            if AZ_VERBS.contains(verb)
                && !is_secret(before)
                && !before.contains(&"rest")
                && !before.contains(&"keyvault")
                && !before.iter().any(|word| AZ_CHANGES.contains(word)) =>
        {
            Ok(())
        }
        _ => Err("it is not known to only read".into()),
    }
}

/// Accepts at most one operand. `heroku apps x` only shows an app; further operands may change something.
fn no_change(options: &Options<'_>) -> Result<(), String> {
    if options.operands.len() <= 1 { Ok(()) } else { Err("its operands may name something to change".into()) }
}
