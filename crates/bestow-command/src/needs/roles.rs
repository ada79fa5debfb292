//! Known programs and their use of the files that their words name.

mod git;
pub(crate) mod selection;
mod words;

use std::sync::Arc;

use smol_str::{SmolStr, format_smolstr};

use crate::needs::operand::path;
use crate::needs::roles::words::{Given, Text, Valued, Words};
use crate::{
    evaluator,
    few::Few,
    lang::{find, sed},
    needs::{
        directories, network,
        operand::{Operand, around_pattern, as_written, exact},
        roles::words::{copied, everything_if, is_short_for},
    },
    options::{List, is_listed, list},
    programs::{self, AllWords, Here, Program, Reads, Role, Selects},
    values::{Access, Below, Selection, base_name, paths_in_file_url},
    word::{Gaps, Word},
};

/// Returns true if the program reads further options from its input. The files that these options name are unknown.
pub(super) fn is_told_by_input(name: &str, rest: &[Word]) -> bool {
    name == "curl" && curl_is_told_by_input(rest)
}

fn curl_is_told_by_input(rest: &[Word]) -> bool {
    let may_tell = |arg: &Word| arg.text().contains('K') || arg.text().starts_with("--c");
    rest.iter().any(may_tell) && {
        let words = Words::read(rest, CURL);
        words.values_of(list!("-K --config")).any(|value| evaluator::is_input(value.arg().text()))
    }
}

/// Returns true if the roles describe the use that `name` makes of its words.
pub(crate) fn knows(name: &str, known: &Program) -> bool {
    role_of(known).is_some() || matches!(name, "dd" | "curl" | "wget" | "tar" | "bsdtar" | "find" | "gfind" | "date")
}

/// Returns true if `name` runs a program of its own language that may open files.
pub(super) fn runs_a_script(name: &str) -> bool {
    matches!(name, "awk" | "gawk" | "mawk" | "perl" | "sed" | "yq" | "jq")
}

/// Returns true if a use of the program, proven or not, writes none of the files that its words may name, besides those
/// that it is known to write.
pub(super) fn names_all_writes(name: &str, rest: &[Word]) -> bool {
    name == "git" && git::names_all_writes(rest)
}

/// Returns true if the program reads the content of its operands.
pub(super) fn reads_operands(known: &Program) -> bool {
    matches!(role_of(known), Some(Role::Reads | Role::Searches | Role::Compares | Role::Copies | Role::Moves))
}

/// Returns true if the program is known to show no content of the files that its operands name.
pub(super) fn opens_nothing(known: &Program) -> bool {
    let lists = matches!(role_of(known), Some(Role::Lists | Role::Writes | Role::Makes | Role::Changes));
    lists || known.only_says || known.opens_nothing
}

/// Returns true if the program may show files of which nobody knows the names.
pub(super) fn shows_unlisted(name: &str, rest: &[Word]) -> bool {
    name == "git" && git::shows_unlisted(rest)
}

/// Returns the directory to which options certainly lead the program before it resolves any other word.
pub(super) fn certain_directory(name: &str, rest: &[Word]) -> Option<SmolStr> {
    if name == "git" { git::directory_of(rest) } else { None }
}

/// Options with which any program reads the names of further files, from a file or from its input.
const NAME_LISTS: &[&str] = &["--files0-from", "--files-from", "--pathspec-from-file"];

/// Options with which these programs do.
const OWN_NAME_LISTS: &[(&str, &[&str])] = &[
    ("cloc", &["--list-file"]),
    ("exiftool", &["-@"]),
    ("file", &["-f"]),
    ("git", &["--stdin-paths", "--batch", "--batch-command"]),
    ("tar", &["-T"]),
    ("bsdtar", &["-T"]),
    ("zip", &["-@", "--names-stdin"]),
];

/// Returns true if the program reads files whose names a file or its input lists.
pub(super) fn reads_a_list_of_names(name: &str, rest: &[Word]) -> bool {
    let is_named = |option: &str| {
        NAME_LISTS.contains(&option)
            || OWN_NAME_LISTS.iter().any(|(program, options)| *program == name && options.contains(&option))
    };
    // The binutils take further words from a file.
    let has_word_file = name == "strings" && rest.iter().any(|arg| arg.text().starts_with('@'));
    has_word_file
        || rest.iter().filter(|arg| arg.text().starts_with('-')).any(|arg| {
            let text = arg.text();
            is_named(text.split_once('=').map_or(text, |(option, _)| option)) || packs_names(name, text)
        })
}

