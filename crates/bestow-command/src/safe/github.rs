//! Read-only command lines for code hosts.

use super::{Spec, online::Online, spec};
use crate::options::Options;

const LISTS: &str = "-L: -s: -S: -a: -A: -l: -q: -t: -R: -B: -H: -b: -e: -u: -c --limit: --state: --search: --author: \
    --assignee: --label: --json: --jq: --template: --repo: --base: --head: --app: --branch: --event: --user: \
    --workflow: --status: --comments --commit: --draft --mention: --milestone: --sort: --order: --created: --log \
    --log-failed --verbose --job: --exit-status --attempt: --color: --patch --name-only --required --watch --interval: \
    --fail-fast --owner: --language: --topic: --visibility: --source --fork --archived --no-archived --all --org: \
    --env: -o: --match: --exclude-drafts --exclude-pre-releases --files --key: --ref: --conflict-status";

pub(super) const SPECS: &[Spec] = &[
    spec("gh", LISTS)
        .sub(
            "pr list|pr view|pr diff|pr checks|pr status|issue list|issue view|issue status|repo view|repo list|\
             run list|run view|run watch|release list|release view|workflow list|workflow view|gist list|gist view|\
             label list|search code|search commits|search issues|search prs|search repos|status|cache list|\
             ruleset list|ruleset view|variable list|variable get|secret list|project list|project view|\
             project item-list|project field-list|org list|ssh-key list|gpg-key list|extension list|alias list|\
             config list|config get|codespace list|attestation verify|repo license list|discussion list",
        )
        .online(Online::AllBut { subcommands: "extension list|alias list|config list|config get", options: "" })
        .examples(
            &[
                "gh pr list",
                "gh pr view 12 --comments",
                "gh run view 5 --log-failed",
                "gh issue list --state open --json number",
            ],
            &["gh pr merge 5", "gh pr view --web", "gh repo delete o/r", "gh issue close 3", "gh pr create"],
        ),
    spec("gh", "-h: --hostname: -a --active")
        .sub("auth status")
        .none()
        .examples(&["gh auth status"], &["gh auth token", "gh auth status --show-token", "gh auth login"]),
    spec(
        "gh",
        "-X:GET|get|HEAD --method:GET|HEAD -f: --raw-field: -q: --jq: -t: --template: -H: --header: --paginate --slurp \
         --cache: -i --include --silent -p: --preview: --verbose",
    )
    .sub("api")
    .asking(super::question::reads_api)
    .examples(
        &["gh api repos/o/r/pulls --jq '.[].title'", "gh api -X GET user", "gh api -X GET search/issues -f q=x"],
        &[
            "gh api -X DELETE repos/o/r",
            "gh api graphql -f query=x",
            "gh api repos/o/r/issues -f title=x",
            "gh api --input f x",
        ],
    ),
    spec("gh glab hub", "").sub("version").none().offline().examples(&["gh version"], &["gh version x"]),
    spec(
        "glab",
        "-R: -P: -F: -a: -A -c -M -l: --repo: --per-page: --output: --assignee: --author: --label: --state: --all \
         --closed --merged --opened",
    )
    .sub(
        "mr list|mr view|mr diff|issue list|issue view|ci list|ci status|ci view|release list|release view|repo list|\
         repo view|pipeline list|pipeline status",
    )
    .examples(&["glab mr list", "glab issue view 3"], &["glab mr merge 3", "glab repo delete x"]),
    spec("gh", "").sub("help").asking(no_options).offline().examples(&["gh help pr"], &["gh help --x"]),
];

fn no_options(options: &Options<'_>) -> Result<(), String> {
    if options.given.is_empty() { Ok(()) } else { Err("an option that is not on the list".into()) }
}
