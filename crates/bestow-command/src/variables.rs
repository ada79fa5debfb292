//! The effects of setting a variable on the programs that read it.

use crate::{parts::parts, values::behind_last, verdict::Verdict, word::Word};

/// Variables that only affect the format of output or the amount of logging.
const HARMLESS: &[&str] = &[
    "LANG",
    "LANGUAGE",
    "TZ",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "TERM",
    "COLORTERM",
    "COLUMNS",
    "LINES",
    "NODE_ENV",
    "RUST_LOG",
    "RUST_BACKTRACE",
    "CI",
    "DEBUG",
    "PYTHONUNBUFFERED",
    "PYTHONDONTWRITEBYTECODE",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_PROFILE",
    "GREP_COLORS",
    "LS_COLORS",
    "BLOCK_SIZE",
    "TIME_STYLE",
    "GIT_OPTIONAL_LOCKS",
    "GIT_TERMINAL_PROMPT",
    "CARGO_TERM_COLOR",
    "LOG_LEVEL",
    "VERBOSE",
];

/// Variables that steer zsh, and lists that it ties to them or keeps its own state in.
const OF_ZSH: &[&str] = &[
    "aliases",
    "argv",
    "builtins",
    "cdpath",
    "chpwd_functions",
    "commands",
    "fignore",
    "fpath",
    "functions",
    "galiases",
    "mailpath",
    "manpath",
    "module_path",
    "modules",
    "nameddirs",
    "options",
    "path",
    "periodic_functions",
    "precmd_functions",
    "preexec_functions",
    "psvar",
    "saliases",
    "watch",
    "zsh_directory_name_functions",
    "zshaddhistory_functions",
    "zshexit_functions",
];

/// Variables whose values shells reckon as arithmetic, change by themselves, or refuse.
const RECKONED: &[&str] = &[
    "ARGC",
    "BASHPID",
    "BASH_ARGV0",
    "BASH_MONOSECONDS",
    "BASH_SUBSHELL",
    "COLUMNS",
    "DIRSTACK",
    "DIRSTACKSIZE",
    "EGID",
    "EPOCHREALTIME",
    "EPOCHSECONDS",
    "ERRNO",
    "EUID",
    "FUNCNAME",
    "FUNCNEST",
    "GID",
    "GROUPS",
    "HISTCMD",
    "HISTSIZE",
    "KEYTIMEOUT",
    "LINENO",
    "LINES",
    "LISTMAX",
    "LOGCHECK",
    "MAILCHECK",
    "OPTIND",
    "PPID",
    "RANDOM",
    "SAVEHIST",
    "SECONDS",
    "SHLVL",
    "SRANDOM",
    "TMOUT",
    "TRY_BLOCK_ERROR",
    "TRY_BLOCK_INTERRUPT",
    "TTYIDLE",
    "UID",
    "ZSH_SUBSHELL",
    "status",
];

/// Variables that have two names in zsh, or whose values it cuts.
const WITH_OTHER_NAMES: &[&str] = &[
    "HISTCHARS",
    "KEYBOARD_HACK",
    "PROMPT",
    "PROMPT2",
    "PROMPT3",
    "PROMPT4",
    "PS1",
    "PS2",
    "PS3",
    "PS4",
    "RPROMPT",
    "RPROMPT2",
    "RPS1",
    "RPS2",
    "histchars",
    "prompt",
];

/// Returns true for a variable whose value a shell reckons as arithmetic, changes by itself, or refuses.
pub(crate) fn is_reckoned(name: &str) -> bool {
    RECKONED.contains(&name)
}

/// Returns true for a variable that has two names in zsh, or whose value it cuts.
pub(crate) fn has_other_name(name: &str) -> bool {
    WITH_OTHER_NAMES.contains(&name)
}

/// Functions that a shell calls by itself.
const CALLED_BY_SHELLS: &[&str] = &[
    "chpwd",
    // Wherever a program is missing.
    "command_not_found_handle",
    "command_not_found_handler",
    "periodic",
    "precmd",
    "preexec",
    "zsh_directory_name",
    "zshaddhistory",
    "zshexit",
];

/// Returns true for a function that a shell calls by itself.
pub(crate) fn is_called_by_shells(name: &str) -> bool {
    CALLED_BY_SHELLS.contains(&name) || name.starts_with("TRAP")
}

/// Returns true for a variable that decides in zsh what runs.
pub(crate) fn steers_zsh(name: &str) -> bool {
    OF_ZSH.contains(&name)
}

