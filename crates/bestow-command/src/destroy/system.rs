//! Destructive commands for the whole machine: superuser, accounts, processes, scheduled jobs.

use super::{
    Rule,
    When::{Flag, Later, Line, Named, NoFlag, Operand, Text},
    rule,
    target::is_doomed,
};
use crate::{place::Place, word::Word};

pub(super) const RULES: &[Rule] = &[
    rule("sudo sudoedit gsudo", "acts as the superuser").examples(
        &[
            "sudo ls",
            "sudo -n true",
            "/usr/bin/sudo id",
            "env sudo id",
            "\\sudo x",
            "echo $(sudo id)",
            "sudo -u postgres psql",
        ],
        &["echo sudo", "grep sudo f"],
    ),
    rule("doas pkexec run0 sudo-rs gksudo gksu kdesudo kdesu dzdo pfexec", "acts as the superuser")
        .when(&[Line(names_a_command)])
        .examples(
            &["doas rm x", "doas -u root ls", "pkexec ls", "pkexec --user root id", "run0 rm x", "gksu ls"],
            &["pkexec --version", "doas -C f", "doas -u www ls"],
        ),
    rule("su runuser", "acts as the superuser").when(&[Line(becomes_root)]).examples(
        &["su root -c 'ls'", "su -c 'rm x'", "su - root -c id", "su -", "su -l root", "runuser -u root -- ls"],
        &["su ann -c ls", "su - postgres -c ls", "runuser -u www-data -- ls", "su --help", "su"],
    ),
    rule("visudo vipw vigr", "edits who may do what on this machine").examples(&["visudo"], &["vi f"]),
    rule("crontab", "removes every planned job of a user")
        .when(&[Flag("-r")])
        .examples(&["crontab -r", "crontab -u ann -r"], &["crontab -l", "crontab f"]),
    rule("kill", "ends every process of the user")
        .when(&[Operand(everybody)])
        .examples(&["kill -9 -- -1", "kill -KILL -- -1"], &["kill 12", "kill -9 12", "kill -1 12"]),
    rule("kill", "ends every process of the user")
        .when(&[Later("-1")])
        .examples(&["kill -9 -1", "kill -s KILL -1"], &["kill -9 1234"]),
    rule("killall5", "ends every process").examples(&["killall5 -9"], &["killall node"]),
    rule("userdel deluser", "removes a user")
        .when(&[NoFlag("--help")])
        .examples(&["userdel -r ann", "userdel ann", "deluser ann"], &["useradd ann", "userdel --help"]),
    rule("iptables ip6tables iptables-legacy ebtables arptables", "takes the firewall down")
        .when(&[Flag("-F -X --flush --delete-chain")])
        .examples(&["iptables -F", "iptables -t nat --flush"], &["iptables -L", "iptables -A INPUT -j DROP"]),
    rule("ufw", "takes the firewall down")
        .sub("disable|reset")
        .examples(&["ufw disable", "ufw --force reset"], &["ufw enable", "ufw status"]),
    rule("pfctl", "takes the firewall down")
        .when(&[Flag("-F -d")])
        .examples(&["pfctl -F all", "pfctl -d"], &["pfctl -f rules", "pfctl -s info"]),
    rule("nft", "takes the firewall down")
        .sub("flush ruleset|delete table")
        .examples(&["nft flush ruleset"], &["nft list ruleset"]),
    rule("kill", "ends the first process, and the machine with it")
        .when(&[Operand(first_process), NoFlag("-HUP -SIGHUP -l -L")])
        .examples(&["kill -9 1", "kill 1"], &["kill 12", "kill -1 12", "kill -l"]),
    rule("crontab", "removes every planned job of a user")
        .when(&[Operand(is_nothing)])
        .examples(&["crontab /dev/null"], &["crontab new.txt"]),
    rule("ansible ansible-console", "removes files of whole machines")
        .when(&[Text("state=absent"), Line(names_a_doomed_path)])
        .examples(
            &["ansible all -m file -a 'path=/ state=absent'"],
            &["ansible all -m file -a 'path=/tmp/x state=absent'"],
        ),
    rule("wmic fsutil", "deletes backups or journals")
        .when(&[Named("delete deletejournal")])
        .examples(&["wmic shadowcopy delete", "fsutil usn deletejournal /D C:"], &["wmic os get x"]),
    rule("takeown icacls cacls", "changes the rights of a whole disk or home")
        .when(&[Line(whole_disk)])
        .examples(&["icacls C:/ /grant Everyone:F /T", "takeown /f C:/ /r"], &["icacls x"]),
    rule("csrutil spctl", "switches the protection of the system off")
        .sub("disable|authenticated-root disable|--master-disable")
        .examples(&["csrutil disable"], &["csrutil status"]),
    rule("reg", "deletes keys of the registry")
        .sub("delete|DELETE")
        .examples(&["reg delete HKLM /f"], &["reg query HKLM"]),
    rule("dscl sysadminctl", "removes a user")
        .when(&[Flag("-delete -deleteUser")])
        .examples(&["sysadminctl -deleteUser ann"], &["sysadminctl -list"]),
    rule("nvram tpm2_clear efibootmgr", "clears firmware variables")
        .when(&[Flag("-c -B -b")])
        .examples(&["nvram -c", "efibootmgr -b 1 -B"], &["nvram -p", "efibootmgr -v"]),
    rule("vssadmin wbadmin wevtutil bcdedit cipher", "removes backups, logs or boot entries")
        .when(&[Named("delete cl clear-log /delete /w*")])
        .examples(&["vssadmin delete shadows /all", "wevtutil cl System"], &["vssadmin list shadows"]),
    rule("tmutil", "deletes backups")
        .sub("delete|deletelocalsnapshots|deleteinprogress")
        .examples(&["tmutil delete x"], &["tmutil listbackups"]),
    rule("restic borg duplicity kopia", "deletes backups")
        .sub("forget|delete|prune|remove-all-but-n-full|snapshot delete")
        .when(&[NoFlag("--dry-run -n")])
        .examples(&["restic forget --prune x", "borg delete r::a"], &["restic snapshots", "borg delete -n r::a"]),
    rule("pass gopass", "removes stored secrets")
        .sub("rm|remove|delete")
        .when(&[Flag("-r -rf --recursive -f --force")])
        .examples(&["pass rm -rf x"], &["pass show x"]),
    rule("gpg gpg2", "deletes secret keys")
        .when(&[Flag("--delete-secret-keys --delete-secret-key --delete-secret-and-public-key")])
        .examples(&["gpg --delete-secret-keys ann"], &["gpg --list-keys"]),
    rule("security", "deletes a keychain")
        .sub("delete-keychain|delete-generic-password|delete-internet-password|delete-certificate")
        .examples(&["security delete-keychain x"], &["security find-certificate"]),
    rule("journalctl", "deletes logs")
        .when(&[Text("--vacuum-size=1 --vacuum-time=1s --vacuum-files=1")])
        .examples(&["journalctl --vacuum-time=1s"], &["journalctl -u x"]),
    rule("virsh", "removes a machine with its disks")
        .sub("undefine|vol-delete|pool-delete|vol-wipe")
        .examples(&["virsh undefine x --remove-all-storage"], &["virsh list"]),
    rule("VBoxManage vboxmanage", "removes a machine with its disks")
        .when(&[Flag("--delete")])
        .examples(&["VBoxManage unregistervm x --delete"], &["VBoxManage list vms"]),
    rule("vagrant multipass lxc incus limactl colima qm pct", "removes a machine with its disks")
        .sub("destroy|delete|purge")
        .examples(&["vagrant destroy -f", "multipass delete --all", "lxc delete x"], &["vagrant status", "lxc list"]),
    rule("wsl", "removes a machine with its files")
        .when(&[Flag("--unregister")])
        .examples(&["wsl --unregister Ubuntu"], &["wsl --list"]),
];

