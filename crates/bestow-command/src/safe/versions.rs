//! Programs with many uses that are only asked for their version or their help.

use std::sync::LazyLock;

use foldhash::HashSet;

use super::{Spec, question, spec};

/// Programs that answer a single option for their version or help without any other effect.
pub(super) const SPECS: &[Spec] = &[
    spec(ASKED, "").raw(question::one_of_a_kind).examples(
        &[
            "node --version",
            "python3 --version",
            "docker --version",
            "cargo --version",
            "java -version",
            "terraform version",
        ],
        &[
            "python3 version",
            "make version",
            "node x.js",
            "node --version x",
            "python -c 1",
            "make",
            "ssh host --version",
        ],
    ),
    spec("node npm yarn pnpm bun deno tsc ruby php perl lua vercel", "-v")
        .none()
        .asking(asked)
        .examples(&["node -v", "npm -v"], &["node", "npm -v -x"]),
    // Without `-I`, a module of the working directory may replace these modules.
    spec("python python3", "").raw(isolated_module).examples(
        &["python3 -I -m json.tool", "python3 -I -m json.tool f", "python3 -I -m site"],
        &["python3 -m json.tool", "python3 -I -m json.tool f g", "python3 -I -m http.server", "python3 -I s.py"],
    ),
    spec("buf caddy flyway golangci-lint goreleaser hugo influx k3s skaffold tilt trivy", "")
        .sub("version")
        .none()
        .examples(&["caddy version"], &["caddy run", "tilt up"]),
    spec("php", "-v -m -i --version --modules --info --ini")
        .none()
        .asking(asked)
        .examples(&["php -m", "php --ini"], &["php -i x", "php -r 'x();'"]),
    spec("nginx httpd apache2", "-v -V").none().asking(asked).examples(&["nginx -v"], &["nginx -s stop", "nginx"]),
    spec(
        "gcc cc g++ c++ clang clang++ gfortran",
        "= -v -dumpversion -dumpfullversion -dumpmachine -print-search-dirs -print-sysroot -print-multiarch \
         -print-libgcc-file-name -print-resource-dir -print-targets",
    )
    .none()
    .asking(asked)
    .examples(&["gcc -v", "gcc -dumpmachine"], &["gcc x.c", "gcc -v x.c", "gcc -print-prog-name=x"]),
    // With a file after `=`, the output goes to this file.
    spec(
        "rustc",
        "--print:cfg|sysroot|target-list|target-cpus|target-features|target-libdir|host-tuple|code-models|\
         relocation-models|tls-models|calling-conventions|all-target-specs-json|target-spec-json|supported-crate-types \
         --target: --explain: --edition:",
    )
    .none()
    .asking(given)
    .examples(
        &["rustc --print cfg", "rustc --print target-list", "rustc --explain E0308"],
        &["rustc --print cfg=f", "rustc --print link-args a.rs"],
    ),
    // In most other programs such a word is a script, a target or a host.
    spec(ASKED_BY_A_WORD, "")
        .sub("version")
        .none()
        .examples(&["docker version", "cargo version"], &["make version", "python version", "lerna version"]),
    spec("rustc", "-v -V -vV --version --verbose")
        .none()
        .asking(given)
        .examples(&["rustc -vV", "rustc --version --verbose"], &["rustc a.rs"]),
    spec("java javac", "-version").none().asking(asked).examples(&["javac -version"], &["java -jar x.jar"]),
];

/// Common programs that answer `--version` without any other effect.
const ASKED: &str = "ansible awk aws az bash brew bun bundle bundler bunx cargo clang clang++ cmake cmd-not-found \
    composer conda cosign crystal curl dart deno direnv docker docker-compose dotnet elixir emacs erl eslint fd ffmpeg \
    fish flutter g++ gawk gcc gcloud gdb gem gh ghc git gmake go gofmt gradle grep groovy helm heroku http hugo java \
    javac jest jq julia just k6 kubectl kustomize lua luajit make mamba mercurial meson mise mix mocha mongosh mvn \
    mypy mysql nano nasm ninja nim nix node nodejs npm npx nvim nvm openssl perl php pip pip3 pipenv pipx pnpm podman \
    poetry prettier protoc psql pulumi py.test pyright pytest python python2 python3 qemu-img R redis-cli rg rsync \
    ruby ruff rustc rustfmt rustup sbt scala scp sed sh sqlite3 ssh swift tar task terraform terragrunt tmux tofu \
    ts-node tsc tsx uv uvx vagrant vault vim vite vitest wget xcodebuild yarn yq zig zsh clippy-driver cargo-clippy \
    black isort flake8 pylint rubocop rspec rake rails phpunit webpack rollup esbuild nx lerna playwright cypress";