/// Variables that request a trace: a number or a word for the error output, or the path of a file.
const TRACES: &[&str] = &[
    "GIT_TRACE",
    "GIT_TRACE2",
    "GIT_TRACE2_EVENT",
    "GIT_TRACE2_PERF",
    "GIT_TRACE_PACKET",
    "GIT_TRACE_PACK_ACCESS",
    "GIT_TRACE_PERFORMANCE",
    "GIT_TRACE_REFS",
    "GIT_TRACE_SETUP",
];

/// Variables that name a pager. The values `cat` and the empty text are harmless.
const PAGERS: &[&str] = &["PAGER", "GIT_PAGER", "AWS_PAGER", "GH_PAGER", "SYSTEMD_PAGER", "BAT_PAGER", "MANPAGER"];

/// Variables that decide which programs run or load, or to which server they send their token.
const STEERING: &[&str] = &[
    "ACKRC",
    "ACK_OPTIONS",
    "ALL_PROXY",
    "ANT_HOME",
    "ANT_OPTS",
    "ARGV0",
    "BASHOPTS",
    "BASH_ENV",
    "BASH_XTRACEFD",
    "BAT_CONFIG_PATH",
    "BROWSER",
    "CARGO_HOME",
    "CC",
    "CDPATH",
    "CLASSPATH",
    "COMPILER_PATH",
    "CONDA_EXE",
    "CONDA_PREFIX",
    "CONTAINER_HOST",
    "CURL_HOME",
    "CXX",
    "DEBUGINFOD_URLS",
    "DIRSTACK",
    "EDITOR",
    "ENV",
    "EXECIGNORE",
    "FFREPORT",
    "FZF_DEFAULT_COMMAND",
    "FZF_DEFAULT_OPTS",
    "FZF_DEFAULT_OPTS_FILE",
    "GCC_EXEC_PREFIX",
    "GCONV_PATH",
    "GEM_HOME",
    "GEM_PATH",
    "GH_CONFIG_DIR",
    "GH_HOST",
    "GH_REPO",
    "GITLAB_HOST",
    "GLOBIGNORE",
    "GNUPGHOME",
    "GOENV",
    "GOFLAGS",
    "GOMODCACHE",
    "GOPATH",
    "GOPROXY",
    "GOROOT",
    "GOTOOLCHAIN",
    "GRADLE_HOME",
    "GRADLE_OPTS",
    "GRADLE_USER_HOME",
    "GZIP",
    "HGRCPATH",
    "HISTFILE",
    "HOME",
    "HOSTALIASES",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "IFS",
    "JAVA_HOME",
    "JAVA_OPTS",
    "JAVA_TOOL_OPTIONS",
    "JDK_HOME",
    "JDK_JAVA_OPTIONS",
    "JRE_HOME",
    "KREW_ROOT",
    "KUBECONFIG",
    "LESS",
    "LESSCLOSE",
    "LESSKEY",
    "LESSKEYIN",
    "LESSOPEN",
    "LOCPATH",
    "M2_HOME",
    "MAKEFLAGS",
    "MANOPT",
    "MAVEN_ARGS",
    "MAVEN_HOME",
    "MAVEN_OPTS",
    "NLSPATH",
    "NODENV_ROOT",
    "NODE_OPTIONS",
    "NODE_PATH",
    "NULLCMD",
    "NVM_DIR",
    "PATH",
    "PERL5DB",
    "PERL5LIB",
    "PERL5OPT",
    "PGHOST",
    "PGHOSTADDR",
    "PGPASSFILE",
    "PGSERVICE",
    "PGSERVICEFILE",
    "PGSYSCONFDIR",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
    "POSIXLY_CORRECT",
    "PROMPT_COMMAND",
    "PS0",
    "PS1",
    "PS2",
    "PS4",
    "RBENV_ROOT",
    "READNULLCMD",
    "RIPGREP_CONFIG_PATH",
    "RUBYLIB",
    "RUBYOPT",
    "RUSTC",
    "RUSTC_WRAPPER",
    "RUSTFLAGS",
    "SBT_OPTS",
    "SDKMAN_DIR",
    "SHELL",
    "SHELLOPTS",
    "SSH_ASKPASS",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TAPE",
    "TAR_OPTIONS",
    "TERMCAP",
    "TERMINFO",
    "TMPDIR",
    "UNZIP",
    "UNZIPOPT",
    "VIRTUAL_ENV",
    "VISUAL",
    "VOLTA_HOME",
    "WGETRC",
    "XDG_CONFIG_DIRS",
    "XDG_CONFIG_HOME",
    "XDG_DATA_DIRS",
    "XDG_DATA_HOME",
    "ZIPINFO",
    "_JAVA_OPTIONS",
    "all_proxy",
    "http_proxy",
    "https_proxy",
];