/// Returns true if the option makes an archive of the files whose names the program reads from its input.
fn packs_names(name: &str, option: &str) -> bool {
    let is_letter = |letters: &[char]| !option.starts_with("--") && option.contains(letters);
    match name {
        "cpio" | "afio" => is_letter(&['o', 'p']) || matches!(option, "--create" | "--pass-through"),
        "pax" => is_letter(&['w']),
        _ => false,
    }
}

/// Returns true if one of these words gives an option and the unknown name of a file to read.
pub(super) fn hide_a_file(name: &str, known: &Program, rest: &[Word]) -> bool {
    let may_hide = |arg: &Word| arg.has_unknown() && arg.text().starts_with('-');
    let mut hiding = rest.iter().filter(|arg| may_hide(arg));
    hiding.any(|arg| hides_a_file(name, known, arg.text()))
}

/// Returns true if an option gives the unknown name of a file to read.
fn hides_a_file(name: &str, known: &Program, option: &str) -> bool {
    if name != "date" && known.only_says || matches!(name, "test" | "[") {
        return false;
    }
    let is_file = |option: &str| ["file", "files", "-from", "-source"].iter().any(|end| option.ends_with(end));
    if option.starts_with("--") {
        return option.split_once('=').is_some_and(|(option, value)| is_file(option) && value.has_unknown());
    }
    // After one of these letters, the rest of the word is another value.
    let has_file = |(before, value): (&str, &str)| {
        !before.contains(['A', 'B', 'C', 'd', 'D', 'e', 'I', 'm']) && value.has_unknown()
    };
    let takes_file = name == "date" || name.ends_with("grep");
    takes_file && option.get(1..).and_then(|letters| letters.split_once('f')).is_some_and(has_file)
}

/// Returns true if `name` reads an operand for which `is_unknown` holds. It covers programs that read operands only in
/// some uses.
pub(super) fn reads_unknown(name: &str, rest: &[Word], is_unknown: impl Fn(&Word) -> bool) -> bool {
    match name {
        "man" => rest.iter().any(is_unknown),
        "date" => {
            let files = |pair: &[Word]| match pair {
                [option, file] => is_date_file(option.text()) && is_unknown(file),
                _ => false,
            };
            rest.windows(2).any(files)
        }
        "git" => git::reads_unknown(rest, is_unknown),
        _ => false,
    }
}

/// Returns true for an option of `date` whose value, in the next word, is a file.
fn is_date_file(text: &str) -> bool {
    let letters = text.strip_prefix('-').filter(|text| !text.starts_with('-'));
    letters.is_some_and(|letters| letters.ends_with(['f', 'r'])) || is_short_for(text, "--file --reference")
}

/// Returns true if some form of the program reads the directory in which it starts, without a word that names it.
pub(super) fn may_read_here(known: &Program) -> bool {
    known.here.is_some() || known.reads.iter().any(|form| form.here.is_some())
}

/// Returns true if the program reads the directory in which it starts, in this form and without a word that names it.
pub(super) fn reads_here(known: &Program, form: &Reads, rest: &[Word]) -> bool {
    match form.here.or(known.here) {
        None => false,
        Some(Here::Always) => true,
        Some(Here::Bare) => {
            let operands = Words::read_operands(rest, Valued::InForm(form.flags)).operands;
            let is_sub = |words: &str| words.split(' ').zip(operands.iter()).all(|(word, given)| word == given.text());
            let sub = form.subcommands.iter().filter(|words| is_sub(words)).map(|words| words.split(' ').count()).max();
            operands.len() <= sub.unwrap_or_default()
        }
    }
}

fn role_of(known: &Program) -> Option<Role> {
    known.files.as_ref()?.role
}

/// Returns the files that `name` reads and writes with these words. `reads_only` is true if the program is proven to
/// write none of them. `form` is the form that was proven, if one was.
pub(super) fn of(
    name: &str,
    known: &Program,
    rest: &[Word],
    reads_only: bool,
    form: Option<&'static Reads>,
) -> Few<Operand> {
    let mut named: Few<Operand> = match name {
        "dd" => dd(rest).into(),
        "docker" | "podman" | "nerdctl" => mounted(rest).into(),
        "curl" => curl(known, rest).into(),
        "wget" => wget(known, rest).into(),
        "tar" | "bsdtar" => tar(rest).into(),
        "find" | "gfind" => searched_by_find(rest).into(),
        "date" => date(rest).into(),
        "git" => git::named(rest).into(),
        "test" | "[" => tested(rest),
        _ => by_role(name, known, rest, reads_only, form),
    };
    named.extend(opened_instead(name, rest));
    named
}

