//! Small programs of the base system that print their words or facts about the system.

use super::{Operands, Spec, question, spec};

pub(super) const SPECS: &[Spec] = &[
    spec("pwd", "-W -L -P --logical --physical").none().inert().examples(&["pwd", "pwd -P"], &["pwd > f"]),
    spec("whoami", "").none().examples(&["whoami"], &["whoami x"]),
    spec("id", "--zero --context -p -c -F -P -A -a -g -G -n -r -u -z -Z --group --groups --name --real --user")
        .inert()
        .examples(&["id -un", "id root"], &["id --x"]),
    spec("groups", "").inert().examples(&["groups ann"], &["groups > f"]),
    spec("logname tty", "-s").none().examples(&["tty"], &["tty --x"]),
    spec(
        "uname",
        "--nodename --kernel-version --processor --hardware-platform -a -s -n -r -v -m -p -i -o --all --machine \
         --kernel-release --kernel-name --operating-system",
    )
    .none()
    .examples(&["uname -srm", "uname -a"], &["uname x"]),
    spec("arch nproc", "--all --ignore:").none().examples(&["nproc", "arch"], &["nproc | sh"]),
    spec("uptime", "-p -s --pretty --since").none().examples(&["uptime", "uptime -p"], &["uptime; reboot"]),
    spec(
        "hostname",
        "-a --alias --all-fqdns --long -y --yp --nis -f -s -i -I -d -A --fqdn --short --ip-address --all-ip-addresses \
         --domain",
    )
    .none()
    .examples(&["hostname", "hostname -f"], &["hostname evil", "hostname -F f"]),
    spec(
        "date",
        "--resolution --file: -n -z: -u -R -I? -d: -r: -j -v: --utc --universal --rfc-email --iso-8601? --rfc-3339: \
         --date: --reference: --debug -f:",
    )
    .asking(question::date_format)
    .examples(
        &["date", "date +%s", "date -d yesterday +%F", "date -u"],
        &["date -s 12:00", "date 010100002030", "date --set=x"],
    ),
    spec("cal ncal", "-1 -3 -y -j -m -h -A: -B:").inert().examples(&["cal -3", "cal 2025"], &["cal > f"]),
    spec("echo", "-n -e -E -ne -en")
        .inert()
        .raw(anything)
        .examples(&["echo hi", "echo -n 'rm -rf /'", "echo \"$PATH\""], &["echo hi > f"]),
    spec("printf", "")
        .raw(question::printf_operands)
        .examples(&["printf '%s\\n' a", "printf -- '-x'"], &["printf -v x y", "printf %s 'a[$(id)]'"]),
    spec("true false :", "").inert().raw(anything).examples(&["true", ": note"], &["true > f"]),
    spec("yes", "").inert().examples(&["yes | head -1"], &["yes > f"]),
    spec("seq", "-w -f: -s: -# --equal-width --format: --separator:")
        .inert()
        .examples(&["seq 1 10", "seq -w 5"], &["seq 3 > f"]),
    spec("sleep", "").inert().examples(&["sleep 5"], &["sleep 1; reboot"]),
    spec("test [", "").raw(question::plain_test).examples(
        &["test -f x", "[ -n \"$X\" ]", "[ $# -eq 0 ]", "[ \"$(cat f)\" = a ]"],
        &["test -v 'a[$(id)]'", "[ $(cat f) -gt 3 ]", "read x < f; [ $x = a ]"],
    ),
    spec("expr", "").inert().raw(anything).examples(&["expr 1 + 2"], &["expr 1 > f"]),
    spec("factor", "").inert().examples(&["factor 12"], &["factor 12 > f"]),
    spec("basename", "-a -s: -z --multiple --suffix: --zero")
        .inert()
        .examples(&["basename /a/b .c"], &["basename --x"]),
    spec("dirname", "-z --zero").inert().examples(&["dirname /a/b"], &["dirname --x"]),
    spec(
        "realpath",
        "--logical --physical --strip --zero -e -m -s -q -z -L -P --canonicalize-existing --canonicalize-missing \
         --no-symlinks --relative-to: --relative-base: --quiet",
    )
    .inert()
    .examples(&["realpath .", "realpath --relative-to=/a b"], &["realpath --x"]),
    spec(
        "readlink",
        "--canonicalize-missing --quiet --silent --verbose --zero -f -e -m -n -q -s -v -z --canonicalize \
         --canonicalize-existing --no-newline",
    )
    .inert()
    .examples(&["readlink -f x"], &["readlink --x"]),
    spec("pathchk", "-p -P --portability").inert().examples(&["pathchk a"], &["pathchk --x"]),
    spec(
        "which whereis",
        "--skip-alias --skip-functions --skip-dot --skip-tilde --show-dot --show-tilde --tty-only -M: -S: -f -u -l -g: \
         -v -i -a -b -m -s -B: -p --all",
    )
    .inert()
    .examples(&["which node", "which -a python3"], &["which --x y"]),
    spec("printenv", "-v -0 --null").inert().lenient().examples(&["printenv", "printenv HOME"], &["printenv > f"]),
    spec("env", "-0 --null").none().lenient().examples(&["env", "env | sort"], &["env -S 'id'", "env PATH=/x ls"]),
    spec("locale", "--charmaps --category-name --keyword-name -v --verbose -a -m -c -k --all-locales")
        .inert()
        .examples(&["locale -a"], &["locale --x"]),
    spec("getconf", "-a").inert().examples(&["getconf PAGE_SIZE"], &["getconf --x"]),
    spec("nohup", "").none().examples(&["nohup ls"], &["nohup ./x"]),
    spec("lastlog", "-u: -t: -b:").examples(&["lastlog -u ann"], &["lastlog -C -u ann", "lastlog $(cat f)"]),
    spec(
        "who w users last",
        "-d -l -m -p: -R -t: -T -w --dead --heading --ips --login --lookup --process --runlevel --short --time --mesg \
         --users --message --writable --no-header --no-current --from -o --old-style --ip-addr --hostlast --dns \
         --file: --fulltimes --ip --limit: --nohostname --since: --until: --present: --fullnames --system \
         --time-format: -a -b -H -q -r -u -h -s -f -i -n: -# -x -F --all --boot --count",
    )
    .inert()
    .examples(&["who", "w", "last -5"], &["who > f"]),
    spec("tput", "-T:").asking(plain_capability).examples(&["tput cols", "tput setaf 1"], &["tput --x", "tput init"]),
    spec("clear", "-x").none().examples(&["clear"], &["clear x"]),
    spec("stty", "-a -g -F:").none().examples(&["stty -a"], &["stty raw"]),
    spec(
        "md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum md5 cksum sum shasum",
        "--zero -l: --untagged --raw --base64 --debug -U -0 -1 -b -c -t -z -w -q -a: -s -r --binary --check --text \
         --tag --quiet --status --warn --strict --ignore-missing --algorithm: --length:",
    )
    .inert()
    .examples(&["sha256sum f", "shasum -a 256 f", "md5sum -c sums.txt"], &["md5sum --x"]),
    spec(
        "numfmt",
        "--debug --delimiter: --grouping -z --zero-terminated --to: --from: --suffix: --padding: --field: --header? \
         -d: --format: --round: --invalid: --from-unit: --to-unit:",
    )
    .inert()
    .examples(&["numfmt --to=iec 1024"], &["numfmt --x"]),
    spec("man", "-k -f -w --where --path --whatis --apropos -a")
        .examples(&["man ls", "man -k copy", "man 3 printf"], &["man --html=x ls", "man -P sh ls", "man -H ls"]),
    spec("apropos whatis", "-e -r -w").inert().examples(&["apropos copy"], &["apropos --x"]),
    spec("tldr", "").elsewhere().examples(&["tldr tar"], &["tldr --update", "tldr $SECRET"]),
    spec("sw_vers", "-productVersion -productName -buildVersion")
        .none()
        .examples(&["sw_vers -productVersion"], &["sw_vers x"]),
    spec("cd", "-L -P -e -@").operands(Operands::AtMost(1)).inert().examples(&["cd /tmp", "cd", "cd -"], &["cd a b"]),
    spec("kill", "")
        .raw(question::only_asks)
        .examples(&["kill -0 12", "kill -l"], &["kill 12", "kill -9 12", "kill -0 -s KILL 12"]),
    spec("jot", "").inert().examples(&["jot 5"], &["jot --x"]),
];

/// Accepts all words, for programs that treat every word as text.
fn anything(_: &[crate::word::Word]) -> Result<(), String> {
    Ok(())
}

/// Accepts plain terminal capabilities. `tput init` and `tput reset` run the program that the terminal description
/// names, and print a file.
fn plain_capability(options: &crate::options::Options<'_>) -> Result<(), String> {
    let plain =
        |name: &str| !matches!(name, "init" | "reset" | "clear" | "rs1" | "rs2" | "rs3" | "is1" | "is2" | "is3");
    let all = options.operands.iter().all(|operand| operand.is_exact() && plain(operand.text()));
    if all && !options.has("-T") { Ok(()) } else { Err("it may set the terminal up".into()) }
}
