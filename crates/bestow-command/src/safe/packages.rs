//! Read-only uses of package managers.

use super::{Operands, Spec, online::Online, spec};
use crate::word::{Gaps, Word};

const JS: &str = "--unicode --loglevel: --prefix: --only-projects --exclude-peers --lockfile-only --find-by: --before: \
    --searchlimit: --searchopts: --description -g -a -l -p -D -P -r -w: --global --all --long --parseable --json \
    --depth: --prod --dev --production --omit: --include: --link --only: --workspace: --workspaces --recursive \
    --no-optional --optional --package-lock-only --silent -s --pattern: --registry: --filter: --no-color --color? \
    --include-workspace-root";

/// Options of `pip` before its subcommand.
const PIP_GLOBALS: &str = "--disable-pip-version-check --no-color -q -v --quiet --verbose --isolated \
    --require-virtualenv --no-input --no-cache-dir --timeout: --retries:";

/// Options of JavaScript package managers before a subcommand. They only select the project or change the output.
const JS_GLOBALS: &str = "-g --global -s --silent --json --no-color --color? -r --recursive --filter: -F: -w \
    --workspace-root -C: --dir: --prefix: --cwd: --loglevel:";

/// Options of version managers, and their read-only subcommands.
const VERSIONS: &str = "--bare --current --installed --json -g --all --unaliased --no-colors --default";
const VERSIONS_OF: &str = "list|current|ls|versions|version|which|where|plugin list|plugins ls|ls-remote|doctor|root|\
    prefix|whence|commands|list all|ls remote|latest";

