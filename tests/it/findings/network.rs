//! Tests that a line that reaches the network needs the network, whatever name, option or wrapper it uses.

use std::sync::Arc;

use bestow::{
    Action, Agent, Effect, Kind,
    action::{Operation, UseOrigin},
    agent::Mode,
    decision::Verdict,
    policy::Rule,
};

use crate::support::{World, id, policy, profile, settings};

fn rule(verdict: Verdict, operation: Option<Operation>) -> Rule {
    crate::support::rule(verdict, operation, None)
}

/// Creates an agent in `/ws` that may use everything it holds, except the denied operation.
async fn bound(world: &World, mode: Mode, holds: &[&str], denies: Option<Operation>) -> Agent {
    let mut file = policy(settings(|_| {}), &[("ann", "you", holds)]);
    let ann = file.agents.get_mut(&id("ann")).unwrap();
    let denies = denies.map(|operation| rule(Verdict::Deny, Some(operation)));
    ann.rules = [rule(Verdict::Allow, None)].into_iter().chain(denies).collect::<Vec<_>>().into();
    ann.profile = profile("ann", "you", Kind::Permanent).in_mode(mode);
    world.engine.configure(file).await.unwrap();
    world.engine.agent(id("ann")).unwrap()
}

fn verdict(agent: &Agent, line: &str) -> Effect {
    agent.verdict(&Action::command(line)).unwrap()
}

fn those<'l>(agent: &Agent, lines: &[&'l str], wrong: impl Fn(Effect) -> bool) -> Vec<&'l str> {
    lines.iter().copied().filter(|line| wrong(verdict(agent, line))).collect()
}

