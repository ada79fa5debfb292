//! Programs that read files and directories.

use super::{Operands, Spec, question, spec};
use crate::word::{Gaps, Word};

pub(super) const SPECS: &[Spec] = &[
    spec(
        "ls gls dir vdir",
        "--escape --ignore-backups --dired --dereference-command-line --dereference-command-line-symlink-to-dir \
         --kibibytes --hide-control-chars --quote-name --tabsize: --context --zero -a -A -b -B -c -C -d -D -f -F -g -G \
         -h -H -i -I: -k -l -L -m -n -N -o -p -q -Q -r -R -s -S -t -T -u -U -v -w: -x -X -Z -1 -@ -e -O --all \
         --almost-all --author --block-size: --color? --directory --classify? --file-type --format: --full-time \
         --group-directories-first --hide: --human-readable --hyperlink? --ignore: --indicator-style: --inode \
         --no-group --numeric-uid-gid --quoting-style: --recursive --reverse --size --sort: --time: --time-style: \
         --width: --si --dereference --literal --show-control-chars",
    )
    .inert()
    .examples(&["ls -la", "ls --color=auto src", "ls *.rs", "/bin/ls"], &["ls > f", "./ls", "ls --x"]),
    spec(
        "exa eza lsd",
        "-@ -b -B -H -S -u -U -m -x -X -n -o -I: --group --inode --links --blocksize --modified --accessed --created \
         --no-permissions --no-filesize --no-user --no-time --no-git --extended --across --grid --classify? --recurse \
         --reverse --only-dirs --only-files --total-size --time-style: --time: --absolute? --colour? --color-scale? \
         --hyperlink --no-quotes --ignore-glob: --git-repos --octal-permissions --width: --show-symlinks --almost-all \
         --dereference -1 -a -A -l -h -t -T -R -r -d -F -g -G -i -s: -L: -D -f --tree --long --all --level: --git \
         --icons? --color? --sort: --header --depth: --oneline --git-ignore --group-directories-first",
    )
    .inert()
    .examples(&["eza -la --git", "exa --tree --level=2"], &["eza --x"]),
    spec(
        "tree",
        "-q -N -Q -c -U -v --inodes --device --metafirst --timefmt: --nolinks --hyperlink --info --infofile: \
         --gitfile: --gitfiles: --filesfirst --hintro: --houtro: --opt-toggle --compress: --fflinks -T: -Z --acl \
         --selinux -z -a -d -f -i -l -x -L: -P: -I: -h -s -D -u -g -p -F -r -t -C -n -J -X -A -S --noreport \
         --dirsfirst --gitignore --prune --filelimit: --du --si --charset: --matchdirs --ignore-case --sort: \
         --fromfile",
    )
    .examples(&["tree -L 2", "tree -a -I node_modules"], &["tree -o out.txt", "tree -R -H x"]),
    spec(
        "cat gcat",
        "-A -b -e -E -n -s -t -T -u -v --number --number-nonblank --show-all --show-ends --show-tabs --squeeze-blank \
         --show-nonprinting",
    )
    .inert()
    .examples(&["cat f", "cat -n a b", "/usr/bin/cat f"], &["cat f > g", "/tmp/cat f"]),
    spec("tac rev", "-b -r -s: --before --regex --separator:").inert().examples(&["tac f", "rev f"], &["tac --x"]),
    spec(
        "bat batcat",
        "-f --force-colorization -u --unbuffered --file-name: --diff -d --diff-context: --italic-text: \
         --terminal-width: -S --chop-long-lines --no-pager --squeeze-blank -s --strip-ansi: --nonprintable-notation: \
         -L --ignored-suffix: -n -p -pp -A -l: -r: -H: --plain --number --language: --line-range: --style: --color: \
         --theme: --paging:never|auto --wrap: --show-all --decorations: --tabs: --list-languages --list-themes \
         --highlight-line: -P",
    )
    .examples(&["bat -n f", "bat --paging=never src/lib.rs"], &["bat --pager=sh f", "bat cache --build --x"]),
    spec("head", "-n: -c: -q -v -z -# --lines: --bytes: --quiet --silent --verbose --zero-terminated")
        .inert()
        .examples(&["head -20 f", "head -n 5 f"], &["head --x f"]),
    spec(
        "tail",
        "-n: -c: -f -F -q -v -r -z -s: -# --lines: --bytes: --follow? --retry --pid: --quiet --silent --verbose \
         --sleep-interval: --zero-terminated --max-unchanged-stats:",
    )
    .inert()
    .examples(&["tail -f log", "tail -n +2 f", "tail -100 f"], &["tail --x f"]),
    spec(
        "less more",
        "-a -A -b: -B -c -C -d -f -g -G -h: -j: -J -K -L -p: -P: -q -Q -u -U -w -W -x: -y: -z: --quit-at-eof \
         --ignore-case --IGNORE-CASE --squeeze-blank-lines --pattern: --tabs: --quiet --silent --no-lessopen \
         --hilite-search --HILITE-SEARCH --mouse --wordwrap --raw-control-chars --follow-name --use-color -l -N -S -R \
         -r -F -X -i -I -n -s -e -E -M -m -# --LINE-NUMBERS --chop-long-lines --RAW-CONTROL-CHARS --quit-if-one-screen \
         --no-init",
    )
    .asking(no_plus)
    .examples(&["less f", "less -R log"], &["less +!sh f", "less -o out f", "less --lesskey-file=x f"]),
    spec("wc", "-c -l -L -m -w --bytes --chars --lines --words --max-line-length --files0-from: --total:")
        .inert()
        .examples(&["wc -l f", "wc *.py"], &["wc --x"]),
    spec(
        "stat gstat",
        "-c: -f -L -t -s -x -r -l -n -q -F --format: --file-system --dereference --printf: --terse --cached:",
    )
    .inert()
    .examples(&["stat f", "stat -c '%s %n' *.rs", "stat -f %z f"], &["stat --x f"]),
    spec(
        "file",
        "-0 -l -e: -S --print0 --raw --no-buffer --keep-going --special-files --separator: --exclude-quiet: --list \
         --apple --no-dereference --preserve-date --checking-printout -v --version -b -i -I -L -h -k -n -N -r -s -z -p \
         -F: --brief --mime --mime-type --mime-encoding --dereference --no-pad --extension --exclude:",
    )
    .examples(&["file -b f", "file --mime-type f"], &["file -C -m x", "file -f names", "file -m magic f"]),
    spec(
        "du",
        "--null --dereference-args --dereference --count-links --no-dereference --time-style: --exclude-from: -n -a -A \
         -b -B: -c -D -d: -g -h -H -I: -k -l -L -m -P -s -S -t: -x -X: -0 --all --apparent-size --block-size: --bytes \
         --total --max-depth: --human-readable --exclude: --summarize --one-file-system --separate-dirs --si \
         --threshold: --time? --inodes",
    )
    .inert()
    .examples(&["du -sh .", "du -h --max-depth=1", "du -sh *"], &["du --x"]),
    spec(
        "df",
        "--si --no-sync -v -n -Y -I -b -a -B: -h -H -i -k -l -m -P -t: -T -x: -g --all --human-readable --inodes \
         --local --print-type --type: --total --output? --block-size: --portability --exclude-type:",
    )
    .inert()
    .examples(&["df -h /", "df -hT"], &["df --x"]),
    spec("dust duf", "-d: -r -s -b -n: -x -h -all -only:").examples(&["dust -d 2", "duf"], &["dust --x"]),
    spec("find gfind", "").raw(question::find_expression).examples(
        &[
            "find . -name x",
            "find . -type f -size +10M -print0",
            "find . \\( -name a -o -name b \\) -prune",
            "find src -printf '%p\\n'",
        ],
        &["find . -delete", "find . -exec rm {} +", "find . -fprintf f x", "find . -ok rm {} \\;", "find . -fls f"],
    ),
    spec(
        "fd fdfind",
        "--no-ignore-parent --prune --owner: -o: --no-global-ignore-file --no-hidden --format: --and: \
         --base-directory: --search-path: --ignore-file: --batch-size: --threads: --path-separator: --relative-path \
         --no-follow --ignore --changed-after: --newer: --older: -C: --one-file-system --show-errors --no-ignore-file \
         --hyperlink? --max-buffer-time: -H -I -u -s -i -g -F -a -l -L -p -0 -1 -q -t: -e: -E: -d: -S: -c: -j: \
         --hidden --no-ignore --unrestricted --case-sensitive --ignore-case --glob --fixed-strings --absolute-path \
         --list-details --follow --full-path --print0 --max-depth: --min-depth: --exact-depth: --type: --extension: \
         --exclude: --size: --changed-within: --changed-before: --color: --max-results: --quiet --max-one-result \
         --no-ignore-vcs --regex --strip-cwd-prefix",
    )
    .examples(&["fd -e rs", "fd --type f main src"], &["fd -x rm", "fd --exec-batch rm"]),
    spec(
        "locate mlocate plocate",
        "-i -c -l: -n: -b -r: -e -w -0 --ignore-case --count --limit: --basename --regex --existing",
    )
    .examples(&["locate -i x"], &["locate --x"]),
    spec("cmp", "-b -i: -l -n: -s -x --print-bytes --ignore-initial: --verbose --bytes: --quiet --silent")
        .inert()
        .examples(&["cmp a b"], &["cmp --x a b"]),
    spec(
        "diff gdiff colordiff",
        "-F: --show-function-line: --initial-tab --tabsize: --suppress-blank-empty --unidirectional-new-file \
         --ignore-file-name-case --no-ignore-file-name-case --ignore-tab-expansion --ignore-trailing-space \
         --line-format: --old-line-format: --new-line-format: --unchanged-line-format: --old-group-format: \
         --new-group-format: --unchanged-group-format: --changed-group-format: --horizon-lines: --palette: -L: \
         --ignore-space-at-eol -P -a -b -B -c -C: -d -e -E -H -i -I: -n -N -p -q -r -s -S: -t -T -u -U: -w -W: -x: -X: \
         -y -Z -# --brief --color? --unified? --context? --side-by-side --width: --recursive --new-file \
         --ignore-all-space --ignore-space-change --ignore-blank-lines --ignore-case --text --exclude: \
         --report-identical-files --suppress-common-lines --left-column --strip-trailing-cr --minimal --no-dereference \
         --label: --from-file: --to-file: --speed-large-files --ignore-matching-lines: --show-c-function --normal --ed \
         --rcs --expand-tabs --exclude-from: --starting-file:",
    )
    .examples(&["diff -u a b", "diff -rq a b", "diff <(ls a) <(ls b)"], &["diff -l a b", "diff --x a b"]),
    spec("comm", "-1 -2 -3 -i -z --check-order --nocheck-order --output-delimiter: --total --zero-terminated")
        .inert()
        .examples(&["comm -12 a b"], &["comm --x"]),
    spec(
        "strings",
        "-w -d -T: -U: -s: --data --include-all-whitespace --target: --unicode: --output-separator: -N: -a -f -n: -t: \
         -e: -o -# --all --bytes: --radix: --encoding: --print-file-name",
    )
    .inert()
    .examples(&["strings -n 8 f"], &["strings --x"]),
    spec(
        "od hexdump hd",
        "-S: --strings? --width? --traditional -f -l --one-byte-octal --one-byte-char --two-bytes-decimal \
         --two-bytes-octal --two-bytes-hex --color? --no-squeezing -L? -X -B -D -F -H -h -I -O -A: -b -c -C -d -j: -N: \
         -n: -s: -o -x -t: -v -w? -e: -i -a --format: --address-radix: --skip-bytes: --read-bytes: --output-duplicates \
         --endian: --canonical --length: --skip:",
    )
    .inert()
    .examples(&["od -c f", "hexdump -C f"], &["od --x"]),
    spec("xxd", "= -a -b -c: -C -d -e -g: -i -l: -n: -o: -p -ps -s: -u -E -r")
        .operands(Operands::AtMost(1))
        .examples(&["xxd -l 16 f", "xxd -r -p"], &["xxd -r in out", "xxd in out"]),
    spec("zcat bzcat xzcat lzcat gzcat", "-f -q -v -k -l -t --quiet --force --keep --list --test --verbose")
        .inert()
        .examples(&["zcat f.gz"], &["zcat --x"]),
    // Words that these programs pass to a pager or another program may be more than file names.
    spec("zless zmore zstdcat", "-f -q -v --quiet").asking(no_plus).examples(
        &["zstdcat f.zst", "zless f.gz"],
        &["zstdcat -o g f", "zless +!sh f", "zless '+!id' f.gz", "zstdcat $(cat f)", "zstdcat \"$(cat f)\""],
    ),
    spec(
        "gzip gunzip bzip2 bunzip2 xz unxz lzma unlzma zstd unzstd brotli pigz unpigz lzop",
        "-c -d -k -q -v -f -n -# --stdout --to-stdout --decompress --uncompress --keep --quiet --verbose --force \
         --no-name --best --fast -T: --threads:",
    )
    .asking(to_stdout)
    .examples(
        &[
            "gzip -dc a.gz",
            "gunzip -c a.gz",
            "xz -dc f.xz",
            "zstd -d --stdout f.zst",
            "bzip2 -cd f.bz2",
            "gzip -9 -c f",
        ],
        &["gzip -d a.gz", "gunzip a.gz", "xz -k f", "zstd -c --rm f", "zstd -dc f -o g", "gzip -rc d", "gzip -dc *"],
    ),
    spec(
        "nl",
        "--section-delimiter: --footer-numbering: --header-numbering: --line-increment: --join-blank-lines: \
         --no-renumber -b: -d: -f: -h: -i: -l: -n: -p -s: -v: -w: --body-numbering: --number-format: \
         --number-separator: --number-width: --starting-line-number:",
    )
    .inert()
    .examples(&["nl -ba f"], &["nl --x"]),
    spec("tee", "-a -i -p --append --ignore-interrupts")
        .asking(question::writes_nothing)
        .examples(&["ls | tee /dev/stderr"], &["tee f", "tee -a ~/.bashrc"]),
    spec(
        "tar gtar bsdtar",
        "-x -O -f: -v -z -j -J -Z -a --extract --get --to-stdout --file: --verbose --gzip --bzip2 --xz --zstd --lzma \
         --strip-components: --wildcards --no-wildcards --no-anchored --anchored --exclude: --occurrence? -C: \
         --directory:",
    )
    .asking(prints_members)
    .examples(
        &["tar -xOf a.tar f", "tar -xzf a.tgz -O f", "tar --extract --to-stdout --file=a.tar f"],
        &["tar -xf a.tar f", "tar -xOf a.tar --to-command=sh", "tar -xO -f host:a f", "tar -xO -I x -f a"],
    ),
    spec(
        "tar gtar bsdtar",
        "-t -f: -v -z -j -J -Z -a -tf: -tvf: -tzf: -tzvf: -tjf: --list --file: --verbose --gzip --bzip2 --xz --zstd \
         --lzma --strip-components: --wildcards --no-wildcards --no-anchored --anchored --exclude: --full-time \
         --numeric-owner --utc --quoting-style: --show-stored-names --block-number -R -C: --directory: --occurrence?",
    )
    .asking(lists_archive)
    .examples(
        &["tar -tf a.tar", "tar --list -f a.tgz", "tar -tzvf a.tgz"],
        &["tar -xf a.tar", "tar tf a --to-command=sh", "tar --checkpoint-action=exec=sh -cf a b"],
    ),
    spec("tar gtar bsdtar", "").raw(lists_archive_old).examples(
        &["tar tf a.tar", "tar tzvf a.tgz", "tar xOf a.tar f", "tar tf a.tar --wildcards '*.txt'"],
        &["tar xf a.tar", "tar tf a --use-compress-program=x"],
    ),
    spec("unzip", "-l -v -t -Z -q -qq -Z1 -p -c -a -C -b -x").asking(has_listing).examples(
        &["unzip -l a.zip", "unzip -t a.zip", "unzip -p a.zip f"],
        &["unzip -d dir a.zip", "unzip -q a.zip", "unzip a.zip", "unzip -o a.zip"],
    ),
    spec("zipinfo", "-1 -s -m -l -v -h -t").inert().examples(&["zipinfo a.zip"], &["zipinfo --x"]),
    spec("lsattr getfacl getfattr", "-a -d -R -l -v -p -c -e -n: -m: --absolute-names --recursive --omit-header")
        .inert()
        .examples(&["lsattr f", "getfacl f"], &["getfacl --x f"]),
    // In some of these programs, `--plugin` loads a library.
    spec(
        "nm objdump readelf otool size",
        "-a -A -C -d -D -e -f -g -h -l -n -p -r -s -S -t -T -u -W -x -V -R --demangle --dynamic --syms --headers \
         --sections --symbols --disassemble -L -M: --all --file-header --file-headers --program-headers --segments \
         --section-headers --section-groups --section-details --dyn-syms --dynamic-syms --notes --relocs --reloc \
         --dynamic-reloc --unwind --version-info --arch-specific -c --archive-index --archive-headers \
         --private-headers -P? --all-headers --disassemble-all --source --line-numbers --full-contents --debugging -G \
         --stabs --dwarf? --debug-dump? --hex-dump: --string-dump: --relocated-dump: -z --decompress --histogram -I \
         --wide -H -v -i --info -b: --target: -m: --architecture: -j --section: --disassembler-options: --endian: -F \
         --file-offsets --no-show-raw-insn --show-raw-insn --start-address: --stop-address: --prefix-addresses \
         --insn-width: --inlines --no-demangle --debug-syms --print-file-name -B --format: --extern-only \
         --just-symbols --numeric-sort -o --no-sort --portability --reverse-sort --print-size --print-armap \
         --size-sort --special-syms --radix: --undefined-only -U? --defined-only --unicode: --no-weak \
         --with-symbol-versions --visualize-jumps? --disassembler-color: -E -GG --totals --common -w? --no-addresses \
         --lint --use-dynamic --silent-truncation -q --quiet",
    )
    .asking(no_list_of_options)
    .examples(
        &["nm -D f", "readelf -h f", "objdump -d f", "nm --defined-only f"],
        &["objdump --x f", "nm --plugin x f", "nm $(cat f)", "nm @options"],
    ),
    spec(
        "tokei cloc scc",
        "= -t: -e: -s: -f -C --files --exclude: --sort: --by-file --exclude-dir: --include-lang: --vcs:git|svn|auto \
         --no-cocomo",
    )
    .examples(&["tokei src", "cloc --vcs=git ."], &["cloc --out=f .", "cloc --vcs=./x ."]),
    spec(
        "zgrep zegrep zfgrep bzgrep xzgrep zstdgrep",
        "-a -m: -s -x -z -Z --color? --colour? --count --ignore-case --line-number --invert-match --word-regexp \
         --only-matching --files-with-matches --no-filename --with-filename --max-count: --context: --after-context: \
         --before-context: --regexp: --fixed-strings --extended-regexp -# -C: -P -L -i -n -c -l -v -E -F -o -h -H -w \
         -A: -B: -C: -e: -q -s",
    )
    .examples(&["zgrep -i err log.gz"], &["zgrep --x"]),
    spec(
        "exiftool identify ffprobe mediainfo",
        "= -v -hide_banner -show_format -show_streams -print_format: -of: -i: -show_entries: -select_streams: -json -j \
         -s -G -a",
    )
    .asking(plain_files)
    .examples(&["ffprobe -hide_banner f.mp4"], &["exiftool -Artist=me f.jpg"]),
    spec("pdftotext", "-layout -raw -f: -l: -nopgbrk -q -enc: -eol: -r: -x: -y: -W: -H: -table -simple")
        .asking(prints_text)
        .examples(&["pdftotext a.pdf -", "pdftotext -layout a.pdf -"], &["pdftotext a.pdf", "pdftotext a.pdf b.txt"]),
    spec(
        "b3sum xxhsum xxh64sum crc32 rhash",
        "-c -b -q -a --check --tag --no-names --num-threads: -l: --length: --raw --quiet -C --sha256 --sha1 --md5 \
         --crc32",
    )
    .examples(&["b3sum f"], &["rhash -o f g", "rhash --update f"]),
    spec("namei", "-l -m -o -v -x --long --modes --owners --vertical --mountpoints -n")
        .inert()
        .examples(&["namei -l /a/b"], &["namei --x"]),
    spec("getcap", "-r -v -n").inert().examples(&["getcap -r /usr/bin"], &["setcap x f"]),
    spec("unrar rar", "= -p- -inul -v").sub("l|lt|lb|v|vt|vb|t").examples(&["unrar l a.rar"], &["unrar x a.rar"]),
    spec("ar", "")
        .raw(lists_members)
        .examples(&["ar t lib.a", "ar tv lib.a"], &["ar rcs lib.a x.o", "ar x lib.a", "ar t lib.a --plugin x"]),
    spec("cpio", "-t -i -v -n --list --extract --verbose --numeric-uid-gid --quiet -F: --file:")
        .asking(lists_cpio)
        .examples(&["cpio -itv"], &["cpio -i", "cpio -idv", "cpio -t -F host:f"]),
    spec("jar", "").raw(lists_jar).examples(
        &["jar tf a.jar", "jar -tf a.jar", "jar tvf a.jar"],
        &["jar xf a.jar", "jar cf a.jar b", "jar tf a.jar -J-javaagent:x"],
    ),
    spec(
        "javap",
        "= -c -l -p -s -v -verbose -private -public -protected -package -sysinfo -constants -cp: -classpath: \
         --class-path: -version --multi-release: -m: --module:",
    )
    .examples(&["javap -c -p Foo.class"], &["javap -J-javaagent:x Foo"]),
    spec("qemu-img", "-f: --output: --backing-chain -U")
        .sub("info|check|compare|measure|map")
        .asking(repairs_nothing)
        .examples(
            &["qemu-img info d.qcow2"],
            &["qemu-img check -r all d", "qemu-img create d 1G", "qemu-img info json:x"],
        ),
    spec("pdfinfo", "-f: -l: -box -meta -rawdates")
        .operands(Operands::AtMost(1))
        .examples(&["pdfinfo a.pdf"], &["pdfinfo --x a.pdf"]),
];

