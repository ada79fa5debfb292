//! Signs of destruction in code of almost any language: calls outside of quoted texts, and paths and modes inside them.

use crate::{
    critical_paths,
    place::Place,
    word::{Fragment, Gaps, is_gap},
};

/// Calls that remove the file or tree that their argument names.
const REMOVERS: &[&str] = &[
    "rmtree",
    "rm_rf",
    "rm_r",
    "remove_dir",
    "remove_entry",
    "rmSync",
    "rmdirSync",
    "removeSync",
    "emptyDirSync",
    "rimraf",
    "remove_tree",
    "deltree",
    "deleteDirectory",
    "rm(",
    "rmdir(",
    "removeTree",
    "file delete",
    "unlink",
    "Deno.remove",
    "os.remove",
    "fs.remove",
    "del(",
];

/// Calls with common names. They only count with a path of the system.
const OFTEN_HARMLESS: &[&str] = &["delete(", "remove(", "rename(", "move(", "truncate", "renameSync", "delete "];

/// Calls that remove files. They only count with a path of the system.
const OF_FILES: &[&str] = &[
    "Directory.Delete",
    "File.Delete",
    "File.delete",
    "deleteDir",
    "removeItem",
    "delete-directory",
    "delete-file",
    "file.remove",
    "removedirs",
    "call delete(",
];

/// Calls that write to the file that their argument names.
const WRITERS: &[&str] = &[
    "write_text",
    "write_bytes",
    "writeFile",
    "appendFile",
    "File.write",
    "IO.write",
    "file_put_contents",
    "truncate",
    "rename",
    "symlink",
    "chmod",
    "createWriteStream",
    "writeTextFile",
    "WriteAllText",
    "move(",
    "> \"",
    ">\"",
    ">> \"",
    "spew",
    "writelines",
    "fwrite",
];

/// The modes of `open` that empty or change a file.
const WRITE_MODES: &[&str] = &["w", "wb", "w+", "a", "ab", "a+", "r+", "rb+", "r+b", "wt", ">", ">>", "+<", "+>"];

/// Calls that delete stored data or infrastructure, in lower case and without blanks.
const DATA: &[&str] = &[
    "flushall(",
    "flushdb(",
    "drop_database(",
    "dropdatabase(",
    "drop_all(",
    "drop_collection(",
    "drop_table(",
    "droptable(",
    ".delete_all",
    ".destroy_all",
    "deletemany(",
    "delete_many(",
    "::truncate(",
    "->truncate(",
    "terminate_instances(",
    "delete_bucket(",
    "delete_table(",
    "delete_db_instance(",
    "delete_stack(",
    "delete_repo(",
    "deleterepository",
];

/// Loops that start copies of their own process without end.
const BOMBS: &[&str] = &[
    "whiletrue:os.fork()",
    "while1:os.fork()",
    "forkwhile",
    "whilefork",
    "loop{fork",
    "while(1){fork",
    "while(true){fork",
    "while(1)fork",
    "for(;;)fork",
    "for(;;){fork",
];

/// Expressions for the home or the working directory.
const WHOLE: &[&str] = &[
    "expanduser",
    "homedir()",
    "Path.home",
    "Dir.home",
    "environ['HOME']",
    "environ[\"HOME\"]",
    "environ.get('HOME')",
    "getenv('HOME')",
    "getenv(\"HOME\")",
    "env.HOME",
    "ENV['HOME']",
    "ENV[\"HOME\"]",
    "$ENV{HOME}",
    "getcwd()",
    "process.cwd()",
    "Dir.pwd",
    "Path.cwd()",
    "FileUtils.pwd",
];

/// Texts that name no directory.
const MODULES: &[&str] =
    &["fs", "os", "path", "HOME", "~", "rimraf", "fs-extra", "fs/promises", "node:fs", "node:os", "fileutils", "."];

