//! Subcommands that only print their help: `docker run --help`.
//!
//! The option must directly follow the subcommand: after an operand it may be meant for another program. Plugins and
//! aliases are subcommands too. Therefore only names are listed that users cannot redefine.

use crate::word::Word;

/// Rows of programs, their subcommands, and those subcommands that have subcommands themselves.
const ASKED: &[(&str, &str, &str)] = &[
    (
        "git",
        "add am apply archive bisect blame branch bundle cat-file checkout cherry cherry-pick clean clone commit \
         config describe diff fetch format-patch fsck gc grep init log ls-files ls-remote ls-tree maintenance merge \
         merge-base mv notes pull push range-diff rebase reflog remote reset restore rev-list rev-parse revert rm \
         shortlog show sparse-checkout stash status submodule switch symbolic-ref tag worktree",
        "",
    ),
    (
        "docker podman",
        "attach build builder buildx commit compose config container context cp create diff events exec export history \
         image images import info inspect kill load login logout logs manifest network node pause plugin port ps pull \
         push rename restart rm rmi run save search secret service stack start stats stop swarm system tag top trust \
         unpause update version volume wait",
        "builder buildx compose config container context image manifest network node plugin secret service stack swarm \
         system trust volume",
    ),
    (
        "kubectl oc",
        "annotate api-resources api-versions apply attach auth autoscale certificate cluster-info config cordon cp \
         create debug delete describe diff drain edit events exec explain expose get kustomize label logs patch \
         port-forward proxy replace rollout run scale set taint top uncordon version wait",
        "auth certificate cluster-info config create rollout set top",
    ),
    (
        "gh",
        "alias api attestation auth browse cache codespace config extension gist gpg-key issue label org pr project \
         release repo ruleset run search secret ssh-key status variable workflow",
        "alias attestation auth cache codespace config extension gist gpg-key issue label org pr project release repo \
         ruleset run search secret ssh-key variable workflow",
    ),
    (
        "helm",
        "create dependency env get history install lint list package plugin pull push registry repo rollback search \
         show status template test uninstall upgrade verify version",
        "dependency get plugin registry repo search show",
    ),
    (
        "cargo",
        "add bench build check clean clippy config doc fetch fix fmt generate-lockfile info init install \
         locate-project login logout metadata new owner package pkgid publish read-manifest remove report run rustc \
         rustdoc search test tree uninstall update vendor version yank",
        "",
    ),
    (
        "rustup",
        "check completions component default doc override run self set show target toolchain update which",
        "component override self set target toolchain",
    ),
    (
        "pip pip3",
        "cache check config debug download freeze hash help index inspect install list lock show uninstall wheel",
        "",
    ),
    (
        "uv",
        "add build cache export help init lock pip publish python remove run self sync tool tree venv version",
        "cache pip python self tool",
    ),
    (
        "poetry",
        "about add build cache check config env export init install list lock new publish remove run search self show \
         source update version",
        "",
    ),
    (
        "npm",
        "access adduser audit bugs cache ci config dedupe deprecate diff dist-tag docs doctor exec explain explore \
         fund get hook init install link list login logout ls org outdated owner pack ping pkg prefix profile prune \
         publish query rebuild repo root run sbom search set shrinkwrap team token uninstall unpublish update version \
         view whoami why",
        "",
    ),
    (
        "terraform tofu",
        "apply console destroy fmt force-unlock get graph import init login logout metadata output plan providers \
         refresh show state taint test untaint validate version workspace",
        "providers state workspace",
    ),
    ("go", "bug build clean doc env fix fmt generate get install list mod run test tool version vet work", ""),
    ("brew", "cleanup deps doctor info install list outdated search services tap uninstall update upgrade uses", ""),
];

/// Returns true if the words after `name` only ask for help.
pub(super) fn asks(name: &str, rest: &[Word]) -> bool {
    let listed = |list: &str, word: &str| list.split_ascii_whitespace().any(|known| known == word);
    let Some((question, subcommand)) = rest.split_last() else { return false };
    let helps = question.text() == "--help" || (question.text() == "-help" && matches!(name, "terraform" | "tofu"));
    if !helps || subcommand.len() > 2 || !rest.iter().all(Word::is_written) {
        return false;
    }
    let subcommand: Vec<&str> = subcommand.iter().map(Word::text).collect();
    let mut rows = ASKED.iter().filter(|(names, ..)| listed(names, name));
    rows.any(|(_, subcommands, groups)| match subcommand.as_slice() {
        [subcommand] => listed(subcommands, subcommand),
        [group, inner] => {
            listed(groups, group)
                && inner.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
                && !inner.starts_with('-')
        }
        _ => false,
    })
}
