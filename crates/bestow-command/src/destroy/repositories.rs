//! Destructive commands for repositories and their history, remotes, releases and packages.

use super::{
    Rule,
    When::{Flag, Named, NoFlag, Operand, Text},
    rule,
};
use crate::place::Place;

pub(super) const RULES: &[Rule] = &[
    rule("gh glab hub tea", "deletes a repository").sub("repo delete|repos delete|project delete").examples(
        &["gh repo delete o/r --yes", "yes | gh repo delete o/r", "GH_TOKEN=x gh repo delete o/r"],
        &["gh repo view o/r", "gh issue create --title 'repo delete'"],
    ),
    rule("hub", "deletes a repository").sub("delete").examples(&["hub delete o/r"], &["hub browse"]),
    rule("gh", "publishes a repository").sub("repo edit").when(&[Flag("--visibility"), Text("public")]).examples(
        &["gh repo edit --visibility public", "gh repo edit o/r --visibility=public"],
        &["gh repo edit --visibility private", "gh repo edit --description x"],
    ),
    rule("gh glab", "deletes through the API")
        .sub("api")
        .when(&[Text("DELETE -XDELETE")])
        .examples(&["gh api -X DELETE repos/o/r", "gh api repos/o/r --method DELETE"], &["gh api repos/o/r"]),
    rule("gh", "deletes what others rely on")
        .sub(
            "release delete|secret delete|secret remove|variable delete|codespace delete|project delete|gist delete|\
             issue delete|run delete|ruleset delete|repo archive",
        )
        .examples(&["gh release delete v1"], &["gh release list", "gh issue close 3"]),
    rule("glab", "deletes what others rely on")
        .sub("release delete|mr delete|issue delete|variable delete|project delete")
        .examples(&["glab release delete v1", "glab mr delete 1"], &["glab mr list"]),
    rule("op bw lpass", "deletes stored secrets")
        .sub("item delete|vault delete|document delete|delete item|delete folder|rm")
        .examples(&["op item delete x", "bw delete item x"], &["op item get x", "bw get item x"]),
    rule("git", "overwrites or deletes history that others have")
        .sub("push")
        .when(&[Flag("-f --force --mirror --prune"), NoFlag("-n --dry-run")])
        .examples(
            &["git push --force", "git push -f origin main", "git push origin --mirror", "git -C x push -f"],
            &["git push", "git push --force-with-lease", "git push -n -f"],
        ),
    rule("git", "overwrites history that others have")
        .sub("push")
        .when(&[Operand(forced_ref)])
        .examples(&["git push origin +main"], &["git push origin main"]),
    rule("git", "deletes a remote branch")
        .sub("push")
        .when(&[Operand(deleted_ref)])
        .examples(&["git push origin :main"], &["git push origin a:b"]),
    rule("git", "deletes a remote branch")
        .sub("push")
        .when(&[Flag("-d --delete")])
        .examples(&["git push origin --delete x"], &["git push origin x"]),
    rule("git", "deletes files that are in no commit")
        .sub("clean")
        .when(&[Flag("-f --force"), NoFlag("-n --dry-run")])
        .examples(&["git clean -fdx", "git clean -f", "git -C x clean -xdf"], &["git clean -n", "git clean -nfd"]),
    rule("git", "deletes everything that was stashed")
        .sub("stash clear")
        .examples(&["git stash clear"], &["git stash list", "git stash drop"]),
    rule("git", "removes the way back to lost commits")
        .sub("reflog expire|reflog delete")
        .examples(&["git reflog expire --expire=now --all"], &["git reflog"]),
    rule("git", "removes lost commits for good")
        .sub("gc|prune")
        .when(&[Text("--prune=now --prune=all --expire=now")])
        .examples(&["git gc --prune=now"], &["git gc", "git prune -n"]),
    rule("git", "rewrites all history")
        .sub("filter-branch|filter-repo")
        .examples(&["git filter-branch --tree-filter x HEAD", "git filter-repo --path x"], &["git rebase main"]),
    rule("git-filter-repo bfg", "rewrites all history")
        .examples(&["git-filter-repo --path x", "bfg --delete-files x"], &["git log"]),
    rule("git", "deletes references")
        .sub("update-ref")
        .when(&[Flag("-d --stdin")])
        .examples(&["git update-ref -d HEAD"], &["git update-ref refs/x HEAD"]),
    rule("git", "removes large files for good")
        .sub("lfs prune")
        .when(&[Flag("--force -f")])
        .examples(&["git lfs prune --force"], &["git lfs ls-files"]),
    rule("npm pnpm yarn", "removes a published package")
        .sub("unpublish|npm unpublish")
        .examples(&["npm unpublish x --force"], &["npm publish", "npm deprecate x y"]),
    rule("gem cargo", "withdraws a published package")
        .sub("yank")
        .examples(&["gem yank x -v 1", "cargo yank x"], &["gem list"]),
    rule("svn", "deletes in the repository")
        .sub("delete|rm|remove")
        .when(&[Operand(is_address)])
        .examples(&["svn delete https://x/trunk -m x"], &["svn delete f"]),
    rule("hg", "rewrites history").sub("strip|purge").examples(&["hg strip 3", "hg purge --all"], &["hg status"]),
    rule("svnadmin p4", "deletes history").sub("obliterate").examples(&["p4 obliterate -y //depot/..."], &["p4 info"]),
    rule("kaggle huggingface-cli hf", "deletes a repository")
        .when(&[Named("delete repo-delete")])
        .examples(&["huggingface-cli repo delete x"], &["hf download x"]),
];

fn forced_ref(operand: &str, _: &Place) -> bool {
    operand.starts_with('+')
}

fn deleted_ref(operand: &str, _: &Place) -> bool {
    operand.starts_with(':') && operand.len() > 1
}

fn is_address(operand: &str, _: &Place) -> bool {
    operand.contains("://")
}
