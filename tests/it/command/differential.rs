//! Compares the parser with two others: with bash about valid syntax, and with tree-sitter about the commands of a
//! text.

use std::{
    io::Write,
    process::{Command, Stdio},
};

use bestow::command::classify;

use super::cases::given_commands;

/// Returns true if bash would run the text.
fn bash_accepts(text: &str) -> bool {
    let mut bash = Command::new("bash")
        .args(["--norc", "-n"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("bash is here");
    bash.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("bash reads");
    bash.wait().expect("bash ends").success()
}

fn understood(text: &str) -> bool {
    !classify(text).parts.iter().any(|part| part.rule.starts_with("not understood"))
}

/// Grammar that the cases do not cover.
const GRAMMAR: &[&str] = &[
    "for i in a b; do echo $i; done",
    "for i; do echo; done",
    "for ((i=0;i<3;i++)); do echo; done",
    "for i in a\ndo echo\ndone",
    "select x in a b; do break; done",
    "while a; b; do c; done",
    "until a; do b; done",
    "if a; then b; elif c; then d; else e; fi",
    "case $x in a|b) c;; (d) e;& *) f;;& esac",
    "case x in esac",
    "f() { a; }",
    "function f { a; }",
    "function f() ( a )",
    "f() if a; then b; fi",
    "{ a; } > f",
    "(a; b) 2>&1",
    "[[ a == b && ( c < d || -f e ) ]]",
    "[[ $x =~ ^(a|b)$ ]]",
    "((x++))",
    "((a=1,b=2))",
    "a && b || c",
    "a | b |& c",
    "a & b",
    "a &",
    "! a",
    "time a",
    "coproc a",
    "coproc N { a; }",
    "a=1 b=2 c",
    "a=(1 2 3)",
    "a+=(4)",
    "a[1]=2",
    "a <<E\nx\nE",
    "a <<-E\n\tx\n\tE",
    "a <<'E' | b\nx\nE",
    "a <<E1 <<E2\n1\nE1\n2\nE2",
    "a <<< b",
    "a <> b",
    "a >| b",
    "a &> b",
    "a &>> b",
    "a >& b",
    "a 2>&1 3>&-",
    "{fd}> a b",
    "echo ${a:-b} ${a#b} ${a%%b} ${a/b/c} ${a:1:2} ${!a} ${#a} ${a[@]} ${a^^} ${a@Q}",
    "echo $(a) `b` $((1+2)) <(c) >(d)",
    "echo $((a ? b : c))",
    "echo $( (a) )",
    "echo \"$(echo \"$(echo x)\")\"",
    "echo $'a\\'b'",
    "echo $\"a\"",
    "a; b\nc",
    "# only",
    "",
    "a \\\n b",
    "a | \n b",
    "a && \n b",
    "{ a\n}",
    "if a\nthen b\nfi",
    "in",
    "echo if then fi",
    "echo }",
    "echo {",
    "a }",
    "time",
    "! ! a",
    "a;;",
    ";",
    "a ; ; b",
    "| a",
    "a |",
    "a &&",
    "&& a",
    "a || || b",
    "(",
    ")",
    "a )",
    "( a",
    "()",
    "{ a",
    "{ a }",
    "}",
    "if",
    "if a",
    "if a; then",
    "if a; then fi",
    "then",
    "fi",
    "do",
    "done",
    "for",
    "for i",
    "for i in a; do done",
    "while do a; done",
    "case x",
    "case x in a) b",
    "esac",
    "f()",
    "f() a",
    "function",
    "function f",
    "a >",
    "a <<",
    "a > ;",
    "a <<E",
    "'",
    "\"",
    "`",
    "$(",
    "${",
    "echo ${",
    "echo ${a",
    "echo $(a",
    "echo \"$(a\"",
    "[[ a",
    "[[ ]]",
    "[[",
    "((",
    "a (b)",
    "a b(c)",
    "a & & b",
    "a & ; b",
    "a &&& b",
    "if a; then b; else; fi",
    "while a; done",
    "case a in b) c;; d",
    "{ }",
    "a=b()",
    "echo $((1",
    "echo `a",
    "coproc",
    "x=$(",
    "a | ; b",
    "a\n;b",
    "for i in a; b; done",
    "echo a#b",
    "echo a #b\nc",
    "$(a)",
    "`a`",
    "${a}",
    "a$(b)c",
    "\"a\"'b'c",
    "a={b,c}",
    "[ a ]",
    "[ a",
    "a[b",
    "!",
    "{",
    "[[ ! -f a ]]",
    "[[ a -eq b ]]",
    "[[ (a) ]]",
    "echo !",
    "a 'b\nc' d",
    "if ! a; then b; fi",
    "a | { b; }",
    "a | while read x; do b; done",
    "(a) (b)",
    "{ a; } { b; }",
    "if a; then b; fi fi",
    "a; }",
    "f() { a; } b",
];

#[test]
fn bash_and_we_agree_on_what_is_shell() {
    let texts = given_commands().into_iter().chain(GRAMMAR.iter().map(|text| text.to_string()));
    let hidden = |text: &String| text.chars().any(|c| c.is_control() && !matches!(c, '\t' | '\n') || !c.is_ascii());
    // Only bash refuses these. The classifier reads them as names of unknown programs, which are not safe either.
    let names = ["in", "a[b"];
    let mut wrong = Vec::new();
    for text in texts.filter(|text| !hidden(text) && !names.contains(&text.as_str())) {
        let (bash, ours) = (bash_accepts(&text), understood(&text));
        // Both must agree: the classifier understands a text exactly if bash accepts it.
        if bash != ours {
            wrong.push(format!("bash {bash}, we {ours}: {text:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the names of all commands in a tree without errors, in the order of the text.
fn names_by_tree_sitter(text: &str) -> Option<Vec<String>> {
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).expect("a language");
    let tree = parser.parse(text, None)?;
    if tree.root_node().has_error() {
        return None;
    }
    let mut names = Vec::new();
    let mut stack = vec![tree.root_node()];
    while let Some(node) = stack.pop() {
        if node.kind() == "command_name" {
            names.push((node.start_byte(), text[node.byte_range()].to_owned()));
        }
        let mut cursor = node.walk();
        stack.extend(node.children(&mut cursor));
    }
    names.sort();
    Some(names.into_iter().map(|(_, name)| name).collect())
}

#[test]
fn tree_sitter_and_we_find_the_same_commands() {
    // These texts contain known mistakes of tree-sitter, each proven in `traps`, and commands inside words that only
    // the classifier reads.
    let differs = |text: &str| {
        ["\\\n", "`", "<<", "\r", "coproc", "time", "bash", "sh ", "eval", "trap", "watch", "()", "function", "[["]
            .iter()
            .any(|sign| text.contains(sign))
    };
    let mut compared = 0;
    let mut wrong = Vec::new();
    for text in given_commands().into_iter().filter(|text| !differs(text) && understood(text)) {
        let Some(names) = names_by_tree_sitter(&text) else { continue };
        let parts = classify(&text).parts;
        compared += 1;
        for name in names {
            let plain = name.trim_matches(['\'', '"', '\\']);
            if !parts.iter().any(|part| part.command.contains(plain)) {
                wrong.push(format!("{name} is in no part of {text:?}"));
            }
        }
    }
    assert!(compared > 800, "only {compared} texts were compared");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