pub(super) const SPECS: &[Spec] = &[
    spec("npm", JS)
        .globals(JS_GLOBALS)
        .sub("ls|list|la|ll|root|prefix|bin|why|explain|query|help|pkg get|sbom")
        .here()
        .examples(
            &["npm list --depth=0", "npm ls -g", "npm ls $PACKAGE"],
            &["npm install", "npm run build", "npm list > f"],
        ),
    spec("npm", JS)
        .globals(JS_GLOBALS)
        .sub(
            "view|info|show|v|outdated|search|whoami|ping|dist-tag ls|owner ls|team ls|token list|profile get|doctor|\
             access list packages|diff",
        )
        .examples(
            &["npm view react versions --json", "npm outdated", "npm view $PACKAGE version"],
            &[
                "npm publish",
                "npm view x --script-shell=sh",
                "npm view \"x-$SECRET\"",
                "npm view *",
                "x=$(cat f); npm view \"$x\"",
            ],
        ),
    spec("npm", "-l --long --json -g --global --location:")
        .globals(JS_GLOBALS)
        .sub("config get|config list|config ls|get")
        .here()
        .examples(&["npm config get registry", "npm config list"], &["npm config set registry x"]),
    spec("npm pnpm yarn", "--json --audit-level: --production --prod --omit: --level: --groups:")
        .sub("audit")
        .none()
        .examples(&["npm audit", "npm audit --json"], &["npm audit fix"]),
    spec(
        "yarn",
        "--no-progress --non-interactive --cwd: --json --depth: --pattern: -A -R --all --recursive --verbose --silent \
         -s",
    )
    .globals(JS_GLOBALS)
    .sub(
        "cache dir|cache list|list|why|licenses list|config get|config list|workspaces info|workspaces list|\
         global list|bin",
    )
    .here()
    .examples(&["yarn why react", "yarn list --depth=0"], &["yarn add x", "yarn", "yarn config set a b", "yarn dlx x"]),
    spec("yarn", "--no-progress --non-interactive --cwd: --json --all --verbose --silent -s")
        .globals(JS_GLOBALS)
        .sub("npm audit|info|outdated|npm info|versions|npm whoami")
        .online_for("npm audit|info|outdated|npm info|npm whoami")
        .examples(&["yarn info react"], &["yarn npm publish", "yarn info $SECRET"]),
    spec("pnpm", JS)
        .globals(JS_GLOBALS)
        .sub("ls|list|ll|la|why|root|bin|licenses list|config get|config list|store path|store status")
        .here()
        .examples(&["pnpm ls -r", "pnpm why x"], &["pnpm i", "pnpm store prune"]),
    spec("pnpm", JS)
        .globals(JS_GLOBALS)
        .sub("outdated|view|info|show|search")
        .examples(&["pnpm view react"], &["pnpm view $SECRET"]),
    spec("bun", "-g --all")
        .sub("pm ls|pm bin|pm hash|pm cache|outdated|why|info")
        .none()
        .online_for("outdated|info")
        .examples(&["bun pm ls"], &["bun install", "bun pm cache rm"]),
    spec(
        "pip pip3",
        "--exclude-editable --debug --isolated --require-virtualenv --quiet --no-input --retries: --timeout: \
         --no-cache-dir --no-python-version-warning --platform: --python-version: --implementation: --abi: \
         --ignore-requires-python --global --site --no-binary: --only-binary: --no-index -l -o -u -e -v --local \
         --outdated --uptodate --editable --user --format: --not-required --include-editable --pre --verbose -f \
         --files --exclude: --path: --all --disable-pip-version-check --no-color -q",
    )
    .globals(PIP_GLOBALS)
    .sub("list|show|freeze|check|inspect|debug|config list|config get|cache dir|cache info|cache list|help")
    .here()
    .asking(no_links)
    .online_with("-o --outdated -u --uptodate")
    .examples(
        &["pip list", "pip show requests", "pip freeze", "pip3 list --outdated"],
        &[
            "pip install x",
            "pip list --log f",
            "pip uninstall x",
            "pip config set a b",
            "pip cache purge",
            "pip list -o -f https://x.org",
        ],
    ),
    spec("pip pip3", "--pre --disable-pip-version-check --no-color -q")
        .globals(PIP_GLOBALS)
        .sub("index versions")
        .examples(
            &["pip index versions requests"],
            &["pip index versions $SECRET", "pip index versions x --index-url https://y"],
        ),
    spec(
        "uv",
        "--outdated --format: --depth: --package: --invert --all-packages --only-installed --project: --frozen \
         --locked --no-dev --all-groups --universal --exclude-newer: -q --color: --offline",
    )
    .here()
    .sub(
        "pip list|pip show|pip freeze|pip tree|pip check|tool list|python list|python find|python dir|cache dir|\
         tool dir|self version|help",
    )
    .examples(&["uv pip list", "uv pip show x"], &["uv pip install x", "uv run x", "uv sync", "uv cache clean"]),
    spec("uv", "--short")
        .sub("version")
        .none()
        .offline()
        .examples(&["uv version"], &["uv version 1.2.3", "hatch version"]),
    spec(
        "poetry pdm hatch pipenv rye",
        "-l -o -a -t -T --latest --outdated --tree --all --why --only: --with: --without: --no-dev --top-level \
         --no-ansi --json --graph --freeze --bare --reverse --full-path --path",
    )
    .sub("show|env info|env list|check|list|info|graph|config --list|source show|about|env show|dep show")
    .here()
    .asking(no_operand_but_names)
    .online_with("-l -o --latest --outdated")
    .examples(
        &["poetry show --tree", "poetry env info", "pdm list"],
        &["poetry add x", "poetry install", "poetry run x", "poetry version patch"],
    ),
    spec("poetry pdm", "").sub("search").examples(&["poetry search requests"], &["pdm search $SECRET"]),
    spec("poetry pdm pipenv rye", "-s --short")
        .sub("version")
        .none()
        .offline()
        .examples(&["poetry version"], &["poetry version patch"]),
    spec(
        "pipdeptree",
        "-r -p: -f -j --json --json-tree --freeze --reverse --packages: --warn: -w: -a --all --local-only",
    )
    .none()
    .offline()
    .examples(&["pipdeptree -r"], &["pipdeptree --python x"]),
    spec("pipx", "--json --short --include-injected --verbose")
        .sub("list|environment")
        .none()
        .offline()
        .examples(&["pipx list"], &["pipx run x", "pipx install x"]),
    spec(
        "conda mamba micromamba",
        "-n: -p: -e -f -c: --name: --prefix: --json --explicit --export --revisions --envs --all --show-sources --show \
         --channel: --full-name --override-channels",
    )
    .sub("info|search|compare|repoquery")
    .online_for("search|repoquery")
    .examples(&["conda info --json", "conda search numpy"], &["conda search $SECRET"]),
    spec(
        "conda mamba micromamba",
        "-n: -p: -e -f -c --name: --prefix: --json --explicit --export --revisions --show --show-sources --full-name",
    )
    .sub("list|env list|config --show|config --show-sources")
    .here()
    .examples(
        &["conda list", "conda env list", "conda list -n \"$ENV\""],
        &["conda install x", "conda env remove -n x", "conda run x"],
    ),
    spec("gem", "-a -l -r -q -e -i -v: --all --local --remote --versions --details --exact --installed --prerelease")
        .sub("list|info|search|specification|environment|env|outdated|which|contents|dependency|query|help")
        .online(Online::For { subcommands: "search|outdated", options: "-r --remote" })
        .examples(&["gem list", "gem env"], &["gem install x", "gem push x", "gem list -r $SECRET"]),
    spec("bundle bundler", "")
        .sub("version|env")
        .none()
        .offline()
        .examples(&["bundle version"], &["bundle install", "bundle exec x", "bundle list", "bundle config set a b"]),
    spec(
        "composer",
        "-a -i -l -o -D -t -s -N -P -p --all --installed --latest --outdated --direct --tree --format: --self --no-dev \
         --minor-only --strict --available --platform --name-only --no-ansi -n",
    )
    .sub(
        "show|info|outdated|licenses|why|depends|why-not|prohibits|search|validate|diagnose|fund|suggests|\
         check-platform-reqs|about|audit",
    )
    .online(Online::For {
        subcommands: "outdated|search|audit|diagnose|why-not|prohibits",
        options: "-a -l -o --all --available --latest --outdated",
    })
    .examples(&["composer show -t", "composer outdated"], &["composer install", "composer run x"]),
    spec(
        "cargo",
        "--exclude: --prune: --ignore-rust-version -i: -e: -p: -d -q -v -F: --invert: --prefix: --depth: --edges: \
         --package: --workspace --all-features --no-default-features --features: --target: --format: --charset: \
         --no-dedupe --duplicates --locked --offline --frozen --format-version: --no-deps --color: --manifest-path: \
         --filter-platform: --limit: --verbose --quiet --message-format: --version: --list",
    )
    .sub("tree|metadata|locate-project|pkgid|read-manifest|verify-project|install --list|help|version")
    .here()
    .examples(
        &["cargo tree -d --depth 1", "cargo metadata --no-deps", "cargo tree -i \"$CRATE\""],
        &["cargo build", "cargo run", "cargo tree --config x", "cargo install x", "cargo +x tree"],
    ),
    spec("cargo", "-q -v --limit: --color: --verbose --quiet --locked --offline --frozen")
        .sub("search|info|owner --list")
        .examples(&["cargo search serde", "cargo info serde"], &["cargo search $SECRET", "cargo search x --index y"]),
    spec(
        "cargo",
        "--check --all -q -v --quiet --verbose --message-format:short|human|json -p: --package: --manifest-path:",
    )
    .sub("fmt")
    .asking(formats_nothing)
    .offline()
    .examples(
        &["cargo fmt --check", "cargo fmt --all -- --check", "cargo fmt --all --check"],
        &["cargo fmt", "cargo fmt --all", "cargo fmt -- --emit files", "cargo fmt -- --check --config-path x"],
    ),
    spec("cargo", "--version -V")
        .sub(
            "clippy|fmt|nextest|audit|deny|outdated|machete|tarpaulin|llvm-cov|bloat|expand|udeps|watch|hack|miri|edit|\
             make|criterion|semver-checks|public-api|insta|sqlx|leptos|tauri|zigbuild|cross|release|dist|generate-rpm|\
             deb|about|geiger|careful|fuzz|flamegraph|mutants|binstall",
        )
        .none()
        .asking(given)
        .offline()
        .examples(&["cargo clippy --version"], &["cargo clippy", "cargo clippy --fix", "cargo x --version"]),
    spec(
        "cargo",
        "-n --dry-run -p: --package: --recursive --precise: -w --workspace -q -v --quiet --verbose --offline --locked \
         --frozen --manifest-path: --color:",
    )
    .sub("update|add|remove")
    .asking(only_dry)
    .online_but_with("--offline --frozen")
    .examples(&["cargo update --dry-run", "cargo add --dry-run serde"], &["cargo update", "cargo add serde"]),
    spec("cargo", "-l --list --allow-dirty -p: --package: --manifest-path:")
        .sub("package")
        .asking(lists_package)
        .none()
        .offline()
        .examples(&["cargo package --list"], &["cargo package", "cargo package --allow-dirty"]),
    spec("cargo", "--list --version -V -vV --help -h --explain:")
        .none()
        .asking(given)
        .offline()
        .examples(&["cargo --version", "cargo --list"], &["cargo", "cargo --config x --version"]),
    spec("rustup", "-q -v --installed --toolchain: --path --alloc --book --std --verbose")
        .here()
        .sub(
            "show|toolchain list|target list|component list|which|show active-toolchain|show home|check|override list|\
             show profile",
        )
        .online_for("check")
        .examples(
            &["rustup show", "rustup toolchain list"],
            &["rustup update", "rustup default nightly", "rustup run x y", "rustup doc"],
        ),
    spec("go", "-json -changed")
        .here()
        .sub("env")
        .asking(only_names)
        .examples(&["go env", "go env GOPATH", "go env -json"], &["go env -w A=b", "go env -u A"]),
    spec("go", "-m -v -json").here().sub("version").examples(&["go version", "go version -m f"], &["go version --x"]),
    spec("go", "-m -f: -json -u -versions -deps -test -e -find -mod:readonly|vendor -tags: -retracted")
        .elsewhere()
        .sub("list")
        .online(Online::If(asks_for_modules))
        .examples(
            &["go list ./...", "go list -m all", "go list -f '{{.Dir}}' ./..."],
            &[
                "go list -toolexec=x ./...",
                "go list -export ./...",
                "go list -mod=mod ./...",
                "go list -overlay=x .",
                "go list -compiled .",
                "go list -m x.org/$SECRET@latest",
            ],
        ),
    spec("go", "-all -c -cmd -short -src -u")
        .elsewhere()
        .sub("doc|help")
        .online(Online::If(asks_for_modules))
        .examples(&["go doc fmt.Println", "go help build"], &["go doc -http", "go run ."]),
    spec("go", "-json")
        .here()
        .sub("tool dist list|tool buildid|tool nm|tool objdump|tool addr2line|tool dist version|version")
        .examples(&["go tool dist list", "go tool nm bin"], &["go tool buildid -w f", "go tool compile x.go"]),
    spec("go", "-m -vendor")
        .elsewhere()
        .sub("mod why|mod graph|mod verify")
        .examples(&["go mod why x", "go mod graph"], &["go mod tidy", "go mod download"]),
    spec("mvn gradle", "-v --version -h --help")
        .none()
        .asking(given)
        .offline()
        .examples(&["mvn -v", "gradle --version"], &["mvn dependency:tree", "gradle tasks"]),
    spec(
        "brew",
        "-1 -l -q -v --formula --cask --casks --formulae --versions --json? --installed --tree --full-name \
         --installed-on-request --multiple --pinned --verbose --quiet --desc --include-build --greedy --topological",
    )
    .sub(
        "list|ls|info|search|deps|uses|outdated|leaves|config|doctor|--prefix|--cellar|--version|desc|cat|commands|\
         tap-info|services list|--repository|--cache|missing|options",
    )
    .asking(no_formula_file)
    .online_for("info|search|deps|uses|outdated|desc|cat|missing|options|tap-info")
    .examples(
        &["brew list", "brew info x", "brew --prefix"],
        &["brew install x", "brew services stop x", "brew upgrade", "brew deps --graph", "brew info ./x.rb"],
    ),
    spec(
        "apt apt-cache",
        "-a -n -i --installed --upgradable --all-versions --names-only --full --no-all-versions --manual-installed -q \
         -f",
    )
    .here()
    .sub("list|search|show|policy|depends|rdepends|showpkg|madison|pkgnames|stats|showsrc|unmet|dump")
    .examples(
        &["apt list --installed", "apt-cache policy x", "apt show x"],
        &["apt install x", "apt -o x list", "apt-get update"],
    ),
    spec("apt-mark", "")
        .here()
        .sub("showauto|showmanual|showhold")
        .examples(&["apt-mark showhold"], &["apt-mark hold x"]),
    spec(
        "dpkg dpkg-query",
        "-l -L -s -S -p -c: -I: -C -V -W -f: --list --listfiles --status --search --print-avail --get-selections \
         --print-architecture --verify --audit --contents --info --show --showformat: --print-foreign-architectures \
         --version",
    )
    .here()
    .asking(given)
    .examples(
        &["dpkg -S $(which git)", "dpkg -l", "dpkg -S /bin/ls", "dpkg-query -W"],
        &["dpkg -i x.deb", "dpkg -r x", "dpkg --purge x"],
    ),
    spec(
        "rpm",
        "-q -a -i -l -f -p -R -c -d -s --qa --qi --queryformat: --qf: --provides --requires --whatprovides \
         --whatrequires --changelog --scripts --last --query --all --info --list -qa -qi -ql -qf -qpl -qR --version",
    )
    .addresses()
    .asking(queries)
    .examples(
        &["rpm -qa", "rpm -ql bash", "rpm -qf $(which git)"],
        &[
            "rpm -qp --qf '%{NAME:expand}' x.rpm",
            "rpm -qp https://x.org/$SECRET",
            "rpm -i x.rpm",
            "rpm -e x",
            "rpm -U x",
            "rpm --eval x",
        ],
    ),
    spec(
        "dnf yum zypper microdnf",
        "-q -v -C --installed --available --upgrades --all --cacheonly --showduplicates --quiet --requires \
         --whatprovides:",
    )
    .addresses()
    .sub("list|info|search|provides|repolist|repoquery|history list|check-update|deplist|grouplist|lr|se|if|packages")
    .online(Online::AllBut { subcommands: "history list|repolist|lr", options: "-C --cacheonly --installed" })
    .examples(&["dnf list --installed", "yum info x"], &["dnf install x", "yum remove x"]),
    spec("yay paru", "-Q -Qi -Ql -Qe -Qm -Qs -Qu -Ss -Si")
        .asking(given)
        .online_with("-S -u")
        .examples(&["yay -Ss x"], &["yay -Ss $SECRET", "yay -S x"]),
    spec("pacman", "-Q -Qi -Ql -Qe -Qdt -Qm -Qs -Qo -Qu -Qq -Qk -Ss -Si -Sl -Sg -F -Fl -Qent -Qet -Qqe -Qdtq -V")
        .here()
        .asking(given)
        .examples(&["pacman -Q", "pacman -Qi bash", "pacman -Ss x"], &["pacman -S x", "pacman -R x", "pacman -Syu"]),
    spec("apk", "-a -v -d -e -L -r -i -s --installed --who-owns --verbose")
        .here()
        .sub("info|list|search|policy|stats|version|dot")
        .examples(&["apk info"], &["apk add x", "apk del x"]),
    spec("snap flatpak port", "--all --user --system --app --runtime -a -d --columns: --color:")
        .sub("list|info|find|search|version|remotes|installed|outdated|history|connections|services")
        .online_for("info|find|search|outdated")
        .examples(&["snap list", "flatpak list"], &["snap install x", "snap remove x"]),
    spec("nix", "--json")
        .sub("--version|profile list|doctor|registry list")
        .operands(Operands::None)
        .online_for("doctor|registry list")
        .examples(&["nix profile list"], &["nix build", "nix run x"]),
    spec("nix-env", "-q --query --installed -a").asking(given).offline().examples(&["nix-env -q"], &["nix-env -e x"]),
    spec("asdf mise rtx volta fnm nvm pyenv rbenv nodenv goenv", VERSIONS)
        .sub(VERSIONS_OF)
        .online_for("ls-remote|list all|ls remote|latest")
        .examples(&["pyenv versions", "nvm ls", "asdf current"], &["pyenv install 3", "nvm use 20", "mise exec x"]),
    spec("sdk", VERSIONS)
        .sub(VERSIONS_OF)
        .online_for("list|ls|list all|ls-remote|ls remote|latest")
        .examples(&["sdk current", "sdk list"], &["sdk install java"]),
    spec("opam cabal", "--all -a --installed -i")
        .sub("list|info|show|switch list")
        .operands(Operands::AtMost(2))
        .offline()
        .examples(&["opam list"], &["opam config set a b c"]),
    spec("dotnet", "")
        .sub("--info|--list-sdks|--list-runtimes|nuget list source")
        .none()
        .offline()
        .examples(&["dotnet --info"], &["dotnet run"]),
    spec("flutter dart", "")
        .sub("pub deps|pub outdated")
        .none()
        .online_for("pub outdated")
        .examples(&["dart pub deps"], &["flutter run", "dart info"]),
    spec("flutter", "-v")
        .sub("doctor|devices")
        .none()
        .online_for("doctor")
        .examples(&["flutter doctor"], &["flutter upgrade"]),
    // These programs load the project for any other use, and the project is code.
    spec("mix rebar3 stack swift", "")
        .sub("--version")
        .none()
        .offline()
        .examples(&["mix --version"], &["mix test", "mix hex.info", "rebar3 list", "stack path"]),
    spec(
        "dotnet",
        "--outdated --vulnerable --deprecated --include-transitive --highest-minor --highest-patch \
         --include-prerelease --format: --framework: --verbosity: -v: -g --global --local --tool-path: --help -h --all",
    )
    .sub("sln list|solution list|nuget list source|tool list|workload list|sdk check|help|tool search|workload search")
    .online_for("sdk check|tool search|workload search")
    .examples(
        &["dotnet tool list -g"],
        &["dotnet list package", "dotnet tool install x", "dotnet nuget push x", "dotnet build"],
    ),
    spec("npm", "--json --no-color --unicode --omit:").sub("fund").none().examples(&["npm fund"], &["npm fund x"]),
    spec("npm", "").here().sub("cache ls|cache list").examples(&["npm cache ls"], &["npm cache clean --force"]),
    spec(
        "apt-get",
        "-s --simulate --dry-run --just-print --recon --no-act -y -q -qq -V --yes --quiet --assume-no \
         --no-install-recommends --with-new-pkgs --only-upgrade --no-upgrade -t:",
    )
    .sub("install|upgrade|dist-upgrade|full-upgrade|remove|autoremove|purge")
    .asking(only_simulates)
    .offline()
    .examples(
        &["apt-get install -s nginx", "apt-get upgrade --dry-run"],
        &["apt-get install nginx", "apt-get update", "apt-get -o x install -s y"],
    ),
    spec("apt-get", "-y -q -qq -V --yes --quiet")
        .sub(
            "-s install|-s upgrade|-s dist-upgrade|-s remove|-s autoremove|--dry-run install|--dry-run \
             upgrade|--simulate install|--simulate upgrade",
        )
        .offline()
        .examples(&["apt-get -s upgrade", "apt-get --dry-run install nginx"], &["apt-get -q install x"]),
    spec("apt-file", "-l -x -i --package-only --regexp")
        .here()
        .sub("search|list|find|show")
        .examples(&["apt-file search bin/ls"], &["apt-file update"]),
    spec("apt-config", "").here().sub("dump|shell").none().examples(&["apt-config dump"], &["apt-config -o x dump"]),
    spec(
        "pkg-config pkgconf",
        "--list-all --list-package-names --cflags --cflags-only-I --cflags-only-other --libs --libs-only-l \
         --libs-only-L --libs-only-other --modversion --exists --version --static --print-errors --short-errors \
         --silence-errors --atleast-version: --exact-version: --max-version: --variable: --print-variables \
         --print-provides --print-requires --print-requires-private --define-variable: --uninstalled --path --debug \
         --validate --keep-system-libs --keep-system-cflags",
    )
    .inert()
    .offline()
    .examples(&["pkg-config --cflags --libs openssl", "pkg-config --list-all"], &["pkg-config --x y"]),
    spec("luarocks pecl", "")
        .sub("list|show|search|which|list-all|info")
        .online_for("search|list-all|info")
        .examples(&["luarocks list"], &["luarocks install x"]),
];

