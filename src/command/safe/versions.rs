//! Programs that do all sorts of things but are asked for their version or their help only.

use super::{Spec, question, spec};

/// Programs whose one-word question is answered without doing anything else.
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
    // To most programs a word is a script, a target or a host, whatever it says.
    spec(ASKED_BY_A_WORD, "")
        .sub("version")
        .none()
        .examples(&["docker version", "cargo version"], &["make version", "python version", "lerna version"]),
    spec("rustc", "-v -V -vV --version --verbose")
        .none()
        .asking(given)
        .examples(&["rustc -vV", "rustc --version --verbose"], &["rustc a.rs", "rustc --print cfg"]),
    spec("java javac", "-version").none().asking(asked).examples(&["javac -version"], &["java -jar x.jar"]),
];

/// Every program of everyday work that answers `--version` and does nothing else then.
const ASKED: &str = "ansible awk aws az bash brew bun bundle bundler bunx cargo clang clang++ cmake cmd-not-found composer conda cosign crystal curl dart deno direnv docker docker-compose dotnet \
    elixir emacs erl eslint fd ffmpeg fish flutter g++ gawk gcc gcloud gdb gem gh ghc git gmake go gofmt gradle grep groovy helm heroku http hugo java javac jest jq julia just k6 \
    kubectl kustomize lua luajit make mamba mercurial meson mise mix mocha mongosh mvn mypy mysql nano nasm ninja nim nix node nodejs npm npx nvim nvm openssl perl php pip pip3 pipenv pipx pnpm podman poetry \
    prettier protoc psql pulumi py.test pyright pytest python python2 python3 qemu-img R redis-cli rg rsync ruby ruff rustc rustfmt rustup sbt scala scp sed sh sqlite3 ssh swift tar task terraform terragrunt tmux tofu \
    ts-node tsc tsx turbo uv uvx vagrant vault vim vite vitest wget xcodebuild yarn yq zig zsh clippy-driver cargo-clippy black isort flake8 pylint rubocop rspec rake rails phpunit webpack rollup esbuild nx lerna playwright cypress";

/// Programs of which `version` is a subcommand that only says something.
const ASKED_BY_A_WORD: &str = "brew bundle bundler cargo cosign direnv docker docker-compose gcloud gem gh git go helm hugo k6 kubectl \
    kustomize minikube npm openssl podman poetry pulumi terraform terragrunt tofu vagrant vault zig";

/// Programs that somebody has thought about: what they do beyond the rows is not proven, but not unknown either.
pub(super) fn is_known(name: &str) -> bool {
    ASKED.split_ascii_whitespace().any(|known| known == name)
        || CHANGING.split_ascii_whitespace().any(|known| known == name)
}

/// Programs that change things and whose operands are never commands.
const CHANGING: &str = "rm rmdir mv cp mkdir touch ln chmod chown chgrp install unlink truncate shred dd mkfs fdisk parted patch split csplit mktemp mkfifo mknod rename sync gzip gunzip bzip2 xz zstd zip unzip tar 7z cpio ar ranlib strip \
    ld as cc c++ scp sftp rsync rclone pkill killall kill reboot shutdown halt poweroff useradd userdel usermod groupadd groupdel passwd chpasswd apt apt-get dpkg snap systemctl modprobe insmod rmmod mount umount \
    swapoff mkswap iptables nft ufw logger wall write mail sendmail gpg ssh-keygen ssh-add ssh-copy-id openssl certbot nginx apachectl pm2 open xdg-open code subl pbcopy pbpaste xclip say osascript defaults \
    docker-machine minikube kind helmfile skaffold tilt argocd flux istioctl eksctl kops serverless sls sam cdk amplify firebase netlify surge pg_dump pg_restore pg_dumpall mysqldump mongodump mongorestore createdb dropdb \
    createuser dropuser initdb pg_ctl alembic flyway liquibase knex sequelize typeorm drizzle-kit gunicorn uvicorn flask django-admin celery streamlit jupyter nodemon ts-node-dev webpack-dev-server next nuxt gatsby ng vue expo react-native \
    pod xcrun adb fastlane wrangler hg svn bzr fossil p4 repo jj gitk tig lazygit pre-commit commitlint semantic-release changeset goreleaser nfpm asdf sdk rbenv pyenv tee export alias declare let read source unset";

fn given(options: &crate::command::options::Options<'_>) -> Result<(), String> {
    if options.given.is_empty() { Err("it is not known to only read in this form".into()) } else { Ok(()) }
}

fn asked(options: &crate::command::options::Options<'_>) -> Result<(), String> {
    if options.given.len() == 1 { Ok(()) } else { Err("it is not known to only read in this form".into()) }
}
