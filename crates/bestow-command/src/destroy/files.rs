//! Destructive commands that remove files and trees or change file permissions.

use super::{
    Rule,
    When::{Flag, Line, NoFlag, Operand, Text},
    rule,
    target::{is_device, is_doomed, is_system_file, is_tree, is_vital},
};
use crate::{
    place::Place,
    word::{Gaps, Word},
};

const RECURSIVE: &str = "-r -R --recursive";

pub(super) const RULES: &[Rule] = &[
    rule("rm grm", "removes a root, home, system or whole working directory")
        .when(&[Flag(RECURSIVE), Operand(is_doomed)])
        .examples(
            &[
                "rm -rf /",
                "rm -fr / --verbose",
                "rm -r -f /*",
                "rm --recursive --force /etc",
                "rm -rf ~",
                "rm -rf \"$HOME\"",
                "rm -rf .",
                "rm -rf *",
                "rm -rf ..",
                "rm -Rf -- /",
                "/bin/rm -rf /home",
                "rm -rf //",
                "rm -rf /tmp/../",
                "rm -rf /{bin,etc}",
                "rm -rf ${X:-/}",
                "rm -rf \"$X/\"",
                "rm -rf ~/.ssh",
                "rm -rf .git",
                "rm -rf /et?",
                "rm --rec /usr",
                "rm -rf /home/ann",
                "rm -rf ${PATH:0:1}",
                "rm -rf ./*",
                "rm -rf ~root",
            ],
            &[
                "rm -rf /tmp/x",
                "rm -rf build",
                "rm -rf ./node_modules",
                "rm notes.txt",
                "rm -rf /home/ann/project/target",
                "rm -rf \"$X/build\"",
                "rm -rf *.o",
                "rm -rf ~/project/dist",
                "rm -rf ${X:?}/*",
            ],
        ),
    rule("rm grm unlink", "removes a file of the system")
        .when(&[Operand(is_system_file)])
        .examples(&["rm /etc/passwd", "rm -f /boot/vmlinuz"], &["rm /tmp/x", "rm -f a.log"]),
    rule("rm grm unlink shred srm truncate", "removes every file below a root, home or system directory")
        .when(&[Operand(is_tree)])
        .examples(
            &["rm -f /**", "find ~ -print0 | xargs -0 rm", "find /etc -type f | xargs -n1 unlink"],
            &["rm -f **/*.o", "find . -name '*.o' | xargs rm", "find /tmp/x | xargs rm"],
        ),
    rule("rm grm unlink", "removes the keys of a user").when(&[Operand(is_key)]).examples(
        &["rm ~/.ssh/id_rsa", "rm -f ~/.ssh/*", "rm -rf ~/.gnupg/private-keys-v1.d"],
        &["rm ~/.ssh/known_hosts.old", "rm ~/.config/x"],
    ),
    rule("rm", "overrides the guard of the root directory")
        .when(&[Flag("--no-preserve-root")])
        .examples(&["rm -rf --no-preserve-root x"], &["rm -rf --preserve-root x"]),
    rule("rmdir", "removes a root, home or system directory")
        .when(&[Operand(is_doomed_top)])
        .examples(&["rmdir /home"], &["rmdir build"]),
    rule("rimraf trash del-cli fs-extra", "removes a root, home, system or whole working directory")
        .when(&[Operand(is_doomed)])
        .examples(&["rimraf /", "npx rimraf ~"], &["rimraf dist"]),
    rule("find gfind", "removes what it finds below a root, home, system or whole working directory")
        .when(&[Flag("-delete"), Operand(find_root)])
        .examples(
            &["find / -delete", "find ~ -name '*.log' -delete", "find /etc -type f -delete"],
            &["find . -name '*.pyc' -delete", "find /tmp -mtime +7 -delete", "find /"],
        ),
    rule("chown", "changes the owner of files")
        .examples(&["chown u f", "chown -R a:b /srv", "/usr/bin/chown root x"], &["echo chown"]),
    rule("chmod gchmod", "lets everybody write").when(&[Line(lets_everybody_write)]).examples(
        &[
            "chmod 777 f",
            "chmod -R 777 .",
            "chmod 0777 f",
            "chmod a+rwx f",
            "chmod ugo+rwx f",
            "chmod 1777 d",
            "chmod a=rwx f",
        ],
        &["chmod 755 run.sh", "chmod +x f", "chmod 644 777.txt", "chmod 644 777", "chmod u+rwx f", "chmod 600 f"],
    ),
    rule(
        "chmod gchmod chgrp chattr setfacl chflags xattr",
        "changes the rights of a root, home or system directory with all below it",
    )
    .when(&[Flag(RECURSIVE), Operand(is_doomed_top)])
    .examples(&["chmod -R 000 /", "chgrp -R x /etc", "chmod -R go-rwx ~"], &["chmod -R 755 .", "chgrp x f"]),
    rule("shred srm", "overwrites files so that they cannot be recovered")
        .when(&[NoFlag("--help --version")])
        .examples(&["shred f", "shred -u -z f", "srm f"], &["shred --help"]),
    rule("mv gmv", "throws a root, home, system or whole working directory away")
        .when(&[Line(throws_away)])
        .examples(&["mv ~ /dev/null", "mv /etc /dev/null", "mv * /dev/null"], &["mv a b", "mv a /dev/null"]),
    rule("mv gmv", "takes a home, a system directory or a file of the system from its place")
        .when(&[Line(moves_the_system)])
        .examples(
            &["mv /etc /tmp/etc", "mv /usr /usr.bak", "mv /bin/ls /tmp", "mv ~ /tmp/x", "mv /* /tmp"],
            &["mv / x", "mv a /home", "mv ~/a ~/b", "mv x /etc/y", "mv a /mnt", "mv * ..", "mv /mnt/a b"],
        ),
    rule(
        "cp gcp mv gmv install ginstall ln dd rsync sponge ed ex",
        "overwrites what the system starts or knows its users by",
    )
    .when(&[Line(overwrites_a_vital_file)])
    .examples(
        &[
            "cp /dev/null /etc/passwd",
            "mv x /etc/shadow",
            "install /dev/null /etc/passwd",
            "ln -sf /dev/null /etc/passwd",
            "cp x /etc/sudoers.d/me",
            "ed /etc/passwd",
        ],
        &["cp /etc/passwd x", "cp a /etc/nginx/nginx.conf", "install -m 755 x /usr/bin/x", "rsync /etc/fstab h:b"],
    ),
    rule("tee gtee", "overwrites what the system starts or knows its users by").when(&[Operand(is_vital)]).examples(
        &["echo x | tee /etc/sudoers", "echo x | tee /etc/passwd log", "tee -a log /etc/shadow < x"],
        &["echo x | tee log", "tee a /etc/nginx/nginx.conf < x"],
    ),
    rule("cp gcp mv dd install", "empties a file of the system").when(&[Line(empties_a_system_file)]).examples(
        &["cp /dev/null /usr/bin/x", "dd if=/dev/null of=/bin/ls", "find /etc -exec cp /dev/null {} ';'"],
        &["cp /dev/null a.log", "cp x /usr/bin/x"],
    ),
    rule("sed gsed perl ruby", "edits what the system starts or knows its users by, in its place")
        .when(&[Line(edits_a_vital_file)])
        .examples(
            &["sed -i /root/d /etc/passwd", "perl -pi -e s/x// /etc/shadow", "sed --in-place d /etc/sudoers"],
            &["sed -i s/a/b/ /etc/nginx/nginx.conf", "sed -n 1p f", "sed -i s/a/b/ passwd"],
        ),
    rule("chmod gchmod chgrp setfacl chattr", "changes who may touch what the system knows its users by")
        .when(&[Operand(is_vital)])
        .examples(
            &["chmod 000 /etc/passwd", "chmod 666 /etc/shadow", "chattr +i /etc/passwd"],
            &["chmod 644 passwd", "chmod 600 /etc/x"],
        ),
    rule("chmod gchmod", "lets everybody act as the owner of a program of the system")
        .when(&[Line(lends_the_system)])
        .examples(&["chmod u+s /bin/bash", "chmod 4755 /usr/bin/vim"], &["chmod u+s f", "chmod 755 /usr/bin/x"]),
    rule("cp gcp tee install rsync mv", "overwrites a device")
        .when(&[Operand(is_disk)])
        .examples(&["cp a.img /dev/sda", "tee /dev/nvme0n1"], &["cp a b", "tee /dev/null"]),
    rule("pv", "overwrites a device")
        .when(&[Flag("-o --output"), Operand(is_disk)])
        .examples(&["pv a.iso -o /dev/sdb"], &["pv /dev/sda", "pv a -o b"]),
    rule("wipe scrub nwipe sfill", "overwrites files so that they cannot be recovered")
        .when(&[NoFlag("--help --version -h -v")])
        .examples(&["wipe -rf x", "scrub /dev/sda", "nwipe --autonuke"], &["wipe --help"]),
    rule("truncate gtruncate", "empties a device or a file of the system")
        .when(&[Operand(is_system_file)])
        .examples(&["truncate -s 0 /etc/passwd"], &["truncate -s 0 app.log"]),
    rule("rsync rclone", "deletes what is in a root, home or system directory")
        .when(&[Text("--delete --del sync purge"), Operand(is_doomed_top)])
        .examples(
            &["rsync -a --delete empty/ /", "rsync -a --delete-after e/ ~"],
            &["rsync -a --delete a/ b/", "rsync -a a/ /"],
        ),
    rule("rclone", "deletes what is stored elsewhere")
        .sub("purge|delete")
        .examples(&["rclone purge r:b", "rclone delete r:b"], &["rclone ls r:b", "rclone copy a r:b"]),
    rule("Remove-Item ri rd del erase rmdir remove-item", "removes a whole disk or home")
        .when(&[Flag("-Recurse -recurse -r /s /S /q /Q"), Operand(is_doomed)])
        .examples(&["Remove-Item -Recurse -Force C:/", "remove-item -recurse ~"], &["Remove-Item -Recurse build"]),
    rule("rd del rmdir erase", "removes a whole disk")
        .when(&[Text("/s /S"), Operand(is_doomed_top)])
        .examples(&["rd /s /q C:/", "del /s /q C:/*"], &["rd /s /q build"]),
    rule("unlink", "removes a root, home or system directory")
        .when(&[Operand(is_doomed_top)])
        .examples(&["unlink /etc"], &["unlink a"]),
    rule("rsync", "deletes what is in a root, home or system directory elsewhere")
        .when(&[Text("--delete --del"), Operand(is_doomed_elsewhere)])
        .examples(
            &["rsync -a --delete e/ host:/", "rsync -a --del e/ u@h:/home/"],
            &["rsync -a --delete a/ host:b/", "rsync -a --delete a/ h:/srv/"],
        ),
    rule("tar gtar zip 7z", "removes what it packs, below a root, home or system directory")
        .when(&[Flag("--remove-files -sdel"), Operand(is_doomed_top)])
        .examples(&["tar cf a.tar --remove-files /etc"], &["tar cf a.tar --remove-files build"]),
];