/// Returns the files whose entries `test` looks at.
fn tested(rest: &[Word]) -> Few<Operand> {
    let asks = |arg: &Word| is_listed(list!("-a -b -c -d -e -f -g -h -k -p -r -s -u -w -x -G -L -N -O -S"), arg.text());
    let compares = |arg: &Word| is_listed(list!("-ef -nt -ot"), arg.text());
    let mut files = Few::default();
    for (at, arg) in rest.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| rest.get(before));
        let behind = rest.get(at + 1).is_some_and(compares);
        if !compares(arg) && (behind || before.is_some_and(|before| asks(before) || compares(before))) {
            let entry = path(arg, Access::Read, Below::Names);
            files.extend(entry.map(|operand| Operand { certain: false, ..operand }));
        }
    }
    files
}

/// Returns the files that a program opens instead of its operands: those with a suffix that it puts after a name, and
/// those that match an operand which it takes for a pattern.
fn opened_instead(name: &str, rest: &[Word]) -> Vec<Operand> {
    let (suffixes, expands): (&[&str], bool) = match name {
        "unzip" | "zipinfo" | "zipgrep" => (&[".zip", ".ZIP"], true),
        "gzip" | "gunzip" | "zcat" | "gzcat" | "pigz" | "unpigz" | "uncompress" | "zless" | "zmore" | "zgrep"
        | "zegrep" | "zfgrep" | "zdiff" | "zcmp" => (&[".gz", "-gz", ".z", "-z", "_z", ".Z"], false),
        "gh" => return before_label(rest),
        _ => return behind_prefix(name, rest),
    };
    let names = rest.iter().filter(|arg| !arg.text().starts_with('-')).filter_map(exact);
    let opened = |text: SmolStr| {
        let pattern = if expands { around_pattern(&text) } else { None };
        let matched = pattern.map(|(above, pattern)| Operand {
            pattern: Some(pattern),
            ..Operand::certain(Access::Read, above, Below::Nothing)
        });
        // `gzip` puts no second suffix after a name.
        let has_suffix = !expands && suffixes.iter().any(|suffix| text.ends_with(suffix));
        let suffixed = suffixes
            .iter()
            .filter(move |_| !has_suffix)
            .map(move |suffix| Operand::certain(Access::Read, format_smolstr!("{text}{suffix}"), Below::Nothing));
        suffixed.chain(matched).map(|operand| Operand { certain: false, ..operand }).collect::<Vec<_>>()
    };
    names.flat_map(opened).collect()
}

/// Returns the files of words with a label behind them, as in `a.zip#archive`.
fn before_label(rest: &[Word]) -> Vec<Operand> {
    let labelled = rest.iter().filter_map(|arg| exact(arg)?.split_once('#').map(|(file, _)| SmolStr::from(file)));
    let read = labelled.map(|file| Operand::certain(Access::Read, file, Below::Nothing));
    read.map(|operand| Operand { certain: false, ..operand }).collect()
}

/// Returns the files that a program opens for words with the name of a format or a protocol before them.
fn behind_prefix(name: &str, rest: &[Word]) -> Vec<Operand> {
    const TAKE_PREFIXES: &[&str] = &[
        "animate",
        "compare",
        "composite",
        "convert",
        "display",
        "ffmpeg",
        "ffplay",
        "ffprobe",
        "identify",
        "import",
        "magick",
        "mogrify",
        "montage",
        "mplayer",
        "mpv",
        "socat",
        "stream",
        "vlc",
    ];
    if !TAKE_PREFIXES.contains(&name) {
        return Vec::new();
    }
    let texts = rest.iter().filter_map(exact).filter(|text| !text.contains("://"));
    let parts = |text: SmolStr| {
        let parts = text.split([':', ',', '|', '!']).skip(1).map(|part| part.trim_start_matches('@'));
        let used = |path| [Access::Read, Access::Write].map(|access| Operand::certain(access, path, Below::Nothing));
        let all = parts.filter(|part| !part.is_empty()).flat_map(used);
        all.map(|operand| Operand { certain: false, ..operand }).collect::<Vec<_>>()
    };
    texts.flat_map(parts).collect()
}