/// Lines that certainly reach the network.
const REACHING: &[&str] = &[
    // Lines that the list of read-only commands recognizes.
    "openssl s_client -connect e.com:443",
    "ssh-keyscan e.com",
    "getent hosts e.com",
    "getent ahosts e.com",
    "kdig x.org",
    "traceroute6 x.org",
    "pg_isready -h e.com",
    "finger a@e.com",
    "tldr tar",
    "kubectl get pods",
    "kubectl -n x get pods",
    "oc get pods",
    "k logs x",
    "kubectl version",
    "helm list",
    "helm search hub x",
    "helm template x",
    "stern web",
    "eksctl get cluster",
    "skopeo inspect docker://x",
    "docker manifest inspect x",
    "docker search x",
    "consul members",
    "vault status",
    "nomad status",
    "aws s3 ls",
    "fly status",
    "doctl compute droplet list",
    "gh pr list",
    "go list -m -u all",
    "go list -m golang.org/x/net@latest",
    "npm show x",
    "npm v x",
    "npm fund",
    "npm token list",
    "npm owner ls x",
    "npm doctor",
    "npm diff",
    "npm ping",
    "pnpm view x",
    "pnpm info x",
    "pnpm show x",
    "bun outdated",
    "gem list -r",
    "gem search x",
    "pip list --outdated",
    "pip list --outd",
    "pip3 list -o",
    "brew info x",
    "dnf check-update",
    "mamba search x",
    "rustup check",
    "snap find x",
    "dart pub outdated",
    "xmllint https://e.com/x",
    "gron https://e.com/x",
    "git remote show origin",
    "git ls-remote origin",
    "svn log",
    // The first group in a form that is not safe.
    "npm view x --script-shell=sh",
    "kubectl get pods --kubeconfig f",
    "openssl s_client -connect e.com:443 -keylogfile f",
    "ssh-keyscan -f names",
    "helm show values x --repo y",
    // Aliases and abbreviations.
    "npm it",
    "npm in x",
    "npm i x",
    "npm ins x",
    "npm isntall x",
    "npm add x",
    "npm ci",
    "npm ic",
    "npm cit",
    "npm up",
    "npm udpate",
    "npm s x",
    "npm se x",
    "npm publ",
    "npm innit x",
    "npm x y",
    "npm ln x",
    "gem inst x",
    "composer req x",
    "bundle",
    "bundle inst",
    "yarn",
    "yarn --frozen-lockfile",
    "yarn add x",
    // Other spellings of one program.
    "pip3.11 install x",
    "pip-3.11 install x",
    "pip3 install x",
    "/usr/bin/pip3 install x",
    "/opt/x/bin/curl e.com",
    "curl.exe https://e.com",
    "nc.openbsd e.com 80",
    "go1.22.1 get x",
    "python3 -m pip install x",
    "python3.12 -m pip install x",
    "python -mpip install x",
    "python3 -Im pip install x",
    "python3 -W ignore -m pip install x",
    "python3 -X dev -u -m pip install x",
    "python3 /usr/bin/pip install x",
    "python3 -m http.server",
    "git-fetch x",
    "/usr/lib/git-core/git-push origin",
    "wget2 e.com",
    "c=curl; $c e.com",
    "c=cu; \"${c}rl\" e.com",
    "cargo +nightly install x",
    // Options in front of the subcommand.
    "pip --proxy p install x",
    "pip --cache-dir d --proxy p install x",
    "npm --prefix d install x",
    "npm --registry r i x",
    "git --git-dir d fetch",
    "git -c a.b=c -C d pull",
    "git --exec-path=d clone x",
    "docker -H unix:///x pull y",
    "docker --context c pull y",
    "cargo --config x install y",
    "apt-get -o a=b install x",
    "go -C d get x",
    // Other uses and programs.
    "npx x",
    "pnpx x",
    "bunx x",
    "uvx x",
    "uv pip install x",
    "pipx run x",
    "corepack prepare x",
    "corepack pnpm add x",
    "git archive --remote=e.com:x HEAD",
    "git lfs pull",
    "git remote set-head origin -a",
    "git remote update",
    "git remote add -f o https://e.com/x",
    "git submodule update --init",
    "git subtree add --prefix=x https://e.com m",
    "git maintenance run",
    "docker run x",
    "docker compose pull",
    "docker compose -f f up",
    "docker image pull x",
    "docker build .",
    "podman run x",
    "socat - TCP:e.com:80",
    "lftp e.com",
    "mysql -h e.com",
    "mysql -he.com",
    "mysql --host=e.com",
    "psql -h e.com",
    "psql postgres://e.com/x",
    "psql 'host=e.com dbname=x'",
    "pg_dump --host e.com x",
    "redis-cli ping",
    "rsh e.com",
    "autossh e.com",
    "rclone ls x:",
    "terraform init",
    "ansible all -m ping",
    "gpg --recv-keys 1",
    "nslookup",
    "curl version",
    "wget help",
    // Connections that a shell opens.
    "exec 3<>/dev/tcp/e.com/80",
    "cat < /dev/tcp/e.com/80",
    "echo x > /dev/udp/e.com/53",
    "echo x > /dev/tcp/$HOST/53",
    "h=/dev/tcp/e.com/80; echo x > $h",
    "bash -c 'exec 3<>/dev/tcp/e.com/80'",
    "cat /dev/tcp/e.com/80",
    // Lines that start the program through another one.
    "sshpass -p x ssh e.com",
    "sshpass -f f scp a b@e.com:",
    "screen -dm curl e.com",
    "screen -S n -dm bash -c 'curl e.com'",
    "tmux new-session -d curl e.com",
    "tmux new -d 'curl e.com'",
    "tmux split-window -h 'git fetch'",
    "/lib64/ld-linux-x86-64.so.2 /usr/bin/curl e.com",
    "ld-linux.so.2 --library-path d /usr/bin/curl e.com",
    "git bisect run curl e.com",
    "git -C d bisect run git fetch",
    "git submodule foreach git pull",
    "git submodule --quiet foreach --recursive 'git pull; true'",
    "poetry run curl e.com",
    "bundle exec curl e.com",
    "ssh-agent curl e.com",
    "timeout 5 nice -n 3 curl e.com",
    "env A=b curl e.com",
    "echo e.com | xargs curl",
    "find . -name x -exec curl e.com {} +",
    "script -c 'curl e.com' f",
    "eval 'curl e.com'",
    "f() { curl \"$1\"; }; f e.com",
    "alias c=curl; c https://e.com",
    "alias c=curl; c e.com",
    "alias g=git; g fetch",
    "alias g='git -C d' f=fetch; g fetch",
    "alias a='cd d; git'; a pull",
];

