//! Tests that a denied path is denied whatever word, option or tree leads to it.

use std::{fs, sync::Arc};

use bestow::{
    Agent, Effect, Engine, Kind, Settings, action::Operation, agent::Mode, decision::Verdict, path::PathGlob,
    policy::Rule,
};
use serde_json::json;

use super::{all_allowed, all_asked, all_denied};
use crate::{
    findings::{
        decision::{all_are, call},
        uses::everything_allowed,
    },
    support::{id, policy, profile, rule, settings},
};

/// A directory with trees and links, and an agent in it that is bound by `rules`. `{}` stands for the directory.
pub(super) struct Ground {
    _place: tempfile::TempDir,
    _engine: Engine,
    work: String,
    pub(super) agent: Agent,
}

impl Ground {
    pub(super) async fn new(denied: &[(Operation, &str)]) -> Ground {
        let place = tempfile::tempdir().unwrap();
        #[expect(clippy::disallowed_methods, reason = "the second opinion on what `fs` says")]
        let real = place.path().canonicalize().unwrap();
        let work = real.join("work");
        for name in ["d/f", "d/g", "e/f", "e/sub/h", "plain/c", "secrets/x", "k/a", "other/secrets2/z"] {
            let path = work.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        std::os::unix::fs::symlink("../secrets", work.join("k/link")).unwrap();
        let work = work.to_str().unwrap().to_owned();
        let deny = |(operation, glob): &(Operation, &str)| Rule {
            path: Some(PathGlob::try_from(glob.replace("{}", &work)).unwrap()),
            ..rule(Verdict::Deny, Some(*operation), None)
        };
        let rules: Vec<Rule> = denied.iter().map(deny).chain([everything_allowed()]).collect();
        let engine = Engine::new(Settings::default()).unwrap();
        let holds = format!("@write:{work}");
        let mut file = policy(settings(|_| {}), &[("ann", "you", &[&holds, "@network", "@read:/"])]);
        let ann = file.agents.get_mut(&id("ann")).unwrap();
        ann.profile = profile("ann", "you", Kind::Permanent).in_mode(Mode::Bypass);
        ann.profile.working_dir = work.parse().unwrap();
        ann.rules = Arc::from(rules);
        engine.configure(file).await.unwrap();
        let agent = engine.agent(id("ann")).unwrap();
        Ground { _place: place, _engine: engine, work, agent }
    }
}

#[tokio::test]
async fn what_a_copy_writes_below_its_target_is_denied() {
    let ground = Ground::new(&[(Operation::Write, "{}/d/f")]).await;
    all_denied(
        &ground.agent,
        &[
            "cp e/* d",
            "cp e/* d/",
            "cp e/f d",
            "cp -r e/. d",
            "cp -rT e d",
            "cp -aT e d",
            "cp -r --no-target-directory e d",
            "cp -t d e/f",
            "cp -t d e/*",
            "cp --target-directory=d e/f",
            "cp --target=d e/f",
            "rsync -a e/ d",
            "rsync -a e/ d/",
            "rsync -r e/ ./d",
            "rsync -a --delete plain/ d",
            "mv -T e d",
            "mv e/* d",
            "mv e/f d",
            "mv d/f k",
            "mv d k",
            "git mv d/f k",
            "git mv d k2",
            "git mv e/f d",
            "git mv -f e/f d/f",
            "git rm d/f",
            "git rm -r d",
            "git checkout -- d/f",
            "git restore d/f",
            "git checkout HEAD -- d",
            "ln d/f b",
            "ln -f e/f d/f",
            "ln -sf e/f d",
            "ln -s ../e/f d",
            "cp -l d/f b",
            "install e/f d",
            "install -t d e/f",
            "install -D e/f d/f",
            "sed 'wd/f' plain/c",
            "sed -n 'w d/f' plain/c",
            "sed -n '/x/w d/f' plain/c",
            "sed 's/a/b/wd/f' plain/c",
            "sed -e 'wd/f' plain/c",
            "sed --expression='w d/f' plain/c",
            "cd d && sed wf g",
            "find d -exec rm {} +",
            "find d -exec rm {} ';'",
            "find . -exec rm -f {} +",
            "find d -delete",
            "find . -name f -delete",
            "find d -type f -exec truncate -s 0 {} +",
            "curl --hsts d/f https://ok.com",
            "curl --libcurl d/f https://ok.com",
            "curl --libcurl=d/f https://ok.com",
            "curl -w '%output{d/f}x' https://ok.com",
            "curl -w '%output{>>d/f}x' https://ok.com",
            "curl --write-out '%{stderr}%output{d/f}x' https://ok.com",
            "curl --alt-svc d/f https://ok.com",
            "curl --outp d/f https://ok.com",
            "curl --etag-save d/f https://ok.com",
            "echo 'output = d/f' | curl -K - https://ok.com",
            "curl -K - https://ok.com < x",
            "curl -q -K- https://ok.com < x",
            "rsync -a --log-file=d/f e/ k",
            "rsync -a --log-file d/f e/ k",
            "rsync -a --backup-dir=d e/ k",
            "rsync -a --partial-dir=d e/ k",
            "rsync -a --write-batch=d/f e/ k",
            "sort --outp=d/f e/f",
            "sort --o d/f e/f",
            "wget --output-doc=d/f https://ok.com",
            "wget --output-d d/f https://ok.com",
            "wget --append=d/f https://ok.com",
            "wget --warc-file=d/f https://ok.com",
            "tar --fil=d/f -c e",
            "tar xf a.tar --dir=d",
            "tar --extract --file a.tar --one-top-level=d",
            "tar xf a.tar -C d",
            "split e/f d/f",
            "cp --back e/f d/f",
            "docker run -v ./d:/x a",
            "docker run --volume ./d:/x a",
            "docker run --volume=$PWD/d:/x a",
            "docker run -v .:/x a",
            "docker run --mount type=bind,source=./d,target=/x a",
            "docker run --mount=type=bind,src=./d,dst=/x a",
            "podman run -v ./d:/x:z a",
            "docker compose run -v ./d:/x a",
            "docker cp x:/f d/f",
            "gcc -o d/f e/f",
            "tee -a d/f",
            "dd of=d/f",
            "patch d/f",
            "gzip d/f",
            "truncate -s 0 d/f",
            "ex -sc w d/f",
            "git diff --output=d/f",
            "git diff --outp=d/f",
            "git log --output d/f",
            "git archive -o d/f HEAD",
            "git bundle create d/f HEAD",
        ],
    );
    all_allowed(
        &ground.agent,
        &[
            "cp d/f k",
            "cp -r d k",
            "cp e/* k",
            "rsync -a e/ k",
            "rsync -a d/ k",
            "cp -rT e k/new",
            "git mv e/f k",
            "git add .",
            "git commit -m x",
            "sed -n 'w k/new' plain/c",
            "sed -n 's/a/w/' d/f",
            "find d -name f",
            "find d -type f",
            "find e -delete",
            "find e -exec rm {} +",
            "curl -o k/x https://ok.com",
            "curl -w '%{http_code}' https://ok.com",
            "curl -K k/conf https://ok.com",
            "sort --key=2 d/f",
            "docker run -v ./d:/x:ro a",
            "docker run -v ./k:/x a",
            "docker run -v name:/x a",
            "ln e/f k",
            "git diff d/f",
        ],
    );
}

#[tokio::test]
async fn a_long_option_is_the_same_however_short_it_is_cut() {
    let ground = Ground::new(&[(Operation::Write, "{}/d/f")]).await;
    for (before, option, behind) in [
        ("sort", "--output", "e/f"),
        ("curl", "--libcurl", "https://ok.com"),
        ("curl", "--output", "https://ok.com"),
        ("curl", "--dump-header", "https://ok.com"),
        ("wget", "--output-document", "https://ok.com"),
        ("wget", "--append-output", "https://ok.com"),
        ("rsync -a", "--log-file", "e/ k"),
        ("tar -c", "--file", "e"),
    ] {
        for length in 4..=option.len() {
            let option = option.get(..length).unwrap();
            all_denied(
                &ground.agent,
                &[&format!("{before} {option}=d/f {behind}"), &format!("{before} {option} d/f {behind}")],
            );
        }
    }
    all_allowed(&ground.agent, &["sort --output=k/f e/f", "sort --reverse d/f", "rsync -a --partial d/ k"]);
}

#[tokio::test]
async fn what_is_read_by_a_tree_a_link_or_a_repository_is_denied() {
    let ground = Ground::new(&[(Operation::Read, "{}/secrets/**"), (Operation::Read, "{}/d/f")]).await;
    all_denied(
        &ground.agent,
        &[
            "cat secrets/x",
            "cat d/*",
            "cat k/link/x",
            "grep -R x k",
            "grep -Rn x k",
            "grep --dereference-recursive x k",
            "grep --deref x k",
            "rg -L x k",
            "rg --follow x k",
            "ag -f x k",
            "find -L k -exec cat {} +",
            "tar chf a.tar k",
            "tar -ch -f a.tar k",
            "tar --dereference -cf a.tar k",
            "cp -rL k b",
            "cp -RL k b",
            "rsync -aL k/ b",
            "rsync -rL k b",
            "rsync --copy-links -r k b",
            "git show :d/f",
            "git show HEAD:d/f",
            "git show HEAD:./d/f",
            "git show 'HEAD~1:d/f'",
            "git show HEAD -- d/f",
            "git cat-file -p HEAD:d/f",
            "git cat-file blob :d/f",
            "git cat-file --textconv HEAD:d/f",
            "git grep x d/f",
            "git diff d/f",
            "git log -p -- d/f",
            "git blame d/f",
            "git annotate d/f",
            "git restore --source=HEAD d/f",
            "ln d/f b",
            "ln secrets/x b",
            "cp -l d/f b",
            "git diff --no-index k d/f",
            "git -C d show :./f",
            "docker run -v ./secrets:/x:ro a",
            "docker cp secrets/x c:/x",
        ],
    );
    // One of many files: a person decides, also in mode `bypass`.
    all_asked(
        &ground.agent,
        &[
            "git grep .",
            "git grep x -- d",
            "git grep x HEAD",
            "git diff -- d",
            "git archive HEAD",
            "git checkout-index -a --prefix=k/",
            "git add .",
        ],
    );
    all_allowed(
        &ground.agent,
        &[
            "grep -r x plain",
            "grep -R x plain",
            "git status",
            "git log --oneline",
            "git log",
            "git diff --stat",
            "git diff --name-only",
            "git diff -- plain",
            "git diff plain/c",
            "echo d/*",
            "printf '%s\\n' d/*",
            "for f in d/*; do echo \"$f\"; done",
            "git show :plain/c",
            "git show HEAD:plain/c",
            "git show --stat",
            "git grep x -- plain",
            "git branch",
            "git ls-files",
            "git blame plain/c",
            "git log --stat",
            "git commit -m x",
            "rg x plain",
            "rg -L x plain",
            "grep -r x k",
            "rg x k",
        ],
    );
}

#[tokio::test]
async fn a_path_in_whatever_a_tool_is_told_is_denied() {
    let ground = Ground::new(&[
        (Operation::Read, "{}/secrets/**"),
        (Operation::Read, "/etc/shadow"),
        (Operation::Read, "/root/**"),
    ])
    .await;
    let absolute = format!("{}/secrets/x", ground.work);
    let denied = [
        json!({"dir": "secrets", "file": "x"}),
        json!({"file": "x", "dir": "secrets"}),
        json!({"dir": "./secrets", "name": "x"}),
        json!({"root": ground.work, "rel": "secrets/x"}),
        json!({"path": ["secrets", "x"]}),
        json!({"a": {"base": "secrets"}, "b": {"file": "x"}}),
        json!({"p": format!("file://{absolute}")}),
        json!({"p": format!("FILE:{absolute}")}),
        json!({"p": "file:///etc/sh%61dow"}),
        json!({"p": "file://localhost/etc/shadow"}),
        json!({"p": "file:/etc/shadow"}),
        json!({"p": "/etc/sh%61dow"}),
        json!({"p": "@/etc/shadow"}),
        json!({"p": "x=@/etc/shadow"}),
        json!({"p": "look at @/etc/shadow now"}),
        json!({"p": "see file:///etc/sh%61dow"}),
        json!({"p": "~root/x"}),
        json!({"p": "~root/../etc/shadow"}),
        json!({"p": absolute}),
        json!({"p": "k/link/x"}),
    ];
    all_are(&ground.agent, Effect::Deny, denied.map(|input| call("foo", input)));
    let others = [json!({"dir": "plain", "file": "c"}), json!({"p": "100%"}), json!({"to": "ann@example.com"})];
    all_are(&ground.agent, Effect::Allow, others.map(|input| call("foo", input)));
}

#[tokio::test]
async fn a_path_from_home_is_denied_to_tools_that_nobody_knows() {
    let Some(home) = std::env::home_dir().and_then(|home| home.into_os_string().into_string().ok()) else { return };
    let denied = format!("{home}/.nothing-here/**");
    let ground = Ground::new(&[(Operation::Read, &denied)]).await;
    let paths = [
        "~/.nothing-here/x",
        "$HOME/.nothing-here/x",
        "${HOME}/.nothing-here/x",
        "\"$HOME\"/.nothing-here/x",
        "@~/.nothing-here/x",
        "%HOME%/.nothing-here/x",
    ];
    for text in paths {
        all_are(&ground.agent, Effect::Deny, [call("foo", json!({ "p": text }))]);
    }
    all_are(&ground.agent, Effect::Deny, [call("foo", json!({"dir": "$HOME/.nothing-here", "file": "x"}))]);
    all_denied(&ground.agent, &["cat ~/.nothing-here/x", "cat \"$HOME\"/.nothing-here/x"]);
}

#[tokio::test]
async fn a_comparison_of_what_nobody_can_tell_does_not_happen_by_itself() {
    let ground = Ground::new(&[]).await;
    let you = ground._engine.approver("you", "ann", "test");
    let _there = you.attend().unwrap();
    let engine = &ground._engine;
    engine.set_mode(ground.agent.id(), Mode::Default).await.unwrap();
    let mut file = policy(settings(|_| {}), &[("ann", "you", &[&format!("@write:{}", ground.work)])]);
    let ann = file.agents.get_mut(&id("ann")).unwrap();
    ann.profile = profile("ann", "you", Kind::Permanent).in_mode(Mode::Default);
    ann.profile.working_dir = ground.work.parse().unwrap();
    engine.configure(file).await.unwrap();
    let agent = engine.agent(id("ann")).unwrap();
    for line in [
        "git diff x \"$F\"",
        "git diff \"$F\" x",
        "git diff \"$F\" \"$G\"",
        "git diff --stat x \"$F\"",
        "git diff -- \"$F\" x",
    ] {
        all_are(&agent, Effect::Ask, [bestow::Action::command(line)]);
    }
    for line in ["git diff HEAD", "git diff --stat", "git log \"$BRANCH\"", "git diff main feature"] {
        all_are(&agent, Effect::Allow, [bestow::Action::command(line)]);
    }
}