/// Returns the files that a program reads and writes by its role, or only by its options.
fn by_role(name: &str, known: &Program, rest: &[Word], reads_only: bool, form: Option<&'static Reads>) -> Few<Operand> {
    let Some(files) = known.files.as_ref() else { return Few::default() };
    let listed = form.filter(|form| form.subcommands.is_empty() && matches!(form.words, AllWords::Listed));
    let valued = match listed {
        Some(form) => Valued::InForm(form.flags),
        None => Valued::InSomeForm(files.valued, known.reads),
    };
    let Some(role) = files.role else { return Words::read(rest, valued).files_of(known).collect() };
    let needs_options =
        !matches!(role, Role::Reads | Role::Lists) || !files.writes.is_empty() || !files.reads.is_empty();
    let words = if needs_options { Words::read(rest, valued) } else { Words::read_operands(rest, valued) };
    let mut named = match role {
        Role::Reads => words.named(Access::Read, Below::Nothing),
        // In another form, a program that lists may show what it finds.
        Role::Lists => words.named(Access::Read, if form.is_some() { Below::Names } else { Below::Everything }),
        Role::Compares => {
            words.named(Access::Read, everything_if(words.has_letter('r') || words.has_long("--recursive")))
        }
        Role::Searches => searched(name, &words, files.selects.as_ref(), reads_only),
        Role::Writes => words.named(Access::Write, everything_if(words.is_recursive())),
        Role::Makes => words.named(Access::Write, Below::NewDirectory),
        Role::Changes => changed(&words).into(),
        Role::Copies if reads_only => words.named(Access::Read, Below::Everything),
        Role::Copies => copied(name, &words, Access::Read).into(),
        Role::Moves => copied(name, &words, Access::Write).into(),
    };
    named.extend(words.files_of(known));
    if matches!(name, "uniq" | "xxd") {
        // The second operand is the output.
        if let [_, output] = words.operands.as_slice() {
            named.extend(path(output, Access::Write, Below::Nothing));
        }
    }
    named
}

/// Returns the files of `grep pattern file…`, `sed script file…` and similar commands. `sed -i` writes the files
/// that it reads.
fn searched(name: &str, words: &Words<'_>, selects: Option<&Selects>, reads_only: bool) -> Few<Operand> {
    let given = words.has(list!("-e -f --regexp --file --expression --from-file"));
    let in_place = matches!(name, "sed" | "perl" | "awk" | "gawk" | "mawk" | "yq")
        && (words.has_letter('i') || words.options.iter().any(|given| given.name.starts_with("--in-place")));
    let access = if in_place { Access::Write } else { Access::Read };
    let by_itself = matches!(name, "rg" | "ag" | "ack");
    let by_itself = by_itself || name.ends_with("grep") && words.recurses_into_directories();
    let all = everything_if((by_itself || words.is_recursive()) && !in_place).followed_if(words.follows(name));
    let (programs, files) = words.operands.split_at(usize::from(!given).min(words.operands.len()));
    let patterns = words.values_of(list!("-f --file --from-file")).filter_map(|value| value.path(Access::Read));
    let selection = selects.filter(|_| all.is_everything()).map(|selects| selection::read_selection(selects, words));
    let selection = selection.filter(|selection| !selection.is_everything()).map(Arc::new);
    let searched = files.iter().filter_map(|arg| Some(path(arg, access, all)?.restricted_to(&selection)));
    let mut named: Few<_> = searched.chain(patterns).collect();
    if name == "yq" {
        // If a file has the name of the expression, it is read.
        let read = programs.iter().filter_map(|arg| path(arg, access, all));
        named.extend(read.map(|operand| Operand { certain: false, ..operand }));
    }
    if files.is_empty() && all.is_everything() {
        // The program searches either the directory or its input. The classifier cannot tell which.
        let here = Operand::certain(access, ".", all).restricted_to(&selection);
        named.push(Operand { certain: false, ..here });
    }
    if name == "sed" {
        named.extend(scripted(programs, words));
    }
    if !reads_only && matches!(name, "awk" | "gawk" | "mawk" | "perl" | "sed") {
        let given = words.values_of(list!("-e --expression")).filter_map(Text::text);
        let texts = programs.iter().filter_map(|arg| exact(arg)).chain(given);
        named.extend(texts.flat_map(|text| written_in(&text)));
    }
    named
}

/// Returns the files that a program of `sed` reads and writes.
fn scripted(programs: &[&Word], words: &Words<'_>) -> Vec<Operand> {
    let given = words.values_of(list!("-e --expression")).filter_map(Text::text);
    let scripts: Few<SmolStr> = programs.iter().filter_map(|arg| exact(arg)).chain(given).collect();
    let script = match scripts.as_slice() {
        [script] => script.clone(),
        scripts => scripts.join("\n").into(),
    };
    let used = |effect: sed::Effect<'_>| {
        let (access, file) = match effect {
            sed::Effect::Writes(file) => (Access::Write, file),
            sed::Effect::Reads(file) => (Access::Read, file),
            sed::Effect::Runs(_) | sed::Effect::Makes(_) => return None,
        };
        Some(Operand::certain(access, file, Below::Nothing))
    };
    sed::effects(&script).into_iter().take(MOST_WRITTEN_IN).filter_map(used).collect()
}

/// The limit of words in a program that are taken for files which it may open.
const MOST_WRITTEN_IN: usize = 64;