use crate::options::Options;

fn given(options: &Options<'_>) -> Result<(), String> {
    if options.given.is_empty() { Err("a subcommand is missing".into()) } else { Ok(()) }
}

fn only_dry(options: &Options<'_>) -> Result<(), String> {
    if options.has("-n --dry-run") { Ok(()) } else { Err("it changes something unless it is a dry run".into()) }
}

fn only_simulates(options: &Options<'_>) -> Result<(), String> {
    // After a switch, such a word may turn the switch off.
    const SAYS: &[&str] = &["no", "false", "without", "off", "disable", "yes", "true", "with", "on", "enable"];
    let says = |word: &str| SAYS.contains(&word) || word.starts_with(|c: char| c.is_ascii_digit());
    let switched = options.operands.iter().any(|operand| operand.is_wild() || says(operand.text()));
    if options.has("-s --simulate --dry-run --just-print --recon --no-act") && !switched {
        Ok(())
    } else {
        Err("it changes what is installed".into())
    }
}

/// Returns true if the words query modules: by an option, or by names that contain a host or a version.
fn asks_for_modules(rest: &[Word]) -> bool {
    let option = |text: &str| matches!(text.trim_start_matches('-'), "m" | "u" | "versions" | "retracted");
    let comes_from = |text: &str| text.split_once('/').is_some_and(|(host, _)| host.trim_matches('.').contains('.'));
    let asks = |text: &str| (text.starts_with('-') && option(text)) || comes_from(text) || text.contains('@');
    rest.iter().any(|word| asks(word.text()))
}