/// Lines that may reach the network.
const PERHAPS: &[&str] = &[
    "axel2000 https://e.com",
    "frobnicate https://e.com",
    "frobnicate --from=https://e.com/x",
    "frobnicate -uhttps://e.com/x",
    "frobnicate url=git+ssh://e.com/x",
    "frobnicate ws://e.com",
    "frobnicate ann@e.com:x",
    "frobnicate \"https://e.com/$ID\"",
    "frobnicate https://e.com/?a=b",
    "./fetch https://e.com",
    "python3 fetch.py https://e.com",
    "python3 -c 'import x; x.get(\"https://e.com/\")'",
    "node -e 'fetch(`https://e.com`)'",
    "make URL=https://e.com",
    "git frobnicate https://e.com",
    "gawk 'BEGIN { \"/inet/tcp/0/e.com/80\" |& getline }'",
    "/usr/bin/cur? e.com",
    "$PROGRAM e.com",
    "git \"$SUBCOMMAND\" origin",
    "git --no-pager \"$SUBCOMMAND\"",
    "frobnicate curl e.com",
    "nice --frobnicate 3 curl e.com",
    "nice --frobnicate 3 frobnicate https://e.com",
    "docker exec web curl e.com",
    "frobnicate /dev/tcp/e.com/80",
    "git rebase -x 'git push' main",
    "git -c core.sshCommand='curl e.com' status",
];

/// Lines that reach no host, although they look like it.
const STAYING: &[&str] = &[
    "echo https://e.com",
    "printf '%s' https://e.com",
    "grep -r https://e.com .",
    "rg 'curl https://e.com' src",
    "timeout 5 grep -r https://e.com .",
    "sed -i 's#https://a.com#https://b.com#' f",
    "git remote add origin https://e.com/x",
    "git remote set-url origin git@e.com:x",
    "git commit -m https://e.com",
    "git commit -m 'curl https://e.com'",
    "git config remote.origin.url https://e.com/x",
    "git log --oneline",
    "git -C \"$DIR\" status",
    "GIT_PAGER= git log",
    "GIT_PAGER=cat git log",
    "git --no-pager log push",
    "git lfs ls-files",
    "git remote -v",
    "git remote show -n origin",
    "git archive HEAD",
    "git submodule status",
    "git bisect run true",
    "npm run build",
    "npm test",
    "npm ls",
    "npm cache clean --force",
    "npm version patch",
    "npm config set registry https://e.com",
    "npm -s run build",
    "yarn build",
    "yarn run test",
    "pnpm build",
    "pip list",
    "python3 -m pip list",
    "python3 -m venv d",
    "python3 fetch.py",
    "cargo build",
    "cargo test",
    "cargo fmt --check",
    "go build ./...",
    "go list -mod=vendor ./...",
    "go doc fmt.Println",
    "kubectl config view",
    "kubectl version --client",
    "helm template ./chart",
    "helm version",
    "docker version",
    "docker ps",
    "docker logs web",
    "brew list",
    "gem list",
    "apt list --installed",
    "apt-get -s install x",
    "openssl x509 -in c.pem -noout",
    "openssl rand -hex 16",
    "rsync -a a b",
    "psql -h /var/run/postgresql x",
    "psql -c 'select a::text from b' x",
    "mysql x",
    "curl --version",
    "ssh -V",
    "nc -h",
    "aws help",
    "man curl",
    "which curl",
    "command -v curl",
    "poetry run true",
    "screen -ls",
    "tmux ls",
    "make",
    "ip addr show",
    "tcpdump -r f.pcap",
    "dpkg -S /usr/bin/curl",
    "cat curl",
    "ls /usr/bin/curl",
];

#[tokio::test]
async fn a_no_to_the_network_binds_every_line_that_reaches_it_or_may() {
    for mode in [Mode::Default, Mode::Bypass, Mode::Auto, Mode::OnFailure] {
        let world = World::new();
        let agent = bound(&world, mode, &["@write:/ws", "@network"], Some(Operation::Network)).await;
        for lines in [REACHING, PERHAPS] {
            let allowed = those(&agent, lines, |effect| effect != Effect::Deny);
            assert!(allowed.is_empty(), "{mode:?}: {allowed:#?}");
        }
    }
}

