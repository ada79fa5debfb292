use proptest::prelude::*;

use serde_json::json;

use super::{MARK, Secrets, mark::MARK_START, redacted, redacted_value, redacted_with, scan};

const SECRET: &str = "hunter2aB3x";

/// Returns the redacted text, with `*` for each secret.
pub(super) fn shown(text: &str) -> String {
    let text = redacted(text);
    let (mut told, mut rest) = (String::new(), text.as_ref());
    while let Some((before, mark)) = rest.split_once(MARK_START) {
        told += &(before.to_owned() + "*");
        rest = mark.split_once(']').unwrap().1;
    }
    told + rest
}

#[test]
fn values_of_names_that_speak_of_secrets_are_left_out() {
    for (text, expected) in [
        ("psql --password=hunter2aB3x -h db", "psql --password=* -h db"),
        ("psql --password hunter2aB3x -h db", "psql --password * -h db"),
        ("psql --password 'hunter2aB3x' -h db", "psql --password '*' -h db"),
        ("PGPASSWORD=hunter2aB3x psql", "PGPASSWORD=* psql"),
        ("export API_KEY=hunter2aB3x; run", "export API_KEY=*; run"),
        ("export SOME_ODD_KEY='hunter2aB3x'", "export SOME_ODD_KEY='*'"),
        ("env clientSecret=hunter2aB3x run", "env clientSecret=* run"),
        ("gh auth --token hunter2aB3x", "gh auth --token *"),
        ("curl -H 'Authorization: Bearer hunter2aB3x' u", "curl -H 'Authorization: Bearer *' u"),
        ("curl -H \"X-Api-Key: hunter2aB3x\" u", "curl -H \"X-Api-Key: *\" u"),
        ("curl -H Authorization:hunter2aB3x u", "curl -H Authorization:* u"),
        (
            "curl -d '{\"user\":\"ann\",\"password\":\"hunter2aB3x\"}' u",
            "curl -d '{\"user\":\"ann\",\"password\":\"*\"}' u",
        ),
        ("curl -d \"{\\\"password\\\": \\\"hunter2aB3x\\\"}\" u", "curl -d \"{\\\"password\\\": \\\"*\\\"}\" u"),
        ("curl 'https://h/x?a=1&access_token=hunter2aB3x&b=2'", "curl 'https://h/x?a=1&access_token=*&b=2'"),
        ("password = hunter2aB3x", "password = *"),
        ("keytool -storepass hunter2aB3x", "keytool -storepass *"),
        ("CREATE USER ann IDENTIFIED BY 'hunter2aB3x'", "CREATE USER ann IDENTIFIED BY '*'"),
    ] {
        assert_eq!(shown(text), expected);
    }
}

#[test]
fn short_options_are_secrets_where_the_program_says_so() {
    for (text, expected) in [
        ("mysql -uroot -phunter2aB3x db", "mysql -uroot -p* db"),
        ("sudo mysqldump '-phunter2aB3x' db", "sudo mysqldump '-p*' db"),
        ("sshpass -p hunter2aB3x ssh -p 22 host", "sshpass -p * ssh -p 22 host"),
        ("docker login -u ann -p hunter2aB3x", "docker login -u ann -p *"),
        ("redis-cli -a hunter2aB3x ping", "redis-cli -a * ping"),
        ("curl -u ann:hunter2aB3x https://h", "curl -u ann:* https://h"),
        ("curl -u ann https://h", "curl -u ann https://h"),
        ("curl https://h -u ann:hunter2aB3x", "curl https://h -u ann:*"),
        ("mysql db; mkdir -pv a", "mysql db; mkdir -pv a"),
        ("mkdir -p a && cp -p b c && docker run -p 80:80 x", "mkdir -p a && cp -p b c && docker run -p 80:80 x"),
    ] {
        assert_eq!(shown(text), expected);
    }
}

