//! Tests of the properties of all texts.

use bestow::command::{Classifier, Shell, Tier, classify, classify_tool};
use proptest::prelude::*;
use serde_json::json;

use super::cases::given_commands;

fn tier(text: &str) -> Tier {
    classify(text).tier
}

/// Generates texts that resemble shell more often than random ones.
fn shellish() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "ls",
        "rm",
        "-rf",
        "/",
        " ",
        " ",
        " ",
        "\n",
        ";",
        "&&",
        "||",
        "|",
        "&",
        "(",
        ")",
        "{",
        "}",
        "$(",
        "`",
        "'",
        "\"",
        "\\",
        "$",
        "${",
        "x",
        ":-",
        "<<EOF\n",
        "EOF\n",
        "<",
        ">",
        "2>&1",
        "#",
        "if ",
        "then ",
        "fi",
        "for i in ",
        "do ",
        "done",
        "case x in ",
        "esac",
        "[[ ",
        "]] ",
        "((",
        "))",
        "=",
        "*",
        "~",
        "eval ",
        "bash -c ",
        "sudo ",
        "echo ",
        "find . ",
        "-exec ",
        "{a,b}",
        "\\\n",
        "\t",
        "é",
        "\u{200b}",
        "\r",
        "$'",
        "@P",
        "!",
        "function f ",
        "coproc ",
        "time ",
        "env ",
        "xargs ",
        "a[",
        "]",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::support::cases(2_000), ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_it_panic(text in any::<String>()) {
        classify(&text);
    }

    #[test]
    fn no_shell_makes_it_panic_and_spans_lie_in_the_text(text in shellish()) {
        for part in classify(&text).parts {
            prop_assert!(part.span.start <= part.span.end && part.span.end <= text.len());
        }
    }

    #[test]
    fn the_same_text_gets_the_same_answer(text in shellish()) {
        prop_assert_eq!(classify(&text), classify(&text));
    }

    #[test]
    fn an_answer_line_is_always_json(text in any::<String>()) {
        let line = serde_json::json!({ "command": text }).to_string();
        let answer: serde_json::Value = serde_json::from_str(&Classifier::default().answer_line(&line)).unwrap();
        prop_assert!(answer["tier"].is_string());
    }
}

#[test]
fn appending_a_removal_of_everything_never_lowers() {
    for command in given_commands() {
        for end in ["; rm -rf /", "\nrm -rf /", " && rm -rf /"] {
            let text = format!("{command}{end}");
            assert!(tier(&text) >= tier(&command), "{text}");
            // A comment may hide the end of its line. It cannot hide the next line.
            if end.starts_with('\n') && !command.contains("<<") && !command.contains(['\'', '"', '\\', '`', '$', '(']) {
                assert_eq!(tier(&text), Tier::Destructive, "{text}");
            }
        }
    }
}

#[test]
fn wrapping_in_a_wrapper_never_lowers() {
    let wrappers = [
        "env",
        "nice",
        "nice -n 5",
        "nohup",
        "timeout 5",
        "timeout -k 1 5",
        "time",
        "stdbuf -o0",
        "setsid",
        "ionice -c3",
        "command",
        "exec",
        "busybox",
        "xargs",
        "doas",
        "chroot /x",
        "unknown-wrapper",
        "strace -f",
        "flock /tmp/l",
        "env A=b",
        "env -i",
        "taskset 1",
        "chrt 1",
        "caffeinate -i",
        "systemd-run --user",
        "docker exec web",
        "kubectl exec x --",
        "watch",
        "script -c",
        "unshare -r",
        "npx",
        "uv run",
        "find . -exec",
    ];
    // A wrapper takes only one simple command.
    // An SQL statement is no command: after another word it is data.
    let statement = |command: &String| {
        let start = command.split(' ').next().unwrap_or_default().to_ascii_lowercase();
        ["drop", "truncate", "delete", "alter"].contains(&start.as_str())
    };
    let simple = |command: &String| {
        !command.contains(|c: char| ";&|<>(){}\n`#!=".contains(c))
            && !command.contains("time ")
            && !command.trim().is_empty()
    };
    let builtin = |command: &str| {
        [
            "cd", "eval", "trap", "source", ".", "export", "[[", "alias", "declare", "let", "if", "while", "for",
            "case", "until",
        ]
        .iter()
        .any(|name| command.split_whitespace().next() == Some(name))
    };
    let mut next = wrappers.iter().cycle();
    let mut wrapped = 0;
    for command in
        given_commands().into_iter().filter(simple).filter(|command| !builtin(command) && !statement(command))
    {
        // Each command is tested with four wrappers, and the next command with the next four. So every wrapper meets
        // hundreds of commands.
        let alone = tier(&command);
        for wrapper in next.by_ref().take(4) {
            let text = format!("{wrapper} {command}");
            wrapped += 1;
            assert!(tier(&text) >= alone, "{text}: {}", classify(&text).reason);
        }
    }
    assert!(wrapped > 100 * wrappers.len(), "{wrapped}");
}