/// Refuses `@file`, which reads options from a file. One of these options loads code.
fn no_list_of_options(options: &crate::options::Options<'_>) -> Result<(), String> {
    let list = options.operands.iter().any(|operand| operand.text().starts_with('@'));
    if list { Err("options from a file".into()) } else { Ok(()) }
}

/// Refuses `less +command`, which runs a command of the pager.
fn no_plus(options: &crate::options::Options<'_>) -> Result<(), String> {
    let runs = options.operands.iter().chain(&options.values).any(|operand| operand.text().starts_with('+'));
    if runs { Err("a `+` runs a command of the pager".into()) } else { Ok(()) }
}

/// Accepts plain file names. `identify '|program'` runs a program, and `identify ephemeral:file` removes the file.
fn plain_files(options: &crate::options::Options<'_>) -> Result<(), String> {
    let named = options.operands.iter().map(|arg| arg.text()).chain(options.value("-i"));
    let odd = named.into_iter().any(|name| name.contains(['|', ':', '@']) || name.has_unknown());
    if odd { Err("a file name that says how to read it".into()) } else { Ok(()) }
}

fn lists_archive(options: &crate::options::Options<'_>) -> Result<(), String> {
    let remote = options.values.iter().any(|value| may_be_remote(value));
    if options.has("-t --list -tf -tvf -tzf -tzvf -tjf") && !remote {
        Ok(())
    } else {
        Err("it does not only list".into())
    }
}

