//! Read-only uses of programs for processes, services, logs and hardware.

use super::{Spec, online::Online, spec};
use crate::options::Options;

pub(super) const SPECS: &[Spec] = &[
    spec("ps", "").raw(ps_words).examples(
        &["ps", "ps aux", "ps -ef", "ps -p 1 -o pid,comm", "ps aux --sort=-%mem", "ps -eo pid,comm"],
        &[
            "ps > f",
            "ps eww",
            "ps auxe",
            "ps e -o args",
            "ps -eo args e",
            "ps axo args e",
            "ps -e -o args e",
            "ps -op e",
            "ps u e",
            "ps --forest e",
            "ps -auxe",
        ],
    ),
    spec(
        "pgrep pidof pstree procs",
        "--delimiter: --inverse --lightweight --count --pgroup: -G: --group: --ignore-case --newest --oldest -O: \
         --older: --parent: --session: --terminal: --euid: --uid: -F: --pidfile: -L --logpidfile -r: --runstates: \
         --ignore-ancestors --cgroup: --ns: --nslist: --arguments --ascii --compact-not -C: --color: --show-pgids -H: \
         --highlight-all --highlight-pid: --long --numeric-sort -N: --ns-sort: --show-pids --show-parents -S \
         --ns-changes --thread-names --hide-threads --uid-changes --unicode -Z --security-context -q -G -a -l -f -u: \
         -x -n -o -c -v -i -p -P: -s -g: -t: -d: -U: -h -A -T -w --full --list-name --list-full --exact",
    )
    .inert()
    .examples(&["pgrep -af node", "pstree -p"], &["pgrep --signal x"]),
    spec(
        "top htop btop",
        "-E: -e: -S -O -U: --batch-mode --delay: --iterations: --pid: --secure-mode --sort-override: --width: -R \
         -stats: --accum-time-toggle --single-cpu-toggle -b -n: -d: -u: -p: -o: -c -H -i -l: -s: -w? -1",
    )
    .asking(batch)
    .none()
    .examples(&["top -bn1", "top -b -n 1", "top -l 1"], &["top", "htop"]),
    spec(
        "free vmstat iostat mpstat",
        "--bytes --kilo --tera --peta --kibi --mebi --gibi --tebi --pebi --lohi -v --committed --seconds: --count: \
         --wide -L --line --active -f --forks --slabs --one-header --stats --disk --disk-sum --partition: --unit: \
         --timestamp --no-first -u -j: -o: -A -I: --dec: -H -V -b -k -m -g -h -s: -c: -t -l -w -a -d -D -S: -n -x -y \
         -z -P: -p: -N -C -T --mega --giga --human --si --total",
    )
    .inert()
    .examples(&["free -h", "vmstat 1 5", "iostat -x"], &["free --x"]),
    spec(
        "lscpu lsblk lsusb lspci lsmem lsns lsipc lsmod lslocks findmnt",
        "-A --noempty -E: --dedup: -I: --include: --merge --output-all --pairs --scsi --nodeps --exclude: --ascii \
         --perms --raw --inverse --topology -w: --width: --sort: -y --shell -z --zoned --discard --online -B --caches? \
         --offline --extended? --parse? --hex --physical --fstab --mtab --kernel --timeout: --first-only --invert -N: \
         --task: --options: --pseudo --shadowed -R --submounts --mountpoint: --types: -U --uniq -u --notruncate \
         --nofsroot --verify --vfs-all --nvme --virtio -q --summary? --human -businfo -sanitize -numeric -quiet \
         --type: --persist -g -K --split: --canonicalize --nocanonicalize --direction: --evaluate --poll? -a -b -d -e? \
         -f -i -J -l -m -n -o: -p -P -r -s -S -t -T -v -vv -vvv -x -k -nn -D -c: -short -class: -O --all --json \
         --output: --fs --bytes --list --noheadings --paths --tree --real --df --target: --source: -C: -M: --verbose",
    )
    .asking(no_shadow)
    .examples(&["lsblk -f", "lscpu", "findmnt -T /"], &["findmnt --x"]),
    spec(
        "lshw",
        "= -short -html -xml -json -businfo -sanitize -numeric -quiet -notime -class: -c: -C: -disable: -enable:",
    )
    .none()
    .examples(&["lshw -short"], &["lshw -dump f"]),
    spec("blkid", "").none().examples(&["blkid"], &["blkid -g", "blkid -c f"]),
    spec("mount", "-l").none().examples(&["mount", "mount -l"], &["mount /dev/sda1 /mnt", "mount -o remount,rw /"]),
    spec("swapon zramctl", "--show? -s --summary")
        .asking(shows)
        .none()
        .examples(&["swapon --show"], &["swapon /swapfile", "swapon -a"]),
    spec(
        "dmesg",
        "-F: --file: -p --force-prefix --raw --noescape -S --syslog -s: --buffer-size: --userspace --follow-new \
         --show-delta --reltime --notime --time-format: -N -H -T -k -l: -f: -L? -w -W -x -u -r -t -e -P -J -d --human \
         --ctime --level: --facility: --color? --follow --nopager --since: --until: --kernel --decode --json",
    )
    .none()
    .examples(&["dmesg -T", "dmesg --level=err"], &["dmesg -C", "dmesg -c", "dmesg -n 1", "dmesg -D"]),
    spec(
        "journalctl",
        "-M: --machine: -D: --directory: --file: --namespace: -c: --cursor: --facility: --show-cursor --no-tail \
         --verify --list-catalog --dump-catalog -i: --invocation: --list-invocations --truncate-newline \
         --exclude-identifier: -T: -eu: -ru: -eb -xeb -fn: -kb -af -ef -exu: -xfu: -a -b? -e -f -k -m -n? -N -o: -p: \
         -q -r -t: -u: -x -S: -U: -F: -g: -xe -xeu: -fu: -# --all --boot? --follow --dmesg --lines? --output: \
         --priority: --quiet --reverse --identifier: --unit: --user-unit: --since: --until: --grep: --no-pager --utc \
         --user --system --list-boots --disk-usage --no-hostname --no-full --full --catalog --output-fields: --field: \
         --fields --case-sensitive? --pager-end --merge --header --after-cursor:",
    )
    .examples(
        &["journalctl -u nginx -n 50 --no-pager", "journalctl -xe", "journalctl -b -p err", "journalctl -f"],
        &["journalctl --vacuum-time=1d", "journalctl --rotate", "journalctl --flush", "journalctl --cursor-file=f"],
    ),
    spec(
        "systemctl",
        "-a -l -t: -p: -q -r -n: -o: --all --full --type: --property: --quiet --no-pager --user --system --state: \
         --failed --no-legend --plain --lines: --output: --value --reverse --after --before --recursive --show-types \
         --with-dependencies --legend? -P:",
    )
    .globals("--user --system --no-pager -q --quiet -l --full")
    .sub(
        "status|show|is-active|is-enabled|is-failed|is-system-running|list-units|list-unit-files|list-timers|\
         list-sockets|list-dependencies|list-jobs|list-machines|cat|get-default|show-environment|help|list-automounts|\
         list-paths",
    )
    .examples(
        &["systemctl status nginx", "systemctl --user list-units", "systemctl is-active x"],
        &["systemctl stop sshd", "systemctl restart x", "systemctl -H host status x", "systemctl edit x"],
    ),
    spec("systemctl", "--failed --all --no-pager --type: --state: -a -t: --version --user --no-legend")
        .none()
        .examples(&["systemctl", "systemctl --failed"], &["systemctl --force --force reboot"]),
    spec(
        "loginctl timedatectl hostnamectl localectl resolvectl networkctl bootctl coredumpctl machinectl busctl",
        "--no-pager --all -a -l --full --static --pretty --transient --json: -p: --property: --value --no-legend -n:",
    )
    .asking(status_words)
    .examples(
        &["timedatectl", "hostnamectl status", "loginctl list-sessions", "resolvectl status"],
        &["timedatectl set-time x", "hostnamectl set-hostname x", "loginctl terminate-user x", "busctl call a b c d"],
    ),
    spec("systemd-analyze", "--no-pager --user")
        .sub("time|blame|critical-chain|verify|calendar|timespan|timestamp|security")
        .examples(&["systemd-analyze blame"], &["systemd-analyze plot > f", "systemd-analyze log-level debug"]),
    spec("systemd-analyze", "").none().examples(&["systemd-analyze"], &["systemd-analyze set-log-level x"]),
    spec("service", "--status-all")
        .asking(service_status)
        .examples(&["service nginx status", "service --status-all"], &["service nginx restart", "service nginx stop"]),
    spec("rc-status", "-a -s -r -l").examples(&["rc-status -a"], &["rc-service x stop"]),
    spec("launchctl", "")
        .sub("list|print|print-disabled|version|managername")
        .examples(&["launchctl list"], &["launchctl unload x"]),
    spec("crontab", "-l -u:")
        .asking(lists)
        .none()
        .examples(&["crontab -l"], &["crontab -r", "crontab -e", "crontab f", "crontab"]),
    spec("atq", "-q: -V").none().examples(&["atq"], &["atrm 1"]),
    spec("ulimit", "-a").none().examples(&["ulimit -a"], &["ulimit -c 0"]),
    spec("sysctl", "-a -n -e -N -b -r: --all --values --names --pattern: --ignore").asking(no_assignment).examples(
        &["sysctl -a", "sysctl -n kernel.hostname", "sysctl hw.ncpu"],
        &["sysctl -w a=1", "sysctl a=1", "sysctl -p"],
    ),
    spec("getent", "")
        .sub("passwd|group|services|protocols|rpc|initgroups|aliases")
        .examples(&["getent passwd root", "getent group \"$GROUP\""], &["getent -s x passwd", "getent shadow"]),
    spec("getent", "")
        .sub("hosts|ahosts|ahostsv4|ahostsv6|networks|ethers|netgroup")
        .elsewhere()
        .examples(&["getent hosts x.org"], &["getent hosts $SECRET.x.org"]),
    spec("finger", "-l -s -m -p").elsewhere().examples(&["finger ann"], &["finger --x", "finger \"$SECRET@x.org\""]),
    spec("modinfo", "-a -d -l -p -n -F: -0 -k:").inert().examples(&["modinfo ext4"], &["modinfo --x"]),
    spec(
        "sensors nvidia-smi rocm-smi",
        "-L -q -i: -a -u -j --query-gpu: --format: --list-gpus --query-compute-apps: --id: -d:",
    )
    .asking(reads_gpu)
    .examples(
        &["nvidia-smi", "nvidia-smi --query-gpu=name --format=csv"],
        &["nvidia-smi -r", "nvidia-smi -pl 100", "sensors -s"],
    ),
    spec("system_profiler vm_stat", "-detailLevel: -json")
        .examples(&["vm_stat", "system_profiler SPHardwareDataType"], &["system_profiler -xml > f"]),
    spec("defaults", "")
        .sub("read|read-type|domains|find")
        .examples(&["defaults read com.apple.dock"], &["defaults write x y z", "defaults delete x"]),
    spec("diskutil", "-plist")
        .sub("list|info")
        .examples(&["diskutil list"], &["diskutil eraseDisk x y z", "diskutil unmount x"]),
    spec("ufw firewall-cmd", "--state --list-all --list-ports --list-services --get-active-zones --zone:")
        .asking(firewall)
        .examples(&["ufw status", "firewall-cmd --list-all"], &["ufw disable", "ufw allow 22", "firewall-cmd"]),
    spec("iptables ip6tables", "-L -S -n -v -t: -x --list? --list-rules --numeric --verbose --line-numbers")
        .asking(lists_rules)
        .examples(&["iptables -L -n -v", "iptables -S"], &["iptables -F", "iptables -A INPUT -j DROP"]),
    spec("nft", "-a -j -n -s -t -y")
        .asking(lists_tables)
        .examples(&["nft list ruleset"], &["nft flush ruleset", "nft -S add table x"]),
    spec("zfs zpool", "-H -r -o: -t: -p -v -L -P -d: -s: -x")
        .sub("list|status|get|iostat|history")
        .examples(&["zpool status", "zfs list -t snapshot"], &["zpool destroy tank", "zfs destroy x"]),
    spec("lvs vgs pvs lvdisplay vgdisplay pvdisplay", "-a -o: -v -S: --units: --noheadings --segments")
        .examples(&["lvs", "vgdisplay"], &["lvs --config x"]),
    spec(
        "smartctl",
        "-a -i -H -A -l:error|selftest|selective|background|directory|scttemp|devstat|sataphy|ssd|xerror|xselftest|\
         defects|envrep|farm|genstats|nvmelog -x --all --info --health --scan",
    )
    .examples(&["smartctl -a /dev/sda"], &["smartctl -t long /dev/sda", "smartctl -s off /dev/sda"]),
    spec("tmux", "").sub("ls|list-sessions").none().examples(&["tmux ls"], &["tmux new", "tmux ls ';' new"]),
    spec("ssh-keygen", "-l -f: -v -E: -F: -q").asking(shows_key).examples(
        &["ssh-keygen -lf key.pub", "ssh-keygen -F github.com"],
        &["ssh-keygen -f key", "ssh-keygen -R x", "ssh-keygen -t rsa", "ssh-keygen -D x", "ssh-keygen -l -f k -P x"],
    ),
    spec("keytool", "= -list -printcert -keystore: -storepass: -alias: -v -rfc -storetype: -file: -printcrl")
        .asking(lists_keystore)
        .none()
        .examples(
            &["keytool -list -keystore k.jks"],
            &["keytool -delete -alias x", "keytool -genkey", "keytool -list -providerpath x"],
        ),
    spec("ldconfig", "-p --print-cache")
        .none()
        .asking(lists_sessions)
        .examples(&["ldconfig -p"], &["ldconfig", "ldconfig -v"]),
    spec("xcrun", "= -j")
        .sub("simctl list|--show-sdk-path|--show-sdk-version")
        .examples(&["xcrun simctl list devices"], &["xcrun simctl erase all", "xcrun clang x.c"]),
    spec("lsb_release", "-a -i -d -r -c -s --all --id --description --release --codename --short")
        .none()
        .examples(&["lsb_release -a"], &["lsb_release x"]),
    spec("getenforce sestatus aa-status hostid acpi inxi", "-v -b -a -V -i -F -x -z -c: -C -D -G -M -m -n -N -p -s -S")
        .none()
        .examples(&["getenforce", "sestatus"], &["inxi --output-file f", "getenforce x"]),
    spec("sar pidstat", "-u -r -n: -d -q -b -B -A -P: -p: -s: -h -S -w -W -f: -i: -t -l -x -C: -G:")
        .examples(&["sar -u 1 3", "pidstat 1 5"], &["sar -o f 1", "pidstat -e ./x"]),
    spec("dmidecode", "-t: -s: -q --type: --string: --quiet")
        .none()
        .examples(&["dmidecode -t memory"], &["dmidecode --dump-bin f"]),
    spec("upower", "-e -d -i: --enumerate --dump --show-info:").none().examples(&["upower -e"], &["upower x"]),
    spec("xrandr", "-q --query --listmonitors --listactivemonitors --listproviders --verbose --prop --current")
        .none()
        .examples(&["xrandr"], &["xrandr --output x --off"]),
    spec("fail2ban-client", "")
        .sub("status")
        .asking(plain_operands)
        .examples(&["fail2ban-client status sshd"], &["fail2ban-client set x"]),
    spec("rabbitmqctl", "-q -p: -n: --formatter: --quiet -t:")
        .sub(
            "status|cluster_status|list_queues|list_exchanges|list_bindings|list_connections|list_channels|\
             list_consumers|list_vhosts|list_users|list_permissions|list_policies|environment|version",
        )
        .examples(&["rabbitmqctl list_queues name messages"], &["rabbitmqctl delete_queue x", "rabbitmqctl eval x"]),
    spec("virsh", "--all --name --inactive --table")
        .sub(
            "list|dominfo|domstate|net-list|pool-list|vol-list|nodeinfo|version|domifaddr|domblklist|snapshot-list|\
             dumpxml",
        )
        .examples(&["virsh list --all"], &["virsh destroy x"]),
    spec("VBoxManage vboxmanage", "-l --long")
        .sub("list|showvminfo")
        .examples(&["VBoxManage list vms"], &["VBoxManage controlvm x poweroff"]),
    spec("lxc incus multipass", "-c: -f: --format: --columns: --all")
        .sub("list|ls|info|version|find")
        .online_for("find")
        .examples(&["lxc list", "multipass list"], &["lxc delete x", "multipass exec x ls"]),
    spec("jps", "-l -m -v -q").none().examples(&["jps -l"], &["jps host"]),
    spec("jstack jmap", "-l -e -histo")
        .asking(plain_pid)
        .examples(&["jstack 123", "jmap -histo 123"], &["jmap -dump:file=f 1", "jstack -F 1"]),
    spec("xcode-select", "-p --print-path -v")
        .none()
        .asking(lists_sessions)
        .examples(&["xcode-select -p"], &["xcode-select --install", "xcode-select -s x"]),
    spec(
        "hg",
        "-q -v -r: -R: --rev: -l: --limit: -p --patch --stat -m -a -d: -b: -u: -k: -G --graph --template: -T: -n -c: \
         --change: -U: -w -B -g --git -X: -I: --date: --user: --branch: --keyword: --no-merges --follow -f -A --all \
         --modified --added --removed --deleted --unknown --ignored --clean --noninteractive -y --cwd: --pager:never \
         --color: -i -t --closed --active --verbose --quiet --debug",
    )
    .globals("-q -v -R: --cwd: --noninteractive -y --pager:never --color:")
    .sub(
        "status|st|log|diff|branches|tags|identify|id|heads|parents|summary|sum|root|paths|annotate|blame|files|\
         manifest|tip|help|showconfig|grep|locate",
    )
    .asking(local_operands)
    .online(Online::If(identifies_another))
    .examples(
        &["hg status", "hg log -l 5", "hg diff -r 1"],
        &["hg commit -m x", "hg --config x=y status", "hg cat -o f g", "hg update"],
    ),
    spec(
        "svn",
        "-v -u -q -r: -l: -c: -R -N -g --limit: --verbose --show-updates --revision: --depth: --change: --summarize \
         --stop-on-copy --diff --no-ignore --ignore-externals --non-interactive --xml --incremental --git \
         --show-copies-as-adds --recursive --show-item: --no-newline",
    )
    .sub("status|st|stat|log|info|diff|di|list|ls|cat|blame|praise|annotate|ann|proplist|plist|propget|pget|help")
    .asking(local_operands)
    .online(Online::For {
        subcommands: "log|list|ls|cat|blame|praise|annotate|ann",
        options: "-u -r --show-updates --revision",
    })
    .examples(
        &["svn status", "svn log -l 5", "svn info"],
        &[
            "svn ls \"https://x/$(cat f)\"",
            "svn commit -m x",
            "svn diff --diff-cmd x",
            "svn --config-dir x status",
            "svn update",
        ],
    ),
    spec("ssh-add", "-l -L").none().asking(lists_sessions).examples(&["ssh-add -l"], &["ssh-add", "ssh-add -D"]),
    spec("ssh", "-V").none().asking(lists_sessions).examples(&["ssh -V"], &["ssh host", "ssh -V host"]),
    spec("xz gzip zstd", "-l -v -t --list --test --verbose")
        .asking(looks_into_archive)
        .examples(&["xz -l f.xz", "gzip -l f.gz", "gzip -tv f.gz"], &["gzip f", "gzip -d f.gz", "xz -v f"]),
    spec("7z 7za", "").sub("l|t").examples(&["7z l x.7z"], &["7z x x.7z", "7z l -ax x", "7z l -o/tmp x"]),
    spec("tmux screen", "-ls -list").asking(lists_sessions).none().examples(&["screen -ls"], &["screen -dm x", "tmux"]),
];

