//! The one table of sensitive names. A row tells what a file or directory of this name can do for an attacker who
//! writes it. The classifier, the engine, the sandbox and the list of protected paths use this table.
//!
//! The comparison ignores ASCII case, and dots and spaces at the end of a name, because some file systems drop them.
//! Files that agents write often (`Makefile`, `package.json`, `Cargo.toml`) are not in the table.

use std::{ops::BitOr, sync::LazyLock};

/// The columns that are set for a name. A name without any column is not sensitive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Columns(u8);

/// The file or directory usually contains a secret.
const SECRET: Columns = Columns(1);
/// A program runs or obeys the file or directory automatically.
const OBEYED: Columns = Columns(2);
/// The sandbox reserves its place at the top of a write root while it is missing. An empty directory in this place is
/// harmless.
const HELD: Columns = Columns(4);
/// The system starts from it, or knows its users by it.
const CRITICAL: Columns = Columns(8);
/// The reserved place is a file, not a directory.
const FILE: Columns = Columns(16);
/// A program obeys the directory, and its place can be reserved.
const OBEYED_HELD: Columns = Columns(2 | 4);
/// A program obeys the file, and its place can be reserved.
const OBEYED_FILE: Columns = Columns(2 | 4 | 16);
/// A program obeys it, and it contains secrets.
const OBEYED_SECRET: Columns = Columns(1 | 2);
/// A program runs or obeys it, and package managers and formatters write it all day. The sandbox leaves it writable.
/// A program that obeys it is safe only if no agent may write it.
const INSTALLED: Columns = Columns(32);

impl Columns {
    /// No column: an ordinary name.
    pub const NONE: Columns = Columns(0);

    fn has(self, other: Columns) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns true if any column is set.
    pub fn is_sensitive(self) -> bool {
        self != Columns::NONE
    }

    /// Returns true if a confined command may not write the name below its write roots.
    pub(super) fn is_kept_from_commands(self) -> bool {
        self.0 & !INSTALLED.0 != 0
    }

    /// Returns true for names of secrets.
    pub fn is_secret(self) -> bool {
        self.has(SECRET)
    }

    /// Returns true for names whose change breaks the system.
    pub fn is_critical(self) -> bool {
        self.has(CRITICAL)
    }
}

impl BitOr for Columns {
    type Output = Columns;

    fn bitor(self, other: Columns) -> Columns {
        Columns(self.0 | other.0)
    }
}

