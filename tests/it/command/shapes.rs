//! Tests of the shapes that are saved when a person answers "always".

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
fn nothing_but_one_written_command_that_is_not_safe_has_a_shape() {
    for text in [
        "npm test || x",
        "npm test &",
        "npm test > /tmp/f",
        "npm test > .env",
        "npm test < f",
        "npm test > f > g",
        "npm test 3> f",
        "PATH=x npm test",
        "LD_PRELOAD=x npm test",
        "NODE_OPTIONS=x npm test",
        "GIT_DIR=x git add a",
        "A=b npm test",
        "NODE_ENV+=b npm test",
        "NODE_ENV=$X npm test",
        "TZ=/x npm test",
        "cd a && npm ci && npm test",
        "export A=b && npm ci && npm test",
        "npm ci && ! npm test",
        "npm ci && npm test | tee f",
        "npm ci && x $Y",
        "npm run $X",
        "npm run *",
        "npm run {a,b}",
        "touch ~/x",
        "(npm test)",
        "npm test; make",
        "npm run $(ls)",
        "npm run `ls`",
        "../x",
        "./a/../../x",
        "~/x",
        ".git/hooks/x",
        "/tmp/npm test",
        "f() { x; }",
    ] {
        assert_eq!(shape(text), None, "{text}");
    }
}

#[test]
fn code_wrappers_and_other_machines_have_no_shape() {
    for text in [
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
        "docker exec web x",
        "npx -c x",
        "npx --call x",
        "uv run python -c x",
        "uv run sudo x",
        "timeout 5 bash x.sh",
        "timeout 5 sudo x",
        "timeout 5 xargs rm",
        "bash -c 'x $Y'",
        "bash -c 'x; y'",
        "bash -c \"python -c x\"",
        "bash -ic x",
        "find . -delete -exec x {} +",
        "trap x EXIT",
        "source x",
        "sudo x",
    ] {
        assert_eq!(shape(text), None, "{text}");
    }
}