use crate::word::Word;

fn when(holds: bool, why: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(why.into()) }
}

/// Accepts words of `ps`, which has three styles of options. No option writes. Without a dash, `e` shows the
/// environment of every process, which may contain secrets.
fn ps_words(rest: &[Word]) -> Result<(), String> {
    when(!rest.iter().any(|word| word.text().contains("--pdeathsig")), "an option that is not on the list")?;
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        let is_unknown = !word.is_written() && !word.is_number();
        let shows =
            if word.text().starts_with('-') { is_bsd(word.text()) } else { word.text().contains('e') || is_unknown };
        when(!shows, "it shows the environment of processes")?;
        if ps_takes_the_next(word.text()) {
            words.next();
        }
    }
    Ok(())
}

/// Returns true for `-auxe`, whose letters count as if there were no dash, since `xe` is no user. Also returns true for
/// `-E`, which shows the environment on some systems.
fn is_bsd(text: &str) -> bool {
    let letters = text.get(1..).filter(|letters| !letters.starts_with('-')).unwrap_or_default();
    let flags = letters.find(PS_VALUES).map_or(letters, |at| letters.get(..at).unwrap_or_default());
    flags.contains('E')
        || letters.split_once(['u', 'U']).is_some_and(|(_, user)| user.starts_with('x') && text.contains('e'))
}

