//! Removing files and trees, and changing who may touch them.

use super::{
    Rule,
    When::{Flag, NoFlag, Operand, Text},
    rule,
    target::{is_device, is_doomed, is_system_file},
};
use crate::command::walk::Place;

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
    rule("chmod gchmod", "lets everybody write").when(&[Operand(world_writable)]).examples(
        &[
            "chmod 777 f",
            "chmod -R 777 .",
            "chmod 0777 f",
            "chmod a+rwx f",
            "chmod ugo+rwx f",
            "chmod 1777 d",
            "chmod a=rwx f",
        ],
        &["chmod 755 run.sh", "chmod +x f", "chmod 644 777.txt", "chmod u+rwx f", "chmod 600 f"],
    ),
    rule(
        "chmod gchmod chgrp chattr setfacl chflags xattr",
        "changes the rights of a root, home or system directory with all below it",
    )
    .when(&[Flag(RECURSIVE), Operand(is_doomed_top)])
    .examples(&["chmod -R 000 /", "chgrp -R x /etc", "chmod -R go-rwx ~"], &["chmod -R 755 .", "chgrp x f"]),
    rule("shred srm", "overwrites files so that nobody can recover them")
        .when(&[NoFlag("--help --version")])
        .examples(&["shred f", "shred -u -z f", "srm f"], &["shred --help"]),
    rule("mv gmv", "throws a root, home or system directory away")
        .when(&[Operand(is_doomed_top), Operand(is_null)])
        .examples(&["mv ~ /dev/null", "mv /etc /dev/null"], &["mv a b", "mv / x"]),
    rule("cp gcp tee install rsync mv", "overwrites a device")
        .when(&[Operand(is_disk)])
        .examples(&["cp a.img /dev/sda", "tee /dev/nvme0n1"], &["cp a b", "tee /dev/null"]),
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
    rule("tar gtar zip 7z", "removes what it packs, below a root, home or system directory")
        .when(&[Flag("--remove-files -sdel"), Operand(is_doomed_top)])
        .examples(&["tar cf a.tar --remove-files /etc"], &["tar cf a.tar --remove-files build"]),
];

/// The same without the working directory: where a relative path is the usual operand.
fn is_doomed_top(path: &str, place: &Place) -> bool {
    let absolute = path.starts_with(['/', crate::command::walk::HOME]) || path.as_bytes().get(1) == Some(&b':');
    absolute && is_doomed(path, place)
}

/// Where `find` starts; what is below the working directory is somebody's work, but not everything.
fn find_root(path: &str, place: &Place) -> bool {
    is_doomed_top(path, place)
        || (matches!(path, "." | "..") && matches!(place, Place::At(at) if is_doomed_top(at, &Place::Start)))
}

fn is_null(path: &str, _: &Place) -> bool {
    path == "/dev/null"
}

fn is_disk(path: &str, _: &Place) -> bool {
    is_device(path)
}

/// `777`, `0777`, `a+rwx`, `o=rwx`: everybody may read, write and run.
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