/// Returns true if a path outside the working directory is critical: an absolute path, a path in the home, or a drive.
/// A relative path is the usual operand and never counts here.
fn is_doomed_top(path: &str, place: &Place) -> bool {
    let absolute = path.is_rooted() || path.as_bytes().get(1) == Some(&b':');
    absolute && is_doomed(path, place)
}

/// Returns true if `find` starts at a critical path, or in a working directory that is one. Ordinary work below the
/// working directory does not count.
fn find_root(path: &str, place: &Place) -> bool {
    is_doomed_top(path, place)
        || (matches!(path, "." | "..") && matches!(place, Place::At(at) if is_doomed_top(at, &Place::Start)))
}

/// Returns true for a critical path on another machine, such as `host:/home`.
fn is_doomed_elsewhere(operand: &str, _: &Place) -> bool {
    // Services are deployed below `/srv` and similar directories.
    let deployed = ["/srv", "/data", "/opt", "/mnt", "/media", "/backup", "/workspace"];
    operand.split_once(':').is_some_and(|(host, path)| {
        let served = deployed.iter().any(|top| path.starts_with(top));
        !host.contains('/') && !served && is_doomed_top(path, &Place::Start)
    })
}

/// Returns true for a private key, or a file that lets users log in, or all of these files.
fn is_key(path: &str, _: &Place) -> bool {
    const KEYS: &[&str] = &["id_", "authorized_keys", "*", "private-keys", "secring", "pubring"];
    [".ssh/", ".gnupg/"].iter().any(|dir| {
        path.rsplit_once(dir).is_some_and(|(before, file)| {
            (before.is_empty() || before.ends_with('/')) && KEYS.iter().any(|key| file.starts_with(key))
        })
    })
}