/// Returns the files that a program of `sed` or `awk` may open, as far as they are written out.
fn written_in(program: &str) -> Vec<Operand> {
    let part_of_path = |c: char| c.is_alphanumeric() || "._/~+@%-".contains(c);
    let texts = program.split(|c: char| !part_of_path(c)).filter(|text| text.contains(['/', '.']));
    let texts = texts.take(MOST_WRITTEN_IN);
    let both = |text: &str| {
        [Access::Read, Access::Write]
            .map(|access| Operand { certain: false, ..Operand::certain(access, text, Below::Nothing) })
    };
    texts.flat_map(both).collect()
}

fn changed(words: &Words<'_>) -> Vec<Operand> {
    let all = everything_if(words.has_letter('R') || words.has_long("--recursive"));
    let skipped = usize::from(!words.has(list!("--reference -m -x -M -X")));
    words.operands.iter().skip(skipped).filter_map(|arg| path(arg, Access::Write, all)).collect()
}

/// Returns the host directories that are mounted in a container. The container writes them unless the mount is
/// read-only.
fn mounted(rest: &[Word]) -> Vec<Operand> {
    let mut named = Vec::new();
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        let (option, joined) = match word.text().split_once('=') {
            Some((option, value)) => (option, Some(value)),
            None => (word.text(), None),
        };
        let (option, joined) = match option.strip_prefix("-v").filter(|rest| !rest.is_empty()) {
            Some(_) => ("-v", word.text().get(2..)),
            None => (option, joined),
        };
        let is_mount = option == "--mount";
        if !is_mount && !matches!(option, "-v" | "--volume") {
            continue;
        }
        let Some(given) = (match joined {
            Some(value) => Some(word.with_text(value)),
            None => words.next().cloned(),
        }) else {
            break;
        };
        let is_setting = |name: &str| given.text().split(',').any(|setting| setting == name);
        let source = if is_mount {
            let setting = |setting: &str| {
                ["source=", "src="].iter().find_map(|name| setting.strip_prefix(name)).map(str::to_owned)
            };
            given.text().split(',').find_map(setting)
        } else {
            given.text().split_once(':').map(|(source, _)| source.to_owned())
        };
        let reads_only = if is_mount {
            is_setting("readonly") || is_setting("ro") || is_setting("readonly=true")
        } else {
            given.text().splitn(3, ':').nth(2).is_some_and(|options| options.split(',').any(|option| option == "ro"))
        };
        // A name without a slash is the name of a volume.
        let is_path = |source: &String| is_mount || source.is_rooted() || source.starts_with(['.', '~']);
        let Some(source) = source.filter(is_path) else { continue };
        let access = if reads_only { Access::Read } else { Access::Write };
        named.extend(path(&given.with_text(source), access, Below::Everything));
    }
    named
}

fn dd(rest: &[Word]) -> Vec<Operand> {
    let of = |arg: &Word| {
        let text = exact(arg)?;
        let (name, value) = text.split_once('=')?;
        let access = match name {
            "if" => Access::Read,
            "of" => Access::Write,
            _ => return None,
        };
        Some(Operand::certain(access, value, Below::Nothing))
    };
    rest.iter().filter_map(of).collect()
}

/// Returns the files of `date`. `date -f file` prints the text that it cannot parse as a date.
fn date(rest: &[Word]) -> Vec<Operand> {
    let words = Words::read(rest, list!("-d -f -r -s -v -z --date --file --reference --set"));
    // With the option `-j`, the value of `-f` is a format.
    let names = if words.has_letter('j') { "-r" } else { "-f -r" };
    let is_file = |given: &&Given<'_>| {
        is_short_for(&given.name, "--file --reference") || names.split(' ').any(|name| name == given.name)
    };
    let files = words.options.iter().filter(is_file).filter(|given| !given.name.starts_with("-I"));
    let mut named: Vec<_> = files.filter_map(|given| given.value.as_ref()?.path(Access::Read)).collect();
    if words.options.iter().any(|given| given.value.is_none() && is_short_for(&given.name, "--file --reference")) {
        words.named(Access::Read, Below::Nothing).for_each(|operand| named.push(operand));
    }
    named
}

/// Options of `curl` that take a value.
const CURL: List<'static> = list!(
    "-o --output -T --upload-file -K --config -d --data --data-binary --data-raw --data-urlencode -F \
                    --form -H --header -X --request -u --user -A --user-agent -e --referer -b --cookie -c \
                    --cookie-jar -D --dump-header -x --proxy -w --write-out -m --max-time --connect-timeout --retry \
                    -E --cert --key --cacert --output-dir --url -r --range -y -Y -z --trace --trace-ascii --stderr \
                    --json --limit-rate --resolve --interface --etag-save --etag-compare --hsts --alt-svc --libcurl \
                    --netrc-file --data-ascii --form-string --proxy-header --url-query --variable --proto-default \
                    --expand-url"
);

