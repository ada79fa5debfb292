//! Programs that need the network, in addition to the uses that the safe list describes.

use std::sync::LazyLock;

use foldhash::{HashMap, HashSet};

use super::hosts;
use crate::{
    destroy::{Words, occurs},
    safe,
    word::Word,
};

/// The uses of a program that need the network.
#[derive(Clone, Copy, Debug)]
enum Uses {
    All,
    /// All uses except those with one of these subcommands as the first word.
    AllBut(&'static str),
    /// The uses with one of these subcommands.
    Sub(&'static str),
    /// The uses with one of these subcommands (first field) and one of these options (second field).
    SubWith(&'static str, &'static str),
    /// The uses with one of these subcommands, which may be abbreviated.
    Begun(&'static str),
    /// The uses without a subcommand.
    Bare,
    /// The uses with one of these options.
    With(&'static str),
    /// The uses with one of these options and a value that is not a path.
    Told(&'static str),
    /// The uses with a path on another machine.
    Remote,
    /// The uses with a database on another machine.
    Database,
}
use Uses::{All, AllBut, Bare, Begun, Database, Remote, Sub, SubWith, Told, With};

/// Rows of programs, separated by blanks, and their uses.
const ROWS: &[(&str, Uses)] = &[
    // Programs that query, fetch, send or listen.
    (
        "ab apachebench aria2c autossh axel bandwhich chisel cloudflared croc curlie ddosify dhclient dnsx elinks \
         ffuf filezilla ftp ghz gobuster grpcurl h2load http.server httpie httpx hydra iperf iperf3 k6 kinit \
         ldapadd ldapdelete ldapmodify ldapsearch lftp lftpget links locust lynx magic-wormhole mailx masscan mosh \
         mosh-client mpack msmtp mutt ncftp ncftpget neomutt ngrep ngrok nikto nmap ntpdate nuclei openvpn pdsh dsh \
         pscp pssh psftp plink rcp rdate rexec rlogin rpcclient rpcinfo rsh sendmail sftp showmount smbclient \
         smbget sntp snmpget snmpset snmpwalk sqlmap ssh ssh-copy-id sshfs sshuttle sslscan subfinder swaks \
         tailscale tcpdump telnet testssl.sh tftp tor transmission-cli tshark vegeta w3m websocat whatweb wormhole \
         wpscan wrk wscat wsc youtube-dl yt-dlp zmap scp socat rclone",
        All,
    ),
    ("rsync mount unison borg rdiff-backup restic duplicity", Remote),
    ("openssl", Sub("s_client|s_server|s_time|ocsp|cmp")),
    (
        "gpg gpg2",
        With(
            "--recv-keys --receive-keys --refresh-keys --search-keys --send-keys --locate-keys --fetch-keys \
             --auto-key-locate --locate-external-keys --keyserver",
        ),
    ),
    ("systemctl journalctl hostnamectl timedatectl loginctl busctl", Told("-H --host")),
    ("logger", Told("-n --server")),
    // Databases, unless they are files or sockets of this machine.
    (
        "psql pg_dump pg_dumpall pg_restore pg_basebackup pgcli createdb dropdb createuser dropuser vacuumdb \
         reindexdb clusterdb pgbench mysql mariadb mysqldump mariadb-dump mysqladmin mysqlimport mysqlshow \
         mysqlcheck mycli",
        Told("-h --host"),
    ),
    ("psql pgcli pg_dump pg_dumpall pg_restore createdb dropdb mycli", Database),
    (
        "bcp clickhouse-client cqlsh influx memcached-tool mongo mongodump mongoexport mongoimport mongorestore \
         mongosh nats redis-cli sqlcmd sqlplus usql valkey-cli kafkacat kcat etcdctl",
        All,
    ),
    // Repositories.
    (
        "git",
        Sub("clone|fetch|pull|push|ls-remote|fetch-pack|send-pack|http-fetch|http-push|remote-http|remote-https|\
             remote-ftp|send-email|imap-send|request-pull|remote update|remote show|remote prune|submodule update|\
             submodule add|maintenance|svn|p4|cvsimport|annex|lfs pull|lfs fetch|lfs push|lfs clone|lfs lock|\
             lfs locks|lfs unlock|subtree add|subtree pull|subtree push|daemon|instaweb"),
    ),
    ("git", SubWith("archive", "--remote")),
    ("git", SubWith("remote add", "-f --fetch")),
    ("git", SubWith("remote set-head", "-a --auto")),
    ("scalar", Sub("clone|run|register|reconfigure")),
    ("hg", Sub("pull|push|clone|incoming|in|outgoing|out|identify|id")),
    (
        "svn",
        Sub("checkout|co|update|up|commit|ci|export|import|switch|sw|merge|list|ls|log|blame|praise|annotate|ann|\
             cat|relocate|lock|unlock|mergeinfo"),
    ),
    ("jj", Sub("git fetch|git push|git clone|git remote add")),
    ("fossil bzr brz", Sub("sync|pull|push|clone|update|up|open|branch|checkout|co|commit|ci")),
    ("p4 cvs", All),
    ("repo", Sub("init|sync|upload|download")),
    // Packages.
    (
        "npm",
        Begun(
            "install|i|in|ins|inst|insta|instal|isnt|isnta|isntal|isntall|add|install-test|it|install-ci-test|cit|\
             sit|clean-install-test|ci|ic|clean-install|install-clean|isntall-clean|update|up|upgrade|udpate|\
             uninstall|unlink|remove|rm|r|un|dedupe|ddp|find-dupes|prune|link|ln|audit|publish|unpublish|deprecate|\
             undeprecate|view|v|info|show|search|s|se|find|outdated|login|logout|adduser|add-user|whoami|ping|\
             doctor|exec|x|create|init|innit|dist-tag|dist-tags|owner|author|access|team|org|ogr|token|profile|hook|\
             star|stars|unstar|diff|fund|docs|home|bugs|issues|repo|pack|trust|cache add",
        ),
    ),
    (
        "pnpm",
        Sub("install|i|add|update|up|upgrade|publish|dlx|create|fetch|outdated|audit|remove|rm|uninstall|un|link|ln|\
             import|dedupe|self-update|env|server|deploy|login|whoami|view|info|show|search|patch|rebuild|rb|prune|\
             it|install-test|store add|setup"),
    ),
    (
        "yarn yarnpkg",
        Sub("install|add|upgrade|up|upgrade-interactive|publish|dlx|create|npm|info|audit|outdated|remove|link|\
             import|dedupe|global add|global upgrade|login|tag|team|owner|set version|plugin import|self-update|\
             search|access|init|workspaces focus"),
    ),
    ("yarn yarnpkg", Bare),
    (
        "bun",
        Sub("add|a|install|i|update|create|c|x|publish|remove|rm|upgrade|audit|outdated|info|link|patch|ci|init|\
             pm view"),
    ),
    ("deno", Sub("add|install|i|cache|upgrade|publish|outdated|update|create|jupyter|deploy|x")),
    ("npx pnpx bunx uvx pnx", All),
    ("corepack", Sub("install|prepare|up|use|pack|hydrate|yarn|pnpm|npm")),
    ("ncu npm-check-updates np release-it semantic-release bower", All),
    ("pip", Sub("install|download|search|index|wheel|lock")),
    ("easy_install twine", All),
    ("pipx", Sub("install|install-all|upgrade|upgrade-all|upgrade-shared|run|runpip|inject|reinstall|reinstall-all")),
    (
        "poetry pdm hatch pipenv rye pixi flit",
        Sub("install|add|update|publish|lock|remove|uninstall|search|sync|self|upgrade|outdated|fetch|build|init|\
             new|fix"),
    ),
    (
        "uv",
        Sub("add|sync|lock|pip install|pip sync|pip compile|pip download|tool|python install|python upgrade|publish|\
             build|remove|self update|x|export"),
    ),
    (
        "conda mamba micromamba",
        Sub("install|update|upgrade|create|search|repoquery|remove|env create|env update|self-update"),
    ),
    (
        "cargo",
        Sub("install|update|fetch|search|publish|add|login|logout|yank|owner|info|binstall|install-update|vendor|\
             generate-lockfile|audit|outdated|upgrade|remove|rm"),
    ),
    (
        "rustup",
        Sub("update|install|toolchain install|toolchain update|component add|target add|self update|check|default"),
    ),
    ("rustup-init", All),
    ("go", Sub("get|install|mod download|mod tidy|mod vendor|work sync|bug|telemetry")),
    ("gem", Begun("install|update|fetch|push|search|yank|signin|owner|outdated|mirror|unpack|sources|exec")),
    ("bundle bundler", Begun("install|update|outdated|add|lock|package|cache|inject|remove|plugin")),
    ("bundle bundler", Bare),
    (
        "composer",
        Begun(
            "install|i|update|u|upgrade|require|r|reinstall|remove|rm|create-project|outdated|search|audit|diagnose|\
             self-update|selfupdate|global|bump|prohibits|why-not|init",
        ),
    ),
    ("luarocks pecl pear cpan cpanm cpanp", Sub("install|build|download|search|upload|upgrade|list-all|remote-info")),
    ("cpan cpanm cpanp", All),
    (
        "opam cabal stack ghcup",
        Sub("install|update|upgrade|fetch|get|init|new|publish|upload|repository|source|pin|setup|tui"),
    ),
    (
        "dotnet",
        Sub("restore|add|tool install|tool update|tool search|tool restore|nuget push|nuget add|nuget delete|\
             workload|new install|publish|sdk check"),
    ),
    ("nuget", Sub("install|restore|push|update|search|delete|list")),
    (
        "flutter dart",
        Sub("pub get|pub add|pub upgrade|pub outdated|pub publish|pub global|pub cache|upgrade|precache|create"),
    ),
    (
        "mix rebar3",
        Sub("deps.get|deps.update|hex.publish|hex.search|hex.info|hex.user|local.hex|local.rebar|archive.install|\
             upgrade|get-deps"),
    ),
    ("swift", Sub("package resolve|package update")),
    ("pod", Sub("install|update|repo|search|trunk|outdated")),
    (
        "mvn mvnd",
        Sub("deploy|dependency:get|dependency:resolve|dependency:go-offline|versions:display-dependency-updates|\
             release:perform"),
    ),
    ("sdk", Sub("install|i|upgrade|ug|update|selfupdate|list|ls|use|env")),
    (
        "asdf mise rtx volta fnm nvm pyenv rbenv nodenv goenv",
        Sub("install|i|add|update|upgrade|up|plugin|plugins|plugin-add|plugin-update|use|latest|ls-remote|\
             list-remote|list-all|list all|self-update|fetch|sync"),
    ),
    (
        "brew",
        Sub("install|reinstall|update|up|upgrade|fetch|tap|search|info|bundle|outdated|extract|livecheck|audit|cat|\
             desc|edit|home|log|create|update-reset"),
    ),
    (
        "apt apt-get aptitude apt-fast nala",
        Sub("install|reinstall|update|upgrade|full-upgrade|dist-upgrade|dselect-upgrade|safe-upgrade|download|\
             source|build-dep|changelog|satisfy|fetch"),
    ),
    ("apt-file", Sub("update")),
    (
        "add-apt-repository apt-key unattended-upgrade unattended-upgrades do-release-upgrade debootstrap \
         pmbootstrap",
        All,
    ),
    ("dnf yum zypper microdnf tdnf", AllBut("remove|erase|autoremove|clean|mark|rm|history|alias")),
    ("apk", Sub("add|update|upgrade|fetch|fix")),
    ("pacman", With("-S -y --sync --refresh")),
    ("yay paru", With("-S -y -u --sync --refresh --sysupgrade")),
    ("yay paru", Bare),
    ("emerge", With("--sync -u --update --fetchonly -f")),
    ("snap", Sub("install|refresh|download|find|info|login|try|known|buy|validate")),
    ("flatpak", Sub("install|update|upgrade|remote-ls|remote-info|remote-add|search|create-usb")),
    ("port fink", Sub("install|upgrade|selfupdate|sync|fetch|search|outdated")),
    ("winget choco scoop", Sub("install|upgrade|update|search|find|show|info|source|download|bucket")),
    (
        "nix",
        Sub("build|run|shell|develop|flake|profile install|profile add|profile upgrade|search|copy|upgrade-nix|\
             registry|channel|print-dev-env|eval|bundle|doctor"),
    ),
    ("nix-shell nix-build nix-channel nix-prefetch-url nix-prefetch-git nixos-rebuild home-manager", All),
    ("nix-env", With("-i -u --install --upgrade")),
    ("guix", Sub("install|pull|upgrade|package|build|shell|time-machine|refresh|download|search")),
    // Containers and clusters.
    (
        "docker podman nerdctl finch",
        Sub("pull|push|login|logout|search|run|build|create|container run|container create|image pull|image push|\
             image build|builder build|buildx build|buildx bake|buildx imagetools|buildx create|compose up|\
             compose pull|compose build|compose run|compose push|compose create|compose watch|compose publish|\
             manifest|plugin install|plugin push|plugin upgrade|service create|service update|stack deploy|stack up|\
             swarm join|swarm init|scout|trust|play kube|kube play|machine init|sbom|model|mcp|app|auto-update|\
             artifact"),
    ),
    ("docker podman nerdctl finch", Told("-H --host --url --context")),
    ("docker-compose podman-compose", Sub("up|pull|build|run|push|create|watch|publish")),
    ("buildah", Sub("pull|push|from|bud|build|login|logout|manifest|add|copy")),
    ("skopeo crane oras regctl cosign grype trivy syft", All),
    ("crictl ctr", Sub("pull|image pull|images pull|image push|images push|i pull|run|runp")),
    ("kubectl oc k kubecolor", AllBut("config|completion|kustomize|options|plugin|help")),
    ("helm", AllBut("completion|create|env|version|verify|lint|help")),
    (
        "helmfile stern argocd flux istioctl eksctl k9s kops velero linkerd cilium calicoctl kubeadm kubeval krew \
         skaffold tilt telepresence",
        All,
    ),
    (
        "minikube kind k3d",
        Sub("start|create|cluster create|create cluster|node add|addons enable|image pull|cache add|kubectl|load"),
    ),
    ("multipass lxc incus", Sub("launch|find|init|image|copy|move|remote")),
    // Services.
    (
        "terraform tofu terragrunt",
        Sub("init|plan|apply|destroy|refresh|import|get|login|logout|test|console|providers lock|providers mirror|\
             run-all|force-unlock|state push|state pull|workspace new"),
    ),
    (
        "pulumi",
        Sub("up|update|preview|refresh|destroy|login|logout|new|import|cancel|watch|deployment|whoami|logs|\
             plugin install|stack ls|stack history|stack init|org|about"),
    ),
    ("ansible ansible-playbook ansible-galaxy ansible-pull ansible-console", All),
    (
        "vagrant",
        Sub("up|box add|box update|box outdated|plugin install|plugin update|cloud|login|push|share|reload|\
             provision|init"),
    ),
    ("packer", Sub("init|build|plugins install|push")),
    (
        "serverless sls sam cdk cdk8s amplify eb chalice zappa doctl hasura s3cmd s4cmd s5cmd b2 azcopy aliyun \
         tccli ibmcloud turso neonctl pscale temporal dagger gitlab jira circleci wandb huggingface-cli hf kaggle \
         dvc databricks snowsql bq cf rhc openstack nova certbot acme.sh ollama",
        All,
    ),
];

/// Subcommands that store an address without contacting it.
const KEEPING: &[(&str, &str)] = &[
    ("git", "config|remote add|remote set-url|remote set-branches|commit|tag|notes|branch|log|grep|var|credential"),
    ("npm pnpm yarn pip go poetry conda bundle composer gem cargo uv brew", "config|env|set|pkg|version"),
];

static INDEX: LazyLock<HashMap<&'static str, Vec<Uses>>> = LazyLock::new(|| {
    let mut index: HashMap<_, Vec<_>> = HashMap::default();
    for (names, uses) in ROWS {
        for name in names.split_ascii_whitespace() {
            index.entry(name).or_default().push(*uses);
        }
    }
    index
});

/// Returns the listed name of a program: without a version, the name of a variant, or a file extension.
pub(super) fn plain_name(name: &str) -> &str {
    if may_need(name) || !name.bytes().any(|byte| byte.is_ascii_digit() || byte == b'.') {
        return name;
    }
    let endings = [".exe", ".cmd", ".openbsd", ".traditional"];
    let plain = endings.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    let is_version = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    let before_dash = plain.rsplit_once('-').filter(|(_, version)| is_version(version)).map_or(plain, |(name, _)| name);
    [plain, before_dash, without_version(plain)].into_iter().find(|name| may_need(name)).unwrap_or(name)
}

fn without_version(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '_'))
}

/// Returns every program name with each of its subcommands that need the network.
#[cfg(test)]
pub(crate) fn subcommands() -> impl Iterator<Item = (&'static str, &'static str)> {
    let listed = ROWS.iter().filter_map(|(names, uses)| match uses {
        Sub(list) | Begun(list) => Some((*names, *list)),
        All | AllBut(_) | SubWith(..) | Bare | With(_) | Told(_) | Remote | Database => None,
    });
    listed.flat_map(|(names, list)| {
        names.split_ascii_whitespace().flat_map(move |name| list.split('|').map(move |subcommand| (name, subcommand)))
    })
}

static NAMES: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| INDEX.keys().copied().chain(safe::asking_network()).collect());

