//! The fuzz targets as property tests: each function of `fuzz/src` with a limited number of texts. Most texts are made
//! of pieces that the parsers know, so that they get past the first character.

#[path = "../../fuzz/src/lib.rs"]
#[expect(unreachable_pub, reason = "the fuzz targets, which are another package, use it as well")]
mod fuzz;

use proptest::{collection::vec, prelude::*};

use fuzz::{files, hooks, lines, native, texts};

/// Generates texts of these pieces and of arbitrary ones.
fn texts_of(pieces: &'static [&'static str]) -> impl Strategy<Value = String> {
    let piece =
        prop_oneof![6 => prop::sample::select(pieces).prop_map(str::to_owned), 1 => "\\PC{0,6}", 1 => any::<String>()];
    vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

/// Generates bytes of these pieces and of arbitrary ones.
fn bytes_of(pieces: &'static [&'static str]) -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![4 => texts_of(pieces).prop_map(String::into_bytes), 1 => vec(any::<u8>(), 0..64)]
}

/// Generates objects with these names, whose values have the right kind or another one.
fn objects_of(names: &'static [&'static str], words: &'static [&'static str]) -> impl Strategy<Value = Vec<u8>> {
    let word = || prop_oneof![4 => prop::sample::select(words).prop_map(str::to_owned), 1 => any::<String>()];
    let value = prop_oneof![
        4 => word().prop_map(|text| serde_json::json!(text)),
        2 => vec(word(), 0..3).prop_map(|list| serde_json::json!(list)),
        1 => (prop::sample::select(names), word()).prop_map(|(name, text)| serde_json::json!({ name: text })),
        1 => any::<i64>().prop_map(|number| serde_json::json!(number)),
        1 => any::<bool>().prop_map(|truth| serde_json::json!(truth)),
        1 => Just(serde_json::Value::Null),
    ];
    let field = (prop::sample::select(names), value);
    vec(field, 0..7).prop_map(|fields| {
        let fields: Vec<_> =
            fields.iter().map(|(name, value)| format!("{}:{value}", serde_json::json!(name))).collect();
        format!("{{{}}}", fields.join(",")).into_bytes()
    })
}

const JSON: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\"",
    "null",
    "true",
    "1",
    "-1e9",
    "\n",
    "\\u0000",
    "\\",
    "\"type\":",
    "\"requestId\":",
    "\"runId\":\"run\"",
    "\"subscribe\"",
    "\"update_policy\"",
    "\"permission_decision\"",
    "\"decision\":\"allow\"",
    "\"permissionRequestId\":\"x\"",
    "\"mode\":\"write\"",
    "\"allow\":[\"**\"]",
    "\"prepare_run\"",
    "\"agents\":[\"bot\"]",
    "\"start_run\"",
    "\"authorize\"",
    "\"operation\":\"fs.read\"",
    "\"jsonrpc\":\"2.0\"",
    "\"id\":1",
    "\"method\":\"tools/call\"",
    "\"method\":\"session/request_permission\"",
    "\"params\":{}",
    "\"token\":\"x\"}\n",
    "{\"type\":\"ping\"}\n",
    "\r",
    "\u{2028}",
    "\u{feff}",
];

const NAMES: &[&str] = &[
    "type",
    "requestId",
    "runId",
    "permissionRequestId",
    "decision",
    "mode",
    "allow",
    "deny",
    "default",
    "tool",
    "agents",
    "cwd",
    "input",
    "agentId",
    "permissions",
    "reason",
    "scope",
    "hold",
    "action",
    "toolName",
    "toolInput",
    "operation",
    "resource",
    "command",
    "base",
    "feedback",
    "modifiedInput",
    "caller",
    "session",
    "workingDir",
    "subagent",
    "id",
    "link",
    "waitMs",
    "data",
    "userId",
    "details",
];

const WORDS: &[&str] = &[
    "bot",
    "run",
    "you",
    "allow",
    "deny",
    "ask",
    "once",
    "always",
    "session",
    "until 2030-01-01T00:00:00Z",
    "@network",
    "@write:/ws/a",
    "@read:/",
    "@events",
    "@tool:a",
    "fs.write",
    "fs.read",
    "command.execute",
    "network",
    "/ws/a",
    "..",
    "bash",
    "write",
    "read",
    "node a.js",
    "rm -rf /",
    "ls",
    "plan",
    "never",
    "default",
    "bypass",
    "subscribe",
    "ping",
    "update_policy",
    "permission_decision",
    "prepare_run",
    "approve",
    "reject",
    "approve_always",
    "**",
    "use",
    "pass_on",
    "",
    "\u{0}",
    "\u{202e}",
];