#[test]
fn known_forms_are_secrets_wherever_they_stand() {
    // The tokens are assembled here, so that no secret scanner reports this file.
    let body = "0123456789abcdefghijABCDEFGHIJ0123456789";
    for start in ["ghp_", "github_pat_", "sk-", "sk-proj-", "xoxb-", "glpat-", "AKIA", "npm_", "hf_"] {
        let token = format!("{start}{body}");
        assert_eq!(shown(&format!("echo {token} | tee x")), "echo * | tee x", "{start}");
        assert_eq!(shown(&format!("git clone https://{token}@h/r")), "git clone https://*@h/r", "{start}");
    }
    let jwt = format!("eyJ{body}.eyJ{body}.{body}");
    assert_eq!(shown(&format!("x {jwt}")), "x *");
    assert_eq!(shown("git clone https://ann:hunter2aB3x@h/r"), "git clone https://ann:*@h/r");
    assert_eq!(shown("ssh://git@h/r"), "ssh://git@h/r");
    let lines = format!("{body}\n{body}\nabc=");
    let key = format!("-----BEGIN RSA PRIVATE KEY-----\n{lines}\n-----END RSA PRIVATE KEY----- and");
    assert_eq!(shown(&key), "-----BEGIN RSA PRIVATE KEY-----\n*\n*\n*\n-----END RSA PRIVATE KEY----- and");
    assert_eq!(shown("the secret 8f3a9c0d1e2b4a5f6071 is"), "the secret * is");
}

#[test]
fn what_is_no_secret_stays() {
    for text in [
        "git status && ls -la /work/token.rs",
        "npm install --max-tokens 100 tokenizer@1.2.3",
        "PWD=/work cat secrets.md",
        "gcloud --token-file path --bypass x --sort-key name",
        "cat ~/.ssh/id_rsa.pub",
        "Token::Word(x) and token::Kind",
        "docker pull image@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
        "the bearer of bad news has the key to the door",
        "curl -H \"Authorization: Bearer $TOKEN\" --password \"${PW}\" u",
        "docker login --password-stdin",
    ] {
        assert_eq!(&*redacted(text), text);
    }
}

/// A mark must not hide commands. Otherwise the author of a command could show only half of it to a person.
#[test]
fn nothing_that_runs_hides_behind_a_mark() {
    for (text, told) in [
        ("TOKEN=x; rm -rf y", "; rm -rf y"),
        ("TOKEN=\"$(rm -rf y)\" ls", "$(rm -rf y)"),
        ("echo --password \\'; rm -rf y; echo \\'", "; rm -rf y; echo"),
        ("env TOKEN=\\' rm -rf y \\'", " rm -rf y "),
        ("cat <<E\nit's\nE\nenv TOKEN=' rm -rf y", " rm -rf y"),
        ("# it's\nenv TOKEN=' rm -rf y #'", " rm -rf y"),
        ("sh -c 'env TOKEN=\\\" rm -rf y \\\"'", " rm -rf y "),
        ("sh -c 'token: x; rm -rf y'", "; rm -rf y"),
        ("echo -----BEGIN PRIVATE KEY-----\nrm -rf y", "\nrm -rf y"),
        ("echo `PASSWORD=x rm -rf y`", " rm -rf y"),
    ] {
        assert!(redacted(text).contains(told), "{}", redacted(text));
    }
}

#[test]
fn what_is_made_of_a_text_leaves_out_what_only_the_text_shows() {
    let source = "mysql -phunter2aB3x db";
    assert_eq!(&*redacted("`-phunter2aB3x` is no option"), "`-phunter2aB3x` is no option");
    assert_eq!(&*redacted_with("`-phunter2aB3x` is no option", source), "`-p[redacted 11]` is no option");
    let many: String = (0..100).map(|number| format!("TOKEN=v4lu3xyz9{number} ")).collect();
    assert_eq!(&*redacted_with("anything", &many), MARK);
}