#[test]
fn a_shell_around_a_command_never_lowers() {
    for command in given_commands()
        .into_iter()
        .filter(|command| !command.contains('\'') && !command.contains("$1") && !command.trim().is_empty())
    {
        // A shell that is named reads the command, and not the unknown one around it.
        for (text, shell) in [
            (format!("bash -c '{command}'"), Shell::Bash),
            (format!("sh <<'END_OF_IT'\n{command}\nEND_OF_IT\n"), Shell::Dash),
            (format!("( {command}\n)"), Shell::Unknown),
            (format!("{{ {command}\n}}"), Shell::Unknown),
        ] {
            let alone = Classifier::default().in_shell(shell).classify(&command).tier;
            assert!(tier(&text) >= alone, "{text}: {}", classify(&text).reason);
        }
    }
}

#[test]
fn quoting_or_escaping_a_letter_never_changes_a_tier() {
    for command in given_commands() {
        let Some(name) = command
            .split(' ')
            .next()
            .filter(|name| name.len() > 1 && name.bytes().all(|byte| byte.is_ascii_lowercase()))
        else {
            continue;
        };
        let reserved = [
            "if", "for", "case", "while", "until", "time", "function", "coproc", "select", "in", "do", "done", "then",
            "fi", "esac", "else", "elif",
        ];
        if reserved.contains(&name) || command.contains("()") {
            continue;
        }
        let (first, rest) = command.split_at(1);
        for text in [
            format!("\\{command}"),
            format!("'{first}'{rest}"),
            format!("\"{first}\"{rest}"),
            format!("''{command}"),
            format!("$'{first}'{rest}"),
        ] {
            assert_eq!(tier(&text), tier(&command), "{text}: {}", classify(&text).reason);
        }
    }
}

#[test]
fn line_continuations_and_comments_never_lower() {
    for command in given_commands().into_iter().filter(|command| !command.trim().is_empty()) {
        let plain = !command.contains(['\'', '"', '#', '\\', '`']) && !command.contains("<<");
        if plain {
            let (first, rest) =
                command.trim_start().split_at(command.trim_start().chars().next().map_or(0, char::len_utf8));
            let text = format!("{first}\\\n{rest}");
            assert_eq!(tier(&text), tier(&command), "{text}: {}", classify(&text).reason);
        }
        for text in [
            format!("# note\n{command}"),
            format!("\n\n{command}"),
            format!("{command}\n# note"),
            format!("# '\n{command}"),
        ] {
            // The backslash continues the line, so the following text is no comment.
            if command.ends_with('\\') && text.starts_with(&command) {
                continue;
            }
            assert!(tier(&text) >= tier(&command), "{text}: {}", classify(&text).reason);
        }
    }
}

/// A call names the directory of its command in a field, a line with `cd`. Both destroy the same files.
#[test]
fn a_directory_in_a_field_destroys_what_it_destroys_behind_cd() {
    let mut destroyed = 0;
    for line in given_commands().iter().map(String::as_str).chain(["rm -rf usr", "rm -rf *", "> passwd", "rm shadow"]) {
        for directory in ["/", "/etc", "/usr", "/home", "/dev", "../.."] {
            if tier(&format!("cd {directory} && {line}")) != Tier::Destructive {
                continue;
            }
            let call = json!({ "command": line, "workdir": directory });
            assert_eq!(classify_tool("bash", &call).tier, Tier::Destructive, "{line} in {directory}");
            destroyed += usize::from(tier(line) != Tier::Destructive);
        }
    }
    assert!(20 < destroyed, "{destroyed} lines destroy something because of their directory");
}