/// Returns true if some use of the program may need the network.
pub(super) fn may_need(name: &str) -> bool {
    NAMES.contains(name)
}

/// Returns true if the first operand of the program is a subcommand.
pub(super) fn has_subcommands(name: &str) -> bool {
    let says = |uses: &Uses| matches!(uses, AllBut(_) | Sub(_) | Begun(_) | Bare);
    rows(name).any(says) || safe::has_subcommands(name)
}

/// Returns true if the program needs the network with these words.
pub(super) fn needs(name: &str, rest: &[Word]) -> bool {
    let words = Words::new(rest);
    let any = |list: &str| words.has_subcommand(list);
    rows(name).any(|uses| match uses {
        All => true,
        AllBut(list) => !rest.first().is_some_and(|first| list.split('|').any(|local| first.text() == local)),
        Sub(list) => any(list),
        Begun(list) => any(list) || words.begins_subcommand(list),
        Bare => rest.iter().all(|word| word.text().starts_with('-')),
        With(options) => words.has_flag(options),
        Told(options) => is_told(options, rest),
        SubWith(list, options) => any(list) && words.has_flag(options),
        Remote => rest.iter().any(|word| hosts::is_remote(word.text())),
        Database => rest.iter().any(|word| hosts::is_database(word.text())),
    })
}

/// Returns true if the words only store an address.
pub(super) fn keeps(name: &str, rest: &[Word]) -> bool {
    let words = Words::new(rest);
    let is_one = |names: &str| occurs(name, names) && names.split(' ').any(|known| known == name);
    KEEPING.iter().any(|(names, list)| words.has_subcommand(list) && is_one(names))
}

fn rows(name: &str) -> impl Iterator<Item = &'static Uses> {
    INDEX.get(name).or_else(|| INDEX.get(without_version(name))).into_iter().flatten()
}

/// Returns true if one of `options` is given with a value that is not a path. A path is a socket of this machine.
fn is_told(options: &str, rest: &[Word]) -> bool {
    let given = |(at, word): (usize, &Word)| {
        let text = word.text();
        let value = options.split(' ').find_map(|option| match text.strip_prefix(option)? {
            "" => Some(rest.get(at + 1).map(Word::text).unwrap_or_default()),
            joined if option.starts_with("--") => joined.strip_prefix('='),
            joined => Some(joined),
        });
        value.is_some_and(|value| !value.starts_with('/') && !value.starts_with("unix:"))
    };
    rest.iter().enumerate().any(given)
}