/// Options of `curl` whose value is a file after `@`.
const CURL_FILE: List<'static> =
    list!("-d --data --data-ascii --data-binary --json -H --header --proxy-header -w --write-out");

/// Options of `curl` whose value may have a name before the `@` and the file.
const CURL_NAMED_FILE: List<'static> = list!("--data-urlencode --url-query --variable");

fn curl(known: &Program, rest: &[Word]) -> Vec<Operand> {
    let words = Words::read(rest, CURL);
    let mut named = Vec::new();
    // `--output` and its abbreviations are another option.
    let names_dir =
        |given: &&Given<'_>| given.name.len() > "--output".len() && is_short_for(&given.name, "--output-dir");
    let dir = words.options.iter().filter(names_dir).find_map(|given| given.value.as_ref()?.text());
    let below = |text: &str| match &dir {
        Some(dir) if !text.starts_with('/') => format_smolstr!("{dir}/{text}"),
        Some(_) | None => text.into(),
    };
    let write = |text: SmolStr| Operand::certain(Access::Write, text, Below::Nothing);
    named.extend(words.values_of(list!("-o --output")).filter_map(Text::text).map(|text| write(below(&text))));
    // Whoever reaches a socket can give orders to what serves it.
    let sockets = words.values_of(list!("--unix-socket")).filter_map(Text::text);
    named.extend(sockets.map(|text| Operand::certain(Access::Write, text, Below::Nothing)));
    named.extend(words.files_of(known));
    named.extend(sent_by_curl(&words));
    named.extend(opened_by_curl(&words));
    let formats = words.values_of(list!("-w --write-out")).filter_map(Text::text);
    named.extend(formats.flat_map(|format| format.split("%output{").skip(1).filter_map(in_braces).collect::<Vec<_>>()));
    if words.has_letter('O') || words.has(list!("--remote-name --remote-name-all")) {
        let names = words.operands.iter().filter_map(|arg| name_in_url(&exact(arg)?));
        named.extend(names.map(|name| write(below(&name))));
    }
    named
}

/// Returns the files of the `file:` URLs that `curl` opens, with their patterns written out. An upload writes them.
fn opened_by_curl(words: &Words<'_>) -> Vec<Operand> {
    let uploads = words.has_letter('T') || words.has_long("--upload-file");
    let access = if uploads { Access::Write } else { Access::Read };
    let is_default = |value: &Text<'_>| value.arg().text().eq_ignore_ascii_case("file");
    let scheme = if words.values_of(list!("--proto-default")).any(is_default) { "file://" } else { "" };
    let urls = words.values_of(list!("--url --expand-url")).map(Text::arg);
    let urls = words.operands.iter().copied().chain(urls).filter_map(as_written);
    let files = |url: SmolStr| {
        let Some(urls) = network::written_out(&url) else { return vec![anything(access)] };
        let paths = urls.iter().flat_map(|url| match url.contains("://") {
            true => paths_in_file_url(url),
            false => paths_in_file_url(&[scheme, url].concat()),
        });
        paths.map(|path| Operand::certain(access, path, Below::Nothing)).collect()
    };
    // The files of an upload have patterns too.
    let sent = words.values_of(list!("-T --upload-file")).filter_map(|value| as_written(value.arg()));
    let sent = sent.filter(|text| text.contains(['{', '['])).flat_map(|text| match network::written_out(&text) {
        Some(all) => all.into_iter().map(|text| Operand::certain(Access::Read, text, Below::Nothing)).collect(),
        None => vec![anything(Access::Read)],
    });
    urls.flat_map(files).chain(sent).collect()
}

/// Returns the use of any file.
fn anything(access: Access) -> Operand {
    Operand { certain: false, ..Operand::certain(access, "/", Below::Everything) }
}

/// Returns the files that `curl` reads to send them. `-` is its input.
fn sent_by_curl(words: &Words<'_>) -> Vec<Operand> {
    let read = |value: &Text<'_>, file: &str| {
        if file == "-" { None } else { Text::end(value.arg(), file).path(Access::Read) }
    };
    let plain = words.values_of(CURL_FILE).filter_map(|value| read(value, value.arg().text().strip_prefix('@')?));
    let named = words.values_of(CURL_NAMED_FILE).filter_map(|value| {
        let (name, file) = value.arg().text().split_once('@')?;
        if name.contains('=') { None } else { read(value, file) }
    });
    // The value of a cookie is the cookie itself if it has a `=`.
    let cookies = words.values_of(list!("-b --cookie")).filter_map(|value| match value.arg().text() {
        text if text.starts_with('@') => read(value, text.trim_start_matches('@')),
        text if text.contains('=') => None,
        text => read(value, text),
    });
    let forms = words.values_of(list!("-F --form")).flat_map(|value| {
        let files = in_form(value.arg().text());
        files.into_iter().filter_map(|file| read(value, file)).collect::<Vec<_>>()
    });
    plain.chain(named).chain(cookies).chain(forms).collect()
}