/// Returns true if the value of the last option in this word of `ps` is the next word.
fn ps_takes_the_next(text: &str) -> bool {
    if text.starts_with("--") {
        return PS_LONG.split(' ').any(|option| option == text);
    }
    let (letters, values) = match text.strip_prefix('-') {
        Some(letters) => (letters, PS_VALUES.as_slice()),
        None => (text, PS_BSD_VALUES.as_slice()),
    };
    // The first letter with a value takes the rest of the word, if there is any.
    letters.find(values).is_some_and(|at| at + 1 == letters.len())
}

/// Letters after a dash that take a value.
const PS_VALUES: [char; 11] = ['o', 'O', 'p', 'q', 'u', 'U', 'g', 'G', 'C', 't', 's'];

/// Letters without a dash that take a value.
const PS_BSD_VALUES: [char; 6] = ['o', 'O', 'p', 'q', 'U', 'k'];

/// Long options that take a value.
const PS_LONG: &str = "--sort --format --pid --ppid --quick-pid --sid --group --Group --user --User --tty --cols \
                       --columns --width --rows --lines";

fn batch(options: &Options<'_>) -> Result<(), String> {
    when(options.has("-b -l --batch-mode -O"), "it waits for keys")
}

fn no_shadow(options: &Options<'_>) -> Result<(), String> {
    when(!options.has("-M"), "an option that is not on the list")
}