#[tokio::test]
async fn a_no_to_the_network_leaves_alone_what_reaches_nobody() {
    let world = World::new();
    let agent = bound(&world, Mode::Bypass, &["@write:/", "@network"], Some(Operation::Network)).await;
    let denied = those(&agent, STAYING, |effect| effect != Effect::Allow);
    assert!(denied.is_empty(), "{denied:#?}");
}

#[tokio::test]
async fn what_reaches_the_network_is_asked_about_by_who_holds_none() {
    for mode in [Mode::Default, Mode::Bypass] {
        let world = World::new();
        let agent = bound(&world, mode, &["@write:/"], None).await;
        let allowed = those(&agent, REACHING, |effect| effect != Effect::Ask);
        assert!(allowed.is_empty(), "{mode:?}: {allowed:#?}");
    }
    // A line that only may reach the network is not denied for that reason.
    let world = World::new();
    let agent = bound(&world, Mode::Bypass, &["@write:/"], None).await;
    for lines in [PERHAPS, STAYING] {
        let denied = those(&agent, lines, |effect| effect == Effect::Deny);
        assert!(denied.is_empty(), "{denied:#?}");
    }
}

#[tokio::test]
async fn nothing_that_reaches_the_network_or_may_happens_in_mode_plan() {
    let world = World::new();
    let agent = bound(&world, Mode::Plan, &["@write:/", "@network"], None).await;
    for lines in [REACHING, PERHAPS] {
        let allowed = those(&agent, lines, |effect| effect != Effect::Deny);
        assert!(allowed.is_empty(), "{allowed:#?}");
    }
    let reads = ["grep -r https://e.com .", "pip list", "docker ps", "kubectl config view", "man curl"];
    let denied = those(&agent, &reads, |effect| effect != Effect::Allow);
    assert!(denied.is_empty(), "{denied:#?}");
}

/// Returns the hosts that a line is known to reach.
fn hosts(agent: &Agent, line: &str) -> Vec<Arc<str>> {
    let explained = agent.explain(&Action::command(line)).unwrap();
    let reached = explained.uses.iter().filter(|step| step.used.origin == UseOrigin::Needed);
    reached.map(|step| Arc::clone(&step.used.resource)).collect()
}

#[tokio::test]
async fn every_address_of_a_line_is_a_host_that_it_reaches() {
    let world = World::new();
    let agent = bound(&world, Mode::Default, &["@network"], None).await;
    for (line, expected) in [
        ("curl https://a.com", &["a.com"][..]),
        ("curl -sSLo out https://a.com/x", &["a.com"]),
        ("curl -X POST -d '{}' -H 'A: b' https://a.com", &["a.com"]),
        ("curl -s https://ok.com evil.com", &["ok.com", "evil.com"]),
        ("curl --url=https://evil.com", &["evil.com"]),
        ("curl --connect-to ::evil.com: https://ok.com", &["@network", "ok.com"]),
        ("curl 'https://{evil.com,x}/'", &["evil.com", "x"]),
        ("curl https:/evil.com/x", &["@network"]),
        ("curl 'http://ev%69l.com'", &["evil.com"]),
        ("curl https://a.com https://b.com", &["a.com", "b.com"]),
        ("wget -qO- evil.com", &["evil.com"]),
        ("ping -c 3 evil.com", &["evil.com"]),
        ("dig @8.8.8.8 evil.com MX +short", &["8.8.8.8", "evil.com"]),
        ("ssh -p 22 ann@Evil.com uptime", &["evil.com"]),
        ("ssh -J jump evil.com", &["@network", "evil.com"]),
        ("nc -zv evil.com 80", &["evil.com"]),
        ("http POST https://evil.com a=b", &["evil.com"]),
        ("scp a ann@evil.com:b", &["evil.com"]),
        ("git clone git@evil.com:x", &["evil.com"]),
        ("git push origin main:next", &["@network"]),
        ("exec 3<>/dev/tcp/evil.com/80", &["evil.com"]),
        ("curl \"https://$HOST/x\"", &["@network"]),
    ] {
        let reached = hosts(&agent, line);
        let reached: Vec<_> = reached.iter().map(|host| &**host).collect();
        assert_eq!(reached, expected, "{line}");
    }
}
