//! Programs that look at files and directories.

use super::{Operands, Spec, question, spec};
use crate::command::walk::Arg;

pub(super) const SPECS: &[Spec] = &[
    spec("ls gls dir vdir", "-a -A -b -B -c -C -d -D -f -F -g -G -h -H -i -I: -k -l -L -m -n -N -o -p -q -Q -r -R -s -S -t -T -u -U -v -w: -x -X -Z -1 -@ -e -O \
        --all --almost-all --author --block-size: --color? --directory --classify? --file-type --format: --full-time --group-directories-first \
        --hide: --human-readable --hyperlink? --ignore: --indicator-style: --inode --no-group --numeric-uid-gid --quoting-style: --recursive --reverse \
        --size --sort: --time: --time-style: --width: --si --dereference --literal --show-control-chars")
        .inert()
        .examples(&["ls -la", "ls --color=auto src", "ls *.rs", "/bin/ls"], &["ls > f", "./ls", "ls --x"]),
    spec("exa eza lsd", "-1 -a -A -l -h -t -T -R -r -d -F -g -G -i -s: -L: -D -f --tree --long --all --level: --git --icons? --color? --sort: --header --depth: --oneline --git-ignore --group-directories-first")
        .inert()
        .examples(&["eza -la --git", "exa --tree --level=2"], &["eza --x"]),
    spec("tree", "-a -d -f -i -l -x -L: -P: -I: -h -s -D -u -g -p -F -r -t -C -n -J -X -A -S --noreport --dirsfirst --gitignore --prune --filelimit: --du --si --charset: --matchdirs --ignore-case --sort: --fromfile")
        .examples(&["tree -L 2", "tree -a -I node_modules"], &["tree -o out.txt", "tree -R -H x"]),
    spec("cat gcat", "-A -b -e -E -n -s -t -T -u -v --number --number-nonblank --show-all --show-ends --show-tabs --squeeze-blank --show-nonprinting")
        .inert()
        .examples(&["cat f", "cat -n a b", "/usr/bin/cat f"], &["cat f > g", "/tmp/cat f"]),
    spec("tac rev", "-b -r -s: --before --regex --separator:").inert().examples(&["tac f", "rev f"], &["tac --x"]),
    spec("bat batcat", "-n -p -pp -A -l: -r: -H: --plain --number --language: --line-range: --style: --color: --theme: --paging:never|auto --wrap: --show-all --decorations: --tabs: --list-languages --list-themes --highlight-line: -P")
        .examples(&["bat -n f", "bat --paging=never src/lib.rs"], &["bat --pager=sh f", "bat cache --build --x"]),
    spec("head", "-n: -c: -q -v -z -# --lines: --bytes: --quiet --silent --verbose --zero-terminated").inert().examples(&["head -20 f", "head -n 5 f"], &["head --x f"]),
    spec("tail", "-n: -c: -f -F -q -v -r -z -s: -# --lines: --bytes: --follow? --retry --pid: --quiet --silent --verbose --sleep-interval: --zero-terminated --max-unchanged-stats:")
        .inert()
        .examples(&["tail -f log", "tail -n +2 f", "tail -100 f"], &["tail --x f"]),
    spec("less more", "-N -S -R -r -F -X -i -I -n -s -e -E -M -m -# --LINE-NUMBERS --chop-long-lines --RAW-CONTROL-CHARS --quit-if-one-screen --no-init")
        .asking(no_plus)
        .examples(&["less f", "less -R log"], &["less +!sh f", "less -o out f", "less --lesskey-file=x f"]),
    spec("wc", "-c -l -L -m -w --bytes --chars --lines --words --max-line-length --files0-from: --total:").inert().examples(&["wc -l f", "wc *.py"], &["wc --x"]),
    spec("stat gstat", "-c: -f -L -t -s -x -r -l -n -q -F --format: --file-system --dereference --printf: --terse --cached:")
        .inert()
        .examples(&["stat f", "stat -c '%s %n' *.rs", "stat -f %z f"], &["stat --x f"]),
    spec("file", "-b -i -I -L -h -k -n -N -r -s -z -p -F: --brief --mime --mime-type --mime-encoding --dereference --no-pad --extension --exclude:")
        .examples(&["file -b f", "file --mime-type f"], &["file -C -m x", "file -f names", "file -m magic f"]),
    spec("du", "-a -A -b -B: -c -D -d: -g -h -H -I: -k -l -L -m -P -s -S -t: -x -X: -0 --all --apparent-size --block-size: --bytes --total --max-depth: --human-readable --exclude: --summarize --one-file-system --separate-dirs --si --threshold: --time? --inodes")
        .inert()
        .examples(&["du -sh .", "du -h --max-depth=1", "du -sh *"], &["du --x"]),
    spec("df", "-a -B: -h -H -i -k -l -m -P -t: -T -x: -g --all --human-readable --inodes --local --print-type --type: --total --output? --block-size: --portability --exclude-type:")
        .inert()
        .examples(&["df -h /", "df -hT"], &["df --x"]),
    spec("dust duf", "-d: -r -s -b -n: -x -h -all -only:").examples(&["dust -d 2", "duf"], &["dust --x"]),
    spec("find gfind", "").raw(question::find_expression).examples(
        &["find . -name x", "find . -type f -size +10M -print0", "find . \\( -name a -o -name b \\) -prune", "find src -printf '%p\\n'"],
        &["find . -delete", "find . -exec rm {} +", "find . -fprintf f x", "find . -ok rm {} \\;", "find . -fls f"],
    ),
    spec("fd fdfind", "-H -I -u -s -i -g -F -a -l -L -p -0 -1 -q -t: -e: -E: -d: -S: -c: -j: --hidden --no-ignore --unrestricted --case-sensitive --ignore-case --glob --fixed-strings --absolute-path --list-details --follow --full-path --print0 --max-depth: --min-depth: --exact-depth: --type: --extension: --exclude: --size: --changed-within: --changed-before: --color: --max-results: --quiet --max-one-result --no-ignore-vcs --regex --strip-cwd-prefix")
        .examples(&["fd -e rs", "fd --type f main src"], &["fd -x rm", "fd --exec-batch rm"]),
    spec("locate mlocate plocate", "-i -c -l: -n: -b -r: -e -w -0 --ignore-case --count --limit: --basename --regex --existing").examples(&["locate -i x"], &["locate --x"]),
    spec("cmp", "-b -i: -l -n: -s -x --print-bytes --ignore-initial: --verbose --bytes: --quiet --silent").inert().examples(&["cmp a b"], &["cmp --x a b"]),
    spec("diff gdiff colordiff", "-a -b -B -c -C: -d -e -E -H -i -I: -n -N -p -q -r -s -S: -t -T -u -U: -w -W: -x: -X: -y -Z -# --brief --color? --unified? --context? --side-by-side --width: --recursive --new-file --ignore-all-space --ignore-space-change --ignore-blank-lines --ignore-case --text --exclude: --report-identical-files --suppress-common-lines --left-column --strip-trailing-cr --minimal --no-dereference --label: --from-file: --to-file: --speed-large-files --ignore-matching-lines: --show-c-function --normal --ed --rcs --expand-tabs --exclude-from: --starting-file:")
        .examples(&["diff -u a b", "diff -rq a b", "diff <(ls a) <(ls b)"], &["diff -l a b", "diff --x a b"]),
    spec("comm", "-1 -2 -3 -i -z --check-order --nocheck-order --output-delimiter: --total --zero-terminated").inert().examples(&["comm -12 a b"], &["comm --x"]),
    spec("strings", "-a -f -n: -t: -e: -o -# --all --bytes: --radix: --encoding: --print-file-name").inert().examples(&["strings -n 8 f"], &["strings --x"]),
    spec("od hexdump hd", "-A: -b -c -C -d -j: -N: -n: -s: -o -x -t: -v -w? -e: -i -a --format: --address-radix: --skip-bytes: --read-bytes: --output-duplicates --endian: --canonical --length: --skip:")
        .inert()
        .examples(&["od -c f", "hexdump -C f"], &["od --x"]),
    spec("xxd", "= -a -b -c: -C -d -e -g: -i -l: -n: -o: -p -ps -s: -u -E -r").operands(Operands::AtMost(1)).examples(&["xxd -l 16 f", "xxd -r -p"], &["xxd -r in out", "xxd in out"]),
    spec("zcat bzcat xzcat lzcat gzcat", "-f -q -v --quiet").inert().examples(&["zcat f.gz"], &["zcat --x"]),
    spec("zstdcat", "-f -q -v --quiet").examples(&["zstdcat f.zst"], &["zstdcat -o out f.zst", "zstdcat \"$(cat f)\""]),
    spec("zless zmore", "").asking(no_plus).examples(&["zless f.gz"], &["zless '+!id' f.gz"]),
    spec("nl", "-b: -d: -f: -h: -i: -l: -n: -p -s: -v: -w: --body-numbering: --number-format: --number-separator: --number-width: --starting-line-number:")
        .inert()
        .examples(&["nl -ba f"], &["nl --x"]),
    spec("tee", "-a -i -p --append --ignore-interrupts").asking(question::writes_nothing).examples(&["ls | tee /dev/stderr"], &["tee f", "tee -a ~/.bashrc"]),
    spec("tar gtar bsdtar", "-t -f: -v -z -j -J -Z -a -tf: -tvf: -tzf: -tzvf: -tjf: --list --file: --verbose --gzip --bzip2 --xz --zstd --strip-components: --wildcards --exclude: -C:")
        .asking(lists_archive)
        .examples(&["tar -tf a.tar", "tar --list -f a.tgz", "tar -tzvf a.tgz"], &["tar -xf a.tar", "tar tf a --to-command=sh", "tar --checkpoint-action=exec=sh -cf a b"]),
    spec("tar gtar bsdtar", "").raw(lists_archive_old).examples(&["tar tf a.tar", "tar tzvf a.tgz"], &["tar xf a.tar", "tar tf a --use-compress-program=x"]),
    spec("unzip", "-l -v -t -Z -q -Z1").asking(has_listing).examples(&["unzip -l a.zip", "unzip -t a.zip"], &["unzip a.zip", "unzip -o a.zip"]),
    spec("zipinfo", "-1 -s -m -l -v -h -t").inert().examples(&["zipinfo a.zip"], &["zipinfo --x"]),
    spec("lsattr getfacl getfattr", "-a -d -R -l -v -p -c -e -n: -m: --absolute-names --recursive --omit-header").inert().examples(&["lsattr f", "getfacl f"], &["getfacl --x f"]),
    spec("nm objdump readelf otool size", "-a -A -C -d -D -e -f -g -h -l -n -p -r -s -S -t -T -u -W -x -V -R --demangle --dynamic --syms --headers --sections --symbols --disassemble -L -M:")
        .asking(no_list_of_options)
        .examples(&["nm -D f", "readelf -h f", "objdump -d f"], &["objdump --x f", "nm --plugin ./x.so f", "nm @options"]),
    spec("tokei cloc scc", "= -t: -e: -s: -f -C --files --exclude: --sort: --by-file --exclude-dir: --include-lang: --vcs:git|svn|auto --no-cocomo").examples(&["tokei src", "cloc --vcs=git ."], &["cloc --out=f .", "cloc --vcs=./x ."]),
    spec("zgrep zegrep zfgrep bzgrep xzgrep", "-i -n -c -l -v -E -F -o -h -H -w -A: -B: -C: -e: -q -s").examples(&["zgrep -i err log.gz"], &["zgrep --x"]),
    spec("exiftool identify ffprobe mediainfo", "= -v -hide_banner -show_format -show_streams -print_format: -of: -i: -show_entries: -select_streams: -json -j -s -G -a")
        .asking(plain_files)
        .examples(&["ffprobe -hide_banner f.mp4"], &["exiftool -Artist=me f.jpg"]),
    spec("pdfinfo", "-f: -l: -box -meta -rawdates").operands(Operands::AtMost(1)).examples(&["pdfinfo a.pdf"], &["pdfinfo --x a.pdf"]),
];