/// The names that a row matches, in lower case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Form {
    Whole(&'static str),
    /// Matches in this case only, if the disk distinguishes cases.
    Exactly(&'static str),
    Begins(&'static str),
    Ends(&'static str),
    /// Matches the end of the stem. The stem is the part before the first dot. A dot at the start of the name does not
    /// count.
    StemEnds(&'static str),
}
use Form::{Begins, Ends, Exactly, StemEnds, Whole};

/// The directory in which a row applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Where {
    Anywhere,
    /// Applies in a directory of this name.
    In(&'static str),
    /// Applies at the root of the file system.
    AtRoot,
    /// Applies in the directory of this name at the root of the file system.
    AtRootIn(&'static str),
}
use Where::{Anywhere, AtRoot, AtRootIn, In};

/// One row: the names, the directory, and the columns.
#[derive(Clone, Copy, Debug, Hash)]
struct Row(Form, Where, Columns);

/// Rows of one kind.
#[derive(Clone, Copy, Debug, Hash)]
struct Group {
    /// The kind, for people.
    kind: &'static str,
    /// The documentation from which the names come, for the maintenance of the table.
    from: &'static str,
    rows: &'static [Row],
}

const ROWS: &[Group] = &[
    Group {
        kind: "agents: instructions, hooks, servers, permissions",
        from: "the manuals of bestow, Aider, Claude Code, Cline, Codex, Copilot, Cursor, Gemini, Kiro, OpenCode, …",
        rows: &[
            Row(Whole(".agents"), Anywhere, OBEYED_HELD),
            Row(Whole(".claude"), Anywhere, OBEYED_HELD),
            Row(Whole(".clinerules"), Anywhere, OBEYED_HELD),
            Row(Whole(".codex"), Anywhere, OBEYED_HELD),
            Row(Whole(".cursor"), Anywhere, OBEYED_HELD),
            Row(Whole(".gemini"), Anywhere, OBEYED_HELD),
            Row(Whole(".kiro"), Anywhere, OBEYED_HELD),
            Row(Whole(".opencode"), Anywhere, OBEYED_HELD),
            Row(Whole(".roo"), Anywhere, OBEYED_HELD),
            Row(Whole(".windsurf"), Anywhere, OBEYED_HELD),
            Row(Whole(".mcp.json"), Anywhere, OBEYED_FILE),
            Row(Whole("agents.toml"), Anywhere, OBEYED_FILE),
            Row(Whole("opencode.json"), Anywhere, OBEYED_FILE),
            Row(Whole(".aider.conf.yml"), Anywhere, OBEYED),
            Row(Whole(".bestow"), Anywhere, OBEYED),
            Row(Whole(".claude.json"), Anywhere, OBEYED),
            Row(Whole(".copilot"), Anywhere, OBEYED),
            Row(Whole("opencode.jsonc"), Anywhere, OBEYED),
            Row(Whole("task.md"), Anywhere, OBEYED),
            Row(Whole("hooks"), In(".github"), OBEYED),
            Row(Ends(".md"), In("heartbeat"), OBEYED),
        ],
    },
    Group {
        kind: "editors and debuggers: tasks, and files that run at the start",
        from: "the manuals of VS Code, JetBrains IDEs, Zed, Vim, Neovim, Emacs, nano, GDB, LLDB and pdb",
        rows: &[
            Row(Whole(".devcontainer"), Anywhere, OBEYED_HELD),
            Row(Whole(".idea"), Anywhere, OBEYED_HELD),
            Row(Whole(".vscode"), Anywhere, OBEYED_HELD),
            Row(Whole(".zed"), Anywhere, OBEYED_HELD),
            Row(Whole(".dir-locals.el"), Anywhere, OBEYED),
            Row(Whole(".emacs"), Anywhere, OBEYED),
            Row(Whole(".emacs.d"), Anywhere, OBEYED),
            Row(Whole(".exrc"), Anywhere, OBEYED),
            Row(Whole(".gdbinit"), Anywhere, OBEYED),
            Row(Whole(".gvimrc"), Anywhere, OBEYED),
            Row(Whole(".lldbinit"), Anywhere, OBEYED),
            Row(Whole(".nanorc"), Anywhere, OBEYED),
            Row(Whole(".nvim.lua"), Anywhere, OBEYED),
            Row(Whole(".nvimrc"), Anywhere, OBEYED),
            Row(Whole(".pdbrc"), Anywhere, OBEYED),
            Row(Whole(".vim"), Anywhere, OBEYED),
            Row(Whole(".vimrc"), Anywhere, OBEYED),
        ],
    },
    Group {
        kind: "version control: hooks, and configuration that runs programs",
        from: "githooks(5), git-config(1), gitrepository-layout(5), hg(1), manuals of Husky, Lefthook, pre-commit",
        rows: &[
            Row(Whole(".git"), Anywhere, OBEYED_HELD),
            Row(Whole(".gitmodules"), Anywhere, OBEYED_FILE),
            Row(Whole(".husky"), Anywhere, OBEYED_HELD),
            Row(Whole("commondir"), Anywhere, OBEYED_FILE),
            Row(Whole(".gitconfig"), Anywhere, OBEYED),
            Row(Whole(".hgrc"), Anywhere, OBEYED),
            Row(Whole(".hooks"), Anywhere, OBEYED),
            Row(Whole(".lefthook.yml"), Anywhere, OBEYED),
            Row(Whole(".pre-commit-config.yaml"), Anywhere, OBEYED),
            Row(Whole("lefthook.yml"), Anywhere, OBEYED),
            Row(Whole("config"), In(".git"), OBEYED),
            Row(Whole("config.worktree"), In(".git"), OBEYED),
            Row(Whole("hgrc"), In(".hg"), OBEYED),
            Row(Whole("hooks"), In(".git"), OBEYED),
            Row(Whole("modules"), In(".git"), OBEYED),
            // `HEAD` turns its directory into a repository, whose configuration `git status` obeys.
            Row(Exactly("HEAD"), Anywhere, OBEYED),
        ],
    },
    Group {
        kind: "shells, terminals and sessions: files that run when they start",
        from: "bash(1), zsh(1), tcsh(1), ksh(1), screen(1), tmux(1), Xsession(5), pam_env(7)",
        rows: &[
            Row(Whole(".bash_aliases"), Anywhere, OBEYED),
            Row(Whole(".bash_login"), Anywhere, OBEYED),
            Row(Whole(".bash_logout"), Anywhere, OBEYED),
            Row(Whole(".bash_profile"), Anywhere, OBEYED),
            Row(Whole(".bashrc"), Anywhere, OBEYED),
            Row(Whole(".config"), Anywhere, OBEYED),
            Row(Whole(".cshrc"), Anywhere, OBEYED),
            Row(Whole(".inputrc"), Anywhere, OBEYED),
            Row(Whole(".kshrc"), Anywhere, OBEYED),
            Row(Whole(".login"), Anywhere, OBEYED),
            Row(Whole(".logout"), Anywhere, OBEYED),
            Row(Whole(".mkshrc"), Anywhere, OBEYED),
            Row(Whole(".oh-my-zsh"), Anywhere, OBEYED),
            Row(Whole(".pam_environment"), Anywhere, OBEYED),
            Row(Whole(".profile"), Anywhere, OBEYED),
            Row(Whole(".screenrc"), Anywhere, OBEYED),
            Row(Whole(".tcshrc"), Anywhere, OBEYED),
            Row(Whole(".tmux"), Anywhere, OBEYED),
            Row(Whole(".tmux.conf"), Anywhere, OBEYED),
            Row(Whole(".xinitrc"), Anywhere, OBEYED),
            Row(Whole(".xprofile"), Anywhere, OBEYED),
            Row(Whole(".xsession"), Anywhere, OBEYED),
            Row(Whole(".xsessionrc"), Anywhere, OBEYED),
            Row(Whole(".zlogin"), Anywhere, OBEYED),
            Row(Whole(".zlogout"), Anywhere, OBEYED),
            Row(Whole(".zprofile"), Anywhere, OBEYED),
            Row(Whole(".zshenv"), Anywhere, OBEYED),
            Row(Whole(".zshrc"), Anywhere, OBEYED),
        ],
    },
    Group {
        kind: "programs with commands, hosts or code in their settings",
        from: "curl(1), wget(1), less(1), lesskey(1), aliases(5), procmailrc(5), mailcap(5), manuals of interpreters",
        rows: &[
            Row(Whole(".ackrc"), Anywhere, OBEYED),
            Row(Whole(".curlrc"), Anywhere, OBEYED),
            Row(Whole(".forward"), Anywhere, OBEYED),
            Row(Whole(".ghci"), Anywhere, OBEYED),
            Row(Whole(".irbrc"), Anywhere, OBEYED),
            Row(Whole(".less"), Anywhere, OBEYED),
            Row(Whole(".lesskey"), Anywhere, OBEYED),
            Row(Whole(".mailcap"), Anywhere, OBEYED),
            Row(Whole(".muttrc"), Anywhere, OBEYED),
            Row(Whole(".my.cnf"), Anywhere, OBEYED),
            Row(Whole(".procmailrc"), Anywhere, OBEYED),
            Row(Whole(".pryrc"), Anywhere, OBEYED),
            Row(Whole(".psqlrc"), Anywhere, OBEYED),
            Row(Whole(".pythonrc"), Anywhere, OBEYED),
            Row(Whole(".rprofile"), Anywhere, OBEYED),
            Row(Whole(".sqliterc"), Anywhere, OBEYED),
            Row(Whole(".wgetrc"), Anywhere, OBEYED),
        ],
    },
    Group {
        kind: "schedulers and services",
        from: "crontab(5), launchd(8), systemd.unit(5)",
        rows: &[
            Row(Whole("crontab"), Anywhere, OBEYED),
            Row(Whole("launchagents"), Anywhere, OBEYED),
            Row(Whole("launchdaemons"), Anywhere, OBEYED),
            Row(Whole("systemd"), In("share"), OBEYED),
        ],
    },
    Group {
        kind: "continuous integration: jobs that run with the secrets of the project",
        from: "the manuals of Azure Pipelines, Buildkite, CircleCI, Drone, GitHub Actions, GitLab CI, Jenkins, Travis",
        rows: &[
            Row(Whole(".buildkite"), Anywhere, OBEYED),
            Row(Whole(".circleci"), Anywhere, OBEYED),
            Row(Whole(".drone.yml"), Anywhere, OBEYED),
            Row(Whole(".gitlab-ci.yml"), Anywhere, OBEYED),
            Row(Whole(".travis.yml"), Anywhere, OBEYED),
            Row(Whole("actions"), In(".github"), OBEYED),
            Row(Whole("azure-pipelines.yml"), Anywhere, OBEYED),
            Row(Whole("jenkinsfile"), Anywhere, OBEYED),
            Row(Whole("workflows"), In(".github"), OBEYED),
        ],
    },
    Group {
        kind: "programs of a user: directories of PATH, and tools that put one there",
        from: "file-hierarchy(7), and the manuals of the version managers",
        rows: &[
            Row(Whole("bin"), In(".cargo"), OBEYED),
            Row(Whole("bin"), In(".local"), OBEYED),
            Row(Whole(".asdf"), Anywhere, OBEYED),
            Row(Whole(".bun"), Anywhere, OBEYED),
            Row(Whole(".deno"), Anywhere, OBEYED),
            Row(Whole(".nvm"), Anywhere, OBEYED),
            Row(Whole(".pyenv"), Anywhere, OBEYED),
            Row(Whole(".rbenv"), Anywhere, OBEYED),
            Row(Whole(".rustup"), Anywhere, OBEYED),
            Row(Whole(".sdkman"), Anywhere, OBEYED),
            Row(Whole(".volta"), Anywhere, OBEYED),
        ],
    },
    Group {
        kind: "build tools and package managers: files that make them run other programs",
        from: "the manuals of Bun, Cargo, direnv, Gradle, Maven, mise, npm, pnpm, rustup and Yarn",
        rows: &[
            Row(Whole(".envrc"), Anywhere, Columns(1 | 2 | 4 | 16)),
            Row(Whole(".mise.toml"), Anywhere, OBEYED_FILE),
            Row(Whole(".mvn"), Anywhere, OBEYED_HELD),
            Row(Whole(".npmrc"), Anywhere, Columns(1 | 2 | 4 | 16)),
            Row(Whole(".pnpmfile.cjs"), Anywhere, OBEYED_FILE),
            Row(Whole(".yarnrc"), Anywhere, OBEYED_FILE),
            Row(Whole(".yarnrc.yml"), Anywhere, OBEYED_FILE),
            Row(Whole("config"), In(".cargo"), OBEYED),
            Row(Whole("gradle-wrapper.jar"), Anywhere, OBEYED),
            Row(Whole("gradle-wrapper.properties"), Anywhere, OBEYED),
            Row(Whole("gradle.properties"), Anywhere, OBEYED),
            Row(Whole("init.d"), In(".gradle"), OBEYED),
            Row(Whole("init.gradle"), In(".gradle"), OBEYED),
            Row(Whole("init.gradle.kts"), In(".gradle"), OBEYED),
            Row(Whole("config.toml"), In(".cargo"), OBEYED_FILE),
            Row(Whole(".direnv"), Anywhere, OBEYED),
            Row(Whole(".tool-versions"), Anywhere, OBEYED),
            Row(Whole("bunfig.toml"), Anywhere, OBEYED),
            Row(Whole("mise.toml"), Anywhere, OBEYED),
            Row(Whole("rust-toolchain"), Anywhere, OBEYED),
            Row(Whole("rust-toolchain.toml"), Anywhere, OBEYED),
        ],
    },
    Group {
        kind: "installed code, and code that runs first",
        from: "site(7) of Python, pytest, and the manuals of npm and Yarn",
        rows: &[
            Row(Whole(".pnp.cjs"), Anywhere, INSTALLED),
            Row(Whole(".venv"), Anywhere, OBEYED),
            Row(Whole(".yarn"), Anywhere, INSTALLED),
            Row(Whole("conftest.py"), Anywhere, INSTALLED),
            Row(Whole("pyvenv.cfg"), Anywhere, OBEYED),
            Row(Whole("site-packages"), Anywhere, OBEYED),
            Row(Whole("sitecustomize.py"), Anywhere, OBEYED),
            Row(Whole("usercustomize.py"), Anywhere, OBEYED),
            Row(Whole(".bin"), In("node_modules"), INSTALLED),
            Row(Ends(".pth"), Anywhere, INSTALLED),
        ],
    },
    Group {
        kind: "keys, tokens and passwords",
        from: "the manuals of OpenSSH, GnuPG, pass, Kerberos, and of the programs of the services",
        rows: &[
            Row(Begins(".env."), Anywhere, SECRET),
            Row(Begins(".env_"), Anywhere, SECRET),
            Row(Begins("credentials."), Anywhere, SECRET),
            Row(Begins("credentials-"), Anywhere, SECRET),
            Row(Begins("credentials_"), Anywhere, SECRET),
            Row(Begins(".bestow-"), Anywhere, SECRET),
            Row(Ends(".env"), Anywhere, OBEYED_SECRET),
            Row(Ends(".jks"), Anywhere, SECRET),
            Row(Ends(".kdbx"), Anywhere, SECRET),
            Row(Ends(".key"), Anywhere, SECRET),
            Row(Ends(".keystore"), Anywhere, SECRET),
            Row(Ends(".p12"), Anywhere, SECRET),
            Row(Ends(".pem"), Anywhere, SECRET),
            Row(Ends(".pfx"), Anywhere, SECRET),
            Row(Ends(".ppk"), Anywhere, SECRET),
            Row(Ends("-token"), Anywhere, SECRET),
            Row(StemEnds("credentials"), Anywhere, SECRET),
            Row(Whole(".aws"), Anywhere, OBEYED_SECRET),
            Row(Whole(".docker"), Anywhere, OBEYED_SECRET),
            Row(Whole(".env"), Anywhere, OBEYED_SECRET),
            Row(Whole(".gnupg"), Anywhere, OBEYED_SECRET),
            Row(Whole(".kube"), Anywhere, OBEYED_SECRET),
            Row(Whole(".netrc"), Anywhere, OBEYED_SECRET),
            Row(Whole(".pypirc"), Anywhere, OBEYED_SECRET),
            Row(Whole(".ssh"), Anywhere, OBEYED_SECRET),
            Row(Whole("authorized_keys"), Anywhere, OBEYED_SECRET),
            Row(Whole("sudoers"), Anywhere, OBEYED_SECRET),
            Row(Whole(".htpasswd"), Anywhere, SECRET),
            Row(Whole(".password-store"), Anywhere, SECRET),
            Row(Whole(".pgpass"), Anywhere, SECRET),
            Row(Whole(".vault-token"), Anywhere, SECRET),
            Row(Whole("gshadow"), Anywhere, SECRET),
            Row(Whole("id_dsa"), Anywhere, SECRET),
            Row(Whole("id_ecdsa"), Anywhere, SECRET),
            Row(Whole("id_ed25519"), Anywhere, SECRET),
            Row(Whole("id_rsa"), Anywhere, SECRET),
            Row(Whole("keychains"), Anywhere, SECRET),
            Row(Whole("shadow"), Anywhere, SECRET),
        ],
    },
    Group {
        kind: "the system: a permission for everything does not include these",
        from: "hier(7), file-hierarchy(7)",
        rows: &[
            Row(Whole("bin"), AtRoot, OBEYED),
            Row(Whole("boot"), AtRoot, Columns(2 | 8)),
            Row(Whole("dev"), AtRoot, OBEYED),
            Row(Whole("etc"), AtRoot, OBEYED),
            Row(Whole("lib"), AtRoot, OBEYED),
            Row(Whole("lib64"), AtRoot, OBEYED),
            Row(Whole("library"), AtRoot, OBEYED),
            Row(Whole("proc"), AtRoot, OBEYED),
            Row(Whole("root"), AtRoot, OBEYED),
            Row(Whole("sbin"), AtRoot, OBEYED),
            Row(Whole("sys"), AtRoot, OBEYED),
            Row(Whole("system"), AtRoot, OBEYED),
            Row(Whole("usr"), AtRoot, OBEYED),
            Row(Whole("spool"), AtRootIn("var"), OBEYED),
            Row(Whole("crypttab"), AtRootIn("etc"), CRITICAL),
            Row(Whole("fstab"), AtRootIn("etc"), CRITICAL),
            Row(Whole("group"), AtRootIn("etc"), CRITICAL),
            Row(Whole("gshadow"), AtRootIn("etc"), CRITICAL),
            Row(Whole("inittab"), AtRootIn("etc"), CRITICAL),
            Row(Whole("ld.so.preload"), AtRootIn("etc"), CRITICAL),
            Row(Whole("master.passwd"), AtRootIn("etc"), CRITICAL),
            Row(Whole("pam.d"), AtRootIn("etc"), CRITICAL),
            Row(Whole("passwd"), AtRootIn("etc"), CRITICAL),
            Row(Whole("shadow"), AtRootIn("etc"), CRITICAL),
            Row(Whole("sudoers"), AtRootIn("etc"), CRITICAL),
            Row(Whole("sudoers.d"), AtRootIn("etc"), CRITICAL),
        ],
    },
];

/// Returns all rows.
fn rows() -> impl Iterator<Item = &'static Row> {
    ROWS.iter().flat_map(|group| group.rows)
}

/// The length of the shortest name to which a stem row can apply.
const SHORTEST_STEM: usize = "credentials".len();

/// The position of a component in its path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At<'p> {
    /// The name of the directory that contains the component. Empty if that is unknown or the root.
    pub above: &'p str,
    /// The number of components before it, if the path is absolute.
    pub depth: Option<usize>,
}

impl Row {
    fn is_met(&self, name: &str, at: At<'_>) -> bool {
        let Row(form, place, _) = self;
        let is_named = match form {
            Whole(whole) => name.eq_ignore_ascii_case(whole),
            Exactly(whole) if cfg!(target_os = "macos") => name.eq_ignore_ascii_case(whole),
            Exactly(whole) => name == *whole,
            Begins(start) => starts_with(name, start),
            Ends(end) => ends_with(name, end),
            StemEnds(end) => ends_with(stem(name), end),
        };
        is_named
            && match place {
                Anywhere => true,
                In(directory) => at.above.eq_ignore_ascii_case(directory),
                AtRoot => at.depth == Some(0),
                AtRootIn(directory) => at.depth == Some(1) && at.above.eq_ignore_ascii_case(directory),
            }
    }
}

/// Returns the columns of a component of a path.
pub(crate) fn columns(name: &str, at: At<'_>) -> Columns {
    // Backup copies of system files end with `-`.
    let name = if at.depth == Some(1) && name.ends_with('-') { name.trim_end_matches('-') } else { name };
    let name = if name.ends_with(['.', ' ']) { name.trim_end_matches(['.', ' ']) } else { name };
    let rows = INDEX.parts(name);
    // Nearly every name ends here.
    if rows.iter().all(Option::is_none) {
        return Columns::NONE;
    }
    let met = rows.into_iter().flatten().flatten().filter(|row| row.is_met(name, at));
    met.fold(Columns::NONE, |columns, Row(_, _, more)| columns | *more)
}

/// Returns a number that changes when the table changes.
pub fn fingerprint() -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    ROWS.hash(&mut hasher);
    hasher.finish()
}

/// Lists the paths, relative to the top of a directory, whose places can be reserved while they are missing. The flag
/// is true for a file.
pub fn held_in_place() -> impl Iterator<Item = (String, bool)> {
    rows().filter(|Row(_, _, columns)| columns.has(HELD)).filter_map(|Row(form, place, columns)| {
        let name = match (form, place) {
            (Whole(name), Anywhere) => (*name).to_owned(),
            (Whole(name), In(directory)) => format!("{directory}/{name}"),
            _ => return None,
        };
        Some((name, columns.has(FILE)))
    })
}

/// The entries by which git recognizes a repository. Without any one of them, a directory is no repository. A `HEAD`
/// that is no reference breaks `git diff HEAD`, so the place of `HEAD` is the last one to reserve.
pub const REPOSITORY: [&str; 3] = ["refs", "objects", "HEAD"];

/// The entries that git obeys in a repository. The flag is true for a file.
pub const OBEYED_IN_REPOSITORY: [(&str, bool); 4] =
    [("config", true), ("config.worktree", true), ("hooks", false), ("commondir", true)];

/// Returns true if git may recognize a directory with an entry of this name as a repository.
pub fn makes_a_repository(name: &str) -> bool {
    name == "commondir" || REPOSITORY.contains(&name)
}

/// An index of the rows by their first or last byte. It saves most comparisons.
#[derive(Debug)]
struct Index {
    /// For each first byte: the rows of names that begin with it, and a bit set of the lengths of whole names. The
    /// highest bit marks rows that match a prefix.
    starts: Vec<(u32, Vec<Row>)>,
    /// The rows of names that end with each byte.
    ends: Vec<Vec<Row>>,
    stems: Vec<Row>,
}

static INDEX: LazyLock<Index> = LazyLock::new(Index::new);

/// The bit for rows that match a prefix.
const BEGINS: u32 = 1 << 31;

impl Index {
    fn new() -> Index {
        let mut index = Index { starts: vec![(0, Vec::new()); 256], ends: vec![Vec::new(); 256], stems: Vec::new() };
        for row in rows() {
            let Row(form, ..) = row;
            let text = match form {
                Whole(text) | Exactly(text) | Begins(text) | Ends(text) | StemEnds(text) => text.as_bytes(),
            };
            let first = text.first().and_then(|first| index.starts.get_mut(usize::from(first.to_ascii_lowercase())));
            let last = text.last().and_then(|last| index.ends.get_mut(usize::from(*last)));
            match (form, first, last) {
                (Whole(_) | Exactly(_), Some((lengths, rows)), _) => {
                    *lengths |= bit(text.len());
                    rows.push(*row);
                }
                (Begins(_), Some((lengths, rows)), _) => {
                    *lengths |= BEGINS;
                    rows.push(*row);
                }
                (Ends(_), _, Some(rows)) => rows.push(*row),
                (StemEnds(_), ..) => index.stems.push(*row),
                _ => {}
            }
        }
        index
    }

    /// Returns all rows that match `name`, and some that do not.
    #[inline]
    fn parts(&self, name: &str) -> [Option<&[Row]>; 3] {
        let bytes = name.as_bytes();
        let at = |byte: Option<&u8>| byte.map_or(0, |byte| usize::from(byte.to_ascii_lowercase()));
        let starting =
            self.starts.get(at(bytes.first())).filter(|(lengths, _)| lengths & (BEGINS | bit(bytes.len())) != 0);
        let ending = self
            .ends
            .get(at(bytes.last()))
            .filter(|rows| !rows.is_empty() && bytes.contains(&b'.') | bytes.contains(&b'-'));
        let stems = (bytes.len() >= SHORTEST_STEM && has_stem(name)).then_some(&self.stems);
        [starting.map(|(_, rows)| &**rows), ending.map(|rows| &**rows), stems.map(|rows| &**rows)]
    }
}

fn bit(length: usize) -> u32 {
    1 << length.min(30)
}

fn has_stem(name: &str) -> bool {
    let stem = stem(name);
    stem.len() >= SHORTEST_STEM && stem.as_bytes().last().is_some_and(|last| last.eq_ignore_ascii_case(&b's'))
}

fn stem(name: &str) -> &str {
    let from = usize::from(name.starts_with('.'));
    let dot = name.as_bytes().iter().skip(from).position(|byte| *byte == b'.');
    dot.and_then(|dot| name.get(..from + dot)).unwrap_or(name)
}

pub(super) fn starts_with(name: &str, start: &str) -> bool {
    name.get(..start.len()).is_some_and(|begins| begins.eq_ignore_ascii_case(start))
}

pub(super) fn ends_with(name: &str, end: &str) -> bool {
    let start = name.len().checked_sub(end.len());
    start.and_then(|start| name.get(start..)).is_some_and(|tail| tail.eq_ignore_ascii_case(end))
}

/// Returns an example path for each row, whether the row marks a secret, and whether a confined command may not write
/// it. Tests use it to compare the users of the
/// table.
#[doc(hidden)]
pub fn examples() -> Vec<(String, bool, bool)> {
    let example = |Row(form, place, columns): &Row| {
        let name = match form {
            Whole(name) | Exactly(name) => (*name).to_owned(),
            Begins(start) => format!("{start}x"),
            Ends(end) => format!("x{end}"),
            StemEnds(end) => format!("x-{end}.json"),
        };
        let path = match place {
            Anywhere => format!("/work/project/{name}"),
            In(directory) => format!("/work/project/{directory}/{name}"),
            AtRoot => format!("/{name}/x"),
            AtRootIn(directory) => format!("/{directory}/{name}"),
        };
        (path, columns.is_secret(), columns.is_kept_from_commands())
    };
    rows().map(example).collect()
}

/// Returns the kind of each group, its source, and its names as the documentation writes them.
#[doc(hidden)]
pub fn documented() -> Vec<(&'static str, &'static str, Vec<String>)> {
    let shown = |Row(form, place, _): &Row| {
        let name = match form {
            Whole(name) | Exactly(name) => (*name).to_owned(),
            Begins(start) => format!("{start}*"),
            Ends(end) => format!("*{end}"),
            StemEnds(end) => format!("*{end}.*"),
        };
        match place {
            Anywhere => name,
            In(directory) => format!("{directory}/{name}"),
            AtRoot => format!("/{name}"),
            AtRootIn(directory) => format!("/{directory}/{name}"),
        }
    };
    ROWS.iter().map(|group| (group.kind, group.from, group.rows.iter().map(shown).collect())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alone(name: &str) -> Columns {
        columns(name, At { above: "", depth: None })
    }

    #[test]
    fn what_agents_write_all_day_is_not_sensitive() {
        for name in [
            "Makefile",
            "package.json",
            "Cargo.toml",
            "config.toml",
            "config",
            "hooks",
            "src",
            "main.rs",
            "README.md",
            "bin",
            ".gitignore",
            "credentialing.rs",
            "environment.ts",
            "keys.rs",
            "tests",
            "etc",
            "modules",
            "index.d.ts",
            "test_conf.py",
            "token",
            "tokens.rs",
            "requirements.txt",
            ".editorconfig",
            ".prettierrc",
            ".dockerignore",
            "opencode.md",
            "é",
            "x",
        ] {
            assert_eq!(alone(name), Columns::NONE, "{name}");
        }
    }

    #[test]
    fn the_index_leaves_out_no_name_that_a_row_is_about() {
        for Row(form, ..) in rows() {
            let names = match form {
                Whole(name) => vec![(*name).to_owned(), name.to_ascii_uppercase()],
                Exactly(name) => vec![(*name).to_owned()],
                Begins(start) => vec![format!("{start}x"), format!("{start}{}", "y".repeat(40))],
                Ends(end) => vec![format!("x{end}"), format!("{}{end}", "é".repeat(40))],
                StemEnds(end) => vec![(*end).to_owned(), format!("a-{end}.json"), format!(".{end}")],
            };
            let has_it = |name: &String| INDEX.parts(name).into_iter().flatten().flatten().any(|row| row.0 == *form);
            assert!(names.iter().all(has_it), "{form:?}");
        }
    }

    #[test]
    fn case_and_what_some_file_systems_drop_at_the_end_change_nothing() {
        for name in [".ENV", ".env.", ".env ", "Server.PEM", ".Netrc", "AWS-Credentials.json"] {
            assert!(alone(name).is_secret(), "{name}");
        }
    }
}
