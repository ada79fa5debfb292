//! What `bestow --help` says.

pub(crate) const HELP: &str = "\
usage: bestow check --agent ID [--config FILE] ACTION [--needs TAG]... [--json]
       bestow explain --agent ID [--config FILE] ACTION [--needs TAG]... [--json]
       bestow check-config [FILE | --config FILE]
       bestow protected [--config FILE]
       bestow classify [--json] [--profile default|strict] [--config FILE] [--] COMMAND
       bestow classify --jsonl [--profile default|strict] [--config FILE]
       bestow path --jsonl
       bestow exec --agent ID [--config FILE] [--grant TAG]... [--domain NAME]... [--timeout SECONDS]
                   [--limit NAME=VALUE]... -- COMMAND...
       bestow sandbox profile --agent ID --format bwrap|srt|codex|json [--config FILE] [--grant TAG]... [--domain NAME]...
       bestow request TAG... --reason TEXT [--wait SECONDS]
       bestow grant TAG... --to ID --reason TEXT
       bestow events
       bestow grants [--agent ID] --state DIRECTORY [--json]
       bestow why AGENT TAG --state DIRECTORY [--json]
       bestow requests --state DIRECTORY [--json]
       bestow approve|deny CODE --state DIRECTORY [--scope SCOPE] [--feedback TEXT] [--as NAME] [--token-file FILE] [--json]
       bestow approve CODE --state DIRECTORY --write [--config FILE] [--feedback TEXT] [--as NAME] [--token-file FILE] [--json]
       bestow agree CHANGE --state DIRECTORY [--as NAME] [--token-file FILE] [--json]
       bestow state --agent ID --state DIRECTORY [--json]
       bestow mode AGENT [MODE] --state DIRECTORY [--as NAME] [--token-file FILE] [--json]
       bestow keep GRANT|RULING --state DIRECTORY [--config FILE]
       bestow revoke GRANT|RULING --state DIRECTORY [--reason TEXT] [--as NAME] [--token-file FILE] [--json]
       bestow process start --agent ID --state DIRECTORY [--grant TAG]... [--as NAME] [--token-file FILE] [--json] -- COMMAND...
       bestow process list --state DIRECTORY [--agent ID] [--json]
       bestow process read PROCESS --state DIRECTORY [--stderr] [--from BYTE] [--json]
       bestow process write PROCESS [--close] --state DIRECTORY [--] WORDS...
       bestow process stop PROCESS --state DIRECTORY [--grace SECONDS] [--reason TEXT] [--as NAME] [--token-file FILE]
       bestow process restart PROCESS --state DIRECTORY [--as NAME] [--token-file FILE]
       bestow audit show --state DIRECTORY [--agent ID] [--request CODE] [--grant GRANT|RULING] [--since TIME] [--until TIME] [--json]
       bestow audit verify --state DIRECTORY [--expect HEAD]
       bestow audit head --state DIRECTORY
       bestow audit cut --state DIRECTORY --before NUMBER
       bestow tasks [list | check | run ID] [--config FILE]
       bestow tools [--config FILE]

  check, explain
      Says what would be decided if the agent of the file (agents.toml here, if none is named) were about to do this, and
      the file alone were in force. check answers in one line; explain tells what each stage says, which rule of which
      line, where the rights come from, and what would make it allowed. ACTION is one of
        --read PATH | --write PATH | --exec PATH | --command TEXT | --network HOST | --tool NAME [--input JSON]
      A relative path is relative to the agent's working directory. --needs names a permission that the action uses
      besides and its text says nothing of: `make` that reaches the network is tried with --needs @network, while
      `curl` and `git push` are known to take it. Somebody is taken to be there to ask. With --json the answer is one object. Nothing is asked, done or kept.

  check-config
      Tells everything that is wrong with the file, and every [[test]] in it that fails. No agent notices.

  protected
      Lists the paths that no grant reaches in any engine of this user, and with --config what the file adds. Only a line
      of a file that names exactly such a path reaches it; `/proc` is closed but for a few system-wide files.

  classify
      Says how much harm a command can do: safe, dangerous or destructive, and why. COMMAND is one word: quote it.
      --config takes the rules that [commands] and the [[tools]] of a policy file add, --profile decides which line is drawn. With --json
      the answer is one object, with --jsonl there is one for each line of standard input, in the same order:
        {\"command\": TEXT} | {\"toolName\": NAME, \"toolInput\": OBJECT}
        -> {\"tier\": \"safe\" | \"dangerous\" | \"destructive\", \"reason\": TEXT, \"parts\": [PART...]}
      A line that is neither is answered with `dangerous` and a reason. The exit code is 0 whatever the tier is.

  tools
      Lists the tools that the file declares, then the built-in ones: the operation of each, where in its input paths,
      commands and hosts stand, and which permissions it needs. A tool of the file goes before a built-in one.

  path --jsonl
      Answers questions about paths, one JSON object for each line, in the same order:
        {\"op\": \"sanitize\" | \"resolve\" | \"open_read\" | \"open_write\", \"allowed\": [DIRECTORY...], \"path\": PATH}
        -> {\"verdict\": \"ok\" | \"deny\", \"real\"?: PATH, \"reason\"?: TEXT}
      `allowed` is taken as it is written. open_write really opens: the file is created, or emptied.
      A line that is no question is answered with `deny` and a reason.

  exec
      Runs a command as the agent of the file (agents.toml here, if none is named), confined to what its exec scope
      allows: it stands in the agent's working directory, reads what is not protected, and has nothing else but the
      tags it is granted here, each of which the agent must hold. What cannot be enforced does not run. With --domain,
      `@network` is these hosts only, by way of a proxy that is in the command's environment. --limit sets one of time,
      output, file_size, open_files, processes, cpu_time, memory, as in `--limit memory=2GiB`; what is not set is as
      [limits] of the file says, but for the time: nobody who waits at a terminal is cut off.

  sandbox profile
      Prints what exec would enforce, in the words of another program. What a format cannot say is an error. Hosts
      (--domain) only srt and json can say.

  request, grant, events
      Within a command that was given @events: they speak for its agent to its engine, and reach nothing else.
      `request` asks for what the agent lacks and waits for the answer (--wait: at most so long, then 2); `grant`
      passes on what it holds. Both print the engine's answer as one JSON object. `events` passes lines on in both
      directions: docs/protocol.md, the role of an agent.

  tasks
      The scheduled tasks of the file: when each is due next, what happened to it last, and why. `check` tells everything
      that is wrong with their files, and what would keep them from running. `run cron/NAME` is a run by hand: it asks the
      task's gate, confined as it will be, prints the prompt that the task gets, and notes that it ran. It ends with 0 if
      the task runs, 3 if its gate says no or may not be asked, 2 if a person would have to be asked for what the gate
      lacks, 1 if there is no such task, nobody to run it, or its gate could not run.

  grants, why, requests, approve, deny, agree, state, mode, revoke
      Ask and tell the engine that runs on the state directory; if none runs there, the directory itself. `why` shows
      the chain back to a person, a line of a file, or the host program. A request is named by its code, or its id; --as says who
      answers; otherwise it is USER, or LOGNAME, or `operator` if neither is set. The name is a claim: the trail has the user
      and the process that made it besides. A running engine hears no process of another user, none that comes from its own
      process, as its agents do, and from a process without a terminal no order that changes something unless
      --token-file names the file with its secret (`approver-token` in the state directory). A scope is `once`, `session`, `always` or
      `until TIME`; a right without one is given for the session. A session ends with its engine: where none runs, that
      is refused, and the question goes on waiting. A no to a right takes no scope. What is too
      long to be shown as a whole is approved for `once` only. `grants` also lists what people said
      about actions (r0, r1, …). `requests` also tells the change of the file that `confirm_widening` holds back, and what
      it would give; `agree` takes it over, by the number that is told there.
      `state` shows what an agent may do now and why: mode, rules with file and line, policies of its run, rights.
      `mode` says in which mode an agent is judged, or sets it: it stays until somebody sets another one, or the file changes
      its own line for that agent.

  approve --write, keep
      Writes a yes for good into the policy file (agents.toml here, if none is named), with a comment that says who gave
      it: a right among the agent's permissions, a yes to an action as a rule. Everything else in the file stays as it
      is, and what the file cannot say exactly is not written, nor is anything in a file that the engine does not follow.
      With --write the engine is told yes for this time, and the file says the rest; keep writes down what the engine
      keeps for good already, which stays until you revoke it.

  process
      Processes of agents that go on, in the engine that runs on the state directory; without one there are none (1). `start`
      runs a command as `exec` does and comes back at once with its name (p0, p1, …); whoever types it stands behind it,
      once. It ends with the engine, its agent, the agent's run, and any right it was granted here. `read` prints the
      latest of what it wrote, `--from` a byte on; `write` gives it a line of words, `--close` ends its input. `stop` asks it
      to end, and kills it after --grace (5).

  audit show
      Prints every record that meets all that is asked, a line each, with who decided and through what. A name that no
      record has is an error (1).

  audit verify
      Finds the first record that was altered, is missing, or stands elsewhere, and says where; exit code 1. A trail that was
      cut back or written anew as a whole is told by a HEAD that was noted down before, as `audit head` prints it; a HEAD that
      was mistyped is told in the same words, and nothing is to be cut for it.

  audit cut
      The way out of damage without a copy: sets aside everything from event NUMBER on, and takes away again
      what can still be read there of what was revoked, denied or narrowed. It says what that is, and how many records
      nobody can read.

  --help, --version

exit code:
   0  done; allowed
   1  error: there is no answer, and so no permission; or the command ran and failed
   2  a person would have to be asked
   3  denied
   4  it may happen inside a sandbox, and nowhere else
  64  the command line makes no sense
";