/// Returns true for an option after the old bundle of letters that only selects members.
fn chooses(word: &str) -> bool {
    matches!(word, "--wildcards" | "--no-wildcards" | "--no-anchored" | "--anchored")
        || ["--exclude=", "--strip-components="].iter().any(|start| word.starts_with(start))
}

/// Returns true for a word that may be `host:file`, which a remote shell would fetch. An unknown word counts unless it
/// starts with `/` or `.`.
fn may_be_remote(word: &Word) -> bool {
    let local = word.text().starts_with(['/', '.']);
    word.text().contains(':') || (word.is_wild() && !local)
}

/// Accepts a listing in the old style of `tar`, where the first word is a bundle of letters without a dash.
fn lists_archive_old(rest: &[Word]) -> Result<(), String> {
    match rest.split_first() {
        Some((letters, rest))
            if letters.is_exact()
                && (letters.text().contains('t') || (letters.text().contains('x') && letters.text().contains('O')))
                && letters.text().bytes().all(|letter| b"tvzjJfaxO".contains(&letter))
                && !rest.iter().any(|word| {
                    (word.text().starts_with('-') && !chooses(word.text()))
                        || may_be_remote(word)
                        || word.may_be_option()
                }) =>
        {
            Ok(())
        }
        _ => Err("it does not only list".into()),
    }
}