/// A person must read everything that they approve. A naive redaction hides any value of a suspicious name.
#[test]
fn what_may_be_code_is_shown_whatever_its_name_says() {
    for text in [
        "PASSWORD='rm -rf ~'; eval \"$PASSWORD\"",
        "PASSWORD=shutdown; $PASSWORD",
        "TOKEN=./x9K2m4Qp7Lz1; $TOKEN",
        "API_KEY='$(rm -rf y)' ls",
        "GIT_ASKPASS=./evil git fetch",
        "SSH_ASKPASS=evil9K2m4Qp7Lz1 ssh h",
        "alias token='rm -rf y'; token",
        "alias token=evil9K2m4Qp7Lz1; token",
        "ssh my-token 'rm -rf /'",
        "ssh my-token evil9K2m4Qp7Lz1",
        "x --pass='a\nrm -rf y\n'",
        "x --secret \"{rm,-rf,y}\"",
        "curl -u 'ann:`rm -rf y`' h",
        "mysql -p'$(rm -rf y)' db",
        "git clone https://ann:${IFS}x@h",
        "bash <<E\n-----BEGIN PRIVATE KEY-----\nreboot\n-----END PRIVATE KEY-----\nE",
        "bash <<E\n-----BEGIN PRIVATE KEY-----\n/usr/local/lib/evil/program/run\n-----END PRIVATE KEY-----\nE",
    ] {
        assert_eq!(&*redacted(text), text);
    }
    let text = "TOKEN=x9K2m4Qp7Lz1; $TOKEN && deploy --token=x9K2m4Qp7Lz12";
    assert_eq!(&*redacted(text), "TOKEN=[redacted 12]; $TOKEN && deploy --token=[redacted 13]");
    let told = Secrets::of(text).redacted_but(&["x9K2m4Qp7Lz1", "deploy"]);
    assert_eq!(&*told, "TOKEN=x9K2m4Qp7Lz1; $TOKEN && deploy --token=[redacted 13]");
}

/// A word that the text cannot run is a secret if its name suggests one, even if it is short or plain.
#[test]
fn a_plain_password_is_left_out_where_it_cannot_come_back_as_a_program() {
    for (text, expected) in [
        ("mysql --password=letmein db", "mysql --password=* db"),
        ("PGPASSWORD=letmein psql -c 'select 1'", "PGPASSWORD=* psql -c 'select 1'"),
        ("export AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG; ls", "export AWS_SECRET_ACCESS_KEY=*; ls"),
        ("deploy --token abc && ls || echo no", "deploy --token * && ls || echo no"),
        ("curl -d '{\"password\":\"letmein\"}' u", "curl -d '{\"password\":\"*\"}' u"),
        ("openssl enc -k letmein", "openssl enc -k *"),
        ("TOKEN=reboot; $TOKEN", "TOKEN=reboot; $TOKEN"),
        ("set -- --token reboot; \"$2\"", "set -- --token reboot; \"$2\""),
        ("echo --token reboot | cut -c9- | sh", "echo --token reboot | cut -c9- | sh"),
        ("echo TOKEN=x reboot > f; . f", "echo TOKEN=x reboot > f; . f"),
        ("bash <<E\nsecret: reboot\nE", "bash <<E\nsecret: reboot\nE"),
        ("alias token=reboot; token", "alias token=reboot; token"),
        ("deploy --token ./run", "deploy --token ./run"),
        ("deploy --password 'rm -rf y'", "deploy --password 'rm -rf y'"),
    ] {
        assert_eq!(shown(text), expected);
    }
    assert_eq!(&*Secrets::of("nice --token reboot").redacted_but(&["nice", "reboot"]), "nice --token reboot");
}

#[test]
fn what_is_left_out_says_how_long_it_was() {
    assert_eq!(&*redacted("x --token=hunter2aB3x"), "x --token=[redacted 11]");
    assert!(super::has_mark("x [redacted 11]") && super::has_mark("[redacted]") && !super::has_mark("[redacted x]"));
}

