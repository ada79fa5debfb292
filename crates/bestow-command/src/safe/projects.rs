//! Read-only uses of build tools, infrastructure tools and linters. A build runs code, so it is not listed here.

use super::{Spec, spec};
use crate::options::Options;

pub(super) const SPECS: &[Spec] = &[
    spec("terraform tofu", "-json -no-color -raw -state: -module-depth: -type: -platform: -recursive")
        .globals("-chdir:")
        .sub(
            "show|output|state list|state show|validate|version|workspace list|workspace show|graph|providers schema|\
             metadata functions",
        )
        .examples(
            &["terraform state list", "terraform output -json", "terraform validate", "terraform -chdir=infra show"],
            &["terraform apply", "terraform destroy", "terraform plan", "terraform state rm x", "terraform init"],
        ),
    spec("terraform tofu", "-json -no-color")
        .globals("-chdir:")
        .sub("providers")
        .none()
        .examples(&["terraform providers"], &["terraform providers lock", "terraform providers mirror x"]),
    spec("terraform tofu", "-check -diff -recursive -no-color")
        .sub("fmt")
        .asking(checks)
        .examples(&["terraform fmt -check -recursive"], &["terraform fmt", "terraform fmt -recursive"]),
    spec("pulumi", "-s: -j -a --stack: --json --all --show-urns --show-ids --show-secrets --non-interactive --color:")
        .sub("stack|config|whoami|version|about|plugin ls|org get-default")
        .none()
        .online_for("stack|whoami|org get-default")
        .examples(
            &["pulumi stack", "pulumi whoami"],
            &["pulumi up", "pulumi destroy", "pulumi stack rm x", "pulumi config set a b", "pulumi config x y"],
        ),
    spec("pulumi", "-s: -j -a --stack: --json --all --show-urns --show-ids --show-secrets --non-interactive --color:")
        .sub("stack ls|stack output|stack history|config get")
        .online_for("stack ls|stack output|stack history")
        .examples(&["pulumi stack ls", "pulumi stack output url"], &["pulumi stack rename x"]),
    spec("ansible ansible-playbook ansible-galaxy ansible-config", "--version")
        .none()
        .asking(prints_version)
        .examples(&["ansible --version"], &["ansible-playbook -l web site.yml"]),
    spec("ansible-doc", "--version -l --list -t:").asking(reports).examples(
        &["ansible-doc -l"],
        &[
            "ansible-playbook site.yml",
            "ansible all -m ping",
            "ansible-galaxy install x",
            "ansible-playbook --list-tasks -i ./x s.yml",
        ],
    ),
    spec("vagrant", "--machine-readable --no-color")
        .sub("global-status|box list|version")
        .examples(&["vagrant global-status"], &["vagrant up", "vagrant destroy -f"]),
    spec("packer", "-machine-readable")
        .sub("validate|version|inspect")
        .examples(&["packer validate x.pkr.hcl"], &["packer build x"]),
    spec("make gmake", "-n -v -C: -f: --dry-run --just-print --version")
        .asking(prints_version)
        .examples(&["make --version"], &["make", "make all", "make -n"]),
    spec("just", "-l --list --summary --show: -s: --version --dump")
        .asking(lists)
        .none()
        .examples(&["just --list"], &["just build", "just"]),
    spec("task", "-l -a --list --list-all --version").asking(lists).none().examples(&["task --list"], &["task build"]),
    spec(
        "shellcheck hadolint yamllint actionlint tflint",
        "= -f: -s: -e: -x -a -o: -S: -d: --format: --shell: --exclude: --severity: --no-color --color? --strict \
         --ignore: -t: -V --version --list-optional",
    )
    .examples(
        &["shellcheck -f gcc a.sh", "hadolint Dockerfile", "yamllint ."],
        &["actionlint -shellcheck=/x", "yamllint -c x ."],
    ),
    spec("gofmt goimports", "-l -d -s -e")
        .asking(does_not_write)
        .examples(&["gofmt -l .", "gofmt -d f.go"], &["gofmt -w ."]),
    // With `-l` it names the files that it has written.
    spec("rustfmt", "--check -l --files-with-diff --edition: --color: -v -q --verbose --quiet")
        .asking(checks_only)
        .examples(
            &["rustfmt --check src/lib.rs"],
            &["rustfmt src/lib.rs", "rustfmt -l src/lib.rs", "rustfmt --check --config-path x f"],
        ),
    spec(
        "black isort autopep8 yapf",
        "--check --diff -q -v -l: --line-length: --quiet --verbose -c --check-only --color --profile: --version",
    )
    .asking(checks_only)
    .examples(&["black --check .", "isort --check-only --diff src"], &["black .", "isort src", "black -c 'x=1'"]),
    spec(
        "ruff",
        "--no-fix --output-format: --select: --ignore: --diff -q --statistics --show-files --extend-select: \
         --target-version: --exclude: --no-cache",
    )
    .sub("check|rule|linter|version")
    .examples(&["ruff check .", "ruff check --select E,F src"], &["ruff check --fix .", "ruff clean"]),
    spec("ruff", "--check --diff -q --line-length: --target-version: --exclude:")
        .sub("format")
        .asking(checks_only)
        .examples(&["ruff format --check ."], &["ruff format ."]),
    spec("prettier", "-c -l --check --list-different --version --find-config-path: --file-info: --support-info")
        .asking(prettier_reads)
        .examples(
            &["prettier --version"],
            &["prettier --write .", "prettier --check .", "prettier --plugin x --check ."],
        ),
];

fn given(options: &Options<'_>, names: &str) -> Result<(), String> {
    if options.has(names) { Ok(()) } else { Err("it does not only report".into()) }
}

fn checks(options: &Options<'_>) -> Result<(), String> {
    given(options, "-check")
}

fn lists(options: &Options<'_>) -> Result<(), String> {
    given(options, "-l -a -s --list --list-all --summary --show --version --dump")
}

fn reports(options: &Options<'_>) -> Result<(), String> {
    given(options, "--version -l --list")
}

fn prints_version(options: &Options<'_>) -> Result<(), String> {
    given(options, "-v --version")
}

/// Requires an option with which a formatter does not write files in place.
fn does_not_write(options: &Options<'_>) -> Result<(), String> {
    given(options, "-l -d")
}

fn checks_only(options: &Options<'_>) -> Result<(), String> {
    if options.has("-c") && options.has("--check") {
        return Err("`-c` has two meanings".into());
    }
    given(options, "--check --diff --check-only --version")
}

/// Accepts only the version and the supported features. The program loads its configuration, which is code.
fn prettier_reads(options: &Options<'_>) -> Result<(), String> {
    given(options, "--version --support-info")
}