fn lists_package(options: &Options<'_>) -> Result<(), String> {
    if options.has("-l --list") { Ok(()) } else { Err("it builds the package".into()) }
}

/// Requires a check without changes. In `cargo fmt -- --check`, the words after the dashes belong to `rustfmt`.
fn formats_nothing(options: &Options<'_>) -> Result<(), String> {
    let handed_on = options.operands.iter().all(|word| matches!(word.text(), "--check" | "-l" | "--edition=2021"));
    let checks = options.has("--check") || options.operands.iter().any(|word| word.text() == "--check");
    if handed_on && checks { Ok(()) } else { Err("it rewrites files".into()) }
}

/// Refuses `pip list -f address`, which searches for packages at the address.
fn no_links(options: &Options<'_>) -> Result<(), String> {
    let link = options.operands.iter().any(|operand| operand.text().contains(':') || operand.is_wild());
    if link && options.has("-f") { Err("it looks for packages at an address".into()) } else { Ok(()) }
}

/// Refuses a formula in a file, because it is code that the program runs.
fn no_formula_file(options: &Options<'_>) -> Result<(), String> {
    let file = |text: &str| text.starts_with(['.', '/', '~']) || text.ends_with(".rb") || text.contains(':');
    let any = options.operands.iter().any(|operand| file(operand.text()));
    if any { Err("a formula in a file is code".into()) } else { Ok(()) }
}