/// The shown text is what is saved: this line, and no other program, word, variable, file or order.
#[test]
fn an_everyday_line_is_saved_as_it_is_shown() {
    for (line, shown) in [
        ("npx jest --ci", "npx jest --ci"),
        ("uv run pytest -q", "uv run pytest -q"),
        ("poetry run mypy src", "poetry run mypy src"),
        ("./gradlew build", "./gradlew build"),
        ("timeout 60 npm test", "timeout 60 npm test"),
        ("ionice -c 2 npm test", "ionice -c 2 npm test"),
        ("nice -n 5 timeout 60 ./gradlew build", "nice -n 5 timeout 60 ./gradlew build"),
        ("NODE_ENV=test npm test", "NODE_ENV=test npm test"),
        ("NODE_ENV='a b' CI=1 npm test", "NODE_ENV=\"a b\" CI=1 npm test"),
        ("npm test > log", "npm test > log"),
        ("npm test > 'a b' 2>&1", "npm test > \"a b\""),
        ("git add -A && git commit -m x", "git add -A && git commit -m <any text>"),
        (
            "git add src/a.rs && git commit -m x && git push",
            "git add <any path in the working directory> && git commit -m <any text> && git push",
        ),
        ("NODE_ENV=test npm ci && npm test > log", "NODE_ENV=test npm ci && npm test > log"),
        ("bash -lc 'npm test'", "bash -lc \"npm test\""),
        ("sh -c 'npm ci && npm test'", "sh -c \"npm ci && npm test\""),
        ("npm run 'a && b'", "npm run \"a && b\""),
        ("npm run 'A=b' '>' c", "npm run A=b \">\" c"),
    ] {
        let shape = shape(line).unwrap_or_else(|| panic!("{line}: {:?}", classify(line)));
        assert_eq!(shape.to_string(), shown, "{line}");
        assert!(shape.covers(&classify(line)), "{line}");
        assert_eq!(shown.parse::<Shape>().as_ref(), Ok(&shape), "{line}");
        assert!(shape.covers(&classify(&shape.example())), "{}", shape.example());
        let stored = serde_json::to_string(&shape).unwrap();
        assert_eq!(serde_json::from_str::<Shape>(&stored).unwrap(), shape);
    }
    for (learned, text) in [
        ("npx jest", "npx jest --ci"),
        ("npx jest", "npx evil"),
        ("uv run pytest", "uv run --with evil pytest"),
        ("./gradlew build", "./gradlew publish"),
        ("./gradlew build", "gradlew build"),
        ("./gradlew build", "a/gradlew build"),
        ("timeout 60 npm test", "npm test"),
        ("timeout 60 npm test", "timeout 60 npm publish"),
        ("NODE_ENV=test npm test", "NODE_ENV=production npm test"),
        ("NODE_ENV=test npm test", "NODE_ENV=test LD_PRELOAD=x npm test"),
        ("NODE_ENV=test npm test", "npm test"),
        ("npm test > log", "npm test > other"),
        ("npm test > log", "npm test"),
        ("npm test > log", "npm test < log"),
        ("git add -A && git commit -m x", "git add -A && git commit -m x && git push"),
        ("git add -A && git commit -m x", "git commit -m x && git add -A"),
        ("git add -A && git commit -m x", "git add -A || git commit -m x"),
        ("git add -A && git commit -m x", "git add -A; git commit -m x"),
        ("git add -A && git commit -m x", "git commit -m x"),
        ("bash -lc 'npm test'", "bash -lc 'npm test; x'"),
        ("bash -lc 'npm test'", "bash -c 'npm test'"),
    ] {
        assert!(!covered(learned, text), "{learned} / {text}");
    }
    for text in [
        "git add -A &&  git push",
        "npm test >  log",
        "NODE_ENV=test",
        "PATH=x npm test",
        "npm test > /etc/x",
        "npm ci && cd x && npm test",
        "npm ci && npm test > log <and any parts that only read>",
    ] {
        assert!(text.parse::<Shape>().is_err(), "{text}");
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

/// Returns true if the shape learned from `learned` covers `text`.
fn covered(learned: &str, text: &str) -> bool {
    shape(learned).expect("a shape to attack").covers(&classify(text))
}

/// Returns true if a prefix rule, the usual way to save an answer, would cover `text`.
fn a_prefix_covers(learned: &str, text: &str) -> bool {
    let prefix: Vec<&str> = learned.split(' ').take(2).collect();
    text.starts_with(&prefix.join(" "))
}

#[test]
fn a_shape_covers_its_own_command_and_others_with_other_words_in_its_roles() {
    for (learned, text) in [
        ("git commit -m x", "git commit -m x"),
        ("git commit -m x", "git commit -m 'y; rm -rf /'"),
        ("git commit -m x", "git  commit   -m \\\n 'y'"),
        ("git commit -m x", "g''it commit -m '$(rm -rf /)'"),
        ("git commit -m x", "git commit -m --amend"),
        ("mkdir -p a/b", "mkdir -p c"),
        ("npm run build", "npm run build # again"),
    ] {
        assert!(covered(learned, text), "{learned} / {text}");
    }
}

#[test]
fn a_shape_that_was_learned_covers_no_attack_that_begins_like_it() {
    let learned = "git commit -m x";
    let attacks = [
        "git commit -m \"$(rm -rf /)\"",
        "git commit -m \"`./x`\"",
        "git commit -m $X",
        "git commit -m ${X:-y}",
        "git commit -m <(./x)",
        "git commit -m *",
        "git commit -m {a,b}",
        "git commit -m ~",
        "git commit -m $((1))",
        "git commit -m x; ./x",
        "git commit -m x && ./x",
        "git commit -m x || ./x",
        "git commit -m x | ./x",
        "git commit -m x & ./x",
        "git commit -m x\n./x",
        "git commit -m x > f",
        "git commit -m x >> ~/.bashrc",
        "git commit -m x < f",
        "git commit -m x <<< y",
        "git commit -m x y",
        "git commit -m x --no-verify",
        "git commit -m x -m y",
        "git commit --amend -m x",
        "git commit -C HEAD",
        "git commit -F f",
        "git commit",
        "git commit -m",
        "git commit --message=x",
    ];
    for text in attacks {
        assert!(a_prefix_covers(learned, text), "the naive rule falls: {text}");
        assert!(!covered(learned, text), "{text}");
    }
    for text in [
        "git -c core.pager=./x commit -m x",
        "git -C /elsewhere commit -m x",
        "git --exec-path=. commit -m x",
        "GIT_EDITOR=./x git commit -m x",
        "PATH=. git commit -m x",
        "./git commit -m x",
        "/tmp/git commit -m x",
        "env git commit -m x",
        "sudo git commit -m x",
        "command git commit -m x",
        "bash -c 'git commit -m x'",
        "NODE_ENV=x git commit -m x",
        "timeout 5 git commit -m x",
        "git add a && git commit -m x",
        "(git commit -m x)",
        "{ git commit -m x; }",
        "git() { ./x; }; git commit -m x",
        "alias git=./x; git commit -m x",
        "gіt commit -m x",
        "git commit\u{a0}-m x",
        "git commit -m x\r",
    ] {
        assert!(!covered(learned, text), "{text}");
    }
}

#[test]
fn a_path_in_a_role_stays_inside_and_is_nothing_special() {
    for path in [
        "/etc/x",
        "~/x",
        "../x",
        "a/../../x",
        "./..",
        ".",
        "./",
        "./.",
        ".//",
        "-A",
        "--all",
        ":/",
        ":(top)",
        "a=b",
        ".env",
        ".git/hooks/x",
        "a/.ssh/b",
        "''",
        "$X",
        "*",
        "a/*",
        "{a,b}",
        "'a\tb'",
        "\\~",
        ".claude/x",
        ".husky/x",
        "@f",
        "!f",
    ] {
        let text = format!("git add {path}");
        assert!(!covered("git add a", &text), "{text}");
    }
    for path in ["b", "./b", "a/b.rs", "'a b'", "a\\ b", "ä"] {
        let text = format!("git add {path}");
        assert!(covered("git add a", &text), "{text}");
    }
}

#[test]
fn a_shape_is_never_offered_for_code_in_the_words_of_an_interpreter() {
    for text in [
        "awk -i inplace '{print}' f",
        "awk '{print > \"x\"}' f",
        "sed -i s/a/b/ f",
        "perl -wpe 'x' f",
        "perl -Mx -e y",
        "python -Ic x",
        "python -",
        "python -i x.py",
        "node --import x y",
        "ruby -rx -e y",
        "vim +x f",
        "emacs --batch --eval x",
        "psql -c 'UPDATE t SET a = 1 WHERE b = 2'",
        "sqlite3 x.db '.dump'",
        "deno eval x",
        "php -r x",
        "R -e x",
        "gdb -ex x",
    ] {
        assert_eq!(shape(text), None, "{text}");
    }
    for text in ["python x.py", "python -m pytest", "node x.js", "php artisan migrate"] {
        assert!(shape(text).is_some(), "{text}");
    }
}

#[test]
fn a_shape_that_cannot_be_shown_in_full_is_not_offered() {
    assert!(shape(&format!("npm run {}", "x".repeat(400))).is_some());
    assert_eq!(shape(&format!("npm run {}", "x".repeat(600))), None);
    assert_eq!(shape("touch a\u{202e}b"), None, "what turns the text around cannot be shown");
}

#[test]
fn a_fixed_word_cannot_pass_for_a_role_when_it_is_shown() {
    let shown = shape("npm run '<any text>'").expect("a shape").to_string();
    assert_eq!(shown, "npm run \"<any text>\"");
}

#[test]
fn a_shape_altered_where_it_is_stored_covers_nothing_that_could_not_be_offered() {
    for (stored, text) in [
        (r#"{"program":"bash","words":[{"fixed":"-c"},"text"]}"#, "bash -c ./x"),
        (r#"{"program":"rm","words":[{"fixed":"-rf"},"text"]}"#, "rm -rf /"),
        (r#"{"program":"npm","words":[{"fixed":"run"},"text"]}"#, "npm run x"),
        (r#"{"program":"git","words":["text","text","text"]}"#, "git commit -m x"),
    ] {
        let altered: Shape = serde_json::from_str(stored).unwrap();
        assert!(!altered.covers(&classify(text)), "{stored}");
    }
}

#[test]
fn what_a_person_raised_since_is_not_covered_any_more() {
    use bestow::command::{Additions, Classifier, Raise, Tier};
    let learned = shape("npm run deploy").expect("a shape");
    let raise = Raise {
        program: "npm".into(),
        words: vec!["deploy".into()],
        tier: Tier::Destructive,
        matches: vec!["npm run deploy".into()],
        not_matches: vec!["npm run build".into()],
    };
    let classifier = Classifier::default().with_additions(Additions::new(Vec::new(), vec![raise]).unwrap());
    assert!(learned.covers(&classify("npm run deploy")));
    assert!(!learned.covers(&classifier.classify("npm run deploy")));
}

#[test]
fn a_word_that_means_everything_is_not_a_path_like_another() {
    for (learned, text) in [
        ("git restore a", "git restore '*'"),
        ("git restore a", "git restore \\*"),
        ("git restore a", "git restore '*.rs'"),
        ("git restore a", "git restore 'a[bc]'"),
        ("git restore a", "git restore 'a?'"),
        ("git restore a", "git restore ."),
        ("git restore a", "git restore :/"),
        ("git restore a", "git restore ':(glob)**'"),
        ("git restore a", "git restore -- ."),
        ("git add a", "git add '*'"),
        ("git add a", "git add a/.."),
        ("git add a", "git add $PWD"),
        ("touch a", "touch https://x/y"),
        ("mkdir a", "mkdir 'C:\\x'"),
    ] {
        assert!(!covered(learned, text), "{learned} / {text}");
    }
}

#[test]
fn what_may_be_the_value_of_an_option_is_no_path() {
    for (learned, text) in [
        ("git restore -s main a", "git restore -s evil a"),
        ("mkdir -m 755 a", "mkdir -m 777 a"),
        ("touch -r a b", "touch -r c b"),
        ("rustfmt --config-path a b", "rustfmt --config-path c b"),
        ("gofmt -r a b", "gofmt -r c b"),
    ] {
        assert!(!covered(learned, text), "{learned} / {text}");
        assert!(covered(learned, learned), "{learned}");
    }
    assert!(covered("git restore --staged a", "git restore --staged b"));
    assert!(covered("mkdir -p a", "mkdir -p b"));
}