/// More programs that answer a single option for their version or help without any other effect. Their other uses are
/// unknown: some of them run a command from their words.
const ANSWERING: &str = "7z act age ajv alembic ansible-inventory ansible-lint argocd bandit bc buf bzr caddy cabal \
    cargo-audit cargo-deny cargo-nextest certbot checkov chromium clang-format clang-tidy code codex colima commitlint \
    convert cucumber cue dlv dmd dvc emcc eksctl etcdctl fastlane firefox flux fossil fvm gitleaks gnuplot \
    golangci-lint google-chrome gopls goreleaser gpg gpg2 grpcurl grype gs hatch hg hyperfine identify influx istioctl \
    jj jupyter k3s k9s ktlint kotlin kotlinc lefthook lima lld lldb llvm-config ltrace lz4 magick mariadb minikube \
    multipass mvnd mycli mysqldump mysqladmin nmap nox npm-check-updates ocaml octave ollama opa opentofu packer \
    pandoc parallel pdm perf pg_config pg_ctl pg_dump pg_restore pgcli pixi pkg-config postgres pre-commit pwsh \
    pyflakes quarto rclone redis-server restic rye sass screen semgrep shfmt skaffold skopeo snyk solc sops sox \
    staticcheck strace stylelint subl supabase svn syft tailscale tcpdump terraform-docs tesseract tfsec tilt trivy \
    tshark twine unzip upx valgrind verilator virtualenv wasm-pack wireshark wrangler xz yt-dlp zip zstd timeout nice \
    stdbuf nohup watch ncu httpie bandwhich hugo mdbook tectonic typst vsce expo eas oxlint biome dprint swc rollup \
    ionic cordova newman locust wrk ab vegeta siege";

/// Returns true if `name` only prints its version or help, with this single word after it.
pub(super) fn answers(name: &str, question: &str) -> bool {
    let long = matches!(name, "convert" | "identify" | "kotlin" | "kotlinc" | "magick" | "ocaml");
    (matches!(question, "--version" | "--help") || (long && question == "-version")) && ANSWERS.contains(name)
}
/// Programs with a subcommand `version` that only prints the version.
const ASKED_BY_A_WORD: &str = "brew bundle bundler cargo cosign direnv docker docker-compose gcloud gem gh git go helm \
    hugo k6 kubectl kustomize minikube npm openssl podman poetry pulumi terraform terragrunt tofu vagrant vault zig";

/// Returns true for a listed program. Its uses beyond the rows are not proven, but the program is not unknown.
pub(super) fn is_known(name: &str) -> bool {
    KNOWN.contains(name)
}

type Names = HashSet<&'static str>;

static ANSWERS: LazyLock<Names> = LazyLock::new(|| ANSWERING.split_ascii_whitespace().collect());

static KNOWN: LazyLock<Names> =
    LazyLock::new(|| ASKED.split_ascii_whitespace().chain(CHANGING.split_ascii_whitespace()).collect());

/// Programs that change data and whose operands are never commands.
const CHANGING: &str = "rm rmdir mv cp mkdir touch ln chmod chown chgrp install unlink truncate shred dd mkfs fdisk \
    parted patch split csplit mktemp mkfifo mknod rename sync gzip gunzip bzip2 xz zstd zip unzip tar 7z cpio ar \
    ranlib strip ld as cc c++ scp sftp rsync rclone pkill killall kill reboot shutdown halt poweroff useradd userdel \
    usermod groupadd groupdel passwd chpasswd apt apt-get dpkg snap systemctl modprobe insmod rmmod mount umount \
    swapoff mkswap iptables nft ufw logger wall write mail sendmail gpg ssh-keygen ssh-add ssh-copy-id openssl certbot \
    nginx apachectl pm2 open xdg-open code subl pbcopy pbpaste xclip say osascript defaults docker-machine minikube \
    kind helmfile skaffold tilt argocd flux istioctl eksctl kops serverless sls sam cdk amplify firebase netlify surge \
    pg_dump pg_restore pg_dumpall mysqldump mongodump mongorestore createdb dropdb createuser dropuser initdb pg_ctl \
    alembic flyway liquibase knex sequelize typeorm drizzle-kit gunicorn uvicorn flask django-admin celery streamlit \
    jupyter nodemon ts-node-dev webpack-dev-server next nuxt gatsby ng vue expo react-native pod xcrun adb fastlane \
    wrangler hg svn bzr fossil p4 repo jj gitk tig lazygit pre-commit commitlint semantic-release changeset goreleaser \
    nfpm asdf sdk rbenv pyenv tee export alias declare let read source unset";

fn given(options: &crate::options::Options<'_>) -> Result<(), String> {
    if options.given.is_empty() { Err("it may change, delete or run something in this form".into()) } else { Ok(()) }
}

fn asked(options: &crate::options::Options<'_>) -> Result<(), String> {
    if options.given.len() == 1 { Ok(()) } else { Err("it may change, delete or run something in this form".into()) }
}

/// Accepts `python3 -I -m module` for read-only modules. `json.tool` writes the file that a second name gives.
fn isolated_module(rest: &[crate::word::Word]) -> Result<(), String> {
    let [isolated, module, name, rest @ ..] = rest else { return Err("it runs code".into()) };
    let written = [isolated, module, name].into_iter().all(crate::word::Word::is_written);
    let formats = |text: &str| {
        matches!(text, "--indent" | "--sort-keys" | "--no-ensure-ascii" | "--compact" | "--tab" | "2" | "4")
    };
    let files = rest.iter().filter(|word| !formats(word.text())).count();
    let reads = match name.text() {
        "json.tool" => {
            files <= 1
                && rest.iter().all(|word| word.is_exact() && (formats(word.text()) || !word.text().starts_with('-')))
        }
        "site" | "sysconfig" | "platform" | "this" => rest.is_empty(),
        _ => false,
    };
    let asked = isolated.text() == "-I" && module.text() == "-m" && written;
    if asked && reads { Ok(()) } else { Err("it runs code".into()) }
}
