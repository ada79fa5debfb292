//! Destructive commands for disks, partitions, volumes and file systems.

use super::{
    Rule,
    When::{Flag, Named, NoFlag, Operand, Text},
    rule,
    target::names_device,
};

pub(super) const RULES: &[Rule] = &[
    rule("dd gdd dcfldd dc3dd", "copies bytes over whatever is at its target").when(&[Text("of= if=")]).examples(
        &[
            "dd if=/dev/zero of=x",
            "dd if=a.img of=b.img",
            "dd of=/dev/sda if=/dev/zero",
            "nice dd if=/dev/zero of=/dev/sda",
        ],
        &["dd --help", "dd --version"],
    ),
    rule("mkfs mkfs.* mke2fs mkdosfs mkntfs newfs* mkswap format.com", "makes a new file system over what is there")
        .when(&[NoFlag("--help --version -V")])
        .examples(
            &["mkfs.ext4 /dev/sdb1", "mkfs -t xfs /dev/sdb1", "mkfs d", "mkswap /dev/sda2"],
            &["mkfs.ext4 -V", "echo mkfs"],
        ),
    rule("mkfs", "makes a new file system over what is there")
        .when(&[Operand(names_device)])
        .examples(&["mkfs -V -t ext4 /dev/vda1", "mkfs -V /dev/sdb"], &["mkfs -V"]),
    rule("dmsetup", "removes or wipes a volume")
        .sub("remove|remove_all|wipe_table")
        .examples(&["dmsetup remove_all", "dmsetup wipe_table x"], &["dmsetup ls"]),
    rule("fdisk cfdisk sfdisk gdisk sgdisk cgdisk", "changes the partitions of a disk")
        .when(&[NoFlag("-l --list -d --dump -V --version -h --help -p --print -J --json -s --show-size -v -x")])
        .examples(
            &["fdisk /dev/sda", "fdisk d", "sgdisk -Z /dev/sda", "sfdisk /dev/sda < t"],
            &["fdisk -l", "sfdisk -d /dev/sda"],
        ),
    rule("sgdisk sfdisk", "removes the partitions of a disk")
        .when(&[Flag("-Z -z -o --zap-all --zap --clear --delete --wipe")])
        .examples(&["sgdisk --zap-all /dev/sda"], &["sgdisk -p /dev/sda"]),
    rule("parted gparted", "changes the partitions of a disk")
        .when(&[Named("mklabel mktable mkpart rm resizepart rescue mkfs")])
        .examples(&["parted /dev/sda mklabel gpt", "parted -s /dev/sda rm 1"], &["parted -l", "parted /dev/sda print"]),
    rule("wipefs", "removes the signatures of a disk")
        .when(&[Flag("-a -f -o --all --force --offset"), NoFlag("-n --no-act")])
        .examples(&["wipefs -a /dev/sda"], &["wipefs /dev/sda", "wipefs -n -a /dev/sda"]),
    rule("blkdiscard", "discards everything on a disk").examples(&["blkdiscard /dev/nvme0n1"], &["lsblk"]),
    rule("hdparm nvme sg_format", "erases a disk")
        .when(&[Text("--security-erase format sanitize --trim-sector --format")])
        .examples(
            &["hdparm --security-erase x /dev/sda", "nvme format /dev/nvme0n1", "nvme sanitize /dev/nvme0"],
            &["hdparm -I /dev/sda", "nvme list"],
        ),
    rule("badblocks", "writes over a disk")
        .when(&[Flag("-w")])
        .examples(&["badblocks -wsv /dev/sda"], &["badblocks -sv /dev/sda"]),
    rule("cryptsetup", "destroys the key of a disk")
        .sub("luksFormat|erase|luksErase|luksKillSlot|luksRemoveKey|reencrypt|luksHeaderRestore")
        .examples(
            &["cryptsetup luksFormat /dev/sda2", "cryptsetup -q erase /dev/sda2"],
            &["cryptsetup status x", "cryptsetup open /dev/sda2 x"],
        ),
    rule("lvremove vgremove pvremove lvreduce", "removes a volume")
        .examples(&["lvremove -f vg/x", "pvremove /dev/sda"], &["lvs", "lvcreate -n x vg"]),
    rule("mdadm", "takes an array apart")
        .when(&[Flag("--zero-superblock --stop --fail -S")])
        .examples(&["mdadm --zero-superblock /dev/sda1"], &["mdadm --detail /dev/md0"]),
    rule("zpool zfs", "destroys a pool or its data")
        .sub("destroy|labelclear|rollback")
        .examples(&["zpool destroy tank", "zfs destroy -r tank/x"], &["zpool status", "zfs list"]),
    rule("btrfs", "deletes a subvolume")
        .sub("subvolume delete|device delete|device remove")
        .examples(&["btrfs subvolume delete x"], &["btrfs subvolume list ."]),
    rule("diskutil", "erases a disk")
        .sub(
            "eraseDisk|eraseVolume|partitionDisk|reformat|secureErase|zeroDisk|randomDisk|apfs deleteContainer|\
             apfs deleteVolume|eraseOptical|apfs eraseVolume",
        )
        .examples(
            &["diskutil eraseDisk JHFS+ X disk2", "diskutil apfs deleteContainer disk1"],
            &["diskutil list", "diskutil info disk1"],
        ),
    rule("asr", "overwrites a disk")
        .when(&[Flag("--erase -erase")])
        .examples(&["asr restore --source a --target b --erase"], &["asr info"]),
    rule("format", "formats a disk").when(&[Operand(names_drive)]).examples(&["format c:"], &["format f.rs"]),
    rule("diskpart Clear-Disk Format-Volume Initialize-Disk clear-disk format-volume", "erases a disk")
        .examples(&["diskpart", "Format-Volume -DriveLetter C"], &["Get-Disk"]),
    rule("debugfs xfs_db", "writes to a file system directly")
        .when(&[Flag("-w -x")])
        .examples(&["debugfs -w /dev/sda1"], &["debugfs /dev/sda1"]),
    rule("flashrom flash_erase flash_eraseall", "writes firmware")
        .when(&[NoFlag("-r --read --version -L")])
        .examples(&["flashrom -w a.rom", "flash_erase /dev/mtd0 0 0"], &["flashrom -r a.rom"]),
    rule("tune2fs e2fsck resize2fs xfs_repair fsck.*", "changes a file system on its disk")
        .when(&[Operand(names_device), Flag("-f -L -O -y")])
        .examples(&["e2fsck -fy /dev/sda1", "xfs_repair -L /dev/sda1"], &["tune2fs -l /dev/sda1"]),
    rule("ddrescue partclone.*", "copies bytes over a device")
        .when(&[Operand(names_device)])
        .examples(&["ddrescue a.img /dev/sda"], &["ddrescue a b"]),
];

/// Returns true for a drive name such as `c:` and `D:\`.
fn names_drive(word: &str, _: &crate::place::Place) -> bool {
    matches!(word.as_bytes(), [letter, b':'] | [letter, b':', _] if letter.is_ascii_alphabetic())
}
