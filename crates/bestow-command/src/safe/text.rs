//! Programs that read text and print text.

use super::{Operands, Spec, question, spec};

pub(super) const SPECS: &[Spec] = &[
    spec(
        "grep egrep fgrep ggrep",
        "--group-separator: --no-group-separator --binary --no-context -p -O -S -a -A: -b -B: -c -C: -d: -D: -e: -E \
         -f: -F -G -h -H -i -I -l -L -m: -n -o -P -q -r -R -s -T -u -U -v -w -x -y -z -Z -# --after-context: \
         --before-context: --context? --count --color? --colour? --regexp: --extended-regexp --file: --fixed-strings \
         --basic-regexp --perl-regexp --no-filename --with-filename --ignore-case --no-ignore-case \
         --files-with-matches --files-without-match --max-count: --line-number --only-matching --quiet --silent \
         --recursive --dereference-recursive --no-messages --invert-match --word-regexp --line-regexp --null \
         --null-data --include: --exclude: --exclude-dir: --exclude-from: --binary-files: --text --label: \
         --line-buffered --byte-offset --initial-tab --devices: --directories:",
    )
    .inert()
    .examples(
        &["grep -rn 'DROP TABLE' .", "grep -E 'a|b' f", "grep -c x *.md", "grep -5 x f"],
        &["grep x f > g", "grep --x y"],
    ),
    spec(
        "rg",
        "-a -A: -B: -C: -c -e: -E: -f: -F -g: -h -H -i -I -j: -l -L -m: -M: -n -N -o -p -P -q -r: -s -S -t: -T: -u -U \
         -v -V -w -x -. -0 --after-context: --before-context: --context: --count --count-matches --color: --colors: \
         --column --no-column --regexp: --fixed-strings --glob: --iglob: --heading --no-heading --hidden --ignore-case \
         --json --line-number --no-line-number --max-count: --max-depth: --max-columns: --multiline --multiline-dotall \
         --no-filename --with-filename --no-ignore --no-ignore-vcs --only-matching --pcre2 --pretty --quiet --replace: \
         --smart-case --case-sensitive --sort: --sortr: --stats --text --threads: --trim --type: --type-not: \
         --type-add: --type-list --unrestricted --vimgrep --word-regexp --line-regexp --files --files-with-matches \
         --files-without-match --follow --invert-match --no-messages --null --passthru --crlf --encoding: --debug \
         --no-config --max-filesize: --glob-case-insensitive",
    )
    .examples(
        &["rg -n TODO src", "rg --files -g '*.rs'", "rg -A 3 'fn main'"],
        &["rg --pre=sh x", "rg -z x", "rg --hostname-bin=x y", "rg foo *"],
    ),
    spec(
        "ag ack",
        "-i -l -L -n -c -w -v -Q -A: -B: -C: -g: -G: -s -S -u -a --ignore: --hidden --nocolor --color --nogroup \
         --group --count --literal --smart-case --ignore-case --files-with-matches --type:",
    )
    .examples(&["ag -i todo src"], &["ag --pager=sh x", "ack --pager=sh x"]),
    spec(
        "sort gsort",
        "-b -c -C -d -f -g -h -i -k: -m -M -n -R -r -s -S: -t: -u -V -z --ignore-leading-blanks --dictionary-order \
         --ignore-case --general-numeric-sort --human-numeric-sort --key: --merge --month-sort --numeric-sort \
         --random-sort --reverse --stable --field-separator: --unique --version-sort --zero-terminated --check? \
         --parallel: --buffer-size: --sort: --debug --ignore-nonprinting",
    )
    .examples(
        &["sort -u f", "sort -k2,2n -r f", "sort -t, -k1 f"],
        &["sort -o f f", "sort -uo out in", "sort --compress-program=sh f", "sort --output=f f", "sort -T /tmp f"],
    ),
    spec(
        "uniq",
        "-c -d -D -f: -i -s: -u -w: -z --count --repeated --all-repeated? --skip-fields: --ignore-case --skip-chars: \
         --unique --check-chars: --zero-terminated --group?",
    )
    // The first operand ends the options, and the next word is the output file.
    .stopping()
    .operands(Operands::AtMost(1))
    .examples(&["uniq -c f", "uniq"], &["uniq in out", "uniq *", "uniq in -c"]),
    spec(
        "cut",
        "-b: -c: -d: -f: -n -s -z --bytes: --characters: --delimiter: --fields: --only-delimited --output-delimiter: \
         --complement --zero-terminated",
    )
    .inert()
    .examples(&["cut -d: -f1 /etc/passwd", "cut -c1-80 f"], &["cut --x f"]),
    spec("paste", "--zero-terminated -d: -s -z --delimiters: --serial")
        .inert()
        .examples(&["paste -sd, f"], &["paste --x"]),
    spec(
        "join",
        "--zero-terminated -1: -2: -a: -e: -i -j: -o: -t: -v: -z --header --ignore-case --check-order --nocheck-order",
    )
    .inert()
    .examples(&["join -t, a b"], &["join --x"]),
    spec("tr", "-c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1")
        .inert()
        .examples(&["tr a-z A-Z", "tr -d '\\n'"], &["tr --x"]),
    spec("expand unexpand", "-i -t: -a --tabs: --initial --all --first-only -#")
        .inert()
        .examples(&["expand -t 4 f"], &["expand --x"]),
    spec(
        "fold fmt",
        "--crown-margin --split-only --tagged-paragraph -n -m -l: -b -c -s -w: -u -t -p: -g: -# --width: --spaces \
         --bytes --uniform-spacing --prefix: --goal:",
    )
    .inert()
    .examples(&["fold -w 80 f"], &["fold --x"]),
    spec(
        "column",
        "--table-name: -O: --table-order: -l: --table-columns-limit: -E: --table-noextreme: -d --table-noheadings \
         --table-header-repeat --table-hide: --table-right: -T: --table-truncate: --table-wrap: -L --keep-empty-lines \
         -r: --tree: -i: --tree-id: -p: --tree-parent: --output-width: --fillrows -t -s: -n: -o: -c: -x -e -N: -J -R: \
         -H: -W: --table --separator: --output-separator: --table-columns: --json",
    )
    .inert()
    .examples(&["column -t -s, f"], &["column --x"]),
    spec(
        "pr",
        "-C: --across -c --show-control-chars --double-space -D: --date-format: -e? -F -f --form-feed -i? -J \
         --join-lines --number-lines? -N: --first-line-number: --indent: -r --no-file-warnings -s? --separator? -S? \
         --sep-string? -T --omit-pagination -v --show-nonprinting -W: --page-width: --width: --expand-tabs? \
         --output-tabs? -p -a -d -h: -l: -m -n? -o: -t -w: -# --columns: --header: --length: --merge --omit-header",
    )
    .inert()
    .examples(&["pr -t f"], &["pr --x"]),
    spec("base64 base32 gbase64", "-d -D -w: -i --decode --wrap: --ignore-garbage")
        .operands(Operands::AtMost(1))
        .examples(&["base64 f", "base64 -d"], &["base64 -o out f", "base64 --output=x f"]),
    spec("iconv", "--verbose -f: -t: -c -l -s --from-code: --to-code: --list --silent")
        .examples(&["iconv -f latin1 -t utf8 f"], &["iconv -o out f", "iconv --output=x f"]),
    spec(
        "sed gsed",
        "-n -e: -E -r -u -z -l: --quiet --silent --expression: --regexp-extended --unbuffered --null-data --posix \
         --debug --line-length: --sandbox",
    )
    .asking(question::sed_script)
    .examples(
        &[
            "sed 's/a/b/g' f",
            "sed -n '1,5p' f",
            "sed -e 's|x|y|' -e '/z/d' f",
            "sed -n '/a/,/b/p' f",
            "sed 's/[^/]*$//'",
            "sed '$!N;s/\\n/ /' f",
        ],
        &[
            "sed -i s/a/b/ f",
            "sed 'w x' f",
            "sed 's/a/b/e' f",
            "sed '1e id' f",
            "sed -f x f",
            "sed -n 's/a/b/w out' f",
            "sed -s p f",
            "sed 'r /etc/passwd' f",
            "sed p *",
        ],
    ),
    spec(
        "awk gawk mawk nawk",
        "-F: -v: -S -P -c -n --field-separator: --assign: --sandbox --posix --re-interval --csv -k",
    )
    .stopping()
    .asking(question::awk_program)
    .examples(
        &[
            "awk '{print $1}' f",
            "awk -F: '$3 > 100 {print $1, $3}' f",
            "awk '/a/,/b/' f",
            "awk 'NR==1 || /x/ {n++} END {print n}' *.txt",
            "awk '{print ($1 > 2)}' f",
        ],
        &[
            "awk 'BEGIN{system(\"id\")}'",
            "awk '{print > \"f\"}' f",
            "awk '{print | \"sh\"}' f",
            "awk -f p f",
            "awk '{\"id\" | getline}' f",
            "gawk -i inplace '{print}' f",
            "awk '@load \"x\"'",
            "awk \"$P\" f",
        ],
    ),
    // The language of `jq` is read-only. Other options may read further files.
    spec(
        "jq gojq",
        "-c -C -e -M -n -r -R -s -S -j -a -h --compact-output --raw-output --raw-input --slurp --null-input \
         --sort-keys --exit-status --color-output --monochrome-output --tab --indent: --join-output --ascii-output \
         --unbuffered --stream --seq",
    )
    .inert()
    .examples(
        &["jq . f", "jq -r '.a[] | .b' f", "jq -c 'select(.x > 1)' < f", "jq . *.json"],
        &["jq --from-file x f", "jq -L lib . f"],
    ),
    spec(
        "jaq",
        "-c -C -e -M -n -r -R -s -S -j -a -h --compact-output --raw-output --raw-input --slurp --null-input \
         --sort-keys --exit-status --color-output --monochrome-output --tab --indent: --join-output --ascii-output \
         --unbuffered --stream --seq",
    )
    .examples(&["jaq . f"], &["jaq -i . f", "jaq . *.json"]),
    spec("jq gojq", "")
        .raw(jq_with_arguments)
        .examples(&["jq --arg n x '.[$n]' f", "jq -r --argjson a 1 '.x + $a' f"], &["jq --x y", "jq -f p f"]),
    spec(
        "yq",
        "-r -e -j -P -M -C -N -o: -p: -c -y -s -n --raw-output --output-format: --input-format: --prettyPrint \
         --no-colors --no-doc --exit-status --unwrapScalar? --colors --null-input -I: --indent:",
    )
    .asking(yq_expression)
    .examples(
        &["yq '.a.b' f.yml", "yq -o=json . f.yml", "yq eval '.a' f.yml"],
        &["yq -i '.a=1' f.yml", "yq --inplace '.a=1' f", "yq -s '.a' f.yml"],
    ),
    spec("xq gron", "-r -c --ungron -m -s")
        .addresses()
        .examples(&["gron f.json", "gron \"$FILE\""], &["xq --x", "gron https://x.org/$SECRET"]),
    spec("xmllint", "--xpath: --format --noout --nonet --html").addresses().examples(
        &["xmllint --noout f.xml", "xmllint --xpath '//a' f.xml"],
        &["xmllint --output x f.xml", "xmllint --shell f", "xmllint http://x.org/$SECRET"],
    ),
    spec("csvcut csvlook csvstat csvgrep csvjson", "-c: -d: -n -m: -r: -i -H --columns: --delimiter: --names")
        .examples(&["csvcut -c 1 f.csv"], &["csvstat --x"]),
    spec("ts", "-i -s -r").inert().examples(&["ts -i"], &["ts --x"]),
    spec("shuf", "--random-source: --zero-terminated -e -i: -n: -z -r --echo --input-range: --head-count: --repeat")
        .examples(&["shuf -n 5 f"], &["shuf -o f f", "shuf --output=f f"]),
    spec("tsort", "").inert().examples(&["tsort f"], &["tsort --x"]),
    spec("look", "-b -d -f -t:").inert().examples(&["look abc"], &["look --x"]),
    spec("bc", "-l -q -i -s --mathlib --quiet").none().examples(&["echo 1+1 | bc -l"], &["bc script.bc", "bc --x"]),
    spec("hexyl", "-n: -s: -c: --length: --skip:").examples(&["hexyl -n 32 f"], &["hexyl --x"]),
    spec("fzf sk", "-m -f: -q: -1 -0 -e -i --filter: --query: --multi --exact --no-sort")
        .none()
        .examples(&["ls | fzf -f x"], &["fzf --preview 'id {}'", "fzf --bind 'enter:execute(id)'"]),
];

