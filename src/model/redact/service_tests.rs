//! Generated secrets of each service, at each place where a text may have one.

use proptest::prelude::*;
use serde_json::Value;

use super::{redacted, redacted_value};

/// A secret: the text before it that belongs to its form, and the characters of its random part.
#[derive(Clone, Debug)]
struct Service(&'static str, &'static str, usize);

const HEX: &str = "0123456789abcdef";
const WORD: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The prefixes are split here, so that no secret scanner reports this file.
const SERVICES: [Service; 24] = [
    Service("sbp_", HEX, 40),
    Service("ghp_", WORD, 36),
    Service("github_pat_", WORD, 82),
    Service("glpat-", WORD, 20),
    Service("npm_", WORD, 36),
    Service("pypi-AgEIcHlwaS5vcmc", WORD, 60),
    Service("hf_", WORD, 34),
    Service("xoxb-", WORD, 40),
    Service("xoxe.xoxp-1-", WORD, 60),
    Service("sk_live_", WORD, 24),
    Service("rk_test_", WORD, 24),
    Service("whsec_", WORD, 32),
    Service("SK", HEX, 32),
    Service("AKIA", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16),
    Service("SG.abcdefghijklmnopqrstuv.", WORD, 43),
    Service("dop_v1_", HEX, 64),
    Service("dckr_pat_", WORD, 27),
    Service("hvs.", WORD, 24),
    Service("AIza", WORD, 35),
    Service("dapi", HEX, 32),
    Service("key-", HEX, 32),
    // Two parts with a fixed beginning: the token of a person or a program for bestow, and one of a Discord bot.
    Service("bestow_0123456789abcdef_", HEX, 64),
    Service("MTIzNDU2Nzg5MDEyMzQ1Njc4.GaBcDe.", WORD, 38),
    Service("123456789:AA", WORD, 33),
];

/// Returns the characters of `from` at these places.
fn body(from: &str, places: &[usize], length: usize) -> String {
    let chars: Vec<_> = from.chars().collect();
    places.iter().cycle().take(length).map(|place| chars[place % chars.len()]).collect()
}

/// The places of a secret `§`. No program of these lines runs one of their words.
const PLACES: [&str; 16] = [
    "§",
    "echo § done",
    "deploy '§'",
    "deploy --with=§ now",
    "X=§ deploy",
    "curl -H 'Authorization: Bearer §' https://h.example",
    "curl -H 'Authorization: Custom §' https://h.example",
    "curl -H \"PRIVATE-TOKEN: §\" https://h.example",
    "curl https://h.example/v1/§/x",
    "curl 'https://h.example/?a=1&t=§&b=2'",
    "git clone https://ann:§@h.example/r.git",
    "cat > .env <<'E'\nX=§\nE",
    "cat <<E\n{\"a\": \"§\"}\nE",
    "printf '{\"a\":{\"b\":[\"§\"]}}' | deploy",
    "a\t§\tb",
    "(deploy §; ls)",
];