/// Requires `-` after the document. Without it, the program writes a file next to the document.
fn prints_text(options: &crate::options::Options<'_>) -> Result<(), String> {
    match options.operands.as_slice() {
        [_, target] if target.is_written() && target.text() == "-" => Ok(()),
        _ => Err("it writes a file".into()),
    }
}

/// Accepts `ar t archive members`.
fn lists_members(rest: &[crate::word::Word]) -> Result<(), String> {
    match rest.split_first() {
        Some((letters, rest))
            if letters.is_exact()
                && letters.text().trim_start_matches('-').starts_with('t')
                && letters.text().trim_start_matches('-').bytes().all(|letter| b"tvO".contains(&letter))
                && !rest.iter().any(|word| word.text().starts_with(['-', '@']) || word.may_be_option()) =>
        {
            Ok(())
        }
        _ => Err("it does not only list".into()),
    }
}

/// Accepts `jar tf archive members`.
fn lists_jar(rest: &[crate::word::Word]) -> Result<(), String> {
    match rest.split_first() {
        Some((letters, rest))
            if letters.is_exact()
                && letters.text().trim_start_matches('-').starts_with('t')
                && letters.text().trim_start_matches('-').bytes().all(|letter| b"tvf".contains(&letter))
                && !rest.iter().any(|word| word.text().starts_with(['-', '@']) || word.may_be_option()) =>
        {
            Ok(())
        }
        _ => Err("it does not only list".into()),
    }
}