/// The beginnings of the names of such variables.
const STEERING_STARTS: &[&str] = &[
    "ANSIBLE_",
    "ASDF_",
    "AWS_",
    "AZURE_",
    "BASH_",
    "BUNDLE_",
    "CLOUDSDK_",
    "COMPOSER_",
    "CONSUL_",
    "DBUS_",
    "DOCKER_",
    "DOTNET_",
    "DYLD_",
    "ELIXIR_",
    "ERL_",
    "FNM_",
    "GIT_",
    "GLIBC_",
    "GOOGLE_",
    "HELM_",
    "HOMEBREW_",
    "JULIA_",
    "KUBERNETES_",
    "LD_",
    "LUA_",
    "MAGICK_",
    "MALLOC_",
    "MISE_",
    "NIX_",
    "NOMAD_",
    "NPM_CONFIG_",
    "OPENSSL_",
    "PIP_",
    "POETRY_",
    "PYENV_",
    "PYTHON",
    "REDISCLI_",
    "RSYNC_",
    "RUSTUP_",
    "SSH_",
    "TF_",
    "UV_",
    "VAULT_",
    "npm_config_",
];

/// Returns true for a variable that decides which programs run or load. It does so even if it is only changed where it
/// is already exported.
pub fn steers_programs(name: &str) -> bool {
    // Most variables of a script have short names in small letters. None of those is listed.
    name.bytes().any(|byte| byte.is_ascii_uppercase() || byte == b'_') && is_listed_as_steering(name)
}

fn is_listed_as_steering(name: &str) -> bool {
    if HARMLESS.contains(&name) {
        return false;
    }
    STEERING.contains(&name)
        || STEERING_STARTS.iter().any(|start| name.starts_with(start))
        || name.ends_with("PAGER")
        || name.ends_with("_EDITOR")
}

/// Returns true for a variable whose value is a command line that programs run.
pub(crate) fn names_a_command(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "BROWSER",
        "CC",
        "CXX",
        "EDITOR",
        "FCEDIT",
        "GIT_EXTERNAL_DIFF",
        "GIT_SSH",
        "LESSCLOSE",
        "LESSOPEN",
        "PROMPT_COMMAND",
        "PS0",
        "PS1",
        "PS2",
        "PS4",
        "RSYNC_RSH",
        "CVS_RSH",
        "RUSTC",
        "RUSTC_WRAPPER",
        "SHELL",
        "VISUAL",
    ];
    const ENDS: &[&str] = &["ASKPASS", "EDITOR", "PAGER", "_COMMAND", "_CMD"];
    NAMES.contains(&name) || ENDS.iter().any(|end| name.ends_with(end))
}

/// Variables with options that a program adds to its own, and the option with which it destroys.
const ADDED_OPTIONS: &[(&str, &str)] = &[("TF_CLI_ARGS", "-destroy"), ("TF_CLI_ARGS_apply", "-destroy")];

/// Returns true if a value gives the option with which a program destroys.
fn adds_destruction(name: &str, value: &Word) -> bool {
    let added = |option: &str| value.text().split_whitespace().any(|word| word == option);
    ADDED_OPTIONS.iter().any(|(variable, option)| *variable == name && added(option))
}

/// Evaluates `name=value`. `alone` is true for an assignment that is not in front of a command and only sets a variable
/// of the shell.
pub(crate) fn evaluate(name: &str, value: &Word, alone: bool) -> Verdict {
    if !alone && adds_destruction(name, value) {
        return Verdict::destructive(format!("the variable `{name}` adds an option that destroys"));
    }
    let harmless = HARMLESS.contains(&name) || name.starts_with("LC_");
    let quiet_pager = PAGERS.contains(&name) && value.is_exact() && matches!(value.text(), "" | "cat");
    let traced =
        TRACES.contains(&name) && value.is_exact() && matches!(value.text(), "0" | "1" | "2" | "true" | "false");
    if quiet_pager
        || traced
        || (harmless && (!value.text().contains('/') || names_a_zone(name, value)))
        || (alone && !steers_programs(name))
    {
        return Verdict::safe("sets a harmless variable");
    }
    let name: String = name.chars().take(40).collect();
    Verdict::dangerous(format!("the variable `{name}` may change what programs do"))
}

/// Returns true for a time zone in the zone directory, such as `TZ=America/New_York`.
fn names_a_zone(name: &str, value: &Word) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '-' | '+');
    name == "TZ" && value.is_exact() && !value.text().starts_with('/') && value.text().chars().all(plain)
}