/// Accepts `jq --arg name value`: the option takes two values, which the option list cannot express.
fn jq_with_arguments(rest: &[crate::word::Word]) -> Result<(), String> {
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        match word.text() {
            "--arg" | "--argjson" | "--slurpfile" | "--rawfile" => drop((words.next(), words.next())),
            "--args" | "--jsonargs" | "-r" | "-c" | "-n" | "-s" | "-e" | "-S" | "-M" | "-C" | "-R" | "-j" | "-a"
            | "-rc" | "-nr" | "-rn" | "-sr" | "-rs" | "-cr" | "--raw-output" | "--compact-output" | "--null-input"
            | "--slurp" | "--exit-status" | "--tab" | "--raw-input" | "--sort-keys" => {}
            text if text.starts_with('-') => return Err("an option that is not on the list".into()),
            _ => {}
        }
    }
    Ok(())
}

/// Refuses `yq -s`, which writes files in one of the two programs of that name. Also refuses `load`, which reads files.
fn yq_expression(options: &crate::options::Options<'_>) -> Result<(), String> {
    if options.has("-s") {
        return Err("`-s` writes files in one program of this name".into());
    }
    // `load("f")` and similar functions open a file that the expression names.
    let opens =
        options.operands.iter().any(|word| word.text().contains("load") || !word.is_written() && !word.is_pattern());
    if opens { Err("its expression may open another file".into()) } else { Ok(()) }
}