const VALUES: &[&str] = &[
    "@",
    "read:",
    "write:",
    "network",
    "events",
    "tool:",
    "/",
    "a",
    "..",
    "until ",
    "once",
    "session",
    "always",
    "2030-01-01",
    "T",
    "00:00:00",
    "Z",
    ".5",
    "+01:00",
    "hook_",
    "perm_",
    "019ac1f2-8d3e-7c41-",
    "9b52-3f6f1d2a7e90",
    "\u{0}",
    "*",
    " ",
];

const COMMANDS: &[&str] = &[
    "rm -rf /", "ls", "echo ", "$(", ")", "`", "'", "\"", "<<E\n", "E\n", ";", "|", "&", ">", "\\", "\n", "{", "}",
    "if ", "then ", "fi", "#", "$X", "*", " ",
];

const LINES: &[&str] = &["\n", "\r\n", "{\"type\":\"bye\"}", "abcdefghijklmnopqrstuvwxyz0123456789", "é"];

const ORDERS: &[&str] = &[
    "{\"token\":\"a\"}\n",
    "\"pending\"",
    "\"grants\"",
    "{\"follow\":",
    "{\"revoke\":",
    "{\"known\":[],\"attends\":true}",
    "\"Pending\"",
    "{\"Revoke\":",
    "}",
    "\n",
    "null",
    "{",
    "\"id\":\"g1\"",
];

const TASKS: &[&str] = &[
    "---\n",
    "schedule: ",
    "\"0 9 * * *\"\n",
    "agent: bot\n",
    "gate:\n",
    "  command: ",
    "[\"ls\"]\n",
    "once: true\n",
    "title: a\n",
    "time_limit: 5m\n",
    "permissions: [x]\n",
    "enabled: no\n",
    "Look.\n",
    "# Title\n",
    "\t",
    "&a ",
    "*a",
    ": ",
    "- ",
    "\n",
];

const CREDENTIALS: &[&str] = &[
    "{\"change\":\"create\",\"credential\":\"0a1b2c3d4e5f\",\"secret\":\"",
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "\",\"holder\":{\"role\":\"operator\"}}",
    "{",
    "}",
    "\"change\":\"rotate\",",
    "00",
    "\",",
    "null",
];

const TOKENS: &[&str] = &["bestow_", "0a1b2c3d4e5f", "_", "00"];

const CALLS: &[&str] =
    &["toolName", "tool_name", "tool", "toolInput", "tool_input", "input", "allow", "reason", "updatedInput"];

const HOSTS: &[&str] =
    &["hook_event_name", "session_id", "cwd", "tool_name", "tool_input", "toolName", "toolArgs", "timestamp"];

const OF_HOSTS: &[&str] = &["PreToolUse", "PermissionRequest", "SessionStart", "BeforeTool", "/work", "s", "bash"];

const QUERIES: &[&str] = &[
    "agentId=bot",
    "&",
    "=",
    "limit=1",
    "before=",
    "%40",
    "permission=",
    "@network",
    "ownerId=you",
    "since=",
    "2026-11-23T00:00:00Z",
    "reason=x",
    "expect=",
    "%",
    "+",
];

const SERVERS: &[&str] = &["localhost", "127.0.0.1", "[::1]", ":", "80", "65536", ".", "@", "evil.example"];

const ORIGINS: &[&str] = &["http://", "https://", "localhost", "127.0.0.1", ":", "80", "null", "evil.example"];

const SECRETS: &[&str] = &["bearer.", "ticket.", "bestow_", "0a1b2c3d4e5f", "_", "Bearer ", ", ", "00"];

const NUMBERS: &[&str] = &["1", "0", "-", "+", " ", "18446744073709551616", "e", "."];

const KEYS: &[&str] = &["k", " ", "\t", "é", "\u{7f}"];

const POLICIES: &[&str] = &[
    "[engine]\n",
    "[defaults]\n",
    "[agents.a]\n",
    "kind = \"cron\"\n",
    "owner = \"you\"\n",
    "working_dir = \"w\"\n",
    "permissions = [",
    "\"@read:~/x\", ",
    "]\n",
    "[[defaults.rules]]\n",
    "verdict = \"allow\"\n",
    "command = \"node *\"\n",
    "why = \"a\"\n",
    "reads = \"granted\"\n",
    "\"",
    "\n",
    "[tasks]\n",
    "dir = \"t\"\n",
];

/// Generates JSON, or a text like it.
fn json() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![bytes_of(JSON), objects_of(NAMES, WORDS)]
}

/// Generates the state of a directory, as a sandbox remembers it.
fn states() -> impl Strategy<Value = Vec<u8>> {
    let known = prop_oneof![Just(vec![0]), vec(any::<u8>(), 32).prop_map(|state| [vec![1], state].concat())];
    (known, any::<u32>(), 0..2u8)
        .prop_map(|(known, count, flag)| [known, count.to_le_bytes().into(), vec![flag]].concat())
}