/// Returns true if the name of an environment variable says that it may hold a secret.
pub(crate) fn names_a_secret(name: &str) -> bool {
    /// Parts of names.
    const PARTS: &[&str] = &[
        "AUTH", "BEARER", "CERT", "CONN", "COOKIE", "CRED", "DATABASE", "DSN", "ENCRYPT", "HMAC", "JWT", "KEY",
        "LICENSE", "PASS", "PRIVATE", "PWD", "SALT", "SECRET", "SEED", "SESSION", "SIGN", "TOKEN", "URI", "URL",
        "VAULT", "WEBHOOK",
    ];
    /// Words of names. Other words contain them.
    const WORDS: &[&str] = &["HOOK", "OTP", "PAT", "PEM", "PIN", "PSK", "PW", "SK", "TOTP"];
    // The parts and most names are too short for a search that prepares itself.
    let holds = |part: &&str| name.as_bytes().windows(part.len()).any(|bytes| bytes == part.as_bytes());
    // Most variables of a script have names in lower case.
    name.bytes().any(|byte| byte.is_ascii_uppercase())
        && (PARTS.iter().any(holds) || name.split('_').any(|word| WORDS.contains(&word)))
}

/// Returns true if the name of an environment variable says that the value is an absolute path, an address, a number or
/// a name. Such a value is no option, and has no blanks.
pub(crate) fn has_a_known_form(name: &str) -> bool {
    /// Variables that systems and tools set to an absolute path, or to the name of a person or a machine.
    const SET: &[&str] = &[
        "ANDROID_HOME",
        "CARGO_HOME",
        "CI_PROJECT_DIR",
        "CONDA_PREFIX",
        "GITHUB_WORKSPACE",
        "GOPATH",
        "GOROOT",
        "HOSTNAME",
        "JAVA_HOME",
        "LOGNAME",
        "NVM_DIR",
        "PYENV_ROOT",
        "RUSTUP_HOME",
        "SHELL",
        "TMPDIR",
        "USER",
        "VIRTUAL_ENV",
        "XDG_CACHE_HOME",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "XDG_RUNTIME_DIR",
        "XDG_STATE_HOME",
    ];
    SET.contains(&name) || names_an_address(name)
}

/// Returns true if a variable name says that the value is an address, an identifier or a name, and not a secret.
pub(crate) fn names_an_address(name: &str) -> bool {
    const SAYS: &[&str] = &[
        "ADDR", "ADDRESS", "BASE", "BRANCH", "COMMIT", "DOMAIN", "ENDPOINT", "HOST", "ID", "IP", "ISSUE", "ORG",
        "OWNER", "PACKAGE", "PAGE", "PKG", "PORT", "PR", "REF", "REGION", "RELEASE", "REPO", "SCHEME", "SERVER", "SHA",
        "TAG", "URI", "URL", "VERSION",
    ];
    // Addresses with one of these words in their name may contain a password.
    const KEPT: &[&str] = &[
        "AMQP",
        "AUTH",
        "AWS",
        "AZURE",
        "BROKER",
        "CLIENT",
        "CONNECTION",
        "COOKIE",
        "CRED",
        "CREDENTIAL",
        "CREDENTIALS",
        "DATABASE",
        "DB",
        "DSN",
        "HOOK",
        "KEY",
        "MAIL",
        "MONGO",
        "MONGODB",
        "MYSQL",
        "PASS",
        "PASSWD",
        "PASSWORD",
        "PG",
        "POSTGRES",
        "PRIVATE",
        "PROXY",
        "PWD",
        "RABBITMQ",
        "REDIS",
        "SECRET",
        "SENTRY",
        "SESSION",
        "SLACK",
        "SMTP",
        "TOKEN",
        "WEBHOOK",
    ];
    // A variable that ends in `URL` or `URI` may contain a password, unless all its words are listed here.
    const OF: &[&str] = &[
        "APP", "API", "BACKEND", "BASE", "DEPLOY", "FRONTEND", "HEALTH", "HOST", "PREVIEW", "PUBLIC", "ROOT", "SERVER",
        "SERVICE", "SITE", "STAGING", "TARGET", "URI", "URL", "WEB",
    ];
    let is_in = |list: &[&str], word: &str| list.iter().any(|one| one.eq_ignore_ascii_case(word));
    let (last, mut words) = (behind_last(name, b'_'), parts(name, b'_'));
    last.len() > 1
        && is_in(SAYS, last)
        && !words.clone().any(|word| is_in(KEPT, word))
        && (!is_in(&["URL", "URI"], last) || words.all(|word| is_in(OF, word)))
}
