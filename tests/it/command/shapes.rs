//! What may be remembered when a person says "always".

use bestow::command::{Shape, classify};

fn shape(text: &str) -> Option<Shape> {
    classify(text).shape
}

#[test]
fn words_in_a_role_may_differ_and_no_others() {
    assert!(shape("mkdir -p build/out").is_some());
    assert_eq!(shape("mkdir -p build/out"), shape("mkdir -p 'a b/c'"));
    assert_eq!(shape("git commit -m one"), shape("git commit -m 'two; rm -rf /'"));
    for (one, other) in [
        ("mkdir a", "mkdir -p a"),
        ("mkdir a", "mkdir /etc/a"),
        ("mkdir a", "mkdir ../a"),
        ("git add a", "git add .env"),
        ("git add a", "git add -f a"),
        ("git commit -m a", "git commit --amend -m a"),
        ("npm run build", "npm run deploy"),
        ("node a.js", "node b.js"),
        ("rm a", "rm b"),
    ] {
        assert_ne!(shape(one), shape(other), "{one} / {other}");
    }
}

#[test]
fn nothing_but_one_written_command_has_a_shape() {
    for text in [
        "npm test && x",
        "npm test | cat",
        "npm test &",
        "npm test > f",
        "A=b npm test",
        "npm run $X",
        "npm run *",
        "npm run {a,b}",
        "touch ~/x",
        "(npm test)",
        "npm test; ls",
        "npm run $(ls)",
        "npm run `ls`",
        "./x",
        "/tmp/npm test",
        "f() { x; }",
    ] {
        assert_eq!(shape(text), None, "{text}");
    }
}

#[test]
fn code_wrappers_and_other_machines_have_no_shape() {
    for text in [
        "bash -c x",
        "sh x.sh",
        "eval x",
        "python -c 'x'",
        "python3 -c x",
        "python",
        "node -e x",
        "node -p x",
        "perl -ne x",
        "ssh h x",
        "env x",
        "xargs rm",
        "nohup x",
        "docker exec web x",
        "npx x",
        "uv run x",
        "find . -delete -exec x {} +",
        "trap x EXIT",
        "source x",
        "sudo x",
        "timeout 5 x",
    ] {
        assert_eq!(shape(text), None, "{text}");
    }
}

#[test]
fn what_is_safe_or_destructive_is_not_offered() {
    assert_eq!(shape("ls"), None);
    assert_eq!(shape("git push --force"), None);
    assert_eq!(shape("rm -rf /"), None);
}

#[test]
fn a_shape_is_shown_in_full_and_survives_storage() {
    let shape = shape("git commit -m 'x' --no-verify").expect("a shape");
    assert_eq!(shape.to_string(), "git commit -m <any text> --no-verify");
    let stored = serde_json::to_string(&shape).unwrap();
    assert_eq!(serde_json::from_str::<Shape>(&stored).unwrap(), shape);
}
