//! The one table of all keys of `agents.toml`, from which `agents.schema.json` is made.

/// A table of the file.
pub(super) struct Table {
    /// The name in the messages of the reader: `[engine]`.
    pub(super) header: &'static str,
    /// The name of the definition in the schema.
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) keys: &'static [Key],
}

/// A key of a table.
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) value: Value,
    /// The default as JSON, which is TOML as well. None if there is no fixed default.
    pub(super) default: Option<&'static str>,
    pub(super) required: bool,
}

/// The values that a key may have.
#[derive(Clone, Copy)]
pub(super) enum Value {
    /// One of these words.
    Word(&'static [&'static str]),
    /// One of these words, or a list of them that is not empty.
    Words(&'static [&'static str]),
    /// A text of this form.
    Text(Form),
    /// A list of texts of this form.
    Texts(Form),
    /// A list of texts of this form that is not empty.
    SomeTexts(Form),
    /// A text of this form, or a list of them that is not empty.
    OneOrMore(Form),
    Flag,
    Number(i64, i64),
    /// A text of this form, or a whole number from 1.
    Limit(Form),
    Table(&'static str),
    /// A list of tables.
    Tables(&'static str),
    /// A table for each name of this form.
    Named(Form, &'static str),
    /// Any value. It is the input of a tool.
    Any,
}

/// The form of a text.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    Free,
    Path,
    /// A text that is not blank.
    Told,
    Id,
    Tool,
    Permission,
    Name,
    Field,
    /// A word of a command.
    Argument,
    Duration,
    /// A duration that is not zero.
    Time,
    TimeLimit,
    Size,
    Count,
}

impl Form {
    /// Returns the regular expression, in the part of the language that JavaScript and Rust share.
    pub(super) fn pattern(self) -> Option<&'static str> {
        Some(match self {
            Form::Free => return None,
            Form::Path => r"^([^$\s~]|~$|~/)",
            Form::Told => r"\S",
            Form::Id => r"^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$",
            Form::Tool => r"^[A-Za-z0-9][A-Za-z0-9._:@/-]{0,127}$",
            Form::Permission => r"^\s*@(network\s*$|events\s*$|tool:\S|(read|write):([^$\s~]|~$|~/))",
            Form::Name => r"^[^/]+$",
            Form::Field => r"^(\.|[^.|?\[\]/\s]+(\[\])?)([.|](\.|[^.|?\[\]/\s]+(\[\])?))*\??$",
            Form::Argument => r"^[^\u0000]*[^\s\u0000][^\u0000]*$",
            Form::Duration => r"^[0-9]+(ms|s|m|h|d)$",
            Form::Time => r"^0*[1-9][0-9]*(ms|s|m|h|d)$",
            Form::TimeLimit => r"^(unlimited|0*[1-9][0-9]*(ms|s|m|h|d))$",
            Form::Size => r"^(unlimited|0*[1-9][0-9]*(KiB|MiB|GiB|TiB)?)$",
            Form::Count => r"^(unlimited|\+?0*[1-9][0-9]*)$",
        })
    }
}

const fn key(name: &'static str, value: Value, about: &'static str) -> Key {
    Key { name, about, value, default: None, required: false }
}

impl Key {
    const fn or(self, default: &'static str) -> Key {
        Key { default: Some(default), ..self }
    }

    const fn required(self) -> Key {
        Key { required: true, ..self }
    }
}

use Form::{Argument, Count, Duration, Field, Free, Id, Name, Path, Permission, Size, Time, TimeLimit, Told, Tool};
use Value::{Any, Flag, Limit, Named, Number, OneOrMore, SomeTexts, Tables, Text, Texts, Word, Words};

const VERDICTS: &[&str] = &["allow", "ask", "deny"];
const MODES: &[&str] = &["default", "untrusted", "on_request", "on_failure", "never", "plan", "bypass", "auto"];
const KINDS: &[&str] = &["foreground", "cron", "heartbeat", "subagent", "system", "permanent"];
const OPERATIONS: &[&str] = &["fs.read", "fs.write", "fs.exec", "command.execute", "network", "events", "tool"];
const OF_TOOLS: &[&str] = &["fs.read", "fs.write", "fs.exec", "command.execute", "network", "tool"];