fn operands(words: &[Word]) -> Vec<&str> {
    words.iter().map(Word::text).filter(|text| !text.starts_with('-')).collect()
}

/// Returns true for `mv … /dev/null` with a critical source.
fn throws_away(words: &[Word], place: &Place) -> bool {
    let operands = operands(words);
    operands
        .split_last()
        .is_some_and(|(last, moved)| is_null(last, place) && moved.iter().any(|path| is_doomed(path, place)))
}

/// Returns true if the command moves a file of the system. A target of the move does not count.
fn moves_the_system(words: &[Word], place: &Place) -> bool {
    let operands = operands(words);
    let moved = match words.iter().any(|word| word.text() == "-t" || word.text().starts_with("--target")) {
        true => operands.as_slice(),
        false => operands.split_last().map(|(_, moved)| moved).unwrap_or_default(),
    };
    let whole_disk = |path: &str| path.trim_matches('/').is_empty();
    // Users mount disks there and work on them.
    let worked_on = |path: &str| ["/mnt/", "/media/", "/Volumes/"].iter().any(|top| path.starts_with(top));
    let goes = |path: &&str| {
        !whole_disk(path) && !worked_on(path) && (is_doomed_top(path, place) || is_system_file(path, place))
    };
    moved.iter().any(goes)
}