fn shows(options: &Options<'_>) -> Result<(), String> {
    when(options.has("--show -s --summary"), "it changes swap")
}

fn lists(options: &Options<'_>) -> Result<(), String> {
    when(options.has("-l"), "it changes what is planned")
}

fn status_words(options: &Options<'_>) -> Result<(), String> {
    let reads = |word: &str| {
        matches!(word, "status" | "show" | "info" | "statistics")
            || word.starts_with("list")
            || word.ends_with("-status")
    };
    when(options.operands.first().is_none_or(|word| word.is_exact() && reads(word.text())), "it may change a setting")
}

fn service_status(options: &Options<'_>) -> Result<(), String> {
    let status = matches!(
        options.operands.as_slice(),
        [name, verb] if !name.text().contains('/') && name.is_exact() && verb.is_exact() && verb.text() == "status"
    );
    when(status || (options.operands.is_empty() && options.has("--status-all")), "it changes a service")
}

fn no_assignment(options: &Options<'_>) -> Result<(), String> {
    when(!options.operands.iter().any(|word| word.text().contains('=') || word.is_wild()), "it sets a value")
}

fn reads_gpu(options: &Options<'_>) -> Result<(), String> {
    when(options.operands.is_empty(), "it may change a device")
}

fn firewall(options: &Options<'_>) -> Result<(), String> {
    let status = matches!(options.operands.as_slice(), [word] | [word, _] if word.text() == "status");
    when(status || (options.operands.is_empty() && !options.given.is_empty()), "it changes the firewall")
}