/// `@file` stands for the options in a file, and one of them loads code.
fn no_list_of_options(options: &crate::command::options::Options<'_>) -> Result<(), String> {
    let list = options.operands.iter().any(|operand| operand.text.starts_with('@'));
    if list { Err("options from a file".into()) } else { Ok(()) }
}

/// `less +command` runs a command of the pager.
fn no_plus(options: &crate::command::options::Options<'_>) -> Result<(), String> {
    let runs = options.operands.iter().any(|operand| operand.text.starts_with('+'));
    if runs { Err("a `+` runs a command of the pager".into()) } else { Ok(()) }
}

/// `identify '|program'` runs a program, `identify ephemeral:file` removes the file.
fn plain_files(options: &crate::command::options::Options<'_>) -> Result<(), String> {
    let named = options.operands.iter().map(|operand| operand.text.as_str()).chain(options.value("-i"));
    let odd = named.into_iter().any(|name| name.contains(['|', ':', '@', '\0', '\u{2}']));
    if odd { Err("a file name that says how to read it".into()) } else { Ok(()) }
}

fn lists_archive(options: &crate::command::options::Options<'_>) -> Result<(), String> {
    let remote = options.values.iter().any(|value| may_be_remote(value));
    if options.has("-t --list -tf -tvf -tzf -tzvf -tjf") && !remote {
        Ok(())
    } else {
        Err("it does not only list".into())
    }
}

/// `host:file` is fetched through a remote shell, unless a slash stands before the colon.
fn may_be_remote(word: &Arg) -> bool {
    let local = word.text.starts_with(['/', '.']);
    word.text.contains(':') || (word.is_wild() && !local)
}

/// The old style: the first word is a bundle of letters without a dash.
fn lists_archive_old(rest: &[Arg]) -> Result<(), String> {
    match rest.split_first() {
        Some((letters, rest))
            if letters.is_exact()
                && letters.text.contains('t')
                && letters.text.bytes().all(|letter| b"tvzjJfa".contains(&letter))
                && !rest
                    .iter()
                    .any(|word| word.text.starts_with('-') || may_be_remote(word) || word.may_be_option()) =>
        {
            Ok(())
        }
        _ => Err("it does not only list".into()),
    }
}

fn has_listing(options: &crate::command::options::Options<'_>) -> Result<(), String> {
    if options.has("-l -v -t -Z -Z1") { Ok(()) } else { Err("it does not only list".into()) }
}