fn lists_cpio(options: &crate::options::Options<'_>) -> Result<(), String> {
    let remote = options.values.iter().any(|value| value.text().contains(':'));
    if options.has("-t --list") && !remote { Ok(()) } else { Err("it does not only list".into()) }
}

/// Refuses a name with a colon, which says how to open the file.
fn repairs_nothing(options: &crate::options::Options<'_>) -> Result<(), String> {
    let odd = options.operands.iter().any(|operand| operand.text().contains(':') || operand.text().starts_with('{'));
    if odd { Err("a name that says how to open it".into()) } else { Ok(()) }
}

/// Accepts printing the members of an archive, which writes no file.
fn prints_members(options: &crate::options::Options<'_>) -> Result<(), String> {
    let remote = options.values.iter().any(|value| value.text().contains(':'));
    if options.has("-x --extract --get") && options.has("-O --to-stdout") && !remote {
        Ok(())
    } else {
        Err("it unpacks into files".into())
    }
}

/// Requires output to the standard output.
fn to_stdout(options: &crate::options::Options<'_>) -> Result<(), String> {
    if options.has("-c --stdout --to-stdout") { Ok(()) } else { Err("it packs or unpacks files".into()) }
}

fn has_listing(options: &crate::options::Options<'_>) -> Result<(), String> {
    if options.has("-l -v -t -Z -Z1 -p -c") { Ok(()) } else { Err("it does not only list".into()) }
}