/// Returns the reason why code is destructive, if a sign is found. `texts` are the texts between quotes and `rest` is
/// the code around them. In a program for a text stream, the code around them is mostly patterns and is not searched.
pub(super) fn destroys(code: &str, texts: &[String], rest: &str, stream: bool) -> Option<&'static str> {
    let calls = |names: &[&str]| names.iter().any(|name| code.contains(name));
    let paths: Vec<String> =
        texts.iter().map(|text| home_marked(text.trim_start_matches(['>', '<', '+', ' ']))).collect();
    let doomed = |path: &String| critical_paths::is_doomed(path, &Place::Start);
    let absolute = |path: &String| {
        path.is_rooted() && path.after_home() != Some("") && doomed(path)
            || critical_paths::is_system_file(path, &Place::Start)
    };
    let vital = |path: &String| critical_paths::is_vital(path, &Place::Start) || critical_paths::is_device(path);
    // Few texts are such paths, so they are looked at before the calls.
    if paths.iter().any(|path| doomed(path) || absolute(path)) && calls(REMOVERS) {
        return Some("code removes a root, home or system directory");
    }
    let below = |path: &String| path.trim_matches(|c| c == '/' || is_gap(c)).len() > 1 && absolute(path);
    if (paths.iter().any(absolute) && calls(OF_FILES)) || (paths.iter().any(below) && calls(OFTEN_HARMLESS)) {
        return Some("code removes what belongs to the system");
    }
    if removes_a_glob(code) {
        return Some("code removes what belongs to the system");
    }
    let is_mode = |text: &String| WRITE_MODES.contains(&text.as_str()) || text.starts_with('>');
    let opens = || texts.iter().any(is_mode) && code.contains("open");
    if paths.iter().any(vital) && (opens() || calls(WRITERS)) {
        return Some("code overwrites what the system starts or knows its users by");
    }
    let trees = ["rmtree(", "rmSync(", "rmdirSync(", "rm_rf", "removeSync(", "remove_tree", "rimraf"];
    let is_only_whole = texts.iter().all(|text| MODULES.contains(&text.as_str()));
    if is_only_whole && calls(&trees) && calls(WHOLE) && !code.contains("join") {
        return Some("code removes the home or the working directory");
    }
    if stream { None } else { rights(rest).or_else(|| data(rest)) }
}

/// Returns a reason if code permits all users to write or changes the owner of files.
fn rights(rest: &str) -> Option<&'static str> {
    let everybody = ["0o777", "0777", "0x1ff", "0O777"].iter().any(|mode| rest.contains(mode));
    if rest.contains("chmod") && everybody {
        return Some("code lets everybody write");
    }
    (rest.contains("chown(") || rest.contains("chownSync(") || rest.contains("chown "))
        .then_some("code changes the owner of files")
}

fn data(rest: &str) -> Option<&'static str> {
    let plain: String = rest.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect();
    let calls = |names: &[&str]| names.iter().any(|name| plain.contains(name));
    let deletes = plain.contains(".delete(") || plain.contains("->delete(");
    let of_a_store = calls(&["boto3", ".objects.", "db::", "activerecord", "google.cloud", "azure"]);
    if calls(DATA) || (deletes && of_a_store) {
        return Some("code destroys stored data");
    }
    if calls(BOMBS) {
        return Some("code starts copies of itself without end (a fork bomb)");
    }
    (plain.contains(".kill(-1,") || plain.contains("withadministratorprivileges"))
        .then_some("code acts on the whole machine")
}

/// Returns true for a Perl call that removes a critical glob: `unlink </etc/*>`.
fn removes_a_glob(code: &str) -> bool {
    let globs = code.match_indices("unlink").take(8).filter_map(|(at, call)| {
        let rest = code.get(at + call.len()..)?.trim_start_matches(['(', ' ']);
        rest.strip_prefix('<')?.split('>').next()
    });
    globs.into_iter().any(|path| critical_paths::is_doomed(&home_marked(path), &Place::Start))
}

/// Replaces a leading `~` by the marker of the home directory.
pub(super) fn home_marked(text: &str) -> String {
    match text.strip_prefix('~') {
        Some(rest) => format!("{}{rest}", Fragment::Home),
        None => text.to_owned(),
    }
}