/// Returns the files of a field of a form, as in `name=@file,other;type=text/plain` and `name=<file`.
fn in_form(field: &str) -> Vec<&str> {
    let content = field.split_once('=').and_then(|(_, content)| content.strip_prefix(['@', '<']));
    let Some(files) = content else { return Vec::new() };
    match files.strip_prefix('"') {
        Some(_) => files.split('"').skip(1).step_by(2).collect(),
        None => {
            files.split(';').take(1).flat_map(|files| files.split(',')).map(|file| file.trim_matches('"')).collect()
        }
    }
}

/// Returns the file of `%output{file}` or `%output{>>file}`. The text begins after the brace.
fn in_braces(text: &str) -> Option<Operand> {
    let (file, _) = text.split_once('}')?;
    Some(Operand::certain(Access::Write, file.trim_start_matches('>'), Below::Nothing))
}

fn wget(known: &Program, rest: &[Word]) -> Vec<Operand> {
    const VALUES: List<'static> = list!(
        "-O --output-document -o --output-file -a --append-output -P --directory-prefix -i \
        --input-file --post-file --body-file --load-cookies --save-cookies -U --user-agent --header -t --tries -T \
        --timeout -w --wait -Q --quota -l --level -A -R -D -I -X -e --execute --limit-rate -B --base --warc-file \
        --hsts-file --rejected-log --ca-certificate --certificate --private-key"
    );
    let words = Words::read(rest, VALUES);
    let write = |text: SmolStr| Operand::certain(Access::Write, text, Below::Nothing);
    let mut named: Vec<_> = Vec::new();
    named.extend(words.files_of(known));
    let output: Vec<_> = words.values_of(list!("-O --output-document")).filter_map(Text::text).collect();
    let quiet_to_stdout = words.options.iter().any(|given| given.name.ends_with("O-"));
    if words.has(list!("--spider")) || quiet_to_stdout {
        return named;
    }
    if !output.is_empty() {
        named.extend(output.into_iter().map(write));
        return named;
    }
    let dir = words.values_of(list!("-P --directory-prefix")).find_map(Text::text).unwrap_or_else(|| ".".into());
    let trees =
        words.has_letter('r') || words.has_letter('m') || words.has(list!("--recursive --mirror --page-requisites"));
    if trees {
        named.push(Operand::certain(Access::Write, dir, Below::Names));
        return named;
    }
    for arg in &words.operands {
        // If the server chooses the name, the file `index.html` is assumed.
        let name = exact(arg).and_then(|text| name_in_url(&text));
        named.push(match name {
            Some(name) => write(format_smolstr!("{dir}/{name}")),
            None => write(format_smolstr!("{dir}/index.html")),
        });
    }
    named
}

/// Returns the last component of the path in a URL.
fn name_in_url(url: &str) -> Option<SmolStr> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = rest.split(['?', '#']).next().unwrap_or(rest);
    let (_, path) = path.split_once('/')?;
    let name = base_name(path);
    (!name.is_empty()).then(|| name.into())
}

fn tar(rest: &[Word]) -> Vec<Operand> {
    // The first word may be option letters without a dash.
    let (first, behind) = match rest.split_first() {
        Some((first, behind)) if !first.text().starts_with('-') => (first.text(), behind),
        _ => ("", rest),
    };
    let words =
        Words::read(behind, list!("-f --file -C --directory -T -X --files-from --exclude --exclude-from --transform"));
    let shorts = words.options.iter().filter(|given| !given.name.starts_with("--"));
    let letters: String = shorts.map(|given| given.name.as_str()).chain([first]).collect();
    let makes = letters.contains(['c', 'r', 'u']) || words.has(list!("--create --append --update"));
    let takes_out = letters.contains('x') || words.has(list!("--extract --get"));
    let mut operands = words.operands.iter();
    let bundled = letters.contains('f') && words.values_of(list!("-f --file")).next().is_none();
    let archive = if bundled { operands.next().and_then(|arg| exact(arg)) } else { None };
    let archive = words.values_of(list!("-f --file")).find_map(Text::text).or(archive);
    let access = if makes { Access::Write } else { Access::Read };
    let mut named: Vec<_> = archive.map(|text| Operand::certain(access, text, Below::Nothing)).into_iter().collect();
    let dir = words.values_of(list!("-C --directory")).find_map(Text::text);
    if makes {
        let follows = words.follows("tar") || letters.contains('h');
        let all = Below::Everything.followed_if(follows);
        let packed = operands.filter_map(|arg| path(arg, Access::Read, all));
        let there = |operand: Operand| match &dir {
            Some(dir) => directories::below(dir, &operand).unwrap_or(operand),
            None => operand,
        };
        named.extend(packed.map(there));
    } else if takes_out && !letters.contains('O') {
        let text = dir.unwrap_or_else(|| ".".into());
        named.push(Operand::certain(Access::Write, text, Below::Everything));
    }
    named
}