/// All tables, the file itself first.
pub(super) const TABLES: &[Table] = &[
    Table {
        header: "the file",
        name: "file",
        about: "The policy file of bestow: the permissions and rules with which agents start.",
        keys: &[
            key("engine", Value::Table("engine"), "Settings of the engine."),
            key("commands", Value::Table("commands"), "How commands are classified."),
            key("limits", Value::Table("limits"), "Limits of a command in the sandbox."),
            key("tasks", Value::Table("tasks"), "Scheduled tasks."),
            key("gates", Value::Table("gates"), "Gates of scheduled tasks."),
            key("tools", Tables("tool"), "Tools of the host program."),
            key("defaults", Value::Table("defaults"), "Values for all agents. An agent's own values win."),
            key("agents", Named(Id, "agent"), "The agents by id. There is at least one.").required(),
            key("test", Tables("test"), "Tests of this file. While one fails, the file does not take effect."),
        ],
    },
    Table {
        header: "`[engine]`",
        name: "engine",
        about: "Settings of the engine.",
        keys: &[
            key(
                "reads",
                Word(&["anywhere", "granted"]),
                "The paths that agents may read: every path that is not \
                protected, or only paths of a permission.",
            )
            .or("\"anywhere\""),
            key(
                "interaction",
                Word(&["interactive", "noninteractive"]),
                "Whether people answer. Without people, \
                every request is unavailable at once.",
            )
            .or("\"interactive\""),
            key("on_no_user", Word(&["queue", "deny"]), "The fate of a request while no person is connected.")
                .or("\"queue\""),
            key(
                "confirm_widening",
                Flag,
                "With true, a change of this file that gives an agent more waits for a \
                person.",
            )
            .or("false"),
            key(
                "default_verdict",
                Word(&["ask", "deny"]),
                "The verdict for an action that no rule and no permission \
                is about.",
            )
            .or("\"ask\""),
            key("request_timeout", Text(Time), "The time for which a request waits for an answer.").or("\"5m\""),
            key("denial_memory", Text(Duration), "The time for which a denial answers the same request again.")
                .or("\"60s\""),
            key("hook_timeout", Text(Time), "The time that a hook of the host program may take.").or("\"5s\""),
            key("max_pending", Number(1, 1_000_000), "The number of requests of one agent that may wait.").or("8"),
            key(
                "max_asks_per_minute",
                Number(1, 1_000_000),
                "The number of questions of one agent, and of agents \
                that it created, that reach people in a minute.",
            )
            .or("60"),
            key(
                "max_facts_per_minute",
                Number(1, 1_000_000),
                "The number of refusals of one agent that are recorded \
                one by one in a minute.",
            )
            .or("600"),
            key(
                "max_changes_per_minute",
                Number(1, 1_000_000),
                "The number of changes that one agent may cause in a \
                minute.",
            )
            .or("6000"),
            key("max_children", Number(0, 1_000_000), "The number of agents that one agent may create.").or("256"),
            key("max_processes", Number(0, 10_000), "The number of processes of one agent that may run at once.")
                .or("16"),
            key("max_grants", Number(1, 1_000_000), "The number of grants that one agent may hold from one giver.")
                .or("1024"),
            key("max_depth", Number(0, 255), "The number of times that a permission may be passed on.").or("8"),
            key("protected", Texts(Path), "Paths that are protected besides the built-in ones.").or("[]"),
            key(
                "sensitive",
                Texts(Name),
                "File names that are sensitive besides the built-in ones. One `*` may stand \
                at the start or the end.",
            )
            .or("[]"),
        ],
    },
    Table {
        header: "`[commands]`",
        name: "commands",
        about: "How commands are classified.",
        keys: &[
            key("profile", Word(&["default", "strict"]), "The line between safe and dangerous commands.")
                .or("\"default\""),
            key("safe", Tables("safe"), "Forms of programs that only read."),
            key("raise", Tables("raise"), "Commands that are more dangerous than the built-in rules say."),
        ],
    },
    Table {
        header: "`[[commands.safe]]`",
        name: "safe",
        about: "A form of a program that only reads.",
        keys: &[
            key("program", Text(Free), "The name of the program, without a directory.").required(),
            key("subcommand", Texts(Free), "The words after the program, in order.").or("[]"),
            key("subcommands", Texts(Free), "Alternatives of the subcommand, each with its words.").or("[]"),
            key(
                "flags",
                Texts(Free),
                "All options that it may have: `-a` alone, `-n:` with a value, `--color?` with \
                or without one.",
            )
            .or("[]"),
            key("operands", Flag, "With true, other words may follow. The program must only read them.").or("false"),
            key("requires", Texts(Free), "Groups of options. At least one of each group must be given.").or("[]"),
            key("refuses", Texts(Free), "Options that must not be given.").or("[]"),
            key("first_operand", Texts(Free), "The words that the first operand may be.").or("[]"),
            key("operand_is", Texts(Free), "The words that every operand may be.").or("[]"),
            key("operand_not", Texts(Free), "The words that no operand may be.").or("[]"),
            key("value_not", Texts(Free), "The words that no value of an option may be.").or("[]"),
            key("written_out", Flag, "With true, every operand must be written out.").or("false"),
            key("match", Texts(Free), "Commands that are safe by this row."),
            key("not_match", Texts(Free), "Commands that are not safe."),
        ],
    },
    Table {
        header: "`[[commands.raise]]`",
        name: "raise",
        about: "Commands that are more dangerous than the built-in rules say.",
        keys: &[
            key("program", Text(Free), "The name of the program, without a directory.").required(),
            key("words", Texts(Free), "Words that must all be among the arguments.").or("[]"),
            key("tier", Word(&["dangerous", "destructive"]), "The tier of these commands.").required(),
            key("match", Texts(Free), "Commands of this tier or above."),
            key("not_match", Texts(Free), "Commands below this tier."),
        ],
    },
    Table {
        header: "`[limits]`",
        name: "limits",
        about: "Limits of a command in the sandbox. \"unlimited\" takes a default away.",
        keys: &[
            key("time", Text(TimeLimit), "The time that the command may run."),
            key("output", Limit(Size), "The number of bytes that are kept of each output stream.").or("\"1MiB\""),
            key("total_memory", Limit(Size), "Memory of the command with everything that it started."),
            key("memory", Limit(Size), "Private memory of each process."),
            key("file_size", Limit(Size), "The largest file that it may write."),
            key("cpu_time", Text(TimeLimit), "Processor time of each process."),
            key("open_files", Limit(Count), "Open descriptors of each process.").or("1024"),
            key("processes", Limit(Count), "The number of processes of the command with everything that it started."),
        ],
    },
    Table {
        header: "`[[tools]]`",
        name: "tool",
        about: "A tool of the host program, and the fields of its input.",
        keys: &[
            key("name", Text(Tool), "The name that the host program gives to the tool.").required(),
            key("operation", Word(OF_TOOLS), "What the tool does with its `path`, or `tool` for any other effect.")
                .required(),
            key("path", OneOrMore(Field), "Fields with the paths of the operation."),
            key("reads", OneOrMore(Field), "Fields with paths that are read besides."),
            key("writes", OneOrMore(Field), "Fields with paths that are written besides."),
            key("patch", OneOrMore(Field), "Fields with a patch that names files."),
            key("glob", OneOrMore(Field), "Fields with patterns of paths."),
            key("command", OneOrMore(Field), "The field with the command line."),
            key("host", OneOrMore(Field), "Fields with a host or a URL."),
            key("content", OneOrMore(Field), "Fields with what is written or sent."),
            key("directory", OneOrMore(Field), "Fields with the directory in which a command runs."),
            key("shell", Word(&["bash", "dash", "zsh", "other"]), "The shell that runs the command line."),
            key("ignored", Texts(Free), "Fields that are neither path, host nor command."),
            key("tree", Flag, "With true, a path stands for everything below it.").or("false"),
            key("needs", Texts(Permission), "Permissions that every call needs.").or("[]"),
        ],
    },
    Table {
        header: "`[defaults]`",
        name: "defaults",
        about: "Values for all agents. Permissions and rules are added up; otherwise the agent's own value wins.",
        keys: &[OWNER, WORKING_DIR, MODE, PERMISSIONS, GRANT_ONLY, RULES],
    },
    Table {
        header: "`[agents.lead]`",
        name: "agent",
        about: "An agent. `owner` and `working_dir` must stand here or in `[defaults]`.",
        keys: &[
            key("name", Text(Told), "The name for people. The id, if it is left out."),
            key("kind", Word(KINDS), "A foreground agent talks to a user. All others run in the background.")
                .required(),
            OWNER,
            WORKING_DIR,
            key(
                "command",
                SomeTexts(Argument),
                "The program that acts as the agent, and its arguments. `start_run` starts it.",
            ),
            key("sandbox", Flag, "Confines the program of `command` to what the agent may do.").or("true"),
            MODE,
            PERMISSIONS,
            GRANT_ONLY,
            RULES,
        ],
    },
    Table {
        header: "a rule",
        name: "rule",
        about: "A rule. All of its conditions must be met. A list stands for as many rules.",
        keys: &[
            key("verdict", Word(VERDICTS), "The verdict for actions that meet the rule.").required(),
            key("tool", OneOrMore(Tool), "The name of a tool."),
            key("operation", Words(OPERATIONS), "The operation of the action."),
            key("path", OneOrMore(Free), "A pattern of paths: `*` stays within a name, `**` crosses names."),
            key(
                "command",
                OneOrMore(Free),
                "A pattern of commands: `*` is text within a word, a last `**` is all \
                other words.",
            ),
            key("shape", OneOrMore(Free), "The shape of a command, as `bestow classify` shows it."),
            key("cwd", OneOrMore(Free), "The directories in which a command is allowed, or \"anywhere\"."),
            key("children", Flag, "With true, what the rule allows is also allowed to agents that the agent creates.")
                .or("false"),
            key("why", Text(Told), "The reason that people and agents read."),
            key("match", OneOrMore(Free), "Paths or commands that must meet the rule."),
            key("not_match", OneOrMore(Free), "Paths or commands that must not meet the rule."),
        ],
    },
    Table {
        header: "`[tasks]`",
        name: "tasks",
        about: "Scheduled tasks.",
        keys: &[
            key("dir", Text(Path), "The directory that holds `cron` and `heartbeat`. Without it there are no tasks."),
            key("cron_agent", Text(Id), "The agent of tasks that name none."),
            key("heartbeat_agent", Text(Id), "The agent of heartbeats that name none."),
            key("agents", Texts(Id), "Agents that a task may name besides those of kind cron.").or("[]"),
            key("time_zone", Text(Free), "The time zone of schedules, such as Europe/Berlin.").or("\"UTC\""),
            key("heartbeat_every", Text(Time), "The time between two heartbeats, at least a second.").or("\"30m\""),
            key("jitter", Text(Duration), "The time by which a run may start later than it is due.").or("\"0s\""),
            key("time_limit", Text(Time), "The time that a run may take.").or("\"1h\""),
            key("catch_up", Word(&["one", "none"]), "The fate of runs that were due while the engine did not run.")
                .or("\"one\""),
            key("max_running", Number(1, 10_000), "The number of runs and gates at once.").or("8"),
        ],
    },
    Table {
        header: "`[gates]`",
        name: "gates",
        about: "Gates of scheduled tasks.",
        keys: &[
            key("on_missing", Word(&["run", "ask", "skip"]), "The fate of a task whose gate lacks a permission.")
                .or("\"run\""),
            key("timeout", Text(Time), "The time that a gate may take, 100ms to 5m.").or("\"30s\""),
        ],
    },
    Table {
        header: "a test",
        name: "test",
        about: "An expected decision. A test names one action: read, write, exec, command, network or tool.",
        keys: &[
            key("agent", Text(Id), "The agent that acts.").required(),
            key("read", Text(Path), "A path that the agent reads."),
            key("write", Text(Path), "A path that the agent writes."),
            key("exec", Text(Path), "A file that the agent runs."),
            key("command", Text(Free), "A command line."),
            key("network", Text(Free), "A host that the agent reaches."),
            key("tool", Text(Tool), "A tool that the agent calls."),
            key("input", Any, "The input of the tool."),
            key("needs", OneOrMore(Permission), "Permissions that the action needs besides."),
            key("expect", Word(&["allow", "confined", "ask", "deny"]), "The expected decision.").required(),
            key("because", Text(Told), "The stage that decides, or a part of the reason."),
        ],
    },
];

const OWNER: Key = key("owner", Text(Id), "The owner of the agent. Nothing is asked or granted across owners.");
const WORKING_DIR: Key =
    key("working_dir", Text(Path), "The directory in which commands start. It gives no permission.");
const MODE: Key = key("mode", Word(MODES), "How strictly actions are decided.").or("\"default\"");
const PERMISSIONS: Key =
    key("permissions", Texts(Permission), "Permissions that may be used and granted to others.").or("[]");
const GRANT_ONLY: Key =
    key("grant_only", Texts(Permission), "Permissions that may be granted to others and not used.").or("[]");
const RULES: Key = key("rules", Tables("rule"), "Rules. The strictest rule that is met counts.");