/// The secrets of a line at the places of programs, services and headers. One looks like a word, and one like a token.
#[test]
fn no_secret_of_a_line_stays_at_an_unusual_place() {
    for line in [
        "curl --oauth2-bearer § https://h",
        "curl --cookie 'session=§' https://h",
        "curl --cookie 'a=§; b=§' https://h",
        "curl -b session=§ https://h",
        "curl -H 'Cookie: session=§; other=§' https://h",
        "sudo -S <<< §",
        "sudo -kS -u ann ls <<< §",
        "echo § | sudo -S ls",
        "node x --pw §",
        "CREDS=§ node x",
        "node x --credentials=§",
        "twine upload -p § dist/x.whl",
        "sqlcmd -P § -Q 'select 1'",
        "xfreerdp /u:ann /p:§ /v:h",
        "ansible-vault encrypt_string §",
        "ansible-vault encrypt_string --name x §",
        "rsync -a rsync://u:§@h/x y",
        "wget ftp://u:§@h/f && amqps://u:§@h",
        "curl https://hooks.slack.com/services/T012/B012/§",
        "curl https://discord.com/api/webhooks/123456/§",
        "curl https://api.telegram.org/bot123456:§/sendMessage",
        "curl 'https://h/x?code=§'",
        "curl 'https://h/x?a=1&sig=§&b=2' | jq .",
        "open https://h/x#id_token=§",
        "lftp -u ann,§ h",
        "snmpwalk -v2c -c § h",
        "nmcli dev wifi connect x password §",
        "mysqladmin -u root password §",
    ] {
        for secret in ["letmein", "hunter2aB3x"] {
            let shown = redacted(&line.replace('§', secret));
            assert!(!shown.contains(secret), "{shown}");
            assert_eq!(redacted(&shown), shown);
        }
    }
    for text in ["u:letmein@h", "ann:letmein@build-host:22"] {
        assert!(!redacted(text).contains("letmein"), "{}", redacted(text));
    }
}

#[test]
fn what_only_resembles_a_secret_stays_in_a_line() {
    for text in [
        "curl -b cookies.txt https://h",
        "curl https://h/x?page=2&code=404",
        "git clone https://github.com/a/hooks",
        "curl https://api.github.com/repos/a/b/hooks/12345",
        "curl https://h/services/a/b/c",
        "sudo -S sh <<E\n$PASSWORD\nreboot\nE",
        "npm:other@1 node:18@sha256",
        "docker run --user 1000:1000 x",
        "xfreerdp /v:host /u:ann",
        "sid=3 node x",
    ] {
        assert_eq!(&*redacted(text), text);
    }
    let told = redacted("sudo -S sh <<E\nletmein\nreboot\nE");
    assert!(!told.contains("letmein") && told.contains("\nreboot\n"), "the shell runs the second line: {told}");
}

#[test]
fn no_secret_stays_in_the_nested_input_of_a_tool() {
    for secret in ["letmein", "hunter2aB3x"] {
        for input in [
            json!({ "args": ["--token", secret] }),
            json!({ "args": ["run", format!("--token={secret}")] }),
            json!({ "args": ["-p", secret], "command": "sshpass" }),
            json!({ "command": "mysql", "args": [format!("-p{secret}"), "db"] }),
            json!({ "argv": ["curl", "-u", format!("ann:{secret}"), "https://h"] }),
            json!({ "program": "docker login", "args": ["-u", "ann", "-p", secret] }),
            json!({ "command": "sshpass", "args": format!("-p {secret} ssh h") }),
            json!([["run", ["deploy", "--db-password", secret]]]),
            json!({ "pass": [secret] }),
            json!({ "pass": [["x", { "y": secret }]] }),
            json!({ "secret": { "v": secret } }),
            json!({ "secret": { "deep": { "er": [{ "v": secret }] } } }),
            json!({ "credentials": { "user": "ann", "v": secret } }),
            json!({ "secrets": { "DB": secret } }),
            json!({ "cookies": [{ "name": "session", "value": secret }] }),
            json!({ "Cookie": format!("a={secret}; b={secret}") }),
            json!({ "headers": { "Authorization": format!("Bearer {secret}") } }),
            json!({ "headers": [["Authorization", format!("Bearer {secret}")]] }),
            json!({ "env": [{ "name": "API_KEY", "value": secret }] }),
            json!({ "env": { "API_KEY": secret } }),
            json!({ "url": format!("https://h/cb?code={secret}") }),
            json!({ "host": format!("u:{secret}@h") }),
        ] {
            let shown = redacted_value(&input).to_string();
            assert!(!shown.contains(secret) && shown.contains("[redacted"), "{shown}");
            let derived = Secrets::of_input(&input).redacted_in(&format!("about {secret}"));
            assert!(!derived.contains(secret), "{input}");
        }
    }
}