proptest! {
    #[test]
    fn no_secret_of_a_known_service_is_shown(
        service in prop::sample::select(SERVICES.to_vec()),
        places in prop::collection::vec(0..4096_usize, 97),
        place in prop::sample::select(PLACES.to_vec()),
    ) {
        let Service(prefix, from, length) = service;
        let random = body(from, &places, length);
        let text = place.replace('§', &format!("{prefix}{random}"));
        let shown = redacted(&text);
        prop_assert!(!shown.contains(&random), "{}", shown);
        let input = redacted_value(&serde_json::json!({ "a": [text] })).to_string();
        prop_assert!(!input.contains(&random), "{}", input);
    }

    /// A key of Amazon may begin with `/`. A token of Cloudflare has no prefix.
    #[test]
    fn no_random_key_of_forty_characters_is_shown(
        places in prop::collection::vec(0..64_usize, 40),
        first in prop::sample::select(vec!["", "/", "+"]),
        place in prop::sample::select(vec![
            "§", "aws configure set aws_secret_access_key §", "AWS_SECRET_ACCESS_KEY=§ deploy", "deploy '§' x",
            "cat > f <<'E'\naws_secret_access_key = §\nE", "curl -H 'X-Auth-Key: §' https://h.example",
            "CLOUDFLARE_API_TOKEN=§ deploy",
        ]),
    ) {
        let key = format!("{first}{}", body(BASE64, &places, 40 - first.len()));
        // A key with fewer changes is as likely as a person who writes one by hand.
        prop_assume!(super::forms::is_random_key(&key));
        let shown = redacted(&place.replace('§', &key));
        prop_assert!(!shown.contains(key.get(1..).unwrap()), "{}", shown);
    }

    #[test]
    fn nearly_every_random_key_looks_random(
        keys in prop::collection::vec(prop::collection::vec(0..64_usize, 40), 200),
    ) {
        let random = keys.iter().filter(|places| super::forms::is_random_key(&body(BASE64, places, 40)));
        prop_assert!(random.count() >= 190);
    }

    #[test]
    fn no_password_before_a_host_is_shown(
        password in "[a-zA-Z0-9+%^~_-]{3,20}",
        host in prop::sample::select(vec!["db.example.com", "localhost", "10.0.0.7"]),
        place in prop::sample::select(vec![
            "§", "connect §/app", "X=§:5432 deploy", "connect '§'", "cat <<E\n§\nE",
        ]),
    ) {
        let shown = redacted(&place.replace('§', &format!("ann:{password}@{host}")));
        prop_assert!(shown.contains(&format!("ann:[redacted {}]@{host}", password.len())), "{}", shown);
    }

    /// Also the last line, which may be short, and the lines behind headers.
    #[test]
    fn no_line_of_a_private_key_is_shown(
        places in prop::collection::vec(0..64_usize, 64..260),
        kind in prop::sample::select(vec!["RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "PRIVATE KEY", "EC PRIVATE KEY"]),
        header in prop::sample::select(vec!["", "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0F1E2D3C4B5A6978\n\n"]),
        place in prop::sample::select(vec!["§", "cat > k <<'E'\n§\nE", "echo '§' > k"]),
    ) {
        // The first line of each kind is random.
        let text = format!("MIIEpAIBAAKCAQEA7bq0{}Q7", body(BASE64, &places, places.len()));
        let lines: Vec<_> = text.as_bytes().chunks(64).map(|line| str::from_utf8(line).unwrap()).collect();
        let key = format!("-----BEGIN {kind}-----\n{header}{}\n-----END {kind}-----", lines.join("\n"));
        let shown = redacted(&place.replace('§', &key));
        prop_assert!(lines.iter().all(|line| line.len() < 4 || !shown.contains(line)), "{}", shown);
    }
}

#[test]
fn no_secret_of_a_header_a_login_or_a_file_is_shown() {
    for (text, expected) in [
        ("curl --user ann:letmein https://h", "curl --user ann:* https://h"),
        ("curl --proxy-user=ann:letmein https://h", "curl --proxy-user=ann:* https://h"),
        ("curl -H 'Authorization: Custom-1 letmein' u", "curl -H 'Authorization: Custom-1 *' u"),
        ("cat > .env <<E\nDB_PASSWORD=letmein\nE", "cat > .env <<E\nDB_PASSWORD=*\nE"),
        ("cat <<'E' > f\npassword: letmein\nE", "cat <<'E' > f\npassword: *\nE"),
        (
            "cat > .netrc <<'E'\nmachine h login ann password letmein\nE",
            "cat > .netrc <<'E'\nmachine h login ann password *\nE",
        ),
    ] {
        assert_eq!(super::tests::shown(text), expected);
    }
}

/// Programs that take a secret as a word or from their input, however they are started.
#[test]
fn no_secret_that_a_program_takes_is_shown() {
    for text in [
        "echo § | docker login --password-stdin",
        "echo -n '§' | docker login -u ann --password-stdin ghcr.io",
        "printf '%s' § | podman login --password-stdin",
        "printf '§\\n' | helm registry login --password-stdin h",
        "docker login --password-stdin <<< §",
        "docker login -u ann --password-stdin <<E\n§\nE",
        "cat <<'E' | docker login --password-stdin\n§\nE",
        "cd x && echo \"§\" | sudo docker login --password-stdin && ls",
        "bash -lc 'echo § | docker login --password-stdin'",
        "echo § | gh auth login --with-token",
        "echo ann:§ | chpasswd",
        "echo ann:§ | sudo chpasswd -e",
        "echo § | passwd --stdin ann",
        "htpasswd -b f ann §",
        "htpasswd -nbB ann §",
        "env A=b htpasswd -cb f ann '§'",
        "rabbitmqctl add_user ann §",
        "aws configure set aws_secret_access_key §",
        "aws configure set profile.x.aws_session_token § --profile y",
        "aws ssm put-parameter --name n --value § --type SecureString",
        "gh secret set NAME -b §",
        "gh secret set NAME --body=§",
        "gh -R a/b secret set NAME --body \"§\"",
        "echo § | gh secret set NAME",
        "npm config set //r/:_authToken §",
        "npm config set //registry.npmjs.org/:_authToken=§",
        "pnpm config set //r.example/:_password '§'",
        "git config --global user.password §",
        "redis-cli config set masterauth-password §",
        "consul kv put app/db_password §",
        "fly secrets set KEY=§ OTHER=§",
        "kubectl create secret generic x --from-literal=a=§ --from-literal b=§",
        "echo § | docker secret create x -",
        "security add-generic-password -a ann -s s -w §",
        "vault kv put secret/x value=§",
        "cargo login §",
        "netlify env:set API_TOKEN §",
        "ngrok config add-authtoken §",
        "echo § | vercel env add NAME production",
        "printf §  | sudo cryptsetup luksOpen /dev/sdx x",
    ] {
        for secret in ["letmein", "hunter2aB3x", "wJalrXUtnFEMI/K7MDENG"] {
            let shown = redacted(&text.replace('§', secret));
            assert!(!shown.contains(secret), "{shown}");
            assert_eq!(redacted(&shown), shown);
        }
    }
    for text in [
        "echo reboot | tee f | docker login --password-stdin; . f",
        "echo reboot > f | docker login --password-stdin; sh f",
        "echo '$(reboot)' | docker login --password-stdin",
        "docker login --password-stdin < token.txt",
        "gh secret set NAME < f",
        "gh secret list && gh auth status",
        "echo $TOKEN | docker login --password-stdin",
        "git add api_token src",
        "htpasswd -c f ann",
        "aws configure set region eu-west-1",
        "npm config set registry https://r.example",
        "set -- api_token reboot; \"$2\"",
        "git config --get user.password --local",
        "kubectl config set-context my-secret --namespace x",
    ] {
        assert_eq!(&*redacted(text), text);
    }
}

/// Lines that developers type, without any secret.
#[test]
fn hardly_any_everyday_line_loses_a_word() {
    let files = [
        include_str!("../../../tests/cases/blind-traffic.jsonl"),
        include_str!("../../../tests/cases/blind-traffic-2.jsonl"),
        include_str!("../../../tests/cases/blind-traffic-3.jsonl"),
        include_str!("../../../tests/cases/blind-traffic-4.jsonl"),
        include_str!("../../../tests/cases/blind-traffic-5.jsonl"),
    ];
    let cases = files.into_iter().flat_map(str::lines).map(|line| serde_json::from_str::<Value>(line).unwrap());
    let lines: Vec<_> = cases.filter_map(|case| case["command"].as_str().map(str::to_owned)).collect();
    let lost: Vec<_> =
        lines.iter().map(|line| (line, redacted(line))).filter(|(line, shown)| **line != **shown).collect();
    let lines = lines.len();
    eprintln!("{} of {lines}: {lost:#?}", lost.len());
    assert!(lines > 2_000, "{lines}");
    assert!(lost.len() <= 5, "{lost:#?}");
}

#[test]
fn no_ordinary_word_is_taken_for_a_secret() {
    for text in [
        "git show 3f786850e387550fdab836ed7e6dc881de23001b",
        "cat 123e4567-e89b-12d3-a456-426614174000",
        "docker run --user 1000:1000 node:18.2@sha256:abc x",
        "npm install lib@npm:other@1.2.x mailto:ann@example.com",
        "scp ann@h.example:/a/b.txt . && ssh -L 8080:localhost:80 ann@h.example",
        "cp src/components/UserProfile/ProfileCard src/Widgets2/Card",
        "cargo test -p bestow_command bestow_hosts_and_more_words_here",
        "kubectl get pods -n my-namespace-with-a-long-name-2-and-more-3",
        "sk-learn-tutorial-and-notebooks SKILL.md ACCOUNTS.md key-value-store-for-everything",
        "cat <<E\nbash\npassword reset\nE",
        "bash <<E\nPASSWORD=reboot\nE",
        "cat > f <<E\nTOKEN=$(reboot)\nE",
        "cat > f <<'E'\nTOKEN=reboot\n$TOKEN\nE",
        "docker pull app:v1.0-3f786850e387550fdab836ed7e6dc881de23001b",
        "cat > f <<'E'; . f\nTOKEN=reboot\nE",
        "cat > f <<'E'\nTOKEN=reboot\nE\n. f",
    ] {
        assert_eq!(&*redacted(text), text);
    }
}