/// Returns the operands without unknown words that may expand to no word.
fn known_operands(words: &[Word]) -> Vec<&str> {
    let known = words.iter().filter(|word| !word.is_wild() || word.text().contains("**"));
    known.map(Word::text).filter(|text| !text.starts_with('-')).collect()
}

/// Returns the targets of a copy, link or stream: the last operand and the values of `of=`.
fn written<'a>(words: &'a [Word]) -> impl Iterator<Item = &'a str> {
    let operands = known_operands(words);
    let last = operands.len().saturating_sub(1);
    let assigned = operands.clone().into_iter().filter_map(|word| word.strip_prefix("of="));
    let with_last: Vec<&'a str> = operands.into_iter().skip(last).chain(assigned).collect();
    with_last.into_iter()
}

fn overwrites_a_vital_file(words: &[Word], place: &Place) -> bool {
    written(words).any(|path| is_vital(path, place))
}

fn empties_a_system_file(words: &[Word], place: &Place) -> bool {
    let empty =
        |word: &Word| matches!(word.text().trim_start_matches("if="), "/dev/null" | "/dev/zero" | "/dev/urandom");
    words.iter().any(empty) && written(words).any(|path| is_system_file(path, place))
}

fn edits_a_vital_file(words: &[Word], place: &Place) -> bool {
    let short = |text: &str| text.starts_with('-') && !text.starts_with("--") && text.contains('i');
    let in_place = words.iter().any(|word| short(word.text()) || word.text().starts_with("--in-place"));
    in_place && operands(words).iter().any(|path| is_vital(path, place))
}

fn lends_the_system(words: &[Word], place: &Place) -> bool {
    let lends = |word: &Word| {
        let mode = word.text();
        let digits =
            mode.len() == 4 && mode.starts_with(['2', '4', '6']) && mode.bytes().all(|byte| byte.is_ascii_digit());
        digits || (mode.contains(['+', '=']) && mode.ends_with('s') && mode.len() <= 6)
    };
    words.iter().any(lends) && operands(words).iter().any(|path| is_system_file(path, place))
}

fn is_null(path: &str, _: &Place) -> bool {
    path == "/dev/null"
}

fn is_disk(path: &str, _: &Place) -> bool {
    is_device(path)
}

/// Returns true if the mode permits all users to write. The mode is the first operand, but an unknown word before it
/// may expand to no word.
fn lets_everybody_write(words: &[Word], place: &Place) -> bool {
    let mut operands = words.iter().filter(|word| !word.text().starts_with('-') || word.text().len() == 1);
    let unknown = |word: &&Word| word.is_wild() || word.is_expanded();
    let modes = operands.by_ref().take_while(unknown).map(Word::text).collect::<Vec<_>>();
    let first = words.iter().filter(|word| !word.text().starts_with('-')).find(|word| !unknown(word));
    modes.into_iter().chain(first.map(Word::text)).any(|mode| world_writable(mode, place))
}

/// Returns true if a mode permits all users to read, write and execute: `777`, `0777`, `a+rwx`, `o=rwx`.
fn world_writable(mode: &str, _: &Place) -> bool {
    let digits = mode.bytes().all(|byte| (b'0'..=b'7').contains(&byte)) && matches!(mode.len(), 3..=5);
    if digits {
        return mode.ends_with("777");
    }
    mode.split(',').any(|part| {
        let Some(at) = part.find(['+', '=']) else { return false };
        let (who, rights) = (part.get(..at).unwrap_or_default(), part.get(at + 1..).unwrap_or_default());
        let everybody = who.contains('a') || (who.contains('o') && who.bytes().all(|byte| b"ugo".contains(&byte)));
        everybody && ["r", "w", "x"].iter().all(|right| rights.to_ascii_lowercase().contains(right))
    })
}