/// Returns true if the words name a command to run, or ask for a shell, as the superuser.
fn names_a_command(words: &[Word], _: &Place) -> bool {
    let runs = words.iter().any(|word| !word.text().starts_with('-')) || words.iter().any(|word| word.text() == "-s");
    let asks = |word: &Word| matches!(word.text(), "-L" | "-C" | "--version" | "--help" | "-h" | "-V");
    runs && !words.first().is_some_and(asks) && user_of(words, &["-u", "--user"]).is_none_or(|user| is_root(&user))
}

/// Returns true if the user becomes root: `su`, `su - root -c ls`, `runuser -u root ls`. Without a name, root is the
/// default.
fn becomes_root(words: &[Word], _: &Place) -> bool {
    let asks = words.iter().any(|word| matches!(word.text(), "--help" | "--version" | "-V" | "-h"));
    let named = user_of(words, &["-u", "--user"]).or_else(|| {
        let mut words = words.iter();
        // Options with a value. The value is not a user name.
        const VALUED: &str = "cCsgGwP";
        while let Some(word) = words.next() {
            match word.text().strip_prefix('-') {
                Some("" | "-") => {}
                Some(option) if option.starts_with('-') => {
                    let takes = ["-command", "-session-command", "-shell", "-group", "-supp-group"].contains(&option);
                    takes.then(|| words.next());
                }
                Some(option) => drop(option.ends_with(|c| VALUED.contains(c)).then(|| words.next())),
                // An unknown word may expand to no word.
                None => return (!word.is_wild()).then(|| word.text().to_string()),
            }
        }
        None
    });
    !words.is_empty() && !asks && named.is_none_or(|user| is_root(&user))
}

/// Returns the user that an option names, whether the value is joined to the option or not.
fn user_of(words: &[Word], options: &[&str]) -> Option<String> {
    let mut words = words.iter().map(Word::text);
    let named = words.find_map(|word| {
        options.iter().find_map(|option| {
            let rest = word.strip_prefix(option)?;
            Some(rest.strip_prefix('=').unwrap_or(rest).to_owned())
        })
    })?;
    Some(if named.is_empty() { words.next().unwrap_or_default().to_owned() } else { named })
}

fn is_nothing(operand: &str, _: &Place) -> bool {
    operand == "/dev/null"
}

fn names_a_doomed_path(words: &[Word], place: &Place) -> bool {
    let fields = words.iter().flat_map(|word| word.text().split_whitespace());
    let paths = fields.filter_map(|field| field.strip_prefix("path=").or_else(|| field.strip_prefix("dest=")));
    paths.into_iter().any(|path| is_doomed(path, place))
}

fn whole_disk(words: &[Word], place: &Place) -> bool {
    words.iter().any(|word| word.text().as_bytes().get(1) == Some(&b':') && is_doomed(word.text(), place))
}

fn is_root(user: &str) -> bool {
    matches!(user, "root" | "0" | "#0")
}

/// Returns true for process 1, which is the parent of all other processes.
fn first_process(operand: &str, _: &Place) -> bool {
    operand == "1"
}

/// Returns true for `-1`, which addresses every process when it follows `--`.
fn everybody(operand: &str, _: &Place) -> bool {
    operand == "-1"
}