/// A person reads everything of an input that may run, and everything that is no secret.
#[test]
fn what_may_run_or_is_no_secret_stays_in_the_input_of_a_tool() {
    for input in [
        json!({ "password": "make all" }),
        json!({ "token": "reboot", "command": "$TOKEN" }),
        json!({ "token": "./run" }),
        json!({ "token": null, "secret": true, "pass": [] }),
        json!({ "args": ["-p", "a/b"], "command": "mkdir" }),
        json!({ "args": ["--token", "$TOKEN"] }),
        json!({ "args": ["--password", "rm -rf y"] }),
        json!({ "name": "db", "value": "on" }),
        json!({ "file_path": "/w/my-token", "content": "hello" }),
        json!({ "edits": ["--- a/x", "+++ b/x", "+ one"] }),
        json!({ "keys": ["Enter", "Tab"], "tokens": 100 }),
        json!({ "args": ["it's", "--token", "it's \"$x\""] }),
    ] {
        assert_eq!(redacted_value(&input), input);
    }
}

/// A naive scanner reads the rest of `key=key=key=…` once for each `key`.
#[test]
fn the_work_grows_with_the_length_and_no_faster() {
    let pieces = [
        "key=",
        "key: ",
        "key:",
        "token=x",
        "--key ",
        "'key=",
        "\"key\":",
        "\\",
        "key=\\",
        "eyJ-",
        "://a@",
        "a://x:",
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY-----\nAAAA",
        "secret a",
        "[redacted ",
        "by ",
        "{\"key\":\"",
        "[",
        "alias ",
        "key=$",
        "curl -u a:",
        "$(key=",
        "key=\\ ",
        "key\\\"=",
        "Bearer ",
        "key=Bearer ",
        "identified by '",
    ];
    for one in pieces {
        for other in pieces {
            for quote in ["", "'", "\""] {
                let text = |count: usize| format!("{quote}{other}{}{quote}", one.repeat(count));
                let [short, long] = [100, 200].map(|count| scan::secrets_counting(&text(count)).1);
                assert!(long <= short * 5 / 2 + 2_000, "{quote}{other}{one}: {short} {long}");
                let mixed = |count: usize| format!("{quote}{}{quote}", format!("{one}{other}").repeat(count));
                let [short, long] = [100, 200].map(|count| scan::secrets_counting(&mixed(count)).1);
                assert!(long <= short * 5 / 2 + 2_000, "{quote}{one}{other}: {short} {long}");
            }
        }
    }
}

fn texts() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "--password",
        "--token=",
        "TOKEN=",
        "-p",
        "mysql",
        "curl",
        "-u",
        "a:b",
        "'",
        "\"",
        "\\",
        " ",
        "\n",
        ";",
        "$(",
        ")",
        "`",
        "://",
        "@",
        "hunter2aB3x",
        "ghp_0123456789abcdef0123",
        "Bearer",
        "Authorization:",
        "key",
        "{\"",
        "\":",
        "[",
        "redacted]",
        "[redacted]",
        "-----BEGIN PRIVATE KEY-----",
        "é",
        "\u{202e}",
        "=",
        ":",
        "//",
        "login",
        "identified by ",
        "0123456789abcdef0123456789abcdef",
        "$X",
        "#",
    ]);
    prop::collection::vec(word, 0..24).prop_map(|words| words.concat())
}