fn queries(options: &Options<'_>) -> Result<(), String> {
    // The format `%{NAME:expand}` expands the text of a package, including commands.
    if options.value("--qf --queryformat").is_some_and(|format| format.has_unknown() || format.contains("expand")) {
        return Err("a format that may run a macro".into());
    }
    if options.has("-q --query -qa -qi -ql -qf -qpl -qR --qa --qi --version") {
        Ok(())
    } else {
        Err("it does not only query".into())
    }
}

fn only_names(options: &Options<'_>) -> Result<(), String> {
    if options.operands.iter().any(|operand| operand.text().contains('=')) {
        Err("it sets what it names".into())
    } else {
        Ok(())
    }
}

/// Refuses version numbers. `poetry version patch` writes, `poetry show name` reads.
fn no_operand_but_names(options: &Options<'_>) -> Result<(), String> {
    const BUMPS: &[&str] = &[
        "patch",
        "minor",
        "major",
        "prepatch",
        "preminor",
        "premajor",
        "prerelease",
        "alpha",
        "beta",
        "rc",
        "release",
    ];
    let bumps = |text: &str| BUMPS.contains(&text) || text.starts_with(|c: char| c.is_ascii_digit());
    if options.operands.iter().any(|operand| bumps(operand.text())) {
        Err("it sets the version".into())
    } else {
        Ok(())
    }
}