/// Returns true if a command that `find` runs reads the found files, and no files beside them.
fn reads_what_is_found(command: &find::Run) -> bool {
    let Some((program, rest)) = command.words.split_first().filter(|_| command.is_certain) else { return false };
    let name = base_name(program.text());
    let known = programs::known(name);
    let reads = match role_of(known) {
        Some(Role::Reads | Role::Lists) => known.files.as_ref().is_some_and(|files| files.writes.is_empty()),
        Some(Role::Searches) => name.ends_with("grep") || name == "rg",
        _ => false,
    };
    reads && rest.iter().all(|arg| arg.text() == "{}" || !arg.text().contains("{}"))
}

/// Returns true if a command that `find` runs reads only found files, and the words of `find` name all places where it
/// finds them.
pub(crate) fn names_what_it_reads(rest: &[Word], command: &find::Run) -> bool {
    let leads = |arg: &Word| matches!(arg.text(), "-f" | "-files0-from");
    let Some((program, words)) = command.words.split_first() else { return false };
    reads_what_is_found(command)
        && !reads_a_list_of_names(base_name(program.text()), words)
        && !rest.iter().any(leads)
        && find::roots(rest).into_iter().all(|start| exact(start).is_some())
}

fn searched_by_find(rest: &[Word]) -> Vec<Operand> {
    let starts = rest.iter().skip_while(|arg| matches!(arg.text(), "-H" | "-L" | "-P"));
    let starts: Vec<_> = starts.take_while(|arg| !arg.text().starts_with(['-', '(', '!'])).collect();
    let has = |options: &[&str]| rest.iter().any(|arg| options.contains(&arg.text()));
    let runs = |arg: &Word| matches!(arg.text(), "-exec" | "-execdir" | "-ok" | "-okdir");
    let (deletes, command) = (has(&["-delete"]), rest.iter().position(runs));
    let access = if deletes { Access::Write } else { Access::Read };
    let below = if deletes { Below::Everything } else { Below::Names };
    let mut named: Vec<_> = starts.iter().filter_map(|arg| path(arg, access, below)).collect();
    if starts.is_empty() {
        named.push(Operand { certain: deletes, ..Operand::certain(access, ".", below) });
    }
    if let Some(before) = rest.iter().position(|arg| arg.text() == "-delete") {
        let deleted = selection::deleted_by_find(rest, before);
        let selection = (!deleted.is_everything()).then(|| Arc::new(deleted));
        named.iter_mut().for_each(|start| start.selection.clone_from(&selection));
    }
    if let Some(before) = command {
        let actions = find::actions(rest);
        let only_read = actions.commands.iter().all(reads_what_is_found);
        // Another program may write the files that `find` passes to it, and use what is beside them.
        let accesses: &[Access] = if only_read { &[Access::Read] } else { &[Access::Read, Access::Write] };
        let selection = if only_read {
            selection::name_selection(&actions.others, before)
        } else {
            // A test selects the directories whose content a program may change.
            Selection { is_conditional: 0 < selection::tests_of_find(rest, before), ..Selection::default() }
        };
        let selection = (!selection.is_everything()).then(|| Arc::new(selection));
        // A program that opens a link reads its target.
        let found = named.clone().into_iter().flat_map(|start| {
            let selection = &selection;
            accesses.iter().map(move |access| Operand {
                access: *access,
                below: Below::Everything.followed_if(*access == Access::Read),
                certain: false,
                selection: selection.clone(),
                ..start.clone()
            })
        });
        named.extend(found.collect::<Vec<_>>());
    }
    let outputs = rest.windows(2).filter_map(|pair| match pair {
        [option, file] if matches!(option.text(), "-fprint" | "-fprintf" | "-fprint0" | "-fls") => {
            path(file, Access::Write, Below::Nothing)
        }
        _ => None,
    });
    named.extend(outputs);
    named
}