fn lists_rules(options: &Options<'_>) -> Result<(), String> {
    when(options.has("-L -S --list --list-rules"), "it changes the firewall")
}

fn lists_tables(options: &Options<'_>) -> Result<(), String> {
    let lists = options.operands.first().is_some_and(|word| word.text() == "list")
        && options.operands.iter().all(|word| word.is_exact() && !word.text().contains([';', '\n', '{']));
    when(lists, "it changes the firewall")
}

fn looks_into_archive(options: &Options<'_>) -> Result<(), String> {
    when(options.has("-l -t --list --test"), "it packs or unpacks")
}

/// Accepts `-l`, which shows a key, and `-F`, which looks up a host. Without them the program creates a key.
fn shows_key(options: &Options<'_>) -> Result<(), String> {
    when(options.has("-l -F") && options.operands.is_empty(), "it makes or changes a key")
}

fn lists_keystore(options: &Options<'_>) -> Result<(), String> {
    when(options.has("-list -printcert -printcrl"), "it changes a keystore")
}

fn plain_operands(options: &Options<'_>) -> Result<(), String> {
    when(options.operands.iter().all(|word| word.is_exact()), "an operand that is not written out")
}

/// Returns true for `hg identify somewhere`, which contacts another repository.
fn identifies_another(rest: &[Word]) -> bool {
    let mut operands = rest.iter().map(Word::text).filter(|word| !word.starts_with('-'));
    operands.any(|word| matches!(word, "identify" | "id")) && operands.next().is_some()
}

/// Refuses an address, because the program would contact it.
fn local_operands(options: &Options<'_>) -> Result<(), String> {
    let local = |word: &&Word| !word.text().contains("://") && !word.has_output();
    when(options.operands.iter().all(local), "an address that is asked")
}

fn plain_pid(options: &Options<'_>) -> Result<(), String> {
    let number = |word: &&Word| word.text().bytes().all(|byte| byte.is_ascii_digit()) || !word.is_wild();
    when(options.operands.iter().all(number), "an operand that is not a process")
}

fn lists_sessions(options: &Options<'_>) -> Result<(), String> {
    when(!options.given.is_empty(), "it starts a session")
}