/// Generates commands whose quotation marks match.
fn commands() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "mysql",
        "-phunter2aB3x",
        "curl",
        "-u ann:hunter2aB3x",
        "--password hunter2aB3x",
        "--token='hun ter2'",
        "API_KEY=\"a b\"",
        ";",
        "-H 'Authorization: Bearer hunter2aB3x'",
        "https://ann:hunter2aB3x@h/r",
        "ghp_0123456789abcdef0123",
        "login -p x",
        "key",
        "0123456789abcdef0123456789abcdef",
        "-d '{\"password\":\"hunter2aB3x\"}'",
        "\"$TOKEN\"",
        "| tee f",
        "ls -la",
        "[redacted]",
    ]);
    prop::collection::vec(word, 0..12).prop_map(|words| words.join(" "))
}

/// Generates the words of commands that need no quotation marks.
fn plain_word() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "mysql",
        "-phunter2aB3x",
        "curl",
        "-u",
        "-b",
        "session=hunter2aB3x",
        "ann:hunter2aB3x",
        "--password",
        "--token=hunter2aB3x",
        "hunter2aB3x",
        "letmein",
        "https://ann:hunter2aB3x@h/r?code=letmein",
        "ghp_0123456789abcdef0123",
        "docker",
        "login",
        "-p",
        "key",
        "set",
        "api_token",
        "./x",
        "-la",
    ])
}

proptest! {
    #[test]
    fn a_text_without_secrets_is_unchanged(words in prop::collection::vec("[a-z]{1,9}", 0..20)) {
        let text = words.join(" ");
        prop_assert_eq!(&*redacted(&text), &text);
    }

    #[test]
    fn doing_it_twice_is_doing_it_once(text in prop_oneof![commands(), any::<String>()]) {
        let once = redacted(&text);
        prop_assert_eq!(&redacted(&once), &once);
    }

    /// If quotation marks do not match, a second redaction may remove more. It never restores a secret.
    #[test]
    fn doing_it_twice_shows_nothing_more(text in texts()) {
        let once = redacted(&text);
        let (twice, told) = (redacted(&once), shown(&once));
        let mut rest = told.as_str();
        for piece in shown(&twice).split('*') {
            let found = rest.find(piece);
            prop_assert!(found.is_some(), "{} is not in {}", piece, once);
            rest = rest.get(found.unwrap_or(0) + piece.len()..).unwrap_or_default();
        }
    }

    #[test]
    fn it_grows_a_text_at_most_thirteenfold(text in prop_oneof![texts(), any::<String>()], other in texts()) {
        prop_assert!(redacted(&text).len() <= (MARK.len() + 3) * text.len());
        let _ = redacted_with(&other, &text);
    }

    /// A list of words hides what their line hides. A list may also be names beside their values.
    #[test]
    fn an_option_in_a_list_is_an_option_in_a_line(words in prop::collection::vec(plain_word(), 1..12)) {
        let line = words.join(" ");
        let shown = redacted_value(&json!(words));
        let shown: Vec<_> = shown.as_array().unwrap().iter().filter_map(|word| word.as_str()).collect();
        let hidden = |text: &str| text.matches("[redacted").count();
        prop_assert!(hidden(&shown.join(" ")) >= hidden(&redacted(&line)), "{:?}", shown);
    }

    #[test]
    fn a_value_below_the_name_of_a_secret_never_stays(
        names in prop::collection::vec("[a-z]{1,6}", 0..5),
        in_list: bool,
    ) {
        let value = if in_list { json!([SECRET]) } else { json!(SECRET) };
        let nested = names.iter().fold(value, |value, name| json!({ name: value }));
        let shown = redacted_value(&json!({ "db_password": nested })).to_string();
        prop_assert!(!shown.contains(SECRET), "{}", shown);
    }

    #[test]
    fn the_value_of_a_secret_option_never_stays(before in "[a-z ]{0,12}", after in "[a-z ]{0,12}", quote in "['\"]?") {
        let text = format!("{before} --password={quote}{SECRET}{quote} {after}");
        prop_assert!(!redacted(&text).contains(SECRET), "{}", redacted(&text));
    }
}