/// Generates a list of directory entries, each name followed by `more`.
fn entries(more: impl Strategy<Value = Vec<u8>>) -> impl Strategy<Value = (usize, Vec<u8>)> {
    let name = prop_oneof![8 => "[a-z.]{1,4}", 1 => Just("a/b".to_owned()), 1 => ".{0,3}"];
    let entry = (name, more).prop_map(|(name, more)| {
        [&u32::try_from(name.len()).unwrap().to_le_bytes()[..], name.as_bytes(), &more].concat()
    });
    vec(entry, 0..4).prop_map(|all| {
        let length = u32::try_from(all.len()).unwrap().to_le_bytes();
        (all.len(), [length.to_vec(), all.concat()].concat())
    })
}

/// Generates files with remembered directories: a root with directories in it. Most are whole.
fn caches() -> impl Strategy<Value = Vec<u8>> {
    let kind = prop_oneof![4 => Just(0o10_0000u32), 4 => Just(0o4_0000), 1 => any::<u32>()];
    let found = || (kind.clone(), 0..9u8).prop_map(|(kind, why)| [&kind.to_le_bytes()[..], &[why]].concat());
    let leaf = (states(), entries(found())).prop_map(|(state, (_, found))| [state, found, vec![0; 4]].concat());
    let parts = (states(), entries(found()), entries(vec(0..2u8, 1)), vec(leaf, 4));
    let whole = parts.prop_map(|(state, (_, found), (count, below), leaves)| {
        [state, found, below, leaves.into_iter().take(count).flatten().collect()].concat()
    });
    let changes = vec((any::<prop::sample::Index>(), any::<u8>()), 0..2);
    (whole, changes).prop_map(|(mut bytes, changes)| {
        changes.into_iter().for_each(|(at, byte)| {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        });
        bytes
    })
}

/// The cache of a root with one directory in it is read as two directories.
#[test]
fn remembered_directories_are_read() {
    let leaf = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let root = [&[0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, b'd', 0][..], &leaf].concat();
    assert_eq!(files::cache(&root), 2);
    assert_eq!(files::cache(&leaf), 1);
    assert_eq!(files::cache(b""), 0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::support::cases(512), ..ProptestConfig::default() })]

    #[test]
    fn bodies_and_frames(text in json()) {
        texts::body(&text);
    }

    #[test]
    fn messages(text in json()) {
        texts::message(&String::from_utf8_lossy(&text));
    }

    #[test]
    fn values(text in texts_of(VALUES)) {
        texts::value(&text);
    }

    #[test]
    fn commands(text in texts_of(COMMANDS)) {
        texts::command(&text);
    }

    #[test]
    fn lines_of_bots(bytes in bytes_of(LINES), pieces in any::<u8>()) {
        lines::stdio(&bytes, pieces);
    }

    #[test]
    fn orders(bytes in bytes_of(ORDERS)) {
        lines::control(&bytes);
    }

    #[test]
    fn lines_of_mcp(bytes in bytes_of(JSON), pieces in any::<u8>()) {
        lines::mcp(&bytes, pieces);
    }

    #[test]
    fn lines_of_acp(bytes in bytes_of(JSON)) {
        lines::acp(&bytes);
    }

    #[test]
    fn task_files(text in texts_of(TASKS)) {
        files::task(&text);
    }

    #[test]
    fn remembered_directories(bytes in prop_oneof![8 => caches(), 1 => vec(any::<u8>(), 0..64)]) {
        files::cache(&bytes);
    }

    #[test]
    fn credential_files(content in texts_of(CREDENTIALS), token in texts_of(TOKENS)) {
        texts::credentials(&content, &token);
    }

    #[test]
    fn calls_and_replies_of_hooks(status in any::<u16>(), text in prop_oneof![json(), objects_of(CALLS, WORDS)]) {
        hooks::hook(status, &text);
    }

    #[test]
    fn calls_of_hosts(host in any::<u8>(), text in prop_oneof![bytes_of(JSON), objects_of(HOSTS, OF_HOSTS)]) {
        hooks::host_hook(host, &text);
    }

    #[test]
    fn requests_of_clients(operation in any::<u8>(), query in texts_of(QUERIES), body in json()) {
        native::request(operation, &query, &body);
    }

    #[test]
    fn heads_of_requests(
        host in bytes_of(SERVERS),
        origin in bytes_of(ORIGINS),
        secret in bytes_of(SECRETS),
        number in bytes_of(NUMBERS),
        key in bytes_of(KEYS),
    ) {
        native::head(&host, &origin, &secret, &number, &key);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::support::cases(128), ..ProptestConfig::default() })]

    #[test]
    fn policy_files(text in bytes_of(POLICIES)) {
        files::policy(&text);
    }
}
